"""Put a conversation's prompt into the requests that a framework sends.

A framework keeps its own history, without Foreword's messages. So each message that a turn adds is remembered with its position and
inserted there again, which leaves the prefix that the provider has cached unchanged.

A framework also compacts its history without notice. If the first message of a request differs from that of the previous request, the
history was replaced, so the conversation is compacted too.
"""

from __future__ import annotations

import json
from _thread import allocate_lock

from ..conversation.conversation import Conversation
from ..conversation.shipped_definitions import shipped_tools
from ..errors import CallError, expect
from ..vocabulary import digest, replace
from ..vocabulary.tools import USE_TOOL
from .forms import DEFAULT_OPTIONS, RequestOptions, form_of, without_breakpoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Turn
    from ..vocabulary.tools import Tool
    from .forms import Received

    Message = Mapping[str, Any]
    Open = Callable[[str], Conversation]

_MAX_CONVERSATIONS = 1000
_RESULT_TYPES = ("tool_result", "function_call_output")


class RequestRewriter:
    """Rewrites a framework's requests, so that they contain the prompt of one conversation or of a sub-agent in it."""

    def __init__(self, conversation: Conversation, options: RequestOptions = DEFAULT_OPTIONS) -> None:
        expect("the conversation", conversation, Conversation)
        self.conversation, self.options = conversation, options
        self._lock = allocate_lock()
        self._configured = {tool.name: tool for tool in conversation.agent.tools or ()}
        self._tools: Sequence[Tool] | None = None
        self._first_digest = ""
        self._added: list[tuple[int, Message]] = []
        self._last: tuple[Mapping[str, Any], dict[str, Any]] | None = None

    def rewrite(self, url: str, body: Any) -> dict[str, Any] | None:
        """Return the request with the prompt, or None if it is not a model request. `extra_headers` contains the headers that it requires.

        Repeating a request returns the same result, so that a retry sends the same bytes.
        """
        form = form_of(url)
        if form is None or not isinstance(body, dict):
            return None
        with self._lock:
            if self._last is None or self._last[0] != body:
                received = form.read(body)
                turn = self.turn(received)
                turn = replace(turn, model=body["model"]) if isinstance(body.get("model"), str) else turn
                self._last = body, form.write(body, received, turn, self.options)
            return dict(self._last[1])

    def turn(self, received: Received) -> Turn:
        """Return the turn for the request that a framework is about to send, after showing it to `on_turn`."""
        turn = self._turn(received)
        if self.options.on_turn is not None:
            self.options.on_turn(turn)
        return replace(turn, provider="")  # the framework has chosen the form of the request

    def _turn(self, received: Received) -> Turn:
        messages, tools = list(received.messages), [self._described(tool) for tool in received.tools]
        if self.options.is_sub_agent:
            task, definition = self.options.task, self.options.definition
            return self.conversation.sub_agent(task, tools, definition=definition, messages=messages)
        if self.options.use_tool:
            tools = _with_use_tool(tools)
        self._detect_compaction(messages)
        if self._tools != tools:
            self.conversation.set_active_tools(tools, exactly=True)  # the framework must know each of them
            self._tools = tools
        complete = list(messages)
        for position, message in self._added:
            if position <= len(complete):
                complete.insert(position, message)
        turn = self.conversation.turn(messages=complete, new_prompt=_is_from_user(messages))
        own = {id(message) for message in messages}
        self._added = [(position, message) for position, message in enumerate(turn.history) if id(message) not in own]
        return turn

    def inner_call(self, name: str, arguments: Any) -> tuple[str, dict[str, Any]] | None:
        """Return the tool that the model calls with `use_tool`, and its arguments; None if it calls another tool or the call is wrong.

        A framework runs the tool that is returned, as if the model had called it directly.
        """
        if name != USE_TOOL or not self.options.use_tool:
            return None
        try:
            return self.conversation.resolve_call(name, arguments)
        except CallError:
            return None

    def refuse_call(self, arguments: Any) -> str:
        """Return the result of a wrong call of `use_tool`: a sentence for the model."""
        try:
            name, _ = self.conversation.resolve_call(USE_TOOL, arguments)
        except CallError as error:
            return str(error)
        return f"call {name!r} again"

    def _described(self, tool: Tool) -> Tool:
        """Return a framework's tool with what only the agent's tool with the same name says: its snippet, guidelines, server and skills."""
        configured = self._configured.get(tool.name)
        if configured is None:
            return tool
        return replace(
            tool,
            snippet=configured.snippet,
            guidelines=configured.guidelines,
            server=configured.server,
            loads_skills=configured.loads_skills,
        )

    def _detect_compaction(self, messages: Sequence[Message]) -> None:
        first_digest = (
            digest(json.dumps(without_breakpoints(messages[0]), sort_keys=True, default=str)) if messages else ""
        )
        if self._first_digest and first_digest != self._first_digest:
            self.conversation.compact()
            self._added = []
        self._first_digest = first_digest


class RewriterPool:
    """Opens a rewriter for each of a framework's conversations, and keeps those used most recently.

    `conversation` is a conversation, or a function that takes the framework's id for a conversation and opens it.
    """

    def __init__(self, conversation: Conversation | Open, options: RequestOptions = DEFAULT_OPTIONS) -> None:
        if not callable(conversation):
            expect("the conversation", conversation, Conversation)
        self._conversation, self.options = conversation, options
        self._lock = allocate_lock()
        self._known: dict[str, RequestRewriter] = {}

    def get(self, id: str) -> RequestRewriter:
        """Return the rewriter for the conversation with this id in the framework."""
        with self._lock:
            name = id if callable(self._conversation) else ""
            found = self._known.pop(name, None) or self._open(name)
            self._known[name] = found  # the most recently used one is last
            if len(self._known) > _MAX_CONVERSATIONS:
                del self._known[next(iter(self._known))]
            return found

    def _open(self, id: str) -> RequestRewriter:
        conversation = self._conversation
        return RequestRewriter(conversation(id) if callable(conversation) else conversation, self.options)


def _with_use_tool(tools: Sequence[Tool]) -> list[Tool]:
    """Return the tools with the shipped definition of `use_tool`, which a framework may have changed."""
    [shipped] = shipped_tools(USE_TOOL)
    if any(tool.name == USE_TOOL and tool.description != shipped.description for tool in tools):
        raise CallError(
            f"the framework has a tool of its own named {USE_TOOL!r}; rename it, or leave out use_tool=True"
        )
    return [*(tool for tool in tools if tool.name != USE_TOOL), shipped]


def _is_from_user(messages: Sequence[Message]) -> bool:
    """Whether the last message is the user's own, not a tool result."""
    if not messages or messages[-1].get("role") != "user":
        return False
    content = messages[-1].get("content")
    blocks = content if isinstance(content, list | tuple) else ()
    return not any(isinstance(block, dict) and block.get("type") in _RESULT_TYPES for block in blocks)
