"""A layout that sends sections as messages: a system prompt, instructions from the user, and a late system message."""

import json

import pytest

from foreword import Agent, Conversations, Tool

LAYOUT = """
sections = ["identity", "rules", "instructions", "environment", "plan"]

[find.project]
files = ["walk:AGENTS.md"]

[section.identity]
text = "You are an agent."
lifetime = "release"

[section.rules]
text = "Answer briefly."
lifetime = "release"
role = "developer"

[section.instructions]
sections = ["heading", "files"]
lifetime = "project"
role = "user"

[section.heading]
text = "Follow these:"
when = ["!set:quiet"]

[section.files]
list = "project"
item = "## {path}\\n\\n{text}"
wrap = "<files>\\n{}\\n</files>"

[section.environment]
text = "You are in {cwd}."

[section.plan]
list = "plan"
lifetime = "turn"
role = "user"

[settings]
quiet = false

[on]
turn = "keep"
tools = "append"
reload = "gather"
compaction = "gather"

[compaction]
under = "kept"
say = "message"

[wording]
compaction = "Summarise."
"""


@pytest.fixture
def layout(tree):
    """The path of the layout in a workspace with one instruction file."""
    tree(
        {"roles.toml": LAYOUT, "w/AGENTS.md": "Be kind.\n", "v/AGENTS.md": "Be fast.\n", "v/.git": None, "w/.git": None}
    )
    return tree.path("roles.toml")


@pytest.fixture
def prompt_messages(tree):
    """`prompt_messages("Be kind.")` returns the messages of the prompt with these instructions."""

    def prompt_messages(text, cwd="w"):
        return [
            {"role": "developer", "content": "Answer briefly."},
            {
                "role": "user",
                "content": f"Follow these:\n\n<files>\n## {tree.path(cwd)}/AGENTS.md\n\n{text}\n</files>",
            },
            {"role": "system", "content": f"You are in {tree.path(cwd)}."},
        ]

    return prompt_messages


@pytest.fixture
def open_conversation(tree, layout):
    """`open_conversation()` opens a conversation under the layout, like a process that has just started."""
    opened_stores = []

    def open_conversation(id="t", *, cwd="w", layout=layout, store="", tools="", extensions=(), set=(), **agent):
        conversations = Conversations(store or f"sqlite:///{tree.path('store.db')}", extensions)
        opened_stores.append(conversations)
        tools = [Tool(name) for name in tools.split()]
        return conversations.open(
            id, tree.workspace(cwd), Agent(tools=tools, **agent), layout, assignments=list(dict(set).items())
        )

    yield open_conversation
    for conversations in opened_stores:
        conversations.close()


@pytest.fixture
def run(tree, layout, capsys, monkeypatch):
    """`run("show")` runs a command under the layout in the workspace `w` and returns what it prints."""
    from foreword.cli import main

    monkeypatch.setenv("HOME", tree.path("home"))
    monkeypatch.chdir(tree.path("w"))

    def run(*arguments):
        assert main([*arguments, "--layout", layout]) == 0
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in arguments else tree.short(out)

    return run
