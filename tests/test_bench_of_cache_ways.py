"""Tests of the cache benchmark: every scenario changes something, no way to break a cache costs more than concatenation with the clock
first, edits cost less than with any other way, losses are printed, and the simulated provider charges by the documented rules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
NAMES = [
    "clock", "date", "cwd line", "git status", "tool order", "session id in a tool", "skill added", "skill order", "late MCP server",
    "resume", "upgrade", "memory hit", "plan text", "title", "compaction", "model switch",
]  # fmt: skip
EDITS = [
    "1 edit", "3 edits", "6 edits", "10 edits", "20 edits", "edits after pauses", "200 turns, 10 edits",
]  # fmt: skip
MODULES = ("cache_ways", "fixture", "late_changes", "provider_cache")


@pytest.fixture(scope="module")
def ways():
    sys.path.insert(0, str(BENCH))
    module = importlib.import_module("cache_ways")
    # Less work; fewer turns and a smaller prompt also save less.
    module.TURNS, module.fixture.SKILLS, module.fixture.DEPTH = 22, 3, 2
    yield module
    sys.path.remove(str(BENCH))
    for name in MODULES:
        sys.modules.pop(name, None)


def scenario(ways, name):
    return next(scenario for scenario in ways.SCENARIOS if scenario.name == name)


def test_each_scenario_changes_something(ways):
    assert [scenario.name for scenario in ways.SCENARIOS] == [*NAMES, *EDITS]
    base = ways.Scene(tools=ways.tools())
    for scenario in ways.SCENARIOS:
        scenes = [scenario.scene(turn, base) for turn in range(ways.TURNS)]
        assert len(set(map(repr, scenes))) > 1, scenario.name


# All ways for the first run; for the others, those in which the least is saved. `make cache-ways` checks all of them.
CASES = [
    *((0, name) for name in NAMES),
    *((number, name) for number in (1, 2, 3) for name in ("late MCP server", "title", "model switch")),
]


@pytest.mark.parametrize(("number", "name"), CASES)
def test_no_way_costs_more_than_concatenation(ways, number, name):
    bills = ways.measure(scenario(ways, name), ways.RUNS[number], ("clock first", "Foreword"), is_estimated=True)
    plain, ours = bills["clock first"], bills["Foreword"]
    assert ways.ratio(plain, ours) >= 1  # not rounded
    if number == 0:
        assert plain.dollars > ours.dollars
        if name != "model switch":  # each model has its own cache
            # The plan is at the end of the prompt, so it can be cheaper to build it again than to announce a change.
            assert ours.share_kept > (0.95 if name == "plan text" else 0.99) > plain.share_kept


@pytest.mark.parametrize("name", ["3 edits", "20 edits"])
def test_edits_of_a_long_file_cost_less_than_with_any_other_way(ways, name):
    bills = ways.measure(scenario(ways, name), is_estimated=True)
    assert min(ways.ratio(bills[rival], bills["Foreword"]) for rival in ways.RIVALS) > 1.1
    assert bills["Foreword"].share_kept > 0.99


def test_a_ratio_is_rounded_down_and_a_loss_is_printed(ways, monkeypatch):
    def charge(rival, ours):
        def bill(dollars):
            return ways.Bill(dollars, (), (1,), (1,))

        monkeypatch.setattr(
            ways, "measure", lambda *_: {**dict.fromkeys(ways.RIVALS, bill(rival)), "Foreword": bill(ours)}
        )
        return list(ways.lines(ways.RUNS[:1], ways.SCENARIOS[:2]))

    won = charge(1.10789, 1)
    assert won[2].endswith("1.107x") and won[-1] == "Foreword costs more in 0 of 8 comparisons"
    lost = charge(0.99999, 1)
    assert lost[5:7] == [
        "Foreword costs more in 8 of 8 comparisons",
        "clock, claude-sonnet-5.5: clock first costs 0.999x",
    ]
    assert len(lost) == 14  # it goes on after a loss


def test_announcing_is_cheap_over_random_conversations(ways):
    """A small sample of what `bench/late_changes.py` prints for 10,000 conversations."""
    report = list(importlib.import_module("late_changes").lines(seed=3, count=60))
    shares = [line for line in report if "cost at most 1.1 times" in line]
    assert len(shares) == 3 and not any("below the goal" in line for line in shares)
    assert sum("worst: " in line for line in report) == 3


# The simulated provider

MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture
def send(ways):
    """Send a list of texts of 1,000 tokens each; those that end in `!` have a breakpoint, and in `!!` one for an hour."""
    provider_cache, model = sys.modules["provider_cache"], ways.models_of(ways.RUNS[1], True)["main"]
    cache = provider_cache.ProviderCache()

    def block(text):
        mark = {"type": "ephemeral", **({"ttl": "1h"} if text.endswith("!!") else {})}
        return {"type": "text", "text": text.rstrip("!"), **({"cache_control": mark} if "!" in text else {})}

    def send(*texts, now=0, minimum=0):
        thousand = model._replace(count=lambda text: 1000, price=ways_price(model.price, minimum))
        request = {"messages": [{"role": "user", "content": [block(text) for text in texts]}]}
        charge = cache.send(request, thousand, now)
        return charge.read, charge.written, round(charge.dollars * 1000, 2)

    return send


def ways_price(price, minimum):
    from foreword.vocabulary import replace

    return replace(price, input=1.0, write=1.25, read=0.1, minimum=minimum)


def test_an_entry_is_written_at_a_breakpoint_and_read_until_it_expires(send):
    assert send("a!", "b") == (0, 1000, 2.25)
    assert send("a!", "c", now=299) == (1000, 0, 1.1)
    assert send("a!", "c", now=598) == (1000, 0, 1.1)  # reading renews it
    assert send("a!", "c", now=898) == (0, 1000, 2.25)
    assert send("A!", now=898) == (0, 1000, 1.25)


def test_an_hour_long_entry_costs_twice_the_input(send):
    assert send("a!!", "b!", "c") == (0, 2000, 4.25)
    assert send("a!!", "b!", now=3599) == (1000, 1000, 1.35)


def test_a_breakpoint_looks_back_twenty_blocks(send):
    send("a!")
    assert send("a", *"bcdefghijklmnopqrs", "t!")[0] == 1000
    assert send("a", *"123456789012345678", "9", "0!")[0] == 0


def test_a_short_prefix_is_not_written(send):
    assert send("a!", "b", minimum=1001) == (0, 0, 2.0)
    assert send("a!", "b", minimum=1001) == (0, 0, 2.0)
