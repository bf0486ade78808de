"""An agent loop with the Anthropic SDK: a stable prompt, two tools, and compaction.

python anthropic_loop.py "What is this project?" "And how is it tested?" /compact "Go on."

Run it in a folder with an AGENTS.md.
"""

import sys
from pathlib import Path

from anthropic import Anthropic

from foreword import Agent, Conversations, Tool, Workspace, for_anthropic

MODEL = "claude-sonnet-5-5"
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = {
    "read_file": lambda path: Path(path).read_text(),
    "list_files": lambda path: "\n".join(sorted(entry.name for entry in Path(path).iterdir())),
}
AGENT = Agent(
    tools=[Tool("read_file", "Reads a text file.", schema=PATH), Tool("list_files", "Lists a folder.", schema=PATH)],
    model=MODEL,
    provider="anthropic",
)


def ask(client, conversation, message, history):
    """Let the model work on a message until it stops calling tools. Returns the new history."""
    turn = conversation.turn(message, history)
    while True:
        content = call(client, turn)
        history = [*turn.history, {"role": "assistant", "content": [block.to_dict() for block in content]}]
        results = [run_tool(block) for block in content if block.type == "tool_use"]
        if not results:
            return history
        paths = [block.input.get("path", ".") for block in content if block.type == "tool_use"]
        touched = conversation.touch(paths).messages  # instructions for these files, if they are new
        turn = conversation.turn(messages=[*history, {"role": "user", "content": results}, *touched])


def compact(client, conversation, _, history):
    """Ask for a summary, as the layout specifies. It replaces the history."""
    content = call(client, conversation.compact(messages=history))
    return [{"role": "summary", "content": "".join(block.text for block in content if block.type == "text")}]


def call(client, turn):
    """Send the turn. The prompt has its own breakpoints; `cache_control` adds one after the last message."""
    answer = client.messages.create(
        **for_anthropic(turn), model=MODEL, max_tokens=4096, cache_control={"type": "ephemeral"}
    )
    usage = answer.usage
    read, new = usage.cache_read_input_tokens or 0, usage.input_tokens + (usage.cache_creation_input_tokens or 0)
    print(f"  [edition {turn.edition}: {read:,} tokens from the cache, {new:,} new]")
    for block in answer.content:
        print(f"  {block.text}" if block.type == "text" else f"  {block.name} {block.input}")
    return answer.content


def run_tool(tool_use):
    """Run a tool. A failure is reported to the model, which may try something else."""
    try:
        result, is_error = TOOLS[tool_use.name](**tool_use.input), False
    except (OSError, TypeError, ValueError, KeyError) as error:
        result, is_error = repr(error), True
    return {"type": "tool_result", "tool_use_id": tool_use.id, "content": result, "is_error": is_error}


def main(messages):
    client, history = Anthropic(), []
    conversation = Conversations("conversations.db").open("anthropic-loop", Workspace("."), AGENT)
    for message in messages:
        print(f"> {message}")
        step = compact if message == "/compact" else ask
        history = step(client, conversation, message, history)


if __name__ == "__main__":
    main(sys.argv[1:])
