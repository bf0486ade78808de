"""deepagents with Foreword's middleware, against a provider on this machine. It adds its own tools, prompt and breakpoints."""

from __future__ import annotations

import pytest
from deepagents import create_deep_agent
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from foreword.integrations.langchain import ForewordMiddleware

ANTHROPIC = "anthropic:claude-sonnet-5-5"


@pytest.mark.parametrize("late", ["in the messages", "use_tool"])
def test_ten_turns_keep_the_prefix(ten_turns, late):
    middleware = ForewordMiddleware(ten_turns.conversation, use_tool=late == "use_tool")
    chat = ChatOpenAI(model="gpt-6.1-sol", use_responses_api=False)

    def ask(message, functions, state):
        functions = [function for function in functions if function.__name__ != "read_file"]  # deepagents has its own
        model = chat if late == "use_tool" else ANTHROPIC
        agent = create_deep_agent(model=model, tools=functions, middleware=[middleware])
        return agent.invoke({"messages": [*(state["messages"] if state else ()), HumanMessage(message)]})

    ten_turns.run(ask, compacted=lambda _: {"messages": [HumanMessage("A summary.")]})
    own = set(ten_turns.requests[0].tool_names) - {"list_files", "read_file", "run_tests", "use_tool"}
    assert {"edit_file", "task"} <= own
    ten_turns.check(late, more_tools=own)
    if late == "in the messages":
        assert max(request.marks for request in ten_turns.requests) == 4


def test_a_sub_agent_has_its_task_and_the_parents_instructions(ten_turns, monkeypatch):
    call = ("task", {"description": "Look.", "subagent_type": "reviewer"})
    monkeypatch.setattr(ten_turns.pretend, "tool_call", lambda *_: call)
    reviewer = {
        "name": "reviewer",
        "description": "Reviews.",
        "system_prompt": "Be kind.",
        "middleware": [ForewordMiddleware(ten_turns.conversation, task="Review the change.")],
    }
    own = ForewordMiddleware(ten_turns.conversation)
    agent = create_deep_agent(model=ANTHROPIC, middleware=[own], subagents=[reviewer])
    agent.invoke({"messages": [HumanMessage("Is it right?")]})
    first, inner, last = ten_turns.requests
    assert all(text in inner.prompt for text in ("Review the change.", "make test", "Be kind."))
    assert "Review the change." not in first.prompt and last.pieces[: len(first.pieces)] == first.pieces
    assert inner.marks <= 4
