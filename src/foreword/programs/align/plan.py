"""Plan an alignment: read the repository, search for the fewest changes, and confirm them with the mirrors."""

from __future__ import annotations

import os

from ...errors import CallError, ForewordError, suggestion
from ...findings import finding
from ...packs.packs import mirror_names
from ...packs.shipped import shipped_mirror
from ...sources.environment import resolve_workspace
from ...sources.reader import Reader
from ...sources.shared_files import describe_unlisted, shared_files
from ...text.lines import printable
from ...vocabulary import replace
from .copies import cannot_express, find_generated
from .edits import read_json_key
from .merge import merge_files
from .model import AlignedAgent, Alignment, FileChange, Proposal
from .proposals import propose
from .reading import Mirrors
from .search import smallest
from .sources import INSTRUCTIONS, content_lines, find_sources, shared_lines
from .upkeep import record_settings, upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from ...layout.model import Layout
    from ...sources.overlay import SharedFiles
    from ...vocabulary import Finding
    from ..question import Question
    from .model import AgentReading, Instruction

_MAX_LISTED = 4
_STATES = {
    "missing": "{} does not read {}; no change that align may make helps",
    "repeated": "{} reads {} more than once; no change that align may make helps",
    "cut": "{} reads only a part of {}; no change that align may make helps",
}


def plan_alignment(question: Question, agents: Sequence[str] = (), *, merge: bool = False) -> Alignment:
    """Return the changes after which the detected agents, and those named, read every source once. Nothing is written.

    With `merge`, agents' own files are merged into AGENTS.md first.
    """
    workspace = resolve_workspace(question.workspace, Reader())
    root = os.path.realpath(workspace.root or workspace.cwd)
    files, problem = shared_files(root, workspace.is_repository)
    findings = [finding("align-unlisted", describe_unlisted(root, problem))] if problem else []
    layouts = choose_agents(files, agents)
    return Planner(files, layouts, findings, merge=merge).plan()


def choose_agents(files: SharedFiles, named: Sequence[str]) -> dict[str, Layout]:
    """Return the layouts of the agents that are detected in the repository, and of those named."""
    known = mirror_names()
    for name in named:
        if name not in known:
            raise CallError(f"unknown agent {name!r}" + suggestion(name, known))
    layouts = {name: shipped_mirror(name) for name in known}
    return {name: layout for name, layout in layouts.items() if name in named or is_detected(layout, files)}


def is_detected(layout: Layout, files: SharedFiles) -> bool:
    """Whether the repository has one of the files or folders that show that an agent is used."""
    for sign in layout.detected_by:
        if sign.endswith("/"):
            if any(f"/{sign}" in f"/{name}" for name in files.names):
                return True
        elif any(f"/{name}".endswith(f"/{sign}") for name in files.names):
            return True
    return False


class Planner:
    """Plans the alignment of one repository."""

    def __init__(
        self,
        files: SharedFiles,
        layouts: Mapping[str, Layout],
        findings: Sequence[Finding] = (),
        *,
        merge: bool = False,
    ) -> None:
        self.files, self.layouts = files, dict(layouts)
        self.findings = list(findings)
        self.sources: list[Instruction] = find_sources(files.names, files.text, INSTRUCTIONS)
        self.generated = find_generated(self._generated_names(), files.text)
        self.copies = {row.path: row.source for row in self.generated}
        self.mirrors = Mirrors(files, self.layouts, self.sources, self.copies)
        self._leave_out_broken()
        self.agents = [AlignedAgent(name, row.mirrors, row.align) for name, row in self.layouts.items()]
        self.before = {name: self.mirrors.read(name, {}, {}, is_exact=True) for name in self.layouts}
        self.fixed: list[Proposal] = []
        if merge:
            self._merge()
        self.fixed += upkeep(self.generated, self.agents, self.sources)

    def plan(self) -> Alignment:
        """Search for the changes, confirm them, and describe what they cannot reach."""
        names, before = list(self.layouts), self.before
        proposals = propose(self.agents, self.sources, self.text, self._is_blocked, self._listed_names())
        chosen = smallest(names, proposals, self._read, lambda name, row: self.mirrors.concerns(name, row.path))
        after = {name: self._read(name, chosen, is_exact=True) for name in names}
        if after != {name: self._read(name, chosen) for name in names}:  # an import leads to a changed file
            chosen = smallest(names, proposals, self._read_exactly, lambda name, row: True)
            after = {name: self._read(name, chosen, is_exact=True) for name in names}
        self.findings += [*self._unreached(after), *self._shared_lines(), *self._edited(), *self._dialects(chosen)]
        rows = [*self.fixed, *(_with_readers(row, self.mirrors, before, after) for row in chosen)]
        changes = [self._change(row) for row in (*rows, *record_settings(chosen, self.agents, self.files.text))]
        return Alignment(self.files.root, self.agents, self.sources, changes, before, after, self.findings)

    def text(self, path: str) -> str | None:
        """Return a file's text after the changes that do not depend on the search, or None if there is none."""
        for row in self.fixed:
            if row.path == path:
                return row.text
        return self.files.text(path)

    def _merge(self) -> None:
        """Merge agents' own files, and plan with the sources that this creates."""
        names = [name for name in self.files.names if not self._is_blocked(name) and name not in self.copies]
        self.fixed = merge_files(names, self.files.text, self.agents, INSTRUCTIONS)
        changed = {row.path for row in self.fixed}
        self.sources = find_sources(self.files.names | changed, self.text, INSTRUCTIONS)
        self.mirrors = Mirrors(self.files, self.layouts, self.sources, self.copies)

    def _read(self, agent: str, chosen: Sequence[Proposal], is_exact: bool = False) -> AgentReading:
        rows = (*self.fixed, *chosen)
        copies = {row.path: row.sources[0] for row in rows if row.means == "copy"}
        return self.mirrors.read(agent, {row.path: row.text for row in rows}, copies, is_exact=is_exact)

    def _read_exactly(self, agent: str, chosen: Sequence[Proposal]) -> AgentReading:
        return self._read(agent, chosen, is_exact=True)

    def _leave_out_broken(self) -> None:
        """Leave out agents whose layout does not accept the repository's settings."""
        for name in list(self.layouts):
            try:
                self.mirrors.read(name, {}, {})
            except ForewordError as error:
                del self.layouts[name]
                self.findings.append(finding("agent-left-out", f"the agent '{name}' was left out: {error}"))

    def _generated_names(self) -> list[str]:
        endings = (".md", ".mdc")
        return [name for name in self.files.names if name.endswith(endings)]

    def _is_blocked(self, path: str) -> bool:
        """Whether a file cannot be written: it is a link or behind one, or git ignores what is there."""
        if self.files.resolve(path) != path or path in self.files.links:
            return True
        full = os.path.join(self.files.root, path)
        return path not in self.files.names and os.path.lexists(full)

    def _listed_names(self) -> dict[str, list[str]]:
        """Return the names of instruction files that each agent's project settings list, or its default ones."""
        listed = {}
        for name, layout in self.layouts.items():
            path, _, key = layout.align.get("setting", "").partition("#")
            if not path:
                continue
            content = read_json_key(self.text(path) or "", key)
            names = [content] if isinstance(content, str) else content
            if not isinstance(names, list) or not all(isinstance(row, str) for row in names):
                settings = [row.setting for row in layout.config if ".".join(row.key) == key]
                names = list(layout.settings[settings[-1]]) if settings else []
            listed[name] = names
        return listed

    def _change(self, proposal: Proposal) -> FileChange:
        before = self.files.text(proposal.path)
        action: Literal["create", "edit", "remove"] = "create" if before is None else "edit"
        if proposal.text is None:
            action = "remove"
        return FileChange(proposal.path, action, proposal.text, proposal.agents, proposal.reason, before)

    # Findings

    def _unreached(self, after: Mapping[str, AgentReading]) -> list[Finding]:
        """Return a finding for the sources that an agent will not read exactly once, and for folders in which it must not start."""
        findings = []
        for agent in self.agents:
            reading = after[agent.name]
            for state, sentence in _STATES.items():
                if paths := getattr(reading, state):
                    message = sentence.format(agent.program, _listed(paths))
                    findings.append(finding("align-unreached", message, printable(paths[0])))
            places: dict[str, list[str]] = {}
            for folder in dict.fromkeys(folder for folder, _ in reading.elsewhere):
                unread = _listed([path for place, path in reading.elsewhere if place == folder])
                places.setdefault(unread, []).append(folder)
            for unread, folders in places.items():
                message = f"{agent.program} does not read {unread} exactly once if it is started in {_listed(folders)}; start it at the root"
                findings.append(finding("align-start", message, printable(folders[0])))
        return findings

    def _shared_lines(self) -> list[Finding]:
        """Return a finding for each agent's own file that has lines of a source, because they can drift apart."""
        findings = []
        own_names = {name for agent in self.agents for name in agent.means.get("files", ())} - {INSTRUCTIONS}
        for source in (row for row in self.sources if row.kind == "file"):
            for name in sorted(own_names):
                path = f"{source.folder}/{name}" if source.folder else name
                text = self.text(path) if path not in self.files.links and path not in self.copies else None
                lines = list(dict.fromkeys(shared_lines(source, content_lines(text or ""))))
                if lines:
                    message = (
                        f"{printable(path)} has {len(lines):,} line{'' if len(lines) == 1 else 's'} that"
                        f" {printable(source.path)} has too; --merge keeps each line once"
                    )
                    findings.append(finding("align-shared", message, printable(path)))
        return findings

    def _edited(self) -> list[Finding]:
        """Return a finding for each generated file that a person has edited. It is neither overwritten nor removed."""
        return [
            finding(
                "align-edited",
                f"{printable(row.path)} was generated from {printable(row.source)} and then edited; move the edits to the source and"
                " delete the file, or remove its first comment to keep it",
                printable(row.path),
            )
            for row in self.generated
            if row.is_edited
        ]

    def _dialects(self, chosen: Sequence[Proposal]) -> list[Finding]:
        """Return a finding for what the copy of a rule or skill cannot express."""
        findings = []
        sources, scopes = {row.path: row for row in self.sources}, {row.name: row.means for row in self.agents}
        for row in (row for row in chosen if row.means == "copy"):
            source = sources[row.sources[0]]
            scope = scopes[row.agents[0]].get("scope", "")
            globs = cannot_express(source.globs, scope)
            folder = source.path.rpartition("/")[0] + "/"
            others = [name for name in self.files.names if name.startswith(folder) and name != source.path]
            if source.kind == "rule" and globs:
                message = f"{printable(row.path)}: {scope} cannot express {printable(', '.join(globs))}, so the rule applies there too"
                findings.append(finding("align-dialect", message, printable(row.path)))
            if source.kind == "skill" and others:
                message = f"{printable(row.path)} is a copy of SKILL.md alone; it cannot use the other files in {printable(folder)}"
                findings.append(finding("align-dialect", message, printable(row.path)))
        return findings


def _with_readers(
    proposal: Proposal, mirrors: Mirrors, before: Mapping[str, AgentReading], after: Mapping[str, AgentReading]
) -> Proposal:
    """Return the proposal with all agents that it helps: they may read a file that was proposed for another one."""
    helped = [
        name
        for name, reading in before.items()
        if mirrors.concerns(name, proposal.path)
        and not (reading.problem_paths - after[name].problem_paths).isdisjoint(proposal.sources)
    ]
    return replace(proposal, agents=tuple(dict.fromkeys((*proposal.agents, *helped))))


def _listed(paths: Sequence[str]) -> str:
    """Return the first few paths, and how many more there are."""
    shown = ", ".join(map(printable, paths[:_MAX_LISTED]))
    return shown if len(paths) <= _MAX_LISTED else f"{shown} and {len(paths) - _MAX_LISTED} more"
