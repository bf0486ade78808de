"""Measure the CPU time of processes from start to exit. On a shared machine, wall time depends too much on other users."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import fixture
from measure import Row

PYTHON = sys.executable
FOREWORD = str(Path(PYTHON).with_name("foreword"))
ROUNDS = 25
FLOOR = str(Path(__file__).with_name("floor.py"))


def rows(project: fixture.Fixture) -> list[Row]:
    """Compare `show` with bare file reads, `agents` with `show`, and `--version` with a bare interpreter."""
    compile_all()
    show = [FOREWORD, "show", str(project.cwd), "--home", str(project.home), "--tools", str(project.tools)]
    commands = {
        "show": show,
        "agents": [FOREWORD, "agents", str(project.cwd), "--home", str(project.home)],
        "floor": [PYTHON, "-I", "-S", FLOOR, str(project.cwd), str(project.tools)],
        "version": [FOREWORD, "--version"],
        "bare": [PYTHON, "-c", "pass"],
        "barest": [PYTHON, "-I", "-S", "-c", "pass"],
    }
    environment = {"HOME": str(project.home), "PATH": os.defpath}
    check_work(show, commands["floor"], environment)
    times = cpu_times(commands, environment)

    def row(name: str, ours: str, baseline: str, limit: float | None) -> Row:
        return Row(name, times[ours], times[baseline], limit, " ".join(commands[ours]), " ".join(commands[baseline]))

    return [
        row("show vs. bare file reads", "show", "floor", 3.6),
        row("agents vs. show", "agents", "show", 1.5),
        row("--version vs. python without flags", "version", "bare", 1.3),
        row("--version vs. python -I -S", "version", "barest", None),
    ]


def compile_all() -> None:
    """Compile the package and all dependencies to bytecode, as a first run would."""
    spec = find_spec("foreword")
    assert spec and spec.submodule_search_locations, "foreword is not installed; run make setup"
    for folder in {*spec.submodule_search_locations, sysconfig.get_path("purelib")}:
        compileall.compile_dir(folder, quiet=2)


def check_work(show: list[str], floor: list[str], environment: dict[str, str]) -> None:
    """Warn if a contender did not do all the work, because its time would be meaningless."""
    prompt, floor_output = (subprocess.check_output(command, env=environment, text=True) for command in (show, floor))
    expected = [f"Rule of level {n}" for n in range(fixture.DEPTH)] + [f"skill-{n:02}" for n in range(fixture.SKILLS)]
    if missing := [text for text in expected if text not in prompt]:
        print(
            f"warning: the prompt lacks {len(missing)} of {len(expected)} expected strings; the first is {missing[0]!r}"
        )
    if not floor_output.startswith(f"{fixture.DEPTH + fixture.SKILLS + 1} files"):
        print(f"warning: the floor script read {floor_output}")


def cpu_times(commands: dict[str, list[str]], environment: dict[str, str]) -> dict[str, float]:
    """Return each command's median CPU time in milliseconds. The commands run in turn, after one warm-up round."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS + 1):
        for name, command in commands.items():
            times[name].append(cpu_time(command, environment))
    return {name: median(samples[1:]) * 1000 for name, samples in times.items()}


def cpu_time(command: list[str], environment: dict[str, str]) -> float:
    """Return a process's CPU time in seconds. It is spawned directly, because `subprocess` would add the same time to both sides."""
    null_streams = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawn(command[0], command, environment, file_actions=null_streams)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"exit status {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime
