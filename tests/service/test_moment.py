"""Requests that arrive together share one look at the store; none is answered with what was true before it came."""

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
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.errors import StoreError
from foreword.service import conversations
from foreword.service.application import Application
from foreword.service.guard import Guard
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.routes import ROUTES
from foreword.service.service import Service
from foreword.service.uvicorn_adapter import ARRIVED
from foreword.store import open_store
from foreword.vocabulary import Edition


def edition(number, system):
    made_for = '{"agent": {}, "cwd": ""}'
    return Edition(number, system, "[]", "{}", "{}", "$std/foreword", made_for, "2026-11-15T00:00:00Z", "{}")


class Asked:
    """A service in this process, and another process's view of its store."""

    def __init__(self, folder):
        self.service = Service(f"{folder}/store.db", [str(folder)])
        self.other = open_store(f"{folder}/store.db")
        self.newest = 0
        self.looks = 0
        self.publish()
        self.app = Application(self.service, Guard(), Log(stream=io.StringIO()), Metrics(ROUTES))
        look = self.service.conversations.store.moment

        def counted():
            self.looks += 1
            return look()

        self.service.conversations.store.moment = counted

    def publish(self):
        self.other.publish("talk", edition(self.newest + 1, f"text {self.newest + 1}"), self.newest)
        self.newest += 1

    async def number(self, arrived=None):
        """The edition that is answered."""
        told = []

        async def send(message):
            told.append(message)

        path = "/conversations/talk"
        scope = {
            "type": "http",
            "method": "GET",
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
        }
        scope |= {} if arrived is None else {ARRIVED: arrived}
        await self.app(scope, None, send)
        assert told[0]["status"] == 200
        return json.loads(b"".join(each.get("body", b"") for each in told))["edition"]

    def close(self):
        self.service.conversations.close()
        self.other.close()


@pytest.fixture
def asked(tmp_path):
    with closing(Asked(tmp_path)) as asked:
        yield asked


def test_requests_that_arrived_together_share_one_look(asked):
    async def together():
        arrived = perf_counter()
        return [await asked.number(arrived) for _ in range(20)]

    assert asyncio.run(together()) == [1] * 20
    assert asked.looks == 1


def test_when_it_arrived_is_told_by_the_connection(service):
    """A real server: what was kept before a request is in its answer."""
    for number in range(1, 6):
        body = {"cwd": "", "layout": "foreword", "base": f"Text {number}."}
        assert service.post("/conversations/moment/construct", body).status == 200
        assert service.get("/conversations/moment").json["edition"] == number


def test_a_request_sent_behind_another_on_its_connection_sees_what_that_did(service):
    """It came before the other was done, and somebody else has looked at the store meanwhile."""
    service.talk("behind", "construct", layout="foreword", base="One.")
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
        told = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    assert re.findall(rb'"edition":(\d+)', told) == [b"2", b"2"]


def test_a_store_that_is_gone_is_answered_with_what_is_known(asked, tmp_path):
    async def before_and_after():
        first = await asked.number()
        for each in tmp_path.glob("store.db*"):
            each.unlink()
        return first, await asked.number()

    assert asyncio.run(before_and_after()) == (1, 1)


def test_what_is_told_while_the_store_fails_is_not_told_after_it(asked, monkeypatch):
    """The look went well, and the reading behind it did not."""

    async def number():
        return await asked.number()

    assert asyncio.run(number()) == 1
    asked.publish()
    with monkeypatch.context() as broken:
        broken.setattr(asked.service.conversations.store, "current", fail)
        assert asyncio.run(number()) == 1
    assert asyncio.run(number()) == 2


def fail(conversation, moment):
    raise StoreError("the disk does not read")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["publish", "arrive", "answer", "ask"]), max_size=25))
def test_no_answer_is_older_than_its_request(tmp_path_factory, steps):
    """Whatever others publish meanwhile, an answer has at least the edition that was in use when the request arrived."""

    async def carry_out(asked):
        arrived = []
        for step in steps:
            if step == "publish":
                asked.publish()
            elif step == "arrive":
                arrived.append((perf_counter(), asked.newest))
            elif step == "ask":
                assert await asked.number() == asked.newest
            elif arrived:
                when, newest = arrived.pop(0)
                assert newest <= await asked.number(when) <= asked.newest

    with closing(Asked(tmp_path_factory.mktemp("moment"))) as asked:
        asyncio.run(carry_out(asked))


def test_no_answer_is_older_than_what_was_acknowledged_before_it_was_asked(start):
    """Two processes of a service and this one publish at random; a read is answered by whichever takes it."""
    server = start("--workers", "2")
    newest = dict.fromkeys("abc", 0)

    def write(seed, lot):
        with closing(open_store(f"{server.folder}/store.db")) as store:
            for step in range(15):
                id = lot.choice("abc")
                if lot.random() < 0.5:
                    using = store.current(id)
                    number = using.number if using else 0
                    kept = store.publish(id, edition(number + 1, f"{seed} {step}"), number).number
                else:
                    body = {"layout": "foreword", "base": f"{seed} {step}"}
                    kept = server.talk(id, "construct", **body).json["edition"]
                newest[id] = max(newest[id], kept)

    def read(lot):
        with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
            for _ in range(150):
                id = lot.choice("abc")
                least = newest[id]
                connection.request(lot.choice(["GET", "HEAD"]), f"/conversations/{id}")
                answer = connection.getresponse()
                answer.read()
                told = int(answer.headers["ETag"].strip('"').partition("-")[0]) if answer.status == 200 else 0
                assert told >= least

    with ThreadPoolExecutor(6) as threads:
        done = [threads.submit(write, seed, Random(seed)) for seed in range(3)]
        done += [threads.submit(read, Random(seed)) for seed in range(3)]
        for each in done:
            each.result()


@pytest.fixture
def restless():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_more_tails_than_are_cached_in_many_threads(restless, monkeypatch):
    monkeypatch.setattr(conversations, "_MAX_BYTES", 2000)
    monkeypatch.setattr(conversations, "_tails", {})

    def tags(thread):
        ids = [f"{thread}-{number}" for number in range(1000)]
        return [conversations._edition_response(id, edition(1, id)).headers["ETag"] for id in ids]

    with ThreadPoolExecutor(8) as threads:
        told = [tag for tags in threads.map(tags, range(8)) for tag in tags]
    assert len(set(told)) == 8000
    sizes = [len(tail) for tail, _ in conversations._tails.values()]
    assert sum(sizes) <= 2000 + 8 * max(sizes)  # each thread may add one more
