"""A provider on the loopback address whose responses the test chooses, and a proxy in front of it."""

from __future__ import annotations

import asyncio
import http.client
import queue
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from foreword.service.proxy.server import Proxy, Upstream


class Provider(ThreadingHTTPServer):
    """Calls `answer` with each request's handler. The request's body is in `handler.body`."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = None
        self.requests = []

    def handle_error(self, request, client_address):
        """A client that hangs up is not an error."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.respond
        raise AttributeError(name)

    def respond(self):
        if self.headers["transfer-encoding"] == "chunked":
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            self.body = b"".join(chunks)
        else:
            self.body = self.rfile.read(int(self.headers["content-length"] or 0))
        # A handler serves all requests of a connection.
        seen = SimpleNamespace(command=self.command, path=self.path, headers=self.headers, body=self.body)
        self.server.requests.append(seen)
        self.server.answer(self)

    def send(self, content, status=200, headers=()):
        self.send_response(status)
        for name, text in (("content-type", "application/json"), *headers):
            self.send_header(name, text)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def start_stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def send_chunk(self, content):
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")
        self.wfile.flush()

    def log_message(self, *_):
        """Do not log."""


class RunningProxy:
    """A proxy that runs in its own thread. `reports` contains its reports, in order."""

    def __init__(self, upstream):
        self.reports = queue.Queue()
        self.proxy = Proxy(upstream, self.reports.put)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.server = self.run(self.proxy.listen("127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(120)

    def report(self):
        return self.reports.get(timeout=120)

    def send(self, method, path, body=None, headers=(), **others):
        """Send a request, and return the response's status, body and headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, dict(headers), **others)
            response = connection.getresponse()
            return response.status, response.read(), response.headers
        finally:
            connection.close()

    def talk(self, raw):
        """Send bytes and return everything that comes back before the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as client:
            client.sendall(raw)
            return b"".join(iter(lambda: client.recv(65536), b""))

    def close(self):
        async def stop():
            self.server.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)  # closed transports say so in the next round

        self.run(stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()
        self.proxy.pool.shutdown()
        self.proxy.reader.end()


@pytest.fixture(scope="module")
def running():
    with Provider() as provider:
        thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        proxy = RunningProxy(Upstream("127.0.0.1", provider.server_port, False))
        yield provider, proxy
        proxy.close()
        provider.shutdown()
        thread.join()


@pytest.fixture
def provider(running, monkeypatch):
    # Connect to the loopback address directly, even if the machine uses a proxy.
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    running[0].requests.clear()
    return running[0]


@pytest.fixture
def proxy(running):
    while not running[1].reports.empty():
        running[1].reports.get()
    return running[1]
