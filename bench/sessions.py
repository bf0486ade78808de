"""Measure `foreword sessions` on generated logs, relative to the same interpreter parsing every line of them.

python bench/sessions.py                 40 MB
python bench/sessions.py --megabytes 1000   10,000 sessions, which takes some minutes
python bench/sessions.py --requests 500000  one session with so many requests: only memory is limited
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fixture import Fixture
from many_logs import write_logs, write_long_log
from measure import Row

SRC = Path(__file__).parents[1] / "src"
MEMORY = 300  # MB
PARSE = """
import json, sys, os
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        if not name.endswith(".jsonl"):  # the index
            continue
        with open(os.path.join(folder, name), "rb") as file:
            for line in file:
                json.loads(line)
"""
# The commands that are measured, their options, and how much longer than parsing they may take.
COMMANDS: list[tuple[str, list[str], float | None]] = [
    ("list", ["--no-cache"], 1.5),
    ("--by file", ["--by", "file", "--no-cache"], 2.0),
    ("--by cause", ["--by", "cause", "--no-cache"], 2.0),
    ("fill the index", [], None),
    ("list again", [], 0.3),
    ("one log grew", [], 0.3),
    ("one session", ["--id", "00000003"], 0.3),
    ("--by file, index", ["--by", "file"], None),
    ("--by file again", ["--by", "file"], None),
]
# The same for one session with very many requests.
LONG: list[tuple[str, list[str], float | None]] = [
    ("list", ["--no-cache"], None),
    ("--by file", ["--by", "file", "--no-cache"], None),
    ("--by cause", ["--by", "cause", "--no-cache"], None),
    ("one session", ["--id", "00000001", "--no-cache"], None),
    ("in force", ["--id", "00000001", "--in-force-text", "Turn 400000.", "--no-cache"], None),
]


def rows(_: Fixture) -> list[Row]:
    """Return the costs of 40 MB of logs."""
    base = Path(tempfile.mkdtemp(prefix="foreword-bench-"))
    try:
        write_logs(base, 40 << 20)
        measured = run(base, COMMANDS)
    finally:
        shutil.rmtree(base)
    labels = "`foreword sessions` on 40 MB of logs, CPU time", "the same interpreter parses every line, CPU time"
    return [
        Row(f"sessions, {name}", seconds * 1000, floor * 1000, limit, *labels)
        for name, seconds, floor, _, limit in measured
    ]


def main() -> int:
    """Generate logs, measure each command, and print what it costs. Returns 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=40)
    parser.add_argument("--requests", type=int, default=0)
    args = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="foreword-bench-"))
    try:
        if args.requests:
            write_long_log(base, args.requests)
            title = f"one session with {args.requests:,} requests"
        else:
            title = f"{args.megabytes} MB in {write_logs(base, args.megabytes << 20):,} sessions"
        measured = run(base, LONG if args.requests else COMMANDS)
    finally:
        shutil.rmtree(base)
    floors = sorted(floor for _, _, floor, _, _ in measured)
    print(f"{title}, CPU time")
    print(f"parsing every line  {floors[0]:6.1f} s to {floors[-1]:.1f} s")
    is_fine = True
    for name, seconds, floor, memory, limit in measured:
        bound = f" (limit {limit}x)" if limit else ""
        print(f"{name:18}  {seconds:6.1f} s  {seconds / floor:.2f}x{bound}  {memory} MB")
        is_fine = is_fine and memory <= MEMORY and (limit is None or seconds / floor <= limit)
    return int(not is_fine)


def run(
    base: Path, commands: list[tuple[str, list[str], float | None]]
) -> list[tuple[str, float, float, int, float | None]]:
    """Return for each command its name, its CPU time, that of parsing, its largest memory in MB, and its limit.

    Parsing is measured again for each command, because on a shared machine the same work takes more CPU time at some moments.
    """
    places = [str(base / "repo"), "--home", str(base / "home"), "--everywhere", "--json"]
    measured = []
    for name, options, limit in commands:
        if name == "one log grew":
            grow(base)
        floor, _ = measure([sys.executable, "-I", "-c", PARSE, str(base / "home")])
        seconds, memory = measure([sys.executable, "-m", "foreword", "sessions", *places, *options])
        measured.append((name, seconds, floor, memory, limit))
    return measured


def grow(base: Path) -> None:
    """Add an answer to the first conversation."""
    path = min((base / "home/.claude/projects/-repo").glob("*.jsonl"))
    row = json.loads(path.read_bytes().splitlines()[-1])
    row["message"]["id"] = row["requestId"] = "added"
    with path.open("ab") as file:
        file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")


def measure(command: list[str]) -> tuple[float, int]:
    """Return the CPU time of a command in seconds, and its largest memory in MB."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(SRC)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10


if __name__ == "__main__":
    sys.exit(main())
