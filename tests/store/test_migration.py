"""The tables of a store have a version. Opening a store migrates them in one transaction or not at all."""

import shutil
import sqlite3
from pathlib import Path

import psycopg
import pytest

import foreword.store
from foreword.errors import StoreError
from foreword.store import open_store, postgres_schema, sqlite_connection, versions
from foreword.store.all_teams import AllTeams
from foreword.store.listing import ConversationQuery
from foreword.store.rows import TemplateVersion
from foreword.store.texts import hash_of, unpack
from foreword.vocabulary import Edition, replace

SCHEMA = Path(foreword.store.__file__).parent / "schema"
KEPT = Path(__file__).parent / "kept"
BOTH = (("sqlite", "postgres"), ("postgres", "sqlite"))


def connect(url):
    """Return a plain connection to a store, and the function that migrates it."""
    if url.startswith("sqlite"):
        return sqlite_connection.connect(url.removeprefix("sqlite:///")), sqlite_connection.migrate
    return psycopg.connect(url, autocommit=True), postgres_schema.migrate


def module_of(connection):
    return sqlite_connection if isinstance(connection, sqlite3.Connection) else postgres_schema


def version_of(connection):
    return module_of(connection).version_of(connection).version


def set_version(connection, version):
    is_file = isinstance(connection, sqlite3.Connection)
    connection.execute(
        f"PRAGMA user_version = {version}"
        if is_file
        else f"UPDATE foreword_schema SET version = {version}, lowest = {version}"
    )


def test_every_version_has_its_file_for_each_store():
    files = sorted(path.name for path in SCHEMA.iterdir() if path.suffix == ".sql")
    expansions = [name for name in files if "contract" not in name]
    assert expansions == sorted(
        f"{kind}-{number + 1}.sql" for kind in ("postgres", "sqlite") for number in range(versions.LATEST)
    )
    contractions = {name for name in files if "contract" in name}
    assert contractions == {name.replace(kind, other) for name in contractions for kind, other in BOTH}
    assert {name.replace("-contract", "") for name in contractions} < set(expansions)


@pytest.mark.xdist_group("postgres")
def test_both_stores_have_the_same_tables_and_columns(tmp_path, postgres_url):
    found = []
    for url, select in (
        (
            f"sqlite:///{tmp_path}/store.db",
            "SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table' AND t.name LIKE 'foreword%'",
        ),
        (
            postgres_url,
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()",
        ),
    ):
        open_store(url).count()
        connection, _ = connect(url)
        found.append({row for row in connection.execute(select) if row[0] != "foreword_schema"})
        connection.close()
    assert found[0] == found[1] != set()


def test_an_old_store_is_migrated(url, edition):
    store = open_store(url)
    store.publish("chat", edition(1), 0)
    store.close()
    connection, migrate = connect(url)
    steps = {
        versions.LATEST + 1: ["ALTER TABLE foreword_templates ADD COLUMN colour integer"],
        versions.LATEST + 2: [
            "CREATE TABLE foreword_colours (name integer)",
            "INSERT INTO foreword_colours VALUES (7)",
        ],
    }
    migrate(connection, steps.__getitem__, versions.LATEST + 2)
    assert version_of(connection) == versions.LATEST + 2
    assert connection.execute("SELECT name FROM foreword_colours").fetchall() == [(7,)]
    assert connection.execute("SELECT count(colour) FROM foreword_templates").fetchall() == [(0,)]
    migrate(connection, {}.__getitem__, versions.LATEST + 2)
    set_version(connection, versions.LATEST)
    connection.close()
    store = open_store(url)
    assert store.current("chat") == edition(1)
    store.close()


def test_old_versions_of_the_template_use_the_bracket_language(url):
    connection, migrate = connect(url)
    kind = "sqlite" if url.startswith("sqlite") else "postgres"
    migrate(connection, lambda version: versions.schema(kind, version), 1)
    mark = "?" if kind == "sqlite" else "%s"
    ((number,),) = connection.execute(
        f"INSERT INTO foreword_texts (hash, form, body) VALUES ({mark}, {mark}, {mark}) RETURNING id",
        (hash_of("Hi [system:date]"), 0, b"Hi [system:date]"),
    ).fetchall()
    row = (1, number, b"me", b"2026-01-01", b"why")
    marks = ", ".join([mark] * 5)
    connection.execute(f"INSERT INTO foreword_templates (version, template, author, time, note) VALUES ({marks})", row)
    connection.close()
    store = open_store(url)
    assert store.templates() == [TemplateVersion(1, "Hi [system:date]", "me", "2026-01-01", "why", "brackets")]
    added = store.add_template(TemplateVersion(0, "Hi {{ date }}", syntax="jinja"))
    assert (added.version, store.template().syntax) == (2, "jinja")
    store.close()


def stored_editions(kept):
    """Return the editions in a store of schema 3, by conversation."""
    texts = {id: unpack(form, body) for id, form, body in kept.execute("SELECT id, form, body FROM foreword_texts")}
    found = {}
    for conversation, number, *pointers, created, state in kept.execute(
        "SELECT conversation, number, system, tools, account, inputs, layout, built_for, created, state"
        " FROM foreword_editions ORDER BY conversation, number"
    ):
        edition = Edition(number, *map(texts.get, pointers), created.decode(), state.decode() if state else "{}")
        found.setdefault(conversation, []).append(edition)
    return found


def copy_rows(kept, url, version, names):
    """Copy a store of an old version from SQLite to PostgreSQL."""
    connection, migrate = connect(url)
    migrate(connection, lambda number: versions.schema("postgres", number), version, 4)
    for name in names:
        selected = kept.execute(f"SELECT * FROM foreword_{name}")
        columns = [column[0] for column in selected.description]
        for row in selected:
            marks = ", ".join(["%s"] * len(row))
            into = f"foreword_{name} ({', '.join(columns)}) OVERRIDING SYSTEM VALUE"
            connection.execute(f"INSERT INTO {into} VALUES ({marks})", row)
        if "id" in columns:
            table = f"foreword_{name}"
            connection.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
    connection.close()


def test_a_kept_store_of_schema_3_keeps_everything(url, tmp_path):
    path = str(shutil.copy(KEPT / "schema-3.db", tmp_path / "kept.db"))
    kept = sqlite3.connect(path)
    expected = stored_editions(kept)
    usage = kept.execute("SELECT calls, input FROM foreword_usage").fetchall()
    if not url.startswith("sqlite"):
        copy_rows(kept, url, 3, ("texts", "prompts", "editions", "templates", "usage"))
    kept.close()
    store = open_store(path if url.startswith("sqlite") else url)
    assert {conversation: store.editions(conversation) for conversation in expected} == expected
    assert [(row.id, row.editions, row.model, row.template, row.version) for row in store.conversations().rows] == [
        ("chat-1", 1, "claude-sonnet-4-5", "default", 2),
        ("chat-2", 2, "", "", None),
        ("ä/chat 3", 1, "", "", None),
    ]
    assert [(version.version, version.author, version.syntax) for version in store.templates()] == [
        (2, "Bob", "jinja"),
        (1, "Ada", "brackets"),
    ]
    assert store.template() == store.templates()[0]
    assert [(move.previous, move.version, move.author) for move in store.label_moves("default")] == [
        (1, 2, "Bob"),
        (0, 1, "Ada"),
    ]
    assert [(row.calls, row.input) for row in [store.usage("chat-1", 1)]] == usage
    assert (store.verify(), store.count()) == ([], (3, True))
    assert store.publish("chat-2", replace(expected["chat-2"][-1], number=3), 2).number == 3
    store.close()


SCHEMA_5 = ("texts", "kinds", "contents", "editions", "counts", "templates", "labels", "moves", "unused", "usage")
PREFIXES = {"billing-": "billing", "billing-eu-": "eu", "search/": "search", "none-": "none"}


def content_of(stores):
    """Return everything in these stores by id: editions, usage, versions, labels and moves."""
    conversations, templates, counts = {}, {}, []
    for store in stores:
        rows = store.conversations(ConversationQuery(limit=1000)).rows
        counts.append(store.count()[0])
        for row in rows:
            assert row.id not in conversations
            conversations[row.id] = (replace(row, team=""), store.editions(row.id), store.usages(row.id))
        for row in store.template_names(limit=1000):
            assert row.name not in templates
            templates[row.name] = (store.templates(row.name), row.labels, store.label_moves(row.name))
    return conversations, templates, sum(counts)


def test_a_kept_store_of_schema_5_keeps_everything_when_teams_get_their_rows(url, tmp_path):
    path = str(shutil.copy(KEPT / "schema-5.db", tmp_path / "kept.db"))
    if not url.startswith("sqlite"):
        kept = sqlite3.connect(path)
        copy_rows(kept, url, 5, SCHEMA_5)
        kept.close()
    store = open_store(path if url.startswith("sqlite") else url)
    before = content_of([store])
    assert list(before[0]) == ["bill", "billing-1", "billing-2", "billing-eu-7", "plain", "search/9", "ä-1"]
    assert list(before[1]) == ["billing-default", "billing-eu-support", "default", "search/x"]
    assert [usage.input for usage in before[0]["billing-1"][2].values()] == [100, 200]
    assert before[1]["billing-default"][1] == {"production": 2, "staging": 1}
    assert (store.verify(), store.teams(), before[2]) == ([], [""], 7)
    newest = [row.id for row in store.conversations(ConversationQuery(newest=True)).rows]
    moved = {progress.team: progress for progress in store.move_to_teams(PREFIXES)}
    assert {team: (each.conversations, each.templates, each.left) for team, each in moved.items()} == {
        "billing": (2, 2, 0),  # one of the two was deleted, and its numbers must not be used again
        "eu": (1, 1, 0),
        "search": (1, 1, 0),
        "none": (0, 0, 0),
    }
    stores = [store.for_team(team) for team in ("", "billing", "eu", "search")]
    assert store.teams() == [each.team for each in stores]
    assert content_of(stores) == before
    assert [[row.id for row in each.conversations().rows] for each in stores] == [
        ["bill", "plain", "ä-1"],
        ["billing-1", "billing-2"],
        ["billing-eu-7"],
        ["search/9"],
    ]
    everything = AllTeams(store).conversations(ConversationQuery(newest=True))
    assert [row.id for row in everything.rows] == newest
    assert store.verify() == []
    assert stores[1].add_template(TemplateVersion(0, "Again.", name="billing-gone")).version == 2
    after = content_of(stores)
    assert [
        progress for progress in store.move_to_teams(PREFIXES) if progress.conversations or progress.templates
    ] == []
    assert (content_of(stores), store.verify()) == (after, [])
    store.close()


def test_what_a_team_already_has_stays_where_it_is(store, edition):
    for team in ("", "billing"):
        store.for_team(team).publish("billing-1", edition(1, team or "none"), 0)
        store.for_team(team).add_template(TemplateVersion(0, team or "none", name="billing-x"))
    store.publish("billing-2", edition(1), 0)
    *_, moved = store.move_to_teams({"billing-": "billing"})
    assert (moved.conversations, moved.templates, moved.left) == (1, 0, 2)
    assert store.current("billing-1") == edition(1, "none") and store.template("billing-x").template == "none"
    billing = store.for_team("billing")
    assert [row.id for row in billing.conversations().rows] == ["billing-1", "billing-2"]
    assert (billing.current("billing-1"), store.verify()) == (edition(1, "billing"), [])


def test_another_process_notices_that_a_conversation_has_moved(url, edition):
    writer, reader = open_store(url), open_store(url)
    writer.publish("billing-1", edition(1), 0)
    assert reader.current("billing-1") == edition(1)
    list(writer.move_to_teams({"billing-": "billing"}))
    reader.drop_forgotten()
    assert reader.last_known("billing-1") is None
    assert (reader.current("billing-1"), reader.for_team("billing").current("billing-1")) == (None, edition(1))
    writer.close()
    reader.close()


def test_a_failed_migration_changes_nothing(url, edition):
    store = open_store(url)
    store.publish("chat", edition(1), 0)
    connection, migrate = connect(url)
    statements = ["CREATE TABLE foreword_colours (name integer)", "INSERT INTO foreword_flavours VALUES (7)"]
    with pytest.raises(Exception, match="foreword_flavours"):
        migrate(connection, lambda version: statements, versions.LATEST + 1)
    connection.close()
    connection, _ = connect(url)
    assert version_of(connection) == versions.LATEST
    with pytest.raises(Exception, match="foreword_colours"):
        connection.execute("SELECT * FROM foreword_colours")
    connection.close()
    assert store.current("chat") == edition(1)
    store.close()


def test_a_store_of_a_newer_version_is_refused(url, edition):
    store = open_store(url)
    store.publish("chat", edition(1), 0)
    store.close()
    connection, _ = connect(url)
    set_version(connection, 99)
    with pytest.raises(StoreError) as error:
        open_store(url).current("chat")
    assert str(error.value).endswith(
        f"a newer version of Foreword wrote this store: its schema is version 99, and this installation supports up to {versions.LATEST}"
    )
    assert version_of(connection) == 99
    connection.close()


def test_two_versions_of_foreword_use_one_store(url, edition):
    """A newer version expands the store, the older one continues, and the newer one removes what only the older one needed."""
    old_store = open_store(url)
    old_store.publish("chat", edition(1), 0)
    connection, migrate = connect(url)
    newer = versions.LATEST + 1
    migrate(connection, lambda version: ["CREATE TABLE foreword_colours (name integer)"], newer, versions.LATEST)
    assert old_store.publish("chat", edition(2), 1) == edition(2)
    assert old_store.migrate() == versions.SchemaVersion(newer, versions.LATEST)
    old_store.close()
    another = open_store(url)
    assert another.current("chat") == edition(2)
    contracted = module_of(connection).drop_old_tables(connection, lambda version: ["DROP TABLE foreword_colours"])
    assert contracted == versions.SchemaVersion(newer, newer)
    another.close()
    with pytest.raises(
        StoreError, match=f"its schema is version {newer}, and this installation supports up to {versions.LATEST}"
    ):
        open_store(url).current("chat")
    connection.close()


def test_contracting_a_new_store_changes_nothing(store, edition):
    store.publish("chat", edition(1), 0)
    latest = versions.SchemaVersion(versions.LATEST, versions.LATEST)
    assert (store.migrate(), store.migrate(contract=True)) == (latest, latest)
    assert store.current("chat") == edition(1)


def indexes_of(url):
    """Return the definitions of a store's indexes, without the name of the schema."""
    connection, _ = connect(url)
    sqlite = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    postgres = (
        "SELECT indexname, replace(indexdef, schemaname || '.', '') FROM pg_indexes WHERE schemaname = current_schema()"
    )
    found = connection.execute(sqlite if url.startswith("sqlite") else postgres).fetchall()
    connection.close()
    return {name: " ".join(definition.split()).replace(" IF NOT EXISTS", "") for name, definition in found}


BY_TIME = {"foreword_editions_kind", "foreword_editions_created"}
BY_TIME_8 = {"foreword_editions_by_kind", "foreword_editions_by_time"}


def test_the_indexes_by_time_are_replaced_when_a_store_of_schema_7_is_contracted(url, edition, tmp_path, request):
    connection, migrate = connect(url)
    kind = "sqlite" if url.startswith("sqlite") else "postgres"
    migrate(connection, lambda version: versions.schema(kind, version), 7, 6)
    set_version(connection, 7)
    connection.close()
    store = open_store(url)
    for number in range(40):  # of two layouts, four at each of ten times
        created = f"2026-01-{number % 10 + 1:02}T00:00:00.000+00:00"
        store.publish(f"{number}", edition(1, created=created, layout=f"layout {number % 2}"), 0)
        store.publish(f"{number}", edition(2, created=created, layout=f"layout {number % 2}"), 1)
    queries = [
        ConversationQuery(newest=True, limit=limit, layout=layout) for limit in (3, 40) for layout in ("", "layout 1")
    ]
    before = [pages_of(store, query) for query in queries]
    assert [len(rows) for rows in before] == [40, 20, 40, 20] and before[:2] == before[2:]
    assert indexes_of(url).keys() >= BY_TIME and not indexes_of(url).keys() & BY_TIME_8
    assert store.migrate() == versions.SchemaVersion(versions.LATEST, versions.LOWEST)
    for _ in range(2):  # the second time, as if the first had been interrupted before it was recorded
        latest = versions.SchemaVersion(versions.LATEST, versions.LATEST)
        assert store.migrate(contract=True) == latest
        assert indexes_of(url).keys() >= BY_TIME_8 and not indexes_of(url).keys() & BY_TIME
        connection, _ = connect(url)
        module_of(connection)._record(connection, versions.SchemaVersion(versions.LATEST, 7))
        connection.close()
    new_url = f"sqlite:///{tmp_path}/new.db" if kind == "sqlite" else request.getfixturevalue("emptied_url")
    open_store(new_url).close()
    assert indexes_of(url) == indexes_of(new_url)
    assert [pages_of(store, query) for query in queries] == before
    *_, pruned = store.prune(1_767_571_200.0, keep_last=0)  # the fifth day
    assert (pruned.conversations, pruned.editions, store.verify()) == (16, 32, [])
    assert pages_of(store, queries[0]) == before[0][:24]
    store.close()


@pytest.mark.xdist_group("postgres")
def test_an_index_that_could_not_be_built_before_a_contraction_is_built_by_it(postgres_url, edition):
    connection, migrate = connect(postgres_url)
    migrate(connection, lambda version: versions.schema("postgres", version), 7, 6)
    store = open_store(postgres_url)
    for number in range(2):
        store.publish(f"{number}", edition(1), 0)
    assert store.migrate() == versions.SchemaVersion(versions.LATEST, versions.LOWEST)
    for name in BY_TIME_8:
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON foreword_editions (team)")
    store.migrate(contract=True)
    select = "SELECT relname FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indisvalid AND NOT indisunique AND relname = ANY(%s)"
    assert {name for (name,) in connection.execute(select, [sorted(BY_TIME_8)])} == BY_TIME_8
    connection.close()
    store.close()


def pages_of(store, query):
    rows, page = [], None
    while page is None or page.next:
        page = store.conversations(replace(query, after=page.next if page else ""))
        rows += page.rows
    return rows
