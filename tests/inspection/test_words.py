"""Changed words, as a person would mark them, with bounded work."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.text.words import changed_spans, common_prefix_length, longest_increasing


def changed_words(old, new, **options):
    """The changes as pairs of old and new text."""
    return [(old[a:b], new[c:d]) for a, b, c, d in changed_spans(old, new, **options)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", []),
        ("same", "same", []),
        ("", "all of it", [("", "all of it")]),
        ("all of it", "", [("all of it", "")]),
        ("run make test now", "run make check now", [("test", "check")]),
        ("one two three", "one 2 3 three", [("two", "2 3")]),
        ("a b c d", "a x y d", [("b c", "x y")]),  # adjacent changes are merged
        ("a\nb\nc\n", "a\nc\n", [("b\n", "")]),
        ("a\nc\n", "a\nb\nc\n", [("", "b\n")]),
        ("Done.\n", "Done.\n\nBe kind.\n", [("", "\nBe kind.\n")]),  # entire lines, not '.\n\nBe kind'
        ("x = 1", "x  = 1", [(" ", "  ")]),
        ("naïve cafe\u0301 x", "naïve cafe x", [("cafe\u0301", "cafe")]),  # an accent belongs to its word
        ("hi 👩‍👩‍👧!", "hi 👩‍👩‍👦!", [("👩‍👩‍👧", "👩‍👩‍👦")]),  # and an emoji is one
        ("𝕏 rules", "𝕐 rules", [("𝕏", "𝕐")]),
        ("a\u2028b", "a\u2028c", [("b", "c")]),
        ("a\0b", "a\0c", [("b", "c")]),
        ("a\ud800b", "a\udfffb", [("\ud800", "\udfff")]),
        ("first line\nsecond line\n", "second line\nfirst line\n", [("first line\n", ""), ("", "first line\n")]),
    ],
)
def test_changed_words_are_found(old, new, expected):
    assert changed_words(old, new) == expected


def test_equal_numbers_of_lines_are_compared_one_by_one():
    assert changed_words("a: 1\nb: 1\na: 1\n", "a: 2\nb: 2\na: 2\n") == [("1", "2")] * 3


def test_a_rewritten_line_is_one_change():
    old = "The quick brown fox jumps over the lazy dog, again and again.\n"
    new = "Nothing of that: a wholly other sentence, the cat sleeps.\n"
    assert len(changed_words(old, new)) == 1


def apply_changes(old, new, spans):
    text, position = "", 0
    for a, b, c, d in spans:
        text += old[position:a] + new[c:d]
        position = b
    return text + old[position:]


lines = st.lists(st.text("ab \n.é👍", max_size=8), max_size=12).map("\n".join)


@given(lines, lines, st.sampled_from([0, 5, 50, 3_000_000]))
def test_the_changes_turn_the_old_text_into_the_new_one(old, new, work):
    spans = changed_spans(old, new, work)
    assert apply_changes(old, new, spans) == new
    assert all(a < b or c < d for a, b, c, d in spans)
    assert all(one[1] <= other[0] and one[3] <= other[2] for one, other in itertools.pairwise(spans))


@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_the_common_start_is_as_long_as_possible(one, other):
    start = common_prefix_length(one, other)
    assert one[:start] == other[:start]
    assert one[start : start + 1] != other[start : start + 1] or start == len(one) == len(other)


@given(st.lists(st.integers(0, 40), unique=True, max_size=12))
def test_longest_rise_is_rising_and_maximal(numbers):
    positions = longest_increasing(numbers)
    rise = [numbers[position] for position in positions]
    assert rise == sorted(rise) and positions == sorted(positions)
    longest = [1] * len(numbers)
    for index, number in enumerate(numbers):
        longest[index] = 1 + max((longest[before] for before in range(index) if numbers[before] < number), default=0)
    assert len(rise) == max(longest, default=0)


def test_beyond_the_work_limit_the_rest_is_one_change():
    old, new = "a b a b a b c " * 20, "b a b a c b a " * 20
    assert len(changed_words(old, new, max_comparisons=0)) == 1
    assert len(changed_words(old, new)) > 10
