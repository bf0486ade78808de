"""The files of one repository, as the checks for released agents see them: paths are printable, and each file is read only once."""

from __future__ import annotations

import os

from ..inspection.lint.source_text import SourceText
from ..sources.links import workspace_reach
from ..sources.paths import is_inside
from ..sources.places import Known
from ..sources.reader import Reader
from ..sources.search import SKILL_FILE
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..sources.tree import Listings
    from ..vocabulary import Workspace


class RepositoryFiles:
    """Reads files and lists folders by their printable paths. `root` is the printable path of the repository."""

    def __init__(self, workspace: Workspace, listings: Listings) -> None:
        self.workspace, self.listings = workspace, listings
        self.real_root = workspace.root or workspace.cwd
        self.root = printable(self.real_root)
        self.known = Known()
        self._real_names: dict[str, str] = {}
        self._texts: dict[str, SourceText | None] = {}

    def reader(self) -> Reader:
        """Return a reader that reads each file and lists each folder once, together with all others that this returns."""
        return Reader(known=self.known)

    def note_names(self, paths: Iterable[str]) -> None:
        """Remember the real paths of these files and of the folders above them, where they are not printable."""
        for path in paths:
            while path != self.real_root and printable(path) != path:
                self._real_names[printable(path)] = path
                path = os.path.dirname(path)

    def real_path(self, folder: str) -> str:
        """Return the real path of a folder."""
        return self._real_names.get(folder, folder)

    def resolve(self, path: str) -> str:
        """Return the path to which that of a file leads through links."""
        folder, _, name = path.rpartition("/")
        return printable(os.path.realpath(os.path.join(self.real_path(folder), name)))

    def entries(self, folder: str) -> Mapping[str, str]:
        """Return the names in a folder with what they are; nothing if it cannot be listed."""
        try:
            return self.listings.entries(self.real_path(folder))
        except (OSError, ValueError):
            return {}

    def names_above(self, folder: str) -> set[str]:
        """Return the names in a folder and in those above it, up to the root, in lower case."""
        names: set[str] = set()
        while is_inside(folder, self.real_root):
            names.update(map(str.lower, self.entries(folder)))
            if folder == self.real_root or folder == os.path.dirname(folder):
                break
            folder = os.path.dirname(folder)
        return names

    def is_in_skill(self, folder: str) -> bool:
        """Whether a folder is that of a skill, or below it."""
        while folder != self.root and is_inside(folder, self.root):
            if SKILL_FILE in self.entries(folder):
                return True
            folder = os.path.dirname(folder)
        return False

    def own_entries(self, base: str, folder: str) -> Iterable[str]:
        """Return the names in a folder below another, or nothing if it is a link: then its files are there for other agents too."""
        is_own = self.resolve(f"{base}/{folder}") == f"{self.resolve(base)}/{folder}"
        return self.entries(os.path.join(self.real_path(base), folder)) if is_own else ()

    def read(self, path: str) -> SourceText | None:
        """Return the text of a file in the repository, or None if it cannot be read."""
        if path not in self._texts:
            folder, _, name = path.rpartition("/")
            real = os.path.join(self.real_path(folder), name)
            reading = self.reader().read(real, workspace_reach(self.real_root, self.workspace))
            is_known = reading.has_text and is_inside(path, self.root)
            text = "\n" * (reading.line - 1) + reading.text
            self._texts[path] = SourceText(path, text) if is_known else None
        return self._texts[path]
