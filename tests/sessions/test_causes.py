"""Which cause a collapse has if the log does not show the beginning of the requests."""

import pytest

from foreword.sessions.causes import find_cause
from foreword.sessions.chains import steps
from foreword.sessions.costs import ModelRule
from foreword.sessions.values import LoggedRequest, LogPart, SessionLog, TokenCounts

RULE = ModelRule(None, "prefix", 0, "gemini")
HIDDEN, FILE, ANSWER, RESULT = (
    LogPart("unknown", "", "", "0", 0),
    LogPart("file", "", "/w/GEMINI.md", "1", 4000),
    LogPart("answer", "", "", "2", 400),
    LogPart("result", "read_file", "", "3", 5600),
)


def ask(tail, read):
    """Return the cause if a request of 10,000 tokens, 7,500 of them not in the log, is followed by one with another end."""
    first = LoggedRequest(
        "a", "", 1, 1, "m", TokenCounts(10_000), tail=(HIDDEN, FILE, ANSWER, RESULT), made="estimated"
    )
    keep = 4 - len(tail)
    tokens = TokenCounts(10_200 - read, 0, read)
    second = LoggedRequest("b", "", 3, 2, "m", tokens, keep=keep, tail=tail, made="estimated")
    log = SessionLog("/log", "gemini", "s", "1", "/w", "", "", "", (first, second), (), ())
    return find_cause(list(steps(log))[1], RULE).cause


CHANGED_FILE = (FILE._replace(hash="x"), ANSWER, RESULT)
CHANGED_ANSWER = (ANSWER._replace(hash="x"), RESULT)


@pytest.mark.parametrize(
    ("tail", "read", "cause"),
    [
        (CHANGED_FILE, 8000, "file"),
        (CHANGED_FILE, 7500, "file"),
        (CHANGED_FILE, 6000, "unknown"),  # something before the file changed too, and the log does not show it
        (CHANGED_FILE, 0, "unknown"),
        (CHANGED_ANSWER, 8500, "message"),
        (CHANGED_ANSWER, 7400, "unknown"),  # less was read than what comes before the tools
        ((), 7000, "unknown"),
    ],
)
def test_more_was_lost_than_what_follows_the_difference(tail, read, cause):
    assert ask(tail, read) == cause
