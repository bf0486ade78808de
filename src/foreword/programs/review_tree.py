"""Build the prompts of one tree of a review, in a private temporary folder."""

from __future__ import annotations

import os

from ..errors import ForewordError
from ..inspection.lint.targets import MAKEFILES, PACKAGES
from ..layout.parse import parse
from ..packs.packs import shipped_layout
from ..sources.instruction_files import instruction_file_patterns, select_instruction_files
from ..sources.paths import is_inside
from ..sources.search import SKILL_FILE
from ..text.lines import printable
from ..vocabulary import replace, value
from .agents import agent_report
from .project import FILE_ORIGINS, ProjectPrompts
from .proofread import proofread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..inspection.agents import Verdict
    from ..layout.model import Layout
    from ..sources.checkout import Checkout
    from ..sources.git_trees import Tree
    from ..vocabulary import Finding, Passage, Piece, Prompt
    from .question import Question

# Imports are nested at most this deep in practice; deeper ones are blank on both sides.
_MAX_ROUNDS = 8
_DEFAULT_LAYOUT = "foreword"
_NEEDED_NAMES = frozenset((SKILL_FILE, *MAKEFILES, *PACKAGES))


@value
class TreeReading:
    """The prompts of one tree, by layout and folder, with paths relative to the root.

    `sources` are the files in each prompt, and `verdicts` what each agent at the root does with each instruction file. `findings` are
    lint's, with paths in the temporary folder.
    """

    prompts: Mapping[tuple[str, str], Prompt]
    sources: Mapping[tuple[str, str], Sequence[str]]
    verdicts: Mapping[str, Mapping[str, Verdict]]
    findings: Sequence[Finding]
    notes: Sequence[str] = ()


class TreeReader:
    """Reads trees of one repository, one after the other, for the same layouts and folders."""

    def __init__(self, question: Question, checkout: Checkout, trees: Sequence[Tree]) -> None:
        self.question, self.checkout = question, checkout
        project = ProjectPrompts(question, checkout.root)
        paths = sorted({path for tree in trees for path in tree})
        patterns = instruction_file_patterns([*project.mirrors.values(), _default_layout()])
        self.instruction_files = set(select_instruction_files(paths, patterns))
        self.layouts = self._find_layouts(project.mirrors, paths)
        changed = {path for path in self.instruction_files if len({tree.get(path) for tree in trees}) > 1}
        folders = {path.rpartition("/")[0] for path in changed}
        # A file can hide others only in its own folder.
        self.compared_files = [path for path in self.instruction_files if path.rpartition("/")[0] in folders]

    def _find_layouts(self, mirrors: Mapping[str, Layout], paths: Sequence[str]) -> list[str]:
        """Return the requested layouts, or those that are detected in either tree."""
        fields = self.question.fields
        requested = fields.get("layouts") or list(filter(None, [fields.get("layout")]))
        if requested:
            return list(dict.fromkeys(requested))
        names = [name for name, layout in mirrors.items() if self._is_used(layout, paths)]
        return [*names, ""] if not names or any(path.startswith(".foreword/") for path in paths) else names

    def _is_used(self, layout: Layout, paths: Sequence[str]) -> bool:
        for sign in layout.detected_by:
            suffix = "/" + sign
            if any(
                suffix in f"/{path}" if sign.endswith("/") else f"/{path}".endswith(suffix)
                for path in self.instruction_files
            ):
                return True
            if any(path.startswith(sign) if sign.endswith("/") else path == sign for path in paths):
                return True
        return False

    def is_needed(self, path: str) -> bool:
        """Whether a file's content is needed before any prompt is built."""
        is_named = path.rpartition("/")[2] in _NEEDED_NAMES or path.startswith(".foreword/")
        return is_named or path in self.instruction_files

    def read(self, tree: Tree, folders: Sequence[str]) -> TreeReading:
        """Build the prompts of a tree, in each of these folders, and check it with lint."""
        checkout, root = self.checkout, self.checkout.root
        checkout.switch(tree, self.is_needed)
        usable = [folder for folder in folders if checkout.make_folder(folder)]
        for _ in range(_MAX_ROUNDS):
            project = ProjectPrompts(self.question, root)
            prompts, paths, notes = self._build(project, usable)
            if not checkout.fill(paths):
                break
        portable = {key: portable_prompt(project, prompt) for key, prompt in prompts.items()}
        sources = {key: sorted(_sources(prompt)) for key, prompt in portable.items()}
        return TreeReading(portable, sources, self._verdicts(), list(self._lint(project, usable)), notes)

    def _build(
        self, project: ProjectPrompts, folders: Sequence[str]
    ) -> tuple[dict[tuple[str, str], Prompt], set[str], list[str]]:
        """Build all prompts. Also returns the paths that were examined, and a sentence for each layout that cannot be used."""
        prompts: dict[tuple[str, str], Prompt] = {}
        paths: set[str] = set()
        notes: dict[str, None] = {}
        for layout in self.layouts:
            for folder in folders:
                assembler = project.assembler(layout, os.path.join(project.root, folder) if folder else project.root)
                try:
                    prompts[layout, folder] = project.prompt(assembler)
                except ForewordError as error:
                    reason = project.portable_text(str(error))
                    notes[f"the layout {layout or _DEFAULT_LAYOUT} was left out: {reason}"] = None
                paths.update(assembler.paths_read())
        return prompts, paths, list(notes)

    def _lint(self, project: ProjectPrompts, folders: Sequence[str]) -> Iterable[Finding]:
        """Return lint's findings in these folders, each once."""
        findings: dict[Finding, None] = {}
        for folder in folders:
            assembler = project.assembler("", os.path.join(project.root, folder) if folder else project.root)
            report = proofread(assembler, self.question.agent, self.question.now)
            findings.update(dict.fromkeys(report.findings))
        return findings

    def _verdicts(self) -> dict[str, dict[str, Verdict]]:
        """Return what each agent at the root does with each file: by path, then by the agent's name."""
        names = list(filter(None, self.layouts)) or [_DEFAULT_LAYOUT]
        if not self.compared_files:
            return {}
        try:
            paths = [os.path.join(self.checkout.root, path) for path in self.compared_files]
            fields = {"layouts": names, "layout": "", "paths": paths}
            table = agent_report(self.question.with_fields(**fields)).table
        except ForewordError:
            return {}
        root = printable(self.checkout.root) + "/"
        return {
            row.path.removeprefix(root): {
                view.name: replace(verdict, reason=verdict.reason.replace(root, "").replace(root[:-1], "."))
                for view, verdict in zip(table.agents, row.verdicts, strict=True)
                if verdict.name != "absent"
            }
            for row in table.rows
            if row.path.startswith(root)
        }


def _default_layout() -> Layout:
    return parse(shipped_layout(_DEFAULT_LAYOUT), _DEFAULT_LAYOUT)


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
        replace(
            candidate,
            path=_relative(project, candidate.path),
            reason=project.portable_text(candidate.reason),
            target=_relative(project, candidate.target),
        )
        for candidate in prompt.candidates
    ]
    return replace(prompt, text=text, passages=passages, candidates=candidates, findings=())


def _passage(passage: Passage, start: int, pieces: Sequence[Piece]) -> Passage:
    return replace(passage, start=start, text="".join(piece.text for piece in pieces), pieces=pieces)


def _portable_piece(project: ProjectPrompts, piece: Piece) -> Piece:
    origin = replace(piece.origin, path=_relative(project, piece.origin.path))
    return replace(piece, text=project.portable_text(piece.text), origin=origin)


def _relative(project: ProjectPrompts, path: str) -> str:
    return path[len(project.shown_root) + 1 :] or "." if is_inside(path, project.shown_root) else path


def _sources(prompt: Prompt) -> Iterable[str]:
    return {
        piece.origin.path
        for passage in prompt.passages
        for piece in passage.pieces
        if piece.origin.kind in FILE_ORIGINS and not piece.origin.path.startswith(("/", "$"))
    }
