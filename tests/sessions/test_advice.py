"""What would help: each change is priced from the requests, and only what is certain is advised."""

import pytest
from session_logs import ClaudeLog, codex_item, codex_rows, codex_usage, write_codex

from foreword.programs.sessions import mapping_answer


@pytest.fixture
def advice(tmp_path):
    def advice(**fields):
        answer = mapping_answer(
            {"cwd": str(tmp_path), "home": str(tmp_path), "everywhere": True, "no_cache": True, "utc": True, **fields}
        )
        return [(row["change"], round(row["saving"] * 1e6), row["evidence"]) for row in answer["advice"]]

    return advice


def log(home, session="1", tools=("Read", "Bash")):
    name = f"{session}1111111-aaaa-4bbb-8ccc-222222222222"
    found = ClaudeLog(home, "/repo", session=name)
    found.count = 100 * int(session)
    return found.snapshot(tools=tools)


# claude-opus-5-5 in dollars per million tokens: written 5, for an hour 8, read 0.20.


@pytest.mark.parametrize(
    ("change", "usage", "expected"),
    [
        # 10,000 tokens were cached and 2,000 of them read: 8,000 were written again instead of read.
        (
            lambda log: log.snapshot(tools=("Read", "Bash", "mcp__gh__search")),
            {"read": 2000, "written": 8500},
            ("keep the tools of the MCP server gh the same, and in the same order, from the start of a session", 8000),
        ),
        (
            lambda log: log.snapshot(tools=("Read", "Bash", "Grep")),
            {"written": 10_500},
            ("keep the tools the same during a session: Grep in all requests, or in none", 10_000),
        ),
        (
            lambda log: None,
            {"written": 10_500, "model": "claude-sonnet-5-5"},
            ("stay with one model during a session", None),
        ),
        # A compaction and a pause of two hours are nobody's mistake, and an hour would not have helped.
        (lambda log: log.row("system", subtype="compact_boundary", uuid="b"), {"written": 9000}, None),
        (lambda log: setattr(log, "time", log.time + 7200), {"written": 10_500}, None),
    ],
)
def test_a_change_saves_what_the_collapses_cost(tmp_path, advice, change, usage, expected):
    session = log(tmp_path).user().answer(written=10_000)
    change(session)
    session.user().answer(**usage).write()
    if expected is None:
        assert advice() == []
        return
    [(words, saving, evidence)] = advice()
    assert (words, evidence) == (expected[0], "the cache broke once because of it")
    if expected[1]:
        assert saving == round(expected[1] * (5 - 0.2))


def test_an_hour_of_caching_has_to_pay_for_the_sessions_without_pauses_too(tmp_path, advice):
    session = log(tmp_path).user().answer(written=50_000)
    session.time += 600
    session.user().answer(written=50_000).write()
    again, dearer = 50_000 * (5 - 0.2), 50_000 * (8 - 5)
    expected = ("cache for one hour instead of five minutes", again - dearer, "1 pause of five minutes to one hour")
    assert advice() == [expected]
    log(tmp_path, "2").user().answer(written=20_000).write()
    assert advice() == [(expected[0], again - dearer - 20_000 * (8 - 5), expected[2])]
    log(tmp_path, "3").user().answer(written=20_000).write()
    assert advice() == []


def test_an_hour_is_not_advised_where_no_provider_sells_it(tmp_path, advice):
    rows = codex_rows("/repo")
    for number, moment in enumerate((0, 2500)):  # the cache lasts 1,800 seconds
        rows += [codex_item("Go", seconds=moment), *codex_usage(number, 90_000, 0, seconds=moment + 1)]
    write_codex(tmp_path, rows)
    assert advice() == []


def test_the_three_largest_are_named_in_order(tmp_path, advice):
    session = log(tmp_path, tools=["Read"]).user().answer(written=10_000)
    for number in range(1, 5):
        session.snapshot(tools=["Read", *(f"mcp__s{index}__run" for index in range(1, number + 1))])
        session.user().answer(written=10_000 * (5 - number) + 10_000)
    session.write()
    assert [words.split()[7] for words, _, _ in advice()] == ["s2", "s3", "s4"]
    savings = [saving for _, saving, _ in advice()]
    assert savings == sorted(savings, reverse=True)
