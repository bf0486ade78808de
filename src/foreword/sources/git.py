"""What git knows of a workspace: the branch and the short status.

Nothing of a workspace is executed. The branch is read from the repository's own file. For the status git has to run, and a
repository's configuration can name programs that git would start (filters, a file-system monitor, hooks): those are switched
off, and a configuration that pulls in further files, where more could hide, is refused.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .files import Reader

SECONDS = 5
_FILTER = re.compile(r'^\s*\[\s*filter\s+"((?:[^"\\\n]|\\.)*)"\s*\]', re.MULTILINE | re.IGNORECASE)
_INCLUDE = re.compile(r"^\s*\[\s*include", re.MULTILINE | re.IGNORECASE)


def branch(root: str, reader: Reader) -> str | None:
    """The current branch, from the file HEAD; `HEAD` where none is checked out, None outside a repository."""
    folder = _git_folder(root, reader)
    head = reader.read(os.path.join(folder, "HEAD")) if folder else None
    if head is None or not head.has_text:
        return None
    name = head.text.strip().removeprefix("ref: refs/heads/")
    return name if name != head.text.strip() else "HEAD"


def status(root: str, cwd: str, reader: Reader) -> str | None:
    """`git status --short` in the working directory, by running git once; None where that fails or is not safe."""
    folder = _git_folder(root, reader)
    if folder is None:
        return None
    filters = _filters(folder, reader)
    if filters is None:
        return None
    import subprocess

    off = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "submodule.recurse=false"]
    off += [f"filter.{name}.{key}=" for name in filters for key in ("clean", "smudge", "process")]
    off += [f"filter.{name}.required=false" for name in filters]
    command = [
        "git",
        *(word for setting in off for word in ("-c", setting)),
        "status",
        "--short",
        "--ignore-submodules=dirty",
    ]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    try:
        ran = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            capture_output=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return ran.stdout.decode("utf-8", "backslashreplace").rstrip("\n") if ran.returncode == 0 else None


def _git_folder(root: str, reader: Reader) -> str | None:
    """The folder where a repository keeps its own files; a worktree or submodule names it in a file `.git`."""
    path = os.path.join(root, ".git")
    if reader.is_folder(path):
        return path
    pointer = reader.read(path)
    if not pointer.has_text or not pointer.text.startswith("gitdir:"):
        return None
    return os.path.normpath(os.path.join(root, pointer.text.removeprefix("gitdir:").strip()))


def _filters(folder: str, reader: Reader) -> list[str] | None:
    """The filters that the repository's configuration names; None where it pulls in other files or cannot be read."""
    common = reader.read(os.path.join(folder, "commondir"))
    shared = os.path.normpath(os.path.join(folder, common.text.strip())) if common.has_text else folder
    names: list[str] = []
    for path in {
        os.path.join(shared, "config"),
        os.path.join(folder, "config"),
        os.path.join(folder, "config.worktree"),
    }:
        reading = reader.read(path)
        if reading.fate not in ("used", "absent", "blank") or _INCLUDE.search(reading.text):
            return None
        names += _FILTER.findall(reading.text)
    return sorted(set(names))
