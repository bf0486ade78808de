"""Reduce a request's messages to what may be recorded: our own lines, the format around each file, and the role.

A line is ours if it contains a marker. Next to such lines, the recording keeps lines that occur in one of the tree's files (a fence, a
blank line, the part before an import) and lines that match a program's `keep` patterns (a heading with the file's path). It keeps a tag
alone on its line if the tag and its end tag enclose one of our lines. Everything else is the program's own text and becomes `[…]`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .tree import MARKER, Tree, slug

GAP = "[…]"
MAX_LINE_LENGTH = 400
MIN_PREFIX_LENGTH = 5
TAG = re.compile(r"^\s*<(/?)([A-Za-z][\w-]*)(?: [^<>]*)?>\s*$")

Message = tuple[str, list[str]]
Entry = dict[str, object]


@dataclass(frozen=True)
class Format:
    """Regular expressions for the lines that a program's recordings keep, count as ours, cut and sort."""

    keep: tuple[re.Pattern[str], ...] = ()
    ours: tuple[re.Pattern[str], ...] = ()
    cut: tuple[re.Pattern[str], ...] = ()
    unordered: re.Pattern[str] | None = None

    @staticmethod
    def parse(
        keep: Iterable[str] = (), ours: Iterable[str] = (), cut: Iterable[str] = (), unordered: str = ""
    ) -> Format:
        """Compile the patterns of a program's table."""
        return Format(_compile(keep), _compile(ours), _compile(cut), re.compile(unordered) if unordered else None)


def _compile(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))


def reduce(messages: Sequence[Message], tree: Tree, form: Format, base: str) -> list[Entry]:
    """Return the role and kept lines of each message with one of our lines. Adjacent messages with the same role form one entry."""
    known = {line.strip() for text in tree.texts() for line in text.replace("{base}", base).splitlines()}
    entries: list[Entry] = []
    for role, texts in _in_path_order(messages, form) if tree.any_order else messages:
        for text in texts:
            lines = _short_lines(text, known, form, base)
            if not lines:
                continue
            if entries and entries[-1]["role"] == role:
                entries[-1] = {"role": role, "lines": _merge([*_lines(entries[-1]), GAP, *lines])}
            else:
                entries.append({"role": role, "lines": lines})
    return entries


def _in_path_order(messages: Sequence[Message], form: Format) -> list[Message]:
    """Return the messages with adjacent ones of the same role joined, and adjacent texts about files of an unsorted folder sorted by path."""
    joined: list[Message] = []
    for role, texts in messages:
        if joined and joined[-1][0] == role:
            joined[-1] = (role, [*joined[-1][1], *texts])
        else:
            joined.append((role, list(texts)))
    return [(role, _sorted_texts(texts, form)) for role, texts in joined]


def _sorted_texts(texts: Sequence[str], form: Format) -> list[str]:
    """Sort each run of texts whose first heading is about a file of the same unsorted folder."""
    ordered: list[str] = []
    run: list[tuple[str, str, str]] = []
    for text in texts:
        headings = [
            match for line in text.splitlines()[:3] if form.unordered and (match := form.unordered.search(line))
        ]
        if run and not (headings and headings[0][1] == run[0][0]):
            ordered += [item for _, _, item in sorted(run)]
            run = []
        if headings:
            run.append((headings[0][1], headings[0][2], text))
        else:
            ordered.append(text)
    return ordered + [item for _, _, item in sorted(run)]


def added_messages(first: Sequence[Message], second: Sequence[Message]) -> tuple[bool, list[Message]]:
    """Return whether a later request repeats the first one unchanged, and its messages from the first difference on.

    If text was only appended to the last message, it counts as unchanged, and the appended text as added. Tool descriptions are ignored.
    """
    first, second = ([message for message in sent if message[0] != "tools"] for sent in (first, second))
    pairs = zip(first, second, strict=False)
    same_count = next(
        (index for index, (before_message, after_message) in enumerate(pairs) if before_message != after_message),
        min(len(first), len(second)),
    )
    if same_count >= len(first):
        return True, list(second[same_count:])
    if same_count == len(first) - 1 and same_count < len(second):
        (role, texts), (later_role, later) = first[same_count], second[same_count]
        if role == later_role and later[: len(texts)] == texts:
            return True, [(role, later[len(texts) :]), *second[same_count + 1 :]]
    return False, list(second[same_count:])


def files(entries: Sequence[Entry], tree: Tree) -> list[list[str]]:
    """Return the role and path of each file, in order of its first marker in each message."""
    owner = tree.paths_by_marker()
    found: list[list[str]] = []
    for entry in entries:
        seen = []
        for marker in MARKER.findall("\n".join(_lines(entry))):
            path = owner.get(marker, "")
            if path and path not in seen:
                seen.append(path)
        found += [[str(entry["role"]), path] for path in seen]
    return found


def without_gaps(lines: Sequence[str]) -> list[str]:
    """Return the lines without `[…]` and without the blank lines around it: what a layout must reproduce."""
    kept: list[str] = []
    for line in _merge([GAP, *lines, GAP]):
        if line != GAP:
            kept.append(line)
        elif kept:
            kept.append(GAP)
    return [line for line in kept if line != GAP]


def _lines(entry: Entry) -> list[str]:
    lines = entry["lines"]
    assert isinstance(lines, list)
    return lines


def _short_lines(text: str, known: set[str], form: Format, base: str) -> list[str]:
    """Return the kept lines of a text, with the folder's path replaced, or nothing if no line is ours."""
    lines = text.split("\n")
    if not any(_is_ours(line, form) for line in lines):
        return []
    kept = _kept_flags(lines, known, form)
    short = [line if keep else GAP for line, keep in zip(lines, kept, strict=True)]
    short = _merge(short)
    while short and short[0] == GAP:
        short = short[1:]
    while short and short[-1] == GAP:
        short = short[:-1]
    return [
        _shorten(line.replace(base, "{base}").replace(slug(base), "{slug}"), form)
        for line in _in_order(short, known, form)
    ]


def _kept_flags(lines: Sequence[str], known: set[str], form: Format) -> list[bool]:
    """Return whether to keep each line."""
    kept = [_is_ours(line, form) for line in lines]
    for first, last in _enclosing(lines, kept):
        kept[first] = kept[last] = True
    may_be_kept = [_may_be_kept(line, known, form) for line in lines]
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        is_next_to_kept = False
        for index in order:
            is_next_to_kept = kept[index] or (is_next_to_kept and may_be_kept[index])
            kept[index] = is_next_to_kept
    return _without_outer_blanks(lines, kept)


def _is_ours(line: str, form: Format) -> bool:
    return bool(MARKER.search(line)) or any(pattern.search(line) for pattern in form.ours)


def _may_be_kept(line: str, known: set[str], form: Format) -> bool:
    """Whether to keep a line next to our lines: a blank line, a line from the tree or its beginning, or per-file format."""
    text = html.unescape(line.strip())
    if not text or text in known or any(pattern.search(line) for pattern in form.keep):
        return True
    return len(text) >= MIN_PREFIX_LENGTH and any(line.startswith(text) for line in known)


def _without_outer_blanks(lines: Sequence[str], kept: list[bool]) -> list[bool]:
    """Return the flags without blank lines at the ends of each run, where the program's own text begins."""
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        inside = False
        for index in order:
            kept[index] = inside = kept[index] and (inside or bool(lines[index].strip()))
    return kept


def _enclosing(lines: Sequence[str], ours: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the first and last line of each element whose tags are alone on their lines and that contains one of our lines."""
    stack: list[tuple[str, int]] = []
    found = []
    for index, line in enumerate(lines):
        if ours[index] or not (match := TAG.match(line)):
            continue
        closing, name = match.groups()
        if not closing:
            stack.append((name, index))
        elif name in [open_name for open_name, _ in stack]:
            while (top := stack.pop())[0] != name:
                pass
            if any(ours[top[1] : index]):
                found.append((top[1], index))
    return found


def _merge(lines: Iterable[str]) -> list[str]:
    """Return the lines, with runs of gaps and the blank lines beside them merged into one gap."""
    merged: list[str] = []
    for line in lines:
        if line == GAP:
            while merged and not merged[-1].strip():
                merged.pop()
        if merged and merged[-1] == GAP and (line == GAP or not line.strip()):
            continue
        merged.append(line)
    return merged


def _in_order(lines: list[str], known: set[str], form: Format) -> list[str]:
    """Return the lines, with adjacent items from an unsorted folder sorted by path."""
    starts = [index for index, line in enumerate(lines) if any(p.search(line) for p in form.keep)]
    if form.unordered is None or not starts:
        return lines
    blocks = [lines[a:b] for a, b in zip(starts, [*starts[1:], len(lines)], strict=True)]
    ordered = lines[: starts[0]]
    run: list[tuple[str, str, list[str]]] = []
    for block in [*blocks, []]:
        match = form.unordered.search(block[0]) if block else None
        if run and not (match and match[1] == run[0][0]):
            ordered = ordered + _sorted_run([(path, item) for _, path, item in run], known)
            run = []
        if match:
            run.append((match[1], match[2], block))
        else:
            ordered = ordered + block
    return ordered


def _sorted_run(run: list[tuple[str, list[str]]], known: set[str]) -> list[str]:
    """Return the blocks sorted by path. Whatever follows the last file's text stays at the end."""
    last = run[-1][1]
    lines: list[str] = []
    for _, block in sorted(run, key=lambda item: item[0]):
        lines += ([""] if lines else []) + block[: _length(block, known)]
    return lines + last[_length(last, known) :]


def _length(block: Sequence[str], known: set[str]) -> int:
    """Return how many lines of a block belong to its file: all except the program's blank lines, gaps and tags at the end."""
    end = len(block)
    while end and (block[end - 1] in ("", GAP) or (TAG.match(block[end - 1]) and block[end - 1].strip() not in known)):
        end -= 1
    return end


def _shorten(line: str, form: Format) -> str:
    """Return the line with the program's own sentences replaced by …, and without its middle if it is very long."""
    for pattern in form.cut:
        line = pattern.sub(r"\1…\3", line)
    if len(line) <= MAX_LINE_LENGTH:
        return line
    return f"{line[:30]}…[{len(line.encode())} bytes]…{line[-20:]}"
