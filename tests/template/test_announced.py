"""Untrusted templates that may take a long time announce themselves, so that a service can limit how many run at once."""

import pytest

from foreword import Agent, Assembler, Document, Workspace
from foreword.store import waits

MANY_TAGS = "".join(f"[file:f{number}]\n" for number in range(201))
LONG = "x" * 100_001


class Listener:
    def __init__(self):
        self.announced = []

    def on_slow_work(self, kind):
        self.announced.append(kind)

    def set_interrupt(self, stop):
        pass


@pytest.mark.parametrize(
    ("path", "text", "is_announced"),
    [
        ("request", MANY_TAGS, True),
        ("request", LONG, True),
        ("request", "You are [system:os].", False),
        ("/home/me/base.md", MANY_TAGS, False),
        ("", LONG, False),
    ],
)
def test_only_long_untrusted_templates_are_announced(tmp_path, path, text, is_announced):
    listener = Listener()
    waits.listen(listener)
    try:
        assembler = Assembler(Workspace(str(tmp_path), home=str(tmp_path)), "builder")
        assembler.snapshot(Agent(base=Document(path, text)))
    finally:
        waits.listen(None)
    assert ("template" in listener.announced) is is_announced
