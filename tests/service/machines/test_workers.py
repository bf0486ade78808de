"""Several workers on one SQLite file, and how a service shuts down."""

import os
import re
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from foreword.store import open_store

pytestmark = pytest.mark.xdist_group("machines")
CLIENT_COUNT = 12
SLOW_GIT = "#!/bin/sh\necho started > {}/git-started\nsleep 1\nexit 1\n"


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture(scope="module")
def slow_git(top):
    """Install a git that takes a second, and return the file it creates when called."""
    (top / "bin").mkdir()
    program = top / "bin" / "git"
    program.write_text(SLOW_GIT.format(top))
    program.chmod(0o755)
    return top / "git-started"


def workers(service):
    """Return the pids of the workers that have answered a request, from their metrics files."""
    (folder,) = service.temporary.glob("foreword-metrics-*")
    return sorted(int(path.name) for path in folder.iterdir())


def count(service, pattern):
    metrics = service.request("GET", "/metrics").body.decode()
    return sum(int(number) for number in re.findall(rf"^{pattern} (\d+)$", metrics, re.MULTILINE))


def test_workers_share_a_store_and_their_counts(start_service, url, tools):
    service = start_service(url, "--workers", "3")
    tools.wait_until(lambda: service.request("GET", "/healthz") and len(workers(service)) == 3, "three workers")
    service.request("PUT", "/system-prompt", {"template": "It is [system:time] for [prompt:conversation_id]."})
    gate = Barrier(CLIENT_COUNT)

    def start(number):
        responses = []
        for round in range(8):
            gate.wait()
            responses.append(service.turn(f"t{round}"))
        return responses

    with ThreadPoolExecutor(CLIENT_COUNT) as pool:
        responses_by_client = list(pool.map(start, range(CLIENT_COUNT)))
    for responses in zip(*responses_by_client, strict=True):
        assert {response.status for response in responses} == {200}
        assert {(response.form["edition"], response.form["system"]) for response in responses} == {
            (1, responses[0].form["system"])
        }
    counter = r'foreword_requests_total\{method="POST",route="/conversations/\{id\}/turn",status="200"\}'
    tools.wait_until(lambda: count(service, counter) == CLIENT_COUNT * 8, "the count of all requests")
    assert count(service, "foreword_builds_total") == 8
    assert count(service, "foreword_reuses_total") == CLIENT_COUNT * 8 - 8
    check_replaced(service, tools)
    assert count(service, "foreword_builds_total") == 8, "the counts of an ended worker are kept"
    store = open_store(url)
    assert ([row.editions for row in store.conversations().rows], store.verify()) == ([1] * 8, [])
    store.close()
    assert service.stop() == 0
    check_stopped(service, tools)


def check_replaced(service, tools):
    """Check that a killed worker is replaced and all others continue."""
    before = workers(service)
    os.kill(before[0], signal.SIGKILL)
    tools.wait_until(lambda: len(workers(service)) == 4, "a new worker")
    for number in range(30):
        try:
            assert service.turn(f"t{number % 8}").form["reused"]
        except tools.CONNECTION_ERRORS:
            assert number == 0, "only the request of the killed worker may fail"


def check_stopped(service, tools):
    """Check that nobody listens, nothing runs, no files are left, and no traceback was printed."""
    assert tools.is_refused(service.port)
    tools.wait_until(lambda: not service.descendants(), "the end of all its processes", 5)
    assert list(service.temporary.iterdir()) == []
    assert service.stderr() == ""


def test_workers_end_with_their_supervisor_even_if_it_is_killed(start_service, url, tools):
    service = start_service(url, "--workers", "2")
    tools.wait_until(lambda: service.request("GET", "/healthz") and len(workers(service)) == 2, "two workers")
    assert service.stop(signal.SIGKILL) == -signal.SIGKILL
    tools.wait_until(lambda: tools.is_refused(service.port), "a closed port")
    tools.wait_until(lambda: not service.descendants(), "the end of all its processes")


def post(service, path, body):
    """Send a request except for its last byte, and return the connection and that byte."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    connection.sendall(head.encode() + body[:-1])
    return connection, body[-1:]


def read_all(connection):
    with connection, connection.makefile("rb") as file:
        return file.read()


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("shutdown", ["SIGTERM", "Ctrl-C"])
def test_requests_in_flight_are_answered_before_shutdown(
    start_service, url, tools, slow_git, monkeypatch, number, shutdown
):
    monkeypatch.setenv("PATH", f"{slow_git.parent / 'bin'}:{os.environ['PATH']}")
    service = start_service(url, "--workers", str(number))
    (service.top / "w/.git").mkdir(exist_ok=True)
    (service.top / "w/.git/HEAD").write_text("ref: refs/heads/main\n")
    if number > 1:
        tools.wait_until(lambda: len(workers(service)) == number, "all workers")
    check_sandbox(service)
    service.request("PUT", "/system-prompt", {"template": "Begin [git:status] end."})
    slow_git.unlink(missing_ok=True)
    with ThreadPoolExecutor(1) as pool:
        slow_work = pool.submit(service.turn, "slow-work")
        slow_upload, last = post(service, "/conversations/slow-upload/turn", b'{"cwd": "", "layout": "foreword"}')
        tools.wait_until(slow_git.exists, "a call of git")
        if shutdown == "SIGTERM":
            service.process.send_signal(signal.SIGTERM)
        else:  # a terminal sends it to every process of the group
            os.killpg(service.process.pid, signal.SIGINT)
        tools.wait_until(lambda: tools.is_refused(service.port), "refused connections", 5)
        assert service.process.poll() is None
        slow_upload.sendall(last)
        assert (slow_work.result().status, slow_work.result().form["system"]) == (200, "Begin  end.")
        assert read_all(slow_upload).startswith(b"HTTP/1.1 200 ")
    assert service.wait_for_exit() == 0
    check_stopped(service, tools)
    store = open_store(url)
    assert sorted(row.id for row in store.conversations().rows) == ["slow-upload", "slow-work"]
    store.close()


def check_sandbox(service):
    """Check that a template from the network is rendered in a separate process; it must end with the service."""
    before = service.descendants()
    response = service.request("POST", "/system-prompt/preview", {"template": "{{ cwd }}", "layout": "pod"})
    assert response.status == 200
    assert len(service.descendants()) > len(before)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_neither_an_idle_connection_nor_an_early_signal_delays_shutdown(start_service, url, tools, signal_number):
    service = start_service(url)
    with socket.create_connection(("127.0.0.1", service.port)):
        assert service.stop(signal_number) == 0
    check_stopped(service, tools)
