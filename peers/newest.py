"""Find the newest release of each program in its registry that can be installed."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from .install import RunError, newest_python
from .programs import Program

MAX_ATTEMPTS = 5  # a registry can list releases whose dependencies it lacks
RELEASE = re.compile(r"\d+(?:\.\d+)*")


def releases(program: Program) -> list[str]:
    """Return a program's released versions, newest first, as its registry lists them. Earlier ones than the pinned version are left out."""
    if program.npm:
        command = ["npm", "view", program.npm, "versions", "--json"]
    else:
        command = [newest_python(), "-m", "pip", "index", "versions", program.python]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        raise RunError(f"its registry does not answer: {result.stderr.strip()[-200:]}")
    return newer(parse_versions(result.stdout), program.version)


def parse_versions(output: str) -> list[str]:
    """Return the versions in the output of `npm view` (JSON) or `pip index versions` (one line of text)."""
    if output.lstrip()[:1] in ('"', "["):
        parsed = json.loads(output)
        return [parsed] if isinstance(parsed, str) else [str(version) for version in parsed]
    return next(
        (rest.split(", ") for name, _, rest in (line.partition(": ") for line in output.splitlines()) if rest), []
    )


def newer(versions: list[str], pinned: str) -> list[str]:
    """Return the final releases that are not older than the pinned version, newest first."""
    final = {version for version in versions if RELEASE.fullmatch(version) and _key(version) >= _key(pinned)}
    return sorted(final, key=_key, reverse=True)


def _key(version: str) -> tuple[int, ...]:
    return tuple(map(int, RELEASE.match(version)[0].split(".")))  # type: ignore[index]


def install_newest(program: Program, install: Callable[[Program], None]) -> Program:
    """Install the newest release that can be installed, print each that cannot, and return the program with its version.

    If none of the newest can be, the pinned version is installed.
    """
    for version in dict.fromkeys((*releases(program)[:MAX_ATTEMPTS], program.version)):
        candidate = replace(program, version=version)
        try:
            install(candidate)
        except RunError as error:
            print(f"  {version} {error}", flush=True)
        else:
            return candidate
    return program


def write_versions(path: Path, versions: Mapping[str, str]) -> None:
    """Write which version of each program was installed, for the process that runs them."""
    path.write_text(json.dumps(dict(versions)))


def with_versions(path: Path, programs: list[Program]) -> list[Program]:
    """Return the programs in the versions that were installed."""
    versions = json.loads(path.read_text())
    return [replace(program, version=versions.get(program.name, program.version)) for program in programs]
