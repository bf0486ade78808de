"""Events for callers that do not keep a `Conversation` between calls, such as the HTTP service: they take effect immediately and are stored."""

from __future__ import annotations

from ..errors import CallError, check_message
from ..vocabulary import replace
from .decide import Outcome
from .notices import with_unsent
from .state import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..extensions import Resources
    from ..vocabulary import Edition, Tool, Turn
    from .agents import ConversationAgent
    from .builder import EditionBuilder
    from .editions import Editions
    from .hooks import Hooks
    from .state import State
    from .sub_agents import SubAgent
    from .transitions import Transitions
    from .turns import Turns

    Message = Mapping[str, Any]


class StoredEvents:
    """Applies events to one conversation's edition and state, so that another process continues with the result."""

    def __init__(
        self,
        transitions: Transitions,
        editions: Editions,
        agent: ConversationAgent,
        builder: EditionBuilder,
        hooks: Hooks,
        turns: Turns,
    ) -> None:
        self._transitions, self._editions, self._agent = transitions, editions, agent
        self._builder, self._hooks, self._turns = builder, hooks, turns

    def share_tools(self) -> None:
        """Let turns share the definitions of their tools, because the caller only passes them on."""
        self._turns.share_tools()

    def add_message(self, content: str) -> int:
        """Add a message (user role) to the next turn, and return how many are waiting."""
        check_message(content)
        edition = self._update(lambda state: with_unsent(state, [content], added=True))
        return len(state_of(edition).unsent)

    def add_resources(self, resources: Resources, now: datetime | None = None) -> Turn:
        """Add folders of skills and packs to this conversation, and read the workspace again if the layout does that."""

        def added(state: State) -> State:
            skills = dict.fromkeys((*state.resources.get("skills", ()), *resources.skills))
            packs = {**state.resources.get("packs", {}), **resources.packs}
            return replace(state, resources={"skills": list(skills), "packs": packs})

        self._update(added)
        return self._turns.without_messages(self._transitions.apply(["turn", "resources"], now))

    def replace_tools(self, tools: Sequence[Tool | str], now: datetime | None = None) -> Turn:
        """Report that the set of existing tools has changed, and set the active ones."""
        self._agent.set_tools(tools, lambda: self._transitions.current()[0], False)
        return self._turns.without_messages(self._transitions.apply(["turn", "registry"], now))

    def start_sub_agent(
        self, sub_agent: SubAgent, message: str, messages: Sequence[Message], now: datetime | None
    ) -> Turn:
        """Start this conversation with a sub-agent's prompt, and return its first turn."""
        built = self._builder.edition_from(sub_agent.inputs, sub_agent.agent, now)
        edition = self._editions.publish(self._agent.id, None, replace(built, number=1))
        if edition is None:
            raise CallError(f"the conversation {self._agent.id!r} already exists; choose another id for the sub-agent")
        self._transitions.current()
        self._hooks.notify("constructed", edition)
        return self._turns.with_messages(Outcome(edition), message, messages, prompt=message or None)

    def _update(self, change: Any) -> Edition:
        current = self._transitions.current_or_new()
        return self._editions.update(self._agent.id, current, change)
