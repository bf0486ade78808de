"""What a person should know about an alignment: what it cannot reach, lines that two files have, and copies that were edited. Pure."""

from __future__ import annotations

from posixpath import isabs

from ...findings import finding
from ...sources.reader import LIMIT
from ...text.lines import printable
from .copies import cannot_express
from .sources import INSTRUCTIONS, content_lines, shared_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...vocabulary import Finding
    from .copies import GeneratedFile
    from .model import AgentReading, AlignedAgent, Instruction, Proposal

MAX_LISTED = 2
# What an agent does with sources that it does not read once, and what several do.
_STATES = {"missing": ("misses", "miss"), "repeated": ("repeats", "repeat"), "cut": ("cuts", "cut")}


def own_files(read: Mapping[str, set[str]]) -> list[Finding]:
    """Return a finding for the user's own files, from the files that each agent reads: those elsewhere have an absolute path."""
    readers: dict[str, list[str]] = {}
    for agent, paths in read.items():
        for path in sorted(filter(isabs, paths)):
            readers.setdefault(path, []).append(agent)
    if not readers:
        return []
    names = listed([f"{path} ({', '.join(agents)})" for path, agents in readers.items()])
    message = f"outside the repository, agents also read your own {names}; align neither counts nor changes them"
    return [finding("align-own", message, next(iter(readers)))]


def ignored_places(paths: set[str]) -> list[Finding]:
    """Return a finding for places where an agent looks, but git would ignore a file."""
    if not paths:
        return []
    message = f"git ignores {listed(sorted(paths))}, so align creates no file there: others would not have it"
    return [finding("align-ignored", message, printable(min(paths)))]


def unreadable(paths: Sequence[str]) -> list[Finding]:
    """Return a finding for files that would be sources if they could be read."""
    if not paths:
        return []
    are, them = ("is", "it") if len(paths) == 1 else ("are", "them")
    message = f"{listed(paths)} {are} not UTF-8 text of at most {LIMIT >> 20} MiB, so align plans nothing for {them}"
    return [finding("align-unreadable", message, printable(paths[0]))]


def unreached(agents: Sequence[AlignedAgent], after: Mapping[str, AgentReading], *, links: bool) -> list[Finding]:
    """Return a finding for the sources that agents will not read exactly once, and one for folders in which they must not start.

    Agents of which the same is true share a finding. `links` says whether links were tried.
    """
    problems: dict[tuple[tuple[str, Sequence[str]], ...], list[str]] = {}
    for agent in agents:
        states = tuple((state, paths) for state in _STATES if (paths := getattr(after[agent.name], state)))
        if states:
            problems.setdefault(states, []).append(agent.name)
    findings = []
    for states, names in problems.items():
        what = " and ".join(f"{_STATES[state][len(names) > 1]} {listed(paths)}" for state, paths in states)
        without = " without --links" if not links and any(state == "repeated" for state, _ in states) else ""
        message = f"{_and(names)} {what}; align cannot change this{without}"
        findings.append(finding("align-unreached", message, printable(states[0][1][0])))
    return findings + _wrong_starts(agents, after)


def _wrong_starts(agents: Sequence[AlignedAgent], after: Mapping[str, AgentReading]) -> list[Finding]:
    folders = dict.fromkeys(folder for agent in agents for folder, _ in after[agent.name].elsewhere)
    if not folders:
        return []
    names = [agent.name for agent in agents if after[agent.name].elsewhere]
    does, it = ("does", "it") if len(names) == 1 else ("do", "them")
    message = f"started in {listed(list(folders))}, {_and(names)} {does} not read every instruction exactly once; start {it} at the root"
    return [finding("align-start", message, printable(next(iter(folders))))]


def undetected(agents: Sequence[AlignedAgent]) -> list[Finding]:
    """Return a finding for the agents that no file points to any more after the changes, so that later runs would leave them out."""
    if not agents:
        return []
    options = " ".join(f"--agent {agent.name}" for agent in agents)
    subject = f"after this, no file shows that {_and([agent.program for agent in agents])} {'is' if len(agents) == 1 else 'are'} used here"
    return [finding("align-undetected", f"{subject}; from then on, and in CI, run: foreword align --check {options}")]


def repeated_lines(
    agents: Sequence[AlignedAgent], sources: Sequence[Instruction], text_of: Callable[[str], str | None]
) -> list[Finding]:
    """Return a finding for the agents' own files that have lines of a source, because they can drift apart."""
    own_names = sorted({name for agent in agents for name in agent.means.get("files", ())} - {INSTRUCTIONS})
    found: dict[str, tuple[int, str]] = {}
    for source in (row for row in sources if row.kind == "file"):
        for name in own_names:
            path = f"{source.folder}/{name}" if source.folder else name
            if count := len(set(shared_lines(source, content_lines(text_of(path) or "")))):
                found[path] = count, source.path
    if not found:
        return []
    if len(found) == 1:
        [(path, (count, source_path))] = found.items()
        subject = (
            f"{printable(path)} has {count:,} line{'' if count == 1 else 's'} that {printable(source_path)} has too"
        )
    else:
        paths = listed([f"{path} ({count:,})" for path, (count, _) in found.items()])
        subject = f"{len(found):,} files have lines that the {INSTRUCTIONS} beside them has too: {paths}"
    return [finding("align-shared", f"{subject}; --merge keeps each line once", printable(next(iter(found))))]


def edited_copies(generated: Sequence[GeneratedFile]) -> list[Finding]:
    """Return a finding for each generated file that a person has edited. It is neither overwritten nor removed."""
    return [
        finding(
            "align-edited",
            f"{printable(row.path)} was generated from {printable(row.source)} and then edited; move the edits to the source and"
            " delete the file, or remove its first comment to keep it",
            printable(row.path),
        )
        for row in generated
        if row.is_edited
    ]


def inexact_rules(
    chosen: Sequence[Proposal], agents: Sequence[AlignedAgent], sources: Sequence[Instruction]
) -> list[Finding]:
    """Return a finding for what the copy of a rule cannot express."""
    findings = []
    known, scopes = {row.path: row for row in sources}, {row.name: row.means.get("scope", "") for row in agents}
    for row in (row for row in chosen if row.means == "copy"):
        source, scope = known[row.sources[0]], scopes[row.agents[0]]
        if source.kind == "rule" and (globs := cannot_express(source.globs, scope)):
            message = f"{printable(row.path)}: {scope} cannot express {printable(', '.join(globs))}, so the rule applies there too"
            findings.append(finding("align-dialect", message, printable(row.path)))
    return findings


def listed(paths: Sequence[str]) -> str:
    """Return one or two paths, or the first and how many more there are."""
    if len(paths) > MAX_LISTED:
        return f"{printable(paths[0])} and {len(paths) - 1:,} more"
    return " and ".join(map(printable, paths))


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
