"""Create turns from the edition in use and the messages, and run the extensions' hooks on them."""

from __future__ import annotations

import json

from ..encoding.edition import copy_tools, tools_of
from ..engine.skills import activation, skill_named, with_body
from ..errors import CallError
from ..findings import finding
from ..inspection.sending import sent_passages, split_prompt
from ..store import waits
from ..vocabulary import Turn, replace
from .accounts import parsed_account
from .leading import hashes_of, without_leading
from .notices import changes_of, mark_sent, with_notices, with_unsent
from .state import after_touch, state_of
from .tools import serialize_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..extensions import About
    from ..layout.model import Layout
    from ..vocabulary import Agent, Edition, Finding, Prompt
    from .agents import ConversationAgent
    from .assembling import ConversationAssembler
    from .builder import EditionBuilder
    from .decide import Outcome
    from .editions import Editions
    from .hooks import Hooks
    from .state import State
    from .touching import Touching

    Message = Mapping[str, Any]

_NOTHING_TO_SUMMARISE = "the request for a summary contains no messages to summarise; pass the history, as in compact(messages=turn.history)"


class Turns:
    """Creates the turns of one conversation."""

    def __init__(
        self,
        editions: Editions,
        assembling: ConversationAssembler,
        agent: ConversationAgent,
        builder: EditionBuilder,
        hooks: Hooks,
        touching: Touching,
    ) -> None:
        self._id, self._editions, self._assembling = agent.id, editions, assembling
        self._agent, self._builder, self._hooks, self._touching = agent, builder, hooks, touching
        self._tools_of: Callable[[Edition], Sequence[Mapping[str, Any]]] = copy_tools

    def share_tools(self) -> None:
        """Let all turns with the same tools share their definitions, which nobody may change then."""
        self._tools_of = tools_of

    def without_messages(self, outcome: Outcome) -> Turn:
        """Return the edition as a turn with only the prompt's messages. It is not sent to a model, so no hook is called."""
        edition = outcome.edition
        system = parsed_account(edition).sent(edition).system
        return self._turn(outcome, system, (), (), self._findings(outcome))

    def _findings(self, outcome: Outcome) -> list[Finding]:
        new_findings = () if outcome.is_reused else parsed_account(outcome.edition).findings
        return [*outcome.findings, *new_findings, *self._hooks.take_findings()]

    def _turn(
        self,
        outcome: Outcome,
        system: str,
        messages: Sequence[Message],
        history: Sequence[Message],
        findings: Sequence[Finding],
    ) -> Turn:
        """Create a turn with this system prompt, which may differ from the edition's, and these messages after the prompt's own."""
        edition = outcome.edition
        sent = parsed_account(edition).sent(edition)
        is_original = system == sent.system
        return Turn(
            self._id,
            edition.number,
            outcome.is_reused,
            system,
            (*map(dict, sent.messages), *messages),
            self._tools_of(edition),
            sent.passages if is_original else (),
            tuple(dict.fromkeys(findings)),
            sent.root_end if is_original else 0,
            history,
            sent.leading,
            sent.sections if is_original else (),
            self._agent.resolved.model,
            changes_of(state_of(edition).notices),
            self._agent.resolved.provider,
        )

    def with_messages(
        self,
        outcome: Outcome,
        message: str,
        messages: Sequence[Message],
        prompt: str | None = None,
    ) -> Turn:
        """Return the turn for an edition and these messages, after the hooks have run. `prompt` is the user's new prompt, if any.

        The prompt's own messages always come from the edition: hooks neither see nor change them.
        """
        edition, findings = outcome.edition, self._findings(outcome)
        original = parsed_account(edition).sent(edition).system

        def about() -> About:
            return self._agent.about(self._assembling.cwd, edition.number)

        system, injected = self._start(original, edition, prompt, about, findings)
        history = [*with_notices([*messages, *user_message(message)], state_of(edition).notices), *injected]
        to_send = self._hooks.context(for_model(history), about, findings)
        if prompt is not None:  # stored only now, because a required hook may have failed
            self._keep_prompt(edition, {"text": system} if system != original else None, findings)
        return self._turn(outcome, system, to_send, history, findings)

    def _keep_prompt(self, edition: Edition, latest: Mapping[str, str] | None, findings: list[Finding]) -> None:
        """Store the system prompt that hooks have returned. It is used for every call until the next user request."""
        if latest != state_of(edition).prompt and edition.number:
            self._editions.update_or_postpone(self._id, edition, lambda state: replace(state, prompt=latest), findings)

    def _start(
        self, original: str, edition: Edition, prompt: str | None, about: Callable[[], About], findings: list[Finding]
    ) -> tuple[str, list[Message]]:
        """Return the system prompt and the messages to add. For a new user request, this runs `before_agent_start`."""
        if prompt is None:
            replacement = state_of(edition).prompt
            return replacement["text"] if replacement else original, []
        return self._hooks.start(original, prompt, about, findings)

    def send_notices(
        self, outcome: Outcome, messages: Sequence[Message], waiting: Sequence[str], following: Sequence[Message]
    ) -> Outcome:
        """Add all unsent notices after these messages, and the skills and touched files that must be sent again after a compaction.

        `waiting` are messages that the caller has added since the last turn, and `following` is what the user says now.
        """
        state = state_of(outcome.edition)
        if not (waiting or state.unsent or state.skills_again or state.touched_again):
            return outcome
        if state.skills_again or state.touched_again:
            waits.announce("build")  # they are read from the workspace
        findings = list(outcome.findings)
        texts, files = self._returning_files(outcome.edition, findings)
        skill_texts, in_prompt = self._returning_skills(outcome.edition, findings), self._agent.skill_in_prompt
        configured = self._agent.configured.skill

        def after_sending(state: State) -> State:
            names = [name for name in state.skills_again if name in skill_texts]
            for name in names:
                if name != in_prompt:
                    state = with_unsent(state, [skill_texts[name]], name)
            if state.touched_again:
                state = with_unsent(state, texts)
                state = replace(after_touch(state, files), touched_again=())
            skills = tuple(dict.fromkeys((*state.skills, *names)))
            state = replace(state, skills_again=(), skills=skills, in_prompt="" if configured else in_prompt)
            return mark_sent(with_unsent(state, waiting, added=True), messages, following)

        updated = self._editions.update_or_postpone(self._id, outcome.edition, after_sending, findings)
        return replace(outcome, edition=updated, findings=findings)

    def _returning_files(self, edition: Edition, findings: list[Finding]) -> tuple[list[str], Mapping[str, str]]:
        """Return what touches sent before a compaction, in its current form: the texts, and the hash of each file."""
        resent = self._touching.send_again(edition)
        if resent is None:
            return [], {}
        findings.extend(resent.prompt.findings)
        return [message["content"] for message in resent.messages], resent.sent

    def _returning_skills(self, edition: Edition, findings: list[Finding]) -> dict[str, str]:
        """Return the messages that send the model its skills again after a compaction. A skill that no longer exists is left out."""
        messages: dict[str, str] = {}
        layout = self._assembling.layout
        for name in state_of(edition).skills_again:
            try:
                inputs = self._builder.inputs(edition)
                skill = with_body(skill_named(name, layout, inputs), layout, inputs.workspace, self._assembling.trust)
            except CallError as error:
                findings.append(finding("skill-invalid", f"{error}; it is not sent again after the compaction"))
            else:
                messages[name] = activation(layout, skill)
        return messages

    def for_sub_agent(self, prompt: Prompt, agent: Agent, history: Sequence[Message]) -> Turn:
        """Return a turn with edition number 0, which is not stored."""
        findings, tools = list(prompt.findings), agent.tools or ()
        about = replace(self._agent.about(self._assembling.cwd, 0), tools=[tool.name for tool in tools])
        sent = split_prompt(prompt.text, sent_passages(prompt.passages))
        history = without_leading(history, hashes_of(sent.messages))
        return Turn(
            self._id,
            0,
            False,
            sent.system,
            [*sent.messages, *self._hooks.context(for_model(history), lambda: about, findings)],
            json.loads(serialize_tools(tools)),
            sent.passages,
            findings,
            history=history,
            leading=sent.leading,
            sections=sent.sections,
            model=agent.model,
            provider=agent.provider,
        )


def user_message(text: str) -> list[Message]:
    """Return a list with the user's message, or an empty list if there is no text."""
    return [{"role": "user", "content": text}] if text else []


def with_summary_request(turn: Turn, layout: Layout, messages: Sequence[Message]) -> Turn:
    """Return the turn with a request for a summary of these messages, in a message or in the system prompt, as the layout specifies."""
    if not messages:
        turn = replace(turn, findings=(*turn.findings, finding("compaction-empty", _NOTHING_TO_SUMMARISE)))
    request = layout.wording.get("compaction", "")
    if layout.compaction.get("say") == "system":
        return replace(turn, system="\n\n".join(filter(None, (turn.system, request))))
    return replace(turn, messages=(*turn.messages, {"role": "user", "content": request}))


def for_model(messages: Sequence[Message]) -> list[Message]:
    """Convert the history for a model: summaries, executions and extension messages become user messages.

    A `summary`, a `branch_summary` and a `custom` message have `content`; an `execution` has `command` and `output`, and is left
    out if it is `excluded`.
    """
    converted: list[Message] = []
    for message in messages:
        role = message.get("role")
        if role == "execution":
            if not message.get("excluded"):
                content = f"Ran `{message.get('command') or ''}`:\n\n{message.get('output') or ''}".rstrip()
                converted.append({"role": "user", "content": content})
        elif role in ("summary", "branch_summary", "custom"):
            converted.append({"role": "user", "content": message.get("content") or ""})
        else:
            converted.append(message)
    return converted
