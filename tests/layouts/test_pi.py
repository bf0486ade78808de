"""The `pi` layout: the base or a SYSTEM.md, appended text, project context, skills, date and directory."""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import combinations
from pathlib import Path

import pytest

from foreword import Document, Tool

LAST_LINES = "Current date and time: Saturday, March 7, 2026 at 08:55:05 AM CST\nCurrent working directory: /w"


def test_every_part_is_in_order(tree, skill):
    tree({
        "home/.sf/agent/AGENTS.md": "user",
        "w/.sf/SYSTEM.md": "SYSTEM",
        "w/.sf/APPEND_SYSTEM.md": "APPEND",
        "w/AGENTS.md": "project",
        "w/.sf/skills/testing/SKILL.md": skill("testing", "Runs the tests."),
    })  # fmt: skip
    parts = tree.text("pi", tools="read").split("\n\n")
    context_sentence, skill_sentence = parts[3], parts[8]
    assert parts == [
        "SYSTEM",
        "APPEND",
        "# Project Context",
        context_sentence,
        "## /home/.sf/agent/AGENTS.md",
        "user",
        "## /w/AGENTS.md",
        "project",
        skill_sentence,
        "<available_skills>\n"
        "  <skill>\n"
        "    <name>testing</name>\n"
        "    <description>Runs the tests.</description>\n"
        "    <location>/w/.sf/skills/testing/SKILL.md</location>\n"
        "  </skill>\n"
        "</available_skills>",
        LAST_LINES,
    ]
    assert context_sentence.count("\n") == 0 and context_sentence
    for word in ("read", "relative", "directory"):
        assert word in skill_sentence.lower()


class NamelessZone(tzinfo):
    """A time zone with an offset but no name."""

    def utcoffset(self, _):
        return timedelta(hours=5, minutes=45)

    def tzname(self, _):
        return None

    def dst(self, _):
        return None


def test_an_empty_workspace_has_only_base_date_and_directory(tree):
    assert tree.text("pi", base="BASE") == f"BASE\n\n{LAST_LINES}"


def test_the_base_has_five_parts(tree):
    docs = [
        ("Manual", "/d/manual.md"),
        ("Examples", "./examples"),
        ("Mine", "~/m.md"),
        ("Site", "https://example.org/d"),
    ]
    parts = tree.text("pi", tools="read", docs=docs).split("\n\n")
    assert parts[1] == f"Available tools:\n- read: {tool_line(tree, 'read')}"
    assert "custom tools" in parts[2]
    assert parts[3].startswith("Guidelines:\n- ")
    assert parts[4].split("\n")[1:] == [
        "- Manual: /d/manual.md",
        "- Examples: /w/examples",
        "- Mine: /home/m.md",
        "- Site: https://example.org/d",
    ]
    assert len(parts) == 6 and parts[5] == LAST_LINES


def tool_line(tree, name):
    return tool_lines(tree, name)[0].removeprefix(f"- {name}: ")


def tool_lines(tree, tools):
    return lines_after(tree.text("pi", tools=tools), "Available tools:")


def lines_after(text, heading):
    """The lines after a heading, up to a blank line."""
    return text.partition(f"{heading}\n")[2].partition("\n\n")[0].split("\n")


# Tools


def test_without_tools_the_list_says_none(tree):
    assert lines_after(tree.text("pi"), "Available tools:") == ["(none)"]


@pytest.mark.parametrize("name", "read bash edit write grep find ls".split())
def test_known_tools_have_their_own_line(tree, name):
    line = tool_line(tree, name)
    assert line and line != name


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        (Tool("weather"), "- weather: weather"),
        (Tool("weather", description="Tells the weather"), "- weather: weather"),
        (Tool("weather", snippet="Ask the sky"), "- weather: Ask the sky"),
        (Tool("weather", snippet="  Ask\n\tthe   sky \n"), "- weather: Ask the sky"),
        (Tool("weather", snippet=" \n "), "- weather: weather"),
        (Tool("read", snippet="Read it all"), "- read: Read it all"),
        (Tool("Read"), "- Read: Read"),
    ],
)
def test_a_tool_is_described_in_one_line(tree, tool, line):
    assert tool_lines(tree, [tool]) == [line]


def test_a_blank_snippet_is_replaced_by_the_built_in_line(tree):
    assert tool_lines(tree, [Tool("read", snippet=" \n ")]) == tool_lines(tree, "read")


def test_tools_are_listed_in_the_callers_order(tree):
    assert [line.split(":")[0] for line in tool_lines(tree, "write zeta read alpha")] == [
        "- write",
        "- zeta",
        "- read",
        "- alpha",
    ]


# Guidelines


def guidelines(tree, tools, **options):
    return [line.removeprefix("- ") for line in lines_after(tree.text("pi", tools=tools, **options), "Guidelines:")]


# The subject of each row, in the order of the table.
LOOK_WITH_BASH, LOOK_WITHOUT, READ_FIRST, EXACT, REWRITE, SUM_UP, CONCISE, PATHS = (
    ("bash", "ls"),
    ("rather than bash",),
    ("read", "before you edit", "not cat or sed"),
    ("edit", "exact"),
    ("write", "new files"),
    ("plain text",),
    ("concise",),
    ("file paths",),
)


def expected_guidelines(names):
    """The rows of the specification's table for a set of tools."""
    if "bash" in names:
        yield LOOK_WITHOUT if names & {"grep", "find", "ls"} else LOOK_WITH_BASH
    if {"read", "edit"} <= names:
        yield READ_FIRST
    if "edit" in names:
        yield EXACT
    if "write" in names:
        yield REWRITE
    if names & {"edit", "write"}:
        yield SUM_UP
    yield from (CONCISE, PATHS)


KNOWN = ("bash", "edit", "grep", "read", "write")


@pytest.mark.parametrize(
    "names", [" ".join(combination) for size in range(6) for combination in combinations(KNOWN, size)]
)
def test_guidelines_depend_on_the_tools(tree, names):
    lines = guidelines(tree, names)
    expected = list(expected_guidelines(set(names.split())))
    assert len(lines) == len(expected)
    for sentence, words in zip(lines, expected, strict=True):
        assert [word for word in words if word not in sentence.lower()] == []


@pytest.mark.parametrize("names", ["grep", "find", "ls", "grep find", "find ls", "ls grep find"])
def test_the_exploration_guideline_names_only_available_tools(tree, names):
    sentence = guidelines(tree, f"bash {names}")[0]
    assert {name for name in ("grep", "find", "ls") if name in sentence.replace(",", "").split()} == set(names.split())


def test_the_tools_own_guidelines_come_before_the_last_two_without_repetition(tree):
    tools = [
        Tool("a", guidelines=["  First. ", "Shared."]),
        Tool("b", guidelines=["Shared.\n", "", "  ", "Second."]),
        Tool("c", guidelines=["shared."]),
    ]
    lines = guidelines(tree, tools)
    assert lines[:-2] == ["First.", "Shared.", "Second.", "shared."]
    assert "concise" in lines[-2].lower() and "file paths" in lines[-1].lower()


def test_a_repeated_built_in_guideline_is_not_added(tree):
    built_in = guidelines(tree, "edit")
    assert guidelines(tree, [Tool("edit", guidelines=built_in)]) == built_in


# SYSTEM.md


@pytest.mark.parametrize(
    ("files", "base", "expected"),
    [
        ({"w/.sf/SYSTEM.md": "P", "home/.sf/agent/SYSTEM.md": "U"}, "", "P"),
        ({"home/.sf/agent/SYSTEM.md": "U"}, "", "U"),
        ({"w/.sf/SYSTEM.md": " \n", "home/.sf/agent/SYSTEM.md": "U"}, "", "U"),
        ({"w/.sf/SYSTEM.md": b"\xff", "home/.sf/agent/SYSTEM.md": "U"}, "", "U"),
        ({"w/.sf/SYSTEM.md": None, "home/.sf/agent/SYSTEM.md": "U"}, "", "U"),
        ({"w/.sf/SYSTEM.md": "P", "home/.sf/agent/SYSTEM.md": "U"}, "CALLER", "CALLER"),
        ({"w/.sf/SYSTEM.md": "P"}, " \n", "P"),
        ({"w/.sf/SYSTEM.md": "P"}, Document("/b.md", "CALLER"), "CALLER"),
        ({"w/.sf/SYSTEM.md": "\n\nP\n\n"}, "", "P"),
        ({"w/.sf/SYSTEM.md": "{{ x }} ${y} [if z] {cwd} %s"}, "", "{{ x }} ${y} [if z] {cwd} %s"),
    ],
)
def test_a_system_file_replaces_the_base_entirely(tree, files, base, expected):
    assert tree(files).text("pi", base=base, tools="write") == f"{expected}\n\n{LAST_LINES}"


@pytest.mark.parametrize(
    ("layout", "path"), [("pi", "/w/.sf/SYSTEM.md"), ("foreword", "/home/.config/foreword/SYSTEM.md")]
)
def test_a_file_that_the_callers_base_replaces_is_reported(tree, layout, path):
    prompt = tree({"w/.git": None, path[1:]: "P"}).prompt(layout, base="CALLER")
    assert tree.messages(prompt) == [("file-shadowed", f"{path}: the base that the caller passed takes its place")]


@pytest.mark.parametrize(
    ("tools", "words"),
    [("bash grep", "grep"), ("bash ls find", "find and ls"), ("bash grep find ls", "grep, find and ls")],
)
def test_the_tools_to_explore_files_with_are_listed_as_in_a_sentence(tree, tools, words):
    assert f"- Explore files with {words} rather than bash\n" in tree.text("pi", tools=tools)


@pytest.mark.parametrize("blank", ["", "\n", "  \n\t\n"])
def test_blank_system_files_count_as_absent(tree, blank):
    own = tree.text("pi", tools="read")
    tree({"w/.sf/SYSTEM.md": blank, "home/.sf/agent/SYSTEM.md": blank})
    assert tree.text("pi", tools="read") == own


def test_a_system_file_is_only_read_from_the_working_directory(tree):
    tree({"w/.git": None, "w/.sf/SYSTEM.md": "no", "w/SYSTEM.md": "no", "w/a/SYSTEM.md": "no"})
    assert "no" not in tree.text("pi", "w/a").split("\n\n")


@pytest.mark.parametrize(
    ("files", "appended"),
    [
        ({"w/.sf/APPEND_SYSTEM.md": "P", "home/.sf/agent/APPEND_SYSTEM.md": "U"}, "P"),
        ({"home/.sf/agent/APPEND_SYSTEM.md": "U"}, "U"),
        ({"w/.sf/APPEND_SYSTEM.md": "", "home/.sf/agent/APPEND_SYSTEM.md": "U"}, "U"),
        ({"w/.sf/APPEND_SYSTEM.md": "\nP\n\n"}, "P"),
    ],
)
@pytest.mark.parametrize("base", ["BASE", ""])
def test_appended_text_follows_the_base(tree, files, appended, base):
    before = tree.text("pi", base=base)
    assert tree(files).text("pi", base=base) == before.replace(LAST_LINES, f"{appended}\n\n{LAST_LINES}")


def test_the_directory_is_a_setting(tree, skill):
    tree({
        "w/.pi/SYSTEM.md": "SYSTEM",
        "home/.pi/agent/APPEND_SYSTEM.md": "APPEND",
        "home/.pi/agent/AGENTS.md": "user",
        "w/.pi/skills/a/SKILL.md": skill("a"),
        "home/.pi/agent/skills/b/SKILL.md": skill("b"),
        "w/.sf/SYSTEM.md": "no",
    })  # fmt: skip
    parts = tree.text("pi", tools="read", set={"dir": ".pi"}).split("\n\n")
    assert parts[:2] == ["SYSTEM", "APPEND"]
    assert parts[4:6] == ["## /home/.pi/agent/AGENTS.md", "user"]
    assert [line.strip() for line in parts[7].split("\n") if "<name>" in line] == ["<name>a</name>", "<name>b</name>"]


def test_a_system_file_replaced_by_a_base_from_the_caller_may_still_be_context(tree):
    tree({"w/.sf/SYSTEM.md": "SAME", "w/AGENTS.md": "SAME"})
    assert "## /w/AGENTS.md\n\nSAME" in tree.text("pi", base="CALLER")


# Context


def context_files(tree, cwd="w", **options):
    """The path and text of each file of the project context."""
    text = tree.text("pi", cwd, base="BASE", **options).partition("\n\n# Project Context\n\n")[2]
    text = text.partition("\n\nCurrent date and time:")[0]
    return [tuple(entry.split("\n\n", 1)) for entry in text.split("\n\n## ")[1:]]


def test_context_is_the_user_file_and_then_project_files_from_the_root_down(tree):
    tree({
        "home/.sf/agent/AGENTS.md": "user",
        "CLAUDE.md": "top",
        "w/.git": None,
        "w/AGENTS.md": "root",
        "w/CLAUDE.md": "not this",
        "w/a/CLAUDE.md": "middle",
        "w/a/b/AGENTS.md": "here",
    })  # fmt: skip
    assert context_files(tree, "w/a/b") == [
        ("/home/.sf/agent/AGENTS.md", "user"),
        ("/CLAUDE.md", "top"),
        ("/w/AGENTS.md", "root"),
        ("/w/a/CLAUDE.md", "middle"),
        ("/w/a/b/AGENTS.md", "here"),
    ]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"w/AGENTS.md": ""}, []),
        ({"w/AGENTS.md": "", "w/CLAUDE.md": "C"}, [("/w/CLAUDE.md", "C")]),
        ({"w/AGENTS.md": None, "w/CLAUDE.md": "C"}, [("/w/CLAUDE.md", "C")]),
        ({"w/AGENTS.md": b"\x00", "w/CLAUDE.md": "C"}, [("/w/CLAUDE.md", "C")]),
        ({"w/AGENTS.md": "A", "w/CLAUDE.md": "@AGENTS.md"}, [("/w/AGENTS.md", "A")]),
        ({"w/AGENTS.md": "", "w/CLAUDE.md": "@AGENTS.md"}, []),
        ({"AGENTS.md": "A", "w/AGENTS.md": "A"}, [("/w/AGENTS.md", "A")]),
        ({"home/.sf/agent/AGENTS.md": "A", "w/AGENTS.md": "A"}, [("/w/AGENTS.md", "A")]),
        ({"AGENTS.md": "A", "w/AGENTS.md": Path("../AGENTS.md")}, [("/AGENTS.md", "A")]),
        ({"w/AGENTS.local.md": "no", "w/.agents/AGENTS.md": "no"}, []),
    ],
)
def test_each_directory_has_one_file(tree, files, expected):
    tree(files)
    assert context_files(tree) == expected


def test_a_user_file_that_is_also_a_project_file_is_included_once(tree):
    tree({"home/.sf/agent/AGENTS.md": "user"})
    assert context_files(tree, "home/.sf/agent") == [("/home/.sf/agent/AGENTS.md", "user")]


def test_without_a_home_user_files_are_skipped(tree):
    tree({"home/.sf/agent/AGENTS.md": "no", "home/.sf/agent/SYSTEM.md": "no", "w/AGENTS.md": "A"})
    prompt = tree.prompt("pi", base="BASE", home=None)
    assert [path for path, fate in tree.fates(prompt) if fate == "used"] == ["/w/AGENTS.md"]
    assert tree.findings(prompt) == [("home-missing", "")]


# Skills


def menu_entries(tree, cwd="w", **options):
    """Name, description and location of each skill in the menu."""
    options = {"tools": "read", **options}
    text = tree.text("pi", cwd, base="BASE", **options)
    lines = text.partition("<available_skills>\n")[2].partition("\n</available_skills>")[0].split("\n")
    values = [line.strip().partition(">")[2].rpartition("<")[0] for line in lines if line.startswith("    ")]
    return [tuple(values[start : start + 3]) for start in range(0, len(values), 3)]


@pytest.mark.parametrize(
    "folder",
    [
        "w/a/.sf/skills",
        "w/a/.agents/skills",
        "w/.agents/skills",
        "home/.sf/agent/skills",
        "home/.agents/skills",
        "w/a/.agents/skills/group/sub",
    ],
)
def test_skills_are_found_in_these_folders(tree, skill, folder):
    tree({"w/.git": None, "w/a/x": "", f"{folder}/deploy/SKILL.md": skill("deploy", "D.")})
    assert menu_entries(tree, "w/a") == [("deploy", "D.", f"/{folder}/deploy/SKILL.md")]


@pytest.mark.parametrize(
    "folder",
    ["w/.sf/skills", ".agents/skills", "w/a/.claude/skills", "w/a/b/.agents/skills", "w/a/.agents/skills/other"],
)
def test_skills_are_not_found_in_other_folders(tree, skill, folder):
    tree(
        {
            "w/.git": None,
            "w/a/.agents/skills/other/SKILL.md": skill("other"),
            f"{folder}/deploy/SKILL.md": skill("deploy"),
        }
    )
    assert [name for name, _, _ in menu_entries(tree, "w/a")] == ["other"]


def test_the_first_of_two_skills_with_the_same_name_wins_and_this_is_reported(tree, skill):
    folders = [
        "w/a/.sf/skills",
        "w/a/.agents/skills",
        "w/.agents/skills",
        "home/.sf/agent/skills",
        "home/.agents/skills",
    ]
    tree({"w/.git": None, **{f"{folder}/deploy/SKILL.md": skill("deploy", folder) for folder in folders}})
    for index, folder in enumerate(folders):
        prompt = tree.prompt("pi", "w/a", tools="read")
        assert menu_entries(tree, "w/a") == [("deploy", folder, f"/{folder}/deploy/SKILL.md")]
        assert tree.findings(prompt) == [
            ("skill-shadowed", f"/{folder}/deploy/SKILL.md") for folder in folders[index + 1 :]
        ]
        Path(tree.path(f"{folder}/deploy/SKILL.md")).unlink()


@pytest.mark.parametrize(
    ("tools", "is_listed"), [("", False), ("bash", False), ("read_file", False), ("Read", False), ("bash read", True)]
)
def test_skills_are_listed_only_with_the_read_tool(tree, skill, tools, is_listed):
    tree({"w/.sf/skills/a/SKILL.md": skill("a")})
    assert ("<available_skills>" in tree.text("pi", tools=tools)) is is_listed


def test_skills_are_listed_with_a_system_file_too(tree, skill):
    tree({"w/.sf/SYSTEM.md": "SYSTEM", "w/.sf/skills/a/SKILL.md": skill("a")})
    assert [passage.section for passage in tree.prompt("pi", tools="read").passages] == [
        "base",
        "skills",
        "clock",
        "cwd",
    ]


@pytest.mark.parametrize(
    ("field", "is_listed"),
    [
        ("disable-model-invocation: true", False),
        ('disable-model-invocation: "true"', False),
        ("disable-model-invocation: false", True),
        ("disable-model-invocation: null", True),
    ],
)
def test_a_skill_can_hide_itself(tree, skill, field, is_listed):
    tree({"w/.sf/skills/a/SKILL.md": skill("a", "D.", field), "w/.sf/skills/b/SKILL.md": skill("b")})
    assert [name for name, _, _ in menu_entries(tree)] == (["a", "b"] if is_listed else ["b"])


def test_there_is_no_block_if_every_skill_hides_itself(tree, skill):
    tree({"w/.sf/skills/a/SKILL.md": skill("a", "D.", "disable-model-invocation: true")})
    assert tree.text("pi", base="BASE", tools="read") == f"BASE\n\n{LAST_LINES}"


def test_skills_are_escaped_and_listed_by_name(tree):
    tree({
        "w/.sf/skills/z/SKILL.md": '---\nname: "b<c>"\ndescription: \'say "x" & </description></skill></available_skills>\'\n---\n',
        "w/.sf/skills/a&b<c/SKILL.md": "---\nname: a\ndescription: D.\n---\n",
    })  # fmt: skip
    assert menu_entries(tree) == [
        ("a", "D.", "/w/.sf/skills/a&amp;b&lt;c/SKILL.md"),
        (
            "b&lt;c&gt;",
            "say &quot;x&quot; &amp; &lt;/description&gt;&lt;/skill&gt;&lt;/available_skills&gt;",
            "/w/.sf/skills/z/SKILL.md",
        ),
    ]
    assert tree.text("pi", tools="read").count("</available_skills>") == 1


def test_a_skills_body_is_never_in_the_prompt(tree, skill):
    tree({"w/.sf/skills/a/SKILL.md": skill("a", body="SECRET")})
    assert "SECRET" not in tree.text("pi", tools="read", skill="a")


# Date and directory


def zone(hours, name):
    return timezone(timedelta(hours=hours), name)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (datetime(2026, 3, 7, 8, 55, 5, tzinfo=zone(-6, "CST")), "Saturday, March 7, 2026 at 08:55:05 AM CST"),
        (datetime(2026, 7, 4, 20, 5, 9, tzinfo=zone(-5, "CDT")), "Saturday, July 4, 2026 at 08:05:09 PM CDT"),
        (datetime(2026, 1, 1, 0, 0, 0, tzinfo=UTC), "Thursday, January 1, 2026 at 12:00:00 AM UTC"),
        (datetime(2026, 12, 31, 12, 0, 0, tzinfo=UTC), "Thursday, December 31, 2026 at 12:00:00 PM UTC"),
        (datetime(2024, 2, 29, 23, 59, 59, tzinfo=zone(9, "JST")), "Thursday, February 29, 2024 at 11:59:59 PM JST"),
        (datetime(2026, 3, 7, 13, 1, 2, tzinfo=timezone(timedelta(hours=-6))), "Saturday, March 7, 2026 at 01:01:02 PM UTC-06:00"),
        (datetime(2026, 3, 7, 13, 1, 2, tzinfo=timezone(timedelta(hours=5, minutes=45))), "Saturday, March 7, 2026 at 01:01:02 PM UTC+05:45"),
        (datetime(2026, 3, 7, 13, 1, 2, tzinfo=zone(-3, "-03")), "Saturday, March 7, 2026 at 01:01:02 PM -03"),
        (datetime(2026, 3, 7, 13, 1, 2, tzinfo=NamelessZone()), "Saturday, March 7, 2026 at 01:01:02 PM UTC+05:45"),
    ],
)  # fmt: skip
def test_the_date_is_written_in_words(tree, now, expected):
    assert tree.text("pi", base="BASE", now=now) == (
        f"BASE\n\nCurrent date and time: {expected}\nCurrent working directory: /w"
    )


def test_the_directory_is_the_last_line_even_with_an_odd_name(tree):
    tree({"w/two\nlines/x": ""})
    assert tree.text("pi", "w/two\nlines").split("\n")[-1] == "Current working directory: /w/two\\x0alines"


# Documentation


def test_missing_documentation_leaves_no_trace(tree):
    with_docs = tree.text("pi", docs=[("Manual", "/d/manual.md")])
    assert "/d/manual.md" in with_docs
    assert tree.text("pi") == "\n\n".join(part for part in with_docs.split("\n\n") if "/d/manual.md" not in part)


def test_documentation_is_part_of_the_base(tree):
    assert tree.text("pi", base="BASE", docs=[("Manual", "/d/manual.md")]) == f"BASE\n\n{LAST_LINES}"


@pytest.mark.parametrize(
    ("folder", "layer"), [("home/.sf/agent", "user"), ("w/.sf", "project")], ids=["the user's", "the project's"]
)
def test_the_layer_of_a_file_depends_on_where_it_was_found(tree, folder, layer):
    tree({f"{folder}/SYSTEM.md": "S", f"{folder}/APPEND_SYSTEM.md": "A"})
    used = [
        (tree.short(candidate.path), candidate.layer)
        for candidate in tree.prompt("pi").candidates
        if candidate.fate == "used"
    ]
    assert used == [(f"/{folder}/SYSTEM.md", layer), (f"/{folder}/APPEND_SYSTEM.md", layer)]
