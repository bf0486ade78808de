"""Large trees: what a file costs among many, and what `cache` costs beside `show`. CPU time and memory of whole processes.

python bench/scale.py          these rows alone
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import fixture
from cold import FOREWORD
from measure import Row

FEW, MANY = 250, 2_000
SKILLS = 10_000
# `cache` once cost 9.4 times the CPU time of `show` and 6 times its memory; a quarter of that is enough.
MOST_CPU, MOST_MEMORY = 2.4, 1.5
ROUNDS = 3


def rows(_: fixture.Fixture | None = None) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="foreword-bench-scale-") as folder:
        return [*lint_rows(Path(folder)), *cache_rows(Path(folder))]


def lint_rows(folder: Path) -> list[Row]:
    """`lint --recursive` of instruction files in sibling folders: what one of many costs, beside one of few."""
    commands = {}
    for number in (FEW, MANY):
        top = folder / f"files-{number}"
        write_siblings(top, number)
        commands[number] = [FOREWORD, "lint", str(top), "--recursive", "--json", "--home", str(folder)]
    cpu = {number: least_cost(command, folder)[0] / number for number, command in commands.items()}
    name = f"lint --recursive, CPU for one of {MANY:,} files beside one of {FEW:,}"
    return [Row(name, cpu[MANY], cpu[FEW], 1.3, " ".join(commands[MANY]), " ".join(commands[FEW]))]


def write_siblings(top: Path, number: int) -> None:
    """So many folders side by side, each with an AGENTS.md of 1 KiB."""
    (top / ".git").mkdir(parents=True)
    for each in range(number):
        place = top / f"part-{each}"
        place.mkdir()
        (place / "AGENTS.md").write_text(fixture.fill(f"# Part {each}\n\n", f"Rule of part {each}", 1024))


def cache_rows(folder: Path) -> list[Row]:
    """`cache` of many skills beside `show`, which reads and builds all of it once."""
    top = folder / "skills"
    (top / ".git").mkdir(parents=True)
    fixture.write_skills(top, SKILLS)
    options = [str(top), "--home", str(folder), "--tool", "read_file"]
    cache, show = [FOREWORD, "cache", *options], [FOREWORD, "show", *options]
    ours, beside = least_cost(cache, folder), least_cost(show, folder)
    name = f"cache of {SKILLS:,} skills, beside show"
    said = " ".join(cache), " ".join(show)
    return [
        Row(f"{name}: CPU", ours[0], beside[0], MOST_CPU, *said),
        Row(f"{name}: peak memory in MB", ours[1], beside[1], MOST_MEMORY, *said),
    ]


def least_cost(command: list[str], home: Path) -> tuple[float, float]:
    """The CPU time in ms and the peak memory in MB of a process with its children, the least of a few runs."""
    costs = [cost(command, {"HOME": str(home), "PATH": os.defpath}) for _ in range(ROUNDS)]
    return min(cpu for cpu, _ in costs), min(memory for _, memory in costs)


def cost(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"exit status {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
    return (used.ru_utime + used.ru_stime) * 1000, used.ru_maxrss / 1024


if __name__ == "__main__":
    from run import print_table

    print_table(rows())
