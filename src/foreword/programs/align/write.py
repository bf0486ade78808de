"""Carry out the changes of an alignment. Nothing is written outside the repository, or through a link."""

from __future__ import annotations

import os
import stat

from ...errors import CallError
from ...sources.shared_files import uncommitted
from ...text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Alignment, FileChange

_NEW_MODE = 0o644


def write_changes(alignment: Alignment, *, force: bool = False) -> None:
    """Write all changes, each file at once. Raises a CallError, before anything is written, if one of them cannot be made safely."""
    root = alignment.root
    for change in alignment.changes:
        _check(root, change)
    if not force:
        _check_committed(root, [change.path for change in alignment.changes if change.action in ("edit", "remove")])
    # Links come first: if the system has none, nothing has been written yet.
    for change in sorted(alignment.changes, key=lambda change: change.action != "link"):
        try:
            _carry_out(root, change)
        except (OSError, NotImplementedError) as error:
            reason = getattr(error, "strerror", None) or "this system has no links"
            raise CallError(f"{printable(change.path)} cannot be written: {reason}") from None


def _check(root: str, change: FileChange) -> None:
    """Raise a CallError if a path leads through a link, or if the file is not the one that the plan was made for."""
    shown, folder = printable(change.path), root
    if any(name in ("", ".", "..", ".git") for name in change.path.replace("\\", "/").split("/")):
        raise CallError(f"{shown} is not a path in the repository")
    for name in change.path.split("/"):
        folder = os.path.join(folder, name)
        if os.path.islink(folder):
            raise CallError(
                f"{shown} leads through a link, which align does not follow; replace the link, or remove it"
            )
    if _read(folder) != change.before:
        raise CallError(f"{shown} has changed in the meantime; run align again")


def _read(path: str) -> str | None:
    """Return a file's text, or None if there is no file."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CallError(f"{printable(path)} cannot be read: {error.strerror}") from None


def _check_committed(root: str, paths: Sequence[str]) -> None:
    """Raise a CallError if one of these files has changes that are not committed, because git could then not restore them."""
    if not paths:
        return
    dirty = uncommitted(root, paths)
    if dirty is None:
        raise CallError(
            f"{printable(root)} is not a repository that git can be run on, so changes to {printable(paths[0])} could not be undone;"
            " --force writes them anyway"
        )
    names = [path for path in paths if path in dirty]
    if names:
        verb = "has" if len(names) == 1 else "have"
        raise CallError(
            f"{printable(', '.join(names))} {verb} changes that are not committed; commit them, or pass --force"
        )


def _carry_out(root: str, change: FileChange) -> None:
    path = os.path.join(root, change.path)
    if change.action == "remove":
        os.unlink(path)
        _remove_empty_folders(root, os.path.dirname(path))
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if change.action == "link":
        os.symlink(change.text or "", path)
        return
    _replace(path, (change.text or "").encode("utf-8", "surrogateescape"))


def _replace(path: str, content: bytes) -> None:
    """Write a file so that others see either the old content or the new one. The file keeps its permissions."""
    import tempfile

    try:
        mode = stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        mode = _NEW_MODE
    descriptor, temporary = tempfile.mkstemp(prefix=".foreword-align-", dir=os.path.dirname(path))
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def _remove_empty_folders(root: str, folder: str) -> None:
    while folder != root:
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)
