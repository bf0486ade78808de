"""`foreword proxy` as a process, and its options."""

from __future__ import annotations

import http.client
import io
import json
import signal
import subprocess
import sys
import threading
from contextlib import closing

import pytest

from foreword.cli import main
from foreword.cli.proxy import Printer, parse_upstream
from foreword.errors import CallError
from foreword.service.proxy.observer import CallReport
from foreword.service.proxy.server import Upstream


@pytest.mark.parametrize(
    ("url", "expected", "authority"),
    [
        ("https://api.anthropic.com", Upstream("api.anthropic.com", 443, True), "api.anthropic.com"),
        ("http://localhost:11434/", Upstream("localhost", 11434, False), "localhost:11434"),
        ("https://gateway.example/llm/", Upstream("gateway.example", 443, True, "/llm"), "gateway.example"),
        ("http://[::1]:80", Upstream("::1", 80, False), "[::1]"),
    ],
)
def test_the_upstream_url_is_parsed(url, expected, authority):
    assert parse_upstream(url) == expected
    assert expected.authority == authority


@pytest.mark.parametrize(
    "url",
    ["", "api.anthropic.com", "ftp://x", "https://", "https://u:p@x", "http://x:y", "https://x?a=b"]
    + ["https://x/€", "https://x/a b", f"https://{'x' * 64}", "https://x..y"],
)
def test_an_invalid_upstream_is_refused(url):
    with pytest.raises(
        CallError, match=r"^--upstream must be the URL of a provider, such as https://api\.anthropic\.com"
    ):
        parse_upstream(url)


def test_an_invalid_port_is_refused(capsys):
    assert main(["proxy", "--upstream", "https://x", "--port", "70000"]) == 2
    assert "--port must be a number from 0 to 65535, not 70000" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["", "a..b"])
def test_a_bad_host_is_refused(capsys, host):
    assert main(["proxy", "--upstream", "https://x", "--port", "0", "--host", host]) == 2
    assert f"--host must be an address to listen on, such as 127.0.0.1, not '{host}'" in capsys.readouterr().err


def test_closed_or_blocked_output_does_not_stop_the_proxy(monkeypatch):
    release = threading.Event()

    class Stuck(io.StringIO):
        def write(self, _):
            release.wait(20)
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Stuck())
    printer = Printer(is_json=True)
    for _ in range(2000):
        printer(CallReport("anthropic", 200))
    release.set()
    printer.close()
    assert not printer._thread.is_alive()


def test_the_command_forwards_until_it_is_stopped(provider):
    answer = b'{"usage": {"input_tokens": 5, "cache_read_input_tokens": 0, "output_tokens": 1}}'
    provider.answer = lambda handler: handler.send(answer)
    command = [sys.executable, "-m", "foreword", "proxy", "--json", "--port", "0", "--upstream"]
    command.append(f"http://127.0.0.1:{provider.server_port}")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = json.loads(process.stdout.readline())["url"]
            with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)) as connection:
                connection.request(
                    "POST", "/v1/messages", '{"model": "m", "messages": [{"role": "user", "content": "Hi."}]}'
                )
                assert connection.getresponse().read() == answer
                line = json.loads(process.stdout.readline())
                assert (line["conversation"], line["model"], line["input"], line["hit_rate"]) == ("#1", "m", 5, 0.0)
                process.send_signal(signal.SIGTERM)
                output, errors = process.communicate(timeout=20)
            assert (process.returncode, output, errors) == (0, "", "")
        finally:
            process.kill()
