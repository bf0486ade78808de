"""The branch and the short status of a workspace's git repository.

Nothing in a workspace is executed. The branch is read from the HEAD file. Getting the status requires running git, and a
repository's configuration can make git start other programs: filters, a file-system monitor, hooks, the other end of a fetch.
Those are switched off. The folders to use are passed to git, so that it reads the configuration that was checked here. If a
configuration includes other files or defines filters in an unusual way, git is not run.
"""

from __future__ import annotations

import os
import re

from ..errors import show
from .repository import find_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..vocabulary import Workspace
    from .files import Reader
    from .repository import Report, Repository

TIMEOUT = 5
# A section can begin anywhere in a line, and its name can be written in several ways; only the usual way is parsed.
_UNSAFE_SECTION = re.compile(r"\[\s*(?:filter|include)", re.IGNORECASE)
_FILTER = re.compile(r'^[ \t]*\[filter "([\w.-]+)"\]', re.MULTILINE | re.IGNORECASE | re.ASCII)
_DISABLING_SETTINGS = (
    "core.fsmonitor=", "core.hooksPath=/dev/null", "core.pager=cat", "submodule.recurse=false",
    # Useful in a terminal, but here their output would appear in the prompt even if nothing has changed.
    "status.branch=false", "color.status=false",
)  # fmt: skip
# The GIT_ variables that are passed on from the caller's environment. Others could lead git to another repository.
_GIT_VARIABLES = frozenset(("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"))


_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\b", re.ASCII)
# A branch name cannot be longer, because it is a file name.
_MAX_BRANCH_LENGTH = 255


def read_branch(workspace: Workspace, reader: Reader, report: Report) -> str | None:
    """Read the current branch from the HEAD file. Returns `HEAD` if it is detached, and None outside a repository.

    `report` is called with the reason if a repository cannot be read.
    """
    repository = find_repository(workspace, reader, report)
    head = repository.read_head(reader, report) if repository else ""
    name = head.removeprefix("ref: refs/heads/").split("\n", 1)[0].strip()[:_MAX_BRANCH_LENGTH]
    if not name or name == ".invalid":  # a repository that stores its references in tables
        return None
    if head.startswith("ref: refs/heads/"):
        return name
    if not head.startswith("ref: refs/") and not _COMMIT.match(head):
        report(f"the HEAD file contains neither a branch nor a commit: {show(head)}")
        return None
    return "HEAD"


def read_status(workspace: Workspace, reader: Reader, report: Report) -> str | None:
    """Run `git status --short` in the working directory and return its output, or None if git fails or is not safe to run.

    If this is a repository, `report` is then called with the reason.
    """
    repository = find_repository(workspace, reader, report)
    head = repository.read_head(reader, report) if repository else ""
    if repository is None or not head:
        return None
    if reason := repository.unsafe_reason(reader, head):
        report(f"{reason}, so git is not run on it")
        return None
    filters = _find_filters(repository, reader)
    if filters is None:
        report(
            "the repository's configuration includes other files or defines filters in an unusual way, so git is not run on it"
        )
        return None
    import subprocess

    disabled = [
        *_DISABLING_SETTINGS,
        *(f"filter.{name}.{key}=" for name in filters for key in ("clean", "smudge", "process")),
    ]
    disabled += [f"filter.{name}.required=false" for name in filters]
    settings = [word for setting in disabled for word in ("-c", setting)]
    try:
        result = subprocess.run(
            ["git", *settings, "status", "--short", "--ignore-submodules=dirty"],
            cwd=workspace.cwd,
            env={
                **_environment(),
                "GIT_DIR": repository.folder,
                "GIT_COMMON_DIR": repository.common,
                "GIT_WORK_TREE": workspace.root or workspace.cwd,
            },
            capture_output=True,
            timeout=TIMEOUT,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        report(_describe_failure(error))
        return None
    if result.returncode:
        report(f"git exited with status {result.returncode}")
        return None
    return result.stdout.decode("utf-8", "backslashreplace").rstrip("\n")


def _describe_failure(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "git is not installed, or not on the PATH"
    if type(error).__name__ == "TimeoutExpired":
        return f"git took longer than {TIMEOUT} seconds"
    return f"git could not be run: {getattr(error, 'strerror', None) or type(error).__name__}"


def _environment() -> dict[str, str]:
    """Return the caller's environment, without variables that select another repository, and without relative folders in PATH."""
    environment = {
        name: text for name, text in os.environ.items() if name in _GIT_VARIABLES or not name.startswith("GIT_")
    }
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    environment["PATH"] = os.pathsep.join(filter(os.path.isabs, folders))
    # Git would fetch missing objects with a program from the repository's configuration.
    return {
        **environment,
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "LC_ALL": "C",
    }


def _find_filters(repository: Repository, reader: Reader) -> list[str] | None:
    """Return the filters that the repository's configuration defines, or None if it cannot be read or could define others."""
    names: set[str] = set()
    for path in (os.path.join(repository.common, "config"), os.path.join(repository.folder, "config.worktree")):
        reading = reader.read(path)
        filters = _FILTER.findall(reading.text)
        if reading.fate not in ("used", "absent", "blank") or len(_UNSAFE_SECTION.findall(reading.text)) != len(
            filters
        ):
            return None
        names.update(filters)
    return sorted(names)
