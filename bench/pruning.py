"""Measure pruning and forgetting compared with plain DELETEs of the same rows in the same tables.

The conversations share 200 prompts, or each one has its own. Each has an edition and a row of usage. Every plain commit waits for the
disk, in both stores. In SQLite, both sides also empty the log at the end, because the log still contains what was removed; a row without a
limit compares pruning with DELETEs that leave it there.
`python bench/pruning.py` prints only these rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import fixture
from foreword.store.rows import TEXT_COLUMNS
from foreword.store.sqlite_connection import connect
from foreword.store.times import unpack_time
from foreword.vocabulary import replace
from measure import Row, print_table
from stores import INTERVAL, PostgresTalks, SqliteTalks, Talks, distinct_prompts, server

STORED = 60_000
PRUNED, OWN = 1000, 200
ROUNDS, FORGOTTEN = 9, 40
MAX_RATIO = 3.0
SECOND = 4096 * 1000  # of the column `created`
EMPTY_LOG = "PRAGMA wal_checkpoint(TRUNCATE)"
ADD_USAGE = """
    INSERT INTO foreword_usage (team, conversation, number, calls, input, read, written, output, cached, time, cached_before, time_before)
    SELECT team, conversation, number, 1, 1, 1, 1, 1, 1, 1, 1, 1 FROM foreword_editions
"""
# The texts that a text column of a table refers to.
OWN_TEXTS = " UNION ".join(f"SELECT {column} FROM own" for column in TEXT_COLUMNS)


def rows(project: fixture.Fixture) -> list[Row]:
    prompts = distinct_prompts(project)
    results: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="foreword-pruning-") as folder, server() as databases:
        for name, talks in (
            ("SQLite", SqliteTalks(f"{folder}/conversations.db", prompts)),
            ("PostgreSQL", PostgresTalks(databases(), prompts)),
        ):
            talks.fill(STORED)
            talks.run(ADD_USAGE)
            results += store_rows(name, talks)
            talks.close()
    return results


def store_rows(name: str, talks: Talks) -> list[Row]:
    """Remove the oldest conversations again and again, in turns."""
    times = interleave(lambda: prune(talks), lambda: plain_prune(talks), ROUNDS)
    results = [compare(f"prune {PRUNED:,} conversations that share prompts, {name}", times, "Store.prune")]
    if isinstance(talks, SqliteTalks):
        times = interleave(lambda: prune(talks), lambda: plain_prune(talks, empties_log=False), ROUNDS)
        label = "plain DELETEs of the same rows, whose text stays in the log"
        results.append(
            Row("the same, beside DELETEs that leave the text in the log", *times, None, "Store.prune", label)
        )
    times = interleave(lambda: forget(talks), lambda: plain_forget(talks), FORGOTTEN)
    results.append(compare(f"forget a conversation that shares its prompt, {name}", times, "Store.forget(id)"))
    times = interleave(lambda: prune_own(talks), lambda: plain_prune_own(talks), ROUNDS)
    results.append(compare(f"prune {OWN:,} conversations with their own prompts, {name}", times, "Store.prune"))
    return results


def compare(name: str, times: tuple[float, float], call: str) -> Row:
    return Row(
        name, *times, MAX_RATIO, call, "plain DELETEs of the same rows, in one transaction, and emptying SQLite's log"
    )


def interleave(ours: Callable[[], float], plain: Callable[[], float], rounds: int) -> tuple[float, float]:
    """Return the median of both in milliseconds. They take turns, and each prepares its rows before it starts its clock."""
    pairs = [(ours(), plain()) for _ in range(rounds)]
    return median(pair[0] for pair in pairs) * 1e3, median(pair[1] for pair in pairs) * 1e3


def oldest(talks: Talks, number: int) -> list[str]:
    rows = talks.run(
        "SELECT conversation FROM foreword_editions WHERE team = '' AND kind IS NOT NULL AND conversation < 'g'"
        f" ORDER BY created LIMIT {number}"
    )
    return [row[0] for row in rows]


def boundary(talks: Talks, number: int) -> int:
    """Return the time before which so many conversations were created."""
    ((created,),) = talks.run(
        f"SELECT created FROM foreword_editions WHERE kind IS NOT NULL ORDER BY created LIMIT 1 OFFSET {number}"
    )
    return int(created)


def prune(talks: Talks, number: int | None = None) -> float:
    number = PRUNED if number is None else number
    before = boundary(talks, number) / SECOND
    start = perf_counter()
    *_, total = talks.store.prune(before, keep_last=0)
    seconds = perf_counter() - start
    assert total.conversations == number, total
    return seconds


def forget(talks: Talks) -> float:
    (id,) = oldest(talks, 1)
    start = perf_counter()
    assert talks.store.forget(id)
    return perf_counter() - start


def plain_prune(talks: Talks, empties_log: bool = True) -> float:
    before = boundary(talks, PRUNED)
    old = f"team = '' AND kind IS NOT NULL AND created < {before}"
    usage = "DELETE FROM foreword_usage WHERE team = '' AND conversation IN (SELECT conversation FROM foreword_editions WHERE {})"
    return transaction(talks, [usage.format(old), f"DELETE FROM foreword_editions WHERE {old}"], empties_log)


def plain_forget(talks: Talks) -> float:
    (id,) = oldest(talks, 1)
    tables = ("usage", "editions")
    deletes = [f"DELETE FROM foreword_{name} WHERE team = '' AND conversation = '{id}'" for name in tables]
    return transaction(talks, deletes)


def prune_own(talks: Talks) -> float:
    add_own(talks)
    return prune(talks, OWN)


def plain_prune_own(talks: Talks) -> float:
    """Delete the conversations, and with them their contents and texts, whose ids are looked up before."""
    add_own(talks)
    before = boundary(talks, OWN)
    old = f"team = '' AND kind IS NOT NULL AND created < {before}"
    contents = numbers(talks, f"SELECT content FROM foreword_editions WHERE {old}")
    own = f"WITH own AS (SELECT * FROM foreword_contents WHERE team = '' AND id IN ({contents}))"
    shared = f"SELECT {{}} FROM foreword_contents WHERE NOT id IN ({contents})"
    used = " UNION ".join(shared.format(column) for column in TEXT_COLUMNS)
    texts = numbers(talks, f"{own} SELECT * FROM ({OWN_TEXTS}) AS mine EXCEPT SELECT * FROM ({used}) AS others")
    usage = "DELETE FROM foreword_usage WHERE team = '' AND conversation IN (SELECT conversation FROM foreword_editions WHERE {})"
    return transaction(
        talks,
        [
            usage.format(old),
            f"DELETE FROM foreword_editions WHERE {old}",
            f"DELETE FROM foreword_contents WHERE team = '' AND id IN ({contents})",
            f"DELETE FROM foreword_texts WHERE team = '' AND id IN ({texts})",
        ],
    )


def numbers(talks: Talks, statement: str) -> str:
    return ", ".join(str(number) for (number,) in talks.run(statement))


def add_own(talks: Talks) -> None:
    """Add the oldest conversations, each with its own prompt."""
    first = boundary(talks, 0)
    for number in range(OWN):
        prompt = talks.prompts[number % len(talks.prompts)]
        created = unpack_time(first - (OWN - number) * INTERVAL // 1000 // 4096 * 4096, None)
        edition = replace(prompt, system=f"{first} {number}\n{prompt.system}", created=created)
        talks.store.publish(f"own {first} {number}", edition, 0)


def transaction(talks: Talks, statements: list[str], empties_log: bool = True) -> float:
    """Run statements in one transaction, and then empty the log of SQLite. Returns how many seconds that took."""
    connection = plain_connection(talks)
    start = perf_counter()
    connection.execute("BEGIN")
    for statement in statements:
        connection.execute(statement)
    connection.execute("COMMIT")
    if empties_log and isinstance(talks, SqliteTalks):
        connection.execute(EMPTY_LOG)
    return perf_counter() - start


@cache
def plain_connection(talks: Talks) -> Any:
    """Return a connection whose commits wait for the disk. In SQLite, deleted rows are overwritten, as by the store."""
    if isinstance(talks, SqliteTalks):
        file = connect(talks.url)
        file.execute("PRAGMA synchronous = FULL")
        return file
    import psycopg

    remote = psycopg.connect(talks.url, autocommit=True)
    remote.execute("SET foreword.team = '*'")
    return remote


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        print_table(rows(fixture.build(Path(folder))))


if __name__ == "__main__":
    main()
