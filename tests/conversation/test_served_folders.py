"""A conversation of a service reads skills only inside the served folders, even if a skill becomes a link later."""

import os

import pytest

from foreword import Agent, CallError, Conversations, Workspace

SECRET = "planted-elsewhere"


@pytest.fixture
def conversation(tree, url, skill):
    """A conversation in `served/a`, whose root also contains `elsewhere`, which is not served and has another body for the skill."""
    path = ".agents/skills/tidy/SKILL.md"
    tree({f"served/a/{path}": skill("tidy", body="Sweep."), f"elsewhere/{path}": skill("tidy", body=SECRET)})
    served = (os.path.realpath(tree.path("served")),)
    workspace = Workspace(tree.path("served/a"), root=tree.top, home=tree.path("home"), environment={}, inside=served)
    conversations = Conversations(url)
    yield conversations.open("t", workspace, Agent(), "foreword")
    conversations.close()


def replace_skill(tree):
    os.rename(tree.path("served/a/.agents/skills/tidy"), tree.path("served/old"))
    os.symlink(tree.path("elsewhere/.agents/skills/tidy"), tree.path("served/a/.agents/skills/tidy"))


def test_a_skill_is_not_read_outside_the_served_folders(tree, conversation):
    conversation.turn("hi")
    replace_skill(tree)
    with pytest.raises(CallError, match="the skill 'tidy' cannot be read"):
        conversation.use_skill("tidy")


def test_a_skill_is_not_sent_again_from_outside_the_served_folders(tree, conversation):
    conversation.turn("hi")
    assert "Sweep." in conversation.use_skill("tidy")["content"]
    conversation.compact()
    replace_skill(tree)
    turn = conversation.turn("go on")
    assert SECRET not in str(turn.messages)
    assert [finding.code for finding in turn.findings if "'tidy' cannot be read" in finding.message] == [
        "skill-invalid"
    ]


def test_a_definition_of_a_sub_agent_is_not_read_outside_the_served_folders(tree, url):
    text = "---\nname: reviewer\ndescription: Reviews.\n---\n{}\n"
    path = ".claude/agents/reviewer.md"
    layout = """
about = "Mine."
sections = ["base", "agents"]
on.turn = "warn"
[section.base]
text = "Hello."
instead = ["base"]
[section.agents]
list = "agents"
item = "- {name}"
[find.agents]
as = "agent"
files = ["walk:.claude/agents/*.md"]
"""
    tree({"own.toml": layout, f"served/a/{path}": text.format("Review."), "elsewhere.md": text.format(SECRET)})
    served = (os.path.realpath(tree.path("served")),)
    workspace = Workspace(tree.path("served/a"), root=tree.top, home=tree.path("home"), environment={}, inside=served)
    conversations = Conversations(url)
    conversation = conversations.open("t", workspace, Agent(), tree.path("own.toml"))
    conversation.turn("hi")
    assert "Review." in conversation.sub_agent(definition="reviewer").system
    os.remove(tree.path(f"served/a/{path}"))
    os.symlink(tree.path("elsewhere.md"), tree.path(f"served/a/{path}"))
    with pytest.raises(CallError, match="the sub-agent 'reviewer' cannot be used"):
        conversation.sub_agent(definition="reviewer")
    conversations.close()
