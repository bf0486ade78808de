"""The variables that templates in the bracket language may use."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@value
class CatalogRow:
    """A variable that templates may use. If it is dynamic, its type accepts any name."""

    type: str
    name: str
    description: str
    dynamic: bool = False


CATALOG = (
    CatalogRow("system", "time", "The time, in UTC with milliseconds"),
    CatalogRow("system", "date", "The date, in UTC"),
    CatalogRow("system", "os", "The operating system"),
    CatalogRow("system", "hostname", "The name of the machine"),
    CatalogRow("prompt", "cwd", "The working directory of the conversation"),
    CatalogRow("prompt", "model", "The name of the model"),
    CatalogRow("prompt", "conversation_id", "The id of the conversation"),
    CatalogRow("git", "branch", "The current git branch"),
    CatalogRow("git", "status", "The short git status; empty if nothing has changed"),
    CatalogRow("file", "<path>", "The contents of a file, relative to the working directory or absolute", dynamic=True),
)
TYPES = frozenset(row.type for row in CATALOG)


def names_by_type(extra: Iterable[str] = ()) -> dict[str, set[str]]:
    """Return the known names of each type, except for types that accept any name. `extra` lists more variables as `type:name`."""
    names: dict[str, set[str]] = {}
    for row in CATALOG:
        if not row.dynamic:
            names.setdefault(row.type, set()).add(row.name)
    for variable in extra:
        type_, colon, name = variable.partition(":")
        if colon and type_ in names:
            names[type_].add(name)
    return names
