"""Finds a git repository's own files, and decides which of them may be read.

A workspace is untrusted. Its `.git` may be a link, a file that refers to another folder, or a folder full of links, and any of these
could lead to somebody else's repository. A folder outside the workspace is accepted only if it points back: a worktree's folder with
a `gitdir` file, a submodule's with `core.worktree`. Links inside an accepted folder may not leave it.
"""

from __future__ import annotations

import os
import stat

from ..text import regex
from ..text.lines import printable
from ..vocabulary import value
from .alternates import unsafe_alternate
from .links import Reach, inside_for
from .paths import is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ..vocabulary import Workspace
    from .reader import Reader

    Report = Callable[[str], object]

_WORKTREE = r"(?m)^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t]*$"
# A repository with more entries is not searched for links, so git is not run on it.
_MAX_ENTRIES = 500_000


@value
class Repository:
    """A repository's own folder, the folder it shares with its worktrees, and how far links in them may lead.

    If `inside` is not empty, object folders elsewhere must be in one of these real folders (those that a service serves).
    """

    folder: str
    common: str
    reach: Reach
    inside: Sequence[str] = ()

    def read_head(self, reader: Reader, report: Report) -> str:
        """Return the text of the HEAD file, or empty if it cannot be read. The reason is reported unless the file does not exist."""
        path = os.path.join(self.folder, "HEAD")
        reading = reader.read(path, self.reach)
        if not reading.has_text and reading.fate != "absent":
            report(f"{printable(path)}: {reading.reason or 'it is empty'}")
        return reading.text.strip() if reading.has_text else ""

    def unsafe_reason(self, reader: Reader, head: str) -> str:
        """Return why it is not safe to run git here, or empty if it is. Git may read any file, so no link may leave the repository."""
        if head.startswith("ref: "):
            path = os.path.normpath(os.path.join(self.common, head.removeprefix("ref: ")))
            if not is_inside(path, self.common):
                return f"{printable(path)} is outside the repository"
        for folder in dict.fromkeys((self.folder, self.common)):
            if reason := _unsafe_entry(folder, reader, (self.folder, self.common)):
                return reason
        objects = os.path.join(self.common, "objects")
        return unsafe_alternate(objects, reader, self.inside, lambda folder: _unsafe_entry(folder, reader, (folder,)))


def _unsafe_entry(top: str, reader: Reader, allowed: Sequence[str]) -> str:
    """Return why a folder is not safe for git, or empty if it is. Links in it may lead only to the allowed folders."""
    count, folders = 0, [top]
    while folders:
        folder = folders.pop()
        try:
            with reader.disk.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError:
            return f"{printable(folder)} cannot be searched for links"
        count += len(entries)
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif not entry.is_symlink():
                if not _is_socket(entry):  # git's own file-system monitor has one
                    return f"{printable(entry.path)} is not a regular file"
            elif not any(is_inside(reader.real(entry.path), reader.real(path)) for path in allowed):
                return f"{printable(entry.path)} is a link that leaves the repository"
        if count > _MAX_ENTRIES:
            return f"{printable(top)} has too many entries to be searched for links"
    return ""


def _is_socket(entry: os.DirEntry[str]) -> bool:
    try:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except OSError:  # it has disappeared
        return True


def _ignore(_: Any) -> None:
    pass


def find_repository(workspace: Workspace, reader: Reader, report: Report = _ignore) -> Repository | None:
    """Return the workspace's repository, or None if there is none. `report` is called with the reason if it may not be read."""
    root = workspace.root or workspace.cwd
    inside = inside_for(root, workspace)
    folder = _git_folder(root, Reach(root, root, inside, can_be_allowed=False), reader, report)
    if folder is None or not reader.is_folder(folder):
        return None
    is_own = is_inside(reader.real(folder), reader.real(root))
    if not is_own and not _points_back(folder, root, reader):
        report(
            f"{printable(os.path.join(root, '.git'))} leads to {printable(reader.real(folder))}, which does not point back to this workspace;"
            " if it belongs here, run 'git worktree repair', or 'git config core.worktree' with the path of the workspace"
        )
        return None
    reach = Reach(folder, folder, inside if is_own else (), can_be_allowed=False)
    common = _common_folder(folder, reach, reader)
    expected = root if is_own else _worktree_owner(folder) or folder
    if common != folder and not is_inside(reader.real(common), reader.real(expected)):
        report(f"{printable(folder)}/commondir leads to {printable(common)}, which is not the repository it belongs to")
        return None
    return Repository(folder, common, reach, workspace.inside)


def main_checkout(workspace: Workspace, reader: Reader) -> str:
    """Return the root of the checkout that a worktree belongs to, or the workspace's root if it is not a worktree."""
    root = workspace.root or workspace.cwd
    if not workspace.is_repository or reader.is_folder(os.path.join(root, ".git")):
        return root
    repository = find_repository(workspace, reader)
    if repository is None or repository.common == repository.folder:
        return root
    folder, name = os.path.split(repository.common)
    return folder if name == ".git" else root


def _git_folder(root: str, reach: Reach, reader: Reader, report: Report) -> str | None:
    """Return the `.git` folder, or the folder that a `.git` file points to."""
    path = os.path.join(root, ".git")
    if reader.is_folder(path):
        reader.stamp(path)
        return path
    pointer = reader.read(path, reach)
    if pointer.fate == "refused":
        report(f"{printable(path)}: {pointer.reason}")
    if not pointer.has_text or not pointer.text.startswith("gitdir:"):
        return None
    return os.path.normpath(os.path.join(root, pointer.text.removeprefix("gitdir:").strip()))


def _points_back(folder: str, root: str, reader: Reader) -> bool:
    """Whether a repository's own files refer back to the workspace."""
    reach = Reach(folder, folder, can_be_allowed=False)
    pointer = reader.read(os.path.join(folder, "gitdir"), reach)
    if pointer.has_text:
        return reader.real(os.path.join(folder, pointer.text.strip())) == reader.real(os.path.join(root, ".git"))
    texts = [reader.read(os.path.join(folder, name), reach).text for name in ("config", "config.worktree")]
    worktrees = [
        regex.sub(r"\\(.)", r"\1", match.strip('"')) for text in texts for match in regex.findall(_WORKTREE, text)
    ]
    return bool(worktrees) and reader.real(os.path.join(folder, worktrees[-1])) == reader.real(root)


def _common_folder(folder: str, reach: Reach, reader: Reader) -> str:
    """Return the folder of the repository that a worktree belongs to, or the same folder if there is no `commondir` file."""
    common = reader.read(os.path.join(folder, "commondir"), reach)
    return os.path.normpath(os.path.join(folder, common.text.strip())) if common.has_text else folder


def _worktree_owner(folder: str) -> str:
    """Return the repository that has `folder` as one of its worktrees, or empty if it is not in a folder named `worktrees`."""
    parent, name = os.path.split(os.path.dirname(folder))
    return parent if name == "worktrees" else ""
