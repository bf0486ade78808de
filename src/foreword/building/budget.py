"""Cut prompts that exceed a budget, and report every cut.

Budgets count tokens with one fixed estimate, so that the same workspace gives the same bytes on every installation. They apply to
content before it is wrapped. Every cut leaves a mark in the text, which counts too, and is reported with the tokens before and after.

    file      cut if it exceeds `file_budget`
    section   if it exceeds its `budget`, reported (`warn`), or its menus are shortened, then its files cut, farthest first (`cut`, `shorten`)
    prompt    skill menus are shortened, then instruction files cut, farthest first, then resident menus shortened; the nearest
              instruction file, the base and the boundaries are never cut, nor is a file whose lifetime is `release`

Shortening a menu first shortens its descriptions, then removes them. Names are removed last, and are always replaced by a line
with their number. A file that is not longer than its mark is not cut. If the marks alone are too long, they are removed, farthest
first.

Each step is exhausted before the next one begins, so a larger budget never keeps less.
"""

from __future__ import annotations

from operator import is_

from ..findings import finding
from ..layout.keys import LISTS
from ..text.lines import end_of_whole_characters
from ..text.pieces import close_open_blocks, slice_pieces
from ..text.tokens import estimate
from ..vocabulary import Origin, Piece, replace
from .drafts import Draft, Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..layout.model import Layout, Section
    from ..vocabulary import Finding
    from .drafts import DraftWriter

    Pieces = tuple[Piece, ...]

    Position = tuple["_Trial", int]
    Distance = Callable[[str, str], int]

_MARK = Origin("mark")
_MENU_KINDS = ("skill", "resident", "agent", "command")
_FILE_LISTS = tuple(name for name, fields in LISTS.items() if {"text", "path"} <= set(fields))
_BOUNDARIES = ("readable", "writable", "denied")


def fit(
    layout: Layout, drafts: tuple[Draft, ...], writer: DraftWriter, distance: Distance
) -> tuple[tuple[Draft, ...], tuple[Finding, ...], dict[str, str]]:
    """Cut the drafts to their budgets. Returns the drafts, the findings, and the reason for each file that was cut.

    `distance` returns how far a lookup rule's file is from the working directory.
    """
    has_budget = layout.budget or any(section.budget or section.file_budget for section in layout.all_sections)
    if not has_budget:
        return drafts, (), {}
    fitter = _Fitter(layout, writer, distance, [_Trial(draft) for draft in drafts])
    for trial in fitter.trials:
        fitter.fit_section(trial)
    fitter.fit_prompt()
    return (
        tuple(draft for trial in fitter.trials if not (draft := trial.draft()).is_empty),
        (*fitter.menu_findings(), *fitter.findings.values()),
        fitter.omission_reasons() | fitter.cut_files,
    )


class _Trial:
    """A draft that is being cut."""

    def __init__(self, draft: Draft) -> None:
        self.original = draft
        self.section: Section = draft.section
        self.items = list(draft.items)
        self.inner = [_Trial(inner) for inner in draft.inner]

    def draft(self) -> Draft:
        """Return the draft as cut so far, or the original one if nothing was cut."""
        inner = tuple([draft for trial in self.inner if not (draft := trial.draft()).is_empty])
        is_same = self.section is self.original.section and _are_same(self.items, self.original.items)
        if is_same and _are_same(inner, self.original.inner):
            return self.original
        items = tuple([item for item in self.items if item.fields or item.line])
        if not items and not inner and (self.original.items or self.original.inner):
            return Draft(self.section)
        return replace(self.original, items=items, inner=inner, section=self.section)

    def walk(self) -> Iterator[_Trial]:
        yield self
        for inner in self.inner:
            yield from inner.walk()


def _may_be_cut(trial: _Trial) -> bool:
    """Whether a section's files give way to the prompt's budget. What has the lifetime `release` belongs to the base."""
    return trial.section.lifetime != "release"


def _are_same(left: Sequence[object], right: Sequence[object]) -> bool:
    return len(left) == len(right) and all(map(is_, left, right))


class _Fitter:
    """Cuts the drafts of one prompt and collects findings about the cuts."""

    def __init__(self, layout: Layout, writer: DraftWriter, distance: Distance, trials: list[_Trial]) -> None:
        self.layout, self.writer, self.distance, self.trials = layout, writer, distance, trials
        self.kinds = {lookup.name: lookup.kind for lookup in layout.lookups}
        self.findings: dict[tuple[str, str], Finding] = {}
        self.cut_files: dict[str, str] = {}
        self.menus: dict[int, _Menu] = {}

    def cost(self, trial: _Trial) -> int:
        draft = trial.draft()
        return 0 if draft.is_empty else self.writer.cost(draft, estimate)

    def total_cost(self) -> int:
        drafts = [draft for trial in self.trials if not (draft := trial.draft()).is_empty]
        return estimate(self.layout.join.join(self.writer.write(draft)[1] for draft in drafts))

    def fit_section(self, trial: _Trial) -> None:
        """Apply the budgets of inner sections first, then the section's own."""
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
            trials = list(trial.walk())
            menus = [
                self.menu(member)
                for member in trials
                if member.items and (self.kind(member) in _MENU_KINDS or self.may_shorten_list(member))
            ]
            positions = self.file_positions(trials)
            self.shorten(menus, limit)
            self.cut_files_down(positions, limit)
            self.remove_names(menus, limit)
            self.remove_files(positions, limit)
        if limit.excess() > 0:
            now = section.budget + limit.excess()
            message = f"section '{section.name}' has {now:,} tokens{f', {before:,} before' if now != before else ''}; {limit.explanation}"
            self.report("budget-section", section.name, message)

    def kind(self, trial: _Trial) -> str:
        return self.kinds.get(trial.section.list_name or "", "")

    def may_shorten_list(self, trial: _Trial) -> bool:
        """Whether this is one of the agent's lists and the layout allows shortening it. Boundaries are never shortened."""
        return not self.kind(trial) and trial.section.over == "shorten" and trial.section.list_name not in _BOUNDARIES

    def fit_files(self, trial: _Trial, limit: int) -> None:
        explanation = f"the limit for one file is {limit:,} tokens"
        lists_files = self.kind(trial) == "text" or trial.section.list_name in _FILE_LISTS
        for index, item in enumerate(trial.items if lists_files else ()):
            if _cost(_text_of(item)) > limit and self.cut_item(trial, index, limit, explanation) > limit:
                self.remove_item(trial, index, explanation)

    def fit_prompt(self) -> None:
        """Apply the whole prompt's budget."""
        budget = self.layout.budget
        if budget is None or (before := self.total_cost()) <= budget:
            return
        limit = _Limit(self.total_cost, budget, f"the budget of the whole prompt is {budget:,} tokens")
        if self.layout.over == "warn":
            self.report("budget-prompt", "", f"the prompt has {before:,} tokens; {limit.explanation}")
            return
        trials = [member for trial in self.trials for member in trial.walk()]
        menus = [trial for trial in trials if trial.items and self.kind(trial) in _MENU_KINDS]
        skills = [self.menu(trial) for trial in menus if self.kind(trial) == "skill"]
        residents = [self.menu(trial) for trial in menus if self.kind(trial) != "skill"]
        positions = self.file_positions(filter(_may_be_cut, trials))[:-1]
        self.shorten(skills, limit)
        self.cut_files_down(positions, limit)
        self.shorten(residents, limit)
        self.remove_names([*skills, *residents], limit)
        self.remove_files(positions, limit)
        if limit.excess() > 0:
            parts = "the base, the boundaries, the nearest instruction file and the shortest form of each list"
            message = (
                f"the parts that may not be cut ({parts}) have {budget + limit.excess():,} tokens; {limit.explanation}"
            )
            self.report("budget-exceeded", "", message)

    def report(self, code: str, subject: str, message: str, path: str = "") -> None:
        """Add a finding. It replaces the earlier one with the same code and subject."""
        self.findings.pop((code, subject), None)
        self.findings[code, subject] = finding(code, message, path)

    # files

    def file_positions(self, trials: Iterable[_Trial]) -> list[Position]:
        """Return the positions of items with text from files, farthest first. Items at the same distance keep their order."""
        positions = [
            (self.distance(trial.section.list_name or "", item.path), trial, index)
            for trial in trials
            if self.kind(trial) == "text"
            for index, item in enumerate(trial.items)
            if _text_of(item)
        ]
        return [(trial, number) for _, trial, number in sorted(positions, key=lambda position: -position[0])]

    def cut_files_down(self, positions: Sequence[Position], limit: _Limit) -> None:
        """Cut files to their marks, farthest first, and keep as much of the last one as fits."""
        for trial, number in positions:
            excess = limit.excess()
            if excess <= 0:
                return
            cost = _cost(_text_of(trial.items[number]))
            if cost <= _cost(cut_to(_text_of(trial.original.items[number]), 0)):
                continue
            self.cut_item(trial, number, 0, limit.explanation)
            if limit.excess() > 0:
                continue
            # Try every size, one token at a time, so that a larger budget never keeps less.
            for room in range(cost - excess, -1, -1):
                self.cut_item(trial, number, room, limit.explanation)
                if limit.excess() <= 0:
                    break

    def remove_files(self, positions: Sequence[Position], limit: _Limit) -> None:
        """Remove files together with their marks, farthest first."""
        for trial, number in positions:
            if limit.excess() <= 0:
                return
            self.remove_item(trial, number, limit.explanation)

    def cut_item(self, trial: _Trial, number: int, limit: int, explanation: str) -> int:
        """Cut the text of an item to at most `limit` tokens including its mark, or to the mark alone."""
        item = trial.items[number]
        cut = cut_to(_text_of(trial.original.items[number]), limit, self.writer.wrapper_tag)
        field = next(field for field in item.fields if field.name == "text")
        trial.items[number] = replace(item, fields={**item.fields, field: cut})
        self.report_cut(trial, number, _cost(cut), explanation)
        return _cost(cut)

    def remove_item(self, trial: _Trial, number: int, explanation: str) -> None:
        """Remove an item together with its mark."""
        trial.items[number] = Item({}, trial.items[number].path)
        self.report_cut(trial, number, 0, explanation)

    def report_cut(self, trial: _Trial, number: int, after: int, explanation: str) -> None:
        original = trial.original.items[number]
        left = "" if after else "nothing is left of it; "
        reason = f"cut from {_cost(_text_of(original)):,} to {after:,} tokens; {left}{explanation}"
        self.report_file(original.path, f"section '{trial.section.name}'", reason)

    def report_file(self, path: str, section: str, reason: str) -> None:
        """Report a cut, replacing an earlier report about the same file. The caller's text is identified by its section."""
        subject = path or section
        self.report("budget-file", subject, f"{subject}: {reason}", path)
        if path:
            self.cut_files[path] = reason

    # menus

    def menu(self, trial: _Trial) -> _Menu:
        if id(trial) not in self.menus:
            self.menus[id(trial)] = _Menu(trial)
        return self.menus[id(trial)]

    def shorten(self, menus: Iterable[_Menu], limit: _Limit) -> None:
        """Shorten descriptions evenly, then keep only names."""
        for menu in menus:
            self.reduce_menu(menu, menu.name_count, limit)

    def remove_names(self, menus: Iterable[_Menu], limit: _Limit) -> None:
        """Keep as many names as fit, and a line with the number of the others unless that is longer than the names."""
        for menu in menus:
            if menu.may_fit(menu.level, limit.maximum) and limit.excess() <= 0:
                return
            if self.is_shorter_without_names(menu):
                self.reduce_menu(menu, 0, limit)

    def is_shorter_without_names(self, menu: _Menu) -> bool:
        level = menu.level
        menu.set_level(0)
        lowest = self.cost(menu.trial)
        menu.set_level(level)
        return not menu.may_fit(level, lowest) or lowest < self.cost(menu.trial)

    def reduce_menu(self, menu: _Menu, lowest: int, limit: _Limit) -> None:
        """Reduce a menu to the highest level that fits, or to the lowest that is allowed."""
        if menu.level <= lowest or (menu.may_fit(menu.level, limit.maximum) and limit.excess() <= 0):
            return

        def fits(level: int) -> bool:
            if not menu.may_fit(level, limit.maximum):
                return False
            menu.set_level(level)
            return limit.excess() <= 0

        level = _largest_fitting(fits, lowest, menu.level - 1)
        menu.set_level(lowest if level is None else level)
        menu.explanation = limit.explanation

    def menu_findings(self) -> Iterator[Finding]:
        for menu in self.menus.values():
            if menu.explanation:
                original, now = self.writer.cost(menu.trial.original, estimate), self.cost(menu.trial)
                entries = "1 entry" if menu.name_count == 1 else f"{menu.name_count:,} entries"
                cut = f"{menu.summary} of {entries} (from {original:,} to {now:,} tokens)"
                yield finding("budget-list", f"section '{menu.trial.section.name}': {cut}; {menu.explanation}")

    def omission_reasons(self) -> dict[str, str]:
        """Return why each file that was removed from a menu is no longer in the prompt."""
        trials = [member for trial in self.trials for member in trial.walk()]
        kept = {item.path for trial in trials for item in trial.items if item.fields}
        return {
            item.path: f"left out of the list; {menu.explanation}"
            for menu in self.menus.values()
            for item in menu.trial.original.items[menu.level :]
            if item.path and item.path not in kept
        }


class _Menu:
    """A trial that lists entries, with its possible forms numbered from shortest to longest as levels.

    A level below `name_count` keeps that many names, followed by a line with the number of the others. The level `name_count`
    keeps all names without descriptions; each higher level allows longer descriptions.
    """

    def __init__(self, trial: _Trial) -> None:
        self.trial, self.section = trial, trial.original.section
        items = trial.original.items
        self.name_count = len(items)
        self.longest_description = max(map(_description_length, items))
        self.level = self.full_level = self.name_count + 1 + max(self.longest_description - _MIN_DESCRIPTION, 0)
        self.short_items = items if self.section.short else [_shorten_description(item, 0) for item in items]
        self.short_section = replace(self.section, item=self.section.short or self.section.item)
        self.lowest_costs = [0]
        self.explanation = ""

    def may_fit(self, level: int, limit: int) -> bool:
        """Whether the names alone fit into `limit`. This quick check avoids formatting a huge menu many times."""
        count, costs = min(level, self.name_count), self.lowest_costs
        while len(costs) <= count and costs[-1] <= limit:
            # In a list, a line costs at most two tokens less than on its own: one for rounding, one for the line before it.
            line = _line(self.short_section, self.short_items[len(costs) - 1])
            costs.append(costs[-1] + max(estimate(line) - 2, 0))
        return len(costs) > count and costs[count] <= limit

    @property
    def max_description(self) -> int:
        """The maximum length of a description in characters."""
        return self.level - self.name_count - 1 + _MIN_DESCRIPTION

    def set_level(self, level: int) -> None:
        """Change the trial's items to their form at this level."""
        self.level = level
        self.trial.section = self.short_section if level <= self.name_count else self.section
        if level == self.full_level:
            self.trial.items = list(self.trial.original.items)
        elif level > self.name_count:
            self.trial.items = [_shorten_description(item, self.max_description) for item in self.trial.original.items]
        else:
            self.trial.items = list(self.short_items[:level])
        if level < self.name_count:
            line = Piece(f"[foreword: {self.name_count - level:,} more left out]", _MARK)
            self.trial.items.append(Item({}, line=(line,)))

    @property
    def summary(self) -> str:
        """A description of what was cut from the menu, for a finding."""
        if self.level > self.name_count:
            return f"descriptions were shortened to {self.max_description:,} characters in the list"
        if self.level == self.name_count:
            return "only names were kept in the list"
        return (
            f"only the first {self.level:,} names were kept in the list"
            if self.level
            else "all names were removed from the list"
        )


class _Limit:
    """A budget, and the function that measures the text that it limits."""

    def __init__(self, measure: Callable[[], int], maximum: int, explanation: str) -> None:
        self.measure, self.maximum, self.explanation = measure, maximum, explanation

    def excess(self) -> int:
        return self.measure() - self.maximum


def _largest_fitting(fits: Callable[[int], bool], low: int, high: int) -> int | None:
    """Return the largest number in a range that fits, or None if none does. If a number fits, all smaller ones must fit too."""
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


def _line(section: Section, item: Item) -> str:
    heading = "".join(piece.text for piece in item.heading)
    return heading + "".join(
        part if isinstance(part, str) else "".join(piece.text for piece in item.fields[part]) for part in section.item
    )


def _description_length(item: Item) -> int:
    return max(
        (
            sum(len(piece.text) for piece in pieces)
            for field, pieces in item.fields.items()
            if field.name == "description"
        ),
        default=0,
    )


def _shorten_description(item: Item, length: int) -> Item:
    """Cut an item's description to this many characters, including the ellipsis."""
    fields = dict(item.fields)
    for field, pieces in item.fields.items():
        if field.name == "description" and sum(len(piece.text) for piece in pieces) > length:
            whole = "".join(piece.text for piece in pieces)
            kept = slice_pieces(pieces, 0, end_of_whole_characters(whole, max(length - 1, 0)))
            text = "".join(piece.text for piece in kept)
            # An escape such as `&amp;` must not be split.
            escape = text.rfind("&", max(len(text) - 6, 0))
            if not {"xml", "xml-quotes"}.isdisjoint(field.filters) and escape >= 0 and ";" not in text[escape:]:
                kept = slice_pieces(kept, 0, escape)
            fields[field] = (*kept, Piece("…", _MARK)) if length else ()
    return replace(item, fields=fields)


def cut_to(pieces: Pieces, limit: int, wrapper_tag: re.Pattern[str] | None = None) -> Pieces:
    """Return as much of the beginning as fits together with the mark, preferably whole lines, or the mark alone.

    The result never ends with the beginning of one of the layout's own tags.
    """
    total = _cost(pieces)
    while pieces and pieces[-1].origin.kind == "mark":
        pieces = pieces[:-1]
    text = "".join(piece.text for piece in pieces)

    def cut_at(length: int, close_fences: bool = True) -> Pieces:
        length = end_of_whole_characters(text, length)
        last = text.rfind("<", 0, length)
        while last >= 0 and wrapper_tag is not None and wrapper_tag.match(text[last:length] + "\n"):
            length -= 1
        kept = slice_pieces(pieces, 0, length)
        kept = close_open_blocks(kept)[0] if close_fences else kept
        left_out = total - estimate(text[:length])
        start = "\n" if length else ""
        return (*kept, Piece(f"{start}[foreword: cut here, about {left_out:,} tokens left out]", _MARK))

    def fits(length: int) -> bool:
        return _cost(cut_at(length)) <= limit

    # Checking for open fences is expensive, so search without it first, then check near the result.
    high = (
        _largest_fitting(lambda length: _cost(cut_at(length, close_fences=False)) <= limit, 0, max(len(text) - 1, 0))
        or 0
    )
    length = (
        high
        if fits(high)
        else _largest_fitting(fits, max(high - _SEARCH_WINDOW, 0), high) or _largest_fitting(fits, 0, high) or 0
    )
    line_end = text.rfind("\n", 0, length + 1)
    if length and line_end > length * 3 // 4 and fits(line_end):
        length = line_end
    return cut_at(length)


_SEARCH_WINDOW = 64
_MIN_DESCRIPTION = 24
