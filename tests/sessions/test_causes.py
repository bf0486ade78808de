"""Which cause a collapse has if the log does not show the beginning of the requests, and if several things happened."""

import pytest

from foreword.sessions.causes import find_cause
from foreword.sessions.chains import steps
from foreword.sessions.costs import ModelRule
from foreword.sessions.values import Event, LoggedRequest, LogPart, SessionLog, TokenCounts

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


# A compaction and a pause

TOOL, PROMPT, OLD, NEW = (
    LogPart("tool", "Read", "", "1", 4000),
    LogPart("prompt", "system", "", "2", 4000),
    LogPart("message", "", "", "3", 8000),
    LogPart("summary", "", "", "4", 800),
)
BREAKPOINTS = ModelRule(None, "breakpoints", 300, "anthropic")


@pytest.mark.parametrize(
    ("read", "pause", "cause"),
    [
        (2000, 10, "compaction"),
        (2000, 900, "compaction"),  # what comes before the conversation was read, so the pause did no harm
        (0, 10, "compaction"),
        (0, 900, "lifetime"),  # a compaction does not explain that the tools are lost too
    ],
)
def test_a_compaction_keeps_what_comes_before_the_conversation(read, pause, cause):
    first = LoggedRequest("a", "", 100, 99, "m", TokenCounts(0, 4000), tail=(TOOL, PROMPT, OLD), made="rebuilt")
    tokens = TokenCounts(0, 2200 - read, read)
    time = 100 + pause
    second = LoggedRequest("b", "", time + 1, time, "m", tokens, keep=2, tail=(NEW,), made="rebuilt")
    events = (Event("compaction", "", 101, 1),)
    log = SessionLog("/log", "claude", "s", "1", "/w", "", "", "", (first, second), events, ())
    assert find_cause(list(steps(log))[1], BREAKPOINTS).cause == cause


def test_nobody_is_blamed_if_the_times_are_not_known():
    first = LoggedRequest("a", "", 0, 0, "m", TokenCounts(0, 4000), tail=(TOOL, PROMPT, OLD), made="rebuilt")
    second = LoggedRequest("b", "", 0, 0, "m", TokenCounts(0, 4200), keep=3, tail=(NEW,), made="rebuilt")
    log = SessionLog("/log", "claude", "s", "1", "/w", "", "", "", (first, second), (), ())
    found = find_cause(list(steps(log))[1], BREAKPOINTS)
    assert (found.cause, found.pause) == ("unknown", None)
    assert found.evidence.endswith("when it was sent is not known")


@pytest.mark.parametrize(
    ("parts", "cause", "evidence"),
    [
        ((TOOL, PROMPT, OLD), "provider", "nothing differs from the previous request, 9 seconds"),
        ((PROMPT, OLD), "unknown", "the log does not show the tools, 9 seconds"),
        ((OLD,), "unknown", "the log does not show the tools and the system prompt, 9 seconds"),
        ((TOOL, PROMPT, HIDDEN, OLD), "unknown", "the log does not show the whole request, 9 seconds"),
    ],
)
def test_the_provider_is_blamed_only_if_the_log_shows_the_whole_request(parts, cause, evidence):
    first = LoggedRequest("a", "", 100, 99, "m", TokenCounts(0, 4000), tail=parts, made="rebuilt")
    second = LoggedRequest("b", "", 110, 109, "m", TokenCounts(0, 4200), keep=len(parts), tail=(NEW,), made="rebuilt")
    log = SessionLog("/log", "claude", "s", "1", "/w", "", "", "", (first, second), (), ())
    found = find_cause(list(steps(log))[1], BREAKPOINTS)
    assert (found.cause, found.evidence[: len(evidence)]) == (cause, evidence)


def test_a_removed_file_is_named_and_not_what_follows_it():
    first = LoggedRequest("a", "", 1, 1, "m", TokenCounts(2500), tail=(FILE, ANSWER, RESULT), made="rebuilt")
    second = LoggedRequest("b", "", 3, 2, "m", TokenCounts(1500), keep=0, tail=(ANSWER, RESULT), made="rebuilt")
    log = SessionLog("/log", "gemini", "s", "1", "/w", "", "", "", (first, second), (), ())
    found = find_cause(list(steps(log))[1], RULE)
    assert (found.cause, found.path) == ("file", "/w/GEMINI.md")
