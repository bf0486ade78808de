"""Requests that arrive together check the store only once, and no response is older than its request."""

import asyncio
import http.client
import io
import json
import re
import socket
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from random import Random
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.errors import StoreError
from foreword.service import conversations
from foreword.service.application import Application
from foreword.service.guard import RequestGuard
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.routes import ROUTES
from foreword.service.service import Service
from foreword.service.uvicorn_adapter import ARRIVED
from foreword.store import open_store
from foreword.vocabulary import Edition


def make_edition(number, system):
    built_for = '{"agent": {}, "cwd": ""}'
    return Edition(number, system, "[]", "{}", "{}", "$std/foreword", built_for, "2026-11-15T00:00:00Z", "{}")


class ServiceUnderTest:
    """A service in this process, and a second connection to its store."""

    def __init__(self, folder):
        self.service = Service(f"{folder}/store.db", [str(folder)])
        self.other_store = open_store(f"{folder}/store.db")
        self.newest = 0
        self.checks = 0
        self.publish()
        self.app = Application(self.service, RequestGuard(), Log(stream=io.StringIO()), Metrics(ROUTES))
        check = self.service.conversations.store.moment

        def count_checks():
            self.checks += 1
            return check()

        self.service.conversations.store.moment = count_checks

    def publish(self):
        self.other_store.publish("chat", make_edition(self.newest + 1, f"text {self.newest + 1}"), self.newest)
        self.newest += 1

    async def read_edition_number(self, arrived_at=None):
        """Request the conversation, and return the number of the edition in the response."""
        received = []

        async def send(message):
            received.append(message)

        path = "/conversations/chat"
        scope = {
            "type": "http",
            "method": "GET",
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        scope |= {} if arrived_at is None else {ARRIVED: arrived_at}
        await self.app(scope, None, send)
        assert received[0]["status"] == 200
        return json.loads(b"".join(message.get("body", b"") for message in received))["edition"]

    def close(self):
        self.service.conversations.close()
        self.other_store.close()


@pytest.fixture
def service_under_test(tmp_path):
    with closing(ServiceUnderTest(tmp_path)) as service_under_test:
        yield service_under_test


def test_requests_that_arrive_together_check_the_store_once(service_under_test):
    async def ask_together():
        arrived_at = perf_counter()
        return [await service_under_test.read_edition_number(arrived_at) for _ in range(20)]

    assert asyncio.run(ask_together()) == [1] * 20
    assert service_under_test.checks == 1


def test_a_response_includes_everything_stored_before_the_request(service):
    for number in range(1, 6):
        body = {"cwd": "", "layout": "foreword", "base": f"Text {number}."}
        assert service.post("/conversations/moment/construct", body).status == 200
        assert service.get("/conversations/moment").json["edition"] == number


def test_a_pipelined_request_sees_the_effect_of_the_previous_one(service):
    """The second request arrives before the first is finished, and a third request checks the store in between."""
    service.conversation("behind", "construct", layout="foreword", base="One.")
    body = json.dumps({"cwd": "", "layout": "foreword", "base": "Two."}).encode()
    head = "POST /conversations/behind/construct HTTP/1.1\r\nHost: localhost\r\n"
    first = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    second = b"GET /conversations/behind HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with (
        closing(sqlite3.connect(service.folder / "store.db", isolation_level=None)) as other,
        socket.create_connection(("127.0.0.1", service.port)) as connection,
    ):
        other.execute("BEGIN IMMEDIATE")
        connection.sendall(first + second)
        assert [service.get("/conversations/behind").json["edition"] for _ in range(2)] == [1, 1]
        other.execute("ROLLBACK")
        received = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert re.findall(rb'"edition":(\d+)', received) == [b"2", b"2"]


def test_the_last_known_edition_is_served_after_the_store_is_deleted(service_under_test, tmp_path):
    async def read_before_and_after():
        first = await service_under_test.read_edition_number()
        for path in tmp_path.glob("store.db*"):
            path.unlink()
        return first, await service_under_test.read_edition_number()

    assert asyncio.run(read_before_and_after()) == (1, 1)


def test_a_fallback_response_is_not_reused_after_the_failure(service_under_test, monkeypatch):
    """The store was checked successfully, but reading from it failed."""

    async def read():
        return await service_under_test.read_edition_number()

    assert asyncio.run(read()) == 1
    service_under_test.publish()
    with monkeypatch.context() as patch:
        patch.setattr(service_under_test.service.conversations.store, "current", fail_to_read)
        assert asyncio.run(read()) == 1
    assert asyncio.run(read()) == 2


def fail_to_read(conversation, moment):
    raise StoreError("the disk cannot be read")


@given(st.lists(st.sampled_from(["publish", "arrive", "answer", "ask"]), max_size=25))
def test_no_response_is_older_than_its_request(tmp_path_factory, steps):
    """A response never contains an older edition than the one that was current when the request arrived."""

    async def run_steps(service_under_test):
        arrivals = []
        for step in steps:
            if step == "publish":
                service_under_test.publish()
            elif step == "arrive":
                arrivals.append((perf_counter(), service_under_test.newest))
            elif step == "ask":
                assert await service_under_test.read_edition_number() == service_under_test.newest
            elif arrivals:
                arrived_at, newest = arrivals.pop(0)
                assert newest <= await service_under_test.read_edition_number(arrived_at) <= service_under_test.newest

    with closing(ServiceUnderTest(tmp_path_factory.mktemp("moment"))) as service_under_test:
        asyncio.run(run_steps(service_under_test))


def test_no_response_is_older_than_an_acknowledged_write(start):
    """This process and two workers of a service publish at random, and either worker answers reads."""
    server = start("--workers", "2")
    newest = dict.fromkeys("abc", 0)

    def write(seed, rng):
        with closing(open_store(f"{server.folder}/store.db")) as store:
            for step in range(15):
                id = rng.choice("abc")
                if rng.random() < 0.5:
                    current = store.current(id)
                    number = current.number if current else 0
                    published = store.publish(id, make_edition(number + 1, f"{seed} {step}"), number).number
                else:
                    body = {"layout": "foreword", "base": f"{seed} {step}"}
                    published = server.conversation(id, "construct", **body).json["edition"]
                newest[id] = max(newest[id], published)

    def read(rng):
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
            for _ in range(150):
                id = rng.choice("abc")
                minimum = newest[id]
                connection.request(rng.choice(["GET", "HEAD"]), f"/conversations/{id}")
                response = connection.getresponse()
                response.read()
                received = int(response.headers["ETag"].strip('"').partition("-")[0]) if response.status == 200 else 0
                assert received >= minimum

    with ThreadPoolExecutor(6) as threads:
        futures = [threads.submit(write, seed, Random(seed)) for seed in range(3)]
        futures += [threads.submit(read, Random(seed)) for seed in range(3)]
        for future in futures:
            future.result()


@pytest.fixture
def frequent_thread_switches():
    """Make Python switch threads as often as possible."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_the_response_cache_stays_within_its_limit_with_many_threads(frequent_thread_switches, monkeypatch):
    monkeypatch.setattr(conversations, "_MAX_BYTES", 2000)
    monkeypatch.setattr(conversations, "_tails", {})

    def etags(thread):
        ids = [f"{thread}-{number}" for number in range(1000)]
        return [
            conversations._edition_response(id, make_edition(1, id), None, is_conversation=False).headers["ETag"]
            for id in ids
        ]

    with ThreadPoolExecutor(8) as threads:
        received = [tag for tags in threads.map(etags, range(8)) for tag in tags]
    assert len(set(received)) == 8000
    sizes = [len(tail) for tail, _ in conversations._tails.values()]
    assert sum(sizes) <= 2000 + 8 * max(sizes)  # each thread may add one more response
