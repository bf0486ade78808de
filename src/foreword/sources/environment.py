"""Resolves a `Workspace`: determines, once, everything that the caller did not specify.

Paths are kept as the user wrote them (a directory reached through a link keeps the link's name). A directory's git repository is
found by its real path, as git does.
"""

from __future__ import annotations

import os
import sys

from ..errors import CallError, MissingError
from ..text.lines import printable
from ..vocabulary import Workspace
from .paths import is_inside, normalize
from .places import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .reader import Reader


def resolve_workspace(workspace: Workspace, reader: Reader) -> Workspace:
    """Return the workspace with absolute paths, its root and the home directory (None if unknown).

    Raises a MissingError if the working directory does not exist.
    """
    environment = os.environ if workspace.environment is None else workspace.environment
    cwd = absolute(workspace.cwd, environment)
    if not reader.is_folder(cwd):
        problem = reader.problem(cwd)
        problem = f"cannot be examined ({problem})" if problem else _missing_directory_reason(cwd)
        raise MissingError(f"the working directory {printable(workspace.cwd)} {problem}; pass an existing directory")
    if workspace.inside and not any(is_inside(real_path(cwd), folder) for folder in workspace.inside):
        raise MissingError(
            f"the working directory {printable(workspace.cwd)} is not inside the folders that are served"
        )
    platform = workspace.platform or sys.platform
    home = workspace.home if workspace.home is not None else _home_directory(platform, environment)
    if workspace.root:
        root: str | None = _check_root(cwd, absolute(workspace.root, environment))
    else:
        cwd, root = _find_git_root(cwd, reader)
    home = absolute(home, environment) if home else None
    return Workspace(cwd, root or cwd, home, platform, environment, root is not None, workspace.inside)


def _check_root(cwd: str, root: str) -> str:
    """Return the caller's root, or its real path if the working directory is inside it only through links.

    Raises a CallError if the working directory is not inside it.
    """
    if is_inside(cwd, root):
        return root
    real = real_path(root)
    if not is_inside(real_path(cwd), real):
        raise CallError(
            f"the root {printable(root)} is neither the working directory {printable(cwd)} nor a directory above it"
        )
    return real


def _missing_directory_reason(path: str) -> str:
    return "is not a directory" if os.path.lexists(path) else "does not exist"


def git_root(cwd: str, reader: Reader) -> str | None:
    """Return the nearest directory at or above `cwd` that has a `.git`: a folder, or a file in a worktree or submodule."""
    directory = cwd
    while True:
        if reader.has_git(directory):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def _find_git_root(cwd: str, reader: Reader) -> tuple[str, str | None]:
    """Return the working directory and its git root (None outside a repository). If possible, the root is a prefix of the path."""
    root = git_root(cwd, reader)
    real = real_path(cwd)
    if real == cwd:
        return cwd, root
    real_root = git_root(real, reader)
    if real_root is None or (root is not None and reader.identity(root) == reader.identity(real_root)):
        return cwd, root if real_root is not None else None
    return cwd, real_root


def absolute(path: str, environment: Mapping[str, str]) -> str:
    """Make a path absolute without resolving links. Relative paths start from the working directory as the shell spells it."""
    if os.path.isabs(path):
        return normalize(path)
    try:
        current = os.getcwd()
    except OSError:
        raise CallError("the working directory no longer exists; pass an existing directory") from None
    shell_cwd = environment.get("PWD", "")
    if os.path.isabs(shell_cwd) and shell_cwd != current:
        try:
            current = normalize(shell_cwd) if os.path.samefile(shell_cwd, current) else current
        except OSError:
            pass
    return normalize(os.path.join(current, path))


def _home_directory(platform: str, environment: Mapping[str, str]) -> str | None:
    return environment.get("USERPROFILE" if platform == "win32" else "HOME") or None


def install_command(extra: str) -> str:
    """Return the command that installs one of this package's extras. In a checkout it is `make setup`."""
    checkout = os.path.join(os.path.dirname(__file__), "..", "..", "..")
    is_checkout = all(os.path.isfile(os.path.join(checkout, name)) for name in ("Makefile", "pyproject.toml"))
    return "make setup" if is_checkout else f"pip install '/path/to/foreword[{extra}]'"
