"""`foreword mcp --http`, asked by the official client, and refusing what `foreword serve` refuses."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import re
import signal
import subprocess
import threading
from types import SimpleNamespace

import mcp_types as types
import pytest
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from foreword.cli import main
from foreword.errors import CallError, MissingError
from foreword.service.guard import RequestGuard
from foreword.service.log import Log
from foreword.service.mcp import transports
from foreword.service.mcp.content import McpContent, McpContents
from foreword.service.mcp.server import create_server
from foreword.service.responses import Problem
from foreword.service.service import Service
from foreword.service.tokens import Caller, Tokens, hash_token
from foreword.store.listing import ConversationQuery
from foreword.store.rows import TemplateVersion

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


class Teams:
    """A server in this process with two teams and a token that may only read. All of team A's text contains `planted`."""

    def __init__(self, folder):
        for team in "ab":
            (folder / team).mkdir()
            (folder / team / "AGENTS.md").write_text(f"{'planted' if team == 'a' else 'other'} instructions\n")
        (folder / "b" / "out").symlink_to(folder / "a")
        row = '[[token]]\nname = "{0}"\nhash = "{1}"\nrights = {2}\n'
        rights = '["read", "turn"]'
        rows = [
            row.format("a", hash_token(b"a").decode(), rights) + 'team = "a"\nroots = ["a"]',
            row.format("b", hash_token(b"b").decode(), rights) + 'team = "b"\nroots = ["b"]',
            row.format("r", hash_token(b"r").decode(), '["read"]'),
        ]
        (folder / "tokens.toml").write_text("\n".join(rows))
        self.folder, self.log = folder, io.StringIO()
        service = Service(f"{folder}/store.db", [str(folder)], home=str(folder))
        self.store = service.conversations.store
        fields = {"cwd": str(folder), "home": str(folder), "layout": "builder"}
        self.contents = McpContents(service, fields, "chat")
        self.guard = RequestGuard(Tokens("", str(folder / "tokens.toml")), ["localhost"])

    def send(self, token, *bodies, method="POST", headers=(), chunks=None):
        """Send requests one after the other, and return the status and the content of each response."""
        return asyncio.run(self._send(token, bodies, method, headers))

    async def _send(self, token, bodies, method, headers):
        application = transports.McpApplication(self.contents, self.guard, Log(stream=self.log), time_limit=60)
        queue, answers = asyncio.Queue(), []
        await queue.put({"type": "lifespan.startup"})
        running = asyncio.create_task(application({"type": "lifespan", "state": {}}, queue.get, queue_nothing))
        await asyncio.sleep(0)
        for body in bodies:
            answers.append(await self._answer(application, token, body, method, headers))
        await queue.put({"type": "lifespan.shutdown"})
        await running
        return answers

    async def _answer(self, application, token, body, method, headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent, messages = [], [{"type": "http.request", "body": data}]

        async def send(message):
            sent.append(message)

        async def receive():
            return messages.pop() if messages else await asyncio.Event().wait()

        common = [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"accept", b"application/json, text/event-stream"),
        ]
        if token:
            common.append((b"authorization", b"Bearer " + token.encode()))
        scope = {"type": "http", "method": method, "raw_path": b"/mcp", "path": "/mcp", "query_string": b""}
        await application({**scope, "headers": [*common, *headers]}, receive, send)
        text = b"".join(message.get("body", b"") for message in sent).decode()
        return sent[0]["status"], json.loads(text) if text else None


async def queue_nothing(message):
    pass


def rpc(method, /, **params):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def read(uri):
    return rpc("resources/read", uri=uri)


def tool(name, /, **arguments):
    return rpc("tools/call", name=name, arguments=arguments)


@pytest.fixture(scope="module")
def teams(tmp_path_factory):
    teams = Teams(tmp_path_factory.mktemp("teams"))
    for team, text in (("", "global"), ("a", "planted template"), ("b", "template of B")):
        teams.store.for_team(team).add_template(TemplateVersion(0, text))
    ((status, answer),) = teams.send("a", tool("write_plan", plan="planted plan"))
    assert (status, answer["result"]["isError"]) == (200, False)
    yield teams
    teams.store.close()


def test_with_tokens_requests_without_one_are_refused(teams):
    ((missing, _),) = teams.send("", INITIALIZE)
    ((wrong, _),) = teams.send("wrong", INITIALIZE)
    assert (missing, wrong) == (401, 401)


def test_each_team_has_its_own_folder_template_and_conversation(teams):
    requests = read("foreword://prompt"), tool("read_plan"), read("foreword://prompt/foreword"), rpc("resources/list")
    (_, prompt), (_, plan), (_, own), (_, resources) = teams.send("b", *requests)
    assert prompt["result"]["contents"][0]["text"] == "template of B"
    assert plan["result"]["content"][0]["text"] == "There is no plan yet."
    assert "other instructions" in own["result"]["contents"][0]["text"]
    assert "planted" not in json.dumps([prompt, plan, own, resources])
    (_, prompt), (_, plan) = teams.send("a", *requests[:2])
    assert prompt["result"]["contents"][0]["text"] == "planted template"
    assert plan["result"]["content"][0]["text"] == "planted plan"
    assert [row.id for row in teams.store.for_team("a").conversations(ConversationQuery()).rows] == ["chat"]


@pytest.mark.parametrize(
    "request_body",
    [
        read("file:///etc/passwd"),
        read("skill://../../a/AGENTS.md"),
        read("skill://x/../../../a/AGENTS.md"),
        read("skill://%2e%2e/AGENTS.md"),
        read("foreword://prompt/../a"),
        read("foreword://prompt/%2e%2e%2fa%2fx.toml"),
        tool("why", path="../a/AGENTS.md"),
        tool("why", path="out/AGENTS.md"),
        tool("why", cwd="../a"),
        tool("touch", paths=["out/x.py"]),
        tool("touch", paths=["x.py"], cwd="out"),
        tool("use_skill", name="../a"),
        rpc("prompts/get", name="../a/x.toml"),
        rpc("skills/get", uri="skill://../AGENTS.md"),
    ],
    ids=str,
)
def test_a_client_cannot_leave_the_folders_of_its_token(teams, request_body):
    ((status, answer),) = teams.send("b", request_body)
    assert status == 200
    assert "error" in answer or answer["result"]["isError"]
    assert "planted" not in json.dumps(answer) and "root:" not in json.dumps(answer)


def test_a_token_that_may_only_read_cannot_write_a_plan(teams):
    requests = tool("write_plan", plan="x"), tool("touch", paths=["a/x.py"]), tool("read_plan")
    (_, written), (_, touched), (_, plan) = teams.send("r", *requests)
    assert "needs the right 'turn'" in written["result"]["content"][0]["text"]
    assert "needs the right 'turn'" in touched["result"]["content"][0]["text"]
    assert plan["result"]["content"][0]["text"] == "There is no plan yet."


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"planted", 400),
        ([rpc("ping"), rpc("ping")], 400),
        (rpc("planted/method"), 200),
        (b"[" * 100_000, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400),
        (b"\xff\xfe", 400),
        (tool("why", path="\0"), 200),
        (tool("touch", paths=["x"] * 1001), 200),
    ],
    ids=lambda value: str(value)[:30],
)
def test_malformed_requests_are_errors(teams, body, status):
    ((answered, content),) = teams.send("b", body)
    assert (answered, "error" in content or content["result"]["isError"]) == (status, True)
    assert "bug in the server" not in json.dumps(content)


def test_there_are_no_sessions_to_steal_or_to_exhaust(teams):
    wrong = [(b"mcp-session-id", b"planted")]
    assert teams.send("b", rpc("ping"), headers=wrong) == [(200, {"jsonrpc": "2.0", "id": 1, "result": {}})]
    assert [teams.send("b", b"", method=method)[0][0] for method in ("GET", "DELETE", "PUT")] == [405, 405, 405]


def test_bodies_that_are_too_large_are_refused(teams):
    assert teams.send("b", b" " * (4 * 1024 * 1024 + 1))[0][0] == 413


def test_the_log_names_the_token_but_not_the_text(teams):
    teams.send("b", tool("why", path="secret words"))
    line = teams.log.getvalue().splitlines()[-1]
    assert " 200 POST /mcp " in line and line.endswith("  token b")
    assert "secret" not in teams.log.getvalue()


def test_the_number_of_requests_in_progress_is_bounded_for_each_token(teams):
    application = transports.McpApplication(teams.contents, teams.guard, Log(stream=io.StringIO()))
    scope, caller = {"raw_path": b"/mcp", "method": "POST"}, Caller("b")
    application._running["b"] = transports._MAX_REQUESTS_PER_TOKEN
    with pytest.raises(Problem, match="with this token are already being answered"):
        application._check(scope, caller)
    application._check(scope, Caller("a"))
    application._running["c"] = transports._MAX_REQUESTS
    with pytest.raises(Problem, match="requests are already being answered"):
        application._check(scope, Caller("a"))


def test_work_that_takes_too_long_is_an_error(teams, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(McpContent, "prompt", lambda self, layout="": str(release.wait(60)))
    server = create_server(lambda request: teams.contents.of(), time_limit=0.01)
    entry = server.get_request_handler("resources/read")
    params = types.ReadResourceRequestParams(uri="foreword://prompt")
    try:
        with pytest.raises(MCPError, match=r"longer than 0\.01 seconds"):
            asyncio.run(entry.handler(SimpleNamespace(request=None), params))
    finally:
        release.set()


def test_an_error_in_the_server_is_logged_and_not_sent(teams, monkeypatch):
    monkeypatch.setattr(McpContent, "prompt", lambda self, layout="": {}["planted"])
    ((_, answer),) = teams.send("b", read("foreword://prompt"))
    assert answer["error"]["message"] == "this is a bug in the server; see its log"
    assert "KeyError in foreword" in teams.log.getvalue() and "planted" not in teams.log.getvalue()


def test_an_address_that_others_can_reach_needs_a_token(monkeypatch):
    monkeypatch.delenv("FOREWORD_TOKEN", raising=False)
    with pytest.raises(CallError, match=r"^--http 0\.0\.0\.0: anyone who can reach this address"):
        transports.serve_http(None, transports.HttpOptions("0.0.0.0", 0), None, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tokens", "tokens.toml"], "--tokens and --rate-limit need --http"),
        (
            ["--http", ":0", "--tokens", "tokens.toml", "--scope", "scope.json"],
            "--scope and --tokens cannot be combined",
        ),
        (["--http", ":0", "--rate-limit", "-1"], "--rate-limit must be between 0 and"),
        (["--http", ":0", "--tokens", "missing.toml"], "--tokens .*missing.toml: No such file or directory"),
    ],
)
def test_options_that_cannot_be_used_together_are_refused(workspace, monkeypatch, capsys, options, message):
    (workspace / "scope.json").write_text('{"allow": []}')
    monkeypatch.chdir(workspace)
    assert main(["mcp", "shop", "--store", ":memory:", *options]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_a_root_is_served_besides_the_directory(workspace, monkeypatch):
    (workspace / "docs").mkdir()
    (workspace / "docs" / "AGENTS.md").write_text("Write briefly.\n")
    answers = []
    asked = [{"path": "AGENTS.md"}, {"path": "AGENTS.md", "cwd": "../docs"}]
    monkeypatch.setattr(
        transports, "serve_stdio", lambda contents, _: answers.extend(contents.of().call("why", each) for each in asked)
    )
    assert main(["mcp", str(workspace / "shop"), "--root", str(workspace / "docs"), "--store", ":memory:"]) == 0
    assert [
        f"used: {workspace / folder / 'AGENTS.md'}" in answer.text
        for answer, folder in zip(answers, ("shop", "docs"), strict=True)
    ] == [True, True]


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


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("why", {"file": "a.py"}, "why has no argument 'file'; it accepts path, for, cwd"),
        ("why", {"path": 1}, "why: path must be a string, not 1"),
        ("why", {"path": ["a.py"]}, "why: path must be a string, not ['a.py']"),
        ("touch", {}, "touch needs the argument 'paths'"),
        ("touch", {"paths": "a.py"}, "touch: paths must be a list of strings, not 'a.py'"),
        ("touch", {"paths": []}, "touch: paths must be a list of strings, not []"),
        ("touch", {"paths": ["a.py", 1]}, "touch: paths must be a list of strings, not ['a.py', 1]"),
        ("touch", {"paths": ["a.py"] * 1001}, "touch: paths has 1,001 entries; the limit is 1,000"),
        ("touch", {"paths": ["a.py"], "how": "write"}, "touch: how must be one of read, edit, create, not 'write'"),
    ],
)
def test_arguments_that_do_not_match_the_schema_are_explained(workspace, tool, arguments, message):
    result = content_of(workspace).call(tool, arguments)
    assert (result.is_error, result.text, result.data) == (True, message, None)


def test_as_many_files_as_the_limit_may_be_touched_in_each_way(workspace):
    for how in ("read", "edit", "create"):
        assert not content_of(workspace).call("touch", {"paths": ["api/a.py"] * 1000, "how": how}).is_error


def test_what_does_not_exist_is_an_error(workspace):
    content = content_of(workspace)
    with pytest.raises(MissingError, match=r"no tool 'zap'; tools/list lists those that exist"):
        content.call("zap", {})
    with pytest.raises(MissingError, match=r"no resource 'skill://zap/SKILL.md'; resources/list and skills/list list"):
        content.read("skill://zap/SKILL.md")


@pytest.mark.parametrize(
    ("rights", "calls"),
    [
        (("read", "turn"), ""),
        (("read",), "touch write_plan"),
        (("turn",), "why read_plan"),
    ],
)
def test_a_call_that_stores_something_needs_the_right_for_turns(workspace, rights, calls):
    content = content_of(workspace, "fix-tests")
    content._service = content._service.view(Caller(rights=rights))
    arguments = {"why": {}, "touch": {"paths": ["a.py"]}, "read_plan": {}, "write_plan": {"plan": "1. Read."}}
    refused = [
        name for name, each in arguments.items() if "which the token does not have" in content.call(name, each).text
    ]
    assert sorted(refused) == sorted(calls.split())
