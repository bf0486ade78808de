"""Parses `[find.NAME]`: the files to look for, as groups of patterns `place:path`."""

from __future__ import annotations

import re

from ..errors import LayoutError, suggestion
from ..shapes import check_table
from .keys import KINDS, PLACES
from .model import Find, Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any


def parse_find(
    name: str,
    table: Mapping[str, Any],
    settings: Mapping[str, Any],
    untrusted: frozenset[str],
    top: Mapping[str, Any],
) -> Find:
    """One find. `top` has the keys at the top of the layout, of which some apply to every find."""
    where = f"find.{name}."
    check_table(table, KINDS["find"], f"find.{name}", LayoutError)
    walk = table.get("walk", "git")
    groups = tuple(_groups(table.get("files", ()), where, settings, untrusted))
    for group in groups:
        if len({pattern.place == "walk" for pattern in group}) > 1:
            raise LayoutError(f"{where}files: the place 'walk' and another cannot be alternatives of one group")
    return Find(
        name,
        groups,
        walk,
        table.get("take", "all"),
        table.get("as", "text"),
        table.get("validation", "lenient"),
        table.get("layer", ""),
        top.get("links", "inside"),
        top.get("copies", "drop"),
    )


def _groups(
    files: Sequence[str | Sequence[str]], where: str, settings: Mapping[str, Any], untrusted: frozenset[str]
) -> Iterator[tuple[Pattern, ...]]:
    """Groups with their settings filled in. Adjacent groups that use the same list repeat together, once for each value."""
    together: list[str] = []
    shared = ""

    def repeated() -> Iterator[tuple[Pattern, ...]]:
        for each in settings[shared] if together else ():
            for text in together:
                yield (_pattern(text, where, {**settings, shared: each}, untrusted),)

    for group in files:
        lists = _list_settings(group, settings) if isinstance(group, str) else []
        if lists and lists[0] != shared:
            yield from repeated()
            together, shared = [], lists[0]
        if lists:
            together.append(str(group))
            continue
        yield from repeated()
        together, shared = [], ""
        texts = [group] if isinstance(group, str) else group
        yield tuple(pattern for text in texts for pattern in _alternatives(text, where, settings, untrusted))
    yield from repeated()


def _alternatives(text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str]) -> Iterator[Pattern]:
    lists = _list_settings(text, settings)
    for each in settings[lists[0]] if lists else ("",):
        yield _pattern(text, where, {**settings, **({lists[0]: each} if lists else {})}, untrusted)


def _list_settings(text: str, settings: Mapping[str, Any]) -> list[str]:
    return [name for name in re.findall(r"\{(\w+)\}", text) if isinstance(settings.get(name), list | tuple)]


def _pattern(text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str]) -> Pattern:
    place, colon, path = text.partition(":")
    if not colon or place not in PLACES:
        raise LayoutError(f"{where}files: {text!r} is not a pattern 'place:path'" + suggestion(place, PLACES))
    confined = where + "files" in untrusted or where + "walk" in untrusted
    for name in re.findall(r"\{(\w+)\}", path):
        if name not in settings:
            raise LayoutError(f"{where}files: unknown setting {name!r} (in {text!r})" + suggestion(name, settings))
        confined = confined or f"settings.{name}" in untrusted
    filled = re.sub(r"\{(\w+)\}", lambda match: str(settings[match[1]]), path)
    _check_path(place, filled, f"{where}files: {text!r}")
    return Pattern(place, filled, confined)


def _check_path(place: str, path: str, where: str) -> None:
    """Raise an error for a path that can never match or that leaves its place."""
    segments = path.split("/")
    if segments[-1] in ("", ".", "..") or not path.strip("/."):
        raise LayoutError(f"{where} does not name a file")
    if place != "path" and (path.startswith("/") or ".." in segments):
        raise LayoutError(f"{where} leaves its place; only 'path:' may begin with '/' or contain '..'")
    if any("**" in segment and segment != "**" for segment in segments):
        raise LayoutError(f"{where}: '**' must be a whole segment, as in 'rules/**/*.md'")
    if ".." in segments and "*" in path.rpartition("..")[0]:
        raise LayoutError(f"{where}: '..' cannot follow a wildcard")
    if "\0" in path:
        raise LayoutError(f"{where} contains a NUL character, which no path can have")
