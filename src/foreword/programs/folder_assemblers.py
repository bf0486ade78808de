"""Assemblers for the folders of one repository. They share the files that are read, and the layout if no settings in a folder change it."""

from __future__ import annotations

import os

from ..engine.assembler import share_layout
from ..sources.paths import is_inside, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..engine.assembler import Assembler
    from ..engine.plans import Plan
    from ..layout.model import ConfigValue
    from ..sources.places import Known
    from ..sources.reader import Reader

_FIXED_PLACES = ("root", "home", "env", "config", "system")


class FolderAssemblers:
    """Copies of an assembler for folders below its own. Nothing may change while they are in use."""

    def __init__(self, base: Assembler, known: Known, reader: Callable[[], Reader] | None = None) -> None:
        self.base, self.known, self.reader = base, known, reader or base.reader
        plan = base.plan()
        is_shared = plan.workspace.is_repository and not any(
            _depends_on_folder(row, plan) for row in plan.layout.config
        )
        self._root = plan.workspace.root if is_shared else None
        rows = [row for row in plan.layout.config if row.pattern.place not in _FIXED_PLACES]
        self._settings = frozenset(row.pattern.path.lower() for row in rows)
        self._typical: Assembler | None = None

    def assembler(self, folder: str) -> Assembler:
        """Return an assembler for a folder."""
        assembler = self.base.for_directory(folder)
        assembler.reader = self.reader
        assembler.looks_for_changes = False
        self.share_layout(assembler, folder)
        return assembler

    def share_layout(self, assembler: Assembler, folder: str) -> None:
        """Let an assembler for a folder use the layout of those for other folders, if no settings there change it."""
        if folder != self._root and self.has_usual_settings(folder):
            if self._typical is None:
                self._typical = assembler
            else:
                share_layout(assembler, self._typical, has_same_settings=True)

    def has_usual_settings(self, folder: str) -> bool:
        """Whether no folder below the root, down to this one, is a repository or contains settings of the layout, as far as is known."""
        walked, root = self.known.walked, self._root
        if root is None:
            return False
        while folder != root and is_inside(folder, root):
            names = walked.names(folder)
            if names is None or ".git" in names:
                return False
            if any(self._may_exist(folder, path) for path in self._settings):
                return False
            folder = os.path.dirname(folder)
        return folder == root

    def _may_exist(self, folder: str, path: str) -> bool:
        """Whether a path below a folder exists, or is not known to be missing."""
        walked = self.known.walked
        if path.partition("/")[0] not in (walked.names(folder) or ()):
            return False
        parent, _, name = f"{folder}/{path}".rpartition("/")
        names = walked.names(parent)
        return names is None or name in names


def _depends_on_folder(row: ConfigValue, plan: Plan) -> bool:
    """Whether a file of the user's own has a key for each folder, and exists."""
    if "{cwd}" not in row.key or row.pattern.place not in _FIXED_PLACES:
        return "{cwd}" in row.key
    folder = user_folder(row.pattern, plan.workspace)
    return folder is not None and os.path.lexists(os.path.join(folder, row.pattern.path))
