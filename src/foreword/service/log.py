"""One line for each request: for a person, or as JSON.

A line gives the reason that the client was given, without what it quotes: a request may hold prompts, and a path the user's name.
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from time import time as clock
from typing import TextIO

import msgspec

from .answers import PROBLEMS

_LONGEST = 300
_PACKAGE = __name__.partition(".")[0]


class Log:
    """Where lines go, and in which form."""

    def __init__(self, is_json: bool = False, stream: TextIO | None = None) -> None:
        self._is_json, self._stream = is_json, stream or sys.stderr
        self._second = (0, "")

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
    ) -> None:
        """A request that was answered; `cause` names the exception behind a failure, without its words."""
        why = f"{problem}: {PROBLEMS[problem][1]}" if problem else ""
        path = raw_path[:_LONGEST].decode("ascii", "backslashreplace")
        time = self._time()
        if self._is_json:
            line = {
                "time": time,
                "status": status,
                "method": method,
                "path": path,
                "ms": round(seconds * 1000, 3),
                "request": id,
            }
            line |= {"problem": why} if why else {}
            line |= {"reason": reason} if reason else {}
            line |= {"cause": cause} if cause else {}
            self._write(msgspec.json.encode(line).decode())
        else:
            tail = "".join(f"  {each}" for each in (why, reason, cause) if each)
            self._write(f"{time} {status} {method} {path} {seconds * 1000:.1f} ms {id}{tail}")

    def event(self, source: str, level: str, message: str, cause: str) -> None:
        """Something beside requests that the server or a library tells."""
        time = self._time()
        if self._is_json:
            line = {"time": time, "level": level, "from": source, "message": message}
            self._write(msgspec.json.encode(line | ({"cause": cause} if cause else {})).decode())
        else:
            self._write("  ".join(filter(None, (f"{time} {level} {source}", message, cause))))

    def _time(self) -> str:
        """Now, in UTC. What it says down to the second is written once a second."""
        now = clock()
        second, written = self._second
        if int(now) != second:
            second, written = int(now), datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self._second = second, written
        return f"{written}.{int((now - second) * 1000):03}Z"

    def _write(self, line: str) -> None:
        try:
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            pass  # nobody reads the log any more; requests are answered all the same


class Handler(logging.Handler):
    """Brings what libraries log into the form of our lines. Only the server's own words are shown: those of others may quote a request."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        message = str(record.msg).strip().partition("\n")[0] if record.name.startswith("uvicorn") else ""
        cause = cause_of(record.exc_info[1]) if record.exc_info and record.exc_info[1] else ""
        self._log.event(record.name, record.levelname.lower(), message, cause)


def cause_of(error: BaseException) -> str:
    """The kind of an exception and the innermost place of ours, never its words."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] == _PACKAGE:
            place = f" in {module}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(error).__name__}{place}"
