"""The OpenAI Agents SDK with Foreword's model provider, against a provider on this machine."""

from __future__ import annotations

import asyncio

import pytest
from agents import Agent, RunConfig, Runner, function_tool

from foreword.integrations.openai_agents import ForewordProvider


@pytest.mark.parametrize(
    ("model", "use_responses", "late"),
    [
        ("gpt-6.1-sol", True, "in the messages"),
        ("gpt-5", True, "use_tool"),
        ("gpt-6.1-sol", False, "use_tool"),
        ("gpt-6.1-sol", False, "last tool"),
    ],
)
def test_ten_turns_keep_the_prefix(ten_turns, model, use_responses, late):
    has_use_tool = late == "use_tool"
    provider = ForewordProvider(ten_turns.conversation, use_responses=use_responses, use_tool=has_use_tool)
    config = RunConfig(model_provider=provider, tracing_disabled=True)

    async def ask(message, functions, history):
        tools = [*map(function_tool, functions), *([provider.use_tool] if has_use_tool else ())]
        agent = Agent(name="shop", tools=tools, model=model)
        message = {"role": "user", "content": message}
        return (await Runner.run(agent, [*(history or ()), message], run_config=config)).to_input_list()

    ten_turns.run(ask, compacted=lambda _: [{"role": "user", "content": "A summary."}])
    ten_turns.check(late)
    tool = ten_turns.requests[0].tools[0]
    assert tool.get("function", tool)["strict"] is True


def test_a_wrong_call_is_explained_to_the_model(ten_turns, monkeypatch):
    provider = ForewordProvider(ten_turns.conversation, use_responses=False, use_tool=True)

    def ask(message, functions):
        agent = Agent(name="shop", tools=[*map(function_tool, functions), provider.use_tool], model="gpt-5")
        config = RunConfig(model_provider=provider, tracing_disabled=True)
        asyncio.run(Runner.run(agent, message, run_config=config))

    ten_turns.check_wrong_call(monkeypatch, ask)


def test_a_streamed_call_of_a_late_tool_is_run(ten_turns):
    provider = ForewordProvider(ten_turns.conversation, use_responses=False, use_tool=True)
    config = RunConfig(model_provider=provider, tracing_disabled=True)

    async def ask(message, functions, history):
        agent = Agent(name="shop", tools=[*map(function_tool, functions), provider.use_tool], model="gpt-5")
        run = Runner.run_streamed(agent, [*history, {"role": "user", "content": message}], run_config=config)
        async for _ in run.stream_events():
            pass
        return run.to_input_list()

    ten_turns.check_streamed_call(ask)


def test_a_sub_agent_has_its_task_and_the_parents_instructions(ten_turns):
    provider = ForewordProvider(ten_turns.conversation, task="Review the change.")
    reviewer = Agent(name="reviewer", model=provider.get_model("gpt-6.1-sol"), instructions="Be kind.")
    asyncio.run(Runner.run(reviewer, "Look.", run_config=RunConfig(tracing_disabled=True)))
    [request] = ten_turns.requests
    assert all(text in request.prompt for text in ("Review the change.", "make test", "Be kind."))
