"""Writes small logs in the formats of released agents, and copies the golden ones."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "sessions"
START = 1_794_000_000


def stamp(seconds, start=START):
    from datetime import UTC, datetime

    return datetime.fromtimestamp(start + seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ClaudeLog:
    """A log of Claude Code, row by row. `tool` and `prompt` are what comes before the conversation."""

    def __init__(self, home, cwd, session="11111111-aaaa-4bbb-8ccc-222222222222", version="2.1.281", start=START):
        self.cwd, self.session, self.version, self.start = str(cwd), session, version, start
        slug = "".join(char if char.isalnum() else "-" for char in self.cwd)
        self.path = home / ".claude" / "projects" / slug / f"{session}.jsonl"
        self.time, self.count, self.rows = 0, 0, []

    def row(self, kind, **fields):
        common = {"sessionId": self.session, "version": self.version, "cwd": self.cwd, "gitBranch": "main"}
        self.rows.append(
            {"type": kind, "timestamp": stamp(self.time, self.start), "isSidechain": False, **common, **fields}
        )
        return self

    def snapshot(self, prompt="You are an agent. " * 40, tools=("Read", "Bash")):
        shapes = [{"name": name, "description": f"Use {name}. " * 30, "input_schema": {}} for name in tools]
        return self.row("attachment", attachment={"type": "prompt_snapshot", "systemPrompt": [prompt], "tools": shapes})

    def instructions(self, path, text):
        files = {"type": "instructions", "files": [{"path": str(path), "type": "Project", "content": text}]}
        rendered = [{"content": f"<system-reminder>\nContents of {path}:\n{text}\n</system-reminder>"}]
        return self.row("attachment", attachment=files, rendered=rendered)

    def user(self, text="go on", **fields):
        self.time += 1
        return self.row("user", message={"role": "user", "content": text}, **fields)

    def answer(self, fresh=0, written=0, read=0, out=7, model="claude-opus-5-5", blocks=1, seconds=1, **fields):
        """Add an answer with this usage, as one row for each block."""
        self.count += 1
        self.time += seconds
        usage = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": written,
            "cache_read_input_tokens": read,
            "output_tokens": out,
        }
        for index in range(blocks):
            content = [{"type": "text", "text": f"Block {index} of {self.count}."}]
            message = {
                "id": f"msg_{self.count}",
                "role": "assistant",
                "model": model,
                "content": content,
                "usage": usage,
            }
            self.row("assistant", message=message, requestId=f"req_{self.count}", **fields)
        return self

    def write(self, end="\n"):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(json.dumps(row) for row in self.rows) + end)
        return self.path


def codex_rows(cwd, session="019a1e94-b044-7521-beaa-426c32ed4af3"):
    """Return the first rows of a rollout."""
    meta = {"id": session, "session_id": session, "cwd": str(cwd), "cli_version": "0.166.0", "thread_source": "user"}
    meta |= {"base_instructions": {"text": "You are a coding agent. " * 100}}
    return [
        {"timestamp": stamp(0), "type": "session_meta", "payload": meta},
        {"timestamp": stamp(0), "type": "turn_context", "payload": {"model": "gpt-5.6-terra", "cwd": str(cwd)}},
    ]


def codex_item(text, role="user", seconds=1):
    kind = "output_text" if role == "assistant" else "input_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": stamp(seconds), "type": "response_item", "payload": payload}


def codex_usage(number, total, cached, out=7, seconds=2, **fields):
    """Return both rows in which a rollout has the usage of a request."""
    usage = {"input_tokens": total, "cached_input_tokens": cached, "output_tokens": out}
    record = {
        "response_id": f"resp_{number}",
        "thread_id": "t",
        "usage": usage,
        "thread_token_usage": {**usage, "input_tokens": 10**6},
    }
    info = {"last_token_usage": usage, "total_token_usage": {"input_tokens": number * 10**5}}
    return [
        {"timestamp": stamp(seconds), "type": "token_usage_record", "payload": record | fields},
        {"timestamp": stamp(seconds), "type": "event_msg", "payload": {"type": "token_count", "info": info}},
    ]


def write_codex(home, rows, session="019a1e94-b044-7521-beaa-426c32ed4af3"):
    path = home / ".codex" / "sessions" / "2026" / "11" / "06" / f"rollout-2026-11-06T20-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def restore(name, folder):
    """Copy the golden logs of a program into the home directory in this folder, and return that."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    for path in (GOLDEN / name).rglob("*.jsonl"):
        parts = path.relative_to(GOLDEN / name / "home").parts
        target = home.joinpath(*(re.sub("^_", ".", part) for part in parts))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    if (GOLDEN / name / "opencode.sql").exists():
        target = home / ".local" / "share" / "opencode" / "opencode.db"
        target.parent.mkdir(parents=True)
        with closing(sqlite3.connect(target)) as connection:
            connection.executescript((GOLDEN / name / "opencode.sql").read_text())
    return home
