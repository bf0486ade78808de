"""Print the path of every supported Python on this machine, one per version, oldest first.

Searches PATH, /usr/bin, /usr/local/bin and the versions installed by pyenv. Nothing is downloaded.
With `--ends`, print only the oldest and the newest.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = (3, 11)
NAME = re.compile(r"python3(\.\d+)?")
# Virtual environments, other implementations and pre-releases do not count.
ASK = """import sys
if sys.prefix == sys.base_prefix and sys.implementation.name == "cpython" and sys.version_info[3] == "final":
    print(*sys.version_info[:3], sys.executable)"""


def candidates(path: str, home: str, pyenv: str = "") -> Iterator[Path]:
    """Every program named python3 or python3.X, in order of preference."""
    folders = [Path(folder) for folder in path.split(os.pathsep) if folder]
    folders += [Path("/usr/bin"), Path("/usr/local/bin")]
    folders += sorted((Path(pyenv) if pyenv else Path(home, ".pyenv")).glob("versions/*/bin"))
    for folder in folders:
        if folder.is_dir():
            yield from sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))


def version(program: Path) -> tuple[tuple[int, ...], str] | None:
    """The version and path of an interpreter, or None if it does not run or does not count."""
    try:
        result = subprocess.run(
            [program, "-I", "-c", ASK], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = result.stdout.strip().split(" ", 3)
    if result.returncode != 0 or len(words) != 4:
        return None
    return tuple(map(int, words[:3])), words[3]


def supported(programs: Iterator[Path]) -> list[str]:
    """Paths of the supported interpreters, oldest first; the first one found for each version."""
    interpreters: dict[tuple[int, ...], str] = {}
    for program in programs:
        supported_version = version(program)
        if supported_version and supported_version[0] >= OLDEST:
            interpreters.setdefault(*supported_version)
    return [interpreters[version] for version in sorted(interpreters)]


def main() -> None:
    environment = os.environ
    interpreters = supported(
        candidates(environment.get("PATH", ""), environment.get("HOME", ""), environment.get("PYENV_ROOT", ""))
    )
    if not interpreters:
        sys.exit(f"no Python {'.'.join(map(str, OLDEST))} or later was found")
    if "--ends" in sys.argv[1:]:
        interpreters = list(dict.fromkeys((interpreters[0], interpreters[-1])))
    sys.stdout.write("".join(f"{path}\n" for path in interpreters))


if __name__ == "__main__":
    main()
