"""The facts about an agent and its workspace, the conditions of `when` that depend on them, and skills that a condition leaves out."""

from __future__ import annotations

from ..findings import finding
from ..text.lines import printable
from ..text.pieces import strip_blank_lines
from ..vocabulary import Skill
from ..vocabulary.abilities import ABILITIES, abilities_of
from ..vocabulary.tools import join_tool_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..layout.model import Condition, Layout, Section
    from ..vocabulary import Agent, Finding, Inputs

_MAX_NAMES = 5
_DESCRIPTIONS = {
    **{f"can:{ability}": description for ability, description in ABILITIES.items()},
    "base": "a base that the caller has passed",
    "scope": "a scope that the caller has passed",
    "session": "a session",
    "tools": "a tool",
    "main": "a main agent",
    "sub": "a sub-agent",
}
_DESCRIPTIONS_BY_PREFIX = {
    "tool": "the tool `{}`",
    "set": "the setting {}",
    "found": "a file of the lookup rule {}",
    "provider": "the provider {}",
    "platform": "the platform {}",
}


def facts_of(layout: Layout, inputs: Inputs, agent: Agent) -> frozenset[str]:
    """Return the facts that hold for an agent in its workspace."""
    return agent_facts(agent) | workspace_facts(layout, inputs)


def workspace_facts(layout: Layout, inputs: Inputs) -> set[str]:
    """Return the facts about a workspace and its settings."""
    return {
        f"platform:{inputs.workspace.platform}",
        *(f"found:{name}" for name, found in inputs.found.items() if found),
        *(f"set:{name}" for name, content in layout.settings.items() if content),
    }


def agent_facts(agent: Agent) -> frozenset[str]:
    """Return the facts about an agent."""
    return frozenset(_agent_facts(agent))


def _agent_facts(agent: Agent) -> Iterator[str]:
    yield agent.role or "main"
    yield f"provider:{agent.provider}"
    if agent.session:
        yield "session"
    if strip_blank_lines(agent.base).text:
        yield "base"
    if agent.scope is not None:
        yield "scope"
    if agent.tools:
        yield "tools"
    for tool in agent.tools or ():
        yield f"tool:{tool.name}"
        yield from (f"can:{ability}" for ability in abilities_of(tool))


def holds(condition: Condition, facts: frozenset[str]) -> bool:
    """Whether one term of `when` holds."""
    return facts.isdisjoint(condition.facts) == condition.negated


def describe_conditions(conditions: Iterable[Condition]) -> str:
    """Describe what a section needs."""
    return " and ".join(
        ("the absence of " if term.negated else "") + _describe_facts(term.facts) for term in conditions
    )


def _describe_facts(facts: Sequence[str]) -> str:
    """Describe a condition's alternatives. If there are many tools, only the first three are named."""
    tools = [fact.removeprefix("tool:") for fact in facts if fact.startswith("tool:")]
    if len(tools) < len(facts) or len(tools) < 4:
        return " or ".join(_describe_fact(fact) for fact in facts)
    return f"one of the tools {', '.join(tools[:3])} or {len(tools) - 3} others"


def _describe_fact(fact: str) -> str:
    prefix, colon, name = fact.partition(":")
    if fact in _DESCRIPTIONS or not colon:
        return _DESCRIPTIONS.get(fact, fact)
    return _DESCRIPTIONS_BY_PREFIX.get(prefix, fact).format(name)


# Skills that no section lists


def skill_findings(layout: Layout, inputs: Inputs, agent: Agent, facts: frozenset[str]) -> Iterator[Finding]:
    """Yield a finding if skills were found, and the prompt does not list them because no tool of the agent can load one."""
    for name, section in unlisted_skills(layout, inputs, facts).items():
        missing = [term for term in section.when if not holds(term, facts)] if section else []
        if not missing or not all(_is_about_tools(term) for term in missing):
            continue
        paths = [skill.path for skill in inputs.found[name] if isinstance(skill, Skill) and not skill.hidden]
        skills, them = ("1 skill was", "it") if len(paths) == 1 else (f"{len(paths):,} skills were", "them")
        message = f"{skills} found, but the prompt does not list {them}: {_describe_lack(agent, missing)}"
        yield finding("skills-unlisted", message, printable(paths[0]))


def _describe_lack(agent: Agent, missing: Sequence[Condition]) -> str:
    """Say why the agent's tools do not meet these conditions."""
    if not agent.tools:
        return "the agent has no tools that could load a skill"
    names = _some_names(agent)
    if any("can:load-skills" in term.facts for term in missing):
        return f"none of the agent's tools ({names}) can load a skill; if one of them can, set its loads_skills"
    return f"that needs {describe_conditions(missing)}, and the agent has only {names}"


def unlisted_skills(layout: Layout, inputs: Inputs, facts: frozenset[str]) -> dict[str, Section | None]:
    """Return the lookup rules whose skills the prompt does not list, each with the section that would if its conditions held, or None."""
    unlisted: dict[str, Section | None] = {}
    for lookup in layout.lookups:
        entries = inputs.found.get(lookup.name, ())
        if lookup.kind != "skill" or not any(isinstance(entry, Skill) and not entry.hidden for entry in entries):
            continue
        sections = [section for section in layout.all_sections if section.list_name == lookup.name]
        if not any(all(holds(term, facts) for term in section.when) for section in sections):
            unlisted[lookup.name] = sections[0] if sections else None
    return unlisted


def _is_about_tools(term: Condition) -> bool:
    return not term.negated and all(fact == "tools" or fact.startswith(("tool:", "can:")) for fact in term.facts)


def _some_names(agent: Agent) -> str:
    """Return the names of the agent's tools, at most a few of them."""
    names = [tool.name for tool in agent.tools or ()]
    shown = names if len(names) <= _MAX_NAMES + 1 else names[:_MAX_NAMES]
    more = len(names) - len(shown)
    return join_tool_names(shown) + (f" and {more:,} others" if more else "")
