"""Read the logs of Claude Code: `projects/SLUG/SESSION.jsonl`, and one file per sub-agent in `SESSION/subagents/`.

Versions from 2.1.282 log every request by hash, so that it can be rebuilt exactly. For older ones the request is put together from the
rows before it. A row is written for each block of an answer, all with the same usage.
"""

from __future__ import annotations

import os

from ..chains import ENDLESS, MOST_PARTS, common
from .claude_figures import UNREAD_START, ClaudeFigures, answer_of, is_unread, read_figures
from .claude_parts import PartMaker
from .claude_requests import Rebuilder, request_text, sha
from .rows import Texts, hash_of, json_text, number, parse_row, parse_row_sharing, remember, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..values import LogPart, SessionLog
    from .lines import LogFile

__all__ = ["AGENT", "NAMES_FILES", "PROVIDER", "TITLES", "find_logs", "read_figures", "read_log"]

AGENT = ClaudeFigures.agent
PROVIDER = "anthropic"
NAMES_FILES = True  # the log has the path of every instruction file
TITLES = ("claude-code", "claude code")
_FIRST_DESCRIBING = (2, 1, 282)
# Rows with a large part that many rows have in common, and what a row contains only for the program's own display.
_SNAPSHOT, _SHAPE, _SHOWN = (
    b'"attachment":{"type":"prompt_snapshot"',
    b'{"type":"api-request-shape"',
    b',"toolUseResult":',
)
_LARGE = 2048
_MOST_PROVED = 64 << 20  # bytes of requests, each of which contains the ones before it
_SETTINGS = ("thinking", "tool_choice", "output_config", "context_management")


def find_logs(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of all logs."""
    folder = os.path.join(environment.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"), "projects")
    for slug in _entries(folder):
        for name in _entries(os.path.join(folder, slug)):
            path = os.path.join(folder, slug, name)
            if name.endswith(".jsonl"):
                yield path
            else:
                below = os.path.join(path, "subagents")
                yield from (os.path.join(below, entry) for entry in _entries(below) if entry.endswith(".jsonl"))


def _entries(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def read_log(file: LogFile, texts: Texts) -> SessionLog:
    """Read one log."""
    reader = _ClaudeLog(file.path, texts)
    for line in file.lines():
        if not (line.startswith(UNREAD_START) and is_unread(line)):
            reader.add(line)
    return reader.log()


class _ClaudeLog(ClaudeFigures):
    """The state of reading one log with what its requests were made of."""

    def __init__(self, path: str, texts: Texts) -> None:
        super().__init__(path)
        self.maker = PartMaker(texts)
        self.rebuilder = Rebuilder(self.maker, keeps_messages=texts.wanted is not None)
        self.proofs: dict[str, bool] = {}
        self._to_prove = _MOST_PROVED
        self._describes = True
        # What was sent so far, for versions that do not log requests: the parts, and how many were in the previous request.
        self._context: dict[str, list[LogPart]] = {}
        self._snapshot: tuple[LogPart, ...] = ()
        self._snapshots: list[dict[str, Any]] = []  # those that were not needed so far
        self._sent: dict[str, int] = {}
        self._lengths: dict[str, int] = {}  # how many parts there were up to a row
        self._previous: dict[str, tuple[LogPart, ...]] = {}
        self._previous_hashes: dict[
            str, tuple[str, list[str], int]
        ] = {}  # shape, messages, and the number of their parts
        self._refs: dict[str, dict[str, Any]] = {}  # the last ones
        self._endless: set[str] = set()  # threads with more parts than a request can have

    def parse(self, line: bytes) -> dict[str, Any] | None:
        if (end := line.find(_SHOWN)) >= 0 and (row := self._without_shown(line, end)):
            return row
        if len(line) > _LARGE:
            if line.find(_SNAPSHOT, 0, _LARGE) >= 0:
                return parse_row_sharing(line, "attachment", b',"type":"attachment"')
            if line.startswith(_SHAPE):
                return parse_row_sharing(line, "shape", b"}")
        return parse_row(line)

    def _without_shown(self, line: bytes, end: int) -> dict[str, Any] | None:
        """Return a row without a tool's result as it is shown, which is logged beside the one that is sent.

        None if that cannot be left out, because something that counts may follow it.
        """
        version = f'"version":"{self.fields.get("version")}"'.encode("utf-8", "replace")
        if line.find(b'"agentId"', end) >= 0 or (line.find(b'"version"', end) >= 0 and line.find(version, end) < 0):
            return None
        row = parse_row(line[:end] + b"}")
        return row if row is not None and "timestamp" in row and "message" in row else None

    def _note_version(self, version: str) -> None:
        self._describes = _describes_requests(version)

    # The conversation

    def _add_user(self, row: dict[str, Any]) -> None:
        message = row.get("message")
        if not isinstance(message, dict):
            return
        self.sent_stamp = self.stamp
        is_summary = row.get("isCompactSummary") is True
        if self._describes:
            self.rebuilder.add_row("user", message, is_summary)
        if not self._refs:
            parts = self.maker.message(message, is_summary)
            if "result" not in [part.kind for part in parts]:
                self._rewind(row)
            self._extend(parts, row)

    def _rewind(self, row: dict[str, Any]) -> None:
        """Forget what was sent after the row that this one continues, if the user went back to it."""
        length = self._lengths.get(string(row, "parentUuid"))
        context = self._context.get(self.thread, ())
        if length is not None and length < min(len(context), self._sent.get(self.thread, 0)):
            self._context[self.thread] = list(context[:length])
            self._sent[self.thread] = length

    def _add_attachment(self, row: dict[str, Any]) -> None:
        attachment = row.get("attachment")
        if not isinstance(attachment, dict):
            return
        if attachment.get("type") == "prompt_snapshot":
            if not self._refs:
                self._snapshots.append(attachment)
            return
        parts = self.maker.attach(row)
        if attachment.get("type") == "instructions" and attachment.get("changed"):
            for path in dict.fromkeys(part.path for part in parts if part.kind == "file"):
                self.event("edited", path)
        if not self._refs:
            self._extend(parts, row)

    def _read_snapshots(self) -> None:
        """Note what comes before the conversation, if that has not been done. A later snapshot may leave out the tools."""
        for attachment in self._snapshots:
            parts = self.maker.shape(attachment)
            tools = [part for part in parts if part.kind == "tool"]
            known = tools or [part for part in self._snapshot if part.kind == "tool"]
            snapshot = (*known, *(part for part in parts if part.kind != "tool"))
            if parts and snapshot != self._snapshot:
                self._snapshot = snapshot
        self._snapshots.clear()

    def _extend(self, parts: tuple[LogPart, ...], row: dict[str, Any]) -> None:
        """Add the parts of a row to what will be sent."""
        if self.thread in self._endless:
            return
        context = self._context.get(self.thread)
        if context is None:
            context = self._context[self.thread] = []
        context.extend(parts)
        if isinstance(uuid := row.get("uuid"), str):
            self._lengths[uuid] = len(context)
        if len(context) > MOST_PARTS:
            self._endless.add(self.thread)
            self.problems["session-log-cut", ENDLESS] = None
            context.clear()
            self._lengths.clear()

    def _add_assistant(self, row: dict[str, Any]) -> None:
        message = answer_of(row)
        if message is None:
            return
        if self._describes:
            self.rebuilder.add_row("assistant", message, False)
        usage = message.get("usage")
        if isinstance(usage, dict):
            self.add_usage(row, message, usage)
        if "requestRef" not in row:
            self.rebuilder.forget_rows()
        if self._refs:
            self.maker.note_calls(message)
        else:
            self._extend(self.maker.message(message), row)

    def described(self, ref: str) -> dict[str, Any]:
        return self._refs.get(ref, {})

    def settings(self, described: dict[str, Any]) -> tuple[tuple[str, str], ...]:
        params = described.get("params")
        if not isinstance(params, dict):
            return ()
        return tuple((name, hash_of(json_text(params[name]))) for name in _SETTINGS if params.get(name) is not None)

    def composition(self, ref: str) -> tuple[int, tuple[LogPart, ...], str]:
        found = self.rebuilder.request(ref) if ref else None
        if found is None and self.thread in self._endless:
            return -1, (), ""
        if found is None:
            self._read_snapshots()
            return self._unlogged_composition("rebuilt" if self._snapshot and not ref else "estimated")
        shape_before, hashes_before, parts_before = self._previous_hashes.get(self.thread, ("", [], 0))
        shape_hash, hashes = found
        made = "rebuilt" if self.rebuilder.is_whole(hashes) else "estimated"
        count = common(hashes_before, hashes)
        kept = parts_before if count == len(hashes_before) else self.rebuilder.count_parts(hashes[:count])
        added = self.rebuilder.parts_of(hashes[count:])
        self._previous_hashes[self.thread] = shape_hash, hashes, kept + len(added)
        shape, old_shape = self.rebuilder.shapes[shape_hash], self.rebuilder.shapes.get(shape_before, ())
        same = common(old_shape, shape) if shape_hash != shape_before else len(shape)
        if self._previous.pop(self.thread, ()):  # the one before it was not described
            return -1, (*shape, *self.rebuilder.parts_of(hashes)), made
        if same < len(shape) or same < len(old_shape):
            return same, (*shape[same:], *self.rebuilder.parts_of(hashes)), made
        return len(shape) + kept, added, made

    def _unlogged_composition(self, made: str) -> tuple[int, tuple[LogPart, ...], str]:
        """Return the same for a request that the log does not describe: all rows before it."""
        head, context = self._snapshot or (_UNKNOWN,), self._context.setdefault(self.thread, [])
        count = self._sent.get(self.thread, 0)
        self._sent[self.thread] = len(context)
        before = self._previous.get(self.thread)
        if count and before is head:  # only rows were added
            return len(head) + count, tuple(context[count:]), made
        self._previous[self.thread] = head
        if before is None and self.thread in self._previous_hashes:
            return -1, (*head, *context), made
        keep = common(before or (), head)
        if keep == len(head) == len(before or ()):
            return keep + count, tuple(context[count:]), made
        return keep, (*head[keep:], *context), made

    # Events and sums

    def _add_system(self, row: dict[str, Any]) -> None:
        if row.get("subtype") == "compact_boundary":
            metadata = row.get("compactMetadata")
            self.event(
                "compaction", f"{string(row, 'uuid')}|{number(metadata, 'preTokens')}|{string(metadata, 'trigger')}"
            )
            self._context[self.thread] = []
            self._sent[self.thread] = 0
            self._lengths.clear()

    # The requests themselves

    def _add_shape(self, row: dict[str, Any]) -> None:
        if isinstance(row.get("shape"), dict):
            self.rebuilder.add_shape(str(row.get("shapeHash")), row["shape"])

    def _add_blob(self, row: dict[str, Any]) -> None:
        if isinstance(row.get("message"), dict):
            self.rebuilder.add_blob(str(row.get("hash")), row["message"])

    def _add_request(self, row: dict[str, Any]) -> None:
        if not self.rebuilder.add_request(row):
            return
        ref = str(row["id"])
        remember(self._refs, ref, {"timestamp": row.get("timestamp"), "params": row.get("params")})
        if self.rebuilder.messages is not None and isinstance(row.get("requestDigest"), str) and self._to_prove > 0:
            text = request_text(self.rebuilder, row)
            self._to_prove -= len(text)
            self.proofs[ref] = sha(text) == row["requestDigest"]
            if self._to_prove <= 0:
                self.rebuilder.messages = None

    def log(self) -> SessionLog:
        """Return what was read."""
        failed = sum(not proof for proof in self.proofs.values())
        if failed:
            self.problems["session-rebuild-differs", f"{failed} of {len(self.proofs)} requests"] = None
        return super().log()


_UNKNOWN = Texts().part("unknown", "")
_ClaudeLog.row_types = {
    "user": _ClaudeLog._add_user,
    "assistant": _ClaudeLog._add_assistant,
    "attachment": _ClaudeLog._add_attachment,
    "system": _ClaudeLog._add_system,
    "cost-state": _ClaudeLog.add_total,
    "api-request-shape": _ClaudeLog._add_shape,
    "api-request-blob": _ClaudeLog._add_blob,
    "api-request": _ClaudeLog._add_request,
}


def _describes_requests(version: str) -> bool:
    """Whether this version logs the requests that it sends. An unknown version may."""
    numbers = version.split(".")
    is_known = len(numbers) >= len(_FIRST_DESCRIBING) and all(number.isdecimal() for number in numbers[:3])
    return not is_known or tuple(map(int, numbers[:3])) >= _FIRST_DESCRIBING
