"""Reading the workspace is announced before it begins, so that a thread which must not wait reads nothing."""

import pytest

from foreword.engine.assembler import Assembler
from foreword.extensions import Extension
from foreword.store import waits


class Refused(Exception):
    pass


class Quick:
    """Listens for a thread that must not build prompts."""

    def on_slow_work(self, kind):
        if kind == "build":
            raise Refused

    def set_interrupt(self, stop):
        """Nothing is interrupted."""


@pytest.fixture
def open_watched(open_conversation, monkeypatch):
    """`open_watched()` opens a conversation, and returns it with a list that gets an entry whenever it reads the workspace."""
    reads = []
    snapshot = Assembler.snapshot
    monkeypatch.setattr(Assembler, "snapshot", lambda *args: reads.append("snapshot") or snapshot(*args))

    def open_watched(layout="pi"):
        discover = Extension("x", resources_discover=lambda reason, about: reads.append(reason))
        return open_conversation(layout, tools="read", extensions=[discover]), reads

    return open_watched


def assert_refused(read, conversation):
    waits.listen(Quick())
    try:
        with pytest.raises(Refused):
            read(conversation)
    finally:
        waits.listen(None)


@pytest.mark.parametrize(
    "read",
    [
        lambda conversation: conversation.turn("hi"),
        lambda conversation: conversation.construct(),
        lambda conversation: conversation.reload(),
        lambda conversation: conversation.touch(["a.py"]),
    ],
)
def test_a_thread_that_must_not_wait_reads_nothing(open_watched, read):
    conversation, reads = open_watched()
    assert_refused(read, conversation)
    assert reads == []


@pytest.mark.parametrize(
    ("layout", "read"),
    [
        ("pi", lambda conversation: conversation.reload()),
        ("pi", lambda conversation: conversation.drift()),
        ("foreword", lambda conversation: conversation.touch(["a.py"])),
        # The edition's inputs were gathered for another layout.
        ("foreword", lambda conversation: conversation.use_skill("a")),
    ],
)
def test_a_conversation_with_an_edition_announces_what_it_reads_too(tree, open_watched, layout, read):
    tree({"w/.agents/skills/a/SKILL.md": "---\nname: a\ndescription: b\n---\n"})
    open_watched("pi")[0].turn("hi")
    conversation, reads = open_watched(layout)
    reads.clear()
    assert_refused(read, conversation)
    assert reads == []


def test_a_message_that_was_added_is_sent_without_reading_anything(open_watched):
    conversation, reads = open_watched()
    conversation.turn("hi")
    conversation.send_message("Note.")
    reads.clear()
    waits.listen(Quick())
    try:
        turn = conversation.turn("on")
    finally:
        waits.listen(None)
    assert ([message["content"] for message in turn.messages], reads) == (["Note.", "on"], [])
