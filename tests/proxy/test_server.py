"""The proxy between real clients and a provider on loopback: nothing is changed, delayed, lost or stored."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import ssl
import threading

import pytest
from anthropic import Anthropic
from google import genai
from openai import OpenAI

from foreword.service.proxy.server import Upstream

TEXT, KEY = "The secret plan of hunter2. " * 100, "sk-secret-hunter2"
TOOLS = [
    {"name": name, "description": "Does it. " * 30, "input_schema": {"type": "object", "properties": {}}}
    for name in ("read", "write", "shell", "mcp__gh__issue")
]
MARK = {"cache_control": {"type": "ephemeral"}}
ANTHROPIC_USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 900,
    "cache_creation_input_tokens": 90,
    "output_tokens": 5,
}
ANTHROPIC_ANSWER = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5", "stop_reason": "end_turn", "stop_sequence": None,
    "content": [{"type": "text", "text": "Done."}], "usage": ANTHROPIC_USAGE,
}  # fmt: skip


def answer_with(form, **options):
    return lambda handler: handler.send(json.dumps(form).encode(), **options)


def sse(*events):
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def anthropic(proxy):
    return Anthropic(api_key=KEY, base_url=proxy.url, max_retries=0, timeout=20)


def openai(proxy):
    return OpenAI(api_key=KEY, base_url=f"{proxy.url}/v1", max_retries=0, timeout=20)


def turn(*texts, tools=TOOLS, system=TEXT, **others):
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(texts)]
    return {"model": "claude-opus-5", "max_tokens": 10, "tools": tools, "system": system, "messages": messages} | others


# Real clients


def test_anthropic_calls_are_compared_and_counted(provider, proxy):
    provider.answer = answer_with(ANTHROPIC_ANSWER)
    with anthropic(proxy) as client:
        for request in (
            turn("Fix it.", **MARK),
            turn("Fix it.", "Done.", "Thanks.", **MARK),
            turn("Fix it.", "Done.", "Thanks.", "Bye.", "Go on.", tools=[TOOLS[3], *TOOLS[:3]], **MARK),
        ):
            assert client.messages.create(**request).content[0].text == "Done."
    first, second, third = (proxy.report() for _ in range(3))
    assert (first.conversation, first.call, first.model, first.breakpoints, first.changed) == (
        first.conversation, 1, "claude-opus-5", 1, "",
    )  # fmt: skip
    assert (first.tokens.input, first.tokens.read, first.tokens.written, first.tokens.output) == (1000, 900, 90, 5)
    assert (second.conversation, second.call, second.changed) == (first.conversation, 2, "")
    assert (third.call, third.changed) == (3, "moved tool `mcp__gh__issue` from position 4 to 1")
    assert third.tokens_lost > 1000 and third.hit_rate == third.total_hit_rate == 0.9
    assert provider.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert provider.requests[0].headers["host"] == f"127.0.0.1:{provider.server_port}"


def test_an_anthropic_stream_is_forwarded_event_by_event(provider, proxy):
    started = threading.Event()
    usage = {**ANTHROPIC_USAGE, "output_tokens": 1}
    first, *rest = sse(
        {"type": "message_start", "message": {**ANTHROPIC_ANSWER, "content": [], "stop_reason": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 7},
        },
        {"type": "message_stop"},
    )

    def answer(handler):
        handler.start_stream()
        handler.send_chunk(first)
        assert started.wait(20)  # the client must have received the first event by now
        for event in (*rest, b""):
            handler.send_chunk(event)

    provider.answer = answer
    with anthropic(proxy) as client:
        for event in client.messages.create(**turn("Stream it."), stream=True):
            started.set()
            last = event
    report = proxy.report()
    assert last.type == "message_stop"
    assert (report.tokens.input, report.tokens.read, report.tokens.output, report.problem) == (1000, 900, 7, "")


OPENAI_USAGE = {"input_tokens": 2000, "input_tokens_details": {"cached_tokens": 1536}, "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2004}  # fmt: skip
RESPONSE = {
    "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5.6-sol", "parallel_tool_calls": True,
    "tool_choice": "auto", "tools": [], "usage": OPENAI_USAGE, "output": [],
}  # fmt: skip


def test_openai_calls_are_compared_and_counted(provider, proxy):
    def answer(handler):
        if json.loads(handler.body).get("stream"):
            handler.start_stream()
            for event in sse({"type": "response.completed", "sequence_number": 0, "response": RESPONSE}):
                handler.send_chunk(event)
            handler.send_chunk(b"")
        else:
            handler.send(json.dumps(RESPONSE).encode())

    provider.answer = answer
    with openai(proxy) as client:
        client.responses.create(model="gpt-5.6-sol", instructions=TEXT, input="Fix it.")
        list(client.responses.create(model="gpt-5.6-sol", instructions="New. " + TEXT, input="Fix it.", stream=True))
    first, second = proxy.report(), proxy.report()
    assert (first.endpoint, first.tokens.input, first.tokens.read, first.changed) == (
        "openai-responses",
        2000,
        1536,
        "",
    )
    assert second.tokens == first.tokens
    assert first.conversation != second.conversation  # one message, and another prompt


def test_chat_completions_are_compared_and_counted(provider, proxy):
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": 3,
        "total_tokens": 53,
        "prompt_tokens_details": {"cached_tokens": 20},
    }
    events = [
        b"data: " + json.dumps({**chunk, **own}).encode() + b"\n\n" for own in ({"usage": None}, {"usage": usage})
    ]

    def answer(handler):
        handler.start_stream()
        for event in (*events, b"data: [DONE]\n\n", b""):
            handler.send_chunk(event)

    provider.answer = answer
    with openai(proxy) as client:
        for text in ("Be brief.", "Be long."):
            messages = [{"role": "system", "content": text}, {"role": "user", "content": "Hi."}]
            messages += [{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Go on."}]
            list(client.chat.completions.create(model="m", messages=messages, stream=True))
    first, second = proxy.report(), proxy.report()
    assert (first.endpoint, first.tokens.input, first.tokens.read, first.tokens.output) == ("openai-chat", 50, 20, 3)
    assert (second.conversation, second.changed) == (first.conversation, "changed the system prompt after character 0")


def test_gemini_calls_are_compared_and_counted(provider, proxy):
    usage = {"promptTokenCount": 70, "cachedContentTokenCount": 30, "candidatesTokenCount": 2, "totalTokenCount": 72}
    content = {"role": "model", "parts": [{"text": "Done."}]}
    provider.answer = answer_with({"candidates": [{"content": content}], "usageMetadata": usage})
    with genai.Client(api_key=KEY, http_options={"base_url": proxy.url}) as client:
        for text in (TEXT, TEXT[:-10]):
            client.models.generate_content(
                model="gemini-3.8-flash", contents="Hi.", config={"system_instruction": text}
            )
    first, second = proxy.report(), proxy.report()
    assert (first.endpoint, first.model, first.tokens.input, first.tokens.read) == (
        "gemini",
        "gemini-3.8-flash",
        70,
        30,
    )
    assert second.conversation == first.conversation and second.changed.startswith("changed the system prompt after")


# Everything passes unchanged


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "POST", "HEAD"])
def test_every_method_and_header_is_forwarded(provider, proxy, method):
    provider.answer = lambda handler: handler.send(
        b"", 204 if method == "DELETE" else 200, [("x-one", "1"), ("x-one", "2")]
    )
    headers = {
        "Authorization": f"Bearer {KEY}",
        "X-Odd": "\xe9 a,b",
        "Accept-Encoding": "br, gzip;q=0.5",
        "X-Foreword-Conversation": "c",
    }
    status, _, received = proxy.send(method, "/v1/models?limit=2&a=%20", b"abc", headers)
    (handler,) = provider.requests
    assert (handler.command, handler.path, handler.body) == (method, "/v1/models?limit=2&a=%20", b"abc")
    assert handler.headers["authorization"] == f"Bearer {KEY}" and handler.headers["x-odd"] == headers["X-Odd"]
    assert handler.headers["accept-encoding"] == "gzip;q=0.5" and handler.headers["x-foreword-conversation"] is None
    assert status == (204 if method == "DELETE" else 200) and received.get_all("x-one") == ["1", "2"]
    assert proxy.reports.empty()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/v1/files?source=https://a.example/b", "/v1/files?source=https://a.example/b"),
        ("http://evil.example/v1/models?a=b", "/v1/models?a=b"),
        ("http://evil.example?a=b", "/?a=b"),
    ],
)
def test_a_target_is_sent_to_the_provider_as_a_path(provider, proxy, target, expected):
    provider.answer = lambda handler: handler.send(handler.path.encode())
    assert proxy.send("GET", target, headers={"Host": "localhost"})[1].decode() == expected


def test_a_gzipped_response_is_forwarded_and_read(provider, proxy):
    packed = gzip.compress(json.dumps(ANTHROPIC_ANSWER).encode())
    provider.answer = lambda handler: handler.send(packed, headers=[("content-encoding", "gzip")])
    body = gzip.compress(json.dumps(turn("Hi.")).encode())
    _, content, _ = proxy.send("POST", "/v1/messages", body, {"Content-Encoding": "gzip"})
    report = proxy.report()
    assert content == packed and provider.requests[0].body == body
    assert (report.model, report.tokens.read, report.problem) == ("claude-opus-5", 900, "")


def test_a_chunked_request_is_forwarded(provider, proxy):
    provider.answer = answer_with(ANTHROPIC_ANSWER)
    body = json.dumps(turn("Hi.")).encode()
    pieces = [body[start : start + 700] for start in range(0, len(body), 700)]
    proxy.send("POST", "/v1/messages", iter(pieces), {"X-Foreword-Conversation": "main"}, encode_chunked=True)
    assert provider.requests[0].body == body
    assert (proxy.report().conversation) == "main"


def test_an_http_1_0_client_gets_an_unchunked_body(provider, proxy):
    def answer(handler):
        handler.start_stream()
        handler.send_chunk(b"one ")
        handler.send_chunk(b"two")
        handler.send_chunk(b"")

    provider.answer = answer
    head, _, content = proxy.talk(b"GET /x HTTP/1.0\r\nHost: localhost\r\n\r\n").partition(b"\r\n\r\n")
    assert content == b"one two" and b"chunked" not in head.lower()


def test_pipelined_requests_are_answered_in_order(provider, proxy):
    provider.answer = lambda handler: handler.send(handler.path.encode())
    one = b"POST /%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n%s\r\nab"
    answers = proxy.talk(one % (b"a", b"") + one % (b"b", b"Connection: close\r\n"))
    assert answers.index(b"\r\n\r\n/a") < answers.index(b"\r\n\r\n/b") and answers.endswith(b"/b")


def test_a_client_may_wait_before_it_sends_the_body(provider, proxy):
    provider.answer = lambda handler: handler.send(handler.body)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=20) as client:
        client.sendall(
            b"PUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        )
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"ok")
        assert b"".join(iter(lambda: client.recv(65536), b"")).endswith(b"\r\n\r\nok")


def test_the_proxy_reconnects_to_a_provider_that_closes_each_connection(provider, proxy):
    provider.answer = lambda handler: handler.send(b"ok", headers=[("connection", "close")])
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=20)
    for _ in range(3):
        connection.request("GET", "/x")
        response = connection.getresponse()
        assert (response.read(), response.will_close) == (b"ok", False)
    connection.close()


@pytest.fixture
def certificate(tmp_path):
    """A self-signed certificate for localhost."""
    from datetime import datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")]),
    )
    builder = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    )
    builder = builder.not_valid_before(datetime(2020, 1, 1)).not_valid_after(datetime.now() + timedelta(days=2))
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "both.pem"
    path.write_bytes(secret + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return path


def test_an_https_provider_must_have_a_valid_certificate(provider, proxy, certificate, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with type(provider)() as secure:
        secure.socket = context.wrap_socket(secure.socket, server_side=True)
        secure.answer = lambda handler: handler.send(handler.path.encode())
        thread = threading.Thread(target=secure.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(proxy.proxy, "upstream", Upstream("localhost", secure.server_port, True, "/base"))
        monkeypatch.setattr(proxy.proxy, "context", ssl.create_default_context())
        assert proxy.send("GET", "/x")[0] == 502
        monkeypatch.setattr(proxy.proxy, "context", ssl.create_default_context(cafile=str(certificate)))
        assert proxy.send("GET", "/x")[:2] == (200, b"/base/x")
        secure.shutdown()
        thread.join()


def test_a_huge_request_is_forwarded_without_being_compared(provider, proxy):
    provider.answer = lambda handler: handler.send(str(len(handler.body)).encode())
    size = 40 * 2**20
    _, content, _ = proxy.send("POST", "/v1/messages", b"x" * size)
    assert int(content) == size
    assert proxy.report().problem == "not compared: the request is too long"
    assert proxy.proxy.seen._reserved_bytes == 0


# Nothing is stored


def test_no_text_or_key_is_stored_or_reported(provider, proxy):
    provider.answer = answer_with(ANTHROPIC_ANSWER)
    with anthropic(proxy) as client:
        for text in ("hunter2", "hunter2 again"):
            client.messages.create(**turn(text, text, "Go on.", system=f"{text} {TEXT}"))
    reports = [proxy.report(), proxy.report()]
    kept = [(each.name, each.last) for each in proxy.proxy.seen._conversations.values()]
    assert reports[1].conversation in [name for name, _ in kept]
    for text in (repr(kept), *map(repr, reports), *(json.dumps(each.form()) + each.line() for each in reports)):
        assert "hunter2" not in text and "secret" not in text
