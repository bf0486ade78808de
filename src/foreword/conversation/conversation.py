"""One conversation: the methods that a caller uses. `transitions.py` carries them out, and `turns.py` creates the turns."""

from __future__ import annotations

from ..engine.touched import check_touch
from ..errors import (
    StoreError,
    check_message,
    check_messages,
    check_time,
    expect,
)
from ..extensions import Resources
from ..store import waits
from ..vocabulary import Document, Tool, Workspace
from ..vocabulary.tool_forms import tools_from
from .agents import ConversationAgent
from .assembling import ConversationAssembler
from .builder import EditionBuilder
from .editions import has_store_failure
from .hooks import Hooks, last_user_text
from .next_turn import NextTurn, current_messages
from .shipped_tools import ShippedToolRunner
from .skills import SkillActivator
from .stored_events import StoredEvents
from .sub_agents import SubAgents
from .threads import in_thread
from .touching import Touching
from .transitions import Transitions
from .turns import Turns, user_message
from .usage import record_usage, stored_usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any, Literal

    from ..engine.assembler import Assembler
    from ..engine.touched import Touched
    from ..layout.model import Layout
    from ..vocabulary import Agent, Prompt, Turn
    from .decide import Drift
    from .shared import Shared
    from .stored_template import StoredTemplate
    from .usage import ConversationUsage, Usage

    Message = Mapping[str, Any]


class Conversation:
    """One conversation, for one agent in one workspace. `Conversations.open` returns it.

    The caller owns the messages: a turn takes the list and returns it with what was added.

    >>> conversation = Conversations().open("42", Workspace("."), layout="foreword")
    >>> conversation.turn("Fix the failing test.").messages[-1]["content"]
    'Fix the failing test.'
    """

    def __init__(
        self,
        shared: Shared,
        id: str,
        assembler: Assembler,
        agent: Agent,
        mirror: bool = False,
        template: StoredTemplate | None = None,
    ) -> None:
        self.id, self.shared = id, shared
        self._agent = ConversationAgent(id, agent, shared.extensions)
        self._hooks = Hooks(shared.extensions, id)
        self._assembling = ConversationAssembler(assembler, shared, self._agent, self._hooks, mirror, template)
        self._builder = EditionBuilder(self._assembling, self._agent, self._hooks)
        parts = (shared.editions, self._assembling, self._agent, self._builder, self._hooks)
        self._transitions = Transitions(*parts)
        self._touching = Touching(self._transitions, shared.editions, self._assembling, self._agent)
        self._skills = SkillActivator(id, self._transitions, *parts[:2], self._builder)
        self._turns = Turns(*parts, self._touching)
        self._next_turn = NextTurn(self._transitions, self._turns, self._assembling)
        self.sub_agents = SubAgents(self._transitions, self._assembling, self._agent, self._builder)
        self.stored = StoredEvents(self._transitions, shared.editions, *parts[2:], self._turns)
        self._shipped_tools = ShippedToolRunner(id, self._transitions, shared.editions, self._agent, self._skills)

    @property
    def agent(self) -> Agent:
        """The agent, as it was configured."""
        return self._agent.configured

    @agent.setter
    def agent(self, agent: Agent) -> None:
        self._agent.configured = agent

    @property
    def assembler(self) -> Assembler:
        """The assembler, with the resources that were added to it."""
        return self._assembling.assembler

    @property
    def layout(self) -> Layout:
        """The layout, as it was when this process last read this conversation's workspace."""
        return self._assembling.layout

    def turn(
        self,
        message: str = "",
        messages: Sequence[Message] = (),
        now: datetime | None = None,
        *,
        new_prompt: bool = False,
    ) -> Turn:
        """Return what the model should see now. `messages` is the history, and `message` is what the user says.

        A `message` starts a new request from the user. If that message is already in `messages`, pass `new_prompt=True` instead.
        """
        check_message(message)
        messages = check_messages(messages)
        check_time(now)
        expect("new_prompt", new_prompt, bool)
        self._touching.check_files()
        self._touching.touch_waiting()
        events = self._next_turn.take_events()
        try:
            outcome = self._transitions.apply(["turn", *events], now, messages, self._transitions.current())
        except BaseException:
            self._next_turn.put_back(events)
            raise
        if has_store_failure(outcome.findings):
            self._next_turn.put_back(events)
        messages = current_messages(messages, outcome)
        waiting = self._next_turn.take_messages()
        try:
            outcome = self._turns.send_notices(outcome, messages, waiting, user_message(message))
        except BaseException:
            self._next_turn.put_back(messages=waiting)
            raise
        prompt = message or (last_user_text(messages) if new_prompt else None)
        return self._turns.with_messages(outcome, message, messages, prompt)

    def construct(self, now: datetime | None = None) -> Turn:
        """Build the prompt from the current workspace and store it. Overlapping calls agree on one edition."""
        check_time(now)
        outcome = self.shared.constructions.run_once(self.id, lambda: self._transitions.apply(["turn", "rebuild"], now))
        return self._turns.without_messages(outcome)

    def reload(self, now: datetime | None = None) -> Turn:
        """Read everything again, if the layout does that on a reload."""
        check_time(now)
        waits.announce("build")
        self._assembling.discover("reload")
        return self._turns.without_messages(self._transitions.apply(["turn", "reload"], now))

    def compact(self, message: str = "", messages: Sequence[Message] = (), now: datetime | None = None) -> Turn:
        """Return a turn that requests a summary of `messages`, the history, worded by the layout. The request is not part of the history."""
        check_message(message)
        messages = check_messages(messages)
        check_time(now)
        return self._next_turn.compact(message, messages, now)

    def compact_without_prompt(self, error: StoreError, message: str = "", messages: Sequence[Message] = ()) -> Turn:
        """Return only the request for a summary, for use while the store is down and the system prompt cannot be read."""
        return self._next_turn.compact_without_prompt(error, message, messages)

    def drift(self, now: datetime | None = None, *, messages: Sequence[Message] = ()) -> Drift:
        """Return what would change if the prompt were built now. If no call was recorded, the cost includes these `messages`."""
        check_time(now)
        return self._transitions.drift(now, check_messages(messages))

    def preview(self, template: Document | None = None, now: datetime | None = None) -> Prompt:
        """Return the prompt that would be built now with another template instead of the global one. Nothing is stored.

        If the layout does not use the global template, `template` replaces the base, provided that the base is a template.
        """
        if template is not None:
            expect("the template", template, Document)
        check_time(now)
        try:
            self._transitions.current()
        except StoreError:
            self._agent.resolve(None, lambda: self.layout)
        return self._builder.preview(template, now)

    def record_usage(self, usage: object, *, model: str = "", now: datetime | None = None) -> Usage:
        """Add the usage that the provider returned with a response to the counters of the edition in use, and return them.

        `usage` is a provider's or framework's object or mapping. For a stream, pass the last one. Do not pass those of sub-agents.
        """
        check_time(now)
        known_model = model or self._agent.configured.model
        return record_usage(self.shared.editions, self.id, usage, known_model, self._assembling.prices, now)

    def usage(self) -> ConversationUsage | None:
        """Return what the conversation's calls used, in total and by edition, or None if no call was recorded."""
        current, _ = self.shared.editions.current(self.id)
        return stored_usage(self.shared.store, self.id, current.number) if current else None

    def set_active_tools(self, tools: Sequence[Tool | str], *, exactly: bool = False) -> None:
        """Set the agent's tools from the next turn on: definitions, or names of tools that the conversation already has.

        With `exactly`, `use_tool` is not added to them for a server that cannot add tools late.
        """
        self.shared.editions.check_open()
        expect("exactly", exactly, bool)
        self._agent.set_tools(tools_from("the active tools", tools), lambda: self._transitions.current()[0], exactly)

    def replace_tools(self, tools: Sequence[Tool | str]) -> None:
        """Report that the set of existing tools has changed, and set the active ones."""
        self.set_active_tools(tools)
        self._next_turn.add_event("registry")

    def add_resources(self, resources: Resources) -> None:
        """Add folders of skills and packs, from an extension."""
        self.shared.editions.check_open()
        expect("the resources", resources, Resources)
        self._assembling.add(resources)
        self._next_turn.add_event("resources")

    def send_message(self, content: str) -> None:
        """Add a message (user role) to the next turn. It is stored until a compaction: a turn whose `messages` lack it sends it again."""
        self.shared.editions.check_open()
        check_message(content, may_be_empty=False)
        self._next_turn.add_message(content)

    def touch(self, paths: Sequence[str], how: Literal["read", "edit", "create"] = "read") -> Touched:
        """Return the instructions for files that the agent reads, edits or creates. Append their `messages` after the tool results.

        What you do not append is not lost: the next turn adds the texts that its `messages` do not contain, as messages from the user.
        The instruction files in the folders above them and the rules for their paths are sent once per conversation, and again after a
        compaction or if they have changed. Paths are relative to the working directory; the files need not exist. At most 1,000 paths.
        """
        return self._touching.touch(check_touch(paths, how), how)

    def use_skill(self, name: str) -> Message:
        """Return the message that sends the model a skill's body. The second time, it only says that the skill is active."""
        return self._skills.use(name)

    def call_tool(self, name: str, arguments: Mapping[str, Any] | str = "") -> str:
        """Run a tool of `foreword.shipped_tools`, and return its result for the model. The agent need not list the tool.

        `arguments` are the model's: a mapping, or the same as JSON. If they are wrong, the error says what the tool takes.
        """
        return self._shipped_tools.call(name, arguments)

    def resolve_call(self, name: str, arguments: Mapping[str, Any] | str = "") -> tuple[str, dict[str, Any]]:
        """Return the name and the arguments of the tool that the model calls: for `use_tool`, those of the tool inside.

        Raises a CallError if that tool is unknown or inactive or its arguments are wrong. Send the error's text as the result.
        """
        return self._shipped_tools.resolve(name, arguments)

    def sub_agent(
        self,
        task: str = "",
        tools: Sequence[Tool] = (),
        *,
        definition: str = "",
        workspace: Workspace | None = None,
        append: bool = False,
        with_context: bool = True,
        with_skills: bool = True,
        message: str = "",
        messages: Sequence[Message] = (),
        now: datetime | None = None,
    ) -> Turn:
        """Return a turn for a sub-agent that does one task. Its base is the task or, with `append`, the parent's base followed by the task.

        The task is text or a reference (`$user/review`). If the layout's base is a template, so is the task, in the same language.
        Instead of a task, `definition` names a sub-agent that the layout lists; it gets only those `tools` that its definition lists.
        `message` and `messages` are sent to the sub-agent after the `context` hooks have run. The turn's edition number is 0, and nothing
        is stored.
        """
        expect("the task", task, str)
        check_message(message)
        history: list[Message] = [*check_messages(messages), *user_message(message)]
        sub_agent = self.sub_agents.prepare(
            task,
            tools_from("the tools of a sub-agent", tools),
            definition=definition,
            workspace=workspace,
            append=append,
            with_context=with_context,
            with_skills=with_skills,
            now=now,
        )
        prompt = self._builder.prompt(sub_agent.inputs, sub_agent.agent, now)
        return self._turns.for_sub_agent(self._hooks.check(prompt), sub_agent.agent, history)

    aturn, atouch = in_thread(turn), in_thread(touch)
    acompact, arecord_usage = in_thread(compact), in_thread(record_usage)
