"""The command `foreword lock`: the file it writes, and what --check reports."""

import json
import os
from pathlib import Path

import pytest

REPOSITORY = {
    "w/.git/HEAD": "ref: refs/heads/main\n",
    "w/CLAUDE.md": "Be brief.\n",
    "w/api/CLAUDE.md": "Use tabs.\n",
    "w/.cursor/rules/style.mdc": "---\nalwaysApply: true\n---\nNo semicolons.\n",
}


@pytest.fixture
def locked(tree, run):
    tree(REPOSITORY)
    assert run("lock")[0] == 0
    return Path(tree.path("w/foreword.lock"))


def prompts(path):
    lines = path.read_text().splitlines()
    return [line.split()[1:3] for line in lines if line.startswith("prompt ") and len(line.split()) == 4]


def test_each_line_is_one_fact_and_lines_are_sorted(locked, tree):
    header, *lines = locked.read_text().splitlines()
    assert header.startswith("# Written by `foreword lock`")
    assert lines == sorted(lines)
    assert ["claude", "."] in prompts(locked) and ["claude", "api"] in prompts(locked)
    assert ["cursor", "."] in prompts(locked) and ["codex", "."] not in prompts(locked)
    assert "prompt claude api reads api/CLAUDE.md" in lines
    assert [line.split()[1] for line in lines if line.startswith("file ")] == [
        ".cursor/rules/style.mdc",
        "CLAUDE.md",
        "api/CLAUDE.md",
    ]
    assert tree.top not in locked.read_text()


def test_the_file_does_not_depend_on_the_machine(locked, tree, run, monkeypatch):
    before = locked.read_bytes()
    tree(
        {"home/.claude/CLAUDE.md": "Of the user.\n", "CLAUDE.md": "Above.\n", "home/.config/foreword/foreword.toml": ""}
    )
    os.rename(tree.path("w"), tree.path("elsewhere"))
    monkeypatch.chdir(tree.path("elsewhere"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert run("lock", "--check")[0] == 0
    assert run("lock")[0] == 0
    assert Path(tree.path("elsewhere/foreword.lock")).read_bytes() == before


def test_check_says_what_differs_and_writes_nothing(locked, tree, run):
    before = locked.read_bytes()
    assert run("lock", "--check") == (0, "foreword.lock is up to date: 3 prompts from 3 files\n", "")
    tree({"w/CLAUDE.md": "Be very brief, please.\n", "w/web/CLAUDE.md": "Use spaces.\n"})
    os.remove(tree.path("w/.cursor/rules/style.mdc"))
    status, out, err = run("lock", "--check")
    assert status == 1 and err == "foreword.lock is out of date; read the differences, then run: foreword lock\n"
    for sentence in (
        "CLAUDE.md has changed",
        "web/CLAUDE.md is new",
        ".cursor/rules/style.mdc is gone",
        "claude in web: the prompt is new",
    ):
        assert sentence in out.splitlines()
    # Other sentences already say that these prompts have changed or are new.
    assert "claude at the root: the prompt has changed" not in out and "claude at the root: section" in out
    assert "claude in web: section" not in out and "now reads web/CLAUDE.md" not in out
    assert locked.read_bytes() == before


def test_a_file_that_imports_a_changed_one_has_not_changed(tree, run):
    tree({"w/CLAUDE.md": "See @docs/style.md\n", "w/docs/style.md": "Be brief.\n"})
    run("lock")
    tree({"w/docs/style.md": "Be very brief, please.\n"})
    out = run("lock", "--check")[1].splitlines()
    assert "docs/style.md has changed" in out and "CLAUDE.md has changed" not in out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "there is no foreword.lock; to create it, run: foreword lock"),
        (b"\xff", "foreword.lock cannot be read: byte 0xff at offset 0 is not UTF-8; save it as UTF-8"),
        ("<<<<<<< HEAD\n", "foreword.lock contains an unexpected line: <<<<<<< HEAD"),
    ],
)
def test_a_file_that_is_missing_or_damaged_is_out_of_date(locked, tree, run, text, sentence):
    os.remove(locked)
    tree({} if text is None else {"w/foreword.lock": text})
    status, out, _ = run("lock", "--check")
    assert status == 1 and sentence in out.splitlines()


def test_a_link_is_replaced_and_not_followed(tree, run):
    tree({**REPOSITORY, "victim": "precious\n", "w/foreword.lock": Path("../victim")})
    assert run("lock", "--check")[0] == 1
    assert run("lock")[0] == 0
    assert Path(tree.path("victim")).read_text() == "precious\n"
    assert not os.path.islink(tree.path("w/foreword.lock"))


def test_names_with_spaces_and_newlines_are_one_word(tree, run):
    tree({**REPOSITORY, "w/a b\nc/CLAUDE.md": "Odd.\n"})
    assert run("lock")[0] == run("lock", "--check")[0] == 0
    assert 'file "a\\u0020b\\\\x0ac/CLAUDE.md" ' in Path(tree.path("w/foreword.lock")).read_text()


def test_named_layouts_are_locked_instead(locked, run):
    status, out, _ = run("lock", "--json", "--layout", "opal", "--layout", "codex")
    form = json.loads(out)
    assert status == 0 and sorted({prompt["layout"] for prompt in form["prompts"]}) == ["codex", "opal"]


def test_files_that_git_ignores_are_not_in_the_lock(tree, run, git):
    tree(
        {
            "w/.gitignore": "*.local.md\nnotes.md\n/.cursor/\nAGENTS.override.md\nkept.md\n",
            "w/AGENTS.md": "Be brief.\n",
            "w/CLAUDE.md": "Be kind.\n@notes.md\n@kept.md\n",
            "w/api/CLAUDE.md": "Use tabs.\n",
            "w/kept.md": "It is tracked.\n",
        }
    )
    git("init")
    git("add", "--force", ".")
    git("commit", "-m", "one")
    assert run("lock")[0] == 0
    locked = Path(tree.path("w/foreword.lock"))
    before = locked.read_bytes()
    assert b"file kept.md " in before
    tree(
        {
            "w/CLAUDE.local.md": "Mine.\n",
            "w/api/CLAUDE.local.md": "Mine.\n",
            "w/web/CLAUDE.local.md": "Mine.\n",
            "w/notes.md": "Mine.\n",
            "w/AGENTS.override.md": "Mine.\n",
            "w/.kiro/settings.local.md": "Mine.\n",
            "w/.cursor/rules/mine.mdc": "---\nalwaysApply: true\n---\nMine.\n",
        }
    )
    assert run("lock", "--check")[0] == 0
    assert run("lock")[0] == 0
    assert locked.read_bytes() == before


def test_files_that_only_this_user_ignores_are_not_in_the_lock(tree, run, git):
    tree({"w/CLAUDE.md": "Be kind.\n"})
    git("init")
    git("add", ".")
    git("commit", "-m", "one")
    assert run("lock")[0] == 0
    tree({"w/CLAUDE.local.md": "Mine.\n", "w/.git/info/exclude": "CLAUDE.local.md\n"})
    assert run("lock", "--check")[0] == 0
    tree({"w/.git/info/exclude": ""})
    assert run("lock", "--check")[0] == 1


def test_files_that_are_sent_on_a_touch_are_in_the_lock(tree, run):
    rule = "---\npaths: ['*.py']\n---\nUse tabs.\n"
    tree({**REPOSITORY, "w/.claude/rules/python.md": rule, "w/.claude/rules/all.md": "Always.\n"})
    assert run("lock")[0] == 0
    lines = Path(tree.path("w/foreword.lock")).read_text().splitlines()
    assert [line for line in lines if line.startswith("prompt claude . touch ")] == [
        "prompt claude . touch .claude/rules/python.md",
        "prompt claude . touch api/CLAUDE.md",
    ]
    assert run("lock", "--check")[0] == 0
    tree({"w/.claude/rules/python.md": rule.replace("tabs", "spaces")})
    assert run("lock", "--check")[:2] == (1, ".claude/rules/python.md has changed\n")
    tree({"w/.claude/rules/python.md": rule, "w/web/CLAUDE.md": "Use spaces.\n"})
    assert "claude at the root: web/CLAUDE.md is now sent when a file is touched" in run("lock", "--check")[1]


def test_a_folder_with_settings_of_its_own_has_its_own_layout(tree, run):
    """Other folders use the layout that has been read for the first of them."""
    tree(
        {
            "w/.git/HEAD": "ref: refs/heads/main\n",
            "w/.gemini/settings.json": "{}",
            **{f"w/{name}/GEMINI.md": f"{name}.\n" for name in "abc"},
            **{f"w/{name}/OWN.md": f"Own {name}.\n" for name in "abc"},
            "w/b/.gemini/settings.json": '{"context": {"fileName": "OWN.md"}}',
        }
    )
    report = json.loads(run("lock", "--json", "--layout", "gemini")[1])
    assert {row["folder"]: row["files"] for row in report["prompts"]} == {
        "a": ["a/GEMINI.md"],
        "b": ["b/GEMINI.md", "b/OWN.md"],
        "c": ["c/GEMINI.md"],
        ".": [],
    }
