"""Late changes: sent in the provider's own format where the model accepts it, so that the prefix stays the same."""

import copy
import itertools
import json

import pytest
from anthropic import Anthropic
from anthropic.types.beta.message_create_params import MessageCreateParamsNonStreaming
from openai import OpenAI
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

from foreword import (
    Agent,
    Conversations,
    Tool,
    check_request,
    for_anthropic,
    for_gemini,
    for_openai_chat,
    for_openai_responses,
)
from foreword.vocabulary import replace

BETAS = "mid-conversation-tool-changes-2026-07-01,inline-tools-2026-09-15"
NEW_TOOL = "New tools are available from now on: `zap`."
ANSWER = {"role": "assistant", "content": "Yes."}


def definition(name):
    return {"name": name, "description": f"Does {name}.", "input_schema": {"type": "object", "properties": {}}}


@pytest.fixture
def start_conversation(tree):
    """`start_conversation(model)` returns a function that continues a conversation with these tools, and returns its turns."""
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Be kind.\n"})
    opened = []

    def start_conversation(model):
        conversations = Conversations()
        opened.append(conversations)
        history = []

        def turn(tools, message="Go on.", **options):
            agent = Agent(tools=[Tool(name, f"Does {name}.") for name in tools.split()], model=model)
            latest = conversations.open("t", tree.workspace("w"), agent, "foreword", **options).turn(message, history)
            history[:] = [*latest.history, ANSWER]
            return latest

        return turn

    yield start_conversation
    for conversations in opened:
        conversations.close()


def is_prefix(old, new):
    """Whether a request starts with all that another one sent."""
    same = all(old.get(key) == new.get(key) for key in ("tools", "system", "instructions"))
    key = "input" if "input" in old else "messages"
    return same and new[key][: len(old[key])] == old[key]


def test_late_tools_keep_the_prefix(start_conversation):
    turn = start_conversation("claude-opus-5")
    turns = [turn(tools) for tools in ("read run", "read run zap", "read zap", "read run zap", "read run zap")]
    requests = [for_anthropic(sent) for sent in turns]
    assert all(is_prefix(old, new) for old, new in itertools.pairwise(requests))
    assert [tool["name"] for tool in requests[-1]["tools"]] == ["read", "run"]
    assert [request.get("extra_headers") for request in requests] == [None, *[{"anthropic-beta": BETAS}] * 4]
    system = [message["content"] for message in requests[-1]["messages"] if message["role"] == "system"]
    run = {"type": "tool_reference", "name": "run"}
    assert [[block for block in blocks if block["type"] != "text"] for blocks in system] == [
        [{"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition("zap")}}],
        [{"type": "tool_removal", "tool": run}],
        [{"type": "tool_addition", "tool": run}],
    ]
    assert system[0][-1] == {"type": "text", "text": NEW_TOOL}
    assert all(
        check_request(new, sent, old) == [] for new, old, sent in zip(requests[1:], requests, turns[1:], strict=False)
    )


def test_the_finding_says_whether_the_prefix_is_kept(start_conversation):
    for model, is_kept in (("claude-opus-5", True), ("gpt-5.6-sol", True), ("claude-sonnet-5", False), ("", False)):
        turn = start_conversation(model)
        turn("read")
        (message,) = (finding.message for finding in turn("read zap").findings if finding.code == "drift")
        assert ("; the prefix is kept, except that a request " in message) == is_kept


@pytest.mark.parametrize(
    ("model", "convert", "is_kept"),
    [
        ("claude-sonnet-5-5", for_anthropic, True),
        ("claude-opus-4-8", for_anthropic, False),
        ("claude-sonnet-5", for_anthropic, False),
        ("gpt-5.6-sol", for_openai_responses, True),
        ("gpt-5.6-sol", for_openai_chat, False),
        ("gpt-5.4", for_openai_responses, False),
        ("gemini-3.8-flash", for_gemini, False),
    ],
)
def test_a_late_tool_keeps_the_prefix_or_has_a_price_before_it_is_sent(start_conversation, model, convert, is_kept):
    """The table in docs/late-changes.md."""
    turn = start_conversation(model)
    first, late = turn("read"), turn("read zap")
    findings = check_request(convert(late), late, convert(first))
    if is_kept:
        assert findings == [] and is_prefix(convert(first), convert(late))
        return
    assert [finding.message.partition("; about ")[0] for finding in findings] == [
        "edition 2 added tool `zap` at position 2"
    ]
    (drift,) = late.findings
    assert (
        drift.message.endswith((" tokens and all messages", " tokens, messages included"))
        and "the prefix after them, about " in drift.message
    )


def test_with_the_tool_search_a_late_tool_is_deferred(tree):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Be kind.\n"})
    search = Tool("tool_search_tool_regex", type="tool_search_tool_regex_20251119")
    conversations = Conversations()
    try:
        agent = Agent(tools=[Tool("read"), search], model="claude-sonnet-5")
        first = conversations.open("t", tree.workspace("w"), agent, "foreword").turn("Hi.")
        later_agent = replace(agent, tools=[*agent.tools, Tool("zap")])
        conversation = conversations.open("t", tree.workspace("w"), later_agent, "foreword")
        late = conversation.turn("Go on.", [*first.history, ANSWER])
        (finding,) = late.findings
        assert finding.message == "tools added late: zap; they are deferred, so the prefix is kept"
        old, new = for_anthropic(first), for_anthropic(late)
        assert [tool.get("defer_loading", False) for tool in new["tools"]] == [False, False, True]
        in_prompt = [tool for tool in new["tools"] if not tool.get("defer_loading")]
        assert is_prefix(old, {**new, "tools": in_prompt})
        assert {"role": "user", "content": NEW_TOOL} in new["messages"]  # so that the model searches for it
        assert check_request(new, late, old) == []
    finally:
        conversations.close()


def test_a_system_message_is_between_the_user_and_the_model(start_conversation):
    turn = start_conversation("claude-opus-5")
    turn("read")
    last = for_anthropic(turn("read zap"))["messages"]
    assert [message["role"] for message in last] == ["user", "assistant", "user", "system"]
    after = for_anthropic(turn("read zap"))["messages"]
    assert [message["role"] for message in after] == ["user", "assistant", "user", "system", "assistant", "user"]


def test_a_system_message_never_follows_the_model(start_conversation):
    turn = start_conversation("claude-opus-5")
    turn("read")
    messages = for_anthropic(turn("read zap", message=""))["messages"]
    assert messages[2] == {"role": "user", "content": [{"type": "text", "text": NEW_TOOL}]}
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "system"]
    assert [block["type"] for block in messages[3]["content"]] == ["tool_addition"]


def test_without_betas_tools_are_in_the_list(start_conversation):
    turn = start_conversation("claude-opus-5")
    turn("read")
    request = for_anthropic(turn("read zap"), betas=False)
    assert "extra_headers" not in request
    assert [tool["name"] for tool in request["tools"]] == ["read", "zap"]
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("model", "convert"),
    [
        ("", for_anthropic),
        ("claude-sonnet-5", for_anthropic),
        ("", for_openai_responses),
        ("gpt-4o", for_openai_chat),
        ("gemini-3.8-flash", for_gemini),
    ],
)
def test_a_model_that_reads_a_new_tool_in_the_list_needs_no_announcement(start_conversation, model, convert):
    turn = start_conversation(model)
    turn("read")
    late, later = turn("read zap"), turn("read zap")
    assert [change["added"] for change in late.changes] == [["zap"]]
    assert late.messages[2] == {"role": "user", "content": NEW_TOOL}
    for sent in (late, later):
        messages = [message for message in sent.messages if message["content"] != NEW_TOOL]
        assert convert(sent) == convert(replace(sent, messages=messages, changes=()))
        assert json.dumps(convert(sent)).count("zap") == 2  # the name and the description of the tool


def test_an_announcement_is_kept_if_the_model_has_nothing_else_to_answer(start_conversation):
    turn = start_conversation("claude-sonnet-5")
    turn("read")
    late, later = turn("read zap", message=""), turn("read zap")
    assert late.messages[-1]["content"] == NEW_TOOL
    assert for_anthropic(late)["messages"] == list(late.messages)
    assert for_anthropic(later)["messages"] == list(later.messages)
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]}
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "read", "input": {}}]}
    after_result = replace(late, messages=[*late.messages[:1], call, result, late.messages[-1]])
    assert for_anthropic(after_result)["messages"] == list(after_result.messages[:-1])


def test_two_announcements_without_another_message_leave_one(start_conversation):
    turn = start_conversation("claude-sonnet-5")
    turn("read")
    first = turn("read zap", message="")
    other = {"text": NEW_TOOL.replace("zap", "zip"), "added": ["zip"]}
    messages = [*first.messages, {"role": "user", "content": other["text"]}]
    both = replace(first, messages=messages, changes=[*first.changes, other])
    assert for_anthropic(both)["messages"] == messages[:3]


def test_only_the_sentence_about_the_tool_is_left_out(tree, start_conversation):
    turn = start_conversation("claude-sonnet-5")
    turn("read", assignments=[("on.turn", "announce")])
    tree({"w/AGENTS.md": "Be brief.\n"})
    late = turn("read zap", assignments=[("on.turn", "announce")])
    texts = [message["content"] for message in for_anthropic(late)["messages"]]
    assert NEW_TOOL not in "".join(texts) and sum("Be brief." in text for text in texts) == 1


def test_changed_instructions_are_a_system_message(tree, start_conversation):
    turn = start_conversation("claude-opus-4-8")
    first = for_anthropic(turn("read", assignments=[("on.turn", "announce")]))
    tree({"w/AGENTS.md": "Be brief.\n"})
    late = turn("read", assignments=[("on.turn", "announce")])
    request = for_anthropic(late)
    assert is_prefix(first, request) and "extra_headers" not in request
    assert request["messages"][-1]["role"] == "system"
    assert "Be brief." in request["messages"][-1]["content"][0]["text"]
    chat = for_openai_chat(replace(late, model="gpt-5.4"))["messages"]
    assert [message["role"] for message in chat] == ["system", "user", "assistant", "system", "user"]


def test_a_message_that_the_caller_has_changed_is_sent_as_it_is(start_conversation):
    turn = start_conversation("claude-opus-5")
    turn("read")
    late = turn("read zap")
    merged = [*late.messages[:2], {"role": "user", "content": f"{NEW_TOOL}\n\nGo on."}]
    request = for_anthropic(replace(late, messages=merged))
    assert request["messages"] == merged
    assert [tool["name"] for tool in request["tools"]] == ["read", "zap"]


def test_responses_gets_new_tools_as_an_entry(start_conversation):
    turn = start_conversation("gpt-5.6-sol")
    requests = [for_openai_responses(turn(tools)) for tools in ("read", "read zap", "read zap")]
    assert all(is_prefix(old, new) for old, new in itertools.pairwise(requests))
    (entry,) = (item for item in requests[-1]["input"] if item.get("type") == "additional_tools")
    assert entry["role"] == "developer" and [tool["name"] for tool in entry["tools"]] == ["zap"]
    following = requests[-1]["input"][requests[-1]["input"].index(entry) + 1]
    assert following == {"role": "developer", "content": NEW_TOOL}


def allowed_names(request):
    """The names of the tools that `tool_choice` allows, or its value if it does not list tools."""
    choice = request.get("tool_choice")
    if not isinstance(choice, dict) or choice["type"] != "allowed_tools":
        return choice
    tools = choice.get("allowed_tools", choice)["tools"]
    return [tool.get("function", tool)["name"] for tool in tools]


@pytest.mark.parametrize("convert", [for_openai_responses, for_openai_chat])
def test_openai_keeps_a_removed_tool_in_the_list_and_allows_the_others(start_conversation, convert):
    turn = start_conversation("gpt-5.6-sol")
    turns = [turn(tools) for tools in ("read run", "read", "run", "", "read run")]
    requests = [convert(sent) for sent in turns]
    assert all(old["tools"] == new["tools"] for old, new in itertools.pairwise(requests))
    assert [allowed_names(request) for request in requests] == [None, ["read"], ["run"], "none", None]
    for old, new, sent in zip(requests[:3], requests[1:3], turns[1:3], strict=False):
        assert check_request(new, sent, old) == []
    assert allowed_names(convert(replace(turns[1], model="gpt-5.4"))) is None


@pytest.mark.parametrize("convert", [for_openai_responses, for_openai_chat])
def test_the_callers_tool_choice_applies_to_the_active_tools(start_conversation, convert):
    turn = start_conversation("gpt-5.6-sol")
    first, second = turn("read run"), turn("read")
    assert convert(first, tool_choice="required")["tool_choice"] == "required"
    limited = convert(second, tool_choice="required")
    assert allowed_names(limited) == ["read"] and '"mode": "required"' in json.dumps(limited["tool_choice"])
    one = {"type": "function", "name": "read"}
    assert convert(second, tool_choice=one)["tool_choice"] == one
    assert convert(second, tool_choice="none")["tool_choice"] == "none"


def test_a_tool_of_the_provider_is_allowed_by_its_type(start_conversation):
    turn = start_conversation("gpt-5.6-sol")
    turn("read run")
    own = [
        {"name": "search", "description": "", "schema": {}, "type": "web_search"},
        {"name": "wiki", "description": "", "schema": {}, "type": "mcp", "options": {"server_label": "deepwiki"}},
    ]
    second = turn("read")
    request = for_openai_responses(replace(second, tools=[*second.tools, *own]))
    assert request["tool_choice"]["tools"] == [
        {"type": "function", "name": "read"},
        {"type": "web_search"},
        {"type": "mcp", "server_label": "deepwiki"},
    ]


def test_a_removal_is_announced_once_however_long_the_other_notices_are(tree, start_conversation):
    turn = start_conversation("gpt-5.6-sol")
    turn("read run", assignments=[("on.turn", "announce")])
    turn("read", assignments=[("on.turn", "announce")])
    for letter in "ab":
        tree({"w/AGENTS.md": letter * 40_000})
        turn("read", assignments=[("on.turn", "announce")])
    late = turn("read", assignments=[("on.turn", "announce")])
    assert [change["removed"] for change in late.changes if "removed" in change] == [["run"]]
    assert allowed_names(for_openai_responses(late)) == ["read"]


def test_chat_has_no_entry_for_tools(start_conversation):
    turn = start_conversation("gpt-5.6-sol")
    turn("read")
    request = for_openai_chat(turn("read zap"))
    assert [tool["function"]["name"] for tool in request["tools"]] == ["read", "zap"]
    assert NEW_TOOL not in json.dumps(request["messages"])


def test_a_compaction_ends_the_changes(start_conversation, tree):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": "Be kind.\n"})
    conversations = Conversations()
    try:
        agent = Agent(tools=[Tool("read")], model="claude-opus-5")
        turn = conversations.open("t", tree.workspace("w"), agent, "foreword").turn("Hi.")
        both = replace(agent, tools=[Tool("read"), Tool("zap")])
        conversation = conversations.open("t", tree.workspace("w"), both, "foreword")
        assert len(conversation.turn("More.", [*turn.history, ANSWER]).changes) == 1
        conversation.compact(messages=turn.history)
        after = conversation.turn("Go on.", [{"role": "summary", "content": "All is well."}])
        assert after.changes == ()
        assert [tool["name"] for tool in for_anthropic(after)["tools"]] == ["read", "zap"]
    finally:
        conversations.close()


# With the real clients and types


def test_requests_match_the_types_of_the_sdks(start_conversation, is_typed):
    turn = start_conversation("claude-opus-5")
    turn("read run")
    turn("read run zap")
    late = turn("read zap")
    request = copy.deepcopy(for_anthropic(late))
    del request["extra_headers"]
    assert is_typed({**request, "model": "claude-opus-5", "max_tokens": 8}, MessageCreateParamsNonStreaming)
    late = replace(late, model="gpt-5.6-sol")
    request = for_openai_responses(late)
    assert is_typed({**request, "model": "gpt-5.6-sol"}, ResponseCreateParamsNonStreaming)
    request = for_openai_chat(late)
    assert request["tool_choice"]["type"] == "allowed_tools"
    assert is_typed({**request, "model": "gpt-5.6-sol"}, CompletionCreateParamsNonStreaming)


def test_the_clients_send_late_changes_unchanged(start_conversation, provider):
    turn = start_conversation("claude-opus-5")
    turn("read")
    late = turn("read zap")
    with Anthropic(base_url=provider.url, api_key="none", max_retries=0) as client:
        client.messages.create(**for_anthropic(late), model="claude-opus-5", max_tokens=8)
    sent = {key: field for key, field in for_anthropic(late).items() if key != "extra_headers"}
    assert provider.last_request == json.loads(json.dumps({**sent, "model": "claude-opus-5", "max_tokens": 8}))
    assert provider.headers[-1]["anthropic-beta"] == BETAS
    request = for_openai_responses(replace(late, model="gpt-5.6-sol"))
    with OpenAI(base_url=f"{provider.url}/v1", api_key="none", max_retries=0) as client:
        client.responses.create(**request, model="gpt-5.6-sol")
    assert provider.last_request == json.loads(json.dumps({**request, "model": "gpt-5.6-sol"}))


def test_the_callers_own_beta_headers_are_kept(start_conversation):
    turn = start_conversation("claude-opus-5")
    first = turn("read")
    own = {"Anthropic-Beta": "files-2026-01-01, inline-tools-2026-09-15", "x-team": "a"}
    expected = "files-2026-01-01,inline-tools-2026-09-15,mid-conversation-tool-changes-2026-07-01"
    assert for_anthropic(turn("read zap"), headers=own)["extra_headers"] == {"x-team": "a", "anthropic-beta": expected}
    assert for_anthropic(first, headers={"x-team": "a"})["extra_headers"] == {"x-team": "a"}
    assert "extra_headers" not in for_anthropic(first)
