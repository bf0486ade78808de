"""Without statistics, which nobody makes for a SQLite store, each statement about editions searches the index that it was written for."""

from itertools import product

import pytest

from foreword.store import open_store
from foreword.store.all_teams import AllTeams
from foreword.store.listing import ConversationQuery
from foreword.store.sqlite import SqliteStore
from foreword.vocabulary import replace

FILTERS = [
    {},
    {"prefix": "b"},
    {"layout": "layout 1"},
    {"until": 1_767_571_200.0},
    {"prefix": "b", "layout": "layout 1", "since": 1_767_271_200.0},
]


@pytest.fixture
def plans(monkeypatch):
    """The steps of SQLite's plans for all statements that a store has run."""
    found = {}
    run = {name: getattr(SqliteStore, name) for name in ("_select", "_execute")}

    def explained(name):
        def explain_and_run(self, connection, statement, key=()):
            if "foreword_editions" in statement:
                rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", key).fetchall()
                found[" ".join(statement.split())] = [row[3] for row in rows]
            return run[name](self, connection, statement, key)

        return explain_and_run

    for name in run:
        monkeypatch.setattr(SqliteStore, name, explained(name))
    return found


@pytest.fixture
def filled(tmp_path, edition):
    store = open_store(f"{tmp_path}/store.db").for_team("shop")
    for number in range(20):
        created = f"2026-01-{number % 10 + 1:02}T00:00:00.000+00:00"
        first = edition(1, created=created, layout=f"layout {number % 2}")
        store.publish(f"{'ab'[number % 2]}-{number:02}", first, 0)
        store.publish(f"{'ab'[number % 2]}-{number:02}", replace(first, number=2), 1)
    yield store
    store.close()


def test_no_statement_reads_all_conversations_of_a_team(filled, plans):
    for fields, newest, store in product(FILTERS, (False, True), (filled, AllTeams(filled))):
        query = ConversationQuery(newest=newest, limit=3, **fields)
        page = store.conversations(query)
        assert page.rows and page.next and store.conversations(replace(query, after=page.next)).rows
        store.count(query)
    assert AllTeams(filled).with_conversation("a-00") == ["shop"]
    assert (
        filled.editions("a-00")
        and filled.current("a-00")
        and filled.edition("a-00", 1)
        and filled.save_state("a-00", 2, "x")
    )
    assert filled.forget("a-02")
    list(filled.prune(1_767_371_200.0, keep_last=1))
    list(filled.prune(1_767_371_200.0, keep_last=0))
    list(filled.move_to_teams({"b-": "billing"}))
    assert len(plans) > 40
    wrong = {
        statement: step
        for statement, steps in plans.items()
        for step in steps
        if "foreword_editions" in step and ("kind>?" in step or "(team=?)" in step or step.startswith("SCAN"))
    }
    assert wrong == {}
