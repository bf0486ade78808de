"""A base that is a reference ($user/greet) is replaced by the template at that address, wherever a base is accepted."""

from datetime import UTC, datetime

import pytest

from foreword import Agent, Assembler, CallError, Tool, assemble, for_anthropic

NOW = datetime(2026, 3, 7, 8, 55, 5, tzinfo=UTC)
LAYOUTS = ["foreword", "ion", "opal", "pi", "pod", "builder"]
GREET = "home/.config/foreword/prompts/greet.md"


@pytest.fixture
def project(tree):
    return tree({"w/.git": None, GREET: "Greet the user.\n", "w/.foreword/prompts/intro.md": "Introduce yourself.\n"})


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", ["$user/greet", "$workspace/intro", "  $user/greet\n"])
def test_a_reference_is_resolved_by_assemble(project, layout, base):
    prompt = assemble(project.workspace(), Agent(base=base), layout)
    assert prompt.text.startswith("Greet the user." if "greet" in base else "Introduce yourself.")
    assert base.strip() not in prompt.text


@pytest.mark.parametrize("layout", ["foreword", "builder"])
def test_a_changed_template_is_read_again(project, layout):
    assembler, agent = Assembler(project.workspace(), layout), Agent(base="$user/greet")
    before = assembler.prompt(agent)
    assert assembler.prompt(agent) == before
    project({GREET: "Say hello to the user.\n"})
    assert assembler.prompt(agent).text.startswith("Say hello")
    assert any(path.endswith("greet.md") for path in assembler.paths_read())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_reference_is_resolved_in_a_conversation(project, open_conversation, layout):
    conversation = open_conversation(layout, base="$user/greet")
    assert conversation.turn("hi", now=NOW).system.startswith("Greet the user.")
    assert open_conversation(layout, base="$user/greet").turn("hi", now=NOW).is_reused
    assert not open_conversation(layout, base="$user/greet").drift(NOW).is_changed
    assert conversation.preview().text.startswith("Greet the user.")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_task_of_a_sub_agent_can_be_a_reference(project, open_conversation, layout):
    conversation = open_conversation(layout)
    assert conversation.sub_agent("$user/greet").system.startswith("Greet the user.")
    text = conversation.sub_agent("$user/greet", append=True).system
    assert "Greet the user." in text and not text.startswith("Greet the user.") and "$user" not in text


@pytest.mark.parametrize(
    ("layout", "section"), [("builder", "body"), ("pod", "body"), ("ion", "base"), ("opal", "identity")]
)
def test_a_reference_in_settings_is_resolved(project, layout, section):
    project({"home/.config/foreword/foreword.toml": f'[for.{layout}]\nsection.{section}.text = "$user/greet"\n'})
    text = assemble(project.workspace(), layout=layout).text
    assert "Greet the user." in text and "$user/greet" not in text


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("$user/absent", "the template '$user/absent' does not exist"),
        ("$acme/greet", "unknown pack 'acme'; known packs: agents, std, user, workspace"),
        ("$user/../greet", "an address cannot contain"),
    ],
)
def test_an_invalid_reference_is_an_immediate_error(project, open_conversation, base, message):
    for call in (
        lambda: assemble(project.workspace(), Agent(base=base)),
        lambda: open_conversation(base=base).turn("hi"),
        lambda: open_conversation().sub_agent(base),
    ):
        with pytest.raises(CallError) as raised:
            call()
        assert message in str(raised.value)


@pytest.mark.parametrize("base", ["$HOME is /root.", "Pay $5/month at most.", "$", "$user", "Read $user/greet first."])
def test_text_with_a_dollar_sign_is_not_a_reference(project, base):
    assert assemble(project.workspace(), Agent(base=base), "pi").text.startswith(base)


def test_a_workspace_template_is_rendered_in_the_sandbox(project, open_conversation, monkeypatch):
    from foreword.engine import sandbox

    rendered = []
    monkeypatch.setattr(sandbox, "render", lambda *args, is_trusted, limit: rendered.append(is_trusted) or ())
    assemble(project.workspace(), Agent(base="$workspace/intro"), "pod")
    open_conversation("pod").sub_agent("$workspace/intro", append=True)
    assert rendered[0] is False and rendered[-1] is False


# File names


def file_name_findings(prompt):
    return [finding.code for finding in prompt.findings if finding.code == "base-file-name"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("base", ["prompts/base.md", "./base", "AGENTS.md", "~/me.txt", "/etc/base", "base.MD\n"])
def test_a_base_that_is_only_a_file_name_is_reported(project, open_conversation, layout, base):
    assert file_name_findings(assemble(project.workspace(), Agent(base=base), layout)) == ["base-file-name"]
    assert file_name_findings(open_conversation(layout, base=base).turn("hi")) == ["base-file-name"]
    assert file_name_findings(open_conversation(layout, "s").sub_agent(base)) == ["base-file-name"]


@pytest.mark.parametrize(
    "base", ["You are Ada.", "Read prompts/base.md first.", "a/b", "Version 1.2", "- AGENTS.md\n- x"]
)
def test_other_bases_are_not_findings(project, base):
    assert file_name_findings(assemble(project.workspace(), Agent(base=base), "pi")) == []


def test_a_file_name_in_settings_is_reported(project):
    project({"home/.config/foreword/foreword.toml": '[for.builder]\nsection.body.text = "prompts/base.md"\n'})
    assert file_name_findings(assemble(project.workspace(), layout="builder")) == ["base-file-name"]


def test_a_base_that_the_layout_does_not_use_is_reported(project):
    project({"w/own.toml": 'sections = ["only"]\n[section.only]\ntext = "Only this."\n'})
    prompt = assemble(project.workspace(), Agent(base="You are Ada."), project.path("w/own.toml"))
    assert ("argument-unused", "the layout own does not use the base that was passed") in project.messages(prompt)


# Sub-agents


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sub_agents_turn_can_be_converted_to_a_request(project, open_conversation, layout):
    history = [{"role": "assistant", "content": "Yes?"}]
    turn = open_conversation(layout).sub_agent("Count.", [Tool("read", "Reads.")], message="Begin.", messages=history)
    request = for_anthropic(turn)
    assert (turn.conversation, turn.edition, turn.is_reused) == ("t", 0, False)
    assert "".join(block["text"] for block in request["system"]) == turn.system
    assert [tool["name"] for tool in request["tools"]] == ["read"]
    assert request["messages"] == [*history, {"role": "user", "content": "Begin."}]
