"""Read the logs of Qwen Code: `projects/SLUG/chats/ID.jsonl`.

The rows `ui_telemetry` have the usage of every request, also of the program's own; the answers' rows do not. The system prompt, the tools
and the instruction files are not logged.
"""

from __future__ import annotations

import os

from ..values import TokenCounts
from .jsonl import JsonLog, walk_files
from .rows import NoTexts, json_text, number, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..records import LogRecord
    from ..values import LogPart, SessionLog
    from .lines import LogFile
    from .rows import Texts

AGENT = "qwen"
TITLES = ("qwen-code", "qwen code")
PROVIDER = ""
_KINDS = {"user": "message", "assistant": "answer", "tool_result": "result"}


def find_logs(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of all logs."""
    base = environment.get("QWEN_HOME") or os.path.join(home, ".qwen")
    files = walk_files(os.path.join(base, "projects"), ".jsonl")
    yield from (path for path in files if os.path.basename(os.path.dirname(path)) == "chats")


def read_log(file: LogFile, texts: Texts) -> SessionLog:
    """Read one log."""
    return _QwenLog(file.path, texts).read(file)


def read_figures(file: LogFile, start: int = 0, known: LogRecord | None = None) -> SessionLog | None:
    """Return a log without what its requests were made of, or None if that matters or the log has grown."""
    return None if known else _QwenLog(file.path, NoTexts()).read_figures(file)


class _QwenLog(JsonLog):
    agent = AGENT

    def __init__(self, path: str, texts: Texts) -> None:
        super().__init__(path, texts)
        self.session = os.path.basename(path).removesuffix(".jsonl")

    def _row(self, row: dict[str, Any]) -> None:
        self.cwd = self.cwd or string(row, "cwd")
        self.branch = self.branch or string(row, "gitBranch")
        self.version = string(row, "version") or self.version
        kind = string(row, "type")
        if kind in _KINDS:
            self._message(row, _KINDS[kind])
        elif kind == "system":
            self._system(row)
        else:
            self._unknown(kind)

    def _message(self, row: dict[str, Any], kind: str) -> None:
        message = row.get("message")
        content = message.get("parts") if isinstance(message, dict) else None
        parts: list[LogPart] = []
        for entry in content if isinstance(content, list) else ():
            called = entry.get("functionResponse") or entry.get("functionCall") if isinstance(entry, dict) else None
            parts.append(self.texts.part(kind, string(entry, "text") or json_text(entry), string(called, "name")))
        if kind != "answer":
            self.sent = self.time
        self.composer.add(parts)

    def _system(self, row: dict[str, Any]) -> None:
        payload = row.get("systemPayload")
        event = payload.get("uiEvent") if isinstance(payload, dict) else None
        if row.get("subtype") == "chat_compression":
            self._event("compaction", f"{string(row, 'uuid')}||")
            self.composer.restart([])
        if not isinstance(event, dict) or event.get("event.name") != "qwen-code.api_response":
            return
        self.model = string(event, "model") or self.model
        total = number(event, "input_token_count")
        read = min(number(event, "cached_content_token_count"), total)
        out = number(event, "output_token_count")
        tokens = TokenCounts(total - read, 0, read, out)
        prompt = string(event, "prompt_id").partition("########")[0]
        thread = "" if not prompt or prompt == self.session else prompt.partition("-")[0] + " (the program's own)"
        kind = "side" if thread else "turn"
        key = string(event, "response_id") or self.row_id
        identity = f"{key}|{self.time}" if key else ""
        self._request(key or str(len(self.requests)), tokens, identity=identity, thread=thread, kind=kind)
