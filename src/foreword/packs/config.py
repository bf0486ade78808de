"""Read settings from a program's own configuration files, such as `~/.codex/config.toml` (a layout's table `[from]`).

These files belong to another program, so nothing in them raises an error: a value that cannot be used is reported as a finding, and
the setting keeps its default. The project's files are untrusted, like the workspace's own settings.
"""

from __future__ import annotations

import os

from ..findings import finding
from ..layout.model import Lookup
from ..sources.finder import base_of, walked_directories
from ..sources.links import WORKSPACE_PLACES, reach_of
from ..sources.paths import is_inside
from ..sources.trail import Trail
from ..text.lines import printable
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..layout.model import ConfigValue, Pattern
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace

_ANY_LOOKUP = Lookup("from", ())


@value
class ReadValue:
    """The value that a configuration file has for a setting."""

    setting: str
    content: Any
    path: str
    is_untrusted: bool


def read_config(
    config_values: Sequence[ConfigValue], workspace: Workspace, reader: Reader
) -> tuple[list[ReadValue], list[Finding]]:
    """Read these settings from configuration files, lowest precedence first. Invalid files are reported as findings."""
    trail = Trail()
    files: dict[str, Any] = {}
    values: list[ReadValue] = []
    for config_value in config_values:
        pattern = config_value.pattern
        for path, base in _paths(pattern, workspace, trail):
            if path not in files:
                files[path] = _read_file(path, pattern, base, workspace, reader, trail)
            content = files[path]
            for name in config_value.key.split("."):
                content = content.get(name) if isinstance(content, dict) else None
            if content is not None:
                is_untrusted = _belongs_to_project(pattern, path, workspace)
                values.append(ReadValue(config_value.setting, content, path, is_untrusted))
    return values, trail.findings


def _belongs_to_project(pattern: Pattern, path: str, workspace: Workspace) -> bool:
    """Whether a file belongs to the project, even if an environment variable points the user's folder into it."""
    is_moved_inside = pattern.place == "env" and is_inside(path, workspace.root or workspace.cwd)
    return pattern.place in WORKSPACE_PLACES or is_moved_inside


def _paths(pattern: Pattern, workspace: Workspace, trail: Trail) -> Iterator[tuple[str, str]]:
    """Yield the files that a pattern can refer to, farthest first, each with its base directory."""
    if pattern.place == "walk":
        directories = walked_directories("git", workspace)
    else:
        base = base_of(pattern, workspace, trail)
        directories = [] if base is None else [base]
    for directory in directories:
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
