"""Prepares a file's text according to its lookup rule: drops front matter or comments, trims it and adds a label."""

from __future__ import annotations

import os

from ..findings import finding
from ..text.pieces import (
    cut_mark,
    keep_spans,
    origin_of,
    slice_pieces,
    trim_blank_lines,
    trim_white_space,
    with_newlines,
    without_all_comments,
    without_comments,
)
from ..vocabulary import Document, digest, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import TextRules
    from ..sources.readings import Reading
    from ..vocabulary import Finding, Piece

    Pieces = tuple[Piece, ...]


def prepare(reading: Reading, rules: TextRules, place: str, findings: list[Finding]) -> Document:
    """Return a file as a document, prepared according to these rules. Imports are not followed. `place` is its pattern's place."""
    return finish(reading.document, drop_parts(reading, rules), rules.trim, fields_of(reading, rules, place, findings))


def drop_parts(reading: Reading, rules: TextRules) -> Pieces:
    """Return a file's text, without the front matter, comments and last lines if the rules drop them."""
    pieces = _without_parts(reading, rules)
    pieces = _first_lines(pieces, rules) if rules.is_limited else pieces
    return pieces if rules.line_ends == "keep" else with_newlines(pieces, single_returns=rules.line_ends == "all")


def _without_parts(reading: Reading, rules: TextRules) -> Pieces:
    document = reading.document
    pieces: Pieces = (*_to_pieces(document), *cut_mark(document))
    if rules.front != "keep":
        pieces = _without_front_matter(reading, rules, pieces)
    if rules.comments != "keep" and any("<!--" in piece.text for piece in pieces):
        pieces = without_comments(pieces) if rules.comments == "drop" else without_all_comments(pieces)
    return pieces


def _without_front_matter(reading: Reading, rules: TextRules, pieces: Pieces) -> Pieces:
    text = reading.text
    if not (text.startswith("---") and reading.line == 1) and (rules.fences != "sections" or "---" not in text):
        return pieces
    from ..sources.fences import split_parts

    head, parts = split_parts(text, rules.fences)
    if head is None:
        return pieces
    starts, ends = [start for start, _ in parts], [*(end for _, end in parts[:-1]), _length(pieces)]
    if rules.front != "drop":
        starts[0] += len(text) - starts[0] - len(text[starts[0] :].lstrip())
    if rules.front == "drop-ends":
        ends[-1] = max(starts[-1], len(text.rstrip()))
    return keep_spans(pieces, list(zip(starts, ends, strict=True)))


def _first_lines(pieces: Pieces, rules: TextRules) -> Pieces:
    """Return the lines that the rules allow, with a mark if that is not all."""
    from ..vocabulary import Origin, Piece

    kept, left_out = _within_limits(pieces, rules)
    if not left_out:
        return pieces
    mark = Piece(f"\n\n[foreword: cut here, {left_out:,} lines left out]", Origin("mark"))
    return (*slice_pieces(pieces, 0, kept), mark)


def _within_limits(pieces: Pieces, rules: TextRules) -> tuple[int, int]:
    """Return the length of the first lines that the rules allow, and the number of lines after them."""
    lines = "".join(piece.text for piece in pieces).rstrip("\r\n").split("\n")
    length = size = count = 0
    for line in lines[: rules.max_lines]:
        size += len(line.encode("utf-8", "surrogatepass")) + (count > 0)
        if rules.max_bytes is not None and size > rules.max_bytes:
            break
        length += len(line) + (count > 0)
        count += 1
    return length, len(lines) - count


def _to_pieces(document: Document) -> Pieces:
    from ..vocabulary import Piece

    return tuple(document.pieces) or (Piece(document.text, origin_of(document, "")),)


def _length(pieces: Pieces) -> int:
    return sum(len(piece.text) for piece in pieces)


def finish(document: Document, pieces: Pieces, trim: str, fields: Sequence[tuple[str, str]]) -> Document:
    """Return the document with these pieces, trimmed, as its text. If the text is consecutive lines of the file, it has no pieces."""
    if trim == "lines":
        pieces = trim_blank_lines(pieces)
    elif trim == "ends":
        pieces = trim_white_space(pieces)
    elif trim == "tail":
        pieces = slice_pieces(pieces, 0, len("".join(piece.text for piece in pieces).rstrip()))
    text = "".join(piece.text for piece in pieces)
    if text == document.text:
        return replace(document, fields=fields)
    if len(pieces) == 1 and pieces[0].origin.path == document.path:
        line = (pieces[0].origin.lines or (document.line, 0))[0]
        return Document(document.path, text, digest(text), line, fields=fields)
    return Document(document.path, text, digest(text), fields=fields, pieces=pieces)


def fields_of(reading: Reading, rules: TextRules, place: str, findings: list[Finding]) -> tuple[tuple[str, str], ...]:
    """Return a file's label and its front-matter fields. Reports a file of which only the first lines are used."""
    fields: list[tuple[str, str]] = []
    if rules.is_limited and (left_out := _within_limits(_without_parts(reading, rules), rules)[1]):
        path = reading.document.path
        message = (
            f"{path}: its last {left_out:,} lines are left out; this layout uses only the first lines of a long file"
        )
        findings.append(finding("budget-file", message, path))
    if rules.label:
        fields.append(("label", label_of(reading.path, rules, place)))
    if rules.front != "keep" and (reading.line == 1 or rules.fences == "sections"):
        from ..sources.scoping import read_fields_of

        front_matter, problem, _ = read_fields_of(reading, rules)
        fields += [(f"front.{name}", value) for name, value in front_matter.items()]
        if problem:
            path = reading.document.path
            findings.append(finding("front-matter-invalid", f"{path}: {problem}", path, 1))
    return tuple(fields)


def label_of(path: str, rules: TextRules, place: str) -> str:
    """Return a file's label by its name or the place where it was found, or empty if no key matches."""
    from fnmatch import fnmatchcase

    name = os.path.basename(path)
    return next((label for key, label in rules.label if key == f"{place}:" or fnmatchcase(name, key)), "")
