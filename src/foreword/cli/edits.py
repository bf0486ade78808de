"""Print the difference between two prompts: changed words are coloured on a terminal, and in brackets when piped."""

from __future__ import annotations

import sys

from ..inspection.diff import describe_cause
from ..text.lines import escape_controls, printable
from .terminal import paint, shows_colours, write, write_line, write_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..inspection.cache import FirstDifference
    from ..inspection.diff import Cause, Difference, Edit, SectionDiff
    from ..inspection.subject import Subject
    from .paths import ShortPaths

_COLOURS = {"added": "green", "removed": "red", "moved": "cyan", "changed": "yellow"}
_MAX_SECTIONS = 100
_MAX_EDITS = 20
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
    colours = [dict.fromkeys(range(4), colour) for colour in ("red", "green")]
    write_table(rows, paths=(0,), optional=(len(rows[0]) - 1,), row_colours=colours)


def write_section(section: SectionDiff, old: str, new: str, paths: ShortPaths) -> None:
    """Print how a section differs."""
    kinds = " and ".join(paint(kind, _COLOURS[kind]) for kind in section.kinds)
    moved = f"  from position {section.old_place} to {section.new_place}" if "moved" in section.kinds else ""
    write_line(f"{kinds}  {paint(printable(section.section), 'bold')}{moved}", indent=4)
    if "added" in section.kinds and section.new:
        _write_causes(section.causes, paths)
        _write_lines(_signed_lines(new[section.new[0] : section.new[1]], "+", "green"))
    elif "removed" in section.kinds and section.old:
        _write_causes(section.causes, paths)
        _write_lines(_signed_lines(old[section.old[0] : section.old[1]], "-", "red"))
    elif not section.edits:
        _write_causes(section.causes, paths)
    last: Sequence[Cause] = ()
    groups = list(_group_by_line(section.edits, old, new))
    for edits in groups[:_MAX_EDITS]:
        if edits[0].causes != last:
            _write_causes(edits[0].causes, paths)
            last = edits[0].causes
        _write_lines(_edit_lines(edits, old, new))
    if len(groups) > _MAX_EDITS:
        write(f"  … {len(groups) - _MAX_EDITS:,} more changes (--json lists them all)")


def _write_lines(lines: Iterator[str]) -> None:
    for line in lines:
        write_line(line, indent=6)


def _group_by_line(edits: Sequence[Edit], old: str, new: str) -> Iterator[list[Edit]]:
    """Group edits that are close together on one line and have the same causes."""
    group: list[Edit] = []
    for edit in edits:
        if group:
            between = old[group[-1].old[1] : edit.old[0]]
            is_far = "\n" in between or len(between) > _CONTEXT or _starts_at_line_end(edit, old, new)
            if is_far or edit.causes != group[-1].causes:
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


def _edit_lines(edits: Sequence[Edit], old: str, new: str) -> Iterator[str]:
    """Yield the changed words within their line, or whole lines if the change spans several."""
    texts = [(old[edit.old[0] : edit.old[1]], new[edit.new[0] : edit.new[1]]) for edit in edits]
    if any("\n" in removed or "\n" in added for removed, added in texts):
        removed, added = texts[0]
        if len(edits) == 1 and (removed.isspace() or added.isspace()):
            yield f"    {_mark(removed, '[-', '-]', 'red')}{_mark(added, '{+', '+}', 'green')}"
        else:
            removed, added = _whole_lines(edits, old, new)
            yield from _signed_lines(removed, "-", "red")
            yield from _signed_lines(added, "+", "green")
        return
    start = max(old.rfind("\n", 0, edits[0].old[0]) + 1, edits[0].old[0] - _CONTEXT)
    stop = old.find("\n", edits[-1].old[1])
    end = min(stop if stop >= 0 else len(old), edits[-1].old[1] + _CONTEXT)
    line = "    …" if start and old[start - 1] != "\n" else "    "
    for edit, (removed, added) in zip(edits, texts, strict=True):
        line += _escape(old[start : edit.old[0]])
        line += _mark(removed, "[-", "-]", "red") + _mark(added, "{+", "+}", "green")
        start = edit.old[1]
    yield line + _escape(old[start:end]) + ("…" if end < len(old) and old[end] != "\n" else "")


def _whole_lines(edits: Sequence[Edit], old: str, new: str) -> tuple[str, str]:
    """Return the removed and added text, extended to whole lines."""
    removed, added = ((old, edits[0].old[0], edits[-1].old[1]), (new, edits[0].new[0], edits[-1].new[1]))
    starts_at_line_end = _starts_at_line_end(edits[0], old, new)
    ends_at_line_end = old[removed[2] : removed[2] + 1] == "\n" or all(
        text[max(end - 1, 0) : end] in ("", "\n") for text, _, end in (removed, added)
    )
    return (
        _extend_to_lines(*removed, starts_at_line_end, ends_at_line_end),
        _extend_to_lines(*added, starts_at_line_end, ends_at_line_end),
    )


def _starts_at_line_end(edit: Edit, old: str, new: str) -> bool:
    """Whether an edit starts after the last word of a line."""
    return all(text[offset : offset + 1] in ("", "\n") for text, offset in ((old, edit.old[0]), (new, edit.new[0])))


def _extend_to_lines(text: str, start: int, end: int, keep_start: bool, keep_end: bool) -> str:
    first = start if keep_start else text.rfind("\n", 0, start) + 1
    last = end if keep_end else text.find("\n", end)
    return text[first : last if last >= 0 else len(text)]


def _mark(text: str, opening: str, closing: str, colour: str) -> str:
    """Return changed words in colour or in brackets. White space on its own is replaced by visible symbols."""
    if not text:
        return ""
    display = _escape(text)
    if text.isspace():
        display = text.replace(" ", "·").replace("\t", "⇥").replace("\n", "⏎")
    display = display if len(display) <= _MAX_WIDTH else f"{display[: _MAX_WIDTH - 1]}…"
    return paint(display, colour) if shows_colours(sys.stdout) else f"{opening}{display}{closing}"


def _signed_lines(text: str, sign: str, colour: str) -> Iterator[str]:
    if not text:
        return
    lines = text.removeprefix("\n").removesuffix("\n").split("\n", _MAX_LINES)
    for line in lines[:_MAX_LINES]:
        display = _escape(line if len(line) <= _MAX_WIDTH else f"{line[: _MAX_WIDTH - 1]}…")
        yield paint(f"    {sign} {display}".rstrip(), colour)
    if len(lines) > _MAX_LINES:
        yield f"    {sign} … {lines[-1].count(chr(10)) + 1:,} more lines"


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
