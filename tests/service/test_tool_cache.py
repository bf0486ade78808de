"""Requests with the same tools share what was parsed from them, and nothing else."""

import io
import json
from contextlib import closing

import msgspec
import pytest

from foreword.conversation import agents
from foreword.conversation.tools import serialize_tools
from foreword.errors import APIS
from foreword.service import conversations
from foreword.service.application import Application
from foreword.service.bodies import TurnBody
from foreword.service.guard import RequestGuard
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.request import Request, parse_body
from foreword.service.responses import Problem, to_json
from foreword.service.routes import ROUTES
from foreword.service.service import Service
from foreword.service.tool_cache import SharedTools

TOOLS = [{"name": f"tool_{number}", "description": "Reads a file. " * 5} for number in range(3)]


def body(tools=TOOLS, **more):
    return json.dumps({"cwd": "w", "message": "hi", "tools": tools, **more}).encode()


def test_equal_tools_are_parsed_once():
    first, second = (parse_body(body(message=message), TurnBody) for message in ("one", "two"))
    assert isinstance(first.tools, SharedTools)
    assert first.tools is second.tools
    assert (first.message, second.message) == ("one", "two")


def test_a_body_from_the_cache_equals_the_body_itself():
    for content in (body(), body(), body(model="m", messages=[{"role": "user", "content": json.dumps(TOOLS)}])):
        assert parse_body(content, TurnBody) == msgspec.json.decode(content, type=TurnBody)


def test_turns_with_equal_tools_write_them_as_json_once(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(agents, "serialize_tools", lambda tools: written.append(tools) or serialize_tools(tools))
    service = Service(":memory:", [str(tmp_path)])
    tools = [{"name": "written_once", "description": "Reads a file. " * 10}]
    with closing(service.conversations):
        for id in ("one", "two", "one", "two"):
            conversations.turn(service, Request({"id": id}, [], None, parse_body(body(tools, cwd=""), TurnBody)))
    assert len(written) == 1


@pytest.mark.parametrize("api", [*APIS, None])
def test_turns_with_equal_tools_share_their_definitions_unchanged(tmp_path, api):
    service = Service(":memory:", [str(tmp_path)])
    schema = {"type": "object", "properties": {"path": {"type": ["string", "null"]}}, "additionalProperties": False}
    content = body([{"name": "read", "description": "Reads. " * 20, "schema": schema}], cwd="", form=api)
    with closing(service.conversations):
        responses = [
            conversations.turn(service, Request({"id": id}, [], None, parse_body(content, TurnBody)))
            for id in ("one", "two", "one")
        ]
        tools = json.loads(service.conversations.store.current("one").tools)
        assert all(json.loads(to_json(response.body))["tools"] == tools for response in responses)
        assert len({id(response.body["tools"]) for response in responses}) == 1
        turn = service.conversation("two", parse_body(content, TurnBody)).turn("hi")
    assert list(turn.tools) == tools


@pytest.mark.parametrize("tools", [None, [], [{"name": "short"}]])
def test_short_lists_are_not_shared(tools):
    assert not isinstance(parse_body(body(tools), TurnBody).tools, SharedTools)


def test_tools_that_also_occur_elsewhere_are_not_shared():
    content = body(messages=[{"role": "user", "content": TOOLS}])
    assert content.count(json.dumps(TOOLS).encode()) == 2
    assert parse_body(content, TurnBody) == msgspec.json.decode(content, type=TurnBody)


def test_something_else_may_begin_like_the_tools():
    content = body(messages=[{"role": "user", "content": [*TOOLS, {"type": "text"}]}])
    for _ in range(2):
        assert parse_body(content, TurnBody) == msgspec.json.decode(content, type=TurnBody)


def test_the_rest_of_a_body_is_still_checked():
    parse_body(body(), TurnBody)
    for content in (body(cwd=7), body(unknown=1), body([*TOOLS, {"name": ""}]), body()[:-1], body() + b"x"):
        with pytest.raises(Problem):
            parse_body(content, TurnBody)


def test_no_tools_are_kept_once_the_store_has_forgotten_something(tmp_path):
    service = Service(":memory:", [str(tmp_path)])
    with closing(service.conversations):
        Application(service, RequestGuard(), Log(stream=io.StringIO()), Metrics(ROUTES))
        request = Request({"id": "42"}, [], None, parse_body(body(cwd=""), TurnBody))
        conversations.turn(service, request)
        service.conversations.forget("42")
    assert parse_body(body(), TurnBody).tools is not request.body.tools
    assert conversations._encoded_tools == {}
