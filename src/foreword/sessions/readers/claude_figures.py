"""Read the figures in a log of Claude Code: its requests with their tokens, without what they were made of.

Most of a log is text that says nothing about tokens. Such rows are recognised by a few words, and not parsed. Where the answer depends on
what the requests were made of, `read_figures` returns None, and the log has to be read as a whole.
"""

from __future__ import annotations

import os
import re
from types import MappingProxyType

from ..chains import cached_tokens, has_dropped
from ..pages import PagedTable, Pages
from ..values import Event, LoggedRequest, SessionLog, TokenCounts
from .claude_parts import instruction_files
from .lines import ROW_END
from .rows import (
    CUT,
    DAMAGE,
    MANY_PARTS,
    MOST_PARTS_OF_LOG,
    UNEXPECTED,
    note_unknown,
    number,
    own_cost,
    parse_row,
    parse_time,
    string,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..records import LogRecord
    from ..values import LogPart
    from .lines import LogFile

    AddRow = Callable[[Any, dict[str, Any]], None]

SYNTHETIC = "<synthetic>"
_NOTHING = (b"", b"", b"")
_FIELDS = ("sessionId", "cwd", "gitBranch")
_HOUR = 3600
# The types of rows that have no figures, and those of attachments that contain instruction files, as `instruction_files` knows them.
_TEXT_TYPES = (b'"type":"api-request-blob"', b'"type":"api-request-shape"', b'"type":"progress","data":')
_FILE_TYPES = (b'"instructions"', b'"nested_memory"', b'"edited_text_file"')
# Row types that say nothing about requests.
SKIPPED = frozenset(
    "queue-operation last-prompt mode atis-latch tools-used summary file-history-snapshot progress custom-title ai-title agent-name"
    " agent-color agent-setting tag pr-link permission-mode attribution-snapshot speculation-accept content-replacement worktree-state"
    " task-summary marble-origami-commit marble-origami-snapshot saved_hook_context turn_duration".split()
)
# The beginning of such rows, if they have no time either. There are several for each turn.
UNREAD_START = b'{"type":"'
_UNREAD = re.compile(UNREAD_START + rb'(?:mode|last-prompt|atis-latch|tools-used|file-history-snapshot)"')
# The names of a request's counts, and those of a total's, in the order of `TokenCounts`.
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_TOTALS = (
    "inputTokens",
    "cacheCreationInputTokens",
    "cacheReadInputTokens",
    "outputTokens",
    "cacheCreationEphemeral1hInputTokens",
)


class ClaudeFigures:
    """The state of reading one log. A subclass knows what the requests were made of, and which function adds a row of each type."""

    agent = "claude"
    # Functions, not methods of an object: an object that refers to itself would not be freed, because commands run without the collector.
    row_types: Mapping[str, AddRow] = MappingProxyType({})

    def __init__(self, path: str) -> None:
        self.path = path
        self.fields: dict[str, str] = {}
        self.requests: PagedTable[LoggedRequest] = PagedTable()
        self.events: list[Event] = []
        self.problems: dict[tuple[str, str], None] = {}
        self.totals: list[tuple[str, int, float, TokenCounts]] = []
        self.own_cost: float | None = None
        self.thread = ""
        self.sent_stamp: object = None
        self.stamp: object = None
        self._time: float | None = 0.0
        self._missing = list(_FIELDS)
        self._last_answer: tuple[object, ...] = ()
        self._parts_left = MOST_PARTS_OF_LOG

    @property
    def time(self) -> float:
        """The time of the last row that has one. Most are never asked for, so they are parsed here."""
        if self._time is None:
            self._time = parse_time(self.stamp)
        return self._time

    def add(self, line: bytes) -> None:
        """Add a line of the log."""
        row = self.parse(line)
        if row is None:
            if line.strip():
                self._note_damage(CUT)
            return
        kind = row.get("type")
        add = self.row_types.get(kind) if isinstance(kind, str) else None
        try:
            if add is not None:
                self._note(row)
                add(self, row)
            elif isinstance(kind, str) and kind in SKIPPED:
                self._note(row)
            else:
                note_unknown(self.problems, kind, row.get("version") or self.fields.get("version", ""))
        except DAMAGE:
            self._note_damage(UNEXPECTED)

    def _note_damage(self, about: str) -> None:
        self.problems["session-log-cut", about] = None
        self.sent_stamp = None  # it may have been the row of the user's that the next request answers

    def parse(self, line: bytes) -> dict[str, Any] | None:
        """Return the row in a line. What is never looked at may be left out."""
        return parse_row(line)

    def _note(self, row: dict[str, Any]) -> None:
        """Note what all rows have in common."""
        if (stamp := row.get("timestamp")) is not None:
            self.stamp, self._time = stamp, None
        if (version := row.get("version")) is not None and version != self.fields.get("version"):
            self.fields["version"] = str(version)
            self._note_version(self.fields["version"])
        if self._missing:
            self._note_fields(row)
        agent = row.get("agentId")
        if agent:
            self.thread = str(agent)
            self.fields.setdefault("agentId", self.thread)
        else:
            self.thread = "sidechain" if row.get("isSidechain") is True else ""

    def _note_fields(self, row: dict[str, Any]) -> None:
        for name in [name for name in self._missing if isinstance(row.get(name), str)]:
            self.fields[name] = row[name]
            self._missing.remove(name)

    def _note_version(self, version: str) -> None:
        pass

    # Usage

    def add_usage(self, row: dict[str, Any], message: dict[str, Any], usage: dict[str, Any]) -> None:
        """Add the request that this row answers. An answer has a row for each of its blocks."""
        answer = message.get("id"), row.get("requestId"), self.thread, usage
        if answer == self._last_answer:
            return
        self._last_answer = answer
        key = f"{message.get('id')}|{string(row, 'requestId')}|{self.thread}"
        known = self.requests.get(key)
        tokens = _tokens(usage)
        if known is not None:
            if tokens.out > known.tokens.out:  # the last row of an answer has its final usage
                self.requests.put(key, known._replace(tokens=tokens, time=self.time or known.time))
            return
        if not tokens.input + tokens.out:
            return  # the provider did not answer
        ref = string(row, "requestRef")
        keep, tail, made = self.composition(ref) if self._parts_left > 0 else (-1, (), "")
        self._parts_left -= len(tail)
        described = self.described(ref)
        is_long = row.get("promptCacheRequested") == "1h" or tokens.long > 0
        # The providers of tests may use an id more than once; a copy has the same time too.
        identity = f"{key}|{string(message, 'model')}|{row.get('timestamp')}"
        request = LoggedRequest(
            identity, self.thread, self.time, parse_time(described.get("timestamp") or self.sent_stamp) or self.time,
            string(message, "model"), tokens, "turn", "recorded", keep, tail, made, _HOUR if is_long else 0,
            self.settings(described), None, ref,
        )  # fmt: skip
        self.requests.put(key, request)

    def composition(self, ref: str) -> tuple[int, tuple[LogPart, ...], str]:
        """Return how many parts the request shares with the previous one of its thread, its other parts, and how they are known."""
        raise NotImplementedError

    def described(self, ref: str) -> dict[str, Any]:
        """Return the row that describes a request, or an empty one."""
        return {}

    def settings(self, described: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        """Return hashes of the arguments that affect the cache."""
        return ()

    # Events and sums

    def event(self, kind: str, detail: str) -> None:
        self.events.append(Event(kind, self.thread, self.time, len(self.requests), detail))

    def add_total(self, row: dict[str, Any]) -> None:
        """Add a sum that the program wrote."""
        usage = row.get("modelUsage")
        for model, counts in usage.items() if isinstance(usage, dict) else ():
            tokens = TokenCounts(*(number(counts, name) for name in _TOTALS))
            self.totals.append((model.removesuffix("[1m]"), len(self.requests), self.time, tokens))
        cost = own_cost(row.get("totalCostUSD"))
        if cost is not None and not row.get("hasUnknownModelCost"):
            self.own_cost = cost

    @property
    def is_sub_agent(self) -> bool:
        """Whether this is the log of a sub-agent. Older versions wrote it beside that of the session."""
        folder, name = os.path.split(self.path)
        return os.path.basename(folder) == "subagents" or name.startswith("agent-")

    def log(self) -> SessionLog:
        """Return what was read."""
        if self._parts_left <= 0:
            self.problems["session-log-cut", MANY_PARTS] = None
        fields, is_sub = self.fields, self.is_sub_agent
        folder, name = os.path.split(self.path)
        name = name.removesuffix(".jsonl")
        thread = (fields.get("agentId") or name.removeprefix("agent-")) if is_sub else ""
        session = name
        if is_sub:
            is_below = os.path.basename(folder) == "subagents"
            session = os.path.basename(os.path.dirname(folder)) if is_below else fields.get("sessionId", name)
        requests = self.requests.values()
        if is_sub:
            requests = Pages(request._replace(thread=thread) for request in requests).frozen()
        return SessionLog(
            self.path, self.agent, session, fields.get("version", ""), fields.get("cwd", ""), fields.get("gitBranch", ""),
            thread, "", requests, tuple(self.events), tuple(self.problems), tuple(self.totals), self.own_cost,
        )  # fmt: skip


def answer_of(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message in a row of type `assistant`, or None if it is a notice of the program's own."""
    message = row.get("message")
    if not isinstance(message, dict) or message.get("model") == SYNTHETIC or row.get("isApiErrorMessage") is True:
        return None
    return message


def _tokens(usage: dict[str, Any]) -> TokenCounts:
    fresh, written, read, out = [number(usage, name) for name in _USAGE]
    created = usage.get("cache_creation")
    long = min(number(created, "ephemeral_1h_input_tokens"), written) if created else 0
    return TokenCounts(fresh, written, read, out, long)


def is_unread(line: bytes) -> bool:
    """Whether the beginning of a line shows that its row says nothing at all."""
    return _UNREAD.match(line) is not None and line.endswith(ROW_END) and b'"timestamp"' not in line


def _contains(line: bytes, names: tuple[bytes, ...]) -> bool:
    for name in names:  # noqa: SIM110  faster than `any`
        if name in line:
            return True
    return False


def _quoted(name: object) -> bytes:
    return f'"{name}"'.encode("utf-8", "replace")


# Figures only


def read_figures(file: LogFile, start: int = 0, known: LogRecord | None = None) -> SessionLog | None:
    """Return a log without what its requests were made of, or None if that matters.

    `known` is what was read up to `start`, if the log has grown since.
    """
    figures = _FiguresOnly(file.path, known)
    for line in file.lines(start):
        if not (line.startswith(UNREAD_START) and is_unread(line)):
            figures.add(line)
            if figures.needs_parts:
                return None
    return figures.final()


class _FiguresOnly(ClaudeFigures):
    def __init__(self, path: str, known: LogRecord | None) -> None:
        super().__init__(path)
        self.needs_parts = False
        self._known = known
        self._files: set[str] = set()
        self._described: set[int] = set()  # hashes of the ids of requests, because there may be very many
        self._has_snapshot = False
        self._previous: LoggedRequest | None = None
        self._repeated = _NOTHING  # the usage and the ids that the next row of the same answer contains
        if known is not None:
            self._continue(known)

    def _continue(self, known: LogRecord) -> None:
        log = known.log
        fields = {"version": log.version, "cwd": log.cwd, "gitBranch": log.branch, "agentId": log.thread}
        self.fields = {name: text for name, text in fields.items() if text}
        self._missing = [name for name in _FIELDS if name not in self.fields]
        self.events, self.totals, self.own_cost = list(log.events), list(log.totals), log.own_cost
        self.problems = dict.fromkeys(log.problems)
        for entry in known.entries:
            key = entry.key.rsplit("|", 2)[0]
            request = LoggedRequest(
                entry.key, entry.thread, entry.time, entry.time, entry.model, entry.tokens, made=entry.made
            )
            self.requests.put(key, request)
            self._has_snapshot = entry.made == "rebuilt"

    def add(self, line: bytes) -> None:
        """Add a line, unless it is only text or repeats the usage of the line before it."""
        if not line.endswith(ROW_END):
            super().add(line)
        elif line.find(b'"type":"user"', 0, max(line.find(b'"message"'), 0)) >= 0:
            return
        elif (start := line.rfind(b'"usage"')) >= 0:
            if not self._repeats(line, start):
                super().add(line)
                self._note_repeated(line, start)
        elif b'"type":"attachment"' in line and not _contains(line, _FILE_TYPES):
            self._has_snapshot = self._has_snapshot or b'"prompt_snapshot"' in line
        elif not _contains(line, _TEXT_TYPES):
            super().add(line)

    def _repeats(self, line: bytes, start: int) -> bool:
        """Whether a line is another row of the answer that was added last, with the same usage."""
        usage, message, request = self._repeated
        return usage != b"" and line.startswith(usage, start) and message in line and request in line

    def _note_repeated(self, line: bytes, start: int) -> None:
        """Note the usage and the ids of the answer that was added last, as the line has them."""
        self._repeated = _NOTHING
        if self._last_answer:
            end = line.find(b"}", line.find(b'"output_tokens"', start))
            message, request = self._last_answer[:2]
            if start < end:
                self._repeated = line[start:end], _quoted(message), _quoted(request)

    def add_user(self, row: dict[str, Any]) -> None:
        """Nothing to do: a row of the user's has no figures."""

    def add_assistant(self, row: dict[str, Any]) -> None:
        message = answer_of(row)
        if message is not None and isinstance(usage := message.get("usage"), dict):
            # Without a time, that of the row before it counts, which may not have been parsed.
            self.needs_parts = self.needs_parts or "timestamp" not in row or bool(self.thread and not self.is_sub_agent)
            count = len(self.requests)
            self.add_usage(row, message, usage)
            if len(self.requests) > count:
                self._compare(self.requests.last())

    def _compare(self, request: LoggedRequest) -> None:
        """Note whether the cache may have collapsed, because the cause is in the parts."""
        previous, self._previous = self._previous, request
        if previous is not None and has_dropped(request, previous):
            self.needs_parts = self.needs_parts or cached_tokens(previous, "breakpoints") > request.tokens.read

    def add_attachment(self, row: dict[str, Any]) -> None:
        """Note the instruction files. One that is sent twice may have changed."""
        attachment = row.get("attachment")
        if not isinstance(attachment, dict):
            return
        self._has_snapshot = self._has_snapshot or attachment.get("type") == "prompt_snapshot"
        for path, _ in instruction_files(string(attachment, "type"), attachment):
            self.needs_parts = self.needs_parts or path in self._files or self._known is not None
            self._files.add(path)

    def add_system(self, row: dict[str, Any]) -> None:
        self.needs_parts = self.needs_parts or row.get("subtype") == "compact_boundary"

    def add_request(self, row: dict[str, Any]) -> None:
        if isinstance(row.get("id"), str):
            self._described.add(hash(row["id"]))

    def composition(self, ref: str) -> tuple[int, tuple[LogPart, ...], str]:
        is_rebuilt = hash(ref) in self._described if ref else self._has_snapshot
        return 0, (), "rebuilt" if is_rebuilt else "estimated"

    def final(self) -> SessionLog | None:
        """Return what was read. A sub-agent without instruction files is a finding, if that is certain."""
        is_bare = self.is_sub_agent and not self._files and self._known is None
        return None if self.needs_parts or is_bare else self.log()


_FiguresOnly.row_types = {
    "user": _FiguresOnly.add_user,
    "assistant": _FiguresOnly.add_assistant,
    "attachment": _FiguresOnly.add_attachment,
    "system": _FiguresOnly.add_system,
    "cost-state": _FiguresOnly.add_total,
    "api-request-shape": _FiguresOnly.add_user,
    "api-request-blob": _FiguresOnly.add_user,
    "api-request": _FiguresOnly.add_request,
}
