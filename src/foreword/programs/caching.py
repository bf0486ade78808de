"""Report how each provider caches a prompt, and how much of the cache is lost when the prompt changes."""

from __future__ import annotations

from ..errors import CallError
from ..inspection.subject import Subject
from ..vocabulary import replace, value
from .subjects import build_subject, read_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inspection.cache import MisplacedSection, Segment
    from ..inspection.diff import SectionDiff
    from ..inspection.prices import Price, Prices, ProviderRules
    from ..inspection.rebuilding import CacheReuse
    from ..layout.model import Layout
    from ..vocabulary import Finding
    from ..wire.forms import BetterOrderForm, CacheForm, CacheReusesForm, ProviderForm, RebuildForm
    from .question import Question
    from .stability import Rebuild

MAX_TURNS = 1_000_000
DEFAULT_TURNS = 30


class ProviderModel:
    """A provider with the model that it serves, the model's price and its token counter."""

    def __init__(self, rules: ProviderRules, table: Prices, question: Question) -> None:
        self.rules = rules
        # A model that is not in the price list belongs to the specified provider; every other provider gets its default model.
        owner = table.provider_of(question.model) or question.provider.lower()
        self.model = question.model if owner == rules.name else ""
        self.price: Price | None = table.price_of(rules, self.model)
        self._owner_of = table.provider_of
        self._counts: dict[str, int] = {}

    def count(self, text: str) -> int:
        from ..text.tokens import count

        if text not in self._counts:
            self._counts[text] = count(text, self.model or self.rules.model, self.rules.name).count
        return self._counts[text]

    def segments(self, subject: Subject, *, has_changes: bool = False) -> list[Segment]:
        """Return the request's segments, in the order in which the provider reads them.

        With `has_changes`, they are those of a request to the model, because what a late change looks like depends on it.
        """
        from ..inspection.requests import request_segments

        try:
            turn = subject.turn
            if has_changes:
                built_for = subject.built_for.get("model", "")
                turn = replace(
                    turn, model=self.model or (built_for if self._owner_of(built_for) == self.rules.name else "")
                )
            return request_segments(turn, self.rules)
        except (AttributeError, KeyError, TypeError):
            raise CallError(
                f"{subject.name}: its tools or messages cannot be converted into a request to {self.rules.name}"
            ) from None


def provider_models(question: Question) -> list[ProviderModel]:
    """Return every provider in the price list, or only the specified one. Raises a CallError if that one is not in the list."""
    table = price_table(question)
    return [ProviderModel(rules, table, question) for rules in _selected(table, question.provider)]


def price_table(question: Question) -> Prices:
    """Return the table of prices, with the user's and the caller's overrides."""
    from ..inspection.price_list import read_prices

    prices, settings = question.fields.get("prices") or "", question.fields.get("settings") or ""
    return read_prices(prices, question.workspace, settings)


def _selected(table: Prices, name: str) -> Sequence[ProviderRules]:
    """Return the rules of the provider with this name, or of all that have models of their own if it is empty."""
    if not name:
        return [rules for rules in table.providers if not rules.hosts]
    selected = [rules for rules in table.providers if rules.name == name.lower()]
    if not selected:
        known = ", ".join(sorted(rules.name for rules in table.providers))
        raise CallError(
            f"how the provider {name!r} caches a prompt is not known; known are {known}, and a file of prices can add it"
        )
    return selected


def _for_model_of(subject: Subject, question: Question) -> Question:
    """Return the question with the model that a prompt was built for, unless it names a model or provider itself."""
    model, _ = subject.model_for(question.model, question.provider)
    return question.with_fields(model=model) if model != question.model else question


# One prompt


@value
class CacheReport:
    """How well a prompt can be cached: by each provider, with its order of sections, and when it is built again."""

    subject: Subject
    form: CacheForm
    rebuilds: Sequence[tuple[Rebuild, Sequence[SectionDiff]]]
    findings: Sequence[Finding]


def cache_report(question: Question) -> CacheReport:
    """Examine the prompt for the question's directory, or the prompt in its field `prompt`."""
    from ..encoding.prompt import finding_form
    from ..inspection.cache import find_misplaced, instability_findings, order_findings
    from ..inspection.own_part import own_part
    from ..text.tokens import count as count_tokens
    from ..wire.counting import count_tools, own_part_form
    from ..wire.differences import misplaced_form, subject_form

    question = question.with_fields(now=_fixed_time(question))
    turns_of(question)
    source = question.fields.get("prompt")
    # Counting tokens takes a lot of memory. The builds use a copy of the question, so that everything they read can be freed first.
    subject, rebuilt, layout = (
        _rebuild(question.with_fields()) if source is None else (read_subject(source, question), [], None)
    )
    question = _for_model_of(subject, question)
    models = provider_models(question)
    count = models[0].count
    misplaced_sections = find_misplaced(subject.prompt, count)
    moved = [(rebuild.detail, sections) for rebuild, sections in rebuilt if sections]
    tokens = [count(subject.prompt.text[_first_change(sections) :]) for _, sections in moved]
    findings = [*order_findings(misplaced_sections), *instability_findings(moved, tokens)]
    form: CacheForm = {
        "prompt": subject_form(subject, count_tokens(subject.prompt.text, question.model, question.provider)),
        "own": own_part_form(own_part(layout, question.model, question.provider)) if layout else None,
        "tools": count_tools(
            subject.tools or (), lambda text: count_tokens(text, question.model, question.provider).count
        ),
        "providers": [_provider_form(subject, model, layout) for model in models],
        "misplaced": [misplaced_form(section) for section in misplaced_sections],
        "better_order": _better_order(question, subject, misplaced_sections, is_built=source is None)
        if misplaced_sections
        else None,
        "rebuilds": [_rebuild_form(rebuild, sections, subject) for rebuild, sections in rebuilt],
        "findings": [finding_form(finding) for finding in findings],
    }
    return CacheReport(subject, form, rebuilt, findings)


def _fixed_time(question: Question) -> str:
    """Return the time to use for every build, as a string that can be passed to another process."""
    from ..engine.assembler import local_time

    return (question.now or local_time()).isoformat()


def _rebuild(question: Question) -> tuple[Subject, list[tuple[Rebuild, Sequence[SectionDiff]]], Layout]:
    """Return the directory's prompt, what changes when it is built again in ways that should not matter, and the layout."""
    from ..engine.assembler import local_time
    from ..inspection.diff import compare
    from .stability import rebuilds

    subject = build_subject(question)
    results: list[tuple[Rebuild, Sequence[SectionDiff]]] = []
    agent, now = question.agent_with_template(), question.now or local_time()
    for rebuild in rebuilds(question.assembler, agent, now, question.fields_with_template(), subject.prompt):
        is_same = rebuild.prompt is None or rebuild.prompt.text == subject.prompt.text
        sections = (
            ()
            if is_same or rebuild.prompt is None
            else compare(subject, Subject(rebuild.detail, rebuild.prompt)).sections
        )
        results.append((rebuild, sections))
    # Only the texts are needed from here on; the candidates of many skills would take a lot of memory.
    stripped = replace(subject.prompt, candidates=())
    rebuilt = [
        (replace(result, prompt=result.prompt and stripped) if not moved else result, moved)
        for result, moved in results
    ]
    return replace(subject, prompt=stripped), rebuilt, question.assembler.layout()


def _first_change(sections: Sequence[SectionDiff]) -> int:
    """Return the offset of the first change in the old prompt."""
    starts = [
        section.edits[0].old[0] if section.edits else section.old[0] if section.old else 0 for section in sections
    ]
    return min(starts, default=0)


def _better_order(
    question: Question, subject: Subject, misplaced_sections: Sequence[MisplacedSection], is_built: bool
) -> BetterOrderForm:
    """Return a better order of sections, and the options that come closest to it, which are suggested only if they help."""
    from ..inspection.cache import best_order, find_misplaced, order_settings

    better: BetterOrderForm = {"order": best_order(subject.prompt), "set": [], "fixes": "none"}
    if not is_built:
        return better
    options = [f"{key}={','.join(names)}" for key, names in order_settings(question.assembler.layout().sections)]
    if options:
        changed = question.with_fields(set=[*(question.fields.get("set") or ()), *options])
        remaining = find_misplaced(changed.prompt(), len)
        if len(remaining) < len(misplaced_sections):
            better["set"], better["fixes"] = options, "part" if remaining else "all"
    return better


def _provider_form(subject: Subject, provider: ProviderModel, layout: Layout | None) -> ProviderForm:
    from ..inspection.cache import breakpoints, count_kept, request_cost
    from ..inspection.own_part import own_part
    from ..text.tokens import unload_other_tokenizers
    from ..wire.differences import breakpoint_form, price_form

    unload_other_tokenizers(provider.model or provider.rules.model, provider.rules.name)
    segments, price = provider.segments(subject), provider.price
    own = own_part(layout, provider.model or provider.rules.model, provider.rules.name) if layout else None
    points = breakpoints(segments, subject.prompt, provider.rules, price, provider.count, own)
    total, _, cached = count_kept(segments, segments, provider.rules, price, provider.count, own)
    return {
        "provider": provider.rules.name,
        "caching": provider.rules.caching,
        "order": list(provider.rules.order),
        "price": price_form(price) if price else None,
        "tokens": total,
        "breakpoints": [breakpoint_form(point) for point in points],
        "first_request": request_cost(total, cached, price, is_read=False) if price else None,
        "next_request": request_cost(total, cached, price, is_read=True) if price else None,
    }


def _rebuild_form(rebuilt: Rebuild, sections: Sequence[SectionDiff], subject: Subject) -> RebuildForm:
    from ..inspection.changes import section_names
    from ..wire.answers import names_form
    from ..wire.differences import section_diff_form

    new = rebuilt.prompt.text if rebuilt.prompt else ""
    return {
        "variation": rebuilt.variation,
        "how": rebuilt.detail,
        "changed": None if rebuilt.prompt is None else bool(sections),
        "error": rebuilt.error or None,
        "sections": names_form(section_names(sections)),
        "details": [section_diff_form(section, subject.prompt.text, new) for section in sections],
    }


# A change


@value
class CacheLoss:
    """How much of the old prompt's cache each provider can reuse for the new one."""

    old: Subject
    new: Subject
    turns: int
    providers: Sequence[tuple[ProviderModel, CacheReuse]]
    form: CacheReusesForm


def cache_loss(question: Question) -> CacheLoss:
    """Report how much of the cache is lost when the prompt in the field `new` replaces the one in `old`."""
    if not question.fields.get("old") or not question.fields.get("new"):
        raise CallError("cache needs both old and new to compare two prompts")
    question = question.with_fields(now=_fixed_time(question))
    turns_of(question)
    old, new = (read_subject(question.fields[name], question) for name in ("old", "new"))
    return compare_caches(question, old, new)


def compare_caches(question: Question, old: Subject, new: Subject) -> CacheLoss:
    """Report how much of the old prompt's cache is lost when the new one replaces it."""
    from time import time

    from ..inspection.rebuilding import cache_reuse

    question = _for_model_of(new, question)
    models, turns = provider_models(question), turns_of(question)
    if old.tools is None or new.tools is None:
        # Tools that are known for only one of the prompts would look like a change.
        old, new = replace(old, tools=None), replace(new, tools=None)
    has_changes = bool(old.changes or new.changes)
    reuses = [
        (
            model,
            cache_reuse(
                (old, model.segments(old, has_changes=has_changes)),
                (new, model.segments(new, has_changes=has_changes)),
                model.rules,
                model.price,
                model.count,
                now=time(),
            ),
        )
        for model in models
    ]
    return CacheLoss(old, new, turns, reuses, _loss_form(question, old, new, turns, reuses))


def turns_of(question: Question) -> int:
    """Return the number of turns over which to calculate the cost of a change."""
    turns = question.fields.get("turns", DEFAULT_TURNS)
    if not isinstance(turns, int) or not 0 <= turns <= MAX_TURNS:
        raise CallError(f"turns must be a number from 0 to {MAX_TURNS:,}, not {turns}")
    return turns


def _loss_form(
    question: Question, old: Subject, new: Subject, turns: int, reuses: Sequence[tuple[ProviderModel, CacheReuse]]
) -> CacheReusesForm:
    from ..inspection.changes import find_changes, prompt_side
    from ..text.tokens import count
    from ..wire.answers import changes_form
    from ..wire.differences import cache_reuse_form, subject_form

    subjects = [
        subject_form(subject, count(subject.prompt.text, question.model, question.provider)) for subject in (old, new)
    ]
    return {
        **changes_form(find_changes(prompt_side(old.prompt, old.tools), prompt_side(new.prompt, new.tools))),
        "old": subjects[0],
        "new": subjects[1],
        "turns": turns,
        "providers": [cache_reuse_form(reuse, provider.rules, provider.price, turns) for provider, reuse in reuses],
    }
