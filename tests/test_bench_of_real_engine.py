"""Tests of the benchmark with a real server: what its three ways send, and how it reads the server's answer."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

BENCH = Path(__file__).parents[1] / "bench"


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(BENCH))
    try:
        import real_engine
    finally:
        sys.path.remove(str(BENCH))
    return real_engine


@pytest.fixture(scope="module")
def script(bench):
    return bench.read_script(bench.TURNS)


def test_the_script_has_every_kind_of_change(bench, script):
    events = [event for turn in script.turns for event in bench.EVENTS if event in turn]
    late = [turn for turn in script.turns if len(turn.get("tools", ())) > len(script.first_tools)][:1]
    assert sorted(set(events)) == ["compact", "edit", "tools", "touch"]
    assert (events.count("tools") - len(late), len(late)) == (4, 1)


def test_the_recommended_settings_keep_the_whole_request(bench, script, tmp_path):
    """Each request begins with the previous one, except where the messages were summarised: there, a late tool joins the list."""
    sent = list(bench.requests(script, "recommended", tmp_path))
    compacted = next(number for number, turn in enumerate(script.turns) if turn.get("compact"))
    tools = sent[0]["tools"]
    late = [request["tools"][len(tools) :] for request in sent]
    assert all(request["tools"][: len(tools)] == tools for request in sent)
    assert [len(added) for added in late] == [0] * (compacted + 1) + [1] * (len(sent) - compacted - 1)
    assert all(request["messages"][0] == sent[0]["messages"][0] for request in sent)
    for number in range(1, len(sent)):
        if number != compacted + 1:
            before = sent[number - 1]["messages"]
            assert sent[number]["messages"][: len(before)] == before


def test_all_ways_send_what_has_changed(bench, script, tmp_path):
    last = {way: json.dumps(list(bench.requests(script, way, tmp_path))[-1]) for way in bench.WAYS}
    for text in ("make check", "search_issues", "Amounts are whole numbers of cents", "is still empty"):
        assert [way for way in bench.WAYS if text not in last[way]] == []


@pytest.mark.parametrize(
    ("report", "counts"),
    [
        ({"timings": {"prompt_n": 7, "cache_n": 30}, "usage": {"prompt_tokens": 37}}, (7, 30)),
        ({"usage": {"prompt_tokens": 37, "prompt_tokens_details": {"cached_tokens": 30}}}, (7, 30)),
        ({"usage": {"prompt_tokens": 37}}, (None, None)),
    ],
)
def test_the_counts_are_the_servers(bench, report, counts):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            events = [{"choices": [{"delta": {"content": "a"}}]}, {"choices": [], **report}]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events))

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        request = {"messages": [{"role": "system", "content": "a"}]}
        measured = bench.send(f"http://127.0.0.1:{server.server_port}", "", request, "mark")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert (measured.evaluated, measured.reused) == counts
