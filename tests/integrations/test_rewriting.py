"""What every adapter does with a request, without any framework."""

from __future__ import annotations

import json

import anthropic
import openai
import pytest

from foreword import Agent, CallError, Conversations, Tool, Workspace, check_request, shipped_tools
from foreword.extensions import Extension, Start
from foreword.integrations.clients import merged_headers, rewriting_client
from foreword.integrations.forms import RequestOptions, _openai_tool
from foreword.integrations.rewriting import RequestRewriter, RewriterPool

MARK = {"cache_control": {"type": "ephemeral"}}
READ = {"name": "read_file", "description": "Reads a file.", "input_schema": {"type": "object", "properties": {}}}
LATE = {"name": "a_late_tool", "description": "Comes late.", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture
def open_conversation(tree):
    tree({"w/.git": None, "w/AGENTS.md": "Run `make test`.\n"})

    def open_conversation(agent=Agent(), extensions=(), id="chat"):
        workspace = Workspace(tree.path("w"), home=tree.path("home"), environment={})
        return Conversations(extensions=extensions).open(id, workspace, agent)

    return open_conversation


def body(*messages, tools=(READ,), model="claude-sonnet-5-5", **more):
    rows = [{"role": "user", "content": text} if isinstance(text, str) else text for text in messages]
    return {"model": model, "max_tokens": 10, "messages": rows, "tools": list(tools), **more}


def marks(content):
    if isinstance(content, dict):
        return [*([content["cache_control"]] if "cache_control" in content else []), *marks(list(content.values()))]
    return [mark for part in content for mark in marks(part)] if isinstance(content, list) else []


def messages(rewriter, request):
    return rewriter.rewrite("/v1/messages?beta=true", request)


def test_only_requests_to_a_model_are_changed(open_conversation):
    rewriter = RequestRewriter(open_conversation())
    assert rewriter.rewrite("/v1/messages/count_tokens", body("Hello.")) is None
    assert rewriter.rewrite("/v1/embeddings", {"input": "Hello."}) is None


def test_the_frameworks_breakpoints_and_ours_total_four(open_conversation):
    system = [{"type": "text", "text": "Use the to-do list.", **MARK}]
    request = body("Hello.", tools=[READ, {**LATE, **MARK}], system=system, **MARK)
    sent = messages(RequestRewriter(open_conversation()), request)
    assert [len(marks(sent[key])) for key in ("tools", "system", "messages")] == [0, 3, 0]
    assert sent["cache_control"] == MARK["cache_control"]
    assert sent["system"][-1] == {"type": "text", "text": "Use the to-do list."}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_breakpoints_in_messages_leave_room_for_fewer(open_conversation, count):
    blocks = [{"type": "text", "text": str(number), **MARK} for number in range(count)]
    for automatic in ({}, MARK):
        sent = messages(RequestRewriter(open_conversation()), body({"role": "user", "content": blocks}, **automatic))
        assert len(marks(sent)) == 4
        assert marks(sent["messages"])


def test_a_request_without_breakpoints_gets_the_automatic_one(open_conversation):
    assert messages(RequestRewriter(open_conversation()), body("Hello."))["cache_control"] == MARK["cache_control"]
    assert "cache_control" not in messages(
        RequestRewriter(open_conversation(), RequestOptions(automatic=False)), body("Hello.")
    )


def test_no_breakpoint_of_an_hour_follows_one_of_five_minutes(open_conversation):
    hour = {"type": "ephemeral", "ttl": "1h"}
    sent = messages(
        RequestRewriter(open_conversation(), RequestOptions(ttl="mixed")), body("Hello.", cache_control=hour)
    )
    assert {mark["ttl"] for mark in marks(sent)} == {"1h"}


def test_fields_of_tools_pass_through(open_conversation):
    own = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
    read = {**READ, "strict": True, "input_examples": [{}]}
    assert messages(RequestRewriter(open_conversation()), body("Hello.", tools=[own, read]))["tools"] == [read, own]


def test_a_tool_keeps_the_snippet_that_the_agent_has_for_it(open_conversation):
    agent = Agent(tools=[Tool("read_file", snippet="Reads what you ask for")])
    conversation = open_conversation(agent)
    sent = messages(RequestRewriter(conversation), body("Hello."))
    assert sent["tools"][0]["description"] == "Reads a file."
    assert [tool.snippet for tool in conversation.agent.tools] == ["Reads what you ask for"]


def test_a_late_tool_needs_headers_and_leaves_the_tools_alone(open_conversation):
    rewriter = RequestRewriter(open_conversation())
    first = messages(rewriter, body("Hello."))
    second = messages(rewriter, body("Hello.", {"role": "assistant", "content": "Hi."}, "Go on.", tools=[LATE, READ]))
    assert second["tools"] == first["tools"]
    assert "inline-tools" in second["extra_headers"]["anthropic-beta"]
    old = messages(
        RequestRewriter(open_conversation(id="other"), RequestOptions(betas=False)),
        body("Hello.", model="claude-3-7-sonnet", tools=[LATE, READ]),
    )
    assert [tool["name"] for tool in old["tools"]] == ["a_late_tool", "read_file"] and "extra_headers" not in old


def test_the_shipped_definition_of_use_tool_is_sent(open_conversation):
    rewriter = RequestRewriter(open_conversation(), RequestOptions(use_tool=True))
    [shipped] = shipped_tools("use_tool")
    framework = {"name": "use_tool", "description": shipped.description, "input_schema": {"type": "object"}}
    sent = messages(rewriter, body("Hello.", tools=[framework, READ]))
    assert [tool["name"] for tool in sent["tools"]] == ["read_file", "use_tool"]
    assert sent["tools"][1]["input_schema"] == shipped.schema
    own = {"name": "use_tool", "description": "Mine.", "input_schema": {"type": "object"}}
    with pytest.raises(CallError, match="the framework has a tool of its own named 'use_tool'; rename it"):
        messages(rewriter, body("Hello again.", tools=[own]))


def test_only_calls_of_use_tool_are_replaced(open_conversation):
    rewriter = RequestRewriter(open_conversation(), RequestOptions(use_tool=True))
    messages(rewriter, body("Hello.", tools=[READ]))
    call = {"name": "read_file", "arguments": {}}
    assert rewriter.inner_call("use_tool", call) == ("read_file", {})
    assert rewriter.inner_call("read_file", {}) is None
    assert rewriter.inner_call("use_tool", {"name": "ghost"}) is None
    assert rewriter.refuse_call({"name": "ghost"}) == "use_tool: no tool 'ghost'; known: read_file"
    assert RequestRewriter(rewriter.conversation).inner_call("use_tool", call) is None


def test_a_retry_sends_the_same_bytes(open_conversation):
    calls = []

    def start(prompt, message, about):
        calls.append(message)
        return Start(message=f"Call {len(calls)}")

    rewriter = RequestRewriter(open_conversation(extensions=[Extension("hook", before_agent_start=start)]))
    sent = messages(rewriter, body("Hello."))
    assert messages(rewriter, body("Hello.")) == sent
    assert calls == ["Hello."] and "Call 1" in json.dumps(sent["messages"])


def test_a_message_that_a_turn_added_is_sent_again_in_its_place(open_conversation):
    conversation = open_conversation()
    rewriter = RequestRewriter(conversation)
    conversation.send_message("Speak plainly.")
    first = messages(rewriter, body("Hello."))["messages"]
    later = messages(rewriter, body("Hello.", {"role": "assistant", "content": "Hi."}, "Go on."))["messages"]
    assert {"role": "user", "content": "Speak plainly."} in first
    assert later == [*first, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Go on."}]


def test_a_replaced_history_is_a_compaction(open_conversation, tree):
    conversation = open_conversation()
    rewriter = RequestRewriter(conversation)
    first = messages(rewriter, body("Hello."))
    tree({"w/AGENTS.md": "Ask before you push.\n"})
    kept = messages(rewriter, body("Hello.", {"role": "assistant", "content": "Hi."}, "Go on."))
    rebuilt = messages(rewriter, body("A summary.", "Go on."))
    assert kept["system"] == first["system"]
    assert "Ask before you push." in json.dumps(rebuilt["system"])


def test_a_sub_agent_has_its_task_and_the_parents_instructions(open_conversation):
    conversation = open_conversation()
    sent = messages(
        RequestRewriter(conversation, RequestOptions(task="Review the change.")), body("Look.", tools=[READ, LATE])
    )
    text = "".join(block["text"] for block in sent["system"])
    assert "Review the change." in text and "Run `make test`." in text
    assert [tool["name"] for tool in sent["tools"]] == ["a_late_tool", "read_file"]
    with pytest.raises(CallError, match="either a task or the name of a definition"):
        RequestRewriter(conversation, RequestOptions(task="Review.", definition="reviewer"))


def test_each_id_of_the_framework_has_its_own_conversation(open_conversation):
    opened = []

    def open_one(id):
        opened.append(id)
        return open_conversation(id=id)

    rewriters = RewriterPool(open_one)
    assert rewriters.get("a") is rewriters.get("a") is not rewriters.get("b")
    assert opened == ["a", "b"]
    one = RewriterPool(open_conversation())
    assert one.get("a") is one.get("b")
    with pytest.raises(CallError, match="the conversation must be Conversation, not str"):
        RewriterPool("talk")


def test_a_request_is_what_the_turn_would_have_sent(open_conversation):
    conversation = open_conversation()
    sent = messages(RequestRewriter(conversation), body("Hello."))
    assert check_request(sent, conversation.turn(messages=body("Hello.")["messages"])) == []


# OpenAI

FUNCTION = {"name": "read_file", "description": "Reads a file.", "parameters": READ["input_schema"]}


def responses(rewriter, **more):
    tools = [{"type": "function", **FUNCTION, "strict": True}]
    return rewriter.rewrite("/responses", {"tools": tools, "model": "gpt-6.1-sol", **more})


def test_a_tool_that_the_framework_removes_stays_in_the_list_but_is_not_allowed(open_conversation):
    rewriter = RequestRewriter(open_conversation())
    tools = [{"type": "function", **FUNCTION}, {"type": "function", **FUNCTION, "name": "a_tool"}]
    entries = [{"role": "user", "content": "Hello."}]
    first = responses(rewriter, input=entries, tools=tools, tool_choice="auto")
    entries += [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "Go on."}]
    second = responses(rewriter, input=entries, tools=tools[:1], tool_choice="required")
    assert first["tool_choice"] == "auto" and second["tools"] == first["tools"]
    allowed = [{"type": "function", "name": "read_file"}]
    assert second["tool_choice"] == {"type": "allowed_tools", "mode": "required", "tools": allowed}
    assert second["input"][: len(first["input"])] == first["input"]


def test_responses_gets_blocks_followed_by_the_frameworks_instructions(open_conversation):
    sent = responses(RequestRewriter(open_conversation()), input="Hello.", instructions="Be brief.")
    first = sent["input"][0]
    assert first["role"] == "developer" and first["content"][-1] == {"type": "input_text", "text": "Be brief."}
    assert sent["input"][1:] == [{"role": "user", "content": "Hello."}]
    assert sent["tools"][0]["strict"] is True and "instructions" not in sent
    own_key = responses(RequestRewriter(open_conversation()), input="Hello.", prompt_cache_key="mine")
    assert own_key["prompt_cache_key"] == "mine" != sent["prompt_cache_key"]


def test_responses_of_a_model_without_breakpoints_gets_instructions(open_conversation):
    entries = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]
    sent = responses(RequestRewriter(open_conversation()), input=entries, model="gpt-4.1")
    assert sent["instructions"].endswith("\n\nBe brief.") and "make test" in sent["instructions"]
    assert sent["input"] == entries[1:]


def test_a_conversation_at_the_provider_gets_only_its_new_messages(open_conversation):
    sent = responses(RequestRewriter(open_conversation()), input="Hello.", previous_response_id="resp_1")
    assert sent["input"] == [{"role": "user", "content": "Hello."}] and "make test" in sent["instructions"]


@pytest.mark.parametrize("model", ["gpt-6.1-sol", "gpt-4.1", "some-other-model"])
def test_chat_has_one_system_message(open_conversation, model):
    rows = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]
    request = {
        "model": model,
        "messages": rows,
        "tools": [{"type": "function", "function": {**FUNCTION, "strict": True}}],
    }
    sent = RequestRewriter(open_conversation()).rewrite("/v1/chat/completions", request)
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    text = json.dumps(sent["messages"][0])
    assert text.index("make test") < text.index("Be brief.")
    assert sent["tools"][0]["function"]["strict"] is True
    assert ("prompt_cache_key" in sent) == model.startswith("gpt")


# Clients


def test_clients_and_their_copies_send_the_prompt(ten_turns):
    rewriter = RequestRewriter(ten_turns.conversation)
    with anthropic.Anthropic() as client:
        copied = rewriting_client(client, rewriter).with_options(max_retries=1)
        copied.messages.create(**body("Hello.", tools=[]))
        client.messages.create(**body("Hello.", tools=[]))
    with openai.OpenAI() as client:
        copied = rewriting_client(client, rewriter).with_options(max_retries=1)
        copied.responses.create(model="gpt-6.1-sol", input=body("Hello.")["messages"])
        client.responses.create(model="gpt-6.1-sol", input=body("Hello.")["messages"])
    assert ["make test" in request.prompt for request in ten_turns.requests] == [True, False, True, False]


def test_beta_headers_are_joined():
    headers = {"Anthropic-Beta": "one,two", "x": "y"}
    assert merged_headers(headers, {"anthropic-beta": "two,three"}) == {"Anthropic-Beta": "one,two,three", "x": "y"}
    assert merged_headers({}, {"anthropic-beta": "one"}) == {"anthropic-beta": "one"}


def test_other_clients_are_refused(open_conversation):
    with pytest.raises(CallError, match="expected a client from the anthropic SDK"):
        rewriting_client(object(), RequestRewriter(open_conversation()))


def test_a_function_receives_each_turn_before_its_request_is_sent(open_conversation):
    turns = []
    rewriter = RequestRewriter(open_conversation(), RequestOptions(on_turn=turns.append))
    chat = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in ("read_file", "a_late_tool")]
    request = {"model": "gpt-5.6-sol", "messages": [{"role": "user", "content": "Hello."}]}
    for tools in (chat[:1], chat, chat):  # the last is a retry
        rewriter.rewrite("/v1/chat/completions", {**request, "tools": tools})
    prices = [[finding.message for finding in turn.findings if finding.code == "drift"] for turn in turns]
    assert [len(messages) for messages in prices] == [0, 1]
    assert "tools added late: a_late_tool; " in prices[1][0] and "about " in prices[1][0]
    with pytest.raises(CallError, match="on_turn must be a function that takes a turn, not str"):
        RequestOptions(on_turn="log")


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ({"type": "function", "name": "a", "parameters": {}}, "a"),
        ({"type": "function", "function": {"name": "a", "parameters": {}}}, "a"),
        ({"name": "a", "parameters": {}}, "a"),
        ({"type": "web_search"}, "web_search"),
        ({"type": "mcp", "server_label": "docs"}, "docs"),
        ({"type": "custom", "custom": {"name": "b"}}, "b"),
    ],
)
def test_the_name_of_a_tool_may_be_in_several_places(tool, name):
    assert _openai_tool(tool).name == name
