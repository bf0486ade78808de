"""What the service costs over HTTP, beside the same server answering a constant of that size, in turns: one route more, in the
same process, behind the same guard and with the same line in the log.

Measured by wrk on the other core. `python bench/service.py` prints this alone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

import fixture
import stores
from measure import Row

CONNECTIONS = 16
ROUNDS, SECONDS = 9, 1
TALKS = 200
MANY = 100_000
BAR = 0.7
LACKING = "the service is not measured: there is no wrk (Debian, Ubuntu: apt install wrk; macOS: brew install wrk)"
SCRIPT = """
local requests, at, body = {}, 0, %s
for line in io.lines(%s) do requests[#requests + 1] = wrk.format(%s, line, {["Content-Type"] = "application/json"}, body) end
request = function() at = at %% #requests + 1; return requests[at] end
"""


class Load(NamedTuple):
    """What wrk saw: requests, their number in a second, and milliseconds that half and all but one in a hundred stayed under.

    `busy` are the microseconds of its core that the server took for each: on a machine that does other things too, it shows
    what the rates would be if they were all it did.
    """

    requests: int
    rate: float
    half: float
    slow: float
    busy: float


def rows(place: fixture.Fixture) -> list[Row]:
    """GET and a turn where the step is keep, in both stores, beside a constant; and memory before and after many requests."""
    if shutil.which("wrk") is None:
        print(LACKING, file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory(prefix="foreword-service-") as folder, stores.server() as databases:
        sqlite = measured("SQLite", f"sqlite:///{folder}/store.db", place, Path(folder), 1 / BAR)
        return sqlite + measured("PostgreSQL", databases(), place, Path(folder), None)


def measured(name: str, store: str, place: fixture.Fixture, folder: Path, bar: float | None) -> list[Row]:
    with served(store, place, folder) as (url, process):
        body = constructed(url, place)
        (folder / "constant").write_bytes(asked(f"{url}/conversations/talk-0"))
        loads = scripts(folder, body)
        before = memory(process)
        told: dict[str, list[Load]] = {kind: [] for kind in loads}
        for _ in range(ROUNDS):
            for kind, script in loads.items():
                told[kind].append(loaded(url, process, script))
        done = sum(load.requests for kind in ("get", "turn") for load in told[kind])
        while done < MANY:
            done += loaded(url, process, loads["get"], 5).requests
        after = memory(process)
    size = (folder / "constant").stat().st_size
    constant = f"a constant of {size:,} bytes: {described(told['constant'])}"
    return [
        compared(f"GET of a conversation over HTTP, {name}", told["get"], told["constant"], bar, constant),
        compared(f"POST of a turn that keeps, over HTTP, {name}", told["turn"], told["constant"], None, constant),
        Row(
            f"MB of memory after {done:,} requests, {name}",
            after,
            before,
            None,
            "resident",
            "resident before the first",
        ),
    ]


def compared(name: str, ours: list[Load], constant: list[Load], bar: float | None, constant_is: str) -> Row:
    ratio = median(one.rate / other.rate for one, other in zip(ours, constant, strict=True))
    rate = median(load.rate for load in constant)
    told = f"{described(ours)}; {ratio:.2f} of the constant's rate"
    if busy := median(load.busy for load in ours):
        told += f", {median(load.busy for load in constant) / busy:.2f} by processor time"
    return Row(name, 1e3 / rate / ratio, 1e3 / rate, bar, told, constant_is)


def described(loads: list[Load]) -> str:
    rate, half, slow, busy = (median(load[place] for load in loads) for place in (1, 2, 3, 4))
    return f"{rate:,.0f} a second, p50 {half:.2f} ms, p99 {slow:.2f} ms, {busy:.0f} µs of the processor each"


# The load


def scripts(folder: Path, body: bytes) -> dict[str, Path]:
    """A script for wrk each: GET, a turn, the constant. Paths come in turn from a file, so that all three do the same."""
    (folder / "body").write_bytes(body)
    kinds = {
        "get": ("GET", "/conversations/talk-{}", False),
        "turn": ("POST", "/conversations/talk-{}/turn", True),
        "constant": ("GET", "/constant/{}", False),
    }
    for kind, (method, path, has_body) in kinds.items():
        (folder / kind).with_suffix(".paths").write_text("".join(path.format(number) + "\n" for number in range(TALKS)))
        read = f'io.open("{folder}/body"):read("*a")' if has_body else "nil"
        script = SCRIPT % (read, json.dumps(str((folder / kind).with_suffix(".paths"))), json.dumps(method))
        (folder / kind).with_suffix(".lua").write_text(script)
    return {kind: (folder / kind).with_suffix(".lua") for kind in kinds}


def loaded(url: str, server: int, script: Path, seconds: int = SECONDS) -> Load:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(script), url]
    before = processor_time(server)
    done = subprocess.run(pinned(command, -1), capture_output=True, text=True, check=True).stdout
    took = processor_time(server) - before
    if "Non-2xx" in done or "Socket errors" in done:
        raise SystemExit(f"the service did not answer well:\n{done}")
    (requests,) = re.findall(r"(\d+) requests in", done)
    (rate,) = re.findall(r"Requests/sec:\s+([\d.]+)", done)
    half, slow = (_milliseconds(*re.findall(rf"{share}%\s+([\d.]+)(us|ms|s)\n", done)[0]) for share in (50, 99))
    return Load(int(requests), float(rate), half, slow, took * 1e6 / int(requests))


def _milliseconds(number: str, unit: str) -> float:
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def pinned(command: list[str], core: int) -> list[str]:
    """The command, on one core: 0 is that of the server, -1 that of the load. Where there is one core or no taskset, on any."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < 2 or not shutil.which("taskset"):
        return command
    return ["taskset", "-c", str(cores[core]), *command]


def constructed(url: str, place: fixture.Fixture) -> bytes:
    """Make the conversations, and the body of a turn of them."""
    body = {
        "cwd": str(place.cwd),
        "layout": "foreword",
        "tools": json.loads(place.tools.read_text()),
        "message": "go on",
    }
    written = json.dumps(body).encode()
    for number in range(TALKS):
        asked(f"{url}/conversations/talk-{number}/turn", written)
    return written


def asked(url: str, body: bytes | None = None) -> bytes:
    with urlopen(Request(url, body)) as answer:
        read: bytes = answer.read()
        return read


# The server


@contextmanager
def served(store: str, place: fixture.Fixture, folder: Path) -> Iterator[tuple[str, int]]:
    """A service with the constant beside its routes: its URL, and the number of its process."""
    command = [sys.executable, __file__, "serve", store, str(place.top), str(folder / "constant")]
    environment = {**os.environ, "HOME": str(place.home)}
    with (
        open(folder / "log", "ab") as log,
        subprocess.Popen(pinned(command, 0), stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as process,
    ):
        assert process.stdout
        url = process.stdout.readline().strip()
        try:
            yield url, process.pid
        finally:
            process.terminate()


def memory(process: int) -> float:
    """The resident memory of a process in MB."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024


def processor_time(process: int) -> float:
    """The seconds of processor time that a process has taken, itself and in the system; 0 where nobody tells."""
    try:
        user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def serve(store: str, root: str, constant: str) -> None:
    """What the process of the server does."""
    import uvicorn

    from foreword.service.server import ServerOptions, bind, uvicorn_config

    os.environ["FOREWORD_BENCH_CONSTANT"] = constant
    config = uvicorn_config(ServerOptions(store=store, roots=(root,), port=0), "service:application")
    listening = bind(config)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


def application() -> Any:
    """The application of the product with one route more, which only answers a constant."""
    from foreword.service.responses import Response
    from foreword.service.route import Route, Router
    from foreword.service.routes import ROUTES
    from foreword.service.server import application as product

    path = Path(os.environ["FOREWORD_BENCH_CONSTANT"])
    known: list[bytes] = []

    def constant(service: Any, call: Any) -> Response:
        if not known:
            known.append(path.read_bytes())
        return Response(known[0], headers={"ETag": '"1"'})

    ours = product()
    ours._router = Router((*ROUTES, Route("GET", "/constant/{id}", constant, dict, is_inline=True)))
    ours._metrics._rows["GET", "/constant/{id}"] = ours._metrics._rows["", "other"]
    return ours


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
        return
    from run import print_rows

    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        began = time.monotonic()
        print_rows(rows(fixture.build(Path(folder))))
        print(f"\nin {time.monotonic() - began:.0f} s, with {' '.join(f'{load:.1f}' for load in os.getloadavg())} load")


if __name__ == "__main__":
    main()
