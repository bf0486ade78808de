"""Build the prompts of the two trees of a review, in a private temporary folder.

The prompts of the second tree are built only where it differs from the first in something that the first prompt depends on.
"""

from __future__ import annotations

import os

from ..engine.assembler import reread, share_layout
from ..errors import ForewordError
from ..inspection.lint.targets import MAKEFILES, PACKAGES
from ..packs.shipped import shipped_mirror
from ..sources.checkout import blocking_file
from ..sources.git_trees import LINK, SUBMODULE, id_of, mode_of
from ..sources.instruction_files import (
    InstructionFiles,
    hidden_folders,
    instruction_file_patterns,
    select_instruction_files,
)
from ..sources.paths import is_inside
from ..sources.places import Walked
from ..sources.search import SKILL_FILE
from ..sources.tree_listings import resolve_links
from ..text.lines import printable
from ..vocabulary import Candidate, Piece, replace, value
from .agents import agent_report
from .align.broken import MAX_BYTES, alignment_problems, may_break
from .progress import counted
from .project import FILE_ORIGINS, ProjectPrompts, fixed_time
from .proofread import proofread_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ..engine.assembler import Assembler
    from ..inspection.agents import Verdict
    from ..sources.checkout import Checkout
    from ..sources.git_trees import Tree
    from ..vocabulary import Finding, Passage, Prompt
    from .question import Question

    Key = tuple[str, str]  # a layout and a folder

# Imports are nested at most this deep in practice; deeper ones are blank on both sides.
_MAX_ROUNDS = 8
_MAX_DEPTH = 64
_MAX_FILES = 10_000
_DEFAULT_LAYOUT = "foreword"
_MENU_ORIGINS = ("skill", "resident")
_NEEDED_NAMES = frozenset((SKILL_FILE, *MAKEFILES, *PACKAGES))


@value
class TreeReading:
    """The prompts of one tree, by layout and folder, with paths relative to the root.

    `sources` are the files in each prompt, with whether it contains their text. `verdicts` are what each agent at the root does with each
    instruction file. `findings` are lint's. `alignment` is what each program does not read exactly once, if instruction files changed.
    """

    prompts: Mapping[Key, Prompt]
    sources: Mapping[Key, Mapping[str, bool]]
    verdicts: Mapping[str, Mapping[str, Verdict]]
    findings: Sequence[Finding]
    notes: Sequence[str] = ()
    alignment: Mapping[str, Sequence[str]] = {}


class TreeReader:
    """Reads a tree, and then another one that differs in some files, for the same layouts and folders."""

    def __init__(self, question: Question, checkout: Checkout, base: Tree, differences: Mapping[str, str]) -> None:
        self.question, self.checkout, self.differences = question, checkout, differences
        checkout.open(base)
        project = ProjectPrompts(question, checkout.root)
        layouts = [*(mirror.layout for mirror in project.mirrors.values()), shipped_mirror(_DEFAULT_LAYOUT)]
        names = (checkout.listings.children, _names_by_folder(differences))
        patterns = instruction_file_patterns(layouts)
        selected = {path for group in names for path in select_instruction_files(group, patterns)}
        existing = {path for path in selected if path in base or path in differences}
        reachable = {path for path in existing if path.count("/") <= _MAX_DEPTH}
        self.has_deep_files = len(reachable) < len(existing)
        self.instruction_files = _select_files(reachable, differences)
        self.left_out_count = len(reachable) - len(self.instruction_files)
        self.needed = self.instruction_files.union(*(_needed_files(group, hidden_folders(layouts)) for group in names))
        self.mirrors = project.mirrors
        self.layouts = self._find_layouts()
        folders = {path.rpartition("/")[0] for path in self.instruction_files.intersection(differences)}
        # A file can hide others only in its own folder.
        self.compared_files = [path for path in self.instruction_files if path.rpartition("/")[0] in folders]
        self._prompts = _BuiltPrompts(question, checkout)

    def read(self, folders: Sequence[str]) -> tuple[TreeReading, TreeReading]:
        """Build the prompts of both trees, in each of these folders, and check them with lint."""
        self.checkout.write(self.needed)
        before = self._read(folders)
        if not self.instruction_files.isdisjoint(self.differences) and self._may_break_alignment():
            before = replace(before, alignment=self._alignment(self.layouts))
        self._prompts.forget(self.checkout.change(self.differences, self.needed))
        after = self._read(folders)
        aligned = [name for name, problems in before.alignment.items() if not problems]
        return before, replace(after, alignment=self._alignment(aligned)) if aligned else after

    def _may_break_alignment(self) -> bool:
        """Whether the change can make agents read an instruction file more or less than once. The checkout has the old tree."""
        tree, objects = self.checkout.tree, self.checkout.objects
        changed = {path: self.differences[path] for path in self.instruction_files.intersection(self.differences)}
        old = {path: tree[path] for path in self.instruction_files if path in tree}
        if not all(_is_file(entry) for path in changed for entry in (old.get(path, ""), changed[path])):
            return True
        ids = {id_of(entry) for entry in (*old.values(), *changed.values())}
        sizes = objects.sizes(ids)
        if len(sizes) < len(ids) or sum(sizes.values()) > MAX_BYTES:
            return True
        texts = {id: content.decode("utf-8", "replace") for id, content in objects.contents(ids).items()}
        return may_break(
            {path: (texts[id_of(old[path])], texts[id_of(entry)]) for path, entry in changed.items()},
            {path: texts[id_of(entry)] for path, entry in old.items() if path not in changed},
        )

    def _alignment(self, agents: Iterable[str]) -> Mapping[str, Sequence[str]]:
        return alignment_problems(self.checkout.root, self.checkout.tree, self.checkout.links, agents)

    def _find_layouts(self) -> list[str]:
        """Return the requested layouts, or those that are detected in either tree."""
        fields = self.question.fields
        requested = fields.get("layouts") or list(filter(None, [fields.get("layout")]))
        if requested:
            return list(dict.fromkeys(requested))
        names = [name for name, mirror in self.mirrors.items() if any(map(self._exists, mirror.detected_by))]
        return [*names, ""] if not names or self._exists(".foreword/") else names

    def _exists(self, sign: str) -> bool:
        """Whether either tree has a path: a folder if it ends with a slash. One of an instruction file's folders may contain it, too."""
        suffix, is_folder = "/" + sign, sign.endswith("/")
        if any(suffix in f"/{path}" if is_folder else f"/{path}".endswith(suffix) for path in self.instruction_files):
            return True
        if is_folder:
            return sign[:-1] in self.checkout.listings.children or any(
                path.startswith(sign) for path in self.differences
            )
        return sign in self.checkout.tree or sign in self.differences

    def _read(self, folders: Sequence[str]) -> TreeReading:
        files = {folder: blocking_file(self.checkout.tree, folder) for folder in folders}
        usable = [folder for folder in folders if not files[folder] and self.checkout.make_folder(folder)]
        keys = [(layout, folder) for layout in self.layouts for folder in usable]
        built = self._prompts
        built.build(dict.fromkeys((*keys, *(("", folder) for folder in usable))))
        reading = self._reading(keys, self._verdicts(), list(self._lint(usable)))
        if not any(files.values()):
            return reading
        other = self._read_instead_of_files([folder for folder in folders if files[folder]], set(files.values()))
        return replace(
            reading,
            prompts={**reading.prompts, **other.prompts},
            sources={**reading.sources, **other.sources},
            notes=list(dict.fromkeys((*reading.notes, *other.notes))),
        )

    def _read_instead_of_files(self, folders: Sequence[str], files: Collection[str]) -> TreeReading:
        """Build prompts in folders that are files in this tree, but not in the other one, as if those files did not exist."""
        tree, checkout = self.checkout.tree, self.checkout
        entries = {path: tree[path] for path in files if path}
        self._prompts.forget(checkout.change(dict.fromkeys(entries, ""), ()))
        keys = [(layout, folder) for layout in self.layouts for folder in folders if checkout.make_folder(folder)]
        self._prompts.build(keys)
        reading = self._reading(keys, {}, ())
        self._prompts.forget(checkout.change(entries, entries))
        return reading

    def _reading(
        self, keys: Sequence[Key], verdicts: Mapping[str, Mapping[str, Verdict]], findings: Sequence[Finding]
    ) -> TreeReading:
        built = self._prompts
        prompts = {key: built.portable[key] for key in keys if key in built.portable}
        sources = {key: built.sources[key] for key in prompts}
        notes = [
            f"the layout {key[0] or _DEFAULT_LAYOUT} was left out: {built.problems[key]}"
            for key in keys
            if key in built.problems
        ]
        return TreeReading(prompts, sources, verdicts, findings, list(dict.fromkeys(notes)))

    def _lint(self, folders: Sequence[str]) -> Iterable[Finding]:
        """Return lint's findings in these folders, each once."""
        findings: dict[Finding, None] = {}
        for folder in folders:
            if ("", folder) not in self._prompts.problems:
                report = proofread_again(
                    self._prompts.assembler("", folder),
                    self.question.agent,
                    fixed_time(),
                    self.checkout.listings,
                    None if self.question.assignments() else self._prompts.assembler_for,
                )
                findings.update(dict.fromkeys(map(self._portable_finding, report.findings)))
        return findings

    def _portable_finding(self, row: Finding) -> Finding:
        root = printable(self.checkout.root)
        path = resolve_links(row.path.removeprefix(root + "/"), self.checkout.links)
        return replace(row, path=path, message=_without_root(row.message, root))

    def _verdicts(self) -> dict[str, dict[str, Verdict]]:
        """Return what each agent at the root does with each file: by path, then by the agent's name."""
        names = list(filter(None, self.layouts)) or [_DEFAULT_LAYOUT]
        if not self.compared_files:
            return {}
        try:
            paths = [os.path.join(self.checkout.root, path) for path in self.compared_files]
            fields = {"layouts": names, "layout": "", "paths": paths}
            table = agent_report(self.question.with_fields(**fields), self._prompts.assembler_for, self._files()).table
        except ForewordError:
            return {}
        root = printable(self.checkout.root) + "/"
        return {
            row.path.removeprefix(root): {
                view.name: replace(verdict, reason=_without_root(verdict.reason, root[:-1]))
                for view, verdict in zip(table.agents, row.verdicts, strict=True)
                if verdict.name != "absent"
            }
            for row in table.rows
            if row.path.startswith(root)
        }

    def _files(self) -> InstructionFiles | None:
        """Return the tree's instruction files, or None if other layouts than the shipped ones may have more."""
        if not all(name in self.mirrors for name in filter(None, self.layouts)):
            return None
        tree, root = self.checkout.tree, self.checkout.root
        return InstructionFiles(sorted(os.path.join(root, path) for path in self.instruction_files if path in tree))


class _BuiltPrompts:
    """The prompts of the current tree, by layout and folder, and the assemblers that built them.

    `problems` are the reasons why a prompt could not be built.
    """

    def __init__(self, question: Question, checkout: Checkout) -> None:
        self.question, self.checkout = question, checkout
        self.portable: dict[Key, Prompt] = {}
        self.sources: dict[Key, Mapping[str, bool]] = {}
        self.problems: dict[Key, str] = {}
        self._assemblers: dict[Key, Assembler] = {}
        self._examined: dict[Key, Sequence[str]] = {}
        self._project = ProjectPrompts(question, checkout.root)

    def assembler(self, layout: str, folder: str) -> Assembler:
        """Return the assembler for a layout in a folder of the tree. It does not look for changes in files that it has read."""
        key = layout, folder
        if key not in self._assemblers:
            root = self._project.root
            assembler = self._assemblers[key] = self._project.assembler(
                layout, os.path.join(root, folder) if folder else root
            )
            assembler.looks_for_changes = False
            if folder and (layout, "") in self.portable:
                share_layout(assembler, self._assemblers[layout, ""])
        return self._assemblers[key]

    def assembler_for(self, layout: str, path: str) -> Assembler | None:
        """Return the assembler of a prompt that has been built in a folder, given by its absolute path, or None."""
        key = layout, path[len(self.checkout.root) + 1 :]
        return self._assemblers[key] if key in self.portable else None

    def build(self, keys: Collection[Key]) -> None:
        """Build these prompts, unless that has been done, and create the files that they ask for."""
        pending = [key for key in keys if key not in self.portable and key not in self.problems]
        names = self.checkout.names() if pending else {}
        for _ in range(_MAX_ROUNDS):
            self._project.known.walked = Walked()
            self._project.known.walked.add(names)
            for key in counted(pending):
                self._build(key)
            known = self._project.known
            examined = {path for key in pending for path in self._examined[key]}
            created = self.checkout.fill(examined.union(known.absent), known.listings)
            pending = self.forget(created) if created else []
            if not pending:
                break
        else:
            for key in pending:
                self._build(key)

    def forget(self, paths: Collection[str]) -> list[Key]:
        """Forget the prompts that depend on these paths, which are relative to the root, and return their keys."""
        root = self.checkout.root
        different = {f"{root}/{path}" if path else root for path in paths}
        if self.checkout.links:  # a path may lead to another one
            self._project = ProjectPrompts(self.question, root)
        self._project.known.forget(different)
        stale = [key for key, examined in self._examined.items() if self._depends(examined, different)]
        for key in stale:
            for cache in (self.portable, self.sources, self.problems, self._examined):
                cache.pop(key, None)
            if self.checkout.links:
                del self._assemblers[key]
            else:
                reread(self._assemblers[key], different)
        return stale

    def _depends(self, examined: Sequence[str], different: set[str]) -> bool:
        """Whether one of the examined paths is different, or may be because it goes through a link."""
        links, start = self.checkout.links, len(self.checkout.root) + 1
        return not different.isdisjoint(examined) or (
            bool(links and different)
            and any(prefix in links for path in examined for prefix in _prefixes(path[start:]))
        )

    def _build(self, key: Key) -> None:
        assembler, project = self.assembler(*key), self._project
        try:
            prompt = portable_prompt(project, project.prompt(assembler))
            sources = _sources(prompt)
            prompt = _with_real_paths(prompt, self.checkout.links)
            self.portable[key], self.sources[key] = prompt, {**sources, **_sources(prompt)}
        except ForewordError as error:
            self.problems[key] = project.portable_text(str(error))
        self._examined[key] = assembler.paths_read()


def _is_file(entry: str) -> bool:
    return bool(entry) and mode_of(entry) not in (LINK, SUBMODULE)


def _without_root(text: str, root: str) -> str:
    """Return the text with paths relative to the root."""
    return text.replace(root + "/", "").replace(root, "the root")


def _prefixes(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _names_by_folder(paths: Iterable[str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        names.setdefault(folder, []).append(name)
    return names


def _select_files(paths: set[str], differences: Mapping[str, str]) -> set[str]:
    """Return the instruction files to review: all, or if there are too many, first those that changed and those near the root."""
    if len(paths) <= _MAX_FILES:
        return paths
    return set(sorted(paths, key=lambda path: (path not in differences, path.count("/"), path))[:_MAX_FILES])


def _needed_files(names: Mapping[str, Iterable[str]], hidden: frozenset[str]) -> Iterator[str]:
    """Yield the files whose content may be needed for any prompt, apart from instruction files."""
    for folder, children in names.items():
        if hidden.isdisjoint(folder.split("/")) and not f"{folder}/".startswith(".foreword/"):
            children = _NEEDED_NAMES.intersection(children)
        for name in children if folder.count("/") < _MAX_DEPTH else ():
            yield f"{folder}/{name}" if folder else name


def portable_prompt(project: ProjectPrompts, prompt: Prompt) -> Prompt:
    """Return the prompt with paths relative to the root, in its text and everywhere else."""
    text, passages, end = "", [], 0
    for passage in prompt.passages:
        text += project.portable_text(prompt.text[end : passage.start])
        pieces = [_portable_piece(project, piece) for piece in passage.pieces]
        passages.append(_passage(passage, len(text), pieces))
        text += passages[-1].text
        end = passage.end
    text += project.portable_text(prompt.text[end:])
    candidates = [
        Candidate(
            _relative(project, candidate.path),
            candidate.layer,
            candidate.fate,
            project.portable_text(candidate.reason),
            _relative(project, candidate.target),
        )
        for candidate in prompt.candidates
    ]
    return replace(prompt, text=text, passages=passages, candidates=candidates, findings=())


def _with_real_paths(prompt: Prompt, links: Mapping[str, str]) -> Prompt:
    """Return the prompt with the files that links lead to as its origins: those are the files that change."""
    if not links:
        return prompt
    passages = [
        replace(passage, pieces=[_resolved_piece(piece, links) for piece in passage.pieces])
        for passage in prompt.passages
    ]
    candidates = [replace(row, path=resolve_links(row.path, links)) for row in prompt.candidates]
    used = {row.path for row in candidates if row.fate in ("used", "cut")}
    # A file that one link hides may be in the prompt by another one.
    candidates = [row for row in candidates if row.path not in used or row.fate in ("used", "cut")]
    return replace(prompt, passages=passages, candidates=candidates)


def _resolved_piece(piece: Piece, links: Mapping[str, str]) -> Piece:
    path = piece.origin.path
    if piece.origin.kind not in FILE_ORIGINS or path.startswith(("/", "$")):
        return piece
    return replace(piece, origin=replace(piece.origin, path=resolve_links(path, links)))


def _passage(passage: Passage, start: int, pieces: Sequence[Piece]) -> Passage:
    return replace(passage, start=start, text="".join(piece.text for piece in pieces), pieces=pieces)


def _portable_piece(project: ProjectPrompts, piece: Piece) -> Piece:
    path = _relative(project, piece.origin.path)
    origin = piece.origin if path == piece.origin.path else replace(piece.origin, path=path)
    return Piece(project.portable_text(piece.text), origin)


def _relative(project: ProjectPrompts, path: str) -> str:
    return path[len(project.shown_root) + 1 :] or "." if is_inside(path, project.shown_root) else path


def _sources(prompt: Prompt) -> dict[str, bool]:
    """Return the files in a prompt, each with whether the prompt contains its text. A menu contains only the name and description."""
    sources: dict[str, bool] = {}
    for piece in (piece for passage in prompt.passages for piece in passage.pieces):
        kind, path = piece.origin.kind, piece.origin.path
        if kind in FILE_ORIGINS and not path.startswith(("/", "$")):
            sources[path] = sources.get(path, False) or kind not in _MENU_ORIGINS
    return sources
