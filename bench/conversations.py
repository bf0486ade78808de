"""Fill SQLite and PostgreSQL with many conversations, and print what each call takes compared with a store of 100,000.

`make scale NUMBER=10000000` fills ten million; the default is one million. Each call uses the library, so its time includes the network.
PostgreSQL runs with its usual settings: each commit waits for the disk.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import cycle, product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING

import fixture
from foreword.store.listing import ConversationQuery
from foreword.vocabulary import replace
from stores import MANY, MILLION, PostgresTalks, SqliteTalks, Talks, distinct_prompts, server

if TYPE_CHECKING:
    from foreword.store.contract import Store

ROUNDS, MIN_ROUNDS = 200, 10
MAX_SECONDS = 2.0
PRUNED = 1000
_UNIT = 4096 * 1000  # of the column `created`, per second


# Prefixes of ids, each with the share of the store that begins with it. The conversations of the two teams are the oldest ones.
PREFIXES = {
    "": "",
    ", one in 16": "8",
    ", a team of 0.6%": "team:",
    ", a team of 4%": "past:",
}
TEAMS = {"team:": 0.006, "past:": 0.04}


def measure(talks: Talks) -> dict[str, float]:
    """Return milliseconds per call, and bytes per conversation."""
    store, ids, random = talks.store, cycle(talks.ids), Random(7)
    states = cycle(('{"x": 1}', '{"x": 2}'))

    def turn() -> None:
        edition = store.current(next(ids))
        assert edition is not None
        store.save_state(talks.ids[0], 1, next(states))

    def random_prefix() -> ConversationQuery:
        return ConversationQuery(prefix=f"{random.randrange(16**5):05x}", limit=100)

    middle = store.conversations(ConversationQuery(prefix="8", limit=100)).next
    calls: dict[str, Callable[[], object]] = {
        "GET: the edition in use": lambda: store.current(next(ids)),
        "turn that saves its state": turn,
        "first turn": talks.create,
        "by id: a page in the middle": lambda: store.conversations(ConversationQuery("8", after=middle)),
        "by id: one conversation": lambda: store.conversations(random_prefix()),
        "newest: one conversation": lambda: store.conversations(replace(random_prefix(), newest=True)),
    }
    for (name, prefix), layout in product(PREFIXES.items(), ("", talks.prompts[0].layout)):
        for order in ("by id", "newest"):
            query = ConversationQuery(prefix, layout, newest=order == "newest")
            calls[f"{order}{name}{', one layout' if layout else ''}"] = partial(_page, store, query)
        calls[f"count{name}{', one layout' if layout else ''}"] = partial(
            store.count, ConversationQuery(prefix, layout)
        )
    times = {name: _fastest(call) for name, call in calls.items()}
    stats = store.stats()
    times[f"prune {PRUNED:,} conversations"] = _prune(talks)
    start = perf_counter()
    problems = store.verify()
    times["verify, per 1,000 conversations"] = (perf_counter() - start) * 1e6 / stats["conversations"]
    if problems:
        raise SystemExit("\n".join(problems[:10]))
    return {"bytes per conversation": stats["bytes"] / stats["conversations"], **times}


def _page(store: Store, query: ConversationQuery) -> None:
    """Read the first page, which is never empty."""
    assert store.conversations(query).rows


def _fastest(call: Callable[[], object]) -> float:
    """Return the milliseconds of the call in the tenth percentile: the two sizes are measured at different times, so noise matters."""
    times: list[float] = []
    while len(times) < ROUNDS and (sum(times) < MAX_SECONDS or len(times) < MIN_ROUNDS):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return sorted(times)[len(times) // 10] * 1e3


def _prune(talks: Talks) -> float:
    """Remove the oldest conversations, and return how many milliseconds it took."""
    ((created,),) = talks.run(f"SELECT created FROM foreword_editions ORDER BY created LIMIT 1 OFFSET {PRUNED}")
    start = perf_counter()
    for _ in talks.store.prune(created / _UNIT, keep_last=0):
        pass
    return (perf_counter() - start) * 1e3


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else MILLION
    with tempfile.TemporaryDirectory(prefix="foreword-scale-") as folder, server() as databases:
        prompts = distinct_prompts(fixture.build(Path(folder)))
        for name, open_talks in (
            ("SQLite", lambda: SqliteTalks(f"{folder}/conversations.db", prompts)),
            ("PostgreSQL", lambda: PostgresTalks(databases(), prompts)),
        ):
            talks = open_talks()
            results = {}
            for size in (min(MANY, number // 10), number):
                start = perf_counter()
                talks.fill(size, TEAMS)
                print(f"{name}: filled {size:,} conversations in {perf_counter() - start:.0f} s", file=sys.stderr)
                results[size] = measure(talks)
            talks.close()
            _print(name, *results.items())


def _print(name: str, few: tuple[int, dict[str, float]], many: tuple[int, dict[str, float]]) -> None:
    print(f"{name + ', milliseconds':38} {few[0]:>12,} {many[0]:>12,} {'growth':>8}")
    for call, least in few[1].items():
        most = many[1][call]
        print(f"{call:38} {least:12.2f} {most:12.2f} {most / least:7.2f}x", flush=True)


if __name__ == "__main__":
    main()
