"""layouts, skills and skill, with and without --json."""

import json

import pytest

from foreword.packs.packs import mirror_names

NAMES = ["builder", "foreword", "ion", "opal", "pi", "pod"]


# layouts


def test_layouts_lists_every_layout(run):
    status, out, err = run("layouts")
    standard, mirrors = ([line.split(None, 1) for line in part.split("\n")] for part in out.rstrip("\n").split("\n\n"))
    assert (status, err, [name for name, _ in standard]) == (0, "", NAMES)
    assert all(about.endswith(".") for _, about in standard)
    assert [name for name, _ in mirrors] == list(mirror_names())
    assert all(program[-1].isdigit() for _, program in mirrors)


def test_layouts_can_be_printed_as_json(run):
    output = json.loads(run("layouts", "--json")[1])
    assert {tuple(sorted(layout)) for layout in output} == {("about", "default", "mirrors", "name")}
    assert [layout["name"] for layout in output if not layout["mirrors"]] == NAMES
    assert [layout["name"] for layout in output if layout["mirrors"]] == list(mirror_names())


@pytest.mark.parametrize("name", NAMES)
def test_layouts_with_a_name_describes_that_layout(run, name):
    status, out, err = run("layouts", name)
    assert (status, err) == (0, "")
    assert out.split("\n")[0].partition(": ")[2] in run("layouts")[1]


def test_a_layout_that_mirrors_a_program_says_so(run):
    output = json.loads(run("layouts", "codex", "--json")[1])
    assert (output["address"], output["mirrors"][:10]) == ("$agents/codex", "Codex CLI ") and output["differs"]
    description = run("layouts", "codex")[1]
    assert (
        f"It mirrors {output['mirrors']}.\n" in description
        and f"\ndetected by  {', '.join(output['detected_by'])}\n" in description
    )
    assert " ".join(output["differs"][0].split()[:4]) in description


def test_a_layout_shows_its_patterns_its_touch_and_what_nothing_uses(run, tree):
    tree(
        {
            "own.toml": 'sections = ["a"]\ntouch = { sections = ["t"] }\n'
            '[find]\na = { files = [["walk:A.md", "walk:B.md"], "home:C.md"] }\nt = { files = ["down:A.md"] }\nx = { files = ["root:X.md"] }\n'
            '[section]\na = { list = "a" }\nt = { list = "t" }\nb = { text = "B." }\n'
        }
    )
    _, out, _ = run("layouts", "../own.toml")
    assert "\nfind a  [walk:A.md, walk:B.md], home:C.md\nfind x  root:X.md\nfind t  down:A.md\n" in out
    assert "\nunused  section.b, find.x\n" in out
    assert "Sent when a file is touched:\n\nt  conversation  user  files found by `t`\n" in out


def test_layouts_mark_the_default_and_do_not_repeat_names(run):
    rows = [line.split("  ", 1) for line in run("layouts")[1].splitlines() if line]
    assert [name for name, _ in rows if name.endswith("(default)")] == ["foreword (default)"]
    assert [name for name, about in rows if about.strip().lower().startswith(f"{name}:")] == []


def test_layouts_of_the_user_the_workspace_and_packs_are_listed(tree, run):
    tree(
        {
            "home/.config/foreword/prompts/team.toml": 'about = "Ours."\nextends = "$std/ion"\n',
            "home/.config/foreword/prompts/bad.toml": "= 1",
            "home/.config/foreword/foreword.toml": 'layout = "$user/team"\n',
            "w/.foreword/prompts/sub/local.toml": 'about = "Local."\nextends = "$std/pi"\n',
            "pack/prompts.toml": "",
            "pack/extra.toml": 'about = "Extra."\nextends = "$std/pi"\n',
        }
    )
    rows = json.loads(run("layouts", "--json", "--pack", "acme=../pack")[1])
    own = {row["name"]: row for row in rows if row["name"].startswith("$")}
    assert list(own) == ["$user/bad", "$user/team", "$workspace/sub/local", "$acme/extra"]
    assert own["$user/team"] == {"name": "$user/team", "about": "Ours.", "mirrors": "", "default": True}
    assert own["$user/bad"]["about"].startswith("cannot be loaded: ")
    assert [row["name"] for row in rows if row["default"]] == ["$user/team"]
    assert "\n$user/team (default)" in run("layouts")[1]


def test_one_layout_can_be_printed_as_json(run):
    output = json.loads(run("layouts", "ion", "--json")[1])
    assert (output["name"], output["address"], output["on"]) == ("ion", "$std/ion", {"turn": "gather"})
    assert [(section["name"], section["depth"], section["lifetime"]) for section in output["sections"]] == [
        ("base", 0, "release"),
        ("instructions", 0, "project"),
        ("ion-local", 1, "project"),
        ("global", 1, "project"),
        ("project", 1, "project"),
        ("skill", 0, "turn"),
        ("plan", 0, "turn"),
    ]


def test_a_custom_layout_is_described(tree, run):
    tree({"w/mine.toml": 'about = "Mine."\nextends = "$std/ion"\nsections = ["base", "plan"]\n'})
    output = json.loads(run("layouts", "./mine.toml", "--json")[1])
    assert (output["name"], output["about"]) == ("mine", "Mine.")
    assert [section["name"] for section in output["sections"]] == ["base", "plan"]


# skills


@pytest.fixture
def three_skills(tree, skill):
    return tree({
        "w/.git": None,
        "w/.agents/skills/testing/SKILL.md": skill("testing", "Runs the tests.", body="Run them all."),
        "w/.agents/skills/broken/SKILL.md": "---\nname: broken\n---\n",
        "w/.agents/skills/quiet/SKILL.md": skill("quiet", "Hidden.", "disable-model-invocation: true"),
        "home/.agents/skills/deploy/SKILL.md": skill("deploy", "|\n  Brings it\n  out."),
    })  # fmt: skip


def test_skills_lists_every_skill(three_skills, run):
    status, out, err = run("skills")
    assert (status, [line.split(None, 2) for line in out.rstrip("\n").split("\n")]) == (
        0,
        [
            ["deploy", "~/.agents/skills/deploy/SKILL.md", "Brings it out."],
            ["quiet", ".agents/skills/quiet/SKILL.md", "(hidden)  Hidden."],
            ["testing", ".agents/skills/testing/SKILL.md", "Runs the tests."],
        ],
    )
    assert ".agents/skills/broken/SKILL.md" in err and "[skill-no-description]" in err


def test_skills_can_be_printed_as_json(three_skills, run):
    listed, hidden = {"listed": True, "reason": ""}, {"listed": False, "reason": "its front matter hides it"}
    assert json.loads(run("skills", "--tool", "Read", "--json")[1]) == [
        {"name": "deploy", "description": "Brings it\nout.", "location": "/home/.agents/skills/deploy/SKILL.md", "hidden": False, **listed},
        {"name": "quiet", "description": "Hidden.", "location": "/w/.agents/skills/quiet/SKILL.md", "hidden": True, **hidden},
        {"name": "testing", "description": "Runs the tests.", "location": "/w/.agents/skills/testing/SKILL.md", "hidden": False, **listed},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ([], "the list needs a tool that can load skills"),
        (["--tool", "fetch"], "the list needs a tool that can load skills"),
        (["--layout", "pi", "--tool", "bash"], "the list needs the tool `read`"),
        (["--layout", "ion"], "the layout does not list skills"),
        (["--tool", "exec_command"], ""),
    ],
)
def test_skills_that_the_prompt_does_not_list_say_why(three_skills, run, options, reason):
    skills = json.loads(run("skills", *options, "--json")[1])
    assert {skill["reason"] for skill in skills if not skill["hidden"]} == {reason}
    is_reported = "[skills-unlisted]" in run("skills", *options)[2]
    assert is_reported == reason.startswith("the list needs")
    # Without --tool, lint knows nothing about the agent's tools.
    assert ("skills-unlisted" in run("lint", *options)[1]) == (is_reported and "--tool" in options)


def test_an_empty_list_of_skills_is_explained(run):
    status, out, err = run("skills")
    assert (status, out) == (0, "") and "no skills" in err
    assert run("skills", "--json") == (0, "[]\n", "")


def test_skills_lists_only_what_the_layout_finds(three_skills, run):
    assert [skill["name"] for skill in json.loads(run("skills", "--layout", "opal", "--json")[1])] == [
        "deploy",
        "quiet",
        "testing",
    ]
    assert json.loads(run("skills", "--layout", "pod", "--json")[1]) == []


# skill


def test_skill_prints_the_message_with_the_body(three_skills, run):
    status, out, err = run("skills", "testing")
    assert (status, err) == (0, "")
    assert "testing" in out and out.endswith("\n\nRun them all.\n")
    assert "description:" not in out


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi"])
def test_a_skill_as_json_is_a_user_message(three_skills, run, layout):
    output = json.loads(run("skills", "testing", "--layout", layout, "--json")[1])
    assert sorted(output) == ["content", "role"]
    assert output["role"] == "user" and output["content"].endswith("\n\nRun them all.")
    assert output["content"] + "\n" == run("skills", "testing", "--layout", layout)[1]


def test_a_hidden_skill_can_be_used_by_name(three_skills, run):
    assert run("skills", "quiet")[1].endswith("Body.\n")


def test_variables_in_a_body_are_not_replaced(tree, skill, run):
    tree({"w/.agents/skills/a/SKILL.md": skill("a", body="{name} {text} {{ x }} {} \\1")})
    assert run("skills", "a")[1].endswith("\n\n{name} {text} {{ x }} {} \\1\n")


def test_skill_takes_a_directory(three_skills, run):
    three_skills({"other/x": ""})
    assert run("skills", "deploy", three_skills.path("other"))[0] == 0
    assert run("skills", "testing", three_skills.path("other"))[0] == 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["skills", "tests"], "no skill 'tests'; known: deploy, quiet, testing"),
        (["skills", "zzz"], "no skill 'zzz'; known: deploy, quiet, testing"),
        (["skills", "testing", "--layout", "pod"], "the layout pod does not use skills"),
    ],
)
def test_an_unknown_skill_is_an_error(three_skills, run, arguments, sentence):
    assert run(*arguments) == (2, "", f"foreword: {sentence}\n")
