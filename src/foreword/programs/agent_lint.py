"""Run the lint checks for released agents: build each agent's prompt in the folders where it works.

Only agents that are detected in the repository, or that the settings name, are considered. Each file is read and each
folder is listed only once for all of them.
"""

from __future__ import annotations

import os

from ..engine.assembler import Assembler
from ..errors import ForewordError
from ..findings import finding
from ..inspection.agents import AgentView, compare_agents, folders_to_visit
from ..inspection.lint.agent_facts import Facts, Visit, agent_name, join_names, place_of, shared_names
from ..inspection.lint.agent_files import (
    report_blank_files,
    report_cut_files,
    report_hidden_files,
    report_misordered_files,
    report_misplaced_files,
)
from ..inspection.lint.agent_texts import (
    RepeatedTexts,
    report_imports_in_code,
    report_missing_imports,
    report_unfollowed_imports,
)
from ..inspection.lint.material import is_material
from ..inspection.lint.rule_fields import RuleFields, report_other_extensions
from ..inspection.lint.rule_globs import PathIndex, names_folder, split_globs
from ..inspection.lint.source_text import SourceText
from ..packs.mirrors import all_mirrors
from ..packs.packs import mirror_names
from ..packs.settings import agent_names, read_settings
from ..sources.instruction_files import find_instruction_files, instruction_file_patterns
from ..sources.links import workspace_reach
from ..sources.paths import is_inside
from ..sources.places import Known
from ..sources.reader import Reader
from ..sources.scoping import read_rule_fields
from ..sources.search import SKILL_FILE
from ..sources.tree import walk_folders
from ..text.lines import printable
from ..text.tokens import Count
from ..vocabulary import replace
from .agent_below import AgentBelow
from .agents_in_use import evidence_of
from .progress import counted
from .quiet_folders import FolderTexts
from .wrong_case import is_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from ..engine.assembler import Snapshot
    from ..layout.model import Layout
    from ..sources.tree import Listings
    from ..vocabulary import Agent, Candidate, Finding, Prompt, Severity, Workspace
    from .agents import AssemblerFor

CASE_CHECK = "file-case"
_MAX_FILES = 500_000


class AgentLint:
    """Checks the files that agents read in one repository."""

    def __init__(
        self,
        assembler: Assembler,
        workspace: Workspace,
        listings: Listings,
        assembler_for: AssemblerFor | None = None,
        arguments: tuple[Agent, datetime | None] | tuple[()] = (),
    ) -> None:
        self.assembler, self.workspace, self.listings = assembler, workspace, listings
        self.assembler_for, self.arguments = assembler_for, arguments
        self.root = workspace.root or workspace.cwd
        self.shown_root = printable(self.root)
        self.known = Known()
        self.facts = Facts()
        # A user's layout that cannot be read is skipped; `foreword agents` reports it.
        self.mirrors, _ = all_mirrors(workspace, Reader(known=self.known), assembler.packs)
        # A user's variant of a shipped mirror does not make its files shared.
        self.shared = shared_names(self.mirrors[name] for name in mirror_names())
        self.repeated = RepeatedTexts(self.facts, self.shared)
        self.rule_fields = RuleFields(self.facts, lambda text: read_rule_fields(text)[0])
        # The files that an agent loads, or may get later, for example when it touches a file.
        self.files_read: dict[str, None] = {}
        self.real_names: dict[str, str] = {}
        self.wrong_case: dict[tuple[str, str], dict[str, None]] = {}
        self.rules: dict[str, tuple[str, dict[str, None]]] = {}
        self._texts: dict[str, SourceText | None] = {}
        self._lower_case: dict[str, Mapping[str, list[str]]] = {}

    def findings(
        self, is_recursive: bool, disabled: Collection[str], candidates: Iterable[Candidate] = ()
    ) -> list[Finding]:
        """Return the findings about all agents in use, and about the rules among these candidates of the assembler's layout.

        With `is_recursive`, every folder below with a file for an agent is checked too.
        """
        named = self._named_layouts()
        layouts = {**named, **self.mirrors}
        files = self._files(layouts.values(), is_recursive)
        chosen = [name for name, layout in layouts.items() if name in named or self._is_used(layout, files)]
        if chosen:
            self._check(chosen, files)
        self._check_own_rules(candidates)
        if "unmatched-rule" not in disabled:
            self._check_rules()
        findings = [*self.facts.findings(), *self._case_findings()]
        return [result for result in findings if result.code not in disabled]

    def sources(self, findings: Sequence[Finding]) -> list[SourceText]:
        """Return the texts of the files that findings are about. They may contain comments that ignore the findings."""
        texts = (self.read(path) for path in dict.fromkeys(result.path for result in findings))
        return [text for text in texts if text is not None]

    def read(self, path: str) -> SourceText | None:
        """Return the text of a file in the repository, or None if it cannot be read."""
        if path not in self._texts:
            real = self._real_path(path)
            reading = Reader(known=self.known).read(real, workspace_reach(self.root, self.workspace))
            is_known = reading.has_text and is_inside(path, self.shown_root)
            text = "\n" * (reading.line - 1) + reading.text
            self._texts[path] = SourceText(path, text) if is_known else None
        return self._texts[path]

    def _real_path(self, path: str) -> str:
        folder, _, name = path.rpartition("/")
        return os.path.join(self.real_names.get(folder, folder), name)

    # The agents

    def _named_layouts(self) -> dict[str, Layout]:
        """Return the layouts that the settings name as agents. Those that cannot be read are skipped; `foreword agents` reports them."""
        files, _ = read_settings(self.workspace, Reader(known=self.known), self.assembler.settings)
        named: dict[str, Layout] = {}
        for name in agent_names(files)[0]:
            try:
                named[name] = self._assembler(name).layout()
            except ForewordError:
                continue
        return named

    def _files(self, layouts: Collection[Layout], is_recursive: bool) -> list[str]:
        """Return the repository's instruction files, or an empty list if `is_recursive` is not set."""
        if not is_recursive:
            return []
        found = find_instruction_files(self.workspace.cwd, instruction_file_patterns(layouts), self.listings)
        for path in found.paths:
            while path != self.root and printable(path) != path:
                self.real_names[printable(path)] = path
                path = os.path.dirname(path)
        return list(found.paths)

    def _is_used(self, layout: Layout, files: Sequence[str]) -> bool:
        """Whether an agent is detected: in any folder from the root to the working directory, or by one of these files.

        A name in the wrong letter case counts too.
        """
        if evidence_of(layout, self.root, files):
            return True
        names = {path.rstrip("/").lower() for path in layout.detected_by}
        folder = self.workspace.cwd
        while is_inside(folder, self.root):
            if any(name.lower() in names for name in self._entries(folder)):
                return True
            if folder == self.root or folder == os.path.dirname(folder):
                break
            folder = os.path.dirname(folder)
        return False

    def _entries(self, folder: str) -> Mapping[str, str]:
        try:
            return self.listings.entries(folder)
        except (OSError, ValueError):
            return {}

    def _assembler(self, layout: str) -> Assembler:
        known = self.assembler_for(layout, self.workspace.cwd) if self.assembler_for else None
        if known:
            return known
        workspace = replace(self.workspace, root=self.workspace.root if self.workspace.is_repository else None)
        base = self.assembler
        assembler = Assembler(workspace, layout, settings=base.settings, packs=base.packs, values=base.values)
        assembler.reader = lambda: Reader(known=self.known)
        assembler.finds_skills = False
        return assembler

    # The folders

    def _check(self, names: Sequence[str], files: Sequence[str]) -> None:
        """Check these agents' prompts in the working directory, and in the folders where they find other files."""
        agents: list[tuple[Assembler, Visit]] = []
        views: list[AgentView] = []
        for name in counted(names):
            try:
                assembler = self._assembler(name)
                prompt = assembler.prompt(*self.arguments)
            except ForewordError:  # the settings do not fit this layout
                continue
            snapshot = assembler.snapshot(*self.arguments[:1])
            if visit := self._visit(assembler, self.workspace.cwd):
                agents.append((assembler, visit))
                views.append(AgentView(snapshot.layout, snapshot.inputs, prompt, Count(0, "", True, 0.0)))
        cwd = printable(self.workspace.cwd)
        table = compare_agents(views, [printable(file) for file in files], self.shown_root, cwd)
        report_misplaced_files(table, self.shown_root, self.facts)
        self._check_below(agents, folders_to_visit(table), files)

    def _check_below(
        self, agents: Sequence[tuple[Assembler, Visit]], folders: Sequence[tuple[int, str]], files: Sequence[str]
    ) -> None:
        """Check the agents with these numbers in these folders below the working directory, except where there is nothing new to say."""
        cwd = printable(self.workspace.cwd)
        self.known.walked.add(self.listings.listed)
        texts = FolderTexts(map(printable, files), cwd, self.read)
        below = [AgentBelow(assembler, visit, texts, self.known) for assembler, visit in agents]
        for number, folder in counted(folders):
            if is_inside(folder, cwd) and self._may_be_working_directory(folder):
                real = self.real_names.get(folder, folder)
                for path, target in below[number].visit(folder, real, self.facts, self._visit):
                    self._note_file(path, target, agents[number][1].agent)

    def _may_be_working_directory(self, folder: str) -> bool:
        """Whether someone might start an agent in a folder. Nobody does that in a skill, a hidden folder or a folder of templates."""
        if is_material(folder, self.shown_root) or "/." in folder[len(self.shown_root) :]:
            return False
        while folder != self.shown_root and is_inside(folder, self.shown_root):
            if SKILL_FILE in self._entries(self.real_names.get(folder, folder)):
                return False
            folder = os.path.dirname(folder)
        return True

    def _visit(self, assembler: Assembler, folder: str) -> Visit | None:
        """Check one agent's prompt in one folder. Returns None if there is no prompt."""
        try:
            prompt = assembler.prompt(*self.arguments)
        except ForewordError:  # the folder no longer exists, or its own settings are refused
            return None
        snapshot = assembler.snapshot(*self.arguments[:1])
        if assembler.finds_skills:
            prompt = without_menus(prompt, snapshot)
        visit = Visit(snapshot.layout, snapshot.inputs, prompt, printable(folder), self.shown_root, self.read)
        report_hidden_files(visit, self.facts, self.shared)
        report_blank_files(visit, self.facts)
        report_cut_files(visit, self.facts)
        report_misordered_files(visit, self.facts)
        report_unfollowed_imports(visit, self.facts)
        report_missing_imports(visit, self.facts)
        report_imports_in_code(visit, self.facts)
        self.rule_fields.visit(visit)
        base = self.real_names.get(visit.folder, visit.folder)
        report_other_extensions(visit, self.facts, lambda folder: self._entries(os.path.join(base, folder)))
        self.repeated.visit(visit)
        self.files_read.update(dict.fromkeys(visit.loaded))
        # Cursor does not use some rules unless the user attaches them.
        self.files_read.update((candidate.path, None) for candidate in visit.candidates_in_repository("unused"))
        for rule in visit.candidates_in_repository("waiting"):
            self._note_file(rule.path, rule.target, visit.agent)
        self._note_wrong_case(visit)
        return visit

    def _note_file(self, path: str, target: str | None, agent: str) -> None:
        """Note a file that an agent reads, and the paths for which it waits, if it does."""
        self.files_read[path] = None
        if target is not None:
            self.rules.setdefault(path, (target, {}))[1][agent] = None

    # Names in the wrong case

    def _note_wrong_case(self, visit: Visit) -> None:
        for candidate in visit.candidates_in_repository("absent"):
            folder, _, expected = candidate.path.rpartition("/")
            for name in self._names_by_lower_case(folder).get(expected.lower(), ()):
                if name != expected and f"{folder}/{name}" not in visit.candidates:
                    self.wrong_case.setdefault((f"{folder}/{name}", expected), {})[visit.agent] = None

    def _names_by_lower_case(self, folder: str) -> Mapping[str, list[str]]:
        if folder not in self._lower_case:
            names: dict[str, list[str]] = {}
            for name in self._entries(self.real_names.get(folder, folder)):
                names.setdefault(name.lower(), []).append(name)
            self._lower_case[folder] = names
        return self._lower_case[folder]

    def _case_findings(self) -> Iterator[Finding]:
        for (path, expected), agents in self.wrong_case.items():
            folder, _, name = path.rpartition("/")
            entries = self._entries(self.real_names.get(folder, folder))
            if entries.get(name) == "file" and not is_page(name, folder == self.shown_root, entries):
                message = f"{path} was not read: it must be named {expected} for {join_names(sorted(agents))}"
                yield finding(CASE_CHECK, message, path)

    # Rules that apply to some paths

    def _check_own_rules(self, candidates: Iterable[Candidate]) -> None:
        """Check the rules among the candidates of the assembler's layout: their fields, and the paths that they wait for."""
        layout = self.assembler.layout()
        inside = [candidate for candidate in candidates if is_inside(candidate.path, self.shown_root)]
        self.rule_fields.check(layout, inside, self.read)
        for candidate in inside:
            if candidate.fate == "waiting" and os.path.basename(candidate.path) != SKILL_FILE:
                self._note_file(candidate.path, candidate.target, agent_name(layout))

    def _check_rules(self) -> None:
        index = _index_paths(self.root, self.listings) if self.rules else None
        for path, (field, agents) in self.rules.items():
            source = self.read(path)
            if index is not None and source is not None:
                _report_unmatched_rule(split_globs(field), index, source, agents, self.facts)


def _report_unmatched_rule(
    globs: Sequence[str], index: PathIndex, source: SourceText, agents: Iterable[str], facts: Facts
) -> None:
    if index.has_match(globs):
        return
    message = (
        f"{{agents}} never use{{s}} this rule: no file in the repository matches {', '.join(globs)};"
        " correct the pattern, or delete the rule"
    )
    place = place_of(source, globs[0])
    severity: Severity | None = None if names_folder(globs) else "info"
    for agent in agents:
        facts.add("unmatched-rule", place, message, agent, severity=severity)


def _index_paths(root: str, listings: Listings) -> PathIndex | None:
    """Return every file and folder in the repository, or None if there are too many."""
    start = len(root.rstrip("/")) + 1
    paths: list[str] = []
    links: list[str] = []
    for folder, entries in walk_folders(root, [], listings):
        prefix = folder[start:] + "/" if len(folder) >= start else ""
        paths += [prefix + name for name in entries]
        links += [prefix + name for name, kind in entries.items() if kind == "linked folder"]
        if len(paths) > _MAX_FILES:
            return None
    return PathIndex(paths, links)


def without_menus(prompt: Prompt, snapshot: Snapshot) -> Prompt:
    """Return the prompt without the candidates for skills, sub-agents and commands, which these checks do not cover."""
    results = snapshot.inputs.lookup_results
    menus = {
        candidate
        for lookup in snapshot.layout.lookups
        if lookup.kind != "text" and lookup.name in results
        for candidate in results[lookup.name].candidates
    }
    return replace(prompt, candidates=[candidate for candidate in prompt.candidates if candidate not in menus])
