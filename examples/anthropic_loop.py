"""An agent loop with the Anthropic SDK: a prompt that is kept, two tools, and a compaction.

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
    "list_files": lambda path: "\n".join(sorted(each.name for each in Path(path).iterdir())),
}
AGENT = Agent(
    tools=[Tool("read_file", "Reads a text file.", schema=PATH), Tool("list_files", "Lists a folder.", schema=PATH)],
    model=MODEL,
    provider="anthropic",
)


def ask(client, talk, message, history):
    """Let the model work on a message until it wants no more tools. Gives the history, with all that was said."""
    turn = talk.turn(message, history)
    while True:
        said = call(client, turn)
        history = [*turn.history, {"role": "assistant", "content": [each.to_dict() for each in said]}]
        results = [done(each) for each in said if each.type == "tool_use"]
        if not results:
            return history
        turn = talk.turn(messages=[*history, {"role": "user", "content": results}])


def compact(client, talk, history):
    """Ask for a summary, as the layout says how. It takes the place of the history."""
    said = call(client, talk.compact(messages=history))
    return [{"role": "summary", "content": "".join(each.text for each in said if each.type == "text")}]


def call(client, turn):
    """Send what the model sees now. The prompt has its breakpoints; `cache_control` puts the last one behind the messages."""
    answer = client.messages.create(
        **for_anthropic(turn), model=MODEL, max_tokens=4096, cache_control={"type": "ephemeral"}
    )
    used = answer.usage
    read, new = used.cache_read_input_tokens or 0, used.input_tokens + (used.cache_creation_input_tokens or 0)
    print(f"  [edition {turn.edition}: {read:,} tokens from the cache, {new:,} new]")
    for each in answer.content:
        print(f"  {each.text}" if each.type == "text" else f"  {each.name} {each.input}")
    return answer.content


def done(use):
    """The result of a tool that the model asked for. A failure is told, not raised: the model may try something else."""
    try:
        content, is_error = TOOLS[use.name](**use.input), False
    except (OSError, TypeError, ValueError, KeyError) as error:
        content, is_error = repr(error), True
    return {"type": "tool_result", "tool_use_id": use.id, "content": content, "is_error": is_error}


def main(messages):
    client, history = Anthropic(), []
    talk = Conversations("talks.db").open("anthropic-loop", Workspace("."), AGENT)
    for message in messages:
        print(f"> {message}")
        history = compact(client, talk, history) if message == "/compact" else ask(client, talk, message, history)


if __name__ == "__main__":
    main(sys.argv[1:])
