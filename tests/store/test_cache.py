"""The cache of editions stays within its limit, whatever is put and discarded."""

import hashlib
from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from foreword.store import open_store
from foreword.store.cache import EditionCache
from foreword.store.rows import texts_of
from foreword.store.texts import hash_of
from foreword.vocabulary import Edition

LIMIT = 100


def small_edition(system, tools="[]"):
    return Edition(1, system, tools, "", "", "", "", "")


def cached_edition(cache, conversation):
    known = cache.get(conversation)
    return known and known.edition


def test_the_oldest_editions_are_dropped_first():
    cache = EditionCache(LIMIT)
    for number in range(10):
        cache.put(f"chat-{number}", small_edition(f"{number}" * 30), row=number)
    assert [number for number in range(10) if cache.get(f"chat-{number}")] == [7, 8, 9]
    known = cache.get("chat-9")
    assert (known.row, known.edition, known.moment) == (9, small_edition("9" * 30), None)


def test_a_shared_text_counts_once():
    cache = EditionCache(LIMIT)
    for number in range(1000):
        cache.put(f"chat-{number}", small_edition("x" * 90), row=number)
    assert cached_edition(cache, "chat-0") == small_edition("x" * 90)


def test_an_edition_over_the_limit_is_cached_alone():
    cache = EditionCache(LIMIT)
    cache.put("small", small_edition("x"), row=1)
    cache.put("large", small_edition("y" * 1000), row=1)
    assert (cached_edition(cache, "small"), cached_edition(cache, "large")) == (None, small_edition("y" * 1000))
    cache.put("small", small_edition("x"), row=1)
    assert (cached_edition(cache, "small"), cached_edition(cache, "large")) == (small_edition("x"), None)


def test_forgetting_hashes_each_id_once(monkeypatch):
    cache = EditionCache(LIMIT)
    two, nothing = hash_of("two"), hash_of("nothing")
    hashed = []
    monkeypatch.setattr(hashlib, "sha256", lambda data, hash=hashlib.sha256: hashed.append(data) or hash(data))
    for conversation in ("one", "two", "three"):
        cache.put(conversation, small_edition("x"), row=(1, conversation.encode()))
    cache.forget(frozenset([two, b"three"]))
    cache.put("four", small_edition("x"), row=(1, b"4"))
    cache.forget(frozenset([nothing]))
    assert [name for name in ("one", "two", "three", "four") if cache.get(name)] == ["one", "four"]
    assert hashed == [b"one", b"two", b"three", b"four"]


steps = st.lists(
    st.tuples(
        st.sampled_from("abcdef"), st.none() | st.tuples(st.sampled_from("xyz"), st.integers(0, 60)), st.booleans()
    )
)


@given(steps)
def test_the_size_counts_each_distinct_text_once(steps):
    cache = EditionCache(LIMIT)
    expected = {}
    for conversation, text, has_tools in steps:
        if text is None:
            cache.discard(conversation)
            expected.pop(conversation, None)
        else:
            letter, length = text
            expected[conversation] = small_edition(letter * length, letter * 7 if has_tools else "")
            cache.put(conversation, expected[conversation], row=None)
            assert cached_edition(cache, conversation) is expected[conversation]
        expected = {name: edition for name, edition in expected.items() if cached_edition(cache, name) is edition}
        distinct = {text for edition in expected.values() for text in texts_of(edition)}
        assert cache._size == sum(map(len, distinct))
        assert cache._size <= LIMIT or len(expected) == 1


# Editions cached by a store


def test_an_edition_is_read_once(store, edition):
    store.publish("chat", edition(1), 0)
    assert store.current("chat") is store.current("chat") is store.last_known("chat")


def test_the_published_edition_is_the_one_that_is_read(store, edition):
    published = store.publish("chat", edition(1), 0)
    assert store.last_known("chat") is published
    assert store.current("chat") is published


def test_a_state_is_cached_with_its_edition(store, edition):
    store.publish("chat", edition(1), 0)
    store.save_state("chat", 1, '{"x": 1}')
    assert store.last_known("chat") == store.current("chat") == edition(1, state='{"x": 1}')
    store.publish("chat", edition(2), 1)
    store.save_state("chat", 1, "{}")
    assert store.last_known("chat") == store.current("chat") == edition(2)


def test_other_conversations_are_not_cached(store, edition):
    store.publish("chat", edition(1), 0)
    assert store.current("other") is None
    assert store.last_known("other") is None


def test_nothing_is_read_again_until_the_store_changes(tmp_path, edition):
    with closing(open_store(f"{tmp_path}/s.db")) as store, closing(open_store(f"{tmp_path}/s.db")) as other:
        other.publish("chat", edition(1), 0)
        moment = store.moment()
        assert store.current("chat", moment) == edition(1)
        other.publish("chat", edition(2), 1)
        assert store.current("chat", moment) == edition(1), "as it was at that moment"
        assert store.current("chat") == store.current("chat", store.moment()) == edition(2)
