"""Generate the logs of many sessions: copies of the golden logs of all programs, and long conversations of Claude Code.

The golden logs have each of a program's own texts as its length and hash. A copy has a text of this length in its place, so that rows are as
long as the program wrote them. Ids, times and models are others in each copy, so that no request is a copy of another one. In every third
conversation the cache collapses once, after a pause, so that the cause has to be found.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "tests/golden/sessions"
WORDS = "the request reads a file and checks every field before it answers with the result of the call".split()
# What differs between two copies of a log: ids, times and, where no digest depends on them, models.
_VARIED = re.compile(
    rb"(?P<id>[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\.jsonl$))"
    rb"|(?P<time>20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?=\.\d{3}Z))"
    rb'|(?P<model>(?<="model":")(?:peer|other|gemini)[\w.-]*)'
)
_REPLACED = re.compile(rb"\[(\d+) ([0-9a-f]{8})\]")
_MODELS = (b"gpt-5.6-terra", b"gpt-5.6-sol", b"gpt-5.6-luna", b"gemini-3-pro")
_STEP = 3001  # seconds between two copies


def write_logs(base: Path, size: int) -> int:
    """Write logs of about this size below `base/home`, half of them copies, and return how many sessions they are."""
    (base / "repo").mkdir(parents=True, exist_ok=True)
    copies = [copy for copy in map(_Copied, sorted(GOLDEN.iterdir())) if copy.files]
    return _write(
        base, size // 2, lambda number: (file for copy in copies for file in copy.files_of(number)), len(copies)
    ) + _write(base, size // 2, lambda number: [talk(number, base)], 1)


def _write(
    base: Path, size: int, make: Callable[[int], Iterator[tuple[str, bytes]] | list[tuple[str, bytes]]], sessions: int
) -> int:
    total = number = 0
    while total < size:
        number += 1
        for name, data in make(number):
            path = base / "home" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            total += len(data)
    return number * sessions


class _Copied:
    """The logs of a program, divided at what differs between two copies."""

    def __init__(self, folder: Path) -> None:
        home = folder / "home"
        self.files: list[tuple[list[tuple[str, bytes]], list[tuple[str, bytes]]]] = []
        for path in sorted(home.rglob("*.jsonl")):
            name = "/".join(re.sub("^_", ".", part) for part in path.relative_to(home).parts)
            self.files.append((_divide(name.encode()), _divide(_REPLACED.sub(_restore, path.read_bytes()))))

    def files_of(self, number: int) -> Iterator[tuple[str, bytes]]:
        """Yield the names and contents of one copy."""
        for name, data in self.files:
            yield _join(name, number).decode(), _join(data, number)


def _restore(replaced: re.Match[bytes]) -> bytes:
    """Return a text as long as the one that was replaced."""
    length = int(replaced[1])
    return text(random.Random(replaced[2]), length)[:length].encode()


def _divide(data: bytes) -> list[tuple[str, bytes]]:
    pieces, position = [], 0
    for found in _VARIED.finditer(data):
        pieces.append(("", data[position : found.start()]))
        pieces.append((str(found.lastgroup), found[0]))
        position = found.end()
    return [*pieces, ("", data[position:])]


def _join(pieces: list[tuple[str, bytes]], number: int) -> bytes:
    known: dict[tuple[str, bytes], bytes] = {}
    return b"".join(
        text if not kind else known.get((kind, text)) or known.setdefault((kind, text), _vary(kind, text, number))
        for kind, text in pieces
    )


def _vary(kind: str, text: bytes, number: int) -> bytes:
    if kind == "id":
        return f"{(int(text, 16) + number * 2654435761) % 16**8:08x}".encode()
    if kind == "model":
        return _MODELS[(number + len(text)) % len(_MODELS)]
    moment = datetime.fromisoformat(text.decode()).replace(tzinfo=UTC).timestamp() - number * _STEP
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()


# Long conversations


def talk(number: int, base: Path) -> tuple[str, bytes]:
    """Return the name and content of a long conversation of Claude Code.

    Rows are as long as in a session that a user described (docs/sessions.md): 2.3 kB for an answer, 7 kB for a result.
    """
    rows = talk_rows(number, base)
    data = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows).encode()
    return f".claude/projects/-repo/{number:08d}-0000-4000-8000-000000000000.jsonl", data


def text(chance: random.Random, words: int) -> str:
    return " ".join(chance.choices(WORDS, k=words))


class _Talk:
    """The rows of one conversation. Fields that say nothing about it are those of a golden log."""

    def __init__(self, number: int, base: Path) -> None:
        self.number, self.base = number, base
        self.chance = random.Random(number)
        self.now = 1_790_000_000 + number * 4000
        self.rows: list[dict[str, object]] = []

    def add(self, kind: str, **fields: object) -> None:
        """Add a row in the form of a golden one of the same type."""
        self.now += 3
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self.now))
        session = f"{self.number:08d}-0000-4000-8000-000000000000"
        known = {"timestamp": stamp, "sessionId": session, "version": "2.1.281", "cwd": str(self.base / "repo")}
        row = {**_model_row(kind), **known}
        result = fields.pop("toolUseResult", None)
        if result is None:
            self.rows.append({**row, **fields})
            return
        # The program logs a result twice: as it is sent and, after the time, as it is shown.
        names = list(row)
        end = names.index("timestamp") + 1
        shown = {name: row[name] for name in names[:end]} | fields | {"toolUseResult": result}
        self.rows.append(shown | {name: row[name] for name in names[end:]})

    def start(self) -> None:
        """Add the tools, the system prompt and the instructions, of which there are a few versions."""
        chance = random.Random(self.number % 5)
        tools = [
            {"name": f"Tool{index}", "description": text(chance, 60), "input_schema": {"type": "object"}}
            for index in range(15)
        ]
        self.add(
            "attachment", attachment={"type": "prompt_snapshot", "systemPrompt": [text(chance, 900)], "tools": tools}
        )
        content = text(chance, 500)
        files = [{"path": str(self.base / "repo/CLAUDE.md"), "type": "Project", "content": content}]
        rendered = [{"content": f"<system-reminder>\n{content}\n</system-reminder>"}]
        self.add("attachment", attachment={"type": "instructions", "files": files}, rendered=rendered)

    def turn(self, index: int, read: int, written: int) -> None:
        """Add a message or a result, and an answer with two blocks."""
        name = f"{self.number}-{index}"
        if index % 3:
            content = text(self.chance, self.chance.randint(40, 1700))
            result = {"type": "tool_result", "tool_use_id": f"t{self.number}-{index - 1}", "content": content}
            self.add("user", message={"role": "user", "content": [result]}, toolUseResult={"stdout": content})
        else:
            self.add("user", message={"role": "user", "content": text(self.chance, 30)})
        model_message = _model_row("assistant")["message"]
        usage = {**model_message["usage"], "input_tokens": 3, "output_tokens": 90}
        usage |= {"cache_creation_input_tokens": written, "cache_read_input_tokens": read}
        for block in (
            {"type": "text", "text": text(self.chance, 200)},
            {
                "type": "tool_use",
                "id": f"t{name}",
                "name": "Tool1",
                "input": {"path": "a.py", "text": text(self.chance, 200)},
            },
        ):
            message = {**model_message, "id": f"m{name}", "content": [block], "usage": usage}
            self.add("assistant", message=message, requestId=f"r{name}")


def write_long_log(base: Path, requests: int) -> None:
    """Write one conversation with this many requests, in short rows. It is compacted after each 200; each 50th reads nothing."""
    (base / "repo").mkdir(parents=True, exist_ok=True)
    session = "00000001-0000-4000-8000-000000000000"
    path = base / f"home/.claude/projects/-repo/{session}.jsonl"
    path.parent.mkdir(parents=True)
    talk = _Talk(1, base)
    talk.start()
    common = {"sessionId": session, "version": "2.1.281", "cwd": str(base / "repo")}
    read = 0
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in talk.rows)
        for index in range(requests):
            common["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_780_000_000 + 20 * index))
            user = {"role": "user", "content": f"Turn {index}."}
            usage = {"input_tokens": 3, "output_tokens": 900, "cache_creation_input_tokens": 2000}
            usage["cache_read_input_tokens"] = 0 if index % 50 == 49 else read
            block = {"type": "tool_use", "id": f"t{index}", "name": "Tool1", "input": {"path": "a.py"}}
            answer = {
                "id": f"m{index}",
                "role": "assistant",
                "model": "claude-opus-5-5",
                "content": [block],
                "usage": usage,
            }
            rows: list[dict[str, object]] = [
                {"type": "user", "uuid": f"u{index}", "message": user},
                {"type": "assistant", "uuid": f"a{index}", "requestId": f"r{index}", "message": answer},
            ]
            read += 2000
            if index % 200 == 199:
                rows.append({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto"}})
                read = 0
            file.writelines(json.dumps({**row, **common}, separators=(",", ":")) + "\n" for row in rows)


@cache
def _model_row(kind: str) -> dict[str, Any]:
    """Return a row of this type from the golden logs, without what only describes requests."""
    path = min((GOLDEN / "claude").rglob("projects/*/*.jsonl"), key=lambda path: -path.stat().st_size)
    row = next(row for row in map(json.loads, path.read_text().splitlines()) if row["type"] == kind)
    return {name: field for name, field in row.items() if name not in ("requestRef", "rendered", "renderedRole")}


def talk_rows(number: int, base: Path) -> list[dict[str, object]]:
    """Return the rows of one conversation. In every third, a pause is longer than the cache lasts."""
    talk = _Talk(number, base)
    talk.start()
    read = 0
    for index in range(talk.chance.randint(5, 35)):
        written = talk.chance.randint(200, 3000)
        if number % 3 == 0 and index == 5:
            talk.now += 600
            talk.turn(index, 0, read + written)
        else:
            talk.turn(index, read, written)
        read += written
    return talk.rows
