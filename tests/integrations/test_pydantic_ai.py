"""pydantic-ai with Foreword's capability, against a provider on this machine."""

from __future__ import annotations

import asyncio

import pydantic_ai
import pytest
from pydantic_ai.messages import ModelRequest

from foreword.integrations.pydantic_ai import ForewordCapability


@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-5-5", "openai:gpt-6.1-sol"])
def test_ten_turns_keep_the_prefix(ten_turns, model):
    capability = ForewordCapability(ten_turns.conversation)

    async def ask(message, functions, history):
        agent = pydantic_ai.Agent(model, tools=functions, capabilities=[capability])
        return (await agent.run(message, message_history=history)).all_messages()

    ten_turns.run(ask, compacted=lambda _: [ModelRequest.user_text_prompt("A summary.")])
    ten_turns.check()


def test_a_sub_agent_has_its_task_and_the_parents_instructions(ten_turns):
    capability = ForewordCapability(ten_turns.conversation, task="Review the change.")
    reviewer = pydantic_ai.Agent("anthropic:claude-sonnet-5-5", instructions="Be kind.", capabilities=[capability])
    asyncio.run(reviewer.run("Look."))  # run_sync would leave its event loop open
    [request] = ten_turns.requests
    assert all(text in request.prompt for text in ("Review the change.", "make test", "Be kind."))
