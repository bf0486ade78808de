"""A provider on the loopback address that records the requests it receives, and turns to send to it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from foreword.vocabulary import Turn

# The shortest response that each SDK accepts, by the end of the requested path.
ANSWERS = {
    "/messages": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "Done."}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
    "/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    },
    "/chat/completions": {
        "id": "chat_1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}],
    },
    ":generateContent": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}}]},
}


class Provider(ThreadingHTTPServer):
    """Answers every request and records its body."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def last_request(self):
        return json.loads(self.bodies[-1])

    def value_of(self, key, number=-1):
        """The bytes of one value of a request, as they were sent."""
        body = self.bodies[number].decode()
        start = body.index(f'"{key}":') + len(key) + 3
        start += len(body[start:]) - len(body[start:].lstrip())
        _, end = json.JSONDecoder().raw_decode(body, start)
        return body[start:end]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.headers.append(dict(self.headers.items()))
        self.server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        answer = json.dumps(next(answer for end, answer in ANSWERS.items() if path.endswith(end))).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        """Do not log."""


@pytest.fixture
def provider(monkeypatch):
    # Connect to the loopback address directly, even if the machine uses a proxy.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    with Provider() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"$ref": "#/$defs/count"}},
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"count": {"type": "integer", "minimum": 1}},
}
TOOLS = (
    {"name": "read_file", "description": "Reads a file – all of it.", "schema": SCHEMA},
    {"name": "status", "description": "", "schema": {}},
)
HISTORY = (
    {"role": "user", "content": "Fix the “failing” test."},
    {"role": "assistant", "content": "I look at it."},
    {"role": "user", "content": [{"type": "text", "text": "Skill: testing"}, {"type": "text", "text": "Run it."}]},
    {"role": "user", "content": "Go on."},
    {"role": "assistant", "content": "Done."},
    {"role": "user", "content": "Thanks."},
)


def build_turn(*parts, messages=HISTORY[:1], tools=TOOLS, separator="\n\n"):
    """Return a turn whose prompt has these parts, each a lifetime and its text."""
    system, passages = "", []
    for lifetime, text in parts:
        system += separator if system else ""
        passages.append((len(system), len(system) + len(text), lifetime))
        system += text
    return Turn("chat-1", 1, True, system, messages, tools, passages)


ALL_LIFETIMES = (
    ("release", "You are an agent."),
    ("project", "# Instructions\nSpeak plainly. ✓"),
    ("project", "# Skills"),
    ("conversation", "Working directory: /w"),
    ("turn", "# Plan"),
)


@pytest.fixture(scope="session")
def make_turn():
    return build_turn


@pytest.fixture(scope="session")
def all_lifetimes():
    """A prompt with every lifetime."""
    return ALL_LIFETIMES


@pytest.fixture(scope="session")
def history():
    return HISTORY


@pytest.fixture(scope="session")
def schema():
    return SCHEMA


@pytest.fixture(scope="session")
def is_typed():
    """Whether a request matches a type of an SDK exactly: keys that are not in the type would be dropped."""
    from pydantic import TypeAdapter

    def to_plain(value):
        if isinstance(value, dict):
            return {key: to_plain(item) for key, item in value.items()}
        if isinstance(value, str | int | float | None):
            return value
        return [to_plain(item) for item in value]

    def is_typed(request, sdk_type):
        adapter = TypeAdapter(sdk_type)  # its lists are validated lazily, so keep it alive until then
        return to_plain(adapter.validate_python(request)) == to_plain(request)

    return is_typed
