"""A menu of skills grouped by folder, so that each folder is named only once.

In /w/.agents/skills:           an absolute folder
- release: Cuts a release.      its file is release/SKILL.md in that folder
- Tests: … (testing/SKILL.md)   its name differs from its folder's, so the path is added
In ./web:                       a folder below the last absolute one
- forms: Builds forms.
"""

from __future__ import annotations

from posixpath import dirname

from ..layout.model import Field
from ..sources.paths import distance_of, is_inside
from ..text.lines import printable
from ..text.pieces import close_open_blocks
from ..vocabulary import Origin, Piece, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..layout.model import Lookup, Section
    from ..vocabulary import Workspace
    from .drafts import Item

    Pieces = tuple[Piece, ...]


def location(name: str, path: str) -> str:
    """The path of a skill below the folder named above it, in parentheses; empty if it follows from the name."""
    folder, _, file = path.rpartition("/")
    own = folder.rpartition("/")[2]
    return "" if file == "SKILL.md" and own == " ".join(name.split()) else f" ({own}/{file})"


def by_folder(
    items: Iterable[Item],
    section: Section,
    lookup: Lookup,
    workspace: Workspace,
    own: Origin,
    escape: Callable[[Pieces], Pieces],
) -> Sequence[Item]:
    """The items sorted by folder, nearest first, with each folder named above its first item."""
    folders_of: dict[str, list[Item]] = {}
    for item in items:
        folders_of.setdefault(dirname(dirname(item.path)), []).append(item)
    places: dict[str, dict[str, list[Item]]] = {}
    for folder, inside in folders_of.items():
        places.setdefault(_top(folder, lookup), {})[folder] = inside
    result: list[Item] = []
    for top in sorted(places, key=lambda each: (distance_of(each, lookup, workspace), each)):
        folders = places[top]
        above = [] if top in folders else [top]
        for folder in sorted(folders):
            first, *others = folders[folder]
            names = [*above, folder if folder == top else f"./{folder[len(top.rstrip('/')) + 1 :]}"]
            above = []
            lines = [escape(tuple(_named(name, top, section, own))) for name in names]
            heading = tuple(piece for line in lines for piece in (*close_open_blocks(line)[0], Piece("\n", own)))
            result += [replace(first, before=heading), *others]
    return result


def _named(name: str, top: str, section: Section, own: Origin) -> Iterator[Piece]:
    """The line that names a folder."""
    for part in section.folder:
        if isinstance(part, Field):
            yield Piece(name, Origin("environment", top))
        else:
            yield Piece(part, own)


def _top(folder: str, lookup: Lookup) -> str:
    """The ancestor in which a pattern of the lookup searches at any depth, or the folder itself."""
    tops = {folder}
    for pattern in (pattern for group in lookup.groups for pattern in group):
        fixed = printable(pattern.path).partition("*")[0].rpartition("/")[0]
        if fixed.startswith("/") and is_inside(folder, fixed):
            tops.add(fixed)
        elif fixed := fixed.removeprefix("~/").removeprefix("./").strip("/"):
            at = f"{folder}/".find(f"/{fixed}/")
            tops.update([folder[: at + len(fixed) + 1]] if at >= 0 else [])
    return min(tops, key=len)
