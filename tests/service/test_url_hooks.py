"""Hooks that are URLs: what they are sent, what they may return, and what happens if they fail."""

import base64
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from foreword import CallError, HookError
from foreword.extensions import About, Start
from foreword.service import url_hooks as module
from foreword.service.lanes import HOOKS, Job, Lanes
from foreword.service.responses import Problem
from foreword.service.url_hooks import url_hooks
from foreword.store import waits

from .receiver import NEW_SECRET, SECRET, TIMEOUT, Receiver, signature
from .test_listening import write_certificate

ROOT = Path(__file__).parents[2]
ABOUT = About("talk/1", "/w", "m-1", ("shell",), 3)
ABOUT_FORM = {"conversation": "talk/1", "cwd": "/w", "model": "m-1", "tools": ["shell"], "edition": 3}
MESSAGES = [{"role": "user", "content": "hello ü"}]
PAGE = ROOT / "docs/hooks.md"
NODE = next(iter(sorted(ROOT.glob(".tools/nodejs*/bin/node"))), None) or shutil.which("node")


@pytest.fixture(scope="module")
def receiver():
    with closing(Receiver()) as receiver:
        yield receiver


@pytest.fixture(autouse=True)
def no_earlier_requests(receiver):
    receiver.requests = []


def hook(name, url, time_limit=TIMEOUT, secrets=SECRET):
    """Return the function of a single hook."""
    (extension,) = url_hooks([f"{name}={url}"], [], time_limit, False, secrets)
    return getattr(extension, name)


# What a hook is sent, and what it returns


def test_before_agent_start_gets_the_prompt_and_the_message(receiver):
    result = hook("before_agent_start", f"{receiver.url}/start")("Be kind.", "launch", ABOUT)
    assert result == Start("Be kind. Launched.", "Start with edition 3.")
    expected = {"hook": "before_agent_start", "prompt": "Be kind.", "message": "launch", "about": ABOUT_FORM}
    assert receiver.take() == [("/start", expected)]


def test_context_gets_the_messages(receiver):
    result = hook("context", f"{receiver.url}/context?key=1")(MESSAGES, ABOUT)
    assert result == [*MESSAGES, {"role": "user", "content": "The tower is clear."}]
    assert receiver.take() == [("/context?key=1", {"hook": "context", "messages": MESSAGES, "about": ABOUT_FORM})]


@pytest.mark.parametrize("path", ["/none", "/empty", "/null"])
def test_a_hook_may_return_nothing(receiver, path):
    assert hook("context", receiver.url + path)(MESSAGES, ABOUT) is None
    assert hook("before_agent_start", receiver.url + path)("Be kind.", "hello", ABOUT) is None


def test_a_response_may_be_chunked(receiver):
    assert hook("context", f"{receiver.url}/chunked")(MESSAGES, ABOUT) == []


def test_a_thread_that_must_not_wait_sends_nothing(receiver):
    class Refused(Exception):
        pass

    class Quick:
        def on_slow_work(self, kind):
            raise Refused(kind)

        def set_interrupt(self, stop):
            """Nothing is interrupted."""

    call = hook("context", f"{receiver.url}/context")
    waits.listen(Quick())
    try:
        with pytest.raises(Refused, match="hook"):
            call(MESSAGES, ABOUT)
    finally:
        waits.listen(None)
    assert receiver.take() == []


def test_requests_are_signed(receiver):
    call = hook("context", f"{receiver.url}/context")
    call(MESSAGES, ABOUT)
    call(MESSAGES, ABOUT)
    (_, headers, body), (_, other, _) = receiver.requests
    assert headers["webhook-signature"] == signature(SECRET, headers, body)
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < TIMEOUT
    assert re.fullmatch(r"msg_[0-9a-f]{32}", headers["webhook-id"]) and headers["webhook-id"] != other["webhook-id"]
    assert headers["Host"] == receiver.url.removeprefix("http://")
    assert headers["Content-Type"] == "application/json"


def test_requests_are_signed_with_every_secret(receiver):
    hook("context", f"{receiver.url}/context", secrets=f"{NEW_SECRET} {SECRET}")(MESSAGES, ABOUT)
    ((_, headers, body),) = receiver.requests
    assert headers["webhook-signature"].split() == [signature(secret, headers, body) for secret in (NEW_SECRET, SECRET)]


def test_proxies_are_ignored(receiver, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert hook("context", f"{receiver.url}/chunked")(MESSAGES, ABOUT) == []


# Failures


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/error", "the response has status 500 instead of 200 or 204"),
        ("/forbidden", "the response has status 403 instead of 200 or 204"),
        ("/created", "the response has status 201 instead of 200 or 204"),
        ("/redirect", "the response has status 307; redirects are not followed"),
        ("/large", "the response is larger than 8,388,608 bytes"),
        ("/not-json", "invalid response: JSON is malformed: invalid character (byte 0); send a JSON object"),
        ("/not-utf-8", "invalid response: the body is not valid UTF-8; send a JSON object"),
        ("/surrogate", "invalid response: the body contains the lone surrogate \\ud800; send a JSON object"),
        ("/cut", "invalid response: input data was truncated; send a JSON object"),
        ("/cut-chunk", "the response is not valid HTTP, or is incomplete"),
        ("/not-http", "the response is not valid HTTP, or is incomplete"),
        ("/closed", "the connection failed"),
        ("/list", "invalid response: expected 'object', got 'array'"),
        ("/unknown", "invalid response: object contains unknown field 'mesage'; did you mean 'messages'?"),
        ("/no-messages", "invalid response: object missing required field 'messages'"),
        ("/not-messages", "invalid response: messages[0]: expected 'object', got 'str'"),
        ("/deep", "invalid response: messages may be nested at most 100 levels deep"),
    ],
)
def test_a_bad_response_is_an_error(receiver, path, message):
    with pytest.raises(HookError) as error:
        hook("context", receiver.url + path)(MESSAGES, ABOUT)
    assert str(error.value) == message
    assert len(receiver.requests) == 1


def test_messages_are_checked_like_those_of_a_request(receiver):
    with pytest.raises(HookError, match=r"^invalid response: message 1 has the unknown role 'usr'"):
        hook("context", f"{receiver.url}/role")(MESSAGES, ABOUT)


def test_a_prompt_must_be_text(receiver):
    with pytest.raises(HookError, match=r"^invalid response: prompt: expected 'str \| null', got 'int'"):
        hook("before_agent_start", f"{receiver.url}/number")("Be kind.", "hello", ABOUT)


@pytest.mark.parametrize("path", ["/silent", "/drip-head", "/drip-body"])
def test_a_call_has_a_time_limit(receiver, path):
    """However slowly the response arrives, all of it counts."""
    with pytest.raises(HookError, match=r"^no complete response within 0\.3 seconds$"):
        hook("context", receiver.url + path, 0.3)(MESSAGES, ABOUT)
    assert receiver.ended.acquire(timeout=TIMEOUT)


def test_sending_a_request_has_a_time_limit(receiver):
    messages = [{"role": "user", "content": "x" * 15_000_000}]  # more than a socket's buffers
    with pytest.raises(HookError, match=r"^no complete response within 0\.3 seconds$"):
        hook("context", f"{receiver.url}/unread", 0.3)(messages, ABOUT)


def test_a_request_has_a_size_limit(receiver):
    with pytest.raises(HookError, match=r"^the request would be larger than 16,777,216 bytes$"):
        hook("context", f"{receiver.url}/context")([{"role": "user", "content": "x" * 17_000_000}], ABOUT)
    assert receiver.requests == []


def test_a_receiver_that_cannot_be_reached_is_an_error():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(HookError, match=r"^the connection was refused$"):
            hook("context", f"http://127.0.0.1:{unused.getsockname()[1]}/")(MESSAGES, ABOUT)
    with pytest.raises(HookError, match=r"^the host name could not be resolved$"):
        hook("context", "https://planted.invalid/")(MESSAGES, ABOUT)


def test_certificates_are_verified(tmp_path, monkeypatch):
    write_certificate(tmp_path)
    with closing(Receiver(tmp_path)) as receiver:
        call = hook("context", f"{receiver.url}/chunked")
        with pytest.raises(HookError, match=r"^the certificate could not be verified$"):
            call(MESSAGES, ABOUT)
        trusting = ssl.create_default_context(cafile=tmp_path / "cert.pem")
        monkeypatch.setattr(module, "_tls_context", lambda: trusting)
        assert call(MESSAGES, ABOUT) == []
        assert receiver.requests[0][1]["Host"] == f"localhost:{receiver.port}"
        with pytest.raises(HookError, match=r"^no complete response"):
            hook("context", f"{receiver.url}/drip-body", 0.3)(MESSAGES, ABOUT)


def test_another_protocol_is_an_error(receiver):
    with pytest.raises(HookError, match=r"^the TLS connection failed$"):
        hook("context", receiver.url.replace("http://127.0.0.1", "https://localhost"))(MESSAGES, ABOUT)


# The page


@pytest.mark.skipif(not NODE, reason="needs Node")
def test_the_receiver_on_the_page_works(start, tmp_path):
    (text,) = re.findall(r'^```js title="receiver.mjs"\n(.*?)^```$', PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "receiver.mjs").write_text(text)
    environment = {"PATH": os.environ["PATH"], "PORT": "0", "FOREWORD_HOOK_SECRET": SECRET}
    command = [str(NODE), str(tmp_path / "receiver.mjs")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            url = f"http://127.0.0.1:{process.stdout.readline().split()[-1]}/"
            options = ("--hook", f"before_agent_start={url}", "--required-hook", f"context={url}")
            server = start(*options, environment={"FOREWORD_HOOK_SECRET": f"{NEW_SECRET} {SECRET}"})
            turn = server.conversation("node", message="deploy swordfish").json
            with pytest.raises(HookError, match=r"^the response has status 401 instead of 200 or 204$"):
                hook("context", url, secrets=NEW_SECRET)(MESSAGES, ABOUT)
        finally:
            process.kill()
    assert (texts(turn), failures(turn)) == (["deploy …", "Today is release day: change nothing but tests."], [])


# Options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "--hook needs HOOK=URL, where HOOK is before_agent_start or context"),
        ("contxt=https://a", "where HOOK is before_agent_start or context; did you mean 'context'?"),
        ("https://planted@a", "--hook needs HOOK=URL, where HOOK is before_agent_start or context"),
        ("context", "--hook context: the URL must begin with https:// or http:// and name a host"),
        ("context=ftp://a", "--hook context: the URL must begin with https:// or http:// and name a host"),
        ("context=https:///a", "--hook context: the URL must begin with https:// or http:// and name a host"),
        ("context=https://a:x", "--hook context: the URL is not valid"),
        ("context=https://[a", "--hook context: the URL is not valid"),
        ("context=https://a/b c", "--hook context: the URL may only contain printable ASCII characters"),
        ("context=https://a\n/b", "--hook context: the URL may only contain printable ASCII characters"),
        ("context=https://planted:x@a", "must not contain a user name, a password or a fragment"),
        ("context=https://a/#b", "must not contain a user name, a password or a fragment"),
        ("context=http://hooks.example/", "would be sent to another machine unencrypted; --allow-plain-hooks allows"),
    ],
)
def test_an_invalid_hook_is_refused(text, message):
    with pytest.raises(CallError) as error:
        url_hooks([text], [], 5, False, SECRET)
    assert message in str(error.value) and "planted" not in str(error.value)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:80", "[::1]:80"])
def test_plain_http_is_for_this_machine(host):
    assert len(url_hooks([f"context=http://{host}"], [], 5, False, SECRET)) == 1


def test_plain_http_to_other_machines_can_be_allowed():
    assert len(url_hooks(["context=http://hooks.example"], [], 5, True, SECRET)) == 1


@pytest.mark.parametrize(
    "secrets", ["", "planted", "whsec_planted", "whsec_" + "p!" * 20, SECRET[6:], f"{SECRET} planted", SECRET * 2]
)
def test_an_invalid_secret_is_refused(secrets):
    refuse(secrets)


@pytest.mark.parametrize(("length", "is_valid"), [(23, False), (24, True), (64, True), (65, False)])
def test_a_secret_has_24_to_64_bytes(length, is_valid):
    secret = f"whsec_{base64.b64encode(bytes(length)).decode()}"
    if is_valid:
        assert url_hooks(["context=https://a"], [], 5, False, secret)
    else:
        refuse(secret)


def refuse(secrets):
    with pytest.raises(CallError, match=r"^hooks need FOREWORD_HOOK_SECRET: whsec_ followed by 24 to 64 ") as error:
        url_hooks(["context=https://a"], [], 5, False, secrets)
    assert "planted" not in str(error.value)


def test_required_hooks_come_last():
    extensions = url_hooks(
        ["context=https://a"], ["context=https://b", "before_agent_start=https://c"], 5, False, SECRET
    )
    assert [(extension.name, list(extension.required)) for extension in extensions] == [
        ("hook 1", []),
        ("hook 2", ["context"]),
        ("hook 3", ["before_agent_start"]),
    ]


def test_nothing_is_imported_without_hooks():
    program = "import sys, foreword.service.server; print('foreword.service.url_hooks' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


# In the service


def texts(turn):
    return [message["content"] for message in turn["messages"]]


def failures(turn):
    return [finding["message"] for finding in turn["findings"] if finding["code"] == "extension-failed"]


@pytest.fixture(scope="module")
def hooked(start, receiver):
    """A service with a hook of each kind, and a required one that redacts."""
    options = (
        "--hook",
        f"before_agent_start={receiver.url}/start?planted",
        "--hook",
        f"context={receiver.url}/context",
    )
    environment = {"FOREWORD_HOOK_SECRET": SECRET, "HTTP_PROXY": "http://127.0.0.1:9"}
    return start(*options, "--required-hook", f"context={receiver.url}/redact?planted", environment=environment)


def test_hooks_take_part_in_a_turn(hooked, receiver):
    turn = hooked.conversation("part", model="m-1", message="launch swordfish").json
    assert (turn["edition"], turn["reused"], turn["system"].endswith(" Launched.")) == (1, False, True)
    assert texts(turn) == ["launch …", "Start with edition 1.", "The tower is clear."]
    assert [message["content"] for message in turn["history"]] == ["launch swordfish", "Start with edition 1."]
    calls = receiver.take()
    assert [path for path, _ in calls] == ["/start?planted", "/context", "/redact?planted"]
    assert calls[0][1]["about"].items() >= {"conversation": "part", "model": "m-1", "tools": [], "edition": 1}.items()


def test_the_prompt_of_a_hook_lasts_until_the_next_user_request(hooked, receiver):
    first = hooked.conversation("lasting", message="launch").json
    second = hooked.conversation("lasting", messages=first["history"]).json
    assert (second["system"], second["reused"]) == (first["system"], True)
    third = hooked.conversation("lasting", messages=first["history"], message="wait").json
    assert first["system"] == third["system"] + " Launched."
    assert [path for path, _ in receiver.take()].count("/start?planted") == 2


def test_hooks_run_for_compactions_and_sub_agents(hooked, receiver):
    hooked.conversation("others", message="hello")
    compacted = hooked.conversation("others", "compact", messages=[{"role": "user", "content": "swordfish"}]).json
    assert "…" in texts(compacted)
    started = hooked.post("/conversations/others/sub-agents", {"task": "Look.", "message": "swordfish"}).json
    assert texts(started) == ["…", "The tower is clear."]


def test_other_requests_call_no_hook(hooked, receiver):
    hooked.conversation("quiet", "construct")
    hooked.conversation("quiet", "reload")
    hooked.get("/conversations/quiet")
    hooked.post("/show", {"cwd": ""})
    assert receiver.take() == []


def test_a_hook_that_fails_is_reported_and_skipped(start, receiver):
    options = ("--hook", f"context={receiver.url}/error?planted", "--hook", f"context={receiver.url}/context")
    server = start(*options, environment={"FOREWORD_HOOK_SECRET": SECRET})
    turn = server.conversation("skipped", message="hello").json
    assert failures(turn) == [
        "extension 'hook 1': context raised HookError (the response has status 500 instead of 200 or 204) and was skipped"
    ]
    assert texts(turn) == ["hello", "The tower is clear."]
    assert 'foreword_findings_total{code="extension-failed"} 1' in server.get("/metrics").body.decode()


def test_a_required_hook_that_fails_stops_the_turn(hooked, receiver):
    """What the other hooks have returned is not stored."""
    response = hooked.conversation("stopped", message="launch and fail")
    assert (response.status, response.problem) == (502, "hook-failed")
    assert response.json["detail"] == (
        "extension 'hook 3': context returned nothing; a required hook must return the messages to send"
    )
    assert [path for path, _ in receiver.take()] == ["/start?planted", "/context", "/redact?planted"]
    assert "Launched" not in hooked.conversation("stopped", messages=MESSAGES).json["system"]


def test_a_required_hook_that_cannot_be_reached_stops_the_turn(start):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/planted"
        server = start("--required-hook", f"before_agent_start={url}", environment={"FOREWORD_HOOK_SECRET": SECRET})
        response = server.conversation("unreachable", message="hello")
        follow_up = server.conversation("unreachable", messages=MESSAGES)
    assert (response.status, response.problem, follow_up.status) == (502, "hook-failed", 200)
    assert "before_agent_start raised HookError (the connection was refused);" in response.json["detail"]
    (line,) = server.lines(response.headers["x-request-id"])
    assert "HookError (the connection was refused)" in line["problem"]


def test_a_request_cannot_name_a_hook(hooked):
    for field in ("hook", "hooks", "required_hook"):
        assert hooked.conversation("naming", **{field: "context=https://a"}).problem == "invalid-body"
    assert hooked.conversation("naming", settings={"hook": "context=https://a"}).problem == "invalid-layout"


@pytest.fixture(scope="module")
def waiting(start, receiver):
    """A service whose hook does not respond, with a time limit that is shorter than the hook's."""
    options = ("--hook", f"context={receiver.url}/silent", "--hook-time-limit", "600", "--time-limit", "2")
    return start(*options, environment={"FOREWORD_HOOK_SECRET": SECRET})


def test_the_time_limit_of_a_request_ends_a_call(waiting, receiver):
    response = waiting.conversation("late", message="hello")
    assert (response.status, response.problem) == (504, "timeout")
    assert receiver.ended.acquire(timeout=TIMEOUT)


def test_a_client_that_disconnects_ends_a_call(waiting, receiver):
    body = json.dumps({"cwd": "", "message": "hello"}).encode()
    head = f"POST /conversations/gone/turn HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: gone\r\nContent-Length: {len(body)}"
    with socket.create_connection(("127.0.0.1", waiting.port)) as connection:
        connection.sendall(head.encode() + b"\r\n\r\n" + body)
        assert receiver.has_requests()
    assert receiver.ended.acquire(timeout=TIMEOUT)
    assert waiting.lines("gone")[0]["status"] == 499


def test_other_requests_are_answered_while_hooks_wait(start, receiver):
    """More turns wait for a hook than there are threads for building and reading."""
    options = ("--hook", f"context={receiver.url}/silent", "--hook-time-limit", "600")
    server = start(*options, environment={"FOREWORD_HOOK_SECRET": SECRET})
    body = json.dumps({"cwd": "", "message": "hello"})
    head = "POST /conversations/{}/turn HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}"
    waiting = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    for number, connection in enumerate(waiting):
        connection.sendall(head.format(number, len(body), body).encode())
    assert receiver.has_requests(32)
    assert server.conversation("built", "construct").status == 200
    assert server.request("PUT", "/system-prompt", {"template": "New."}).status in (200, 201)
    assert server.post("/system-prompt/preview", {"template": "New."}).json["text"] == "New."
    for connection in waiting:
        connection.close()
    for _ in range(32):
        assert receiver.ended.acquire(timeout=TIMEOUT)


async def _fill():
    lanes = Lanes(1, 1)
    submitted = [lanes.submit(Job(lambda: time.sleep(0)), HOOKS) for _ in range(160)]
    with pytest.raises(Problem, match="128 turns are already waiting for hooks; try again later"):
        lanes.submit(Job(print), HOOKS)
    for future in submitted:
        await future
    lanes.close()


def test_the_queue_for_hooks_is_bounded():
    import asyncio

    asyncio.run(_fill())


@pytest.mark.parametrize("way", ["environment", "file"])
def test_hooks_can_be_configured(start, receiver, tmp_path, way):
    environment = {"FOREWORD_HOOK_SECRET": SECRET}
    if way == "environment":
        environment["FOREWORD_HOOK"] = f"before_agent_start={receiver.url}/start,context={receiver.url}/context"
        environment["FOREWORD_REQUIRED_HOOK"] = f"context={receiver.url}/redact"
        environment["FOREWORD_HOOK_TIME_LIMIT"] = "60"
        options = []
    else:
        (tmp_path / "serve.toml").write_text(
            f'hook-time-limit = 60\nrequired-hook = "context={receiver.url}/redact"\n'
            f'[hook]\nbefore_agent_start = "{receiver.url}/start"\ncontext = "{receiver.url}/context"\n'
        )
        options = ["--config", str(tmp_path / "serve.toml")]
    server = start(*options, environment=environment)
    turn = server.conversation("configured", message="launch swordfish").json
    assert texts(turn) == ["launch …", "Start with edition 1.", "The tower is clear."]
    server.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hook", "context=https://a"], "hooks need FOREWORD_HOOK_SECRET"),
        (["--required-hook", "contxt=https://a"], "--required-hook needs HOOK=URL, where HOOK is"),
        (["--hook-time-limit", "0"], "--hook-time-limit must be between 0.1 and 600 seconds, not 0"),
    ],
)
def test_an_invalid_option_is_refused_at_the_start(tmp_path, options, message):
    command = [sys.executable, "-m", "foreword", "serve", "--port", "0", "--root", str(tmp_path), "--store", ":memory:"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    result = subprocess.run([*command, *options], capture_output=True, text=True, env=environment, timeout=60)
    assert result.returncode == 2 and message in result.stderr, result
