"""`foreword blame --git`: who wrote each line of a prompt, and what a repository cannot make git do."""

import json
import os
from pathlib import Path

import pytest

from foreword.cli.authorship import format_age
from foreword.programs import authorship
from foreword.sources import git_blame
from foreword.wire import git_forms

NOW = ("--now", "2026-03-07T12:00:00+00:00")


@pytest.fixture
def history(tree, git, monkeypatch):
    """A file with lines from two authors and an uncommitted line, and an untracked file."""
    git("init")
    for author, time, text in (("Ada", "2025-01-01", "# Shop\n"), ("Bo\u202eb", "2026-03-05", "# Shop\n\nUse tabs.\n")):
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"{time}T12:00:00+00:00")
        tree({"w/AGENTS.md": text})
        git("add", ".")
        git("commit", "-m", "change", author=author)
    tree({"w/AGENTS.md": "# Shop\n\nUse tabs.\nNever sleep.\n", "w/api/AGENTS.md": "New.\n"})
    return tree


def labels(out):
    """Return the label of each line, by its text."""
    return {text: label.strip() for label, _, text in (line.partition(" │ ") for line in out.splitlines())}


def test_each_line_has_its_author_commit_and_age(history, git, run):
    _, out, err = run("blame", "--git", "api", *NOW)
    first, second = git("log", "--format=%h", "--abbrev=8").split()[::-1]
    by_text = labels(out)
    assert by_text["# Shop"] == f"Ada              {first}   1y"
    assert by_text["Use tabs."] == f"Bo\\u202eb        {second}   2d"
    assert by_text["Never sleep."] == by_text["New."] == "not committed"
    assert by_text["</instructions>"].startswith("$std/foreword")
    assert err == ""


def test_files_beyond_the_time_limit_have_no_authors(history, run, monkeypatch):
    monkeypatch.setattr(authorship, "_MAX_SECONDS", -1)
    _, out, err = run("blame", "--git", "api", *NOW)
    assert "git blame takes too long, so the last 2 files have no authors" in err
    assert labels(out)["Use tabs."].endswith("AGENTS.md:3")


def test_revisions_that_the_configuration_ignores_are_shown(history, git, run, tree):
    tree({"ignored": git("rev-parse", "HEAD")})
    git("config", "blame.ignoreRevsFile", tree.path("ignored"))
    assert labels(run("blame", "--git", "api", *NOW)[1])["Use tabs."].startswith("Bo")


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("author", {"Ada", "Bo\\u202eb", "not committed", "not from this repository"}),
        ("age", {"a year or more", "less than a week", "not committed", "not from this repository"}),
    ],
)
def test_tokens_are_summed(history, run, fits, by, names):
    form = json.loads(run("blame", "--by", by, "api", "--json", *NOW)[1])
    assert {row["name"] for row in form["sums"]} == names and form["notes"] == []
    assert all(row["tokens"] > 0 for row in form["sums"])
    assert fits(form, git_forms.AuthorSumsForm) == []
    assert run("blame", "--by", by, "api", *NOW)[1].splitlines()[0].split("  ")[0] in names


def test_json_has_the_commit_of_each_line(history, run, fits):
    form = json.loads(run("blame", "--git", "--json", *NOW)[1])
    assert fits(form, git_forms.AuthorshipForm) == []
    rows = form["lines"]
    row = next(row for row in rows if row["text"] == "Use tabs.")
    assert row["author"] == "Bo\u202eb" and row["time"] == "2026-03-05T12:00:00+00:00" and row["committed"] is True
    uncommitted = next(row for row in rows if row["text"] == "Never sleep.")
    fields = ("committed", "commit", "author", "email", "time")
    assert [uncommitted[name] for name in fields] == [False, None, None, None, None]
    assert next(row for row in rows if row["kind"] == "builtin")["committed"] is None


def test_git_is_asked_once_per_file(history, run, monkeypatch):
    asked = []
    monkeypatch.setattr(
        git_blame, "parse_blame", lambda output, parse=git_blame.parse_blame: asked.append(1) or parse(output)
    )
    run("blame", "--git")
    assert len(asked) == 1


def test_a_link_has_the_authors_of_its_target(history, git, run):
    history({"w/CLAUDE.md": Path("AGENTS.md")})
    out = run("blame", "--git", "--layout", "claude", *NOW)[1]
    assert labels(out)["# Shop"].startswith("Ada ")


def test_outside_a_repository_it_is_an_invalid_call(tree, run):
    tree({"w/AGENTS.md": "A\n"})
    status, _, err = run("blame", "--git")
    assert status == 2 and "it is not in a git repository with a commit" in err


def test_a_repository_without_commits_has_only_uncommitted_lines(tree, git, run):
    git("init")
    tree({"w/AGENTS.md": "First.\n"})
    assert labels(run("blame", "--git")[1])["First."] == "not committed"


def test_a_shallow_clone_is_noted(history, git, run, monkeypatch):
    git("clone", "--depth=1", f"file://{history.path('w')}", "../clone")
    monkeypatch.chdir(history.path("clone"))
    status, out, err = run("blame", "--git", *NOW)
    assert status == 0 and labels(out)["# Shop"].startswith("Bo\\u202eb")
    assert "the clone is shallow" in err
    _, out, err = run("blame", "--git", "--json", *NOW)
    assert "the clone is shallow" in json.loads(out)["notes"][0] and err == ""


def test_no_program_from_the_configuration_is_run(history, git, run):
    mark = history.path("mark")
    history({"trap": f"#!/bin/sh\ntouch '{mark}'\ncat \"$@\"\n", "w/.gitattributes": "*.md diff=evil filter=evil\n"})
    os.chmod(history.path("trap"), 0o755)
    for key in ("diff.evil.textconv", "diff.external", "filter.evil.clean", "core.fsmonitor", "core.pager"):
        git("config", key, history.path("trap"))
    git("blame", "AGENTS.md")
    assert os.path.exists(mark), "the trap works"
    os.remove(mark)
    assert labels(run("blame", "--git", *NOW)[1])["# Shop"].startswith("Ada ")
    assert not os.path.exists(mark)


def test_replaced_objects_are_not_used(history, git, run):
    first, second = git("log", "--format=%H").split()[::-1]
    git("replace", second, first)
    assert labels(run("blame", "--git", *NOW)[1])["Use tabs."].startswith("Bo\\u202eb")


@pytest.mark.parametrize(
    ("seconds", "age"),
    [(-5, "new"), (61, "1m"), (90_000, "1d"), (40 * 86_400, "1mo"), (364 * 86_400, "12mo"), (1e12, "999y")],
)
def test_ages_are_short(seconds, age):
    assert format_age(seconds) == age
