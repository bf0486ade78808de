"""Rules that apply only to some paths: whether the front matter of a file lets it into the prompt at the start."""

from __future__ import annotations

from .front_matter import read_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import Lookup
    from ..vocabulary import Fate

# The fields in which agents write the paths that a rule applies to.
PATH_FIELDS = ("paths", "globs", "applyTo")


def why_left_out(text: str, lookup: Lookup) -> tuple[Fate | None, str, str, str]:
    """The fate of a file that does not fit the lookup, None if it fits; the reason, the paths it waits for, and what is wrong with
    its front matter.
    """
    fields, problem = read_fields(text)
    unfit = [name for name, accepted in lookup.where if not _has(fields, name, accepted)]
    unfit += [name for name, refused in lookup.unless if _has(fields, name, refused)]
    if not unfit:
        return None, "", "", problem
    for name in (*unfit, *PATH_FIELDS):
        if name in PATH_FIELDS and fields.get(name):
            reason = f"it waits for a file that matches {fields[name]} ({name} in its front matter)"
            return "waiting", reason, fields[name], problem
    field = unfit[0]
    has = f"has {field}: {fields[field]}" if fields.get(field) else f"has no {field}"
    return "unused", f"its front matter {has}", "", problem


def _has(fields: dict[str, str], name: str, values: Sequence[str]) -> bool:
    content = fields.get(name, "")
    return any(content == each or (each in ("true", "false") and content.lower() == each) for each in values)
