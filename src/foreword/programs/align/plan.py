"""Plan an alignment: read the repository, search for the fewest changes, and confirm them with the mirrors."""

from __future__ import annotations

import os

from ...errors import CallError, ForewordError, MissingError, suggestion
from ...findings import finding
from ...packs.packs import mirror_names
from ...packs.shipped import shipped_mirror
from ...sources.environment import resolve_workspace
from ...sources.reader import Reader
from ...sources.shared_files import describe_unlisted, ignored, shared_files
from ...vocabulary import replace
from ..files_read import files_read
from .copies import find_generated
from .edits import read_json_key
from .foreign import find_origin, is_standard, propose_foreign, read_foreign
from .merge import merge_files
from .model import AlignedAgent, Alignment, FileChange, Proposal
from .notes import (
    edited_copies,
    ignored_places,
    inexact_rules,
    own_files,
    repeated_lines,
    undetected,
    unreached,
    unreadable,
)
from .proposals import propose
from .reading import Mirrors
from .search import smallest
from .sources import INSTRUCTIONS, find_sources, unreadable_sources
from .upkeep import record_settings, release_settings, upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from ...layout.model import Layout
    from ...sources.overlay import SharedFiles
    from ...vocabulary import Finding
    from ..question import Question
    from .model import AgentReading, Instruction


def plan_alignment(
    question: Question, agents: Sequence[str] = (), *, merge: bool = False, origin: str = "", links: bool = False
) -> Alignment:
    """Return the changes after which the detected agents, and those named, read every source once. Nothing is written.

    With `merge`, agents' own files are merged into AGENTS.md first. `origin` is another program's folder, or a file, to make it from.
    With `links`, files may become links to the sources.
    """
    if merge and origin:
        raise CallError(
            "--merge and --from exclude each other: an AGENTS.md that is made from another source has only its lines"
        )
    workspace = resolve_workspace(question.workspace, Reader())
    root = os.path.realpath(workspace.root or workspace.cwd)
    files, problem = shared_files(root, workspace.is_repository)
    findings = [finding("align-unlisted", describe_unlisted(root, problem))] if problem else []
    layouts = choose_agents(files, agents)
    findings += own_files({name: files_read(question, name, root, root) for name in layouts})
    planner = Planner(
        files,
        layouts,
        findings,
        merge=merge,
        origin=origin.replace(os.sep, "/"),
        links=links,
        find_ignored=lambda paths: ignored(root, paths),
    )
    return planner.plan()


def choose_agents(files: SharedFiles, named: Sequence[str]) -> dict[str, Layout]:
    """Return the layouts of the agents that are detected in the repository, and of those named."""
    known = mirror_names()
    for name in named:
        if name not in known:
            raise MissingError(f"unknown agent {name!r}" + suggestion(name, known))
    layouts, paths = {name: shipped_mirror(name) for name in known}, joined_paths(files.names)
    return {name: layout for name, layout in layouts.items() if name in named or is_detected(layout, paths)}


def joined_paths(names: Iterable[str]) -> str:
    """Return a repository's files as one string, in which `is_detected` searches: each path begins with a slash and ends with a NUL."""
    return "".join([f"/{name}\0" for name in names])


def is_detected(layout: Layout, paths: str) -> bool:
    """Whether one of a repository's files, or its folder, shows that an agent is used."""
    return any((f"/{sign}" if sign.endswith("/") else f"/{sign}\0") in paths for sign in layout.detected_by)


class Planner:
    """Plans the alignment of one repository."""

    def __init__(
        self,
        files: SharedFiles,
        layouts: Mapping[str, Layout],
        findings: Sequence[Finding] = (),
        *,
        merge: bool = False,
        origin: str = "",
        links: bool = False,
        max_sources: int | None = None,
        in_all_folders: bool = True,
        find_ignored: Callable[[Iterable[str]], set[str]] = lambda paths: set(),
    ) -> None:
        self.files, self.layouts, self._find_ignored = files, dict(layouts), find_ignored
        self.findings, self._in_all_folders = list(findings), in_all_folders
        self._links = links
        self.generated = find_generated(self._generated_names(), files.text)
        self.fixed: list[Proposal] = self._from_elsewhere(origin)
        self.sources = self._find_sources()[:max_sources]
        self.findings += unreadable(unreadable_sources(files.names - files.links.keys(), files.text))
        self.copies = {row.path: row.source for row in self.generated if not is_standard(row.path)}
        self.mirrors = Mirrors(files, self.layouts, self.sources, self.copies)
        self.before = self._read_before()
        self.agents = [AlignedAgent(name, row.mirrors, row.align) for name, row in self.layouts.items()]
        if merge:
            self._merge()
        copies = [row for row in self.generated if row.path in self.copies]
        self.fixed += upkeep(copies, self.agents, self.sources)

    def plan(self) -> Alignment:
        """Search for the changes, confirm them, and describe what they cannot reach."""
        names, before = list(self.layouts), self.before
        proposals = propose(
            self.agents, self.sources, self.text, self._is_blocked, self._listed_names(), links=self._links
        )
        unshared = self._find_ignored({row.path for row in proposals if row.is_new})
        proposals = [row for row in proposals if row.path not in unshared]
        self.findings += ignored_places(unshared)
        chosen = smallest(names, proposals, self._read, lambda name, row: self.mirrors.concerns(name, row.path))
        after = {name: self._read(name, chosen) for name in names}
        if any(after[name] != self._read(name, self._concerning(name, chosen)) for name in names):
            # An import leads to a changed file, so that the agents influence each other.
            chosen = smallest(names, proposals, self._read, lambda name, row: True)
            after = {name: self._read(name, chosen) for name in names}
        released = self._released(chosen, after)
        self.findings += [
            *unreached(self.agents, after, links=self._links),
            *repeated_lines(self.agents, self.sources, self._own_text),
            *edited_copies(self.generated),
            *inexact_rules(chosen, self.agents, self.sources),
        ]
        rows = [*self.fixed, *(_with_readers(row, self.mirrors, before, after) for row in chosen), *released]
        record = record_settings(chosen, released, self.agents, self.files.text)
        changes = [self._change(row) for row in (*rows, *record)]
        self.findings += undetected([row for row in self.agents if self._loses_signs(row.name, changes)])
        return Alignment(self.files.root, self.agents, self.sources, changes, before, after, self.findings)

    def _loses_signs(self, name: str, changes: Sequence[FileChange]) -> bool:
        """Whether an agent that is detected now would not be after the changes."""
        removed = {row.path for row in changes if row.action == "remove"}
        names = (self.files.names - removed) | {row.path for row in changes if row.action != "remove"}
        layout = self.layouts[name]
        return (
            bool(removed)
            and is_detected(layout, joined_paths(self.files.names))
            and not is_detected(layout, joined_paths(names))
        )

    def text(self, path: str) -> str | None:
        """Return a file's text after the changes that do not depend on the search, or None if there is none."""
        for row in self.fixed:
            if row.path == path:
                return row.text
        return self.files.text(path)

    def _own_text(self, path: str) -> str | None:
        """Return what a person wrote at a path, or None if there is a link or a generated file."""
        return self.text(path) if path not in self.files.links and path not in self.copies else None

    def _from_elsewhere(self, named: str) -> list[Proposal]:
        """Return the changes that make sources of another program's folder or of a file, if one is named or was used before."""
        origin = find_origin(named, self.generated)
        if not origin:
            return []
        source = read_foreign(origin, sorted(self.files.names), self.files.text, is_required=bool(named))
        changes, findings = propose_foreign(source, self.generated, self.files.text)
        unshared = self._find_ignored({row.path for row in changes if row.is_new})
        self.findings += [*findings, *ignored_places(unshared)]
        return [row for row in changes if row.path not in unshared and not self._is_blocked(row.path)]

    def _find_sources(self) -> list[Instruction]:
        names = self.files.names | {row.path for row in self.fixed}
        return find_sources(names, self.text, INSTRUCTIONS)

    def _merge(self) -> None:
        """Merge agents' own files, and plan with the sources that this creates."""
        names = [name for name in self.files.names if not self._is_blocked(name) and name not in self.copies]
        self.fixed = merge_files(names, self.files.text, self.agents, INSTRUCTIONS)
        self.sources = self._find_sources()
        self.mirrors = Mirrors(self.files, self.layouts, self.sources, self.copies)

    def _read(self, agent: str, chosen: Sequence[Proposal]) -> AgentReading:
        rows = (*self.fixed, *chosen)
        copies = {row.path: row.sources[0] for row in rows if row.means == "copy"}
        return self.mirrors.read(agent, {row.path: row.content for row in rows}, copies)

    def _concerning(self, agent: str, chosen: Sequence[Proposal]) -> list[Proposal]:
        return [row for row in chosen if self.mirrors.concerns(agent, row.path)]

    def _read_before(self) -> dict[str, AgentReading]:
        """Return what each agent reads now. Agents whose layout does not accept the repository's settings are left out."""
        before = {}
        for name in list(self.layouts):
            try:
                before[name] = self.mirrors.read(name, {}, {}, in_all_folders=self._in_all_folders)
            except ForewordError as error:
                del self.layouts[name]
                self.findings.append(finding("agent-left-out", f"the agent '{name}' was left out: {error}"))
        return before

    def _generated_names(self) -> list[str]:
        endings = (".md", ".mdc")
        return [name for name in self.files.names if name.endswith(endings)]

    def _is_blocked(self, path: str) -> bool:
        """Whether a file cannot be written: it is a link or behind one, or git ignores what is there."""
        if self.files.resolve(path) != path or path in self.files.links:
            return True
        full = os.path.join(self.files.root, path)
        return path not in self.files.names and os.path.lexists(full)

    def _released(self, chosen: Sequence[Proposal], after: Mapping[str, AgentReading]) -> list[Proposal]:
        """Return the changes that undo settings without which every agent reads the same."""
        released: list[Proposal] = []
        with_setting = {name: layout for name, layout in self.layouts.items() if layout.align.get("setting")}
        defaults = {name: self._default_names(layout) for name, layout in with_setting.items()}
        for row in release_settings(self.agents, self._listed_names(), defaults, self.text, INSTRUCTIONS):
            rows = [*chosen, *released, row]
            is_free = row.path not in {other.path for other in rows[:-1]}
            if is_free and all(self._read(name, rows) == reading for name, reading in after.items()):
                released.append(row)
        return released

    def _default_names(self, layout: Layout) -> list[str]:
        _, _, key = layout.align.get("setting", "").partition("#")
        settings = [row.setting for row in layout.config if ".".join(row.key) == key]
        return list(layout.settings[settings[-1]]) if settings else []

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
                names = self._default_names(layout)
            listed[name] = names
        return listed

    def _change(self, proposal: Proposal) -> FileChange:
        before = self.files.text(proposal.path)
        action: Literal["create", "edit", "remove", "link"] = "create" if before is None else "edit"
        if proposal.text is None:
            action = "remove"
        elif proposal.means == "link":
            action = "link"
        return FileChange(proposal.path, action, proposal.text, proposal.agents, proposal.reason, before)


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
