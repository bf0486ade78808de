"""A side process ends only between requests, and the next request gets another one."""

import os
import select
import tracemalloc

import pytest

from foreword.errors import StoreError
from foreword.service import side_process
from foreword.service.inspector import answers_requests
from foreword.service.request import Request
from foreword.service.server import ServerOptions, uvicorn_config
from foreword.service.side_process import SideProcess

DUTY = """
import atexit, os, signal
from foreword.service import side_process

def stops():
    def answer(request):
        os.kill(os.getpid(), signal.SIGTERM)
        return request
    return answer, None

def ends_slowly():
    side_process._has_much_memory = lambda: bool(asked)
    asked = []
    def wait():
        open("ending", "w").close()
        open("may-end").close()
    atexit.register(wait)
    def answer(request):
        asked.append(request)
        return request
    return answer, None
"""


@pytest.fixture
def process(tmp_path, monkeypatch):
    """A function that returns a side process with one of the duties above."""
    (tmp_path / "duties.py").write_text(DUTY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    started = []

    def start(name):
        started.append(SideProcess(f"duties:{name}"))
        return started[-1]

    yield start
    for each in started:
        each.end()


def test_a_signal_to_the_whole_service_does_not_interrupt_a_request(process):
    assert process("stops").ask("answered") == "answered"


def test_a_large_body_is_sent_without_a_copy():
    body = bytearray(4_000_000)
    with open(os.devnull, "wb") as pipe:
        tracemalloc.start()
        try:
            side_process._send(pipe, (1, "POST", Request({}, [], None, body)))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 1_000_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_process_that_is_ending_is_not_killed_by_the_next_request(process):
    for name in ("ending", "may-end"):
        os.mkfifo(name)
    side = process("ends_slowly")
    assert side.ask(1) == 1
    open("ending").close()
    answers = side._process.stdout
    assert select.select([answers], [], [], 0)[0] == [], "closed pipes would mean that it has ended"
    with open("may-end", "w"):
        assert side._process.wait() == 0


def test_a_side_process_creates_no_store_in_place_of_a_file_that_has_disappeared(tmp_path, monkeypatch):
    monkeypatch.setenv("FOREWORD_SERVE", "")
    store = tmp_path / "store.db"
    uvicorn_config(ServerOptions(roots=[str(tmp_path)], store=str(store)))
    with pytest.raises(StoreError, match="gone"):
        answers_requests()
    assert not store.exists()
