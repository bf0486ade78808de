"""Read the logs of Copilot CLI: `session-state/ID/events.jsonl`.

The system prompt is logged whenever it changes, with the instruction files in it but without their paths. Of the tools only the number
and the tokens are logged. The usage of a compaction is in its own record. A file that was discovered later is logged by its name only,
so its size is that of the file as it is now.
"""

from __future__ import annotations

import os
import re

from ..values import LogPart, TokenCounts
from .composing import split_clock
from .jsonl import JsonLog, walk_files
from .rows import NoTexts, json_text, number, remember, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..records import LogRecord
    from ..values import SessionLog
    from .lines import LogFile
    from .rows import Texts

AGENT = "copilot"
TITLES = ("copilot-cli", "copilot cli")
PROVIDER = "openai"
SKIPPED = frozenset(
    "assistant.turn_start assistant.turn_end session.shutdown session.model_change session.info session.error session.warning"
    " session.compaction_start session.idle session.title_changed session.mode_changed session.import session.truncation"
    " session.context_changed tool.execution_start tool.execution_progress tool.user_requested subagent.started subagent.completed"
    " subagent.failed subagent.selected skill.invoked hook.start hook.end permission.requested permission.completed abort"
    " assistant.intent assistant.reasoning session.snapshot_rewind session.task_complete session.plan_changed"
    " session.workspace_file_changed session.handoff".split()
)
_INSTRUCTION = re.compile(r'<(?P<tag>(?:imported_)?custom_instruction)(?: source="(?P<path>[^"]*)")?[^>]*>\n?')
_HEAD, _MOST = 512, 1 << 20
_FOLDER = "-".join(("session", "state"))  # as one string it would look like the code of a finding
# The files that a custom instruction without a path can be, in the repository.
_NAMES = ("AGENTS.md", ".github/copilot-instructions.md", "CLAUDE.md", "GEMINI.md", ".claude/CLAUDE.md")


def find_logs(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of all logs."""
    base = environment.get("COPILOT_HOME") or os.path.join(home, ".copilot")
    yield from walk_files(os.path.join(base, _FOLDER), "events.jsonl")


def read_log(file: LogFile, texts: Texts) -> SessionLog:
    """Read one log."""
    return _CopilotLog(file.path, texts).read(file)


def read_figures(file: LogFile, start: int = 0, known: LogRecord | None = None) -> SessionLog | None:
    """Return a log without what its requests were made of, or None if that matters or the log has grown."""
    return None if known else _CopilotLog(file.path, NoTexts()).read_figures(file)


class _CopilotLog(JsonLog):
    agent = AGENT
    unread = re.compile(
        rb'\{"type":"(?:model\.|%s")' % b'"|'.join(kind.replace(".", r"\.").encode() for kind in sorted(SKIPPED))
    )
    text_rows = re.compile(rb'\{"type":"(?:user\.message|assistant\.message|tool\.execution_complete|system\.message)"')
    file_rows = re.compile(rb'\{"type":"system\.message"')

    def __init__(self, path: str, texts: Texts) -> None:
        super().__init__(path, texts)
        self.session = os.path.basename(os.path.dirname(path))
        self.root = ""
        self.discovered: dict[LogPart, None] = {}
        self.system: tuple[LogPart, ...] = ()
        self.tools: tuple[LogPart, ...] = (texts.part("unknown", ""),)
        self.calls: dict[str, str] = {}
        self._texts: dict[str, str] = {}  # of files as they are now

    def _row(self, row: dict[str, Any]) -> None:
        kind, data = row.get("type"), row.get("data")
        add = getattr(self, _ROWS.get(kind, ""), None) if isinstance(kind, str) else None
        if add is not None and isinstance(data, dict):
            add(data)
        elif kind not in SKIPPED and not str(kind).startswith("model."):
            self._unknown(kind)

    def _start(self, data: dict[str, Any]) -> None:
        place = data.get("context")
        self.version = string(data, "copilotVersion") or self.version
        self.cwd = self.cwd or string(place, "cwd")
        self.root = self.root or string(place, "gitRoot") or self.cwd
        self.branch = self.branch or string(place, "branch")

    def _resume(self, data: dict[str, Any]) -> None:
        self._start(data)
        if self.discovered:  # what was discovered in one process is not sent by the next
            for part in self.discovered:
                self._event("dropped", part.path)
            self.composer.restart(part for part in self.composer.parts if part not in self.discovered)
            self.discovered = {}

    def _system(self, data: dict[str, Any]) -> None:
        self.system = tuple(self._split_system(string(data, "content")))

    def _split_system(self, text: str) -> Iterator[LogPart]:
        position = count = 0
        while found := _INSTRUCTION.search(text, position):
            start, end = found.end(), text.find(f"</{found['tag']}>", found.end())
            if end < 0:
                break
            count += 1
            instruction = text[start:end].rstrip("\n")
            yield from split_clock(self.texts, text[position:start], "system")
            yield self.texts.part("file", instruction, path=found["path"] or self._path_of(instruction, count))
            position = start + len(instruction)
        yield from split_clock(self.texts, text[position:], "system")

    def _path_of(self, text: str, count: int) -> str:
        """Return the file that an instruction is: the only one in the repository that begins with the same line.

        If there is none, its number is its name, because two instructions are not two versions of one.
        """
        first = text.strip().split("\n", 1)[0]
        paths = [os.path.join(self.root, name) for name in _NAMES]
        found = [path for path in paths if first and self._text(path).lstrip().startswith(first[:_HEAD])]
        return found[0] if len(found) == 1 else f"custom instruction {count}"

    def _text(self, path: str) -> str:
        """Return the beginning of a file, which is read once for each log."""
        if path not in self._texts:
            self._texts[path] = _read(path)
        return self._texts[path]

    def _user(self, data: dict[str, Any]) -> None:
        self.sent = self.time
        text = string(data, "transformedContent", "content")
        clock = re.match(r"<current_datetime>[^<]*</current_datetime>\s*", text)
        parts = [self.texts.part("clock", clock[0])] if clock else []
        self.composer.add([*parts, self.texts.part("message", text[clock.end() if clock else 0 :])])

    def _answer(self, data: dict[str, Any]) -> None:
        parts = [self.texts.part("answer", string(data, "content"))] if string(data, "content") else []
        calls = data.get("toolRequests")
        for call in calls if isinstance(calls, list) else ():
            remember(self.calls, string(call, "toolCallId"), string(call, "name"))
            parts.append(self.texts.part("answer", json_text(call.get("arguments")), string(call, "name")))
        if not string(data, "parentToolCallId"):
            self.composer.add(parts)

    def _result(self, data: dict[str, Any]) -> None:
        self.sent = self.time
        result = data.get("result")
        text = string(result, "content") or json_text(result)
        if not string(data, "parentToolCallId"):
            self.composer.add([self.texts.part("result", text, self.calls.get(string(data, "toolCallId"), ""))])

    def _notice(self, data: dict[str, Any]) -> None:
        kind = data.get("kind")
        if not isinstance(kind, dict) or kind.get("type") != "instruction_discovered":
            return
        path = os.path.join(self.root, string(kind, "sourcePath"))
        part = self.texts.part("file", self._text(path), path=path)._replace(hash=f"discovered {path}")
        self.discovered[part] = None
        self._event("discovered", path)
        self.composer.add([part])

    def _usage(self, data: dict[str, Any]) -> None:
        usage = data.get("usage")
        self.model = string(usage, "model") or self.model
        count = number(usage, "availableToolCount")
        if count:
            self.tools = (LogPart("tool", f"{count} tools", "", str(count), 4 * number(usage, "toolTokenCount")),)
        self.composer.head = (*self.tools, *self.system)
        source = string(usage.get("accounting") if isinstance(usage, dict) else None, "sourceSessionId")
        thread = source if source and source != self.session else string(usage, "parentToolCallId")
        self._request(
            string(usage, "apiCallId") or self.row_id or str(len(self.requests)), _tokens(usage), thread=thread
        )

    def _compaction(self, data: dict[str, Any]) -> None:
        usage = data.get("compactionTokensUsed")
        self.model = string(usage, "model") or self.model
        self._request(f"compaction {self.row_id or len(self.requests)}", _tokens(usage), kind="compaction")
        if data.get("success") is not False:
            self._event(
                "compaction", f"{len(self.events)}|{number(data, 'preCompactionTokens')}|{string(data, 'trigger')}"
            )
            self.composer.restart([self.texts.part("summary", string(data, "summaryContent"))])


_ROWS = {
    "session.start": "_start",
    "session.resume": "_resume",
    "system.message": "_system",
    "user.message": "_user",
    "assistant.message": "_answer",
    "tool.execution_complete": "_result",
    "system.notification": "_notice",
    "session.usage_record": "_usage",
    "session.compaction_complete": "_compaction",
}


def _tokens(usage: Any) -> TokenCounts:
    total = number(usage, "inputTokens")
    read = min(number(usage, "cacheReadTokens"), total)
    written = min(number(usage, "cacheWriteTokens"), total - read)
    return TokenCounts(total - read - written, written, read, number(usage, "outputTokens"))


def _read(path: str) -> str:
    """Return the beginning of a file's text, or empty if it cannot be read."""
    from .lines import read_beginning

    return read_beginning(path, _MOST).decode("utf-8", "replace")
