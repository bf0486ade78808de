"""Agents to and from their stored form."""

from __future__ import annotations

from .edition import circumstances_of, tools_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..vocabulary import Access, Agent, Edition, Scope, Tool

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
    made = circumstances_of(edition)
    agent = dict(made.get("agent", {}))
    told = agent.pop("tools", {})
    rows = {each["name"]: {key: each[key] for key in each if key != "name"} for each in tools_of(edition)}
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
