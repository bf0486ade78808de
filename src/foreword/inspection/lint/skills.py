"""Says what released agents do with a skill or a sub-agent that breaks a rule, and leaves out what none of them minds.

The table was measured: each program ran with such skills against a stand-in provider, and its first request was searched for them.
Claude Code listed all of them, and every program listed skills whose names contain a colon or differ from their folders'.
"""

from __future__ import annotations

import re

from ...sources.globs import matches_glob
from ...vocabulary import replace, value
from .agent_facts import agent_name, join_names
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ...layout.model import Layout
    from ...vocabulary import Finding, Severity

    # The names of the agents that search a hidden folder, each with how it does that.
    Readers = Mapping[str, "SkillReader"]

MEASURED = "2026-11, with Claude Code 2.1.328, Codex CLI 0.169.0, Copilot CLI 1.0.102, Gemini CLI 0.61.0, OpenCode 1.18.34 and Qwen Code 0.24.4"

# Where a lookup rule finds a repository's files.
_PLACES = frozenset(("walk", "root", "cwd", "down"))
_CLAUDE = "Claude Code"
_FOREWORD = "Foreword"
# The flaw of a skill with a blank description, which a lookup rule skips unless it has `described`.
_BLANK = "blank-description"
# The folders that several agents search, each with the one for which its skills are meant in any case.
SHARED_FOLDERS = {".agents": "Codex CLI", ".claude": _CLAUDE}
# Of the other agents that search them, only these are so widespread that a skill is probably meant for them.
_WIDESPREAD = frozenset(("Codex CLI", "Copilot CLI", "Gemini CLI", "OpenCode", "Qwen Code"))


@value
class SkillReader:
    """How an agent searches a hidden folder: the globs of the skills that it finds there, and the flaws for which it leaves one out."""

    globs: Collection[str]
    skips: Collection[str]


@value
class AgentsReaction:
    """What some agents do with skills whose finding matches a pattern: `skip` them, or only `cut` their descriptions.

    Agents whose layouts name the `flaw` skip them too.
    """

    code: str
    pattern: str
    flaw: str = ""
    skip: Sequence[str] = ()
    cut: Sequence[str] = ()
    # What Claude Code does with them, which lists every skill.
    claude: str = ""


REACTIONS = (
    AgentsReaction(
        "skill-invalid",
        "the front matter is missing",
        skip=(_FOREWORD, "Codex CLI", "Copilot CLI", "Gemini CLI", "OpenCode", "Qwen Code"),
        claude=f"{_CLAUDE} describes it by its first line",
    ),
    AgentsReaction(
        "skill-no-description",
        "it has no description",
        skip=(_FOREWORD, "Codex CLI", "Gemini CLI", "OpenCode", "Qwen Code"),
        claude=f"{_CLAUDE} describes it by its first line",
    ),
    AgentsReaction(
        "skill-no-description",
        "its description is (?:empty|blank)",
        _BLANK,
        skip=(_FOREWORD,),
        claude=f"{_CLAUDE} describes it by its first line",
    ),
    AgentsReaction("skill-no-description", "its description is empty", "no-text"),
    AgentsReaction("skill-repaired", "", "yaml"),
    AgentsReaction("skill-name", r"it has no name|its name is a ", "no-name"),
    AgentsReaction("skill-name", r"its name is a ", "no-text"),
    AgentsReaction("skill-name", r"its name is longer", "long-name"),
    AgentsReaction("skill-name", r"its name '[^']*[^\w.:'-]", "symbol-name"),
    AgentsReaction("skill-name", r"its name '(?:[^A-Za-z0-9]|[^']*[^A-Za-z0-9 ._:'-])", "ascii-name"),
    AgentsReaction("skill-name", r"its name '[^']*' must", "spec-name"),
    AgentsReaction("skill-field", r"its description is longer", "long-description", cut=("Codex CLI",)),
)
# The agents for which these files are written read them line by line, as Foreword does.
_READ_ANYWAY = lazy_pattern(r"/\.claude/(?:agents|commands)/")
_HARMLESS_FIELD = lazy_pattern(r"its (?:license|compatibility|metadata) ")


def skill_readers(layouts: Iterable[Layout]) -> dict[str, Readers]:
    """Return the hidden folders that layouts search for a repository's skills, each with its readers."""
    readers: dict[str, dict[str, SkillReader]] = {}
    for layout in layouts:
        for lookup in (lookup for lookup in layout.lookups if lookup.kind == "skill"):
            for pattern in (pattern for group in lookup.groups for pattern in group):
                folder = pattern.path.partition("/")[0]
                if pattern.place in _PLACES and folder.startswith("."):
                    known = readers.setdefault(folder, {}).get(agent_name(layout), SkillReader((), ()))
                    skipped = lookup.skips if lookup.described else (*lookup.skips, _BLANK)
                    globs, skips = {*known.globs, pattern.path}, {*known.skips, *skipped}
                    readers[folder][agent_name(layout)] = SkillReader(globs, skips)
    return {**readers}


def with_reaction(
    finding: Finding, readers: Mapping[str, Readers], root: str, in_use: Collection[str]
) -> Finding | None:
    """Return a finding with what released agents do about it, or None if none of them does anything. Other findings are returned as they are.

    `readers` contains those of each hidden folder, and `in_use` the agents for which the repository has files of their own. Skills in a folder
    that is not hidden, for example in a plugin, are for all agents.
    """
    if finding.code == "front-matter-invalid":
        return None if _READ_ANYWAY.search(finding.path) else finding
    problem, _, _ = finding.message.rpartition("; ")
    if finding.code not in {reaction.code for reaction in REACTIONS} or not problem:
        return finding
    reactions = [
        reaction for reaction in REACTIONS if reaction.code == finding.code and re.match(reaction.pattern, problem)
    ]
    if reactions:
        path = finding.path.removeprefix(root)
        message = _describe(reactions, path, readers)
        is_seldom = finding.code == "skill-repaired" and _is_for_others(reactions, path, readers, in_use)
        severity: Severity = "info" if is_seldom else finding.severity
        return replace(finding, message=f"{problem}; {message}", severity=severity) if message else None
    is_harmless = finding.code == "skill-name" or _HARMLESS_FIELD.match(problem)
    return None if is_harmless else finding


def hidden_folder(path: str) -> str:
    """Return the name of the first hidden folder in the path of a skill, relative to the root, or empty if there is none."""
    return next((folder for folder in path.split("/")[:-1] if folder.startswith(".")), "")


def _readers_of(path: str, readers_by_folder: Mapping[str, Readers]) -> Readers | None:
    """Return the agents that find a skill with this path in their folder, or None if its folder is not hidden: it is for all agents."""
    folder = hidden_folder(path)
    if not folder:
        return None
    below = f"{folder}/{path.partition(f'{folder}/')[2]}"
    readers = readers_by_folder.get(folder, {})
    return {
        agent: reader for agent, reader in readers.items() if any(matches_glob(below, glob) for glob in reader.globs)
    }


def _describe(reactions: Sequence[AgentsReaction], path: str, readers_by_folder: Mapping[str, Readers]) -> str:
    """Return what the agents that find this skill do, or empty if none of them does anything."""
    readers = _readers_of(path, readers_by_folder)
    if readers is not None and not readers:  # the folder of an agent that is not known
        return ""
    skipping = sorted(_agents_that_skip(reactions, path, readers_by_folder))
    for reaction in reactions:
        skipping += reaction.skip
    cutting = [agent for reaction in reactions for agent in reaction.cut]
    parts = [_clause(skipping, "skip", "this skill", readers), _clause(cutting, "cut", "its description", readers)]
    if readers is None or _CLAUDE in readers:
        parts += [reaction.claude for reaction in reactions]
    return ", and ".join(filter(None, parts))


def _is_for_others(
    reactions: Sequence[AgentsReaction], path: str, readers: Mapping[str, Readers], in_use: Collection[str]
) -> bool:
    """Whether a skill is in a folder that several agents search, and only some leave it out that nobody seems to use."""
    agent = SHARED_FOLDERS.get(hidden_folder(path))
    return agent is not None and not _agents_that_skip(reactions, path, readers) & {*in_use, agent}


def _clause(agents: Iterable[str], verb: str, thing: str, readers: Readers | None) -> str:
    """Return what those of these agents do that find a skill."""
    found_by = [agent for agent in agents if readers is None or agent in readers or agent == _FOREWORD]
    # Few people use Foreword itself, so it is named only if no other agent does the same.
    concerned = [agent for agent in found_by if agent != _FOREWORD] or found_by
    return f"{join_names(concerned)} {verb}{'s' if len(concerned) == 1 else ''} {thing}" if concerned else ""


def _everyone(readers_by_folder: Mapping[str, Readers]) -> Readers:
    return {agent: reader for readers in readers_by_folder.values() for agent, reader in readers.items()}


def _agents_that_skip(
    reactions: Iterable[AgentsReaction], path: str, readers_by_folder: Mapping[str, Readers]
) -> set[str]:
    """Return the agents that find this skill and leave it out because of its flaws. In a shared folder, only widespread ones count."""
    flaws, readers = {reaction.flaw for reaction in reactions}, _readers_of(path, readers_by_folder)
    is_shared = readers is None or hidden_folder(path) in SHARED_FOLDERS
    agents = _everyone(readers_by_folder) if readers is None else readers
    skipping = {agent for agent, reader in agents.items() if not flaws.isdisjoint(reader.skips)}
    return skipping & _WIDESPREAD if is_shared else skipping
