"""A fake model provider on loopback. It records every request, and responds with a fixed text or, at first, with one tool call.

It supports Anthropic's Messages API, OpenAI's Responses and Chat Completions APIs, and Gemini's generateContent, streamed or not.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from .wires import Call, answer, messages, tool_names

Json = dict[str, Any]


@dataclass
class Recorder:
    """The requests so far, and the tool call to make once. `calls` maps tool names to arguments."""

    calls: dict[str, Json] = field(default_factory=dict)
    requests: list[tuple[str, Json]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    called: bool = False

    def reply(self, path: str, body: Json) -> tuple[str, bytes]:
        """Record a request, and return the content type and body of the response."""
        with self.lock:
            self.requests.append((path, body))
            call = self._choose_call(path, body)
        return answer(path, body, call)

    def _choose_call(self, path: str, body: Json) -> Call | None:
        """Return the tool call to make, if this is the conversation's first request that offers one of the tools."""
        if self.called or any(role == "tool" for role, _ in messages(path, body)):
            return None
        for name in tool_names(body):
            if name in self.calls:
                self.called = True
                return Call(name, self.calls[name])
        return None


class Provider:
    """Serves a `Recorder` on a free port of 127.0.0.1 while the `with` block runs."""

    def __init__(self, calls: dict[str, Json] | None = None) -> None:
        self.recorder = Recorder(calls or {})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self.recorder))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> Provider:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class Replier(Protocol):
    """What answers the requests."""

    def reply(self, path: str, body: Json) -> tuple[str, bytes]: ...


def handler(recorder: Replier) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send("application/json", json.dumps(MODELS).encode())

        def do_POST(self) -> None:
            raw = self._read()
            try:
                body = json.loads(raw)
            except ValueError:
                body = {}
            self._send(*recorder.reply(self.path, body if isinstance(body, dict) else {"list": body}))

        def _read(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                raw = b""
                while size := int(self.rfile.readline().split(b";")[0], 16):
                    raw += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return raw
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def _send(self, kind: str, content: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing, because the table is the only output."""

    return Handler


MODELS: Json = {"object": "list", "data": [{"id": "peer", "object": "model", "type": "model", "display_name": "peer"}]}
