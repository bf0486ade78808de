"""Parse lookup rules (`[find.NAME]`), whose files are groups of `place:path` patterns."""

from __future__ import annotations

import re

from ..errors import LayoutError, suggestion
from ..shapes import STRINGS, check, check_table
from .forms import parse_condition
from .keys import KEY_SHAPES
from .lookup_keys import FLAWS, MENU_ORDERS, PLACES, TEXT_ORDERS, WALKED_PLACES
from .model import Lookup, Pattern
from .patterns import check_wildcards, expand_alternatives
from .texts import parse_text_rules
from .touch_keys import MATCH_FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any


_TEXT_ONLY_KEYS = ("exclude", "where", "unless", "always", "below")
_MENU_ONLY_KEYS = (
    "same_name",
    "named",
    "described",
    "hidden_by",
    "skips",
    "disabled",
    "longest",
    "ellipsis",
    "used_when",
)


def parse_lookup(
    name: str,
    table: Mapping[str, Any],
    settings: Mapping[str, Any],
    untrusted: frozenset[str],
    top: Mapping[str, Any],
    earlier_names: Sequence[str] = (),
    later_names: Sequence[str] = (),
) -> Lookup:
    """Parse one lookup rule.

    `top` contains the layout's top-level keys. `earlier_names` and `later_names` are those of the lookup rules above and below it.
    """
    where = f"find.{name}."
    check_table(table, KEY_SHAPES["find"], f"find.{name}", LayoutError)
    kind = table.get("as", "text")
    _check_kind(table, kind, where)
    _check_order(table, kind, where)
    _check_match(table, where)
    groups = tuple(_parse_groups(table.get("files", ()), where, settings, untrusted, top.get("env", {})))
    _check_groups(groups, where)
    return Lookup(
        name,
        groups,
        table.get("walk", "git"),
        table.get("take", "all"),
        kind,
        table.get("validation", "lenient"),
        table.get("layer", ""),
        top.get("links", "inside"),
        table.get("copies", top.get("copies", "drop")),
        parse_text_rules(_with_extensions(table, where, settings), where, top),
        order=table.get("order", "farthest"),
        markers=_parse_markers(table, where, settings, untrusted),
        where=_parse_fields(table, "where", where, settings),
        unless=_parse_fields(table, "unless", where, settings),
        always=_parse_fields(table, "always", where, settings),
        below=_parse_below(table, where),
        match=tuple(table.get("match", ())),
        unscoped=table.get("unscoped", "apply"),
        within=table.get("within", "root"),
        **_parse_menu(table, where, (*earlier_names, *later_names)),
        is_mirror=bool(top.get("mirrors", "").strip()),
        globs=table.get("globs", "folders"),
        globs_from=table.get("globs_from", "folder"),
        any_case=table.get("any_case", False),
        hidden=table.get("hidden", False),
        exclude=_expand_settings(table.get("exclude", ()), where + "exclude", settings),
        when=tuple(
            parse_condition(term, settings, where + "when", earlier_names, ("found", "set", "platform"), later_names)
            for term in table.get("when", ())
        ),
    )


def _parse_menu(table: Mapping[str, Any], where: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the keys for skills, sub-agents and commands. `names` are those of the other lookup rules."""
    return {
        "same_name": table.get("same_name", "first"),
        "named": table.get("named", "field"),
        "scoped": table.get("scoped", "list"),
        "described": table.get("described", ""),
        "hidden_by": _parse_hidden_by(table, where, names),
        "skips": _parse_skips(table, where),
        "disabled": table.get("disabled", "hide"),
        "longest": table.get("longest"),
        "ellipsis": table.get("ellipsis", "..."),
        "used_when": table.get("used_when", ""),
    }


def _check_groups(groups: Sequence[Sequence[Pattern]], where: str) -> None:
    """Raise a LayoutError if a group has a place that means several directories, and also another place."""
    for group in groups:
        places = {pattern.place for pattern in group}
        if len(places) > 1 and places.intersection(WALKED_PLACES):
            walked = next(place for place in WALKED_PLACES if place in places)
            raise LayoutError(f"{where}files: the place {walked!r} and another place cannot be in the same group").at(
                f"{where}files"
            )


def _parse_below(table: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return the folders whose files the conditions apply to."""
    if "always" in table and "where" not in table:
        raise LayoutError(f"{where}always has no effect without where").at(f"{where}always")
    if "below" in table and not ("where" in table or "unless" in table or "match" in table):
        raise LayoutError(f"{where}below has no effect without where, unless or match").at(f"{where}below")
    folders = tuple(folder.strip("/") for folder in table.get("below", ()))
    if not all(folders):
        raise LayoutError(f"{where}below contains an empty name; write a folder such as '.claude/rules'").at(
            f"{where}below"
        )
    return folders


def _parse_hidden_by(table: Mapping[str, Any], where: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the lookup rules whose entries hide those of this one."""
    for name in table.get("hidden_by", ()):
        if name not in names:
            raise LayoutError(f"{where}hidden_by: unknown lookup rule {name!r}" + suggestion(name, names)).at(
                f"{where}hidden_by"
            )
    return tuple(table.get("hidden_by", ()))


def _parse_skips(table: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return the flaws for which an entry is left out."""
    for name in table.get("skips", ()):
        if name not in FLAWS:
            raise LayoutError(f"{where}skips: unknown flaw {name!r}" + suggestion(name, FLAWS)).at(f"{where}skips")
    return tuple(table.get("skips", ()))


def _check_match(table: Mapping[str, Any], where: str) -> None:
    """Raise a LayoutError for an unknown field in `match`, and for a key that has no effect without `match`."""
    for name in table.get("match", ()):
        if name not in MATCH_FIELDS:
            raise LayoutError(f"{where}match: unknown field {name!r}" + suggestion(name, MATCH_FIELDS)).at(
                f"{where}match"
            )
    for key in ("unscoped", "globs", "globs_from"):
        if key in table and not table.get("match"):
            raise LayoutError(f"{where}{key} has no effect without match").at(f"{where}{key}")


def _check_kind(table: Mapping[str, Any], kind: str, where: str) -> None:
    """Raise a LayoutError for a key that does not apply to files of this kind."""
    for key in _MENU_ONLY_KEYS if kind == "text" else _TEXT_ONLY_KEYS:
        if key in table and kind == "text":
            raise LayoutError(
                f"{where}{key} is only for files that are listed by name, such as skills, not for text"
            ).at(f"{where}{key}")
        if key in table:
            raise LayoutError(f"{where}{key} is only for files that are used as text, not as {kind}").at(
                f"{where}{key}"
            )
    if "match" in table and kind not in ("text", "skill"):
        raise LayoutError(f"{where}match is only for text and skills, not for files that are used as {kind}").at(
            f"{where}match"
        )
    if kind == "skill" and (table.get("match", ["paths"]) != ["paths"] or table.get("unscoped") == "first"):
        raise LayoutError(f'{where}match: a skill names its files in paths; write match = ["paths"]').at(
            f"{where}match"
        )
    if "scoped" in table and (kind != "skill" or (table["scoped"] == "wait" and "match" in table)):
        raise LayoutError(f"{where}scoped is only for skills; with match, it must be 'list'").at(f"{where}scoped")


def _check_order(table: Mapping[str, Any], kind: str, where: str) -> None:
    """Raise an error for an order that does not apply to files of this kind."""
    orders = TEXT_ORDERS if kind == "text" else MENU_ORDERS
    if table.get("order", orders[0]) not in orders:
        raise LayoutError(
            f"{where}order of files that are used as {kind} must be one of {', '.join(orders)}, not {table['order']!r}"
        ).at(f"{where}order")


def _parse_markers(
    table: Mapping[str, Any], where: str, settings: Mapping[str, Any], untrusted: frozenset[str]
) -> tuple[str, ...] | None:
    """Return the names that mark the root, or None for the git root.

    Untrusted markers are rejected, because they decide which folders are searched.
    """
    if "markers" not in table:
        return None
    setting_names = [name for text in table["markers"] for name in re.findall(r"\{(\w+)\}", text)]
    if where + "markers" in untrusted or any(f"settings.{name}" in untrusted for name in setting_names):
        raise LayoutError(f"{where}markers: a workspace may not choose what counts as the root").at(f"{where}markers")
    markers = _expand_settings(table["markers"], where + "markers", settings)
    for marker in markers:
        if marker in ("", ".", "..") or "/" in marker or "*" in marker or "\0" in marker:
            raise LayoutError(f"{where}markers: {marker!r} is not the name of a file or folder").at(f"{where}markers")
    return markers


def _expand_settings(texts: Sequence[str], where: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Replace `{setting}` in each string. A string that uses a list is repeated for each of the list's values."""
    expanded: list[str] = []
    for text in texts:
        if not text.strip():
            raise LayoutError(f"{where} contains an empty string").at(where)
        for name in re.findall(r"\{(\w+)\}", text):
            if name not in settings:
                raise LayoutError(f"{where}: unknown setting {name!r} (in {text!r})" + suggestion(name, settings)).at(
                    where
                )
        lists = _list_settings(text, settings)
        for entry in settings[lists[0]] if lists else ("",):
            expanded.append(_fill_in(text, {**settings, lists[0]: entry} if lists else settings))
    return tuple(expanded)


def _with_extensions(table: Mapping[str, Any], where: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the table with settings filled in where the imports list extensions."""
    imports = table.get("imports", {})
    if "file_extensions" not in imports:
        return table
    check(imports["file_extensions"], STRINGS, f"{where}imports.file_extensions", LayoutError)
    extensions = _expand_settings(imports["file_extensions"], f"{where}imports.file_extensions", settings)
    return {**table, "imports": {**imports, "file_extensions": extensions}}


def _parse_fields(
    table: Mapping[str, Any], key: str, where: str, settings: Mapping[str, Any]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the front-matter fields of `where` or `unless`, each with its accepted values as strings. `{setting}` is filled in."""
    fields = table.get(key, {})
    for name, content in fields.items():
        if not name.strip() or content == []:
            raise LayoutError(
                f"{where}{key}.{name} can never match" if name.strip() else f"{where}{key} has a field without a name"
            ).at(f"{where}{key}")
    return tuple(
        (name, tuple(_fill_in_known(text, settings) for text in _accepted_values(content)))
        for name, content in fields.items()
    )


def _accepted_values(content: str | bool | Sequence[str]) -> tuple[str, ...]:
    if isinstance(content, bool):
        return ("true" if content else "false",)
    return (content,) if isinstance(content, str) else tuple(content)


def _fill_in_known(text: str, settings: Mapping[str, Any]) -> str:
    """Replace `{setting}` in a text. Other braces stay, as in a glob."""
    return re.sub(r"\{(\w+)\}", lambda match: str(settings.get(match[1], match[0])), text)


def _fill_in(text: str, settings: Mapping[str, Any]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: str(settings[match[1]]), text)


def _parse_groups(
    files: Sequence[str | Sequence[str]],
    where: str,
    settings: Mapping[str, Any],
    untrusted: frozenset[str],
    env: Mapping[str, str],
) -> Iterator[tuple[Pattern, ...]]:
    """Yield the groups with their settings filled in.

    Adjacent groups that use the same list are repeated together, once for each of its values. A pattern with alternatives, such as
    `*.{md,txt}`, is a group for each of them, or, inside a group, a pattern for each.
    """
    repeated_texts: list[str] = []
    list_name = ""

    def repeated_groups() -> Iterator[tuple[Pattern, ...]]:
        for entry in _entries(settings[list_name]) if repeated_texts else ():
            for text in repeated_texts:
                for pattern in _parse_alternatives(text, where, {**settings, list_name: entry}, untrusted, env):
                    yield (pattern,)

    for group in _expand_groups(files, where + "files"):
        lists = _list_settings(group, settings) if isinstance(group, str) else []
        if lists and lists[0] != list_name:
            yield from repeated_groups()
            repeated_texts, list_name = [], lists[0]
        if lists:
            repeated_texts.append(str(group))
            continue
        yield from repeated_groups()
        repeated_texts, list_name = [], ""
        texts = [group] if isinstance(group, str) else group
        yield tuple(pattern for text in texts for pattern in _parse_alternatives(text, where, settings, untrusted, env))
    yield from repeated_groups()


def _expand_groups(files: Sequence[str | Sequence[str]], where: str) -> Iterator[str | Sequence[str]]:
    for group in files:
        if isinstance(group, str):
            yield from expand_alternatives(group, where)
        else:
            yield [pattern for text in group for pattern in expand_alternatives(text, where)]


def _parse_alternatives(
    text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> Iterator[Pattern]:
    lists = _list_settings(text, settings)
    if not lists:
        yield parse_pattern(text, where, settings, untrusted, env)
        return
    for entry in _entries(settings[lists[0]]):
        yield from _parse_alternatives(text, where, {**settings, lists[0]: entry}, untrusted, env)


def _entries(values: Sequence[Any]) -> Iterator[Any]:
    """Yield the values of a list setting, with an entry for each alternative of one such as `docs/{a,b}.md`."""
    for value in values:
        try:
            yield from expand_alternatives(value, "") if isinstance(value, str) else [value]
        except LayoutError:  # too many
            yield value


def _list_settings(text: str, settings: Mapping[str, Any]) -> list[str]:
    return [name for name in re.findall(r"\{(\w+)\}", text) if isinstance(settings.get(name), list | tuple)]


def parse_pattern(
    text: str, where: str, settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> Pattern:
    place, colon, path = text.partition(":")
    if not colon or place not in PLACES:
        raise LayoutError(f"{where}files: {text!r} is not a pattern 'place:path'" + suggestion(place, PLACES)).at(
            f"{where}files"
        )
    check_wildcards(path, where + "files", text)
    confined = where + "files" in untrusted or where + "walk" in untrusted
    for name in re.findall(r"\{(\w+)\}", path):
        if name not in settings:
            raise LayoutError(f"{where}files: unknown setting {name!r} (in {text!r})" + suggestion(name, settings)).at(
                f"{where}files"
            )
        confined = confined or f"settings.{name}" in untrusted
    for other in re.findall(r"\{[^{}]*\|[^{}]*\}", path.replace("{root|slug}", "")):
        raise LayoutError(
            f"{where}files: unknown field {other!r} (in {text!r}); the only one with a filter is '{{root|slug}}'"
        ).at(f"{where}files")
    filled_path = _fill_in(path, settings)
    variable = ""
    if place == "env":
        variable, _, filled_path = filled_path.partition("/")
        if variable not in env:
            raise LayoutError(f"{where}files: {text!r} needs {variable!r} in [env]" + suggestion(variable, env)).at(
                f"{where}files"
            )
    if filled_path.startswith(("/", "~/")) and re.fullmatch(r"\{\w+\}", path):
        place = "path"  # a setting may contain an absolute path, and only relative paths start from the place
    _check_path(place, filled_path, where + "files", text)
    filled_path = _without_empty_segments(filled_path)
    return Pattern(place, filled_path, confined or f"env.{variable}" in untrusted, variable, env.get(variable, ""))


def _without_empty_segments(path: str) -> str:
    """Return a path without `.` and empty segments, so that a file has the same path however a pattern names it."""
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    return ("/" if path.startswith("/") else "") + "/".join(segments)


def _check_path(place: str, path: str, key: str, text: str) -> None:
    """Raise a LayoutError if the path of the pattern `text` can never match or points outside its place."""
    where = f"{key}: {text!r}"
    segments = path.split("/")
    if segments[-1] in ("", ".", "..") or not path.strip("/."):
        raise LayoutError(f"{where} does not name a file").at(key)
    if place != "path" and (path.startswith("/") or ".." in segments):
        raise LayoutError(f"{where} points outside its place; only 'path:' may begin with '/' or contain '..'").at(key)
    if any("**" in segment and segment != "**" for segment in segments):
        raise LayoutError(f"{where}: '**' must be a whole segment, as in 'rules/**/*.md'").at(key)
    if ".." in segments and "*" in path.rpartition("..")[0]:
        raise LayoutError(f"{where}: '..' cannot follow a wildcard").at(key)
    if "\0" in path:
        raise LayoutError(f"{where} contains a NUL character, which no path can have").at(key)
