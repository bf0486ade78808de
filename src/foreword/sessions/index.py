"""Keep what each log was reduced to, so that a log is read again only if it has changed: sizes, times, token counts and hashes, no texts.

The index is an SQLite file in the user's cache folder that only the user can read. It can be deleted at any time. If it cannot be used,
everything works without it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from itertools import repeat

from .readers.lines import UnreadableLog, mark_end
from .records import Collapse, Entry, LogRecord
from .values import Event, LoggedRequest, LogPart, SessionLog, TokenCounts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")

# Raise this when a reader changes what it extracts.
VERSION = 7
_MOST_REQUESTS = 100_000
_TABLES = ("logs", "figures")
_SCHEMA = """CREATE TABLE IF NOT EXISTS {}
    (path TEXT PRIMARY KEY, stamp TEXT NOT NULL, content TEXT NOT NULL, mark TEXT NOT NULL DEFAULT '')"""


def index_path(home: str, environment: Mapping[str, str]) -> str:
    """Return the path of the index."""
    base = environment.get("XDG_CACHE_HOME") or ""
    folder = base if os.path.isabs(base) else os.path.join(home, ".cache")
    return os.path.join(folder, "foreword", f"sessions-{VERSION}.db")


class Index:
    """The index in a file, while it is open. Without a path nothing is kept."""

    def __init__(self, path: str = "") -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._count = 0

    def open(self) -> None:
        """Open the index. If it cannot be opened, nothing is found in it or kept."""
        if self._path:
            with suppress(OSError, sqlite3.Error):
                self._connection = _open(self._path)

    def find(self, path: str, stamp: str) -> SessionLog | None:
        """Return what was kept of a log, if the log has not changed."""
        return self._find("logs", path, stamp, decode_log)

    def find_record(self, path: str, stamp: str) -> LogRecord | None:
        """Return the figures that were kept of a log, if neither the log nor the rules have changed."""
        return self._find("figures", path, stamp, decode_record)

    def find_grown(self, path: str, stamp: str) -> tuple[int, LogRecord] | None:
        """Return the size and the figures that a log had before it grew, if growing is all that happened to it."""
        if self._connection is None:
            return None
        try:
            query = "SELECT stamp, mark, content FROM figures WHERE path = ?"
            row = self._connection.execute(query, (path,)).fetchone()
            if row is None or not row[1]:
                return None
            (old_size, _, *old), (new_size, _, *new) = row[0].split(" "), stamp.split(" ")
            size = int(old_size)
            if old != new or size >= int(new_size) or mark_end(path, size) != row[1]:
                return None
            return size, decode_record(json.loads(row[2]))
        except (sqlite3.Error, ValueError, TypeError, KeyError, IndexError):
            return None

    def keep(self, path: str, stamp: str, log: SessionLog) -> None:
        """Keep what a log was reduced to, unless it is too long to be stored at once."""
        if len(log.requests) <= _MOST_REQUESTS:
            self._keep("logs", path, stamp, log, encode_log)

    def keep_record(self, path: str, stamp: str, record: LogRecord, may_grow: bool = False) -> None:
        """Keep the figures of a log and, if it may be read from there when it has grown, how it ends."""
        if len(record.entries) > _MOST_REQUESTS:
            return
        mark = mark_end(path, int(stamp.split(" ")[0])) if may_grow and self._connection is not None else ""
        self._keep("figures", path, stamp, record, encode_record, mark)

    def _find(self, table: str, path: str, stamp: str, decode: Callable[[Any], T]) -> T | None:
        if self._connection is None:
            return None
        try:
            query = f"SELECT content FROM {table} WHERE path = ? AND stamp = ?"
            row = self._connection.execute(query, (path, stamp)).fetchone()
            return decode(json.loads(row[0])) if row else None
        except sqlite3.Error:  # it is locked or damaged, and waiting for each log would take hours
            self.close()
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            pass
        return None

    def _keep(self, table: str, path: str, stamp: str, content: T, encode: Callable[[T], Any], mark: str = "") -> None:
        if self._connection is None:
            return
        try:
            text = json.dumps(encode(content), separators=(",", ":"))
            self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", (path, stamp, text, mark))
            self._count += 1
            if self._count % 500 == 0:
                self._connection.commit()
        except sqlite3.Error:
            self.close()
        except ValueError:  # for example a path that is not valid UTF-8
            pass

    def close(self) -> None:
        """Save and close the index. What cannot be saved is read again next time."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        try:
            connection.commit()
        except sqlite3.Error:
            pass
        finally:
            connection.close()


def _open(path: str) -> sqlite3.Connection:
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    os.fchmod(descriptor, 0o600)
    os.close(descriptor)
    connection = sqlite3.connect(path, timeout=1)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        for table in _TABLES:
            connection.execute(_SCHEMA.format(table))
    except sqlite3.Error:  # for example because the file is not a database
        connection.close()
        raise
    return connection


def stamp_of(path: str) -> tuple[str, float]:
    """Return what changes when a file does, and when it was last changed. Raises an `UnreadableLog`."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise UnreadableLog(error.strerror or "cannot be examined") from None
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}", status.st_mtime


def size_in(stamp: str) -> int:
    """Return the size in a file's stamp, or 0 if it is not one of a file."""
    fields = stamp.split(" ")
    return int(fields[0]) if len(fields) == 3 else 0


# The stored form


def encode_log(log: SessionLog) -> list[Any]:
    """Return a log as lists. Each part is listed once, and requests refer to it by number."""
    numbers: dict[LogPart, int] = {}
    requests = [
        [
            *request[:5],
            list(request.tokens),
            *request[6:9],
            [numbers.setdefault(part, len(numbers)) for part in request.tail],
            *request[10:],
        ]
        for request in log.requests
    ]
    fields = [*log[:8], requests, *log[9:]]
    return [[list(part) for part in numbers], fields]


def decode_log(stored: list[Any]) -> SessionLog:
    """Return the log that these lists describe."""
    rows, fields = stored
    parts = [LogPart(*row) for row in rows]
    requests = tuple(
        LoggedRequest._make(
            [
                *row[:5],
                TokenCounts(*row[5]),
                *row[6:9],
                tuple(parts[number] for number in row[9]),
                *row[10:12],
                tuple((name, text) for name, text in row[12]),
                *row[13:],
            ]
        )
        for row in fields[8]
    )
    events = tuple(Event(*event) for event in fields[9])
    problems = tuple((code, about) for code, about in fields[10])
    totals = tuple((model, position, time, TokenCounts(*tokens)) for model, position, time, tokens in fields[11])
    return SessionLog._make([*fields[:8], requests, events, problems, totals, *fields[12:]])


def encode_record(record: LogRecord) -> list[Any]:
    """Return the figures of a log as lists, one for each field of its entries. A field that is always the same is listed once."""
    count = len(record.entries)
    columns = [list(column) for column in zip(*record.entries, strict=True)] or [[] for _ in Entry._fields]
    tokens = [_packed(column) for column in zip(*columns[_TOKENS], strict=True)]
    collapses = [[number, collapse] for number, collapse in enumerate(columns[_COLLAPSE]) if collapse is not None]
    others = [_packed(column) for index, column in enumerate(columns) if index not in (_TOKENS, _COLLAPSE)]
    return [encode_log(record.log), count, others, tokens, collapses]


def decode_record(stored: list[Any]) -> LogRecord:
    """Return the figures that these lists describe."""
    log, count, others, token_columns, collapse_rows = stored
    columns = [_unpacked(column, count) for column in others]
    counts = zip(*(_unpacked(column, count) for column in token_columns), strict=True)
    collapses: list[Collapse | None] = [None] * count
    for number, row in collapse_rows:
        collapses[number] = Collapse._make([*row[:8], TokenCounts(*row[8])])
    columns.insert(_TOKENS, map(TokenCounts._make, counts))
    columns.insert(_COLLAPSE, collapses)
    return LogRecord(decode_log(log), list(map(Entry._make, zip(*columns, strict=True))))


_TOKENS, _COLLAPSE = Entry._fields.index("tokens"), Entry._fields.index("collapse")


def _packed(column: Sequence[Any]) -> list[Any]:
    first = column[0] if column else None
    return [first] if column and column.count(first) == len(column) else list(column)


def _unpacked(column: list[Any], count: int) -> Iterable[Any]:
    return repeat(column[0], count) if len(column) == 1 else column
