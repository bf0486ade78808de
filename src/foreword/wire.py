"""The one JSON form of every value: `--json`, HTTP and the store speak it.

Offsets are in code points of the prompt's text.
"""

from __future__ import annotations

from .vocabulary import Candidate, Document, Finding, Inputs, Resident, Skill, Workspace, digest, printable, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .conversation import Drift
    from .forms import (
        AccountForm,
        CandidateForm,
        ConversationForm,
        DriftForm,
        EditionForm,
        EditionRowForm,
        FindingForm,
        LineForm,
        OriginForm,
        PassageForm,
        PromptForm,
        SkillForm,
        TokensForm,
        TurnForm,
        VariableForm,
        VersionForm,
    )
    from .inspection.origins import Line
    from .template.catalog import CatalogRow
    from .tokens import Count
    from .vocabulary import ConversationRow, Edition, Origin, Passage, Piece, Prompt, TemplateVersion, Turn


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


_KEPT: dict[str, type] = {each.__name__: each for each in (Document, Skill, Resident, Finding, Candidate)}


def inputs_form(inputs: Inputs) -> dict[str, Any]:
    """What was found, so that another process can format it again. The environment is not kept: it may hold secrets."""
    where = {name: getattr(inputs.workspace, name) for name in ("cwd", "root", "home", "platform", "is_repository")}
    return {
        "workspace": where,
        "found": {name: [_kept(each) for each in entries] for name, entries in inputs.found.items()},
        "candidates": [_kept(each) for each in inputs.candidates],
        "findings": [_kept(each) for each in inputs.findings],
        **{name: {key: _kept(each) for key, each in getattr(inputs, name).items()} for name in _KEPT_MAPPINGS},
    }


_KEPT_MAPPINGS = ("includes", "bodies", "templates", "values")


def inputs_from(form: Mapping[str, Any]) -> Inputs:
    """The inputs of a kept form."""
    mappings: Any = {name: {key: _made(each) for key, each in form[name].items()} for name in _KEPT_MAPPINGS}
    return Inputs(
        workspace=Workspace(**form["workspace"], environment={}),
        found={name: tuple(map(_made, entries)) for name, entries in form["found"].items()},
        candidates=tuple(map(_made, form["candidates"])),
        findings=tuple(map(_made, form["findings"])),
        **mappings,
    )


def _kept(value: Any) -> Any:
    return value if isinstance(value, str) else {"": type(value).__name__, **value.__dict__}


def _made(form: Any) -> Any:
    if isinstance(form, str):
        return form
    fields = {name: tuple(content) if isinstance(content, list) else content for name, content in form.items() if name}
    return _KEPT[form[""]](**fields)


# Conversations


def turn_form(turn: Turn) -> TurnForm:
    """What the model sees, and what a person should know."""
    tools: Any = list(turn.tools)
    return {
        "conversation": turn.conversation,
        "edition": turn.edition,
        "reused": turn.is_reused,
        "system": turn.system,
        "messages": [dict(each) for each in turn.messages],
        "tools": tools,
        "findings": [finding_form(each) for each in turn.findings],
    }


def edition_row_form(edition: Edition) -> EditionRowForm:
    """An edition without its text."""
    import json

    return {
        "edition": edition.number,
        "id": digest(edition.system),
        "layout": edition.layout,
        "made": edition.made,
        "made_for": json.loads(edition.made_for),
    }


def edition_form(conversation: str, edition: Edition) -> EditionForm:
    """An edition with its account."""
    import json

    account: AccountForm = json.loads(edition.account)
    return {
        "conversation": conversation,
        **edition_row_form(edition),
        "system": edition.system,
        "tools": json.loads(edition.tools),
        **account,
    }


def conversation_form(row: ConversationRow) -> ConversationForm:
    return {"id": row.id, "editions": row.editions, "prompt": row.prompt, "layout": row.layout, "made": row.made}


def drift_form(conversation: str, drift: Drift) -> DriftForm:
    """What would change, what changed it, and what a rebuild would lose."""
    return {
        "conversation": conversation,
        "changed": drift.has_any,
        "sections": [
            {"section": each.section, "change": each.how, "sources": list(each.sources)} for each in drift.sections
        ],
        "tools": {
            "added": list(drift.tools_added),
            "removed": list(drift.tools_removed),
            "changed": list(drift.tools_changed),
        },
        "tokens_kept": drift.tokens_kept,
        "tokens_lost": drift.tokens_lost,
    }


def version_form(version: TemplateVersion) -> VersionForm:
    return {
        "version": version.version,
        "author": version.author,
        "time": version.time or None,
        "note": version.note,
        "template": version.template,
    }
