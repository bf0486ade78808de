"""Run the service as a process, and send requests over real sockets.

Everything secret in these tests (prompts, templates, messages, tokens, the home directory) contains the word `planted`. When a
server ends, every line of its log must parse, and none may contain that word, a traceback or an internal error.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pytest

TOKEN = "planted-token-5b0c"
TIMEOUT = 120
_LINE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (\d{3}) ([A-Z-]+) (\S+) \d+\.\d ms ([A-Za-z0-9._-]{1,64})(?:  (.*))?"
)
_EVENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (debug|info|warning|error) (\w+)  (.*)")
# Sources of events that are not failures of the service.
_EXPECTED_SOURCES = ("audit", "service", "store")
_KEYS = {"time", "status", "method", "path", "ms", "request"}


class Response:
    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers}

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def problem(self):
        """Return the kind of problem, after checking the format of the response."""
        assert self.headers["content-type"] == "application/problem+json", (self.status, self.body[:300])
        message = self.json
        assert (message["status"], message["instance"]) == (
            self.status,
            f"urn:foreword:request:{self.headers['x-request-id']}",
        )
        assert message["title"] and message["detail"] and message["type"].startswith("urn:foreword:problem:")
        return message["type"].rpartition(":")[2]


class Server:
    """A `foreword serve` process on a free port, logging to a file."""

    def __init__(self, launcher, folder, *options, home, token="", environment=()):
        self.folder, self.token = Path(folder), token
        self.log_path = self.folder / "log"
        variables = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", **dict(environment)}
        if token:
            variables["FOREWORD_TOKEN"] = token
        arguments = ["serve", "--port", "0", *options]
        with open(self.log_path, "wb") as log:
            self.process = launcher(arguments, env=variables, cwd=self.folder, stdout=subprocess.PIPE, stderr=log)
        message = self.process.stdout.readline()
        assert message.startswith("Foreword is listening on http://127.0.0.1:"), (message, self.log_path.read_text())
        self.url = message.split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def request(self, method, path, body=None, headers=(), token=None):
        """Send one request on a new connection, with the token if the server has one. A body that is not bytes is sent as JSON."""
        headers = dict(headers)
        token = self.token if token is None else token
        if token:
            headers.setdefault("Authorization", f"Bearer {token}")
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Response(response.status, response.getheaders(), response.read())
        finally:
            connection.close()

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.request("POST", path, {} if body is None else body, **options)

    def conversation(self, id, action="turn", query="", **body):
        """Send a request to one of a conversation's routes."""
        return self.post(f"/conversations/{quote(id, safe='')}/{action}{query}", {"cwd": "", **body})

    def raw(self, *pieces, close_after=False):
        """Send bytes, and return everything received until the server closes the connection.

        With `close_after`, this side is closed after sending.
        """
        with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT) as connection:
            for piece in pieces:
                try:
                    connection.sendall(piece)
                except OSError:
                    break  # already refused; the response is read below
            if close_after:
                connection.shutdown(socket.SHUT_WR)
            return b"".join(_received_chunks(connection))

    def send_raw(self, *pieces):
        """Send bytes, and return the single response."""
        head, _, body = self.raw(*pieces).partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        return Response(int(first.split()[1]), [line.split(": ", 1) for line in lines], body)

    def memory(self):
        """Return the peak memory of the process, in MB."""
        match = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(match[1]) / 1024

    def log(self):
        """Return the parsed lines of the log."""
        text = self.log_path.read_text()
        return [
            _parse_line(line) for line in text[: text.rfind("\n") + 1].splitlines()
        ]  # the last line may be incomplete

    def lines(self, request):
        """Return the log lines of a request; they are written after the response."""
        for _ in range(6000):
            if lines := [line for line in self.log() if line.get("request") == request]:
                return lines
            time.sleep(0.01)
        raise AssertionError(f"the log has no line for request {request}")

    def wait_for_event(self, source, beginning):
        """Return the first event from a source whose message begins like this."""
        for _ in range(6000):
            for line in self.log():
                if line.get("from") == source and line["message"].startswith(beginning):
                    return line
            time.sleep(0.01)
        raise AssertionError(f"the log has no event from {source} that begins with {beginning!r}")

    def close(self):
        """Stop the process and check its log."""
        if self.process.returncode is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(TIMEOUT) in (0, -signal.SIGTERM)
        self.process.stdout.close()
        text = self.log_path.read_text()
        assert "planted" not in text.lower()
        assert "Traceback" not in text
        events = [line for line in self.log() if "status" not in line and line["from"] not in _EXPECTED_SOURCES]
        assert [line for line in self.log() if line.get("status") == 500] + events == []


def _received_chunks(connection):
    while True:
        try:
            data = connection.recv(1 << 16)
        except ConnectionResetError:
            return
        if not data:
            return
        yield data


def _parse_line(line):
    if line.startswith("{"):
        fields = json.loads(line)
        assert fields.keys() >= _KEYS or fields.keys() >= {"time", "level", "from"}, line
        return fields
    event = _EVENT.fullmatch(line)
    if event:
        return dict(zip(("level", "from", "message"), event.groups(), strict=True))
    match = _LINE.fullmatch(line)
    assert match, line
    status, method, path, request, problem = match.groups()
    return {"status": int(status), "method": method, "path": path, "request": request, "problem": problem or ""}


SKILL = "---\nname: tidy\ndescription: Tidies up.\n---\nSweep the planted floor.\n"
FILES = {
    "w/AGENTS.md": "Be kind: planted-prompt.\n",
    "w/notes.md": "Notes.\n",
    "w/.env": "PASSWORD=planted\n",
    "w/id_rsa": "planted\n",
    "w/sub/inner.md": "Inner.\n",
    "w/sub/.git/HEAD": "ref: refs/heads/main\n",
    "w/ünï code/a.md": "A.\n",
    "w/.agents/skills/tidy/SKILL.md": SKILL,
    "w-evil/AGENTS.md": "Evil.\n",
    "outside/secret.txt": "planted-outside\n",
    "repo/.git/HEAD": "ref: refs/heads/main\n",
    "repo/above.md": "planted-above\n",
    "repo/served/below.md": "Below.\n",
}
LINKS = {"w/link-out": "outside", "w/link-file": "outside/secret.txt", "w/link-in": "w/sub", "w/loop": "w/loop"}


@pytest.fixture(scope="session")
def top_folder(tmp_path_factory):
    """Folders to serve, folders beside them, and a home directory."""
    top = tmp_path_factory.mktemp("place")
    for name, text in FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    for name, target in LINKS.items():
        (top / name).symlink_to(top / target)
    (top / "planted-home").mkdir()
    return top


@pytest.fixture(scope="session")
def start(launcher, top_folder, tmp_path_factory):
    """`start("--time-limit", "1")` starts a server for `w` that ends with the tests; `root=` and `store=` name others."""
    with ExitStack() as servers:  # stops every server, even if one fails

        def start(*options, root="w", store="", **more):
            folder = tmp_path_factory.mktemp("server")
            url = store or f"sqlite:///{folder}/store.db"
            server = Server(
                launcher,
                folder,
                "--root",
                str(top_folder / root),
                "--store",
                url,
                *options,
                home=top_folder / "planted-home",
                **more,
            )
            servers.callback(server.close)
            return server

        yield start


@pytest.fixture(scope="session")
def service(start):
    """A service with default options that also answers questions about sessions."""
    return start("--sessions")


@pytest.fixture(scope="session")
def guarded_service(start):
    """A service with a token that logs JSON."""
    return start("--log", "json", token=TOKEN)


@pytest.fixture(scope="session")
def hasty_service(start):
    """A service with a short time limit."""
    return start("--time-limit", "1.5")


@pytest.fixture
def fresh_service(start):
    """A new service with an empty store."""
    server = start()
    yield server
    server.close()
