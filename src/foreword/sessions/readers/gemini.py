"""Read the logs of Gemini CLI: `tmp/PROJECT/chats/session-TIME-ID.jsonl`.

An answer is written again with the same id when its tools have run, and a resumed session repeats its history in `$set`. The system
prompt and the tools are not logged; the instruction files are, in the first message.
"""

from __future__ import annotations

import os
import re

from ..values import TokenCounts
from .composing import split_clock
from .jsonl import JsonLog, split_tagged, walk_files
from .lines import read_beginning
from .rows import NoTexts, json_text, number, parse_row, parse_time, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..records import LogRecord
    from ..values import LogPart, SessionLog
    from .lines import LogFile
    from .rows import Texts

AGENT = "gemini"
TITLES = ("gemini-cli", "gemini cli")
PROVIDER = "gemini"
NAMES_FILES = True  # the log has the path of every instruction file
_MOST = 4 << 20
SKIPPED = frozenset(("info", "warning", "error"))
_FILE = r"--- Context from: (?P<path>[^\n]*?) ---\n(?P<text>.*?)\n--- End of Context from: [^\n]*? ---"
_FOLDER = re.compile(r"Workspace Directories:\*\*\n\s*- (.+)")


def find_logs(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of all logs."""
    base = environment.get("GEMINI_CLI_HOME") or home
    folder = os.path.join(base, ".gemini", "tmp")
    yield from (path for path in walk_files(folder, ".jsonl") if os.path.basename(os.path.dirname(path)) == "chats")


def read_log(file: LogFile, texts: Texts) -> SessionLog:
    """Read one log."""
    return _GeminiLog(file.path, texts).read(file)


def read_figures(file: LogFile, start: int = 0, known: LogRecord | None = None) -> SessionLog | None:
    """Return a log without what its requests were made of, or None if that matters or the log has grown."""
    return None if known else _GeminiLog(file.path, NoTexts()).read_figures(file)


class _GeminiLog(JsonLog):
    agent = AGENT

    def __init__(self, path: str, texts: Texts) -> None:
        super().__init__(path, texts)
        self.rows: dict[tuple[str, str], list[LogPart]] = {}

    def _row(self, row: dict[str, Any]) -> None:
        changes = row.get("$set")
        if isinstance(changes, dict):
            if isinstance(changes.get("messages"), list):
                self._replace_history([row for row in changes["messages"] if isinstance(row, dict)])
        elif "type" in row:
            self._message(row)
        elif string(row, "sessionId"):
            self.session = string(row, "sessionId")

    def _replace_history(self, messages: list[dict[str, Any]]) -> None:
        """Read a list of all messages. Those that are no longer in it are not sent any more."""
        for message in messages:
            self._message(message)
        known = [_key_of(message) for message in messages]
        self.rows = {key: self.rows[key] for key in known if key in self.rows}

    def _message(self, row: dict[str, Any]) -> None:
        kind, key = string(row, "type"), _key_of(row)
        time = parse_time(row.get("timestamp"))
        if kind == "user":
            self.sent = time or self.sent
            self._put(key, self._content(row.get("content"), "message"))
        elif kind == "gemini":
            self._answer(row, key, time)
        elif kind not in SKIPPED:
            self._unknown(kind)

    def _answer(self, row: dict[str, Any], key: tuple[str, str], time: float) -> None:
        usage = row.get("tokens")
        if key[0] not in self.requests and isinstance(usage, dict):
            self.model = string(row, "model") or self.model
            before = (parts for known, parts in self.rows.items() if known != key)
            self.composer.restart(part for parts in before for part in parts)
            self._request(key[0], _tokens(usage), identity=key[0], time=time or self.time)
        calls = row.get("toolCalls")
        parts = self._content(row.get("content"), "answer")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                parts.append(self.texts.part("answer", json_text(call.get("args")), string(call, "name")))
        if key not in self.rows or len(parts) > len(self.rows[key]):
            self._put(key, parts)

    def _put(self, key: tuple[str, str], parts: list[LogPart]) -> None:
        self.rows[key] = parts

    def _content(self, content: Any, kind: str) -> list[LogPart]:
        entries = [{"text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
        parts: list[LogPart] = []
        for entry in entries:
            text = string(entry, "text")
            response = entry.get("functionResponse") if isinstance(entry, dict) else None
            if isinstance(response, dict):
                output = string(response.get("response"), "output") or json_text(response.get("response"))
                found = split_tagged(self.texts, output, _FILE)
                parts += found or [self.texts.part("result", output, string(response, "name"))]
            elif text:
                parts += self._text(text, kind)
        return parts

    def _text(self, text: str, kind: str) -> list[LogPart]:
        if kind == "answer" or not text.startswith("<session_context>"):
            return [self.texts.part(kind, text)]
        if not self.cwd and (folder := _FOLDER.search(text)):
            self.cwd = folder[1].strip()
        parts: list[LogPart] = []
        for part in split_tagged(self.texts, text, _FILE) or [self.texts.part("prompt", text, "session_context")]:
            parts.append(part)
        start = text.find("--- Context from: ")
        before = text[: start if start >= 0 else len(text)]
        return [*split_clock(self.texts, before, "session_context"), *(parts[1:] if start >= 0 else ())]

    def log(self) -> SessionLog:
        found = super().log()
        return found if found.cwd else found._replace(cwd=_project_folder(self.path))


def _key_of(row: dict[str, Any]) -> tuple[str, str]:
    return string(row, "id"), string(row, "type")


def _project_folder(path: str) -> str:
    """Return the folder of a log's project, from the program's list of projects, or empty."""
    project = os.path.dirname(os.path.dirname(path))
    known = parse_row(read_beginning(os.path.join(os.path.dirname(os.path.dirname(project)), "projects.json"), _MOST))
    projects = known.get("projects") if known else None
    name = os.path.basename(project)
    return (
        next((folder for folder, short in projects.items() if short == name), "") if isinstance(projects, dict) else ""
    )


def _tokens(usage: dict[str, Any]) -> TokenCounts:
    total = number(usage, "input") + number(usage, "tool")
    read = min(number(usage, "cached"), total)
    return TokenCounts(total - read, 0, read, number(usage, "output") + number(usage, "thoughts"))
