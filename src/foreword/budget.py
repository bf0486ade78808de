"""What gives way when a prompt is too long: never in silence.

Budgets count tokens by one fixed estimate, so that the same workspace gives the same bytes whatever is installed. They act on
content before it is wrapped. Every cut leaves a mark in the text, which counts, and a finding that tells before and after.

    one file    over `file_budget`: cut
    a section   over its `budget`: said (`warn`); or its menus are shortened, then its files cut farthest first (`cut`, `shorten`)
    the whole   menus shorten, then instruction files give way farthest first, then residents; the nearest instruction file,
                the base and the boundaries never do

A file no longer than the mark of its cut is not cut. Where marks alone are too long, they go as well, farthest first.
"""

from __future__ import annotations

from operator import is_

from .drafts import Draft, Item, sealed, spanning
from .findings import finding
from .layout import Field
from .tokens import estimate
from .vocabulary import Origin, Piece, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Sequence

    from .drafts import Scribe
    from .layout import Layout, Section
    from .vocabulary import Finding

    Pieces = tuple[Piece, ...]

    Place = tuple["_Trial", int]

_MARK = Origin("mark")
_MENUS = ("skill", "resident")
_BOUNDARIES = ("readable", "writable", "denied")


def fit(
    layout: Layout, drafts: tuple[Draft, ...], scribe: Scribe
) -> tuple[tuple[Draft, ...], tuple[Finding, ...], dict[str, str]]:
    """The drafts within their budgets, the findings, and for each file that was cut the reason."""
    has_budget = layout.budget or any(section.budget or section.file_budget for section in layout.each_section())
    if not has_budget:
        return drafts, (), {}
    fitting = _Fitting(layout, scribe, [_Trial(draft) for draft in drafts])
    for trial in fitting.trials:
        fitting.fit_section(trial)
    fitting.fit_whole()
    return (
        tuple(draft for trial in fitting.trials if not (draft := trial.draft()).is_empty),
        tuple(fitting.findings),
        fitting.cut_files,
    )


class _Trial:
    """A draft that is still being fitted."""

    def __init__(self, draft: Draft) -> None:
        self.original = draft
        self.section: Section = draft.section
        self.items = list(draft.items)
        self.inner = [_Trial(each) for each in draft.inner]

    def draft(self) -> Draft:
        """The draft as it is now: the very same where nothing gave way."""
        inner = tuple([each for trial in self.inner if not (each := trial.draft()).is_empty])
        is_same = self.section is self.original.section and _are_same(self.items, self.original.items)
        if is_same and _are_same(inner, self.original.inner):
            return self.original
        items = tuple([item for item in self.items if item.fields or item.whole])
        if not items and not inner and (self.original.items or self.original.inner):
            return Draft(self.section)
        return replace(self.original, items=items, inner=inner, section=self.section)

    def each(self) -> Iterator[_Trial]:
        yield self
        for inner in self.inner:
            yield from inner.each()


def _are_same(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and all(map(is_, one, other))


class _Fitting:
    """The trials of one prompt, and what happened to them."""

    def __init__(self, layout: Layout, scribe: Scribe, trials: list[_Trial]) -> None:
        self.layout, self.scribe, self.trials = layout, scribe, trials
        self.kinds = {find.name: find.kind for find in layout.finds}
        self.findings: list[Finding] = []
        self.cut_files: dict[str, str] = {}

    def cost(self, trial: _Trial) -> int:
        draft = trial.draft()
        return 0 if draft.is_empty else self.scribe.cost(draft, estimate)

    def cost_of_all(self) -> int:
        drafts = [draft for trial in self.trials if not (draft := trial.draft()).is_empty]
        return estimate(self.layout.join.join(self.scribe.written(draft)[1] for draft in drafts))

    def fit_section(self, trial: _Trial) -> None:
        """Inner sections first, then the section's own budget."""
        for inner in trial.inner:
            self.fit_section(inner)
        section = trial.section
        if section.file_budget:
            self.fit_files(trial, section.file_budget)
        if section.budget is None or (before := self.cost(trial)) <= section.budget:
            return
        limit = _Limit(
            lambda: self.cost(trial),
            section.budget,
            f"the budget of section '{section.name}' is {section.budget:,} tokens",
        )
        if section.over != "warn":
            every = list(trial.each())
            for each in every:
                if self.kind(each) in _MENUS or self.is_own_list(each):
                    self.shorten(each, limit)
            self.cut_files_in(every, limit)
        if limit.excess() > 0:
            now = section.budget + limit.excess()
            message = f"section '{section.name}' has {now:,} tokens{f', {before:,} before' if now != before else ''}; {limit.why}"
            self.findings.append(finding("budget-section", message))

    def kind(self, trial: _Trial) -> str:
        return self.kinds.get(trial.section.of or "", "")

    def is_own_list(self, trial: _Trial) -> bool:
        """Whether it lists something of the agent's that the layout lets shorten; boundaries never do."""
        return not self.kind(trial) and trial.section.over == "shorten" and trial.section.of not in _BOUNDARIES

    def fit_files(self, trial: _Trial, most: int) -> None:
        why = f"one file may have {most:,} tokens"
        for _, number in self.places([trial]):
            if _cost(_text_of(trial.items[number])) > most and self.cut_item(trial, number, most, why) > most:
                self.leave_out(trial, number, why)

    def fit_whole(self) -> None:
        """The order of giving way over the budget of the whole."""
        budget = self.layout.budget
        if budget is None or (before := self.cost_of_all()) <= budget:
            return
        limit = _Limit(self.cost_of_all, budget, f"the budget of the whole prompt is {budget:,} tokens")
        if self.layout.over == "warn":
            self.findings.append(finding("budget-whole", f"the prompt has {before:,} tokens; {limit.why}"))
            return
        every = [each for trial in self.trials for each in trial.each()]
        for trial in every:
            if self.kind(trial) == "skill":
                self.shorten(trial, limit)
        self.cut_files_in(every, limit, spare_nearest=True)
        for trial in every:
            if self.kind(trial) == "resident":
                self.shorten(trial, limit)
        if limit.excess() > 0:
            message = f"what may not give way (the base, the boundaries, the nearest instruction file) has {budget + limit.excess():,} tokens; {limit.why}"
            self.findings.append(finding("budget-exceeded", message))

    # files

    def places(self, trials: Sequence[_Trial]) -> list[Place]:
        """Where the texts of files stand, farthest first."""
        return [
            (trial, number)
            for trial in trials
            if self.kind(trial) == "text"
            for number, item in enumerate(trial.items)
            if _text_of(item)
        ]

    def cut_files_in(self, trials: Sequence[_Trial], limit: _Limit, spare_nearest: bool = False) -> None:
        """Files give way farthest first, down to their marks; then the marks go, and what that leaves free is the nearest's."""
        places = self.places(trials)
        places = places[:-1] if spare_nearest else places
        uncut = [(item := trial.items[number], self.cut_files.get(item.path, "")) for trial, number in places]
        self.cut_in_turn(places, limit)
        gone = 0
        while gone < len(places) and limit.excess() > 0:
            self.leave_out(*places[gone], limit.why)
            gone += 1
        if gone:
            for (trial, number), (item, reason) in zip(places[gone:], uncut[gone:], strict=True):
                trial.items[number] = item
                self.tell(item.path, reason)
            self.cut_in_turn(places[gone:], limit)

    def cut_in_turn(self, places: Sequence[Place], limit: _Limit) -> None:
        for trial, number in places:
            excess = limit.excess()
            text = _text_of(trial.items[number])
            most = _cost(text)
            if most <= _cost(cut_to(text, 0)):
                continue
            while excess > 0 and most > 0:
                most = max(most - excess, 0)
                self.cut_item(trial, number, most, limit.why)
                excess = limit.excess()

    def cut_item(self, trial: _Trial, number: int, most: int, why: str) -> int:
        """Cut the text of one item to at most so many tokens, its mark included; to the mark alone where there is no room."""
        item = trial.items[number]
        cut = cut_to(_text_of(trial.original.items[number]), most, self.scribe.own_tag)
        field = next(field for field in item.fields if field.name == "text")
        trial.items[number] = replace(item, fields={**item.fields, field: cut})
        self.tell_cut(trial, number, _cost(cut), why)
        return _cost(cut)

    def leave_out(self, trial: _Trial, number: int, why: str) -> None:
        """Leave an item out, its mark too."""
        trial.items[number] = Item({}, trial.items[number].path)
        self.tell_cut(trial, number, 0, why)

    def tell_cut(self, trial: _Trial, number: int, after: int, why: str) -> None:
        original = trial.original.items[number]
        left = "" if after else "nothing of it is left; "
        self.tell(original.path, f"cut from {_cost(_text_of(original)):,} to {after:,} tokens; {left}{why}")

    def tell(self, path: str, reason: str) -> None:
        """What became of a file takes the place of what was said of it before."""
        self.findings = [each for each in self.findings if each.code != "budget-file" or each.path != path]
        self.cut_files.pop(path, None)
        if reason:
            self.findings.append(finding("budget-file", f"{path}: {reason}", path))
            self.cut_files[path] = reason

    # menus

    def shorten(self, trial: _Trial, limit: _Limit) -> None:
        """Descriptions are shortened evenly, then only names are kept, then a counted line stands for the rest."""
        before = limit.excess()
        if before <= 0 or not trial.items:
            return
        # What an earlier budget left of the menu is no menu: it is shortened anew.
        trial.items, trial.section = list(trial.original.items), trial.original.section
        total = len(trial.items)
        what = self.shorten_descriptions(trial, limit) or self.keep_names(trial, limit)
        name, cost = trial.section.name, limit.most + before
        start = f"section '{name}': "
        self.findings = [
            each for each in self.findings if each.code != "budget-menu" or not each.message.startswith(start)
        ]
        message = (
            f"{start}{what} of {total:,} entries (from {cost:,} to {limit.most + limit.excess():,} tokens); {limit.why}"
        )
        self.findings.append(finding("budget-menu", message))

    def shorten_descriptions(self, trial: _Trial, limit: _Limit) -> str:
        """The longest descriptions that fit, all cut at one length; nothing where not even short ones do."""
        items = list(trial.items)
        if not self.names_fit(trial, limit):
            return ""

        def fits(length: int) -> bool:
            trial.items[:] = [_described(item, length) for item in items]
            return limit.excess() <= 0

        length = _most(fits, _SHORTEST, max(_length_of_description(item) for item in items))
        if length is None:
            trial.items[:] = items
            return ""
        fits(length)
        return f"descriptions were shortened to {length:,} characters in the menu"

    def names_fit(self, trial: _Trial, limit: _Limit) -> bool:
        """A quick look, so that a huge menu is not written out in full again and again."""
        short = trial.section.short or trial.section.item
        room = limit.most
        for item in trial.items:
            room -= (
                estimate(
                    "".join(piece.text for field in short if isinstance(field, Field) for piece in item.fields[field])
                )
                - 1
            )
            if room < 0:
                return False
        return True

    def keep_names(self, trial: _Trial, limit: _Limit) -> str:
        """Names only, and if those are too many, as many as fit and a line that counts the rest."""
        section = trial.section
        trial.section = replace(section, item=section.short or section.item)
        items = trial.items if section.short else [_described(item, 0) for item in trial.items]
        trial.items = list(items)
        if self.names_fit(trial, limit) and limit.excess() <= 0:
            return "only names were kept in the menu"

        def fits(number: int) -> bool:
            line = Piece(f"[foreword: {len(items) - number:,} more left out]", _MARK)
            trial.items = [*items[:number], Item({}, whole=(line,))]
            return limit.excess() <= 0

        number = _most(fits, 0, min(len(items) - 1, limit.most))
        if number is None:
            trial.items = []
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


def _cost(pieces: Pieces) -> int:
    return estimate("".join(piece.text for piece in pieces))


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


def cut_to(pieces: Pieces, most: int, own_tag: re.Pattern[str] | None = None) -> Pieces:
    """As much of the beginning as fits with the mark of the cut, preferably whole lines; the mark alone where nothing does.

    What is left never ends in the beginning of one of the layout's own tags.
    """
    total = _cost(pieces)
    while pieces and pieces[-1].origin.kind == "mark":
        pieces = pieces[:-1]
    text = "".join(piece.text for piece in pieces)

    def cut_at(length: int) -> Pieces:
        last = text.rfind("<", 0, length)
        if last >= 0 and own_tag is not None and own_tag.match(text[last:length] + "\n"):
            length = last
        kept, _ = sealed(prefix(pieces, length))
        left_out = total - estimate(text[:length])
        start = "\n" if length else ""
        return (*kept, Piece(f"{start}[foreword: cut here, about {left_out:,} tokens left out]", _MARK))

    def fits(length: int) -> bool:
        return _cost(cut_at(length)) <= most

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
            piece = Piece(text, spanning(piece.origin, lines[0] if lines else None, text))
        kept.append(piece)
        length -= len(piece.text)
    return tuple(kept)


_SHORTEST = 24
