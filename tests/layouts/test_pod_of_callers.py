"""The `pod` layout with the caller's residents, and with the folder and prefixes of another program."""

from contextlib import closing

import pytest

from foreword import Agent, Conversations, Resident
from foreword.engine import sandbox
from foreword.errors import CallError, LayoutError

BOUNDARIES = "---\n## Working boundaries\n\nReadable:\n  - /w\nWritable:\n  - /w"
RESIDENT = "---\ndescription: {}\nmodel_invokation: true\n---\n"


def test_the_callers_residents_are_listed_among_those_of_files(tree):
    tree({
        "w/.git": None,
        "w/.foreword/knowledge/billing.md": RESIDENT.format("From a file"),
        "w/.foreword/knowledge/prices.md": RESIDENT.format("Hidden by the caller"),
    })  # fmt: skip
    residents = [
        Resident("prices", "How prices\nare rounded", kind="knowledge"),
        Resident("api", "Which routes exist", kind="knowledge"),
        Resident("deploy", "How we deploy", kind="workflow"),
    ]
    prompt = tree.prompt("pod", base="BODY", residents=residents)
    assert tree.short(prompt.text).removeprefix(f"BODY\n\n{BOUNDARIES}\n\n") == (
        "---\n## Resident knowledge\n\n"
        "- api: Which routes exist\n- billing: From a file\n- prices: How prices are rounded\n\n"
        "---\n## Resident workflows\n\n- deploy: How we deploy"
    )
    assert tree.fates(prompt) == [
        ("/w/.foreword/knowledge/billing.md", "used"),
        ("/w/.foreword/knowledge/prices.md", "shadowed"),
    ]
    assert ("skill-shadowed", "/w/.foreword/knowledge/prices.md") in tree.findings(prompt)
    origins = {(piece.origin.kind, piece.origin.path) for passage in prompt.passages for piece in passage.pieces}
    assert {("caller", "resident api"), ("caller", "resident deploy")} <= origins


def test_an_agent_can_opt_out_of_the_callers_residents_and_other_layouts_report_them(tree):
    residents = [Resident("deploy", "How we deploy", kind="workflow")]
    assert tree.text("pod", base="BODY", residents=residents, set={"residents": False}) == f"BODY\n\n{BOUNDARIES}"
    message = "the layout ion does not list the residents (workflow) that were passed"
    assert ("argument-unused", message) in tree.messages(tree.prompt("ion", residents=residents))


@pytest.mark.parametrize(
    ("resident", "problem"),
    [
        (Resident("a", "b"), "the kind of a resident must be 'knowledge' or 'workflow', not ''"),
        (Resident("a", "b", kind="workflows"), "the kind of a resident must be 'knowledge' or 'workflow', not 'workflows'"),
        (Resident(" ", "b", kind="workflow"), "the name of a resident must not be blank (kind 'workflow', name ' ')"),
        (Resident("a", "\n", kind="workflow"), "the description of a resident must not be blank (kind 'workflow', name 'a')"),
        (Resident("a\nb", "c", kind="workflow"), "the name of a resident must not contain control characters: 'a\\nb'"),
    ],
)  # fmt: skip
def test_a_resident_that_cannot_be_listed_is_an_error(resident, problem):
    with pytest.raises(CallError) as raised:
        Agent(residents=[resident])
    assert str(raised.value) == problem


def test_two_residents_of_one_kind_have_different_names():
    same_name = Resident("a", "b", kind="workflow"), Resident("a", "b", kind="knowledge")
    assert len(Agent(residents=same_name).residents) == 2
    with pytest.raises(CallError, match="two residents of the kind 'workflow' are named 'a'"):
        Agent(residents=[same_name[0], same_name[0]])


def test_an_existing_conversation_keeps_its_residents(tree):
    residents = [Resident("deploy", "How we deploy", kind="workflow")]
    with closing(Conversations(f"sqlite:///{tree.path('store.db')}")) as conversations:
        conversations.open("old", tree.workspace(), Agent(residents=residents), "pod").turn("hi")
    with closing(Conversations(f"sqlite:///{tree.path('store.db')}")) as conversations:
        conversation = conversations.open("old", tree.workspace(), layout="pod")
        assert conversation.construct().system.endswith("## Resident workflows\n\n- deploy: How we deploy")


def test_another_programs_folder_and_prefixes_can_be_used(tree):
    tree({
        "w/.git": None,
        "w/.foreword/knowledge/old.md": RESIDENT.format("Not read"),
        "w/.insomnia/knowledge/new.md": RESIDENT.format("Read"),
        "w/.insomnia/prompts/body.md": "{% include 'sibling' %} {% include '$insomnia/common/tool-usage' %}",
        "w/.insomnia/prompts/sibling.md": "SIBLING {{ date }}",
        "w/.insomnia/prompts.toml": "resident_knowledge_section = 'KNOWN: {}'",
    })  # fmt: skip
    names = {"packs.std": "insomnia", "folder": ".insomnia"}
    with_own_body = tree.text("pod", base="$insomnia/default", set=names)
    assert with_own_body == tree.text("pod", base="$std/default", set=names)
    assert with_own_body.endswith("KNOWN: - new: Read")
    assert "SIBLING 2026" in tree.text("pod", base="$workspace/body", set=names)


def test_a_workspace_template_is_untrusted_under_every_name(tree, monkeypatch):
    tree({"w/.git": None, "w/.foreword/prompts/part.md": "PART"})
    asked = []
    monkeypatch.setattr(sandbox, "parse", lambda root, templates: asked.append(sorted(templates)))
    tree({"home/.config/foreword/prompts/body.md": "{% include '$project/part' %}"})
    tree.text("pod", base="$user/body", set={"packs.workspace": "project"})
    assert asked == [["$project/part", "$user/body"]]


@pytest.mark.parametrize(
    ("key", "content", "problem"),
    [
        ("packs.std", "user", "packs.std: the prefix 'user' is taken; choose another one"),
        (
            "packs.user",
            "a/b",
            "layout pod: packs.user: 'a/b' is not a prefix; it may have only letters, digits, '-' and '_'",
        ),
        ("folder", "../x", "layout pod: folder: '../x' is not a folder below the workspace's root"),
        ("folder", "/etc", "layout pod: folder: '/etc' is not a folder below the workspace's root"),
    ],
)
def test_a_prefix_or_folder_that_cannot_be_used_is_an_error(tree, key, content, problem):
    tree({"w/.git": None})
    with pytest.raises(LayoutError) as raised:
        tree.prompt("pod", set={key: content})
    assert str(raised.value) == problem
