"""A pydantic-ai agent with Foreword's prompt as its instructions. pydantic-ai runs the loop, the tools and the messages.

python pydantic_ai_loop.py "What is this project?" "And how is it tested?" /compact "Go on."

Run it in a folder with an AGENTS.md.
"""

import asyncio
import sys
from pathlib import Path

import pydantic_ai
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.anthropic import AnthropicModelSettings

from foreword import Agent, Conversations, Tool, Workspace

MODEL = "claude-sonnet-5-5"
# pydantic-ai sends the prompt as one block, so there is one breakpoint after the tools, one after the prompt and one after the messages.
SETTINGS = AnthropicModelSettings(
    max_tokens=4096, anthropic_cache_tool_definitions=True, anthropic_cache_instructions=True, anthropic_cache=True
)


def read_file(path: str) -> str:
    """Reads a text file."""
    return run(lambda: Path(path).read_text())


def list_files(path: str) -> str:
    """Lists a folder."""
    return run(lambda: "\n".join(sorted(entry.name for entry in Path(path).iterdir())))


def run(work):
    """Run a tool. A failure is reported to the model, which may try something else."""
    try:
        return work()
    except (OSError, ValueError) as error:
        return repr(error)


TOOLS = [read_file, list_files]


def open_conversation():
    """Open the conversation. The prompt depends on the tools, so Foreword needs to know them."""
    tools = [Tool(tool.__name__, tool.__doc__) for tool in TOOLS]
    agent = Agent(tools=tools, model=MODEL, provider="anthropic")
    return Conversations("conversations.db").open("pydantic-ai-loop", Workspace("."), agent)


async def ask(agent, turn, message, history):
    """Let pydantic-ai work on a message with this turn's prompt."""
    result = await agent.run(message, instructions=turn.system, message_history=history)
    read, new = result.usage.cache_read_tokens, result.usage.input_tokens - result.usage.cache_read_tokens
    print(f"  [edition {turn.edition}: {read:,} tokens from the cache, {new:,} new]\n  {result.output}")
    return result


async def main(messages):
    conversation, history = open_conversation(), []
    agent = pydantic_ai.Agent(f"anthropic:{MODEL}", tools=TOOLS, model_settings=SETTINGS)
    for message in messages:
        print(f"> {message}")
        if message == "/compact":  # asks for the summary in a message, below the cached prompt
            turn = conversation.compact()
            summary = (await ask(agent, turn, turn.messages[-1]["content"], history)).output
            history = [ModelRequest.user_text_prompt(summary)]
        else:
            history = (await ask(agent, conversation.turn(message), message, history)).all_messages()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
