"""Resolve a conversation's agent: its tools, the skill in its prompt, and the fields that it inherits from the edition."""

from __future__ import annotations

from ..encoding.agent import KEYS, agent_from, tool_notes
from ..encoding.edition import target_of
from ..engine.checks import check_agent
from ..errors import CallError
from ..extensions import About
from ..providers.use_tool import SERVERS
from ..vocabulary import Agent, replace, value
from ..vocabulary.tools import USE_TOOL, Tool, tool_from
from .shipped_definitions import shipped_tools
from .state import state_of
from .tools import all_tools, are_same_tools, serialize_tools, tools_by_name, tools_in_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..extensions import Extension
    from ..layout.model import Layout
    from ..vocabulary import Edition

_UNRESOLVED = object()


@value
class StoredTools:
    """Tools in their stored form: their definitions, and their snippets and guidelines for the prompt."""

    definitions: str
    notes: Mapping[str, Any]


_MAX_LISTS = 64
# Tools in their stored form, by the identity of their tuple: a service's requests share theirs.
_recent: dict[int, tuple[tuple[Tool, ...], StoredTools]] = {}


class ConversationAgent:
    """The agent as the caller `configured` it, and as it was `resolved` for the edition in use.

    An agent that does not set its tools gets the conversation's tools or, in a new conversation, the extensions' tools. Other fields
    that it does not set come from the edition. It gets the plan that the model has written. After a compaction, it gets the skill that was
    in use, if the layout has a section for it. If its provider is a server for local models, it gets `use_tool` from the start of a
    conversation, unless its tools were set exactly.
    """

    def __init__(self, id: str, agent: Agent, extensions: Sequence[Extension]) -> None:
        self.id = id
        self.configured = agent if agent.session else replace(agent, session=id)
        self.resolved = self.configured
        self.skill_in_prompt = ""
        self.edition_number = 0
        self._adds_use_tool = True
        self._extension_tools = [tool for extension in extensions for tool in extension.tools]
        self._first_tools = (*self._extension_tools, *(agent.tools or ()))
        self._known_tools: dict[str, Tool] = {}
        self._resolved_from: Agent | None = None
        self._resolved_for: object = _UNRESOLVED
        self._stored: StoredTools | None = None

    def resolve(self, current: Edition | None, layout: Callable[[], Layout]) -> None:
        """Resolve the agent for this edition."""
        self.edition_number = current.number if current else 0
        if self._resolved_for is current and self._resolved_from is self.configured:
            return
        agent = self.configured
        check_agent(agent)
        if agent.tools is None:
            agent = replace(agent, tools=tools_in_use(current) if current else self._extension_tools)
        if current:
            agent = _inherit_fields(current, agent, self.id)
        agent = _with_use_tool(agent, current) if self._adds_use_tool else agent
        self.skill_in_prompt = self._skill_in_prompt(current, layout) if current else ""
        if self.skill_in_prompt and not agent.skill:
            agent = replace(agent, skill=self.skill_in_prompt)
        if current and not agent.plan and (plan := _written_plan(current, layout)):
            agent = replace(agent, plan=plan)
        self._resolved_from, self._resolved_for = self.configured, current
        if agent != self.resolved:
            self.resolved, self._stored = agent, None

    def _skill_in_prompt(self, current: Edition, layout: Callable[[], Layout]) -> str:
        """Return the active skill if the layout has a section for it and ever rebuilds the prompt, otherwise an empty string."""
        state = state_of(current)
        if not (state.in_prompt or state.skills_again):
            return ""
        on = layout().on
        if not any(section.list_name == "active_skill" for section in layout().all_sections):
            return ""
        if {"gather", "format"}.isdisjoint((on.get("turn"), on.get("compaction"))):
            return ""
        configured = self.configured.skill
        if configured:
            return configured if isinstance(configured, str) else configured.name
        return state.in_prompt or state.skills_again[-1]

    @property
    def stored_tools(self) -> StoredTools:
        """The resolved agent's tools in their stored form."""
        if self._stored is None:
            tools = tuple(self.resolved.tools or ())
            known = _recent.get(id(tools))
            if known is None or known[0] is not tools:
                if len(_recent) >= _MAX_LISTS:
                    _recent.clear()
                known = _recent[id(tools)] = tools, StoredTools(serialize_tools(tools), tool_notes(tools))
            self._stored = known[1]
        return self._stored

    def has_different_tools(self, current: Edition) -> bool:
        """Whether the agent's tools differ from the edition's."""
        stored = self.stored_tools
        if stored.notes != target_of(current).agent.get("tools", {}):
            return True
        return stored.definitions != current.tools and not are_same_tools(stored.definitions, current.tools)

    def has_different_servers(self, current: Edition) -> bool:
        """Whether the instructions of the agent's MCP servers differ from the edition's."""
        return bool((self.resolved.servers or {}) != target_of(current).agent.get("servers", {}))

    def with_tools_of(self, current: Edition) -> Agent:
        """Return the agent with an edition's tools. For tools that it no longer has, only the definitions are known."""
        if not self.has_different_tools(current):
            return self.resolved
        definitions = tools_by_name(current.tools)
        tools = [tool for tool in self.resolved.tools or () if tool.name in definitions]
        available = {tool.name for tool in tools}
        tools += [tool_from(row) for name, row in definitions.items() if name not in available]
        return replace(self.resolved, tools=tools)

    def set_tools(self, tools: Sequence[Tool | str], current: Callable[[], Edition | None], exactly: bool) -> None:
        """Set the agent's tools. A name refers to a tool that the conversation already has. With `exactly`, `use_tool` is not added."""
        self._adds_use_tool = not exactly
        defined = [tool for tool in tools if isinstance(tool, Tool)]
        self._known_tools = {tool.name: tool for tool in (*self._first_tools, *self._known_tools.values(), *defined)}
        active = [self._tool(tool, current) if isinstance(tool, str) else tool for tool in tools]
        self.configured = replace(self.configured, tools=tuple(active))

    def _tool(self, name: str, current: Callable[[], Edition | None]) -> Tool:
        if name not in self._known_tools:
            edition = current()
            stored = all_tools(edition) if edition else []
            self._known_tools = {tool.name: tool for tool in stored} | self._known_tools
        if name not in self._known_tools:
            known = ", ".join(sorted(self._known_tools)) or "none"
            raise CallError(f"unknown tool {name!r}; known: {known}. Pass a Tool to define another one")
        return self._known_tools[name]

    def about(self, cwd: str, number: int | None = None) -> About:
        """Describe the conversation for hooks. `number` defaults to the edition in use."""
        tools = [tool.name for tool in self.resolved.tools or ()]
        return About(self.id, cwd, self.resolved.model, tools, self.edition_number if number is None else number)


# Plans and skills are not inherited: they are active only in turns whose agent sets them.
_INHERITED_KEYS = ("sub_agent", "session", "base", "scope", "language", "docs", "servers", "residents")


def _written_plan(current: Edition, layout: Callable[[], Layout]) -> str:
    """Return the plan that the model has written, or an empty string if the layout has no section for it."""
    plan = state_of(current).plan
    return plan if plan and any(section.list_name == "plan" for section in layout().all_sections) else ""


def _inherit_fields(edition: Edition, agent: Agent, conversation: str) -> Agent:
    """Return the agent, with fields that it does not set filled in from the edition."""
    target, active = target_of(edition), state_of(edition).active or {}
    fields = {**target.agent, **({"servers": active["servers"]} if "servers" in active else {})}
    inherited: dict[str, Any] = {}
    # A model name is only meaningful together with its provider.
    if agent.model in ("", target.model) and agent.provider in ("", target.provider):
        inherited = {"model": target.model, "provider": target.provider}
    left_out = [key for key in _INHERITED_KEYS if key in fields and _is_left_out(agent, KEYS[key][0], conversation)]
    if left_out:
        stored = agent_from({key: fields[key] for key in left_out})
        inherited |= {name: getattr(stored, name) for name in (KEYS[key][0] for key in left_out)}
    changes = {name: content for name, content in inherited.items() if content != getattr(agent, name)}
    return replace(agent, **changes) if changes else agent


def _is_left_out(agent: Agent, name: str, conversation: str) -> bool:
    """Whether the agent has the default value of a field. The default session is the conversation's id."""
    return bool(getattr(agent, name) == (conversation if name == "session" else getattr(Agent, name)))


def _with_use_tool(agent: Agent, current: Edition | None) -> Agent:
    """Return the agent with `use_tool`, if a server for local models needs it. A conversation that began without it does not get it later."""
    tools = agent.tools or ()
    if not tools or agent.provider.lower() not in SERVERS:
        return agent
    if any(tool.name == USE_TOOL for tool in tools) or (current and USE_TOOL not in tools_by_name(current.tools)):
        return agent
    return replace(agent, tools=(*shipped_tools(USE_TOOL), *tools))


def with_extension_tools(extensions: Sequence[Extension], agent: Agent) -> Agent:
    """Return the agent with the extensions' tools after its own. An agent without tools is returned unchanged."""
    own_names = {tool.name for tool in agent.tools or () if isinstance(tool, Tool)}
    added = [tool for extension in extensions for tool in extension.tools if tool.name not in own_names]
    return replace(agent, tools=(*agent.tools, *added)) if agent.tools and added else agent
