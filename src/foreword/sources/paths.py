"""Functions that work only on the text of paths: they do not access the disk or resolve links."""

from __future__ import annotations

from posixpath import dirname, isabs, join, normpath, splitext

from ..text.lines import printable
from ..vocabulary import Access, Scope, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..layout.model import Lookup, Pattern
    from ..vocabulary import Workspace

_USER_FILE_DISTANCE = 1_000_000
_MAX_NAME_LENGTH = 400
_SUFFIXES = (
    ".md",
    ".mdx",
    ".markdown",
    ".txt",
    ".prompt",
    ".rst",
    ".j2",
    ".jinja",
    ".jinja2",
    ".toml",
    ".yaml",
    ".yml",
)


def normalize(path: str) -> str:
    """Return the path without `.`, `..` and repeated slashes, including the two leading slashes that POSIX allows."""
    return normpath(path).replace("//", "/")


def is_inside(path: str, folder: str) -> bool:
    """Whether an absolute path is the folder itself or below it."""
    return path == folder or path.startswith(folder if folder.endswith("/") else folder + "/")


def is_file_name(text: str) -> bool:
    """Whether text looks like a single file name, such as `prompts/base.md`."""
    name = text.strip()
    if len(name) > _MAX_NAME_LENGTH or len(name.split()) != 1:
        return False
    return name.lower().endswith(_SUFFIXES) or name.startswith(("/", "./", "../", "~/"))


def config_folder(workspace: Workspace) -> str | None:
    """Return the folder for a user's settings: `$XDG_CONFIG_HOME` if absolute, otherwise `~/.config`; `%APPDATA%` on Windows."""
    return _folder(workspace, "APPDATA", "XDG_CONFIG_HOME", ".config")


def data_folder(workspace: Workspace) -> str | None:
    """Return the folder for a user's data: `$XDG_DATA_HOME` if absolute, otherwise `~/.local/share`; `%LOCALAPPDATA%` on Windows."""
    return _folder(workspace, "LOCALAPPDATA", "XDG_DATA_HOME", ".local/share")


def state_folder(workspace: Workspace) -> str | None:
    """Return the folder for programs' state: `$XDG_STATE_HOME` if absolute, otherwise `~/.local/state`; `%LOCALAPPDATA%` on Windows."""
    return _folder(workspace, "LOCALAPPDATA", "XDG_STATE_HOME", ".local/state")


def _folder(workspace: Workspace, windows_variable: str, unix_variable: str, below_home: str) -> str | None:
    environment = workspace.environment or {}
    if workspace.platform == "win32":
        folder = environment.get(windows_variable, "").replace("\\", "/")
        return folder.rstrip("/") if folder.startswith("/") or folder[1:3] == ":/" else None
    folder = environment.get(unix_variable, "")
    if folder.startswith("/"):
        return normalize(folder)
    return join(workspace.home, below_home) if workspace.home else None


USER_PLACES = ("home", "config", "env")


def user_folder(pattern: Pattern, workspace: Workspace) -> str | None:
    """Return the folder that a pattern for the user's own files starts from, or None if it is unknown."""
    if pattern.place == "config":
        return config_folder(workspace)
    if pattern.place != "env":
        return workspace.home
    folder = (workspace.environment or {}).get(pattern.variable, "")
    folder = folder if folder.startswith("/") else pattern.default
    if not folder:
        return None
    if not folder.startswith("~/"):
        return normalize(folder)
    return normalize(join(workspace.home, folder[2:])) if workspace.home else None


def distance_of(path: str, lookup: Lookup, workspace: Workspace) -> int:
    """Return how many levels above the working directory a file is. The user's own files are farther away than all others."""
    if is_user_file(path, lookup, workspace):
        return _USER_FILE_DISTANCE
    folder, distance = printable(workspace.cwd), 0
    while isabs(path) and not is_inside(path, folder):
        folder, distance = dirname(folder), distance + 1
    return distance


def is_user_file(path: str, lookup: Lookup, workspace: Workspace) -> bool:
    """Whether a lookup rule finds this file in the user's own folders."""
    return any(_finds_user_file(path, pattern, workspace) for group in lookup.groups for pattern in group)


def _finds_user_file(path: str, pattern: Pattern, workspace: Workspace) -> bool:
    """Whether a pattern finds this file in the user's own folders."""
    if pattern.place not in USER_PLACES or pattern.confined:
        return False
    base = user_folder(pattern, workspace)
    start, star, _ = printable(join(base or "", pattern.path)).partition("*")
    return bool(base) and (path.startswith(start) if star else path == start)


def absolute_path(path: str, workspace: Workspace) -> str:
    """Return the absolute form of a caller's path, which may start with `~` or be relative to the working directory."""
    if workspace.home and (path == "~" or path.startswith("~/")):
        path = workspace.home + path[1:]
    return normalize(join(workspace.cwd, path))


def absolute_scope(scope: Scope | None, workspace: Workspace) -> Scope:
    """Return the scope with absolute paths. The default scope is write access to the workspace."""
    if scope is None:
        return Scope((Access(workspace.root or workspace.cwd),))
    allow, deny = (
        [replace(row, path=absolute_path(row.path, workspace)) for row in rows] for rows in (scope.allow, scope.deny)
    )
    return Scope(allow, deny)


def name_by_path(path: str, folder: str) -> str:
    """Return a skill's or command's path below a folder, with colons for slashes and without its suffix or `SKILL.md`: `git:fix`."""
    parts = path[len(folder) :].strip("/").split("/")
    if len(parts) > 1 and parts[-1].lower() == "skill.md":
        parts.pop()
    return printable(":".join(parts).removesuffix(".md"))


def other_spellings(name: str) -> list[str]:
    """Return the usual spellings of a name that differ from it in upper and lower case. To find all, the folder would have to be listed."""
    stem, extension = splitext(name)
    return sorted({name.lower(), name.upper(), name.capitalize(), stem.title() + extension} - {name})


# Folders of a site or of documentation.
_PAGE_FOLDERS = frozenset("blog content contents doc docs documentation guide guides pages site website wiki".split())


def is_in_page_folder(folder: str, root: str) -> bool:
    """Whether a folder is one of a site or of documentation, or in one."""
    return not _PAGE_FOLDERS.isdisjoint(folder[len(root) :].lower().split("/"))
