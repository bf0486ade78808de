"""Parse `[from]`: settings that are read from a program's own configuration files or from environment variables."""

from __future__ import annotations

import re

from ..errors import LayoutError, suggestion
from ..shapes import check, check_table
from .forms import parse_condition
from .keys import KEY_SHAPES
from .lookups import parse_pattern
from .model import ConfigValue, Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_WORKSPACE_PLACES = ("cwd", "root", "walk")
_USER_PLACES = ("home", "config", "env")
_REFERENCES = (
    "a list of 'place:path#key' or of tables",
    lambda content: isinstance(content, list | tuple) and all(isinstance(row, str | dict) for row in content),
)


def parse_config(
    table: Mapping[str, Any], settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> tuple[ConfigValue, ...]:
    """Parse `[from]`, in the order in which its values are applied."""
    values: list[ConfigValue] = []
    for name, references in table.items():
        where = f"from.{name}"
        check(references, _REFERENCES, where, LayoutError)
        if name not in settings:
            raise LayoutError(f"{where}: unknown setting {name!r}" + suggestion(name, settings)).at(where)
        for reference in references:
            row = {"at": reference} if isinstance(reference, str) else reference
            check_table(row, KEY_SHAPES["from"], where, LayoutError, required=("at",))
            values.append(_parse_reference(name, row, settings, untrusted, env))
    return tuple(values)


def _parse_reference(
    name: str, row: Mapping[str, Any], settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> ConfigValue:
    """Parse one reference of a setting: the table `row`, whose `at` says where the value is."""
    where, reference = f"from.{name}", row["at"]
    is_list = isinstance(settings[name], list | tuple)
    if not is_list and (key := next((key for key in ("add", "only", "beside") if key in row), "")):
        raise LayoutError(f"{where}: {key} is only for lists, and {name!r} is not one").at(where)
    when = tuple(parse_condition(term, settings, f"{where}.when", (), ("set",)) for term in row.get("when", ()))
    text, hash_sign, key = reference.partition("#")
    variable = _variable_of(text)
    if variable and not hash_sign:
        _check_trusted(where, untrusted, reference)
        return ConfigValue(name, Pattern("env", "", variable=variable), when=when, add=row.get("add", ""))
    key, equals, content = key.partition("=")
    if not hash_sign or not all(key.split(".")):
        raise LayoutError(f"{where}: {reference!r} is not 'place:path#key' or 'env:NAME'").at(where)
    pattern = _parse_file(text, variable, where, reference, bool(row.get("beside")), settings, untrusted, env)
    if pattern.place not in _WORKSPACE_PLACES:
        _check_trusted(where, untrusted, reference)
    for field in re.findall(r"\{[^{}]*\}", key):
        if field not in ("{root}", "{cwd}", "{folder}"):
            raise LayoutError(f"{where}: unknown field {field!r} in a key; use {{root}} or {{cwd}}").at(where)
    return ConfigValue(
        name,
        pattern,
        tuple(key.split(".")),
        content if equals else None,
        when,
        row.get("add", ""),
        row.get("beside", ""),
        row.get("only", ""),
        _parse_trust(name, row["trusted_by"], settings, untrusted, env) if "trusted_by" in row else None,
    )


def _parse_trust(
    name: str, reference: str, settings: Mapping[str, Any], untrusted: frozenset[str], env: Mapping[str, str]
) -> ConfigValue:
    """Parse `trusted_by`. Raises a LayoutError if the project itself could decide."""
    parsed = _parse_reference(name, {"at": reference}, settings, untrusted, env)
    if parsed.equals is None or parsed.pattern.place in _WORKSPACE_PLACES:
        raise LayoutError(
            f"from.{name}: trusted_by must be 'place:path#key=text' in one of the user's files, not {reference!r}"
        ).at(f"from.{name}")
    return parsed


def _variable_of(text: str) -> str:
    """Return the environment variable of `env:NAME`, or an empty string for anything else."""
    place, _, name = text.partition(":")
    return name if place == "env" and re.fullmatch(r"\w+", name) else ""


def _parse_file(
    text: str,
    variable: str,
    where: str,
    reference: str,
    may_be_many: bool,
    settings: Mapping[str, Any],
    untrusted: frozenset[str],
    env: Mapping[str, str],
) -> Pattern:
    """Parse the file of a reference: `place:path`, or `env:NAME` for the file that an environment variable names."""
    if variable:
        return Pattern("env", "", variable=variable)
    pattern = parse_pattern(text, where + ".", settings, untrusted, env)
    has_wildcard = "*" in pattern.path and not (may_be_many and pattern.place in _USER_PLACES)
    if pattern.place in ("path", "between", "down") or has_wildcard:
        raise LayoutError(
            f"{where}: {reference!r} must name one file, in a place other than 'path', 'between' and 'down'"
        ).at(where)
    if not pattern.path.endswith((".toml", ".json", ".jsonc")):
        raise LayoutError(f"{where}: {reference!r} must be a file ending in .toml, .json or .jsonc").at(where)
    return pattern


def _check_trusted(where: str, untrusted: frozenset[str], reference: str) -> None:
    if where in untrusted:
        raise LayoutError(f"{where}: a workspace's layout may read only its own files, not {reference!r}").at(where)
