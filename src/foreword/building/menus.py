"""Groups a menu of skills by folder, so that each folder is named only once.

In /w/.agents/skills:           an absolute folder
- release: Cuts a release.      its file is release/SKILL.md in that folder
- Tests: … (testing/SKILL.md)   its name differs from its folder's, so the path is added
In ./web:                       a folder below the last absolute one
- forms: Builds forms.
"""

from __future__ import annotations

from posixpath import dirname

from ..layout.model import Field
from ..sources.paths import distance_of, is_inside, user_folder
from ..text.lines import printable
from ..text.pieces import close_open_blocks
from ..vocabulary import Origin, Piece, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..layout.model import Lookup, Root, Section
    from ..vocabulary import Workspace
    from .drafts import Item

    Pieces = tuple[Piece, ...]


def location(name: str, path: str) -> str:
    """Return a skill's path below the folder that is named above it, in parentheses, or empty if the name implies it."""
    folder, _, file = path.rpartition("/")
    folder_name = folder.rpartition("/")[2]
    return "" if file == "SKILL.md" and folder_name == " ".join(name.split()) else f" ({folder_name}/{file})"


def folders_of(path: str) -> dict[str, str]:
    """Return the folder of skills that contains a skill, such as `a/.claude/skills`, and the directory that this folder is for: `a`."""
    folder = dirname(dirname(path))
    return {"folder": folder, "directory": folder.rpartition("/.")[0] or folder}


def group_by_folder(
    items: Iterable[Item],
    section: Section,
    lookup: Lookup,
    workspace: Workspace,
    origin: Origin,
    escape: Callable[[Pieces], Pieces],
) -> Sequence[Item]:
    """Sort the items by folder, nearest first, and name each folder above its first item."""
    items_by_folder: dict[str, list[Item]] = {}
    for item in items:
        items_by_folder.setdefault(dirname(dirname(item.path)), []).append(item)
    folders_by_top: dict[str, dict[str, list[Item]]] = {}
    for folder, folder_items in items_by_folder.items():
        folders_by_top.setdefault(top_folder(folder, lookup), {})[folder] = folder_items
    result: list[Item] = []
    for top in sorted(folders_by_top, key=lambda folder: (distance_of(folder, lookup, workspace), folder)):
        folders = folders_by_top[top]
        unlisted_top = [] if top in folders else [top]
        for folder in sorted(folders):
            first, *others = folders[folder]
            names = [*unlisted_top, folder if folder == top else f"./{folder[len(top.rstrip('/')) + 1 :]}"]
            unlisted_top = []
            lines = [escape(tuple(_heading(name, top, section, origin))) for name in names]
            heading = tuple(piece for line in lines for piece in (*close_open_blocks(line)[0], Piece("\n", origin)))
            result += [replace(first, heading=heading), *others]
    return result


def number_roots(
    items: Sequence[Item], section: Section, workspace: Workspace, origin: Origin, escape: Callable[[Pieces], Pieces]
) -> Sequence[Item]:
    """Shorten the items' paths with names for their folders (`r0`, `r1`, …), and explain these above the first item."""
    roots = [(printable(folder), is_always) for folder, is_always in _root_folders(section.roots, workspace)]
    root_of = {item.path: _longest_folder(item.path, [folder for folder, _ in roots]) for item in items}
    listed = [folder for folder, is_always in roots if is_always or folder in root_of.values()]
    names = {folder: f"r{number}" for number, folder in enumerate(dict.fromkeys(listed))}
    lines = [escape(tuple(_heading(folder, folder, section, origin, name))) for folder, name in names.items()]
    heading = tuple(piece for line in lines for piece in (*line, Piece("\n", origin)))
    shortened = [_shorten_path(item, root_of[item.path], names.get(root_of[item.path], "")) for item in items]
    return [replace(item, heading=heading) for item in shortened[:1]] + shortened[1:]


def _shorten_path(item: Item, root: str, name: str) -> Item:
    """Return an item with the short name of a folder in its path."""
    fields = {
        field: (replace(pieces[0], text=name + item.path[len(root) :]),) if field.name == "path" else pieces
        for field, pieces in item.fields.items()
    }
    return replace(item, fields=fields)


def _longest_folder(path: str, folders: Iterable[str]) -> str:
    """Return the innermost of these folders that contains a path, or empty if none does."""
    return max((folder for folder in folders if is_inside(path, folder)), key=len, default="")


def _root_folders(roots: Iterable[Root], workspace: Workspace) -> Iterator[tuple[str, bool]]:
    """Yield the folders that a section numbers, in order, each with whether it is always numbered."""
    for root in roots:
        top = workspace.root or workspace.cwd
        if root.pattern.place in ("cwd", "root", "walk"):
            directories = [workspace.cwd if root.pattern.place == "cwd" else top]
        else:
            base = user_folder(root.pattern, workspace)
            directories = [] if base is None else [base]
        if root.pattern.place == "walk" and is_inside(workspace.cwd, top):
            names = workspace.cwd[len(top) :].strip("/").split("/")
            directories += ["/".join((top, *names[: depth + 1])) for depth in range(len(names)) if names[depth]]
        for directory in reversed(directories) if root.is_nearest_first else directories:
            yield f"{directory.rstrip('/')}/{root.pattern.path}", root.is_always


def _heading(name: str, top: str, section: Section, origin: Origin, root: str = "") -> Iterator[Piece]:
    """Yield the pieces of the line that names a folder. `root` is its short name."""
    for part in section.folder:
        if isinstance(part, Field):
            yield Piece(root if part.name == "root" else name, Origin("environment", top))
        else:
            yield Piece(part, origin)


def top_folder(folder: str, lookup: Lookup) -> str:
    """Return the ancestor below which one of the lookup rule's patterns searches at any depth, or the folder itself."""
    tops = {folder}
    for pattern in (pattern for group in lookup.groups for pattern in group):
        fixed = printable(pattern.path).partition("*")[0].rpartition("/")[0]
        if fixed.startswith("/") and is_inside(folder, fixed):
            tops.add(fixed)
        elif fixed := fixed.removeprefix("~/").removeprefix("./").strip("/"):
            position = f"{folder}/".find(f"/{fixed}/")
            tops.update([folder[: position + len(fixed) + 1]] if position >= 0 else [])
    return min(tops, key=len)
