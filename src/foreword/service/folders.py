"""The folders that a service gives access to: workspaces in which agents may work, and packs that requests may name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic, perf_counter

from ..errors import CallError, show
from ..sources.environment import resolve_workspace
from ..sources.mounts import are_local
from ..sources.paths import is_inside
from ..sources.places import real_path
from ..sources.reader import Reader
from ..store import waits
from ..text.lines import printable
from ..vocabulary import Workspace
from .bounded import BoundedDict
from .responses import Problem

_MAX_FOLDERS = 256
# A folder may become part of a network file system while the service runs.
_LOCAL_SECONDS = 60.0


class ServedFolders:
    """The folders that requests may name."""

    def __init__(self, roots: Sequence[str], packs: Mapping[str, str], pack_roots: Sequence[str] = ()) -> None:
        self.packs = dict(packs)
        self._pack_roots = [os.path.abspath(folder) for folder in pack_roots]
        for root in roots:
            if not os.path.isdir(root):
                raise CallError(f"--root {printable(os.path.abspath(root))}: no such directory")
        self._serve_folders(roots)

    def restrict(self, roots: Sequence[str]) -> None:
        """Serve these folders instead, even if they do not exist at the moment, and only those packs that are in them."""
        self._serve_folders(roots)
        self._pack_roots = [
            folder
            for folder in self._pack_roots
            if any(is_inside(real_path(folder), root) for root in self._real_roots)
        ]

    def _serve_folders(self, roots: Sequence[str]) -> None:
        self.roots = [os.path.abspath(root) for root in roots]
        self._real_roots = [real_path(root) for root in self.roots]
        # The absolute path of each requested one, and when it was last seen to be in a served folder, by `perf_counter`.
        self._checked: BoundedDict[str, tuple[str, float]] = BoundedDict(_MAX_FOLDERS)
        self._allowed_folders = tuple(dict.fromkeys((*self._real_roots, *self.roots)))

    def absolute(self, requested: str) -> str:
        """Return a path as an absolute one, without looking at the disk. It may be outside the served folders."""
        return os.path.normpath(os.path.join(self.roots[0], requested))

    def path(self, requested: str, name: str = "cwd") -> str:
        """Resolve a path relative to the first served folder. Raises a Problem if it leads outside them, even through links."""
        path, checked = self._checked.get(requested, ("", 0.0))
        if waits.is_checked(checked):
            return path
        path, now = self.absolute(requested), perf_counter()
        try:
            real = real_path(path)
        except ValueError:
            raise Problem("invalid-request", f"{name} {show(requested)} is not a valid path") from None
        if not any(is_inside(real, root) for root in self._real_roots):
            raise outside_roots(name, requested)
        self._checked[requested] = path, now
        return path

    def served_root(self, workspace: Workspace, reader: Reader | None = None) -> str | None:
        """Return the served folder that contains the workspace, if the repository around it is larger, otherwise None."""
        root = real_path(resolve_workspace(workspace, reader or Reader()).root or workspace.cwd)
        if any(is_inside(root, served) for served in self._real_roots):
            return None
        cwd = real_path(workspace.cwd)
        served_root = max((served for served in self._real_roots if is_inside(cwd, served)), key=len, default=None)
        if served_root is None:  # the folder was moved after the request was checked
            raise outside_roots("cwd", workspace.cwd)
        return served_root

    def pack_folders(self, packs: Mapping[str, str]) -> dict[str, str]:
        """Return a request's packs. Raises a Problem if one is not in an allowed folder, or has the name of one of the service's packs."""
        folders: dict[str, str] = {}
        for name, folder in packs.items():
            if name in self.packs:
                raise Problem("invalid-request", f"the pack name {name!r} is used by the service; choose another name")
            path = os.path.normpath(os.path.join(*self._pack_roots[:1], folder))
            if not any(is_inside(real_path(path), real_path(allowed)) for allowed in self._pack_roots):
                raise Problem(
                    "outside-roots",
                    f"the pack {name!r} is outside the folders that packs may come from; start the service with --pack-root to allow it",
                )
            folders[name] = path
        return folders


class LocalFolders:
    """Remembers for a minute which workspaces are on disks of this machine, with all other files that a turn looks at.

    The event loop may look at these files. It must not look at a network file system, which may not respond.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._folders: BoundedDict[str, tuple[float, bool]] = BoundedDict(_MAX_FOLDERS)

    def contains(self, cwd: str) -> bool:
        """Whether this workspace is known to be local. This does not look at the disk."""
        until, is_local = self._folders.get(cwd, (0.0, False))
        return is_local and self._clock() < until

    def check(self, cwd: str, paths: Callable[[], Iterable[str]]) -> None:
        """Find out whether this workspace is local, if that is not known. `paths` returns what a turn looks at."""
        if self._clock() >= self._folders.get(cwd, (0.0, False))[0]:
            self._folders[cwd] = self._clock() + _LOCAL_SECONDS, are_local(paths())


def outside_roots(name: str, path: str) -> Problem:
    return Problem(
        "outside-roots",
        f"{name} {show(printable(path))} is outside the served folders; the token's roots, or without them --root, must include it",
    )
