"""What the readers of simple logs share: rows one after the other, requests in order, and what they are made of."""

from __future__ import annotations

import os
import re

from ..chains import ENDLESS, MOST_PARTS, has_dropped
from ..pages import PagedTable
from ..values import Event, LoggedRequest, SessionLog
from .composing import Composer
from .lines import ROW_END
from .rows import CUT, DAMAGE, MANY_PARTS, MOST_PARTS_OF_LOG, UNEXPECTED, note_unknown, parse_row, parse_time, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..values import LogPart, TokenCounts
    from .lines import LogFile
    from .rows import Texts


class JsonLog:
    """The state of reading one log. A subclass has a method `_row` for rows; it calls `_unknown` for those that it does not know.

    Most of a log are rows that do not have to be parsed, which a subclass describes by patterns for the beginning of their lines: `unread`
    for rows that are not needed at all, `text_rows` for those without figures, and `file_rows` for those with instruction files.
    """

    agent = ""
    unread = text_rows = file_rows = re.compile(rb"(?!)")  # matches nothing

    def __init__(self, path: str, texts: Texts) -> None:
        self.path, self.texts = path, texts
        self.session = self.version = self.cwd = self.branch = self.model = self.row_id = ""
        self.time = self.sent = 0.0
        self.composer = Composer([texts.part("unknown", "")])
        self.requests: PagedTable[LoggedRequest] = PagedTable()
        self.events: list[Event] = []
        self.problems: dict[tuple[str, str], None] = {}
        self.has_dropped = False
        self._last: dict[str, LoggedRequest] = {}
        self._parts_left = MOST_PARTS_OF_LOG

    def read(self, file: LogFile) -> SessionLog:
        """Read all rows."""
        unread = self.unread
        for line in file.lines():
            if not line.endswith(ROW_END) or not unread.match(line):
                self._line(line)
        return self.log()

    def read_figures(self, file: LogFile) -> SessionLog | None:
        """Read the requests and their tokens, without what they were made of. None if that matters to the answers."""
        files, unread, text_rows = 0, self.unread, self.text_rows
        for line in file.lines():
            if line.endswith(ROW_END):
                if self.file_rows.match(line):
                    files += 1
                    if files > 1:  # a file may have changed
                        return None
                if unread.match(line) or text_rows.match(line):
                    continue
            self._line(line)
            if self.has_dropped or self.events:
                return None
        return self.log()

    def _line(self, line: bytes) -> None:
        row = parse_row(line)
        if row is not None:
            self.time = parse_time(row.get("timestamp")) or self.time
            self.row_id = string(row, "id", "uuid")
            self._guard(row)
        elif line.strip():
            self._note_damage(CUT)

    def _guard(self, row: dict[str, Any]) -> None:
        try:
            self._row(row)
        except DAMAGE:
            self._note_damage(UNEXPECTED)

    def _note_damage(self, about: str) -> None:
        self.problems["session-log-cut", about] = None
        self.sent = 0.0  # it may have been the message that the next request answers

    def _row(self, row: dict[str, Any]) -> None:
        raise NotImplementedError

    def _unknown(self, kind: object) -> None:
        note_unknown(self.problems, kind, self.version)

    def _event(self, kind: str, detail: str = "") -> None:
        self.events.append(Event(kind, "", self.time, len(self.requests), detail))

    def _request(
        self, key: str, tokens: TokenCounts, made: str = "estimated", identity: str = "", **fields: Any
    ) -> None:
        """Add the request that was just answered, unless it is already known or there is nothing in it.

        `identity` is what a copy of it in another log has too.
        """
        if key in self.requests or not tokens.input + tokens.out:
            return
        thread = fields.get("thread", "")
        if len(self.composer.parts) > MOST_PARTS:
            self.composer.stop()
            self.problems["session-log-cut", ENDLESS] = None
        is_composed = not thread and fields.get("kind", "turn") == "turn" and self._parts_left > 0
        is_composed = is_composed and not self.composer.is_stopped
        keep, tail = self.composer.request() if is_composed else (0, ())
        self._parts_left -= len(tail)
        known = {
            "thread": thread, "time": self.time, "sent": self.sent or self.time, "made": made if is_composed else "", **fields
        }  # fmt: skip
        request = LoggedRequest(
            identity or f"{self.session}|{key}", model=self.model, tokens=tokens, keep=keep, tail=tail, **known
        )
        self.requests.put(key, request)
        if request.kind == "turn":
            last = self._last.get(thread)
            self.has_dropped = self.has_dropped or (last is not None and has_dropped(request, last))
            self._last[thread] = request

    def log(self) -> SessionLog:
        """Return what was read."""
        if self._parts_left <= 0:
            self.problems["session-log-cut", MANY_PARTS] = None
        name = self.session or os.path.basename(self.path)
        return SessionLog(
            self.path, self.agent, name, self.version, self.cwd, self.branch, "", "", self.requests.values(),
            tuple(self.events), tuple(self.problems),
        )  # fmt: skip


def walk_files(folder: str, suffix: str) -> Iterator[str]:
    """Yield the files below a folder whose names end like this, sorted."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        yield from (os.path.join(parent, name) for name in sorted(files) if name.endswith(suffix))


def split_tagged(texts: Texts, text: str, pattern: str, rest: Iterable[str] = ()) -> list[LogPart] | None:
    """Return the parts of a text with files in it. The pattern's groups are the path and the file's text. None if it has no file."""
    return texts.divided(pattern, text, lambda: _split_tagged(texts, text, pattern, rest)) or None


def _split_tagged(texts: Texts, text: str, pattern: str, rest: Iterable[str]) -> list[LogPart]:
    parts: list[LogPart] = []
    position = 0
    for found in re.finditer(pattern, text, re.DOTALL):
        start, end = found.span("text")
        if start > position:
            parts.append(texts.part("prompt", text[position:start], "instructions"))
        parts.append(texts.part("file", found["text"], path=found["path"] or next(iter(rest), "")))
        position = end
    if parts and position < len(text):
        parts.append(texts.part("prompt", text[position:], "instructions"))
    return parts


def content_text(content: Any) -> str:
    """Return the texts in a message's content."""
    if isinstance(content, str):
        return content
    entries = content if isinstance(content, list) else []
    return "\n".join(text for entry in entries if (text := string(entry, "text")))
