"""What a kept conversation costs: to read beside a bare SELECT of its row, to keep in bytes, and how both grow with the store.

`python bench/stores.py --million` prints how reading and constructing grow up to a million conversations, in both stores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fixture
from foreword import Agent, Conversations, Tool, Workspace
from foreword.store import open_store
from foreword.store.reader import CURRENT
from foreword.store.sqlite import _connect
from foreword.vocabulary import Edition, replace
from measure import Row, take_turns

if TYPE_CHECKING:
    from foreword.store.contract import Store

PROMPTS = 200
MANY, MILLION = 100_000, 1_000_000
ROUNDS = 300
BAR = 300
SERVER = Path(__file__).parents[1] / "tests" / "store" / "server.py"
POINTERS = "system, tools, account, inputs, layout, made_for"
MADE = b"2026-03-07T08:55:05.123-06:00"


def rows(place: fixture.Fixture) -> list[Row]:
    """Reading beside a bare SELECT, bytes per conversation, and how both stores grow from a thousand conversations on."""
    prompts = different_prompts(place)
    with tempfile.TemporaryDirectory(prefix="foreword-stores-") as folder, server() as databases:
        few, many = (SqliteTalks(f"{folder}/{name}.db", prompts) for name in ("few", "many"))
        few.fill(1_000)
        many.fill(MANY)
        found = [beside_a_select(many), *growth("SQLite", few, many)]
        many.fill(MILLION)
        found.append(size(many))
        few_there, many_there = (PostgresTalks(databases(), prompts) for _ in range(2))
        few_there.fill(1_000)
        many_there.fill(MANY)
        found += growth("PostgreSQL", few_there, many_there)
        for each in (few, many, few_there, many_there):
            each.close()
        return found


def beside_a_select(talks: Talks) -> Row:
    bare = _connect(talks.url)
    ids, same_ids = cycle(talks.ids), cycle(talks.ids)

    def select() -> None:
        bare.execute(CURRENT, (next(same_ids),)).fetchone()

    took = take_turns({"ours": lambda: talks.store.current(next(ids)), "beside": select}, 20 * ROUNDS)
    bare.close()
    name = f"the edition of one of {MANY:,} conversations, SQLite"
    return Row(name, took["ours"], took["beside"], 3.0, "Store.current(id)", "the same SELECT of its row, bare")


def size(talks: Talks) -> Row:
    stats = talks.store.stats()
    each = stats["bytes"] / stats["conversations"]
    name = f"bytes of each of {MILLION:,} conversations, SQLite"
    return Row(name, each, BAR, 1.0, f"{PROMPTS} distinct prompts; the whole file", f"{BAR} bytes")


def growth(name: str, few: Talks, many: Talks) -> list[Row]:
    """Reading and constructing among many conversations, beside the same among a thousand."""
    reads = take_turns({"ours": few.read, "beside": many.read}, ROUNDS)
    constructs = take_turns({"ours": few.construct, "beside": many.construct}, ROUNDS)
    return [
        Row(
            f"{verb} one of {MANY:,}, beside 1,000, {name}",
            took["beside"],
            took["ours"],
            None,
            call,
            "the same among 1,000",
        )
        for verb, took, call in (
            ("read", reads, "Store.current(id)"),
            ("construct", constructs, "Store.publish(id, …)"),
        )
    ]


# Stores that are filled


class Talks:
    """A store with conversations on a few prompts. Filled by plain SQL: the same rows that publishing would write."""

    def __init__(self, url: str, prompts: list[Edition]) -> None:
        self.url, self.prompts, self.ids = url, prompts, [""]
        self.store: Store = open_store(url)
        for number, edition in enumerate(prompts):
            self.store.publish(f"prompt {number}", edition, 0)
        self.read: Callable[[], object] = lambda: None
        self._construct = ((str(uuid.uuid4()), edition) for edition in cycle(prompts))

    def fill(self, until: int) -> None:
        """Add conversations until there are so many, and choose some of them to be read."""
        self._add(until - self.store.stats()["conversations"])
        self.ids = self._some()
        ids = cycle(self.ids)
        self.read = lambda: self.store.current(next(ids))

    def construct(self) -> None:
        id, edition = next(self._construct)
        self.store.publish(id, edition, 0)

    def close(self) -> None:
        self.store.close()

    def _add(self, number: int) -> None:
        raise NotImplementedError

    def _some(self) -> list[str]:
        raise NotImplementedError


class SqliteTalks(Talks):
    def _add(self, number: int) -> None:
        connection = _connect(self.url)
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA cache_size = -200000")
        (*kinds,) = connection.execute(f"SELECT {POINTERS} FROM foreword_editions WHERE conversation LIKE 'prompt %'")
        add = (
            f"INSERT INTO foreword_editions (conversation, number, {POINTERS}, made) VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)"
        )
        kind = cycle(kinds)
        connection.execute("BEGIN")
        connection.executemany(add, ((str(uuid.uuid4()), *next(kind), MADE) for _ in range(number)))
        connection.execute("COMMIT")
        connection.close()

    def _some(self) -> list[str]:
        connection = _connect(self.url)
        some = connection.execute("SELECT conversation FROM foreword_editions ORDER BY random() LIMIT 1000").fetchall()
        connection.close()
        return [row[0] for row in some]


class PostgresTalks(Talks):
    def _run(self, statement: str, *given: object) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(statement.encode(), given)
            return found.fetchall() if found.description else []

    def _add(self, number: int) -> None:
        self._run(
            f"INSERT INTO foreword_editions (conversation, number, {POINTERS}, made)"
            f" SELECT gen_random_uuid()::text, 1, {POINTERS}, made FROM foreword_editions, generate_series(1, %s)"
            " WHERE conversation LIKE 'prompt %%' LIMIT %s",
            number // PROMPTS + 1,
            number,
        )
        self._run("ANALYZE foreword_editions")

    def _some(self) -> list[str]:
        return [row[0] for row in self._run("SELECT conversation FROM foreword_editions ORDER BY random() LIMIT 1000")]


def different_prompts(place: fixture.Fixture) -> list[Edition]:
    """The fixture's edition, in so many variants."""
    told = json.loads(place.tools.read_text())
    agent = Agent(tools=[Tool(row["name"], row["description"], schema=row["schema"]) for row in told])
    talks = Conversations(":memory:")
    talks.open("talk", Workspace(str(place.cwd), home=str(place.home)), agent).turn()
    edition = talks.store.current("talk")
    talks.close()
    assert edition is not None
    return [
        replace(
            edition,
            system=f"{number}\n{edition.system}",
            account=edition.account.replace("project", f"project-{number}"),
            made_for=edition.made_for.replace("project", f"project-{number}"),
        )
        for number in range(PROMPTS)
    ]


@contextmanager
def server() -> Iterator[Callable[[], str]]:
    """A PostgreSQL server; gives the URL of a new database each time it is asked."""
    import psycopg

    command = [sys.executable, str(SERVER)]
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
        place = fixture.build(Path(folder))
        prompts = different_prompts(place)
        print(f"{'':24} {'conversations':>14} {'read µs':>9} {'construct µs':>13} {'bytes each':>11}")
        stores = {
            "SQLite": SqliteTalks(f"{folder}/talks.db", prompts),
            "PostgreSQL": PostgresTalks(databases(), prompts),
        }
        for name, talks in stores.items():
            for number in (1_000, 10_000, MANY, *([MILLION] if "--million" in sys.argv else [])):
                talks.fill(number)
                took = take_turns({"read": talks.read, "construct": talks.construct}, 5 * ROUNDS)
                stats = talks.store.stats()
                each = stats["bytes"] / stats["conversations"]
                print(f"{name:24} {number:14,} {took['read'] * 1e3:9.1f} {took['construct'] * 1e3:13.1f} {each:11.1f}")
            talks.close()


if __name__ == "__main__":
    main()
