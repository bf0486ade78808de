"""Conversations with a server for local models list `use_tool` from the start, because such a server cannot add tools late."""

import pytest

from foreword import Agent, Conversations, Tool, Workspace, for_openai_chat, shipped_tools
from foreword.integrations.rewriting import RequestRewriter

READ, SEARCH = Tool("read_file"), Tool("search_issues", "Searches.")


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "project").mkdir()
    return Workspace(str(tmp_path / "project"), home=str(tmp_path / "home"))


@pytest.fixture
def conversations():
    with Conversations(":memory:") as conversations:
        yield conversations


def names(turn):
    return [tool["name"] for tool in turn.tools]


@pytest.mark.parametrize(
    ("provider", "tools", "listed"),
    [
        ("llama.cpp", [READ], ["read_file", "use_tool"]),
        ("Ollama", [READ], ["read_file", "use_tool"]),
        ("vllm", [READ, *shipped_tools("use_tool")], ["read_file", "use_tool"]),
        ("vllm", [], []),
        ("vllm", None, []),
        ("openai", [READ], ["read_file"]),
        ("openrouter", [READ], ["read_file"]),
        ("", [READ], ["read_file"]),
    ],
)
def test_a_new_conversation_lists_use_tool(conversations, workspace, provider, tools, listed):
    assert names(conversations.open("t", workspace, Agent(tools=tools, provider=provider)).turn("Hello.")) == listed


def test_a_late_tool_keeps_the_list(conversations, workspace):
    conversation = conversations.open("t", workspace, Agent(tools=[READ], provider="vllm"))
    first = conversation.turn("Hello.")
    conversation.set_active_tools([READ, SEARCH])
    second = conversation.turn("Which issues are open?", first.history)
    assert for_openai_chat(second)["tools"] == for_openai_chat(first)["tools"]
    assert conversation.resolve_call("use_tool", {"name": "search_issues", "arguments": {}}) == ("search_issues", {})


def test_a_conversation_that_began_without_it_does_not_get_it(conversations, workspace):
    first = conversations.open("t", workspace, Agent(tools=[READ], provider="openai")).turn("Hello.")
    later = conversations.open("t", workspace, Agent(tools=[READ], provider="vllm")).turn("Go on.", first.history)
    assert (names(later), later.is_reused) == (["read_file"], True)


def test_a_framework_gets_exactly_its_tools(conversations, workspace):
    conversation = conversations.open("t", workspace, Agent(provider="vllm"))
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
    body["tools"] = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}]
    sent = RequestRewriter(conversation).rewrite("http://127.0.0.1/v1/chat/completions", body)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["read_file"]
