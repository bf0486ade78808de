"""Every page of every filter and order has the conversations that a scan would find, whatever the limits."""

import json
from itertools import product

import pytest

from foreword.errors import MissingError
from foreword.store import listing, walking
from foreword.store.listing import ConversationQuery
from foreword.store.walking import Position, end_of
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


@pytest.fixture
def short_walks(monkeypatch):
    monkeypatch.setattr(walking, "ID_STEPS", (1, 2))
    monkeypatch.setattr(walking, "TIME_STEPS", (2, 4))


@pytest.mark.parametrize("are_walks_short", [True, False])
def test_pages_have_what_a_scan_would_find(filled, monkeypatch, are_walks_short, request):
    if are_walks_short:
        request.getfixturevalue("short_walks")
        monkeypatch.setattr(walking, "_MAX_KINDS", 2)
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
    monkeypatch.setattr(walking, "ID_STEPS", (5, 5))
    monkeypatch.setattr(walking, "TIME_STEPS", (5, 5))
    monkeypatch.setattr(listing, "_MAX_COUNTED", 10)
    for number in range(60):
        created = f"2026-02-01T00:00:{number:02}.000+00:00"
        store.publish(f"a-{number:02}", Edition(1, "p", "[]", "{}", "", "$std/pi", "{}", created), 0)
    add_old(store, range(8))
    return store


def add_old(store, numbers):
    for number in numbers:
        created, target = f"2025-12-01T00:00:{number:02}.000+00:00", json.dumps({"model": "rare"})
        store.publish(f"old-{number:02}", Edition(1, "p", "[]", "{}", "", "$std/pi", target, created), 0)


@pytest.mark.parametrize("name", COMBINATIONS)
def test_few_that_match_are_found_whatever_others_have(crowded, name):
    query = ConversationQuery(limit=3, **COMBINATIONS[name])
    page = crowded.conversations(query)
    expected = [f"old-{number:02}" for number in ((7, 6, 5) if query.newest else (0, 1, 2))]
    assert [row.id for row in page.rows] == expected and page.next
    assert crowded.count(query) == (8, True)


MANY = {"newest": {"prefix": "old-", "newest": True}, "by id": {"model": "rare"}}


@pytest.mark.parametrize("name", MANY)
def test_the_work_for_a_page_does_not_depend_on_how_many_match_or_not(crowded, name, monkeypatch):
    add_old(crowded, range(8, 40))  # now neither walk reaches them within its limit
    read, select = [], type(crowded)._select

    def counted(self, connection, statement, key=()):
        rows = select(self, connection, statement, key)
        read.append(len(rows))
        return rows

    monkeypatch.setattr(type(crowded), "_select", counted)
    query, sizes, found = ConversationQuery(limit=3, **MANY[name]), [], []
    for _ in range(100):
        read.clear()
        page = crowded.conversations(query)
        assert len(read) <= 11 and sum(read) <= 32, "two steps of two walks, of two statements each, and the details"
        sizes.append(len(page.rows))
        found += [row.id for row in page.rows]
        if not page.next:
            break
        query = replace(query, after=page.next)
    expected = [f"old-{number:02}" for number in range(40)]
    assert found == (expected[::-1] if query.newest else expected)
    assert sizes[0] == 0, "a page without conversations is not always the last one"


def test_the_walk_by_id_goes_on_with_the_next_page(crowded):
    """It has read all ids with the fourth page. The other walk would need six pages until it finds one."""
    add_old(crowded, range(8, 37))
    query, nexts = ConversationQuery(prefix="old-", newest=True, limit=3), []
    while not (page := crowded.conversations(query)).rows:
        nexts.append(Position.read(page.next))
        query = replace(query, after=page.next)
    assert [position.reached for position in nexts] == ["old-09", "old-19", "old-29", ""]
    newest = [position.newest for position in nexts[:3]]
    assert newest == sorted(newest) and len(set(newest)) == 3
    assert [row.id for row in page.rows] == ["old-36", "old-35", "old-34"]


def test_a_search_for_what_is_not_there_ends(crowded):
    add_old(crowded, range(8, 40))
    query, pages = ConversationQuery(prefix="a-", newest=True, until=1_767_225_600.0), 1
    while next := (page := crowded.conversations(query)).next:
        assert not page.rows
        query, pages = replace(query, after=next), pages + 1
    assert not page.rows and pages > 1


def test_a_wrong_position_is_an_error(store):
    for after in ("x", "1", "1.y", f"{2**70}.1", "1.2.3", "1.2.3..old", "1.2..3.old", f"1.2.3.{2**70}.old"):
        with pytest.raises(MissingError, match="after must be the `next`"):
            store.conversations(ConversationQuery(newest=True, after=after))


@pytest.mark.parametrize("state", [{}, {"newest": (-7, 5), "reached": "old.1.2"}, {"newest": None, "reached": "3"}])
def test_a_position_is_read_as_it_was_written(state):
    position = Position(5, 6, **state)
    assert Position.read(position.write()) == position


@pytest.mark.parametrize("prefix", ["a", "a\U0010ffff", "\ud7ff", "😀", "\U0010ffff"])
def test_the_end_of_a_prefix_comes_after_everything_that_begins_with_it(prefix):
    assert prefix < prefix + "\U0010ffff" * 3 < end_of(prefix)
