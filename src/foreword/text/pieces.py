"""Operations on pieces of text that preserve their origins: strip, slice, escape, close."""

from __future__ import annotations

from ..vocabulary import Document, Origin, Piece, replace
from . import regex
from .lines import content_bounds, printable, without_blank_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from ..vocabulary import Workspace

    Pieces = tuple[Piece, ...]

# Escaping


# Control characters, and others that nobody sees, except those that join emoji.
_UNSEEN = "[\x00-\x1f\x7f-\x9f\xad\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]+"
# What some filters replace white space, and others single characters, by.
_BLANKS = {"line": " ", "hyphens": "-"}
_CHARACTERS = {
    "angles": str.maketrans({"<": "&lt;", ">": "&gt;"}),
    "portable": str.maketrans(dict.fromkeys(':\\/<>*?"|', "-")),
}


def apply_filters(piece: Piece, filters: Sequence[str], workspace: Workspace | None = None) -> Piece:
    """Apply filters to a value: `line` joins its lines, `xml` escapes it for a tag or an attribute, `list` puts `, ` between items.

    `cell` escapes it for a cell of a Markdown table.

    `relative` and `root-relative` make a path relative to the working directory or the root, and `tilde` writes a path in the
    home directory with `~/`. `shortest` makes it relative only if it is inside the working directory or, failing that, the root.
    `name` makes a value the name of one file or folder. `hyphens` replaces white space. `angles` escapes only `<` and `>`.
    `portable` replaces the characters that no file's name may have on Windows. `unseen` replaces control characters such as line ends.
    """
    text = piece.text
    for name in filters:
        if name in _BLANKS:
            text = _BLANKS[name].join(text.split())
        elif name == "unseen":
            text = regex.sub(_UNSEEN, " ", text).strip()
        elif name in _CHARACTERS:
            text = text.translate(_CHARACTERS[name])
        elif name == "list":
            text = ", ".join(item.strip() for item in split_list(text) if item.strip())
        elif name == "cell":
            text = text.replace("\\", "\\\\").replace("|", "\\|")
        elif name == "name":
            text = _as_name(text)
        elif name == "shortest":
            text = _shortest(text, workspace)
        elif name == "tilde":
            text = _with_tilde(text, workspace)
        elif name.endswith("relative"):
            text = _relative(text, name, workspace)
        else:
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
            text = text.replace("'", "&apos;") if name == "xml-quotes" else text
    return Piece(text, piece.origin) if text != piece.text else piece


def split_list(text: str) -> list[str]:
    """Split text at its commas, but not at those in braces, as in `*.{ts,js}`."""
    if "{" not in text:
        return text.split(",")
    items, depth = [""], 0
    for character in text:
        depth += (character == "{") - (character == "}" and depth > 0)
        if character == "," and not depth:
            items.append("")
        else:
            items[-1] += character
    return items


def _as_name(text: str) -> str:
    """Percent-encode slashes, and the dots of a name that has nothing else, so that a value cannot lead to another folder."""
    name = " ".join(text.split()).replace("/", "%2F").replace("\\", "%5C")
    return name if name.strip(".") else name.replace(".", "%2E")


def _relative(path: str, name: str, workspace: Workspace | None) -> str:
    from posixpath import relpath

    start = workspace and (workspace.cwd if name == "relative" else workspace.root or workspace.cwd)
    return relpath(path, printable(start)) if start and path.startswith("/") else path


def _with_tilde(path: str, workspace: Workspace | None) -> str:
    home = printable((workspace and workspace.home) or "").rstrip("/")
    return f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path


def _shortest(path: str, workspace: Workspace | None) -> str:
    folders = (workspace.cwd, workspace.root) if workspace else ()
    inside = [folder for folder in folders if folder and path.startswith(printable(folder).rstrip("/") + "/")]
    return path.removeprefix(printable(inside[0]).rstrip("/") + "/") if inside else path


def escape_tags(pieces: Pieces, tag: re.Pattern[str]) -> tuple[Piece, ...]:
    """Insert a backslash at the end of every match of `tag`, even one that spans several pieces."""
    ends = [match.end() for match in tag.finditer("".join([piece.text for piece in pieces]))]
    result: list[Piece] = []
    start = 0
    for piece in pieces:
        inside_ends = [end - start for end in ends if start < end <= start + len(piece.text)]
        result.extend(_insert_backslashes(piece, inside_ends))
        start += len(piece.text)
    return tuple(result)


def _insert_backslashes(piece: Piece, ends: list[int]) -> Iterator[Piece]:
    position, line = 0, piece.origin.lines[0] if piece.origin.lines else None
    for end in ends:
        text = piece.text[position:end]
        yield Piece(text, with_lines(piece.origin, line, text))
        yield Piece("\\", Origin("mark"))
        position = end
        line = None if line is None else line + text.count("\n")
    rest = piece.text[position:]
    if rest or not ends:
        yield Piece(rest, with_lines(piece.origin, line, rest)) if position else piece


def with_lines(origin: Origin, line: int | None, text: str) -> Origin:
    """Return the origin with the lines that this text covers if it starts on `line`."""
    if line is None:
        return origin
    return replace(origin, lines=(line, line + text.count("\n") - text.endswith("\n")))


def close_open_blocks(pieces: Pieces) -> tuple[Pieces, str]:
    """Close a fence or comment that is still open, so that it does not include the text that follows.

    Returns the pieces and a description of what was open, or empty if nothing was.
    """
    text = "".join([piece.text for piece in pieces])
    if not may_be_unclosed(text):
        return pieces, ""
    from .markdown import find_unclosed

    closing, was_open = find_unclosed(text)
    return (*pieces, Piece(closing, Origin("mark"))) if closing else pieces, was_open


def may_be_unclosed(text: str) -> bool:
    """Whether text contains the beginning of a fence or comment. Most texts contain neither, and need no further checks."""
    return "```" in text or "~~~" in text or "<!--" in text


def trim_blank_lines(pieces: Pieces) -> Pieces:
    """Return the pieces without leading and trailing blank lines."""
    text = "".join([piece.text for piece in pieces])
    content, _ = without_blank_lines(text)
    start = text.find(content)
    return slice_pieces(pieces, start, start + len(content))


def trim_section(pieces: Pieces) -> Pieces:
    """Return the pieces without leading blank lines and trailing white space."""
    start, end = content_bounds("".join([piece.text for piece in pieces]))
    return slice_pieces(pieces, start, end)


def trim_white_space(pieces: Pieces) -> Pieces:
    """Return the pieces without leading and trailing white space."""
    text = "".join([piece.text for piece in pieces])
    return slice_pieces(pieces, len(text) - len(text.lstrip()), len(text.rstrip()))


def with_newlines(pieces: Pieces, *, single_returns: bool = True) -> Pieces:
    """Return the pieces with LF for every CRLF and, with `single_returns`, for every other carriage return."""
    if not any("\r" in piece.text for piece in pieces):
        return pieces
    texts = []
    for piece, follower in zip(pieces, [*pieces[1:], None], strict=True):
        ends_line = follower is not None and follower.text.startswith("\n")
        text = (piece.text.removesuffix("\r") if ends_line else piece.text).replace("\r\n", "\n")
        texts.append(text.replace("\r", "\n") if single_returns else text)
    return tuple(replace(piece, text=text) for piece, text in zip(pieces, texts, strict=True) if text)


def without_comments(pieces: Pieces) -> Pieces:
    """Return the pieces without the comments that begin a line, outside code and lists, without definitions of links, and with LF line ends.

    The programs that drop such comments parse a file that contains any comment, and write it with other line ends.
    """
    from .markdown import comments_and_definitions

    pieces = with_newlines(pieces)
    return without_ranges(pieces, comments_and_definitions("".join(piece.text for piece in pieces)))


def without_all_comments(pieces: Pieces) -> Pieces:
    """Return the pieces without any comment, also inside code and other comments, and without a `<!--` that is never closed."""
    import re

    def ranges(pattern: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(pattern, "".join(piece.text for piece in pieces))]

    while found := ranges(r"<!--[\s\S]*?-->"):
        pieces = without_ranges(pieces, found)
    return without_ranges(pieces, ranges("<!--"))


def without_ranges(pieces: Pieces, ranges: Iterable[tuple[int, int]]) -> Pieces:
    """Return the pieces without the characters in these ranges, which are in order."""
    position, kept = 0, pieces[:0]
    for start, end in ranges:
        kept, position = (*kept, *slice_pieces(pieces, position, start)), end
    return (*kept, *slice_pieces(pieces, position, sum(len(piece.text) for piece in pieces))) if position else pieces


def slice_pieces(pieces: Pieces, start: int, end: int) -> Pieces:
    """Return the characters from `start` up to `end`, with their origins."""
    if start <= 0 and end >= sum([len(piece.text) for piece in pieces]):
        return tuple([piece for piece in pieces if piece.text])
    result: list[Piece] = []
    for piece in pieces:
        first, lines = max(start, 0), piece.origin.lines
        text = piece.text[first : max(end, 0)]
        if text and text == piece.text:
            result.append(piece)
        elif text:
            line = lines[0] + piece.text.count("\n", 0, first) if lines else None
            result.append(Piece(text, with_lines(piece.origin, line, text)))
        start, end = start - len(piece.text), end - len(piece.text)
    return tuple(result)


def keep_spans(pieces: Pieces, spans: Sequence[tuple[int, int]]) -> Pieces:
    """Return the characters of these spans, which are in order, with their origins. There may be as many spans as lines."""
    result: list[Piece] = []
    number = offset = 0
    for piece in pieces:
        line, counted, end = (piece.origin.lines or (0, 0))[0], 0, offset + len(piece.text)
        while number < len(spans) and spans[number][0] < end:
            first, last = max(spans[number][0] - offset, 0), min(spans[number][1], end) - offset
            text = piece.text[first:last]
            if text and text == piece.text:
                result.append(piece)
            elif text:
                line, counted = line + piece.text.count("\n", counted, first), first
                result.append(Piece(text, with_lines(piece.origin, line if piece.origin.lines else None, text)))
            if spans[number][1] > end:
                break
            number += 1
        offset = end
    return tuple(result)


# A document as pieces


def origin_of(document: Document, name: str) -> Origin:
    if not document.path:
        return Origin("caller", name, lines_of(document))
    return Origin("file", document.path, lines_of(document))


def lines_of(document: Document) -> tuple[int, int]:
    return document.line, document.line + document.text.count("\n") - document.text.endswith("\n")


_EMPTY = Document("", "")


def strip_blank_lines(source: str | Document) -> Document:
    """Return a document without leading and trailing blank lines. A blank document becomes empty."""
    if not source:
        return _EMPTY
    document = source if isinstance(source, Document) else Document("", source)
    if not document.text:
        return document
    text, line = without_blank_lines(document.text)
    return replace(document, text=text if text.strip() else "", line=document.line + line - 1)


def normalize(document: Document) -> Document:
    """Treat a caller's document like a file: remove its byte order mark, carriage returns and surrounding blank lines."""
    return strip_blank_lines(replace(document, text=document.text.removeprefix("\ufeff").replace("\r\n", "\n")))


def cut_mark(document: Document) -> Pieces:
    if not document.cut_from:
        return ()
    return (Piece(f"\n[foreword: cut here; the file has {document.cut_from:,} bytes]", Origin("mark")),)
