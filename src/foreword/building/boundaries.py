"""The paths that a prompt's boundaries list: the scope, and the folders that the prompt itself refers to."""

from __future__ import annotations

from posixpath import dirname

from ..sources.paths import is_inside, is_user_file
from ..vocabulary import Access, Document, Skill
from .menus import top_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..layout.model import Layout, Section
    from ..vocabulary import Inputs, Scope


def readable(scope: Scope, folders: Iterable[Access]) -> list[Access]:
    """Return the readable paths of a scope, and those of these folders that it neither includes nor denies."""
    rows = [row for row in scope.allow if not _is_denied(row, scope, ("read",))]
    for folder in folders:
        if not any(_covers(row, folder) for row in rows) and not _is_denied(folder, scope, ("read",)):
            rows.append(folder)
    return rows


def writable(scope: Scope) -> Iterator[Access]:
    """Yield the writable paths of a scope."""
    rows = (row for row in scope.allow if row.permission != "read")
    yield from (row for row in rows if not _is_denied(row, scope, ("read", "write")))


def _is_denied(row: Access, scope: Scope, permissions: tuple[str, ...]) -> bool:
    """Whether a denied path covers everything that this row allows."""
    return any(_covers(denied, row) for denied in scope.deny if (denied.permission or "read") in permissions)


def _covers(outer: Access, inner: Access) -> bool:
    """Whether one row's paths include the other's."""
    if outer.path == inner.path:
        return outer.recursive or not inner.recursive
    return outer.recursive and is_inside(inner.path, outer.path)


def prompt_folders(
    layout: Layout, inputs: Inputs, sections: Iterable[tuple[Section, str | None]]
) -> tuple[Access, ...]:
    """Return the folders of the skills that a prompt lists and of the user's own instruction files in it, sorted.

    A prompt that tells the model to load a skill must not forbid it to read the skill's folder. `sections` are those that apply, each
    with the lookup rule that replaces it.
    """
    names = {name for section, chosen in sections for name in (section.list_name, chosen)}
    home = inputs.workspace.home or "/"
    folders: dict[str, Access] = {}
    for lookup in layout.lookups:
        for entry in inputs.found.get(lookup.name, ()) if lookup.name in names else ():
            if isinstance(entry, Skill) and not entry.hidden:
                folder = top_folder(dirname(dirname(entry.path)), lookup)
            elif isinstance(entry, Document) and is_user_file(entry.path, lookup, inputs.workspace):
                folder = dirname(entry.path)
            else:
                continue
            # A file directly in the home directory must not make all of it readable.
            folders[folder] = Access(folder, "read", not is_inside(home, folder))
    return tuple(folders[path] for path in sorted(folders))
