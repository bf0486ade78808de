"""Roles in the output of commands and in responses of the service."""

import json

import pytest

from foreword import Agent, Conversations, assemble
from foreword.programs.questions import answer


def test_show_prints_the_whole_text(tree, run, layout):
    assert run("show") == tree.short(assemble(tree.workspace(), Agent(), layout).text) + "\n"


def test_show_has_a_heading_for_each_message_on_a_terminal(tree, run, monkeypatch):
    monkeypatch.setattr("foreword.cli.terminal.is_terminal", lambda stream: True)
    assert run("show") == (
        "You are an agent.\n\n[developer]\nAnswer briefly.\n\n[user]\nFollow these:\n\n<files>\n## /w/AGENTS.md\n\nBe kind.\n"
        "</files>\n\n[system]\nYou are in /w.\n"
    )


def test_show_as_json_has_roles(run):
    form = run("show", "--json")
    assert [(passage["section"], passage["role"], passage.get("message")) for passage in form["passages"]] == [
        ("identity", "system", None),
        ("rules", "developer", 1),
        ("heading", "user", 2),
        ("files", "user", 2),
        ("environment", "system", 3),
    ]


def test_a_turn_can_be_printed_as_json(tree, run, prompt_messages, open_conversation):
    form = run("conversation", "turn", "t", "--message", "hi", "--json", "--store", f"sqlite:///{tree.path('s.db')}")
    assert (form["system"], form["leading"]) == ("You are an agent.", 3)
    assert form["messages"] == [*prompt_messages("Be kind."), {"role": "user", "content": "hi"}]
    assert form["history"] == [{"role": "user", "content": "hi"}]
    open_conversation(store=f"sqlite:///{tree.path('s.db')}").turn()


def test_an_edition_as_json_has_roles(tree, run):
    store = ("--store", f"sqlite:///{tree.path('s.db')}")
    run("conversation", "turn", "t", *store)
    form = run("conversation", "show", "t", "--json", *store)
    assert form["system"] == run("show", "--json")["text"]
    assert [passage["role"] for passage in form["passages"]] == ["system", "developer", "user", "user", "system"]
    assert run("conversation", "show", "t", *store) == run("show")


def test_tables_have_a_column_for_the_role(run):
    assert [line.split()[:3] for line in run("tokens").splitlines()[:5]] == [
        ["identity", "release", "system"],
        ["rules", "release", "developer"],
        ["heading", "project", "user"],
        ["files", "project", "user"],
        ["environment", "conversation", "system"],
    ]
    assert [passage["role"] for passage in run("tokens", "--json")["passages"]][:2] == ["system", "developer"]


def test_a_layout_without_roles_has_no_column(run, layout):
    assert "system" not in run("tokens", "--set", "sections=identity")


def test_the_description_of_a_layout_has_roles(run, layout, tree):
    assert "  heading     project       user       text" in run("layouts").splitlines()
    assert [section["role"] for section in answer("layouts", {"name": layout})["sections"]][:3] == [
        "system",
        "developer",
        "user",
    ]


def test_diff_names_the_section_whose_role_changed(tree, run, layout):
    tree({"old.json": json.dumps(run("show", "--json"))})
    tree({"new.json": json.dumps(run("show", "--json", "--set", "rules.role=user"))})
    form = answer("diff", {"old": tree.path("old.json"), "new": tree.path("new.json")})
    assert (form["changed"], form["sections"]["changed"]) == (True, ["rules"])
    assert answer("diff", {"old": tree.path("old.json"), "new": tree.path("old.json")})["changed"] is False


def test_cache_lists_the_ends_of_lifetimes_in_messages(tree, run):
    form = run("cache", "--json", "--provider", "anthropic")
    (provider,) = form["providers"]
    assert [(point["of"], point["after"], point["lifetime"]) for point in provider["breakpoints"]] == [
        ("leading", "rules", "release"),
        ("leading", "files", "project"),
        ("leading", "environment", "conversation"),
    ]
    assert form["findings"] == []


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_cache_lists_lifetimes_for_providers_without_breakpoints(run, provider):
    (form,) = run("cache", "--json", "--provider", provider)["providers"]
    cuts = [(point["of"], point["after"]) for point in form["breakpoints"]]
    assert cuts == [("leading", "rules"), ("leading", "files"), ("leading", "environment")]
    tokens = [point["tokens"] for point in form["breakpoints"]]
    assert tokens == sorted(tokens) and len(set(tokens)) == 3


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_cache_finds_the_first_difference_in_a_message(tree, run, provider):
    tree({"old.json": json.dumps(run("show", "--json"))})
    tree({"w/AGENTS.md": "Be kinder.\n"})
    tree({"new.json": json.dumps(run("show", "--json"))})
    paths = {"old": tree.path("old.json"), "new": tree.path("new.json")}
    (form,) = answer("cache", {**paths, "provider": provider})["providers"]
    assert (form["first"]["of"], form["first"]["name"]) == ("leading", "files")
    assert [cause["path"] for cause in form["first"]["causes"]] == [tree.path("w/AGENTS.md")]
    text = run("show", "--json")["text"]
    assert text[form["first"]["offset"] :].startswith("er.")
    assert 0 < form["shared"] < form["tokens"]


def test_cache_notices_a_changed_role(tree, run):
    tree({"old.json": json.dumps(run("show", "--json"))})
    tree({"new.json": json.dumps(run("show", "--json", "--set", "rules.role=user"))})
    form = answer("cache", {"old": tree.path("old.json"), "new": tree.path("new.json"), "provider": "openai"})
    assert form["providers"][0]["shared"] < form["providers"][0]["tokens"]


def test_a_message_that_only_one_side_has_is_a_difference(tree, run):
    tree({"old.json": json.dumps(run("show", "--json", "--set", "sections=identity"))})
    tree({"new.json": json.dumps(run("show", "--json", "--set", "sections=identity,rules"))})
    form = answer("cache", {"old": tree.path("old.json"), "new": tree.path("new.json"), "provider": "openai"})
    assert form["providers"][0]["first"] is not None


def test_an_edit_in_a_message_has_an_effect(tree, layout):
    from foreword.inspection.effects import measure_effect

    old = assemble(tree.workspace(), Agent(), layout)
    other = assemble(tree.workspace(), Agent(), layout, assignments=[("rules.role", "user")])
    result = measure_effect(old, other, len)
    assert (result.is_changed, result.kept, result.breaks) == (True, len("You are an agent.\n\n"), "rules")
    merged = assemble(tree.workspace(), Agent(), layout, assignments=[("rules.role", "system")])
    assert [measure_effect(old, merged, len).breaks, measure_effect(merged, old, len).breaks] == ["rules", "rules"]
    assert measure_effect(old, old, len).breaks == ""


def test_two_projects_share_their_system_prompt_but_not_their_messages(tree, layout):
    with Conversations() as conversations:
        turns = [conversations.open(cwd, tree.workspace(cwd), Agent(), layout).turn("hi") for cwd in ("w", "v")]
    assert len({turn.system for turn in turns}) == 1
    assert len({str(turn.messages) for turn in turns}) == 2


def test_saved_turns_are_compared_with_the_messages_of_their_prompts(tree, run):
    store = f"sqlite:///{tree.path('s.db')}"
    for index, text in enumerate(("Be kind.", "Be rude.")):
        tree({"w/AGENTS.md": text})
        turn = run("conversation", "turn", f"t{index}", "--message", "hi", "--json", "--store", store)
        tree({f"{index}.json": json.dumps(turn)})
    old, new = tree.path("0.json"), tree.path("1.json")
    assert answer("diff", {"old": old, "new": new})["sections"]["changed"] == ["message 2"]
    (form,) = answer("cache", {"old": old, "new": new, "provider": "openai"})["providers"]
    assert (form["first"]["of"], form["first"]["name"]) == ("leading", "message 2")


def test_a_saved_turn_with_impossible_messages_is_refused(tree, run):
    from foreword.errors import CallError

    tree({"bad.json": json.dumps({"system": "S", "leading": 1, "messages": [{"role": "robot", "content": "x"}]})})
    with pytest.raises(CallError, match="must have a role"):
        answer("diff", {"old": tree.path("bad.json"), "new": tree.path("bad.json")})
