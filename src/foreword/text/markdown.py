"""Finds code in Markdown text, and whether the text ends inside a code fence or comment.

Blocks follow CommonMark: a fence is indented by at most three columns in its list item or quote and never extends past
it, and there are no fences inside a comment that begins a line. Other HTML and link definitions count as paragraphs.

Fences and code spans are code; indented text is prose. A code span never extends past its paragraph, or past its row in a
GitHub-style table. Unmatched backticks are text. HTML tags and URLs are not parsed, so a backtick inside one can begin a code
span.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    # The containers that a line continues: the number of lists in `items`, the number of items in the last list, and the offset of
    # the line's content after their marks.
    Containers: TypeAlias = tuple[int, int, int]

# Patterns are compiled on first use: most files have no fences, comments or directives.
_BLANKS = r" *"
_FENCE = r"`{3,}(?!`)(?!.*`)|~{3,}"
_ITEM = r"(?:[-+*]|([0-9]{1,9})[.)])(?= |$)"
_HEADING = r"#{1,6}(?= |$)"
_COMMENT = r"\\[\\`<]|`+|<!--"
_TICKS = r"`+"
_CELLS = r"\\.|\|"
_HTML = (
    r"(?mi)^ {0,3}(?:</?(?:address|article|aside|blockquote|center|dd|details|dialog|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]"
    r"|header|hr|html|iframe|li|main|menu|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)(?=[ \t\n/>])"
    r"|<(?:pre|script|style|textarea)(?=[ \t\n>])|(?P<alone></?[a-z][^<>\n]*>[ \t]*$))"
)
_DEFINITION = r"""^ {0,3}\[[^\]\n]+\]:[ \t]*\S+[ \t]*(?:"[^"\n]*"|'[^'\n]*'|\([^)\n]*\))?[ \t]*(?:\n+|\Z)"""
_TABLE = r"\|? *:?-+:? *(?:\| *:?-+:? *)*\|?"

_CODE_INDENT = 4
"""Text indented by this many columns is code, so it cannot begin a block."""


def fences(text: str) -> list[tuple[int, int]]:
    """Return the range of each fence, from its opening line to the end of its closing line or of its container."""
    return _blocks_of(text).fences if "```" in text or "~~~" in text else []


def prose(text: str) -> Iterator[tuple[int, int]]:
    """Return the ranges outside fences, which begin and end at line boundaries."""
    return outside(fences(text), len(text))


def find_unclosed(text: str) -> tuple[str, str]:
    """Return the string that closes the fence or comment at the end of the text, and what was open. Both are empty if nothing is open.

    A fence in a list item or quote ends with that item or quote. A comment does not, because HTML ignores list items and quotes.
    """
    if not any(mark in text for mark in ("```", "~~~", "<!--")):
        return "", ""
    blocks = _blocks_of(text)
    comment = _open_comment(text, blocks)
    newline = "" if text.endswith("\n") else "\n"
    if blocks.fence and not blocks.is_contained:
        closing = newline + blocks.fence
        return (closing, "a code fence") if comment is None else (f"{closing}\n-->", "a code fence and a comment")
    if comment is None:
        return "", ""
    # On a new line, the closing `-->` would be parsed as a new block.
    is_on_last_line = "\n" not in text[comment:]
    return " -->" if blocks.is_comment or is_on_last_line else f"{newline}-->", "a comment"


def unclosed_start(text: str) -> int | None:
    """Return the offset of the fence or comment that is open at the end of the text, or None if there is none."""
    blocks = _blocks_of(text)
    return blocks.fence_start if blocks.fence and not blocks.is_contained else _open_comment(text, blocks)


def comments(text: str) -> list[tuple[int, int]]:
    """Return the ranges of comments that begin a line outside code, lists, quotes and other HTML.

    If there is nothing else on its lines, a comment's range includes the empty lines that follow. A comment that is never closed
    does not count.
    """
    if "<!--" not in text:
        return []
    blocks = _blocks_of(text)
    html = _html_blocks(text, frozenset(blocks.starts))
    comment_ranges: list[tuple[int, int]] = []
    for start, end in blocks.comments:
        previous_html = bisect_right(html, (start, 0)) - 1
        if previous_html < 0 or html[previous_html][1] <= start:
            comment_ranges += _comments_in_block(text, start, end)
    return comment_ranges


def _comments_in_block(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the comments on these lines, or the range of all the lines if there is nothing else on them."""
    ranges, position, rest = [], start, ""
    while (begin := text.find("<!--", position, end)) >= 0 and (close := text.find("-->", begin + 4, end)) >= 0:
        ranges.append((begin, close + 3))
        rest += text[position:begin]
        position = close + 3
    if (rest + text[position:end]).strip():
        return ranges
    while text.startswith("\n", end):
        end += 1
    return [(start, end)]


def definitions(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the lines outside fences that define links, as in `[name]: target "title"`."""
    found: list[tuple[int, int]] = []
    search = re.compile(_DEFINITION, re.MULTILINE).finditer
    for start, limit in prose(text) if "]:" in text else ():
        for match in search(text, start, limit):
            begin, end = match.span()
            if text[max(begin - 2, 0) : begin] in ("", "\n", "\n\n") or (found and found[-1][1] == begin):
                found.append((begin, end))
    return found


def comments_and_definitions(text: str) -> list[tuple[int, int]]:
    """Return the ranges of the comments that begin a line, and those of definitions of links outside them."""
    found, others = comments(text), definitions(text)
    return sorted([*found, *(span for start, end in outside(found, len(text)) for span in _within(others, start, end))])


def html(text: str) -> list[tuple[int, int]]:
    """Return the ranges of HTML blocks, each up to an empty line, and of comments outside them."""
    blocks = _html_blocks(text, frozenset(_blocks_of(text).starts)) if "<" in text else []
    found = [match.span() for match in re.finditer(r"<!--.*?-->", text, re.DOTALL)] if "<!--" in text else []
    comments = [span for start, end in outside(blocks, len(text)) for span in _within(found, start, end)]
    return sorted([*blocks, *comments])


def _within(ranges: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """Return those of the sorted ranges that begin between two positions."""
    return ranges[bisect_left(ranges, (start, 0)) : bisect_left(ranges, (end, 0))]


def _html_blocks(text: str, starts: frozenset[int]) -> list[tuple[int, int]]:
    """Return the ranges of HTML blocks, each up to an empty line. A comment inside one is not a separate block.

    Any tag alone on its line begins a block, unless it continues a paragraph.
    """
    blocks, end = [], 0
    empty_line = re.compile(r"\n[ \t]*\n")
    for tag in re.finditer(_HTML, text):
        if tag.start() >= end and (not tag["alone"] or tag.start() in starts):
            match = empty_line.search(text, tag.start())
            end = match.start() if match else len(text)
            blocks.append((tag.start(), end))
    return blocks


def indented_code(text: str) -> list[tuple[int, int]]:
    """Return the ranges of lines outside lists and quotes that are code because of their indentation."""
    return _blocks_of(text).indented if "    " in text or "\t" in text else []


def _open_comment(text: str, blocks: _Blocks) -> int | None:
    """Return the start of a comment that is never closed, or None if there is none. Comments in code do not count."""
    last = text.rfind("<!--")
    if last < 0 or text.find("-->", last + 2) >= 0:
        return None
    spans, search, position = Spans(text, blocks), re.compile(_COMMENT).search, 0
    for start, limit in outside(blocks.fences, len(text)):
        position = max(start, position)
        while match := search(text, position, limit):
            position = match.end()
            if match[0] == "<!--":
                end = text.find("-->", match.start() + 2)  # `<!-->` is a complete comment
                if end < 0:
                    return match.start()
                position = end + 3
            elif match[0][0] == "`":
                position = spans.end(match.start(), len(match[0]), limit) or position
    return None


def _with_newlines(text: str) -> str:
    """Return the text with all line endings as newlines and all other characters at the same offsets."""
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def outside(ranges: list[tuple[int, int]], end: int) -> Iterator[tuple[int, int]]:
    start = 0
    for begin, next_start in ranges:
        if begin > start:
            yield start, begin
        start = next_start
    if start < end:
        yield start, end


class _Blocks:
    """Parses blocks line by line. Tracks the containers of the last line, and the fence or comment that is open after it.

    `items` contains one list for the text outside quotes and one for each open quote, outermost first. Each lists the columns at
    which the content of its open list items begins, so that a line takes time proportional to its length, however deeply blocks nest.
    `starts` contains the offset of each line that does not continue the previous line's paragraph. `row` is the content of a
    paragraph's last line, which becomes the header if a table follows. `comments` contains the ranges of comments, and `indented`
    those of lines that are code because of their indentation, outside quotes and items.
    """

    def __init__(self, text: str) -> None:
        self.items: list[list[int]] = [[]]
        self.fence = ""
        self.fences: list[tuple[int, int]] = []
        self.starts: list[int] = []
        self.comments: list[tuple[int, int]] = []
        self.indented: list[tuple[int, int]] = []
        self.row = ""
        self.is_comment = self.is_paragraph = self.is_table = self.is_empty_item = False
        self.start = self.end = self.fence_start = self.row_start = self.comment_start = 0
        for line in _with_newlines(text).split("\n"):
            self.end = min(self.start + len(line) + 1, len(text))
            self.read(line.expandtabs(4).rstrip(" "))
            self.start = self.end
        if self.fence:
            self.fences.append((self.fence_start, len(text)))

    @property
    def is_contained(self) -> bool:
        """Whether the current block is in a quote or a list item."""
        return len(self.items) > 1 or bool(self.items[0])

    def read(self, line: str) -> None:
        """Process a line with tabs expanded and trailing blanks removed."""
        if not self.is_contained and self.is_plain(line):
            self.read_row(line, True)
            self.is_paragraph = not (self.fence or self.is_comment)
            return
        containers = self.continued_containers(line)
        quotes, items, position = containers
        is_inside = quotes == len(self.items) and items == len(self.items[-1])
        if is_inside and self.fence:
            self.read_code(line, position)
        elif is_inside and self.is_comment:
            self.is_comment = "-->" not in line[position:]
            self.end_comment()
            self.starts.append(self.start)
        elif position < len(line):
            self.read_block(line, containers, self.is_paragraph and is_inside)
        else:
            self.close_blocks(containers)
            self.starts.append(self.start)
            if is_inside and self.is_empty_item:
                self.items[-1].pop()
            self.is_empty_item = False

    def is_plain(self, line: str) -> bool:
        """Whether a line outside quotes and items cannot begin or end anything except a paragraph."""
        if self.fence or self.is_comment:
            return (self.fence or "-->") not in line
        return line[:1].isalpha()

    def continued_containers(self, line: str) -> Containers:
        """Return the open quotes and items that this line continues."""
        position = 0
        for index, items in enumerate(self.items):
            if index:
                content = _quote_content(line, position, _content_start(line, position))
                if not content:
                    return index, len(self.items[index - 1]), position
                position = content
            begin = _content_start(line, position)
            matched = bisect_right(items, begin - position) if begin < len(line) else len(items)
            position += items[matched - 1] if matched else 0
            if matched < len(items):
                return index + 1, matched, position
        return len(self.items), len(self.items[-1]), position

    def close_blocks(self, containers: Containers) -> None:
        """Close the fence or comment, and the quotes and items that are not continued."""
        quotes, items, _ = containers
        del self.items[quotes:]
        del self.items[-1][items:]
        if self.fence:
            self.fences.append((self.fence_start, self.start))
        self.fence, self.is_comment, self.is_paragraph, self.is_table = "", False, False, False

    def read_code(self, line: str, position: int) -> None:
        begin = _content_start(line, position)
        run = line[begin:]
        if begin - position < _CODE_INDENT and run.startswith(self.fence) and not run.strip(self.fence[0]):
            self.fences.append((self.fence_start, self.end))
            self.fence = ""

    def read_block(self, line: str, containers: Containers, is_interrupting: bool) -> None:
        """Process a line outside code: the quotes and items that it begins, then their content."""
        rule_offsets, width, position = _rule_offsets(line), 0, containers[2]
        while position < len(line):
            begin = _content_start(line, position)
            width = 0 if begin in rule_offsets else _item_width(line, position, begin, is_interrupting)
            content = position + width if width else _quote_content(line, position, begin)
            if not content:
                self.read_text(line, begin, containers, begin in rule_offsets, is_interrupting)
                break
            self.close_blocks(containers)
            if width:
                self.items[-1].append((self.items[-1] or [0])[-1] + width)
            else:
                self.items.append([])
            position, is_interrupting = content, False
            containers = len(self.items), len(self.items[-1]), position
        self.is_empty_item = width > 0

    def read_text(self, line: str, begin: int, containers: Containers, is_rule: bool, is_interrupting: bool) -> None:
        """Process the content after the marks of quotes and items. A paragraph may continue without those marks."""
        is_indented = begin - containers[2] >= _CODE_INDENT
        fence = None if is_indented else _opening_fence(line, begin)
        is_comment = not is_indented and line.startswith("<!--", begin)
        is_heading_or_rule = not is_indented and (is_rule or _is_heading(line, begin, is_interrupting))
        is_text = not (fence or is_comment or is_heading_or_rule)
        if is_text and self.is_paragraph:
            self.read_row(line[begin:], is_interrupting)
            return
        # Programs that remove comments treat an indented comment below a line of text as part of that text.
        begins_line = begin == containers[2] or not self.is_paragraph
        self.close_blocks(containers)
        self.read_row(line[begin:], False)
        self.is_paragraph = is_text and not is_indented
        if is_comment:
            self.begin_comment(line[begin:], begins_line)
        elif is_indented and not self.is_contained:
            self.indented.append((self.start, self.end))
        if fence:
            self.fence, self.fence_start = fence[0], self.start

    def begin_comment(self, content: str, begins_line: bool) -> None:
        """Enter a comment, which may end on the same line."""
        self.comment_start = self.start if begins_line else -1
        self.is_comment = "-->" not in content[2:]
        self.end_comment()

    def end_comment(self) -> None:
        """Record the lines of a comment that has ended outside quotes and items."""
        if not self.is_comment and not self.is_contained and self.comment_start >= 0:
            self.comments.append((self.comment_start, self.end))

    def read_row(self, content: str, is_inside: bool) -> None:
        """Record a line that may be in a paragraph, and whether it starts a paragraph or a row of a table.

        A line without the marks of its quotes and items continues a paragraph, but is never in a table.
        """
        if self.is_paragraph and is_inside and not self.is_table and content[0] in "|:-":
            self.is_table = _is_table_delimiter(content, self.row)
            if self.is_table and self.starts[-1] < self.row_start:
                self.starts.append(self.row_start)
        if self.is_table or not self.is_paragraph:
            self.starts.append(self.start)
        if self.is_paragraph and not is_inside:
            self.is_table, content = False, ""
        self.row, self.row_start = content, self.start


# These functions check the first character before they try a pattern, because they are called for every mark on a line.


def _content_start(line: str, position: int) -> int:
    if not line.startswith(" ", position):
        return position
    blanks = re.compile(_BLANKS).match(line, position)
    return blanks.end() if blanks else position


def _quote_content(line: str, position: int, begin: int) -> int:
    """Return the offset of the content after a quote mark, or 0 if there is no mark here."""
    if begin - position >= _CODE_INDENT or not line.startswith(">", begin):
        return 0
    return begin + 1 + line.startswith(" ", begin + 1)


def _item_width(line: str, position: int, begin: int, is_interrupting: bool) -> int:
    """Return the indentation of a list item's content relative to its container, or 0 if there is no list marker here.

    Only an item with content can interrupt a paragraph and, in an ordered list, only item number 1.
    """
    if begin - position >= _CODE_INDENT or line[begin] not in "-+*0123456789":
        return 0
    marker = re.compile(_ITEM).match(line, begin)
    if not marker:
        return 0
    content = _content_start(line, marker.end())
    is_empty = content == len(line)
    if is_interrupting and (is_empty or int(marker[1] or 1) != 1):
        return 0
    is_code = content - marker.end() > _CODE_INDENT
    return (marker.end() + 1 if is_empty or is_code else content) - position


def _opening_fence(line: str, begin: int) -> re.Match[str] | None:
    return re.compile(_FENCE).match(line, begin) if line[begin] in "`~" else None


def _is_heading(line: str, begin: int, is_interrupting: bool) -> bool:
    """Whether this is a heading, or the underline of one."""
    if line[begin] == "#":
        return re.compile(_HEADING).match(line, begin) is not None
    return is_interrupting and line[begin] in "=-" and not line[begin:].strip(line[begin])


def _is_table_delimiter(content: str, header: str) -> bool:
    """Whether this line turns the line before it into a table header: both have bars, and the same number of cells."""
    if "|" not in content or "|" not in header or not re.compile(_TABLE).fullmatch(content):
        return False
    return _cell_count(content) == _cell_count(header)


def _cell_count(row: str) -> int:
    bars = [match.start() for match in re.finditer(_CELLS, row) if match[0] == "|"]
    return len(bars) + 1 - (bars[:1] == [0]) - (len(row) > 1 and bars[-1:] == [len(row) - 1])


def _rule_offsets(line: str) -> range:
    """Return the offsets from which the rest of the line is a horizontal rule: three or more equal marks, with any blanks between."""
    mark, third = line[-1], len(line)
    if mark not in "-*_":
        return range(0)
    for _ in range(3):
        third = line.rfind(mark, 0, max(third, 0))
    return range(len(line.rstrip(f"{mark} ")), third + 1)


@lru_cache(maxsize=32)
def _blocks_of(text: str) -> _Blocks:
    """Return a text's blocks, which nobody changes. Several agents read the same text, each with several questions."""
    return _Blocks(text)


class Spans:
    """Finds the end of a code span by binary search."""

    def __init__(self, text: str, blocks: _Blocks | None = None) -> None:
        self.text = text
        self.blocks = blocks
        self.runs: dict[int, list[int]] = {}

    def end(self, start: int, length: int, limit: int) -> int | None:
        """Return the end of the code span that begins at `start` with `length` backticks, or None if it does not end before `limit`."""
        if not self.runs:
            for match in re.finditer(_TICKS, self.text):
                self.runs.setdefault(len(match[0]), []).append(match.start())
        runs = self.runs.get(length, [])
        closing_index = bisect_left(runs, start + length)
        if closing_index == len(runs) or runs[closing_index] >= min(limit, self._paragraph_end(start)):
            return None
        return runs[closing_index] + length

    def _paragraph_end(self, start: int) -> int:
        if self.blocks is None:
            self.blocks = _blocks_of(self.text)
        starts = self.blocks.starts
        after = bisect_right(starts, start)
        return starts[after] if after < len(starts) else len(self.text)
