"""An agent loop with the OpenAI SDK (Responses): a stable prompt, two tools, and compaction.

python openai_loop.py "What is this project?" "And how is it tested?" /compact "Go on."

Run it in a folder with an AGENTS.md.
"""

import json
import sys
from pathlib import Path

from openai import OpenAI

from foreword import Agent, Conversations, Tool, Workspace, for_openai_responses

MODEL = "gpt-6.1-sol"
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = {
    "read_file": lambda path: Path(path).read_text(),
    "list_files": lambda path: "\n".join(sorted(entry.name for entry in Path(path).iterdir())),
}
AGENT = Agent(
    tools=[Tool("read_file", "Reads a text file.", schema=PATH), Tool("list_files", "Lists a folder.", schema=PATH)],
    model=MODEL,
    provider="openai",
)


def ask(client, conversation, message, history):
    """Let the model work on a message until it stops calling tools. Returns the new history."""
    turn = conversation.turn(message, history)
    while True:
        output = call(client, turn).output
        history = [*turn.history, *(item.to_dict() for item in output)]
        calls = [item for item in output if item.type == "function_call"]
        if not calls:
            return history
        paths = [json.loads(item.arguments).get("path", ".") for item in calls]
        touched = conversation.touch(paths).messages  # instructions for these files, if they are new
        turn = conversation.turn(messages=[*history, *map(run_tool, calls), *touched])


def compact(client, conversation, _, history):
    """Ask for a summary, as the layout specifies. It replaces the history."""
    return [{"role": "summary", "content": call(client, conversation.compact(messages=history)).output_text}]


def call(client, turn):
    """Send the turn. The API caches prefixes automatically, as long as the bytes stay the same."""
    answer = client.responses.create(**for_openai_responses(turn), model=MODEL)
    read = answer.usage.input_tokens_details.cached_tokens
    print(f"  [edition {turn.edition}: {read:,} tokens from the cache, {answer.usage.input_tokens - read:,} new]")
    for item in answer.output:
        if item.type == "function_call":
            print(f"  {item.name} {json.loads(item.arguments)}")
    if answer.output_text:
        print(f"  {answer.output_text}")
    return answer


def run_tool(tool_call):
    """Run a tool. A failure is reported to the model, which may try something else."""
    try:
        output = TOOLS[tool_call.name](**json.loads(tool_call.arguments))
    except (OSError, TypeError, ValueError, KeyError) as error:
        output = repr(error)
    return {"type": "function_call_output", "call_id": tool_call.call_id, "output": output}


def main(messages):
    client, history = OpenAI(), []
    conversation = Conversations("conversations.db").open("openai-loop", Workspace("."), AGENT)
    for message in messages:
        print(f"> {message}")
        step = compact if message == "/compact" else ask
        history = step(client, conversation, message, history)


if __name__ == "__main__":
    main(sys.argv[1:])
