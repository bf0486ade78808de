"""pydantic-ai with Foreword's capability, against a provider on this machine."""

from __future__ import annotations

import asyncio

import pydantic_ai
import pytest
from pydantic_ai.messages import ModelRequest

from foreword import CallError
from foreword.integrations.pydantic_ai import ForewordCapability


@pytest.mark.parametrize(
    ("model", "late"),
    [
        ("anthropic:claude-sonnet-5-5", "in the messages"),
        ("anthropic:claude-sonnet-5", "use_tool"),
        ("openai:gpt-6.1-sol", "in the messages"),
        ("openai:gpt-5", "use_tool"),
        ("openai-chat:gpt-6.1-sol", "use_tool"),
    ],
)
def test_ten_turns_keep_the_prefix(ten_turns, model, late):
    capability = ForewordCapability(ten_turns.conversation, use_tool=late == "use_tool")

    async def ask(message, functions, history):
        agent = pydantic_ai.Agent(model, tools=functions, capabilities=[capability])
        return (await agent.run(message, message_history=history)).all_messages()

    ten_turns.run(ask, compacted=lambda _: [ModelRequest.user_text_prompt("A summary.")])
    ten_turns.check(late)


def test_a_wrong_call_is_explained_to_the_model(ten_turns, monkeypatch):
    capability = ForewordCapability(ten_turns.conversation, use_tool=True)

    def ask(message, functions):
        asyncio.run(pydantic_ai.Agent("openai-chat:gpt-5", tools=functions, capabilities=[capability]).run(message))

    ten_turns.check_wrong_call(monkeypatch, ask)
    with pytest.raises(CallError, match="do not pass use_tool for a sub-agent"):
        ForewordCapability(ten_turns.conversation, use_tool=True, task="Review the change.")


def test_a_streamed_call_of_a_late_tool_is_run(ten_turns):
    capability = ForewordCapability(ten_turns.conversation, use_tool=True)

    async def ask(message, functions, history):
        agent = pydantic_ai.Agent("openai-chat:gpt-5", tools=functions, capabilities=[capability])
        async with agent.run_stream(message, message_history=history) as result:
            await result.get_output()
        return result.all_messages()

    ten_turns.check_streamed_call(ask)


def test_a_sub_agent_has_its_task_and_the_parents_instructions(ten_turns):
    capability = ForewordCapability(ten_turns.conversation, task="Review the change.")
    reviewer = pydantic_ai.Agent("anthropic:claude-sonnet-5-5", instructions="Be kind.", capabilities=[capability])
    asyncio.run(reviewer.run("Look."))  # run_sync would leave its event loop open
    [request] = ten_turns.requests
    assert all(text in request.prompt for text in ("Review the change.", "make test", "Be kind."))
