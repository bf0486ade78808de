"""`foreword mcp --http`, asked by the official client, and refusing what `foreword serve` refuses."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import subprocess

import pytest
from mcp.client.streamable_http import streamable_http_client

from foreword.errors import CallError
from foreword.service.guard import RequestGuard
from foreword.service.log import Log
from foreword.service.mcp import transports
from foreword.service.mcp.content import McpContent
from foreword.service.mcp.server import create_server
from foreword.service.responses import Problem
from foreword.service.service import Service
from foreword.service.tokens import Tokens

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(scope="module")
def server(command, variables):
    process = subprocess.Popen(command("--http", "127.0.0.1:0"), stdout=subprocess.PIPE, text=True, env=variables)
    yield process.stdout.readline().split()[-1]
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    process.stdout.close()


def post(url, body, **headers):
    host, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=60)
    accept = "application/json, text/event-stream"
    connection.request(
        "POST", f"/{path}", json.dumps(body), {"Content-Type": "application/json", "Accept": accept, **headers}
    )
    response = connection.getresponse()
    content = response.status, response.headers["Content-Type"], response.read().decode()
    connection.close()
    return content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_get_the_same_answers_as_from_the_content_itself(server, workspace, ask_everything, mode):
    answers = ask_everything(streamable_http_client(server), mode)
    content = content_of(workspace)
    assert answers["prompt"] == content.prompt()
    assert answers["why"] == (False, content.call("why", {"path": "api/AGENTS.md"}).text)
    assert answers["read_plan"] == (False, "1. Read.")
    assert [entry["uri"] for entry in answers["skills"]] == ["skill://greet/SKILL.md"]


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ({"Host": "evil.example"}, "foreign-host"),
        ({"Origin": "https://evil.example"}, "foreign-origin"),
        ({"Sec-Fetch-Site": "cross-site"}, "foreign-origin"),
    ],
)
def test_requests_from_other_sites_are_refused(server, headers, kind):
    status, content_type, body = post(server, INITIALIZE, **headers)
    assert (status, content_type) == (403, "application/problem+json")
    assert json.loads(body)["type"] == f"urn:foreword:problem:{kind}"


def test_a_path_other_than_the_endpoint_does_not_exist(server):
    assert post(server + "/other", INITIALIZE)[0] == 404


def test_with_a_token_requests_without_it_are_refused(workspace):
    application = transports.McpApplication(
        create_server(content_of(workspace)), RequestGuard(Tokens("planted")), Log()
    )
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "raw_path": b"/mcp", "headers": [(b"host", b"localhost")]}
    asyncio.run(application(scope, None, send))
    assert sent[0]["status"] == 401
    assert (b"www-authenticate", b"Bearer") in sent[0]["headers"]


def test_an_address_that_others_can_reach_needs_a_token(monkeypatch):
    monkeypatch.delenv("FOREWORD_TOKEN", raising=False)
    with pytest.raises(CallError, match=r"^--http 0\.0\.0\.0: anyone who can reach this address"):
        transports.serve_http(None, "0.0.0.0", 0, (), None, None)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("", ("127.0.0.1", 8373)),
        (":0", ("127.0.0.1", 0)),
        ("localhost", ("localhost", 8373)),
        ("0.0.0.0:80", ("0.0.0.0", 80)),
        ("[::1]:80", ("::1", 80)),
        ("[::1]", ("::1", 8373)),
    ],
)
def test_addresses(text, address):
    assert transports.parse_address(text) == address


def content_of(workspace, conversation="", **fields):
    shop = str(workspace / "shop")
    service = Service(":memory:", [shop], home=str(workspace / "home"))
    return McpContent(
        service, {"cwd": shop, "home": str(workspace / "home"), "store": ":memory:", **fields}, conversation
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("why", {"path": "../secret.txt"}),
        ("why", {"path": "/etc/passwd"}),
        ("why", {"path": "AGENTS.md", "for": "../secret.txt"}),
        ("why", {"path": "AGENTS.md", "cwd": ".."}),
        ("touch", {"paths": ["../secret.txt"]}),
        ("touch", {"paths": ["a.py"], "cwd": "/"}),
    ],
)
def test_tools_refuse_paths_outside_the_served_folders(workspace, tool, arguments):
    result = content_of(workspace).call(tool, arguments)
    assert result.is_error
    assert "is outside the served folders" in result.text


@pytest.mark.parametrize("name", ["../shop/AGENTS.md", "./mine.toml"])
def test_a_client_cannot_name_a_layout_file(workspace, name):
    with pytest.raises(Problem, match="it cannot be a file"):
        content_of(workspace).prompt(name)


def test_only_a_conversation_remembers_what_the_client_was_sent(workspace):
    paths = {"paths": ["api/routes.py"]}
    forgetful, remembering = content_of(workspace), content_of(workspace, "fix-tests")
    assert forgetful.call("touch", paths) == forgetful.call("touch", paths)
    first, second = remembering.call("touch", paths), remembering.call("touch", paths)
    assert "Every route has a test." in first.text
    assert second.text == "No further instructions apply to these files."
