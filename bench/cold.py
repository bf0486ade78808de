"""Whole processes, from start to exit, in CPU time: on a shared machine, wall time says more about its other users."""

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


def rows(place: fixture.Fixture) -> list[Row]:
    """`show` beside the floor, and `--version` beside a bare interpreter."""
    compile_all()
    show = [FOREWORD, "show", str(place.cwd), "--home", str(place.home), "--tools", str(place.tools)]
    commands = {
        "show": show,
        "floor": [PYTHON, "-I", "-S", FLOOR, str(place.cwd), str(place.tools)],
        "version": [FOREWORD, "--version"],
        "bare": [PYTHON, "-c", "pass"],
        "barest": [PYTHON, "-I", "-S", "-c", "pass"],
    }
    environment = {"HOME": str(place.home), "PATH": os.defpath}
    check_work(show, commands["floor"], environment)
    took = cpu_times(commands, environment)

    def row(name: str, ours: str, beside: str, bar: float | None) -> Row:
        return Row(name, took[ours], took[beside], bar, " ".join(commands[ours]), " ".join(commands[beside]))

    return [
        row("show, beside the floor", "show", "floor", 4.0),
        row("--version, beside python without flags", "version", "bare", 1.5),
        row("--version, beside python -I -S", "version", "barest", None),
    ]


def compile_all() -> None:
    """Bytecode for the package and all that is installed, as after any first run."""
    spec = find_spec("foreword")
    assert spec and spec.submodule_search_locations, "foreword is not installed; make setup"
    for folder in {*spec.submodule_search_locations, sysconfig.get_path("purelib")}:
        compileall.compile_dir(folder, quiet=2)


def check_work(show: list[str], floor: list[str], environment: dict[str, str]) -> None:
    """Say so when a contender did not do the whole work: its time would mean nothing."""
    prompt, counted = (subprocess.check_output(command, env=environment, text=True) for command in (show, floor))
    wanted = [f"Rule of level {n}" for n in range(fixture.DEPTH)] + [f"skill-{n:02}" for n in range(fixture.SKILLS)]
    if missing := [text for text in wanted if text not in prompt]:
        print(f"warning: the prompt lacks {len(missing)} of {len(wanted)} texts, first {missing[0]!r}")
    if not counted.startswith(f"{fixture.DEPTH + fixture.SKILLS + 1} files"):
        print(f"warning: the floor read {counted}")


def cpu_times(commands: dict[str, list[str]], environment: dict[str, str]) -> dict[str, float]:
    """The median CPU milliseconds of each command, run in turns; the first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS + 1):
        for name, command in commands.items():
            times[name].append(cpu_time(command, environment))
    return {name: median(taken[1:]) * 1000 for name, taken in times.items()}


def cpu_time(command: list[str], environment: dict[str, str]) -> float:
    """The CPU seconds of one process. It is spawned directly: `subprocess` would add to both sides and so flatter the ratio."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    pid = os.posix_spawn(command[0], command, environment, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"exit status {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime
