"""Measure large trees: the cost of `lint` per file, and the cost of `cache` compared with only reading the files.

The costs are the CPU time and memory of processes. `python bench/scale.py` prints only these rows.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import fixture
from cold import FLOOR, FOREWORD, PYTHON
from measure import Row, print_table

FEW, MANY = 250, 2_000
FILES = 20_000
SKILLS = 10_000
# Building the prompt ten times took 71 times the floor's CPU time (17.8 s and 0.25 s on one machine) and 377 MB. The limits are a
# quarter of these.
MAX_CPU_RATIO = 71 / 4
MEMORY_OF_TEN_BUILDS, MAX_MEMORY_RATIO = 377, 1 / 4
MAX_WALK_RATIO = 15
ROUNDS = 3
MAX_AGENTS_RATIO, MAX_LINT_RATIO = 60, 100


def rows(_: fixture.Fixture | None = None) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="foreword-bench-scale-") as folder:
        return [
            *lint_rows(Path(folder)),
            *walk_rows(Path(folder)),
            *instruction_rows(Path(folder)),
            *cache_rows(Path(folder)),
        ]


def lint_rows(folder: Path) -> list[Row]:
    """Compare the cost of `lint --recursive` per file, for instruction files in sibling folders, in a large tree and a small one."""
    commands = {}
    for number in (FEW, MANY):
        top = folder / f"files-{number}"
        write_siblings(top, number)
        commands[number] = [FOREWORD, "lint", str(top), "--recursive", "--json", "--home", str(folder)]
    cpu = {number: lowest_cost(command, folder)[0] / number for number, command in commands.items()}
    name = f"lint --recursive, CPU per file, {MANY:,} files vs. {FEW:,}"
    return [Row(name, cpu[MANY], cpu[FEW], 1.3, " ".join(commands[MANY]), " ".join(commands[FEW]))]


def walk_rows(folder: Path) -> list[Row]:
    """Compare `lint --recursive` in a large repository with few instructions to walking its folders once."""
    top = folder / "repository"
    write_repository(top, FILES)
    lint = [FOREWORD, "lint", str(top), "--recursive", "--json", "--home", str(folder)]
    walk = [PYTHON, "-I", "-S", "-c", f"import os; list(os.walk({str(top)!r}))"]
    name = f"lint --recursive in a repository of {FILES:,} files, CPU vs. one walk"
    ours, baseline = lowest_cost(lint, folder)[0], lowest_cost(walk, folder)[0]
    return [Row(name, ours, baseline, MAX_WALK_RATIO, " ".join(lint), " ".join(walk))]


def instruction_rows(folder: Path) -> list[Row]:
    """Compare `agents` and `lint --recursive` with many instruction files to walking the folders and reading these files."""
    top = folder / "instructions"
    write_instructions(top, MANY)
    read = [PYTHON, "-I", "-S", "-c", READ_ALL.format(str(top))]
    baseline = lowest_cost(read, folder)[0]
    rows = []
    for words, limit in ((["agents"], MAX_AGENTS_RATIO), (["lint", "--recursive"], MAX_LINT_RATIO)):
        command = [FOREWORD, *words, str(top), "--json", "--home", str(folder)]
        name = f"{' '.join(words)}, {MANY:,} instruction files, CPU vs. walking and reading them"
        rows.append(Row(name, lowest_cost(command, folder)[0], baseline, limit, " ".join(command), " ".join(read)))
    return rows


READ_ALL = "import os; [open(f'{{folder}}/{{name}}').read() for folder, _, names in os.walk({!r}) for name in names]"


def write_instructions(top: Path, number: int) -> None:
    """Create a repository with this many instruction files: AGENTS.md, CLAUDE.md, rules and skills, each with its own text."""
    (top / ".git").mkdir(parents=True)
    written = 0
    for index in range(number):
        part = top / f"area-{index // 100}" / f"part-{index // 10 % 10}" / f"module-{index}"
        names = {
            "AGENTS.md": 1,
            "CLAUDE.md": 2,
            ".claude/rules/style.md": 3,
            ".cursor/rules/api.mdc": 4,
            f".claude/skills/skill-{index}/SKILL.md": 5,
        }
        for name in (name for name, every in names.items() if index % every == 0 and written < number):
            path = part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(instruction_text(name, index, written))
            written += 1


def instruction_text(name: str, index: int, number: int) -> str:
    """Return the text of an instruction file. Every other CLAUDE.md only imports the AGENTS.md beside it."""
    if name == "CLAUDE.md" and index % 4 == 0:
        return "@AGENTS.md\n"
    front = {
        "SKILL.md": f"---\nname: skill-{index}\ndescription: Use it when module {index} changes.\n---\n",
        "style.md": "---\npaths: src/**/*.py\n---\n",
        "api.mdc": "---\nglobs: src/**\nalwaysApply: false\n---\n",
    }.get(os.path.basename(name), "")
    return f"{front}# Module {index}\n\n" + "".join(
        f"- Point {line} of text {number}: keep the module small.\n" for line in range(15)
    )


def write_repository(top: Path, number: int) -> None:
    """Create a repository with this many source files, 20 in each folder, and instructions for several agents in every hundredth folder."""
    (top / ".git").mkdir(parents=True)
    (top / "CLAUDE.md").write_text("# Shop\n\nRun the tests before every commit.\n")
    for index in range(number // 20):
        part = top / f"part-{index // 50}" / f"module-{index}"
        part.mkdir(parents=True)
        for file in range(20):
            (part / f"file-{file}.py").touch()
        if index % 100 == 0:
            (part / "AGENTS.md").write_text(f"# Module {index}\n\nKeep module {index} small.\n")


def write_siblings(top: Path, number: int) -> None:
    """Create sibling folders, each with an AGENTS.md of 1 KiB."""
    (top / ".git").mkdir(parents=True)
    for index in range(number):
        part = top / f"part-{index}"
        part.mkdir()
        (part / "AGENTS.md").write_text(fixture.fill(f"# Part {index}\n\n", f"Rule of part {index}", 1024))


def cache_rows(folder: Path) -> list[Row]:
    """Compare `cache` with many skills to the floor, which only reads the same files."""
    top, tools = folder / "skills", folder / "tools.json"
    (top / ".git").mkdir(parents=True)
    fixture.write_skills(top, SKILLS)
    tools.write_text("[]")
    cache = [FOREWORD, "cache", str(top), "--home", str(folder), "--tool", "read_file"]
    floor = [PYTHON, "-I", "-S", FLOOR, str(top), str(tools)]
    ours, baseline = lowest_cost(cache, folder), lowest_cost(floor, folder)
    name, command = f"cache with {SKILLS:,} skills", " ".join(cache)
    return [
        Row(f"{name}, CPU vs. the floor", ours[0], baseline[0], MAX_CPU_RATIO, command, " ".join(floor)),
        Row(
            f"{name}, peak memory in MB vs. ten builds",
            ours[1],
            MEMORY_OF_TEN_BUILDS,
            MAX_MEMORY_RATIO,
            command,
            "ten builds",
        ),
    ]


def lowest_cost(command: list[str], home: Path) -> tuple[float, float]:
    """Return the lowest CPU time in ms and the lowest peak memory in MB of a process and its children, over a few runs."""
    costs = [cost(command, {"HOME": str(home), "PATH": os.defpath}) for _ in range(ROUNDS)]
    return min(cpu for cpu, _ in costs), min(memory for _, memory in costs)


def cost(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    null_streams = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawn(command[0], command, environment, file_actions=null_streams)
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"exit status {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
    return (usage.ru_utime + usage.ru_stime) * 1000, usage.ru_maxrss / 1024


if __name__ == "__main__":
    print_table(rows())
