"""A host name is looked up within the caller's time limit, whatever the name servers do."""

import re
import socket
import threading
from time import monotonic

import pytest

from foreword.service import host_names
from foreword.service.host_names import HostName

FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 443))]
MOVED = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.2", 443))]
UNKNOWN = socket.gaierror(socket.EAI_NONAME, "unknown")
TEMPORARY = socket.gaierror(socket.EAI_AGAIN, "try again")
LONG = 1000.0


class NameServer:
    """Takes the place of `socket.getaddrinfo`. Each lookup waits until it may be answered."""

    def __init__(self):
        self.answer, self.lookups, self.ended, self.may_answer = FOUND, 0, threading.Semaphore(0), threading.Event()
        self.may_answer.set()

    def __call__(self, host, port, type):
        assert (host, port, type) == ("hooks.example", 443, socket.SOCK_STREAM)
        self.lookups += 1
        try:
            self.may_answer.wait()
            if isinstance(self.answer, OSError):
                raise self.answer
            return self.answer
        finally:
            self.ended.release()


@pytest.fixture
def server(monkeypatch):
    server = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", server)
    monkeypatch.setattr(host_names, "_FRESH_SECONDS", -1.0)  # every call asks again
    monkeypatch.setattr(host_names, "_PATIENCE_SECONDS", 0.01)
    yield server
    server.may_answer.set()


@pytest.fixture
def host():
    return HostName("hooks.example", 443)


def test_addresses_are_looked_up_again(server, host):
    assert host.addresses(monotonic() + LONG) == FOUND
    server.answer = MOVED
    assert host.addresses(monotonic() + LONG) == MOVED


def test_a_fresh_answer_is_used_again(server, host, monkeypatch):
    monkeypatch.setattr(host_names, "_FRESH_SECONDS", LONG)
    assert [host.addresses(monotonic() + LONG) for _ in range(3)] == [FOUND] * 3
    assert server.lookups == 1


def test_one_call_waits_for_silent_name_servers_and_the_others_do_not(server, host):
    server.may_answer.clear()
    with pytest.raises(socket.gaierror, match="did not answer in time"):
        host.addresses(monotonic() + 0.05)
    with pytest.raises(socket.gaierror, match="did not answer in time"):
        host.addresses(monotonic() + LONG)
    assert server.lookups == 1


@pytest.mark.parametrize("is_silent", [True, False])
def test_known_addresses_are_used_while_name_servers_fail(server, host, is_silent):
    assert host.addresses(monotonic() + LONG) == FOUND
    server.answer = TEMPORARY
    if is_silent:
        server.may_answer.clear()
    assert [host.addresses(monotonic() + LONG) for _ in range(3)] == [FOUND] * 3


def test_a_name_that_no_longer_exists_is_an_error(server, host):
    assert host.addresses(monotonic() + LONG) == FOUND
    server.answer = UNKNOWN
    with pytest.raises(socket.gaierror, match="unknown"):
        host.addresses(monotonic() + LONG)


@pytest.mark.parametrize("error", [UNKNOWN, TEMPORARY, OSError("no network")])
def test_without_known_addresses_every_failure_is_an_error(server, host, error):
    server.answer = error
    with pytest.raises(OSError, match=re.escape(str(error))) as raised:
        host.addresses(monotonic() + LONG)
    assert raised.value is error


def test_an_answer_that_comes_too_late_helps_the_next_call(server, host):
    server.may_answer.clear()
    with pytest.raises(socket.gaierror):
        host.addresses(monotonic() + 0.05)
    server.may_answer.set()
    assert server.ended.acquire(timeout=30)
    assert host.addresses(monotonic() + LONG) == FOUND


def test_a_name_that_cannot_exist_is_an_error():
    with pytest.raises(socket.gaierror, match="not valid"):
        HostName("a..b", 443).addresses(monotonic() + LONG)
