"""The log: one line per request, as text or JSON.

A line gives the reason that was sent to the client, but never quotes the request: it may contain prompts, and its paths may contain
the user's name.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import time as clock
from typing import TextIO

import msgspec

from .responses import PROBLEMS

_MAX_LENGTH = 300
# Each level includes those after it.
LEVELS = ("debug", "info", "warning", "error")
_, _INFO, _, _ERROR = range(len(LEVELS))
_PACKAGE = __name__.partition(".")[0]
# How many bytes are written to a pipe at once. Worker processes share the pipe, and longer writes could be mixed up.
_MAX_WRITTEN_BYTES = 4096


class Log:
    """Writes lines to a stream, as text or JSON. Lines below the level are left out.

    Lines for requests can be written together, which is faster.
    """

    def __init__(self, is_json: bool = False, stream: TextIO | None = None, level: str = "info") -> None:
        self._is_json, self._stream = is_json, stream or sys.stderr
        self._level = LEVELS.index(level)
        self._second = (0, "")
        self._requests: list[str] | None = None

    def request(
        self,
        method: str,
        raw_path: bytes,
        status: int,
        seconds: float,
        id: str,
        problem: str = "",
        reason: str = "",
        cause: str = "",
        trace: str = "",
        token: str = "",
    ) -> None:
        """Log a request, at the level `error` if the service failed to answer it, otherwise at `info`.

        `cause` is an exception's type and location, without the message. `trace` is the id of the caller's trace, and `token` the name of its
        token.
        """
        level = "error" if status >= 500 else "info"
        if self._level > (_ERROR if level == "error" else _INFO):
            return
        title = f"{problem}: {PROBLEMS[problem][1]}" if problem else ""
        path = raw_path[:_MAX_LENGTH].decode("ascii", "backslashreplace")
        time = self._time()
        if self._is_json:
            line = {
                "time": time,
                "level": level,
                "status": status,
                "method": method,
                "path": path,
                "ms": round(seconds * 1000, 3),
                "request": id,
            }
            details = {"trace": trace, "problem": title, "reason": reason, "cause": cause, "token": token}
            line |= {name: text for name, text in details.items() if text}
            self._write_request(msgspec.json.encode(line).decode())
        else:
            parts = (token and f"token {token}", trace and f"trace {trace}", title, reason, cause)
            end = "".join([f"  {part}" for part in parts if part]) if any(parts) else ""
            self._write_request(f"{time} {status} {method} {path} {seconds * 1000:.1f} ms {id}{end}")

    def audit(self, method: str, raw_path: bytes, version: str, detail: str, caller: str, id: str) -> None:
        """Log who changed or deleted what, never the text, whatever the level. `version` is the ETag of the new version, if there is one."""
        path = raw_path[:_MAX_LENGTH].decode("ascii", "backslashreplace")
        message = " ".join(filter(None, (method, path, version and f"version {version}", detail, f"by {caller}")))
        self._write_event("audit", "info", message, f"request {id}")

    def event(self, source: str, level: str, message: str, cause: str = "") -> None:
        """Log a message from the service, the server or a library."""
        if level not in LEVELS or LEVELS.index(level) >= self._level:
            self._write_event(source, level, message, cause)

    def _write_event(self, source: str, level: str, message: str, cause: str) -> None:
        time = self._time()
        if self._is_json:
            line = {"time": time, "level": level, "from": source, "message": message}
            self._write(msgspec.json.encode(line | ({"cause": cause} if cause else {})).decode())
        else:
            self._write("  ".join(filter(None, (f"{time} {level} {source}", message, cause))))

    def _time(self) -> str:
        """Return the time in UTC. Everything but the milliseconds is formatted only once a second."""
        now = clock()
        second, formatted = self._second
        if int(now) != second:
            second, formatted = int(now), datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self._second = second, formatted
        return f"{formatted}.{int((now - second) * 1000):03}Z"

    @contextmanager
    def together(self) -> Iterator[None]:
        """Collect the lines of requests that are logged in this block, and write them together at its end."""
        self._requests = []
        try:
            yield
        finally:
            lines, self._requests = self._requests, None
            for joined in _join(lines):
                self._write(joined)

    def _write_request(self, line: str) -> None:
        if self._requests is None:
            self._write(line)
        else:
            self._requests.append(line)

    def _write(self, line: str) -> None:
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            pass  # the request must not fail because the log is closed


def _join(lines: list[str]) -> Iterator[str]:
    """Join lines into texts that can each be written at once."""
    joined: list[str] = []
    size = 0
    for line in lines:
        length = len(line if line.isascii() else line.encode(errors="backslashreplace")) + 1
        if joined and size + length > _MAX_WRITTEN_BYTES:
            yield "\n".join(joined)
            joined, size = [], 0
        joined.append(line)
        size += length
    if joined:
        yield "\n".join(joined)


class Handler(logging.Handler):
    """Passes libraries' messages to the log. Only uvicorn's text is included, because others may quote a request."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        message = str(record.msg).strip().partition("\n")[0] if record.name.startswith("uvicorn") else ""
        cause = cause_of(record.exc_info[1]) if record.exc_info and record.exc_info[1] else ""
        self._log.event(record.name, record.levelname.lower(), message, cause)


def cause_of(error: BaseException) -> str:
    """Return an exception's type and the innermost line of this package in its traceback, without the message."""
    location = ""
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == _PACKAGE:
            location = f" in {module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{location}"
