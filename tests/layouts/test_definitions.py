"""Definitions of sub-agents and slash commands, listed by name and description."""

import tomllib

import pytest

from foreword import CallError, Conversations, Tool
from foreword.errors import LayoutError
from foreword.layout.parse import parse

BASE = """
about = "Mine."
sections = ["agents", "commands"]
[section.agents]
list = "agents"
item = "- {name}: {description|line} (Tools: {tools})"
[section.commands]
list = "commands"
item = "/{name}: {description}"
[find.agents]
as = "agent"
files = ["walk:.claude/agents/**/*.md", "root:.github/agents/*.agent.md", "home:.claude/agents/*.md"]
[find.commands]
as = "command"
files = ["walk:.claude/commands/*.md"]
"""


def definition(name="", description="", tools="", body="You review."):
    rows = [("name", name), ("description", description), ("tools", tools)]
    return "---\n" + "".join(f"{key}: {text}\n" for key, text in rows if text) + f"---\n{body}\n"


@pytest.fixture
def menu(tree):
    def menu(files, cwd="w"):
        tree({"own.toml": BASE, "w/.git": None, **files})
        menu.prompt = tree.prompt(tree.path("own.toml"), cwd)
        return menu.prompt.text.strip()

    return menu


def test_sub_agents_are_listed_by_name(menu):
    files = {
        "w/.claude/agents/z.md": definition("tester", "Runs tests.", "Read, Bash"),
        "w/.claude/agents/deep/a.md": definition("reviewer", "Reviews.", "\n  - Read\n  - Grep"),
        "w/.github/agents/docs.agent.md": definition("", "Writes docs."),
    }
    expected = "- docs: Writes docs. (Tools: All tools)\n- reviewer: Reviews. (Tools: Read, Grep)\n- tester: Runs tests. (Tools: Read, Bash)"
    assert menu(files) == expected


def test_the_nearest_of_several_definitions_with_the_same_name_is_listed(tree, menu):
    files = {
        "home/.claude/agents/r.md": definition("reviewer", "Mine."),
        "w/.claude/agents/r.md": definition("reviewer", "Ours."),
        "w/sub/.claude/agents/r.md": definition("reviewer", "Here."),
    }
    assert menu(files, "w/sub") == "- reviewer: Here. (Tools: All tools)"
    assert [fate for _, fate in tree.fates(menu.prompt)] == ["used", "shadowed", "shadowed"]


@pytest.mark.parametrize(
    ("text", "fate", "codes"),
    [
        ("# A plain file.", "unused", []),
        (definition("reviewer"), "refused", ["agent-invalid"]),
        ("---\nname: [x\n---\nBody", "refused", ["front-matter-invalid", "agent-invalid"]),
        ("---\nname: x\ndescription: y: z\n---\nBody", "used", ["front-matter-invalid"]),
        (" \n", "blank", ["file-unreadable"]),
        (b"\xff", "unreadable", ["file-not-utf8"]),
    ],
)
def test_a_file_that_does_not_define_a_sub_agent_is_not_listed(tree, menu, text, fate, codes):
    text = menu({"w/.claude/agents/a.md": text, "w/.claude/agents/b.md": definition("b", "B.")})
    assert "- b: B. (Tools: All tools)" in text
    assert tree.fates(menu.prompt)[0] == ("/w/.claude/agents/a.md", fate)
    assert [code for code, _ in tree.findings(menu.prompt)] == codes


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Deploy it.\nNow.", "/ship: Deploy it."),
        (definition("", "Deploys."), "/ship: Deploys."),
        ("---\nallowed-tools: Bash\n---\n\nDeploy it.\n", "/ship: Deploy it."),
    ],
)
def test_a_command_is_listed_with_its_description_or_first_line(menu, text, row):
    assert menu({"w/.claude/commands/ship.md": text}) == row


def test_a_menu_over_its_budget_is_shortened(tree):
    files = {f"w/.claude/agents/{n}.md": definition(f"agent-{n}", "word " * 80) for n in range(9)}
    shortened = BASE.replace('item = "- {name}: {', 'short = "- {name}"\nbudget = 150\nitem = "- {name}: {')
    tree({"own.toml": shortened, "w/.git": None, **files})
    text = tree.prompt(tree.path("own.toml")).text
    assert "- agent-8" in text and len(text) < 1500


def test_menus_are_shortened_to_fit_the_budget_of_the_prompt(tree):
    files = {f"w/.claude/agents/{n}.md": definition(f"agent-{n}", "word " * 80) for n in range(9)}
    shortened = BASE.replace("about =", "budget = 150\nabout =").replace(
        'item = "- {', 'short = "- {name}"\nitem = "- {'
    )
    tree({"own.toml": shortened, "w/.git": None, "w/.claude/commands/ship.md": "Deploy it.", **files})
    text = tree.prompt(tree.path("own.toml")).text
    assert "- agent-8" in text and len(text) < 1500


def test_a_conversation_keeps_its_sub_agents(tree):
    tree({"own.toml": BASE, "w/.git": None, "w/.claude/agents/r.md": definition("reviewer", "Reviews.", "Read")})
    with Conversations() as conversations:
        first = conversations.open("c", tree.workspace(), layout=tree.path("own.toml")).turn("hello")
        second = conversations.open("c", tree.workspace(), layout=tree.path("own.toml")).turn("again")
        assert first.system == second.system and "- reviewer: Reviews. (Tools: Read)" in first.system


def test_an_item_may_use_only_the_fields_of_its_kind():
    mapping = {"sections": ["a"], "find": {"a": {"as": "command", "files": []}}}
    for kind, field, is_known in [("command", "tools", False), ("agent", "tools", True), ("agent", "text", False)]:
        table = {
            **mapping,
            "find": {"a": {"as": kind, "files": []}},
            "section": {"a": {"list": "a", "item": f"{{{field}}}"}},
        }
        if is_known:
            assert parse(table, "mine").sections
        else:
            with pytest.raises(LayoutError, match=f"unknown field '{{{field}}}'"):
                parse(table, "mine")


# Opening a sub-agent


AGENTS = (
    BASE.replace('sections = ["agents", "commands"]', 'sections = ["base", "agents", "commands"]')
    + """
[section.base]
text = "I am the parent."
instead = ["base"]
"""
)


@pytest.fixture
def conversation(tree):
    tree({
        "own.toml": AGENTS,
        "w/.git": None,
        "w/.claude/agents/r.md": definition("reviewer", "Reviews.", "Read, Bash(git diff:*)", "Review {{ it }}.\n\nGently."),
        "w/.claude/agents/all.md": definition("all", "Does all.", body="$user/secret"),
        "w/.claude/agents/empty.md": definition("empty", "Does nothing.", body=""),
    })  # fmt: skip
    with Conversations() as conversations:
        yield conversations.open("c", tree.workspace(), layout=tree.path("own.toml"))


TOOLS = [Tool("read"), Tool("bash"), Tool("write")]


def test_a_sub_agent_is_opened_from_its_definition(conversation):
    turn = conversation.sub_agent(definition="reviewer", tools=TOOLS, message="Begin.")
    assert turn.system.startswith("Review {{ it }}.\n\nGently.") and "I am the parent." not in turn.system
    assert sorted(tool["name"] for tool in turn.tools) == ["bash", "read"]
    assert turn.messages[-1] == {"role": "user", "content": "Begin."}


def test_a_definition_is_text_and_never_a_reference(conversation):
    turn = conversation.sub_agent(definition="all", tools=TOOLS)
    assert turn.system.startswith("$user/secret") and len(turn.tools) == 3


def test_a_definition_can_be_appended_to_the_base(conversation):
    assert conversation.sub_agent(definition="reviewer", append=True).system.startswith("I am the parent.\n\nReview")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"definition": "review"}, "no sub-agent 'review'; known: all, empty, reviewer"),
        ({"definition": "empty"}, "the sub-agent 'empty' cannot be used: it has no instructions"),
        ({"definition": "reviewer", "task": "Do it."}, "pass either a task or the name of a definition"),
        ({}, "pass either a task or the name of a definition"),
    ],
)
def test_a_definition_that_cannot_be_used_is_an_error(conversation, options, message):
    with pytest.raises(CallError) as error:
        conversation.sub_agent(**options)
    assert message in str(error.value)


@pytest.mark.parametrize("layout", ["opal", "builder"])
def test_a_layout_without_definitions_is_an_error(tree, layout):
    with Conversations() as conversations, pytest.raises(CallError, match="does not list sub-agents"):
        conversations.open("c", tree.workspace(), layout=layout).sub_agent(definition="reviewer")


def test_a_definition_does_not_replace_a_template(tree):
    template = '[section.base]\ninstead = ["base"]\nlanguage = "brackets"\ntext = "Hello."\n'
    layout = BASE.replace('sections = ["agents"', 'sections = ["base", "agents"') + template
    tree({"own.toml": layout, "w/.claude/agents/r.md": definition("reviewer", "Reviews.")})
    conversation = Conversations().open("c", tree.workspace("w"), layout=tree.path("own.toml"))
    with pytest.raises(CallError, match="is a template, which a definition cannot replace"):
        conversation.sub_agent(definition="reviewer")


def test_all_definitions_with_the_same_name_can_be_listed(menu, tree):
    keys = 'as = "agent"\nsame_name = "all"\n'
    files = {
        "home/.claude/agents/r.md": definition("reviewer", "Mine."),
        "w/.claude/agents/r.md": definition("reviewer", "Ours."),
        "w/.claude/agents/s.md": definition("adder", "Adds."),
        "w/sub/.claude/agents/r.md": definition("reviewer", "Here."),
    }
    tree({"all.toml": BASE.replace('as = "agent"\n', keys), "w/.git": None, **files})
    prompt = tree.prompt(tree.path("all.toml"), "w/sub")
    assert [line.split(" (")[0] for line in prompt.text.strip().split("\n")] == [
        "- adder: Adds.",
        "- reviewer: Ours.",
        "- reviewer: Here.",
        "- reviewer: Mine.",
    ]
    assert {fate for _, fate in tree.fates(prompt)} == {"used"}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("", ["a project Here.", "b user Mine.", "c project Ours."]),
        ('order = "found"', ["b user Mine.", "a user Mine.", "c project Ours."]),
        ('order = "layer"', ["a user Mine.", "b user Mine.", "c project Ours."]),
        ('order = "found"\nsame_name = "last"', ["b user Mine.", "a project Here.", "c project Ours."]),
        ('order = "layer"\nsame_name = "all"', ["a user Mine.", "b user Mine.", "a project Ours.", "a project Here.", "c project Ours."]),
    ],
)  # fmt: skip
def test_the_order_of_a_menu(tree, keys, expected):
    files = '["home:skills/*/SKILL.md", "walk:skills/*/SKILL.md"]'
    if not keys:
        files = '["walk:skills/*/SKILL.md", "home:skills/*/SKILL.md"]'
    own = f"""
about = "Mine."
sections = ["skills"]
[find.skills]
as = "skill"
files = {files}
{keys}
[section.skills]
list = "skills"
item = "{{name}} {{layer}} {{description}}"
"""
    tree(
        {
            "own.toml": own,
            "home/skills/1/SKILL.md": definition("b", "Mine."),
            "home/skills/2/SKILL.md": definition("a", "Mine."),
            "w/.git": None,
            "w/skills/3/SKILL.md": definition("c", "Ours."),
            "w/skills/4/SKILL.md": definition("a", "Ours."),
            "w/sub/skills/5/SKILL.md": definition("a", "Here."),
        }
    )
    prompt = tree.prompt(tree.path("own.toml"), "w/sub")
    assert prompt.text.strip().split("\n") == expected
    assert [fate for _, fate in tree.fates(prompt)].count("used") == len(expected)
    assert sum(finding.code == "skill-shadowed" for finding in prompt.findings) == 5 - len(expected)


def test_a_command_can_be_named_by_its_path(tree):
    files = {
        "w/.claude/commands/top.md": definition("other", "At the top."),
        "w/.claude/commands/git/deep/fix.md": definition("", "Fixes."),
        "w/.claude/skills/folder/SKILL.md": definition("other", "A skill."),
    }
    own = """
about = "Mine."
sections = ["commands", "skills"]
[section]
commands = { list = "commands", item = "/{name}: {description}" }
skills = { list = "skills", item = "{name}: {description}" }
[find]
commands = { as = "command", named = "path", files = ["walk:.claude/commands/**/*.md"] }
skills = { as = "skill", named = "path", files = ["walk:.claude/skills/*/SKILL.md"] }
"""
    tree({"own.toml": own, "w/.git": None, **files})
    text = tree.prompt(tree.path("own.toml")).text
    assert text.strip().split("\n") == ["/git:deep:fix: Fixes.", "/top: At the top.", "", "folder: A skill."]


HIDDEN = "---\ndescription: Ships.\ndisable-model-invocation: true\n---\nBody.\n"
SKILLS = """
sections = ["skills", "commands"]
[section.skills]
list = "skills"
item = "{name|hyphens}: {description}"
[section.commands]
list = "commands"
item = "/{name|hyphens}: {description}"
[find.skills]
as = "skill"
files = ["walk:skills/*/SKILL.md"]
[find.commands]
as = "command"
files = ["walk:commands/*.md", "walk:commands/*.MD"]
"""


@pytest.mark.parametrize(
    ("described", "body", "expected"),
    [
        ("line", "\n## The  title\n\nText.\n", "The  title"),
        ("line", "#tag\nText.\n", "#tag"),
        ("text", "# Title\nOne\n\n   ## Two\n  - three  \n#four\n", "One - three"),
        ("text", "# Title\n", ""),
        ("text", "x" * 1100, "x" * 1024),
        ("text", definition("", "Its own."), "Its own."),
    ],
)
def test_what_describes_a_command_without_a_description(tree, described, body, expected):
    tree({"own.toml": f'{SKILLS}described = "{described}"\n', "w/.git": None, "w/commands/a  b.md": body})
    assert tree.prompt(tree.path("own.toml")).text.strip() == f"/a-b: {expected}".strip()


def test_a_command_that_only_the_user_may_call_is_not_listed(tree, menu):
    assert menu({"w/.claude/commands/ship.md": HIDDEN, "w/.claude/commands/fix.md": "Fixes.\n"}) == "/fix: Fixes."
    assert [(row.path[-7:], row.fate, row.reason) for row in menu.prompt.candidates if row.fate == "unused"] == [
        ("ship.md", "unused", "its front matter says that only the user may call it")
    ]


def test_a_name_without_its_extension_in_capitals(tree):
    tree({"own.toml": SKILLS, "w/.git": None, "w/commands/FIX.MD": "Fixes.\n"})
    assert tree.prompt(tree.path("own.toml")).text.strip() == "/FIX: Fixes."


def test_entries_can_hide_those_of_another_lookup_rule(tree):
    files = {
        "w/skills/one/SKILL.md": definition("one", "A skill."),
        "w/skills/ship/SKILL.md": HIDDEN,
        "w/commands/one.md": "A command.\n",
        "w/commands/ship.md": "A command.\n",
        "w/commands/two.md": "A command.\n",
    }
    tree({"own.toml": f'{SKILLS}hidden_by = ["skills"]\n', "w/.git": None, **files})
    prompt = tree.prompt(tree.path("own.toml"))
    assert prompt.text.strip().split("\n") == ["one: A skill.", "", "/two: A command."]
    hidden = [candidate for candidate in prompt.candidates if candidate.fate == "shadowed"]
    assert [candidate.path.rpartition("/w/")[2] for candidate in hidden] == ["commands/one.md", "commands/ship.md"]
    assert all("comes first" in candidate.reason for candidate in hidden)
    assert sum(finding.code == "skill-shadowed" for finding in prompt.findings) == 2


def test_a_lookup_rule_that_hides_entries_must_exist():
    mapping = tomllib.loads(f'about = "Mine."\n{SKILLS}hidden_by = ["skill"]\n')
    with pytest.raises(LayoutError, match=r"hidden_by: unknown lookup rule 'skill'; did you mean 'skills'\?"):
        parse(mapping, "own", "own")


def test_a_flaw_that_a_program_skips_must_be_known():
    mapping = tomllib.loads(f'about = "Mine."\n{SKILLS}skips = ["no-names"]\n')
    with pytest.raises(LayoutError, match=r"skips: unknown flaw 'no-names'; did you mean 'no-name'\?"):
        parse(mapping, "own", "own")


@pytest.mark.parametrize(
    ("flaw", "text", "is_skipped"),
    [
        ("yaml", "---\ndescription: a: b\n---\n", True),
        ("no-text", "---\nname: 7\ndescription: a\n---\n", True),
        ("no-text", "---\nname:\ndescription: a\n---\n", True),
        ("no-text", "---\nname: seven\n---\n", False),
        ("bad-field", "---\nargument-hint: [file]\n---\n", True),
        ("bad-field", "---\nargument-hint:\nallowed-tools: [Read]\n---\n", False),
        ("bad-field", "---\nallowed-tools: [7]\n---\n", True),
        ("bad-field", "---\nuser-invocable: maybe\n---\n", True),
        ("no-name", "---\ndescription: a\n---\n", True),
        ("long-name", f"---\nname: {'n' * 65}\n---\n", True),
        ("long-name", f"---\nname: {'n' * 64}\n---\n", False),
        ("symbol-name", "---\nname: é:_.-\n---\n", False),
        ("symbol-name", "---\nname: a b\n---\n", True),
        ("ascii-name", "---\nname: a b:_.-\n---\n", False),
        ("ascii-name", "---\nname: é\n---\n", True),
        ("ascii-name", "---\nname: _a\n---\n", True),
        ("spec-name", "---\nname: a-b\n---\n", False),
        ("spec-name", "---\nname: a--b\n---\n", True),
        ("long-description", f"---\ndescription: {'d' * 1025}\n---\n", True),
        ("long-description", f"---\ndescription: {'d' * 1024}\n---\n", False),
        ("yaml", "No front matter.\n", False),
    ],
)
def test_a_command_with_a_flaw_is_left_out(tree, flaw, text, is_skipped):
    tree({"own.toml": f'{SKILLS}skips = ["{flaw}"]\n', "w/.git": None, "w/commands/one.md": f"{text}Body.\n"})
    prompt = tree.prompt(tree.path("own.toml"))
    refused = [row for row in prompt.candidates if row.fate == "refused"]
    assert (bool(prompt.text.strip()), len(refused)) == (not is_skipped, int(is_skipped))
    assert [found.code for found in prompt.findings if "is skipped" in found.message] == ["front-matter-invalid"] * len(
        refused
    )


@pytest.mark.parametrize(
    ("trim", "fields", "expected"),
    [
        ("ends", "description: |\n  one\n  two\nlicense: x", "one\ntwo"),
        ("none", "description: |\n  one\n  two", "one\ntwo\n"),
        ("none", "description: >\n\n  one\n  two\nlicense: x", "\none two\n"),
        ("none", "description: >-\n  one\n  two\nlicense: x", "one two"),
        ("none", 'description: " one\\n "', " one\n "),
        ("none", "description: plain", "plain"),
        ("none", "description: 7", "7"),
        ("fence", "description: |\n  one\n  two", "one\ntwo"),
        ("fence", "description: |\n  one\n  two\nlicense: x", "one\ntwo\n"),
        ("fence", 'description: " one\\n "', " one\n "),
    ],
)
@pytest.mark.parametrize("path", ["skills/a/SKILL.md", "commands/a.md"])
def test_white_space_at_the_ends_of_a_description(tree, path, trim, fields, expected):
    own = SKILLS.replace("files =", f'trim = "{trim}"\nfiles =').replace("{description}", "[{description}]")
    tree({"own.toml": own, "w/.git": None, f"w/{path}": f"---\nname: a\n{fields}\n---\nBody.\n"})
    assert tree.prompt(tree.path("own.toml")).text.strip().lstrip("/") == f"a: [{expected}]"


@pytest.mark.parametrize(("kind", "trim"), [("skill", "lines"), ("command", "tail"), ("text", "fence")])
def test_some_values_of_trim_are_for_some_files(kind, trim):
    lookup = {"as": kind, "trim": trim, "files": ["cwd:A.md"]}
    with pytest.raises(LayoutError, match=r"trim must be one of .* for these files, not"):
        parse({"about": "Mine.", "sections": [], "find": {"x": lookup}}, "own", "own")


@pytest.mark.parametrize(
    "key",
    [
        'same_name = "all"',
        'named = "path"',
        'described = "text"',
        "hidden_by = []",
        "skips = []",
        'disabled = "list"',
        "longest = 9",
    ],
)
def test_keys_of_menus_are_not_for_text(key):
    mapping = {"about": "Mine.", "sections": [], "find": {"x": {"files": ["cwd:A.md"], **tomllib.loads(key)}}}
    with pytest.raises(LayoutError, match="is only for files that are listed by name"):
        parse(mapping, "own", "own")
