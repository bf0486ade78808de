"""What git knows of a workspace: the branch and the short status.

Nothing of a workspace is executed. The branch is read from the repository's own file. For the status git has to run, and a
repository's configuration can name programs that git would start: filters, a file-system monitor, hooks, the other end of a
fetch. Those are switched off. Git is told which folders to use, so that the configuration it reads is the one that was looked
through here; one that pulls in further files, or writes its filters in an unusual way, is refused.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .files import Check, Reader

SECONDS = 5
# A section can begin anywhere in a line, and its name can be written in several ways: only the usual one is understood.
_DOUBTFUL = re.compile(r"\[\s*(?:filter|include)", re.IGNORECASE)
_FILTER = re.compile(r'^[ \t]*\[filter "([\w.-]+)"\]', re.MULTILINE | re.IGNORECASE | re.ASCII)
_OFF = (
    "core.fsmonitor=", "core.hooksPath=/dev/null", "core.pager=cat", "submodule.recurse=false",
    # The user may like these at a terminal; here they would stand in a prompt, also where nothing has changed.
    "status.branch=false", "color.status=false",
)  # fmt: skip
# What the caller's environment may say to git. The rest could lead it to another repository.
_KEPT = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"))


def branch(root: str, reader: Reader, check: Check | None = None) -> str | None:
    """The current branch, from the file HEAD; `HEAD` where none is checked out, None outside a repository.

    `check` is asked of what lies in the root; a worktree's own folder may lie elsewhere.
    """
    folder = git_folder(root, reader, check)
    own = check if folder == os.path.join(root, ".git") else None
    head = reader.read(os.path.join(folder, "HEAD"), own) if folder else None
    if head is None or not head.has_text:
        return None
    name = head.text.strip().removeprefix("ref: refs/heads/")
    if name == ".invalid":  # this repository keeps its HEAD elsewhere
        return None
    return name if name != head.text.strip() else "HEAD"


def status(root: str, cwd: str, reader: Reader, tell: Callable[[str], object] = lambda why: None) -> str | None:
    """`git status --short` in the working directory, by running git once; None where that fails or is not safe.

    In a repository `tell` is told why; outside of one there is nothing to say.
    """
    folder = git_folder(root, reader)
    if folder is None or not reader.read(os.path.join(folder, "HEAD")).has_text:
        return None
    common = _common_folder(folder, reader)
    filters = _filters(folder, common, reader)
    if filters is None:
        tell(
            "the repository's configuration includes other files, or filters in an unusual way, and git is not run on it"
        )
        return None
    import subprocess

    off = [*_OFF, *(f"filter.{name}.{key}=" for name in filters for key in ("clean", "smudge", "process"))]
    off += [f"filter.{name}.required=false" for name in filters]
    settings = [word for setting in off for word in ("-c", setting)]
    try:
        ran = subprocess.run(
            ["git", *settings, "status", "--short", "--ignore-submodules=dirty"],
            cwd=cwd,
            env={**_environment(), "GIT_DIR": folder, "GIT_COMMON_DIR": common, "GIT_WORK_TREE": root},
            capture_output=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        tell(_failure(error))
        return None
    if ran.returncode:
        tell(f"git ended with status {ran.returncode}")
        return None
    return ran.stdout.decode("utf-8", "backslashreplace").rstrip("\n")


def _failure(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "git is not installed, or not on the PATH"
    if type(error).__name__ == "TimeoutExpired":
        return f"git took longer than {SECONDS} seconds"
    return f"git could not be run: {getattr(error, 'strerror', None) or type(error).__name__}"


def _environment() -> dict[str, str]:
    """The caller's, without what speaks of another repository, or finds programs in the working directory."""
    kept = {name: text for name, text in os.environ.items() if name in _KEPT or not name.startswith("GIT_")}
    folders = kept.get("PATH", os.defpath).split(os.pathsep)
    kept["PATH"] = os.pathsep.join(filter(os.path.isabs, folders))
    # An object that is missing would be fetched, by a program that the configuration names.
    return {**kept, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def git_folder(root: str, reader: Reader, check: Check | None = None) -> str | None:
    """The folder where a repository keeps its own files; a worktree or submodule names it in a file `.git`."""
    path = os.path.join(root, ".git")
    if not reader.is_folder(path):
        pointer = reader.read(path, check)
        if not pointer.has_text or not pointer.text.startswith("gitdir:"):
            return None
        path = os.path.normpath(os.path.join(root, pointer.text.removeprefix("gitdir:").strip()))
    return path if reader.is_folder(path) else None


def _common_folder(folder: str, reader: Reader) -> str:
    """The folder of the repository that a worktree belongs to; else its own."""
    common = reader.read(os.path.join(folder, "commondir"))
    return os.path.normpath(os.path.join(folder, common.text.strip())) if common.has_text else folder


def _filters(folder: str, common: str, reader: Reader) -> list[str] | None:
    """The filters that the repository's configuration names; None where it is refused or cannot be read."""
    names: set[str] = set()
    for path in (os.path.join(common, "config"), os.path.join(folder, "config.worktree")):
        reading = reader.read(path)
        found = _FILTER.findall(reading.text)
        if reading.fate not in ("used", "absent", "blank") or len(_DOUBTFUL.findall(reading.text)) != len(found):
            return None
        names.update(found)
    return sorted(names)
