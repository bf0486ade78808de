"""How tokens and costs are divided among parts: the worked example of the docs, and sums that are always exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.sessions.attribution import Ledger, key_for
from foreword.sessions.chains import steps
from foreword.sessions.costs import Rates, apportion, cost_of
from foreword.sessions.values import LoggedRequest, LogPart, SessionLog, TokenCounts

RATES = Rates(4_000_000, 5_000_000, 8_000_000, 200_000, 20_000_000)


def part(kind, size, name="", path=""):
    return LogPart(kind, name, path, f"{kind}{name}{path}{size}", size)


def request(number, tokens, keep, tail, thread=""):
    return LoggedRequest(
        f"r{number}", thread, number + 1.0, number + 0.5, "m", tokens, keep=keep, tail=tuple(tail), made="rebuilt"
    )


def log(requests):
    return SessionLog("/log", "claude", "s", "1", "/w", "", "", "", tuple(requests), (), ())


def test_the_example_of_the_documentation():
    ledger = Ledger(key_for("file"))
    parts = [part("tool", 2000, "Read"), part("file", 1000, path="CLAUDE.md"), part("message", 1000)]
    ledger.add(request(0, TokenCounts(100, 300, 600), 0, parts), parts, None)
    assert {row[0]: row[2][:3] for row in ledger.final_rows()} == {
        "tools": (0, 0, 500),
        "CLAUDE.md": (0, 150, 100),
        "conversation": (100, 150, 0),
    }


def test_tokens_that_are_too_few_to_show_belong_to_the_last_part():
    ledger = Ledger(key_for("file"))
    parts = [part("tool", 2000, "Read"), part("file", 1000, path="CLAUDE.md")]
    ledger.add(request(0, TokenCounts(1, 0, 10**30), 0, parts), parts, None)
    rows = {row[0]: row[2] for row in ledger.final_rows()}
    assert (rows["CLAUDE.md"].fresh, rows["tools"].fresh) == (1, 0)
    assert rows["CLAUDE.md"].read + rows["tools"].read == 10**30


def test_tokens_that_are_too_few_to_show_may_be_between_others():
    ledger = Ledger(key_for("file"))
    parts = [part("tool", 1500, "Read"), part("file", 1500, path="CLAUDE.md")]
    ledger.add(request(0, TokenCounts(10**30, 1, 10**30), 0, parts), parts, None)
    rows = {row[0]: row[2] for row in ledger.final_rows()}
    assert (rows["CLAUDE.md"].written, rows["tools"].written) == (0, 1)


def test_sums_are_right_if_the_same_parts_are_sent_very_often():
    parts = [part("tool", 2000, "Read"), part("file", 1000, path="CLAUDE.md")]
    turns = [
        request(number, TokenCounts(1, number + 1, 1000), 0 if number == 0 else 2, () if number else parts)
        for number in range(12_000)
    ]
    ledger = Ledger(key_for("file"))
    for step in steps(log(turns)):
        ledger.follow(step)
        ledger.add_step(step, None)
    rows = {row[0]: row[1:3] for row in ledger.final_rows()}
    assert rows["CLAUDE.md"][0] == rows["tools"][0] == 12_000
    assert sum(tokens.input for _, tokens in rows.values()) == sum(turn.tokens.input for turn in turns)


PARTS = st.builds(
    part,
    st.sampled_from(["tool", "prompt", "file", "message", "answer", "result", "unknown"]),
    st.integers(0, 5000),
    st.sampled_from(["", "Read", "mcp__gh__x"]),
    st.sampled_from(["", "/w/AGENTS.md", "/w/api/AGENTS.md"]),
)
COUNTS = st.builds(TokenCounts, *(st.integers(0, 10**6) for _ in range(4)), st.just(0))
TURNS = st.lists(
    st.tuples(st.integers(0, 12), st.lists(PARTS, max_size=6), COUNTS, st.sampled_from(["", "sub"])), max_size=8
)


@given(TURNS, st.sampled_from(["file", "tool", "server", "section"]))
def test_rows_add_up_however_requests_follow_each_other(turns, by):
    requests = [
        request(number, tokens, keep, tail, thread) for number, (keep, tail, tokens, thread) in enumerate(turns)
    ]
    ledger, whole = Ledger(key_for(by)), Ledger(key_for(by))
    for step in steps(log(requests)):
        ledger.follow(step)
        ledger.add_step(step, RATES)
        whole.add(step.request, step.parts, RATES)
    rows = ledger.final_rows()
    for index in range(4):
        assert sum(row[2][index] for row in rows) == sum(row.tokens[index] for row in requests)
    assert sum(row[3] or 0 for row in rows) == sum(cost_of(row.tokens, RATES) for row in requests)
    # Following a thread gives the same as looking at each request alone.
    assert {row[0]: row[1] for row in rows} == {row[0]: row[1] for row in whole.final_rows()}
    for row in rows:
        other = next(each for each in whole.final_rows() if each[0] == row[0])
        assert all(abs(mine - theirs) <= 1 for mine, theirs in zip(row[2], other[2], strict=True))


@given(st.integers(0, 10**15), st.lists(st.floats(0, 1e12), min_size=1, max_size=30))
def test_whole_numbers_are_divided_without_a_rest(total, shares):
    parts = apportion(total, shares)
    assert sum(parts) == total
    assert min(parts) >= 0


@pytest.mark.parametrize(
    ("total", "shares", "parts"),
    [
        (10, [1, 1], [5, 5]),
        (10, [1, 1, 1], [4, 3, 3]),
        (11, [1, 1, 1], [4, 4, 3]),
        (10, [1, 2, 1], [3, 5, 2]),
        (1, [0, 1, 9], [0, 0, 1]),
        (7, [0, 0], [7, 0]),
        (0, [1, 2], [0, 0]),
        (9, [3], [9]),
        (5, [], []),
    ],
)
def test_the_rest_of_a_division_goes_to_the_largest_fractions(total, shares, parts):
    assert apportion(total, shares) == parts
