"""The `ion` layout: a base, three layers of instructions that add up, the active skill, the active plan."""

import os
from pathlib import Path

import pytest

from foreword import Agent, Assembler, CallError, Conversations, Document
from foreword.encoding.prompt import prompt_form
from foreword.sources.stamps import time
from foreword.text.tokens import count, estimate
from foreword.vocabulary import replace


def test_every_part_is_in_order(tree, skill):
    tree({
        "home/.ion/AGENTS.md": "I\n",
        "home/.config/agents/AGENTS.md": "G\n",
        "home/.config/agents/rules/b.md": "B\n",
        "home/.config/agents/rules/a.md": "A\n",
        "w/AGENTS.md": "P\n",
        "w/.ion/skills/testing/SKILL.md": skill("testing", body="Run the tests."),
    })  # fmt: skip
    assert tree.text("ion", base="BASE", skill="testing", plan="1. Look.") == (
        "BASE\n"
        "\n"
        "# Ion Instructions\n"
        "I\n"
        "\n"
        "---\n"
        "\n"
        "# Global Instructions\n"
        "G\n"
        "\n"
        "A\n"
        "\n"
        "B\n"
        "\n"
        "---\n"
        "\n"
        "# Project Instructions\n"
        "P\n"
        "\n"
        "# Active Skill: testing\n"
        "Run the tests.\n"
        "\n"
        "# Active Plan\n"
        "1. Look."
    )


ION, GLOBAL, PROJECT = "# Ion Instructions\nI", "# Global Instructions\nG", "# Project Instructions\nP"
FILES = {"home/.ion/AGENTS.md": "I", "home/.config/agents/AGENTS.md": "G", "w/AGENTS.md": "P"}


@pytest.mark.parametrize(
    ("present", "text"),
    [
        ("", "BASE"),
        ("I", f"BASE\n\n{ION}"),
        ("G", f"BASE\n\n{GLOBAL}"),
        ("P", f"BASE\n\n{PROJECT}"),
        ("IG", f"BASE\n\n{ION}\n\n---\n\n{GLOBAL}"),
        ("IP", f"BASE\n\n{ION}\n\n---\n\n{PROJECT}"),
        ("GP", f"BASE\n\n{GLOBAL}\n\n---\n\n{PROJECT}"),
        ("IGP", f"BASE\n\n{ION}\n\n---\n\n{GLOBAL}\n\n---\n\n{PROJECT}"),
    ],
)
def test_absent_layers_are_left_out_with_their_separator(tree, present, text):
    tree({path: content for path, content in FILES.items() if content in present})
    assert tree.text("ion", base="BASE") == text
    assert tree.text("ion", base="BASE", plan="Plan.") == f"{text}\n\n# Active Plan\nPlan."


@pytest.mark.parametrize(
    ("agents", "claude", "project"),
    [
        ("A", "C", "A"),
        ("A", None, "A"),
        (None, "C", "C"),
        ("", "C", "C"),
        (" \n\t\n", "C", "C"),
        ("A", "", "A"),
        ("", "", None),
        (None, None, None),
    ],
)
def test_project_instructions_are_the_first_file_that_is_not_blank(tree, agents, claude, project):
    tree({f"w/{name}": text for name, text in (("AGENTS.md", agents), ("CLAUDE.md", claude)) if text is not None})
    assert tree.text("ion", base="BASE") == (
        "BASE" if project is None else f"BASE\n\n# Project Instructions\n{project}"
    )


def test_project_instructions_come_only_from_the_working_directory(tree):
    tree({"w/.git": None, "w/AGENTS.md": "ROOT", "w/a/AGENTS.md": "A", "w/a/b/x": ""})
    assert tree.text("ion", "w/a/b", base="BASE") == "BASE"
    assert tree.text("ion", "w/a", base="BASE") == "BASE\n\n# Project Instructions\nA"


@pytest.mark.parametrize(
    ("xdg", "text"),
    [
        ({}, "HOME"),
        ({"XDG_CONFIG_HOME": "xdg"}, "XDG"),
        ({"XDG_CONFIG_HOME": ""}, "HOME"),
    ],
)
def test_global_instructions_are_read_from_the_users_configuration_folder(tree, xdg, text):
    tree({"home/.config/agents/AGENTS.md": "HOME", "xdg/agents/AGENTS.md": "XDG"})
    assert tree.text("ion", base="BASE", environment=xdg) == f"BASE\n\n# Global Instructions\n{text}"


@pytest.mark.parametrize("relative", ["xdg", "./xdg", "../xdg", "~/xdg"])
def test_a_relative_configuration_folder_counts_as_unset(tree, relative, monkeypatch):
    tree({"home/.config/agents/AGENTS.md": "HOME", "w/xdg/agents/AGENTS.md": "XDG", "xdg/agents/AGENTS.md": "XDG"})
    monkeypatch.chdir(tree.path("w"))
    workspace = replace(tree.workspace(), environment={"XDG_CONFIG_HOME": relative})
    assert Assembler(workspace, "ion").prompt(Agent(base="BASE")).text == "BASE\n\n# Global Instructions\nHOME"


def test_global_instructions_on_windows_are_in_application_data(tree):
    tree({"roaming/agents/AGENTS.md": "W", "home/.config/agents/AGENTS.md": "HOME", "xdg/agents/AGENTS.md": "XDG"})
    environment = {"APPDATA": "roaming", "XDG_CONFIG_HOME": "xdg"}
    assert (
        tree.text("ion", base="BASE", platform="win32", environment=environment) == "BASE\n\n# Global Instructions\nW"
    )


def test_rules_need_no_agents_file_and_are_sorted_by_code_point(tree):
    folder = "home/.config/agents/rules"
    tree({f"{folder}/{name}": name for name in ("b.md", "a.md", "Z.md", "10.md", "9.md", "é.md", "note.txt")})
    tree({f"{folder}/deep/c.md": "not looked for"})
    assert tree.text("ion", base="BASE") == (
        "BASE\n\n# Global Instructions\n" + "\n\n".join(["10.md", "9.md", "Z.md", "a.md", "b.md", "é.md"])
    )


def test_blank_rules_leave_no_trace(tree):
    folder = "home/.config/agents/rules"
    tree({f"{folder}/a.md": "A\n\n\n", f"{folder}/b.md": "\n \n", f"{folder}/c.md": "\n\nC"})
    assert tree.text("ion", base="BASE") == "BASE\n\n# Global Instructions\nA\n\nC"


def test_without_a_home_user_layers_are_skipped_with_one_finding(tree):
    tree({"w/AGENTS.md": "P", **{path: "no" for path in FILES if path.startswith("home")}})
    prompt = tree.prompt("ion", base="BASE", home=None)
    assert prompt.text == "BASE\n\n# Project Instructions\nP"
    assert tree.findings(prompt) == [("home-missing", "")]


def test_without_a_home_an_absolute_configuration_folder_is_still_used(tree):
    tree({"xdg/agents/AGENTS.md": "XDG", "home/.ion/AGENTS.md": "no"})
    prompt = tree.prompt("ion", base="BASE", home=None, environment={"XDG_CONFIG_HOME": "xdg"})
    assert (prompt.text, tree.findings(prompt)) == ("BASE\n\n# Global Instructions\nXDG", [("home-missing", "")])


def test_each_candidate_has_a_layer(tree):
    tree(FILES)
    layers = [
        (tree.short(candidate.path), candidate.layer, candidate.fate)
        for candidate in tree.prompt("ion").candidates
        if candidate.fate == "used"
    ]
    assert layers == [
        ("/home/.ion/AGENTS.md", "ion-local", "used"),
        ("/home/.config/agents/AGENTS.md", "global", "used"),
        ("/w/AGENTS.md", "project", "used"),
    ]


# Base, skill, plan


def test_the_callers_base_replaces_the_built_in_one_entirely(tree):
    built_in = tree.prompt("ion")
    assert built_in.text.strip() and [passage.section for passage in built_in.passages] == ["base"]
    assert [piece.origin.kind for piece in built_in.passages[0].pieces] == ["builtin"]
    from_caller = tree.prompt("ion", base="BASE\nof theirs")
    assert (from_caller.text, [piece.origin.kind for piece in from_caller.passages[0].pieces]) == (
        "BASE\nof theirs",
        ["caller"],
    )


@pytest.mark.parametrize("blank", ["", " \n ", "\n"])
def test_a_blank_base_or_plan_counts_as_absent(tree, blank):
    assert tree.text("ion", base=blank, plan=blank) == tree.text("ion")


@pytest.mark.parametrize(
    "first",
    ["w/.ion/skills", "w/.agents/skills", "home/.ion/skills", "home/.agents/skills", "home/.config/agents/skills"],
)
def test_the_first_folder_with_the_active_skill_wins(tree, skill, first):
    folders = [
        "w/.ion/skills",
        "w/.agents/skills",
        "home/.ion/skills",
        "home/.agents/skills",
        "home/.config/agents/skills",
    ]
    for folder in folders[folders.index(first) :]:
        tree({f"{folder}/deploy/SKILL.md": skill("deploy", body=f"From {folder}.")})
    assert tree.text("ion", base="BASE", skill="deploy") == f"BASE\n\n# Active Skill: deploy\nFrom {first}."


@pytest.mark.parametrize(
    ("body", "reason"),
    [(b"\0", "it contains a NUL byte at offset"), (b"\xff", "byte 0xff at offset")],
    ids=["NUL", "Latin-1"],
)
def test_an_active_skill_whose_body_cannot_be_read_is_left_out(tree, skill, body, reason):
    padding = skill("a", body="word\n" * 4_000).encode()
    tree({"w/AGENTS.md": "X", "w/.agents/skills/a/SKILL.md": padding + body})
    prompt = tree.prompt("ion", base="B.", skill="a")
    assert prompt.text == "B.\n\n# Project Instructions\nX"
    (message,) = [message for code, message in tree.messages(prompt) if code == "skill-invalid"]
    assert message.startswith(f"the skill 'a' cannot be read: {reason}") and message.endswith("; it is left out")
    conversation = Conversations().open("t", tree.workspace(), Agent(base="B.", skill="a"), layout="ion")
    assert conversation.turn("hello").system == prompt.text


def test_a_skill_that_is_not_active_is_not_in_the_prompt(tree, skill):
    tree({"w/.ion/skills/deploy/SKILL.md": skill("deploy")})
    prompt = tree.prompt("ion", base="BASE", tools="read bash")
    assert (prompt.text, tree.fates(prompt)) == ("BASE", [("/w/.ion/skills/deploy/SKILL.md", "unused")])


def test_skills_are_read_leniently(tree):
    tree({"w/.ion/skills/Deploy It/SKILL.md": "---\ndescription: Use when: asked\n---\n\nBody: here.\n\n"})
    assert tree.text("ion", base="BASE", skill="Deploy It") == "BASE\n\n# Active Skill: Deploy It\nBody: here."


@pytest.mark.parametrize("body", ["", "\n", " \n\t\n"])
def test_a_skill_without_a_body_is_left_out_and_reported(tree, skill, body):
    tree({"w/.ion/skills/empty/SKILL.md": skill("empty", body=body)})
    path = "/w/.ion/skills/empty/SKILL.md"
    assert tree.text("ion", base="BASE", skill="empty", plan="Plan.") == "BASE\n\n# Active Plan\nPlan."
    prompt = tree.prompt("ion", base="BASE", skill="empty")
    assert (prompt.text, tree.findings(prompt)) == ("BASE", [("skill-blank", path)])
    assert tree.fates(prompt) == [(path, "blank")]


def test_an_unknown_skill_is_an_error_that_lists_the_known_ones(tree, skill):
    tree({f"w/.ion/skills/{name}/SKILL.md": skill(name) for name in ("deploy", "testing")})
    with pytest.raises(CallError, match="no skill 'zzz'; known: deploy, testing"):
        tree.prompt("ion", skill="zzz")
    with pytest.raises(CallError, match="no skill 'tsting'; known: "):
        tree.prompt("ion", skill="tsting")


def test_the_body_of_a_skill_keeps_its_file_and_lines(tree, skill):
    tree({"w/.ion/skills/deploy/SKILL.md": skill("deploy", body="\n\nOne.\n---\nThree.\n\n")})
    passage = tree.prompt("ion", base="BASE", skill="deploy").passages[-1]
    assert passage.text == "# Active Skill: deploy\nOne.\n---\nThree."
    assert [
        (piece.origin.kind, tree.short(piece.origin.path), piece.origin.lines, piece.text)
        for piece in passage.pieces
        if piece.origin.kind == "file"
    ] == [("file", "/w/.ion/skills/deploy/SKILL.md", (7, 9), "One.\n---\nThree.")]


def test_a_plan_from_a_file_has_the_file_as_origin(tree):
    prompt = tree.prompt("ion", base="BASE", plan=Document("/w/plan.md", "One.\nTwo."))
    assert prompt.text == "BASE\n\n# Active Plan\nOne.\nTwo."
    assert [piece.origin.path for piece in prompt.passages[-1].pieces if piece.origin.kind == "file"] == ["/w/plan.md"]


def test_text_removed_by_a_directive_splits_the_origins_around_it(tree):
    """No span of a file includes characters that are not in the prompt."""
    text = 'One. <!-- if: provider == "x" -->Hidden.<!-- endif -->Two. <!-- include: ./nowhere.md -->Three.'
    prompt = tree({"w/AGENTS.md": text}).prompt("ion", base="BASE")
    origins = prompt_form(prompt, count(""), [count("")] * len(prompt.passages))["passages"][-1]["origins"]
    spans = [prompt.text[origin["start"] : origin["end"]] for origin in origins if origin["kind"] == "file"]
    assert spans == ["One. ", "Two. ", "Three."]


# Duplicates


@pytest.mark.parametrize(
    ("files", "text", "reported"),
    [
        pytest.param({"w/AGENTS.md": "X", "w/CLAUDE.md": "Y"}, "P:X", ["shadowed /w/CLAUDE.md"], id="another text"),
        pytest.param({"w/AGENTS.md": "X", "w/CLAUDE.md": "X\n"}, "P:X", ["duplicate /w/CLAUDE.md"], id="a copy"),
        pytest.param({"w/AGENTS.md": "X", "w/CLAUDE.md": "@AGENTS.md\n"}, "P:X", ["duplicate /w/CLAUDE.md"], id="an import line"),
        pytest.param({"w/AGENTS.md": "X", "w/CLAUDE.md": Path("AGENTS.md")}, "P:X", ["duplicate /w/CLAUDE.md"], id="a link"),
        pytest.param({"w/CLAUDE.md": "X", "w/AGENTS.md": Path("CLAUDE.md")}, "P:X", ["duplicate /w/CLAUDE.md"], id="a link the other way"),
        pytest.param({"w/CLAUDE.md": "X", "w/AGENTS.md": "@CLAUDE.md"}, "P:X", ["duplicate /w/AGENTS.md"], id="an import the other way"),
        pytest.param({"home/.ion/AGENTS.md": "X", "w/AGENTS.md": "X"}, "P:X", ["duplicate /home/.ion/AGENTS.md"], id="the nearer layer"),
        pytest.param({"home/.ion/AGENTS.md": "X", "home/.config/agents/AGENTS.md": "X"}, "G:X", ["duplicate /home/.ion/AGENTS.md"], id="the later layer"),
        pytest.param(
            {"home/.ion/AGENTS.md": "X", "w/AGENTS.md": Path("../home/.ion/AGENTS.md")},
            "I:X",
            ["link-refused /w/AGENTS.md"],
            id="a link to another layer",
        ),
    ],
)  # fmt: skip
def test_a_file_is_included_once(tree, files, text, reported):
    prompt = tree(files).prompt("ion", base="BASE")
    heading = {"I": "# Ion Instructions", "P": "# Project Instructions", "G": "# Global Instructions"}[text[0]]
    assert prompt.text == f"BASE\n\n{heading}\n{text[2:]}"
    assert [f"{code.removeprefix('file-')} {path}" for code, path in tree.findings(prompt)] == reported


# Budgets


def text_of_tokens(count):
    """Text of about `count` tokens, in short lines."""
    return "\n".join(["word"] * (count * 1_000 // estimate("word\n" * 1_000)))


@pytest.mark.parametrize(
    ("files", "agent", "over"),
    [
        ({}, {"base": text_of_tokens(150)}, "base"),
        ({"home/.ion/AGENTS.md": text_of_tokens(1_500)}, {}, "ion-local"),
        ({"home/.config/agents/AGENTS.md": text_of_tokens(3_000)}, {}, "global"),
        ({"w/AGENTS.md": text_of_tokens(6_000)}, {}, "project"),
        (
            {"w/.ion/skills/s/SKILL.md": "---\nname: s\ndescription: D.\n---\n" + text_of_tokens(3_000)},
            {"skill": "s"},
            "skill",
        ),
        ({}, {"plan": text_of_tokens(700)}, "plan"),
    ],
)
def test_a_layer_over_its_budget_is_kept_and_reported(tree, files, agent, over):
    prompt = tree(files).prompt("ion", **agent)
    assert [code for code, _ in tree.findings(prompt)] == ["budget-section"]
    assert f"'{over}'" in prompt.findings[0].message
    assert "[foreword: cut" not in prompt.text


def test_a_prompt_over_its_budget_is_reported(tree):
    files = {"home/.config/agents/AGENTS.md": text_of_tokens(1_500), "w/AGENTS.md": text_of_tokens(4_000)}
    assert tree.findings(tree(files).prompt("ion")) == []
    prompt = tree.prompt("ion", set={"budget": 5_000})
    assert [code for code, _ in tree.findings(prompt)] == ["budget-prompt"]
    assert prompt.text == tree.prompt("ion").text


def test_a_very_long_file_is_truncated_with_a_marker_and_a_finding(tree):
    prompt = tree({"w/AGENTS.md": text_of_tokens(20_000)}).prompt("ion", base="BASE")
    assert prompt.text.startswith("BASE\n\n# Project Instructions\nword\nword\n")
    assert "[foreword: cut here" in prompt.text.rpartition("\n")[2]
    assert ("budget-file", "/w/AGENTS.md") in tree.findings(prompt)
    assert tree.fates(prompt) == [("/w/AGENTS.md", "cut")]


@pytest.mark.parametrize(
    ("agent", "heading", "reported"),
    [
        ({"skill": "s"}, "# Active Skill: s", "/w/.ion/skills/s/SKILL.md"),
        ({"plan": text_of_tokens(20_000)}, "# Active Plan", ""),
        ({"plan": Document("/p/plan.md", text_of_tokens(20_000))}, "# Active Plan", "/p/plan.md"),
    ],
)
def test_limits_apply_to_an_active_skill_and_a_plan(tree, agent, heading, reported):
    tree({"w/.ion/skills/s/SKILL.md": "---\nname: s\ndescription: D.\n---\n" + text_of_tokens(20_000)})
    prompt = tree.prompt("ion", base="BASE", **agent)
    assert prompt.text.startswith(f"BASE\n\n{heading}\nword\nword\n")
    assert "[foreword: cut here" in prompt.text.rpartition("\n")[2]
    assert estimate(prompt.text) < 10_100
    (message,) = [message for code, message in tree.messages(prompt) if code == "budget-file"]
    assert ("budget-file", reported) in tree.findings(prompt)
    assert message.startswith((reported or "section 'plan'") + f": cut from {estimate(text_of_tokens(20_000)):,} to ")
    assert tree.fates(prompt) == [("/w/.ion/skills/s/SKILL.md", "cut" if "skill" in agent else "unused")]


# Caching


@pytest.fixture
def advanced_clock(monkeypatch):
    """Set the clock ten seconds ahead, so that no file counts as just modified."""
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + 10_000_000_000)


@pytest.mark.usefixtures("advanced_clock")
def test_unchanged_files_are_not_read_again(tree):
    tree({**FILES, "w/CLAUDE.md": "shadowed"})
    assembler = Assembler(tree.workspace(), "ion")

    def is_kept(call):
        """Whether two calls return the same object. Between them, a process may create a file in a folder above, such as /tmp."""
        return any(call() is call() for _ in range(20))

    assert is_kept(assembler.snapshot)
    assert is_kept(lambda: assembler.prompt(Agent(base="BASE")))


@pytest.mark.usefixtures("advanced_clock")
@pytest.mark.parametrize(
    ("change", "project"),
    [
        ({"w/AGENTS.md": "P, edited"}, "P, edited"),
        ({"w/AGENTS.md": ""}, "C"),
        ({"w/AGENTS.md": "Q"}, "Q"),
        ({"w/CLAUDE.md": "C, edited"}, "P"),
    ],
)
def test_a_change_next_to_a_shadowed_file_is_noticed(tree, change, project):
    tree({"w/AGENTS.md": "P", "w/CLAUDE.md": "C"})
    assembler = Assembler(tree.workspace(), "ion")
    assert assembler.prompt(Agent(base="BASE")).text == "BASE\n\n# Project Instructions\nP"
    tree(change)
    for path in change:
        os.utime(tree.path(path), (2_000_000_000, 2_000_000_000))
    assert assembler.prompt(Agent(base="BASE")).text == f"BASE\n\n# Project Instructions\n{project}"
