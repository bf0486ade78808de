"""Google's Agent Development Kit with Foreword's callback, against a provider on this machine."""

from __future__ import annotations

import asyncio

import pytest
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

from foreword.integrations.google_adk import foreword_callbacks

MODEL = "gemini-3-pro"
# ADK and what it is built on warn about each other, and do not close their connections.
pytestmark = pytest.mark.filterwarnings("ignore")


async def ask_agent(agent, message, events=()):
    """Let an agent answer a message in a new session with these events; return the session's events."""
    runner = InMemoryRunner(agent, app_name="shop")
    session = await runner.session_service.create_session(app_name="shop", user_id="me", session_id="one")
    for event in events:
        await runner.session_service.append_event(session, event)
    content = types.Content(role="user", parts=[types.Part(text=message)])
    async for _ in runner.run_async(user_id="me", session_id="one", new_message=content):
        pass
    stored = await runner.session_service.get_session(app_name="shop", user_id="me", session_id="one")
    return stored.events


@pytest.mark.parametrize("late", ["use_tool", "last tool"])
def test_ten_turns_keep_the_prefix(ten_turns, late):
    callbacks = foreword_callbacks(ten_turns.conversation, use_tool=late == "use_tool")

    async def ask(message, functions, events):
        agent = LlmAgent(name="shop", model=MODEL, tools=list(functions), **callbacks)
        return await ask_agent(agent, message, events or ())

    def compacted(events):
        summary = types.Content(role="user", parts=[types.Part(text="A summary.")])
        return [events[0].model_copy(update={"content": summary, "id": "summary"})]

    ten_turns.run(ask, compacted)
    ten_turns.check(late)


def test_a_wrong_call_is_explained_to_the_model(ten_turns, monkeypatch):
    callbacks = foreword_callbacks(ten_turns.conversation, use_tool=True)

    def ask(message, functions):
        asyncio.run(ask_agent(LlmAgent(name="shop", model=MODEL, tools=list(functions), **callbacks), message))

    ten_turns.check_wrong_call(monkeypatch, ask)


def test_a_sub_agent_has_its_task_and_the_parents_instructions(ten_turns):
    callbacks = foreword_callbacks(lambda session: ten_turns.conversation, task="Review the change.")
    agent = LlmAgent(name="reviewer", model=MODEL, instruction="Be kind.", **callbacks)
    asyncio.run(ask_agent(agent, "Look."))
    [request] = ten_turns.requests
    assert all(text in request.prompt for text in ("Review the change.", "make test", "Be kind."))
