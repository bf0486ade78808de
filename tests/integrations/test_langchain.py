"""LangChain and LangGraph with Foreword's middleware, against a provider on this machine."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from foreword import Agent, CallError, Workspace
from foreword.integrations.langchain import ForewordMiddleware

ANTHROPIC = "anthropic:claude-sonnet-5-5"


@pytest.mark.parametrize(
    ("model", "is_async", "late"),
    [
        (ANTHROPIC, False, "in the messages"),
        (ANTHROPIC, True, "in the messages"),
        ("openai:gpt-6.1-sol", False, "in the messages"),
        ("openai:gpt-6.1-sol", True, "in the messages"),
        ("chat", False, "use_tool"),
        ("chat", True, "use_tool"),
        ("chat", False, "last tool"),
        ("anthropic:claude-sonnet-5", False, "use_tool"),
        ("openai:gpt-5", False, "use_tool"),
    ],
)
def test_ten_turns_keep_the_prefix(ten_turns, model, is_async, late):
    middleware = ForewordMiddleware(ten_turns.conversation, use_tool=late == "use_tool")
    caching = AnthropicPromptCachingMiddleware(unsupported_model_behavior="ignore")
    chosen = ChatOpenAI(model="gpt-6.1-sol", use_responses_api=False) if model == "chat" else model

    def ask(message, functions, state):
        agent = create_agent(chosen, functions, middleware=[middleware, caching])
        state = {"messages": [*(state["messages"] if state else ()), HumanMessage(message)]}
        return (agent.ainvoke if is_async else agent.invoke)(state)

    ten_turns.run(ask, compacted=lambda _: {"messages": [HumanMessage("A summary.")]})
    ten_turns.check(late)


def test_each_thread_has_its_own_conversation(ten_turns):
    def open_one(thread):
        return ten_turns.conversations.open(thread, Workspace("."), Agent())

    agent = create_agent(ANTHROPIC, middleware=[ForewordMiddleware(open_one)], checkpointer=InMemorySaver())
    for thread in ("one", "two", "one"):
        agent.invoke({"messages": [HumanMessage("Hello.")]}, {"configurable": {"thread_id": thread}})
    assert [len(request.messages) for request in ten_turns.requests] == [1, 1, 3]
    assert [ten_turns.conversations.current(id)[0].number for id in ("one", "two")] == [1, 1]


def test_a_wrong_call_is_explained_to_the_model(ten_turns, monkeypatch):
    middleware = ForewordMiddleware(ten_turns.conversation, use_tool=True)

    def ask(message, functions):
        model = ChatOpenAI(model="gpt-5", use_responses_api=False)
        create_agent(model, functions, middleware=[middleware]).invoke({"messages": [HumanMessage(message)]})

    ten_turns.check_wrong_call(monkeypatch, ask)


def test_a_streamed_call_of_a_late_tool_is_run(ten_turns):
    middleware = ForewordMiddleware(ten_turns.conversation, use_tool=True)

    async def ask(message, functions, messages):
        agent = create_agent(ChatOpenAI(model="gpt-5", use_responses_api=False), functions, middleware=[middleware])
        state = {"messages": [*messages, HumanMessage(message)]}
        async for kind, update in agent.astream(state, stream_mode=["messages", "values"]):
            state = update if kind == "values" else state
        return state["messages"]

    ten_turns.check_streamed_call(ask)


def test_a_sub_agent_has_its_task_and_the_parents_instructions(ten_turns):
    middleware = ForewordMiddleware(ten_turns.conversation, task="Review the change.")
    create_agent(ANTHROPIC, middleware=[middleware]).invoke({"messages": [HumanMessage("Look.")]})
    [request] = ten_turns.requests
    assert "Review the change." in request.prompt and "make test" in request.prompt


def test_a_model_without_a_known_client_is_refused(ten_turns):
    agent = create_agent(FakeListChatModel(responses=["Hi."]), middleware=[ForewordMiddleware(ten_turns.conversation)])
    with pytest.raises(CallError, match="FakeListChatModel does not use an Anthropic or OpenAI SDK client"):
        agent.invoke({"messages": [HumanMessage("Hello.")]})
