"""A workspace, a store in a file, and conversations over them."""

import pytest

from foreword import Agent, Conversations, Tool


@pytest.fixture
def url(tree):
    """The URL of an empty store that other processes can open too."""
    return f"sqlite:///{tree.path('store.db')}"


@pytest.fixture
def opened(tree, url):
    """`opened("opal", tools="read_file shell")` gives a conversation as a process would that has just started."""
    all_talks = []

    def opened(layout="foreword", id="t", *, cwd="w", tools="", extensions=(), store=None, set=(), **agent):
        talks = Conversations(store or url, extensions)
        all_talks.append(talks)
        tools = [Tool(name) for name in tools.split()] if isinstance(tools, str) else tools
        workspace = tree.workspace(cwd)
        return talks.open(id, workspace, Agent(tools=tools, **agent), layout, assignments=list(dict(set).items()))

    yield opened
    for talks in all_talks:
        talks.close()


def names(tools):
    return [tool["name"] for tool in tools]


def contents(messages):
    return [message["content"] for message in messages]


@pytest.fixture(scope="session")
def named():
    """The names of tool definitions."""
    return names


@pytest.fixture(scope="session")
def said():
    """What messages say."""
    return contents
