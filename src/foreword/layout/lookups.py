"""Parses `[find.NAME]`: the files to look for, as groups of patterns `place:path`."""

from __future__ import annotations

import re

from ..errors import LayoutError, suggestion
from ..shapes import STRINGS, check, check_table
from .forms import condition
from .keys import KINDS
from .lookup_keys import PLACES, WALKED_PLACES
from .model import ConfigValue, Lookup, Pattern
from .texts import parse_text_rules
from .touch_keys import MATCH_FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any


_ONLY_FOR_TEXT = ("order", "exclude", "where", "unless", "below", "unscoped")
_ONLY_FOR_MENUS = ("same_name", "named")


def parse_lookup(
    name: str,
    table: Mapping[str, Any],
    settings: Mapping[str, Any],
    untrusted: frozenset[str],
    top: Mapping[str, Any],
    lookups: Sequence[str] = (),
) -> Lookup:
    """One find. `top` has the keys at the top of the layout, of which some apply to every lookup; `lookups` come before this one."""
    where = f"find.{name}."
    check_table(table, KINDS["find"], f"find.{name}", LayoutError)
    kind = table.get("as", "text")
    _check_kind(table, kind, where)
    if "below" in table and not ("where" in table or "unless" in table or "match" in table):
        raise LayoutError(f"{where}below has no effect without where, unless or match")
    _check_match(table, where)
    groups = tuple(_groups(table.get("files", ()), where, settings, untrusted, top.get("env", {})))
    for group in groups:
        places = {pattern.place for pattern in group}
        if len(places) > 1 and places.intersection(WALKED_PLACES):
            walked = next(each for each in WALKED_PLACES if each in places)
            raise LayoutError(f"{where}files: the place {walked!r} and another cannot be alternatives of one group")
    return Lookup(
        name,
        groups,
        table.get("walk", "git"),
        table.get("take", "all"),
        kind,
        table.get("validation", "lenient"),
        table.get("layer", ""),
        top.get("links", "inside"),
        top.get("copies", "drop"),
        parse_text_rules(table, where, bool(top.get("mirrors", "").strip())),
        order=table.get("order", "farthest"),
        markers=_markers(table, where, settings, untrusted),
        where=_fields(table, "where", where),
        unless=_fields(table, "unless", where),
        below=table.get("below", ""),
        match=tuple(table.get("match", ())),
        unscoped=table.get("unscoped", "apply"),
        within=table.get("within", "root"),
        same_name=table.get("same_name", "first"),
        named=table.get("named", "field"),
        hidden=table.get("hidden", False),
        exclude=_filled_in(table.get("exclude", ()), where + "exclude", settings),
        when=tuple(
            condition(term, settings, where + "when", lookups, ("found", "set", "platform"))
            for term in table.get("when", ())
        ),
    )


def _check_match(table: Mapping[str, Any], where: str) -> None:
    """Raise an error for a field of `match` that is not known, and for `unscoped` without `match`."""
    for name in table.get("match", ()):
        if name not in MATCH_FIELDS:
            raise LayoutError(f"{where}match: unknown field {name!r}" + suggestion(name, MATCH_FIELDS))
    if "unscoped" in table and not table.get("match"):
        raise LayoutError(f"{where}unscoped has no effect without match")


def _check_kind(table: Mapping[str, Any], kind: str, where: str) -> None:
    """Raise an error for a key that does not apply to files of this kind."""
    for key in _ONLY_FOR_MENUS if kind == "text" else _ONLY_FOR_TEXT:
        if key in table and kind == "text":
            raise LayoutError(f"{where}{key} is only for files that a menu lists, such as skills, not for text")
        if key in table:
            raise LayoutError(f"{where}{key} is only for files that are used as text, not as {kind}")


def _markers(
    table: Mapping[str, Any], where: str, settings: Mapping[str, Any], untrusted: frozenset[str]
) -> tuple[str, ...] | None:
    """The names that mark the root; None is the git root. Whoever chooses them decides which folders are searched."""
    if "markers" not in table:
        return None
    used = [name for text in table["markers"] for name in re.findall(r"\{(\w+)\}", text)]
    if where + "markers" in untrusted or any(f"settings.{name}" in untrusted for name in used):
        raise LayoutError(f"{where}markers: a workspace may not choose what counts as the root")
    markers = _filled_in(table["markers"], where + "markers", settings)
    for each in markers:
        if each in ("", ".", "..") or "/" in each or "*" in each or "\0" in each:
            raise LayoutError(f"{where}markers: {each!r} is not the name of a file or folder")
    return markers


def _filled_in(texts: Sequence[str], where: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts with their settings filled in. One that uses a list is repeated for each of its values."""
    filled: list[str] = []
    for text in texts:
        if not text.strip():
            raise LayoutError(f"{where} contains an empty string")
        for name in re.findall(r"\{(\w+)\}", text):
            if name not in settings:
                raise LayoutError(f"{where}: unknown setting {name!r} (in {text!r})" + suggestion(name, settings))
        lists = _list_settings(text, settings)
        for each in settings[lists[0]] if lists else ("",):
            filled.append(_fill_in(text, {**settings, lists[0]: each} if lists else settings))
    return tuple(filled)


def _fields(table: Mapping[str, Any], key: str, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Fields of front matter, each with its accepted values; a switch is `true` or `false`."""
    fields = table.get(key, {})
    for name, content in fields.items():
        if not name.strip() or content == []:
            raise LayoutError(
                f"{where}{key}.{name} can never fit" if name.strip() else f"{where}{key} has a field without a name"
            )
    return tuple((name, _values(content)) for name, content in fields.items())


def _values(content: str | bool | Sequence[str]) -> tuple[str, ...]:
    if isinstance(content, bool):
        return ("true" if content else "false",)
    return (content,) if isinstance(content, str) else tuple(content)


def parse_config(
    table: Mapping[str, Any], settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> tuple[ConfigValue, ...]:
    """The rows of `[from]`: settings that are read from the configuration files of a program."""
    values: list[ConfigValue] = []
    for name, references in table.items():
        where = f"from.{name}"
        check(references, STRINGS, where, LayoutError)
        if name not in settings:
            raise LayoutError(f"{where}: unknown setting {name!r}" + suggestion(name, settings))
        for reference in references:
            text, hash_sign, key = reference.partition("#")
            if not hash_sign or not all(key.split(".")):
                raise LayoutError(f"{where}: {reference!r} is not 'place:path#key'")
            pattern = _pattern(text, where + ".", settings, untrusted, env)
            is_own = pattern.place in ("cwd", "root", "walk")
            if pattern.place in ("path", "between", "down") or "*" in pattern.path:
                raise LayoutError(
                    f"{where}: {reference!r} must name one file, in a place other than 'path', 'between' and 'down'"
                )
            if not pattern.path.endswith((".toml", ".json", ".jsonc")):
                raise LayoutError(f"{where}: {reference!r} must be a file ending in .toml, .json or .jsonc")
            if where in untrusted and not is_own:
                raise LayoutError(f"{where}: a workspace's layout may read only its own files, not {reference!r}")
            values.append(ConfigValue(name, pattern, key))
    return tuple(values)


def _fill_in(text: str, settings: Mapping[str, Any]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: str(settings[match[1]]), text)


def _groups(
    files: Sequence[str | Sequence[str]],
    where: str,
    settings: Mapping[str, Any],
    untrusted: frozenset[str],
    env: Mapping[str, str],
) -> Iterator[tuple[Pattern, ...]]:
    """Groups with their settings filled in. Adjacent groups that use the same list repeat together, once for each value."""
    together: list[str] = []
    shared = ""

    def repeated() -> Iterator[tuple[Pattern, ...]]:
        for each in settings[shared] if together else ():
            for text in together:
                yield (_pattern(text, where, {**settings, shared: each}, untrusted, env),)

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
        yield tuple(pattern for text in texts for pattern in _alternatives(text, where, settings, untrusted, env))
    yield from repeated()


def _alternatives(
    text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> Iterator[Pattern]:
    lists = _list_settings(text, settings)
    for each in settings[lists[0]] if lists else ("",):
        yield _pattern(text, where, {**settings, **({lists[0]: each} if lists else {})}, untrusted, env)


def _list_settings(text: str, settings: Mapping[str, Any]) -> list[str]:
    return [name for name in re.findall(r"\{(\w+)\}", text) if isinstance(settings.get(name), list | tuple)]


def _pattern(
    text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> Pattern:
    place, colon, path = text.partition(":")
    if not colon or place not in PLACES:
        raise LayoutError(f"{where}files: {text!r} is not a pattern 'place:path'" + suggestion(place, PLACES))
    confined = where + "files" in untrusted or where + "walk" in untrusted
    for name in re.findall(r"\{(\w+)\}", path):
        if name not in settings:
            raise LayoutError(f"{where}files: unknown setting {name!r} (in {text!r})" + suggestion(name, settings))
        confined = confined or f"settings.{name}" in untrusted
    for other in re.findall(r"\{[^{}]*\|[^{}]*\}", path.replace("{root|slug}", "")):
        raise LayoutError(
            f"{where}files: unknown field {other!r} (in {text!r}); the only one with a filter is '{{root|slug}}'"
        )
    filled = _fill_in(path, settings)
    variable = ""
    if place == "env":
        variable, _, filled = filled.partition("/")
        if variable not in env:
            raise LayoutError(f"{where}files: {text!r} needs {variable!r} in [env]" + suggestion(variable, env))
    if filled.startswith(("/", "~/")) and re.fullmatch(r"\{\w+\}", path):
        place = "path"  # a setting may name any file, and the place only says where a relative one starts
    _check_path(place, filled, f"{where}files: {text!r}")
    return Pattern(place, filled, confined or f"env.{variable}" in untrusted, variable, env.get(variable, ""))


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
