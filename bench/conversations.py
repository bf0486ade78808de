"""Fill SQLite and PostgreSQL with many conversations, and print what each call takes compared with a store of 100,000.

`make scale NUMBER=10000000` fills ten million; the default is one million. Each call uses the library, so its time includes the network;
those that begin with a method are requests to a service. For each, the tenth and the 99th percentile are printed. PostgreSQL runs with its
usual settings: each commit waits for the disk.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count, cycle, product
from pathlib import Path
from random import Random
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import fixture
import service
from foreword import Agent, Conversations, Workspace
from foreword.store.all_teams import AllTeams
from foreword.store.listing import ConversationQuery
from foreword.store.usage import CallUsage
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
# A real team has a share of this, beside the team without a name.
REAL_TEAM, SHARE = "billing", 0.1
VACUUM = "VACUUM foreword_editions"


class Times(NamedTuple):
    """Milliseconds in the tenth percentile: the two sizes are measured at different times, so noise matters. And in the 99th."""

    fast: float
    slow: float


def measure(talks: Talks, project: fixture.Fixture, folder: Path) -> dict[str, Times]:
    """Return milliseconds per call, and bytes per conversation."""
    stats = talks.store.stats()
    times = {"bytes per conversation": same(stats["bytes"] / stats["conversations"])}
    calls = {**turns(talks), **lists(talks.store, talks.prompts[0].layout), **real_team(talks), **drift(talks, project)}
    times |= {name: _time(call) for name, call in calls.items()}
    times |= requests(talks, project, folder)
    times[f"prune {PRUNED:,} conversations"] = same(_prune(talks))
    start = perf_counter()
    problems = talks.store.verify()
    middle = perf_counter()
    talks.run(VACUUM if isinstance(talks, PostgresTalks) else "VACUUM")
    times["verify, per 1,000 conversations"] = same((middle - start) * 1e6 / stats["conversations"])
    times["vacuum, per 1,000 conversations"] = same((perf_counter() - middle) * 1e6 / stats["conversations"])
    if problems:
        raise SystemExit("\n".join(problems[:10]))
    return times


def same(milliseconds: float) -> Times:
    return Times(milliseconds, milliseconds)


def turns(talks: Talks) -> dict[str, Callable[[], object]]:
    """Return the calls for one conversation."""
    store, ids, random = talks.store, cycle(talks.ids), Random(7)
    states = cycle(('{"x": 1}', '{"x": 2}'))
    forgotten = iter(
        talks.run(
            "SELECT conversation FROM foreword_editions WHERE team = '' AND conversation >= 'f' ORDER BY 1 LIMIT 500"
        )
    )

    def turn() -> None:
        edition = store.current(next(ids))
        assert edition is not None
        store.save_state(talks.ids[0], 1, next(states))

    def random_prefix() -> ConversationQuery:
        return ConversationQuery(prefix=f"{random.randrange(16**5):05x}", limit=100)

    def sample() -> list[str]:
        return [next(ids) for _ in range(100)]

    middle = store.conversations(ConversationQuery(prefix="8", limit=100)).next
    return {
        "GET: the edition in use": lambda: store.current(next(ids)),
        "turn that saves its state": turn,
        "first turn": talks.create,
        "record a call's usage": lambda: store.add_usage(next(ids), 1, CallUsage(10, 5, 0, 3, 0.5, 7)),
        "usage by day of 100 conversations": lambda: store.daily_usage(sample()),
        "forget": lambda: store.forget(next(forgotten)[0]),
        "by id: a page in the middle": lambda: store.conversations(ConversationQuery("8", after=middle)),
        "by id: one conversation": lambda: store.conversations(random_prefix()),
        "newest: one conversation": lambda: store.conversations(replace(random_prefix(), newest=True)),
    }


def lists(store: Store, layout: str) -> dict[str, Callable[[], object]]:
    """Return the lists in each order, with and without filters."""
    calls: dict[str, Callable[[], object]] = {}
    for (name, prefix), each in product(PREFIXES.items(), ("", layout)):
        for order in ("by id", "newest"):
            query = ConversationQuery(prefix, each, newest=order == "newest")
            calls[f"{order}{name}{', one layout' if each else ''}"] = partial(_page, store, query)
        calls[f"count{name}{', one layout' if each else ''}"] = partial(store.count, ConversationQuery(prefix, each))
    return calls


def real_team(talks: Talks) -> dict[str, Callable[[], object]]:
    """Return the calls for a team that has a name, and those for all teams."""
    store = talks.store.for_team(REAL_TEAM)
    ids = cycle(row.id for row in store.conversations(ConversationQuery(limit=1000)).rows)
    calls: dict[str, Callable[[], object]] = {"team billing: the edition in use": lambda: store.current(next(ids))}
    for order in ("by id", "newest"):
        query = ConversationQuery(newest=order == "newest")
        calls[f"team billing: {order}"] = partial(_page, store, query)
        calls[f"team billing: {order}, one layout"] = partial(
            _page, store, replace(query, layout=talks.prompts[0].layout)
        )
        calls[f"all teams: {order}"] = partial(AllTeams(store).conversations, query)
    calls["team billing: count"] = partial(store.count, ConversationQuery())
    calls["team billing: count, one in 16"] = partial(store.count, ConversationQuery("0"))
    return calls


def drift(talks: Talks, project: fixture.Fixture) -> dict[str, Callable[[], object]]:
    conversation = Conversations(talks.url).open(
        "drifting", Workspace(str(project.cwd), home=str(project.home)), Agent()
    )
    conversation.turn()
    return {"drift of a conversation": conversation.drift}


def requests(talks: Talks, project: fixture.Fixture, folder: Path) -> dict[str, Times]:
    """Time one request after the other, to a service with one process."""
    command = [sys.executable, service.__file__, "serve", talks.url, str(project.top)]
    ids, numbers = cycle(talks.ids), count()
    with service.run(command, folder, project) as (url, _):
        body = service.create_conversations(url, project)
        prompt = talks.store.conversations(ConversationQuery(limit=1)).rows[0].prompt
        usage = json.dumps({"usage": {"input_tokens": 10, "output_tokens": 1}}).encode()
        paths: dict[str, Callable[[], tuple[str, bytes | None]]] = {
            "GET /conversations/{id}": lambda: (f"/conversations/{next(ids)}", None),
            "GET /conversations/{id}/editions": lambda: (f"/conversations/{next(ids)}/editions", None),
            "GET /conversations/{id}/drift": lambda: (
                f"/conversations/chat-0/drift?cwd={quote(str(project.cwd))}",
                None,
            ),
            "GET /prompts/{id}": lambda: (f"/prompts/{prompt}", None),
            "GET /conversations": lambda: ("/conversations", None),
            "GET /conversations, newest": lambda: ("/conversations?sort=newest", None),
            "GET /usage": lambda: ("/usage", None),
            "GET /templates": lambda: ("/templates", None),
            "GET /metrics": lambda: ("/metrics", None),
            "POST turn, known": lambda: ("/conversations/chat-0/turn", body),
            "POST turn, new": lambda: (f"/conversations/new-{next(numbers)}-{len(talks.ids)}-{url[-5:]}/turn", body),
            "POST usage": lambda: (f"/conversations/{next(ids)}/usage", usage),
        }

        def send(path: Callable[[], tuple[str, bytes | None]]) -> None:
            place, content = path()
            service.fetch(f"{url}{place}", content)

        return {name: _time(partial(send, path)) for name, path in paths.items()}


def _page(store: Store, query: ConversationQuery) -> None:
    """Read the first page, which is never empty."""
    assert store.conversations(query).rows


def _time(call: Callable[[], object]) -> Times:
    times: list[float] = []
    while len(times) < ROUNDS and (sum(times) < MAX_SECONDS or len(times) < MIN_ROUNDS):
        start = perf_counter()
        call()
        times.append((perf_counter() - start) * 1e3)
    times.sort()
    return Times(times[len(times) // 10], times[(len(times) * 99 - 1) // 100])


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
        project = fixture.build(Path(folder))
        prompts = distinct_prompts(project)
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
                talks.fill_real_team(REAL_TEAM, int(size * SHARE))
                results[size] = measure(talks, project, Path(folder))
            talks.close()
            _print(name, *results.items())


def _print(name: str, few: tuple[int, dict[str, Times]], many: tuple[int, dict[str, Times]]) -> None:
    print(f"{name + ', milliseconds':38} {few[0]:>12,} {'p99':>9} {many[0]:>12,} {'p99':>9} {'growth':>8}")
    for call, least in few[1].items():
        most = many[1][call]
        print(
            f"{call:38} {least.fast:12.2f} {least.slow:9.2f} {most.fast:12.2f} {most.slow:9.2f} {most.fast / least.fast:7.2f}x",
            flush=True,
        )


if __name__ == "__main__":
    main()
