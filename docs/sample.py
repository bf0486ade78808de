"""The sample workspace that the pages, the pictures and their tests use: a small shop in an otherwise empty home directory.

Pages print its paths below /home/someone. The real folder has a path of the same length, so that columns keep their width, and its name
consists only of frequent letters, so that token estimates are the same each time.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOME = "/home/someone"
FILES = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": "# Shop\n\nRun `make test` before you say that you are done.\n",
    "CLAUDE.md": "@AGENTS.md\n",
    "api/AGENTS.md": "Handlers stay thin; rules live in `domain/`.\n",
    ".agents/skills/release/SKILL.md": "---\nname: release\ndescription: Cuts a release of the shop.\n---\n"
    "Bump the version, write the changelog, tag.\n",
}

# The file names of a well-known repository, for the picture in the README.
MONOREPO = {
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": "# Overview\n\nThe backend is in `src/`, the web client in `static/`.\n",
    "CLAUDE.md": "@AGENTS.md\n",
    "src/AGENTS.md": "Type every function. Raise errors of the module's own.\n",
    "static/AGENTS.md": "Write function components, and test what a user sees.\n",
    "static/CLAUDE.md": "@AGENTS.md\n",
    ".cursor/rules/python.mdc": '---\nglobs: "**/*.py"\n---\n\nRun the linter before you finish.\n',
}


@contextmanager
def home() -> Iterator[Path]:
    """Create a temporary home directory with the workspaces `shop` and `monorepo`, and a link `foreword` to this checkout."""
    # Each letter at most once: several equal ones in a row would change the estimates of tokens.
    folder = Path("/tmp") / "".join(random.SystemRandom().sample("aeimnorst", 8))
    assert len(str(folder)) == len(HOME)
    folder.mkdir(mode=0o700)
    for name, text in FILES.items():
        write(folder / "shop" / name, text)
    for name, text in MONOREPO.items():
        write(folder / "monorepo" / name, text)
    (folder / "foreword").symlink_to(Path(__file__).resolve().parents[1])
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
