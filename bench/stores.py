"""Measure stored conversations: reading compared with a plain SELECT, bytes per conversation, and the cost in large stores.

`python bench/stores.py --million` prints times for up to a million conversations, in both stores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fixture
from foreword import Agent, Conversations, Tool, Workspace
from foreword.store import open_store
from foreword.store.reader import CURRENT
from foreword.store.sqlite_connection import connect
from foreword.store.times import pack_time, unpack_time
from foreword.vocabulary import Edition, replace
from measure import Row, take_turns

if TYPE_CHECKING:
    from foreword.store.contract import Store

PROMPTS = 200
MANY, MILLION = 100_000, 1_000_000
ROUNDS = 300
MAX_BYTES = 300
SERVER = Path(__file__).parents[1] / "tests" / "store" / "server.py"
PROMPT_ROWS = """
    SELECT content, kind FROM foreword_editions
    WHERE team = '{}' AND conversation >= 'prompt ' AND conversation < 'prompt!' ORDER BY id
"""
# How many conversations are added in one transaction.
BATCH_SIZE = 1_000_000
# Conversations are added oldest first, one in two seconds, as they would be created. The first one is old enough for ten million.
OLDEST = "2025-01-01T00:00:00.000+00:00"
FIRST = pack_time(OLDEST)[0]
INTERVAL = 2000 * 4096
COUNT_AGAIN = (
    "DELETE FROM foreword_counts",
    "INSERT INTO foreword_counts (team, kind, shard, conversations, editions)"
    " SELECT team, kind, 0, count(*), count(*) FROM foreword_editions GROUP BY team, kind",
)


def rows(project: fixture.Fixture) -> list[Row]:
    """Compare reading with a plain SELECT, bytes per conversation with their limit, and large stores with small ones."""
    prompts = distinct_prompts(project)
    with tempfile.TemporaryDirectory(prefix="foreword-stores-") as folder, server() as databases:
        few, many = (SqliteTalks(f"{folder}/{name}.db", prompts) for name in ("few", "many"))
        few.fill(1_000)
        many.fill(MANY)
        results = [read_vs_select(many), *growth("SQLite", few, many)]
        many.fill(MILLION)
        results.append(size(many))
        few_in_postgres, many_in_postgres = (PostgresTalks(databases(), prompts) for _ in range(2))
        few_in_postgres.fill(1_000)
        many_in_postgres.fill(MANY)
        results += growth("PostgreSQL", few_in_postgres, many_in_postgres)
        for talks in (few, many, few_in_postgres, many_in_postgres):
            talks.close()
        return results


def read_vs_select(talks: Talks) -> Row:
    bare = connect(talks.url)
    ids, same_ids = cycle(talks.ids), cycle(talks.ids)

    def select() -> None:
        bare.execute(CURRENT, ("", next(same_ids))).fetchone()

    times = take_turns({"ours": lambda: talks.store.current(next(ids)), "baseline": select}, 20 * ROUNDS)
    bare.close()
    name = f"read the prompt of one of {MANY:,} conversations, SQLite"
    return Row(name, times["ours"], times["baseline"], 3.0, "Store.current(id)", "the same SELECT alone")


def size(talks: Talks) -> Row:
    stats = talks.store.stats()
    per_conversation = stats["bytes"] / stats["conversations"]
    name = f"bytes per conversation, {MILLION:,} stored, SQLite"
    return Row(
        name,
        per_conversation,
        MAX_BYTES,
        1.0,
        f"{PROMPTS} distinct prompts; size of the entire file",
        f"{MAX_BYTES} bytes",
    )


def growth(name: str, few: Talks, many: Talks) -> list[Row]:
    """Compare reading and creating conversations in a large store with doing so in a store of a thousand."""
    reads = take_turns({"ours": few.read, "baseline": many.read}, ROUNDS)
    creations = take_turns({"ours": few.create, "baseline": many.create}, ROUNDS)
    return [
        Row(
            f"{verb} a conversation, {MANY:,} stored vs. 1,000, {name}",
            times["baseline"],
            times["ours"],
            None,
            call,
            "the same with 1,000 stored",
        )
        for verb, times, call in (
            ("read", reads, "Store.current(id)"),
            ("create", creations, "Store.publish(id, …)"),
        )
    ]


# Filled stores


class Talks:
    """A store of conversations that share a few prompts, filled with SQL that writes the same rows as publishing."""

    AFTERWARDS: tuple[str, ...] = ()

    def __init__(self, url: str, prompts: list[Edition]) -> None:
        self.url, self.prompts, self.ids = url, prompts, [""]
        self.store: Store = open_store(url)
        for index, edition in enumerate(prompts):
            self.store.publish(f"prompt {index}", replace(edition, created=OLDEST), 0)
        self.read: Callable[[], object] = lambda: None
        self.number = 0

    def fill(self, until: int, prefixes: Mapping[str, float] | None = None) -> None:
        """Add conversations up to a total of `until`, and pick some of them for reading.

        The ids of the oldest ones begin with `prefixes`, which have these shares of `until`. Other ids begin with a hexadecimal digit.
        """
        first, self.number = self.number, self.number + until - self.store.stats()["conversations"]
        ends, end = {}, 0
        for prefix, share in (prefixes or {}).items():
            end += int(until * share)
            ends[prefix] = end
        self._add_all(first, self.number, "", ends)
        self.ids = self._sample_ids()
        ids = cycle(self.ids)
        self.read = lambda: self.store.current(next(ids))

    def fill_team(self, team: str, number: int) -> None:
        """Give a team this many conversations, with prompts of its own."""
        store = self.store.for_team(team)
        for index, edition in enumerate(self.prompts):
            store.publish(f"prompt {index}", replace(edition, created=OLDEST), 0)
        self._add_all(0, number - len(self.prompts), team, {})

    def create(self) -> None:
        edition = self.prompts[self.number % PROMPTS]
        self.number += 1
        created = unpack_time(FIRST + self.number * INTERVAL, None)
        self.store.publish(str(uuid.uuid4()), replace(edition, created=created), 0)

    def _add_all(self, first: int, until: int, team: str, ends: Mapping[str, int]) -> None:
        """Add a team's conversations with these numbers in several transactions. The ids below an end have its prefix."""
        for start in range(first, until, BATCH_SIZE):
            self._add(start, min(start + BATCH_SIZE, until), team, ends)
        for statement in (*COUNT_AGAIN, *self.AFTERWARDS):
            self.run(statement)

    def close(self) -> None:
        self.store.close()

    def run(self, statement: str, *args: object) -> list[tuple[Any, ...]]:
        """Run a statement on a separate connection, and return its rows if it has any."""
        raise NotImplementedError

    def processes(self) -> list[int]:
        """Return the ids of the processes that serve connections to this store."""
        return []

    def _add(self, first: int, until: int, team: str, ends: Mapping[str, int]) -> None:
        """Add the conversations with these numbers in one transaction."""
        raise NotImplementedError

    def _prompt_rows(self, team: str) -> list[tuple[int, int]]:
        """Return the content and kind of each prompt of a team."""
        return [(content, kind) for content, kind in self.run(PROMPT_ROWS.format(team))]

    def _sample_ids(self) -> list[str]:
        return [
            row[0]
            for row in self.run(
                "SELECT conversation FROM foreword_editions WHERE team = '' AND conversation < 'f' ORDER BY random() LIMIT 1000"
            )
        ]


class SqliteTalks(Talks):
    def _add(self, first: int, until: int, team: str, ends: Mapping[str, int]) -> None:
        prompt_rows = self._prompt_rows(team)
        add = (
            "INSERT INTO foreword_editions (team, conversation, number, content, kind, created)"
            f" VALUES ('{team}', ?, 1, ?, ?, {FIRST} + ? * {INTERVAL})"
        )

        def rows() -> Iterator[tuple[object, ...]]:
            for index in range(first, until):
                prefix = next((prefix for prefix, end in ends.items() if index < end), "")
                yield f"{prefix}{uuid.uuid4()}", *prompt_rows[index % len(prompt_rows)], index

        with closing(connect(self.url)) as connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            connection.execute("PRAGMA cache_size = -1000000")
            connection.execute("BEGIN")
            connection.executemany(add, rows())
            connection.execute("COMMIT")

    def run(self, statement: str, *args: object) -> list[tuple[Any, ...]]:
        with closing(connect(self.url)) as connection:
            return connection.execute(statement, args).fetchall()


class PostgresTalks(Talks):
    AFTERWARDS = ("VACUUM ANALYZE foreword_editions",)  # as autovacuum does; nobody does it for SQLite

    def run(self, statement: str, *args: object) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), args)
            return cursor.fetchall() if cursor.description else []

    def processes(self) -> list[int]:
        select = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        return [pid for (pid,) in self.run(select)]

    def _add(self, first: int, until: int, team: str, ends: Mapping[str, int]) -> None:
        cases = "".join(f" WHEN step < {end} THEN '{prefix}'" for prefix, end in ends.items())
        prefix = f"CASE{cases} ELSE '' END || " if ends else ""
        self.run(
            "INSERT INTO foreword_editions (team, conversation, number, content, kind, created)"
            f" SELECT '{team}', {prefix}gen_random_uuid()::text, 1, content, kind, {FIRST} + step::bigint * {INTERVAL}"
            " FROM generate_series(%s, %s - 1) AS step"
            " JOIN unnest(%s::bigint[], %s::integer[]) WITH ORDINALITY AS prompts (content, kind, index)"
            f" ON index = step %% {PROMPTS} + 1 ORDER BY step",
            first,
            until,
            *map(list, zip(*self._prompt_rows(team), strict=True)),
        )


def distinct_prompts(project: fixture.Fixture) -> list[Edition]:
    """Return PROMPTS variants of the fixture's edition."""
    tools = json.loads(project.tools.read_text())
    agent = Agent(tools=[Tool(row["name"], row["description"], schema=row["schema"]) for row in tools])
    talks = Conversations(":memory:")
    talks.open("chat", Workspace(str(project.cwd), home=str(project.home)), agent).turn()
    edition = talks.store.current("chat")
    talks.close()
    assert edition is not None
    return [
        replace(
            edition,
            system=f"{number}\n{edition.system}",
            account=edition.account.replace("project", f"project-{number}"),
            built_for=edition.built_for.replace("project", f"project-{number}"),
        )
        for number in range(PROMPTS)
    ]


@contextmanager
def server() -> Iterator[Callable[[], str]]:
    """Start a PostgreSQL server whose commits wait for the disk, and yield a function that creates a database and returns its URL."""
    import psycopg

    command = [sys.executable, str(SERVER), "--durable"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        url = process.stdout.readline().strip()

        def database() -> str:
            name = f"bench_{uuid.uuid4().hex}"
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}".encode())
            return url.replace("/postgres?", f"/{name}?")

        yield database
        process.stdin.close()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="foreword-stores-") as folder, server() as databases:
        project = fixture.build(Path(folder))
        prompts = distinct_prompts(project)
        print(f"{'':24} {'conversations':>14} {'read µs':>9} {'create µs':>13} {'bytes each':>11}")
        stores = {
            "SQLite": SqliteTalks(f"{folder}/conversations.db", prompts),
            "PostgreSQL": PostgresTalks(databases(), prompts),
        }
        for name, talks in stores.items():
            for number in (1_000, 10_000, MANY, *([MILLION] if "--million" in sys.argv else [])):
                talks.fill(number)
                times = take_turns({"read": talks.read, "create": talks.create}, 5 * ROUNDS)
                stats = talks.store.stats()
                per_conversation = stats["bytes"] / stats["conversations"]
                print(
                    f"{name:24} {number:14,} {times['read'] * 1e3:9.1f} {times['create'] * 1e3:13.1f} {per_conversation:11.1f}"
                )
            talks.close()


if __name__ == "__main__":
    main()
