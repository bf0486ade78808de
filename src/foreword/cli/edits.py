"""Print the difference between two prompts: changed words are coloured on a terminal, and in brackets when piped."""

from __future__ import annotations

import sys

from ..inspection.diff import describe_cause
from ..inspection.hunks import changed_lines, find_hunks, split_hunk
from ..text.lines import escape_controls, printable
from .terminal import paint, shows_colours, write, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..inspection.diff import Cause, Difference, Edit, SectionDiff
    from ..inspection.hunks import Hunk
    from ..inspection.rebuilding import FirstDifference
    from ..inspection.subject import Subject
    from .paths import ShortPaths

_COLOURS = {"added": "green", "removed": "red", "moved": "cyan", "changed": "yellow"}
_MAX_SECTIONS = 100
_MAX_CHANGES = 20
_MAX_LINES = 8
_MAX_CAUSES = 6
_MAX_WIDTH = 160
_CONTEXT = 50


def write_difference(
    old: Subject, new: Subject, tokens: tuple[int, int], difference: Difference, paths: ShortPaths
) -> None:
    """Print the difference between two prompts."""
    write_subjects(old, new, tokens, paths)
    for name, before, after in difference.circumstances:
        values = [printable(paths.shorten(text)) or "none" for text in (before, after)]
        write_line(f"{paint('built with', 'dim')}  {name} {values[0]} → {values[1]}", indent=12)
    for section in difference.sections[:_MAX_SECTIONS]:
        write("\n")
        write_section(section, old.prompt.text, new.prompt.text, paths)
    if len(difference.sections) > _MAX_SECTIONS:
        write_line(f"\n… {len(difference.sections) - _MAX_SECTIONS:,} more sections (--json lists them all)")
    if difference.tools.has_any:
        write("\n")
        _write_tools(difference)
    if not difference.is_changed:
        write("the prompts are the same")


def write_subjects(old: Subject, new: Subject, tokens: tuple[int, int], paths: ShortPaths) -> None:
    """Print the name, layout (if known), size and id of each of the two prompts."""
    rows = []
    has_layout = bool(old.prompt.layout or new.prompt.layout)
    for sign, subject, count in (("-", old, tokens[0]), ("+", new, tokens[1])):
        layout = [subject.prompt.layout] if has_layout else []
        size = f"{count:,} token{'' if count == 1 else 's'}"
        rows.append([f"{sign} {paths.shorten(subject.name)}", *layout, size, subject.prompt.id[:19]])
    colours = [dict.fromkeys(range(len(row)), colour) for row, colour in zip(rows, ("red", "green"), strict=True)]
    write_table(rows, paths=(0,), optional=(len(rows[0]) - 1,), row_colours=colours)


def write_section(section: SectionDiff, old: str, new: str, paths: ShortPaths) -> None:
    """Print how a section differs."""
    kinds = " and ".join(paint(kind, _COLOURS[kind]) for kind in section.kinds)
    moved = f"  from position {section.old_place} to {section.new_place}" if "moved" in section.kinds else ""
    write_line(f"{kinds}  {paint(printable(section.section), 'bold')}{moved}", indent=4)
    if "added" in section.kinds and section.new:
        _write_causes(section.causes, paths)
        _write_lines(_signed_lines(_lines(new[slice(*section.new)]), "+", "green"))
    elif "removed" in section.kinds and section.old:
        _write_causes(section.causes, paths)
        _write_lines(_signed_lines(_lines(old[slice(*section.old)]), "-", "red"))
    elif not section.edits:
        _write_causes(section.causes, paths)
    last: Sequence[Cause] = ()
    parts = [part for hunk in find_hunks(section.edits, old, new) for part in split_hunk(hunk, old, new)]
    for part in parts[:_MAX_CHANGES]:
        if part.causes != last:
            _write_causes(part.causes, paths)
            last = part.causes
        _write_lines(_part_lines(part, old, new))
    if len(parts) > _MAX_CHANGES:
        write(f"  … {len(parts) - _MAX_CHANGES:,} more changes (--json lists them all)")


def _write_lines(lines: Iterator[str]) -> None:
    for line in lines:
        write_line(line, indent=6)


def _group_by_line(edits: Sequence[Edit], old: str) -> Iterator[list[Edit]]:
    """Group edits that are close together on one line."""
    group: list[Edit] = []
    for edit in edits:
        between = old[group[-1].old[1] : edit.old[0]] if group else ""
        if "\n" in between or len(between) > _CONTEXT:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _write_causes(causes: Sequence[Cause], paths: ShortPaths) -> None:
    for cause in causes[:_MAX_CAUSES]:
        write_line(f"  {paint(paths.shorten_in(describe_cause(cause)), 'cyan')}", indent=4)
    if len(causes) > _MAX_CAUSES:
        write(f"  … {len(causes) - _MAX_CAUSES:,} more sources")


def _write_tools(difference: Difference) -> None:
    for kind, names in difference.tools.by_kind():
        tools = "tool" if len(names) == 1 else "tools"
        write_line(f"{paint(kind, _COLOURS[kind])}  {tools} {', '.join(map(printable, names))}", indent=4)


def _part_lines(hunk: Hunk, old: str, new: str) -> Iterator[str]:
    """Yield the changed words within their lines, or whole lines if a line was added or removed."""
    texts = [(old[slice(*edit.old)], new[slice(*edit.new)]) for edit in hunk.edits]
    if not any("\n" in removed or "\n" in added for removed, added in texts):
        for edits in _group_by_line(hunk.edits, old):
            yield _words_in_line(edits, old, new)
        return
    removed, added = texts[0]
    if len(texts) == 1 and (removed.isspace() or added.isspace()):
        yield f"    {_mark(removed, '[-', '-]', 'red')}{_mark(added, '{+', '+}', 'green')}"
        return
    old_lines, new_lines = changed_lines(hunk, old, new)
    yield from _signed_lines(old_lines, "-", "red")
    yield from _signed_lines(new_lines, "+", "green")


def _words_in_line(edits: Sequence[Edit], old: str, new: str) -> str:
    """Return the changed words of a line, with the words around them."""
    start = max(old.rfind("\n", 0, edits[0].old[0]) + 1, edits[0].old[0] - _CONTEXT)
    stop = old.find("\n", edits[-1].old[1])
    end = min(stop if stop >= 0 else len(old), edits[-1].old[1] + _CONTEXT)
    line = "    …" if start and old[start - 1] != "\n" else "    "
    for edit in edits:
        line += _escape(old[start : edit.old[0]])
        line += _mark(old[slice(*edit.old)], "[-", "-]", "red") + _mark(new[slice(*edit.new)], "{+", "+}", "green")
        start = edit.old[1]
    return line + _escape(old[start:end]) + ("…" if end < len(old) and old[end] != "\n" else "")


def _mark(text: str, opening: str, closing: str, colour: str) -> str:
    """Return changed words in colour or in brackets. White space on its own is replaced by visible symbols."""
    if not text:
        return ""
    display = _escape(text)
    if text.isspace():
        display = text.replace(" ", "·").replace("\t", "⇥").replace("\n", "⏎")
    display = display if len(display) <= _MAX_WIDTH else f"{display[: _MAX_WIDTH - 1]}…"
    return paint(display, colour) if shows_colours(sys.stdout) else f"{opening}{display}{closing}"


def _lines(text: str) -> list[str]:
    return text.removeprefix("\n").removesuffix("\n").split("\n") if text else []


def _signed_lines(lines: Sequence[str], sign: str, colour: str) -> Iterator[str]:
    for line in lines[:_MAX_LINES]:
        display = _escape(line if len(line) <= _MAX_WIDTH else f"{line[: _MAX_WIDTH - 1]}…")
        yield paint(f"    {sign} {display}".rstrip(), colour)
    if len(lines) > _MAX_LINES:
        yield f"    {sign} … {len(lines) - _MAX_LINES:,} more lines"


def _escape(text: str) -> str:
    """Return the text with control characters escaped."""
    return escape_controls(text, keep="\n\t")


def describe_first_difference(first: FirstDifference, paths: ShortPaths) -> str:
    """Describe where two requests begin to differ, and why."""
    if first.argument == "tools":
        return f"the definition of the tool {printable(first.name)}, character {first.offset + 1:,}"
    if first.argument == "messages":
        return f"message {first.name}, character {first.offset + 1:,}"
    where = f"section '{printable(first.name)}'" if first.name else f"character {first.offset + 1:,} of the prompt"
    return where + (
        f", {', '.join(paths.shorten_in(describe_cause(cause)) for cause in first.causes)}" if first.causes else ""
    )
