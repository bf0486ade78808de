"""What the steps of a release check share: running a command, and saying what was done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
UV = ROOT / ".venv" / "bin" / "uv"
TOOLS = ROOT / ".venv-release" / "bin"


class CheckError(Exception):
    """A release must not be made; the message says why."""


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def expect(holds: bool, message: str) -> None:
    if not holds:
        raise CheckError(message)


def run(command: Sequence[str | Path], cwd: Path = ROOT, env: dict[str, str] | None = None) -> str:
    """Standard output of a command that must succeed."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    expect(result.returncode == 0, f"{' '.join(words)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def without_node(folder: Path) -> dict[str, str]:
    """The environment with an empty home and a PATH on which Node is not found."""
    kept = ("SSL_CERT_FILE", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_CONFIG_FILE", "LANG", "XDG_CONFIG_HOME")
    home = folder / "home"
    home.mkdir(exist_ok=True)
    cache = run([UV, "cache", "dir"]).strip()
    variables = {name: os.environ[name] for name in kept if name in os.environ}
    return {**variables, "HOME": str(home), "PATH": str(UV.parent), "UV_CACHE_DIR": cache}


def interpreters() -> list[Path]:
    """The oldest and the newest supported Python on this machine."""
    lines = run([sys.executable, ROOT / "tests/packaging/pythons.py", "--ends"]).splitlines()
    return [Path(line) for line in lines]
