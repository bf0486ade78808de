"""Several workers on one SQLite file, and how a service ends."""

import os
import re
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from foreword.store import open_store

pytestmark = pytest.mark.xdist_group("machines")
CROWD = 12
SLOW_GIT = "#!/bin/sh\necho started > {}/git-started\nsleep 1\nexit 1\n"


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/store.db"


@pytest.fixture(scope="module")
def slow_git(top):
    """A git that takes a second; whether somebody has asked it."""
    (top / "bin").mkdir()
    program = top / "bin" / "git"
    program.write_text(SLOW_GIT.format(top))
    program.chmod(0o755)
    return top / "git-started"


def workers(service):
    """The workers that have answered something, by the files of their counts."""
    (folder,) = service.temporary.glob("foreword-metrics-*")
    return sorted(int(path.name) for path in folder.iterdir())


def count(service, pattern):
    told = service.ask("GET", "/metrics").body.decode()
    return sum(int(number) for number in re.findall(rf"^{pattern} (\d+)$", told, re.MULTILINE))


def test_workers_share_a_store_and_their_counts(started, url, tools):
    service = started(url, "--workers", "3")
    tools.until(lambda: service.ask("GET", "/healthz") and len(workers(service)) == 3, "three workers")
    service.ask("PUT", "/system-prompt", {"template": "It is [system:time] for [prompt:conversation_id]."})
    gate = Barrier(CROWD)

    def start(number):
        answers = []
        for round in range(8):
            gate.wait()
            answers.append(service.turn(f"t{round}"))
        return answers

    with ThreadPoolExecutor(CROWD) as crowd:
        told = list(crowd.map(start, range(CROWD)))
    for answers in zip(*told, strict=True):
        assert {answer.status for answer in answers} == {200}
        assert {(answer.form["edition"], answer.form["system"]) for answer in answers} == {
            (1, answers[0].form["system"])
        }
    asked = r'foreword_requests_total\{method="POST",route="/conversations/\{id\}/turn",status="200"\}'
    tools.until(lambda: count(service, asked) == CROWD * 8, "every request is counted, soon after its answer")
    assert count(service, "foreword_constructs_total") == 8
    assert count(service, "foreword_reuses_total") == CROWD * 8 - 8
    check_replaced(service, tools)
    assert count(service, "foreword_constructs_total") == 8, "what a worker has counted stays when it is gone"
    store = open_store(url)
    assert ([row.editions for row in store.conversations()], store.verify()) == ([1] * 8, [])
    store.close()
    assert service.stop() == 0
    check_gone(service, tools)


def check_replaced(service, tools):
    """A worker that is killed is replaced, and all go on."""
    before = workers(service)
    os.kill(before[0], signal.SIGKILL)
    tools.until(lambda: len(workers(service)) == 4, "a new worker")
    for number in range(30):
        try:
            assert service.turn(f"t{number % 8}").form["reused"]
        except tools.GONE:
            assert number == 0, "only what the killed one had taken may break"


def check_gone(service, tools):
    """Nobody listens, nothing runs, nothing lies about, and no traceback was printed."""
    assert tools.is_refused(service.port)
    tools.until(lambda: not service.kin(), "all its processes have ended", 5)
    assert list(service.temporary.iterdir()) == []
    assert service.said() == ""


def test_workers_end_with_their_supervisor_even_if_it_is_killed(started, url, tools):
    service = started(url, "--workers", "2")
    tools.until(lambda: service.ask("GET", "/healthz") and len(workers(service)) == 2, "two workers")
    assert service.stop(signal.SIGKILL) == -signal.SIGKILL
    tools.until(lambda: tools.is_refused(service.port), "nobody listens")
    tools.until(lambda: not service.kin(), "all its processes have ended")


def post(service, path, body):
    """A request of which the last byte is not sent yet: the connection, and the byte."""
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=60)
    connection.sendall(head.encode() + body[:-1])
    return connection, body[-1:]


def whole(connection):
    with connection, connection.makefile("rb") as file:
        return file.read()


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("how", ["SIGTERM", "Ctrl-C"])
def test_requests_in_flight_are_answered_before_it_ends(started, url, tools, slow_git, monkeypatch, number, how):
    monkeypatch.setenv("PATH", f"{slow_git.parent / 'bin'}:{os.environ['PATH']}")
    service = started(url, "--workers", str(number))
    (service.top / "w/.git").mkdir(exist_ok=True)
    (service.top / "w/.git/HEAD").write_text("ref: refs/heads/main\n")
    if number > 1:
        tools.until(lambda: len(workers(service)) == number, "all workers")
    check_sandbox(service)
    service.ask("PUT", "/system-prompt", {"template": "Begin [git:status] end."})
    slow_git.unlink(missing_ok=True)
    with ThreadPoolExecutor(1) as crowd:
        slow_work = crowd.submit(service.turn, "slow-work")
        slow_upload, last = post(service, "/conversations/slow-upload/turn", b'{"cwd": "", "layout": "foreword"}')
        tools.until(slow_git.exists, "git was asked")
        if how == "SIGTERM":
            service.process.send_signal(signal.SIGTERM)
        else:  # a terminal sends it to every process of the group
            os.killpg(service.process.pid, signal.SIGINT)
        tools.until(lambda: tools.is_refused(service.port), "new connections are refused", 5)
        assert service.process.poll() is None
        slow_upload.sendall(last)
        assert (slow_work.result().status, slow_work.result().form["system"]) == (200, "Begin  end.")
        assert whole(slow_upload).startswith(b"HTTP/1.1 200 ")
    assert service.ended() == 0
    check_gone(service, tools)
    store = open_store(url)
    assert sorted(row.id for row in store.conversations()) == ["slow-upload", "slow-work"]
    store.close()


def check_sandbox(service):
    """A template from the network is rendered by a process of its own, which must end with the service."""
    before = service.kin()
    answer = service.ask("POST", "/system-prompt/preview", {"template": "{{ cwd }}", "layout": "pod"})
    assert answer.status == 200
    assert len(service.kin()) > len(before)


@pytest.mark.parametrize("word", [signal.SIGTERM, signal.SIGINT])
def test_neither_an_idle_connection_nor_an_early_signal_is_in_the_way(started, url, tools, word):
    service = started(url)
    with socket.create_connection(("127.0.0.1", service.port)):
        assert service.stop(word) == 0
    check_gone(service, tools)
