"""Build prompts from a repository's files alone, for results that must be the same on every machine.

The user's own files, the environment, the platform and the clock are left out.
"""

from __future__ import annotations

import os

from ..engine.assembler import Assembler
from ..packs.packs import mirror_names
from ..packs.shipped import shipped_mirror
from ..sources.environment import resolve_workspace
from ..sources.instruction_files import find_instruction_files, instruction_file_patterns
from ..sources.paths import is_inside
from ..sources.places import Known
from ..sources.reader import Reader
from ..sources.tree import Listings
from ..text.lines import printable
from ..vocabulary import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from ..layout.model import Layout
    from ..vocabulary import Prompt
    from .question import Question

# The facts that differ between machines. In portable text, each is replaced by its name.
_LOCAL_ORIGINS = ("environment", "variable", "scope")
FILE_ORIGINS = ("file", "skill", "resident", "template", "setting")


class ProjectPrompts:
    """Builds prompts in one repository for any layout and folder. Each file is read once for all of them."""

    def __init__(self, question: Question, root: str = "") -> None:
        self.question = question
        self.known = Known()
        if not root:
            workspace = resolve_workspace(question.workspace, Reader())
            root = workspace.root or workspace.cwd
        self.root, self.shown_root = root, printable(root)
        self.mirrors: Mapping[str, Layout] = {name: shipped_mirror(name) for name in mirror_names()}
        self._files: Sequence[str] | None = None

    def files(self) -> Sequence[str]:
        """Return the repository's instruction files, for all layouts."""
        if self._files is None:
            self._files = find_instruction_files(
                self.root, instruction_file_patterns(self.mirrors.values()), Listings(self.question.workspace.inside)
            ).paths
        return self._files

    def layouts(self) -> list[str]:
        """Return the requested layouts, or those that are detected in the repository.

        An empty name means the repository's own layout, or the default.
        """
        fields = self.question.fields
        requested = fields.get("layouts") or list(filter(None, [fields.get("layout")]))
        if requested:
            return list(dict.fromkeys(requested))
        from .agents_in_use import evidence_of

        names = [name for name, layout in self.mirrors.items() if evidence_of(layout, self.root, self.files())]
        is_configured = os.path.lexists(os.path.join(self.root, ".foreword"))
        return [*names, ""] if is_configured or not names else names

    def folders(self) -> list[str]:
        """Return the root, and each folder with instruction files in which an agent may work."""
        return list(dict.fromkeys([self.root, *working_folders(self.files(), self.root)]))

    def assembler(self, layout: str, folder: str) -> Assembler:
        """Return an assembler for a layout in a folder that reads only the repository's files."""
        fields = self.question.fields
        assembler = Assembler(
            Workspace(folder, platform="linux", environment={}, inside=self.question.workspace.inside),
            layout,
            settings=fields.get("settings") or "",
            assignments=self.question.assignments(),
            packs=fields.get("packs"),
            values=fields.get("values"),
        )
        assembler.reader = lambda: Reader(known=self.known)
        assembler.reads_user_files = False
        return assembler

    def prompt(self, assembler: Assembler) -> Prompt:
        """Return an assembler's prompt for the question's agent, at a fixed time."""
        return assembler.prompt(self.question.agent, fixed_time())

    def portable_text(self, text: str) -> str:
        """Return the text with paths relative to the root."""
        return text.replace(self.shown_root + "/", "./").replace(self.shown_root, ".")

    def portable_sections(self, prompt: Prompt) -> list[tuple[str, str]]:
        """Return the name and text of each section, without anything that depends on this machine."""
        return [
            (
                passage.section,
                "".join(
                    f"{{{piece.origin.path}}}"
                    if piece.origin.kind in _LOCAL_ORIGINS and not is_inside(piece.origin.path, self.shown_root)
                    else self.portable_text(piece.text)
                    for piece in passage.pieces
                ),
            )
            for passage in prompt.passages
        ]

    def source_files(self, prompt: Prompt) -> dict[str, str]:
        """Return the repository's files that a prompt contains or lists, relative to the root, with their hashes."""
        paths = {
            piece.origin.path
            for passage in prompt.passages
            for piece in passage.pieces
            if piece.origin.kind in FILE_ORIGINS
        }
        paths.update(candidate.path for candidate in prompt.candidates if candidate.fate in ("used", "cut"))
        return {
            path[len(self.shown_root) + 1 :]: self._hash(path)
            for path in sorted(paths)
            if is_inside(path, self.shown_root) and path != self.shown_root
        }

    def _hash(self, path: str) -> str:
        from ..sources.links import Reach

        return Reader(known=self.known).read(path, Reach(self.root, self.root, can_be_allowed=False)).hash


def working_folders(files: Iterable[str], root: str) -> list[str]:
    """Return the folders of these files, sorted. Nobody works in a hidden folder, so the folder that contains it is returned instead."""
    folders = set()
    for path in files:
        relative = os.path.dirname(path)[len(root) :]
        hidden = relative.find("/.")
        folders.add(root + (relative if hidden < 0 else relative[:hidden]))
    return sorted(folders)


def fixed_time() -> datetime:
    """Return the time in prompts that must not depend on the clock."""
    from datetime import UTC, datetime

    return datetime(2000, 1, 1, tzinfo=UTC)
