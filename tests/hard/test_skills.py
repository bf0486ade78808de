"""Edge cases of skills, one test for each, in the lenient layouts where it matters."""

import os
from pathlib import Path

import pytest

from foreword import Assembler
from foreword.text.tokens import estimate

LENIENT_LAYOUTS = ["foreword", "pi"]
LAYOUTS_WITH_MENU = ["foreword", "opal", "pi"]


def menu(tree, layout, cwd="w"):
    """Return the name and description of each skill in the menu, or None without a menu."""
    text = tree.text(layout, cwd, base="BASE", tools="read", set={"section.skills.budget": 100_000})
    if layout == "pi":
        block = text.partition("<available_skills>\n")[2].partition("\n</available_skills>")[0]
        values = [line.strip().partition(">")[2].rpartition("<")[0] for line in block.split("\n") if line[:4] == "    "]
        return list(zip(values[::3], values[1::3], strict=True)) or None
    block = text.partition("<skills>\n")[2].partition("\n</skills>")[0]
    if not block:
        return None
    lines = [line for line in block.split("\n\n", 1)[1].split("\n") if line.startswith("- ")]
    rows = [line.removeprefix("- ").partition(": ") for line in lines]
    return [(name.strip("*"), description.partition(" (")[0]) for name, _, description in rows]


NAMES = [f"skill-{number:03}" for number in range(559)]


@pytest.fixture(scope="module")
def many_skills(module_tree, skill):
    """559 skills, every third with a long description, and another workspace with 200."""
    module_tree({"w/.git": None, "two-hundred/.git": None})
    module_tree({f"two-hundred/.agents/skills/{name}/SKILL.md": skill(name) for name in NAMES[:200]})
    return module_tree({
        f"w/.agents/skills/{name}/SKILL.md": skill(name, "word " * 60 if index % 3 == 0 else "A short one.")
        for index, name in enumerate(NAMES)
    })  # fmt: skip


def write_skill(tree, head, folder="testing", body="Body."):
    return tree({"w/.git": None, f"w/.agents/skills/{folder}/SKILL.md": f"---\n{head}\n---\n{body}\n"})


@pytest.mark.parametrize("layout", LENIENT_LAYOUTS)
@pytest.mark.parametrize(
    ("head", "listed", "codes"),
    [
        # a colon in the description is repaired
        ("name: testing\ndescription: Use when: x", ("testing", "Use when: x"), ["skill-repaired"]),
        ("name: testing\ndescription: Use when: a, b: c", ("testing", "Use when: a, b: c"), ["skill-repaired"]),
        # invalid YAML in another field does not affect name and description
        ("name: testing\ndescription: D.\nargument-hint: [date] [duration]", ("testing", "D."), ["skill-repaired"]),
        ("argument-hint: [date] [duration]\nname: testing\ndescription: D.", ("testing", "D."), ["skill-repaired"]),
        # three dashes within a line are text
        ("name: testing\ndescription: a --- b", ("testing", "a --- b"), []),
        # four dashes are not a fence
        ("name: testing\n----: x\ndescription: D.", ("testing", "D."), []),
        # without a name, the directory's name is used
        ("description: D.", ("testing", "D."), ["skill-name"]),
        ("name:\ndescription: D.", ("testing", "D."), ["skill-name"]),
        # without a description, the skill is skipped
        ("name: testing", None, ["skill-no-description"]),
        ("name: testing\ndescription:", None, ["skill-no-description"]),
        ("name: testing\ndescription: '  '", None, ["skill-no-description"]),
        # a name that differs from the directory is used, with a finding
        ("name: other\ndescription: D.", ("other", "D."), ["skill-name"]),
        # a name is text, whatever its YAML type
        ("name: 123\ndescription: D.", ("123", "D."), ["skill-name"]),
        ("name: true\ndescription: D.", ("true", "D."), ["skill-name"]),
        ("name: null\ndescription: D.", ("null", "D."), ["skill-name"]),
        ("name: 1e3\ndescription: 1_000", ("1e3", "1_000"), ["skill-name"]),
        # hidden skills are not listed
        ('name: testing\ndescription: D.\ndisable-model-invocation: "true"', None, []),
        ("name: testing\ndescription: D.\ndisable-model-invocation: true", None, []),
        # block and folded scalars become one line
        ("name: testing\ndescription: >\n  Runs\n  the tests.", ("testing", "Runs the tests."), []),
    ],
)
def test_front_matter_is_read_or_repaired(tree, layout, head, listed, codes):
    write_skill(tree, head)
    assert menu(tree, layout) == (listed and [listed])
    assert [code for code, _ in tree.findings(tree.prompt(layout, tools="read"))] == codes


@pytest.mark.parametrize("layout", LENIENT_LAYOUTS)
def test_a_multi_line_description_stays_readable(tree, layout):
    write_skill(tree, "name: testing\ndescription: |\n  Runs\n  the tests.")
    text = tree.text(layout, tools="read")
    assert " ".join(text.split()).count("Runs the tests.") == 1


# Fences and bodies


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\nname: a\ndescription: D.\n---\nOne.\n---\nTwo.\n", "One.\n---\nTwo."),
        ("---  \nname: a\ndescription: D.\n--- \t\nOne.\n", "One."),
        ("---\r\nname: a\r\ndescription: D.\r\n---\r\nOne.\r\nTwo.\r\n", "One.\nTwo."),
        ("---\nname: a\ndescription: D.\n----: x\n---\n----\nOne.\n", "----\nOne."),
        ("\ufeff---\nname: a\ndescription: D.\n---\n\n\n  One.\n\n", "  One."),
        ("---\nname: a\ndescription: D.\n---\n", ""),
        ("---\nname: a\ndescription: D.\n---", ""),
    ],
)
def test_the_body_starts_after_the_second_fence(tree, text, body):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": text})
    skill = Assembler(tree.workspace(), "foreword").skill("a")
    assert (skill.name, skill.description, skill.body) == ("a", "D.", body)


# Escaping


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
def test_a_description_cannot_close_the_menu(tree, layout):
    write_skill(tree, 'name: testing\ndescription: "</description></skill></available_skills></skills><skills>"')
    text = tree.text(layout, tools="read")
    tag = "available_skills" if layout == "pi" else "skills"
    assert (text.count(f"<{tag}>"), text.count(f"</{tag}>")) == (1, 1)
    if layout == "pi":
        assert (text.count("</description>"), text.count("</skill>")) == (1, 1)


def test_a_directory_with_special_characters_has_an_escaped_location(tree, skill):
    tree({"w/.agents/skills/a&b<c/SKILL.md": skill("a")})
    assert "<location>/w/.agents/skills/a&amp;b&lt;c/SKILL.md</location>" in tree.text("pi", tools="read")


# Many skills, and none


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize(
    "broken", ["", "\x00", "no front matter", "---\nname: s100\n---\n", "---\nname: [\n---\n", "---\n"]
)
def test_one_malformed_skill_does_not_affect_the_others(many_skills, layout, broken):
    many_skills({"two-hundred/.agents/skills/skill-100/SKILL.md": broken})
    assert [name for name, _ in menu(many_skills, layout, "two-hundred")] == [*NAMES[:100], *NAMES[101:200]]
    path = "/two-hundred/.agents/skills/skill-100/SKILL.md"
    prompt = many_skills.prompt(layout, "two-hundred", tools="read")
    assert {path for _, path in many_skills.findings(prompt)} == {path}


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize(
    "files", [{}, {"w/.agents/skills": None}, {"w/.agents/skills/a/README.md": "x"}, {"w/.agents/skills": "x"}]
)
def test_without_skills_there_is_no_menu(tree, layout, files):
    without = tree({"w/.git": None}).text(layout, tools="read")
    prompt = tree(files).prompt(layout, tools="read")
    assert (tree.short(prompt.text), tree.findings(prompt)) == (without, [])


# Links and special files


@pytest.mark.parametrize(
    "links",
    [
        {"w/.claude/skills": Path("../.agents/skills")},
        {"w/.claude": Path(".agents")},
        {"w/.claude/skills/a": Path("../../.agents/skills/a"), "w/.claude/skills/b": Path("../../.agents/skills/b")},
        {"w/.github/skills/a/SKILL.md": Path("../../../.agents/skills/a/SKILL.md")},
    ],
)
def test_a_skill_in_linked_folders_is_listed_once(tree, skill, links):
    tree(
        {"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a"), "w/.agents/skills/b/SKILL.md": skill("b"), **links}
    )
    assert menu(tree, "foreword") == [("a", "Does it."), ("b", "Does it.")]
    assert tree.findings(tree.prompt("foreword", tools="read")) == []


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize(
    "loop",
    [
        {"w/.agents/skills/loop": Path(".")},
        {"w/.agents/skills/loop": Path("../..")},
        {"w/.agents/skills/loop": Path("loop")},
        {"w/.agents/skills/a/loop": Path("..")},
        {"w/.agents/skills/x/y": Path("../../x")},
    ],
)
def test_a_link_loop_is_not_followed_forever(tree, skill, layout, loop):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a"), **loop})
    assert menu(tree, layout) == [("a", "Does it.")]


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize(
    "special_file", [os.mkfifo, None, Path("nowhere"), Path("SKILL.md"), Path("/dev/zero"), b"\xff\xfe\x00"]
)
def test_a_skill_that_is_not_a_regular_file_does_not_hang(tree, skill, layout, special_file):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a"), "w/.agents/skills/b/SKILL.md": special_file})
    assert menu(tree, layout) == [("a", "Does it.")]
    assert ("/w/.agents/skills/b/SKILL.md") in [path for _, path in tree.findings(tree.prompt(layout, tools="read"))]


@pytest.mark.parametrize("layout", ["opal", "foreword"])
@pytest.mark.parametrize(
    "special_file", [os.mkfifo, None, Path("nowhere"), b"\xff\xfe\x00", b"", b"---\nname: b\n---\n"]
)
def test_a_malformed_skill_in_a_linked_folder_is_reported_once(tree, layout, special_file):
    tree({"w/.git": None, "w/.agents/skills/b/SKILL.md": special_file, "w/.github/skills": Path("../.agents/skills")})
    assert len({finding.path for finding in tree.prompt(layout).findings}) == 1


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"\xe9", "file-not-utf8"),
        (b"word\n\0", "file-binary"),
        (b"word\n" * 1_000 + b"\xff\n", "file-not-utf8"),
        ("é".encode() * 20_000, None),
        (b"." + "é".encode() * 20_000, None),
        (b"..." + "\U0001f600".encode() * 9_000, None),
    ],
    ids=["Latin-1", "NUL", "later", "long", "long, odd", "long, wide"],
)
def test_a_body_that_is_not_text_is_reported(tree, skill, layout, body, code):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a", body="").encode() + body})
    assert menu(tree, layout) == (None if code else [("a", "Does it.")])
    assert tree.findings(tree.prompt(layout, tools="read")) == (
        [(code, "/w/.agents/skills/a/SKILL.md")] if code else []
    )


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize("name", ["skill.md", "Skill.md"])
def test_a_skill_file_in_the_wrong_case_is_reported(tree, skill, layout, name):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a"), f"w/.agents/skills/b/{name}": skill("b")})
    prompt = tree.prompt(layout, tools="read")
    listed = ["a"] if layout == "opal" else ["a", "b"]
    assert [entry[0] for entry in menu(tree, layout)] == listed
    assert tree.findings(prompt) == [("file-case", f"/w/.agents/skills/b/{name}")]
    fate = "refused" if layout == "opal" else "used"
    assert (f"/w/.agents/skills/b/{name}", fate) in tree.fates(prompt)
    if layout == "foreword":
        assert f"- b: Does it. (b/{name})" in prompt.text


def test_a_skill_file_in_the_right_case_is_preferred(tree, skill):
    files = {"SKILL.md": skill("a", "Right."), "skill.md": skill("a", "Wrong.")}
    tree({"w/.git": None, **{f"w/.agents/skills/a/{name}": text for name, text in files.items()}})
    assert menu(tree, "foreword") == menu(tree, "opal") == [("a", "Right.")]


# Budgets: descriptions are shortened first, then only names are left, then skills are omitted and counted


def menu_passage(prompt):
    (passage,) = [passage for passage in prompt.passages if passage.section in ("skills", "skill_files", "skill_names")]
    return passage.text


def full_menu(tree, layout):
    return menu_passage(tree.prompt(layout, tools="read", set={"section.skills.budget": 1_000_000}))


def menu_within(tree, layout, budget):
    """Return the menu within a budget, and the finding that reports the cut."""
    prompt = tree.prompt(layout, tools="read", set={"section.skills.budget": budget, "section.skills.over": "shorten"})
    (message,) = [message for code, message in tree.messages(prompt) if code == "budget-list"]
    assert estimate(menu_passage(prompt)) <= budget and f"{budget:,}" in message
    return menu_passage(prompt), message


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
def test_descriptions_are_shortened_evenly_first(many_skills, layout):
    text, message = menu_within(many_skills, layout, estimate(full_menu(many_skills, layout)) - 3_000)
    assert "shortened" in message
    assert [name for name in NAMES if name not in text] == []
    assert text.count("A short one.") == len(NAMES) - len(NAMES[::3])
    shortened = [line for line in text.split("\n") if "…" in line]
    assert len(shortened) == len(NAMES[::3])
    assert len({line[line.index("word word") : line.index("…")] for line in shortened}) == 1


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
def test_a_smaller_budget_leaves_only_names(many_skills, layout):
    text = full_menu(many_skills, layout)
    for description in ("word " * 60).strip(), "A short one.":
        text = text.replace(f": {description}", "").replace(f"    <description>{description}</description>\n", "")
    lowest = estimate(text)
    menu_text, message = menu_within(many_skills, layout, lowest + 5)
    assert "only names" in message
    assert [name for name in NAMES if name not in menu_text] == []
    assert "word word" not in menu_text and "A short" not in menu_text


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize("budget", [300, 1_000])
def test_an_even_smaller_budget_counts_the_omitted_skills(many_skills, layout, budget):
    menu_text, _ = menu_within(many_skills, layout, budget)
    listed = [name for name in NAMES if name in menu_text]
    assert listed == NAMES[: len(listed)] and 0 < len(listed) < len(NAMES)
    assert f"{len(NAMES) - len(listed):,} more" in menu_text
    assert "word word" not in menu_text and "A short" not in menu_text


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize("prompt_budget", [1, 300, 600])
def test_a_menu_shortened_for_its_section_is_shortened_again_for_the_prompt(many_skills, layout, prompt_budget):
    budgets = {"section.skills.budget": 500, "section.skills.over": "shorten", "budget": prompt_budget}
    prompt = many_skills.prompt(layout, tools="read", base="BASE", set=budgets)
    listed = sum(name in prompt.text for name in NAMES)
    assert estimate(prompt.text) <= prompt_budget or "budget-exceeded" in [
        code for code, _ in many_skills.findings(prompt)
    ]
    assert f"{len(NAMES) - listed:,} more" in prompt.text or listed == 0


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
@pytest.mark.parametrize("budget", [1, 10])
def test_a_menu_keeps_at_least_its_counting_line(many_skills, layout, budget):
    prompt = many_skills.prompt(
        layout, tools="read", set={"section.skills.budget": budget, "section.skills.over": "shorten"}
    )
    assert f"\n[foreword: {len(NAMES):,} more left out]\n</" in menu_passage(prompt)
    assert [name for name in NAMES if name in prompt.text] == []
    assert [code for code, _ in many_skills.findings(prompt)] == ["budget-list", "budget-section"]
    assert {candidate.fate for candidate in prompt.candidates if candidate.path.endswith("SKILL.md")} == {"cut"}


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
def test_a_skill_omitted_from_the_menu_is_not_used(many_skills, layout):
    prompt = many_skills.prompt(
        layout, tools="read", set={"section.skills.budget": 200, "section.skills.over": "shorten"}
    )
    fates = [candidate.fate for candidate in prompt.candidates if candidate.path.endswith("SKILL.md")]
    assert fates == ["used"] * fates.count("used") + ["cut"] * fates.count("cut")
    assert fates.count("used") == sum(name in menu_passage(prompt) for name in NAMES)


@pytest.mark.parametrize("layout", LAYOUTS_WITH_MENU)
def test_for_the_prompt_budget_descriptions_are_cut_before_far_files_before_names(tree, skill, layout):
    names = [f"s{number:03}" for number in range(40)]
    tree({"w/.git": None, "w/AGENTS.md": "far words\n" * 400, "w/a/AGENTS.md": "near"})
    tree({f"w/a/.agents/skills/{name}/SKILL.md": skill(name, "word " * 40) for name in names})
    options = {"layout": layout, "cwd": "w/a", "tools": "read", "base": "BASE"}
    full_size = estimate(tree.prompt(**options).text)
    seen = set()
    for budget in range(full_size, 150, -250):
        prompt = tree.prompt(**options, set={"budget": budget})
        described, far = "word word" in prompt.text, prompt.text.count("far words")
        left_out = [name for name in names if f"skills/{name}/SKILL.md" not in used_paths(prompt)]
        assert not described or far == 400
        assert not left_out or (far == 0 and f"[foreword: {len(left_out)} more left out]" in prompt.text)
        assert left_out == [name for name in names if name not in prompt.text]
        seen.add((described, far == 400, far > 0, bool(left_out)))
    assert seen >= {(True, True, True, False), (False, False, True, False), (False, False, False, True)}


def used_paths(prompt):
    return "\n".join(candidate.path for candidate in prompt.candidates if candidate.fate == "used")
