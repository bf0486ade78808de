"""Decide which sessions belong to a folder: its repository with all its worktrees, or only the folder if it is not in one."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..sources.reader import Reader
    from ..vocabulary import Workspace

_HEAD = 128 << 10


def normalize_folder(path: str) -> str:
    """Return a folder's path in the form in which paths are compared: with slashes, and Windows paths in lower case."""
    plain = path.replace("\\", "/") if re.match(r"[A-Za-z]:[\\/]|\\\\", path) else path
    plain = plain.rstrip("/") or "/"
    return plain.lower() if re.match(r"[A-Za-z]:/", plain + "/") or plain.startswith("//") else plain


class SessionPlace:
    """The folders that one question is about: these, as far as they are in the `served` ones, if there are any."""

    def __init__(self, folders: Sequence[str], served: Sequence[str] = ()) -> None:
        self.served = SessionPlace(served) if served else None
        self.folders = list(dict.fromkeys(normalize_folder(folder) for folder in folders))
        self.names = {folder.rpartition("/")[2] for folder in self.folders}

    def contains(self, cwd: str) -> bool:
        """Whether a session that ran in `cwd` belongs to these folders."""
        path = normalize_folder(cwd)
        is_here = any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in self.folders)
        return is_here and (self.served is None or self.served.contains(cwd))

    def may_have_moved(self, cwd: str) -> bool:
        """Whether a session ran in a folder of the same name that does not exist any more."""
        path = normalize_folder(cwd)
        has_name = self.served is None and any(name in path.split("/") for name in self.names)
        return has_name and not os.path.isdir(cwd)


def place_of(workspace: Workspace, reader: Reader, served: Sequence[str] = ()) -> SessionPlace:
    """Return the folders of a workspace's repository: the root, its real path, and those of its worktrees."""
    root = workspace.root or workspace.cwd
    folders = [root, os.path.realpath(root)]
    if workspace.is_repository:
        from ..sources.repository import find_repository

        repository = find_repository(workspace, reader)
        if repository is not None:
            folders += _worktrees(repository.common)
    return SessionPlace(folders, served)


def _worktrees(common: str) -> list[str]:
    """Return the folders of a repository's worktrees, and its main one."""
    from .readers.lines import read_beginning

    found = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    folder = os.path.join(common, "worktrees")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return found
    for name in names:
        pointer = os.fsdecode(read_beginning(os.path.join(folder, name, "gitdir"), 4096)).strip()
        if os.path.isabs(pointer) and "\0" not in pointer:
            found.append(os.path.dirname(pointer))
            found.append(os.path.realpath(os.path.dirname(pointer)))
    return found


def peek_cwd(path: str) -> str:
    """Return the working directory that the beginning of a log names, or empty."""
    from .readers.lines import read_beginning
    from .readers.rows import parse_row

    for line in read_beginning(path, _HEAD).split(b"\n"):
        if b'"cwd"' in line and (row := parse_row(line)) is not None and (cwd := _cwd_of(row)):
            return cwd
    return ""


def _cwd_of(row: Mapping[str, object]) -> str:
    """Return the working directory in a row. What a tool was called with may have a field of that name too."""
    from .readers.rows import string

    data = row.get("data")
    places = (row, row.get("payload"), data.get("context") if isinstance(data, dict) else None)
    return next(filter(None, (string(place, "cwd") for place in places)), "")
