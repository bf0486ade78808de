"""Compare the HTTP service with a constant response of the same size, from an extra route of the same process.

The extra route has the same access checks and logging. wrk measures both from another core. `python bench/service.py` prints only
these rows.
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
from measure import Row, print_table

CONNECTIONS = 16
ROUNDS, SECONDS = 9, 1
CONVERSATIONS = 200
MANY = 100_000
LIMIT = 0.7
WRK_MISSING = "skipping the service: wrk is not installed (Debian, Ubuntu: apt install wrk; macOS: brew install wrk)"
# The requests are created in `init`, because wrk does not know the host before that.
SCRIPT = """
local requests, at, body = {}, 0, %s
init = function()
  for line in io.lines(%s) do requests[#requests + 1] = wrk.format(%s, line, {["Content-Type"] = "application/json"}, body) end
end
request = function() at = at %% #requests + 1; return requests[at] end
"""


class Load(NamedTuple):
    """Results from wrk: the number of requests, requests per second, and the median and p99 latency in milliseconds.

    `busy` is the server's CPU time per request in microseconds. Unlike the rate, it hardly depends on the machine's other work.
    """

    requests: int
    rate: float
    p50: float
    p99: float
    busy: float


def rows(project: fixture.Fixture) -> list[Row]:
    """Compare a GET, and a turn that reuses the prompt, with a constant in both stores, and memory before and after many requests."""
    if shutil.which("wrk") is None:
        print(WRK_MISSING, file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory(prefix="foreword-service-") as folder, stores.server() as databases:
        sqlite = measure("SQLite", f"sqlite:///{folder}/store.db", project, Path(folder), 1 / LIMIT)
        return sqlite + measure("PostgreSQL", databases(), project, Path(folder), None)


def measure(name: str, store: str, project: fixture.Fixture, folder: Path, limit: float | None) -> list[Row]:
    with run_service(store, project, folder) as (url, process):
        body = create_conversations(url, project)
        (folder / "constant").write_bytes(fetch(f"{url}/conversations/chat-0"))
        loads = scripts(folder, body)
        before = memory(process)
        results: dict[str, list[Load]] = {kind: [] for kind in loads}
        for _ in range(ROUNDS):
            for kind, script in loads.items():
                results[kind].append(run_wrk(url, process, script))
        completed = sum(load.requests for kind in ("get", "turn") for load in results[kind])
        while completed < MANY:
            completed += run_wrk(url, process, loads["get"], 5).requests
        after = memory(process)
    size = (folder / "constant").stat().st_size
    constant = f"a constant of {size:,} bytes: {describe(results['constant'])}"
    return [
        compare(f"GET a conversation over HTTP, {name}", results["get"], results["constant"], limit, constant),
        compare(
            f"POST a turn that reuses the prompt, over HTTP, {name}",
            results["turn"],
            results["constant"],
            None,
            constant,
        ),
        Row(
            f"MB of memory after {completed:,} requests, {name}",
            after,
            before,
            None,
            "resident memory",
            "resident memory before the first request",
        ),
    ]


def compare(name: str, ours: list[Load], constant: list[Load], limit: float | None, constant_label: str) -> Row:
    ratio = median(our_load.rate / baseline.rate for our_load, baseline in zip(ours, constant, strict=True))
    rate = median(load.rate for load in constant)
    label = f"{describe(ours)}; {ratio:.2f} of the constant's rate"
    if busy := median(load.busy for load in ours):
        label += f", {median(load.busy for load in constant) / busy:.2f} by CPU time"
    return Row(name, 1e3 / rate / ratio, 1e3 / rate, limit, label, constant_label)


def describe(loads: list[Load]) -> str:
    rate, p50, p99, busy = (median(load[field] for load in loads) for field in (1, 2, 3, 4))
    return f"{rate:,.0f} per second, p50 {p50:.2f} ms, p99 {p99:.2f} ms, {busy:.0f} µs of CPU time each"


# The load


def scripts(folder: Path, body: bytes) -> dict[str, Path]:
    """Write a wrk script for each kind of request. All of them cycle through paths from a file, so that wrk does the same work."""
    (folder / "body").write_bytes(body)
    kinds = {
        "get": ("GET", "/conversations/chat-{}", False),
        "turn": ("POST", "/conversations/chat-{}/turn", True),
        "constant": ("GET", "/constant/{}", False),
    }
    for kind, (method, path, has_body) in kinds.items():
        (folder / kind).with_suffix(".paths").write_text(
            "".join(path.format(number) + "\n" for number in range(CONVERSATIONS))
        )
        read = f'io.open("{folder}/body"):read("*a")' if has_body else "nil"
        script = SCRIPT % (read, json.dumps(str((folder / kind).with_suffix(".paths"))), json.dumps(method))
        (folder / kind).with_suffix(".lua").write_text(script)
    return {kind: (folder / kind).with_suffix(".lua") for kind in kinds}


def run_wrk(url: str, server: int, script: Path, seconds: int = SECONDS) -> Load:
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", "-s", str(script), url]
    before = cpu_seconds(server)
    output = subprocess.run(pin(command, -1), capture_output=True, text=True, check=True).stdout
    cpu_time = cpu_seconds(server) - before
    if "Non-2xx" in output or "Socket errors" in output:
        raise SystemExit(f"some requests failed:\n{output}")
    (requests,) = re.findall(r"(\d+) requests in", output)
    (rate,) = re.findall(r"Requests/sec:\s+([\d.]+)", output)
    p50, p99 = (_milliseconds(*re.findall(rf"{share}%\s+([\d.]+)(us|ms|s)\n", output)[0]) for share in (50, 99))
    return Load(int(requests), float(rate), p50, p99, cpu_time * 1e6 / int(requests))


def _milliseconds(number: str, unit: str) -> float:
    return float(number) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def pin(command: list[str], core: int) -> list[str]:
    """Return the command pinned to a core (0 for the server, -1 for the load), or unchanged without taskset or a second core."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < 2 or not shutil.which("taskset"):
        return command
    return ["taskset", "-c", str(cores[core]), *command]


def create_conversations(url: str, project: fixture.Fixture) -> bytes:
    """Create the conversations, and return the body of the request for a turn."""
    body = {
        "cwd": str(project.cwd),
        "layout": "foreword",
        "tools": json.loads(project.tools.read_text()),
        "message": "go on",
    }
    encoded = json.dumps(body).encode()
    for number in range(CONVERSATIONS):
        fetch(f"{url}/conversations/chat-{number}/turn", encoded)
    return encoded


def fetch(url: str, body: bytes | None = None) -> bytes:
    with urlopen(Request(url, body)) as response:
        content: bytes = response.read()
        return content


# The server


@contextmanager
def run_service(store: str, project: fixture.Fixture, folder: Path) -> Iterator[tuple[str, int]]:
    """Run a service with an extra route for the constant. Yields its URL and process id."""
    command = [sys.executable, __file__, "serve", store, str(project.top), str(folder / "constant")]
    environment = {**os.environ, "HOME": str(project.home)}
    with (
        open(folder / "log", "ab") as log,
        subprocess.Popen(pin(command, 0), stdout=subprocess.PIPE, stderr=log, text=True, env=environment) as process,
    ):
        assert process.stdout
        url = process.stdout.readline().strip()
        try:
            yield url, process.pid
        finally:
            process.terminate()


def memory(process: int) -> float:
    """Return a process's resident memory in MB."""
    output = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=True)
    return int(output.stdout) / 1024


def cpu_seconds(process: int) -> float:
    """Return a process's user and system CPU time in seconds, or 0 if there is no /proc."""
    try:
        user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return 0.0
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def serve(store: str, root: str, constant: str) -> None:
    """Run the server process."""
    import uvicorn

    from foreword.service.server import ServerOptions, bind, uvicorn_config

    os.environ["FOREWORD_BENCH_CONSTANT"] = constant
    config = uvicorn_config(ServerOptions(store=store, roots=(root,), port=0), "service:application")
    listening = bind(config)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


def application() -> Any:
    """Return the real application with an extra route that returns a constant."""
    from foreword.service.responses import Response
    from foreword.service.route import Route, Router
    from foreword.service.routes import ROUTES
    from foreword.service.server import application as create_application

    path = Path(os.environ["FOREWORD_BENCH_CONSTANT"])
    cached: list[bytes] = []

    def constant(service: Any, call: Any) -> Response:
        if not cached:
            cached.append(path.read_bytes())
        return Response(cached[0], headers={"ETag": '"1"'})

    app = create_application()
    app._router = Router((*ROUTES, Route("GET", "/constant/{id}", constant, dict, is_inline=True)))
    app._metrics._rows["GET", "/constant/{id}"] = app._metrics._rows["", "other"]
    return app


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
        return

    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        start = time.monotonic()
        print_table(rows(fixture.build(Path(folder))))
        print(
            f"\ntook {time.monotonic() - start:.0f} s; load average {' '.join(f'{load:.1f}' for load in os.getloadavg())}"
        )


if __name__ == "__main__":
    main()
