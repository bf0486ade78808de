"""The Claude Agent SDK with Foreword's options: the program that it runs sends its requests to a provider on this machine."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest
from claude_agent_sdk import ClaudeSDKClient, create_sdk_mcp_server, query, tool

from foreword import CallError
from foreword.integrations.claude_agent_sdk import foreword_options

TURNS, LATE, COMPACTION = 10, 4, 7


def server_of(functions):
    """An MCP server with these functions as tools."""

    def as_tool(function):
        @tool(function.__name__, function.__doc__, {"path": str})
        async def call(arguments):
            return {"content": [{"type": "text", "text": "done"}]}

        return call

    return create_sdk_mcp_server("shop", tools=[as_tool(each) for each in functions])


def options_for(ten_turns, functions=(), **more):
    return foreword_options(
        ten_turns.conversation,
        model="claude-sonnet-5-5",
        tools=[],
        mcp_servers={"shop": server_of(functions)} if functions else {},
        **more,
    )


async def converse(options, messages):
    """Send messages in one session and return its id."""
    async with ClaudeSDKClient(options) as client:
        for message in messages:
            await client.query(message)
            async for answer in client.receive_response():
                session = getattr(answer, "session_id", None)
    return session


def model_requests(ten_turns):
    """The requests with the conversation's prompt; Claude Code may also send other requests."""
    return [each for each in ten_turns.requests if "make test" in each.prompt or "Ask before" in each.prompt]


def test_ten_turns_keep_the_prefix(ten_turns):
    def read(path):
        """Reads."""

    def search(path):
        """Searches."""

    def ask(path):
        """Is added late."""

    session = asyncio.run(converse(options_for(ten_turns, [read, search]), ["Hello 0.", "Hello 1."]))
    ten_turns.edit("Ask before you push.")
    for number in range(2, COMPACTION):
        functions = [*([ask] if number >= LATE else []), *([search, read] if number % 2 else [read, search])]
        options = options_for(ten_turns, functions, resume=session)
        session = asyncio.run(converse(options, [f"Hello {number}."]))
    ten_turns.conversation.compact()
    messages = [f"Hello {number}." for number in range(COMPACTION, TURNS)]
    asyncio.run(converse(options_for(ten_turns, [search, read, ask]), messages))
    requests = model_requests(ten_turns)
    assert len(requests) == TURNS
    assert max(request.marks for request in requests) <= 4
    for number, (earlier, later) in enumerate(itertools.pairwise(requests), 1):
        assert number == COMPACTION or later.pieces[: len(earlier.pieces)] == earlier.pieces
    assert ["mcp__shop__ask" in json.dumps(request.messages) for request in requests[:COMPACTION]] == [False] * 4 + [
        True
    ] * 3
    assert ["Ask before you push" in request.prompt for request in requests] == [False] * 7 + [True] * 3


def test_a_compaction_by_claude_code_gives_the_next_options_the_current_files(ten_turns):
    asyncio.run(converse(options_for(ten_turns), ["Hello 0.", "Hello 1."]))
    ten_turns.edit("Ask before you push.")
    assert "make test" in options_for(ten_turns).system_prompt
    asyncio.run(converse(options_for(ten_turns), ["Hello 2.", "Hello 3.", "/compact"]))
    assert "Ask before you push" in options_for(ten_turns).system_prompt


def test_an_announcement_is_added_to_the_message(ten_turns):
    async def run():
        options = options_for(ten_turns)
        ten_turns.conversation.send_message("Speak plainly.")
        async for _ in query(prompt="Hello.", options=options):
            pass

    asyncio.run(run())
    assert "Speak plainly." in model_requests(ten_turns)[-1].text


def test_a_sub_agent_has_its_task_and_your_own_prompt_is_refused(ten_turns):
    options = foreword_options(ten_turns.conversation, task="Review the change.")
    assert "Review the change." in options.system_prompt and "make test" in options.system_prompt
    with pytest.raises(CallError, match="do not pass a system_prompt"):
        foreword_options(ten_turns.conversation, system_prompt="Be kind.")
