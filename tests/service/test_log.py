"""The lines of the log: as text and as JSON, for requests, changes and messages, at each level."""

import io
import json
import logging

import pytest

from foreword.errors import CallError
from foreword.service import log as module
from foreword.service.log import Handler, Log
from foreword.vocabulary import Scope

TIME = "2026-11-20T01:02:03.045Z"


@pytest.fixture
def lines(monkeypatch):
    """`lines(write, level="info")` returns what `write` logs, as lines of text and as rows of JSON."""
    monkeypatch.setattr(module, "clock", lambda: 1795136523.0459)

    def lines(write, level="info"):
        text, rows = io.StringIO(), io.StringIO()
        write(Log(False, text, level))
        write(Log(True, rows, level))
        return text.getvalue().splitlines(), [json.loads(row) for row in rows.getvalue().splitlines()]

    return lines


def test_a_request_has_a_line(lines):
    text, (row,) = lines(lambda log: log.request("GET", b"/tools", 200, 0.0123456, "r1"))
    assert text == [f"{TIME} 200 GET /tools 12.3 ms r1"]
    assert row == {"time": TIME, "level": "info", "status": 200, "method": "GET", "path": "/tools", "ms": 12.346, "request": "r1"}  # fmt: skip


def test_a_line_has_only_the_details_that_there_are(lines):
    details = {"problem": "not-found", "reason": "no id", "cause": "KeyError in x:1", "trace": "t1", "token": "ci"}
    text, (row,) = lines(lambda log: log.request("GET", b"/x", 404, 0, "r1", **details))
    title = "not-found: " + module.PROBLEMS["not-found"][1]
    assert text == [f"{TIME} 404 GET /x 0.0 ms r1  token ci  trace t1  {title}  no id  KeyError in x:1"]
    assert {name: row[name] for name in details} == {**details, "problem": title}


@pytest.mark.parametrize(
    ("path", "shown"), [(b"/\xff\n", r"/\xff" + "\n"), (b"/" + b"x" * 500, "/" + "x" * 299), (b"/" + b"x" * 299, "/" + "x" * 299)]
)  # fmt: skip
def test_a_path_is_shortened_and_shown_as_ascii(lines, path, shown):
    _, (row,) = lines(lambda log: log.request("GET", path, 200, 0, "r1"))
    assert row["path"] == shown


@pytest.mark.parametrize(
    ("level", "requests", "events"),
    [
        ("debug", [200, 404, 500], ["debug", "info", "warning", "error", "critical"]),
        ("info", [200, 404, 500], ["info", "warning", "error", "critical"]),
        ("warning", [500], ["warning", "error", "critical"]),
        ("error", [500], ["error", "critical"]),
    ],
)
def test_lines_below_the_level_are_left_out(lines, level, requests, events):
    def write(log):
        for status in (200, 404, 500):
            log.request("GET", b"/", status, 0, "r1")
        for each in ("debug", "info", "warning", "error", "critical"):
            log.event("store", each, "A message.")

    _, rows = lines(write, level)
    assert [row["status"] for row in rows if "status" in row] == requests
    assert [row["level"] for row in rows if "from" in row] == events
    assert [row["level"] for row in rows if row.get("status") == 500] == ["error"]


def test_a_message_may_have_a_cause(lines):
    text, rows = lines(lambda log: (log.event("store", "error", "It is down.", "OSError"), log.event("x", "info", "")))
    assert text == [f"{TIME} error store  It is down.  OSError", f"{TIME} info x"]
    assert rows == [
        {"time": TIME, "level": "error", "from": "store", "message": "It is down.", "cause": "OSError"},
        {"time": TIME, "level": "info", "from": "x", "message": ""},
    ]


@pytest.mark.parametrize(("version", "detail"), [("", ""), ("v2", "label staging")])
def test_changes_are_logged_at_every_level(lines, version, detail):
    text, (row,) = lines(lambda log: log.audit("PUT", b"/templates/a", version, detail, "ci", "r1"), "error")
    message = "PUT /templates/a version v2 label staging by ci" if version else "PUT /templates/a by ci"
    assert text == [f"{TIME} info audit  {message}  request r1"]
    assert row == {"time": TIME, "level": "info", "from": "audit", "message": message, "cause": "request r1"}


class Pipe(io.StringIO):
    """Keeps each text that is written at once."""

    def __init__(self):
        super().__init__()
        self.written = []

    def write(self, text):
        self.written.append(text)


@pytest.mark.parametrize("letter", ["x", "ä"])
def test_lines_of_requests_are_written_together_up_to_a_page(monkeypatch, letter):
    monkeypatch.setattr(module, "clock", lambda: 1795136523.0)
    pipe = Pipe()
    log = Log(False, pipe)
    with log.together():
        for number in range(40):
            log.request("GET", b"/", 200, 0, f"{number}", reason=letter * 150)
        assert pipe.written == []
    sizes = [len(text.encode(errors="backslashreplace")) for text in pipe.written]
    assert max(sizes) <= 4096 and min(sizes[:-1]) > 4096 - 400
    assert [line.split()[6] for text in pipe.written for line in text.splitlines()] == [str(n) for n in range(40)]
    log.request("GET", b"/", 200, 0, "alone")
    assert pipe.written[-1].split()[6] == "alone"


def test_a_closed_stream_does_not_matter():
    stream = io.StringIO()
    stream.close()
    Log(False, stream).request("GET", b"/", 200, 0, "r1")


def failure():
    """An exception that was raised in this package."""
    try:
        Scope(5)
    except CallError as error:
        return error


@pytest.mark.parametrize(
    ("name", "message", "error", "shown"),
    [
        ("uvicorn.error", "It stopped.\nPlanted", None, "It stopped."),
        ("uvicorn", " Bad. ", KeyError("planted"), "Bad.  KeyError"),
        ("other", "planted", None, ""),
        ("other", "planted", failure(), "CallError in foreword."),
    ],
)
def test_only_the_servers_own_messages_are_quoted(lines, name, message, error, shown):
    record = logging.LogRecord(
        name, logging.WARNING, "x.py", 1, message, (), error and (type(error), error, error.__traceback__)
    )
    (line,), (row,) = lines(lambda log: Handler(log).emit(record))
    assert line.startswith(f"{TIME} warning {name}" + (f"  {shown}" if shown else ""))
    assert "planted" not in line.lower() and row["from"] == name
