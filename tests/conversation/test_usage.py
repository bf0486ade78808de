"""Measured cache hits: counters per edition, and findings when the hit rate collapses."""

import os
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from foreword import CallError, Usage
from foreword.conversation.state import trigger_of
from foreword.conversation.usage import record_usage, sum_usage
from foreword.errors import MissingError
from foreword.inspection.price_list import read_prices

START = datetime(2026, 11, 16, 12, tzinfo=UTC)


def call(read=0, written=0, new=0, output=0, **others):
    return {
        "input_tokens": new,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
        **others,
    }


def test_calls_are_added_up_per_edition(tree, open_conversation):
    tree({"w/AGENTS.md": "One."})
    conversation = open_conversation(model="claude-opus-5", provider="anthropic")
    conversation.turn("hi")
    conversation.record_usage(call(written=8000, new=2000, output=100))
    usage = conversation.record_usage(call(read=8000, written=1000, new=1000, output=50))
    assert (usage.edition, usage.calls, usage.input, usage.read, usage.written, usage.output) == (1, 2, 20_000, 8000, 9000, 150)  # fmt: skip
    assert usage.hit_rate == 0.4
    # 3,000 tokens at $5.00, 9,000 written at $6.25, 8,000 read at $0.50 and 150 of output at $25.00 for a million
    assert usage.cost == pytest.approx((3000 * 5 + 9000 * 6.25 + 8000 * 0.5 + 150 * 25) / 1e6)
    tree({"w/AGENTS.md": "Two."})
    conversation.construct()
    assert conversation.record_usage(call(new=10)) == Usage(2, 1, 10, 0, 0, 0, 10 * 5 / 1e6, (10, 0, 0, 0), (usage_finding(),), 0, 0.0)  # fmt: skip


def test_a_sum_has_no_last_call():
    assert sum_usage([]) == Usage(0, 0, 0, 0, 0, 0, call=(0, 0, 0, 0))


def test_the_usage_of_a_conversation_is_that_of_all_its_editions(tree, open_conversation):
    tree({"w/AGENTS.md": "One."})
    conversation = open_conversation(model="claude-opus-5", provider="anthropic")
    assert conversation.usage() is None
    conversation.turn("hi")
    assert conversation.usage() is None
    conversation.record_usage(call(written=8000, output=10))
    tree({"w/AGENTS.md": "Two."})
    conversation.construct()
    conversation.record_usage(call(read=2000, new=6000, output=10))
    usage = conversation.usage()
    assert (usage.total.edition, usage.total.calls, usage.total.input, usage.total.read) == (0, 2, 16_000, 2000)
    assert (usage.total.hit_rate, {number: row.calls for number, row in usage.editions.items()}) == (
        0.125,
        {1: 1, 2: 1},
    )
    assert usage.total.cost == pytest.approx(sum(row.cost for row in usage.editions.values()))


def test_cached_tokens_that_a_call_does_not_report_are_unknown(open_conversation):
    conversation = open_conversation(model="claude-opus-5")
    conversation.turn("hi")
    usage = conversation.record_usage({"input_tokens": 5000, "output_tokens": 1})
    assert (usage.read, usage.written, usage.hit_rate, usage.cost, usage.unreported) == (None, None, None, None, 1)
    assert usage.call == (5000, None, None, 1)
    usage = conversation.record_usage(call(read=6000, new=2000))
    # The sum is unknown; the hit rate is that of the calls that report it.
    assert (usage.calls, usage.input, usage.read, usage.written, usage.hit_rate) == (2, 13_000, None, None, 0.75)
    assert usage.cost == pytest.approx((6000 * 0.5 + 2000 * 5) / 1e6)
    # That it is unknown is no collapse.
    assert conversation.record_usage({"input_tokens": 8000, "output_tokens": 1}).findings == ()
    assert conversation.record_usage(call(read=0, new=8000)).findings == ()


@pytest.mark.parametrize(
    ("act", "trigger"),
    [
        (lambda conversation: conversation.construct(), "construct"),
        (lambda conversation: conversation.reload(), "reload"),
        (lambda conversation: (conversation.compact(), conversation.turn("go on")), "compaction"),
    ],
)
def test_an_edition_says_what_triggered_it(tree, open_conversation, act, trigger):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    conversation = open_conversation("foreword")
    conversation.turn("hi")
    tree({"w/AGENTS.md": "Two."})
    act(conversation)
    assert [trigger_of(edition) for edition in conversation.shared.store.editions(conversation.id)] == [
        "start",
        trigger,
    ]


def test_late_tools_and_files_read_on_each_turn_are_triggers(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    open_conversation("foreword", tools="a").turn("hi")
    conversation = open_conversation("foreword", tools="a b")
    conversation.turn("hi")
    tree({"w/AGENTS.md": "Two."})
    open_conversation("foreword", tools="a b", set={"on.turn": "gather"}).turn("go on")
    editions = conversation.shared.store.editions(conversation.id)
    assert [trigger_of(edition) for edition in editions] == ["start", "tools", "turn"]


def usage_finding():
    from foreword.findings import finding

    return finding(
        "cache-collapse",
        "the provider read 0 of the 9,000 tokens that the previous call had left in its cache: edition 2 changed the prompt",
    )


def test_another_process_continues_the_counters(open_conversation):
    first = open_conversation()
    first.turn("hi")
    first.record_usage(call(new=5))
    assert open_conversation().record_usage(call(new=6)).input == 11


def test_an_hour_long_cache_entry_costs_twice_the_input(open_conversation):
    conversation = open_conversation(model="claude-opus-5")
    conversation.turn("hi")
    usage = conversation.record_usage(call(written=1000, cache_creation={"ephemeral_1h_input_tokens": 1000}))
    assert usage.cost == pytest.approx(1000 * 10 / 1e6)


@pytest.mark.parametrize(("model", "cost"), [("", None), ("unheard-of", None), ("claude-opus-5", 5.0)])
def test_the_cost_is_known_only_with_the_price(open_conversation, model, cost):
    conversation = open_conversation()
    conversation.turn("hi")
    assert conversation.record_usage(call(new=1_000_000), model=model).cost == cost


def test_an_unpriced_call_does_not_erase_the_cost(open_conversation):
    conversation = open_conversation()
    conversation.turn("hi")
    conversation.record_usage(call(new=1_000_000), model="claude-opus-5")
    assert conversation.record_usage(call(new=1), model="unheard-of").cost == 5.0
    assert conversation.record_usage(call(new=1_000_000), model="claude-opus-5").cost == 10.0


UNCHANGED = (
    "edition 1 is unchanged, so the caller sent something different (other tools, another order, changed text),"
    " or the provider dropped them early"
)


@pytest.mark.parametrize(
    ("minutes", "usage", "cause"),
    [
        (1, call(read=20_000, new=100), None),
        (1, call(read=10_000, new=100), None),  # half is not a collapse
        (1, call(new=20_000), UNCHANGED),
        (4, call(new=20_000), UNCHANGED),
        (6, call(new=20_000), "6 minutes had passed, and it keeps them for 5 minutes"),
        (300, call(new=20_000), "5 hours had passed, and it keeps them for 5 minutes"),
        (30, call(written=20_000, cache_creation={"ephemeral_1h_input_tokens": 9}), UNCHANGED),
        (
            61,
            call(written=20_000, cache_creation={"ephemeral_1h_input_tokens": 9}),
            "61 minutes had passed, and it keeps them for 60 minutes",
        ),
        (
            1,
            call(read=9000, new=5000),
            "the prompt and the tools were read, so earlier messages must have changed, as after a compaction",
        ),
    ],
)
def test_a_collapse_has_a_cause(open_conversation, minutes, usage, cause):
    conversation = open_conversation(model="claude-opus-5")
    conversation.turn("hi")
    assert conversation.record_usage(call(written=20_000), now=START).findings == ()
    findings = conversation.record_usage(usage, now=START + timedelta(minutes=minutes)).findings
    read = usage["cache_read_input_tokens"]
    message = f"the provider read {read:,} of the 20,000 tokens that the previous call had left in its cache: {cause}"
    assert [finding.message for finding in findings] == ([message] if cause else [])


def test_a_new_edition_with_different_tools_is_the_cause(tree, open_conversation):
    open_conversation(tools="read").turn("hi")
    open_conversation(tools="read").record_usage(call(written=5000), now=START)
    conversation = open_conversation(tools="read write")
    conversation.construct()
    (finding,) = conversation.record_usage(call(new=5000), now=START).findings
    assert finding.message.endswith("edition 2 changed the tools")


def test_another_model_is_the_cause(open_conversation):
    conversation = open_conversation(model="claude-opus-5")
    conversation.turn("hi")
    conversation.record_usage(call(written=20_000), now=START)
    (finding,) = conversation.record_usage(call(new=20_000), model="claude-haiku-5-5", now=START).findings
    after_switch = "; after a switch, the cache of the other model is empty"
    assert finding.message.endswith(
        f"the call used 'claude-haiku-5-5' and the previous one 'claude-opus-5'{after_switch}"
    )
    conversation.record_usage(call(written=20_000), now=START)
    (finding,) = conversation.record_usage(call(new=20_000), model="anthropic/claude-opus-5", now=START).findings
    assert finding.message.endswith(UNCHANGED)


def test_after_a_lasting_switch_the_model_is_not_the_cause(open_conversation):
    conversation = open_conversation(model="claude-opus-5")
    conversation.turn("hi")
    conversation.record_usage(call(written=20_000), model="claude-haiku-5-5", now=START)
    (finding,) = conversation.record_usage(call(new=20_000), model="claude-haiku-5-5", now=START).findings
    assert finding.message.endswith(UNCHANGED)


def test_another_process_compares_with_the_model_of_the_edition(open_conversation):
    conversation = open_conversation(model="claude-opus-5")
    conversation.turn("hi")
    conversation.record_usage(call(written=20_000), now=START)
    (finding,) = (
        open_conversation(model="claude-opus-5")
        .record_usage(call(new=20_000), model="claude-haiku-5-5", now=START)
        .findings
    )
    assert "'claude-haiku-5-5' and edition 1 was built for 'claude-opus-5'" in finding.message


def test_small_prompts_do_not_collapse(open_conversation):
    conversation = open_conversation()
    conversation.turn("hi")
    conversation.record_usage(call(written=1000))
    assert conversation.record_usage(call(new=1000)).findings == ()


def test_a_conversation_needs_a_turn_first(open_conversation):
    with pytest.raises(CallError, match="has no edition; its first turn creates one"):
        open_conversation().record_usage(call(new=1))


def test_a_conversation_that_is_removed_meanwhile_is_missing(tree, open_conversation):
    conversation = open_conversation()
    conversation.turn("hi")
    editions = conversation.shared.editions

    def prices():
        editions.store.forget("t")
        return read_prices("", tree.workspace(), "")

    with pytest.raises(MissingError, match="the conversation 't' has no edition"):
        record_usage(editions, "t", call(new=1), "", prices, None)


def test_while_the_store_is_down_nothing_is_counted(tree, open_conversation, url):
    conversation = open_conversation()
    conversation.turn("hi")
    os.rename(tree.path("store.db"), tree.path("elsewhere.db"))
    usage = conversation.record_usage(call(new=7))
    assert (usage.calls, usage.input, usage.read, usage.written, usage.output, usage.cost) == (0, 0, 0, 0, 0, None)
    assert [finding.code for finding in usage.findings] == ["store-down"]
    os.rename(tree.path("elsewhere.db"), tree.path("store.db"))
    assert conversation.record_usage(call(new=7)).calls == 1


def test_an_edition_takes_at_most_200_bytes_after_any_number_of_calls(tree, open_conversation):
    conversation = open_conversation()
    conversation.turn("hi")
    for _ in range(50):
        conversation.record_usage(call(read=10**8, written=10**8, new=10**8, output=10**6))
    with sqlite3.connect(tree.path("store.db")) as connection:
        rows = connection.execute("SELECT * FROM foreword_usage").fetchall()
        copies = [(f"{number:036}", *rows[0][1:]) for number in range(2000)]
        size = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.executemany(f"INSERT INTO foreword_usage VALUES ({', '.join('?' * len(rows[0]))})", copies)
        grown = (connection.execute("PRAGMA page_count").fetchone()[0] - size) * 4096
    connection.close()
    assert len(rows) == 1
    assert grown / len(copies) <= 200


def test_the_counters_do_not_change_the_turn(tree, open_conversation):
    conversation = open_conversation()
    before = conversation.turn("hi")
    conversation.record_usage(call(new=7))
    after = conversation.turn("hi")
    assert (after.edition, after.system, after.messages, after.findings) == (
        before.edition,
        before.system,
        before.messages,
        (),
    )
