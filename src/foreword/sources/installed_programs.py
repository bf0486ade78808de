"""Find the version of an installed program in the files of its package. No program is run."""

from __future__ import annotations

import json
import os
from glob import escape, iglob
from shutil import which

_MAX_LEVELS = 4
_MAX_BYTES = 1_000_000


def installed_version(command: str, path: str) -> str:
    """Return the version of the program that a shell with this PATH would run, or an empty string if it cannot be found out."""
    found = which(command, path=path)
    if not found:
        return ""
    real = os.path.realpath(found)
    return _version_in_name(real) or _npm_version(real) or _python_version(command, real)


def _version_in_name(path: str) -> str:
    """Return the file's name if it is a version, as in `~/.local/share/claude/versions/2.1.325`."""
    name = os.path.basename(path)
    return name if name.count(".") >= 2 and name.replace(".", "").isdigit() else ""


def _npm_version(path: str) -> str:
    """Return the version of the npm package that contains a file."""
    folder = os.path.dirname(path)
    for _ in range(_MAX_LEVELS):
        if os.path.isfile(manifest := os.path.join(folder, "package.json")):
            version = _json_value(manifest, "version")
            if version:
                return version
        folder = os.path.dirname(folder)
    return ""


def _json_value(path: str, key: str) -> str:
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    value = content.get(key) if isinstance(content, dict) else None
    return value if isinstance(value, str) else ""


def _python_version(command: str, path: str) -> str:
    """Return the version of the Python package that installed a script in an environment's `bin`."""
    environment = os.path.dirname(os.path.dirname(path))
    pattern = os.path.join(escape(environment), "lib", "python3*", "site-packages", "*.dist-info", "entry_points.txt")
    for entry_points in iglob(pattern):
        try:
            with open(entry_points, encoding="utf-8", errors="replace") as file:
                names = [line.partition("=")[0].strip() for line in file.read(_MAX_BYTES).splitlines()]
        except OSError:
            continue
        if command in names:
            return os.path.basename(os.path.dirname(entry_points)).removesuffix(".dist-info").rpartition("-")[2]
    return ""
