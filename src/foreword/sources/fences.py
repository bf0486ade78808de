"""The fences around front matter, as a layout's key `fences` defines them.

    lines     each fence is a line `---`; the first one is the first line of the file
    inside    the second `---` may be anywhere, also within a line or in a field, and ends the front matter there
    sections  every line `---` is a fence: what is before the first one is dropped, what is between the first two is the front matter

A mirror needs the last two because its program reads front matter like that. White space here is what JavaScript's regular
expressions call white space.
"""

from __future__ import annotations

from ..text import regex
from .front_matter import MAX_HEAD_LENGTH, load_yaml, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import TextRules
    from ..vocabulary import Fences

_SPACE = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_LINE_ENDS = "\n\r\u2028\u2029"
_FIRST = rf"---[{_SPACE}]*\n"
_SECOND = rf"---[{_SPACE}]*"
_SECTION = rf"(?:\A|(?<=[{_LINE_ENDS}]))---[{_SPACE}]*(?=[{_LINE_ENDS}]|\Z)"


def split_parts(text: str, fences: Fences) -> tuple[str | None, Sequence[tuple[int, int]]]:
    """Return the front matter without its fences, and the offsets of the parts of the rest. Without front matter, the rest is the text."""
    whole = (None, ((0, len(text)),))
    if "---" not in text:
        return whole
    if fences == "lines":
        head, rest, _ = split(text)
        return head, ((len(text) - len(rest), len(text)),)
    found = _inside(text) if fences == "inside" else _sections(text)
    return found or whole


def with_lines(text: str, rules: TextRules, *, is_start: bool = True) -> str:
    """Return the text with its front matter, repaired, between fences that are lines. `is_start` says whether it begins where the file does."""
    is_possible = is_start or rules.fences == "sections"
    head, parts = split_parts(text, rules.fences) if is_possible else (None, ((0, len(text)),))
    rest = "".join(text[start:end] for start, end in parts)
    if head is None:
        return "\n" + rest if rest.startswith("---") else rest
    if rules.repair != "lines" and len(head) <= MAX_HEAD_LENGTH:
        from .repairs import repair_front_matter

        head = repair_front_matter(head, rules.repair)
    end = "" if not head or head.endswith("\n") else "\n"
    return f"---\n{head}{end}---\n{rest}"


def _inside(text: str) -> tuple[str, Sequence[tuple[int, int]]] | None:
    first = regex.match(_FIRST, text)
    second = regex.compile(_SECOND).search(text, first.end()) if first else None
    return (text[first.end() : second.start()], ((second.end(), len(text)),)) if first and second else None


def describe_problem(text: str, fences: Fences) -> str:
    """Return what is unexpected about the fences of a text, in which every line `---` is one, or an empty string."""
    if fences != "sections" or len(found := [match.span() for match in regex.finditer(_SECTION, text)]) < 2:
        return ""
    before, between = text[: found[0][0]].strip(), text[found[0][1] : found[1][0]]
    is_read = _is_yaml(between.replace("\r\n", "\n"))
    if before and is_read:
        return "what is between its first two lines `---` is read as front matter, and the text before them is left out"
    return "" if before or is_read else "the front matter is not valid YAML and is sent as text"


def _sections(text: str) -> tuple[str, Sequence[tuple[int, int]]] | None:
    """Split at every line `---`. Of the later ones, only the hyphens stay. Text between the first two is front matter only if it is YAML."""
    fences = [match.span() for match in regex.finditer(_SECTION, text)]
    if len(fences) < 2 or not _is_yaml(head := text[fences[0][1] : fences[1][0]].replace("\r\n", "\n")):
        return None
    starts = [fences[1][1], *(end for _, end in fences[2:])]
    ends = [*(start + 3 for start, _ in fences[2:]), len(text)]
    return head.removeprefix("\n"), tuple(zip(starts, ends, strict=True))


def _is_yaml(head: str) -> bool:
    """Whether front matter can be parsed. Longer front matter than the parser is given counts as YAML."""
    return len(head) > MAX_HEAD_LENGTH or not load_yaml(head)[1]
