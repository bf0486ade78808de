"""An agent of pydantic-ai whose instructions are a kept prompt: pydantic-ai has the loop, the tools and the messages.

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
# pydantic-ai sends the prompt as one text, so one breakpoint follows the tools, one the prompt and one the messages.
SETTINGS = AnthropicModelSettings(
    max_tokens=4096, anthropic_cache_tool_definitions=True, anthropic_cache_instructions=True, anthropic_cache=True
)


def read_file(path: str) -> str:
    """Reads a text file."""
    return told(lambda: Path(path).read_text())


def list_files(path: str) -> str:
    """Lists a folder."""
    return told(lambda: "\n".join(sorted(each.name for each in Path(path).iterdir())))


def told(work):
    """What a tool gives. A failure is told, not raised: the model may try something else."""
    try:
        return work()
    except (OSError, ValueError) as error:
        return repr(error)


TOOLS = [read_file, list_files]


def open_talk():
    """The conversation. Foreword is told which tools there are, as the prompt depends on them."""
    tools = [Tool(each.__name__, each.__doc__) for each in TOOLS]
    agent = Agent(tools=tools, model=MODEL, provider="anthropic")
    return Conversations("talks.db").open("pydantic-ai-loop", Workspace("."), agent)


async def ask(agent, turn, message, history):
    """Let pydantic-ai work on a message, under the prompt of this turn."""
    result = await agent.run(message, instructions=turn.system, message_history=history)
    read, new = result.usage.cache_read_tokens, result.usage.input_tokens - result.usage.cache_read_tokens
    print(f"  [edition {turn.edition}: {read:,} tokens from the cache, {new:,} new]\n  {result.output}")
    return result


async def main(messages):
    talk, history = open_talk(), []
    agent = pydantic_ai.Agent(f"anthropic:{MODEL}", tools=TOOLS, model_settings=SETTINGS)
    for message in messages:
        print(f"> {message}")
        if message == "/compact":  # the summary is asked for in a message, under the prompt that is in the cache
            turn = talk.compact()
            summary = (await ask(agent, turn, turn.messages[-1]["content"], history)).output
            history = [ModelRequest.user_text_prompt(summary)]
        else:
            history = (await ask(agent, talk.turn(message), message, history)).all_messages()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
