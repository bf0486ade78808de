"""Fill PostgreSQL with many conversations, and print what each call takes compared with a store of 100,000.

`make scale NUMBER=10000000` fills ten million; the default is one million. Each call uses the library, so its time includes the network.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from random import Random
from time import perf_counter

import fixture
from foreword.store.listing import ConversationQuery
from stores import MANY, MILLION, PostgresTalks, distinct_prompts, server

ROUNDS = 200
PRUNED = 1000
_UNIT = 4096 * 1000  # of the column `created`, per second


def measure(talks: PostgresTalks) -> dict[str, float]:
    """Return milliseconds per call, and bytes per conversation."""
    store, ids, random = talks.store, cycle(talks.ids), Random(7)
    states = cycle(('{"x": 1}', '{"x": 2}'))

    def turn() -> None:
        edition = store.current(next(ids))
        assert edition is not None
        store.save_state(talks.ids[0], 1, next(states))

    def page(**query: object) -> Callable[[], object]:
        return lambda: store.conversations(ConversationQuery(limit=100, **query))  # type: ignore[arg-type]

    def random_prefix() -> object:
        return store.conversations(ConversationQuery(prefix=f"{random.randrange(16**5):05x}", limit=100))

    middle = store.conversations(ConversationQuery(prefix="8", limit=100)).next
    calls: dict[str, Callable[[], object]] = {
        "GET: the edition in use": lambda: store.current(next(ids)),
        "turn that saves its state": turn,
        "first turn": talks.create,
        "list: first page, newest first": page(newest=True),
        "list: a page in the middle": page(prefix="8", after=middle),
        "list: one layout, newest first": page(newest=True, layout=talks.prompts[0].layout),
        "search by the start of the id": random_prefix,
        "count": store.count,
    }
    times = {name: _fastest(call) for name, call in calls.items()}
    stats = store.stats()
    times[f"prune {PRUNED:,} conversations"] = _prune(talks)
    start = perf_counter()
    problems = store.verify()
    times["verify, per 1,000 conversations"] = (perf_counter() - start) * 1e6 / stats["conversations"]
    if problems:
        raise SystemExit("\n".join(problems[:10]))
    return {"bytes per conversation": stats["bytes"] / stats["conversations"], **times}


def _fastest(call: Callable[[], object]) -> float:
    """Return the milliseconds of the call in the tenth percentile: the two sizes are measured at different times, so noise matters."""
    times = []
    for _ in range(ROUNDS):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return sorted(times)[ROUNDS // 10] * 1e3


def _prune(talks: PostgresTalks) -> float:
    """Remove the oldest conversations, and return how many milliseconds it took."""
    ((created,),) = talks._run("SELECT created FROM foreword_editions ORDER BY created LIMIT 1 OFFSET %s", PRUNED)
    start = perf_counter()
    for _ in talks.store.prune(created / _UNIT, keep_last=0):
        pass
    return (perf_counter() - start) * 1e3


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else MILLION
    with tempfile.TemporaryDirectory(prefix="foreword-scale-") as folder, server() as databases:
        talks = PostgresTalks(databases(), distinct_prompts(fixture.build(Path(folder))))
        results = {}
        for size in (MANY, number):
            start = perf_counter()
            talks.fill(size)
            print(f"filled {size:,} conversations in {perf_counter() - start:.0f} s", file=sys.stderr)
            results[size] = measure(talks)
        talks.close()
    print(f"{'milliseconds':34} {MANY:>12,} {number:>12,} {'growth':>8}")
    for name, few in results[MANY].items():
        many = results[number][name]
        print(f"{name:34} {few:12.2f} {many:12.2f} {many / few:7.2f}x")


if __name__ == "__main__":
    main()
