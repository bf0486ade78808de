"""Files that apply only to some paths: decides by a file's front matter whether it is part of the initial prompt."""

from __future__ import annotations

from .front_matter import read_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Lookup
    from ..vocabulary import Fate

# The fields that agents use for the paths a file applies to.
PATH_FIELDS = ("paths", "globs", "applyTo")


def check_front_matter(text: str, lookup: Lookup) -> tuple[Fate | None, str, str, str]:
    """Check whether a file's front matter meets a lookup rule's conditions.

    Returns the file's fate (None if it meets them), the reason, the paths the file waits for, and the problem with its front
    matter, if any.
    """
    fields, problem = read_fields(text)
    failed_fields = [name for name, accepted in lookup.where if not _has_value(fields, name, accepted)]
    failed_fields += [name for name, refused in lookup.unless if _has_value(fields, name, refused)]
    if not failed_fields:
        return None, "", "", problem
    for name in (*failed_fields, *PATH_FIELDS):
        if name in PATH_FIELDS and fields.get(name):
            reason = f"it waits for a file that matches {fields[name]} ({name} in its front matter)"
            return "waiting", reason, fields[name], problem
    field = failed_fields[0]
    description = f"has {field}: {fields[field]}" if fields.get(field) else f"has no {field}"
    return "unused", f"its front matter {description}", "", problem


def _has_value(fields: dict[str, str], name: str, values: Sequence[str]) -> bool:
    content = fields.get(name, "")
    return any(content == value or (value in ("true", "false") and content.lower() == value) for value in values)
