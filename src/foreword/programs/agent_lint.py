"""Run the lint checks for released agents: build each agent's prompt in the folders where it works.

Only agents that are detected in the repository, or that the settings name, are considered. Each file is read and each
folder is listed only once for all of them.
"""

from __future__ import annotations

import os

from ..engine.assembler import Assembler
from ..engine.skills import all_skills
from ..errors import ForewordError
from ..inspection.agents import AgentView, compare_agents, folders_to_visit
from ..inspection.lint.agent_facts import Facts, Visit, agent_name, shared_names
from ..inspection.lint.agent_files import (
    BlankFiles,
    report_hidden_files,
    report_misordered_files,
    report_misplaced_files,
)
from ..inspection.lint.agent_texts import (
    RepeatedTexts,
    report_imports_in_code,
    report_missing_imports,
    report_unexpanded_includes,
)
from ..inspection.lint.cut_files import CutFiles, byte_limit
from ..inspection.lint.rule_fields import RuleFields, report_invalid_fields, report_other_extensions
from ..inspection.lint.skill_menus import find_cut_menu, limited_menu
from ..inspection.lint.skills import SHARED_FOLDERS, hidden_folder, skill_readers
from ..inspection.lint.source_text import SourceText
from ..packs.config import read_config
from ..packs.mirrors import all_mirrors
from ..packs.packs import mirror_names
from ..packs.settings import agent_names, read_settings
from ..sources.instruction_files import find_instruction_files, instruction_file_patterns
from ..sources.paths import is_inside
from ..sources.scoping import read_rule_fields
from ..sources.search import SKILL_FILE
from ..text.lines import printable
from ..text.tokens import Count
from ..vocabulary import replace
from .agent_below import AgentBelow
from .agents_in_use import evidence_of
from .named_files import NamedFiles
from .own_files import OwnFiles
from .progress import counted
from .quiet_folders import FolderTexts
from .repository_files import RepositoryFiles
from .waiting_rules import WaitingRules
from .wrong_case_agents import WrongCaseNames

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
    from datetime import datetime

    from ..engine.assembler import Snapshot
    from ..layout.model import Layout
    from ..sources.tree import Listings
    from ..vocabulary import Agent, Candidate, Finding, Prompt, Skill, Workspace
    from .agents import AssemblerFor


# Fewer skills hardly fill a menu.
_MIN_SKILLS = 8


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
        self.assembler, self.workspace = assembler, workspace
        self.assembler_for, self.arguments = assembler_for, arguments
        self.files = RepositoryFiles(workspace, listings)
        self.own = OwnFiles(self.files)
        self.facts = Facts()
        # A user's layout that cannot be read is skipped; `foreword agents` reports it.
        self.mirrors, _ = all_mirrors(workspace, self.files.reader(), assembler.packs)
        self.readers = skill_readers(self.mirrors.values())
        # A user's variant of a shipped mirror does not make its files shared.
        self.shared = shared_names(self.mirrors[name] for name in mirror_names())
        self.agents = frozenset(agent_name(self.mirrors[name]) for name in mirror_names())
        self.blank_files, self.cut_files = BlankFiles(self.facts), CutFiles(self.facts)
        self.repeated = RepeatedTexts(self.facts, self.shared, self.files.resolve)
        self.rule_fields = RuleFields(
            self.facts, lambda text: read_rule_fields(text)[0], self.files.resolve, self.shared
        )
        # The files that an agent loads, or may get later, for example when it touches a file.
        self.files_read: dict[str, None] = {}
        self.rules, self.wrong_case = WaitingRules(), WrongCaseNames(self.files)
        self.named = NamedFiles(self.files, self.mirrors.values())

    def findings(
        self, is_recursive: bool, disabled: Collection[str], candidates: Iterable[Candidate] = ()
    ) -> list[Finding]:
        """Return the findings about all agents in use, and about the rules among these candidates of the assembler's layout.

        With `is_recursive`, every folder below with a file for an agent is checked too.
        """
        named = self._named_layouts()
        layouts = {**named, **self.mirrors}
        files = self._files(layouts.values(), is_recursive)
        names = self.files.names_above(self.workspace.cwd)
        evidence = {name: self._evidence(layout, files, names) for name, layout in layouts.items() if name not in named}
        chosen = [name for name in layouts if name in named or evidence[name]]
        self.repeated.in_use = {
            agent_name(layouts[name]) for name in chosen if name in named or not self.shared.issuperset(evidence[name])
        }
        if chosen:
            self._check(chosen, files)
        self.blank_files.report()
        self.cut_files.report()
        self._check_own_rules(candidates)
        if "unmatched-rule" not in disabled:
            self.rules.report_unmatched(self.files, self.facts)
        findings = [*self.facts.findings(), *self.wrong_case.findings(), *self._cut_menus(chosen, layouts)]
        return [result for result in findings if result.code not in disabled]

    def _cut_menus(self, chosen: Sequence[str], layouts: Mapping[str, Layout]) -> Iterator[Finding]:
        """Yield a finding for each agent that does not list all of the repository's skills with their descriptions."""
        if (
            self._count_skill_folders(
                {*self.readers, *skill_readers(layouts[name] for name in layouts.keys() - self.mirrors)}
            )
            < _MIN_SKILLS
        ):
            return
        for name in chosen:
            if limited_menu(layouts[name]) is None:
                continue
            assembler = self._assembler(name)
            assembler.finds_skills = True
            try:
                skills = list(all_skills(assembler.snapshot(*self.arguments[:1]).inputs))
            except ForewordError:  # the settings do not fit this layout
                continue
            agent = agent_name(layouts[name])
            concerned = _concerned_skills(skills, self.files.root, agent, agent in self.repeated.in_use)
            if found := find_cut_menu(layouts[name], concerned):
                yield found

    def _count_skill_folders(self, hidden_folders: Iterable[str]) -> int:
        """Return how many entries the folders of skills have, from the root to the working directory."""
        tops, folder = [self.workspace.cwd], self.workspace.cwd
        while folder != self.files.real_root and is_inside(folder, self.files.real_root):
            folder = os.path.dirname(folder)
            tops.append(folder)
        return sum(len(self.files.entries(f"{top}/{name}/skills")) for top in tops for name in hidden_folders)

    def sources(self, findings: Sequence[Finding]) -> list[SourceText]:
        """Return the texts of the files that findings are about. They may contain comments that ignore the findings."""
        texts = (self.files.read(path) for path in dict.fromkeys(result.path for result in findings))
        return [text for text in texts if text is not None]

    # The agents

    def _named_layouts(self) -> dict[str, Layout]:
        """Return the layouts that the settings name as agents. Those that cannot be read are skipped; `foreword agents` reports them."""
        files, _ = read_settings(self.workspace, self.files.reader(), self.assembler.settings)
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
        found = find_instruction_files(self.workspace.cwd, instruction_file_patterns(layouts), self.files.listings)
        self.files.note_names(found.paths)
        own = [path for path in found.paths if self.own.is_own(printable(path))]
        # What others wrote is searched for secrets and the like too.
        self.files_read.update(dict.fromkeys(map(printable, found.paths if len(own) < len(found.paths) else ())))
        return own

    def _evidence(self, layout: Layout, files: Sequence[str], names: Set[str]) -> set[str]:
        """Return the files and folders that show that an agent is used: those with one of these names, or among these files.

        A name in the wrong letter case counts too.
        """
        evidence = set(evidence_of(layout.detected_by, self.files.real_root, files))
        return evidence.union(path for path in layout.detected_by if path.rstrip("/").lower() in names)

    def _assembler(self, layout: str) -> Assembler:
        known = self.assembler_for(layout, self.workspace.cwd) if self.assembler_for else None
        if known:
            return known
        workspace = replace(self.workspace, root=self.workspace.root if self.workspace.is_repository else None)
        base = self.assembler
        assembler = Assembler(workspace, layout, settings=base.settings, packs=base.packs, values=base.values)
        assembler.reader = self.files.reader
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
        table = compare_agents(views, [printable(file) for file in files], self.files.root, cwd)
        visits = [visit for _, visit in agents]
        report_misplaced_files(table, visits, self.facts, self.repeated.in_use, self.mirrors.values())
        self._check_below(agents, folders_to_visit(table), files)

    def _check_below(
        self, agents: Sequence[tuple[Assembler, Visit]], folders: Sequence[tuple[int, str]], files: Sequence[str]
    ) -> None:
        """Check the agents with these numbers in these folders below the working directory, except where there is nothing new to say."""
        if not folders:
            return
        cwd = printable(self.workspace.cwd)
        self.files.known.walked.add(self.files.listings.listed)
        texts = FolderTexts(map(printable, files), cwd, self.files.read)
        below = [AgentBelow(assembler, visit, texts, self.files.known) for assembler, visit in agents]
        for number, folder in counted(folders):
            if is_inside(folder, cwd) and self.own.is_workplace(folder):
                real = self.files.real_path(folder)
                for path, target in below[number].visit(folder, real, self.facts, self._visit):
                    self._note_file(path, target, agents[number][1].agent)

    def _visit(self, assembler: Assembler, folder: str) -> Visit | None:
        """Check one agent's prompt in one folder. Returns None if there is no prompt."""
        try:
            prompt = assembler.prompt(*self.arguments)
        except ForewordError:  # the folder no longer exists, or its own settings are refused
            return None
        snapshot = assembler.snapshot(*self.arguments[:1])
        if assembler.finds_skills:
            prompt = without_menus(prompt, snapshot)
        visit = Visit(
            snapshot.layout,
            snapshot.inputs,
            prompt,
            printable(folder),
            self.files.root,
            self.files.read,
            self.files.resolve,
        )
        report_hidden_files(visit, self.facts, self.shared, self.agents)
        self.blank_files.visit(visit)
        if any(visit.candidates_in_repository("cut")) and not _has_more_room_if_trusted(assembler):
            self.cut_files.visit(visit)
        report_misordered_files(visit, self.facts)
        report_missing_imports(visit, self.facts, self.files.entries)
        report_imports_in_code(visit, self.facts)
        report_unexpanded_includes(visit, self.facts, self._is_for)
        report_invalid_fields(visit, self.facts)
        self.rule_fields.visit(visit)
        report_other_extensions(visit, self.facts, self.files.own_entries, self.named.is_named)
        self.repeated.visit(visit)
        self.files_read.update(dict.fromkeys(visit.loaded))
        # Cursor does not use some rules unless the user attaches them.
        self.files_read.update((candidate.path, None) for candidate in visit.candidates_in_repository("unused"))
        for rule in visit.candidates_in_repository("waiting"):
            self._note_file(rule.path, rule.target, visit.agent)
        self.wrong_case.visit(visit)
        return visit

    def _is_for(self, agent: str, path: str) -> bool:
        """Whether a file is for an agent: because it is for several, or because the repository has a file for this agent alone."""
        return os.path.basename(path) in self.shared or agent in self.repeated.in_use

    def _note_file(self, path: str, target: str | None, agent: str) -> None:
        """Note a file that an agent reads, and the paths for which it waits, if it does."""
        self.files_read[path] = None
        if target is not None:
            self.rules.add(path, target, agent)

    # Rules that apply to some paths

    def _check_own_rules(self, candidates: Iterable[Candidate]) -> None:
        """Check the rules that the assembler's layout reads: their fields, and the paths that they wait for.

        Neither matters if the repository is written for released agents, and the layout mirrors none of them.
        """
        layout = self.assembler.layout()
        inside = [candidate for candidate in candidates if is_inside(candidate.path, self.files.root)]
        matters = bool(layout.mirrors or not self.repeated.in_use)
        if matters:
            self.rule_fields.check(layout, inside, self.files.read)
        for candidate in inside:
            if candidate.fate == "waiting" and os.path.basename(candidate.path) != SKILL_FILE:
                self._note_file(candidate.path, candidate.target if matters else None, agent_name(layout))


def _has_more_room_if_trusted(assembler: Assembler) -> bool:
    """Whether the repository's own settings, which count as soon as a user trusts it, raise the limit of what an agent reads."""
    plan = assembler.plan()
    limit = byte_limit(plan.layout)
    if limit is None:
        return False
    values, _ = read_config(plan.layout.config, plan.workspace, assembler.reader())
    return any(
        value.is_untrusted
        and plan.layout.settings[value.row.setting] == limit
        and type(value.content) is int
        and value.content > limit
        for value in values
    )


def _concerned_skills(skills: Iterable[Skill], root: str, agent: str, is_in_use: bool) -> list[Skill]:
    """Return a repository's skills that are for an agent. If it is not in use, these are the ones in a shared folder that is for it in any case."""
    return [
        skill
        for skill in skills
        if is_inside(skill.path, root)
        and (is_in_use or SHARED_FOLDERS.get(hidden_folder(skill.path.removeprefix(root))) == agent)
    ]


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
