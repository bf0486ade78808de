"""Properties that budgets rely on: the estimate grows with the text, and joining texts costs almost nothing."""

from hypothesis import example, given
from hypothesis import strategies as st

from foreword.building.build import max_token_estimate
from foreword.text.tokens import count, estimate, estimate_joined

FRAGMENTS = [
    *[
        "a",
        "A",
        "z",
        "e",
        "gg",
        "X",
        "XXXX",
        "word",
        "Word",
        "WORD",
        "camelCase",
        "snake_case",
        "0",
        "7",
        "1234567",
        "3.14",
        "_",
        "__",
        ".",
        "...",
    ],
    *[
        " ",
        "  ",
        "        ",
        "\t",
        "\n",
        "\n\n",
        "\n    ",
        "\r\n",
        "\r",
        "-",
        "- ",
        "# ",
        "```",
        "(",
        "):",
        "</tag>",
        "\x00",
    ],
    *[
        "é",
        "É",
        "ß",
        "ộ",
        "я",
        "Я",
        "א",
        "ع",
        "अ",
        "ไ",
        "你",
        "好",
        "，",
        "か",
        "カ",
        "한",
        "—",
        "→",
        "─",
        "═",
        "│",
        "█",
    ],
    *["🙂", "👩‍👩‍👧", "\ufe0f", "\u200b", "\ufeff", "\ue000", "\ud800", "\udfff", "\U000e0041"],
]
everything = st.text(st.characters(exclude_categories=()))
texts = st.one_of(everything, st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join))


@given(texts)
def test_only_the_empty_text_costs_nothing(text):
    assert estimate(text) == 0 if text == "" else estimate(text) >= 1


@given(texts)
def test_the_same_text_costs_the_same(text):
    assert estimate(text) == estimate("".join(list(text)))


@given(texts, texts)
@example("a", "A")
@example("1", "a")
@example("\n", "_")
@example("a", "\n")
@example("\ud83d", "\ude42")
@example("ggg", "ggg")
@example("ee", "EE")
def test_joined_texts_cost_at_most_one_more_than_separate(one, other):
    assert estimate(one + other) <= estimate(one) + estimate(other) + 1


@given(texts, texts)
@example("XX", "XX")
@example("xxx", "xxx")
def test_separate_texts_cost_at_most_four_more_than_joined(one, other):
    assert estimate(one) + estimate(other) <= estimate(one + other) + 4


@given(texts.map(lambda text: text.rstrip("\n")), texts)
def test_separate_lines_cost_at_most_two_more_than_joined(one, other):
    assert estimate(one) + estimate("\n- " + other) <= estimate(one + "\n- " + other) + 2


@given(texts, texts)
def test_a_prefix_never_costs_more_than_the_text(beginning, rest):
    assert estimate(beginning) <= estimate(beginning + rest)


@given(texts, texts)
def test_a_suffix_costs_at_most_one_more_than_the_text(rest, end):
    assert estimate(end) <= estimate(rest + end) + 1


@given(texts)
def test_no_character_costs_more_than_three(text):
    assert estimate(text) <= 3 * len(text)


@given(texts)
@example("k1" * 50)
@example("1Ł" * 50)
@example("1!" * 50)
@example("│" * 50)
def test_the_bound_for_budgets_is_never_below_the_estimate(text):
    assert estimate(text) <= max_token_estimate(text)


@given(texts, st.sampled_from(["", "gpt-5", "gpt-4", "claude-opus-5", "claude-3-opus", "gemini-3-pro", "llama-2", "?"]))
def test_counting_never_raises(text, model):
    counted = count(text, model)
    assert counted.count >= 0
    assert counted.exact == (counted.error == 0)


@given(st.text(), st.text())
def test_any_model_or_provider_name_is_accepted(model, provider):
    counted = count("Hello, world!", model, provider)
    assert 0 <= counted.error < 1


@given(texts)
def test_a_count_for_claude_is_the_plain_count_scaled(text):
    assert count(text, "claude-opus-5").count == round(count(text).count * 1.647)


@given(st.lists(texts, max_size=6), st.lists(texts, max_size=6))
@example(["a\n", "aaaa\n", "aaaa"], ["\n-\n- ", "\n-\n"])
def test_parts_that_are_estimated_together_cost_as_much_as_the_whole(first, second):
    costs = {}
    for parts in (first, second, [*second, *first]):
        assert estimate_joined(parts, costs) == estimate("".join(parts))
