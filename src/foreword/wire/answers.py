"""The JSON forms of prompts, conversations and templates, for `--json` and HTTP.

Offsets count code points in the prompt's text.
"""

from __future__ import annotations

from ..conversation.state import trigger_of
from ..encoding.edition import account_of, target_form, target_of, tools_of
from ..encoding.prompt import candidate_form, finding_form, message_form, tokens_form
from ..text.tokens import estimator
from ..vocabulary import (
    Prompt,
    digest,
    replace,
)
from .counting import count_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from ..conversation.decide import Drift
    from ..conversation.usage import ConversationUsage, Usage
    from ..encoding.forms import EditionTargetForm
    from ..engine.touched import Touched
    from ..inspection.changes import Changes, Names, SectionChange
    from ..inspection.diff import Difference, SectionDiff
    from ..inspection.effects import Effect, SectionEffect
    from ..inspection.origins import Line
    from ..inspection.rebuilding import RebuildCost
    from ..store.rows import ConversationRow, LabelMove, TemplateRow, TemplateVersion
    from ..template.catalog import CatalogRow
    from ..text.tokens import Count
    from ..vocabulary import Edition, Turn
    from .conversation_forms import (
        ConversationForm,
        EditionRowForm,
        MeasuredEditionForm,
        RebuildCostForm,
        RecordedForm,
        UsageForm,
    )
    from .forms import (
        ChangesForm,
        CountedTool,
        DriftForm,
        EditionForm,
        EffectForm,
        LineForm,
        NamesForm,
        SectionChangeForm,
        SentSectionForm,
        TouchedForm,
        TurnForm,
        VariableForm,
        VersionForm,
        WatchForm,
    )
    from .store_forms import MoveForm, TemplateNameForm


def watch_form(
    event: str,
    time: str,
    files: Iterable[str],
    error: str | None,
    prompt: Prompt,
    total: Count,
    by_passage: Sequence[Count],
    tools: list[CountedTool],
    effect: Effect | None,
    touched: Touched | None = None,
) -> WatchForm:
    """Return a `watch` event (`start`, then `change`, `same` or `error`), with the current prompt and what changed in it."""
    return {
        "event": event,
        "time": time,
        "files": list(files),
        "error": error,
        "id": prompt.id,
        "layout": prompt.layout,
        "tokens": tokens_form(total),
        "passages": [
            {
                "section": passage.section,
                "start": passage.start,
                "end": passage.end,
                "lifetime": passage.lifetime,
                **message_form(passage),
                "tokens": count.count,
            }
            for passage, count in zip(prompt.passages, by_passage, strict=True)
        ],
        "tools": tools,
        "effect": effect_form(effect) if effect else None,
        "touched": touched_form(touched) if touched else None,
        "findings": [finding_form(finding) for finding in prompt.findings],
    }


def effect_form(effect: Effect) -> EffectForm:
    """Return how a change affects the sections, and how much of the cached prefix is kept."""
    return {
        **changes_form(effect),
        "details": [
            {**change_form(section), "tokens_before": section.before, "tokens_after": section.after}
            for section in effect.sections
        ],
        "tokens_before": effect.before,
        "tokens_kept": effect.kept,
        "breaks_in": effect.breaks or None,
    }


def changes_form(comparison: Drift | Difference | Effect | Changes) -> ChangesForm:
    """Return whether anything changed, and which sections and tools were added, removed, changed or moved.

    Every comparison has these three keys.
    """
    return {
        "changed": comparison.is_changed,
        "sections": names_form(comparison.section_names),
        "tools": names_form(comparison.tools),
    }


def names_form(names: Names) -> NamesForm:
    return {
        "added": list(names.added),
        "removed": list(names.removed),
        "changed": list(names.changed),
        "moved": list(names.moved),
    }


def change_form(change: SectionChange | SectionDiff | SectionEffect) -> SectionChangeForm:
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


def variable_form(row: CatalogRow) -> VariableForm:
    form: VariableForm = {"type": row.type, "name": row.name, "description": row.description}
    if row.dynamic:
        form["dynamic"] = True
    return form


def turn_form(turn: Turn) -> TurnForm:
    """Return what to send to the model, and findings for the user. The first `leading` messages belong to the prompt.

    `sections` and `root_end` say where lifetimes end, so that a client can set the same cache breakpoints as the library.
    """
    tools: Any = list(turn.tools)
    form: TurnForm = {
        "conversation": turn.conversation,
        "edition": turn.edition,
        "reused": turn.is_reused,
        "system": turn.system,
        "messages": [dict(message) for message in turn.messages],
        "history": [dict(message) for message in turn.history],
        "tools": tools,
        "model": turn.model,
        "sections": [*_section_rows(turn)],
        "findings": [finding_form(finding) for finding in turn.findings],
    }
    if turn.leading:
        form["leading"] = len(turn.leading)
    if turn.root_end:
        form["root_end"] = turn.root_end
    if turn.changes:
        changes: Any = [dict(change) for change in turn.changes]
        form["changes"] = changes
    return form


def _section_rows(turn: Turn) -> Iterator[SentSectionForm]:
    """Yield the spans of the system prompt (message 0), and of each message that belongs to the prompt."""
    for (start, end, lifetime), name in zip(turn.passages, turn.sections, strict=True):
        yield {"section": name, "start": start, "end": end, "lifetime": lifetime, "role": "system", "message": 0}
    for number, passages in enumerate(turn.leading, 1):
        role = turn.messages[number - 1]["role"]
        for start, end, lifetime in passages:
            yield {"start": start, "end": end, "lifetime": lifetime, "role": role, "message": number}


def edition_row_form(edition: Edition) -> EditionRowForm:
    """Return an edition without its text, and without the agent, which repeats text that is in the prompt."""
    target: Any = target_form(replace(target_of(edition), agent={}, tool_order=()))
    form: EditionTargetForm = target
    return {
        "edition": edition.number,
        "id": digest(edition.system),
        "layout": edition.layout,
        "created": edition.created,
        "trigger": trigger_of(edition),
        "built_for": form,
    }


def edition_row_forms(editions: Sequence[Edition], usage: ConversationUsage | None) -> list[MeasuredEditionForm]:
    """Return the editions of a conversation, each with what its own calls used."""
    rows: list[MeasuredEditionForm] = []
    for edition in editions:
        own = usage.editions.get(edition.number) if usage else None
        rows.append({**edition_row_form(edition), "usage": usage_form(own) if own else None})
    return rows


def usage_fields(number: int, usage: ConversationUsage, *, is_conversation: bool) -> dict[str, UsageForm]:
    """Return the usage of a conversation, with that of its edition in use beside it, or only that of one edition."""
    own = usage.editions.get(number)
    own_fields = {"edition_usage" if is_conversation else "usage": usage_form(own)} if own else {}
    return {"usage": usage_form(usage.total), **own_fields} if is_conversation else own_fields


def edition_form(
    conversation: str, edition: Edition, usage: ConversationUsage | None = None, *, is_conversation: bool = True
) -> EditionForm:
    """Return an edition with its account. `system` is the whole prompt, in which each passage has a role.

    With `is_conversation`, `usage` is that of all the conversation's editions.
    """
    fields = {} if usage is None else usage_fields(edition.number, usage, is_conversation=is_conversation)
    target = target_of(edition)
    content: Any = {
        "conversation": conversation,
        **edition_row_form(edition),
        "system": edition.system,
        "tools": list(tools_of(edition)),
        "tool_tokens": count_tools(tools_of(edition), estimator(target.model, target.provider)),
        **fields,
        **account_of(edition),
    }
    form: EditionForm = content
    return form


def usage_form(usage: Usage) -> UsageForm:
    """Return the usage of an edition's calls. `input` includes `read` and `written`; `cost` is in US dollars."""
    return {
        "calls": usage.calls,
        "input": usage.input,
        "read": usage.read,
        "written": usage.written,
        "output": usage.output,
        "cost": None if usage.cost is None else round(usage.cost, 6),
        "hit_rate": usage.hit_rate,
        "unreported": usage.unreported,
    }


def recorded_form(conversation: str, usage: Usage, total: ConversationUsage | None) -> RecordedForm:
    """Return the counters of a conversation and its edition after a call was recorded, and findings about that call."""
    return {
        "conversation": conversation,
        "edition": usage.edition,
        "usage": usage_form(total.total if total else usage),
        "edition_usage": usage_form(usage),
        "findings": [finding_form(finding) for finding in usage.findings],
    }


def conversation_form(row: ConversationRow) -> ConversationForm:
    return {
        "id": row.id,
        "editions": row.editions,
        "prompt": row.prompt,
        "layout": row.layout,
        "created": row.created,
        "model": row.model,
        "template": row.template or None,
        "version": row.version,
        "team": row.team,
    }


def drift_form(conversation: str, drift: Drift) -> DriftForm:
    """Return what a rebuild would change, which sources caused the changes, and how many cached tokens would be lost."""
    return {
        "conversation": conversation,
        **changes_form(drift),
        "details": [change_form(section) for section in drift.sections],
        "system": drift.system,
        **rebuild_cost_form(drift.rebuild),
    }


def rebuild_cost_form(rebuild: RebuildCost) -> RebuildCostForm:
    """Return what a rebuild costs: `cost` is in US dollars, and `basis` says what the tokens are counted from."""
    rule = rebuild.rule
    return {
        "tokens_kept": rebuild.tokens_kept,
        "tokens_lost": rebuild.tokens_lost,
        "cost": None if rebuild.cost is None else round(rebuild.cost, 6),
        "basis": rebuild.basis,
        "expired": rebuild.is_expired,
        "parts": [
            {"of": part.of, "tokens_kept": part.tokens_kept, "tokens_lost": part.tokens_lost} for part in rebuild.parts
        ],
        "cache": {
            "provider": rule.provider or None,
            "model": rule.model or None,
            "caching": rule.caching,
            "step": rule.step,
            "minimum": rule.minimum,
            "assumed": rule.is_assumed,
        },
    }


def touched_form(touched: Touched) -> TouchedForm:
    """Return the instructions for touched files."""
    return {
        "messages": [{"role": message["role"], "content": message["content"]} for message in touched.messages],
        "candidates": [candidate_form(candidate) for candidate in touched.candidates],
        "findings": [finding_form(finding) for finding in touched.findings],
    }


def version_form(version: TemplateVersion, has_text: bool = True) -> VersionForm:
    form: VersionForm = {
        "version": version.version,
        "author": version.author,
        "time": version.time or None,
        "note": version.note,
        "syntax": version.syntax,
    }
    if has_text:
        form["template"] = version.template
    return form


def move_form(move: LabelMove) -> MoveForm:
    return {
        "template": move.name,
        "label": move.label,
        "previous": move.previous or None,
        "version": move.version,
        "author": move.author,
        "time": move.time or None,
        "note": move.note,
    }


def template_name_form(row: TemplateRow) -> TemplateNameForm:
    return {"name": row.name, "newest": row.newest, "labels": dict(row.labels), "team": row.team}
