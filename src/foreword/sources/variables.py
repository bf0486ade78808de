"""Reads the values of template variables that come from files, git and the machine.

A `file:` variable must be in a folder that the agent's scope allows it to read, after links are resolved. Files with secrets, and
anything that is not a regular file, are refused regardless of the scope.
"""

from __future__ import annotations

import os

from ..findings import finding
from ..text.lines import printable
from ..vocabulary import replace, value
from . import git
from .links import inside_for, is_in_system_folder
from .paths import is_inside
from .places import real_path
from .readable import ReadableFolders, is_in_any
from .secrets import is_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Document, Scope, Workspace
    from .places import Places
    from .reader import Reader
    from .readings import Refusal
    from .trail import Trail


def read_values(
    variables: Collection[tuple[str, str]],
    workspace: Workspace,
    scope: Scope,
    settings: Mapping[str, Any],
    reader: Reader,
    trail: Trail,
) -> dict[str, str | Document]:
    """Read the values of these variables, except those of other types. Returns them by `type:name`."""
    values: dict[str, str | Document] = {}
    root = workspace.root or workspace.cwd
    inside = inside_for(root, workspace)
    guard = _FileGuard(workspace, ReadableFolders(scope), settings)
    for type_, name in variables:
        content: str | Document | None = None
        if type_ == "file":
            content = _read_file(name, workspace, guard, reader, trail)
        elif (type_, name) == ("git", "branch"):
            content = git.read_branch(workspace, reader, _reporter("git:branch", trail))
        elif (type_, name) == ("git", "status"):
            content = git.read_status(workspace, reader, _reporter("git:status", trail))
            if inside and not any(is_inside(real_path(root), folder) for folder in inside):
                content = None  # it was replaced by a link in the meantime
        elif (type_, name) == ("system", "hostname"):
            import socket

            content = socket.gethostname()
        if content is not None:
            values[f"{type_}:{name}"] = content
    if ("git", "status") in variables:  # no stamp can show that it has changed
        reader.mark_unstable(workspace.cwd)
    return values


def _reporter(variable: str, trail: Trail) -> Callable[[str], None]:
    """Return a function that reports why a variable has no value."""
    return lambda reason: trail.findings.append(finding("variable-failed", f"[{variable}] has no value: {reason}"))


def _read_file(name: str, workspace: Workspace, guard: _FileGuard, reader: Reader, trail: Trail) -> Document | None:
    path = os.path.normpath(os.path.join(workspace.cwd, name))
    reader.stamp_up_to(path, workspace.cwd)
    reader.stamp(path)  # a file that is refused now may be another file later
    try:
        real = real_path(path)
    except ValueError:  # a lone surrogate
        escaped = name.encode("utf-8", "backslashreplace").decode()
        trail.findings.append(finding("variable-refused", f"[file:{escaped}] is not read: it is not a valid file name"))
        return None
    path_refusal = guard.refusal(reader, path, real)
    reading = reader.read(path, guard, trim=False) if path_refusal is None else None
    display_path = printable(path)
    request = f"asked for by [file:{printable(name)}]"
    if reading is None or reading.fate == "refused":
        reason = path_refusal[1] if path_refusal else reading.reason if reading else ""
        message = f"[file:{printable(name)}] is not read: {reason}"
        trail.findings.append(finding("variable-refused", message, display_path))
        trail.record(path, "variable", "refused", f"{request}; {reason}")
        return None
    if reading.code:
        trail.findings.append(finding(reading.code, f"{display_path}: {reading.reason}", display_path))
    trail.record(path, "variable", reading.fate, f"{request}; {reading.reason}" if reading.reason else request)
    if not reading.has_text:
        return None
    return replace(reading.document, text=reading.text.removesuffix("\n"))


@value
class _FileGuard:
    """Checks the path of a `file:` variable, and then the file that was opened for it."""

    workspace: Workspace
    readable: ReadableFolders
    settings: Mapping[str, Any]

    def refusal(self, reader: Places, path: str, real: str | None = None, is_folder: bool = False) -> Refusal | None:
        if real is None:
            return None
        reason = refusal(real, self.workspace, self.readable, self.settings) or (
            "" if real == path else refusal(path, self.workspace, None, self.settings)
        )
        return ("refused", reason, "") if reason else None


def complete(prefix: str, workspace: Workspace, scope: Scope, limit: int = 200) -> list[tuple[str, bool]]:
    """Return the sorted paths with this prefix that `file:` may read, each with whether it is a folder. Empty if they cannot be listed."""
    from .tree import Listings

    folder, name = os.path.split(prefix)
    path = os.path.normpath(os.path.join(workspace.cwd, folder))
    found: list[tuple[str, bool]] = []
    readable = ReadableFolders(scope)
    try:
        real = real_path(path)
        if refusal(os.path.join(real, "any"), workspace, readable, {}):
            return []
        names = sorted(Listings(workspace.inside).entries(path))
    except (OSError, ValueError):
        return []
    for entry in names:
        entry_path = real_path(os.path.join(path, entry))
        if not entry.startswith(name) or printable(entry) != entry or len(found) >= limit:
            continue
        is_folder = os.path.isdir(entry_path)
        inside = os.path.join(entry_path, "any") if is_folder else entry_path
        if not refusal(inside, workspace, readable, {}) and (is_folder or os.path.isfile(entry_path)):
            found.append((os.path.join(folder, entry) + ("/" if is_folder else ""), is_folder))
    return found


def refusal(path: str, workspace: Workspace, readable: ReadableFolders | None, settings: Mapping[str, Any]) -> str:
    """Return why a real path may not be read, or empty if it may. `readable` is None if only the name matters."""
    if is_in_system_folder(path, workspace.root or workspace.cwd):
        return "it is not a file of a project"
    if is_secret(path) and not settings.get("file_secrets"):
        return "its name suggests that it contains secrets (the setting file_secrets allows it)"
    if readable is None:
        return ""
    added = _real_folders(settings.get("file_paths", ()), workspace)
    if workspace.inside and not is_in_any((*workspace.inside, *added), path):
        return "it is outside the folders that are served"
    if readable.denies(path):
        return "the scope denies it"
    if readable.grants(path) or is_in_any(added, path):
        return ""
    return "it is outside what the scope may read (the setting file_paths widens it)"


def _real_folders(extra_folders: Sequence[str], workspace: Workspace) -> list[str]:
    """Return the real paths of the additional folders in the settings."""
    return [real_path(os.path.join(workspace.cwd, _expand_home(folder, workspace))) for folder in extra_folders]


def _expand_home(path: str, workspace: Workspace) -> str:
    """Return the path with `~` expanded to the user's home directory."""
    return os.path.join(workspace.home, path[2:]) if workspace.home and path.startswith("~/") else path
