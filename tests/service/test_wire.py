"""Malformed bytes and clients that stop halfway. The service responds where it can, and survives."""

import http.client
import json
import re
import socket
import struct
import threading

import pytest

from foreword.service.request_body import MAX_BODY_BYTES

HEAD = b"Host: localhost\r\nConnection: close\r\n"
TEMPLATE = b'{"template": "x"}'


def post(path=b"/system-prompt/check", body=TEMPLATE, headers=b""):
    return b"POST " + path + b" HTTP/1.1\r\n" + HEAD + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunked(*chunks):
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)


# Sizes


def test_a_body_declared_too_large_is_refused_immediately(service):
    head = b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Content-Length: 99999999999\r\n\r\n"
    response = service.send_raw(head)
    assert (response.status, response.problem, response.headers["connection"]) == (413, "too-large", "close")


def test_expect_continue_with_a_body_that_is_too_large_is_refused(service):
    head = b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n"
    assert service.send_raw(head % (MAX_BODY_BYTES + 1)).problem == "too-large"
    received = service.raw(head % len(TEMPLATE), TEMPLATE)
    assert received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 ")


@pytest.mark.parametrize("size", [MAX_BODY_BYTES, MAX_BODY_BYTES + 1, 3 * MAX_BODY_BYTES])
@pytest.mark.parametrize("is_chunked", [False, True])
def test_bodies_up_to_8_mib_are_accepted(service, size, is_chunked):
    """A client that reads only after sending everything still gets the reason."""
    body = b'{"template": "x"' + b" " * (size - len(TEMPLATE)) + b"}"
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    pieces = (body[start : start + 100_000] for start in range(0, size, 100_000))
    connection.request("POST", "/system-prompt/check", pieces if is_chunked else body, encode_chunked=is_chunked, headers={"Transfer-Encoding": "chunked"} if is_chunked else {})  # fmt: skip
    response = connection.getresponse()
    received = json.loads(response.read())
    connection.close()
    if size == MAX_BODY_BYTES:
        assert (response.status, received) == (200, {"findings": []})
    else:
        assert (response.status, received["type"]) == (413, "urn:foreword:problem:too-large")


def test_an_endless_chunked_body_is_refused(service):
    before = service.memory()
    head = b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    piece = chunked(b"x" * 1_000_000)
    assert service.send_raw(head, *[piece] * 200).problem == "too-large"
    assert service.memory() - before < 60


@pytest.mark.parametrize(
    ("opening", "piece"),
    [
        (b"", b"x" * 65536),
        (b"GET /", b"x" * 65536),
        (b"GET /?", b"x" * 65536),
        (b"GET / HTTP/1.1\r\n", b"x" * 65536),
        (b"GET / HTTP/1.1\r\nX: ", b"x" * 65536),
        (b"GET / HTTP/1.1\r\n", b"X: y\r\n" * 10_000),
        (b"GET / HTTP/1.1\r\n" + b"X" * 40_000, b": y\r\n\r\n"),
        (b"POST / HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n" * 10_000),
        (b"POST / HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"x" * 65536),
        (b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x" * 65536),
        (b"", b"\r\n" * 32768),
    ],
)
def test_endless_headers_use_no_memory(service, opening, piece):
    before = service.memory()
    received = service.raw(opening, *[piece] * 500)
    assert received == b"" or received.split()[1] in (b"400", b"404", b"405", b"431")
    assert service.memory() - before < 40
    assert service.get("/healthz").status == 200


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"X: " + b"y" * 20_000 + b"\r\n", 200),
        (b"X: " + b"y" * 33_000 + b"\r\n", 431),
        (b"X: y\r\n" * 3_000, 200),
        (b"X: y\r\n" * 30_000, 431),
        (b"X-Request-Id: " + b"y" * 33_000 + b"\r\n", 431),
    ],
)
def test_headers_up_to_32_kib_are_accepted(service, head, status):
    response = service.send_raw(b"GET /healthz HTTP/1.1\r\n" + HEAD + head + b"\r\n")
    assert response.status == status
    assert status == 200 or response.problem == "headers-too-large"


# Time


@pytest.mark.parametrize(
    ("opening", "status"),
    [
        (b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Content-Length: 17\r\n\r\n{", b"408"),
        (b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", b"408"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"408"),
        (b"G", b"408"),
        (b"", b""),
    ],
)
def test_an_unfinished_request_times_out(hasty_service, opening, status):
    received = hasty_service.raw(opening)
    assert received.split()[1:2] == ([status] if status else [])
    assert not status or b"urn:foreword:problem:slow-request" in received


@pytest.mark.parametrize("drop", [b"x", b"X: y\r\n", b"\r\n"])
def test_a_request_sent_byte_by_byte_times_out(hasty_service, drop):
    """The time counts from the first byte, however often another one arrives."""
    ended = threading.Event()
    received = b""
    with socket.create_connection(("127.0.0.1", hasty_service.port), timeout=60) as connection:
        if drop != b"\r\n":
            connection.sendall(b"GET /healthz HTTP/1.1\r\n")

        def send():
            while not ended.wait(0.05):
                try:
                    connection.sendall(drop)
                except OSError:
                    return

        sender = threading.Thread(target=send)
        sender.start()
        try:
            received = connection.recv(65536)
        except ConnectionResetError:
            pass
        ended.set()
        sender.join()
    assert received == b"" or received.split()[1] in (b"408", b"400")


def test_a_body_sent_byte_by_byte_times_out(hasty_service):
    pieces = [b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Content-Length: 1000\r\n\r\n"]
    with socket.create_connection(("127.0.0.1", hasty_service.port), timeout=60) as connection:
        connection.sendall(pieces[0])
        connection.settimeout(0.05)
        received = b""
        for _ in range(400):
            try:
                received = connection.recv(65536)
                break
            except TimeoutError:
                connection.sendall(b" ")
    assert received.split()[1] == b"408"


# Malformed HTTP


@pytest.mark.parametrize(
    ("sent", "status", "kind"),
    [
        (b"nonsense\r\n\r\n", 400, "not-http"),
        (b"GET\r\n\r\n", 400, "not-http"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, "not-http"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "not-http"),
        (b"FROB /healthz HTTP/1.1\r\n" + HEAD + b"\r\n", 400, "not-http"),
        (b"get /healthz HTTP/1.1\r\n" + HEAD + b"\r\n", 400, "not-http"),
        (b"GET /healthz HTTP/9.9\r\n" + HEAD + b"\r\n", 400, "not-http"),
        (b"GET /conversations/\xff HTTP/1.1\r\n" + HEAD + b"\r\n", 400, "not-http"),
        (b"GET /conversations/a b HTTP/1.1\r\n" + HEAD + b"\r\n", 400, "not-http"),
        (b"GET /conversations?search=\xff HTTP/1.1\r\n" + HEAD + b"\r\n", 400, None),
        (b"GET healthz HTTP/1.1\r\n" + HEAD + b"\r\n", 400, "not-http"),
        (b"GET /healthz HTTP/1.1\r\nHost localhost\r\n\r\n", 400, "not-http"),
        (b"GET /healthz HTTP/1.1\r\n" + HEAD + b"X: a\x00b\r\n\r\n", 400, "not-http"),
        (b"GET /healthz HTTP/1.1\r\n" + HEAD + b" folded: x\r\n\r\n", None, None),
        (b"OPTIONS * HTTP/1.1\r\n" + HEAD + b"\r\n", None, None),
        (b"CONNECT localhost:80 HTTP/1.1\r\n" + HEAD + b"\r\n", None, None),
        (b"GET http://localhost/healthz HTTP/1.1\r\n" + HEAD + b"\r\n", 200, None),
        (b"GET http://evil.example HTTP/1.1\r\n" + HEAD + b"\r\n", None, None),
        (b"TRACE /healthz HTTP/1.1\r\n" + HEAD + b"\r\n", 405, "method-not-allowed"),
        (b"OPTIONS /healthz HTTP/1.1\r\n" + HEAD + b"\r\n", 405, "method-not-allowed"),
        (b"DELETE /system-prompt HTTP/1.1\r\n" + HEAD + b"\r\n", 405, "method-not-allowed"),
        (b"PROPFIND / HTTP/1.1\r\n" + HEAD + b"\r\n", 405, "method-not-allowed"),
        (post(headers=b"Content-Length: 5\r\n"), 400, "not-http"),
        (post(headers=b"Transfer-Encoding: chunked\r\n"), 400, "not-http"),
        (b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Content-Length: -1\r\n\r\n", 400, "not-http"),
        (b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n", 400, "not-http"),
        (b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n", 400, "not-http"),
        (b"POST /system-prompt/check HTTP/1.1\r\n" + HEAD + b"\r\n", 400, "not-json"),
        (post(headers=b"Content-Encoding: gzip\r\n"), 200, None),
        (post(headers=b"Content-Type: text/plain; charset=utf-16\r\n"), 200, None),
        (b"GET /healthz HTTP/1.1\r\n" + HEAD + b"Content-Length: 5\r\n\r\nhello", 200, None),
        (b"GET /healthz HTTP/1.0\r\n\r\n", 400, "invalid-headers"),
        (b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "invalid-headers"),
        (b"\r\n\r\nGET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n", 200, None),
    ],
)  # fmt: skip
def test_malformed_requests_get_a_client_error(service, sent, status, kind):
    """Any status below 500 is accepted where HTTP allows several (None)."""
    response = service.send_raw(sent)
    assert response.status == status if status else 200 <= response.status < 500
    assert kind is None or response.problem == kind
    assert service.get("/healthz").status == 200


def test_a_websocket_upgrade_is_ignored(service):
    headers = b"Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
    response = service.send_raw(b"GET /healthz HTTP/1.1\r\n" + headers + b"\r\n")
    assert (response.status, response.json) == (200, {"status": "ok"})
    received = service.raw(
        b"POST /system-prompt/check HTTP/1.1\r\n" + headers + b"Content-Length: 17\r\n\r\n" + TEMPLATE
    )
    assert received.split()[1] in (b"200", b"400")
    received = service.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
    assert received.split()[1] == b"200"


def test_head_is_get_without_the_body(service):
    for path in ("/roots", "/system-prompt", "/", "/nothing", "/metrics"):
        head, get = service.request("HEAD", path), service.get(path)
        assert (head.status, head.body) == (get.status, b"")
        assert path == "/metrics" or head.headers["content-length"] == str(len(get.body))
    assert service.request("HEAD", "/conversations/a/turn").headers["allow"] == "POST"


def test_405_lists_the_allowed_methods(service):
    response = service.request("PATCH", "/system-prompt")
    assert (response.problem, response.headers["allow"]) == ("method-not-allowed", "GET, HEAD, PUT")


def pipelined(number):
    return b"".join(b"GET /conversations/none-%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % id for id in range(number))


def test_pipelined_requests_are_answered_in_order(service):
    received = service.raw(pipelined(16) + post(), close_after=False)
    assert re.findall(rb"HTTP/1\.1 (\d+)", received) == [b"404"] * 16 + [b"200"]
    positions = [received.index(b"'none-%d'" % number) for number in range(16)]
    assert positions == sorted(positions)


def test_a_connection_closes_after_its_first_requests_if_too_many_are_pipelined(service):
    """Each waiting request takes memory. The client sees which ones were answered, and can send the others again."""
    received = service.raw(pipelined(200) + post())
    statuses = re.findall(rb"HTTP/1\.1 (\d+)", received)
    assert 17 <= len(statuses) < 200 and set(statuses) == {b"404"}
    *others, last = received.split(b"HTTP/1.1 ")[1:]
    assert b"\r\nconnection: close\r\n" in last and not any(b"\r\nconnection: close\r\n" in other for other in others)


def test_garbage_after_a_request_does_not_affect_its_response(service):
    received = service.raw(b"GET /layouts HTTP/1.1\r\nHost: localhost\r\n\r\n" + b"\x00nonsense\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 200 ")
    assert received.count(b"HTTP/1.1 ") == 1
    json.loads(received.partition(b"\r\n\r\n")[2])


@pytest.mark.parametrize("length", [b"Content-Length: 4000000", b"Transfer-Encoding: chunked"])
def test_a_client_that_closes_gets_its_response_even_if_it_is_still_sending(service, length):
    body = b"x" * 4_000_000 if b"Length" in length else b"3d0900\r\n" + b"x" * 4_000_000 + b"\r\n0\r\n\r\n"
    later = b"PUT /templates/later HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\n\r\n" + b'{"template":"x"}'
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + length + b"\r\n\r\n")
        received = connection.recv(65536)
        connection.sendall(body + later)
        while chunk := connection.recv(65536):
            received += chunk
    assert received.startswith(b"HTTP/1.1 404 ") and received.count(b"HTTP/1.1 ") == 1
    assert b"connection: close\r\n" in received
    assert service.get("/templates/later").status == 404


def test_an_invalid_rest_of_a_body_gets_no_second_response(service):
    head = b"POST /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.sendall(head)
        received = connection.recv(65536)
        connection.sendall(b"not a size\r\n")
        while chunk := connection.recv(65536):
            received += chunk
    assert received.startswith(b"HTTP/1.1 404 ") and received.count(b"HTTP/1.1 ") == 1


def test_a_connection_serves_many_requests(service):
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    for number in range(50):
        path, body = (("/healthz", None), ("/system-prompt/check", TEMPLATE), ("/nothing", b"x" * 1000))[number % 3]
        connection.request("POST" if body else "GET", path, body)
        response = connection.getresponse()
        response.read()
        assert response.status == (200, 200, 404)[number % 3]
    connection.close()


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET",
        b"GET / HTTP/1.1\r\nHost",
        b"POST /conversations/gone/turn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        b"POST /conversations/gone/turn HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /layouts HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,
    ],
)
@pytest.mark.parametrize("is_reset", [False, True])
def test_a_client_that_hangs_up_does_not_affect_others(service, sent, is_reset):
    for _ in range(5):
        connection = socket.create_connection(("127.0.0.1", service.port), timeout=60)
        connection.sendall(sent)
        if is_reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
    assert service.get("/healthz").status == 200
    assert service.get("/conversations/gone").status == 404


def test_idle_connections_do_not_block_others(service):
    idle = [socket.create_connection(("127.0.0.1", service.port), timeout=60) for _ in range(200)]
    try:
        assert service.get("/layouts").status == 200
    finally:
        for connection in idle:
            connection.close()
