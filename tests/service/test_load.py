"""Known turns, reads and health respond while templates are stuck or another process locks the store."""

import json
import os
import re
import select
import signal
import socket
import sqlite3
import time
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from foreword.service.tokens import hash_token

CHECK = {"syntax": "jinja", "template": "{{ cwd }}"}
QUEUE = 2


class Pending:
    """A sent request whose response is read later."""

    def __init__(self, server, path, body, id):
        self.id = id
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {id}\r\nConnection: close\r\n"
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        self.socket.sendall(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)

    @property
    def is_answered(self):
        return bool(select.select([self.socket], [], [], 0)[0])

    def response(self):
        """The status, the headers and the body."""
        with closing(self.socket):
            response = b"".join(iter(lambda: self.socket.recv(1 << 16), b""))
        head, _, body = response.partition(b"\r\n\r\n")
        first, *lines = head.decode().lower().split("\r\n")
        return int(first.split()[1]), dict(line.split(": ", 1) for line in lines), json.loads(body)


def workers(server):
    """Return the processes in which the server renders templates."""
    tasks = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def has_input(pid, seconds=60):
    """Wait until a stopped process has something to read from its standard input."""
    descriptor = os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.fixture
def stuck_server(start):
    """A server with one stopped template worker, and an existing conversation."""
    if not os.path.isdir(f"/proc/{os.getpid()}/task"):
        pytest.skip("reads /proc")
    server = start("--template-workers", "1", "--template-queue", str(QUEUE))
    server.conversation("known")
    assert server.post("/system-prompt/check", CHECK).status == 200
    (server.worker,) = workers(server)
    os.kill(server.worker, signal.SIGSTOP)
    yield server
    if is_running(server.worker):
        os.kill(server.worker, signal.SIGCONT)
    server.close()


def assert_other_routes_respond(server):
    assert (server.conversation("known").status, server.conversation("known").json["reused"]) == (200, True)
    for path in ("/readyz", "/healthz", "/conversations/known", "/conversations", "/system-prompt", "/metrics"):
        assert server.get(path).status == 200, path


TEMPLATE_ROUTES = {
    "check": ("/system-prompt/check", CHECK),
    "preview": ("/system-prompt/preview", {"layout": "pod", "template": "{{ cwd }}"}),
    "turn": ("/conversations/new-{}/turn", {"cwd": "", "layout": "pod", "base": "{{ cwd }}"}),
    "construct": ("/conversations/new-{}/construct", {"cwd": "", "layout": "pod", "base": "{{ cwd }}"}),
}


@pytest.mark.parametrize("route", TEMPLATE_ROUTES)
def test_templates_beyond_the_queue_are_refused_immediately(stuck_server, route):
    path, body = TEMPLATE_ROUTES[route]
    pending = fill_queue(stuck_server, path, body)
    assert len(pending) == 1 + QUEUE
    for number in range(40):
        response = stuck_server.post(path.format(f"more-{number}"), body)
        assert (response.status, response.problem) == (503, "busy")
        assert int(response.headers["retry-after"]) > 0
    assert_other_routes_respond(stuck_server)
    assert stuck_server.conversation("plain", layout="foreword").status == 200, "a new conversation without templates"
    assert not any(request.is_answered for request in pending), "while the templates were stuck"
    os.kill(stuck_server.worker, signal.SIGCONT)
    assert [request.response()[0] for request in pending] == [200] * len(pending)


def test_what_a_full_queue_refuses_is_not_read(stuck_server):
    pending = fill_queue(stuck_server, "/system-prompt/check", CHECK)
    with socket.create_connection(("127.0.0.1", stuck_server.port), timeout=60) as connection:
        connection.sendall(make_head(1000) + b"not ")
        assert connection.recv(100).startswith(b"HTTP/1.1 503")
        connection.sendall(b"J" * 996 + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert b"HTTP/1.1 200" in b"".join(iter(lambda: connection.recv(1 << 16), b""))
    os.kill(stuck_server.worker, signal.SIGCONT)
    assert {request.response()[0] for request in pending} == {200}


def fill_queue(server, path, body):
    """Send as many template requests as the server accepts, and return them."""
    pending = []
    while not pending or not pending[-1].is_answered:
        pending.append(Pending(server, path.format(len(pending)), body, f"held-{len(pending)}"))
        select.select([pending[-1].socket], [], [], 0.5)
    waiting = [request for request in pending if not request.is_answered]
    assert {request.response()[0] for request in pending if request not in waiting} == {503}
    return waiting


def test_rendering_stops_when_the_client_disconnects(stuck_server, has_ended):
    pending = Pending(stuck_server, "/system-prompt/check", CHECK, "running")
    assert has_input(stuck_server.worker)
    queued = Pending(stuck_server, "/system-prompt/check", CHECK, "queued")
    queued.socket.close()
    (line,) = stuck_server.lines("queued")
    assert (line["status"], line["problem"].partition(":")[0]) == (499, "client-disconnected")
    pending.socket.close()
    assert stuck_server.lines("running")[0]["status"] == 499
    assert has_ended(stuck_server.worker)
    assert stuck_server.post("/system-prompt/check", CHECK).json == {"findings": []}


def test_a_locked_store_delays_only_writes(start):
    server = start()
    server.conversation("known")
    with ExitStack() as stack:
        other = stack.enter_context(closing(sqlite3.connect(server.folder / "store.db", isolation_level=None)))
        other.execute("BEGIN IMMEDIATE")
        turns = [
            Pending(server, f"/conversations/new-{number}/turn", {"cwd": ""}, f"new-{number}") for number in range(50)
        ]
        assert_other_routes_respond(server)
        for turn in turns:
            status, headers, problem = turn.response()
            assert (status, problem["type"].rpartition(":")[2]) == (503, "store-busy")
            assert int(headers["retry-after"]) > 0
            assert "another process" in problem["detail"]
        assert server.request("PUT", "/system-prompt", {"template": "x"}).problem == "store-busy"
        recorded = server.post("/conversations/known/usage", {"usage": {"input_tokens": 10, "output_tokens": 1}}).json
        assert [finding["code"] for finding in recorded["findings"]] == ["store-busy"]
        assert_other_routes_respond(server)
        metrics = server.get("/metrics").body
        assert b"foreword_store_down 0" in metrics and b"foreword_store_errors_total 0" in metrics
        assert int(re.search(rb"foreword_store_busy_total (\d+)", metrics)[1]) >= 52
        refused = [line["problem"] for line in server.log() if line.get("status") == 503]
        assert refused and all(problem.startswith("store-busy: Store busy  the store") for problem in refused)
        assert [line for line in server.log() if line.get("from") == "store"] == [], "nothing says that it is down"
        other.execute("ROLLBACK")
    assert server.request("PUT", "/system-prompt", {"template": "x"}).status == 200
    assert server.conversation("new").status == 200
    server.close()


def test_wal_mode_is_restored(start, tmp_path):
    file = tmp_path / "store.db"
    start(store=str(file)).close()
    with closing(sqlite3.connect(file)) as other:
        assert other.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    server = start(store=str(file))
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert server.get("/readyz").status == 200
        other.execute("ROLLBACK")
    server.close()


# Large prompts


LARGE = "".join(
    f"Line {number} of a planted prompt that is too large for the service's own interpreter.\n"
    for number in range(5000)
)
LARGE_QUESTIONS = {
    "/show": {"cwd": "", "layout": "foreword", "base": LARGE},
    "/tokens": {"cwd": "", "layout": "foreword", "base": LARGE},
    "/blame": {"cwd": "", "layout": "foreword", "base": LARGE},
    "/diff": {"old": {"cwd": "", "layout": "foreword", "base": LARGE}, "new": {"cwd": "", "layout": "foreword"}},
    "/cache": {"cwd": "", "layout": "foreword"},
    "/lint": {"cwd": ""},
    "/agents": {"cwd": ""},
    "/align": {"cwd": ""},
    "/system-prompt/preview": {"cwd": "", "template": LARGE},
}


@pytest.fixture(scope="module")
def inspected(start):
    if not os.path.isdir(f"/proc/{os.getpid()}/task"):
        pytest.skip("reads /proc")
    server = start()
    server.conversation("known")
    yield server
    server.close()


def side_processes(server):
    return [pid for pid in workers(server) if b"answers_requests" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.parametrize("path", LARGE_QUESTIONS)
def test_a_large_question_is_answered_by_a_side_process(inspected, path):
    for pid in side_processes(inspected):
        os.kill(pid, signal.SIGKILL)
    response = inspected.post(path, LARGE_QUESTIONS[path])
    assert response.status == 200, response.body[:300]
    assert side_processes(inspected)
    assert inspected.post(path, {"cwd": "nowhere", "old": 1}).status >= 400


def test_templates_that_a_side_process_renders_are_counted(inspected):
    def count():
        return int(re.search(rb"^foreword_sandbox_requests_total (\d+)", inspected.get("/metrics").body, re.M)[1])

    before = count()
    template = {"syntax": "jinja", "template": LARGE + "{{ cwd }}"}
    assert inspected.post("/system-prompt/preview", {"cwd": "", "layout": "pod", **template}).status == 200
    assert side_processes(inspected)
    assert count() > before


def test_small_questions_need_no_side_process(start):
    server = start()
    for path in ("/show", "/tokens", "/blame", "/why"):
        assert server.post(path, {"cwd": ""}).status == 200
    assert side_processes(server) == []
    server.close()


TOKENS = "".join(
    f'[[token]]\nname = "{name}"\nhash = "{hash_token(name.encode()).decode()}"\nrights = ["read", "turn"]\n'
    for name in "ab"
)


@pytest.fixture
def shared(start, tmp_path):
    """A server with the tokens a and b."""
    if not os.path.isdir(f"/proc/{os.getpid()}/task"):
        pytest.skip("reads /proc")
    (tmp_path / "tokens.toml").write_text(TOKENS)
    server = start("--tokens", str(tmp_path / "tokens.toml"))
    yield server
    server.close()


def ask_as_one_of_several(server, path, body):
    """Return the response to a question of b, while a is sending requests too."""
    assert server.get("/skills", token="a").status == 200
    return server.post(path, body, token="b")


@pytest.mark.parametrize("body", [{"cwd": ""}, {"cwd": "", "layout": "pod", "base": "{{ cwd }}"}, {"cwd": "nowhere"}])
def test_small_questions_are_answered_by_a_side_process_while_there_are_other_callers(shared, body):
    alone = shared.post("/show", body, token="b")
    assert side_processes(shared) == []
    while not side_processes(shared):
        among_others = ask_as_one_of_several(shared, "/show", body)
        assert among_others.status == alone.status == (404 if "nowhere" in body.values() else 200)
        if alone.status == 200:
            assert among_others.json == alone.json


def test_questions_do_not_wait_for_the_side_process_of_others(shared):
    while not side_processes(shared):
        assert ask_as_one_of_several(shared, "/show", {"cwd": ""}).status == 200
    (process,) = side_processes(shared)
    os.kill(process, signal.SIGSTOP)
    try:
        body = b'{"cwd": ""}'
        head = (
            f"POST /show HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        assert shared.get("/conversations", token="b").status == 200
        with socket.create_connection(("127.0.0.1", shared.port), timeout=60) as stuck:
            stuck.sendall(head.encode() + body)
            assert has_input(process)
            assert shared.post("/show", {"cwd": ""}, token="b").status == 200
        assert is_running(process), "a question is so short that its process is not killed when the client hangs up"
    finally:
        os.kill(process, signal.SIGCONT)
    while side_processes(shared) != [process] or ask_as_one_of_several(shared, "/show", {"cwd": ""}).status != 200:
        time.sleep(0.01)


HISTORY = [{"role": "user", "content": [{"type": "text", "text": "word " * 40}]} for _ in range(2500)]
SPREAD = {"cwd": "", "message": "go on", "messages": HISTORY}


@pytest.mark.parametrize(
    ("path", "body", "status", "problem"),
    [
        ("/conversations/large/turn", SPREAD, 200, None),
        ("/conversations/large/compact", {**SPREAD, "message": ""}, 200, None),
        ("/show", {"cwd": "", "tools": [{"name": "t", "schema": {"a": list(range(200_000))}}]}, 200, None),
        ("/system-prompt/check", {"syntax": "jinja", "template": "a" * 300_000 + "{{ cwd"}, 200, None),
        ("/conversations/large/turn", {**SPREAD, "message": 7}, 400, "invalid-body"),
        ("/conversations/large/turn", {**SPREAD, "cwd": "nowhere"}, 404, "not-found"),
        ("/conversations/large/turn", {**SPREAD, "messages": [[]] * 200_000}, 413, "too-large"),
        ("/conversations/large/turn", b'{"cwd": ""' + b" " * 300_000, 400, "not-json"),
    ],
)
def test_a_large_body_is_answered_by_a_side_process_while_there_are_other_callers(shared, path, body, status, problem):
    assert shared.post("/conversations/large/turn", {"cwd": ""}, token="b").status == 200
    alone = shared.post(path, body, token="b")
    assert (alone.status, alone.json.get("type")) == (status, problem and f"urn:foreword:problem:{problem}")
    assert side_processes(shared) == []
    while not side_processes(shared):
        among_others = ask_as_one_of_several(shared, path, body)
        assert among_others.status == status
        assert {**among_others.json, "instance": ""} == {**alone.json, "instance": ""}


def test_what_a_side_process_has_stored_is_seen_by_the_next_turn(shared):
    assert shared.post("/conversations/large/turn", {"cwd": ""}, token="b").json["edition"] == 1
    while not side_processes(shared):
        tools = [{"name": f"t{number}", "description": "word " * 40} for number in range(2500)]
        stored = ask_as_one_of_several(shared, "/conversations/large/reload", {"cwd": "", "tools": tools}).json
    assert stored["edition"] == 2
    seen = shared.post("/conversations/large/turn", {"cwd": "", "message": "go on"}, token="b").json
    assert (seen["edition"], len(seen["tools"])) == (2, 2500)


def test_a_large_body_is_answered_from_memory_when_the_store_fails(shared):
    while len(side_processes(shared)) < 2:
        assert ask_as_one_of_several(shared, "/show", {"cwd": "", "base": "x" * 300_000}).status == 200
    assert shared.post("/conversations/known/turn", {"cwd": ""}, token="b").status == 200
    store = shared.folder / "store.db"
    store.rename(shared.folder / "away.db")
    for message, status in (("go on", 200), (7, 400)):
        response = ask_as_one_of_several(shared, "/conversations/known/turn", {**SPREAD, "message": message})
        assert response.status == status, response.body[:300]
    store.with_name("away.db").rename(store)


def test_problems_come_back_from_a_side_process_unchanged(inspected):
    refused = inspected.post("/lint", {"cwd": "nowhere"})
    assert (refused.status, refused.problem) == (404, "not-found")
    outside = inspected.post("/agents", {"cwd": "../.."})
    assert (outside.status, outside.problem) == (403, "outside-roots")


def test_known_turns_are_answered_while_inspections_are_stuck(start):
    if not os.path.isdir(f"/proc/{os.getpid()}/task"):
        pytest.skip("reads /proc")
    server = start()
    server.conversation("known")
    body = LARGE_QUESTIONS["/diff"]
    assert server.post("/diff", body).status == 200
    (process,) = side_processes(server)
    os.kill(process, signal.SIGSTOP)
    pending = [Pending(server, "/diff", body, f"stuck-{number}") for number in range(30)]
    refused = [request for request in pending if select.select([request.socket], [], [], 2)[0]]
    assert_other_routes_respond(server)
    assert server.post("/show", {"cwd": ""}).status == 200, "a small question"
    assert server.conversation("new").status == 200
    assert {request.response()[0] for request in refused} <= {200, 503}
    for request in pending:
        if request not in refused:
            request.socket.close()
    for request in pending:
        if request not in refused:
            server.lines(request.id)
    assert server.post("/diff", body).status == 200, "the stopped process was replaced"
    server.close()


# Memory


def make_body(size):
    return b'{"template": "' + b"x" * size + b'"}'


def make_head(size):
    return b"POST /system-prompt/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % size


def test_bodies_in_flight_are_limited(start):
    """While a client does not finish a large body, other large bodies are refused and small ones are not."""
    server = start("--in-flight", "1")
    large = make_body(400_000)
    assert server.request("POST", "/system-prompt/check", large).status == 200
    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.sendall(make_head(5_000_000) + b" " * 900_000)
        for _ in range(100):  # it reads what was sent in the meantime
            assert server.get("/healthz").status == 200
        response = server.request("POST", "/system-prompt/check", large)
        assert (response.status, response.problem) == (503, "busy")
        assert int(response.headers["retry-after"]) > 0
        assert server.conversation("small").status == 200
    for _ in range(1000):
        if server.request("POST", "/system-prompt/check", large).status == 200:
            break
    else:
        raise AssertionError("the memory of a disconnected client was not released")
    server.close()


def test_a_client_that_does_not_read_is_dropped(start):
    server = start("--time-limit", "1.5")
    server.conversation("long", "construct", base="x" * 400_000, layout="foreword")
    request = b"GET /conversations/long HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", server.port))
        client.sendall(request * 100)
        for _ in range(6000):
            dropped = [line for line in server.log() if line.get("problem", "").startswith("slow-reader: ")]
            if dropped:
                break
            time.sleep(0.01)
        (line,) = dropped
        assert "the client did not read the response within 1.5 seconds" in line["problem"]
        read = 0
        try:
            while data := client.recv(1 << 20):
                read += len(data)
        except ConnectionResetError:
            pass
        assert read < 100 * 400_000
    assert server.conversation("long").status == 200
    server.close()
