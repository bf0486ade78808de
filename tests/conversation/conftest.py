"""A workspace, a store in a file, and conversations in them."""

import pytest

from foreword import Agent, Conversations, Tool


@pytest.fixture
def url(tree):
    """The URL of an empty store that other processes can open too."""
    return f"sqlite:///{tree.path('store.db')}"


@pytest.fixture
def open_conversation(tree, url):
    """`open_conversation("opal", tools="read_file shell")` opens a conversation as a new process would."""
    all_conversations = []

    def open_conversation(layout="foreword", id="t", *, cwd="w", tools="", extensions=(), store=None, set=(), **agent):
        conversations = Conversations(store or url, extensions)
        all_conversations.append(conversations)
        tools = [Tool(name) for name in tools.split()] if isinstance(tools, str) else tools
        workspace = tree.workspace(cwd)
        return conversations.open(
            id, workspace, Agent(tools=tools, **agent), layout, assignments=list(dict(set).items())
        )

    yield open_conversation
    for conversations in all_conversations:
        conversations.close()


@pytest.fixture(scope="session")
def tool_names():
    """A function that returns the names of tool definitions."""
    return lambda tools: [tool["name"] for tool in tools]


@pytest.fixture(scope="session")
def contents():
    """A function that returns the contents of messages."""
    return lambda messages: [message["content"] for message in messages]
