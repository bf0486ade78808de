"""Fill SQLite and PostgreSQL with many conversations, and print what each call takes compared with a store of 100,000.

`make scale NUMBER=10000000` fills ten million, half of them in a team without a name and half in another; the default is one million.
Each call uses the library, so its time includes the network; those that begin with a method are requests to a service. For each, the tenth
and the 99th percentile are printed, and the mean CPU time of the client, the service and PostgreSQL's processes, which says more if other
programs use the machine. PostgreSQL runs with its usual settings, except that its log may grow to 4 GB between checkpoints: each
commit waits for the disk. With `--hold`, the stores stay, and their URLs are printed, until the input is closed. `--only SQLite` or
`--only PostgreSQL` measures one of them, and `--quick` only what it stores and lists: it leaves out the smaller store, requests, `prune`,
`verify` and `vacuum`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterable
from functools import partial
from itertools import count, cycle, product
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote

import fixture
import service
from foreword import Agent, Conversations, Workspace
from foreword.store.all_teams import AllTeams
from foreword.store.listing import ConversationQuery
from foreword.store.usage import CallUsage
from foreword.vocabulary import replace
from stores import FIRST, INTERVAL, MANY, MILLION, PostgresTalks, SqliteTalks, Talks, distinct_prompts, server

if TYPE_CHECKING:
    from foreword.store.contract import Store

ROUNDS, MIN_ROUNDS = 200, 10
MAX_SECONDS = 2.0
PRUNED = 1000
failures: list[str] = []
_UNIT = 4096 * 1000  # of the column `created`, per second


# Prefixes of ids, each with the share of the team that begins with it. The conversations with the last two are the oldest ones.
PREFIXES = {
    "": "",
    ", one in 16": "8",
    ", a prefix of 0.6%": "team:",
    ", a prefix of 4%": "past:",
}
SHARES = {"team:": 0.006, "past:": 0.04}
# This team has half of the conversations. The calls that do not name it are those of the team without a name.
TEAM = "billing"
VACUUM = "VACUUM foreword_editions"


class Times(NamedTuple):
    """Milliseconds in the tenth percentile: the two sizes are measured at different times, so noise matters. And in the 99th, and of CPU time."""

    fast: float
    slow: float
    cpu: float | None = None


def measure(talks: Talks, project: fixture.Fixture, folder: Path, is_quick: bool) -> dict[str, Times]:
    """Return milliseconds per call."""
    stats = talks.store.stats()
    calls = {**turns(talks), **lists(talks), **team_lists(talks), **drift(talks, project)}
    times = {name: _time(call, talks) for name, call in calls.items()}
    if is_quick:
        return times
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


def lists(talks: Talks) -> dict[str, Callable[[], object]]:
    """Return the lists in each order, with and without filters."""
    store, first = talks.store, talks.prompts[0]
    filters: dict[str, dict[str, Any]] = {"": {}, ", one layout": {"layout": first.layout}}
    calls: dict[str, Callable[[], object]] = {}
    for (name, prefix), (filtered, fields) in product(PREFIXES.items(), filters.items()):
        calls |= orders(f"{name}{filtered}", store, ConversationQuery(prefix, **fields))
    oldest, middle = ((FIRST + number * INTERVAL) / _UNIT for number in (1000, talks.number // 2))
    calls |= orders(", since the middle", store, ConversationQuery(since=middle))
    calls |= orders(", the oldest 1,000", store, ConversationQuery(until=oldest))
    calls |= orders(", no such model", store, ConversationQuery(model="none"), is_empty=True)
    return calls


def orders(
    name: str, store: Store | AllTeams, query: ConversationQuery, is_empty: bool = False
) -> dict[str, Callable[[], object]]:
    """Return the calls that list in each order, and the one that counts. Each call reads the page after that of the previous call."""

    def reader(query: ConversationQuery) -> Callable[[], None]:
        after = ""

        def read_page() -> None:
            nonlocal after
            page = store.conversations(replace(query, after=after))
            # Without rows, a page says where to continue.
            assert bool(page.rows or page.next or after) is not is_empty
            after = page.next

        return read_page

    return {
        f"by id{name}": reader(query),
        f"newest{name}": reader(replace(query, newest=True)),
        f"count{name}": partial(store.count, query),
    }


def team_lists(talks: Talks) -> dict[str, Callable[[], object]]:
    """Return the calls for a team that has a name, and those for all teams."""
    store, layout = talks.store.for_team(TEAM), talks.prompts[0].layout
    ids = cycle(row.id for row in store.conversations(ConversationQuery(limit=1000)).rows)
    calls: dict[str, Callable[[], object]] = {f"team {TEAM}: the edition in use": lambda: store.current(next(ids))}
    everything = AllTeams(talks.store)
    for whose, place in ((f"team {TEAM}", store), ("all teams", everything)):
        for filtered, query in (
            ("", ConversationQuery()),
            (", one in 16", ConversationQuery("8")),
            (", one layout", ConversationQuery(layout=layout)),
        ):
            calls |= {f"{whose}: {name}": call for name, call in orders(filtered, place, query).items()}
    calls["all teams: names of templates"] = everything.template_names
    calls["all teams: teams with an id"] = lambda: everything.with_conversation(next(ids))
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
    with service.run(command, folder, project) as (url, pid):
        body = service.create_conversations(url, project)
        prompt = talks.store.conversations(ConversationQuery(limit=1)).rows[0].prompt
        quiet_body = json.dumps({key: field for key, field in json.loads(body).items() if key != "message"}).encode()
        start = url.rpartition(":")[2]
        usage = json.dumps({"usage": {"input_tokens": 10, "output_tokens": 1}}).encode()
        paths: dict[str, Callable[[], tuple[str, bytes | None]]] = {
            "GET /conversations/{id}": lambda: (f"/conversations/{next(ids)}", None),
            "GET /conversations/{id}/editions": lambda: (f"/conversations/{next(ids)}/editions", None),
            "GET /conversations/{id}/editions/1": lambda: (f"/conversations/{next(ids)}/editions/1", None),
            "GET /conversations/{id}/drift": lambda: (
                f"/conversations/chat-0/drift?cwd={quote(str(project.cwd))}",
                None,
            ),
            "GET /prompts/{id}": lambda: (f"/prompts/{prompt}", None),
            **{
                f"GET /conversations{query}": partial(lambda query: (f"/conversations{query}", None), query)
                for query in (
                    "",
                    "?sort=newest",
                    "?layout=foreword",
                    "?sort=newest&layout=foreword",
                    "?search=8",
                    "?sort=newest&search=8",
                )
            },
            **{
                f"GET {place}": partial(lambda place: (place, None), place)
                for place in (
                    "/usage",
                    "/usage?search=8",
                    "/templates",
                    "/system-prompt",
                    "/system-prompt/usage",
                    "/metrics",
                    "/readyz",
                )
            },
            "POST turn, known": lambda: ("/conversations/chat-0/turn", body),
            "POST turn, new": lambda: (f"/conversations/new-{next(numbers)}-{start}/turn", body),
            "POST construct": lambda: ("/conversations/chat-1/construct", quiet_body),
            "POST compact": lambda: ("/conversations/chat-2/compact", body),
            "POST reload": lambda: ("/conversations/chat-3/reload", quiet_body),
            "POST usage": lambda: (f"/conversations/{next(ids)}/usage", usage),
        }

        def send(path: Callable[[], tuple[str, bytes | None]]) -> None:
            place, content = path()
            try:
                service.fetch(f"{url}{place}", content)
            except HTTPError as error:  # the other measurements of a run that takes hours are still wanted
                with error:
                    failures.append(f"{talks.url}: {place}: {error.code} {error.read(1000).decode()}")
                print(failures[-1], file=sys.stderr, flush=True)

        return {name: _time(partial(send, path), talks, pid) for name, path in paths.items()}


def _time(call: Callable[[], object], talks: Talks, *services: int) -> Times:
    times: list[float] = []
    call()  # later ones find a connection, whose process is then counted
    processes = [*services, *talks.processes()]
    cpu = _cpu_seconds(processes)
    while len(times) < ROUNDS and (sum(times) < MAX_SECONDS or len(times) < MIN_ROUNDS):
        start = perf_counter()
        call()
        times.append((perf_counter() - start) * 1e3)
    cpu = _cpu_seconds(processes) - cpu
    times.sort()
    return Times(times[len(times) // 10], times[(len(times) * 99 - 1) // 100], cpu * 1e3 / len(times))


def _cpu_seconds(processes: Iterable[int]) -> float:
    """Return how many seconds this process and these others have computed so far."""
    tasks = [path for process in processes for path in Path(f"/proc/{process}/task").glob("*/schedstat")]
    return process_time() + sum(int(path.read_text().split()[0]) for path in tasks) / 1e9


def _prune(talks: Talks) -> float:
    """Remove the oldest conversations, and return how many milliseconds it took."""
    ((created,),) = talks.run(
        f"SELECT created FROM foreword_editions WHERE team = '' AND kind IS NOT NULL ORDER BY created LIMIT 1 OFFSET {PRUNED}"
    )
    start = perf_counter()
    for _ in talks.store.prune(created / _UNIT, keep_last=0):
        pass
    return (perf_counter() - start) * 1e3


def fill(talks: Talks, number: int) -> dict[str, Times]:
    """Fill both teams, and return how many bytes and microseconds a conversation of each takes."""
    times: dict[str, Times] = {}
    before = bytes_before = 0
    for name, half in (("", number - number // 2), (f" of team {TEAM}", number // 2)):
        start = perf_counter()
        if name:
            talks.fill_team(TEAM, half)
        else:
            talks.fill(half, SHARES)
        seconds = perf_counter() - start
        stats = talks.store.stats()
        added = stats["conversations"] - before
        times[f"bytes per conversation{name}"] = same((stats["bytes"] - bytes_before) / added)
        times[f"fill, per 1,000 conversations{name}"] = same(seconds * 1e6 / added)
        before, bytes_before = stats["conversations"], stats["bytes"]
        print(f"{seconds:.0f} s for {added:,} conversations{name}", file=sys.stderr, flush=True)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("number", type=int, nargs="?", default=MILLION, help="how many conversations")
    parser.add_argument("--only", choices=("SQLite", "PostgreSQL"), help="measure only this store")
    parser.add_argument("--quick", action="store_true", help="measure only what is stored, and the library's calls")
    parser.add_argument("--hold", action="store_true", help="keep the stores until the input is closed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="foreword-scale-") as folder, server() as databases:
        project = fixture.build(Path(folder))
        prompts = distinct_prompts(project)
        stores: dict[str, Callable[[], Talks]] = {
            "SQLite": lambda: SqliteTalks(f"{folder}/{uuid.uuid4()}.db", prompts),
            "PostgreSQL": lambda: PostgresTalks(databases(), prompts),
        }
        for name, open_talks in stores.items():
            if options.only in (None, name):
                results = {}
                for size in (() if options.quick else (min(MANY, options.number // 10),)) + (options.number,):
                    talks = open_talks()
                    print(f"{name}, {size:,}: {talks.url}", file=sys.stderr, flush=True)
                    results[size] = fill(talks, size) | measure(talks, project, Path(folder), options.quick)
                    talks.close()
                _print(name, results)
        if options.hold:
            sys.stdin.read()
    if failures:
        raise SystemExit(f"{len(failures)} requests failed")


def _print(name: str, results: dict[int, dict[str, Times]]) -> None:
    print(f"{name + ', milliseconds':44}", *(f"{size:>12,} {'p99':>9} {'CPU':>9}" for size in results))
    for call in [*results.values()][-1]:
        columns = (times[call] for times in results.values())
        cells = (
            f"{each.fast:12.2f} {each.slow:9.2f} {'' if each.cpu is None else f'{each.cpu:.2f}':>9}" for each in columns
        )
        print(f"{call:44}", *cells, flush=True)


if __name__ == "__main__":
    main()
