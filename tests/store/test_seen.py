"""What a process remembers of editions stays inside its bound, whatever is kept and forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from foreword.store.rows import texts_of
from foreword.store.seen import Seen
from foreword.vocabulary import Edition

MOST = 100


def edition(system, tools="[]"):
    return Edition(1, system, tools, "", "", "", "", "")


def test_the_oldest_are_forgotten_when_the_texts_are_too_many():
    seen = Seen(MOST)
    for number in range(10):
        seen.keep(f"talk-{number}", edition(f"{number}" * 30), row=number)
    assert [number for number in range(10) if seen.get(f"talk-{number}") != (None, None)] == [7, 8, 9]
    assert seen.get("talk-9") == (9, edition("9" * 30))


def test_a_text_that_is_shared_counts_once():
    seen = Seen(MOST)
    for number in range(1000):
        seen.keep(f"talk-{number}", edition("x" * 90))
    assert seen.get("talk-0")[1] == edition("x" * 90)


def test_one_that_is_larger_than_all_is_kept_alone():
    seen = Seen(MOST)
    seen.keep("small", edition("x"))
    seen.keep("large", edition("y" * 1000))
    assert (seen.get("small")[1], seen.get("large")[1]) == (None, edition("y" * 1000))
    seen.keep("small", edition("x"))
    assert (seen.get("small")[1], seen.get("large")[1]) == (edition("x"), None)


steps = st.lists(
    st.tuples(
        st.sampled_from("abcdef"), st.none() | st.tuples(st.sampled_from("xyz"), st.integers(0, 60)), st.booleans()
    )
)


@given(steps)
def test_what_is_counted_is_what_is_held(steps):
    seen = Seen(MOST)
    held = {}
    for conversation, text, has_tools in steps:
        if text is None:
            seen.forget(conversation)
            held.pop(conversation, None)
        else:
            letter, length = text
            held[conversation] = edition(letter * length, letter * 7 if has_tools else "")
            seen.keep(conversation, held[conversation])
            assert seen.get(conversation)[1] is held[conversation]
        held = {name: each for name, each in held.items() if seen.get(name)[1] is each}
        distinct = {text for each in held.values() for text in texts_of(each)}
        assert seen._size == sum(map(len, distinct))
        assert seen._size <= MOST or len(held) == 1
