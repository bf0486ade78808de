"""The async methods do what the others do, and overlapping calls agree on one edition."""

import asyncio
import inspect
import threading

import pytest

from foreword import Agent, CallError, Conversations, Tool, Workspace
from foreword.conversation.conversation import Conversation

CALLS = [
    ("turn", ("Hello.",), {}),
    ("turn", (), {"message": "Go on.", "messages": [{"role": "user", "content": "Hello."}]}),
    ("touch", (["src/a.py"],), {"how": "edit"}),
    ("compact", (), {"messages": [{"role": "user", "content": "Hello."}]}),
    ("record_usage", ({"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 2},), {}),
    ("turn", (7,), {}),
    ("touch", ("src/a.py",), {}),
    ("record_usage", ({},), {}),
]


@pytest.fixture
def open_conversation(tmp_path):
    (tmp_path / "project/src").mkdir(parents=True)
    (tmp_path / "project/AGENTS.md").write_text("Ask first.")
    (tmp_path / "project/src/AGENTS.md").write_text("Test it.")
    workspace = Workspace(str(tmp_path / "project"), home=str(tmp_path / "home"))
    with Conversations(":memory:") as conversations:
        yield lambda id: conversations.open(id, workspace, Agent(tools=[Tool("read_file")], session="s"))


def outcome(call):
    """Return the result of a call, or its error."""
    try:
        result = call()
    except CallError as error:
        return str(error)
    return {name: content for name, content in vars(result).items() if name != "conversation"}


@pytest.mark.parametrize(("name", "args", "options"), CALLS)
def test_both_forms_return_the_same(open_conversation, name, args, options):
    first, second = open_conversation("first"), open_conversation("second")
    first.turn("Start.")
    second.turn("Start.")
    result = outcome(lambda: getattr(first, name)(*args, **options))
    assert outcome(lambda: asyncio.run(getattr(second, f"a{name}")(*args, **options))) == result


@pytest.mark.parametrize("name", ["turn", "touch", "compact", "record_usage"])
def test_both_forms_have_the_same_signature(name):
    method, asynchronous = getattr(Conversation, name), getattr(Conversation, f"a{name}")
    assert inspect.signature(asynchronous) == inspect.signature(method)
    assert asynchronous.__doc__ == f"Do the same as `{name}` in a thread, for async code."
    assert asynchronous.__qualname__ == f"Conversation.a{name}"


def test_the_event_loop_is_not_blocked(open_conversation):
    threads = []
    conversation = open_conversation("t")
    conversation._touching.check_files = lambda: threads.append(threading.current_thread())
    asyncio.run(conversation.aturn("Hello."))
    assert [thread is threading.main_thread() for thread in threads] == [False]


def test_overlapping_calls_agree_on_one_edition(open_conversation):
    async def run():
        first, second = open_conversation("t"), open_conversation("t")
        return await asyncio.gather(*(conversation.aturn("Hello.") for conversation in (first, second, first, second)))

    turns = asyncio.run(run())
    assert {(turn.edition, turn.system) for turn in turns} == {(1, turns[0].system)}
