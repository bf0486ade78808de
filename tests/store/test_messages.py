"""Messages of a prompt in every store."""

from foreword import Agent, Conversations, Workspace
from foreword.store import open_store

LAYOUT = """
sections = ["identity", "instructions"]

[find.project]
files = ["cwd:AGENTS.md"]

[section.identity]
text = "You are an agent."

[section.instructions]
list = "project"
role = "user"
"""


def test_prompt_messages_are_stored_byte_for_byte(url, tmp_path):
    (tmp_path / "roles.toml").write_text(LAYOUT)
    (tmp_path / "AGENTS.md").write_text("Be kind. 🦀\n")
    workspace, layout = Workspace(str(tmp_path), home=str(tmp_path)), str(tmp_path / "roles.toml")
    expected = ("You are an agent.", [{"role": "user", "content": "Be kind. 🦀"}])
    for text in ("Be kind. 🦀\n", "Be rude.\n"):
        (tmp_path / "AGENTS.md").write_text(text)
        with Conversations(url) as conversations:
            turn = conversations.open("t", workspace, Agent(), layout).turn()
        assert (turn.system, list(turn.messages)) == expected
    store = open_store(url)
    assert store.current("t").system == "You are an agent.\n\nBe kind. 🦀"
    assert store.verify() == []
    store.close()
