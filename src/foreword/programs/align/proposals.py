"""Propose changes: for each agent and source, every means by which the agent could read the source. Pure."""

from __future__ import annotations

from posixpath import basename, dirname, relpath

from .copies import copy_text, rule_text
from .edits import add_import, set_json_key
from .model import Proposal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .model import AlignedAgent, Content, Instruction

    # Returns a file's text, or None if there is no file with text at a path.
    TextOf = Callable[[str], str | None]
    # Returns whether something else is at a path, so that no file can be written there.
    IsBlocked = Callable[[str], bool]

_OWN_SCOPE = "paths"  # the field in which the sources have their globs


def propose(
    agents: Sequence[AlignedAgent],
    sources: Sequence[Instruction],
    text_of: TextOf,
    is_blocked: IsBlocked,
    names: Mapping[str, Sequence[str]],
    *,
    links: bool = False,
) -> list[Proposal]:
    """Return all proposals. Equal changes for several agents are one proposal.

    `names` are the names of instruction files that each agent's settings list, by the agent's name. With `links`, a file or a skill's
    folder that does not exist may become a link.
    """
    found: dict[tuple[str, Content], Proposal] = {}
    for agent in agents:
        rows = _for_agent(agent, sources, text_of, names.get(agent.name, ()))
        for proposal in (*rows, *(_links(agent, sources, text_of) if links else ())):
            if is_blocked(proposal.path):
                continue
            known = found.get((proposal.path, proposal.content))
            found[proposal.path, proposal.content] = _merge(known, proposal) if known else proposal
    return sorted(found.values(), key=lambda row: (row.path, row.cost, row.text or ""))


def _merge(known: Proposal, other: Proposal) -> Proposal:
    agents = tuple(dict.fromkeys((*known.agents, *other.agents)))
    return Proposal(known.path, known.text, known.means, agents, known.sources, known.reason, known.is_new)


def _for_agent(
    agent: AlignedAgent, sources: Sequence[Instruction], text_of: TextOf, names: Sequence[str]
) -> Iterator[Proposal]:
    files = [source for source in sources if source.kind == "file"]
    if agent.means.get("setting") and files:
        yield from _setting(agent, files, text_of, names)
    for source in sources:
        if source.kind == "file":
            yield from _own_files(agent, source, text_of)
        else:
            yield from _own_copy(agent, source, text_of)


def _setting(
    agent: AlignedAgent, sources: Sequence[Instruction], text_of: TextOf, names: Sequence[str]
) -> Iterator[Proposal]:
    """Yield the change that adds the sources' name to the agent's list of instruction files."""
    path, _, key = agent.means["setting"].partition("#")
    wanted = list(dict.fromkeys(basename(source.path) for source in sources))
    listed = list(dict.fromkeys((*wanted, *names)))
    text = text_of(path)
    new = set_json_key(text or "", key, listed)
    if new is not None and new != text and set(listed) != set(names):
        reason = f"{agent.program} reads the files that {key} lists"
        yield Proposal(
            path, new, "setting", (agent.name,), tuple(row.path for row in sources), reason, is_new=text is None
        )


def _own_files(agent: AlignedAgent, source: Instruction, text_of: TextOf) -> Iterator[Proposal]:
    """Yield a change for each of the agent's own files in the source's folder: it imports the source or, if it cannot, is a copy of it."""
    form = agent.means.get("import", "")
    for rank, file in enumerate(agent.means.get("files", ())):
        path = f"{source.folder}/{file}" if source.folder else file
        if path == source.path:
            return
        text = text_of(path)
        if form:
            line = form.replace("{path}", relpath(source.path, dirname(path) or "."))
            new = line + "\n" if text is None else add_import(text, line)
            reason = f"{agent.program} reads {file} and follows its imports"
            if text is None or not has_line(text, line):
                yield Proposal(path, new, "import", (agent.name,), (source.path,), reason, text is None, rank)
        elif text is None:
            reason = f"{agent.program} reads {file} and follows no imports"
            yield Proposal(path, copy_text(source), "copy", (agent.name,), (source.path,), reason, rank=rank)


def _own_copy(agent: AlignedAgent, source: Instruction, text_of: TextOf) -> Iterator[Proposal]:
    """Yield the copy of a rule or skill where the agent looks for them, unless there is a file already."""
    path = copy_path(agent, source)
    if not path or path == source.path or text_of(path) is not None:
        return
    text = rule_text(source, agent.means["scope"]) if source.kind == "rule" else copy_text(source)
    folder = dirname(path) if source.kind == "rule" else agent.means["skills"]
    reason = f"{agent.program} reads {source.kind}s in {folder}, not in {dirname(source.path) if source.kind == 'rule' else '.agents/skills'}"
    yield Proposal(path, text, "copy", (agent.name,), (source.path,), reason)


def _links(agent: AlignedAgent, sources: Sequence[Instruction], text_of: TextOf) -> Iterator[Proposal]:
    """Yield a link to each source where the agent looks for it, unless there is something already or it must have another form there."""
    for source in sources:
        target, paths = source.path, [copy_path(agent, source)]
        if source.kind == "file":
            paths = [f"{source.folder}/{file}".lstrip("/") for file in agent.means.get("files", ())]
        elif source.kind == "skill":
            target, paths = dirname(target), [dirname(paths[0])]
        elif agent.means.get("scope") != _OWN_SCOPE:
            continue
        for rank, path in enumerate(paths):
            if path == target:
                break
            if path and text_of(path) is None and text_of(f"{path}/{basename(source.path)}") is None:
                reason = f"{agent.program} reads {path}, which is then the same as {target}"
                link = relpath(target, dirname(path) or ".")
                yield Proposal(path, link, "link", (agent.name,), (source.path,), reason, rank=rank)


def copy_path(agent: AlignedAgent, source: Instruction) -> str:
    """Return where an agent looks for a copy of a rule or skill, or empty if it has no such place."""
    if source.kind == "rule":
        return str(agent.means.get("rules", "")).replace("{name}", source.name) if agent.means.get("scope") else ""
    return f"{agent.means['skills']}/{source.name}/SKILL.md" if agent.means.get("skills") else ""


def has_line(text: str, line: str) -> bool:
    return any(row.strip() == line for row in text.split("\n"))
