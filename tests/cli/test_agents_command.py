"""foreword agents: the table, sentences about one file, JSON and Markdown."""

import json
import os
from pathlib import Path

import pytest

from foreword.cli.columns import display_width
from foreword.cli.compact_agents import MARKS, MEANINGS, OTHER
from foreword.inspection import agents as inspection
from foreword.packs.packs import mirror_names
from foreword.packs.shipped import shipped_mirror
from foreword.programs import agents as programs
from foreword.sources import reader as source_reader
from foreword.wire.forms import AgentsForm, DifferenceForm

# Two invented agents, so that these tests do not change with a released one.
NEAR = """
about = "Reads the first of two names, and rules."
mirrors = "Near 1.0"
copies = "keep"
sections = ["user", "project", "rules"]
[find]
user = { files = ["home:.near/NEAR.md"] }
project = { files = [["walk:NEAR.override.md", "walk:NEAR.md"]] }
rules = { files = ["root:.near/rules/**/*.md"], where = { paths = "" } }
touched = { files = ["root:.near/rules/**/*.md"], match = ["paths"], unscoped = "skip" }
[section]
user = { list = "user" }
project = { list = "project", file_budget = 40 }
rules = { list = "rules" }
touched = { list = "touched" }
[touch]
sections = ["touched"]
"""
FAR = """
about = "Reads FAR.md, and NEAR.md unless there is a FAR.md."
mirrors = "Far 2.0"
copies = "keep"
sections = ["far", "near"]
[find]
far = { files = ["walk:FAR.md"] }
near = { files = ["walk:NEAR.md"], when = ["!found:far"] }
[section]
far = { list = "far" }
near = { list = "near" }
"""


@pytest.fixture
def repository(tree):
    return tree(
        {
            "near.toml": NEAR,
            "far.toml": FAR,
            "w/.git/HEAD": "ref: refs/heads/main\n",
            "w/NEAR.md": "Root rule of near.",
            "w/FAR.md": "Rule of far.",
            "w/.near/rules/api.md": "---\npaths: src/**/*.ts\n---\nTyped.",
            "w/.near/rules/all.md": "Always.",
            "w/api/NEAR.md": "Hidden by the other one.",
            "w/api/NEAR.override.md": "Override.",
            "w/web/NEAR.md": "Web.",
            "w/docs/.near/rules/lost.md": "Nobody reads this.",
            "w/.near/NEAR.md": "Nobody works here.",
            "home/.near/NEAR.md": "Mine.",
        }
    )


@pytest.fixture
def agents(run, repository):
    def agents(*arguments):
        return run("agents", *arguments, "--layout", "../near.toml", "--layout", "../far.toml")

    return agents


@pytest.fixture
def verdicts(agents):
    """The verdicts by path and agent."""

    def verdicts(*arguments):
        form = json.loads(agents(*arguments, "--json")[1])
        return {row["path"]: {verdict["agent"]: verdict for verdict in row["verdicts"]} for row in form["files"]}

    return verdicts


def test_the_table_shows_files_and_agents(agents):
    status, out, err = agents(".")
    assert (status, err) == (0, "")
    table, notes = out.split("\n\n")
    assert table.split("\n") == [
        "file                      near       far",
        "                          1.0        2.0",
        "~/.near/NEAR.md           loaded     never",
        "FAR.md                    never      loaded",
        "NEAR.md                   loaded     shadowed",
        ".near/NEAR.md             elsewhere  shadowed",
        ".near/rules/all.md        loaded     never",
        ".near/rules/api.md        on touch   never",
        "api/NEAR.md               shadowed   shadowed",
        "api/NEAR.override.md      elsewhere  never",
        "docs/.near/rules/lost.md  never      never",
        "web/NEAR.md               elsewhere  shadowed",
        "tokens                    9          3",
    ]
    assert notes.split("\n")[:3] == [
        "on touch: .near/rules/api.md waits for src/**/*.ts",
        "shadowed: the agent takes another file instead; foreword why says which",
        "elsewhere: only an agent that works in or below that folder reads it",
    ]


def test_what_the_programs_send_themselves_is_counted(run, tree):
    tree({"w/.git": None, "w/AGENTS.md": "A."})
    out = run("agents", ".", "--layout", "codex", "--layout", "cursor")[1]
    program = shipped_mirror("codex").program
    assert f"the agent's own  {program['prompt'] + program['tools']:<7,}  ?" in out
    assert "the agent's own: its prompt and tools, as recorded for that version" in out
    assert "the agent's own" not in run("agents", ".", "--layout", "opal")[1]


def test_another_installed_version_is_mentioned(run, tree, tmp_path, monkeypatch):
    tree({"w/.git": None, "w/AGENTS.md": "A."})
    package = tmp_path / "node_modules/codex"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"version": "9.9.9"}')
    (package / "bin/codex").write_text("#!/bin/sh\nexit 1\n")
    (package / "bin/codex").chmod(0o755)
    monkeypatch.setenv("PATH", str(package / "bin"))
    out = run("agents", ".", "--layout", "codex")[1]
    assert "codex: this is what Codex CLI 0.169.0 does; 9.9.9 is installed" in out
    (package / "package.json").write_text('{"version": "0.169.0"}')
    assert "is installed" not in run("agents", ".", "--layout", "codex")[1]


def test_paths_are_relative_to_the_root_in_every_folder(agents):
    rows = [line.split() for line in agents("api")[1].partition("\n\n")[0].split("\n")]
    assert ["api/NEAR.md", "shadowed", "shadowed"] in rows and ["api/NEAR.override.md", "loaded", "never"] in rows


def test_a_cut_file_says_how_much_is_missing(agents, repository, verdicts):
    repository({"w/NEAR.md": "One rule of many words. " * 100})
    near_verdict = verdicts(".")["/w/NEAR.md"]["near"]
    assert near_verdict["verdict"] == "cut" and 85 <= near_verdict["cut"] <= 99
    assert f"cut {near_verdict['cut']}%" in agents(".")[1]


def test_a_file_gets_one_sentence_for_each_agent(agents):
    status, out, err = agents("api", "NEAR.md", "../.near/rules/api.md")
    assert (status, err) == (0, "")
    walk = "in each directory from the git root down to the working directory"
    assert out.split("\n") == [
        ".near/rules/api.md",
        "  near  on touch  does not load it at the start: it waits for a file that matches src/**/*.ts (paths in its front matter);"
        " it reads .near/rules/**/*.md at the root of the repository",
        "  far   never     never loads it: it reads only FAR.md and NEAR.md",
        "",
        "api/NEAR.md",
        "  near  shadowed  does not load it: NEAR.override.md comes before it; it reads the first of NEAR.override.md and NEAR.md"
        f" {walk}",
        f"  far   shadowed  does not load it: it counts only without files such as ../FAR.md; it reads NEAR.md {walk}",
        "",
    ]


def test_a_first_argument_that_is_a_file_is_the_path(agents):
    assert agents("FAR.md")[1].startswith("FAR.md\n  near  never")


def test_a_missing_file_would_be_loaded(agents, verdicts):
    assert "would load it, but the file does not exist: it reads" in agents(".", "NEAR.override.md")[1]
    assert verdicts(".", "other.md")["/w/other.md"]["near"]["verdict"] == "absent"


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("other.md", "would not load it: the file does not exist, and it reads only FAR.md and NEAR.md"),
        ("gone/FAR.md", "would load it, but the file does not exist: only an agent that works in gone reads it"),
    ],
)
def test_every_agent_says_that_a_file_does_not_exist(agents, path, sentence):
    out = agents(".", path)[1]
    assert f"  far   absent  {sentence}" in out and out.count("the file does not exist") == 2


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('[touch]\nsections = ["touched"]', "", "the layout has no [touch] table that sends it"),
        ('touched = { files = ["root:.near', 'touched = { files = ["root:.other', "no lookup rule of [touch] finds it"),
        ('match = ["paths"]', 'match = ["globs"]', "[touch] leaves it out: its front matter has no globs"),
    ],
)
def test_a_rule_that_no_touch_sends_is_never_loaded(agents, repository, old, new, problem):
    without_touch = NEAR.replace(old, new)
    if not new:
        without_touch = "\n".join(line for line in without_touch.split("\n") if not line.startswith("touched"))
    repository({"near.toml": without_touch})
    reason = f"it is only for files that match src/**/*.ts, and {problem}"
    out = agents(".")[1]
    assert ".near/rules/api.md        never      never\n" in out and "on touch" not in out
    assert f"never: .near/rules/api.md: {reason} " in " ".join(out.split())
    assert f"  near  never  never loads it: {reason}\n" in agents(".", ".near/rules/api.md")[1]


def test_a_nested_file_is_added_on_touch(run, tree):
    tree(
        {"w/.git": None, "w/AGENTS.md": "A.", "w/api/AGENTS.md": "B.", "w/api/CLAUDE.md": "C.", "w/web/CLAUDE.md": "D."}
    )
    layouts = [part for name in ("codex", "opencode", "claude") for part in ("--layout", name)]
    rows = [line.split() for line in run("agents", ".", *layouts)[1].replace("on touch", "on-touch").split("\n")]
    assert rows[1:6] == [
        ["0.169.0", "1.18.34", "2.1.328"],
        ["AGENTS.md", "loaded", "loaded", "loaded"],
        ["api/AGENTS.md", "elsewhere", "on-touch", "shadowed"],
        ["api/CLAUDE.md", "never", "shadowed", "on-touch"],
        ["web/CLAUDE.md", "never", "on-touch", "on-touch"],
    ]
    out = run("agents", ".", "web/CLAUDE.md", "--layout", "claude")[1]
    assert "does not load it at the start: it waits for a file in web; it reads" in out
    assert (
        "\non touch: it is added when the agent reads a file in or below that folder\n"
        in run("agents", ".", *layouts)[1]
    )


def test_a_file_in_a_hidden_folder_waits_for_the_folder_around_it(run, tree):
    tree({"w/.git": None, "w/doc/.claude/CLAUDE.md": "A."})
    out = run("agents", ".", "doc/.claude/CLAUDE.md", "--layout", "claude")[1]
    assert "does not load it at the start: it waits for a file in doc; it reads" in out


def test_why_knows_of_a_file_that_a_nested_file_imports(run, tree):
    tree({"w/.git": None, "w/a/.kimi-code/AGENTS.md": "See @../more.md", "w/a/more.md": "More."})
    assert (
        "does not load it at the start: imported by a/.kimi-code/AGENTS.md"
        in run("agents", ".", "a/more.md", "--layout", "claude")[1]
    )
    assert run("why", "a/more.md", "--layout", "claude")[1].startswith(
        "waiting  import  a/more.md  imported by a/.kimi-code/AGENTS.md"
    )


def test_the_files_that_a_touch_adds_are_read_as_a_touch_reads_them(run, tree):
    tree(
        {
            "w/.git": None,
            "w/CLAUDE.md": "A.",
            "w/.claude/settings.json": '{"claudeMdExcludes": ["**/old/**"]}',
            "w/old/CLAUDE.md": "Excluded.",
            "w/api/CLAUDE.md": "@../docs/style.md",
            "w/docs/style.md": "Imported.",
            "w/api/.claude/rules/python.md": "---\npaths: '*.py'\n---\nPython.",
            "w/web/AGENTS.md": "\n",
            "w/copy/AGENTS.md": "A.",
            "w/link/AGENTS.md": "Linked.",
            "w/link/CLAUDE.md": Path("AGENTS.md"),
        }
    )
    layouts = [part for name in ("claude", "cursor", "vibe", "opencode") for part in ("--layout", name)]
    form = json.loads(run("agents", ".", "new/AGENTS.md", ".", *layouts, "--json")[1])
    verdicts = {
        row["path"].removeprefix(f"{form['root']}/"): [verdict["verdict"] for verdict in row["verdicts"]]
        for row in form["files"]
    }
    assert verdicts == {
        "CLAUDE.md": ["loaded", "never", "never", "loaded"],
        "api/CLAUDE.md": ["on-touch", "never", "never", "on-touch"],
        "api/.claude/rules/python.md": ["on-touch", "never", "never", "never"],
        "copy/AGENTS.md": ["shadowed", "on-touch", "on-touch", "on-touch"],
        "docs/style.md": ["on-touch", "never", "never", "never"],
        "link/AGENTS.md": ["shadowed", "on-touch", "on-touch", "on-touch"],
        "link/CLAUDE.md": ["on-touch", "never", "never", "shadowed"],
        "new/AGENTS.md": ["absent", "absent", "absent", "absent"],
        "old/CLAUDE.md": ["elsewhere", "never", "never", "on-touch"],
        "web/AGENTS.md": ["blank", "blank", "blank", "on-touch"],
    }
    rules = [
        verdict["rule"] for row in form["files"] if row["path"].endswith("new/AGENTS.md") for verdict in row["verdicts"]
    ]
    assert rules[1] == "it reads AGENTS.md in each directory above a file that it touches"
    targets = {
        verdict["target"] for row in form["files"] for verdict in row["verdicts"] if verdict["verdict"] == "on-touch"
    }
    assert targets == {"", "*.py", "api/**", "copy/**", "link/**", "old/**", "web/**"}


def test_a_file_that_is_cut_entirely_is_not_loaded(run, tree):
    tree({"w/.git": None, "w/AGENTS.md": "x" * 33_000, "w/api/AGENTS.md": "Near."})
    out = run("agents", "api", "AGENTS.md", "--layout", "codex")[1]
    assert "  codex  cut 100%  loads nothing from it: cut from 5 to 0 bytes" in out


def test_a_file_whose_description_is_sent_is_listed(run, repository):
    skill = "---\nname: c\ndescription: Tests.\n---\nRun them."
    files = {"w/.claude/agents/a.md": "x", "w/.claude/commands/b.md": "x", "w/api/.claude/skills/c/SKILL.md": skill}
    repository(files)
    out = run("agents", ".", *(path.removeprefix("w/") for path in files), "--layout", "claude", "--layout", "codex")[1]
    rows = [line.partition(";")[0] for line in out.split("\n") if line.startswith("  ")]
    assert [row for row in rows if "claude" in row] == [
        "  claude  listed  lists it as a sub-agent, with its name and description",
        "  claude  listed  lists it as a command, with its name and description",
        "  claude  on touch  does not load it at the start: it is sent when the agent touches a file",
    ]
    assert all("never" in row for row in rows if "codex" in row)


def test_a_folder_means_the_files_below_it(verdicts):
    assert list(verdicts(".", "api")) == ["/w/api/NEAR.md", "/w/api/NEAR.override.md"]


def test_json_has_every_verdict(agents, fits):
    form = json.loads(agents(".", "--json")[1])
    assert fits(form, AgentsForm) == []
    assert form == json.loads(agents(".", "--format", "json")[1])
    assert [(agent["name"], agent["mirrors"]) for agent in form["agents"]] == [("near", "Near 1.0"), ("far", "Far 2.0")]
    assert form["files"][2] == {
        "path": "/w/NEAR.md",
        "verdicts": [
            {"agent": "near", "verdict": "loaded", "reason": "", "target": "", "cut": None},
            {
                "agent": "far",
                "verdict": "shadowed",
                "reason": "it counts only without files such as /w/FAR.md",
                "target": "/w/FAR.md",
                "cut": None,
            },
        ],
    }


def test_json_has_rules_only_for_named_files(verdicts):
    assert "rule" not in verdicts(".")["/w/NEAR.md"]["near"]
    assert verdicts(".", "FAR.md")["/w/FAR.md"]["far"]["rule"].startswith("it reads FAR.md in each directory")


def test_markdown_is_a_table(agents, repository):
    repository({"w/a|b/NEAR.md": "Odd.", "w/`c/NEAR.md": "Odd."})
    lines = agents(".", "--format", "markdown")[1].split("\n")
    assert lines[:3] == ["| file | near | far |", "| --- | --- | --- |", "| `~/.near/NEAR.md` | loaded | never |"]
    assert "| `a\\|b/NEAR.md` | elsewhere | shadowed |" in lines
    assert "| `` `c/NEAR.md `` | elsewhere | shadowed |" in lines
    assert "| **tokens** | 9 | 3 |" in lines
    assert "- on touch: .near/rules/api.md waits for src/\\*\\*/\\*.ts" in lines
    assert agents(".", "a|b/NEAR.md", "--format", "markdown")[1].startswith("`a|b/NEAR.md`\n- **near** ")


def test_a_table_of_many_agents_is_divided_to_fit_80_columns(run, repository):
    rule = "---\npaths: a-folder-with-a-long-name/another-folder-with-a-long-name/**/*.py\n---\nPython."
    deep = "w/" + "deep/" * 30
    repository({deep + "AGENTS.md": "Deep.", "w/AGENTS.md": "Root.", "w/.claude/rules/python.md": rule})
    out = run("agents", "--all")[1]
    tables = [part for part in out.split("\n\n") if part.startswith("file")]
    assert len(tables) > 1 and max(map(display_width, out.split("\n"))) <= 80
    assert all("…" in table for table in tables)


# Which agents


def shown_agents(run, *arguments):
    return [agent["name"] for agent in json.loads(run("agents", *arguments, "--json")[1])["agents"]]


def test_agents_are_detected_by_their_files(run, tree):
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/sub/CLAUDE.md": "Nested."})
    assert "claude" in shown_agents(run) and "codex" not in shown_agents(run)
    tree({"w/AGENTS.md": "Root."})
    assert {"claude", "codex"} <= set(shown_agents(run)) < set(shown_agents(run, "--all"))


def test_without_files_of_any_agent_nothing_is_shown(run, tree):
    assert run("agents") == (
        0,
        "",
        "no known agent was detected in this repository; --all shows what every agent would read\n",
    )
    assert shown_agents(run) == []


@pytest.mark.parametrize(
    ("file", "arguments", "expected"),
    [
        ("home/.config/foreword/foreword.toml", [], ["codex", "opal"]),
        ("settings.toml", ["--settings", "../settings.toml"], ["codex", "opal"]),
        ("other", ["--set", 'agents=["codex", "opal"]'], ["codex", "opal"]),
        ("other", ["--set", "agents=pod"], ["pod"]),
        ("other", ["--set", "agents=codex, opal"], ["codex", "opal"]),
    ],
)
def test_settings_choose_the_agents(run, tree, file, arguments, expected):
    tree({file: 'agents = ["codex", "opal"]'})
    assert shown_agents(run, *arguments) == expected


def test_the_path_of_a_layout_in_settings_is_relative_to_the_settings(run, tree):
    own = 'extends = "opal"\n'
    names = ["near.toml", "../up.toml", "~/home.toml"]
    files = {"home/.config/foreword/near.toml": own, "home/.config/up.toml": own, "home/home.toml": own}
    tree({**files, "home/.config/foreword/foreword.toml": f'layout = "near.toml"\nagents = {names}\n'})
    assert shown_agents(run) == ["near", "up", "home"]
    assert json.loads(run("show", "--json")[1])["layout"] == "near"


def test_a_workspace_cannot_choose_agents(run, tree):
    tree({"w/.foreword/foreword.toml": 'agents = ["codex"]'})
    _status, out, _err = run("agents", "--json")
    form = json.loads(out)
    assert (form["agents"], [finding["code"] for finding in form["findings"]]) == ([], ["workspace-refused"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--layout", "clade"], "unknown layout 'clade'; did you mean 'claude'?"),
        (["--set", "agents=[1]"], "--set agents needs a list of layouts"),
        (["--set", 'agents=["clade"]'], "unknown layout 'clade'"),
        (["--format", "xml"], "--format"),
    ],
)
def test_an_invalid_call_is_reported_in_one_sentence(run, arguments, message):
    status, out, err = run("agents", *arguments)
    assert (status, out) == (2, "") and message in err and err.count("\n") == 1


def test_an_agent_whose_layout_rejects_the_settings_is_left_out(run, tree):
    settings = "".join(f"for.{name}.unheard_of = 100\n" for name in mirror_names())
    tree({"w/AGENTS.md": "Root.", "home/.config/foreword/foreword.toml": settings})
    form = json.loads(run("agents", "--json")[1])
    assert (form["agents"], {finding["code"] for finding in form["findings"]}) == ([], {"agent-left-out"})
    assert "the agent 'codex' was left out" in form["findings"][0]["message"]


def test_keys_for_other_layouts_do_not_leave_out_an_agent(run, tree):
    tree({"w/AGENTS.md": "Root.", "home/.config/foreword/foreword.toml": "unheard_of = 100\nnames = ['TEAM.md']"})
    form = json.loads(run("agents", "--all", "--json")[1])
    assert [agent["name"] for agent in form["agents"]] == list(mirror_names()) and form["findings"] == []


# One reading


def test_every_file_is_opened_once_for_all_agents(agents, repository, monkeypatch):
    repository({"w/NEAR.override.md": "\n", "w/FAR.md": "\n"})
    opened = []
    open_file = os.open

    def count(path, *others, **markdown_paths):
        opened.append(path)
        return open_file(path, *others, **markdown_paths)

    monkeypatch.setattr(source_reader.os, "open", count)
    assert agents(".")[0] == 0
    markdown_paths = [path for path in opened if str(path).endswith(".md")]
    assert len(markdown_paths) == len(set(markdown_paths)) > 5


def test_every_folder_is_listed_once_for_all_agents(run, repository, monkeypatch):
    repository({f"w/src/{name}/deep/{index}.txt": "x" for name in "abcdef" for index in range(3)})
    listed = []
    for name in ("scandir", "listdir"):

        def count(path=".", real=getattr(os, name)):
            listed.append(str(path))
            return real(path)

        monkeypatch.setattr(os, name, count)
    assert run("agents", "--all")[0] == 0
    assert sum("/src/" in path for path in listed) == 12
    assert len(listed) == len(set(listed))


# diff and why


def test_diff_of_two_layouts_lists_what_only_one_loads(run, repository, fits):
    arguments = ["--layout", "../near.toml", "--layout", "../far.toml"]
    status, out, err = run("diff", ".", *arguments, "--exit-code")
    assert (status, err) == (1, "")
    assert out.split("\n\n")[1].split("\n") == [
        "file                near    far",
        "                    1.0     2.0",
        "~/.near/NEAR.md     loaded  never",
        "FAR.md              never   loaded",
        "NEAR.md             loaded  shadowed",
        ".near/rules/all.md  loaded  never",
        "tokens              9       3",
    ]
    form = json.loads(run("diff", ".", *arguments, "--json")[1])
    assert fits(form, DifferenceForm) == []
    assert (form["old"]["layout"], form["new"]["layout"], len(form["files"])) == ("near", "far", 10)
    assert {row["path"]: row["change"] for row in form["files"] if row["change"]} == {
        "/home/.near/NEAR.md": "removed",
        "/w/FAR.md": "added",
        "/w/NEAR.md": "removed",
        "/w/.near/rules/all.md": "removed",
    }


def test_diff_of_two_layouts_shows_text_that_only_one_gets(run, tree):
    lines = "".join(f"Rule {number}.\n" for number in range(3))
    tree({"w/.git": None, "w/CLAUDE.md": f"---\ntitle: x\n---\n{lines}<!-- note -->\nEnd.\n\n"})
    out = run("diff", ".", "--layout", "copilot", "--layout", "claude")[1]
    assert out.split("\n\n")[-1].split("\n") == [
        "CLAUDE.md: the text differs; only copilot has -, only claude has +",
        *("- ---", "- title: x", "- ---", "- <!-- note -->", ""),
    ]
    form = json.loads(run("diff", ".", "--layout", "copilot", "--layout", "claude", "--json")[1])
    changed = {row["path"].rpartition("/")[2]: (row["change"], row["lines"]) for row in form["files"]}
    assert changed == {"CLAUDE.md": ("changed", ["- ---", "- title: x", "- ---", "- <!-- note -->"])}
    tree({"w/CLAUDE.md": "Rule.\n\n" + "<!-- x -->\n\n" * 30})
    assert run("diff", ".", "--layout", "copilot", "--layout", "claude")[1].endswith(" more lines\n")
    tree({"w/CLAUDE.md": f"{lines}\n"})
    assert "differs" not in run("diff", ".", "--layout", "copilot", "--layout", "claude")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["."], "diff needs OLD and NEW, or a directory and two layouts: --layout A --layout B"),
        ([".", "--layout", "ion"], "diff needs OLD and NEW, or a directory and two layouts"),
        (["NEAR.md", "--layout", "ion", "--layout", "pod"], "two layouts can be compared for a directory"),
        ([".", ".", *["--layout", "ion"] * 3], "at most two layouts, not 3"),
    ],
)
def test_diff_needs_two_prompts(run, repository, arguments, message):
    status, _, err = run("diff", *arguments)
    assert status == 2 and message in err


def test_diff_of_two_prompts_takes_a_layout_for_each(run, repository):
    form = json.loads(run("diff", ".", "api", "--layout", "../near.toml", "--layout", "../far.toml", "--json")[1])
    assert (form["old"]["layout"], form["new"]["layout"], form["files"]) == ("near", "far", [])


def test_why_names_the_agents_that_read_a_file(run, tree):
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", "w/GEMINI.md": "Gemini."})
    out = run("why", ".", "GEMINI.md")[1]
    assert out.startswith("unread") and "\nthese agents do: " in out and "gemini" in out.partition("agents do: ")[2]


# Hostile repositories


def test_unusual_files_have_verdicts(repository, verdicts):
    repository(
        {
            "w/a/FAR.md": Path("FAR.md"),
            "w/b/FAR.md": Path("/etc/passwd"),
            "w/c/FAR.md": os.mkfifo,
            "w/d/FAR.md": b"\0\1\2" * 99,
            "w/e/FAR.md": "",
            "w/f/FAR.md": None,
            "w/new\nline/FAR.md": "x",
            "w/\x9b\u202e/FAR.md": "x",
            "w/loop": Path("."),
        }
    )
    os.mkdir(os.fsencode(repository.path("w")) + b"/\xff")
    os.symlink("../NEAR.md", os.fsencode(repository.path("w")) + b"/\xff/NEAR.md")
    verdict_by_path = {path.removeprefix("/w/"): row["far"]["verdict"] for path, row in verdicts(".").items()}
    assert {name: verdict for name, verdict in verdict_by_path.items() if "FAR.md" in name or "xff" in name} == {
        "FAR.md": "loaded",
        "a/FAR.md": "unreadable",
        "b/FAR.md": "elsewhere",
        "c/FAR.md": "unreadable",
        "d/FAR.md": "unreadable",
        "e/FAR.md": "blank",
        "new\\x0aline/FAR.md": "elsewhere",
        "\\x9b\\u202e/FAR.md": "elsewhere",
        "\\xff/NEAR.md": "shadowed",
    }


@pytest.mark.parametrize(
    ("files", "agent", "expected"),
    [
        ({"CLAUDE.md": Path("../out.md"), "AGENTS.md": "A."}, "claude", ["shadowed", "loaded"]),
        ({"CLAUDE.md": b"caf\xe9", "AGENTS.md": "A."}, "claude", ["shadowed", "loaded"]),
        ({"CLAUDE.md": "C.", "AGENTS.md": b"caf\xe9"}, "claude", ["shadowed", "loaded"]),
        ({"CLAUDE.md": "C.", "AGENTS.md": b"caf\xe9"}, "codex", ["loaded", "never"]),
        ({"CLAUDE.md": "C.", "AGENTS.md": b"caf\xe9"}, "pi-agent", ["loaded", "shadowed"]),
        ({"CLAUDE.md": "C.", "AGENTS.md": Path("../out.md")}, "pi-agent", ["loaded", "shadowed"]),
        ({"CLAUDE.md": "C.", "AGENTS.md": b"caf\xe9"}, "vibe", ["unreadable", "never"]),
        ({"CLAUDE.md": "C.", "AGENTS.md": b"\xff\xfea\0"}, "codex", ["unreadable", "never"]),
    ],
)
def test_the_table_says_what_the_program_does(run, tree, files, agent, expected):
    tree({"out.md": "Outside.", "w/.git/HEAD": "", **{f"w/{name}": text for name, text in files.items()}})
    form = json.loads(run("agents", ".", "--layout", agent, "--json")[1])
    assert [row["verdicts"][0]["verdict"] for row in form["files"]] == expected


def test_the_refusal_is_a_second_sentence(run, tree):
    tree({"out.md": "Outside.", "w/.git/HEAD": "", "w/CLAUDE.md": Path("../out.md")})
    out = " ".join(run("agents", ".", "CLAUDE.md", "--layout", "claude")[1].split())
    assert "loads it: it reads CLAUDE.md in each directory" in out
    assert "working directory. Foreword does not read it: it is a link that leaves" in out


FATES = {"elsewhere": "elsewhere", "on-touch": "waiting", "shadowed": "shadowed", "never": "unread", "blank": "blank"}


@pytest.mark.parametrize("layout", ["foreword", "codex", "pi-agent", "claude", "copilot", "opencode", "gemini", "pi"])
@pytest.mark.parametrize("name", [".github/workflows/AGENTS.md", "web/CLAUDE.md", ".x/y/AGENTS.md", "web/AGENTS.md"])
@pytest.mark.parametrize("others", [(), ("CLAUDE.md",), ("web/AGENTS.override.md",)])
def test_agents_and_why_agree(run, tree, layout, name, others):
    tree({"w/.git/HEAD": "", f"w/{name}": "A.", **{f"w/{other}": f"In {other}." for other in others}})
    form = json.loads(run("agents", ".", name, "--layout", layout, "--json")[1])
    verdict = form["files"][0]["verdicts"][0]
    row = json.loads(run("why", ".", name, "--layout", layout, "--json")[1])[0]
    assert row["fate"] == FATES[verdict["verdict"]]
    if verdict["verdict"] != "never":
        assert row["reason"].startswith(verdict["reason"])


def test_an_import_that_leads_out_of_the_folder_is_the_reason(run, tree):
    tree({"w/.git/HEAD": "", "w/CLAUDE.md": "@AGENTS.md", "w/AGENTS.md": "A.", "w/web/x": ""})
    candidates = json.loads(run("why", "web", "AGENTS.md", "--layout", "claude", "--json")[1])
    reasons = {tree.short(candidate["path"]): (candidate["fate"], candidate["reason"]) for candidate in candidates}
    fate, reason = reasons["/w/AGENTS.md"]
    assert (fate, tree.short(reason).split("; ")[:2]) == (
        "unused",
        ["imported by /w/CLAUDE.md", "it is outside /w/web"],
    )


def test_the_verdicts_on_files_in_deep_folders_are_the_same(agents, monkeypatch):
    before = agents(".", "--json")
    monkeypatch.setattr(inspection, "_MAX_DEPTH", 0)
    assert agents(".", "--json") == before


def test_folders_beyond_the_limit_are_reported(agents, monkeypatch):
    monkeypatch.setattr(programs, "_MAX_VISITS", 2)
    status, out, err = agents(".")
    assert status == 0 and "[scan-limit]" in err and "web/NEAR.md               elsewhere  elsewhere" in out


NINE = ("claude", "codex", "copilot", "cursor", "gemini", "grok", "opencode", "qwen", "vibe")


@pytest.mark.parametrize("count", [25, 60])
def test_many_files_and_agents_fit_one_screen(run, tree, monkeypatch, count):
    names = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md", ".cursorrules")
    files = {name: f"This is {name}." for name in names}
    files |= {f".cursor/rules/r{number}.mdc": f"---\nglobs: p{number}/**\n---\nX." for number in range(6)}
    files |= {f"p{number}/{names[number % 4]}": f"Rule {number}." for number in range(count - len(files))}
    tree({"w/.git/HEAD": "ref: refs/heads/main\n", **{f"w/{name}": text for name, text in files.items()}})
    layouts = [argument for name in NINE for argument in ("--layout", name)]
    _, words, _ = run("agents", *layouts)
    assert words.count("\n") > 24, "a pipe gets the table with words"
    monkeypatch.setattr("foreword.cli.agents.terminal_height", lambda stream: 24)
    _, output, _ = run("agents", *layouts)
    lines = output.splitlines()
    assert len(lines) < 24 and max(map(display_width, lines)) <= 80
    assert lines[0].split() == "file claude codex copil curso gemin grok openc qwen vibe".split()
    row = next(line for line in lines if line.startswith("AGENTS.md"))
    assert row.split()[1:] == ["s" if name == "claude" else "-" if name == "gemini" else "+" for name in NINE]
    assert any(line.startswith("+ loaded, ") for line in lines)


def test_each_letter_means_the_same_as_the_word():
    assert {mark: verdict.replace("-", " ") for verdict, mark in MARKS.items()} | {OTHER: MEANINGS[OTHER]} == MEANINGS


def test_line_ends_alone_are_not_a_difference_between_texts(run, tree):
    tree({"w/.git/HEAD": "", "w/AGENTS.md": b"One.\r\nTwo.\r\n"})
    form = json.loads(run("diff", ".", "--layout", "codex", "--layout", "vibe", "--json")[1])
    assert [file for file in form["files"] if file["change"]] == []
