"""Progress is shown on a terminal only, and only if the work takes long."""

import io
import sys

import pytest

from foreword.cli.progress import CountedWork, Counter
from foreword.programs.progress import counted


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock():
    times = iter(range(0, 1000))
    return lambda: next(times) / 2  # each call is half a second later


@pytest.mark.parametrize(
    ("stream", "steps", "expected"),
    [
        (Terminal, 1, ""),
        (Terminal, 3, "\r\x1b[Kreading logs: 1 of 3\r\x1b[Kreading logs: 2 of 3\r\x1b[K"),
        (io.StringIO, 3, ""),
    ],
)
def test_a_counter(monkeypatch, clock, stream, steps, expected):
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setenv("TERM", "xterm")
    with Counter("reading logs", clock) as counter:
        for number in range(steps):
            counter(number, steps)
    assert sys.stderr.getvalue() == expected


def test_the_rows_of_a_program_are_counted_while_a_command_listens(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert list(counted("abc")) == ["a", "b", "c"]
    with CountedWork("checking", clock):
        assert list(counted("abc")) == ["a", "b", "c"]
    assert list(counted("abc")) == ["a", "b", "c"]
    assert sys.stderr.getvalue() == "\r\x1b[Kchecking: 1 of 3\r\x1b[Kchecking: 2 of 3\r\x1b[K"
