"""The alternatives in a pattern of `files`, wildcards from other tools that it does not support, and paths that may be folders.

Alternatives and wildcards are those in the layout's text, before its settings are filled in: a setting's value is never changed or
rejected here, so a setting can name a file with any of these characters in its name.
"""

from __future__ import annotations

import re

from ..errors import LayoutError
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .model import Layout, Lookup, Pattern

_MAX_ALTERNATIVES = 100
_PROJECT_PLACES = ("cwd", "root", "walk", "between", "down")


def expand_alternatives(text: str, where: str) -> list[str]:
    """Expand braces that contain a comma: `*.{md,txt}` becomes `*.md` and `*.txt`. Other braces, such as `{setting}`, remain."""
    if "," not in text:
        return [text]
    expanded: list[str] = []
    pending = [text]
    while pending:
        pattern = pending.pop(0)
        braces = next((match for match in re.finditer(r"\{([^{}]*)\}", pattern) if "," in match[1]), None)
        if braces is None:
            expanded.append(pattern)
            continue
        if len(expanded) + len(pending) + braces[1].count(",") >= _MAX_ALTERNATIVES:
            raise LayoutError(f"{where}: {text!r} has more than {_MAX_ALTERNATIVES} alternatives").at(where)
        pending[:0] = [pattern[: braces.start()] + option + pattern[braces.end() :] for option in braces[1].split(",")]
    return list(dict.fromkeys(expanded))


def check_wildcards(path: str, key: str, text: str) -> None:
    """Raise a LayoutError for a wildcard from another tool, which would match nothing. `[id]` and `(app)` as names are allowed.

    `path` is the path of the pattern `text`, which is in the list `key`.
    """
    where = f"{key}: {text!r}"
    without_fields = re.sub(r"\{[^{}]*\}", "", path)
    if path.count("{") != path.count("}"):
        raise LayoutError(f"{where} has an unpaired brace; write alternatives as in '*.{{md,txt}}'").at(key)
    if "{" in without_fields and "," in without_fields:
        raise LayoutError(f"{where} has braces inside alternatives; write one pattern for each alternative").at(key)
    if "?" in without_fields:
        raise LayoutError(f"{where}: '?' is not a wildcard here; write '*' or alternatives, as in '*.{{md,txt}}'").at(
            key
        )
    if any("|" in inner for inner in re.findall(r"\(([^()]*)\)", without_fields)):
        raise LayoutError(f"{where}: '(a|b)' is not supported; write '{{a,b}}'").at(key)
    for segment in without_fields.split("/"):
        if "*" in re.sub(r"\[[^\[\]]+\]", "", segment) and re.search(r"\[[^\[\]*]+\]", segment):
            raise LayoutError(f"{where}: '[ab]' is not supported in a name with '*'; write '{{a,b}}'").at(key)


def literal_wildcards(lookups: Iterable[Lookup]) -> list[str]:
    """Return the patterns that contain `?` or `{a,b}`. Only a setting can add them to a pattern, as part of a file's name."""
    patterns = [pattern for lookup in lookups for group in lookup.groups for pattern in group]
    found = [pattern for pattern in patterns if "?" in pattern.path or re.search(r"\{[^{}]*,[^{}]*\}", pattern.path)]
    return list(dict.fromkeys(f"{pattern.place}:{pattern.path}" for pattern in found))


def mark_folders(lookups: Sequence[Lookup]) -> list[Lookup]:
    """Mark each pattern whose path may be a folder, such as `.rules` in a layout that also has `.rules/*.md`."""
    patterns = [pattern for lookup in lookups for group in lookup.groups for pattern in group]
    folders = {
        (pattern.place, pattern.variable, pattern.path[:end])
        for pattern in patterns
        for end in (slash.start() for slash in re.finditer("/", pattern.path))
    }

    def may_be_folder(pattern: Pattern) -> bool:
        places = (pattern.place, "walk") if pattern.place in ("cwd", "root") else (pattern.place,)
        return "*" not in pattern.path and any((place, pattern.variable, pattern.path) in folders for place in places)

    if not any(map(may_be_folder, patterns)):
        return list(lookups)
    return [
        replace(
            lookup,
            groups=tuple(
                tuple(replace(pattern, may_be_folder=may_be_folder(pattern)) for pattern in group)
                for group in lookup.groups
            ),
        )
        for lookup in lookups
    ]


def only_project_files(layout: Layout) -> Layout:
    """Return the layout without the patterns that lead outside the workspace, so that its prompt is the same on every machine."""

    def is_in_project(pattern: Pattern) -> bool:
        return pattern.place in _PROJECT_PLACES or (pattern.place == "path" and pattern.path[:1] not in ("/", "~"))

    def without_others(lookup: Lookup) -> Lookup:
        groups = tuple(filter(None, (tuple(filter(is_in_project, group)) for group in lookup.groups)))
        is_same = lookup.walk == "git" and groups == lookup.groups
        return lookup if is_same else replace(lookup, walk="git", groups=groups)

    touch = layout.touch and replace(layout.touch, lookups=[without_others(lookup) for lookup in layout.touch.lookups])
    return replace(layout, lookups=[without_others(lookup) for lookup in layout.lookups], touch=touch)
