"""PostgreSQL stops under load and returns: conversations in memory continue, the rest gets 503, and no restart is needed."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from foreword.store import open_store

pytestmark = pytest.mark.xdist_group("machines")
CONVERSATIONS = {f"{layout}-{number}": layout for layout in ("builder", "foreword", "pi") for number in range(3)}
# With another tool, layouts that follow tools want to store a new edition; turns continue even if they cannot.
OTHER_TOOL = [{"name": "read"}, {"name": "zap"}]


@pytest.fixture
def service(start_service, postgres_url):
    return start_service(postgres_url)


class Clients:
    """Clients that continuously take turns and read."""

    def __init__(self, service, first):
        self.service, self.first, self.responses, self.is_over = service, first, [], False
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(4)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        for thread in self.threads:
            thread.join()

    def run(self, number):
        while not self.is_over:
            for id, layout in CONVERSATIONS.items():
                responses = self.responses
                if number % 2:
                    responses.append((id, self.service.request("GET", f"/conversations/{id}")))
                else:
                    responses.append((id, self.service.turn(id, layout=layout, tools=OTHER_TOOL[:1], message="go on")))

    def wait_for_more(self, tools):
        """Wait for responses to requests that are sent from now on: more than are on their way."""
        enough = len(self.responses) + len(self.threads) + len(CONVERSATIONS)
        tools.wait_until(lambda: len(self.responses) >= enough, "more responses")

    def check(self):
        """Check that every response was a 200 with the prompt of its conversation."""
        assert len(self.responses) > 10 * len(CONVERSATIONS)
        for id, response in self.responses:
            assert response.status == 200, (id, response)
            assert response.form["system"] == self.first[id], id


def construct_all(service):
    return {
        id: service.turn(id, layout=layout, tools=OTHER_TOOL[:1], message="hi").form["system"]
        for id, layout in CONVERSATIONS.items()
    }


def check_down(service, first, new):
    """Check the response of each route while the store is down."""
    for id, layout in CONVERSATIONS.items():
        for tools in (OTHER_TOOL[:1], OTHER_TOOL):
            turn = service.turn(id, layout=layout, tools=tools, message="hi")
            assert (turn.status, turn.form["edition"], turn.form["reused"]) == (200, 1, True)
            assert turn.form["system"] == first[id]
            assert "store-down" in turn.codes
        assert service.turn(id, message="hi").form["system"] == first[id]
        read = service.request("GET", f"/conversations/{id}")
        assert (read.status, read.form["system"]) == (200, first[id])
    compacted = service.turn("foreword-0", "compact", layout="foreword")
    assert (compacted.status, compacted.form["system"]) == (200, first["foreword-0"])
    assert "store-down" in compacted.codes
    refused = [
        service.turn(new, layout="foreword", message="hi"),
        service.turn(new, "construct"),
        service.turn("foreword-0", "construct", layout="foreword"),
        service.request("GET", f"/conversations/{new}"),
        service.request("PUT", "/system-prompt", {"template": "Lost."}),
        service.turn("foreword-0", "reload", layout="foreword"),
        service.request("GET", "/conversations"),
        service.request("GET", "/readyz"),
    ]
    assert [(response.status, response.form["type"]) for response in refused] == [
        (503, "urn:foreword:problem:store-down")
    ] * len(refused)
    assert {response.headers["Retry-After"] for response in refused} == {"5"}
    assert service.request("GET", "/system-prompt").status == 200
    assert service.request("GET", "/system-prompt/variables").status == 200
    assert service.request("GET", "/healthz").status == 200


def check_back(service, first, postgres_url, tools, new):
    """Check that everything works as before, without a restart."""
    tools.wait_until(lambda: service.request("GET", "/readyz").status == 200, "the store is back")
    assert service.turn(new, layout="foreword", message="hi").form["edition"] == 1
    store = open_store(postgres_url)
    assert store.verify() == []
    assert {id: [edition.system for edition in store.editions(id)] for id in CONVERSATIONS} == {
        id: [text] for id, text in first.items()
    }
    assert "Lost." not in {template.template for template in store.templates()}
    store.close()


def test_known_conversations_survive_a_server_that_stops_under_load(service, database, postgres_url, tools):
    first = construct_all(service)
    service.turn("later", layout="foreword")
    with Clients(service, first) as clients:
        for round in range(2):
            clients.wait_for_more(tools)
            database.command("stop")
            clients.wait_for_more(tools)
            check_down(service, first, f"new-{round}")
            database.command("start")
            check_back(service, first, postgres_url, tools, f"new-{round}")
    clients.check()
    later = service.turn("later", layout="foreword", tools=OTHER_TOOL, message="hi")
    assert (later.form["edition"], later.form["reused"], "store-down" in later.codes) == (2, False, False)


def test_a_frozen_server_blocks_neither_the_service_nor_known_conversations(service, database, postgres_url, tools):
    first = construct_all(service)
    database.command("freeze")
    try:
        with ThreadPoolExecutor(64) as pool:
            # More than the service has threads: threads that wait for the store must not block the others forever.
            started = time.monotonic()
            turns = [
                pool.submit(service.turn, id, layout=CONVERSATIONS[id], tools=OTHER_TOOL[:1])
                for id in list(CONVERSATIONS) * 7
            ]
            time.sleep(0.5)
            for path in ("/healthz", "/metrics", "/roots"):
                assert service.request("GET", path, timeout=4).status == 200
            waited = time.monotonic() - started
            assert not all(turn.done() for turn in turns) or waited > 4, "the server was not frozen"
            responses = [turn.result() for turn in turns]
        assert {response.status for response in responses} == {200}
        assert all("store-down" in response.codes for response in responses)
        check_down(service, first, "new-still")
    finally:
        database.command("thaw")
    check_back(service, first, postgres_url, tools, "new-still")


def test_a_server_that_never_answers_counts_as_down(start_service, tools):
    with socket.create_server(("127.0.0.1", 0)) as hole:
        service = start_service(f"postgresql://foreword@127.0.0.1:{hole.getsockname()[1]}/none?connect_timeout=2")
        with ThreadPoolExecutor(48) as pool:
            turns = [pool.submit(service.turn, f"t{number}") for number in range(48)]
            waiting, _ = hole.accept()  # the service waits for an answer now
            assert service.request("GET", "/healthz", timeout=4).status == 200
            assert {turn.result().status for turn in turns} == {503}
            waiting.close()
        assert service.request("GET", "/readyz").status == 503
        assert service.request("GET", "/system-prompt").form["template"]
