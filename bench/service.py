"""Compare the CPU time of the HTTP service with that of uvicorn alone, which sends a constant response of the same size.

The other baseline is what most people would write: FastAPI and SQLAlchemy with the same SELECT, in a separate environment
(`fastapi_peer.py`). wrk runs on another core. `python bench/service.py` prints only these rows.
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
ROUNDS, SECONDS = 7, 1
CONVERSATIONS = 200
MANY = 100_000
# The highest acceptable CPU time of each kind of request, as a multiple of the constant's: in SQLite and in PostgreSQL.
LIMITS = {"get": (2.2, 2.9), "turn": (6.5, 8.0), "new": (17.0, 20.0)}
NAMES = {
    "get": "GET a conversation over HTTP, {store}",
    "turn": "POST a turn that reuses the prompt over HTTP, {store}",
    "new": "POST the first turn of a conversation over HTTP, {store}",
}
STORES = ("SQLite", "PostgreSQL")
PEER = Path(__file__).with_name("fastapi_peer.py")
WRK_MISSING = "skipping the service: wrk is not installed (Debian, Ubuntu: apt install wrk; macOS: brew install wrk)"
# The requests are created in `init`, because wrk does not know the host before that.
SCRIPT = """
local requests, at, body = {}, 0, %s
init = function()
  for line in io.lines(%s) do requests[#requests + 1] = wrk.format(%s, line, {["Content-Type"] = "application/json"}, body) end
end
request = function() at = at %% #requests + 1; return requests[at] end
"""
# Each run needs ids that no earlier run has used.
NEW_SCRIPT = """
local at, run, body = 0, tostring({}):sub(8) .. os.time(), io.open("%s"):read("*a")
request = function()
  at = at + 1
  return wrk.format("POST", "/conversations/new-" .. run .. "-" .. at .. "/turn", {["Content-Type"] = "application/json"}, body)
end
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
    """Compare each kind of request with the constant in both stores, and memory before and after many requests."""
    if shutil.which("wrk") is None:
        print(WRK_MISSING, file=sys.stderr)
        return []
    with tempfile.TemporaryDirectory(prefix="foreword-service-") as folder, stores.server() as databases:
        urls = (f"sqlite:///{folder}/store.db", databases())
        return [
            row for name, url in zip(STORES, urls, strict=True) for row in measure(name, url, project, Path(folder))
        ]


def measure(name: str, store: str, project: fixture.Fixture, folder: Path) -> list[Row]:
    command = [sys.executable, __file__, "serve", store, str(project.top)]
    with run(command, folder, project) as (url, process):
        body = create_conversations(url, project)
        (folder / "constant").write_bytes(fetch(f"{url}/conversations/chat-0"))
        loads = scripts(folder, body)
        before = memory(process)
        results: dict[str, list[Load]] = {kind: [] for kind in (*loads, "constant", "peer")}
        with (
            run([sys.executable, __file__, "constant", str(folder / "constant")], folder) as bare,
            run_peer(store, folder) as peer,
        ):
            for _ in range(ROUNDS):
                results["constant"].append(run_wrk(*bare, loads["get"]))
                for kind, script in loads.items():
                    results[kind].append(run_wrk(url, process, script))
                if peer:
                    results["peer"].append(run_wrk(*peer, loads["get"]))
        completed = sum(load.requests for kind in loads for load in results[kind])
        while completed < MANY:
            completed += run_wrk(url, process, loads["get"], 5).requests
        after = memory(process)
    size = (folder / "constant").stat().st_size
    constant = f"uvicorn with a constant of {size:,} bytes: {describe(results['constant'])}"
    compared = [
        compare(
            NAMES[kind].format(store=name), results[kind], results["constant"], limits[STORES.index(name)], constant
        )
        for kind, limits in LIMITS.items()
    ]
    if results["peer"]:
        label = f"FastAPI and SQLAlchemy with the same SELECT: {describe(results['peer'])}"
        compared.append(
            compare(NAMES["get"].format(store=name) + ", vs. FastAPI", results["get"], results["peer"], 1.0, label)
        )
    return [
        *compared,
        Row(
            f"MB of memory after {completed:,} requests, {name}",
            after,
            before,
            None,
            "resident memory",
            "resident memory before the first request",
        ),
    ]


def compare(name: str, ours: list[Load], baseline: list[Load], limit: float | None, label: str) -> Row:
    """Compare the CPU time per request, in milliseconds."""
    ours_busy, baseline_busy = (median(load.busy for load in loads) / 1e3 for loads in (ours, baseline))
    return Row(name, ours_busy, baseline_busy, limit, describe(ours), label)


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
    }
    for kind, (method, path, has_body) in kinds.items():
        (folder / kind).with_suffix(".paths").write_text(
            "".join(path.format(number) + "\n" for number in range(CONVERSATIONS))
        )
        read = f'io.open("{folder}/body"):read("*a")' if has_body else "nil"
        script = SCRIPT % (read, json.dumps(str((folder / kind).with_suffix(".paths"))), json.dumps(method))
        (folder / kind).with_suffix(".lua").write_text(script)
    (folder / "new.lua").write_text(NEW_SCRIPT % (folder / "body"))
    return {kind: (folder / kind).with_suffix(".lua") for kind in (*kinds, "new")}


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
def run(command: list[str], folder: Path, project: fixture.Fixture | None = None) -> Iterator[tuple[str, int]]:
    """Run a server that prints its URL. Yields the URL and the process id."""
    environment = {**os.environ, **({"HOME": str(project.home)} if project else {})}
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


@contextmanager
def run_peer(store: str, folder: Path) -> Iterator[tuple[str, int] | None]:
    """Run FastAPI and SQLAlchemy in a separate environment. Yields None if they cannot be installed."""
    python = folder / "peer" / "bin" / "python"
    packages = ["fastapi", "sqlalchemy", "psycopg[binary]", "uvicorn[standard]"]
    uv = Path(sys.executable).with_name("uv")
    try:
        if not python.exists():
            subprocess.run([uv, "venv", "-q", "--python", sys.executable, folder / "peer"], check=True)
            subprocess.run([uv, "pip", "install", "-q", "--python", python, *packages], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(
            f"skipping the comparison with FastAPI and SQLAlchemy: they cannot be installed ({error})", file=sys.stderr
        )
        yield None
        return
    with run([str(python), str(PEER), store], folder) as peer:
        yield peer


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


def serve(store: str, root: str) -> None:
    """Run the service."""
    import uvicorn

    from foreword.service.server import ServerOptions, uvicorn_config
    from foreword.service.sockets import bind

    config = uvicorn_config(ServerOptions(store=store, roots=(root,), port=0))
    listening = bind(config)
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listening])


def serve_constant(path: str) -> None:
    """Run uvicorn with an application that sends the content of a file."""
    import socket

    import uvicorn

    body = Path(path).read_bytes()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]

    async def constant(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(constant, access_log=False, lifespan="off", ws="none")).run(sockets=[listening])


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        serve(*sys.argv[2:])
        return
    if sys.argv[1:2] == ["constant"]:
        serve_constant(*sys.argv[2:])
        return

    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        start = time.monotonic()
        print_table(rows(fixture.build(Path(folder))))
        print(
            f"\ntook {time.monotonic() - start:.0f} s; load average {' '.join(f'{load:.1f}' for load in os.getloadavg())}"
        )


if __name__ == "__main__":
    main()
