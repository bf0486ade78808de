"""Read the logs of pi: `agent/sessions/--SLUG--/TIME_ID.jsonl`. The system prompt is logged by section, and the tools when they are added."""

from __future__ import annotations

import os
import re

from ..values import TokenCounts
from .composing import split_clock
from .jsonl import JsonLog, content_text, split_tagged, walk_files
from .rows import NoTexts, json_text, number, own_cost, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..records import LogRecord
    from ..values import LogPart, SessionLog
    from .lines import LogFile
    from .rows import Texts

AGENT = "pi-agent"
TITLES = ("pi",)
PROVIDER = ""
NAMES_FILES = True  # the log has the path of every instruction file
SKIPPED = frozenset("thinking_level_change custom custom_message label session_info branch_summary".split())
# How a line with a message begins, up to its role.
_START = rb'\{"type":"message","id":"[^"]*","parentId":(?:"[^"]*"|null),"timestamp":"[^"]*","message":\{"role":"'
_FILE = r'<project_instructions path="(?P<path>[^"]*)">\n(?P<text>.*?)\n*</project_instructions>'


def find_logs(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of all logs."""
    base = environment.get("PI_CODING_AGENT_DIR") or os.path.join(home, ".pi", "agent")
    yield from walk_files(os.path.join(base, "sessions"), ".jsonl")


def read_log(file: LogFile, texts: Texts) -> SessionLog:
    """Read one log."""
    return _PiLog(file.path, texts).read(file)


def read_figures(file: LogFile, start: int = 0, known: LogRecord | None = None) -> SessionLog | None:
    """Return a log without what its requests were made of, or None if that matters or the log has grown."""
    return None if known else _PiLog(file.path, NoTexts()).read_figures(file)


class _PiLog(JsonLog):
    agent = AGENT
    text_rows = re.compile(_START + rb'(?:user|toolResult)"')
    file_rows = re.compile(_START + rb'system"')

    def __init__(self, path: str, texts: Texts) -> None:
        super().__init__(path, texts)
        self.session = os.path.basename(path).removesuffix(".jsonl").rpartition("_")[2]
        self.sections: dict[str, list[LogPart]] = {}
        self.tools: dict[str, LogPart] = {}
        # The rows are a tree: for each, the one before it, what it added to the conversation, and whether it replaced everything.
        self.tree: dict[str, tuple[str, list[LogPart], bool]] = {}
        self.last = ""

    def _row(self, row: dict[str, Any]) -> None:
        parent = string(row, "parentId")
        if parent != self.last and parent in self.tree:  # the user went back to an earlier message
            self.composer.restart(part for _, parts in self._branch(parent) for part in parts)
        count = len(self.composer.parts)
        self._add(row)
        if self.row_id and row.get("type") != "session":
            is_new = row.get("type") == "compaction"
            self.tree[self.row_id] = parent, self.composer.parts[0 if is_new else count :], is_new
            self.last = self.row_id

    def _branch(self, name: str) -> list[tuple[str, list[LogPart]]]:
        """Return the rows that lead to this one, with what each added."""
        found: list[tuple[str, list[LogPart]]] = []
        while name in self.tree and len(found) <= len(self.tree):
            parent, parts, is_new = self.tree[name]
            found.append((name, parts))
            name = "" if is_new else parent
        return found[::-1]

    def _compact(self, row: dict[str, Any]) -> None:
        """Replace the conversation by a summary and what came after the first row that is kept."""
        self._event("compaction", f"{string(row, 'id')}|{number(row, 'tokensBefore')}|")
        branch = self._branch(self.last)
        first = string(row, "firstKeptEntryId")
        start = next((index for index, (name, _) in enumerate(branch) if name == first), len(branch))
        kept = [part for _, parts in branch[start:] for part in parts]
        self.composer.restart([self.texts.part("summary", string(row, "summary")), *kept])

    def _add(self, row: dict[str, Any]) -> None:
        kind, message = row.get("type"), row.get("message")
        if kind == "session":
            self.session = string(row, "id") or self.session
            self.cwd = string(row, "cwd")
        elif kind == "model_change":
            self.model = string(row, "modelId") or self.model
        elif kind == "compaction":
            self._compact(row)
        elif kind == "message" and isinstance(message, dict):
            self._message(message)
        elif kind not in SKIPPED:
            self._unknown(kind)

    def _message(self, message: dict[str, Any]) -> None:
        role = string(message, "role")
        if role == "system":
            self._system(message)
        elif role == "assistant":
            self._answer(message)
        elif role == "toolResult":
            self.sent = self.time
            text = content_text(message.get("content"))
            self.composer.add([self.texts.part("result", text, string(message, "toolName"))])
        else:
            self.sent = self.time
            self.composer.add([self.texts.part("message", content_text(message.get("content")))])

    def _system(self, message: dict[str, Any]) -> None:
        sections, added = message.get("sections"), message.get("toolsAdded")
        for name, text in sections.items() if isinstance(sections, dict) else ():
            if isinstance(text, str):
                files = split_tagged(self.texts, text, _FILE)
                self.sections[name] = files if files else split_clock(self.texts, text, "system")
        for tool in added if isinstance(added, list) else ():
            name = string(tool, "name")
            self.tools[name] = self.texts.part("tool", json_text(tool), name)
        removed = message.get("toolsRemoved")
        for name in removed if isinstance(removed, list) else ():
            self.tools.pop(name if isinstance(name, str) else string(name, "name"), None)
        head = [part for parts in self.sections.values() for part in parts]
        self.composer.head = (*self.tools.values(), *head)

    def _answer(self, message: dict[str, Any]) -> None:
        usage = message.get("usage")
        self.model = string(message, "model") or self.model
        cost = usage.get("cost") if isinstance(usage, dict) else None
        own = own_cost(cost.get("total")) if isinstance(cost, dict) else None
        written = number(usage, "cacheWrite")
        tokens = TokenCounts(
            number(usage, "input"), written, number(usage, "cacheRead"), number(usage, "output"),
            min(number(usage, "cacheWrite1h"), written),
        )  # fmt: skip
        made = "rebuilt" if self.tools else "estimated"
        key = f"{self.row_id or len(self.requests)}|{string(message, 'responseId')}"
        identity = f"{key}|{self.time}" if self.row_id else ""
        self._request(key, tokens, made, identity, own_cost=own)
        parts = []
        content = message.get("content")
        for entry in content if isinstance(content, list) else ():
            name = string(entry, "name")
            text = string(entry, "text", "thinking") or json_text(
                entry.get("arguments") if isinstance(entry, dict) else entry
            )
            parts.append(self.texts.part("answer", text, name))
        self.composer.add(parts)
