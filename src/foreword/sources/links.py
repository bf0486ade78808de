"""Decides how far links may lead. A file's real path is checked before the file is opened, and again once it is open.

A link in the project may lead anywhere inside the workspace, and a link in the user's own folders anywhere at all. No link may lead
to a file whose name suggests that it contains secrets, to `/proc`, `/sys` or `/dev`, or to a folder above itself, because the search
would then scan the whole disk.
"""

from __future__ import annotations

import os

from ..text.lines import printable
from ..vocabulary import value
from .paths import USER_PLACES, is_inside, user_folder
from .places import parent_folder, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..layout.model import Lookup, Pattern
    from ..vocabulary import Workspace
    from .places import Places
    from .readings import Refusal

WORKSPACE_PLACES = ("cwd", "root", "walk", "between", "down")
# These contain no user files, and opening some of them has side effects.
_SYSTEM_FOLDERS = ("/proc", "/sys", "/dev")
ALLOW_HINT = 'links = "follow" in your own settings, or --set links=follow, allows it'


@value
class Reach:
    """How far a path below `folder` may lead: anywhere in `bound`, or anywhere at all if that is None.

    If `inside` is not empty, the file must also be in one of these real folders (those that a service serves). `confined` means that
    the workspace itself requested the file, and `can_be_allowed` that the setting `links` can allow links that lead elsewhere.
    """

    folder: str
    bound: str | None = None
    inside: Sequence[str] = ()
    follow: bool = False
    confined: bool = False
    can_be_allowed: bool = True

    def refusal(self, reader: Places, path: str, real: str | None = None, is_folder: bool = False) -> Refusal | None:
        """Return why a file or folder may not be read, or None if it may. `real` is the open file's real path, None before it is opened."""
        if real is None:
            # Whether the file is itself a link is checked when it is opened.
            folder = path if is_folder else parent_folder(path)
            if is_inside(folder, self.folder) and not reader.has_link(folder, self.folder):
                return None
            try:
                real = real_path(path)
            except ValueError:
                return None  # opening it reports the error
        if self.inside and not any(is_inside(real, served) for served in self.inside):
            return "refused", "it is outside the folders that are served", "link-refused"
        if real == path and is_inside(path, self.folder) and (self.bound is None or is_inside(path, self.bound)):
            return None  # no link is involved
        return self._link_refusal(reader, path, real, is_folder)

    def _link_refusal(self, reader: Places, path: str, real: str, is_folder: bool) -> Refusal | None:
        folder = reader.real(self.folder)
        bound = folder if self.bound is None else reader.real(self.bound)
        if self.bound is not None and not is_inside(real, bound):
            if self.confined:
                return "untrusted", "it is outside the workspace that asked for it", "workspace-refused"
            if not self.follow:
                # A link that no setting allows gets that reason, so that the hint is never false.
                refusal = _unconditional_refusal(path, real, folder, bound, reader, is_folder)
                hint = f"; {ALLOW_HINT}" if self.can_be_allowed else ""
                leaves = f"it is a link that leaves {printable(self.bound)} and was not followed{hint}"
                return refusal or ("refused", leaves, "link-refused")
        if is_inside(path, self.folder) and real == _join(folder, path[len(self.folder) :]):
            return None
        reader.stamp_up_to(parent_folder(real), bound)
        return _unconditional_refusal(path, real, folder, bound, reader, is_folder)

    def link(self, reader: Places, path: str) -> str:
        """Return the link because of which a path is refused, or the path itself if there is no such link."""
        prefixes = []
        prefix = path
        while prefix != self.folder and is_inside(prefix, self.folder):
            prefixes.append(prefix)
            prefix = parent_folder(prefix)
        for prefix in reversed(prefixes):
            if reader.is_link(prefix) and self.refusal(reader, prefix, is_folder=prefix != path):
                return prefix
        return path

    def leads_out(self, reader: Places, path: str) -> bool:
        """Whether a file is outside the bound because of a link."""
        if self.bound is None or (is_inside(path, self.folder) and not reader.has_link(path, self.folder)):
            return False
        return not is_inside(real_path(path), reader.real(self.bound))


def _join(folder: str, rest: str) -> str:
    return folder.rstrip("/") + ("/" + rest.lstrip("/") if rest.strip("/") else "") or "/"


def is_in_system_folder(path: str, workspace: str) -> bool:
    """Whether a real path is in `/proc`, `/sys` or `/dev` and the workspace is not, as it may be in `/dev/shm`."""
    for folder in _SYSTEM_FOLDERS:
        if is_inside(path, folder):
            return not is_inside(real_path(workspace), folder)
    return False


def _unconditional_refusal(
    path: str, real: str, folder: str, bound: str, reader: Places, is_folder: bool
) -> Refusal | None:
    """Return why a link is refused regardless of the settings, or None if it is not."""
    from .secrets import is_secret

    # Names of folders above the workspace do not matter for the files in it.
    base = bound if is_inside(real, bound) else folder if is_inside(real, folder) else ""
    name = real[len(base.rstrip("/")) :] if base else real
    if is_secret(f"{name}/any" if is_folder else name):
        return "refused", "it is a link to a file whose name suggests that it contains secrets", "link-refused"
    if is_in_system_folder(real, bound):
        return "refused", "it is a link into /proc, /sys or /dev", "link-refused"
    if is_folder and is_inside(reader.real(parent_folder(path)), real):
        return "refused", "it is a link to a folder above itself", "link-refused"
    return None


def reach_of(pattern: Pattern, base: str, lookup: Lookup, workspace: Workspace) -> Reach:
    """Return how far the files that a pattern finds in `base` may lead."""
    root = workspace.root or workspace.cwd
    follow = lookup.links == "follow"
    if pattern.confined:
        return Reach(base, root, inside_for(base, workspace), confined=True)
    is_overridden_inside = pattern.place == "env" and is_inside(base, root)
    if pattern.place in WORKSPACE_PLACES or pattern.place == "above" or is_overridden_inside:
        return _project_reach(base, workspace, follow)
    if pattern.place == "path":
        start = "/" if pattern.path.startswith("/") else base
        start = os.path.normpath(os.path.join(start, pattern.path.removeprefix("~/").partition("*")[0]))
        if is_inside(start, root) or is_inside(start, workspace.cwd):
            return _project_reach(root if is_inside(start, root) else workspace.cwd, workspace, follow)
        return Reach(start)
    return Reach(base)


def _project_reach(base: str, workspace: Workspace, follow: bool) -> Reach:
    """Return how far the files found in a directory of the project, or above it, may lead."""
    root = workspace.root or workspace.cwd
    if not is_inside(base, root) and base != workspace.cwd:
        if workspace.home and is_inside(workspace.home, base):
            return Reach(base, None, inside_for(base, workspace))  # the user's home directory, or one above it
        return Reach(base, base, inside_for(base, workspace), follow)
    return Reach(base, root, inside_for(base, workspace), follow)


def inside_for(folder: str, workspace: Workspace) -> Sequence[str]:
    """Return the served folders that files found in `folder` must be in. There are none if `folder` is above the served folders."""
    is_above = any(served != folder and is_inside(served, folder) for served in workspace.inside)
    return () if is_above else workspace.inside


def workspace_reach(folder: str, workspace: Workspace) -> Reach:
    """Return the reach for the workspace's own settings, wording and templates, which may never lead outside it."""
    root = workspace.root or workspace.cwd
    return Reach(folder, root, inside_for(root, workspace), can_be_allowed=False)


def reach_by_path(path: str, lookups: Iterable[Lookup], workspace: Workspace) -> Reach:
    """Return how far a file that was found earlier may lead, based on its path."""
    lookups = tuple(lookups)
    for lookup in lookups:
        for pattern in (pattern for group in lookup.groups for pattern in group if not pattern.confined):
            base = _user_base(pattern, workspace)
            if base and is_inside(path, _fixed_folder(base, pattern.path.removeprefix("~/"))):
                return reach_of(pattern, base, lookup, workspace)
    root = workspace.root or workspace.cwd
    # The nearest directory, as when the file was found: the root may contain more than a service serves.
    base = workspace.cwd if is_inside(workspace.cwd, root) or is_inside(path, workspace.cwd) else root
    while not is_inside(path, base):
        base = parent_folder(base)
    return _project_reach(base, workspace, any(lookup.links == "follow" for lookup in lookups))


def _user_base(pattern: Pattern, workspace: Workspace) -> str | None:
    """Return the directory that a pattern outside the workspace starts from, or None for patterns in the workspace."""
    if pattern.place in USER_PLACES:
        return user_folder(pattern, workspace)
    if pattern.place == "path" and pattern.path.startswith("~/"):
        return workspace.home
    if pattern.place == "system":
        return "/"
    return workspace.cwd if pattern.place == "path" else None


def _fixed_folder(base: str, path: str) -> str:
    """Return the directory that a pattern searches, up to its first wildcard."""
    return os.path.normpath(os.path.join(base, os.path.dirname(path.partition("*")[0])))
