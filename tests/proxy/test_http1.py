"""HTTP/1.1 framing: where bodies end, whatever pieces they arrive in, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.service.proxy.http1 import Body, ProtocolError, parse_head


def head(*lines, start="POST /x HTTP/1.1"):
    return parse_head("\r\n".join((start, *lines, "", "")).encode("latin-1"), is_response=start.startswith("HTTP/"))


def read(body, data, size):
    """Feed a body in pieces of this size. Returns its content and what follows it."""
    content, position = b"", 0
    while position < len(data) and not body.is_done:
        used, piece = body.feed(data[position : position + size])
        content += piece
        position += used
    return content, data[position:]


CHUNKED = "Transfer-Encoding: chunked"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("header", "data", "content"),
    [
        ("Content-Length: 5", b"abcde", b"abcde"),
        ("Content-Length: 0", b"", b""),
        ("X: y", b"", b""),
        (CHUNKED, b"0\r\n\r\n", b""),
        (CHUNKED, b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", b"abc0123456789"),
        (CHUNKED, b"2\r\n\r\n\r\n0\r\nTrailer: x\r\nOther: y\r\n\r\n", b"\r\n"),
    ],
)
def test_a_body_ends_where_its_framing_says(header, data, content, size):
    body = Body(head(header))
    assert read(body, data + b"NEXT", size) == (content, b"NEXT")
    assert body.is_done


@given(st.lists(st.binary(min_size=1, max_size=300)), st.integers(1, 50))
def test_the_readable_length_never_reaches_the_next_message(chunks, size):
    data = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    body, position, content = Body(head(CHUNKED)), 0, b""
    while not body.is_done:
        piece = data[position : position + min(size, body.readable)]
        used, read_now = body.feed(piece)
        assert used == len(piece) > 0
        position += used
        content += read_now
    assert (position, content) == (len(data), b"".join(chunks))


def test_a_response_may_end_when_its_connection_closes():
    response = head(start="HTTP/1.1 200 OK")
    body = Body(response, is_response=True)
    assert body.ends_with_connection and read(body, b"abc", 2) == (b"abc", b"") and not body.is_done
    assert Body(response, is_response=True, is_empty=True).is_done
    assert Body(head("Content-Length: 9", start="HTTP/1.1 304 Not Modified"), is_response=True, is_empty=True).is_done


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 1", CHUNKED],
        ["Content-Length: 1", "Content-Length: 2"],
        ["Content-Length: 1", "Content-Length: 1"],
        ["Content-Length: 1, 2"],
        ["Content-Length: 4, 4"],
        ["Content-Length: 4,"],
        ["Content-Length: +4"],
        ["Content-Length: 0x4"],
        ["Content-Length: 4 4"],
        ["Content-Length:"],
        [CHUNKED, CHUNKED],
        [CHUNKED, "transfer-encoding: identity"],
        ["Transfer-Encoding: chunked, chunked"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: chunked\x0b"],
        ["Transfer-Encoding: chunked\u00a0"],
        ["Transfer-Encoding:"],
        ["Transfer-Encoding: xchunked"],
        ["Content-Length: -1"],
        ["Content-Length: ١"],
        ["Content-Length: 99999999999999999999"],
        ["Transfer-Encoding: gzip"],
        ["Transfer-Encoding: chunked, gzip"],
    ],
)
def test_an_ambiguous_length_is_refused(lines):
    with pytest.raises(ProtocolError):
        Body(parse_head("\r\n".join(("POST /x HTTP/1.1", *lines, "", "")).encode()))


def test_an_http_1_0_message_has_no_chunks():
    with pytest.raises(ProtocolError):
        Body(parse_head(b"POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"))


def test_a_response_may_be_compressed_and_chunked():
    response = head("Transfer-Encoding: gzip, chunked", start="HTTP/1.1 200 OK")
    assert read(Body(response, is_response=True), b"1\r\nx\r\n0\r\n\r\n", 100) == (b"x", b"")


@pytest.mark.parametrize(
    "data",
    [b"x\r\n", b"\r\n", b"-1\r\n", b"1\r\nab\r\n", b"0x5\r\n", b"f" * 16 + b"\r\n", b"1;" + b"x" * 20_000,
     b"3\nabc\r\n", b"3\r\nabc\n0\r\n", b"0\r\n\n", b"3 \r\n", b" 3\r\n", b"1_0\r\n", b"3;a\rb\r\n", b"3;a\0b\r\n",
     b"1\r\na\r\r\n", b"0\r\nnonsense\r\n", b"0\r\nContent-Length: 5\r\n", b"0\r\nX: a\nHost: b\r\n", b"0\r\nX : a\r\n"],
)  # fmt: skip
def test_malformed_chunks_are_refused(data):
    with pytest.raises(ProtocolError):
        Body(head(CHUNKED)).feed(data)


@pytest.mark.parametrize(
    "raw",
    [b"", b"\r\n\r\n", b"GET /\r\n\r\n", b"GET / HTTP/2\r\n\r\n", b"GET /a b HTTP/1.1\r\n\r\n", b"HTTP/1.1 OK\r\n\r\n",
     b"GET / HTTP/1.1\r\nno colon\r\n\r\n", b"GET / HTTP/1.1\r\nX : y\r\n\r\n", b"GET / HTTP/1.1\r\n folded: y\r\n\r\n",
     b"GET / HTTP/1.1\r\nX: a\nInjected: b\r\n\r\n", b"GET /\nX:a HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nX: a\0b\r\n\r\n",
     b"HTTP/1.1 200\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"\nGET / HTTP/1.1\r\n\r\n", b"\r\n\r\nGET / HTTP/1.1\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", b"GET / HTTP/1.1\r\nX\xa0: y\r\n\r\n", b"G\"T / HTTP/1.1\r\n\r\n",
     b"GET / HTTP/1.1\r\nX: y\r\n\tfolded\r\n\r\n", b"GET\t/ HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nX(y): z\r\n\r\n"],
)  # fmt: skip
def test_malformed_heads_are_refused(raw):
    with pytest.raises(ProtocolError):
        parse_head(raw)


@pytest.mark.parametrize(
    "start", ["GET 200 HTTP/1.1", "HTTP/1.1 \xb2\xb2\xb2 OK", "HTTP/1.1 20 OK", "HTTP/2 200 OK", "HTTP/1.1 200 O\nK"]
)
def test_bad_status_lines_are_refused(start):
    with pytest.raises(ProtocolError):
        parse_head(f"{start}\r\n\r\n".encode("latin-1"), is_response=True)


def test_hop_by_hop_headers_are_not_forwarded():
    parsed = head("Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: 5", "X-End: \xe9", "x-END: 2", "TE: x")
    assert (
        parsed.forwarded("GET /y HTTP/1.1", [("Host", "h")], ["host"])
        == b"GET /y HTTP/1.1\r\nHost: h\r\nX-End: \xe9\r\nx-END: 2\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("start", "header", "expected"),
    [
        ("GET / HTTP/1.1", "X: y", True),
        ("GET / HTTP/1.1", "Connection: Close", False),
        ("GET /HTTP/1.0 HTTP/1.1", "X: y", True),
        ("GET / HTTP/1.0", "X: y", False),
        ("GET / HTTP/1.0", "Connection: Keep-Alive", True),
    ],
)
def test_whether_a_connection_is_kept_depends_on_version_and_header(start, header, expected):
    assert head(header, start=start).keeps_connection is expected
