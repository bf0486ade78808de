"""Says what released agents do with a skill or a sub-agent that breaks a rule, and leaves out what none of them minds.

The table was measured: each program ran with such skills against a stand-in provider, and its first request was searched for them.
Claude Code listed all of them, and every program listed skills whose names contain a colon or differ from their folders'.
"""

from __future__ import annotations

import re

from ...sources.globs import matches_glob
from ...vocabulary import replace, value
from .agent_facts import agent_name, join_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ...layout.model import Layout
    from ...vocabulary import Finding

    # The names of the agents that search a hidden folder, each with the globs of the skills that it finds there.
    Readers = Mapping[str, Collection[str]]

MEASURED = "2026-11, with Claude Code 2.1.326, Codex CLI 0.169.0, Copilot CLI 1.0.102, Gemini CLI 0.61.0, OpenCode 1.18.33 and Qwen Code 0.24.4"

# Where a lookup rule finds a repository's files.
_PLACES = frozenset(("walk", "root", "cwd", "down"))
_CLAUDE = "Claude Code"


@value
class AgentsReaction:
    """What some agents do with skills whose finding matches a pattern: `skip` them, or only `cut` their descriptions."""

    code: str
    pattern: str
    skip: Sequence[str]
    cut: Sequence[str] = ()
    # What Claude Code does with them, which lists every skill.
    claude: str = ""


REACTIONS = (
    AgentsReaction(
        "skill-invalid",
        "the front matter is missing",
        ("Foreword", "Codex CLI", "Copilot CLI", "Gemini CLI", "OpenCode", "Qwen Code"),
        claude=f"{_CLAUDE} describes it by its first line",
    ),
    AgentsReaction(
        "skill-no-description",
        "it has no description",
        ("Foreword", "Codex CLI", "Gemini CLI", "OpenCode", "Qwen Code"),
        claude=f"{_CLAUDE} describes it by its first line",
    ),
    AgentsReaction("skill-repaired", "", ("Copilot CLI",)),
    AgentsReaction("skill-name", r"it has no name|its name is a ", ("Gemini CLI", "OpenCode", "Qwen Code")),
    AgentsReaction("skill-name", r"its name is longer", ("Codex CLI", "Copilot CLI")),
    AgentsReaction("skill-name", r"its name '[^']*/", ("Copilot CLI", "Qwen Code")),
    AgentsReaction("skill-name", r"its name '[^']*[^\w.: '-]", ("Copilot CLI",)),
    AgentsReaction("skill-name", r"its name '[^']* ", ("Qwen Code",)),
    AgentsReaction("skill-field", r"its description is longer", ("Copilot CLI",), ("Codex CLI",)),
)
# The agents for which these files are written read them line by line, as Foreword does.
_READ_ANYWAY = re.compile(r"/\.claude/(?:agents|commands)/")
_HARMLESS_FIELD = re.compile(r"its (?:license|compatibility|metadata) ")


def skill_readers(layouts: Iterable[Layout]) -> dict[str, Readers]:
    """Return the hidden folders that layouts search for a repository's skills, each with its readers."""
    readers: dict[str, dict[str, set[str]]] = {}
    for layout in layouts:
        for lookup in (lookup for lookup in layout.lookups if lookup.kind == "skill"):
            for pattern in (pattern for group in lookup.groups for pattern in group):
                folder = pattern.path.partition("/")[0]
                if pattern.place in _PLACES and folder.startswith("."):
                    readers.setdefault(folder, {}).setdefault(agent_name(layout), set()).add(pattern.path)
    return {**readers}


def with_reaction(finding: Finding, readers: Mapping[str, Readers], root: str) -> Finding | None:
    """Return a finding with what released agents do about it, or None if none of them does anything. Other findings are returned as they are.

    `readers` contains those of each hidden folder. Skills in a folder that is not hidden, for example in a plugin, are for all agents.
    """
    if finding.code == "front-matter-invalid":
        return None if _READ_ANYWAY.search(finding.path) else finding
    problem, _, _ = finding.message.rpartition("; ")
    if finding.code not in {reaction.code for reaction in REACTIONS} or not problem:
        return finding
    for reaction in REACTIONS:
        if reaction.code == finding.code and re.match(reaction.pattern, problem, re.ASCII):
            message = _describe(reaction, finding.path.removeprefix(root), readers)
            return replace(finding, message=f"{problem}; {message}") if message else None
    is_harmless = finding.code == "skill-name" or _HARMLESS_FIELD.match(problem)
    return None if is_harmless else finding


def hidden_folder(path: str) -> str:
    """Return the name of the first hidden folder in the path of a skill, relative to the root, or empty if there is none."""
    return next((folder for folder in path.split("/")[:-1] if folder.startswith(".")), "")


def _readers_of(path: str, folder: str, globs_by_agent: Readers) -> list[str]:
    """Return the agents that find a skill with this path in their folder."""
    below = f"{folder}/{path.partition(f'{folder}/')[2]}"
    return [agent for agent, globs in globs_by_agent.items() if any(matches_glob(below, glob) for glob in globs)]


def _describe(reaction: AgentsReaction, path: str, readers_by_folder: Mapping[str, Readers]) -> str:
    """Return what the agents that find this skill do, or empty if none of them does anything."""
    folder = hidden_folder(path)
    readers = _readers_of(path, folder, readers_by_folder.get(folder, {})) if folder else None
    if readers is not None and not readers:  # the folder of an agent that is not known
        return ""
    parts = []
    for verb, agents, thing in (("skip", reaction.skip, "this skill"), ("cut", reaction.cut, "its description")):
        concerned = [agent for agent in agents if readers is None or agent in readers or agent == "Foreword"]
        if concerned:
            ending = "s" if len(concerned) == 1 else ""
            parts.append(f"{join_names(concerned)} {verb}{ending} {thing}")
    if reaction.claude and (readers is None or _CLAUDE in readers):
        parts.append(reaction.claude)
    return ", and ".join(parts)
