"""The one JSON form of every value: `--json`, HTTP and the store speak it.

Offsets are in code points of the prompt's text.
"""

from __future__ import annotations

from .vocabulary import digest, printable, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import NotRequired, TypedDict

    from .inspection.origins import Line
    from .template.catalog import CatalogRow
    from .tokens import Count
    from .vocabulary import Candidate, Finding, Origin, Passage, Piece, Prompt, Skill

    class OriginForm(TypedDict):
        kind: str
        path: str
        lines: list[int] | None
        start: int
        end: int
        hash: str

    class TokensForm(TypedDict):
        count: int
        method: str
        exact: bool
        error: float

    class PassageForm(TypedDict):
        section: str
        start: int
        end: int
        lifetime: str
        tokens: int
        origins: list[OriginForm]

    class CandidateForm(TypedDict):
        path: str
        layer: str
        fate: str
        reason: str

    class FindingForm(TypedDict):
        code: str
        severity: str
        message: str
        path: str | None
        line: int | None

    class LineForm(TypedDict):
        number: int
        text: str
        section: str | None
        kind: str | None
        path: str | None
        line: int | None

    class SkillForm(TypedDict):
        name: str
        description: str
        location: str
        hidden: bool

    class VariableForm(TypedDict):
        type: str
        name: str
        description: str
        dynamic: NotRequired[bool]

    class PromptForm(TypedDict):
        id: str
        layout: str
        text: str
        tokens: TokensForm
        passages: list[PassageForm]
        candidates: list[CandidateForm]
        findings: list[FindingForm]


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
    """An origin and the span it covers. What has no file behind it is known by the hash of the span itself."""
    lines = list(origin.lines) if origin.lines else None
    return {
        "kind": origin.kind,
        "path": origin.path,
        "lines": lines,
        "start": start,
        "end": end,
        "hash": origin.hash or digest(text),
    }


def spans(pieces: Iterable[Piece], start: int) -> list[tuple[int, int, Origin, str]]:
    """The pieces as spans; neighbours from the same place are one."""
    merged: list[tuple[int, int, Origin, str]] = []
    for piece in pieces:
        end = start + len(piece.text)
        if merged and _is_same_place(merged[-1][2], piece.origin):
            first, _, origin, text = merged[-1]
            lines = (origin.lines[0], piece.origin.lines[1]) if origin.lines and piece.origin.lines else None
            merged[-1] = (first, end, replace(origin, lines=lines), text + piece.text)
        else:
            merged.append((start, end, piece.origin, piece.text))
        start = end
    return merged


def _is_same_place(one: Origin, other: Origin) -> bool:
    return (one.kind, one.path, one.hash) == (other.kind, other.path, other.hash)


def candidate_form(candidate: Candidate) -> CandidateForm:
    return {"path": candidate.path, "layer": candidate.layer, "fate": candidate.fate, "reason": candidate.reason}


def finding_form(finding: Finding) -> FindingForm:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.path or None,
        "line": finding.line,
    }


def line_form(line: Line) -> LineForm:
    origin = line.origin
    return {
        "number": line.number,
        "text": line.text,
        "section": line.section or None,
        "kind": origin.kind if origin else None,
        "path": origin.path if origin else None,
        "line": line.line,
    }


def skill_form(skill: Skill) -> SkillForm:
    return {
        "name": skill.name,
        "description": skill.description,
        "location": printable(skill.path),
        "hidden": skill.hidden,
    }


def variable_form(row: CatalogRow) -> VariableForm:
    form: VariableForm = {"type": row.type, "name": row.name, "description": row.description}
    if row.dynamic:
        form["dynamic"] = True
    return form
