"""Apply events to the edition in use: decide what to do, build a new edition if necessary, and publish it."""

from __future__ import annotations

import json
from time import time

from ..encoding.edition import parse_tools, target_of
from ..errors import CallError, StoreError, show, similar_name
from ..findings import finding
from ..inspection.price_list import shipped_prices
from ..inspection.requests import compare_turns
from ..inspection.sending import turn_of
from ..providers.late_tool_effect import late_tool_effect
from ..text.tokens import estimator, exact_counter
from ..vocabulary import replace, value
from .choice import Carrying, token_price
from .decide import Outcome, Steps, apply_step, decide, drift, trigger_of_steps
from .editions import store_failure
from .notices import calls_since, changes_of, with_changes
from .state import after_summary, state_of, update_state, with_state
from .usage import last_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..inspection.prices import Prices
    from ..inspection.rebuilding import RebuildCost
    from ..inspection.requests import Counter
    from ..inspection.subject import LastCall
    from ..vocabulary import Agent, Edition, Finding
    from ..vocabulary.tools import LateToolEffect
    from .agents import ConversationAgent
    from .assembling import ConversationAssembler
    from .builder import EditionBuilder
    from .decide import Drift, LossFunction
    from .editions import Editions
    from .hooks import Hooks
    from .state import State

    Message = Mapping[str, Any]

_TOOLS_KEPT = (
    "the tools differ from those the conversation started with, which this layout keeps until it builds another prompt"
)
_ANNOUNCE_TOOLS = (Steps("announce", "keep"), Steps("append", "keep"))
# A caller who requests one of these expects a new edition, so returning the one in use would be wrong.
_USUAL_LIFETIME = 300  # of a cache, in seconds, if the provider is unknown
_EXPLICIT_EVENTS = frozenset(("reload", "rebuild"))


@value
class _AnnouncedTools:
    """An edition whose messages announce all of this agent's tools."""

    edition: Edition
    agent: Agent


class Transitions:
    """Moves a conversation from one edition to the next."""

    def __init__(
        self,
        editions: Editions,
        assembling: ConversationAssembler,
        agent: ConversationAgent,
        builder: EditionBuilder,
        hooks: Hooks,
    ) -> None:
        self._id, self._editions, self._assembling = agent.id, editions, assembling
        self._agent, self._builder, self._hooks = agent, builder, hooks
        self._announced: _AnnouncedTools | None = None

    def current(self) -> tuple[Edition | None, list[Finding]]:
        """Return the edition in use, and resolve the agent for it."""
        current, findings = self._editions.catch_up(self._id)
        if current is not None:
            self._assembling.continue_with(current)
        self._agent.resolve(current, lambda: self._assembling.layout)
        return current, findings

    def current_or_new(self) -> Edition:
        """Return the edition in use. If the conversation has none, construct its first one."""
        current, _ = self.current()
        return current or self.apply(["turn"], None).edition

    def apply(
        self,
        events: Sequence[str],
        now: datetime | None,
        messages: Sequence[Message] = (),
        known: tuple[Edition | None, list[Finding]] | None = None,
    ) -> Outcome:
        """Apply these events. If another process publishes first, start over from its edition.

        `messages` is the history at hand, and `known` is what `current` has just returned.
        """
        number: int | None = None
        while True:
            current, findings = known or self.current()
            known = None
            previous_number, number = number, current.number if current else 0
            if previous_number not in (None, number):
                events = ["turn"]  # the process that published this edition has applied the others
            on = self._assembling.layout.on  # raises an error in the layout before any hook runs
            if current is None:
                outcome = self._start(self._builder.gather(now, skill_may_be_missing=False))
            else:
                outcome = self._apply_once(on, events, current, findings, now, messages)
            if outcome is not None:
                return outcome

    def _start(self, gathered: Edition) -> Outcome | None:
        """Publish a conversation's first edition. Returns None if another process has published one in the meantime."""
        edition = self._editions.publish(self._id, None, replace(gathered, number=1))
        if edition is None:
            return None
        self._hooks.notify("constructed", edition)
        return Outcome(edition, (), [*_model_findings(self._agent.resolved.model)])

    def _apply_once(
        self,
        on: Mapping[str, str],
        events: Sequence[str],
        current: Edition,
        findings: list[Finding],
        now: datetime | None,
        messages: Sequence[Message],
    ) -> Outcome | None:
        """Apply the events to this edition, as the layout's table `on` says. Returns None if another process has published in the meantime."""
        all_events = [*events, *self._implied_events(current)]
        has_other_layout = self._assembling.layout_changed(current)
        steps = decide(on, all_events, has_other_layout)
        if not (findings or self._changes_nothing(steps, current)):
            trigger = trigger_of_steps(on, all_events, has_other_layout)
            built = self._outcome(steps, current, now, messages, is_summarised="compaction" in events)
            outcome = self._publish(built, steps, events, trigger, current)
            if outcome is None or not has_other_layout:
                return outcome
            problem = _layout_finding(current, self._assembling.layout.name, outcome.is_reused)
            return replace(outcome, findings=[*outcome.findings, problem])
        if has_other_layout:
            findings = [*findings, _layout_finding(current, self._assembling.layout.name, is_kept=True)]
        if findings and steps.changes and not _EXPLICIT_EVENTS.isdisjoint(events):
            self._editions.store.current(self._id)  # raises the StoreError for the caller
        if "tools" in all_events and not steps.changes:
            findings = [*findings, finding("tools-kept", _TOOLS_KEPT)]
        return Outcome(current, (), findings, True)

    def _publish(
        self, outcome: Outcome, steps: Steps, events: Sequence[str], trigger: str, current: Edition
    ) -> Outcome | None:
        """Publish the outcome of these steps. Returns None if another process has published in the meantime."""
        if outcome.edition.number != current.number:
            outcome = replace(outcome, edition=update_state(outcome.edition, trigger=trigger))
        try:
            published = self._editions.publish(self._id, current, outcome.edition)
        except StoreError as error:
            if not {"compaction", *_EXPLICIT_EVENTS}.isdisjoint(events):
                raise
            return Outcome(current, (), [store_failure(error, "the edition in use is kept")], is_reused=True)
        if published is None:
            return None
        if published is current and not outcome.messages:
            self._announced = _AnnouncedTools(current, self._agent.resolved) if steps in _ANNOUNCE_TOOLS else None
        self._hooks.notify(steps.strongest, published)
        return replace(outcome, edition=published, is_reused=published.number == current.number)

    def _implied_events(self, current: Edition) -> list[str]:
        """Return the events that the edition in use and this turn's agent imply."""
        state, on = state_of(current), self._assembling.layout.on
        may_revert = state.announced and on.get("tools") in ("announce", "append")
        is_changed = self._agent.has_different_tools(current) or (
            self._agent.has_different_servers(current)
            and any(section.list_name == "servers" for section in self._assembling.layout.all_sections)
        )
        events = ["tools"] if may_revert or is_changed else []
        return [*events, "compaction"] if state.is_compacted else events

    def _changes_nothing(self, steps: Steps, current: Edition) -> bool:
        """Whether there is nothing to do except announce tools that an earlier turn has already announced."""
        if steps in _ANNOUNCE_TOOLS:
            return self._announced == _AnnouncedTools(current, self._agent.resolved)
        return not steps.changes

    def _outcome(
        self,
        steps: Steps,
        current: Edition,
        now: datetime | None,
        messages: Sequence[Message],
        is_summarised: bool,
    ) -> Outcome:
        """Apply the steps in order, and return one outcome for all of them."""
        outcome, before = Outcome(self._note_switch(current, now) if steps.announces else current), None
        forget = self._forget_messages if is_summarised else None
        for subject, step in steps.changes:
            edition, is_first = outcome.edition, before is None
            if step == "append" and edition.number != current.number:
                step = "gather"  # the tools have started a new edition, so announcing the rest would only add to it
            new_edition = self._builder.rebuild(edition, subject, step, now, keep_tools=subject == "rest" and is_first)

            def read_last_call(edition: Edition = current) -> LastCall | None:
                return last_call(self._editions.store, self._id, edition)

            loss = rebuild_loss_function(
                self._agent.resolved, edition, shipped_prices, estimator, read_last_call, messages, now
            )
            step_outcome = apply_step(
                step,
                edition,
                new_edition,
                forget if is_first else None,
                before,
                loss,
                self._late_tool_effect,
                # A change of the tools alone is always announced: rebuilding would lose their definitions as well.
                None if subject == "tools" or forget else self._carrying(edition, messages, now),
            )
            outcome = replace(
                step_outcome,
                messages=(*outcome.messages, *step_outcome.messages),
                findings=(*outcome.findings, *step_outcome.findings),
                changes=(*outcome.changes, *step_outcome.changes),
            )
            before = new_edition
        if outcome.edition.number > current.number:
            outcome = replace(outcome, edition=replace(outcome.edition, number=current.number + 1))
        if outcome.messages:
            texts = [message["content"] for message in outcome.messages]
            state = with_changes(state_of(outcome.edition), texts, outcome.changes)
            outcome = replace(outcome, edition=with_state(outcome.edition, state))
        return outcome

    def _note_switch(self, current: Edition, now: datetime | None) -> Edition:
        """Return the edition with the time at which the agent switched to another model, or without it after the way back."""
        agent, target, left = self._agent.resolved, target_of(current), state_of(current).left
        if not (agent.provider or agent.model) or (agent.provider, agent.model) == (target.provider, target.model):
            return update_state(current, left=0)
        return current if left else update_state(current, left=int(now.timestamp() if now else time()))

    def _carrying(self, edition: Edition, messages: Sequence[Message], now: datetime | None) -> Carrying:
        """Return what the announcements of this edition have cost so far."""
        state, target = state_of(edition), target_of(edition)
        rules, price, _ = shipped_prices().rule_for(target.provider, target.model)
        count = estimator(target.model or rules.model, rules.name or target.provider)
        carried = [(count(text), calls) for text, calls in calls_since(messages, state.notices)]
        moment = now.timestamp() if now else time()
        is_shared = bool(state.left) and moment - state.left <= (rules.lifetime or _USUAL_LIFETIME)
        return Carrying(count, carried, token_price(price), is_shared)

    def _late_tool_effect(self, edition: Edition, added: Sequence[str]) -> LateToolEffect:
        """Return what adding these tools does to the next request. The edition contains them."""
        model, state = self._agent.resolved.model, state_of(edition)
        provider = self._agent.resolved.provider.lower() or shipped_prices().provider_of(model)
        changes = [*changes_of(state.notices), *changes_of(state.unsent), {"added": added}]
        return late_tool_effect(provider, model, parse_tools(edition.tools), changes)

    def _forget_messages(self, state: State) -> State:
        """Return the state after the messages were summarised, without what the layout drops."""
        return after_summary(state, drop_skills=self._assembling.layout.compaction.get("skills") == "drop")

    def drift(self, now: datetime | None, messages: Sequence[Message]) -> Drift:
        """Return what would change if the prompt were built now, and what that would cost."""
        current, _ = self.current()
        if current is None:
            raise CallError(f"the conversation {self._id!r} has no edition yet; its first turn creates one")
        call = last_call(self._editions.store, self._id, current)
        prices = self._assembling.prices
        loss = rebuild_loss_function(self._agent.resolved, current, prices, exact_counter, lambda: call, messages, now)
        return drift(current, self._builder.gather(now), loss=loss)

    def compact(self, now: datetime | None) -> Outcome:
        """Return the edition with which to request a summary. Everything that only the messages contained is removed from the state."""
        current, findings = self.current()
        layout = self._assembling.layout
        if layout.compaction.get("under") == "new":
            if findings:
                self._editions.store.current(self._id)  # raises the StoreError for the caller
            outcome = self.apply(["turn", "compaction"], now)
            return replace(outcome, edition=self._editions.update(self._id, outcome.edition, self._forget_messages))
        outcome = Outcome(current, (), findings, is_reused=True) if current else self.apply(["turn"], now)
        is_event = layout.on.get("compaction", "keep") != "keep"

        def compacted(state: State) -> State:
            return replace(self._forget_messages(state), is_compacted=is_event)

        try:
            self._editions.update(self._id, outcome.edition, compacted)
        except StoreError as error:
            self._editions.postpone(self._id, outcome.edition, compacted)
            problem = store_failure(error, "until it is back, only this process knows of the compaction")
            outcome = replace(outcome, findings=outcome.findings or [problem])
        return outcome


def rebuild_loss_function(
    agent: Agent,
    current: Edition,
    table: Callable[[], Prices],
    counter: Counter,
    read_last_call: Callable[[], LastCall | None],
    messages: Sequence[Mapping[str, Any]],
    now: datetime | None,
) -> LossFunction:
    """Return a function that calculates what a rebuild costs.

    If the agent has neither a model nor a provider, those of the edition are used. Without a last call, `messages` are counted.
    """
    target = agent if agent.model or agent.provider else target_of(current)

    def loss(old: Edition, new: Edition) -> RebuildCost:
        last_call = read_last_call()
        tokens = 0 if last_call or not messages else counter(target.model, target.provider)(_text_of(messages))
        return compare_turns(
            turn_of(old),
            turn_of(new),
            target.provider,
            target.model,
            table(),
            counter,
            last_call=last_call,
            message_tokens=tokens,
            now=now.timestamp() if now else time(),
        )

    return loss


def _layout_finding(current: Edition, new: str, is_kept: bool) -> Finding:
    """Return the finding that says whether a conversation that was built with another layout now uses the one it was opened with."""
    old = current.layout.rpartition("/")[2]
    if is_kept:
        reason = f"{new} does not rebuild an existing prompt on a turn; construct() does, and so does a compaction"
        return finding("layout-kept", f"the prompt was built with the layout {old} and is kept: {reason}")
    message = f"the prompt was built with the layout {old}, and was rebuilt with {new}, as the caller asked"
    return finding("layout-rebuilt", message)


def _text_of(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return messages as text, to count their tokens."""
    return json.dumps([dict(message) for message in messages], ensure_ascii=False, default=str)


def _model_findings(model: str) -> Iterator[Finding]:
    """Yield a finding if no prices are known for the agent's model. A conversation reports it once, when it starts."""
    prices = shipped_prices()
    if model and not prices.provider_of(model):
        similar = similar_name(model, [row.name for row in prices.models])
        guess = f"; did you mean {similar!r}?" if similar else ""
        message = f"no prices are known for the model {show(model)}, so costs are not estimated{guess}"
        yield finding("price-unknown", message)
