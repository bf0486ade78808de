"""Late changes: what a message says about them, that requests keep their prefix, and when a new edition is cheaper."""

import itertools
import json
import random
from datetime import UTC, datetime, timedelta

import pytest

from foreword import Tool, for_anthropic, for_bedrock, for_gemini, for_openai_chat, for_openai_responses
from foreword.conversation.announcing import (
    SectionText,
    apply_edits,
    describe_section,
    describe_tool,
    find_edits,
    join_changes,
)
from foreword.conversation.choice import TokenPrice, choose
from foreword.errors import LayoutError
from foreword.text.tokens import estimate

RULES = "\n".join(f"## Part {number}\n\n- Rule {number}: check module {number} before you change it, and say what you did.\n" for number in range(300))  # fmt: skip
START = datetime(2026, 11, 16, 12, tzinfo=UTC)


def announce(old, new, path="/w/AGENTS.md"):
    section = SectionText(new, [(0, len(new), path)] if path else [])
    return "\n\n".join(join_changes([describe_section("project", old, section)]))


INTRODUCTION = (
    "Your instructions have changed. Lines marked with - no longer apply, and lines marked with + apply from now on."
    " All other instructions stay as they are."
)
SHORTENED = " In a shortened line, … stands for text that has not changed."


RULE = "- Rule {0}: check module {0} before you change it, and say what you did."


@pytest.mark.parametrize(
    ("old", "new", "place", "lines"),
    [
        (
            "check module 77",
            "test module 77",
            'under "## Part 77"',
            [f"- {RULE.format(77)}", f"+ {RULE.format(77)}".replace("check", "test")],
        ),
        ("- Rule 9: ", "- Ask first.\n- Rule 9: ", 'under "## Part 9"', ["+ - Ask first."]),
        (RULE.format(9) + "\n", "", 'under "## Part 9"', [f"- {RULE.format(9)}"]),
        (
            "\n## Part 9\n",
            "\nBe quick.\n\n## Part 9\n",
            f'under "## Part 8", after "{RULE.format(8)}"',
            ["+ Be quick.", "+ "],
        ),
    ],
)
def test_a_change_is_announced_with_its_file_and_heading(old, new, place, lines):
    text = announce(RULES, RULES.replace(old, new, 1))
    assert text == "\n".join((f"{INTRODUCTION}\n\nIn /w/AGENTS.md, {place}:", *lines))
    assert estimate(text) < 200


def test_only_the_changed_words_of_a_long_line_are_announced():
    line = " ".join(f"In case {number}, do the usual thing." for number in range(900))
    text = announce(line, line.replace("case 450, do", "case 450, never do"))
    assert text == (
        f"{INTRODUCTION}{SHORTENED}\n\nIn /w/AGENTS.md:\n"
        "- …In case 449, do the usual thing. In case 450, do the usual thing. In case 451, do the usual…\n"
        "+ …In case 449, do the usual thing. In case 450, never do the usual thing. In case 451, do the usual…"
    )


LONG_LINE = " ".join(f"word{number}" for number in range(100))
MIXED = (
    "# Build\n\nRun make.\nRun tests.\n\n```sh\n# not a heading\nmake\n```\n\nAfter the code.\n\n## Style\n\n"
    f"{LONG_LINE}\n\n- Use tabs.\n- Use tabs.\n#no heading\n- Last.\n\n" + RULES[:2000]
)


def words(first, last, **changed):
    return " ".join(changed.get(f"word{number}", f"word{number}") for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("old", "new", "place", "lines"),
    [
        # Words of a long line, with those around them. Two changes that are near each other are shown together.
        ("word10", "w10", 'under "## Style"', [f"- …{words(3, 16)}…", f"+ …{words(3, 16, word10='w10')}…"]),
        (
            words(10, 16),
            words(10, 16, word10="w10", word16="w16"),
            'under "## Style"',
            [f"- …{words(3, 22)}…", f"+ …{words(3, 22, word10='w10', word16='w16')}…"],
        ),
        (
            words(10, 30),
            words(10, 30, word10="w10", word30="w30"),
            'under "## Style"',
            [f"- …{words(3, 16)}…", f"- …{words(24, 36)}…", f"+ …{words(3, 16, word10='w10')}…", f"+ …{words(24, 36, word30='w30')}…"],
        ),
        ("word0", "w0", 'under "## Style"', [f"- {words(0, 7)}…", f"+ {words(0, 7, word0='w0')}…"]),
        ("word99", "w99", 'under "## Style"', [f"- …{words(93, 99)}", f"+ …{words(93, 99, word99='w99')}"]),
        # Other lines are shown as they are, under their heading.
        ("# Build\n", "# Built\n", "", ["- # Build", "+ # Built"]),
        ("Run make.\nRun tests.\n", "Run all.\n", 'under "# Build"', ["- Run make.", "- Run tests.", "+ Run all."]),
        ("Run make.\n", "", 'under "# Build"', ["- Run make."]),
        ("Run make.", "Run make.\nRun it.", 'under "# Build", after "Run make."', ["+ Run it."]),
        ("make\n```", "make all\n```", 'under "# Build", after "# not a heading"', ["- make", "+ make all"]),
        ("After the code.", "After all code.", 'under "# Build"', ["- After the code.", "+ After all code."]),
        ("\n\n## Style", "\n## Style", 'under "# Build", after "After the code."', ["- "]),
        # A line that is there twice is found by the line before it.
        ("- Use tabs.\n#no", "- Use spaces.\n#no", 'under "## Style", after "- Use tabs."', ["- - Use tabs.", "+ - Use spaces."]),
        ("- Use tabs.\n- Use", "- Use", 'under "## Style", after "- Use tabs."', ["- - Use tabs."]),
        ("- Last.", "- The end.", 'under "## Style"', ["- - Last.", "+ - The end."]),
    ],
)  # fmt: skip
def test_a_change_is_announced_by_the_lines_or_words_that_differ(old, new, place, lines):
    introduction = INTRODUCTION + (SHORTENED if any("…" in line for line in lines) else "")
    where = f"In /w/AGENTS.md, {place}:" if place else "In /w/AGENTS.md:"
    assert announce(MIXED, MIXED.replace(old, new, 1)) == "\n".join((f"{introduction}\n\n{where}", *lines))


@pytest.mark.parametrize("length", [60, 200, 30_000])
def test_one_word_of_a_text_without_blanks_costs_few_tokens(length):
    characters = [chr(0x4E00 + number * 7919 % 20_000) for number in range(30_000)]
    old = "\n".join("".join(characters[start : start + length]) for start in range(0, 30_000, length))
    new = f"{old[:15_010]}必須{old[15_010:]}"
    text = announce(old, new)
    assert ("必須" in text, estimate(text) < 200) == (True, True)


def test_the_whole_text_is_sent_where_it_is_shorter():
    assert announce("Use tabs.", "Use spaces.") == "The section 'project' of the system prompt has changed. It now reads:\n\nUse spaces."  # fmt: skip
    assert (
        announce("", "Use tabs.")
        == "The section 'project' of the system prompt has changed. It now reads:\n\nUse tabs."
    )
    assert announce("Use tabs.", "") == "The section 'project' of the system prompt no longer applies."


def test_a_comment_in_code_is_not_a_heading():
    text = "# Build\n\n```sh\n# not a heading\nmake\n```\n\n" + "- One more rule that is long enough to matter here.\n" * 20 + "- Last.\n"  # fmt: skip
    assert 'under "# Build"' in announce(text, text.replace("- Last.", "- The last one."))


def test_a_tool_is_announced_by_what_changed():
    old = {"name": "shell", "description": "Runs a command. " * 100, "schema": {"type": "object"}}
    text = describe_tool("shell", old, {**old, "description": old["description"] + "Never use sudo."})
    assert "Never use sudo." in text and estimate(text) < 200
    whole = 'The tool `x` has changed. Its definition is now:\n\n{"description": "X.", "name": "x"}'
    for before in (None, {"name": "x"}):
        assert describe_tool("x", before, {"name": "x", "description": "X."}) == whole
    assert describe_tool("shell", {**old, "limit": 2}, {**old, "limit": 3}) == (
        "The tool `shell` has changed. Compared with its definition in the list of tools, lines marked with - no longer apply, and lines"
        ' marked with + apply instead; … stands for text that has not changed.\n\n- "limit": 2,\n+ "limit": 3,'
    )


def test_edits_restore_any_text():
    random.seed(7)
    for _ in range(300):
        old = ["ab" * random.randint(0, 3) for _ in range(random.randint(0, 9))]
        new = [random.choice([line, line, "x y", ""]) for line in old for _ in range(random.randint(0, 2))]
        first, second = "\n".join(old), "\n".join(new)
        assert apply_edits(first, find_edits(first, second)) == second
        describe_section("s", first, SectionText(second))


# Requests


FORMS = {
    "anthropic": (for_anthropic, "messages"),
    "openai": (for_openai_responses, "input"),
    "openai-chat": (for_openai_chat, "messages"),
    "gemini": (for_gemini, "contents"),
    "bedrock": (for_bedrock, "messages"),
}
FILE = RULES[:28_000]


def without_marks(content):
    """Return a request's content without cache breakpoints, which move from turn to turn."""
    if isinstance(content, dict):
        return {key: without_marks(field) for key, field in content.items() if key not in ("cache_control", "prompt_cache_breakpoint")}  # fmt: skip
    if isinstance(content, list | tuple):
        rows = [without_marks(row) for row in content if not (isinstance(row, dict) and "cachePoint" in row)]
        is_text = len(rows) == 1 and isinstance(rows[0], dict) and rows[0].get("type") == "text"
        return rows[0]["text"] if is_text else rows  # a string is the same as one block of text
    return content


@pytest.mark.parametrize("step", ["announce", "append"])
@pytest.mark.parametrize("keeps_own_history", [False, True])
@pytest.mark.parametrize(("form", "model"), [("anthropic", "claude-sonnet-5.5"), ("anthropic", "claude-sonnet-5"), ("openai", "gpt-5.6-terra"), ("openai-chat", "gpt-5.6-terra"), ("gemini", "gemini-3.8-flash"), ("bedrock", "anthropic.claude-sonnet-5")])  # fmt: skip
def test_each_request_begins_with_the_whole_previous_one(tree, open_conversation, step, keeps_own_history, form, model):
    """Over eight edits of a long file, whoever keeps the history, nothing is dropped, moved or sent twice inside an edition."""
    convert, key = FORMS[form]
    history, own, previous, texts = [], [], None, []
    for turn_number in range(24):
        edits = turn_number // 3
        tree({"w/.git": None, "w/AGENTS.md": FILE.replace("check module", f"check ({edits}) module", edits)})
        conversation = open_conversation("foreword", model=model, set={"on.turn": step})
        turn = conversation.turn(f"Step {turn_number}.", own if keeps_own_history else history)
        answer = {"role": "assistant", "content": f"Done with {turn_number}. " * 20}
        own += [{"role": "user", "content": f"Step {turn_number}."}, answer]
        history = [*turn.history, answer]
        request = without_marks(convert(turn))
        messages = [json.dumps(row, sort_keys=True) for row in request.pop(key)]
        head = json.dumps(request, sort_keys=True)
        if previous and previous[0] == turn.edition:
            assert previous[1] == head
            assert messages[: len(previous[2])] == previous[2]
        announcements = [row for row in messages if "Your instructions have changed" in row]
        assert len(announcements) == len(set(announcements))
        previous = turn.edition, head, messages
        texts.append(len(announcements))
    assert texts[-1] == 7 if step == "announce" else texts[-1] <= 7
    if step == "announce":
        assert turn.edition == 1


def test_one_word_of_a_long_file_costs_few_tokens(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": RULES[:30_000]})
    options = {"set": {"on.turn": "append"}, "model": "claude-sonnet-5.5"}
    first = open_conversation("foreword", **options).turn("Hi.")
    tree({"w/AGENTS.md": RULES[:30_000].replace("module 150", "package 150")})
    turn = open_conversation("foreword", **options).turn("Go on.", first.history)
    (text,) = [row["content"] for row in turn.messages if "have changed" in row["content"]]
    assert (turn.edition, estimate(text) < 200) == (1, True)
    tree({"w/AGENTS.md": RULES[:30_000]})
    turn = open_conversation("foreword", **options).turn("Go on.", turn.history)
    reverted = turn.messages[-2]["content"]
    assert "+ - Rule 150: check module 150" in reverted and "- - Rule 150: check package 150" in reverted


def test_append_builds_a_new_edition_when_that_is_cheaper(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": "".join(f"Old rule {number} about something.\n" for number in range(800))})
    options = {"set": {"on.turn": "append"}, "model": "claude-sonnet-5.5"}
    first = open_conversation("foreword", **options).turn("Hi.")
    history = [*first.history, {"role": "assistant", "content": "Yes."}]
    tree({"w/AGENTS.md": "".join(f"Entirely new and other text, number {number}.\n" for number in range(1600))})
    turn = open_conversation("foreword", **options).turn("Go on.", history)
    assert (turn.edition, "Entirely new" in turn.system, len(turn.messages)) == (2, True, 3)
    (message,) = [finding.message for finding in turn.findings if finding.code == "rebuilt"]
    assert (
        message.startswith("edition 2 was built because that is cheaper: it loses about ") and message.count("$") == 2
    )


@pytest.mark.parametrize("text", [RULES.replace("Rule 9:", "Rule nine:"), "Be brief.\n"], ids=["cheap", "expensive"])
def test_new_tools_and_an_edit_in_one_turn_make_one_edition(tree, open_conversation, tool_names, text):
    tree({"w/.git": None, "w/AGENTS.md": RULES})
    conversation = open_conversation("pi", tools="read", set={"on.turn": "append"}, model="claude-sonnet-5-5")
    first = conversation.turn("Hello.", now=START)
    tree({"w/AGENTS.md": text})
    conversation.set_active_tools(["read", Tool("write")])
    turn = conversation.turn("Go on.", first.history, now=START)
    assert (turn.edition, turn.history[1:]) == (2, ({"role": "user", "content": "Go on."},))
    assert text.strip() in turn.system
    assert tool_names(turn.tools) == ["read", "write"]
    assert conversation.turn("And?", turn.history, now=START).edition == 2


def test_a_new_edition_drops_the_announcements_it_contains(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": RULES})
    options = {"set": {"on.turn": "announce"}, "model": "claude-sonnet-5.5"}
    first = open_conversation("foreword", **options).turn("Hi.")
    tree({"w/AGENTS.md": RULES.replace("module 150", "package 150")})
    second = open_conversation("foreword", **options).turn("Go on.", first.history)
    assert len(second.messages) == 3
    open_conversation("foreword", **options).construct()
    third = open_conversation("foreword", **options).turn("And now?", second.history)
    assert (third.edition, [row["content"] for row in third.messages]) == (2, ["Hi.", "Go on.", "And now?"])


def test_a_cache_that_has_expired_costs_nothing_to_rebuild(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": RULES})
    options = {"set": {"on.turn": "append"}, "model": "claude-sonnet-5.5", "provider": "anthropic"}
    conversation = open_conversation("foreword", **options)
    conversation.turn("Hi.", now=START)
    usage = {"input_tokens": 9, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 9000, "output_tokens": 1}
    conversation.record_usage(usage, now=START)
    tree({"w/AGENTS.md": RULES.replace("module 150", "package 150")})
    soon = open_conversation("foreword", **options).turn("Go on.", now=START + timedelta(minutes=4))
    late = open_conversation("foreword", **options).turn("Go on.", now=START + timedelta(minutes=10))
    assert (soon.edition, late.edition) == (1, 2)


def test_a_switch_to_another_provider_and_back_keeps_the_edition(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": "".join(f"Old rule {number} about something.\n" for number in range(800))})
    first = {"set": {"on.turn": "append"}, "model": "claude-sonnet-5.5", "provider": "anthropic"}
    other = {"set": {"on.turn": "append"}, "model": "gpt-5.6-terra", "provider": "openai"}
    before = open_conversation("foreword", **first).turn("Hi.", now=START)
    tree({"w/AGENTS.md": "".join(f"Entirely new and other text, number {number}.\n" for number in range(1600))})
    away = open_conversation("foreword", **other).turn("Go on.", before.history, now=START + timedelta(minutes=1))
    assert (away.edition, away.system) == (1, before.system)
    stays_away = open_conversation("foreword", **other).turn("Go on.", away.history, now=START + timedelta(minutes=20))
    assert stays_away.edition == 2  # the lifetime of the first one's cache has run out


def test_the_way_back_continues_with_the_same_bytes(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": RULES})
    models = [("claude-sonnet-5.5", "anthropic"), ("gpt-5.6-terra", "openai"), ("claude-sonnet-5.5", "anthropic")]
    turns, history = [], []
    for minute, (model, provider) in enumerate(models):
        conversation = open_conversation("foreword", model=model, provider=provider, set={"on.turn": "append"})
        turn = conversation.turn("Go on.", history, now=START + timedelta(minutes=minute))
        usage = {
            "input_tokens": 9,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 9000,
            "output_tokens": 1,
        }
        conversation.record_usage(usage, model=model, now=START + timedelta(minutes=minute))
        history = [*turn.history, {"role": "assistant", "content": "Done."}]
        turns.append(turn)
        tree({"w/AGENTS.md": RULES.replace("module 150", f"package {minute}")})
    assert [turn.edition for turn in turns] == [1, 1, 1]
    before, after = (without_marks(for_anthropic(turns[number])) for number in (0, 2))
    assert after["messages"][: len(before["messages"])] == before["messages"]


def test_a_layout_that_builds_once_has_no_append(tree, open_conversation):
    tree({"w/AGENTS.md": "One."})
    with pytest.raises(
        LayoutError, match=r"on\.turn: this layout builds its prompt once, so it has no 'append'; use 'announce'"
    ):
        open_conversation("pod", set={"on.turn": "append"}).turn("Hi.")
    open_conversation("pod", set={"on.turn": "announce"}).turn("Hi.")
    tree({"w/AGENTS.md": "Two."})
    turn = open_conversation("pod", set={"on.turn": "announce"}).turn("Go on.")
    assert turn.edition == 1 and "One." in turn.system and "Two." in turn.messages[0]["content"]


# The rule


def cost_of(calls, prices, decisions):
    """Return what a sequence of calls costs. Each call has an announcement of some tokens (0 if nothing has changed)."""
    total, carried = 0.0, 0
    for tokens, lost, rebuilds in zip(calls, prices, decisions, strict=True):
        if rebuilds:
            total, carried = total + lost * (PRICE.write - PRICE.read), 0
        else:
            total, carried = total + tokens * PRICE.write + carried * PRICE.read, carried + tokens
    return total


def best_cost(calls, prices):
    """Return the least that a sequence of calls can cost. Of all decisions that end with a rebuild, only the cheapest matters later."""
    states = [(0.0, 0)]
    for tokens, lost in zip(calls, prices, strict=True):
        rebuilt = min(total for total, _ in states) + lost * (PRICE.write - PRICE.read)
        kept = [(total + tokens * PRICE.write + carried * PRICE.read, carried + tokens) for total, carried in states]
        states = [(rebuilt, 0), *kept]
    return min(total for total, _ in states)


def rule(calls, prices):
    """Return the decisions of the rule."""
    carried, decisions = [], []
    for tokens, lost in zip(calls, prices, strict=True):
        decisions.append(choose(carried, tokens, lost, PRICE).is_rebuild)
        carried = [] if decisions[-1] else [*((count, sent + 1) for count, sent in carried), (tokens, 1)]
    return decisions


PRICE = TokenPrice(read=0.1, write=1.25)


def test_the_best_cost_is_that_of_the_best_decisions():
    for calls in itertools.product((0, 2, 9), repeat=4):
        prices = [10, 50, 3, 30]
        costs = [cost_of(calls, prices, decisions) for decisions in itertools.product((False, True), repeat=4)]
        assert best_cost(calls, prices) == pytest.approx(min(costs))


@pytest.mark.parametrize(("growth", "bound"), [(0, 2.0), (40, None)])
def test_the_rule_is_within_its_bound_for_all_short_sequences(growth, bound):
    """Compared with the best of all decisions, for every sequence of up to seven calls with these announcements."""
    worst = 0.0
    for length in range(1, 8):
        prices = [10 + growth * number for number in range(length)]
        limit = bound or 2 * prices[-1] / prices[0]
        for calls in itertools.product((0, 2, 9), repeat=length):
            best = best_cost(calls, prices)
            ratio = cost_of(calls, prices, rule(calls, prices)) / best if best else 1.0
            assert ratio <= limit + 1e-9, (calls, ratio)
            worst = max(worst, ratio)
    assert worst > 1.2  # the sequences include hard ones
