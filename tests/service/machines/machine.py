"""Services for tests: `foreword serve` in separate processes, and a PostgreSQL server that can be stopped."""

from __future__ import annotations

import contextlib
import glob
import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

STORE = Path(__file__).parents[2] / "store"
TIMEOUT = 120.0
# Errors of a client whose server is killed.
CONNECTION_ERRORS = (OSError, http.client.HTTPException)


def database():
    """Start a separate PostgreSQL server; its `command` takes "stop", "start", "freeze" and "thaw"."""
    spec = importlib.util.spec_from_file_location("store_conftest", STORE / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Server()


class Response:
    """A response."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def form(self):
        return json.loads(self.body)

    @property
    def codes(self):
        return [finding["code"] for finding in self.form["findings"]]

    def __repr__(self):
        return f"<{self.status} {self.body[:300]!r}>"


class Machine:
    """One service; its port stays the same when it is restarted."""

    def __init__(self, top, store, *options, name="machine", environment=None, prefix=()):
        self.top, self.store, self.options = Path(top), store, options
        self.environment, self.prefix = environment or {}, prefix
        self.port, self.process, self.seen = 0, None, set()
        self.log = self.top / f"{name}.log"
        self.temporary = self.top / f"temporary-{name}"
        for folder in (self.top / "w", self.top / "home", self.temporary):
            folder.mkdir(exist_ok=True)

    def start(self, wait=True):
        command = [*self.prefix, sys.executable, "-m", "foreword", "serve", "--log", "json", "--port", str(self.port)]
        command += ["--root", str(self.top / "w"), "--store", self.store, *self.options]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FOREWORD_")}
        environment |= {"HOME": str(self.top / "home"), "TMPDIR": str(self.temporary), **self.environment}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment, start_new_session=True
            )
        if wait:
            self.wait_for_start()
        return self

    def wait_for_start(self):
        line = self.process.stdout.readline()
        assert "is listening on" in line, f"it did not start: {line}{self.stderr()}"
        self.port = int(line.rpartition(":")[2])

    def request(self, method, path, body=None, timeout=TIMEOUT, headers=()):
        """Send one request on a new connection and return the response."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)) as connection:
            content = json.dumps(body) if body is not None else None
            connection.request(method, path, content, dict(headers))
            response = connection.getresponse()
            return Response(response.status, response.headers, response.read())

    def turn(self, id, action="turn", **body):
        return self.request("POST", f"/conversations/{id}/{action}", {"cwd": "", **body})

    def kill(self):
        """Kill it immediately, with all its child processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self, number=signal.SIGTERM):
        """Send a signal and return the exit status."""
        self.process.send_signal(number)
        return self.wait_for_exit()

    def wait_for_exit(self):
        status = self.process.wait(TIMEOUT)
        self.process.stdout.close()
        return status

    def close(self):
        """Kill all its remaining processes."""
        if self.process is not None and (self.process.poll() is None or self.descendants()):
            remaining = self.descendants()
            self.kill()
            for pid in remaining:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def descendants(self):
        """Return the pids of its running descendants. Some leave its process group, so those seen before are remembered."""
        running = {pid: (parent, group) for pid, parent, group in _processes()}
        family = {self.process.pid, *self.seen} & running.keys()
        family |= {pid for pid, (_, group) in running.items() if group == self.process.pid}
        while more := {pid for pid, (parent, _) in running.items() if parent in family} - family:
            family |= more
        self.seen |= family - {self.process.pid}
        return sorted(family - {self.process.pid})

    def stderr(self):
        """Return what it wrote on stderr, except request lines."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return "\n".join(line for line in lines if not line.startswith('{"time"'))


def _processes():
    """Yield the pid, parent and group of every process that is not a zombie, from /proc or else from `ps`."""
    for path in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError), open(path) as file:  # a process may end in the meantime
            pid, _, rest = file.read().partition(" ")
            state, parent, group = rest.rpartition(")")[2].split()[:3]
            if state != "Z":
                yield int(pid), int(parent), int(group)
    if os.path.exists("/proc/self/stat"):
        return
    output = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    for pid, parent, group, state in map(str.split, output.splitlines()):
        if not state.startswith("Z"):
            yield int(pid), int(parent), int(group)


def wait_until(condition, what="it", seconds=TIMEOUT):
    """Wait until a condition returns something true, and return it."""
    last = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < last, f"timed out waiting for: {what}"
        time.sleep(0.02)
    return found


def is_refused(port):
    """Return whether nobody listens on a port."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0
