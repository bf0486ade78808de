"""What gives way when a prompt is too long: never in silence.

Budgets count tokens by one fixed estimate, so that the same workspace gives the same bytes whatever is installed. They act on
content before it is wrapped. Every cut leaves a mark in the text, which counts, and a finding that tells before and after.

    one file    over `file_budget`: cut
    a section   over its `budget`: said (`warn`), its files cut farthest first (`cut`), or its menu shortened (`shorten`)
    the whole   menus shorten, then instruction files give way farthest first, then residents; the nearest instruction file,
                the base and the boundaries never do
"""

from __future__ import annotations

from operator import is_

from .findings import finding
from .layout import Field
from .parts import Item, Part, sealed
from .tokens import estimate
from .vocabulary import Origin, Piece, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .layout import Layout, Section
    from .parts import Scribe
    from .vocabulary import Finding

    Pieces = tuple[Piece, ...]

_MARK = Origin("mark")


def fit(
    layout: Layout, parts: tuple[Part, ...], scribe: Scribe
) -> tuple[tuple[Part, ...], tuple[Finding, ...], dict[str, str]]:
    """The parts within their budgets, the findings, and for each file that was cut the reason."""
    has_budget = layout.budget or any(section.budget or section.file_budget for section in layout.each_section())
    if not has_budget:
        return parts, (), {}
    fitting = _Fitting(layout, scribe, [_Draft(part) for part in parts])
    for draft in fitting.drafts:
        fitting.fit_section(draft)
    fitting.fit_whole()
    return (
        tuple(part for draft in fitting.drafts if not (part := draft.part()).is_empty),
        tuple(fitting.findings),
        fitting.cut_files,
    )


class _Draft:
    """A part that is still being fitted."""

    def __init__(self, part: Part) -> None:
        self.original = part
        self.section: Section = part.section
        self.items = list(part.items)
        self.inner = [_Draft(each) for each in part.inner]

    def part(self) -> Part:
        """The part as it is now: the very same where nothing gave way."""
        inner = tuple(each for draft in self.inner if not (each := draft.part()).is_empty)
        if not self.items and not inner and (self.original.items or self.original.inner):
            return Part(self.section)
        is_same = self.section is self.original.section and _are_same(self.items, self.original.items)
        if is_same and _are_same(inner, self.original.inner):
            return self.original
        return replace(self.original, items=tuple(self.items), inner=inner, section=self.section)

    def each(self) -> Iterator[_Draft]:
        yield self
        for inner in self.inner:
            yield from inner.each()


def _are_same(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


class _Fitting:
    """The drafts of one prompt, and what happened to them."""

    def __init__(self, layout: Layout, scribe: Scribe, drafts: list[_Draft]) -> None:
        self.layout, self.scribe, self.drafts = layout, scribe, drafts
        self.kinds = {find.name: find.kind for find in layout.finds}
        self.findings: list[Finding] = []
        self.cut_files: dict[str, str] = {}

    def cost(self, draft: _Draft) -> int:
        part = draft.part()
        return 0 if part.is_empty else self.scribe.cost(part, estimate)

    def cost_of_all(self) -> int:
        parts = [part for draft in self.drafts if not (part := draft.part()).is_empty]
        return estimate(self.layout.join.join(self.scribe.written(part)[1] for part in parts))

    def fit_section(self, draft: _Draft) -> None:
        """Inner sections first, then the section's own budget."""
        for inner in draft.inner:
            self.fit_section(inner)
        section = draft.section
        if section.file_budget:
            self.fit_files(draft, section.file_budget)
        if section.budget is None or (before := self.cost(draft)) <= section.budget:
            return
        limit = _Limit(
            lambda: self.cost(draft),
            section.budget,
            f"the budget of section '{section.name}' is {section.budget:,} tokens",
        )
        if section.over == "cut":
            self.cut_files_in(list(draft.each()), limit)
        elif section.over == "shorten":
            self.shorten(draft, limit)
        if limit.excess() > 0:
            now = section.budget + limit.excess()
            message = f"section '{section.name}' has {now:,} tokens{f', {before:,} before' if now != before else ''}; {limit.why}"
            self.findings.append(finding("budget-section", message))

    def fit_files(self, draft: _Draft, most: int) -> None:
        if self.kinds.get(draft.section.of or "") == "text":
            for number in range(len(draft.items)):
                text = "".join(piece.text for piece in _text_of(draft.items[number]))
                if estimate(text) > most:
                    self.cut_item(draft, number, most, f"one file may have {most:,} tokens")

    def fit_whole(self) -> None:
        """The order of giving way over the budget of the whole."""
        budget = self.layout.budget
        if budget is None or (before := self.cost_of_all()) <= budget:
            return
        limit = _Limit(self.cost_of_all, budget, f"the budget of the whole prompt is {budget:,} tokens")
        if self.layout.over == "warn":
            self.findings.append(finding("budget-whole", f"the prompt has {before:,} tokens; {limit.why}"))
            return
        every = [each for draft in self.drafts for each in draft.each()]
        for draft in every:
            if self.kinds.get(draft.section.of or "") == "skill":
                self.shorten(draft, limit)
        self.cut_files_in(every, limit, spare_nearest=True)
        for draft in every:
            if self.kinds.get(draft.section.of or "") == "resident":
                self.shorten(draft, limit)
        if limit.excess() > 0:
            message = f"what may not give way (the base, the boundaries, the nearest instruction file) has {budget + limit.excess():,} tokens; {limit.why}"
            self.findings.append(finding("budget-exceeded", message))

    # files

    def cut_files_in(self, drafts: list[_Draft], limit: _Limit, spare_nearest: bool = False) -> None:
        """Files give way farthest first; when marks alone are too long, they go as well."""
        places = [
            (draft, number)
            for draft in drafts
            if self.kinds.get(draft.section.of or "") == "text"
            for number in range(len(draft.items))
        ]
        places = places[:-1] if spare_nearest else places
        for draft, number in places:
            excess = limit.excess()
            if excess <= 0:
                return
            before = estimate("".join(piece.text for piece in _text_of(draft.items[number])))
            target = before - excess
            for _ in range(3):
                self.cut_item(draft, number, max(target, 0), limit.why)
                if limit.excess() <= 0:
                    break
                target -= limit.excess()
        for draft, number in places:
            if limit.excess() <= 0:
                return
            draft.items[number] = Item({}, draft.items[number].path)

    def cut_item(self, draft: _Draft, number: int, most: int, why: str) -> None:
        """Cut the text of one item to at most so many tokens, its mark included; to the mark alone where there is no room."""
        item, original = draft.items[number], draft.original.items[number]
        pieces = _text_of(original)
        before = estimate("".join(piece.text for piece in pieces))
        cut = cut_to(pieces, most)
        after = estimate("".join(piece.text for piece in cut))
        field = next(field for field in item.fields if field.name == "text")
        draft.items[number] = replace(item, fields={**item.fields, field: cut})
        reason = f"cut from {before:,} to {after:,} tokens; {why}"
        self.findings = [each for each in self.findings if each.code != "budget-file" or each.path != item.path]
        self.findings.append(finding("budget-file", f"{item.path}: {reason}", item.path))
        self.cut_files[item.path] = reason

    # menus

    def shorten(self, draft: _Draft, limit: _Limit) -> None:
        """Descriptions are shortened evenly, then only names are kept, then a counted line stands for the rest."""
        before = limit.excess()
        if before <= 0 or not draft.items:
            return
        total = len(draft.items)
        what = self.shorten_descriptions(draft, limit) or self.keep_names(draft, limit)
        name, cost = draft.section.name, limit.most + before
        message = f"section '{name}': {what} of {total:,} entries (from {cost:,} to {limit.most + limit.excess():,} tokens); {limit.why}"
        self.findings.append(finding("budget-menu", message))

    def shorten_descriptions(self, draft: _Draft, limit: _Limit) -> str:
        """The longest descriptions that fit, all cut at one length; nothing where not even short ones do."""
        items = list(draft.items)
        if not self.names_fit(draft, limit):
            return ""

        def fits(length: int) -> bool:
            draft.items[:] = [_described(item, length) for item in items]
            return limit.excess() <= 0

        length = _most(fits, _SHORTEST, max(_length_of_description(item) for item in items))
        if length is None:
            draft.items[:] = items
            return ""
        fits(length)
        return f"descriptions were shortened to {length:,} characters in the menu"

    def names_fit(self, draft: _Draft, limit: _Limit) -> bool:
        """A quick look, so that a huge menu is not written out in full again and again."""
        short = draft.section.short or draft.section.item
        room = limit.most
        for item in draft.items:
            room -= (
                estimate(
                    "".join(piece.text for part in short if isinstance(part, Field) for piece in item.fields[part])
                )
                - 1
            )
            if room < 0:
                return False
        return True

    def keep_names(self, draft: _Draft, limit: _Limit) -> str:
        """Names only, and if those are too many, as many as fit and a line that counts the rest."""
        section = draft.section
        draft.section = replace(section, item=section.short or section.item)
        items = draft.items if section.short else [_described(item, 0) for item in draft.items]
        draft.items = list(items)
        if self.names_fit(draft, limit) and limit.excess() <= 0:
            return "only names were kept in the menu"

        def fits(number: int) -> bool:
            line = Piece(f"[foreword: {len(items) - number:,} more left out]", _MARK)
            draft.items = [*items[:number], Item({}, whole=(line,))]
            return limit.excess() <= 0

        number = _most(fits, 0, min(len(items) - 1, limit.most))
        if number is None:
            draft.items = []
            return "no room was left for any"
        fits(number)
        return f"only the first {number:,} names were kept in the menu"


class _Limit:
    """A budget that something must keep, and how far it is over."""

    def __init__(self, measure: Callable[[], int], most: int, why: str) -> None:
        self.measure, self.most, self.why = measure, most, why

    def excess(self) -> int:
        return self.measure() - self.most


def _most(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """The largest number in a range that fits, where smaller ones do if larger ones do; None if none does."""
    if high < low or not fits(low):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _text_of(item: Item) -> Pieces:
    return next((pieces for field, pieces in item.fields.items() if field.name == "text"), ())


def _length_of_description(item: Item) -> int:
    return max(
        (
            sum(len(piece.text) for piece in pieces)
            for field, pieces in item.fields.items()
            if field.name == "description"
        ),
        default=0,
    )


def _described(item: Item, length: int) -> Item:
    """The item with its description cut to so many characters, the ellipsis among them."""
    fields = dict(item.fields)
    for field, pieces in item.fields.items():
        if field.name == "description" and sum(len(piece.text) for piece in pieces) > length:
            kept = prefix(pieces, max(length - 1, 0))
            text = "".join(piece.text for piece in kept)
            # An escape such as `&amp;` is kept whole or not at all.
            escape = text.rfind("&", max(len(text) - 6, 0))
            if "xml" in field.filters and escape >= 0 and ";" not in text[escape:]:
                kept = prefix(kept, escape)
            fields[field] = (*kept, Piece("…", _MARK)) if length else ()
    return replace(item, fields=fields)


def cut_to(pieces: Pieces, most: int) -> Pieces:
    """As much of the beginning as fits with the mark of the cut, preferably whole lines; the mark alone where nothing does."""
    text = "".join(piece.text for piece in pieces)
    total = estimate(text)

    def cut_at(length: int) -> Pieces:
        kept, _ = sealed(prefix(pieces, length))
        left_out = total - estimate(text[:length])
        start = "\n" if length else ""
        return (*kept, Piece(f"{start}[foreword: cut here, about {left_out:,} tokens left out]", _MARK))

    def fits(length: int) -> bool:
        return estimate("".join(piece.text for piece in cut_at(length))) <= most

    length = _most(fits, 0, max(len(text) - 1, 0)) or 0
    line_end = text.rfind("\n", 0, length + 1)
    if length and line_end > length * 3 // 4 and fits(line_end):
        length = line_end
    return cut_at(length)


def prefix(pieces: Pieces, length: int) -> Pieces:
    """The first so many characters, each with its origin."""
    kept: list[Piece] = []
    for piece in pieces:
        if length <= 0:
            break
        if len(piece.text) > length:
            text = piece.text[:length]
            lines = piece.origin.lines
            origin = replace(piece.origin, lines=(lines[0], lines[0] + text.count("\n"))) if lines else piece.origin
            piece = Piece(text, origin)
        kept.append(piece)
        length -= len(piece.text)
    return tuple(kept)


_SHORTEST = 24
