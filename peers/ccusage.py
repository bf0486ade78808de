"""Compare the totals of ccusage with those of `foreword sessions` and of the provider, on the golden logs.

python -m peers.ccusage     install the newest ccusage that has a program for this machine, and print a table
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from foreword.programs.sessions import mapping_answer

from .__main__ import SCRATCH
from .install import RunError
from .session_golden import GOLDEN, copy_golden

_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}


def main() -> int:
    """Print all tokens of each program's golden logs, as ccusage, Foreword and the provider count them."""
    try:
        version, program = install()
    except RunError as error:
        print(f"not run: {error}")
        return 1
    print(f"| session | ccusage {version} | Foreword | provider |\n|---|---|---|---|")
    agrees = True
    for folder in sorted(GOLDEN.iterdir()):
        if not (folder / "home").is_dir():
            continue
        expected = json.loads((folder / "expected.json").read_text())
        with tempfile.TemporaryDirectory() as home:
            copy_golden(folder.name, Path(home))
            theirs, ours = count_theirs(program, home), count_ours(home)
        sent = sum(row[kind] for row in expected["requests"] for kind in ("fresh", "written", "read", "out"))
        agrees = agrees and ours == sent
        print(f"| {expected['program']} {expected['version']} | {theirs} | {ours:,} | {sent:,} |", flush=True)
    return int(not agrees)


def install() -> tuple[str, str]:
    """Install ccusage, and return its version and executable. Its own package only starts a program that is in another one."""
    native = f"@ccusage/ccusage-{sys.platform}-{_ARCHITECTURES.get(platform.machine().lower(), platform.machine())}"
    version = _run(["npm", "view", native, "version"]).strip()
    packages = [f"ccusage@{version}", f"{native}@{version}"]
    folder = str(SCRATCH / f"ccusage-{version}")
    _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder, *packages])
    return version, os.path.join(folder, "node_modules/.bin/ccusage")


def count_theirs(program: str, home: str) -> str:
    """Return all tokens that ccusage finds in a home directory."""
    environment = {"HOME": home, "PATH": os.environ["PATH"], "TZ": "UTC"}
    output = _run([program, "daily", "--json", "--offline"], environment)
    totals: Any = json.loads(output).get("totals") or {}
    return f"{totals.get('totalTokens', 0):,}"


def count_ours(home: str) -> int:
    answer = mapping_answer({"cwd": home, "home": home, "everywhere": True, "no_cache": True})
    return sum(answer["total"]["tokens"].values())


def _run(command: list[str], environment: dict[str, str] | None = None) -> str:
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
    if result.returncode:
        raise RunError(f"{command[0]} failed: {result.stderr.strip()[-200:]}")
    return result.stdout


if __name__ == "__main__":
    sys.exit(main())
