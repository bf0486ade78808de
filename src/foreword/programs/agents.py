"""Compare what released agents read in a repository: choose the agents, build a prompt for each, and list the files.

Every file is read once for all agents, and the repository is walked once.
"""

from __future__ import annotations

import os

from ..errors import CallError, ForewordError
from ..findings import finding
from ..inspection.agents import READ_VERDICTS, AgentView, apply_visits, compare_agents, folders_to_visit
from ..inspection.own_part import own_part
from ..packs.mirrors import find_mirrors
from ..packs.shipped import has_changes
from ..sources.environment import resolve_workspace
from ..sources.instruction_files import find_instruction_files, instruction_file_patterns
from ..sources.paths import is_inside
from ..sources.places import Known
from ..sources.reader import Reader
from ..sources.tree import Listings
from ..store import waits
from ..text.lines import printable
from ..text.tokens import estimate_joined, estimated_count
from ..vocabulary import replace, value
from .agents_in_use import evidence_of
from .progress import counted
from .touch_candidates import touch_candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..engine.assembler import Assembler
    from ..inspection.agents import AgentTable, Verdict
    from ..layout.model import Layout
    from ..packs.mirrors import Mirror
    from ..sources.instruction_files import InstructionFiles
    from ..vocabulary import Candidate, Finding, Prompt
    from .folder_assemblers import FolderAssemblers
    from .question import Question

    # Takes a layout and a folder.
    AssemblerFor = Callable[[str, str], Assembler | None]

# Findings that the table itself shows, and those that are not about instruction files.
_SHOWN_BY_TABLE = ("file-shadowed", "file-duplicate")
_SKIPPED_PREFIX = "skill-"
_MAX_VISITS = 1_000


@value
class AgentReport:
    """The table of files and agents. `others` are the mirrored agents that are not in it; `paths` are the requested paths."""

    root: str
    cwd: str
    table: AgentTable
    findings: Sequence[Finding] = ()
    others: Sequence[str] = ()
    paths: Sequence[str] = ()


def agents_that_read(question: Question, path: str) -> list[Layout]:
    """Return the layouts of the mirrored agents that load or list a file, in this folder or in another folder of the repository."""
    return _Comparison(question).readers(path)


def verdict_on(question: Question, path: str) -> tuple[Verdict, str]:
    """Return what the question's own layout does with a file in the repository, as in the table of agents, and the file's layer."""
    return _Comparison(question).own_verdict(path)


def agent_report(
    question: Question, assembler_for: AssemblerFor | None = None, files: InstructionFiles | None = None
) -> AgentReport:
    """Compare what agents read in the question's workspace.

    `assembler_for` may return assemblers that have read the files already. `files` are the instruction files, if they are known.
    """
    return _Comparison(question, assembler_for).report(files)


class _Comparison:
    """One comparison: the workspace, the files in it, and the contents that all agents' readers share."""

    def __init__(self, question: Question, assembler_for: AssemblerFor | None = None) -> None:
        self.question, self.assembler_for = question, assembler_for
        self.known = Known()
        self.reader = Reader(known=self.known)
        self.workspace = resolve_workspace(question.workspace, self.reader)
        self.root = self.workspace.root or self.workspace.cwd
        self.mirrors, problems = find_mirrors(self.workspace, self.reader, question.fields.get("packs"))
        self.findings: dict[Finding, None] = dict.fromkeys(problems)
        self.assemblers: list[Assembler] = []
        self.costs: dict[str, int] = {}  # of the lines in the prompts, in tokens
        self.real_names: dict[str, str] = {}
        self.touched_folders: list[str] = []
        self.assignments, self.assigned_agents = _split_assignments(question)

    def report(self, files: InstructionFiles | None = None) -> AgentReport:
        """Walk the repository, choose the agents and compare them."""
        fields = self.question.fields
        requested = fields.get("layouts") or list(filter(None, [fields.get("layout")]))
        named = {name: self._assembler(name).layout() for name in requested or self._configured_names()}
        if files is None:
            files = self._find_files(named.values())
        self._report_files(files)
        paths = [self._path(path) for path in fields.get("paths") or ()]
        self.known.walked.requested.update(folders_above(paths, self.root))
        self.touched_folders = folders_above((*files.paths, *paths), self.root)
        views = self._views(named, {} if requested else self.mirrors, files.paths)
        self._collect_findings(views)
        root, cwd = printable(self.root), printable(self.workspace.cwd)
        candidates = [printable(path) for path in (*files.paths, *paths)]
        table = compare_agents(views, candidates, root, cwd, _missing(paths))
        table = _filter_rows(_without_missing(table, candidates), paths)
        table = apply_visits(table, self._visit(table))
        view_names = {view.name for view in views}
        others = [] if requested else [name for name, mirror in self.mirrors.items() if mirror.name not in view_names]
        return AgentReport(root, cwd, table, tuple(self.findings), others, [printable(path) for path in paths])

    def readers(self, path: str) -> list[Layout]:
        """Return the layouts of the mirrored agents that read a file. The repository is not walked, and the caller's assignments do not apply."""
        self.assignments = []
        self.touched_folders = folders_above([path], self.root)
        views = list(filter(None, (self._try_view(name, mirror.layout, ()) for name, mirror in self.mirrors.items())))
        root, cwd = printable(self.root), printable(self.workspace.cwd)
        table = _filter_rows(compare_agents(views, [printable(path)], root, cwd), [path])
        table = apply_visits(table, self._visit(table))
        return [
            view.layout
            for row in table.rows
            for view, verdict in zip(views, row.verdicts, strict=True)
            if verdict.name in READ_VERDICTS
        ]

    def _find_files(self, layouts: Iterable[Layout]) -> InstructionFiles:
        """Walk the repository for the files that these or the mirrored agents may read."""
        listings = Listings(self.workspace.inside)
        patterns = [pattern for mirror in self.mirrors.values() for pattern in mirror.patterns]
        patterns += instruction_file_patterns(layouts)
        files = find_instruction_files(self.root, patterns, listings, cwd=self.workspace.cwd)
        self.known.walked.add(listings.listed)
        return files

    def own_verdict(self, path: str) -> tuple[Verdict, str]:
        """Return the verdict of the question's own layout on a file, and the file's layer."""
        verdict, layer = self._own_verdict(path, [path])
        if verdict.name == "never" and os.path.isfile(path):  # a file in another folder may import it
            files = self._find_files([self.question.assembler.layout()])
            verdict, layer = self._own_verdict(path, [*files.paths, path])
        return verdict, layer

    def _own_verdict(self, path: str, files: Sequence[str]) -> tuple[Verdict, str]:
        """Return the verdict on a file, and its layer, of an agent that may touch files beside these."""
        assembler = self.question.assembler
        self.touched_folders = folders_above(files, self.root)
        shown, root, cwd = printable(path), printable(self.root), printable(self.workspace.cwd)
        view = self._view(assembler.layout_name, assembler.layout(), ())
        table = _filter_rows(compare_agents([view], [shown], root, cwd), [path])
        visits = self._visit(table)
        verdict = apply_visits(table, visits).rows[0].verdicts[0]
        visited = (candidates[shown] for candidates in visits.values() if shown in candidates)
        touched = (candidate for candidate in view.touched if candidate.path == shown)
        return verdict, next((candidate.layer for candidate in (*visited, *touched)), "project")

    def _views(
        self, named: Mapping[str, Layout], mirrors: Mapping[str, Mirror], files: Sequence[str]
    ) -> list[AgentView]:
        """Return a view for each named agent, and for each mirrored agent that is detected in the repository."""
        signs = {name: mirror.detected_by for name, mirror in mirrors.items()}
        signs |= {name: layout.detected_by for name, layout in named.items()}
        evidence = {name: evidence_of(detected_by, self.root, files) for name, detected_by in signs.items()}
        chosen = [name for name in mirrors if self.question.fields.get("all") or evidence[name]]
        views: list[AgentView] = []
        for name in counted(list(dict.fromkeys((*chosen, *named)))):
            if name in named:
                views.append(self._view(name, named[name], evidence[name]))
            elif view := self._try_view(name, mirrors[name].layout, evidence[name]):
                views.append(view)
        return views

    def _path(self, name: str) -> str:
        """Return the absolute path: in the current directory if the file exists only there, otherwise in the workspace."""
        paths = self.question.paths_of(name, self.workspace.cwd)
        return next(filter(os.path.lexists, paths), paths[0])

    def _configured_names(self) -> list[str]:
        """Return the layouts that the settings or the caller specify as agents."""
        names: Sequence[str] = ()
        settings = self.question.fields.get("settings") or ""
        if settings or has_changes(self.workspace, self.reader):
            from ..packs.settings import agent_names, read_settings

            files, problems = read_settings(self.workspace, self.reader, settings)
            names, refused = agent_names(files)
            self.findings.update(dict.fromkeys((*problems, *refused)))
        return list(dict.fromkeys((*names, *self.assigned_agents)))

    def _assembler(self, layout: str) -> Assembler:
        known = self._known_assembler(layout, self.workspace.cwd)
        if known:
            return known
        root = self.workspace.root if self.workspace.is_repository else None
        assembler = self.question.assembler_for(replace(self.workspace, root=root), layout, self.assignments)
        assembler.reader = lambda: Reader(known=self.known)
        assembler.reads_user_files = not self.question.is_portable
        assembler.looks_for_changes = False  # all readers share one state of the disk
        return assembler

    def _known_assembler(self, layout: str, folder: str) -> Assembler | None:
        return self.assembler_for(layout, folder) if self.assembler_for else None

    def _try_view(self, name: str, layout: Layout, evidence: Sequence[str]) -> AgentView | None:
        """Return an agent's view, or None, with a finding, if its layout does not accept the settings. Not for agents named explicitly."""
        try:
            return self._view(name, layout, evidence)
        except ForewordError as error:
            self.findings[finding("agent-left-out", f"the agent '{name}' was left out: {error}")] = None
            return None

    def _view(self, name: str, layout: Layout, evidence: Sequence[str]) -> AgentView:
        waits.announce("build")
        question = self.question
        assembler = self._assembler(name)
        # Menus matter only if they can push a file over the prompt's budget.
        if not self._known_assembler(name, self.workspace.cwd):
            assembler.finds_skills = layout.budget is not None
        prompt = assembler.prompt(question.agent, question.now)
        snapshot = assembler.snapshot(question.agent)
        number = estimate_joined(_texts_of(prompt), self.costs)
        tokens = estimated_count(number, question.model, question.provider)
        self.assemblers.append(assembler)
        menus = {lookup.name: lookup for lookup in layout.lookups if lookup.kind != "text"}
        lookups = [menus.get(lookup.name, lookup) for lookup in snapshot.layout.lookups]
        touched = touch_candidates(assembler, self.touched_folders)
        view_name = self.mirrors[name].name if name in self.mirrors else snapshot.layout.name
        view_layout = replace(snapshot.layout, name=view_name, lookups=lookups)
        own = own_part(layout, question.model, question.provider)
        return AgentView(view_layout, snapshot.inputs, prompt, tokens, evidence, touched, own)

    def _visit(self, table: AgentTable) -> dict[tuple[int, str], dict[str, Candidate]]:
        """Return the candidates for agents that work in other folders, up to a limit on the number of folders."""
        folders = folders_to_visit(table)
        if len(folders) > _MAX_VISITS:
            message = (
                f"only the first {_MAX_VISITS:,} of {len(folders):,} folders with instruction files were searched; "
                "files in the others may be shadowed"
            )
            self.findings[finding("scan-limit", message, printable(self.root))] = None
        found: dict[tuple[int, str], dict[str, Candidate]] = {}
        if not folders:
            return found
        from .folder_assemblers import FolderAssemblers

        below: dict[int, FolderAssemblers] = {}
        for number, folder in counted(folders[:_MAX_VISITS]):
            waits.announce("build")
            path = self.real_names.get(folder, folder)
            assembler = self._known_assembler(self.assemblers[number].layout_name, path)
            try:
                if assembler is None:
                    if number not in below:
                        below[number] = FolderAssemblers(self.assemblers[number], self.known)
                    assembler = below[number].assembler(path)
                snapshot = assembler.snapshot(self.question.agent)
                found[number, folder] = {candidate.path: candidate for candidate in snapshot.inputs.candidates}
            except ForewordError:  # the folder no longer exists, or its own settings are refused
                continue
        return found

    def _report_files(self, files: InstructionFiles) -> None:
        """Add findings about the walk, and record the real names of folders whose printed names differ."""
        for path in files.paths:
            while path != self.root and printable(path) != path:
                self.real_names[printable(path)] = path
                path = os.path.dirname(path)
        for path, reason in files.unlisted:
            printable_path = printable(path)
            self.findings[
                finding(
                    "file-unreadable", f"{printable_path}: the folder could not be listed: {reason}", printable_path
                )
            ] = None
        if not files.is_complete:
            printable_path = printable(self.root)
            message = f"{printable_path} contains too many folders, or too many inside each other; files in the remaining ones are missing from the table"
            self.findings[finding("scan-limit", message, printable_path)] = None

    def _collect_findings(self, views: Sequence[AgentView]) -> None:
        """Add the warnings and errors of all prompts. If one does not apply to every agent, its message lists the agents."""
        agents_by_problem: dict[Finding, list[str]] = {}
        for view in views:
            for problem in view.prompt.findings:
                is_shown = problem.code in _SHOWN_BY_TABLE or problem.code.startswith(_SKIPPED_PREFIX)
                if problem.severity != "info" and not is_shown:
                    # The verdict says what the program does.
                    message = problem.message.removesuffix(f"; {view.layout.mirrors} would read it")
                    problem = replace(problem, message=message)
                    agents_by_problem.setdefault(problem, []).append(view.name)
        for problem, names in agents_by_problem.items():
            suffix = "" if len(names) == len(views) else f" ({', '.join(names)})"
            self.findings[replace(problem, message=problem.message + suffix)] = None


def _texts_of(prompt: Prompt) -> Iterator[str]:
    """Yield the texts of a prompt: its pieces, and what separates its passages."""
    end = 0
    for passage in prompt.passages:
        yield prompt.text[end : passage.start]
        yield from (piece.text for piece in passage.pieces)
        end = passage.end


def folders_above(paths: Iterable[str], root: str) -> list[str]:
    """Return the folders above these paths, below the root."""
    found: dict[str, None] = {}
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in found and folder != root and is_inside(folder, root):
            found[folder] = None
            folder = os.path.dirname(folder)
    return list(found)


def _missing(paths: Sequence[str]) -> set[str]:
    return {printable(path) for path in paths if not os.path.lexists(path)}


def _without_missing(table: AgentTable, found: Iterable[str]) -> AgentTable:
    """Return the table without files that neither were found nor exist: an import can name them."""
    known = set(found)
    return replace(table, rows=[row for row in table.rows if row.path in known or os.path.lexists(row.path)])


def _filter_rows(table: AgentTable, paths: Sequence[str]) -> AgentTable:
    """Return the table with only the files at or below these paths, or the whole table if there are no paths."""
    if not paths:
        return table
    folders = {printable(path) for path in paths if os.path.isdir(path)}
    printable_paths = {printable(path) for path in paths}
    rows = [
        row
        for row in table.rows
        if row.path not in folders and not printable_paths.isdisjoint(_path_and_folders(row.path))
    ]
    return replace(table, rows=rows)


def _path_and_folders(path: str) -> Iterator[str]:
    """Yield a path and the folders above it."""
    yield path
    while path != (path := os.path.dirname(path)):
        yield path


def _split_assignments(question: Question) -> tuple[list[tuple[str, Any]], list[str]]:
    """Return the question's assignments to layout keys, and the agents that it assigns to `agents`."""
    others: list[tuple[str, Any]] = []
    names: list[str] = []
    for key, content in question.assignments():
        if key != "agents":
            others.append((key, content))
            continue
        if isinstance(content, str):
            from ..layout.merging import split_list

            content = split_list(content)
        names = content
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise CallError(
                f'--set agents needs a list of layouts, such as agents=["claude", "codex"], not {content!r}'
            )
    return others, names
