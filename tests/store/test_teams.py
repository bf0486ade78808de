"""Two teams on one store: equal ids are different things, and nothing that one team does concerns the other."""

import re
import sqlite3
from pathlib import Path

import psycopg
import pytest

import foreword.store
from foreword.errors import CallError
from foreword.store import open_store
from foreword.store.all_teams import AllTeams, position_in
from foreword.store.listing import ConversationQuery
from foreword.store.rows import ALL_TEAMS, LabelMove, TemplateVersion
from foreword.store.usage import CallUsage
from foreword.vocabulary import replace

SOURCE = Path(foreword.store.__file__).parent
CALL = CallUsage(100, 50, 10, 5, 0.5, 1_700_000_000)
TEAM_TABLES = "texts kinds contents editions counts templates labels moves unused usage".split()
# What belongs to no team: the version of the tables, and the hashes that every process drops from its memory.
REFERENCE_TABLES = ["forgotten", "leases", "schema"]


def fill(store, edition, word):
    """Start a conversation with two editions, and save a template with a label."""
    store.publish("same", edition(1, word), 0)
    store.publish("same", edition(2, word), 1)
    store.add_usage("same", 2, CALL)
    store.add_template(TemplateVersion(0, f"template {word}", name="same"))
    store.move_label(LabelMove("same", "staging", 0, 1))


def all_of(store):
    """Return everything that a team has."""
    rows = store.conversations().rows
    prompts = {edition.system for row in rows for edition in store.editions(row.id)}
    return (
        rows,
        {row.id: (store.editions(row.id), store.usages(row.id)) for row in rows},
        [(row, store.templates(row.name), store.labels(row.name)) for row in store.template_names()],
        [[replace(move, time="") for move in store.label_moves(row.name)] for row in store.template_names()],
        (store.count(), store.count_template_uses(), store.daily_usage([row.id for row in rows]), prompts),
    )


@pytest.fixture
def two(store, edition):
    teams = [store.for_team(team) for team in ("a", "b")]
    for team in teams:
        fill(team, edition, f"of {team.team}")
    return teams


def test_equal_ids_are_different_things(two, edition):
    for team in two:
        assert team.current("same") == edition(2, f"of {team.team}")
        assert team.template("same").template == f"template of {team.team}"
        assert [(row.id, row.team) for row in team.conversations().rows] == [("same", team.team)]
        assert (team.count(), team.usage("same", 2).calls) == ((1, True), 1)
    assert two[0].teams() == ["a", "b"]
    assert two[0].verify() == []


def test_without_a_name_it_is_another_team(two, store):
    assert (store.team, store.current("same"), store.template("same"), store.conversations().rows) == (
        "",
        None,
        None,
        (),
    )
    assert (store.count(), store.teams()) == ((0, True), ["a", "b"])


def test_a_team_reads_only_the_prompts_that_it_uses(two, edition):
    from foreword.vocabulary import digest

    ids = [digest(edition(1, f"of {team}").system) for team in "ab"]
    assert [[store.prompt(id) is not None for id in ids] for store in two] == [[True, False], [False, True]]
    two[1].publish("copy", edition(1, "of a"), 0)
    assert two[1].prompt(ids[0]) is not None
    two[1].forget("copy")
    assert two[1].prompt(ids[0]) is None
    assert two[0].prompt(ids[0]) is not None


def remove_label(store):
    store.remove_label(LabelMove("same", "staging", 0, 0))


@pytest.mark.parametrize(
    "change",
    [
        lambda store, edition: store.forget("same"),
        lambda store, edition: list(store.prune(2e12, 0)),
        lambda store, edition: list(store.prune(2e12, 1)),
        lambda store, edition: store.delete_template("same"),
        lambda store, edition: store.publish("same", edition(3, "new"), 2),
        lambda store, edition: store.publish("other", edition(1, "of a"), 0),
        lambda store, edition: store.save_state("same", 2, '{"x": 1}'),
        lambda store, edition: store.add_usage("same", 2, CALL),
        lambda store, edition: store.add_template(TemplateVersion(0, "template of a", name="same")),
        lambda store, edition: store.move_label(LabelMove("same", "production", 0, 1)),
        lambda store, edition: remove_label(store),
    ],
)
def test_a_change_concerns_only_its_team(two, edition, change):
    before = all_of(two[0])
    change(two[1], edition)
    assert all_of(two[0]) == before
    assert two[0].verify() == []


def test_another_process_drops_only_what_was_forgotten(url, edition):
    writer, reader = open_store(url), open_store(url)
    for team in ("a", "b"):
        writer.for_team(team).publish("same", edition(1, "shared"), 0)
        assert reader.for_team(team).current("same") is not None
    writer.for_team("a").forget("same")
    reader.drop_forgotten()
    assert reader.for_team("a").last_known("same") is None
    assert reader.for_team("b").current("same") == edition(1, "shared")
    writer.close()
    reader.close()


@pytest.mark.parametrize("team", ["*", " a", "a ", "x" * 101, "a\0b", "a\nb"])
def test_what_cannot_be_the_name_of_a_team(team, tmp_path):
    from foreword import Conversations

    with pytest.raises(CallError, match="the name of a team must have at most 100 characters"):
        Conversations(":memory:", team=team)


def test_the_lists_of_all_teams(store, edition):
    times = {"a": ["2026-01-01", "2026-01-04"], "b": ["2026-01-03"], "": ["2026-01-02", "2026-01-05", "2026-01-06"]}
    for team, created in times.items():
        for time in created:
            store.for_team(team).publish(time, edition(1, team, created=f"{time}T00:00:00.000+00:00"), 0)
        store.for_team(team).add_template(TemplateVersion(0, "text", name="same"))
    everything = AllTeams(store)
    by_id = [(team, time) for team in sorted(times) for time in times[team]]
    by_time = sorted(by_id, key=lambda pair: pair[1], reverse=True)
    for limit in (1, 2, 3, 4, 100):
        for newest, expected in ((False, by_id), (True, by_time)):
            query = ConversationQuery(newest=newest, limit=limit)
            found = []
            while True:
                page = everything.conversations(query)
                found += [(row.team, row.id) for row in page.rows]
                if not page.next:
                    break
                query = replace(query, after=page.next)
            assert found == expected, (limit, newest)
    assert everything.count(ConversationQuery()) == (6, True)
    layouts = [row.layout for row in everything.conversations(ConversationQuery()).rows]
    assert everything.count(ConversationQuery(layout=layouts[0])) == (layouts.count(layouts[0]), True)
    assert everything.count(ConversationQuery(layout="none")) == (0, True)
    assert everything.with_conversation("2026-01-03") == ["b"]
    assert everything.with_template("same") == ["", "a", "b"]
    assert everything.with_conversation("none") == []


@pytest.mark.parametrize("limit", [-1, 2**31])
@pytest.mark.parametrize("newest", [True, False])
def test_a_page_of_all_teams_has_a_possible_limit(store, limit, newest):
    with pytest.raises(CallError, match=f"^limit must be from 0 to 2147483647, not {limit}$"):
        AllTeams(store).conversations(ConversationQuery(newest=newest, limit=limit))
    assert list(AllTeams(store).conversations(ConversationQuery(newest=newest, limit=0)).rows) == []


def test_nothing_comes_after_a_position_that_no_id_can_have(store, edition):
    store.for_team("b").publish("x", edition(1), 0)
    for after in (position_in("a\0", "x"), position_in("a", "\0"), position_in("a", "\ud800")):
        assert list(AllTeams(store).conversations(ConversationQuery(after=after)).rows) == []
    query = ConversationQuery(after=position_in("a", "x"))
    assert [row.id for row in AllTeams(store).conversations(query).rows] == ["x"]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_the_pages_of_all_teams_with_a_prefix(store, edition, limit):
    everything, expected = AllTeams(store), [(team, f"x{number}") for team in ("", "a", "b") for number in (1, 2)]
    for team, id in (*expected, ("a", "y1"), ("c", "y1")):
        store.for_team(team).publish(id, edition(1, team), 0)
    query, found = ConversationQuery(prefix="x", limit=limit), []
    for _ in range(20):
        page = everything.conversations(query)
        found += [(row.team, row.id) for row in page.rows]
        if not page.next:
            break
        query = replace(query, after=page.next)
    assert found == expected


def test_the_names_of_all_teams_templates(store):
    for team in ("b", "", "a"):
        for name in ("x", "same", "y"):
            store.for_team(team).add_template(TemplateVersion(0, team, name=name))
    store.for_team("a").add_template(TemplateVersion(0, "more", name="same"), label="staging")
    everything = AllTeams(store)
    expected = [(team, name) for team in ("", "a", "b") for name in ("same", "x", "y")]
    for limit in (1, 2, 4, 100):
        found, after = [], ""
        while rows := everything.template_names(limit=limit, after=after):
            found += rows
            after = position_in(rows[-1].team, rows[-1].name)
        assert [(row.team, row.name) for row in found] == expected, limit
        assert [row.labels for row in found[:4]] == [{"production": 1}] * 3 + [{"production": 1, "staging": 2}]
        assert [row.newest for row in found[:4]] == [1, 1, 1, 2]
    assert [row.team for row in everything.template_names("sa")] == ["", "a", "b"]
    assert everything.template_names(after="0:\x00") == []


def test_lists_of_all_teams_do_not_ask_each_team(store, edition):
    for number in range(30):
        team = store.for_team(f"team {number:02}")
        team.publish("chat", edition(1), 0)
        team.add_template(TemplateVersion(0, "text", name="same"))
    everything, asked, search = AllTeams(store), [], store.search

    def counting(work):
        return search(lambda select: work(lambda statement, key: asked.append(statement) or select(statement, key)))

    store.search = counting
    try:
        assert everything.count(ConversationQuery()) == (30, True)
        assert len(everything.template_names()) == 30
        assert len(asked) == 3, "the count, the names and their labels"
        asked.clear()
        page = everything.conversations(ConversationQuery(limit=2))
        assert [row.team for row in page.rows] == ["team 00", "team 01"]
        assert len(asked) == 1 + 2 * 2, "one for the page, and two for each team that is on it"
    finally:
        del store.search


def test_a_page_of_the_newest_asks_only_the_teams_that_can_be_on_it(store, edition):
    """With many teams, in an order that has nothing to do with their names, and with pages that end within teams."""
    for number in range(60):
        team = store.for_team(f"team {number * 37 % 60:02}")
        for index in range(3):
            created = f"2026-01-01T{index * 7 % 3:02}:{number:02}:00.000+00:00"
            team.publish(f"{index}", edition(1, created=created, layout=f"l{number % 2}"), 0)
    asked, select = [], []
    search = store.search

    def counting(work):
        def run(execute):
            def count(statement, key):
                asked.append(key)
                return execute(statement, key)

            return work(count)

        return search(run)

    store.search = counting
    try:
        for query in (ConversationQuery(newest=True, limit=7), ConversationQuery(newest=True, limit=7, layout="l1")):
            pages, after = [], ""
            while True:
                asked.clear()
                page = AllTeams(store).conversations(replace(query, after=after))
                select.append(len(asked))
                pages += page.rows
                if not (after := page.next):
                    break
            expected = 90 if query.layout else 180
            assert len(pages) == len({(row.team, row.id) for row in pages}) == expected
            assert [row.created for row in pages] == sorted((row.created for row in pages), reverse=True)
        assert select[0] < 40, "60 teams, of which 7 are on the first page"
    finally:
        del store.search


# The schema


@pytest.fixture
def schema(postgres_url):
    open_store(postgres_url).count()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        yield connection


IN_SCHEMA = "n.nspname = current_schema()"


@pytest.mark.xdist_group("postgres")
def test_every_key_and_index_of_postgresql_begins_with_the_team(schema):
    """These are the conditions under which Citus can distribute the tables by team."""
    tables = {name for (name,) in schema.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")}
    assert tables == {f"foreword_{name}" for name in (*TEAM_TABLES, *REFERENCE_TABLES)}
    indexes = schema.execute(f"""
        SELECT t.relname, i.relname, a.attname FROM pg_index AS x
        JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
        JOIN pg_namespace AS n ON n.oid = t.relnamespace
        JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] WHERE {IN_SCHEMA}
    """).fetchall()
    wrong = [index for table, index, column in indexes if column != "team" and table[9:] not in REFERENCE_TABLES]
    assert wrong == [] and len(indexes) > 20
    keys = schema.execute(f"""
        SELECT c.conname, (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]),
            (SELECT attname FROM pg_attribute WHERE attrelid = c.confrelid AND attnum = c.confkey[1])
        FROM pg_constraint AS c JOIN pg_namespace AS n ON n.oid = c.connamespace WHERE contype = 'f' AND {IN_SCHEMA}
    """).fetchall()
    assert len(keys) == 8 and {key[1:] for key in keys} == {("team", "team")}
    identities = schema.execute("""
        SELECT table_name, data_type FROM information_schema.columns
        WHERE table_schema = current_schema() AND is_identity = 'YES'
    """).fetchall()
    assert {kind for _, kind in identities} == {"bigint"}  # Citus accepts no other


@pytest.mark.xdist_group("postgres")
def test_every_table_of_a_team_has_row_level_security(schema):
    rows = schema.execute(f"""
        SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = relnamespace WHERE relkind = 'r' AND {IN_SCHEMA}
    """).fetchall()
    assert {name[9:]: (is_on, is_forced) for name, is_on, is_forced in rows} == {
        **dict.fromkeys(TEAM_TABLES, (True, True)),
        **dict.fromkeys(REFERENCE_TABLES, (False, False)),
    }


def test_every_key_and_index_of_sqlite_begins_with_the_team(tmp_path):
    open_store(f"{tmp_path}/store.db").close()
    connection = sqlite3.connect(tmp_path / "store.db")
    for table in (f"foreword_{name}" for name in TEAM_TABLES):
        indexes = [name for _, name, *_ in connection.execute(f"PRAGMA index_list({table})")]
        first = {connection.execute(f"PRAGMA index_info({name})").fetchone()[2] for name in indexes}
        assert first == {"team"}, table
        keys = connection.execute(f"PRAGMA foreign_key_list({table})").fetchall()
        assert {(row[3], row[4]) for row in keys if row[1] == 0} <= {("team", "team")}, table
    connection.close()


def statements():
    """Return every string in the store's code that contains SQL about a team's table."""
    import ast

    found = []
    for path in sorted(SOURCE.glob("*.py")):
        if path.name == "upgrade.py":  # for stores from before there were teams
            continue
        nodes = [*ast.walk(ast.parse(path.read_text()))]
        parts = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            if node in parts:
                continue
            if isinstance(node, ast.JoinedStr):
                text = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            if re.search(r"\b(FROM|INTO|UPDATE|JOIN) foreword_(?!forgotten|leases|schema|rows|time)\w+", text):
                found.append((path.name, " ".join(text.split())))
    return found


# Across teams: the list of teams, the sums for `foreword store stats`, and the lists for an operator who may see all teams.
ACROSS = (
    "FROM foreword_editions WHERE (team, conversation) > (?, ?)",
    "JOIN foreword_counts AS n ON n.team = k.team AND n.kind = k.id WHERE {}",
    "FROM foreword_templates WHERE (team, name) > (?, ?)",
    "FROM foreword_labels WHERE (team, name) >= (?, ?)",
    "SELECT min(team) FROM foreword_texts",
    "SELECT (SELECT coalesce(sum(conversations), 0) FROM foreword_counts)",
)


def test_every_statement_says_which_team():
    """A statement has one condition about the team for each table that it reads, or it inserts the team."""
    wrong = []
    for file, text in statements():
        if any(start in text for start in ACROSS) or text.startswith("LOCK TABLE"):
            continue
        tables = len(re.findall(r"\b(?:FROM|UPDATE|JOIN) foreword_(?!forgotten|leases|schema)\w+", text))
        conditions = len(re.findall(r"\b(?:\w+\.)?team (?:= (?:\?|%s|\w+\.team|\{\}\.team)|IN)", text))
        inserted = len(re.findall(r"INSERT INTO foreword_\w+(?: AS \w+)? \(team\b", text))
        all_inserted = len(re.findall("INSERT INTO foreword_(?!forgotten|leases|schema)", text))
        is_beginning = file == "templates.py" and text.endswith("FROM foreword_templates")  # continued with a condition
        if (conditions < tables and not is_beginning) or inserted < all_inserted:
            wrong.append((file, text))
    assert wrong == []
    assert len(statements()) > 40


# Row-level security


@pytest.fixture
def plain_url(postgres_url):
    """The URL of a store whose user is neither a superuser nor may bypass row-level security."""
    name = f"plain_{re.search('test_[0-9a-f]+', postgres_url)[0]}"
    schema = re.search("test_[0-9a-f]+", postgres_url)[0]
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER NOBYPASSRLS")
        connection.execute(f"GRANT ALL ON SCHEMA {schema} TO {name}")
        yield re.sub("//[^/@]*@", f"//{name}@", postgres_url) if "@" in postgres_url else f"{postgres_url}&user={name}"
        connection.execute(f"DROP OWNED BY {name} CASCADE")
        connection.execute(f"DROP ROLE {name}")


@pytest.mark.xdist_group("postgres")
def test_a_query_that_forgets_the_team_sees_only_one(plain_url, edition):
    store = open_store(plain_url)
    for team in ("a", "b"):
        fill(store.for_team(team), edition, team)

    def read(connection):
        return sorted(
            {row[0] for table in TEAM_TABLES for row in connection.execute(f"SELECT team FROM foreword_{table}")}
        )

    assert [store.for_team(team)._run(read) for team in ("a", "b", "", ALL_TEAMS)] == [["a"], ["b"], [], ["a", "b"]]
    with psycopg.connect(plain_url, autocommit=True) as connection:
        assert read(connection) == []  # without the setting, nothing
        connection.execute("SET foreword.team = 'a'")
        assert connection.execute("DELETE FROM foreword_usage").rowcount == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("UPDATE foreword_labels SET team = 'b'")
    assert (store.for_team("b").usage("same", 2).calls, store.verify()) == (1, [])
    store.close()


@pytest.mark.xdist_group("postgres")
def test_a_role_without_privileges_can_do_everything(plain_url, edition):
    store = open_store(plain_url)
    teams = [store.for_team(team) for team in ("a", "b")]
    for team in teams:
        fill(team, edition, f"of {team.team}")
    before = all_of(teams[0])
    assert [row.team for row in AllTeams(store).conversations(ConversationQuery()).rows] == ["a", "b"]
    assert (store.stats()["conversations"], store.verify()) == (2, [])
    assert teams[1].forget("same") and teams[1].delete_template("same") == 1
    assert (all_of(teams[0]), teams[1].conversations().rows) == (before, ())
    list(teams[0].prune(2e12, 0))
    assert store.stats()["texts"] == 1  # that of the template
    store.close()


@pytest.mark.xdist_group("postgres")
def test_the_policy_does_not_keep_the_server_from_using_an_index(plain_url, edition):
    """Conditions that are not leakproof are checked after the policy, so they could not be used to search an index."""
    store = open_store(plain_url).for_team("a")
    fill(store, edition, "a")
    query = "SELECT conversation FROM foreword_editions WHERE team = 'a' AND conversation > 'r' AND conversation < 't'"

    def plan(connection):
        connection.execute("SET enable_seqscan = off")
        connection.execute("SET enable_bitmapscan = off")
        return "\n".join(row[0] for row in connection.execute(f"EXPLAIN {query}"))

    condition = next(line for line in store._run(plan).splitlines() if "Index Cond" in line)
    assert "team = 'a'" in condition and "conversation > 'r'" in condition
    store.close()
