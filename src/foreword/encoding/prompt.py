"""Prompts to and from their stored form."""

from __future__ import annotations

from itertools import pairwise

from ..errors import CallError
from ..vocabulary import (
    LIFETIMES,
    Candidate,
    Finding,
    Origin,
    Passage,
    Piece,
    Prompt,
    digest,
    replace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..text.tokens import Count
    from .forms import AccountForm, CandidateForm, FindingForm, OriginForm, PassageForm, PromptForm, TokensForm


def prompt_form(prompt: Prompt, whole: Count, each: Sequence[Count]) -> PromptForm:
    """A prompt with the token counts of the whole and of each passage."""
    return {
        "id": prompt.id,
        "layout": prompt.layout,
        "text": prompt.text,
        "tokens": tokens_form(whole),
        "passages": [passage_form(passage, count) for passage, count in zip(prompt.passages, each, strict=True)],
        "candidates": [candidate_form(candidate) for candidate in prompt.candidates],
        "findings": [finding_form(finding) for finding in prompt.findings],
    }


def tokens_form(count: Count) -> TokensForm:
    return {"count": count.count, "method": count.method, "exact": count.exact, "error": count.error}


def passage_form(passage: Passage, count: Count) -> PassageForm:
    origins = [
        origin_form(origin, start, end, text) for start, end, origin, text in spans(passage.pieces, passage.start)
    ]
    return {
        "section": passage.section,
        "start": passage.start,
        "end": passage.end,
        "lifetime": passage.lifetime,
        "tokens": count.count,
        "origins": origins,
    }


def origin_form(origin: Origin, start: int, end: int, text: str) -> OriginForm:
    """An origin and the span it covers; the hash is that of the span's text, whatever it came from."""
    lines = list(origin.lines) if origin.lines else None
    return {
        "kind": origin.kind,
        "path": origin.path,
        "lines": lines,
        "start": start,
        "end": end,
        "hash": digest(text),
    }


def spans(pieces: Iterable[Piece], start: int) -> list[tuple[int, int, Origin, str]]:
    """The pieces as spans. Neighbours from the same place are one, but for those of a file or template: something may be left out between."""
    merged: list[tuple[int, int, Origin, str]] = []
    for piece in pieces:
        end = start + len(piece.text)
        if merged and piece.origin.kind not in ("file", "template") and _is_same_place(merged[-1][2], piece.origin):
            first, _, origin, text = merged[-1]
            lines = (origin.lines[0], piece.origin.lines[1]) if origin.lines and piece.origin.lines else None
            merged[-1] = (first, end, replace(origin, lines=lines), text + piece.text)
        else:
            merged.append((start, end, piece.origin, piece.text))
        start = end
    return merged


def _is_same_place(one: Origin, other: Origin) -> bool:
    return (one.kind, one.path) == (other.kind, other.path)


def candidate_form(candidate: Candidate) -> CandidateForm:
    return {
        "path": candidate.path,
        "layer": candidate.layer,
        "fate": candidate.fate,
        "reason": candidate.reason,
        "target": candidate.target or None,
    }


def finding_form(finding: Finding) -> FindingForm:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.path or None,
        "line": finding.line,
        "column": finding.column,
        "end_column": finding.end_column,
    }


# What is kept with an edition


def account_form(prompt: Prompt) -> AccountForm:
    """Where a prompt came from: passages with their origins, candidates, findings. Kept beside the text, by a hash of its own."""
    return {
        "passages": [
            {
                "section": each.section,
                "start": each.start,
                "end": each.end,
                "lifetime": each.lifetime,
                "origins": [
                    origin_form(origin, start, end, text) for start, end, origin, text in spans(each.pieces, each.start)
                ],
            }
            for each in prompt.passages
        ],
        "candidates": [candidate_form(each) for each in prompt.candidates],
        "findings": [finding_form(each) for each in prompt.findings],
    }


# A saved form, read again


def prompt_from(form: Mapping[str, Any], where: str) -> Prompt:
    """The prompt of a saved form: that of `show --json`, of `talk show --json`, or of `talk turn --json`, which tells no passages.

    It may come from anywhere: what cannot be is an error that begins with `where`, and text without an origin gets one without a kind.
    """
    text = form.get("text", form.get("system"))
    if not isinstance(text, str):
        raise CallError(
            f"{where}: it takes a text, as foreword show --json, talk show --json or talk turn --json print it"
        )
    passages = [
        _passage_from(each, text, f"{where}: passage {n}") for n, each in enumerate(_rows(form, "passages", where), 1)
    ]
    for before, after in pairwise(passages):
        if after.start < before.end:
            raise CallError(f"{where}: the passages {before.section!r} and {after.section!r} overlap")
    candidates = [
        _candidate_from(each, f"{where}: candidate {n}") for n, each in enumerate(_rows(form, "candidates", where), 1)
    ]
    layout = form.get("layout", "")
    return Prompt(layout.rpartition("/")[2] if isinstance(layout, str) else "", text, passages, candidates)


def _rows(form: Mapping[str, Any], key: str, where: str) -> list[Any]:
    rows = form.get(key, [])
    if not isinstance(rows, list):
        raise CallError(f"{where}: {key} takes a list")
    return rows


def _passage_from(form: Any, text: str, where: str) -> Passage:
    start, end = _span(form, 0, len(text), where)
    if form.get("lifetime") not in LIFETIMES or not isinstance(form.get("section"), str):
        raise CallError(f"{where} takes a section and a lifetime ({', '.join(LIFETIMES)})")
    pieces: list[Piece] = []
    at = start
    for number, each in enumerate(_rows(form, "origins", where), 1):
        first, last = _span(each, at, end, f"{where}: origin {number}")
        if first > at:
            pieces.append(Piece(text[at:first], Origin("")))
        pieces.append(Piece(text[first:last], _origin_from(each, f"{where}: origin {number}")))
        at = last
    if at < end:
        pieces.append(Piece(text[at:end], Origin("")))
    return Passage(form["section"], start, text[start:end], form["lifetime"], pieces)


def _span(form: Any, least: int, most: int, where: str) -> tuple[int, int]:
    if not isinstance(form, dict):
        raise CallError(f"{where} takes an object")
    start, end = form.get("start"), form.get("end")
    if type(start) is not int or type(end) is not int or not least <= start <= end <= most:
        raise CallError(f"{where} takes a start and an end between {least} and {most}, not {start!r} and {end!r}")
    return start, end


def _origin_from(form: Any, where: str) -> Origin:
    kind, path, lines = (form.get(key) for key in ("kind", "path", "lines"))
    if not isinstance(kind, str) or not isinstance(path or "", str):
        raise CallError(f"{where} takes a kind and a path as texts")
    if lines is not None and not (
        isinstance(lines, list) and len(lines) == 2 and all(type(each) is int for each in lines)
    ):
        raise CallError(f"{where}: lines takes two numbers or null, not {lines!r}")
    return Origin(kind, path or "", (lines[0], lines[1]) if lines else None)


def _candidate_from(form: Any, where: str) -> Candidate:
    keys = ("path", "layer", "fate", "reason")
    if not isinstance(form, dict) or not all(isinstance(form.get(key), str) for key in keys):
        raise CallError(f"{where} takes path, layer, fate and reason as texts")
    target = form.get("target") or ""
    if not isinstance(target, str):
        raise CallError(f"{where}: target must be a string or null, not {target!r}")
    return Candidate(form["path"], form["layer"], form["fate"], form["reason"], target)
