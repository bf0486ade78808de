"""Find the version of an installed program in the files of its package. No program is run.

Few of the programs are installed, so `json` is loaded only for one that is, and `shutil` and `glob`, which load more, are not used.
"""

from __future__ import annotations

import os

_MAX_LEVELS = 4
_MAX_BYTES = 1_000_000


def installed_version(command: str, path: str) -> str:
    """Return the version of the program that a shell with this PATH would run, or an empty string if it cannot be found out."""
    found = _find_program(command, path)
    if not found:
        return ""
    real = os.path.realpath(found)
    return _version_in_name(real) or _npm_version(real) or _python_version(command, real)


def _find_program(command: str, path: str) -> str:
    """Return the first executable file with this name in the folders of PATH, or an empty string."""
    candidates = (os.path.join(folder, command) for folder in path.split(os.pathsep) if folder)
    return next((file for file in candidates if os.path.isfile(file) and os.access(file, os.X_OK)), "")


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
    import json

    try:
        with open(path, "rb") as file:
            content = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    value = content.get(key) if isinstance(content, dict) else None
    return value if isinstance(value, str) else ""


def _python_version(command: str, path: str) -> str:
    """Return the version of the Python package that installed a script in an environment's `bin`."""
    libraries = os.path.join(os.path.dirname(os.path.dirname(path)), "lib")
    for python in _entries(libraries, "python3", ""):
        packages = os.path.join(libraries, python, "site-packages")
        for package in _entries(packages, "", ".dist-info"):
            if command in _entry_points(os.path.join(packages, package, "entry_points.txt")):
                return package.removesuffix(".dist-info").rpartition("-")[2]
    return ""


def _entries(folder: str, start: str, end: str) -> list[str]:
    """Return the names in a folder that start and end like this. A folder that cannot be listed has none."""
    try:
        return [name for name in os.listdir(folder) if name.startswith(start) and name.endswith(end)]
    except OSError:
        return []


def _entry_points(path: str) -> list[str]:
    """Return the names of the scripts that a package installs."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line.partition("=")[0].strip() for line in file.read(_MAX_BYTES).splitlines()]
    except OSError:
        return []
