"""Sessions with very many requests, and caches that break at each of them."""

import pytest
from session_logs import ClaudeLog

from foreword.sessions.chains import PartLine, common
from foreword.sessions.readers import claude, claude_figures
from foreword.sessions.readers.claude_requests import canonical, sha
from foreword.sessions.values import LogPart

REQUESTS = 800


def broken(home, change, requests=REQUESTS):
    """Write a session in which nothing is ever read from the cache, after this change before each request."""
    log = ClaudeLog(home, "/repo").snapshot()
    for number in range(requests):
        change(log, number)
        log.user(f"Turn {number}.").answer(written=10_000 + number)
    log.write()
    return log


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda log, number: None, "provider"),
        (lambda log, number: log.snapshot(f"You are agent {number}."), "setting"),
        (lambda log, number: log.snapshot(tools=("Read", f"Tool{number}")), "tool"),
        (lambda log, number: log.instructions("/repo/CLAUDE.md", f"- Rule {number}.\n"), "provider"),
    ],
)
def test_every_request_breaks_the_cache(home, ask, change, cause):
    log = broken(home, change)
    answer = ask(id=log.session)
    assert len(answer["requests"]) == REQUESTS
    assert {row["collapse"]["cause"] for row in answer["requests"][1:]} == {cause}
    assert ask()["sessions"][0]["collapses"] == REQUESTS - 1


def test_old_text_counts_requests_not_versions(home, ask):
    broken(home, lambda log, number: log.instructions("/repo/CLAUDE.md", f"- Rule {number}.\n"), requests=5)
    messages = [row["message"] for row in ask()["findings"] if row["code"] == "session-old-text"]
    assert len(messages) == 1
    assert "the old text stayed in 4 requests" in messages[0]


def test_the_parts_of_a_log_are_limited(home, ask, monkeypatch):
    monkeypatch.setattr(claude_figures, "MOST_PARTS_OF_LOG", 200)
    log = broken(home, lambda log, number: log.snapshot(f"You are agent {number}."), requests=40)
    answer = ask(id=log.session)
    causes = [row["collapse"]["cause"] for row in answer["requests"][1:]]
    assert (causes[0], causes[-1]) == ("setting", "unknown")
    assert answer["total"]["tokens"]["written"] == sum(10_000 + number for number in range(40))
    assert "of later requests only the tokens are known" in " ".join(row["message"] for row in answer["findings"])


def described(home, requests):
    """Write a session of a version that logs the hash of every request."""
    log = ClaudeLog(home, "/repo", version="2.1.328")
    shape = {"system": [{"type": "text", "text": "You are an agent."}], "tools": [{"name": "Read", "input_schema": {}}]}
    log.row("api-request-shape", shapeHash="s", shape=shape)
    messages, hashes = [], []
    for number in range(requests):
        message = {"role": "user", "content": [{"type": "text", "text": f"Turn {number}."}]}
        messages.append(message)
        hashes.append(sha(canonical(message)))
        log.row("api-request-blob", hash=hashes[-1], message=message)
        body = {"model": "claude-opus-5-5", **shape, "messages": messages}
        log.row(
            "api-request", id=f"q{number}", base=f"q{number - 1}" if number else None, keep=number, tail=hashes[-1:],
            shapeHash="s", params={"model": "claude-opus-5-5"}, requestDigest=sha(canonical(body)),
        )  # fmt: skip
        log.answer(written=100, read=10_000 + 100 * number, requestRef=f"q{number}")
    return log


def test_rebuilt_requests_are_proved_up_to_a_limit(home, ask, monkeypatch):
    log = described(home, 30)
    for row in log.rows:
        if row["type"] == "api-request" and row["id"] in ("q3", "q29"):
            row["requestDigest"] = "another"
    log.write()
    assert [row["message"].split(" rebuilt")[0] for row in ask(id=log.session)["findings"]] == ["2 of 30 requests"]
    monkeypatch.setattr(claude, "_MOST_PROVED", 1500)
    found = [row["message"].split(" rebuilt")[0] for row in ask(id=log.session)["findings"]]
    assert found == ["1 of 5 requests"]


def test_a_message_that_is_missing_is_one_unknown_part(home, ask):
    log = described(home, 4)
    log.rows = [row for row in log.rows if row["type"] != "api-request-blob" or "Turn 1." not in str(row)]
    log.write()
    answer = ask(id=log.session)
    assert [row["parts"] for row in answer["requests"]] == ["rebuilt", "estimated", "estimated", "estimated"]
    assert [[part["kind"] for part in row["new"]] for row in answer["requests"][1:]] == [
        ["unknown"],
        ["message"],
        ["message"],
    ]
    assert [row["message"].split(" rebuilt")[0] for row in answer["findings"]] == ["3 of 4 requests"]


def part(kind, size):
    return LogPart(kind, "", "", f"{kind}{size}", size)


def test_questions_about_the_beginning_of_a_line():
    line = PartLine([part("unknown", 0), part("file", 30)])
    assert [line.size(length) for length in range(3)] == [0, 0, 30]
    line.parts += [part("tool", 5), part("file", 7)]
    assert (line.size(3), line.size(4)) == (35, 42)
    assert [line.has("tool", length) for length in range(5)] == [False, False, False, True, True]
    assert not line.has("clock", 4)


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [([], [], 0), ([1, 2], [1, 2, 3], 2), ([1, 2, 3], [1, 2], 2), ([1, 2], [1, 3], 1), ((1, 2), [1, 2], 2)],
)
def test_what_two_sequences_have_in_common(old, new, count):
    assert common(old, new) == count
