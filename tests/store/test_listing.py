"""Every page of every filter and order has the conversations that a scan would find, whatever the limits."""

import json
from itertools import product

import pytest

from foreword.errors import CallError, MissingError
from foreword.store import listing
from foreword.store.listing import ConversationQuery, end_of
from foreword.vocabulary import Edition, replace

TIMES = [f"2026-01-{day:02}T00:00:00.000+00:00" for day in (1, 2, 3)]
SINCE, UNTIL = 1_767_312_000.0, 1_767_398_400.0  # the second day


def make(number):
    layout, model = ("$std/pi", "$std/opal")[number % 2], ("m1", "m2", "")[number % 3]
    target = {"model": model, **({"template": number % 2 + 1} if number % 5 else {})}
    return Edition(1, f"{number % 7}", "[]", "{}", "", layout, json.dumps(target), TIMES[number % 3])


def matches(row, query):
    day = int(row.created[8:10])
    return (
        row.id.startswith(query.prefix)
        and (not query.layout or row.layout == query.layout)
        and (not query.model or row.model == query.model)
        and (not query.template or row.template == query.template)
        and (query.version is None or row.version == query.version)
        and (query.since is None or day >= 2)
        and (query.until is None or day < 3)
    )


@pytest.fixture
def filled(store):
    for number in range(30):
        store.publish(f"{'ab'[number % 4 == 0]}-{number:02}", make(number), 0)
    store.publish("a-01", replace(make(2), number=2), 1)
    return store


def pages(store, query):
    rows = []
    for _ in range(100):
        page = store.conversations(query)
        assert len(page.rows) <= query.limit
        rows += page.rows
        if not page.next:
            return rows
        query = replace(query, after=page.next)
    raise AssertionError("the pages do not end")


FILTERS = [
    {},
    {"layout": "$std/pi"},
    {"model": "m1", "version": 1},
    {"template": "default"},
    {"template": "default", "version": 2},
    {"since": SINCE},
    {"since": SINCE, "until": UNTIL, "layout": "$std/opal"},
    {"model": "unknown"},
]


@pytest.mark.parametrize("most_examined", [4, 5000])
def test_pages_have_what_a_scan_would_find(filled, monkeypatch, most_examined):
    monkeypatch.setattr(listing, "_MAX_EXAMINED", most_examined)
    monkeypatch.setattr(listing, "_MAX_KINDS", 2 if most_examined == 4 else 50)
    everything = pages(filled, ConversationQuery(limit=7))
    assert [row.id for row in everything] == sorted(row.id for row in everything) and len(everything) == 30
    for filters, prefix, newest in product(FILTERS, ("", "a", "b-1", "c"), (False, True)):
        query = ConversationQuery(prefix=prefix, newest=newest, limit=3, **filters)
        found = pages(filled, query)
        expected = [row for row in everything if matches(row, query)]
        assert sorted(row.id for row in found) == [row.id for row in expected], query
        if newest:
            assert [row.created for row in found] == sorted((row.created for row in found), reverse=True), query
        else:
            assert [row.id for row in found] == [row.id for row in expected], query
        assert filled.count(query) == (len(expected), True), query


def test_a_large_number_is_not_counted_exactly(filled, monkeypatch):
    monkeypatch.setattr(listing, "_MAX_COUNTED", 10)
    assert filled.count(ConversationQuery(prefix="a")) == (10, False)
    assert filled.count(ConversationQuery(prefix="b", since=SINCE)) == (5, True), (
        "there are only eight with this prefix"
    )
    assert filled.count() == (30, True)


COMBINATIONS = {
    "newest with a prefix": {"prefix": "old-", "newest": True},
    "newest with a prefix and a model": {"prefix": "old-", "newest": True, "model": "rare"},
    "by id with a model": {"model": "rare"},
    "by id with a time": {"until": 1_767_225_600.0},
}


@pytest.fixture
def crowded(store, monkeypatch):
    """A store in which few conversations match, and an index in either order has many others before them."""
    monkeypatch.setattr(listing, "_MAX_EXAMINED", 5)
    monkeypatch.setattr(listing, "_MAX_COUNTED", 10)
    for number in range(60):
        created = f"2026-02-01T00:00:{number:02}.000+00:00"
        store.publish(f"a-{number:02}", Edition(1, "p", "[]", "{}", "", "$std/pi", "{}", created), 0)
    for number in range(8):
        created, target = f"2025-12-01T00:00:{number:02}.000+00:00", json.dumps({"model": "rare"})
        store.publish(f"old-{number}", Edition(1, "p", "[]", "{}", "", "$std/pi", target, created), 0)
    return store


@pytest.mark.parametrize("name", COMBINATIONS)
def test_the_work_for_a_page_and_a_count_does_not_depend_on_what_others_have(crowded, name, monkeypatch):
    read = []
    select = type(crowded)._select

    def counted(self, connection, statement, key=()):
        rows = select(self, connection, statement, key)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(type(crowded), "_select", counted)
    query = ConversationQuery(limit=3, **COMBINATIONS[name])
    page = crowded.conversations(query)
    expected = [f"old-{number}" for number in ((7, 6, 5) if query.newest else (0, 1, 2))]
    assert [row.id for row in page.rows] == expected and page.next
    assert sum(read) <= 30, "two steps of each walk, and the details: sixty others were not read"
    assert crowded.count(query) == (8, True)


def test_no_page_is_empty_if_there_are_more(crowded, monkeypatch):
    monkeypatch.setattr(listing, "_USUAL_STEPS", 1)
    for number in range(8, 40):  # now neither walk is short
        created = f"2025-12-01T00:00:{number:02}.000+00:00"
        crowded.publish(f"old-{number:02}", Edition(1, "p", "[]", "{}", "", "$std/pi", "{}", created), 0)
    page, seen = crowded.conversations(ConversationQuery(prefix="old-", newest=True, limit=3)), 0
    while page.next:
        assert page.rows
        seen += len(page.rows)
        page = crowded.conversations(ConversationQuery(prefix="old-", newest=True, limit=3, after=page.next))
    assert seen + len(page.rows) == 40


def test_a_search_that_finds_nothing_within_its_limit_says_what_to_ask_instead(crowded, monkeypatch):
    monkeypatch.setattr(listing, "_MAX_STEPS", 1)
    with pytest.raises(
        CallError, match="no such conversation was found among 5 that were examined; use a longer prefix"
    ):
        crowded.conversations(ConversationQuery(prefix="old-", newest=True))


def test_a_wrong_position_is_an_error(store):
    for after in ("x", "1.y", f"{2**70}.1"):
        with pytest.raises(MissingError, match="after must be the `next`"):
            store.conversations(ConversationQuery(newest=True, after=after))


@pytest.mark.parametrize("prefix", ["a", "a\U0010ffff", "\ud7ff", "😀", "\U0010ffff"])
def test_the_end_of_a_prefix_comes_after_everything_that_begins_with_it(prefix):
    assert prefix < prefix + "\U0010ffff" * 3 < end_of(prefix)
