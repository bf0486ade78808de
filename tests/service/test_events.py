"""`GET /events` streams what `watch` says: it follows files and the template, and ends with the client or the service."""

import http.client
import json
import shutil
from contextlib import closing
from urllib.parse import quote

import pytest

from foreword.service.responses import Problem
from foreword.service.streams import MAX_STREAMS, MAX_STREAMS_PER_TOKEN, Streams


def next_event(response, event="change"):
    """Return the data of the next event of this kind. Other programs may cause events that change nothing."""
    while line := response.readline():
        if line.startswith(b"data: ") and (data := json.loads(line[6:]))["event"] == event:
            return data
    raise AssertionError("the stream has ended")


@pytest.fixture
def folder(top_folder):
    """A folder of the workspace that other tests do not see."""
    folder = top_folder / "w" / "streamed"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def test_a_stream_reports_changes_until_the_service_stops(start, top_folder, folder):
    (folder / "AGENTS.md").write_text("First.\n")
    server = start()
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request("GET", f"/events?cwd={quote(str(folder))}&layout=builder&template=default")
        response = connection.getresponse()
        assert (response.status, response.getheader("content-type")) == (200, "text/event-stream")
        first = next_event(response, "start")
        assert (first["layout"], first["effect"]) == ("builder", None)
        (top_folder / "second.md").write_text("Second.\n")
        # At once: an empty file would be another change.
        (top_folder / "second.md").replace(folder / "AGENTS.md")
        changed = next_event(response)
        assert str(folder / "AGENTS.md") in changed["files"] and changed["effect"]["changed"]
        server.request("PUT", "/system-prompt", {"template": "Planted words."})
        assert next_event(response)["id"] not in (first["id"], changed["id"])
        server.close()
        assert b"data:" not in response.read()


def test_a_mistake_is_a_response_and_not_an_event(service):
    assert service.get("/events?layout=nope").problem == "not-found"
    assert service.get("/events?cwd=..").problem == "outside-roots"
    assert service.get("/events?template=nope").problem == "not-found"


def open_stream(streams, token="", is_allowed=lambda: True):
    return streams.open(lambda stop: iter(()), token, is_allowed)


def test_the_number_of_streams_is_bounded():
    streams = Streams()
    for _ in range(MAX_STREAMS):
        open_stream(streams)
    with pytest.raises(Problem, match="event streams are already open"):
        open_stream(streams)


def test_one_team_cannot_take_all_streams():
    streams = Streams()
    opened = [open_stream(streams, "a") for _ in range(MAX_STREAMS_PER_TOKEN)]
    with pytest.raises(Problem, match="already open with this token"):
        open_stream(streams, "a")
    open_stream(streams, "b")
    streams.close(opened[0])
    open_stream(streams, "a")
