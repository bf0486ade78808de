"""Types of variables that extensions add to the bracket language."""

from __future__ import annotations

import pytest

from foreword import Agent, Assembler, Conversations, Extension, Workspace


def ticket(name, workspace):
    return f"T-{name}" if name.isdigit() else None


def fail(name, workspace):
    raise LookupError(name)


TICKETS = Extension("tickets", variables={"ticket": ticket, "broken": fail, "odd": lambda name, workspace: 5})


@pytest.mark.parametrize(
    ("template", "text", "codes"),
    [
        ("[ticket:42]", "T-42", []),
        ("[if ticket:42]open[else]none[endif]", "open", []),
        ("[if ticket:none]open[else]none[endif]", "none", []),
        ("a[broken:x]b", "ab", ["extension-failed"]),
        ("a[odd:x]b", "ab", ["extension-failed"]),
        ("a[other:x]b", "ab", ["template-unknown-type"]),
    ],
)
def test_an_extension_can_add_a_variable_type(tmp_path, template, text, codes):
    folder = Workspace(str(tmp_path), home=str(tmp_path), environment={})
    prompt = Assembler(folder, "builder", variables=TICKETS.variables).prompt(Agent(base=template))
    assert (prompt.text, [finding.code for finding in prompt.findings]) == (text, codes)


def test_a_conversation_accepts_the_types_of_its_extensions(tmp_path):
    folder = Workspace(str(tmp_path), home=str(tmp_path), environment={})
    conversation = Conversations(":memory:", [TICKETS]).open("talk", folder, Agent(base="[ticket:7]"), layout="builder")
    assert conversation.turn("hi").system == "T-7"
