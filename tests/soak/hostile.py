"""Attack a service with many clients, and measure what a known turn of another team takes, and how much memory the service uses.

    python tests/soak/hostile.py [--store URL] [--teams ONE OTHER] [--clients 200] [--seconds 15] [--only KIND ...] [--workers N]

For each kind of attack (see `clients.py`), it times known turns with a token of their own: alone, while the clients send to a bare server
(`bare.py`) on the same machine, during the attack, and again alone. The 99th percentile must stay under 5 times its value beside the bare
server, and the memory of each worker under 300 MB, and come back. The ratio to the value alone includes what the clients take from the
service, which on their own machines they would not. The CPU time that the service uses between a request and its response depends less on
other programs, but includes what it does for the clients on the other core.
Before, it checks that neither team sees the other's conversations. With `--requests N`, it sends that many requests instead, and prints how
the memory grows. The clients and the bare server get only CPU time that nobody else wants. With `--real-time`, which needs root, the service
and the turns run before all other programs of the machine, and the clients as others do; side processes do not run before others. The
kernel would stop such programs for 50 ms of each second in which they use a whole processor, unless `sysctl kernel.sched_rt_runtime_us=-1`.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "service" / "machines"))

from clients import KINDS, TOOLS  # noqa: E402
from machine import Machine, database  # noqa: E402

MAX_MEMORY = 300.0
MAX_GROWTH = 5.0
SORTS = ("", "&sort=newest")
PAUSE = 0.005
SETTLING = 6.0
# Starts a program that runs when the processors are idle. With the lowest priority alone, it would still keep a processor from a program that
# wakes up for some milliseconds.
IDLE = ("chrt", "--idle", "0")
NORMAL = ("chrt", "--other", "0")
TOKENS = ("probe", "hostile")
ENTRY = """
[[token]]
name = "{name}"
hash = "sha256:{hash}"
rights = ["read", "turn", "template", "admin"]
"""


class Times(NamedTuple):
    """Milliseconds of a turn: the median, the 99th percentile, and the latter of the CPU time that the service used meanwhile."""

    median: float
    p99: float
    busy: float


class Probe:
    """Times known turns of one team, one after the other on one connection."""

    def __init__(self, port: int, pids: list[int], id: str = "known") -> None:
        self._clocks = [~pid << 3 | 2 for pid in pids]  # the processes' CPU clocks, as Linux numbers them
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._path = f"/conversations/{id}/turn"
        self._headers = bearer("probe")

    def turn(self) -> tuple[float, float]:
        """Return how many milliseconds a turn took, and how many the service computed in that time."""
        start, start_busy = time.perf_counter(), self._busy()
        self._connection.request("POST", self._path, json.dumps({"cwd": "", "message": "go on"}), self._headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise SystemExit(f"a known turn was refused: {response.status} {content[:300]!r}")
        return (time.perf_counter() - start) * 1e3, (self._busy() - start_busy) * 1e3

    def measure(self, seconds: float) -> Times:
        """Time turns for so many seconds."""
        self._connection.close()  # it may have been idle for too long
        end, turns = time.monotonic() + seconds, []
        while time.monotonic() < end:
            turns.append(self.turn())
            time.sleep(PAUSE)
        times, busy = (sorted(column) for column in zip(*turns, strict=True))
        last = (len(turns) * 99 - 1) // 100
        return Times(times[len(turns) // 2], times[last], busy[last])

    def _busy(self) -> float:
        return sum(time.clock_gettime(clock) for clock in self._clocks)

    def close(self) -> None:
        self._connection.close()


class Memory(threading.Thread):
    """Watches the resident memory of processes, in MB."""

    def __init__(self, pids: list[int]) -> None:
        super().__init__(daemon=True)
        self._pids, self.peak, self._is_over = pids, 0.0, threading.Event()

    def now(self) -> float:
        """Return the memory of the process that uses most."""
        return max(resident(pid) for pid in self._pids)

    def run(self) -> None:
        while not self._is_over.wait(0.05):
            self.peak = max(self.peak, self.now())

    def stop(self) -> float:
        self._is_over.set()
        self.join()
        return self.peak


class Priority(threading.Thread):
    """Lets the threads of processes, also later ones, run before all other programs, but not the processes that they start."""

    def __init__(self, pids: list[int]) -> None:
        super().__init__(daemon=True)
        self._pids = pids

    def run(self) -> None:
        while True:
            time.sleep(0.02)
            for pid in self._pids:
                with suppress(OSError):  # a thread or process may have ended
                    for task in Path(f"/proc/{pid}/task").iterdir():
                        if os.sched_getscheduler(int(task.name)) == os.SCHED_OTHER:
                            os.sched_setscheduler(int(task.name), os.SCHED_RR, os.sched_param(1))
                        for child in map(int, (task / "children").read_text().split()):
                            if child not in self._pids and os.sched_getscheduler(child) != os.SCHED_OTHER:
                                os.sched_setscheduler(child, os.SCHED_OTHER, os.sched_param(0))


def resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def workers_of(machine: Machine, number: int) -> list[int]:
    """Return the processes that answer requests."""
    pid = machine.process.pid
    if number == 1:
        return [pid]
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children]


@contextmanager
def bare_server(prefix: Sequence[str]) -> Iterator[int]:
    """Run a server that refuses everything, and return its port."""
    command = [*prefix, sys.executable, str(HERE / "bare.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


@contextmanager
def attack(port: int, kind: str, number: int, prefix: Sequence[str]) -> Iterator[list[dict[str, int]]]:
    """Run clients in another process. The list gets their counts in the end."""
    clients = [str(HERE / "clients.py"), str(port), kind, str(number), "hostile"]
    command = [*prefix, sys.executable, *clients]
    counts: list[dict[str, int]] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == "started\n"
        try:
            yield counts
        finally:
            process.stdin.close()
            counts.append(json.loads(process.stdout.readline() or "{}"))


def start(top: Path, store: str, options: argparse.Namespace) -> Machine:
    """Start a service with two teams, each with a conversation, and files worth examining."""
    tokens = top / "tokens.toml"
    tokens.write_text(
        "".join(
            ENTRY.format(name=name, hash=hashlib.sha256(name.encode()).hexdigest())
            + (f'team = "{team}"\n' if team else "")
            for name, team in zip(TOKENS, options.teams, strict=True)
        )
    )
    arguments = ["--tokens", str(tokens), "--workers", str(options.workers), "--log-level", "error", *options.options]
    machine = Machine(top, store, *arguments)
    (top / "w/.git").mkdir(exist_ok=True)
    (top / "w/AGENTS.md").write_text("Run the tests before each commit.\n" * 120)
    machine.start()
    for name, id in (("probe", "known"), ("hostile", "hostile")):
        headers = bearer(name)
        response = machine.request(
            "POST", f"/conversations/{id}/turn", {"cwd": "", "tools": TOOLS[:12]}, headers=headers
        )
        assert response.status == 200, response
        # The first count of tokens loads the tokenizer, which takes a part of a second, once in each process.
        assert machine.request("POST", "/tokens", {"cwd": ""}, headers=headers).status == 200
    return machine


def check_teams(machine: Machine) -> list[str]:
    """Return what a team sees of the other one: neither its conversations in a list, nor one of them by its id."""
    ids: dict[str, set[str]] = {}
    problems: list[str] = []
    for name in TOKENS:
        lists = [machine.request("GET", f"/conversations?limit=500{sort}", headers=bearer(name)).form for sort in SORTS]
        ids[name] = {row["id"] for page in lists for row in page["conversations"]}
    for name, other in (TOKENS, TOKENS[::-1]):
        shared = ids[name] & ids[other]
        problems += [f"{name} and {other} both list {id}" for id in sorted(shared) if not id.startswith("prompt ")]
        for id in sorted(ids[other] - shared):
            for path in (f"/conversations/{id}", f"/conversations/{id}/editions"):
                if (status := machine.request("GET", path, headers=bearer(name)).status) != 404:
                    problems.append(f"{name} got a {status} for {path} of {other}")
    print(
        f"neither team may see {' or '.join(f'{len(found):,}' for found in ids.values())} conversations of the other: {problems or 'right'}"
    )
    return problems


def bearer(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {name}"}


def measure(machine: Machine, kind: str, options: argparse.Namespace) -> list[str]:
    """Print a row for an attack, and return what is wrong."""
    pids = workers_of(machine, options.workers)
    with closing(Probe(machine.port, pids)) as probe:
        probe.measure(1)
        quiet = probe.measure(options.seconds)
        prefix = NORMAL if options.real_time else IDLE
        with bare_server(prefix) as port, attack(port, kind, options.clients, prefix):
            time.sleep(1)
            beside = probe.measure(options.seconds)
        memory = Memory(pids)
        before = memory.now()
        memory.start()
        with attack(machine.port, kind, options.clients, prefix) as counts:
            time.sleep(1)
            loud = probe.measure(options.seconds)
        peak = memory.stop()
        time.sleep(SETTLING)
        after = probe.measure(options.seconds)
        left = memory.now()
    calm = Times(*map(max, quiet, after))
    alone, wall, busy = loud.p99 / calm.p99, loud.p99 / beside.p99, loud.busy / calm.busy
    print(
        f"{kind:15} {calm.median:7.1f} {calm.p99:7.1f} {calm.busy:6.1f} {beside.median:7.1f} {beside.p99:7.1f}"
        f" {loud.median:9.1f} {loud.p99:7.1f} {loud.busy:6.1f} {alone:6.1f}x {wall:6.1f}x {busy:6.1f}x"
        f" {before:6.0f} {peak:5.0f} {left:5.0f}  {counts[0]}",
        flush=True,
    )
    problems = [f"{kind}: p99 {wall:.1f} times as long as beside a bare server"] if wall > options.max_ratio else []
    problems += [f"{kind}: {peak:.0f} MB"] if peak > MAX_MEMORY else []
    problems += [f"{kind}: {left:.0f} MB afterwards"] if left > max(2 * before, before + 100) else []
    return problems


def send_many(machine: Machine, number: int, options: argparse.Namespace) -> list[str]:
    """Send so many requests of all quick kinds, and print how the memory grows. It may not after the first half, which fills the caches."""
    (pid,) = workers_of(machine, 1)
    marks, sent = [(0, resident(pid))], 0
    while sent < number:
        with attack(machine.port, "mix", 16, ()) as counts:
            time.sleep(options.seconds)
        sent += sum(counts[0].values())
        marks.append((sent, resident(pid)))
        print(f"{sent:12,} requests: {marks[-1][1]:.1f} MB  {counts[0]}", flush=True)
    warm = max(memory for sent, memory in marks if sent <= number // 2)
    growth = marks[-1][1] - warm
    return [f"the memory has grown by {growth:.1f} MB since the first half"] if growth > MAX_GROWTH else []


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--store", default="", metavar="URL", help="the store; by default a new SQLite file")
    parser.add_argument("--postgres", action="store_true", help="use a new PostgreSQL server")
    parser.add_argument("--clients", type=int, default=200, metavar="N", help="how many clients attack")
    parser.add_argument("--seconds", type=float, default=15, metavar="N", help="how long each measurement takes")
    parser.add_argument(
        "--only", nargs="*", choices=KINDS, default=KINDS, metavar="KIND", help=f"kinds: {', '.join(KINDS)}"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="the service's processes")
    parser.add_argument(
        "--teams",
        nargs=2,
        default=("calm", "loud"),
        metavar="TEAM",
        help="the team of the turns, and that of the clients",
    )
    parser.add_argument("--max-ratio", type=float, default=5.0, metavar="N", help="how much slower turns may become")
    parser.add_argument(
        "--real-time", action="store_true", help="run the service and the turns before all other programs"
    )
    parser.add_argument("--requests", type=int, default=0, metavar="N", help="send so many requests instead")
    parser.add_argument("options", nargs="*", help="options of the service, after --")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    server = database() if options.postgres else None
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="foreword-hostile-") as folder:
        store = server.url if server is not None else options.store or f"{folder}/store.db"
        machine = start(Path(folder), store, options)
        try:
            if options.requests:
                problems += send_many(machine, options.requests, options)
            else:
                print(
                    f"{'':15} {'quiet':>7} {'p99':>7} {'CPU':>6} {'bare':>7} {'p99':>7} {'attacked':>9} {'p99':>7} {'CPU':>6}"
                    f" {'quiet':>7} {'bare':>7} {'CPU':>7} {'MB':>6} {'peak':>5} {'left':>5}"
                )
                problems += check_teams(machine)
                if options.real_time:
                    Priority([os.getpid(), *workers_of(machine, options.workers)]).start()
                for kind in options.only:
                    problems += measure(machine, kind, options)
        finally:
            machine.close()
            if server is not None:
                server.close()
        errors = machine.stderr()
        problems += [errors[-2000:]] if errors else []
    print("\n".join(problems) or "every limit holds")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
