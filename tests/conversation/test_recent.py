"""Conversations that start with the same agent in the same workspace share an edition, unless it contains their id."""

import pytest

from foreword import Agent, Conversations, Tool, Workspace
from foreword.engine import assembler
from foreword.extensions import Extension
from foreword.store.rows import TemplateVersion

WITH_ID = 'sections = ["who"]\n\n[section.who]\ntext = "This is {session}."\n'


def workspace(tmp_path):
    (tmp_path / "AGENTS.md").write_text("Be brief.")
    return Workspace(str(tmp_path), home=str(tmp_path / "home"), root=str(tmp_path))


@pytest.fixture
def settled(monkeypatch):
    """Make files that were written just now count as unchanged; otherwise they are read again, to be sure."""
    monkeypatch.setattr(assembler, "changed_paths", lambda stamps: set())
    return monkeypatch


def built(conversations, workspace, layout="foreword", **agent):
    """Return the prompts of two new conversations, and how many editions were built for them."""
    systems = [conversations.open(id, workspace, Agent(**agent), layout).turn("hi").system for id in ("one", "two")]
    return systems, len(conversations._shared.recent._editions)


def test_a_second_conversation_gets_the_same_edition(tmp_path, settled):
    conversations = Conversations()
    (first, second), count = built(conversations, workspace(tmp_path))
    assert (first is second, count) == (True, 1)
    editions = [conversations.store.current(id) for id in ("one", "two")]
    assert editions[0].account == editions[1].account


def test_another_agent_or_workspace_gets_another_edition(tmp_path, settled):
    conversations, folder = Conversations(), workspace(tmp_path)
    built(conversations, folder)
    other = conversations.open("three", folder, Agent(tools=[Tool("shell")]), "foreword").turn("hi")
    assert len(conversations._shared.recent._editions) == 2
    assert conversations.store.current("three").tools != conversations.store.current("one").tools
    settled.undo()
    (tmp_path / "AGENTS.md").write_text("Be very brief, please.")
    changed = conversations.open("four", folder, Agent(), "foreword").turn("hi")
    assert "Be very brief, please." in changed.system
    assert "Be very brief, please." not in other.system


def test_a_prompt_with_the_conversations_id_is_not_shared(tmp_path):
    (tmp_path / "mine.toml").write_text(WITH_ID)
    systems, count = built(Conversations(), workspace(tmp_path), str(tmp_path / "mine.toml"))
    assert (systems, count) == (["This is one.", "This is two."], 0)


def test_a_template_with_the_conversations_id_is_not_shared(tmp_path):
    conversations = Conversations()
    conversations.store.add_template(TemplateVersion(0, "Talk [prompt:conversation_id]"))
    systems, count = built(conversations, workspace(tmp_path), "builder")
    assert (systems, count) == (["Talk one", "Talk two"], 0)


def test_a_forgotten_prompt_leaves_memory(tmp_path, settled):
    conversations = Conversations()
    built(conversations, workspace(tmp_path))
    conversations.store.forget("one")
    assert len(conversations._shared.recent._editions) == 1
    conversations.store.forget("two")
    assert conversations._shared.recent._editions == ()


def test_nothing_is_shared_with_extensions(tmp_path):
    _, count = built(Conversations(extensions=[Extension("mine")]), workspace(tmp_path))
    assert count == 0
