"""Prompt caches: breakpoints, order, tokens kept after a change, and prices."""

import tomllib
from functools import partial
from pathlib import Path

import pytest

import foreword
from foreword import Agent, Tool, for_anthropic, for_gemini, for_openai_chat, for_openai_responses
from foreword.conversation.tools import serialize_tools, tools_by_name
from foreword.errors import CallError
from foreword.inspection.cache import (
    Breakpoint,
    MisplacedSection,
    Segment,
    best_order,
    breakpoints,
    count_kept,
    find_misplaced,
    instability_findings,
    order_findings,
    order_settings,
    request_cost,
    segments_of,
    with_last_breakpoint,
)
from foreword.inspection.diff import Cause, SectionDiff
from foreword.inspection.prices import Price, ProviderRules, build_prices
from foreword.inspection.rebuilding import cache_reuse, rebuild_cost
from foreword.inspection.subject import LastCall, Subject
from foreword.providers import request_for
from foreword.text.models import is_same_model
from foreword.vocabulary import LIFETIMES, Origin, Passage, Piece, Prompt, Turn

ANTHROPIC = ProviderRules("anthropic", ("tools", "system", "messages"), "breakpoints", 1, "m")
OPENAI = ProviderRules("openai", ("tools", "system", "messages"), "prefix", 10, "m")
GEMINI = ProviderRules("gemini", ("system", "tools", "messages"), "prefix", 1, "m")
PRICE = Price("m", "anthropic", 1.0, 1.25, 0.1, 5)
TOOLS = [{"name": "read", "description": "Reads.", "schema": {}}, {"name": "shell", "description": "", "schema": {}}]
MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]


def make_prompt(*sections):
    """A prompt with these sections: name, lifetime, text."""
    passages, text = [], ""
    for name, lifetime, words in sections:
        text += "\n\n" if passages else ""
        passages.append(Passage(name, len(text), words, lifetime, [Piece(words, Origin("file", f"/{name}", (1, 1)))]))
        text += words
    return Prompt("x", text, passages)


PROMPT = make_prompt(
    ("id", "release", "AAAA"), ("rules", "project", "BBBB"), ("env", "conversation", "CCCC"), ("now", "turn", "D")
)


# Requests


@pytest.mark.parametrize(
    ("make", "order"),
    [
        (for_anthropic, ("tools", "system", "messages")),
        (for_openai_responses, ("tools", "system", "messages")),
        (for_openai_chat, ("tools", "system", "messages")),
        (for_gemini, ("system", "tools", "messages")),
    ],
)
def test_a_request_is_read_in_the_providers_order(make, order):
    segments = segments_of(make(Subject("x", PROMPT, TOOLS, MESSAGES).turn), order)
    parts = [segment.argument for segment in segments]
    assert parts == sorted(parts, key=order.index)
    assert [segment.name for segment in segments if segment.argument == "tools"] == ["read", "shell"]
    if make is not for_openai_chat:  # here the prompt is a message
        assert "".join(segment.text for segment in segments if segment.argument == "system") == PROMPT.text
        assert len([segment for segment in segments if segment.argument == "messages"]) == 2


def test_an_empty_request_has_no_segments():
    for provider in ("anthropic", "openai", "gemini"):
        request = request_for(provider, Turn("", 1, False, "", (), ()))
        assert segments_of(request, ("tools", "system", "messages")) == []


def test_the_callers_breakpoint_follows_the_last_message():
    marked = with_last_breakpoint(
        segments_of(for_anthropic(Subject("x", PROMPT, TOOLS, MESSAGES).turn), ANTHROPIC.order)
    )
    assert [segment.has_breakpoint for segment in marked if segment.argument == "messages"] == [False, True]
    without_messages = [Segment("tools", "{}", "read"), Segment("system", "X", "")]
    assert with_last_breakpoint(without_messages) == without_messages
    assert with_last_breakpoint([]) == []


# Breakpoints


def breakpoints_for(subject, rules, price=PRICE):
    make = partial(request_for, rules.name)
    return breakpoints(segments_of(make(subject.turn), rules.order), subject.prompt, rules, price, len)


def test_breakpoints_are_where_lifetimes_end():
    expected = [
        Breakpoint("system", "id", "release", 4, False),
        Breakpoint("system", "rules", "project", 10, True),
        Breakpoint("system", "env", "conversation", 16, True),
    ]
    assert breakpoints_for(Subject("x", PROMPT), ANTHROPIC) == expected
    assert breakpoints_for(Subject("x", PROMPT), OPENAI) == expected


def test_tools_come_before_the_first_breakpoint():
    first = breakpoints_for(Subject("x", PROMPT, TOOLS), ANTHROPIC)[0]
    assert (first.argument, first.after, first.tokens > 50) == ("system", "id", True)
    points = breakpoints_for(Subject("x", make_prompt(("rules", "project", "B")), TOOLS), ANTHROPIC)
    assert [(point.argument, point.after, point.lifetime) for point in points] == [
        ("tools", "shell", "release"),
        ("system", "rules", "project"),
    ]


def test_gemini_reads_tools_after_the_prompt():
    points = breakpoints_for(
        Subject("x", make_prompt(("id", "release", "A"), ("rules", "project", "B")), TOOLS), GEMINI
    )
    assert [(point.argument, point.lifetime) for point in points] == [
        ("system", "release"),
        ("system", "project"),
        ("tools", "project"),
    ]
    assert all(
        point.argument != "tools" for point in breakpoints_for(Subject("x", PROMPT, TOOLS), GEMINI)
    )  # text with the lifetime of a turn comes before them


def test_an_unknown_minimum_is_not_reported():
    unknown = Price("m", "anthropic", 1.0, 1.25, 0.1)
    assert {point.is_cacheable for point in breakpoints_for(Subject("x", PROMPT), ANTHROPIC, unknown)} == {None}
    assert {point.is_cacheable for point in breakpoints_for(Subject("x", PROMPT), ANTHROPIC, None)} == {None}


def test_plain_text_has_one_breakpoint_and_empty_text_none():
    assert breakpoints_for(Subject("x", Prompt("", "text", ())), ANTHROPIC) == [
        Breakpoint("system", "", "conversation", 4, False)
    ]
    assert breakpoints_for(Subject("x", Prompt("", "text", ())), OPENAI) == [
        Breakpoint("system", "", "conversation", 4, False)
    ]
    assert breakpoints_for(Subject("x", Prompt("", "", ())), ANTHROPIC) == []
    assert breakpoints_for(Subject("x", Prompt("", "", ())), OPENAI) == []


# Order


@pytest.mark.parametrize(
    ("lifetimes", "expected", "fixed"),
    [
        ("", [], ""),
        ("r p c t", [], "0 1 2 3"),
        ("p p p", [], "0 1 2"),
        ("t r", [("0", ["1"])], "1 0"),
        ("r c p t", [("1", ["2"])], "0 2 1 3"),
        ("c t r p", [("0", ["2", "3"]), ("1", ["2", "3"])], "2 3 0 1"),
    ],
)
def test_sections_that_come_too_early_are_reported(lifetimes, expected, fixed):
    names = {name[0]: name for name in LIFETIMES}
    prompt = make_prompt(*((str(index), names[letter], "text") for index, letter in enumerate(lifetimes.split())))
    assert [(passage.section, list(passage.before)) for passage in find_misplaced(prompt, len)] == expected
    assert best_order(prompt) == fixed.split()
    reordered = make_prompt(*((name, prompt.passages[int(name)].lifetime, "text") for name in best_order(prompt)))
    assert find_misplaced(reordered, len) == []


def test_misplaced_sections_are_reported_by_lifetime():
    rows = [
        MisplacedSection("a", "turn", ["x"], 7),
        MisplacedSection("b", "turn", ["x"], 7),
        MisplacedSection("c", "conversation", ["x", "y"], 9),
    ]
    assert [finding.message for finding in order_findings(rows)] == [
        "sections 'a' and 'b' last for a turn and come before 'x', which lasts longer: each time one of them changes, 7 tokens after "
        "them are written to the cache again",
        "section 'c' lasts for a conversation and comes before 'x' and 'y', which last longer: each time it changes, 9 tokens after it "
        "are written to the cache again",
    ]


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("foreword", []),
        ("ion", []),
        ("opal", [("sections", "identity context skills skill_files skill_names environment planning guidelines")]),
        ("pi", [("section.last.sections", "cwd clock")]),
        ("pod", [("sections", "project knowledge workflows body boundaries")]),
        ("builder", []),
    ],
)
def test_order_settings_fix_the_order_of_a_layout(layout, expected):
    settings = order_settings(foreword.Assembler(layout=layout).layout().sections)
    assert [(key, " ".join(names)) for key, names in settings] == expected


def test_each_unstable_section_has_one_finding():
    def moved(name):
        return SectionDiff(name, ("changed",), (0, 1), (0, 1), 1, 1, (), [Cause("clock", "now.long")])

    findings = instability_findings(
        [("a minute later", [moved("clock")]), ("a day later", [moved("clock"), moved("x")])], [5, 900]
    )
    assert [finding.message.partition(":")[0] for finding in findings] == [
        "section 'clock' differs when the prompt is built a minute later and a day later (clock now.long)",
        "section 'x' differs when the prompt is built a day later (clock now.long)",
    ]
    assert "900 tokens of the prompt" in findings[0].message


# Tokens kept after a change


def make_segments(*texts, marks=""):
    """Segments of the system prompt; `marks` are the indexes of those with a breakpoint."""
    return [Segment("system", text, "", str(index) in marks) for index, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("old", "new", "rules", "expected"),
    [
        (
            make_segments("A" * 10, "B" * 10, marks="01"),
            make_segments("A" * 10, "B" * 10, marks="01"),
            ANTHROPIC,
            (20, 20, 20),
        ),
        (
            make_segments("A" * 10, "B" * 10, marks="01"),
            make_segments("A" * 10, "X" * 10, marks="01"),
            ANTHROPIC,
            (20, 10, 10),
        ),
        (
            make_segments("A" * 10, "B" * 10, marks="1"),
            make_segments("A" * 10, "BX", marks="1"),
            ANTHROPIC,
            (12, 11, 0),
        ),
        (
            make_segments("A" * 10, "B" * 10, marks="01"),
            make_segments("X" * 10, "B" * 10, marks="01"),
            ANTHROPIC,
            (20, 0, 0),
        ),
        # without a segment boundary in the new request, a breakpoint cannot be found again
        (
            make_segments("A" * 10, "B" * 10, marks="01"),
            make_segments("A" * 10 + "B" * 5, "X", marks="01"),
            ANTHROPIC,
            (16, 15, 0),
        ),
        # less than the minimum is not cached
        (make_segments("AAAA", "B", marks="0"), make_segments("AAAA", "C", marks="0"), ANTHROPIC, (5, 4, 0)),
        # a provider with automatic caching keeps the prefix in steps
        (make_segments("A" * 25), make_segments("A" * 24 + "X"), OPENAI, (25, 24, 20)),
        (make_segments("A" * 25), make_segments("A" * 24 + "X"), GEMINI, (25, 24, 24)),
        (make_segments(), make_segments("A" * 25), OPENAI, (25, 0, 0)),
        (make_segments(), make_segments(), OPENAI, (0, 0, 0)),
        (make_segments("A" * 25), make_segments(), ANTHROPIC, (0, 0, 0)),
    ],
)
def test_tokens_up_to_the_first_change_are_kept(old, new, rules, expected):
    assert count_kept(old, new, rules, PRICE, len) == expected


def compare_requests(old, new, rules=GEMINI, price=PRICE):
    make = partial(request_for, rules.name)
    requests = [(subject, segments_of(make(subject.turn), rules.order)) for subject in (old, new)]
    return cache_reuse(requests[0], requests[1], rules, price, len)


def test_the_first_difference_has_its_origin():
    other = make_prompt(("id", "release", "AAAA"), ("rules", "project", "BxBB"))
    reuse = compare_requests(Subject("o", PROMPT), Subject("n", other))
    rebuild = reuse.rebuild
    assert (reuse.total, reuse.shared, rebuild.tokens_kept, rebuild.tokens_lost) == (10, 7, 7, 12)
    assert reuse.first and (reuse.first.argument, reuse.first.name, reuse.first.offset) == ("system", "rules", 7)
    assert reuse.first.causes == (Cause("file", "/rules", (1, 1)),)
    assert rebuild.cost == pytest.approx(12 * 1.15 / 1_000_000)


def test_each_provider_finds_the_first_difference_in_its_own_order():
    old = Subject("o", PROMPT, TOOLS)
    new = Subject("n", make_prompt(("id", "release", "AxAA")), [*TOOLS[:1], {**TOOLS[1], "description": "Runs."}])
    firsts = [compare_requests(old, new, rules).first for rules in (ANTHROPIC, GEMINI)]
    assert [(first.argument, first.name) for first in firsts if first] == [("tools", "shell"), ("system", "id")]


def test_a_longer_history_is_not_a_difference():
    old, new = Subject("o", PROMPT, TOOLS, MESSAGES[:1]), Subject("n", PROMPT, TOOLS, MESSAGES)
    assert compare_requests(old, new).first is None
    other = Subject("n", PROMPT, TOOLS, [{"role": "user", "content": "ha"}])
    first = compare_requests(old, other).first
    assert first and (first.argument, first.name) == ("messages", "1")


def test_a_longer_prompt_is_a_difference():
    first = compare_requests(Subject("o", make_prompt(("id", "release", "AAAA"))), Subject("n", PROMPT)).first
    assert first and (first.argument, first.name) == ("system", "")  # the separator has no origin


def test_without_a_price_there_are_no_costs():
    reuse = compare_requests(Subject("o", PROMPT), Subject("n", make_prompt(("id", "turn", "x"))), price=None)
    assert reuse.rebuild.cost is None


@pytest.mark.parametrize(
    ("rules", "last_call", "message_tokens", "expected"),
    [
        (GEMINI, None, 0, (20, 5, "prompt")),
        (GEMINI, None, 900, (20, 905, "messages")),  # the messages after the change are lost as well
        (GEMINI, LastCall(90_000, 89_000), 900, (20, 89_980, "call")),  # all of the last request is a prefix
        (GEMINI, LastCall(90_000), 0, (20, 89_980, "call")),  # without a report, too
        (OPENAI, LastCall(90_007, 80_000), 0, (20, 89_980, "call")),
        (ANTHROPIC, LastCall(90_000, 89_000), 0, (0, 89_000, "call")),  # with breakpoints, the report counts
        (ANTHROPIC, LastCall(90_000), 0, (0, 90_000, "call")),
        (ANTHROPIC, LastCall(90_000, 0), 0, (0, 0, "call")),  # the caller sets no breakpoints
        (GEMINI, LastCall(3, 0), 0, (0, 0, "call")),  # too short for the cache
    ],
)
def test_a_rebuild_costs_the_whole_request(rules, last_call, message_tokens, expected):
    old, new = make_segments("A" * 25), make_segments("A" * 20 + "X")
    rebuild = rebuild_cost(old, new, rules, PRICE, len, last_call=last_call, message_tokens=message_tokens)
    assert (rebuild.tokens_kept, rebuild.tokens_lost, rebuild.basis) == expected
    assert rebuild.cost == pytest.approx(expected[1] * (PRICE.write - PRICE.read) / 1e6)


@pytest.mark.parametrize(
    ("last_call", "message_tokens", "expected"),
    [
        (None, 0, [("tools", 6, 0), ("prompt", 4, 8)]),
        (None, 900, [("tools", 6, 0), ("prompt", 4, 8), ("history", 0, 900)]),
        (LastCall(1000), 0, [("tools", 6, 0), ("prompt", 4, 8), ("history", 0, 982)]),
        (LastCall(15), 0, [("tools", 6, 0), ("prompt", 4, 5), ("history", 0, 0)]),  # too high a count
    ],
)
def test_the_cached_tokens_are_divided_among_the_parts_of_a_request(last_call, message_tokens, expected):
    tools = Segment("tools", "T" * 6, "read")
    old, new = ([tools, Segment("system", text)] for text in ("A" * 12, "A" * 4 + "X"))
    rebuild = rebuild_cost(old, new, GEMINI, PRICE, len, last_call=last_call, message_tokens=message_tokens)
    assert [(part.of, part.tokens_kept, part.tokens_lost) for part in rebuild.parts] == expected
    assert sum(part.tokens_kept for part in rebuild.parts) == rebuild.tokens_kept
    assert sum(part.tokens_lost for part in rebuild.parts) == rebuild.tokens_lost
    assert rebuild_cost(old, old, GEMINI, PRICE, len).parts == ()


def test_text_added_to_the_prompt_loses_the_messages():
    old, new = make_segments("A" * 20), make_segments("A" * 30)
    assert rebuild_cost(old, new, GEMINI, PRICE, len, last_call=LastCall(500, 500)).tokens_lost == 480
    assert rebuild_cost(old, old, GEMINI, PRICE, len, last_call=LastCall(500, 500)).tokens_lost == 0


@pytest.mark.parametrize(("elapsed", "is_expired"), [(299, False), (301, True)])
def test_a_cache_expires_after_its_lifetime(elapsed, is_expired):
    rules = ProviderRules("x", ("tools", "system", "messages"), "prefix", 1, "", lifetime=300)
    call = LastCall(500, 500, time=1000)
    segments = make_segments("A" * 20), make_segments("B" * 20)
    assert rebuild_cost(*segments, rules, PRICE, len, last_call=call, now=1000 + elapsed).is_expired is is_expired


def test_costs_are_computed_from_the_price():
    assert request_cost(1_000_000, 400_000, PRICE, is_read=True) == pytest.approx(0.6 + 0.04)
    assert request_cost(1_000_000, 400_000, PRICE, is_read=False) == pytest.approx(0.6 + 0.5)


def test_the_order_of_tools_is_stable():
    agents = Agent([Tool("b"), Tool("a")]), Agent([Tool("a"), Tool("b")])
    assert [list(tools_by_name(serialize_tools(agent.tools))) for agent in agents] == [["a", "b"]] * 2


# The table of prices

SHIPPED = tomllib.loads((Path(foreword.__file__).parent / "inspection" / "prices.toml").read_text())


def test_every_shipped_row_has_a_source_and_a_date():
    table = build_prices([("shipped", SHIPPED)])
    rows = [*table.models, *table.providers]
    assert [row.name for row in rows if not row.source or not row.date] == []
    assert [row.name for row in table.models if not row.read <= row.input <= row.write] == []
    assert [provider.name for provider in table.providers if table.price_of(provider, "") is None] == []
    assert len({row.name for row in table.models}) == len(SHIPPED["model"])


@pytest.mark.parametrize(
    ("row", "model", "expected"),
    [
        ("claude-sonnet-5", "claude-sonnet-5", True),
        ("claude-sonnet-4.5", "claude-sonnet-4-5-20250929", True),
        ("claude-sonnet-4.5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("claude-sonnet-4.5", "anthropic/Claude-Sonnet-4.5", True),
        ("claude-sonnet-4.5", "claude-sonnet-4-5@20250929", True),
        ("claude-opus-4", "claude-opus-4-20250514", True),
        ("claude-opus-4", "claude-opus-4-latest", True),
        ("claude-opus-4", "claude-opus-4-9", False),  # the price of that is unknown
        ("claude-sonnet-5", "claude-sonnet-5.5", False),
        ("gpt-5.4", "gpt-5.4-nano", False),
        ("gpt-5.4", "gpt-5.44", False),
        ("gpt-5.4", "gpt-5.4-2026-03-05", True),
        ("gpt-5.4", "", False),
    ],
)
def test_a_row_matches_the_names_of_its_model(row, model, expected):
    assert is_same_model(row, model) is expected


def test_a_user_row_overrides_the_shipped_row_key_by_key():
    own = {
        "model": [
            {"name": "claude-sonnet-5", "minimum": 2048},
            {"name": "mine", "provider": "openai", "input": 1, "write": 2, "read": 0},
        ]
    }
    table = build_prices([("shipped", SHIPPED), ("own", own)])
    anthropic, openai = (
        next(provider for provider in table.providers if provider.name == name) for name in ("anthropic", "openai")
    )
    changed = table.price_of(anthropic, "claude-sonnet-5")
    assert changed and (changed.minimum, changed.input) == (2048, 2.0)
    assert table.provider_of("mine") == "openai" and table.price_of(openai, "mine") is not None
    assert table.provider_of("unheard-of") == "" and table.price_of(openai, "unheard-of") is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"modle": []}, "own: unknown key 'modle'; did you mean 'model'?"),
        ({"model": 5}, "own: model must be a list, not 5"),
        ({"model": [5]}, "own: [[model]] 1 must be a table of keys, not 5"),
        ({"model": [{"name": " "}]}, "own: [[model]] 1: name must be a string that is not blank, not ' '"),
        ({"model": [{}]}, "own: [[model]] 1: the key 'name' is missing"),
        ({"model": [{"name": "x"}]}, "own: the model 'x': the key 'provider' is missing"),
        ({"model": [{"name": "x", "inptu": 1}]}, "own: [[model]] 1: unknown key 'inptu'; did you mean 'input'?"),
        (
            {"model": [{"name": "claude-sonnet-5", "input": "a"}]},
            "own: [[model]] 1: input must be a number from 0 to 1e9, not ",
        ),
        (
            {"model": [{"name": "claude-sonnet-5", "input": True}]},
            "own: [[model]] 1: input must be a number from 0 to 1e9, not ",
        ),
        (
            {"model": [{"name": "claude-sonnet-5", "input": -1}]},
            "own: [[model]] 1: input must be a number from 0 to 1e9, not -1",
        ),
        (
            {"model": [{"name": "claude-sonnet-5", "read": float("nan")}]},
            "own: [[model]] 1: read must be a number from 0 to 1e9, not nan",
        ),
        (
            {"model": [{"name": "claude-sonnet-5", "provider": "openia"}]},
            "the price of 'claude-sonnet-5' has an unknown provider",
        ),
        (
            {"provider": {"x": {"order": ["tools", "system", "messages"]}}},
            "own: [provider.x]: the key 'caching' is missing",
        ),
        (
            {"provider": {"openai": {"order": ["tools"]}}},
            "own: [provider.openai]: order must be tools, system, messages, each once, not ",
        ),
        (
            {"provider": {"openai": {"order": [[], 1, 2]}}},
            "own: [provider.openai]: order must be tools, system, messages, each once, not ",
        ),
        (
            {"provider": {"openai": {"caching": "often"}}},
            "own: [provider.openai]: caching must be one of breakpoints, prefix, not 'often'",
        ),
        (
            {"provider": {"openai": {"step": 0}}},
            "own: [provider.openai]: step must be a whole number from 1 to 1e9, not 0",
        ),
        ({"provider": {"openai": 3}}, "own: [provider.openai] must be a table of keys, not 3"),
    ],
)
def test_an_invalid_table_is_an_error(table, message):
    with pytest.raises(CallError) as error:
        build_prices([("shipped", SHIPPED), ("own", table)])
    assert str(error.value).startswith(message)
