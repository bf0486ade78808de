"""Read settings from a program's own configuration files, such as `~/.codex/config.toml`, and from environment variables (a layout's
table `[from]`).

These files belong to another program, so nothing in them raises an error: a value that cannot be used is reported as a finding, and
the setting keeps its default. The project's files are untrusted, like the workspace's own settings.
"""

from __future__ import annotations

import os

from ..errors import LayoutError
from ..findings import finding
from ..layout.model import Lookup
from ..shapes import is_list_of_strings
from ..sources.finder import base_of, matching_paths, walked_directories
from ..sources.links import WORKSPACE_PLACES, reach_of
from ..sources.paths import is_inside, normalize
from ..sources.trail import Trail
from ..text.lines import printable
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import ConfigValue, Pattern
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace

_ANY_LOOKUP = Lookup("from", ())
MAX_VALUES = 200


@value
class ReadValue:
    """The value that a configuration file or an environment variable has for a setting. A variable's value is always text."""

    row: ConfigValue
    content: Any
    source: str
    is_untrusted: bool = False
    is_variable: bool = False


def read_config(
    config_values: Sequence[ConfigValue], workspace: Workspace, reader: Reader
) -> tuple[list[ReadValue], list[Finding]]:
    """Read these settings, lowest precedence first. Invalid files are reported as findings.

    Conditions are not checked here, because they depend on the settings that are read before.
    """
    trail = Trail()
    files: dict[str, Any] = {}
    values: list[ReadValue] = []

    def contents(row: ConfigValue, folder: str = "") -> Iterator[tuple[Any, str]]:
        """Yield what each of a row's files has at its key, if that is anything, with the file's path."""
        for path, base in _paths(row.pattern, workspace, reader, trail):
            if row.trusted_by and not any(content for content, _ in contents(row.trusted_by, base)):
                continue
            if path not in files:
                files[path] = _read_file(path, row.pattern, base, workspace, reader, trail)
            content = _content_at(files[path], row, path, folder, workspace)
            if content is not None:
                yield content, path

    for row in config_values:
        pattern = row.pattern
        if not row.key:
            content = (workspace.environment or {}).get(pattern.variable, "")
            if content:
                values.append(ReadValue(row, content, f"${pattern.variable}", is_variable=True))
            continue
        for content, path in contents(row):
            values.append(ReadValue(row, content, path, _belongs_to_project(pattern, path, workspace)))
    return values, trail.findings


def _content_at(content: Any, row: ConfigValue, path: str, folder: str, workspace: Workspace) -> Any:
    """Return the value of a row's key in a configuration file's content, or None if it has none."""
    if content is None:
        return None
    facts = {"{root}": workspace.root or workspace.cwd, "{cwd}": workspace.cwd, "{folder}": folder}
    for name in row.key:
        content = content.get(facts.get(name, name)) if isinstance(content, dict) else None
    if row.beside:
        names = [row.beside] if content is None else [content] if isinstance(content, str) else content
        return [os.path.join(os.path.dirname(path), name) for name in names] if is_list_of_strings(names) else content
    return content if row.equals is None or content is None else content == row.equals


def applies(config_value: ReadValue, settings: Mapping[str, Any]) -> bool:
    """Whether the conditions of a value hold with these settings."""
    return all(
        any(settings[fact.removeprefix("set:")] for fact in term.facts) != term.negated
        for term in config_value.row.when
    )


def converted(config_value: ReadValue, current: Any) -> Any:
    """Return a value with the type of the setting's current value. Raises a LayoutError if that is not possible."""
    row, content = config_value.row, config_value.content
    content = _convert(_convert_text(content, current) if config_value.is_variable else content, current)
    if row.only:
        content = [name for name in content if "/" not in name]
    if row.add:
        content = [*content, *current] if row.add == "before" else [*current, *content]
        content = list(dict.fromkeys(content))[:MAX_VALUES]
    return content


def _convert_text(text: str, default: Any) -> Any:
    """Return an environment variable's text as a value of the type of the setting's default: a list is separated by commas."""
    if isinstance(default, list | tuple):
        return [entry.strip() for entry in text.split(",") if entry.strip()]
    if isinstance(default, bool):
        return text.lower() not in ("0", "false")
    return int(text) if isinstance(default, int) and text.isdecimal() else text


def _convert(content: Any, default: Any) -> Any:
    """Return a value converted to the type of the setting's default. Raises a LayoutError if that is not possible."""
    if isinstance(default, list | tuple):
        content = [content] if isinstance(content, str) else content
        if is_list_of_strings(content):
            return list(content[:MAX_VALUES])
    elif type(content) is type(default):
        return content
    expected = "a list of strings" if isinstance(default, list | tuple) else f"of the same type as {default!r}"
    raise LayoutError(f"it must be {expected}, not {type(content).__name__}; it was ignored")


def _belongs_to_project(pattern: Pattern, path: str, workspace: Workspace) -> bool:
    """Whether a file belongs to the project, even if an environment variable points the user's folder into it."""
    is_moved_inside = pattern.place == "env" and is_inside(path, workspace.root or workspace.cwd)
    return pattern.place in WORKSPACE_PLACES or is_moved_inside


def _paths(pattern: Pattern, workspace: Workspace, reader: Reader, trail: Trail) -> Iterator[tuple[str, str]]:
    """Yield the files that a pattern can refer to, farthest first, each with its base directory."""
    if pattern.place == "env" and not pattern.path:
        named = (workspace.environment or {}).get(pattern.variable, "")
        if named.startswith("/"):
            yield normalize(named), os.path.dirname(normalize(named))
        return
    if pattern.place == "walk":
        directories = walked_directories("git", workspace)
    else:
        base = base_of(pattern, workspace, trail)
        directories = [] if base is None else [base]
    for directory in directories:
        if "*" in pattern.path:
            reach = reach_of(pattern, directory, _ANY_LOOKUP, workspace)
            for path in matching_paths(pattern, directory, _ANY_LOOKUP, reader, trail, "", reach):
                yield path, directory
        else:
            yield os.path.normpath(os.path.join(directory, pattern.path)), directory


def _read_file(path: str, pattern: Pattern, base: str, workspace: Workspace, reader: Reader, trail: Trail) -> Any:
    """Return a configuration file's content, or None if it is missing, blank or invalid. An invalid file is reported."""
    reading = reader.read(path, reach_of(pattern, base, _ANY_LOOKUP, workspace))
    if reading.fate in ("absent", "blank"):
        return None
    shown = printable(path)
    try:
        if reading.fate != "used":
            raise ValueError(reading.reason)
        return _loads(reading.text, path)
    except (ValueError, RecursionError) as error:
        trail.findings.append(finding("config-invalid", f"{shown} cannot be read: {error}; it was ignored", shown))
        return None


def _loads(text: str, path: str) -> Any:
    if path.endswith(".toml"):
        from ..text.toml import load_toml

        return load_toml(text)
    import json

    try:
        return json.loads(text)
    except ValueError:
        return json.loads(without_comments(text))


def without_comments(text: str) -> str:
    """Remove comments and trailing commas from JSON, because many programs accept both."""
    parts: list[str] = []
    position, comma = 0, -1
    while position < len(text):
        character = text[position]
        start = position
        if character == '"':
            position = _end_of_string(text, position)
        elif text.startswith("//", position):
            end = text.find("\n", position)
            position = end if end >= 0 else len(text)
            continue
        elif text.startswith("/*", position):
            end = text.find("*/", position + 2)
            position = end + 2 if end >= 0 else len(text)
            continue
        else:
            position += 1
        if character in "]}" and comma >= 0:
            parts[comma] = ""
        if character == ",":
            comma = len(parts)
        elif not character.isspace():
            comma = -1
        parts.append(text[start:position])
    return "".join(parts)


def _end_of_string(text: str, start: int) -> int:
    position = start + 1
    while position < len(text) and text[position] != '"':
        position += 2 if text[position] == "\\" else 1
    return position + 1
