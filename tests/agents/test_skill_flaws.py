"""What released agents do with skills that break a rule, and whether their mirrors and lint say the same.

The table was recorded in November 2026 with the programs that the mirrors name: each ran with all these skills against a stand-in provider.
"""

import pytest

from foreword.engine.assembler import Assembler
from foreword.programs.proofread import proofread

FOLDERS = {
    "claude": "w/.claude/skills",
    "codex": "w/.agents/skills",
    "copilot": "w/.github/skills",
    "gemini": "w/.gemini/skills",
    "kimi": "w/.kimi-code/skills",
    "opencode": "w/.opencode/skills",
    "pi-agent": "home/.pi/agent/skills",
    "qwen": "w/.qwen/skills",
    "vibe": "w/.vibe/skills",
}
EVERYONE = frozenset(FOLDERS)
LONG = "d" * 1025
# For each skill: its front matter and text, and the programs that list it.
SKILLS = {
    "valid": ("---\nname: valid\ndescription: About valid.\n---\n", EVERYONE),
    "colon": ("---\nname: colon\ndescription: Use it: now\n---\n", EVERYONE - {"copilot", "kimi", "pi-agent", "vibe"}),
    "hint": (
        "---\nname: hint\ndescription: A.\nargument-hint: [a] [b]\n---\n",
        {"claude", "codex", "gemini", "qwen"},
    ),
    "list-hint": ("---\nname: list-hint\ndescription: A.\nargument-hint: [a]\n---\n", EVERYONE - {"copilot"}),
    "at": ("---\nname: at\ndescription: @x\n---\n", {"claude", "codex", "gemini", "qwen"}),
    "nameless": ("---\ndescription: A.\n---\n", {"claude", "codex", "copilot", "pi-agent"}),
    "number": ("---\nname: number\ndescription: 12\n---\n", {"claude", "codex", "gemini", "qwen"}),
    "other": ("---\nname: other-one\ndescription: A.\n---\n", EVERYONE),
    "upper": ("---\nname: UpperCase\ndescription: A.\n---\n", EVERYONE - {"vibe"}),
    "blank": ("---\nname: a blank\ndescription: A.\n---\n", EVERYONE - {"qwen", "vibe"}),
    "slash": ("---\nname: a+b\ndescription: A.\n---\n", EVERYONE - {"copilot", "qwen", "vibe"}),
    "accent": ("---\nname: né\ndescription: A.\n---\n", EVERYONE - {"copilot", "vibe"}),
    "long": (f"---\nname: {'n' * 65}\ndescription: A.\n---\n", EVERYONE - {"codex", "copilot", "vibe"}),
    "wordy": (f"---\nname: wordy\ndescription: {LONG}\n---\n", EVERYONE - {"copilot", "vibe"}),
    "undescribed": ("---\nname: undescribed\n---\n", {"claude", "copilot"}),
    "plain": ("", {"claude"}),
    "disabled": (
        "---\nname: disabled\ndescription: A.\ndisable-model-invocation: true\n---\n",
        {"codex", "gemini", "opencode"},
    ),
}


def write(tree, name):
    files = {f"{FOLDERS[name]}/{skill}/SKILL.md": f"{head}# Title\n\nBody.\n" for skill, (head, _) in SKILLS.items()}
    tree({"w/.git/HEAD": "", **files})
    return Assembler(tree.workspace("w"), name)


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_a_mirror_lists_the_skills_that_its_program_lists(tree, name):
    listed = {skill.path.split("/")[-2] for skill in write(tree, name).skills() if not skill.hidden}
    assert listed == {skill for skill, (_, programs) in SKILLS.items() if name in programs}


@pytest.mark.parametrize(
    ("name", "skill", "line"),
    [
        ("claude", "other", "- other (other-one): A."),
        ("claude", "upper", "- upper (UpperCase): A."),
        ("claude", "blank", "- blank: A."),
        ("claude", "valid", "- valid: About valid."),
        ("claude", "undescribed", "- undescribed: Title"),
        ("claude", "plain", "- plain: Title"),
        ("copilot", "undescribed", "<description>Body.</description>"),
        ("copilot", "blank", "<name>a-blank</name>"),
        ("gemini", "path", "<name>a-b-c</name>"),
        ("codex", "wordy", f"- wordy: {'d' * 1021}... (file:"),
        ("kimi", "wordy", f"- wordy: {'d' * 247}...\n"),
    ],
)
def test_how_a_mirror_lists_a_skill(tree, name, skill, line):
    text = "---\nname: a:b/c\ndescription: A.\n---\n" if skill == "path" else SKILLS[skill][0]
    tree({"w/.git/HEAD": "", f"{FOLDERS[name]}/{skill}/SKILL.md": f"{text}# Title\n\nBody.\n"})
    assert line in Assembler(tree.workspace("w"), name).prompt().text


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("claude", "name: a\ndescription: Use it: now", "- a: Use it: now"),
        ("claude", "name: a\ndescription: 'A' b", "- a: Title"),
        ("claude", "name: a\ndescription: A.\ndescription: B.", "- a: B."),
        ("claude", "name: a\ndescription: A.\nwhen_to_use: B.", "- a: A. - B."),
        ("claude", f"name: a\ndescription: {LONG}\nwhen_to_use: {LONG}", f"- a: {LONG} - {'d' * 507}…"),
        ("claude", 'name: a\ndescription: "A  b\\n\\tc\\u200bd"', "- a: A  b c d"),
        ("codex", "name: a\ndescription: Use it: now # later", "- a: Use it: now (file:"),
        ("copilot", "name: a\ndescription: ''", "<description></description>"),
        ("gemini", "name: a\ndescription:", "<description></description>"),
        ("gemini", "name: a\ndescription: [b, c]", "<description>[b, c]</description>"),
        ("kimi", f"name: a\ndescription: {LONG}\nwhen_to_use: B.", f"- a: {'d' * 247}...\n  When to use: B.\n  Path:"),
        ("kimi", f"name: a\ndescription: {'🦊' * 126}", f"- a: {'🦊' * 123}...\n"),
        ("opencode", "name: a\ndescription: 'These:'", "<description>These:</description>"),
        ("opencode", "name: a\ndescription: These:", "<description>These:</description>"),
    ],
)
def test_how_a_mirror_lists_a_skill_with_this_front_matter(tree, name, text, line):
    tree({"w/.git/HEAD": "", f"{FOLDERS[name]}/a/SKILL.md": f"---\n{text}\n---\n# Title\n\nBody.\n"})
    assert line in Assembler(tree.workspace("w"), name).prompt().text


@pytest.mark.parametrize(
    ("name", "body", "description"),
    [
        ("claude", "# Title\n\nBody.\n", "Title"),
        ("claude", "\n", "Skill"),
        ("claude", "w" * 101, f"{'w' * 97}..."),
        ("copilot", "# Title\nOne.\n\nTwo.\n## Part\nThree.\nFour.\n", "One. Two. Three."),
        ("copilot", "# Title\n", ""),
    ],
)
def test_a_text_describes_a_skill(tree, name, body, description):
    tree({"w/.git/HEAD": "", f"{FOLDERS[name]}/a/SKILL.md": f"---\nname: a\n---\n{body}"})
    assert [skill.description for skill in Assembler(tree.workspace("w"), name).skills()] == [description]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ("name: a\ndescription: |\n  One.\n\n  Two.", "- a: One.\n\nTwo.\n (Tools: All tools)"),
        ("name: a\ndescription: A.\ntools: Read Grep ,Bash(git log:*)", "- a: A. (Tools: Read, Grep, Bash(git log:*))"),
        ("name: a\ndescription: A.\ndisallowedTools: Read, Edit", "- a: A. (Tools: All tools except Read, Edit)"),
        ("name: a\ndescription: A.\ntools: Read\ndisallowedTools: Edit", "- a: A. (Tools: Read)"),
        ("description: A.", ""),
    ],
)
def test_how_claude_lists_a_sub_agent(tree, fields, line):
    tree({"w/.git/HEAD": "", "w/.claude/agents/.a.md": f"---\n{fields}\n---\nBody.\n"})
    text = Assembler(tree.workspace("w"), "claude").prompt().text
    assert line in text and ("(Tools:" in text) == bool(line)


@pytest.mark.parametrize(("count", "line"), [(18, "One.\nTwo. (project)"), (19, "One. (project)")])
def test_qwen_lists_only_first_lines_of_many_skills(tree, count, line):
    text = "---\nname: a{0:02}\ndescription: |-\n  One.\n  Two.\n---\n"
    tree(
        {
            "w/.git/HEAD": "",
            **{f"{FOLDERS['qwen']}/{number}/SKILL.md": text.format(number) for number in range(count)},
        }
    )
    assert Assembler(tree.workspace("w"), "qwen").prompt().text.count(f"\n{line}\n") == count


@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_a_mirror_lists_no_skill_whose_file_has_another_name(tree, name):
    text = "---\nname: a\ndescription: A.\n---\n"
    tree(
        {
            "w/.git/HEAD": "",
            **{
                f"{FOLDERS[name]}/{number}/{file}": text
                for number, file in enumerate(("skill.md", "Skill.md", "SKILL.MD"))
            },
        }
    )
    assert Assembler(tree.workspace("w"), name).skills() == []


@pytest.mark.parametrize("name", ["codex", "copilot", "gemini", "opencode", "qwen"])
def test_lint_and_a_mirror_agree_on_which_skills_are_left_out(tree, name):
    from foreword.inspection.lint.agent_facts import agent_name

    assembler = write(tree, name)
    listed = {skill.path for skill in assembler.skills()}
    agent = agent_name(assembler.layout())
    findings = proofread(Assembler(tree.workspace("w")), is_recursive=True).findings
    said = {
        found.path.split("/")[-2]
        for found in findings
        if f"{agent} skip" in found.message or f"{agent}," in found.message or f"{agent} and" in found.message
    }
    left_out = {skill for skill in SKILLS if tree.path(f"{FOLDERS[name]}/{skill}/SKILL.md") not in listed}
    assert "plain" in said <= left_out
