"""Pieces of text: trim, cut, escape and join them without losing an origin."""

from __future__ import annotations

import re

from ..vocabulary import Document, Origin, Piece, replace
from .lines import without_blank_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Pieces = tuple[Piece, ...]

# What content may not do


def filtered(piece: Piece, filters: Sequence[str]) -> Piece:
    """A value with its filters applied: `line` puts it on one line, `xml` escapes it for a tag or an attribute."""
    text = piece.text
    for name in filters:
        if name == "line":
            text = " ".join(text.split())
        else:
            text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return Piece(text, piece.origin) if text != piece.text else piece


def broken(pieces: Pieces, tag: re.Pattern[str]) -> tuple[Piece, ...]:
    """The pieces with a backslash in every tag, be it put together from several of them."""
    ends = [match.end() for match in tag.finditer("".join([piece.text for piece in pieces]))]
    result: list[Piece] = []
    start = 0
    for piece in pieces:
        inside = [end - start for end in ends if start < end <= start + len(piece.text)]
        result.extend(_cut_at(piece, inside))
        start += len(piece.text)
    return tuple(result)


def _cut_at(piece: Piece, ends: list[int]) -> Iterator[Piece]:
    position, line = 0, piece.origin.lines[0] if piece.origin.lines else None
    for end in ends:
        text = piece.text[position:end]
        yield Piece(text, spanning(piece.origin, line, text))
        yield Piece("\\", Origin("mark"))
        position = end
        line = None if line is None else line + text.count("\n")
    rest = piece.text[position:]
    if rest or not ends:
        yield Piece(rest, spanning(piece.origin, line, rest)) if position else piece


def spanning(origin: Origin, line: int | None, text: str) -> Origin:
    """The origin of a text that begins on this line: its lines end with the line of the last character."""
    if line is None:
        return origin
    return replace(origin, lines=(line, line + text.count("\n") - text.endswith("\n")))


def sealed(pieces: Pieces) -> tuple[Pieces, str]:
    """The pieces with what they leave open closed, and what that was: nothing after them is swallowed."""
    text = "".join([piece.text for piece in pieces])
    if not may_stay_open(text):
        return pieces, ""
    from .markdown import left_open

    closing, was_open = left_open(text)
    return (*pieces, Piece(closing, Origin("mark"))) if closing else pieces, was_open


def may_stay_open(text: str) -> bool:
    """Whether a text holds what begins a fence or a comment: quick to say, and mostly no."""
    return "```" in text or "~~~" in text or "<!--" in text


def without_blank_ends(pieces: Pieces) -> Pieces:
    """The pieces without the blank lines before and after them."""
    text = "".join([piece.text for piece in pieces])
    kept, _ = without_blank_lines(text)
    start = text.find(kept)
    return stretch(pieces, start, start + len(kept))


def without_white_ends(pieces: Pieces) -> Pieces:
    """The pieces without the white space before and after them."""
    text = "".join([piece.text for piece in pieces])
    return stretch(pieces, len(text) - len(text.lstrip()), len(text.rstrip()))


def stretch(pieces: Pieces, start: int, end: int) -> Pieces:
    """The characters from `start` to before `end`, each with its origin."""
    kept: list[Piece] = []
    for piece in pieces:
        first, lines = max(start, 0), piece.origin.lines
        text = piece.text[first : max(end, 0)]
        if text and text == piece.text:
            kept.append(piece)
        elif text:
            line = lines[0] + piece.text.count("\n", 0, first) if lines else None
            kept.append(Piece(text, spanning(piece.origin, line, text)))
        start, end = start - len(piece.text), end - len(piece.text)
    return tuple(kept)


# A document as pieces


def origin_of(document: Document, name: str) -> Origin:
    if not document.path:
        return Origin("caller", name, lines_of(document))
    return Origin("file", document.path, lines_of(document))


def lines_of(document: Document) -> tuple[int, int]:
    return document.line, document.line + document.text.count("\n") - document.text.endswith("\n")


def trimmed(given: str | Document) -> Document:
    """A text of the caller's without the blank lines around it; a blank one is empty."""
    document = given if isinstance(given, Document) else Document("", given)
    if not document.text:
        return document
    text, line = without_blank_lines(document.text)
    return replace(document, text=text if text.strip() else "", line=document.line + line - 1)


def as_read(document: Document) -> Document:
    """A document that no file was read for, as if one had been: no byte order mark, line ends, no blank lines around it."""
    return trimmed(replace(document, text=document.text.removeprefix("\ufeff").replace("\r\n", "\n")))


def cut_mark(document: Document) -> Pieces:
    if not document.cut_from:
        return ()
    return (Piece(f"\n[foreword: cut here; the file has {document.cut_from:,} bytes]", Origin("mark")),)
