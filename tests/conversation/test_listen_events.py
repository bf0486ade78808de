"""`listen` is called with the events in the table of extensions, whatever a layout does on an event."""

from __future__ import annotations

import pytest

from foreword import Agent, Conversations, Extension, Tool, Workspace
from foreword.extensions import DETAILS, EVENTS
from foreword.layout.keys import STEPS


@pytest.mark.parametrize("step", STEPS)
def test_every_event_is_in_the_table(tmp_path, step):
    calls = []
    listener = Extension("listener", listen=lambda event, what: calls.append((event, dict(what))))
    workspace = Workspace(str(tmp_path), home=str(tmp_path / "home"))
    settings = [("on.turn", step), ("on.tools", step)]
    with_more = Agent(tools=[Tool("read_file"), Tool("shell")])
    conversations = Conversations(extensions=[listener])
    for agent in (Agent(tools=[Tool("read_file")]), with_more, with_more):
        (tmp_path / "AGENTS.md").write_text(f"There are {len(calls)} of them.\n")
        conversations.open("one", workspace, agent, assignments=settings).turn("Go on.")
    expected = {"constructed", *([] if step == "keep" else [step])}
    assert {event for event, _ in calls} == expected
    assert [what for _, what in calls if what.keys() != DETAILS.keys()] == []
    assert [event for event, _ in calls if event not in EVENTS] == []


def test_the_table_has_no_other_events():
    assert {*EVENTS} == {"constructed", *STEPS} - {"keep"}
