"""What happens when a request cannot be forwarded, or when the provider or the client fails."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from foreword.service.proxy import server
from foreword.service.proxy.server import Upstream


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"HTTP/1.1 200\r\nHost: localhost\r\n\r\n", 400),
        (b"GET @evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n\r\n", 403),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n", 403),
        (b"GET / HTTP/1.1\r\nHost: localhost:1\r\nOrigin: http://localhost:2\r\n\r\n", 403),
        (b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", 403),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 0\r\n\r\n", 403),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: navigate\r\n\r\n", 403),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n\r\n", 403),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4, 4\r\n\r\nabcd", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n", 400),
        (b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", 501),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 300_000 + b"\r\n\r\n", 431),
    ],
)
def test_requests_that_cannot_be_forwarded_are_refused(provider, proxy, raw, status):
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
        client.sendall(raw)
        client.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode()) and b"proxy_error" in answer
    assert provider.requests == []


def test_a_head_that_arrives_too_slowly_is_a_408(provider, proxy, monkeypatch):
    monkeypatch.setattr(server, "_HEAD_SECONDS", 0.1)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
        client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: loc")
        assert client.recv(65536).startswith(b"HTTP/1.1 408 ")
    assert provider.requests == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "not compared: the request is not in a format that the proxy can read"),
        (b"\xff\xfe", "not compared: the request is not in a format that the proxy can read"),
        (b"[" * 100_000, "not compared: the request is not in a format that the proxy can read"),
        (b"[]", "not compared: the request is not a JSON object"),
        (b'{"messages": 7, "tools": {"a": 1}}', "not compared: the request is not in a format that the proxy can read"),
    ],
)
def test_a_request_that_cannot_be_read_is_still_forwarded(provider, proxy, body, problem):
    provider.answer = lambda handler: handler.send(b'{"usage": [7], "x": ', 200)
    _, content, _ = proxy.send("POST", "/v1/messages", body)
    report = proxy.report()
    assert content == b'{"usage": [7], "x": '
    assert (report.status, report.problem, report.tokens) == (200, problem, None)


def test_a_provider_that_is_down_is_reported(proxy, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(proxy.proxy, "upstream", Upstream("127.0.0.1", free.getsockname()[1], False))
    status, content, _ = proxy.send("POST", "/v1/messages", b"x" * 500_000)
    assert status == 502 and "cannot connect to 127.0.0.1:" in json.loads(content)["error"]["message"]
    assert proxy.report().status == 502


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: one\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_a_response_that_is_not_http_becomes_a_502(provider, proxy, raw):
    def answer(handler):
        handler.wfile.write(raw)
        handler.close_connection = True

    provider.answer = answer
    status, _, _ = proxy.send("POST", "/v1/messages", b"{}")
    assert (status, proxy.report().status) == (502, 502)


def test_a_provider_that_closes_before_it_has_the_whole_request_is_a_502(provider, proxy, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as rude:
        monkeypatch.setattr(proxy.proxy, "upstream", Upstream("127.0.0.1", rude.getsockname()[1], False))
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
            client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nab")
            with rude.accept()[0] as accepted:
                while not accepted.recv(65536).endswith(b"ab"):
                    pass
            assert client.recv(65536).startswith(b"HTTP/1.1 502 ")
    assert proxy.report().status == 502
    assert proxy.proxy.seen._reserved_bytes == 0


def test_a_bad_chunk_in_a_request_is_a_400(provider, proxy):
    answer = proxy.talk(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ") and b"the size of a chunk is not a hexadecimal number" in answer
    assert proxy.report().status == 400


def test_a_provider_that_sends_more_than_its_response_is_connected_to_again(provider, proxy):
    addresses = set()

    def answer(handler):
        addresses.add(handler.client_address)
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + b"x" * 9)

    provider.answer = answer
    one = b"GET /x HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
    assert proxy.talk(one % b"" + one % b"Connection: close\r\n").count(b"\r\n\r\nok") == len(addresses) == 2


@pytest.mark.parametrize(("header", "connections"), [("", 1), ("Connection: close\r\n", 2)])
def test_the_requests_of_a_client_share_a_connection_to_the_provider(provider, proxy, header, connections):
    addresses = set()

    def answer(handler):
        addresses.add(handler.client_address)
        handler.wfile.write(f"HTTP/1.1 200 OK\r\n{header}Content-Length: 2\r\n\r\nok".encode())

    provider.answer = answer
    one = b"GET /x HTTP/1.1\r\nHost: localhost\r\n%s\r\n"
    assert proxy.talk(one % b"" + one % b"Connection: close\r\n").count(b"\r\n\r\nok") == 2
    assert len(addresses) == connections


def test_a_truncated_response_does_not_look_complete_to_the_client(provider, proxy):
    def answer(handler):
        handler.start_stream()
        handler.send_chunk(b"data: {}\n\n")
        handler.close_connection = True

    provider.answer = answer
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        proxy.send("POST", "/v1/messages", b"{}")
    assert proxy.report().problem.endswith("the provider closed the connection before the end of the response")


def test_the_provider_is_disconnected_when_the_client_hangs_up(provider, proxy):
    noticed = threading.Event()

    def answer(handler):
        handler.start_stream()
        handler.send_chunk(b"data: {}\n\n")
        handler.connection.settimeout(20)
        if handler.connection.recv(1) == b"":
            noticed.set()
        handler.close_connection = True

    provider.answer = answer
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
        client.sendall(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        assert client.recv(10)
    assert noticed.wait(20)
    assert proxy.report().problem.endswith("the client hung up")
    provider.answer = lambda handler: handler.send(b"{}")
    assert proxy.send("GET", "/x")[0] == 200


def test_a_client_that_cannot_be_written_to_has_hung_up():
    class Writer:
        def write(self, data):
            """Nothing fails before the data is sent."""

        async def drain(self):
            raise ConnectionResetError

    exchange = SimpleNamespace(connection=SimpleNamespace(writer=Writer()))
    with pytest.raises(ConnectionAbortedError):
        asyncio.run(server._Exchange._to_client(exchange, b"x"))


@pytest.mark.parametrize(("version", "is_kept"), [("1.1", True), ("1.0", False)])
def test_a_connection_is_kept_after_a_response_in_chunks_if_the_client_reads_chunks(provider, proxy, version, is_kept):
    def answer(handler):
        handler.start_stream()
        handler.send_chunk(b"data: {}\n\n")
        handler.wfile.write(b"0\r\n\r\n")

    provider.answer = answer
    request = f"GET /x HTTP/{version}\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n".encode()
    last = f"GET /x HTTP/{version}\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    assert proxy.talk(request + last).count(b"data: {}") == 1 + is_kept


def test_a_chunk_that_ends_without_cr_is_not_passed_on(provider, proxy):
    provider.answer = lambda handler: handler.send(b"{}")
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
        client.sendall(
            b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2\r\n{}\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
        )
        assert client.recv(65536).startswith(b"HTTP/1.1 400 ")
    assert proxy.report().status == 400
    assert [request.path for request in provider.requests] == []


def test_a_program_is_not_a_page(provider, proxy):
    provider.answer = lambda handler: handler.send(b"{}")
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
        client.sendall(b"GET /x HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\nConnection: close\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("is_large", [True, False])
def test_only_a_large_request_is_read_in_another_process(provider, proxy, monkeypatch, is_large):
    provider.answer = lambda handler: handler.send(b"{}")
    asked, ask = [], proxy.proxy.reader.ask
    monkeypatch.setattr(proxy.proxy.reader, "ask", lambda request: asked.append(1) or ask(request))
    reports = []
    for question in ("first", "second"):
        system = "x" * (300_000 if is_large else 10)
        body = {"model": "claude", "system": system, "messages": [{"role": "user", "content": question}]}
        headers = {"x-foreword-conversation": f"large {is_large}"}
        assert proxy.send("POST", "/v1/messages", json.dumps(body), headers)[0] == 200
        reports.append(proxy.report())
    assert [(report.call, report.model, report.problem) for report in reports] == [(1, "claude", ""), (2, "claude", "")]
    assert (reports[1].changed, len(asked)) == ("changed message 1 (user)", 2 if is_large else 0)


def test_a_side_process_that_dies_is_replaced(provider, proxy):
    provider.answer = lambda handler: handler.send(b"{}")
    body = json.dumps({"model": "claude", "system": "x" * 300_000, "messages": []})
    for _ in range(2):
        assert proxy.send("POST", "/v1/messages", body)[0] == 200
        assert proxy.report().problem == ""
        proxy.proxy.reader._process.kill()
        proxy.proxy.reader._process.wait()


def test_a_side_process_answers_although_the_process_that_started_it_has_used_much_memory():
    code = """
from foreword.service.proxy.observer import READS_REQUESTS
from foreword.service.side_process import SideProcess
large = b"x" * (300 << 20)
process = SideProcess(READS_REQUESTS)
print(process.ask((b"[]", "", b"", "")))
process.end()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("the request is not a JSON object\n", "")


def test_a_side_process_that_has_used_much_memory_ends():
    code = "from foreword.service import side_process as side; side._MAX_MEMORY = 1; side.serve(lambda: (None, None))"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as process:
        assert process.wait(20) == 0
