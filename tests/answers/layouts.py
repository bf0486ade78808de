"""Workspaces with settings, layouts and templates of their own."""

from tests.answers.projects import REPOSITORY, fields

TEAM = """\
extends = "$std/foreword"
about = "The team's."
sections = ["identity", "append", "instructions", "tools", "facts", "skills", "guidance", "plan", "notes"]
budget = 400
over = "cut"
tool_budget = 20

[settings]
tone = "kind"
names = ["TEAM.md", "AGENTS.md"]

[from]
tone = ["root:team.json#tone"]

[find.team]
files = ["walk:{names}"]
label = { "TEAM.md" = "of the team", "*" = "of others" }
max_lines = 3

[find.knowledge]
as = "resident"
files = ["root:.foreword/knowledge/*.md"]

[find.helpers]
as = "agent"
files = ["root:agents/*.md"]

[find.chores]
as = "command"
files = ["root:commands/**/*.md"]

[section.tools]
list = "tools"
item = "- {name}: {line}"
wrap = "# Tools\\n{}"
when = ["tools"]

[section.facts]
text = "At {now.long} in {cwd|tilde} on {platform} as {role} with {model|line} for {role}. {{braces}}"
lifetime = "turn"

[section.notes]
sections = ["team", "knowledge", "helpers", "chores"]
role = "user"
join = "\\n---\\n"
wrap = "<notes>\\n{}\\n</notes>"

[section.team]
list = "team"
item = "{label} ({path|relative}): {text}"
file_budget = 20
over = "cut"

[section.knowledge]
list = "knowledge"
item = "* {name} - {description}"
none = "Nothing is known."

[section.helpers]
list = "helpers"
item = "@{name} ({tools}): {description}"

[section.chores]
list = "chores"
item = "/{name} {description|line}"
when = ["set:tone"]
"""
OWN = """\
sections = ["a", "b", "c"]
[section.a]
text = "Only {cwd} and {nothing}."
[section.b]
list = "files"
[section.c]
text = "$own/missing"
[find.files]
files = ["cwd:*.md", "nowhere:x"]
"""
LAYOUTS = {
    **REPOSITORY,
    "w/AGENTS.md": "# Agents\n\nOne.\nTwo.\nThree.\nFour.\nFive.\n",
    "w/TEAM.md": "The team writes tests. " * 20 + "\nThen it sleeps.\n",
    "w/api/TEAM.md": "The API team.\n",
    "w/team.json": '{"tone": "stern"}',
    "w/team.toml": TEAM,
    "w/broken.toml": "sections = [",
    "w/wrong.toml": OWN,
    "w/typo.toml": 'sectoins = ["a"]\n[section.a]\ntxet = "x"\n[find.b]\nfiles = "cwd:x"\n',
    "w/loop.toml": 'extends = "loop.toml"\nsections = []\n',
    "w/.foreword/layouts/local.toml": 'extends = "$std/ion"\nabout = "Of this workspace."\n',
    "w/.foreword/knowledge/a.md": fields("A.\n", description="About A.", model_invocation="true"),
    "w/.foreword/knowledge/b.md": fields("B.\n", description="About B."),
    "w/agents/tester.md": fields("You test.\n", name="tester", description="Tests.", tools="Bash, Read(*.py)"),
    "w/commands/go/on.md": fields("Go on.\n", description="Goes\n  on."),
    "w/commands/stop.md": "Stop everything.\n",
    "home/.config/foreword/layouts/mine.toml": 'extends = "opal"\nabout = "Mine."\n',
    "pack/layouts/shared.toml": 'extends = "$std/pi"\nabout = "Shared."\n',
    "pack/hello.md": "Hello from a pack.\n",
}
SETTINGS = {
    **REPOSITORY,
    "w/AGENTS.md": "Be brief.\n",
    "w/TEAM.md": "Be kind.\n",
    "w/.foreword/foreword.toml": (
        'layout = "opal"\nnames = ["AGENTS.md", "TEAM.md"]\ntrust = "off"\nnonsense = 1\nbudget = "many"\n'
        '[for.ion]\nbudget = 5\nover = "cut"\n[for.nobody]\nx = 1\n[for.claude]\nsettings.memory = false\n[lint]\ndisable = ["missing-file", "nothing"]\n'
    ),
    "w/.foreword/prompts.toml": 'nonsense = "x"\n[foreword]\nskills = "Skills:"\n',
    "home/.config/foreword/foreword.toml": 'layout = "foreword"\nagents = ["codex"]\nprices = "prices.toml"\n',
    "home/.config/foreword/prices.toml": "",
    "broken.toml": "layout = ",
    "wrong.toml": "layout = 5\nunknown_key = true\n",
    "more.toml": 'agents = ["ion", "gemini", "nobody"]\nlayout = "ion"\nnames = 5\n[lint]\ndisable = ["file-shadowed"]\n',
    "right.toml": 'layout = "pi"\n[for.pi]\nbudget = 3\n',
}
TEMPLATES = {
    **REPOSITORY,
    "w/AGENTS.md": '<!-- include: part.md -->\n<!-- if: provider == "anthropic" -->\nThink.\n<!-- else -->\nBe brief.\n<!-- endif -->\nIn {{ cwd }} on {{ date }} with {{ other }}.\n<!-- if: x -->\n',
    "w/part.md": "A part.\n",
    "w/greeting.md": "In [prompt:cwd] on [system:date] at [system:time].\n[if git:branch]\nBranch [git:branch] \\[sic].\n[else]\nNo branch.\n[endif]\n[file:part.md][file:none.md]\n",
    "w/unclosed.md": "[if git:branch]\nNever closed, and [colour:red] and [prompt:cwdd].\n[endif] [endif] [else]\n",
    "w/house.md": "{% if tools %}{{ tools | join(', ') }}{% else %}no tools{% endif %} in {{ cwd }}{# a comment #}\n{% for tool in tools %}{{ loop.index }}. {{ tool }}\n{% endfor %}{% include '$user/manners' %}\n",
    "w/wrong.md": "Hello {{ user }}.\n",
    "w/syntax.md": "Hello {% if %}.\n",
    "w/directives.md": "<!-- include: part.md -->\n<!-- else -->\n{{ model }} and {{ cwdd }}\n<!-- include: ../../secret -->\n",
    "w/.foreword/prompts/local.md": "From the workspace, in {{ cwd }}.\n",
    "home/.config/foreword/prompts/manners.md": "Answer in {{ language }}.\n",
    "home/.config/foreword/prompts/twice.md": "{% include 'manners' %}{% include 'manners' %}\n",
}


def _lines(name, count):
    return f"# {name}\n\n" + "".join(f"- Rule {number} of {name}.\n" for number in range(1, count + 1))


# Files, skills, resident files, tools and a plan that do not fit a small budget.
BUDGETS = {
    **REPOSITORY,
    "w/AGENTS.md": _lines("the root", 40) + "\n```sh\nmake\n```\n\n<!-- a comment -->\n",
    "w/AGENTS.local.md": _lines("me", 8),
    "w/web/AGENTS.md": _lines("the web", 25),
    "w/web/deep/AGENTS.md": _lines("deep", 12),
    "w/GEMINI.md": _lines("Gemini", 60),
    "home/.config/foreword/AGENTS.md": _lines("the user", 15),
    **{
        f"w/.agents/skills/{name}/SKILL.md": fields(
            f"Body of {name}.\n", name=name, description=f"Does {name}. " * (3 * number + 1)
        )
        for number, name in enumerate(("build", "deploy", "release", "review", "testing"))
    },
    **{
        f"w/.foreword/knowledge/{name}.md": fields("K.\n", description=f"About {name}. " * 6, model_invocation="true")
        for name in ("orders", "payments", "users")
    },
    "plan.md": _lines("the plan", 30),
    "scope.json": '{"allow": [{"path": "/a", "permission": "write"}], "deny": [{"path": "/a/b", "permission": "read"}]}',
    "servers.json": '{"one": "' + "Use one. " * 40 + '"}',
    "home/.codex/config.toml": "project_doc_max_bytes = 700\n",
}
