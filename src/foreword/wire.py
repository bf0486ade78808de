"""The one JSON form of every value: `--json`, HTTP and the store speak it.

Offsets are in code points of the prompt's text.
"""

from __future__ import annotations

from itertools import pairwise

from .errors import CallError
from .vocabulary import (
    LIFETIMES,
    Candidate,
    Document,
    Finding,
    Inputs,
    Origin,
    Passage,
    Piece,
    Prompt,
    Resident,
    Skill,
    Workspace,
    digest,
    printable,
    replace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .conversation import Drift
    from .forms import (
        AccountForm,
        BreakpointForm,
        CandidateForm,
        CauseForm,
        ChangesForm,
        ConversationForm,
        DifferenceForm,
        DriftForm,
        EditForm,
        EditionForm,
        EditionRowForm,
        EffectForm,
        FindingForm,
        FirstDifferenceForm,
        KeptForm,
        LineForm,
        LintForm,
        MisplacedForm,
        NamesForm,
        OriginForm,
        PassageForm,
        PriceForm,
        PromptForm,
        SectionChangeForm,
        SectionDiffForm,
        SectionPlaceForm,
        SkillForm,
        SpanForm,
        SubjectForm,
        TokensForm,
        TurnForm,
        VariableForm,
        VersionForm,
        WatchForm,
    )
    from .inspection.cache import Breakpoint, FirstDifference, Kept, Misplaced
    from .inspection.changes import Changes, Names, SectionChange
    from .inspection.diff import Cause, Difference, Edit, SectionDiff
    from .inspection.effects import Effect, SectionEffect
    from .inspection.origins import Line
    from .inspection.prices import Price, ProviderRules
    from .inspection.subject import Subject
    from .proofread import Report
    from .template.catalog import CatalogRow
    from .tokens import Count
    from .vocabulary import Access, Agent, ConversationRow, Edition, Scope, TemplateVersion, Tool, Turn


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
    return {"path": candidate.path, "layer": candidate.layer, "fate": candidate.fate, "reason": candidate.reason}


def finding_form(finding: Finding) -> FindingForm:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "path": finding.path or None,
        "line": finding.line,
    }


def watch_form(
    event: str,
    time: str,
    files: Iterable[str],
    error: str | None,
    prompt: Prompt,
    whole: Count,
    each: Sequence[Count],
    effect: Effect | None,
) -> WatchForm:
    """What a watch tells: `start`, then `change`, `same` or `error`, with the prompt as it stands and what was done to it."""
    return {
        "event": event,
        "time": time,
        "files": list(files),
        "error": error,
        "id": prompt.id,
        "layout": prompt.layout,
        "tokens": tokens_form(whole),
        "passages": [
            {
                "section": passage.section,
                "start": passage.start,
                "end": passage.end,
                "lifetime": passage.lifetime,
                "tokens": count.count,
            }
            for passage, count in zip(prompt.passages, each, strict=True)
        ],
        "effect": effect_form(effect) if effect else None,
        "findings": [finding_form(finding) for finding in prompt.findings],
    }


def effect_form(effect: Effect) -> EffectForm:
    """What a change did to the sections, and how much of the prefix stays."""
    return {
        **changes_form(effect),
        "details": [
            {**_change_form(each), "tokens_before": each.before, "tokens_after": each.after} for each in effect.sections
        ],
        "tokens_before": effect.before,
        "tokens_kept": effect.kept,
        "breaks_in": effect.breaks or None,
    }


def changes_form(found: Drift | Difference | Effect | Changes) -> ChangesForm:
    """What was added, removed, changed and moved, in the same words for every comparison."""
    return {
        "changed": found.is_changed,
        "sections": names_form(found.section_names),
        "tools": names_form(found.tools),
    }


def names_form(names: Names) -> NamesForm:
    return {
        "added": list(names.added),
        "removed": list(names.removed),
        "changed": list(names.changed),
        "moved": list(names.moved),
    }


def _change_form(change: SectionChange | SectionDiff | SectionEffect) -> SectionChangeForm:
    return {"section": change.section, "changes": list(change.kinds), "sources": list(change.sources)}


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


def agent_form(agent: Agent, conversation: str) -> dict[str, Any]:
    """What an agent brings beside tools, model and provider, where it is not as usual: so can a prompt be compared later."""
    row = {
        "sub_agent": agent.role == "sub",
        "session": agent.session if agent.session != conversation else "",
        "base": agent.base if isinstance(agent.base, str) else agent.base.text,
        "skill": agent.skill if isinstance(agent.skill, str) else agent.skill.name,
        "plan": agent.plan if isinstance(agent.plan, str) else agent.plan.text,
        "scope": _scope_form(agent.scope) if agent.scope is not None else None,
        "language": agent.language,
        "docs": [list(each) for each in agent.docs],
        "tools": words_form(agent.tools or ()),
    }
    return {name: each for name, each in row.items() if each}


def words_form(tools: Iterable[Tool]) -> dict[str, Any]:
    """What only the prompt tells of tools, by their names."""
    return {
        tool.name: {"snippet": tool.snippet, "guidelines": list(tool.guidelines)}
        for tool in tools
        if tool.snippet or tool.guidelines
    }


def tool_order(tools: Iterable[Tool]) -> list[str]:
    """The names of the tools, where they are not in alphabetical order, in which their definitions are kept."""
    names = [tool.name for tool in tools]
    return names if names != sorted(names) else []


def made_for(edition: Edition) -> dict[str, Any]:
    """For whom an edition was made: cwd, model, provider, what `agent_form` tells, and the tools by their names."""
    import json

    made = json.loads(edition.made_for)
    agent = made.get("agent", {})
    told = agent.pop("tools", {})
    rows = {each.pop("name"): each for each in json.loads(edition.tools)}
    tools = {name: rows[name] for name in dict.fromkeys((*made.get("tool_order", ()), *rows)) if name in rows}
    return {
        **{name: made[name] for name in ("cwd", "model", "provider") if name in made},
        **agent,
        "tools": {name: {**each, **told.get(name, {})} for name, each in tools.items()},
    }


def _scope_form(scope: Scope) -> dict[str, Any]:
    """A scope as a caller writes it."""

    def rows(entries: Sequence[Access], unless_said: str) -> list[dict[str, Any]]:
        return [
            {"path": each.path, "permission": each.permission or unless_said, "recursive": each.recursive}
            for each in entries
        ]

    return {"allow": rows(scope.allow, "write"), "deny": rows(scope.deny, "read")}


def turn_form(turn: Turn) -> TurnForm:
    """What the model sees, and what a person should know."""
    tools: Any = list(turn.tools)
    return {
        "conversation": turn.conversation,
        "edition": turn.edition,
        "reused": turn.is_reused,
        "system": turn.system,
        "messages": [dict(each) for each in turn.messages],
        "history": [dict(each) for each in turn.history],
        "tools": tools,
        "findings": [finding_form(each) for each in turn.findings],
    }


def edition_row_form(edition: Edition) -> EditionRowForm:
    """An edition without its text."""
    import json

    made = json.loads(edition.made_for)
    made.pop("tool_order", None)
    made.pop("agent", None)  # as long as the base and plan that it holds, and they stand in the prompt
    return {
        "edition": edition.number,
        "id": digest(edition.system),
        "layout": edition.layout,
        "made": edition.made,
        "made_for": made,
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
        **changes_form(drift),
        "details": [_change_form(each) for each in drift.sections],
        "tokens_kept": drift.tokens_kept,
        "tokens_lost": drift.tokens_lost,
        "cache": {
            "provider": drift.rule.provider or None,
            "model": drift.rule.model or None,
            "caching": drift.rule.caching,
            "step": drift.rule.step,
            "minimum": drift.rule.minimum,
            "assumed": drift.rule.is_assumed,
        },
    }


def version_form(version: TemplateVersion) -> VersionForm:
    return {
        "version": version.version,
        "author": version.author,
        "time": version.time or None,
        "note": version.note,
        "syntax": version.syntax,
        "template": version.template,
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
    return Candidate(*(form[key] for key in keys))


# How two prompts differ


def difference_form(old: Subject, new: Subject, tokens: tuple[Count, Count], found: Difference) -> DifferenceForm:
    """Two prompts and all that differs between them."""
    return {
        **changes_form(found),
        "old": subject_form(old, tokens[0]),
        "new": subject_form(new, tokens[1]),
        "details": [section_diff_form(each, old.prompt.text, new.prompt.text) for each in found.sections],
        "circumstances": [{"name": name, "old": was, "new": now} for name, was, now in found.circumstances],
    }


def subject_form(subject: Subject, tokens: Count) -> SubjectForm:
    prompt = subject.prompt
    return {"name": subject.name, "id": prompt.id, "layout": prompt.layout or None, "tokens": tokens_form(tokens)}


def section_diff_form(found: SectionDiff, old: str, new: str) -> SectionDiffForm:
    return {
        **_change_form(found),
        "old": _place_form(found.old, found.old_place),
        "new": _place_form(found.new, found.new_place),
        "edits": [edit_form(each, old, new) for each in found.edits],
        "causes": [cause_form(each) for each in found.causes],
    }


def _place_form(span: tuple[int, int] | None, place: int) -> SectionPlaceForm | None:
    return {"start": span[0], "end": span[1], "place": place} if span else None


def edit_form(edit: Edit, old: str, new: str) -> EditForm:
    """Words that changed, with their offsets in the two texts."""
    before: SpanForm = {"start": edit.old[0], "end": edit.old[1], "text": old[edit.old[0] : edit.old[1]]}
    after: SpanForm = {"start": edit.new[0], "end": edit.new[1], "text": new[edit.new[0] : edit.new[1]]}
    return {"old": before, "new": after, "causes": [cause_form(each) for each in edit.causes]}


def cause_form(cause: Cause) -> CauseForm:
    return {
        "kind": cause.kind,
        "path": cause.path or None,
        "lines": list(cause.lines) if cause.lines else None,
        "note": cause.note or None,
    }


# What a prompt cache makes of prompts


def price_form(price: Price) -> PriceForm:
    return {
        "model": price.name,
        "input": price.input,
        "write": price.write,
        "read": price.read,
        "minimum": price.minimum,
        "source": price.source,
        "date": price.date,
    }


def breakpoint_form(found: Breakpoint) -> BreakpointForm:
    return {
        "of": found.of,
        "after": found.after,
        "lifetime": found.lifetime,
        "tokens": found.tokens,
        "kept": found.is_kept,
    }


def misplaced_form(found: Misplaced) -> MisplacedForm:
    return {
        "section": found.section,
        "lifetime": found.lifetime,
        "before": list(found.before),
        "tokens": found.tokens,
    }


def kept_form(found: Kept, rules: ProviderRules, price: Price | None, turns: int) -> KeptForm:
    """What a provider keeps; dollars are for one rewrite, and for one on each of so many turns."""
    return {
        "provider": found.provider,
        "caching": rules.caching,
        "order": list(rules.order),
        "price": price_form(price) if price else None,
        "tokens": found.total,
        "most": found.most,
        "shared": found.shared,
        "kept": found.tokens,
        "lost": found.lost,
        "rewrite": found.rewrite,
        "rewrite_each_turn": None if found.rewrite is None else found.rewrite * turns,
        "first": _first_difference_form(found.first) if found.first else None,
    }


def _first_difference_form(found: FirstDifference) -> FirstDifferenceForm:
    causes = [cause_form(each) for each in found.causes]
    return {"of": found.of, "name": found.name or None, "offset": found.offset, "causes": causes}


# Lint


def lint_form(report: Report) -> LintForm:
    """What lint found, with the sums that a program would make first."""
    told = [each.severity for each in report.findings]
    return {
        "root": printable(report.root),
        "files": report.files,
        "counts": {"error": told.count("error"), "warning": told.count("warning"), "info": told.count("info")},
        "findings": [finding_form(each) for each in report.findings],
    }
