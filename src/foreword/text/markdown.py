"""Where Markdown shows text as code, and what a text leaves open at its end.

Blocks are those of CommonMark: a fence stands at most three columns deep in the list item or quote that holds it and
ends with it at the latest, and inside a comment that begins a line there is none. Other HTML, tables and definitions of
links count as paragraphs.

Code is a fence or a code span; an indented text is prose. A code span does not reach over an empty line, nor over a
line that is a fence, a heading, a table row, a rule or begins with a comment, nor into the next item of a list.
Backticks that find no partner are text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    # Where a line stands: in how many lists of `items`, in how many items of the last, and at which character.
    Place: TypeAlias = tuple[int, int, int]

# Patterns are text until a file needs them: most leave nothing open and hold no directive.
_BLANKS = r" *"
_FENCE = r"`{3,}(?!`)(?!.*`)|~{3,}"
_ITEM = r"(?:[-+*]|([0-9]{1,9})[.)])(?= |$)"
_HEADING = r"#{1,6}(?= |$)"
_COMMENT = r"\\[\\`<]|`+|<!--"
_TICKS = r"`+"
_ALONE = r"$|\||<!--|#{1,6}[ \t]|(?:-+|=+|\*{3,}|_{3,})[ \t]*$"
_BLOCK = rf"(?m)^[ \t>]*(?:({_ALONE})|[-+*][ \t]|\d{{1,9}}[.)][ \t])"

_INDENTED = 4
"""So many columns make a text code: no mark stands so deep."""


def fences(text: str) -> list[tuple[int, int]]:
    """From the opening line of each fence to the end of its closing line, or of what it stands in."""
    return _Blocks(text).fences if "```" in text or "~~~" in text else []


def prose(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of a text that lie outside its fences; they begin and end with a line."""
    return _between(fences(text), len(text))


def left_open(text: str) -> tuple[str, str]:
    """What closes that in which a text ends, and what that is, a code fence or a comment; both empty if it ends in neither.

    A fence in a list item or quote ends with it. A comment does not: HTML knows neither.
    """
    blocks = _Blocks(text)
    comment = _open_comment(text, blocks.fences)
    newline = "" if text.endswith("\n") else "\n"
    if blocks.fence and not blocks.is_contained:
        closing = newline + blocks.fence
        return (closing, "a code fence") if comment is None else (f"{closing}\n-->", "a code fence and a comment")
    if comment is None:
        return "", ""
    # Behind the end of a fence it would be taken for the beginning of one.
    is_on_last_line = "\n" not in text[comment:]
    return " -->" if blocks.is_comment or is_on_last_line else f"{newline}-->", "a comment"


def _open_comment(text: str, fences: list[tuple[int, int]]) -> int | None:
    """Where the comment begins that is never ended; in code none begins."""
    if "<!--" not in text:
        return None
    spans, search, at = Spans(text), re.compile(_COMMENT).search, 0
    for start, limit in _between(fences, len(text)):
        at = max(start, at)
        while match := search(text, at, limit):
            at = match.end()
            if match[0] == "<!--":
                end = text.find("-->", match.start() + 2)  # `<!-->` is a whole comment
                if end < 0:
                    return match.start()
                at = end + 3
            elif match[0][0] == "`":
                at = spans.end(match.start(), len(match[0]), limit) or at
    return None


def _with_newlines(text: str) -> str:
    """The text with every character in its place and a newline at the end of each line, which a carriage return may be."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def _between(stretches: list[tuple[int, int]], end: int) -> Iterator[tuple[int, int]]:
    start = 0
    for begin, after in stretches:
        if begin > start:
            yield start, begin
        start = after
    if start < end:
        yield start, end


class _Blocks:
    """A walk through the lines of a text: what the line read last stands in, and what is open behind it.

    `items` has a list for what stands in no quote, and one for each open quote, in the order in which they nest: the
    columns at which the list items in it have their content. So a line costs its length, however deep things nest.
    """

    def __init__(self, text: str) -> None:
        self.items: list[list[int]] = [[]]
        self.fence = ""
        self.fences: list[tuple[int, int]] = []
        self.is_comment = self.is_paragraph = self.is_empty_item = False
        self.start = self.end = self.opened_at = 0
        for line in _with_newlines(text).split("\n"):
            self.end = min(self.start + len(line) + 1, len(text))
            self.read(line.expandtabs(4).rstrip(" "))
            self.start = self.end
        if self.fence:
            self.fences.append((self.opened_at, len(text)))

    @property
    def is_contained(self) -> bool:
        """Whether what is open stands in a quote or a list item."""
        return len(self.items) > 1 or bool(self.items[0])

    def read(self, line: str) -> None:
        """Read a line, with blanks for its tabs and none at its end."""
        if not self.is_contained and self.is_plain(line):
            self.is_paragraph = not (self.fence or self.is_comment)
            return
        place = self.continued(line)
        quotes, items, at = place
        is_inside = quotes == len(self.items) and items == len(self.items[-1])
        if is_inside and self.fence:
            self.read_code(line, at)
        elif is_inside and self.is_comment:
            self.is_comment = "-->" not in line[at:]
        elif at < len(line):
            self.read_block(line, place, self.is_paragraph and is_inside)
        else:
            self.leave(place)
            if is_inside and self.is_empty_item:
                self.items[-1].pop()
            self.is_empty_item = False

    def is_plain(self, line: str) -> bool:
        """Whether a line, if it stands in no quote or item, can neither begin nor end anything but a paragraph."""
        if self.fence or self.is_comment:
            return (self.fence or "-->") not in line
        return line[:1].isalpha()

    def continued(self, line: str) -> Place:
        """How far the quotes and items that are open go on in a line."""
        at = 0
        for number, items in enumerate(self.items):
            if number:
                content = _quoted(line, at, _text_begin(line, at))
                if not content:
                    return number, len(self.items[number - 1]), at
                at = content
            begin = _text_begin(line, at)
            matched = bisect_right(items, begin - at) if begin < len(line) else len(items)
            at += items[matched - 1] if matched else 0
            if matched < len(items):
                return number + 1, matched, at
        return len(self.items), len(self.items[-1]), at

    def leave(self, place: Place) -> None:
        """End what is open, and the quotes and items that do not go on."""
        quotes, items, _ = place
        del self.items[quotes:]
        del self.items[-1][items:]
        if self.fence:
            self.fences.append((self.opened_at, self.start))
        self.fence, self.is_comment, self.is_paragraph = "", False, False

    def read_code(self, line: str, at: int) -> None:
        begin = _text_begin(line, at)
        run = line[begin:]
        if begin - at < _INDENTED and run.startswith(self.fence) and not run.strip(self.fence[0]):
            self.fences.append((self.opened_at, self.end))
            self.fence = ""

    def read_block(self, line: str, place: Place, is_interrupting: bool) -> None:
        """Read a line outside code: the quotes and items that it begins, then what they hold."""
        rules, width, at = _rules(line), 0, place[2]
        while at < len(line):
            begin = _text_begin(line, at)
            width = 0 if begin in rules else _item_width(line, at, begin, is_interrupting)
            content = at + width if width else _quoted(line, at, begin)
            if not content:
                self.read_text(line, begin, place, begin in rules, is_interrupting)
                break
            self.leave(place)
            if width:
                self.items[-1].append((self.items[-1] or [0])[-1] + width)
            else:
                self.items.append([])
            at, is_interrupting = content, False
            place = len(self.items), len(self.items[-1]), at
        self.is_empty_item = width > 0

    def read_text(self, line: str, begin: int, place: Place, is_rule: bool, is_interrupting: bool) -> None:
        """Read what stands behind all marks of quotes and items. A paragraph goes on without them."""
        is_indented = begin - place[2] >= _INDENTED
        fence = None if is_indented else _opening(line, begin)
        is_comment = not is_indented and line.startswith("<!--", begin)
        is_alone = not is_indented and (is_rule or _is_heading(line, begin, is_interrupting))
        is_text = not (fence or is_comment or is_alone)
        if is_text and self.is_paragraph:
            return
        self.leave(place)
        self.is_paragraph = is_text and not is_indented
        self.is_comment = is_comment and "-->" not in line[begin + 2 :]
        if fence:
            self.fence, self.opened_at = fence[0], self.start


# Patterns are tried only where the first character allows it: they are asked at every mark of a line.


def _text_begin(line: str, at: int) -> int:
    if not line.startswith(" ", at):
        return at
    blanks = re.compile(_BLANKS).match(line, at)
    return blanks.end() if blanks else at


def _quoted(line: str, at: int, begin: int) -> int:
    """Where the content begins behind the mark of a quote; 0 if none stands here."""
    if begin - at >= _INDENTED or not line.startswith(">", begin):
        return 0
    return begin + 1 + line.startswith(" ", begin + 1)


def _item_width(line: str, at: int, begin: int, is_interrupting: bool) -> int:
    """How far the content of a list item stands behind what its marker stands in; 0 if no marker stands here.

    A paragraph is interrupted only by an item that holds something, and in an ordered list only by the first.
    """
    if begin - at >= _INDENTED or line[begin] not in "-+*0123456789":
        return 0
    marker = re.compile(_ITEM).match(line, begin)
    if not marker:
        return 0
    content = _text_begin(line, marker.end())
    is_empty = content == len(line)
    if is_interrupting and (is_empty or int(marker[1] or 1) != 1):
        return 0
    is_code = content - marker.end() > _INDENTED
    return (marker.end() + 1 if is_empty or is_code else content) - at


def _opening(line: str, begin: int) -> re.Match[str] | None:
    return re.compile(_FENCE).match(line, begin) if line[begin] in "`~" else None


def _is_heading(line: str, begin: int, is_interrupting: bool) -> bool:
    """Whether a heading stands here, or the line below one."""
    if line[begin] == "#":
        return re.compile(_HEADING).match(line, begin) is not None
    return is_interrupting and line[begin] in "=-" and not line[begin:].strip(line[begin])


def _rules(line: str) -> range:
    """The places from which on a line is a rule: three or more of one mark, and blanks."""
    mark, third = line[-1], len(line)
    if mark not in "-*_":
        return range(0)
    for _ in range(3):
        third = line.rfind(mark, 0, max(third, 0))
    return range(len(line.rstrip(f"{mark} ")), third + 1)


class Spans:
    """The code spans of a text, asked for one opening at a time. Each answer costs a binary search."""

    def __init__(self, text: str) -> None:
        self.text = _with_newlines(text)
        self.runs: dict[int, list[int]] | None = None
        self.ends: list[int] = []

    def end(self, start: int, length: int, limit: int) -> int | None:
        """Where the code span ends that begins here with so many backticks; None if it does not before the limit."""
        if self.runs is None:
            self.runs = self._prepare()
        runs = self.runs.get(length, [])
        partner = bisect_left(runs, start + length)
        if partner == len(runs) or runs[partner] >= min(limit, self._block_end(start)):
            return None
        return runs[partner] + length

    def _prepare(self) -> dict[int, list[int]]:
        runs: dict[int, list[int]] = {}
        for match in re.finditer(_TICKS, self.text):
            runs.setdefault(len(match[0]), []).append(match.start())
        for match in re.finditer(_BLOCK, self.text):
            self.ends.append(match.start())
            if match[1] is not None:
                self.ends.append(self._line_end(match.end()))
        return runs

    def _line_end(self, start: int) -> int:
        newline = self.text.find("\n", start)
        return len(self.text) if newline < 0 else newline + 1

    def _block_end(self, start: int) -> int:
        after = bisect_right(self.ends, start)
        return self.ends[after] if after < len(self.ends) else len(self.text)
