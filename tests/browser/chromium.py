"""Find a Chromium for the browser tests: `$CHROMIUM`, `/usr/bin/chromium`, or one in `.tools`.

Run as a program, it installs one if there is none: Debian's package as root, otherwise the npm package for x86-64.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NPM_FOLDER = ROOT / ".tools" / "chromium"
ADVICE = "set CHROMIUM=/path/to/chromium, or run make browser as root on Debian"


def find() -> str:
    """Return the path of an installed Chromium, or an empty string."""
    configured = os.environ.get("CHROMIUM", "")
    if configured and not shutil.which(configured):
        raise SystemExit(f"CHROMIUM={configured} is not a program; {ADVICE}")
    from_npm = NPM_FOLDER / "chromium"
    return configured or shutil.which("chromium", path="/usr/bin") or (str(from_npm) if from_npm.exists() else "")


def install() -> str:
    """Return the path of a Chromium, installing one if necessary."""
    path = find()
    if not path and os.geteuid() == 0 and shutil.which("apt-get"):
        _install_with_apt()
        path = find()
    if not path and shutil.which("npm") and platform.machine() == "x86_64":
        _install_with_npm()
        path = find()
    if not path:
        raise SystemExit(f"the browser tests need Chromium, which could not be installed: {ADVICE}")
    return path


def _install_with_apt() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in ("update", "install -y --no-install-recommends chromium"):
        subprocess.run(["apt-get", *arguments.split()], env=environment, stdout=subprocess.DEVNULL, check=False)


def _install_with_npm() -> None:
    """Install the npm package, which contains the compressed program and unpacks it into TMPDIR."""
    NPM_FOLDER.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "install", "--no-save", "--prefix", NPM_FOLDER, "@sparticuz/chromium"], check=False)
    script = "import c from '@sparticuz/chromium'; console.log(await c.executablePath())"
    command = ["node", "--input-type=module", "-e", script]
    subprocess.run(command, cwd=NPM_FOLDER, env={**os.environ, "TMPDIR": str(NPM_FOLDER)}, check=False)


if __name__ == "__main__":
    sys.stdout.write(f"{install()}\n")
