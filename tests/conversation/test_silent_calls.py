"""Calls that would do the wrong thing without a word: each is an error that says what would be right, or a finding."""

import os
import sys
from datetime import UTC, date, datetime, tzinfo

import pytest

from foreword import (
    Agent,
    CallError,
    Conversations,
    Tool,
    Workspace,
    assemble,
    for_anthropic,
    for_gemini,
    for_openai_chat,
    for_openai_responses,
    watch,
)
from foreword.extensions import Resources

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
REQUESTS = [for_anthropic, for_gemini, for_openai_chat, for_openai_responses]


# Tools in the forms of others


@pytest.mark.parametrize(
    "definition",
    [
        {"name": "read", "description": "Read.", "schema": SCHEMA},
        {"name": "read", "description": "Read.", "input_schema": SCHEMA},
        {"type": "custom", "name": "read", "description": "Read.", "input_schema": SCHEMA},
        {"type": "function", "function": {"name": "read", "description": "Read.", "parameters": SCHEMA}},
        {"type": "function", "name": "read", "description": "Read.", "parameters": SCHEMA, "strict": None},
        {"function_declarations": [{"name": "read", "description": "Read.", "parameters_json_schema": SCHEMA}]},
        {
            "functionDeclarations": [
                {
                    "name": "read",
                    "description": "Read.",
                    "parameters": {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}},
                }
            ]
        },
        {"toolSpec": {"name": "read", "description": "Read.", "inputSchema": {"json": SCHEMA}}},
        {"toolSpec": {"name": "read", "description": "Read.", "inputSchema": SCHEMA}},
        {"name": "read", "description": "Read.", "inputSchema": {"json": SCHEMA}},
        {"name": "read", "description": "Read.", "parameters": SCHEMA},
        {
            "name": "read",
            "title": "Read",
            "description": "Read.",
            "inputSchema": SCHEMA,
            "annotations": {"readOnlyHint": True},
        },
    ],
)
def test_tools_are_accepted_in_every_providers_form(tree, definition):
    tool = Tool("read", "Read.", schema=SCHEMA)
    assert Agent(tools=[definition]).tools == (tool,)
    conversation = Conversations().open("c", tree.workspace(), layout="pi")
    conversation.set_active_tools([definition])
    assert conversation.turn("Hi").tools == ({"name": "read", "description": "Read.", "schema": SCHEMA},)
    assert conversation.sub_agent("Look.", [definition]).tools == conversation.turn("Hi").tools


def test_tools_that_gemini_defines_are_accepted():
    agent = Agent(tools=[{"googleSearch": {}, "url_context": {}}, {"name": "read"}])
    rows = [(tool.name, tool.type, tool.options) for tool in agent.tools]
    assert rows == [("googleSearch", "googleSearch", {}), ("url_context", "url_context", {}), ("read", "", None)]


def test_tools_that_bedrock_defines_are_accepted():
    row = {"systemTool": {"name": "nova_grounding"}}
    assert Agent(tools=[row]).tools == (Tool("nova_grounding", type="systemTool"),)


def test_a_parameter_may_be_named_like_a_wrapper():
    schema = {"type": "object", "properties": {"json": SCHEMA}, "required": ["json"]}
    assert Agent(tools=[{"name": "x", "inputSchema": schema}]).tools == (Tool("x", schema=schema),)
    assert Tool("x", schema={"json": True}).schema == {"json": True}


def test_tools_that_a_provider_defines_keep_their_type_and_options():
    search = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    assert Agent(tools=[search]).tools == (Tool("web_search", type=search["type"], options={"max_uses": 5}),)
    google = {"functionDeclarations": [{"name": "read"}], "google_search": {}}
    assert Agent(tools=[google]).tools == (Tool("read"), Tool("google_search", type="google_search", options={}))
    cached = {"name": "read", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}
    assert Agent(tools=[cached]).tools == (
        Tool("read", schema=SCHEMA, options={"cache_control": {"type": "ephemeral"}}),
    )


def test_a_value_of_a_providers_package_is_a_definition():
    class Value:
        def model_dump(self, exclude_none):
            return {"name": "read", "inputSchema": SCHEMA}

    assert Agent(tools=[Value()]).tools == (Tool("read", schema=SCHEMA),)


# Errors


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: Tool("x", parameters=SCHEMA), TypeError, "did you mean schema?"),
        (lambda: Tool("x", schema={"type": "function", "function": {"name": "x"}}), CallError, "whole tool definition"),
        (
            lambda: Tool("x", schema={"type": "json_schema", "json_schema": {"schema": {}}}),
            CallError,
            "pass its 'json_schema'",
        ),
        (lambda: Tool("x", schema={"name": "x", "strict": True, "schema": {}}), CallError, "pass its 'schema'"),
        (lambda: Tool("x", schema={"name": "x", "parameters": SCHEMA}), CallError, "pass its 'parameters'"),
        (lambda: Tool("x", schema={"json": SCHEMA}), CallError, "wrapped in 'json', as in Bedrock's inputSchema"),
        (
            lambda: Tool("x", schema={"toolSpec": {"inputSchema": {"json": SCHEMA}}}),
            CallError,
            "pass the 'json' in its 'inputSchema'",
        ),
        (lambda: Agent(tools=[{"name": "x", "schema": {"json": SCHEMA}}]), CallError, "wrapped in 'json'"),
        (lambda: Agent(tools=[{"name": "x", "schema": {}, "parameters": {}}]), CallError, "several schemas"),
        (lambda: Agent(tools=[{"nme": "x"}]), CallError, "is not a tool definition"),
        (lambda: Agent(tools=[3]), CallError, "not of int"),
        (
            lambda: Workspace("/", platform="windows"),
            CallError,
            "'windows' is not the name of a platform as in sys.platform; did you mean 'win32'?",
        ),
        (lambda: Workspace("/", platform="Linux"), CallError, "did you mean 'linux'?"),
        (lambda: Workspace("/", platform="macOS"), CallError, "did you mean 'darwin'?"),
        (lambda: Workspace("/", platform="x"), CallError, "known: aix, android, "),
        (lambda: Conversations("sqlite:////nope/x.db"), CallError, "there is no folder /nope; create it first"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(call, error, words):
    with pytest.raises(error) as raised:
        call()
    assert words in str(raised.value)
    assert not os.path.exists("/nope")


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32", "freebsd14", "sunos5", sys.platform, None])
def test_the_platforms_of_python_are_accepted(platform):
    assert Workspace("/", platform=platform).platform == platform


@pytest.mark.parametrize("text", [" ", "\n\t", "\u2003"])
def test_a_message_of_white_space_is_an_error(tree, text):
    conversation = Conversations().open("c", tree.workspace())
    history = [{"role": "user", "content": "Hi"}]
    for call in (
        lambda: conversation.turn(text),
        lambda: conversation.compact(text, history),
        lambda: conversation.send_message(text),
        lambda: conversation.sub_agent("Look.", message=text),
    ):
        with pytest.raises(CallError, match="contains only white space"):
            call()
    with pytest.raises(CallError, match="the message is empty"):
        conversation.send_message("")
    assert conversation.turn("Hi").messages == ({"role": "user", "content": "Hi"},)


BLANK_CONTENTS = ["", " \n", [], [""], [{"type": "text", "text": " "}], [{"text": ""}, {"type": "text", "text": "\t"}]]


@pytest.mark.parametrize("role", ["user", "system", "developer", "summary", "branch_summary", "custom"])
@pytest.mark.parametrize("content", BLANK_CONTENTS)
def test_a_blank_message_in_the_history_is_an_error(tree, role, content):
    conversation = Conversations().open("c", tree.workspace())
    history = [{"role": "user", "content": "Hi"}, {"role": role, "content": content}]
    for call in (
        lambda: conversation.turn(messages=history),
        lambda: conversation.compact(messages=history),
        lambda: conversation.drift(messages=history),
        lambda: conversation.sub_agent("Look.", messages=history),
    ):
        with pytest.raises(CallError, match=rf"message 2 \({role}\) is blank, which providers refuse; leave it out"):
            call()


@pytest.mark.parametrize("parts", BLANK_CONTENTS)
def test_a_blank_message_with_parts_is_an_error(tree, parts):
    with pytest.raises(CallError, match=r"message 1 \(user\) is blank"):
        Conversations().open("c", tree.workspace()).turn(messages=[{"role": "user", "parts": parts}])


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "1", "content": ""},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": ""}]},
        {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "image", "source": {}}]},
        {"role": "user", "parts": [{"text": "", "thoughtSignature": "x"}]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "assistant", "content": ""},  # a model may answer with nothing
        {"role": "model", "parts": []},
        {"role": "execution", "command": "true", "output": ""},
    ],
)
def test_tools_and_models_may_say_nothing(tree, message):
    history = [{"role": "user", "content": "Hi"}, message]
    assert len(Conversations().open("c", tree.workspace()).turn(messages=history).messages) == 2


@pytest.mark.parametrize(
    ("role", "hint"),
    [
        ("bot", "has the unknown role 'bot'; known roles: user, assistant, system, developer, tool"),
        ("User", "has the unknown role 'User'; did you mean 'user'?"),
        (None, "has no role; known roles: user, assistant, "),
    ],
)
def test_an_unknown_role_lists_the_usual_ones_first(tree, role, hint):
    with pytest.raises(CallError) as raised:
        Conversations().open("c", tree.workspace()).turn(messages=[{"role": role, "content": "Hi"}])
    assert hint in str(raised.value)


@pytest.mark.parametrize("function", REQUESTS)
def test_a_request_needs_a_message_but_a_turn_does_not(tree, function):
    turn = Conversations().open("c", tree.workspace(), layout="builder").turn()
    assert turn.system and turn.messages == ()
    with pytest.raises(CallError, match="the turn has no messages"):
        function(turn)


@pytest.mark.parametrize(
    ("provider", "right"),
    [
        ("Anthropic", {for_anthropic}),
        ("openai", {for_openai_chat, for_openai_responses}),
        ("gemini", {for_gemini}),
        ("openrouter", {*REQUESTS}),
        ("", {*REQUESTS}),
    ],
)
def test_a_request_for_another_provider_is_refused(tree, provider, right):
    conversation = Conversations().open("c", tree.workspace(), Agent(provider=provider), layout="builder")
    for turn in (conversation.turn("Hi"), conversation.compact("", [{"role": "user", "content": "Hi"}])):
        for function in right:
            assert function(turn)
        for function in {*REQUESTS} - right:
            with pytest.raises(CallError, match=rf"{function.__name__} is not for .*; use (for_\w+)") as raised:
                function(turn)
            assert all(other.__name__ in str(raised.value) for other in right)
    turn = conversation.sub_agent("Look.", message="Go")
    assert turn.provider == provider and all(function(turn) for function in right)


def test_a_conversation_may_change_its_provider(tree):
    conversations = Conversations()
    conversations.open("c", tree.workspace(), Agent(provider="anthropic"), layout="builder").turn("Hi")
    turn = conversations.open("c", tree.workspace(), Agent(provider="openai")).turn("Hi")
    assert for_openai_chat(turn)["messages"][-1] == {"role": "user", "content": "Hi"}
    with pytest.raises(CallError, match="for_anthropic is not for the agent's provider, openai"):
        for_anthropic(turn)


def test_anthropic_refuses_a_first_message_from_the_system(tree):
    conversation = Conversations().open("c", tree.workspace(), layout="builder")
    turn = conversation.turn("Hi", [{"role": "system", "content": "Be kind."}])
    with pytest.raises(CallError, match="pass its text as Agent"):
        for_anthropic(turn)
    assert for_openai_chat(turn)["messages"][1] == {"role": "system", "content": "Be kind."}


def test_closed_conversations_are_not_continued(tree):
    with Conversations() as conversations:
        conversation = conversations.open("c", tree.workspace(), layout="builder")
        conversation.turn("Hi")
    for call in (
        conversation.turn,
        conversation.construct,
        conversation.compact,
        lambda: conversations.get("c"),
        lambda: conversations.open("d", tree.workspace()),
        lambda: conversation.send_message("Lost."),
        lambda: conversation.set_active_tools([Tool("read")]),
        lambda: conversation.replace_tools([Tool("read")]),
        lambda: conversation.add_resources(Resources()),
    ):
        with pytest.raises(CallError, match="these conversations are closed"):
            call()


# A time without a zone


class _NoZone(tzinfo):
    """A time zone that does not know its offset, which makes a time as naive as one without a zone."""

    def utcoffset(self, moment):
        return None


@pytest.mark.parametrize(
    "call",
    [
        lambda conversation, now: conversation.turn("Hi", now=now),
        lambda conversation, now: conversation.construct(now),
        lambda conversation, now: conversation.reload(now),
        lambda conversation, now: conversation.compact(now=now),
        lambda conversation, now: conversation.drift(now),
        lambda conversation, now: conversation.preview(now=now),
        lambda conversation, now: conversation.record_usage({"input_tokens": 1, "output_tokens": 1}, now=now),
        lambda conversation, now: conversation.sub_agent("Look.", now=now),
        lambda conversation, now: assemble(conversation.assembler.workspace, layout="pi", now=now),
        lambda conversation, now: watch(conversation.assembler.workspace, None, "pi", print, now=now).stop(),
    ],
)
def test_a_time_needs_a_zone(tree, call):
    conversation = Conversations().open("c", tree.workspace(), layout="builder")
    conversation.turn("Hi")
    for now in (datetime(2026, 3, 7), datetime(2026, 3, 7, tzinfo=_NoZone())):
        with pytest.raises(
            CallError, match=r"now has no time zone: .*; pass datetime.now\(UTC\), or now.astimezone\(\)"
        ):
            call(conversation, now)
    with pytest.raises(CallError, match="now must be a datetime, not date"):
        call(conversation, date(2026, 3, 7))
    call(conversation, datetime(2026, 3, 7, tzinfo=UTC))


# Nothing to summarise


@pytest.mark.parametrize("layout", ["foreword", "builder"])
def test_a_request_for_a_summary_needs_the_history(tree, layout):
    conversation = Conversations().open("c", tree.workspace(), layout=layout)
    history = conversation.turn("Hi").history

    def codes(turn):
        return [finding.code for finding in turn.findings if finding.code == "compaction-empty"]

    (found,) = (found for found in conversation.compact().findings if found.code == "compaction-empty")
    assert found.severity == "warning" and "compact(messages=turn.history)" in found.message
    assert codes(conversation.compact("Shorter.")) == ["compaction-empty"]
    assert codes(conversation.compact(messages=history)) == []


# Another layout


def test_a_finding_says_whether_another_layout_is_used(tree):
    conversations = Conversations()

    def codes(layout):
        turn = conversations.open("c", tree.workspace(), layout=layout).turn("Hi")
        return turn.is_reused, [finding.code for finding in turn.findings if finding.code.startswith("layout-")]

    assert codes("builder") == (False, [])
    assert codes("builder") == (True, [])
    assert codes("foreword") == (True, ["layout-kept"])
    assert codes("") == (True, [])
    assert codes("opal") == (False, ["layout-rebuilt"])


# Touches


@pytest.fixture
def touched(tree):
    """A conversation, and the text of a touch."""
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/web/AGENTS.md": "Use “tabs”.\n"})
    conversation = Conversations().open("c", tree.workspace(), layout="foreword")
    conversation.turn("Hi")
    return conversation, conversation.touch(["web/a.py"]).text


def test_the_next_turn_sends_what_the_caller_forgot(touched):
    conversation, text = touched
    turn = conversation.turn("Go on")
    assert "Use “tabs”." in text
    assert turn.history == ({"role": "user", "content": text}, {"role": "user", "content": "Go on"})
    assert conversation.turn("Go on", turn.history).history[:2] == turn.history


@pytest.mark.parametrize(
    "message",
    [
        lambda text: {"role": "user", "content": text},
        lambda text: {"role": "tool", "content": f"the file\n\n{text}"},
        lambda text: {
            "role": "user",
            "content": [{"type": "tool_result", "content": [{"type": "text", "text": text}]}],
        },
        lambda text: {"role": "tool", "content": '{"note": "' + text.replace("\n", "\\n").replace('"', '\\"') + '"}'},
    ],
)
def test_the_next_turn_does_not_send_what_the_caller_appended(touched, message):
    conversation, text = touched
    history = [message(text)]
    assert conversation.turn("Go on", history).history == (*history, {"role": "user", "content": "Go on"})
    assert conversation.turn("More").history == ({"role": "user", "content": "More"},)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("", []),
        ("claude-opus-5.5", []),
        ("llama-3.2-1b", ["no prices are known for the model 'llama-3.2-1b', so costs are not estimated"]),
        (
            "claude-opuss-5.5",
            [
                "no prices are known for the model 'claude-opuss-5.5', so costs are not estimated;"
                " did you mean 'claude-opus-5.5'?"
            ],
        ),
    ],
)
def test_an_unknown_model_is_mentioned_once(tmp_path, model, expected):
    conversation = Conversations(":memory:").open("t", Workspace(str(tmp_path)), Agent(model=model))
    messages = [found.message for found in conversation.turn("hi").findings if found.code == "price-unknown"]
    assert messages == expected
    assert [found for found in conversation.turn("more").findings if found.code == "price-unknown"] == []
