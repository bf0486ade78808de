"""Compare `foreword lint` with agnix, another linter for agent files, on the same tree.

    python bench/lint.py                 a generated tree, as in `make bench`
    python bench/lint.py FOLDER…         your own trees, one at a time: files, findings and files per second

Both read every AGENTS.md and SKILL.md in the tree. agnix also reads some other kinds of files, and Foreword builds a prompt in every
folder that has an instruction file. The number of files is what each tool reports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter

import fixture
from cold import FOREWORD, PYTHON
from measure import Row, take_turns

AGNIX = str(Path(PYTHON).with_name("agnix"))
FOLDERS, SKILLS, ROUNDS = 40, 160, 3


def rows(_: fixture.Fixture) -> list[Row]:
    """Lint a tree of two hundred files; in larger trees agnix takes far longer per file."""
    with tempfile.TemporaryDirectory(prefix="foreword-bench-lint-") as folder:
        top = Path(folder) / "tree"
        write_tree(top)
        commands = commands_for(str(top), folder)
        environment = {"HOME": folder, "PATH": os.defpath}
        times = take_turns(
            {name: partial(run_linter, command, environment) for name, command in commands.items()}, ROUNDS
        )
    name = f"lint {FOLDERS + SKILLS:,} files vs. agnix"
    return [
        Row(name, times["foreword"], times["agnix"], None, "foreword lint --recursive --json", "agnix --format json")
    ]


def write_tree(top: Path) -> None:
    """Write folders with an AGENTS.md of 4 KiB, three levels deep, and skills of 6 KiB."""
    (top / ".git").mkdir(parents=True)
    for number in range(FOLDERS):
        folder = top / f"area-{number % 10}" / f"part-{number}"
        folder.mkdir(parents=True)
        (folder / "AGENTS.md").write_text(fixture.fill(f"# Part {number}\n\n", f"Rule of part {number}", 4096))
    fixture.write_skills(top, SKILLS)


def commands_for(top: str, home: str) -> dict[str, list[str]]:
    return {
        "foreword": [FOREWORD, "lint", top, "--recursive", "--json", "--home", home],
        "agnix": [AGNIX, "--format", "json", top],
    }


def run_linter(command: list[str], environment: dict[str, str]) -> str:
    """Return a linter's output. The exit status is ignored, because findings are not a failure."""
    return subprocess.run(command, env=environment, capture_output=True, text=True).stdout


def parse_report(name: str, text: str) -> tuple[int, int]:
    """Return the numbers of files and findings in a linter's report."""
    form = json.loads(text)
    return (
        (form["files"], len(form["findings"]))
        if name == "foreword"
        else (form["files_checked"], len(form["diagnostics"]))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare foreword lint with agnix.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=3, help="number of runs; the fastest counts (default: 3)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foreword-bench-lint-") as home:
        if not args.folders:
            write_tree(Path(home) / "tree")
        environment = {"HOME": home, "PATH": os.defpath}
        for top in args.folders or [str(Path(home) / "tree")]:
            print(os.path.basename(top.rstrip("/")))
            for name, command in commands_for(top, home).items():
                measure(name, command, environment, args.rounds)


def measure(name: str, command: list[str], environment: dict[str, str], rounds: int) -> None:
    fastest, output = float("inf"), ""
    for _ in range(rounds):
        start = perf_counter()
        output = run_linter(command, environment)
        fastest = min(fastest, perf_counter() - start)
    files, findings = parse_report(name, output)
    print(
        f"  {name:10} {files:8,} files  {findings:8,} findings  {fastest:8.2f} s  {files / fastest:8,.0f} files per second"
    )


if __name__ == "__main__":
    main()
