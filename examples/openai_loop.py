"""An agent loop with the OpenAI SDK (Responses): a prompt that is kept, two tools, and a compaction.

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
    "list_files": lambda path: "\n".join(sorted(each.name for each in Path(path).iterdir())),
}
AGENT = Agent(
    tools=[Tool("read_file", "Reads a text file.", schema=PATH), Tool("list_files", "Lists a folder.", schema=PATH)],
    model=MODEL,
    provider="openai",
)


def ask(client, talk, message, history):
    """Let the model work on a message until it wants no more tools. Gives the history, with all that was said."""
    turn = talk.turn(message, history)
    while True:
        said = call(client, turn).output
        history = [*turn.history, *(each.to_dict() for each in said)]
        results = [done(each) for each in said if each.type == "function_call"]
        if not results:
            return history
        turn = talk.turn(messages=[*history, *results])


def compact(client, talk, history):
    """Ask for a summary, as the layout says how. It takes the place of the history."""
    return [{"role": "summary", "content": call(client, talk.compact(messages=history)).output_text}]


def call(client, turn):
    """Send what the model sees now. The API keeps prefixes by itself: what it takes is that the bytes stay the same."""
    answer = client.responses.create(**for_openai_responses(turn), model=MODEL)
    read = answer.usage.input_tokens_details.cached_tokens
    print(f"  [edition {turn.edition}: {read:,} tokens from the cache, {answer.usage.input_tokens - read:,} new]")
    for each in answer.output:
        if each.type == "function_call":
            print(f"  {each.name} {json.loads(each.arguments)}")
    if answer.output_text:
        print(f"  {answer.output_text}")
    return answer


def done(asked):
    """The result of a tool that the model asked for. A failure is told, not raised: the model may try something else."""
    try:
        output = TOOLS[asked.name](**json.loads(asked.arguments))
    except (OSError, TypeError, ValueError, KeyError) as error:
        output = repr(error)
    return {"type": "function_call_output", "call_id": asked.call_id, "output": output}


def main(messages):
    client, history = OpenAI(), []
    talk = Conversations("talks.db").open("openai-loop", Workspace("."), AGENT)
    for message in messages:
        print(f"> {message}")
        history = compact(client, talk, history) if message == "/compact" else ask(client, talk, message, history)


if __name__ == "__main__":
    main(sys.argv[1:])
