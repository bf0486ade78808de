"""`foreword align`: the plan, writing it, and checking."""

import json
import os
from pathlib import Path

import pytest

from foreword.programs.align import plan


@pytest.fixture
def repository(tree, git):
    """`repository({"AGENTS.md": …})` creates and commits files in the workspace."""

    def create(files):
        tree({f"w/{path}": text for path, text in files.items()} | {"home": None})
        git("init", "-q")
        git("add", "-A", "-f")
        git("commit", "-q", "-m", "x")

    tree({"w": None, "home": None})
    return create


def test_a_plan_is_shown_and_nothing_is_written(repository, run, tree):
    repository({"AGENTS.md": "One.\n", "CLAUDE.md": "Own.\n"})
    status, out, err = run("align", "--agent", "gemini")
    assert status == 0
    assert out.splitlines() == [
        "claude    Claude Code 2.1.328  reads 0 of 1; 1 missed  reads 1 of 1",
        "codex     Codex CLI 0.169.0    reads 1 of 1            reads 1 of 1",
        "copilot   Copilot CLI 1.0.102  reads 1 of 1            reads 1 of 1",
        "gemini    Gemini CLI 0.61.0    reads 0 of 1; 1 missed  reads 1 of 1",
        "opencode  OpenCode 1.18.34     reads 1 of 1            reads 1 of 1",
        "pi-agent  pi 0.87.1            reads 1 of 1            reads 1 of 1",
        "vibe      Mistral Vibe 3.0.2   reads 1 of 1            reads 1 of 1",
        "",
        "create .claude/CLAUDE.md for claude: Claude Code 2.1.328 reads .claude/CLAUDE.md and follows its imports",
        "  +@../AGENTS.md",
        "create .gemini/settings.json for gemini: Gemini CLI 0.61.0 reads the files that context.fileName lists",
        '  +  "context": {',
        '  +    "fileName": ["AGENTS.md", "GEMINI.md"]',
        "create .agents/align.json for gemini: it lists the keys of settings that align has changed",
    ]
    assert err == "nothing was written; to make these 3 changes, run: foreword align --agent gemini --write\n"
    assert not os.path.exists(tree.path("w/.gemini"))


def test_after_writing_nothing_is_left_to_do(repository, run, tree):
    repository({"AGENTS.md": "One.\n", "CLAUDE.md": "Own.\n"})
    assert run("align", "--check", "--agent", "gemini")[0] == 1
    assert run("align", "--write", "--agent", "gemini")[::2] == (0, "3 files changed\n")
    assert Path(tree.path("w/.claude/CLAUDE.md")).read_text() == "@../AGENTS.md\n"
    assert Path(tree.path("w/CLAUDE.md")).read_text() == "Own.\n"
    assert run("align", "--check", "--agent", "gemini")[::2] == (0, "nothing to change\n")
    assert run("align", "--write", "--agent", "gemini")[::2] == (0, "nothing to change\n")


def test_json_has_the_changes_and_what_each_agent_reads(repository, run):
    repository({"AGENTS.md": "One.\n", "GEMINI.md": "Own.\n"})
    form = json.loads(run("align", "--json")[1])
    reads_all = {"read": ["AGENTS.md"], "missing": [], "repeated": [], "cut": []}
    assert form["before"]["gemini"] == {"read": [], "missing": ["AGENTS.md"], "repeated": [], "cut": []}
    assert set(map(str, form["after"].values())) == {str(reads_all)}
    assert [(change["path"], change["action"], change["agents"]) for change in form["changes"]] == [
        (".gemini/settings.json", "create", ["gemini"]),
        (".agents/align.json", "create", ["gemini"]),
    ]


def test_files_that_git_ignores_do_not_exist(repository, run, tree):
    repository({"AGENTS.md": "One.\n", ".gitignore": "CLAUDE.md\n"})
    tree({"w/CLAUDE.md": "Mine.\n", "w/../CLAUDE.md": "Above.\n", "home/.claude/CLAUDE.md": "User's.\n"})
    status, out, _ = run("align", "--check", "--agent", "claude")
    assert (status, out.splitlines()[0]) == (0, "claude    Claude Code 2.1.328  reads 1 of 1  reads 1 of 1")


def test_no_file_is_created_where_git_would_ignore_it(repository, run):
    """Copilot reads CLAUDE.md too, so that .claude/CLAUDE.md would be the better place."""
    repository({"AGENTS.md": "One.\n", "CLAUDE.md": "Own.\n", ".gitignore": ".claude/\n"})
    form = json.loads(run("align", "--json", "--write")[1])
    assert [row["path"] for row in form["changes"]] == ["CLAUDE.md"]
    assert json.loads(run("align", "--json")[1])["changes"] == []


def test_a_long_plan_fits_on_a_screen_and_the_json_has_every_file(repository, run, monkeypatch):
    # Both outputs are of one plan, because the search for it takes seconds.
    plans, search = [], plan.plan_alignment

    def search_once(*arguments, **options):
        if not plans:
            plans.append(search(*arguments, **options))
        return plans[0]

    monkeypatch.setattr(plan, "plan_alignment", search_once)
    repository({f"p{number:02}/AGENTS.md": f"For {number}.\n" for number in range(30)} | {"CLAUDE.md": "Own.\n"})
    _, out, err = run("align")
    assert "create p00/.claude/CLAUDE.md and 29 more for claude:" in out
    assert err.endswith("to make these 30 changes, run: foreword align --write; --json lists every file\n")
    assert len((out + err).splitlines()) < 24
    assert len(json.loads(run("align", "--json")[1])["changes"]) == 30


def test_a_merge_of_several_folders_is_shown_as_the_number_of_lines(repository, run):
    repository({f"{name}/CLAUDE.md": f"For {name}.\n-- {name}\n" for name in "abc"} | {"CLAUDE.md": "Own.\n"})
    out = run("align", "--merge")[1]
    assert "create AGENTS.md and 3 more: it has every line of CLAUDE.md once (11 lines)\n" in out
    assert "remove CLAUDE.md and 3 more: every line of it is in AGENTS.md\n" in out


def test_equal_changes_are_shown_together(repository, run):
    repository({f"{name}/AGENTS.md": f"For {name}.\n" for name in "abcd"} | {"CLAUDE.md": "Own.\n"})
    lines = run("align")[1].splitlines()
    assert [line for line in lines if line.startswith("create")] == [
        "create a/.claude/CLAUDE.md and 3 more for claude: Claude Code 2.1.328 reads .claude/CLAUDE.md and follows its imports"
    ]
    assert lines[0].split("  ")[3:] == ["reads 0 of 4; 4 missed", "reads 4 of 4"]


def test_a_file_with_uncommitted_changes_is_not_touched(repository, run, tree):
    repository({"AGENTS.md": "One.\n", ".gemini/settings.json": "{}\n"})
    tree({"w/.gemini/settings.json": '{"x": 1}\n'})
    status, _, err = run("align", "--write")
    assert (status, err) == (
        2,
        "foreword: .gemini/settings.json has changes that are not committed; commit them, or pass --force\n",
    )
    assert Path(tree.path("w/.gemini/settings.json")).read_text() == '{"x": 1}\n'
    assert run("align", "--write", "--force")[0] == 0
    assert json.loads(Path(tree.path("w/.gemini/settings.json")).read_text()) == {
        "context": {"fileName": ["AGENTS.md", "GEMINI.md"]},
        "x": 1,
    }


def test_nothing_is_written_through_a_link(repository, run, tree):
    tree({"elsewhere": None})
    os.symlink(tree.path("elsewhere"), tree.path("w/.gemini"))
    repository({"AGENTS.md": "One.\n"})
    assert run("align", "--write", "--agent", "gemini")[0] == 0
    assert os.listdir(tree.path("elsewhere")) == []
    assert Path(tree.path("w/GEMINI.md")).read_text() == "@AGENTS.md\n"


def test_outside_a_repository_existing_files_need_force(run, tree):
    tree({"w/AGENTS.md": "One.\n", "w/.gemini/settings.json": "{}\n", "home": None})
    status, _, err = run("align", "--write")
    assert status == 2 and "--force writes them anyway" in err
    assert run("align", "--write", "--force")[0] == 0
    assert "AGENTS.md" in Path(tree.path("w/.gemini/settings.json")).read_text()


def test_without_instructions_there_is_nothing_to_do(repository, run):
    repository({"README.md": "x\n"})
    assert run("align", "--agent", "claude")[1] == "there is no AGENTS.md with text, so there is nothing to align\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--write", "--check"], "--write and --check exclude each other; --check writes nothing"),
        (["--agent", "cluade"], "unknown agent 'cluade'; did you mean 'claude'?"),
    ],
)
def test_a_wrong_call_says_what_would_be_right(repository, run, arguments, message):
    repository({"AGENTS.md": "One.\n"})
    status, _, err = run("align", *arguments)
    assert (status, err.strip()) == (2, f"foreword: {message}")


def test_the_users_own_files_are_reported(repository, run, tree):
    repository({"AGENTS.md": "One.\n"})
    tree({"home/.claude/CLAUDE.md": "Mine.\n", "home/.codex/AGENTS.md": "Mine.\n"})
    assert run("align", "--check", "--agent", "claude")[2] == (
        "info: outside the repository, agents also read your own ~/.claude/CLAUDE.md (claude, opencode) and ~/.codex/AGENTS.md (codex);"
        " align neither counts nor changes them [align-own]\nnothing to change\n"
    )
