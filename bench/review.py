"""Measure `review` and `lock --check` in a repository of many files, compared with one `agents` and with one `show` per layout.

The costs are the CPU time of processes. `python bench/review.py` prints only these rows.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import fixture
from cold import FOREWORD
from measure import Row, print_table
from scale import FILES, lowest_cost, write_repository

LAYOUTS = ("claude", "codex", "copilot", "opencode", "pi-agent", "vibe")  # those that the repository shows signs of
MAX_REVIEW_RATIO = 2.6
MAX_LOCK_RATIO = 0.9


def rows(_: fixture.Fixture | None = None) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="foreword-bench-review-") as folder:
        home, top = Path(folder), Path(folder) / "repository"
        write_commits(top)
        return [review_row(home, top), lock_row(home, top)]


def review_row(home: Path, top: Path) -> Row:
    """Compare the review of ten changed files with one `agents`."""
    review = [FOREWORD, "review", "HEAD~1", str(top), "--home", str(home)]
    agents = [FOREWORD, "agents", str(top), "--home", str(home)]
    name = f"review of 10 changed files in a repository of {FILES:,}, CPU vs. one agents"
    ours, baseline = lowest_cost(review, home)[0], lowest_cost(agents, home)[0]
    return Row(name, ours, baseline, MAX_REVIEW_RATIO, " ".join(review), " ".join(agents))


def lock_row(home: Path, top: Path) -> Row:
    """Compare `lock --check` with one `show` for each layout that is locked."""
    lock = [FOREWORD, "lock", str(top)]
    lowest_cost(lock, home)
    check = [*lock, "--check"]
    shows = [[FOREWORD, "show", str(top), "--layout", layout, "--home", str(home)] for layout in LAYOUTS]
    name = f"lock --check in a repository of {FILES:,}, CPU vs. one show for each of {len(LAYOUTS)} layouts"
    ours, baseline = lowest_cost(check, home)[0], sum(lowest_cost(show, home)[0] for show in shows)
    return Row(name, ours, baseline, MAX_LOCK_RATIO, " ".join(check), " ".join(shows[0]))


def write_commits(top: Path) -> None:
    """Create a repository of many files with two commits. The second one changes ten instruction files."""
    write_repository(top, FILES)
    (top / ".git").rmdir()
    run_git(top, "init", "-q")
    run_git(top, "add", ".")
    run_git(top, "commit", "-q", "-m", "Add the shop")
    for path in top.glob("part-*/module-*/AGENTS.md"):
        path.write_text(path.read_text() + "Run the tests of this module.\n")
    run_git(top, "commit", "-q", "-a", "-m", "Ask for tests")


def run_git(top: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    environment = {"PATH": os.environ["PATH"], "HOME": str(top), "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(top), *identity, *arguments], check=True, env=environment)


if __name__ == "__main__":
    print_table(rows())
