"""Read the sessions of OpenCode, which are in an SQLite database: `opencode.db`.

Each session is treated as a log of its own, with the path `DATABASE#SESSION`. The request for a session's title is not recorded.
"""

from __future__ import annotations

import json
import os
import sqlite3

from ..values import TokenCounts
from .jsonl import JsonLog
from .lines import LONGEST, UnreadableLog, read_beginning
from .rows import CUT, DAMAGE, UNEXPECTED, json_text, number, own_cost, parse_time, string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..values import LogPart, SessionLog
    from .lines import LogFile
    from .rows import Texts

AGENT = "opencode"
TITLES = ("open-code",)
PROVIDER = ""
_MARK = "#"
_TABLES = ("session", "message", "part")
_WITH_LOG = b"\2\2"  # in the header of a database in which changes are written to a log first
# Data that is longer than a line may be is not read.
_DATA = f"SELECT {{}}, CASE WHEN length(data) <= {LONGEST} THEN data END FROM {{}} WHERE session_id = ? ORDER BY time_created, id"


def find_logs(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield a path for each session."""
    base = environment.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    path = os.path.join(base, "opencode", "opencode.db")
    if not os.path.isfile(path):
        return
    try:
        with _Database(path) as database:
            rows = database.rows("SELECT id FROM session ORDER BY id")
    except UnreadableLog:
        yield path  # reading it reports why
        return
    yield from (f"{path}{_MARK}{session}" for (session,) in rows)


def stamp_of(path: str) -> tuple[str, float]:
    """Return what changes when a session does, and when it was last changed."""
    file, _, session = path.rpartition(_MARK)
    try:
        with _Database(file or path) as database:
            [(changed, count)] = database.rows(
                "SELECT time_updated, (SELECT count(*) || '/' || max(time_updated) FROM message WHERE session_id = session.id)"
                " FROM session WHERE id = ?",
                session,
            )
    except ValueError:
        raise UnreadableLog("the session does not exist any more") from None
    return f"{changed} {count}", parse_time(changed)


def peek_cwd(path: str) -> str:
    """Return the folder of a session."""
    file, _, session = path.rpartition(_MARK)
    try:
        with _Database(file) as database:
            return str(database.rows("SELECT directory FROM session WHERE id = ?", session)[0][0])
    except (UnreadableLog, IndexError):
        return ""


def read_log(file: LogFile, texts: Texts) -> SessionLog:
    """Read one session."""
    return _OpenCodeLog(file.path, texts).read(file)


class _Database:
    """A database that is opened only for reading."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> _Database:
        from urllib.parse import quote

        options = "mode=ro&immutable=1" if self._is_at_rest() else "mode=ro"
        try:
            self._connection = sqlite3.connect(f"file:{quote(self._path)}?{options}", uri=True, timeout=1)
        except sqlite3.Error as error:
            raise UnreadableLog(str(error)) from None
        try:
            others = self.rows(
                "SELECT name, type FROM sqlite_master WHERE type <> 'table' AND name IN (?, ?, ?)", *_TABLES
            )
            if others:  # a view may have any number of rows
                raise UnreadableLog("{} is a {}, not a table".format(*others[0]))
        except UnreadableLog:
            self._connection.close()
            raise
        return self

    def _is_at_rest(self) -> bool:
        """Whether no program has the database open that keeps changes in a file beside it. Then SQLite need not create files there."""
        return read_beginning(self._path, 20)[18:] == _WITH_LOG and not os.path.lexists(f"{self._path}-wal")

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        return list(self.each(query, *values))

    def each(self, query: str, *values: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows without keeping them, because a session may be large."""
        try:
            yield from self._connection.execute(query, values)
        except sqlite3.Error as error:
            raise UnreadableLog(str(error)) from None


class _OpenCodeLog(JsonLog):
    agent = AGENT

    def read(self, file: LogFile) -> SessionLog:
        path, _, self.session = file.path.rpartition(_MARK)
        with _Database(path or file.path) as database:
            info = database.rows("SELECT directory, version, parent_id FROM session WHERE id = ?", self.session)
            messages: dict[str, dict[str, Any]] = {}
            parts: dict[str, list[LogPart]] = {}
            try:
                for key, data in database.each(_DATA.format("id", "message"), self.session):
                    messages[key] = self._parse(data)
                for key, data in database.each(_DATA.format("message_id", "part"), self.session):
                    kind = "answer" if messages.get(key, {}).get("role") == "assistant" else "message"
                    parts.setdefault(key, []).extend(self._parts(self._parse(data), kind))
            except UnreadableLog as error:
                if not messages:
                    raise
                file.error = str(error)
        parent = ""
        if info:
            self.cwd, self.version, parent = (str(field or "") for field in info[0])
        for key, message in messages.items():
            try:
                self._message(str(key), message, parts.get(key, []))
            except DAMAGE:
                self.problems["session-log-cut", UNEXPECTED] = None
        log = self.log()
        if not parent:
            return log
        # A sub-agent is a session of its own that names its parent.
        requests = tuple(request._replace(thread=self.session) for request in log.requests)
        return log._replace(session=parent, thread=self.session, requests=requests)

    def _parse(self, data: Any) -> dict[str, Any]:
        try:
            content = json.loads(data)
        except (ValueError, TypeError, RecursionError):
            self.problems["session-log-cut", CUT] = None
            return {}
        return content if isinstance(content, dict) else {}

    def _message(self, key: str, message: dict[str, Any], parts: list[LogPart]) -> None:
        times = message.get("time")
        created = parse_time(times.get("created")) if isinstance(times, dict) else 0.0
        if message.get("role") == "assistant":
            self.time = (parse_time(times.get("completed")) if isinstance(times, dict) else 0.0) or created
            self.sent = created
            self._answer(key, message)
        self.composer.add(parts)

    def _answer(self, key: str, message: dict[str, Any]) -> None:
        usage = message.get("tokens")
        cache = usage.get("cache") if isinstance(usage, dict) else None
        self.model = string(message, "modelID") or self.model
        out = number(usage, "output") + number(usage, "reasoning")
        tokens = TokenCounts(number(usage, "input"), number(cache, "write"), number(cache, "read"), out)
        kind = "compaction" if message.get("summary") is True else "turn"
        # A forked session has copies with other ids.
        identity = f"{self.sent}|{self.time}|{self.model}|{list(tokens)}" if self.sent else ""
        self._request(key, tokens, identity=identity, own_cost=own_cost(message.get("cost")), kind=kind)
        if kind == "compaction":
            self._event("compaction", f"{key}||")
            self.composer.restart([])

    def _parts(self, row: dict[str, Any], kind: str) -> list[LogPart]:
        state = row.get("state")
        if row.get("type") == "tool" and isinstance(state, dict):
            name, output = string(row, "tool"), string(state, "output") or json_text(state.get("output"))
            called = self.texts.part("answer", json_text(state.get("input")), name)
            return [called, self.texts.part("result", output, name)]
        text = string(row, "text")
        return [self.texts.part(kind, text)] if text else []
