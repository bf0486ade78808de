"""Reduce the logs of scripted sessions to what the tests need: the programs' own texts are replaced by their length and hash."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

from .metered import Metered

GOLDEN = Path(__file__).parents[1] / "tests/golden/sessions"
_SHORT = 24
_UNNEEDED = ("requestDigest", "osVersion", "toolUseResult")
# Texts of the script; what is between them is the program's own.
_OURS = re.compile(
    r"(?:- (?:API rule|Rule) \d+: [^\n]*\n?)+|- New rule: [^\n]*\n?|\[\[call .*?\]\]|(?:\d*\t?x = 1\n?)+", re.DOTALL
)


def write_golden(name: str, version: str, base: str, requests: list[Metered], causes: list[str]) -> None:
    """Write the reduced logs of a program, and what the provider recorded."""
    folder = GOLDEN / name
    shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(Path(base, "home").rglob("*.jsonl")):
        if path.name == "usage_record.jsonl" or "cache" in path.parts:
            continue
        # Without the dots, other tools do not take these folders for settings of this repository.
        names = [re.sub(r"^\.", "_", part) for part in path.relative_to(Path(base, "home")).parts]
        target = Path(folder, "home", *names)
        target.parent.mkdir(parents=True, exist_ok=True)
        rows = (json.loads(line) for line in path.read_text().splitlines())
        texts = [
            json.dumps(reduce(row), ensure_ascii=False, separators=(",", ":")) for row in rows
        ]  # as the programs do
        target.write_text("".join(text + "\n" for text in texts))
    database = Path(base, "home/.local/share/opencode/opencode.db")
    if database.exists():
        _write_database(database, folder / "opencode.sql")
    kinds = ("fresh", "written", "read", "out")
    recorded = [
        {
            "model": row.model,
            "tools": len(row.body.get("tools") or []),
            **{kind: getattr(row.metering, kind) for kind in kinds},
        }
        for row in requests
    ]
    expected = {
        "program": name,
        "version": version,
        "cwd": os.path.join(base, "repo"),
        "requests": recorded,
        "causes": causes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def copy_golden(name: str, home: Path) -> None:
    """Copy the reduced logs of a program into a home directory, where the program would have written them."""
    source = GOLDEN / name / "home"
    for path in source.rglob("*.jsonl"):
        target = home.joinpath(*(re.sub(r"^_", ".", part) for part in path.relative_to(source).parts))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def reduce(content: Any) -> Any:
    """Return content in which the programs' own texts are replaced."""
    if isinstance(content, dict):
        return {key: reduce(field) for key, field in content.items() if key not in _UNNEEDED}
    if isinstance(content, list):
        return [reduce(entry) for entry in content]
    return reduce_text(content) if isinstance(content, str) else content


def reduce_text(text: str) -> str:
    """Return a text with every long stretch that is not the script's replaced by its length and hash. Tags and paths stay."""
    text = re.sub(r"\bLinux \d[\w.+-]*", "Linux", text)
    if len(text) <= _SHORT or re.fullmatch(r"[\w.:/|=+#-]+", text):
        return text
    parts, position = [], 0
    for found in _OURS.finditer(text):
        parts += [_own(text[position : found.start()]), found[0]]
        position = found.end()
    return "".join([*parts, _own(text[position:])])


def _own(text: str) -> str:
    lines = [_line(line) for line in re.split(r"(\n)", text)]
    return "".join(lines)


def _line(line: str) -> str:
    is_kept = len(line) <= _SHORT or re.match(
        r"""\s*</?[\w-]+(?: [\w-]+(?:="[^"]*")?)*>\s*$|--- |Contents of |# AGENTS|# Rules|# API""", line
    )
    return line if is_kept else f"[{len(line)} {sha256(line.encode()).hexdigest()[:8]}]"


def _write_database(source: Path, target: Path) -> None:
    """Write the tables that the reader uses as SQL."""
    lines = []
    with sqlite3.connect(source) as connection:
        for table, columns in (
            ("session", ("id", "parent_id", "directory", "version", "time_updated")),
            ("message", ("id", "session_id", "time_created", "time_updated", "data")),
            ("part", ("id", "message_id", "session_id", "time_created", "time_updated", "data")),
        ):
            lines.append(f"CREATE TABLE {table} ({', '.join(columns)});")
            for row in connection.execute(f"SELECT {', '.join(columns)} FROM {table}"):
                values = [
                    json.dumps(reduce(json.loads(cell))) if name == "data" else cell
                    for name, cell in zip(columns, row, strict=True)
                ]
                quoted = ["NULL" if cell is None else "'" + str(cell).replace("'", "''") + "'" for cell in values]
                lines.append(f"INSERT INTO {table} VALUES ({', '.join(quoted)});")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n")
