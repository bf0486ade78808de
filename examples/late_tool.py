"""An agent loop with the OpenAI SDK (Chat Completions), in which a tool arrives late and the cache is kept.

python late_tool.py "Hello." "Can you open an issue?"

The tool `open_issue` is added after the first message. Chat Completions cannot add tools in the middle of a conversation, so the model calls it
with `use_tool`, and the list of tools stays the same.
"""

import sys

from openai import OpenAI

from foreword import Agent, CallError, Conversations, Tool, Workspace, for_openai_chat, shipped_tools

MODEL = "gpt-6.1-sol"
TITLE = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
OPEN_ISSUE = Tool("open_issue", "Opens an issue.", schema=TITLE)
RUN = {"open_issue": lambda title: f"Opened issue 7: {title}"}


def ask(client, conversation, message, history):
    """Let the model work on a message until it stops calling tools. Returns the new history."""
    turn = conversation.turn(message, history)
    while True:
        answer = client.chat.completions.create(**for_openai_chat(turn), model=MODEL)
        reply, read = answer.choices[0].message, answer.usage.prompt_tokens_details.cached_tokens
        print(f"  [{read:,} tokens from the cache, {answer.usage.prompt_tokens - read:,} new]")
        history = [*turn.history, reply.to_dict()]
        if not reply.tool_calls:
            print(f"  {reply.content}")
            return history
        turn = conversation.turn(messages=[*history, *(run_tool(conversation, call) for call in reply.tool_calls)])


def run_tool(conversation, call):
    """Run the tool that the model means, and return its result. A wrong call is explained to the model."""
    try:
        name, arguments = conversation.resolve_call(call.function.name, call.function.arguments)
        print(f"  {call.function.name}: {name} {arguments}")
        result = RUN[name](**arguments) if name in RUN else f"There is no tool {name!r}."
    except CallError as error:
        result = str(error)
    return {"role": "tool", "tool_call_id": call.id, "content": result}


def main(messages):
    client, history = OpenAI(), []
    agent = Agent(tools=shipped_tools("use_tool"), model=MODEL, provider="openai")
    conversation = Conversations("conversations.db").open("late-tool", Workspace("."), agent)
    for message in messages:
        print(f"> {message}")
        history = ask(client, conversation, message, history)
        conversation.set_active_tools([*agent.tools, OPEN_ISSUE])


if __name__ == "__main__":
    main(sys.argv[1:])
