"""Word the messages that announce late changes to the model. Pure.

A message contains what changed, not everything that now applies: the lines that were added and removed, with the file's path and the
nearest heading. Of a long line it contains only the changed words and a few around them. The whole text is sent where that is shorter.

So that each change is announced once, a conversation's state has the text that the model knows: `edits`, which turn a section of the
edition's prompt into it.
"""

from __future__ import annotations

import json

from ..text.lines import end_of_whole_characters
from ..text.words import changed_spans
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    Edits = Sequence[Sequence[Any]]  # start and end in the edition's text, and the text instead
    Span = tuple[int, int, int, int]  # start and end of a change in the old and in the new text

_MAX_LINE = 240  # a longer line is shortened to the words around a change
_CONTEXT = 48  # characters on each side of a change in a long line
_FIRST_WIDE = (
    "\u2e80"  # characters from here on (Chinese, Japanese, Korean, emoji) are about a token each, as four others are
)
_WIDE = 4
_MAX_QUOTE = 72

INTRODUCTION = (
    "Your instructions have changed. Lines marked with - no longer apply, and lines marked with + apply from now on."
    " All other instructions stay as they are."
)
_SHORTENED = " In a shortened line, … stands for text that has not changed."


# Sections of a prompt


@value
class SectionText:
    """A section of a prompt: its text, and the file that each part of it comes from, as offsets and a path."""

    text: str = ""
    files: Sequence[tuple[int, int, str]] = ()

    def path_at(self, offset: int) -> str:
        """Return the path of the file that contains this offset or ends there, or an empty string."""
        return next((path for start, end, path in self.files if start <= offset <= end), "")


def section_texts(system: str, account: Mapping[str, Any]) -> dict[str, SectionText]:
    """Return the sections of a stored prompt by name. Sections with the same name are joined."""
    texts: dict[str, str] = {}
    files: dict[str, list[tuple[int, int, str]]] = {}
    for passage in account.get("passages", ()):
        name, start = passage["section"], passage["start"]
        before = f"{texts[name]}\n\n" if name in texts else ""
        texts[name] = before + system[start : passage["end"]]
        shift = len(before) - start
        files.setdefault(name, []).extend(
            (origin["start"] + shift, origin["end"] + shift, origin["path"])
            for origin in passage["origins"]
            if origin["kind"] == "file"
        )
    return {name: SectionText(text, files[name]) for name, text in texts.items()}


def find_edits(old: str, new: str) -> Edits:
    """Return the edits that turn one text into another."""
    return [[a, b, new[c:d]] for a, b, c, d in changed_spans(old, new)]


def apply_edits(text: str, edits: Edits) -> str:
    """Return the text with these edits made."""
    parts, position = [], 0
    for start, end, replacement in edits:
        parts += [text[position:start], replacement]
        position = end
    return "".join((*parts, text[position:]))


# Messages


def describe_section(name: str, old: str, new: SectionText) -> tuple[str, bool]:
    """Return what changed in a section, and whether that needs the introduction. The whole text is returned where that is shorter."""
    if not new.text:
        return f"The section '{name}' of the system prompt no longer applies.", False
    whole = f"The section '{name}' of the system prompt has changed. It now reads:\n\n{new.text}"
    if not old:
        return whole, False
    changes = _describe_lines(old, new.text, lambda offset: new.path_at(offset) or f"the section '{name}'")
    return (changes, True) if len(changes) + len(INTRODUCTION) < len(whole) else (whole, False)


def describe_tool(name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> str:
    """Return how a tool's definition differs from the one that the edition defines, or the whole definition where that is shorter."""
    whole = f"The tool `{name}` has changed. Its definition is now:\n\n{json.dumps(new, ensure_ascii=False, sort_keys=True)}"
    if old is None:
        return whole
    before, after = (json.dumps(row, ensure_ascii=False, sort_keys=True, indent=0) for row in (old, new))
    changes = _describe_lines(before, after, lambda offset: "")
    text = (
        f"The tool `{name}` has changed. Compared with its definition in the list of tools, lines marked with - no longer apply, and"
        f" lines marked with + apply instead; … stands for text that has not changed.\n\n{changes}"
    )
    return text if len(text) < len(whole) else whole


def join_changes(texts: Iterable[tuple[str, bool]]) -> list[str]:
    """Return the texts of `describe_section` as paragraphs, with one introduction for all that need it."""
    rows = list(texts)
    changes = [text for text, needs_introduction in rows if needs_introduction]
    whole = [text for text, needs_introduction in rows if not needs_introduction]
    if not changes:
        return whole
    lines = (line for text in changes for line in text.split("\n"))
    shortened = _SHORTENED if any(line[:2] in ("- ", "+ ") and "…" in line for line in lines) else ""
    return [f"{INTRODUCTION}{shortened}", *changes, *whole]


def _describe_lines(old: str, new: str, place: Callable[[int], str]) -> str:
    """Return the changed lines in groups, each with its place and the nearest heading."""
    groups: list[str] = []
    last_header = ""
    for spans in _by_line(changed_spans(old, new), old, new):
        first = spans[0][2]
        start = (
            first + 1 if new[first : first + 1] == "\n" and not _is_line_start(new, first) else _line_start(new, first)
        )
        removed, added = _lines(old, new, spans)
        is_ambiguous = not removed or old.count("\n".join(removed)) > 1
        anchor = _line_before(new, start) if is_ambiguous else ""
        header = _header(place(first), _heading_before(new, start), anchor)
        lines = [*(f"- {line}" for line in removed), *(f"+ {line}" for line in added)]
        shown = f"{header[:1].upper()}{header[1:]}:\n" if header and header != last_header else ""
        groups.append(shown + "\n".join(lines))
        last_header = header
    return "\n\n".join(groups)


def _header(where: str, heading: str, anchor: str) -> str:
    """Return where a change is: the place, the nearest heading, and the line before it."""
    parts = [f"In {where}"] if where else []
    parts += [f'under "{heading}"'] if heading else []
    return ", ".join([*parts, *([f'after "{anchor}"'] if anchor and anchor != heading else [])])


def _by_line(spans: Sequence[Span], old: str, new: str) -> list[list[Span]]:
    """Group changes that are on the same line of either text."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups:
            _, b, _, d = groups[-1][-1]
            if "\n" not in old[b : span[0]] or "\n" not in new[d : span[2]]:
                groups[-1].append(span)
                continue
        groups.append([span])
    return groups


def _lines(old: str, new: str, spans: Sequence[Span]) -> tuple[list[str], list[str]]:
    """Return the lines that were removed and added. Of long lines that were changed, only the parts around the changes are returned."""
    (a, b), (c, d) = (spans[0][0], spans[-1][1]), (spans[0][2], spans[-1][3])
    if len(spans) == 1 and (whole := _whole_lines(old, a, b, new, c, d)):
        return whole
    sides = []
    for text, start, end, index in ((old, a, b, 0), (new, c, d, 2)):
        first, last = _line_start(text, start), text.find("\n", end)
        last = len(text) if last < 0 else last
        if _width(text[first:last]) <= _MAX_LINE:
            sides.append(text[first:last].split("\n"))
        else:
            changes = _merge_near([(span[index], span[index + 1]) for span in spans])
            sides.append([_shorten(text, first, last, change) for change in changes])
    return sides[0], sides[1]


def _merge_near(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans, with those merged whose surroundings would overlap."""
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start - merged[-1][1] < 2 * _CONTEXT:
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def _whole_lines(old: str, a: int, b: int, new: str, c: int, d: int) -> tuple[list[str], list[str]] | None:
    """Return the removed and added lines if whole lines were, or None if a line was changed."""
    sides = [(old, a, b), (new, c, d)]
    changed = [(text, start, end) for text, start, end in sides if end > start]
    if all(_is_line_start(text, start) for text, start, _ in sides) and all(
        text[end - 1] == "\n" for text, _, end in changed
    ):
        texts = [text[start : end - 1] for text, start, end in sides]
    elif all(text[start] == "\n" and text[end : end + 1] in ("", "\n") for text, start, end in changed):
        texts = [text[start + 1 : end] for text, start, end in sides]  # each line begins with the line feed before it
    else:
        return None
    removed, added = (
        text.split("\n") if end > start else [] for text, (_, start, end) in zip(texts, sides, strict=True)
    )
    return removed, added


def _is_line_start(text: str, offset: int) -> bool:
    return _line_start(text, offset) == offset


def _shorten(text: str, first: int, last: int, span: tuple[int, int]) -> str:
    """Return a change with the words around it, from a text between two offsets."""
    around = text[max(span[0] - _CONTEXT, first) : min(span[1] + _CONTEXT, last)]
    context = _CONTEXT * len(around) // (_width(around) or 1)
    start, end = max(span[0] - context, first), min(span[1] + context, last)
    if start > first:
        blank = text.find(" ", start, span[0])
        start = blank + 1 if blank >= 0 else start
    if end < last:
        blank = text.rfind(" ", span[1], end)
        end = blank if blank > span[1] else end
    return f"{'…' if start > first else ''}{text[start:end]}{'…' if end < last else ''}"


def _width(text: str) -> int:
    """Return the number of characters of a text, with each wide one counted four times."""
    return len(text) + (_WIDE - 1) * sum(character >= _FIRST_WIDE for character in text)


def _line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def _line_before(text: str, start: int) -> str:
    """Return the last line before an offset that is not blank, shortened."""
    for line in reversed(text[:start].split("\n")):
        if line.strip():
            return _quote(line.strip())
    return ""


def _heading_before(text: str, start: int) -> str:
    """Return the nearest Markdown heading before an offset, outside fenced code."""
    heading, fence = "", ""
    for line in text[:start].split("\n")[:-1]:
        stripped = line.strip()
        if stripped[:3] in ("```", "~~~"):
            fence = "" if fence and stripped.startswith(fence) else fence or stripped[:3]
        elif not fence and stripped.startswith("#") and stripped.lstrip("#")[:1] == " ":
            heading = stripped
        elif not fence and stripped.startswith("<") and stripped.endswith(">") and " path=" in stripped:
            heading = ""  # another file begins here
    return _quote(heading)


def _quote(text: str) -> str:
    return text if len(text) <= _MAX_QUOTE else f"{text[: end_of_whole_characters(text, _MAX_QUOTE)]}…"
