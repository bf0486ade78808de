"""The layout that mirrors Copilot CLI, on trees that were not recorded. Every file contains a unique marker."""

import re

import pytest

from foreword import Agent, Conversations

INSTRUCTIONS = ".github/copilot-instructions.md"


def markers(text):
    """The markers in a prompt, in order."""
    return re.findall(r"\bm-[\w-]+", text)


@pytest.fixture
def copilot_prompt(tree):
    """`shown({...}, "w/a")` writes files below a repository `w` and returns the prompt for a working directory."""

    def copilot_prompt(files, cwd="w"):
        tree({"w/.git": None, **files})
        return tree.prompt("copilot", cwd)

    return copilot_prompt


def test_instruction_files_are_in_order(copilot_prompt):
    files = {f"home/.copilot/{INSTRUCTIONS.partition('/')[2]}": "m-user\n", "AGENTS.md": "m-above\n"}
    for folder in ("w", "w/a", "w/a/b", "w/a/b/c"):
        marker = "m" + folder.replace("/", "-")[1:]
        for name, word in (
            (INSTRUCTIONS, "hub"),
            ("AGENTS.md", "ag"),
            ("CLAUDE.md", "cl"),
            (".claude/CLAUDE.md", "dot"),
            ("GEMINI.md", "ge"),
        ):
            files[f"{folder}/{name}"] = f"{marker or 'm'}-{word}\n"
        files[f"{folder}/AGENTS.override.md"] = f"{marker}-never\n"
    prompt = copilot_prompt(files, "w/a/b/c")
    between = [f"m-{place}-{word}" for place in ("a-b", "a") for word in ("hub", "ag", "cl", "dot", "ge")]
    assert markers(prompt.text) == [
        *("m-user", "m-hub", "m-a-b-c-hub", "m-ag", "m-cl", "m-ge", "m-a-b-c-ag", "m-a-b-c-cl", "m-a-b-c-ge"),
        *between,
    ]


def test_each_file_is_an_item_with_its_text_unchanged(copilot_prompt):
    prompt = copilot_prompt({"w/AGENTS.md": "\n  m-one </custom_instruction>\n```\n", "w/CLAUDE.md": "m-two"})
    assert prompt.text.partition("\n\n")[2] == (
        "<custom_instruction>\n\n  m-one </custom_instruction>\n```\n\n</custom_instruction>\n\n"
        "<custom_instruction>\nm-two\n</custom_instruction>"
    )


def test_a_blank_file_is_an_item_and_equal_texts_appear_once(tree, copilot_prompt):
    prompt = copilot_prompt(
        {"w/AGENTS.md": " \n", "w/GEMINI.md": "m-same", "w/x/AGENTS.md": "m-same", "w/x/CLAUDE.md": " \n"}, "w/x"
    )
    assert prompt.text.count("<custom_instruction>") == 2
    assert markers(prompt.text) == ["m-same"]
    assert [candidate for candidate in tree.fates(prompt) if candidate[1] == "duplicate"] == [
        ("/w/x/AGENTS.md", "duplicate"),
        ("/w/x/CLAUDE.md", "duplicate"),
    ]


def test_imports_are_inserted_after_their_token(tree, copilot_prompt):
    prompt = copilot_prompt(
        {
            "w/CLAUDE.md": "m-root @a/one.md, (@two.md) and @a/one.md; **@no.md** @../out.md @missing.md",
            "w/a/one.md": "m-one @../two.md\n\n",
            "w/two.md": "\nm-two\n",
            "w/no.md": "m-no",
            "w/GEMINI.md": "m-gemini @two.md",
            "out.md": "m-out",
        }
    )
    top = tree.path("w")
    two = f'<imported_custom_instruction source="{top}/two.md"'
    assert (
        "m-root @a/one.md\n\n"
        f'<imported_custom_instruction source="{top}/a/one.md">\nm-one @../two.md\n\n{two}>\n\nm-two\n'
        "</imported_custom_instruction>\n</imported_custom_instruction>, "
        f'(@two.md\n\n{two} skipped="already-loaded" />) and @a/one.md\n\n'
        f'<imported_custom_instruction source="{top}/a/one.md" skipped="already-loaded" />; '
        "**@no.md** @../out.md @missing.md\n</custom_instruction>"
    ) in prompt.text
    assert "m-gemini @two.md\n" in prompt.text and "m-out" not in prompt.text


RULE = "---\n{0}\n---\n{1}\n"


def test_rules_are_included_or_listed_in_a_table(tree, copilot_prompt):
    prompt = copilot_prompt(
        {
            "home/.copilot/instructions/u.instructions.md": "m-user\n",
            "home/.copilot/instructions/v.instructions.md": RULE.format("applyTo: '*.sh'", "m-never"),
            "w/.github/instructions/z/a.instructions.md": RULE.format("applyTo: '**'", "m-all"),
            "w/.github/instructions/b.instructions.md": RULE.format(
                "applyTo: x/**,y/**\ndescription: About.", "m-never"
            ),
            "w/.github/instructions/c.md": "m-never\n",
            "w/.claude/rules/r.md": "m-rule\n",
            "w/.claude/rules/s.md": RULE.format("paths: ['*.py', '*.pyi']", "m-never"),
            "w/a/.github/instructions/d.instructions.md": "m-never\n",
            "w/a/b/.github/instructions/e.instructions.md": "m-here\n",
            "w/a/b/.github/instructions/f.instructions.md": RULE.format("applyTo: '*.c'", "m-never"),
            "w/a/b/.claude/rules/t.md": "m-here-rule\n",
        },
        "w/a/b",
    )
    assert markers(prompt.text) == ["m-user", "m-all", "m-rule", "m-here", "m-here-rule"]
    assert "\n\n---\napplyTo: '**'\n---\nm-all\n\n\nm-rule\n" in prompt.text
    assert tree.short(prompt.text).endswith(
        "| Pattern | File Path | Description |\n| ------- | --------- | ----------- |\n"
        "| *.sh | '/home/.copilot/instructions/v.instructions.md' |  |\n"
        "| x/**, y/** | '.github/instructions/b.instructions.md' | About. |\n"
        "| *.py, *.pyi | '.claude/rules/s.md' |  |\n"
        "| *.c | '.github/instructions/f.instructions.md' |  |"
    )
    assert [path for path, fate in tree.fates(prompt) if fate == "waiting"] == [
        "/home/.copilot/instructions/v.instructions.md",
        "/w/.github/instructions/b.instructions.md",
        "/w/.claude/rules/s.md",
        "/w/a/b/.github/instructions/f.instructions.md",
    ]


def test_without_files_only_the_note_remains(copilot_prompt):
    assert copilot_prompt({}).text == "[Copilot's own instructions]"


@pytest.mark.parametrize("cwd", ["w", "w/a"])
def test_outside_git_only_the_working_directory_is_searched(tree, cwd):
    tree({"w/AGENTS.md": "m-w", "w/a/AGENTS.md": "m-a"})
    assert markers(tree.prompt("copilot", cwd).text) == ["m-w" if cwd == "w" else "m-a"]


def test_everything_is_in_the_system_prompt(copilot_prompt):
    assert {passage.message for passage in copilot_prompt({"w/AGENTS.md": "m-one"}).passages} == {0}


@pytest.mark.parametrize(
    "excluded", ['["coding-agent"]', "coding-agent", '["code-review", "coding-agent"]', "cloud-agent"]
)
def test_a_rule_that_excludes_the_coding_agent_is_left_out(tree, copilot_prompt, excluded):
    rule = "w/.github/instructions/review.instructions.md"
    for paths in ("**", "**/*.py"):
        prompt = copilot_prompt({rule: f"---\napplyTo: '{paths}'\nexcludeAgent: {excluded}\n---\nm-review\n"})
        assert markers(prompt.text) == [] and "review.instructions.md" not in prompt.text
        assert ("/" + rule, "unused") in tree.fates(prompt)
    other = copilot_prompt({rule: "---\napplyTo: '**/*'\nexcludeAgent: code-review\n---\nm-review\n"})
    assert markers(other.text) == ["m-review"]


def test_on_a_touch_only_rules_are_limited_by_their_front_matter(tree, copilot_prompt):
    scoped = "---\n{}: 'x/**'\n---\n{}\n"
    files = {
        "w/a/AGENTS.md": scoped.format("paths", "m-agents"),
        f"w/a/{INSTRUCTIONS}": scoped.format("paths", "m-hub"),
        "w/a/.github/instructions/r.instructions.md": scoped.format("applyTo", "m-rule"),
        "w/a/.claude/rules/r.md": scoped.format("paths", "m-claude-rule"),
    }
    copilot_prompt(files)
    with Conversations() as conversations:
        conversation = conversations.open("t", tree.workspace(), Agent(), "copilot", mirror=True)
        assert markers(conversation.touch(["a/z.py"]).text) == ["m-hub", "m-agents"]
