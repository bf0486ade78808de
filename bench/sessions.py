"""Measure `foreword sessions` on generated logs, relative to the same interpreter parsing every line of them.

python bench/sessions.py                 100 MB
python bench/sessions.py --megabytes 1000

In every third session the cache collapses once, after a pause, so that the cause has to be found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"
LIMITS = {"list": 1.5, "by file": 2.0, "list again": 0.2}
WORDS = "the request reads a file and checks every field before it answers with the result of the call".split()
PARSE = """
import json, sys, os
count = 0
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        with open(os.path.join(folder, name), "rb") as file:
            for line in file:
                json.loads(line)
                count += 1
"""


def main() -> int:
    """Generate logs, measure each command, and print what it costs. Returns 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100)
    args = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="foreword-bench-"))
    try:
        size, sessions = write_logs(base, args.megabytes << 20)
        print(f"{size >> 20} MB in {sessions:,} sessions")
        floor, _ = measure([sys.executable, "-I", "-c", PARSE, str(base / "home")])
        print(f"parsing every line  {floor:6.1f} s of CPU time")
        is_fine = True
        command = [
            sys.executable,
            "-m",
            "foreword",
            "sessions",
            str(base / "repo"),
            "--home",
            str(base / "home"),
            "--everywhere",
            "--json",
        ]
        for name, options in (
            ("list", ["--no-cache"]),
            ("by file", ["--by", "file", "--no-cache"]),
            ("fill the index", []),
            ("list again", []),
            ("one log grew", []),
            ("by file, index", ["--by", "file"]),
            ("by file again", ["--by", "file"]),
        ):
            if name == "one log grew":
                grow(base)
            seconds, memory = measure([*command, *options])
            limit = LIMITS.get(name)
            bound = f" (limit {limit}x)" if limit else ""
            print(f"{name:18}  {seconds:6.1f} s  {seconds / floor:.2f}x{bound}  {memory >> 10} MB")
            is_fine = is_fine and (limit is None or seconds / floor <= limit) and memory >> 10 <= 300
        return int(not is_fine)
    finally:
        shutil.rmtree(base)


def grow(base: Path) -> None:
    """Add an answer to the first log."""
    path = min((base / "home").rglob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    row = json.loads(lines[-1])
    row["message"]["id"] = row["requestId"] = "added"
    with path.open("ab") as file:
        file.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")


def measure(command: list[str]) -> tuple[float, int]:
    """Return the CPU time of a command in seconds, and its largest memory in KB."""
    environment = {**os.environ, "PYTHONPATH": str(SRC)}
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def write_logs(base: Path, size: int) -> tuple[int, int]:
    """Write logs of Claude Code of about this size, some with requests that can be rebuilt."""
    chance = random.Random(1)
    (base / "repo").mkdir(parents=True)
    folder = base / "home/.claude/projects/-repo"
    folder.mkdir(parents=True)
    total = number = 0
    while total < size:
        number += 1
        rows = session_rows(chance, number, base)
        data = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode()
        (folder / f"{number:08d}-0000-4000-8000-000000000000.jsonl").write_bytes(data)
        total += len(data)
    return total, number


def text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words))


def session_rows(chance: random.Random, number: int, base: Path) -> list[dict[str, object]]:
    """Return the rows of one session."""
    now = 1_790_000_000 + number * 4000
    common = {"sessionId": f"{number:08d}", "version": "2.1.281", "cwd": str(base / "repo"), "gitBranch": "main"}

    def row(kind: str, **fields: object) -> dict[str, object]:
        nonlocal now
        now += 3
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(now))
        return {"type": kind, "timestamp": stamp, "isSidechain": False, **common, **fields}

    tools = [
        {"name": f"Tool{index}", "description": text(chance, 60), "input_schema": {"type": "object"}}
        for index in range(15)
    ]
    rows = [
        row("attachment", attachment={"type": "prompt_snapshot", "systemPrompt": [text(chance, 900)], "tools": tools})
    ]
    content = text(chance, 500)
    files = [{"path": str(base / "repo/CLAUDE.md"), "type": "Project", "content": content}]
    rendered = [{"content": f"<system-reminder>\n{content}\n</system-reminder>"}]
    rows.append(row("attachment", attachment={"type": "instructions", "files": files}, rendered=rendered))
    read = 0
    for index in range(chance.randint(10, 60)):
        is_late = number % 3 == 0 and index == 5
        now += 600 * is_late
        if index % 3:
            result: dict[str, object] = {
                "type": "tool_result",
                "tool_use_id": f"t{number}-{index - 1}",
                "content": text(chance, chance.randint(20, 900)),
            }
            # The program logs a result twice: as it is sent, and as it is shown.
            rows.append(
                row("user", message={"role": "user", "content": [result]}, toolUseResult={"stdout": result["content"]})
            )
        else:
            rows.append(row("user", message={"role": "user", "content": text(chance, 30)}))
        written = chance.randint(200, 3000)
        if is_late:
            read, written = 0, read + written
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": 90,
        }
        blocks: list[dict[str, object]] = [
            {"type": "text", "text": text(chance, 40)},
            {"type": "tool_use", "id": f"t{number}-{index}", "name": "Tool1", "input": {"path": "a.py"}},
        ]
        read += written
        for block in blocks:
            message = {
                "id": f"m{number}-{index}",
                "role": "assistant",
                "model": "claude-opus-5-5",
                "content": [block],
                "usage": usage,
            }
            rows.append(row("assistant", message=message, requestId=f"r{number}-{index}"))
    return rows


if __name__ == "__main__":
    sys.exit(main())
