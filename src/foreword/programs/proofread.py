"""Run lint: assemble a folder's prompt, and optionally the prompts of all folders below it, and run the checks on each.

The checks are pure (`inspection.lint`). This module reads the disk for them: whether a file exists, what a SKILL.md contains,
and which checks are disabled.
"""

from __future__ import annotations

import os

from ..engine.skills import all_skills
from ..errors import CallError
from ..extensions import run_checks
from ..findings import SEVERITIES, finding, merge_repeated
from ..inspection.lint import GUARDS, LintContext, Linter
from ..inspection.lint.agent_table import AGENT_IDS
from ..inspection.lint.skills import with_reaction
from ..inspection.lint.source_text import SourceText, skill_texts
from ..packs.settings import check_lint_ids, disabled_checks, read_settings
from ..sources.front_matter import read_skill
from ..sources.instruction_files import find_instruction_files, instruction_file_patterns
from ..sources.links import ALLOW_HINT, reach_by_path, workspace_reach
from ..sources.places import Known
from ..sources.reader import Reader
from ..sources.search import SKILL_FILE
from ..sources.tree import Listings, scan_below
from ..store import waits
from ..text.lines import printable
from ..text.tokens import estimate
from ..vocabulary import Agent, replace, value
from .agents import folders_above
from .files_to_come import without_files_to_come
from .folder_assemblers import FolderAssemblers
from .lint_disk import LintDisk
from .lint_report import fold_by_file, without_files_of_git, without_repeated_reasons
from .own_files import OwnFiles
from .repository_files import RepositoryFiles
from .touch_candidates import with_touch_candidates
from .wrong_case import CASE_CHECK, WrongCaseFinder, is_page_of_site

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Literal

    from ..engine.assembler import Assembler, Snapshot
    from ..extensions import Extension
    from ..inspection.lint.skills import Readers
    from ..layout.model import Layout
    from ..vocabulary import Candidate, Finding
    from .agent_lint import AgentLint
    from .agents import AssemblerFor

# Listing this many folders takes about a tenth of a second.
_MAX_FOLDERS = 5_000
_ONLY_OURS = ("file-shadowed", "skill-shadowed", "unsupported-include", "front-matter-invalid")


@value
class Report:
    """The result of lint.

    Fields:
        findings: The likely mistakes that were found.
        files: How many files were checked.
        root: The root of the workspace.
    """

    findings: Sequence[Finding]
    files: int
    root: str


def proofread(
    assembler: Assembler,
    agent: Agent | None = None,
    now: datetime | None = None,
    disable: Iterable[str] = (),
    is_recursive: bool = False,
    extensions: Sequence[Extension] = (),
) -> Report:
    """Report likely mistakes in a workspace's prompt and, if `is_recursive` is set, in the prompts of all folders below it.

    `disable` contains the ids of checks to skip. The extensions' checks are run too.
    """
    agent = agent or Agent()
    disabled = tuple(disable)
    check_lint_ids(disabled)
    run = _LintRun(assembler, agent, now, disabled, extensions)
    run.check(assembler)
    if is_recursive:
        run.check_below()
    run.check_agents(is_recursive)
    return run.report()


def count_files_below(assembler: Assembler) -> int:
    """Return how many instruction files the folders below have. In a very large tree, only the first folders are searched."""
    cwd = assembler.plan().workspace.cwd
    names = tuple(_instruction_names(assembler.layout()))
    found = find_instruction_files(cwd, names, max_folders=_MAX_FOLDERS)
    here = {os.path.join(cwd, name) for name in names}
    return sum(path not in here for path in found.paths)


def proofread_again(
    assembler: Assembler, agent: Agent, now: datetime, listings: Listings, assembler_for: AssemblerFor | None
) -> Report:
    """Report likely mistakes in the prompt of one of several folders, each by itself, so that they can be compared with those of another state.

    `listings` contains the names in folders, and `assembler_for` returns assemblers that have read an agent's files already.
    """
    run = _LintRun(assembler, agent, now, (), (), listings, assembler_for)
    run.check(assembler)
    run.check_agents(is_recursive=False)
    return run.report(is_folded=False)


def _sort_key(finding: Finding) -> tuple[int, int, str, int, str]:
    """Sort the most useful findings first: by severity, then what is unsafe, then what an agent does not get, then by place."""
    is_agents = finding.code == "file-case" or finding.code in AGENT_IDS
    rank = 0 if finding.code in GUARDS else 1 if is_agents else 2
    return SEVERITIES.index(finding.severity), rank, finding.path, finding.line or 0, finding.code


class _LintRun:
    """One run of lint: the findings so far, and what has already been checked."""

    def __init__(
        self,
        assembler: Assembler,
        agent: Agent,
        now: datetime | None,
        disabled: tuple[str, ...],
        extensions: Sequence[Extension],
        listings: Listings | None = None,
        assembler_for: AssemblerFor | None = None,
    ) -> None:
        self.assembler_for = assembler_for
        self.assembler, self.agent, self.now, self.extensions = assembler, agent, now, extensions
        self.snapshot = assembler.snapshot(agent)
        workspace = self.snapshot.plan.workspace
        self.root, self.cwd = workspace.root or workspace.cwd, workspace.cwd
        self.findings: dict[Finding, None] = {}
        self.files: set[str] = set()
        self.oversized: set[str] = set()
        self.skills: set[tuple[int, int]] = set()
        self.candidates: Sequence[Candidate] = ()
        # The agents that search a hidden folder for skills.
        self.readers: Mapping[str, Readers] = {}
        self.in_use: Collection[str] = ()
        self.mirrors: Collection[Layout] = ()
        self.reader = Reader()
        self.listings = listings or Listings(workspace.inside)
        self.wrong_case = WrongCaseFinder(self.root, self.listings)
        self.disabled = {*disabled}
        self._read_settings(self.snapshot)
        tools = None if agent.tools is None else frozenset(tool.name for tool in agent.tools)
        follows_directives = any(section.language == "directives" for section in self.snapshot.layout.all_sections)
        self.disk = LintDisk(workspace, self.listings)
        self.own = OwnFiles(RepositoryFiles(workspace, self.listings))
        self.linter = Linter(
            LintContext(
                self.disk.exists,
                estimate,
                tools,
                follows_directives,
                self.disk.files_above,
                self.disk.files_anywhere,
                self.disk.exists_anywhere,
            ),
            self.disabled,
        )

    def report(self, is_folded: bool = True) -> Report:
        """Return the findings, sorted. Without `is_folded`, everything that is missing in a file is a finding of its own."""
        reach = workspace_reach(self.root, self.snapshot.plan.workspace)
        submodules = self.reader.read(os.path.join(self.root, ".gitmodules"), reach)
        kept = without_files_of_git(without_repeated_reasons(self.findings), self.root, submodules.text)
        kept = without_files_to_come(kept, printable(self.root), self._instruction_texts)
        self.findings = dict.fromkeys(kept)
        reactions = (
            with_reaction(self._for_others(each), _readers_of(each, self.readers, self.in_use), self.root, self.in_use)
            for each in sorted(self.findings, key=_sort_key)
        )
        findings = [
            found
            for found in filter(None, reactions)
            if self.own.concerns(found) and not is_page_of_site(found, self.reader, reach)
        ]
        findings = merge_repeated(findings, printable(self.root))
        return Report(tuple(fold_by_file(findings) if is_folded else findings), len(self.files), self.root)

    def _for_others(self, found: Finding) -> Finding:
        """Return a finding about a link that leaves the repository as it concerns the agents of others, if the repository is for some."""
        start, _, hint = found.message.partition(" and was not followed; ")
        if hint != ALLOW_HINT or self.snapshot.layout.mirrors or not self.in_use:
            return found
        message = (
            f"{start}, so those who clone the repository do not get the file; link to a file in it, or copy the file"
        )
        return replace(found, message=message)

    def _instruction_texts(self) -> Iterator[SourceText]:
        """Yield the texts of the files that were checked, and of the repository's skills and commands for known agents."""
        kinds: dict[str, str] = {}
        for kind in ("skill", "command"):
            patterns = instruction_file_patterns([self.snapshot.layout, *self.mirrors], kind)
            kinds.update(
                (printable(path), kind) for path in find_instruction_files(self.root, patterns, self.listings).paths
            )
        for path in {**dict.fromkeys(self.files, "file"), **kinds}:
            if source := self.own.files.read(path):
                is_skill = os.path.basename(path) == SKILL_FILE
                yield SourceText(path, source.text, kind="skill" if is_skill else kinds.get(path, "file"))

    def _read_settings(self, snapshot: Snapshot) -> None:
        files, _ = read_settings(snapshot.plan.workspace, Reader(), self.assembler.settings)
        disabled, findings = disabled_checks(files)
        self.disabled |= disabled
        self.findings.update(dict.fromkeys(findings))

    def check(self, assembler: Assembler) -> None:
        """Check one folder's prompt."""
        waits.announce("build")
        prompt = assembler.prompt(self.agent, self.now)
        if assembler is self.assembler:
            self.candidates = prompt.candidates
        snapshot = assembler.snapshot(self.agent)
        self.disk.enter(snapshot.plan.workspace)
        skills = [skill.path for skill in all_skills(snapshot.inputs)]
        found = self.linter.check(prompt, map(printable, skills))
        # Without tools, nothing is known about the agent, so nothing can be said about what its tools can load.
        folder = snapshot.plan.workspace.cwd
        self.record(
            _in_folder(each, folder) for each in found if each.code != "skills-unlisted" or self.agent.tools is not None
        )
        self.record(run_checks(self.extensions, prompt))
        self.record(self.wrong_case.findings(prompt.candidates))
        self.files.update(
            piece.origin.path for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"
        )
        self.read_skills(skills)

    def record(self, findings: Iterable[Finding]) -> None:
        """Record findings. An oversized section is reported only once per file, although its size differs in each folder below."""
        for reported in findings:
            if reported.code in self.disabled:
                continue
            if reported.code != "oversized-section" or reported.path not in self.oversized:
                self.findings[reported] = None
            if reported.code == "oversized-section":
                self.oversized.add(reported.path)

    def read_skills(self, paths: Iterable[str], validation: Literal["strict", "lenient", ""] = "") -> None:
        """Check the bodies of SKILL.md files and, if `validation` is set, their front matter."""
        for path in paths:
            reading = self.reader.read(
                path, reach_by_path(path, self.snapshot.layout.lookups, self.snapshot.plan.workspace)
            )
            if reading.identity in self.skills:
                continue
            if not reading.has_text:
                if validation and reading.code:
                    printable_path = printable(path)
                    self.findings[finding(reading.code, f"{printable_path}: {reading.reason}", printable_path)] = None
                continue
            self.skills.add(reading.identity)
            printable_path = printable(path)
            self.files.add(printable_path)
            problems = read_skill(reading.text, printable_path, validation)[1] if validation else []
            findings = self.linter.check_files(skill_texts([reading.document]), problems)
            self.findings.update(dict.fromkeys(findings))

    def check_below(self) -> None:
        """Check the prompts of all folders below, and every SKILL.md."""
        layout = self.snapshot.layout
        tree = scan_below(self.cwd, set(_instruction_names(layout)), self.listings)
        known = Known()
        known.walked.add(self.listings.listed)
        below = FolderAssemblers(self.assembler, known, lambda: Reader(known=known))
        for folder in tree.folders:
            if folder != self.cwd and self.own.is_workplace(printable(folder)):
                self._check_folder(folder, below)
        self.disk.enter(self.snapshot.plan.workspace)
        is_strict = any(lookup.kind == "skill" and lookup.validation == "strict" for lookup in layout.lookups)
        self.read_skills(tree.skills, "strict" if is_strict else "lenient")
        for path in tree.unlisted:
            printable_path = printable(path)
            self.findings[
                finding("file-unreadable", f"{printable_path}: the folder could not be read", printable_path)
            ] = None

    def check_agents(self, is_recursive: bool) -> None:
        """Check the files that released agents read, if the repository is written for them."""
        from .agent_lint import AgentLint

        arguments = (self.agent, self.now) if self.assembler_for else ()
        agents = AgentLint(self.assembler, self.snapshot.plan.workspace, self.listings, self.assembler_for, arguments)
        self.own = agents.own
        self.mirrors = agents.mirrors.values()
        self.own.readers = self.readers = agents.readers
        known = {result.path for result in self.findings if result.code == CASE_CHECK}
        findings = [
            result
            for result in agents.findings(is_recursive, self.disabled, self._candidates(is_recursive))
            if result.code != CASE_CHECK or result.path not in known
        ]
        self.in_use = agents.repeated.in_use
        remaining = self.linter.without_ignored(findings, agents.sources(findings))
        self.findings = dict.fromkeys(found for found in self.findings if not self._is_only_ours(found, agents))
        self.findings.update(dict.fromkeys(agents.facts.fold(list(filter(self.own.concerns, remaining)))))
        self._check_other_files(agents)

    def _is_only_ours(self, found: Finding, agents: AgentLint) -> bool:
        """Whether a finding does not apply to the released agents of the repository, but only to a layout that mirrors none.

        What they do with the files that they load is known. Of two skills with one name, most search only one's folder.
        """
        if found.code not in _ONLY_OURS or self.snapshot.layout.mirrors:
            return False
        if found.code == "front-matter-invalid":  # of a sub-agent that only this layout knows
            return bool(self.in_use) and found.path not in agents.files_read
        is_shared = os.path.basename(found.path) in agents.shared and found.code == "file-shadowed"
        return (found.path in agents.files_read and not is_shared) or found.code == "skill-shadowed"

    def _candidates(self, is_recursive: bool) -> list[Candidate]:
        """Return the prompt's candidates, and the files that touches add: with `is_recursive`, those in every folder below."""
        layout, folders = self.snapshot.layout, list[str]()
        if is_recursive and layout.touch:
            with_touch = replace(layout, lookups=(*layout.lookups, *layout.touch.lookups))
            files = find_instruction_files(self.cwd, instruction_file_patterns([with_touch]), self.listings)
            folders = folders_above(files.paths, self.root)
        return with_touch_candidates(self.candidates, self.assembler, folders)

    def _check_other_files(self, agents: AgentLint) -> None:
        """Check the files that only other agents load, and the rules that are sent when a file is touched. Each file is checked once."""
        others = [path for path in agents.files_read if path not in self.files]
        if not others:
            return
        self.disk.enter(self.snapshot.plan.workspace)
        checked = set(map(os.path.realpath, self.files))
        copies = {(os.path.dirname(path), known.text) for path in self.files if (known := agents.files.read(path))}
        for path in others:
            source = None if (real := os.path.realpath(path)) in checked else agents.files.read(path)
            if source is not None:
                checked.add(real)
                self.files.add(path)
                copy = os.path.dirname(path), source.text
                if copy not in copies:  # an exact copy beside a file has the same findings
                    self.record(self.linter.check_files([source]))
                copies.add(copy)

    def _check_folder(self, folder: str, assemblers: FolderAssemblers) -> None:
        """Check one of the folders below. If it is a repository whose settings are refused, only this folder is skipped."""
        try:
            self.check(assemblers.assembler(folder))
        except CallError as error:
            printable_path = printable(folder)
            self.findings[finding("settings-invalid", f"{printable_path}: {error}", printable_path)] = None


def _in_folder(found: Finding, folder: str) -> Finding:
    """Return a finding about a section that is too large in a folder, which it names unless the file is in that folder."""
    if found.code != "oversized-section" or os.path.dirname(found.path) == folder:
        return found
    return replace(found, message=f"{found.message}, when working in {printable(folder)}")


def _readers_of(found: Finding, readers: Mapping[str, Readers], in_use: Collection[str]) -> Mapping[str, Readers]:
    """Return the agents that search a hidden folder for skills. A skill's name concerns only those for which the folder is."""
    if found.code != "skill-name":
        return readers
    return {
        folder: {name: globs for name, globs in agents.items() if folder == ".agents" or name in in_use}
        for folder, agents in readers.items()
    }


def _instruction_names(layout: Layout) -> Iterator[str]:
    """Yield the names of instruction files that a layout looks for in each folder."""
    for lookup in layout.lookups:
        if lookup.kind == "text":
            for pattern in (pattern for group in lookup.groups for pattern in group):
                if pattern.place in ("walk", "cwd") and "*" not in pattern.path and ".." not in pattern.path:
                    yield pattern.path
