"""The behaviour of the protocol `Store`, for every store."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from foreword.errors import CallError, StoreError
from foreword.store import open_store
from foreword.store.cache import TextCache
from foreword.store.listing import ConversationQuery
from foreword.store.reader import StoreReader
from foreword.store.rows import ConversationRow, TemplateVersion
from foreword.store.texts import hash_of, pack, unpack
from foreword.vocabulary import Edition, digest, replace

# Editions


def test_an_unknown_conversation_has_no_editions(store):
    assert (store.current("chat"), store.edition("chat", 1), store.editions("chat")) == (None, None, [])


def test_a_published_edition_is_in_use(store, edition):
    first = edition(1)
    assert store.publish("chat", first, 0) == first
    assert (store.current("chat"), store.edition("chat", 1), store.editions("chat")) == (first, first, [first])
    assert store.current("other") is None


def test_editions_are_numbered(store, edition):
    first, second, third = (edition(number, f"word {number}") for number in (1, 2, 3))
    for published in (first, second, third):
        assert store.publish("chat", published, published.number - 1) == published
    assert store.current("chat") == third
    assert store.editions("chat") == [first, second, third]
    assert [store.edition("chat", number) for number in (0, 1, 2, 3, 4, -1, 2**80)] == [
        None,
        first,
        second,
        third,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("kept", "after", "then"),
    [
        (1, 0, 1),  # constructed by another process in the meantime
        (2, 1, 2),  # compacted by another process in the meantime
        (3, 1, 3),  # and once more
    ],
)
def test_the_loser_gets_the_edition_that_won(store, edition, kept, after, then):
    for number in range(1, kept + 1):
        store.publish("chat", edition(number, f"winner {number}"), number - 1)
    before = store.stats()
    assert store.publish("chat", edition(after + 1, "loser"), after) == edition(then, f"winner {then}")
    assert store.stats() | {"bytes": 0} == before | {"bytes": 0}


def test_a_first_edition_does_not_follow_another_that_is_stored_already(store, edition):
    first, second, other = (
        edition(1, "one", created="2025-01-01T00:00:00.000+00:00"),
        edition(2, "two"),
        edition(1, "three"),
    )
    for id, published in (("chat", first), ("chat", second), ("other", other)):
        store.publish(id, published, published.number - 1)
    assert [step.editions for step in store.prune(1.75e9, 1)][-1] == 1
    assert [kept.number for kept in store.editions("chat")] == [2]
    for loser in (second, other):  # their content is stored
        assert store.publish("chat", replace(loser, number=1), 0) == second
    assert store.publish("third", other, 0) is other
    assert (store.stats()["editions"], store.verify()) == (3, [])


def test_an_edition_cannot_follow_a_missing_one(store, edition):
    with pytest.raises(StoreError, match="conversation 'chat' has no edition 4"):
        store.publish("chat", edition(5), 4)


@pytest.mark.parametrize(("number", "after"), [(1, 1), (3, 1), (0, 0), (0, -1), (2**31, 2**31 - 1)])
def test_an_edition_has_the_number_after_the_one_it_follows(store, edition, number, after):
    with pytest.raises(CallError):
        store.publish("chat", edition(number), after)
    assert store.current("chat") is None


def test_a_state_is_saved_with_its_edition(store, edition):
    first = edition(1)
    store.publish("chat", first, 0)
    store.publish("chat", edition(2), 1)
    assert store.current("chat").state == "{}"
    store.save_state("chat", 1, '{"old": 1}')
    store.save_state("chat", 2, '{"note": "ä"}')
    assert [edition.state for edition in store.editions("chat")] == ['{"old": 1}', '{"note": "ä"}']
    store.save_state("chat", 2, "{}")
    assert store.current("chat") == edition(2)


def test_a_published_state_is_saved(store, edition):
    first = edition(1, state='{"note": 1}')
    store.publish("chat", first, 0)
    assert store.current("chat") == first


@pytest.mark.parametrize(("conversation", "number"), [("chat", 2), ("chat", 0), ("chat", 2**80), ("other", 1)])
def test_a_missing_edition_cannot_have_a_state(store, edition, conversation, number):
    store.publish("chat", edition(1), 0)
    with pytest.raises(StoreError, match=f"'{conversation}' has no edition {number}"):
        store.save_state(conversation, number, '{"x": 1}')


def test_a_state_is_saved_only_if_it_has_not_changed_since_it_was_read(store, edition):
    store.publish("chat", edition(1), 0)
    assert store.save_state("chat", 1, '{"a": 1}', "{}")
    assert not store.save_state("chat", 1, '{"b": 1}', "{}")
    assert store.current("chat").state == '{"a": 1}'
    assert store.save_state("chat", 1, "{}", '{"a": 1}')
    assert store.current("chat").state == "{}"


def test_a_state_is_not_saved_with_an_edition_that_is_no_longer_in_use(store, edition):
    store.publish("chat", edition(1), 0)
    store.publish("chat", edition(2), 1)
    assert not store.save_state("chat", 1, '{"a": 1}', "{}")
    assert [edition.state for edition in store.editions("chat")] == ["{}", "{}"]


def test_an_edition_does_not_follow_one_whose_state_has_changed(store, edition):
    store.publish("chat", edition(1), 0)
    store.save_state("chat", 1, '{"a": 1}')
    assert store.publish("chat", edition(2), 1, "{}") == edition(1, state='{"a": 1}')
    assert store.publish("chat", edition(2), 1, '{"a": 1}') == edition(2)


def test_concurrent_writers_lose_no_state(store, edition):
    """Each writer adds its name to the state, and some publish a new edition; in the end every name must be there."""
    store.publish("chat", edition(1, state="[]"), 0)

    def add(name):
        while True:
            current = store.current("chat")
            state = json.dumps(sorted([*json.loads(current.state), name]))
            if name % 3:
                if store.save_state("chat", current.number, state, current.state):
                    return
            else:
                mine = edition(current.number + 1, f"by {name}", state=state)
                if store.publish("chat", mine, current.number, current.state) is mine:
                    return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert json.loads(store.current("chat").state) == list(range(24))
    assert store.verify() == []


# Texts

TEXTS = {
    "empty": "",
    "a NUL and other controls": "a\0b\x1b\r\n",
    "half a surrogate pair": "a\ud800b\udcff",
    "all planes": "ä中😀",
    "long": "Be brief. " * 50_000,
    "long and unusual": "\udcff\0😀" * 50_000,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_text_comes_back_unchanged(store, text):
    published = Edition(1, text, text, text, text, text, text, text, text)
    assert store.publish("chat", published, 0) == published
    StoreReader.__init__(store)  # empties the caches
    assert store.current("chat") == published
    assert store.prompt(digest(text)) == (text, text)
    stored = store.add_template(TemplateVersion(0, text, text, text, text))
    assert store.template() == stored == TemplateVersion(1, text, text, text, text)
    assert store.verify() == []


def test_each_text_is_stored_once(store, edition):
    for number in range(50):
        store.publish(f"chat {number}", edition(1), 0)
    assert store.stats() | {"bytes": 0} == {"conversations": 50, "editions": 50, "texts": 6, "bytes": 0, "versions": 0}


def test_long_texts_are_compressed():
    hash, form, body = pack("Be brief. " * 50_000)
    assert (hash.hex(), len(body) < 5000) == (digest("Be brief. " * 50_000).removeprefix("sha256:"), True)
    assert unpack(form, body) == "Be brief. " * 50_000
    assert pack("Be brief.")[1:] == (0, b"Be brief.")


def test_the_cache_of_texts_stays_within_its_limit():
    texts = TextCache(max_bytes=100_000)
    loaded = []

    def load(missing):
        loaded.extend(missing)
        return [pack(text_of[hash]) for hash in missing]

    text_of = {hash_of(f"{number} " * 1000): f"{number} " * 1000 for number in range(1000)}
    first, *others = text_of
    for hash in others:
        assert texts.by_hash((hash, first), load) == {hash: text_of[hash], first: text_of[first]}
    assert loaded.count(first) == 1, "what is in use stays"
    assert len(texts._recent) + len(texts._old) < 50
    assert texts.hash("0 " * 1000) == first
    assert texts.hash("1 " * 1000) is None


def test_a_text_whose_hash_is_asked_for_stays_in_the_cache():
    texts = TextCache(max_bytes=100_000)
    text = "Be brief. " * 100
    texts.put(hash_of(text), text)
    for number in range(1000):
        assert texts.hash(text) == hash_of(text)
        texts.put(hash_of(f"{number} " * 1000), f"{number} " * 1000)


def test_a_missing_text_is_an_error():
    hash = hash_of("kept")
    for wanted in (hash, None):
        with pytest.raises(StoreError, match="text is missing from the store"):
            TextCache().by_hash([wanted], lambda missing: [])
    with pytest.raises(StoreError, match=f"text sha256:{hash.hex()} in the store is damaged"):
        TextCache().by_hash([hash], lambda missing: [(hash, 1, b"not deflated")])


# Ids

IDS = [
    "a",
    "quote ' and \" and `",
    "slash/and\\back",
    "per%cent _under_ ? %s",
    "; DROP TABLE foreword_editions",
    "ä中😀",
    "\u202e\u2028\xa0",
    " ",
    "x" * 512,
    "😀" * 512,
]


def test_an_id_can_be_any_printable_string(store, edition):
    for index, id in enumerate(IDS):
        store.publish(id, edition(1, str(index)), 0)
    assert [store.current(id) for id in IDS] == [edition(1, str(index)) for index in range(len(IDS))]
    assert ids(store) == sorted(IDS)
    assert all(id in ids(store, prefix=id) for id in IDS)


@pytest.mark.parametrize("id", ["", "x" * 513, "a\0b", "line\nline", "\x7f", "\x85", "\ud800", "tab\t"])
def test_an_id_that_is_empty_too_long_or_has_control_characters_is_an_error(store, edition, id):
    calls = [
        lambda: store.current(id),
        lambda: store.publish(id, edition(1), 0),
        lambda: store.save_state(id, 1, "{}"),
        lambda: store.edition(id, 1),
        lambda: store.editions(id),
    ]
    for call in calls:
        with pytest.raises(CallError, match="the id of a conversation"):
            call()


def test_ids_are_compared_exactly(store, edition):
    for id in ("talk", "Talk", "tälk", "ta\u0308lk", "talk "):
        store.publish(id, edition(1, id), 0)
    assert store.current("Talk") == edition(1, "Talk")
    assert store.current("TALK") is None
    assert store.stats()["conversations"] == 5


# Lists


def test_conversations_are_listed_by_id_with_their_edition_in_use(store, edition):
    store.publish("b", edition(1, "old"), 0)
    store.publish("b", edition(2, "new", layout="$std/pi", created="later"), 1)
    store.publish("a", edition(1, "old"), 0)
    a = ConversationRow("a", 1, digest(edition(1, "old").system), edition(1, "old").layout, edition().created)
    b = ConversationRow("b", 2, digest(edition(2, "new").system), "$std/pi", "later")
    assert store.conversations().rows == (a, b)


def ids(store, **fields):
    return [row.id for row in store.conversations(ConversationQuery(**fields)).rows]


@pytest.mark.parametrize(
    ("prefix", "limit", "after", "expected"),
    [
        ("", 100, "", "A1 B% a1 a2 a3 a_"),
        ("a", 100, "", "a1 a2 a3 a_"),
        ("1", 100, "", ""),
        ("B%", 100, "", "B%"),
        ("'", 100, "", ""),
        ("a\0", 100, "", ""),
        ("\ud800", 100, "", ""),
        ("a", 2, "", "a1 a2"),
        ("a", 2, "a2", "a3 a_"),
        ("a", 2, "a_", ""),
        ("a", 0, "", ""),
    ],
)
def test_conversations_are_searched_and_paged(store, edition, prefix, limit, after, expected):
    for id in ("a3", "a1", "B%", "a_", "A1", "a2"):
        store.publish(id, edition(1), 0)
    assert ids(store, prefix=prefix, limit=limit, after=after) == expected.split()


@pytest.mark.parametrize("limit", [-1, 2**31])
def test_an_invalid_limit_is_an_error(store, limit):
    with pytest.raises(CallError, match="limit must be"):
        store.conversations(ConversationQuery(limit=limit))


def test_a_prompt_is_found_by_its_id_with_its_account(store, edition):
    first = edition(1, "one")
    store.publish("a", first, 0)
    store.publish("b", replace(first, account="another"), 0)
    assert store.prompt(digest(first.system)) == (first.system, first.account)


@pytest.mark.parametrize(
    "id", ["", "sha256:", "sha256:" + "0" * 64, "sha256:" + "g" * 64, "md5:" + "0" * 64, "\0", "\ud800"]
)
def test_an_unknown_id_finds_nothing(store, edition, id):
    store.publish("a", edition(1), 0)
    assert store.prompt(id) is None


def test_only_prompts_are_found_by_id(store, edition):
    store.publish("a", edition(1), 0)
    assert store.prompt(digest(edition(1).account)) is None


# The template


def test_versions_of_the_template_are_only_added(store):
    assert (store.template(), store.templates()) == (None, [])
    first = store.add_template(TemplateVersion(0, "Be brief.", "Ada", "2026-03-07T08:55:05", "why"))
    second = store.add_template(TemplateVersion(77, "Be kind.", "Bob"))
    third = store.add_template(replace(first, author="Bob", note="back to 1"))
    assert (first, second) == (
        TemplateVersion(1, "Be brief.", "Ada", "2026-03-07T08:55:05", "why"),
        TemplateVersion(2, "Be kind.", "Bob"),
    )
    assert store.template() == third
    assert store.templates() == [third, second, first]
    assert store.templates(texts=False) == [replace(version, template="") for version in (third, second, first)]
    assert store.stats() | {"bytes": 0} == {"conversations": 0, "editions": 0, "texts": 2, "bytes": 0, "versions": 3}


@pytest.mark.parametrize(("after", "newest"), [(0, 2), (1, 2), (3, 2)])
def test_a_version_that_does_not_follow_the_newest_is_refused(store, after, newest):
    for number in range(newest):
        store.add_template(TemplateVersion(0, str(number)), after=number)
    with pytest.raises(
        StoreError, match=f"the template has changed in the meantime: its current version is {newest}, not {after}"
    ):
        store.add_template(TemplateVersion(0, "lost"), after=after)
    assert [template.template for template in store.templates()] == ["1", "0"]


# Threads


def test_threads_share_a_store(store, edition):
    wrong = []

    def publish_all(name):
        for number in range(1, 11):
            published = edition(number, f"{name} {number}")
            stored = [store.publish(name, published, number - 1), store.current(name), store.edition(name, number)]
            store.publish("shared", edition(1, name), 0)
            wrong.extend([] if stored == [published] * 3 else [(name, number)])

    threads = [threading.Thread(target=publish_all, args=(f"chat {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert store.stats() | {"bytes": 0} == {"conversations": 9, "editions": 81, "texts": 486, "bytes": 0, "versions": 0}
    assert store.verify() == []


def test_threads_that_add_a_template_get_different_versions(store):
    threads = [
        threading.Thread(target=lambda word=word: store.add_template(TemplateVersion(0, word))) for word in "abcdefgh"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [template.version for template in store.templates()] == [8, 7, 6, 5, 4, 3, 2, 1]
    assert {template.template for template in store.templates()} == set("abcdefgh")


def test_a_closed_store_raises_an_error(store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="the store is closed"):
        store.current("chat")


def test_an_unreferenced_store_closes_its_connections(url, edition):
    store = open_store(url)
    store.publish("chat", edition(1), 0)
    if url.startswith("sqlite"):
        connection, _ = store._connections.take()
        store._connections.give_back(connection)
    else:
        connection = store._pool.take()
        store._pool.give_back(connection)
    del store
    with pytest.raises(Exception, match="closed"):
        connection.execute("SELECT 1")


# Faults in a store


def change(store, *statements):
    """Change tables directly, bypassing the store."""

    def work(connection):
        for statement in statements:
            connection.execute(statement)

    store._run(work)


def numbers(store, edition):
    """Return the row id of each text of an edition."""

    def number(connection, text):
        return store._select(connection, "SELECT id FROM foreword_texts WHERE hash = ?", (hash_of(text),))[0][0]

    names = ("system", "account", "inputs")
    return store._run(lambda connection: {name: number(connection, getattr(edition, name)) for name in names})


def test_an_intact_store_has_no_faults(store, edition):
    for number in (1, 2, 3):
        store.publish("chat", edition(number, str(number)), number - 1)
    store.add_template(TemplateVersion(0, "Be brief."))
    assert store.verify() == []


def test_a_changed_text_is_found_by_its_hash(store, edition):
    store.publish("chat", edition(1), 0)
    number = numbers(store, edition(1))["inputs"]
    change(store, f"UPDATE foreword_texts SET form = 0, body = {sql_blob(store, b'changed')} WHERE id = {number}")
    hash = digest(edition(1).inputs)
    assert store.verify() == [f"text {number} does not match its hash {hash}"]
    change(store, f"UPDATE foreword_texts SET form = 1 WHERE id = {number}")
    assert store.verify() == [f"text {number} ({hash}) cannot be decoded"]
    change(store, f"UPDATE foreword_texts SET form = 9 WHERE id = {number}")
    assert store.verify() == [f"text {number} ({hash}) cannot be decoded"]


def test_values_of_another_type_are_found(tmp_path, edition):
    store = open_store(f"sqlite:///{tmp_path}/s.db")
    store.publish("chat", edition(1), 0)
    number, hash = numbers(store, edition(1))["inputs"], digest(edition(1).inputs)
    change(store, f"UPDATE foreword_texts SET form = 0, body = 'x' WHERE id = {number}")
    assert store.verify() == [f"text {number} ({hash}) cannot be decoded"]
    change(store, f"UPDATE foreword_texts SET hash = 'x' WHERE id = {number}")
    assert store.verify() == [
        f"text {number} (sha256:) cannot be decoded",
        "the texts of content 1 do not match its hash",
    ]
    store.close()


def sql_blob(store, content):
    return f"'\\x{content.hex()}'" if type(store).__name__ == "PostgresStore" else f"x'{content.hex()}'"


def disable_foreign_keys(store):
    if type(store).__name__ == "PostgresStore":
        return ("ALTER TABLE foreword_contents DROP CONSTRAINT foreword_contents_inputs_fkey",)
    return ("PRAGMA foreign_keys = OFF",)


def test_an_edition_without_its_text_is_found(store, edition):
    store.publish("chat", edition(1), 0)
    number = numbers(store, edition(1))["inputs"]
    change(store, *disable_foreign_keys(store), f"DELETE FROM foreword_texts WHERE id = {number}")
    assert store.verify() == [f"edition 1 of conversation 'chat' has no inputs: text {number} is missing"]
    StoreReader.__init__(store)  # empties the caches
    with pytest.raises(StoreError, match="text is missing from the store"):
        store.current("chat")


def test_missing_rows_are_found(store, edition):
    for number in (1, 2, 3):
        store.publish("chat", edition(number, str(number)), number - 1)
        store.add_template(TemplateVersion(0, "Be brief."))
    change(
        store,
        "DELETE FROM foreword_editions WHERE number = 2",
        "DELETE FROM foreword_templates WHERE version = 1",
        "UPDATE foreword_labels SET version = 7",
    )
    problems = store.verify()
    assert problems[0] == "edition 3 of conversation 'chat' comes after edition 1"
    assert problems[1].endswith("is not used by any edition; run foreword store prune to remove it")
    assert problems[2:] == [
        "the counts of conversations and editions are wrong",
        "version 2 of template 'default' comes after version 0",
        "label 'production' of template 'default' refers to version 7, which is missing",
    ]


# Use counts


def test_uses_counts_conversations_by_template_and_version(store, edition):
    assert store.count_template_uses() == {}
    for number in range(3):
        store.publish(f"chat {number}", edition(1, built_for='{"template": 1}'), 0)
    store.publish("chat 0", edition(2, "new", built_for='{"template": 2}'), 1)
    assert store.count_template_uses() == {("default", 1): 2, ("default", 2): 1}


# Usage


def test_usage_is_added_up_in_one_row(store, edition):
    from foreword.store.usage import CallUsage, UsageRow

    with pytest.raises(StoreError, match="conversation 't' has no edition 1"):
        store.add_usage("t", 1, CallUsage(10, 1, 2, 3, None, 100))
    store.publish("t", edition(1), 0)
    assert store.usage("t", 1) is None
    store.add_usage("t", 1, CallUsage(10, 1, 2, 3, None, 100))
    assert store.add_usage("t", 1, CallUsage(20, 4, 5, 6, 0.5, 200)) == UsageRow(
        2, 30, 5, 7, 9, 0.5, 9, 200, 3, 100, 0, 0, 20
    )
    assert store.add_usage("t", 1, CallUsage(1, 0, 0, 0, 0.25, 300)) == UsageRow(
        3, 31, 5, 7, 9, 0.75, 0, 300, 9, 200, 0, 0, 1
    )
    assert store.usage("t", 1) == UsageRow(3, 31, 5, 7, 9, 0.75, 0, 300, 9, 200, 0, 0, 1)
    assert [store.usage("t", 2), store.usage("u", 1), store.usage("t", 0), store.usage("t", 2**40)] == [None] * 4


def test_usage_is_added_up_by_day(store, edition):
    from foreword.store.usage import CallUsage, DailyUsage

    for id, number, time, cost in (
        ("t", 1, 86_399, None),
        ("t", 2, 86_400, 0.5),
        ("u", 1, 100_000, 0.25),
        ("v", 1, 0, 1.0),
    ):
        store.publish(id, edition(number), number - 1)
        store.add_usage(id, number, CallUsage(10, 1, 2, 3, cost, time))
    assert store.daily_usage(["t", "u", "none"]) == [
        DailyUsage(0, 1, 10, 1, 2, 3, None),
        DailyUsage(1, 2, 20, 2, 4, 6, 0.75),
    ]
    assert store.daily_usage([]) == []


def test_large_counts_of_usage_are_stored(store, edition):
    from foreword.store.usage import CallUsage

    store.publish("t", edition(1), 0)
    for _ in range(5):
        row = store.add_usage("t", 1, CallUsage(10**9, 10**9, 10**9, 10**9, 1e6, 2**40))
    assert (row.calls, row.input, row.output, row.time, row.cost) == (5, 5 * 10**9, 5 * 10**9, 2**40, 5e6)
