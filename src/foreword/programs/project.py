"""Build prompts from a repository's files alone, for results that must be the same on every machine.

The user's own files, the environment, the platform and the clock are left out.
"""

from __future__ import annotations

import os
from itertools import islice

from ..engine.assembler import Assembler
from ..packs.mirrors import shipped_mirrors
from ..sources.environment import resolve_workspace
from ..sources.git import GitError, open_git
from ..sources.instruction_files import find_instruction_files
from ..sources.paths import is_inside
from ..sources.places import Known
from ..sources.reader import Reader
from ..sources.tree import Listings
from ..sources.without_files import DiskWithout
from ..text.lines import printable
from ..vocabulary import Workspace
from .touch_candidates import touch_candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set
    from datetime import datetime

    from ..vocabulary import Prompt
    from .question import Question

# The facts that differ between machines. In portable text, each is replaced by its name.
_LOCAL_ORIGINS = ("environment", "variable", "scope")
_MAX_EVIDENCE = 1_000  # files in a folder
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
        self.mirrors = shipped_mirrors()
        self._files: Sequence[str] | None = None
        self._hidden: frozenset[str] = frozenset()
        self._asked: set[str] = set()  # the paths that git was asked about

    def hide_ignored(self, paths: Iterable[str] = ()) -> bool:
        """Treat those of these files that git ignores as missing, because others do not have them. Returns whether there are any.

        Without paths, these are the instruction files and what shows which agents are in use. A folder is missing if git ignores
        everything in it. If git cannot be run on the repository, nothing is hidden.
        """
        paths = set(paths)
        if paths and paths <= self._asked:
            return False
        folders = {} if paths else self._evidence_folders()
        files = {*(paths or self.files()), *(file for below in folders.values() for file in below)}
        ignored = self._ignored(files)
        self._asked |= files
        if ignored is None:
            return False
        ignored.update(folder for folder, below in folders.items() if ignored.issuperset(below))
        new = ignored - self._hidden
        self._hidden |= new
        if new:
            self.known, self._files = Known(), None
        return bool(new)

    def _ignored(self, paths: Iterable[str]) -> set[str] | None:
        """Return which of these paths git ignores, or None if git cannot be run."""
        names = [path[len(self.root) + 1 :] for path in sorted(paths) if not _is_behind_link(path, self.root)]
        workspace = Workspace(self.root, inside=self.question.workspace.inside)
        git = open_git(workspace, Reader(), lambda reason: None)
        try:
            return {os.path.join(self.root, name) for name in git.ignored(names)} if git else None
        except GitError:
            return None

    def _evidence_folders(self) -> dict[str, list[str]]:
        """Return the files below each folder at the root that shows that an agent is in use. Large folders are left out."""
        names = {".foreword", *(path.rstrip("/") for mirror in self.mirrors.values() for path in mirror.detected_by)}
        found: dict[str, list[str]] = {}
        for top in (os.path.join(self.root, name) for name in sorted(names)):
            if os.path.isdir(top) and not os.path.islink(top):
                walk = (os.path.join(folder, file) for folder, _, files in os.walk(top) for file in files)
                below = list(islice(walk, _MAX_EVIDENCE))
                if len(below) < _MAX_EVIDENCE:
                    found[top] = below
        return found

    def files(self) -> Sequence[str]:
        """Return the repository's instruction files, for all layouts."""
        if self._files is None:
            listings = Listings(self.question.workspace.inside)
            patterns = [pattern for mirror in self.mirrors.values() for pattern in mirror.patterns]
            found = find_instruction_files(self.root, patterns, listings).paths
            self.known.walked.add(listings.listed)
            self._files = [path for path in found if path not in self._hidden]
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

        names = [
            name
            for name, mirror in self.mirrors.items()
            if evidence_of(mirror.detected_by, self.root, self.files(), self._hidden)
        ]
        settings = os.path.join(self.root, ".foreword")
        is_configured = settings not in self._hidden and os.path.lexists(settings)
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
        assembler.reader = self._reader
        assembler.reads_user_files = False
        assembler.looks_for_changes = False  # all readers share one state of the disk
        return assembler

    def prompt(self, assembler: Assembler) -> Prompt:
        """Return an assembler's prompt for the question's agent, at a fixed time."""
        return assembler.prompt(self.question.agent, fixed_time())

    def portable_text(self, text: str) -> str:
        """Return the text with paths relative to the root."""
        if self.shown_root not in text:
            return text
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
        return self._hashes(paths)

    def touched_files(self, assembler: Assembler, in_prompt: Set[str]) -> dict[str, str]:
        """Return the files that are sent to an agent at the root when it touches a file, except those in its prompt, with their hashes."""
        candidates = touch_candidates(assembler, self.folders()[1:])
        hashes = self._hashes(
            candidate.path for candidate in candidates if candidate.fate in ("used", "cut", "waiting")
        )
        return {path: hash for path, hash in hashes.items() if path not in in_prompt}

    def _hashes(self, paths: Iterable[str]) -> dict[str, str]:
        return {
            path[len(self.shown_root) + 1 :]: self._hash(path)
            for path in sorted(paths)
            if is_inside(path, self.shown_root) and path != self.shown_root
        }

    def _hash(self, path: str) -> str:
        from ..sources.links import Reach

        return self._reader().read(path, Reach(self.root, self.root, can_be_allowed=False)).hash

    def _reader(self) -> Reader:
        return Reader(disk=DiskWithout(self._hidden), known=self.known) if self._hidden else Reader(known=self.known)


def _is_behind_link(path: str, root: str) -> bool:
    """Whether a path is outside the root or leads through a link below it. Git does not answer for those."""
    folder = os.path.dirname(path)
    if not is_inside(folder, root):
        return True
    return os.path.realpath(folder) != os.path.join(os.path.realpath(root), folder[len(root) + 1 :]).rstrip("/")


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
