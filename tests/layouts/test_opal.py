"""The `opal` layout: six sections in tags, each of them optional."""

from pathlib import Path

import pytest

from foreword import Document, Tool

ENVIRONMENT = "<environment>\nWorking directory: /w\n</environment>"


def context_section(path, text):
    return f'<project-context source="{path}">\n{text}\n</project-context>'


def section_names(tree, **options):
    return [passage.section for passage in tree.prompt("opal", **options).passages]


def content_of(text, tag):
    """Return the content of a section's tag, or None if the section is missing."""
    _, opening, rest = text.partition(f"<{tag}>\n")
    return rest.partition(f"\n</{tag}>")[0] if opening else None


def test_six_sections_are_in_order(tree, skill):
    tree({"w/AGENTS.md": "X", "w/.agents/skills/testing/SKILL.md": skill("testing", "Runs the tests.")})
    text = tree.text("opal", base="BASE", tools="bash", session="s1")
    guidelines, planning = content_of(text, "tool-guidelines"), content_of(text, "planning")
    menu = content_of(text, "skills")
    assert text == "\n\n".join([
        "BASE",
        context_section("/w/AGENTS.md", "X"),
        f"<skills>\n{menu}\n</skills>",
        ENVIRONMENT,
        f"<tool-guidelines>\n{guidelines}\n</tool-guidelines>",
        f"<planning>\n{planning}\n</planning>",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["identity", "environment"]),
        ({"tools": "x"}, ["identity", "environment"]),
        ({"tools": "bash"}, ["identity", "environment", "guidelines"]),
        ({"session": "s1"}, ["identity", "environment", "planning"]),
        ({"session": "s1", "role": "sub"}, ["identity", "environment"]),
        ({"plan": "Plan."}, ["identity", "environment"]),
    ],
)
def test_empty_sections_are_left_out(tree, options, expected):
    assert section_names(tree, **options) == expected


def test_an_empty_workspace_has_only_base_and_environment(tree):
    assert tree.text("opal", base="BASE") == f"BASE\n\n{ENVIRONMENT}"


# Identity


def test_the_default_identity_is_tagged_and_covers_six_principles(tree):
    identity = content_of(tree.text("opal"), "identity")
    assert tree.text("opal") == f"<identity>\n{identity}\n</identity>\n\n{ENVIRONMENT}"
    assert len([line for line in identity.split("\n") if line.startswith("- ")]) == 6
    for word in ("direct", "act", "verify", "honest", "boundaries", "task"):
        assert word in identity.lower()


@pytest.mark.parametrize("base", ["BASE", Document("/w/base.md", "BASE")])
def test_an_identity_from_the_caller_is_not_tagged(tree, base):
    assert tree.text("opal", base=base) == f"BASE\n\n{ENVIRONMENT}"


# Context


def test_context_is_read_from_the_file_system_root_down_to_the_working_directory(tree):
    tree({
        "AGENTS.md": "top",
        "w/.git": None,
        "w/AGENTS.md": "root",
        "w/a/OPAL.md": "middle",
        "w/a/b/AGENTS.md": "here",
        "w/a/b/c/AGENTS.md": "below",
        "w/z/AGENTS.md": "beside",
    })  # fmt: skip
    assert tree.text("opal", "w/a/b", base="BASE") == "\n\n".join([
        "BASE",
        context_section("/AGENTS.md", "top"),
        context_section("/w/AGENTS.md", "root"),
        context_section("/w/a/OPAL.md", "middle"),
        context_section("/w/a/b/AGENTS.md", "here"),
        "<environment>\nWorking directory: /w/a/b\n</environment>",
    ])  # fmt: skip


def test_all_variants_of_each_name_are_read(tree):
    names = ["AGENTS.md", ".agents/AGENTS.md", ".opal/AGENTS.md", "OPAL.md", ".agents/OPAL.md", ".opal/OPAL.md"]
    tree({f"w/{name}": f"text of {name}" for name in reversed(names)})
    assert tree.text("opal", base="BASE") == "\n\n".join(
        ["BASE", *(context_section(f"/w/{name}", f"text of {name}") for name in names), ENVIRONMENT]
    )


def test_other_names_are_not_read(tree):
    tree({"w/CLAUDE.md": "no", "w/AGENTS.local.md": "no", "w/.claude/AGENTS.md": "no", "w/Opal.md": "no"})
    assert tree.text("opal", base="BASE") == f"BASE\n\n{ENVIRONMENT}"


@pytest.mark.parametrize("names", ["TEAM.md,X.md", ["TEAM.md", "X.md"]])
def test_names_can_be_set(tree, names):
    tree({"w/AGENTS.md": "no", "w/X.md": "x", "w/.opal/TEAM.md": "team"})
    assert tree.text("opal", base="BASE", set={"names": names}) == "\n\n".join(
        ["BASE", context_section("/w/.opal/TEAM.md", "team"), context_section("/w/X.md", "x"), ENVIRONMENT]
    )


def test_context_can_be_disabled(tree, skill):
    tree({"w/AGENTS.md": "no", "w/.agents/skills/a/SKILL.md": skill("a")})
    prompt = tree.prompt("opal", tools="use_skill", set={"context": False})
    assert [passage.section for passage in prompt.passages] == ["identity", "skills", "environment"]
    assert ("/w/AGENTS.md", "unused") in tree.fates(prompt)


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"w/AGENTS.md": "X", "w/OPAL.md": "X"}, ["/w/AGENTS.md"]),
        ({"w/AGENTS.md": "X", "w/OPAL.md": "@AGENTS.md"}, ["/w/AGENTS.md"]),
        ({"w/AGENTS.md": "X", "w/.opal/OPAL.md": Path("../AGENTS.md")}, ["/w/AGENTS.md"]),
        ({"w/AGENTS.md": "X", "w/.agents/AGENTS.md": Path("../AGENTS.md")}, ["/w/AGENTS.md"]),
        ({"w/OPAL.md": "X", "w/AGENTS.md": Path("OPAL.md")}, ["/w/OPAL.md"]),
        ({"w/.opal/OPAL.md": "X", "w/.agents": Path(".opal")}, ["/w/.opal/OPAL.md"]),
        ({"AGENTS.md": "X", "w/OPAL.md": "X"}, ["/w/OPAL.md"]),
        ({"AGENTS.md": "X", "w/AGENTS.md": "\n\nX\n"}, ["/w/AGENTS.md"]),
        ({"AGENTS.md": "X", "w/AGENTS.md": "Y", "w/OPAL.md": "X"}, ["/w/AGENTS.md", "/w/OPAL.md"]),
        ({"AGENTS.md": "X", "w/AGENTS.md": "x"}, ["/AGENTS.md", "/w/AGENTS.md"]),
    ],
)
def test_the_nearest_of_equal_texts_is_kept(tree, files, kept):
    prompt = tree(files).prompt("opal", base="BASE")
    assert [path for path, fate in tree.fates(prompt) if fate == "used"] == kept
    assert tree.short(prompt.text).count("<project-context") == len(kept)
    assert [code for code, _ in tree.findings(prompt)] == ["file-duplicate"] * (len(files) - len(kept))


# Skills


def test_the_menu_is_a_sentence_a_blank_line_and_one_line_per_skill(tree, skill):
    tree({
        "w/.agents/skills/testing/SKILL.md": skill("testing", "Runs the\n  tests."),
        "home/.opal/skills/deploy/SKILL.md": skill("deploy", "Brings it *out*."),
    })  # fmt: skip
    sentence, blank, *lines = content_of(tree.text("opal", tools="use_skill"), "skills").split("\n")
    assert "`use_skill`" in sentence
    assert (blank, lines) == ("", ["- **deploy**: Brings it *out*.", "- **testing**: Runs the tests."])


FOLDERS = ["w/.agents/skills", "w/.github/skills", "home/.agents/skills", "home/.opal/skills", "extra/one", "extra/two"]


@pytest.mark.parametrize("first", FOLDERS)
def test_the_first_of_two_skills_with_the_same_name_wins(tree, skill, first):
    tree({"extra/one": None, "extra/two": None})
    for folder in FOLDERS[FOLDERS.index(first) :]:
        tree({f"{folder}/deploy/SKILL.md": skill("deploy", f"From {folder}.")})
    prompt = tree.prompt("opal", set={"skill_dirs": [tree.path("extra/one"), tree.path("extra/two")]})
    assert content_of(prompt.text, "skills").endswith(f"\n- **deploy**: From {first}.")
    assert [code for code, _ in tree.findings(prompt)] == ["skill-shadowed"] * (len(FOLDERS) - FOLDERS.index(first) - 1)


@pytest.mark.parametrize("extra", ["tools/skills", "~/mine", "$TOP/extra"])
def test_extra_directories_are_relative_to_the_workspace_or_the_home_or_absolute(tree, skill, extra):
    locations = {"tools/skills": "w/tools/skills", "~/mine": "home/mine", "$TOP/extra": "extra"}
    tree({f"{locations[extra]}/a/SKILL.md": skill("a")})
    assert content_of(tree.text("opal", set={"skill_dirs": extra.replace("$TOP", tree.top)}), "skills").endswith(
        "- **a**: Does it."
    )


def test_skills_are_found_one_level_deep_and_not_in_parents(tree, skill):
    tree({
        "w/.git": None,
        "w/.agents/skills/root/SKILL.md": skill("root"),
        "w/a/.agents/skills/group/deep/SKILL.md": skill("deep"),
        "w/a/.agents/skills/SKILL.md": skill("skills"),
    })  # fmt: skip
    assert content_of(tree.text("opal", "w/a"), "skills") is None


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("a", "---\nname: b\ndescription: D.\n---\n"),
        ("a", "---\ndescription: D.\n---\n"),
        ("a", "---\nname: a\n---\n"),
        ("A", "---\nname: A\ndescription: D.\n---\n"),
        ("a--b", "---\nname: a--b\ndescription: D.\n---\n"),
        ("a", "---\nname: a\ndescription: Use when: x\n---\n"),
        ("a", f"---\nname: a\ndescription: {'x' * 1025}\n---\n"),
        ("a", f"---\nname: a\ndescription: D.\ncompatibility: {'x' * 501}\n---\n"),
        ("a", "No front matter."),
        ("a", ""),
    ],
)
def test_an_invalid_skill_is_skipped_and_reported(tree, folder, text, skill):
    path = f".agents/skills/{folder}/SKILL.md"
    tree({f"w/{path}": text, "w/.agents/skills/good/SKILL.md": skill("good")})
    prompt = tree.prompt("opal")
    assert content_of(prompt.text, "skills").endswith("\n\n- **good**: Does it.")
    assert {path for _, path in tree.findings(prompt)} == {f"/w/{path}"}


@pytest.mark.parametrize(("field", "findings"), [("unheard-of", []), ("licence", [("skill-field", "info")])])
def test_a_skill_with_an_unknown_field_is_listed(tree, field, findings):
    tree({"w/.agents/skills/a/SKILL.md": f"---\nname: a\ndescription: D.\n{field}: 1\n---\n"})
    prompt = tree.prompt("opal")
    assert content_of(prompt.text, "skills").endswith("\n\n- **a**: D.")
    assert [(finding.code, finding.severity) for finding in prompt.findings] == findings


def test_globs_are_ignored(tree, skill):
    tree({"w/.agents/skills/a/SKILL.md": skill("a", "D.", 'globs: ["*.py"]')})
    assert content_of(tree.text("opal"), "skills").endswith("\n\n- **a**: D.")


def test_skills_can_be_disabled(tree, skill):
    tree({"w/AGENTS.md": "X", "w/.agents/skills/a/SKILL.md": skill("a")})
    assert section_names(tree, set={"skills": False}) == ["identity", "context", "environment"]


@pytest.mark.parametrize(
    ("tools", "words", "line"),
    [
        ("use_skill", "`use_skill`", "- **a**: Does it."),
        ("read_file use_skill", "`use_skill`", "- **a**: Does it."),
        ("read_file", "from the file", "- **a**: Does it. (`$TOP/w/.agents/skills/a/SKILL.md`)"),
        ("zsh", "from the file", "- **a**: Does it. (`$TOP/w/.agents/skills/a/SKILL.md`)"),
        ("Read", "from the file", "- **a**: Does it. (`$TOP/w/.agents/skills/a/SKILL.md`)"),
        ("exec_command", "from the file", "- **a**: Does it. (`$TOP/w/.agents/skills/a/SKILL.md`)"),
        ("Skill", "from the file", "- **a**: Does it. (`$TOP/w/.agents/skills/a/SKILL.md`)"),
        ("x", "ask the user", "- **a**: Does it."),
        ("", "ask the user", "- **a**: Does it."),
    ],
)
def test_the_menu_says_how_this_agent_can_load_a_skill(tree, skill, tools, words, line):
    tree({"w/.agents/skills/a/SKILL.md": skill("a")})
    text = tree.prompt("opal", tools=tools).text
    sentence, _, *lines = content_of(text, "skills").split("\n")
    assert words in sentence and lines == [line.replace("$TOP", tree.top)]
    assert ("use_skill" in text) == ("use_skill" in tools)
    assert content_of(tree.text("opal", tools=tools, set={"skills": False}), "skills") is None


def test_a_skills_body_is_not_in_the_prompt(tree, skill):
    tree({"w/.agents/skills/a/SKILL.md": skill("a", body="SECRET")})
    assert "SECRET" not in tree.text("opal", tools="use_skill")


# Guidelines


READ, OFFSET, EDIT, WRITE, SHOW, EXPLORE, STATUS = (
    {"`read_file`", "`cat`", "`head`", "`tail`", "`less`"},
    {"`read_file`", "`offset`", "`limit`"},
    {"`edit_file`", "`sed`", "`awk`", "`perl -i`", "redirects"},
    {"`write_file`", "redirects", "`tee`"},
    {"plain text", "`cat`", "`echo`"},
    {"`cat`", "`grep`", "`find`", "`ls`"},
    {"<status>", "</status>", "six words", "before each major step"},
)


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ("", []),
        ("anything", []),
        ("read_file", [STATUS]),
        ("edit_file", [STATUS]),
        ("write_file", [WRITE, STATUS]),
        ("bash", [SHOW, EXPLORE, STATUS]),
        ("read_file bash", [READ, OFFSET, SHOW, STATUS]),
        ("edit_file bash", [EDIT, SHOW, EXPLORE, STATUS]),
        ("read_file edit_file", [STATUS]),
        ("write_file bash", [WRITE, SHOW, EXPLORE, STATUS]),
        ("bash write_file edit_file read_file", [READ, OFFSET, EDIT, WRITE, SHOW, STATUS]),
        ("Bash", []),
        ("bashful read_file", [STATUS]),
        *((f"read_file {shell}", [READ, OFFSET, SHOW, STATUS]) for shell in ("shell", "zsh", "cmd", "powershell")),
        *((shell, [SHOW, EXPLORE, STATUS]) for shell in ("shell", "zsh", "cmd", "powershell")),
        ("shell bash", [SHOW, EXPLORE, STATUS]),
    ],
)
def test_guidelines_depend_on_the_tools(tree, tools, expected):
    block = content_of(tree.text("opal", tools=tools), "tool-guidelines")
    lines = block.split("\n") if block is not None else []
    assert len(lines) == len(expected)
    for line, words in zip(lines, expected, strict=True):
        assert line.startswith("- ")
        assert [word for word in words if word.lower() not in line.lower()] == []


def test_a_guideline_names_only_available_tools(tree):
    for tools in ("bash", "bash edit_file", "bash read_file", "read_file", "write_file"):
        text = content_of(tree.text("opal", tools=tools), "tool-guidelines")
        for name in {"read_file", "edit_file", "write_file"} - set(tools.split()):
            assert name not in text


def test_extension_rules_are_added(tree):
    rules = [
        lambda names: None,
        lambda names: "One." if "x" in names else None,
        lambda names: ["Two.", "One.", ""],
        lambda names: sorted(names),
    ]
    lines = content_of(tree.text("opal", tools="x y", rules=rules), "tool-guidelines").split("\n")
    assert lines == ["- One.", "- Two.", "- x", "- y"]


def test_a_rule_that_raises_is_reported_and_skipped(tree):
    def broken(names):
        raise KeyError("no")

    prompt = tree.prompt("opal", tools="x", rules=[broken, lambda names: "Still said."])
    assert content_of(prompt.text, "tool-guidelines") == "- Still said."
    assert tree.messages(prompt) == [("extension-failed", "the rule 'broken' raised KeyError and was skipped")]


def test_the_tools_own_guidelines_are_not_used(tree):
    assert "MINE" not in tree.text("opal", tools=[Tool("x", guidelines=["MINE"])])


# Planning


def test_planning_names_the_session_file(tree):
    planning = content_of(tree.text("opal", session="talk-42"), "planning")
    assert "\n/home/.opal/sessions/talk-42/plan.md\n" in f"\n{planning}\n"
    for word in ("before you start", "current", "user", "Ctrl+Y"):
        assert word in planning


@pytest.mark.parametrize(
    ("session", "folder"),
    [
        ("..", "%2E%2E"),
        ("../../x", "..%2F..%2Fx"),
        ("/etc", "%2Fetc"),
        ("a\\b", "a%5Cb"),
        ("a\nb", "a b"),
        ("v1.2", "v1.2"),
    ],
)
def test_a_session_is_one_folder_whatever_its_name(tree, session, folder):
    planning = content_of(tree.text("opal", session=session), "planning")
    assert f"\n/home/.opal/sessions/{folder}/plan.md\n" in planning


@pytest.mark.parametrize("options", [{}, {"session": ""}, {"session": "s1", "role": "sub"}])
def test_planning_needs_a_session_and_a_main_agent(tree, options):
    assert "<planning>" not in tree.text("opal", **options)


# Sub-agents


def test_a_sub_agent_gets_everything_but_planning(tree, skill):
    tree({"w/AGENTS.md": "X", "w/.agents/skills/a/SKILL.md": skill("a")})
    main = tree.text("opal", base="TASK", tools="read_file bash", session="s1")
    sub = tree.text("opal", base="TASK", tools="read_file bash", session="s1", role="sub")
    assert sub == main.partition("\n\n<planning>")[0]
    assert content_of(tree.text("opal", base="TASK", role="sub", tools="x"), "tool-guidelines") is None


# Attributes


@pytest.mark.parametrize(
    ("folder", "source"),
    [
        ('say "hi"', "/w/say &quot;hi&quot;/AGENTS.md"),
        ("a>b", "/w/a&gt;b/AGENTS.md"),
        ("a&b<c", "/w/a&amp;b&lt;c/AGENTS.md"),
        ("l'été", "/w/l'été/AGENTS.md"),
        ("two\nlines", "/w/two\\x0alines/AGENTS.md"),
    ],
)
def test_the_source_is_escaped(tree, folder, source):
    tree({f"w/{folder}/AGENTS.md": "X"})
    assert tree.text("opal", f"w/{folder}", base="BASE").split("\n\n")[1] == context_section(source, "X")
