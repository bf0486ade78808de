"""How numbers of tokens and amounts of money are written."""

import pytest

from foreword.cli.inspect import format_dollars
from foreword.cli.session_words import (
    amount,
    hit_rate,
    models,
    money,
    money_column,
    report_forms,
    token_sum,
    write_days,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.0k"),
        (1_249, "1.2k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (100_000, "100k"),
        (999_499, "999k"),
        (999_999, "1000k"),
        (1_000_000, "1.0M"),
        (250_000_000, "250M"),
        (3_000_000_000, "3.0G"),
    ],
)
def test_a_number_of_tokens_has_at_most_five_characters(count, text):
    assert (amount(count), len(text) <= 5) == (text, True)


@pytest.mark.parametrize(
    ("dollars", "of_sessions", "of_prompts"),
    [
        (None, "no price", "-"),
        (0, "$0.00", "$0.00"),
        (0.00004, "$0.0000", "<$0.0001"),
        (0.0001, "$0.0001", "$0.0001"),
        (0.00999, "$0.0100", "$0.0100"),
        (0.01, "$0.01", "$0.0100"),
        (0.99, "$0.99", "$0.9900"),
        (1, "$1.00", "$1.00"),
        (1234.5, "$1,234.50", "$1,234.50"),
    ],
)
def test_small_amounts_of_money_have_more_decimals(dollars, of_sessions, of_prompts):
    assert (money(dollars), format_dollars(dollars)) == (of_sessions, of_prompts)


@pytest.mark.parametrize(
    ("costs", "total", "column"),
    [
        ([1.004, 1.004, 1.004], 3.012, ["$1.01", "$1.00", "$1.00"]),
        ([0.001, None, 0.002], 0.003, ["$0.0010", "no price", "$0.0020"]),
        ([0.004, 0.006], 0.01, ["$0.00", "$0.01"]),
        ([None], None, ["no price"]),
        ([0.0], 0.0, ["$0.00"]),
    ],
)
def test_a_column_of_money_adds_up(costs, total, column):
    assert money_column(costs, total) == column


def test_the_share_of_cached_tokens_is_of_the_input():
    tokens = {"fresh": 10, "written": 10, "read": 60, "out": 500}
    assert (token_sum(tokens), hit_rate(tokens), hit_rate(dict.fromkeys(tokens, 0))) == (580, "75%", "")


@pytest.mark.parametrize(
    ("names", "is_short", "text"),
    [
        ([], False, "?"),
        (["anthropic/claude-x"], False, "anthropic/claude-x"),
        (["anthropic/claude-x"], True, "x"),
        (["a", "b"], False, "a +1"),
    ],
)
def test_the_first_model_is_named(names, is_short, text):
    assert models(names, **({"is_short": True} if is_short else {})) == text


@pytest.mark.parametrize(
    ("days", "line"),
    [
        ({"2026-11-01": 1.0, "2026-11-03": 0.5}, "█·▅  cost by day, 2026-11-01 to 2026-11-03\n"),
        ({"2026-11-01": 1.0, "2026-11-02": None, "unknown": 2.0}, "█·  cost by day, 2026-11-01 to 2026-11-02\n"),
        ({"2026-11-01": 1.0}, ""),
        ({"2026-11-01": 0.0, "2026-11-02": None}, ""),
        (
            {"2026-01-01": 1.0, "2026-10-02": 1.0, "2026-11-30": 1.0},
            f"█{'·' * 58}█  cost by day, 2026-10-02 to 2026-11-30\n",
        ),
    ],
)
def test_the_cost_of_sixty_days_is_drawn(capsys, days, line):
    write_days(days)
    assert capsys.readouterr().out == line


def test_four_findings_with_the_same_code_are_printed(capsys):
    findings = [{"code": "many", "severity": "warning", "message": f"number {number}"} for number in range(6)] + [
        {"code": "few", "severity": "error", "message": f"number {number}"} for number in range(4)
    ]
    report_forms(findings)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        *(f"warning: number {number} [many]" for number in range(4)),
        *(f"error: number {number} [few]" for number in range(4)),
        "2 more [many]; --json has all of them",
    ]
