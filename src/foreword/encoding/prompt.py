"""Convert prompts to and from their stored form."""

from __future__ import annotations

from itertools import pairwise

from ..errors import CallError
from ..vocabulary import (
    LIFETIMES,
    PROMPT_ROLES,
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
    from ..vocabulary import Role
    from .forms import (
        AccountForm,
        CandidateForm,
        FindingForm,
        OriginForm,
        PassageForm,
        PassageMessage,
        PromptForm,
        TokensForm,
    )


def prompt_form(prompt: Prompt, total: Count, counts: Sequence[Count]) -> PromptForm:
    """Return the form of a prompt, with the token counts of the whole text and of each passage."""
    return {
        "id": prompt.id,
        "layout": prompt.layout,
        "text": prompt.text,
        "tokens": tokens_form(total),
        "passages": [passage_form(passage, count) for passage, count in zip(prompt.passages, counts, strict=True)],
        "candidates": [candidate_form(candidate) for candidate in prompt.candidates],
        "findings": [finding_form(finding) for finding in prompt.findings],
    }


def tokens_form(count: Count) -> TokensForm:
    return {"count": count.count, "method": count.method, "exact": count.exact, "error": count.error}


def passage_form(passage: Passage, count: Count) -> PassageForm:
    return {
        "section": passage.section,
        "start": passage.start,
        "end": passage.end,
        "lifetime": passage.lifetime,
        **message_form(passage),
        "tokens": count.count,
        "origins": _origin_forms(passage),
    }


def _origin_forms(passage: Passage) -> list[OriginForm]:
    return [origin_form(origin, start, end, text) for start, end, origin, text in spans(passage.pieces, passage.start)]


def message_form(passage: Passage) -> PassageMessage:
    """Return a passage's role, and the number of its message if it is not in the system prompt."""
    return {"role": passage.role, "message": passage.message} if passage.message else {"role": passage.role}


def origin_form(origin: Origin, start: int, end: int, text: str) -> OriginForm:
    """Return the form of an origin with the span that it covers. `hash` is the hash of the span's text, not of its source."""
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
    """Return the pieces as spans, merging adjacent pieces with the same origin unless that is a file or a template.

    Some of a file's text may have been left out between two of its pieces.
    """
    merged: list[tuple[int, int, Origin, str]] = []
    for piece in pieces:
        end = start + len(piece.text)
        if merged and piece.origin.kind not in ("file", "template") and _is_same_source(merged[-1][2], piece.origin):
            first, _, origin, text = merged[-1]
            lines = (origin.lines[0], piece.origin.lines[1]) if origin.lines and piece.origin.lines else None
            merged[-1] = (first, end, replace(origin, lines=lines), text + piece.text)
        else:
            merged.append((start, end, piece.origin, piece.text))
        start = end
    return merged


def _is_same_source(one: Origin, other: Origin) -> bool:
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


# Stored with an edition


def account_form(prompt: Prompt) -> AccountForm:
    """Return a prompt's account, which is stored separately from its text: passages with origins, candidates and findings."""
    return {
        "passages": [
            {
                "section": passage.section,
                "start": passage.start,
                "end": passage.end,
                "lifetime": passage.lifetime,
                **message_form(passage),
                "origins": _origin_forms(passage),
            }
            for passage in prompt.passages
        ],
        "candidates": [candidate_form(candidate) for candidate in prompt.candidates],
        "findings": [finding_form(finding) for finding in prompt.findings],
    }


# Saved forms


def prompt_from(form: Mapping[str, Any], where: str) -> Prompt:
    """Return the prompt that `show --json`, `conversation show --json` or `conversation turn --json` printed. The last does not print passages.

    The form is validated, and error messages begin with `where`. Text that no origin covers gets an origin with an empty kind.
    """
    text = form.get("text", form.get("system"))
    if not isinstance(text, str):
        raise CallError(
            f"{where} has no text; pass the JSON of a prompt, an edition or a turn, which has the key text or system"
        )
    passages = [
        _passage_from(row, text, f"{where}: passage {n}") for n, row in enumerate(_rows(form, "passages", where), 1)
    ]
    for before, after in pairwise(passages):
        if after.start < before.end:
            raise CallError(f"{where}: the passages {before.section!r} and {after.section!r} overlap")
        if after.message < before.message:
            raise CallError(f"{where}: the messages of {before.section!r} and {after.section!r} are not in order")
    candidates = [
        _candidate_from(row, f"{where}: candidate {n}") for n, row in enumerate(_rows(form, "candidates", where), 1)
    ]
    layout = form.get("layout", "")
    return Prompt(layout.rpartition("/")[2] if isinstance(layout, str) else "", text, passages, candidates)


def _rows(form: Mapping[str, Any], key: str, where: str) -> list[Any]:
    rows = form.get(key, [])
    if not isinstance(rows, list):
        raise CallError(f"{where}: {key} must be a list")
    return rows


def _passage_from(form: Any, text: str, where: str) -> Passage:
    start, end = _span(form, 0, len(text), where)
    if form.get("lifetime") not in LIFETIMES or not isinstance(form.get("section"), str):
        raise CallError(f"{where} must have a section and a lifetime ({', '.join(LIFETIMES)})")
    pieces: list[Piece] = []
    position = start
    for number, row in enumerate(_rows(form, "origins", where), 1):
        first, last = _span(row, position, end, f"{where}: origin {number}")
        if first > position:
            pieces.append(Piece(text[position:first], Origin("")))
        pieces.append(Piece(text[first:last], _origin_from(row, f"{where}: origin {number}")))
        position = last
    if position < end:
        pieces.append(Piece(text[position:end], Origin("")))
    role, message = _role_from(form, where)
    return Passage(form["section"], start, text[start:end], form["lifetime"], pieces, role, message)


def _role_from(form: Mapping[str, Any], where: str) -> tuple[Role, int]:
    """Return the role and number of a passage's message, or those of the system prompt if the form has neither."""
    role, message = form.get("role", "system"), form.get("message", 0)
    if role not in PROMPT_ROLES or type(message) is not int or message < (role != "system"):
        raise CallError(
            f"{where} must have a role ({', '.join(PROMPT_ROLES)}) and the number of its message, which is 0 only in the system prompt"
        )
    return role, message


def _span(form: Any, minimum: int, maximum: int, where: str) -> tuple[int, int]:
    if not isinstance(form, dict):
        raise CallError(f"{where} must be an object")
    start, end = form.get("start"), form.get("end")
    if type(start) is not int or type(end) is not int or not minimum <= start <= end <= maximum:
        raise CallError(
            f"{where} must have a start and an end between {minimum} and {maximum}, not {start!r} and {end!r}"
        )
    return start, end


def _origin_from(form: Any, where: str) -> Origin:
    kind, path, lines = (form.get(key) for key in ("kind", "path", "lines"))
    if not isinstance(kind, str) or not isinstance(path or "", str):
        raise CallError(f"{where} must have a kind and a path, both strings")
    if lines is not None and not (
        isinstance(lines, list) and len(lines) == 2 and all(type(line) is int for line in lines)
    ):
        raise CallError(f"{where}: lines must be two numbers or null, not {lines!r}")
    return Origin(kind, path or "", (lines[0], lines[1]) if lines else None)


def _candidate_from(form: Any, where: str) -> Candidate:
    keys = ("path", "layer", "fate", "reason")
    if not isinstance(form, dict) or not all(isinstance(form.get(key), str) for key in keys):
        raise CallError(f"{where} must have path, layer, fate and reason, all strings")
    target = form.get("target") or ""
    if not isinstance(target, str):
        raise CallError(f"{where}: target must be a string or null, not {target!r}")
    return Candidate(form["path"], form["layer"], form["fate"], form["reason"], target)
