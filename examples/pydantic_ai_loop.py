"""A pydantic-ai agent with Foreword's prompt. pydantic-ai runs the loop, the tools and the messages.

python pydantic_ai_loop.py "What is this project?" "And how is it tested?" /compact "Go on."

Run it in a folder with an AGENTS.md.
"""

import asyncio
import sys
from pathlib import Path

import pydantic_ai
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelRequest

from foreword import Conversation, Conversations, Workspace
from foreword.integrations.pydantic_ai import ForewordCapability

MODEL = "claude-sonnet-5-5"


def read_file(context: RunContext[Conversation], path: str) -> str:
    """Reads a text file."""
    return run(context, path, lambda: Path(path).read_text())


def list_files(context: RunContext[Conversation], path: str) -> str:
    """Lists a folder."""
    return run(context, path, lambda: "\n".join(sorted(entry.name for entry in Path(path).iterdir())))


def run(context, path, work):
    """Run a tool, and add the instructions for its file if they are new. A failure is reported to the model."""
    try:
        return "\n\n".join(filter(None, (work(), context.deps.touch([path]).text)))
    except (OSError, ValueError) as error:
        return repr(error)


TOOLS = [read_file, list_files]


async def ask(agent, conversation, edition, message, history):
    """Let pydantic-ai work on a message. The capability adds the prompt, orders the tools and sets the cache breakpoints."""
    result = await agent.run(message, message_history=history, deps=conversation)
    read, new = result.usage.cache_read_tokens, result.usage.input_tokens - result.usage.cache_read_tokens
    print(f"  [edition {edition()}: {read:,} tokens from the cache, {new:,} new]\n  {result.output}")
    return result


async def main(messages):
    conversations, history = Conversations("conversations.db"), []
    conversation = conversations.open("pydantic-ai-loop", Workspace("."))
    capability = ForewordCapability(conversation)
    agent = pydantic_ai.Agent(f"anthropic:{MODEL}", tools=TOOLS, capabilities=[capability])

    def edition():
        return conversations.current(conversation.id)[0].number

    for message in messages:
        print(f"> {message}")
        if message == "/compact":  # the summary replaces the history, so the next turn reads AGENTS.md again
            request = conversation.layout.wording["compaction"]
            history = [
                ModelRequest.user_text_prompt((await ask(agent, conversation, edition, request, history)).output)
            ]
        else:
            history = (await ask(agent, conversation, edition, message, history)).all_messages()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
