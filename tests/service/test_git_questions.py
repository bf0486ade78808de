"""Routes that ask git about a prompt: they answer what the commands print with --json, and only about the served repositories."""

import json
import tempfile
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from foreword.cli import main
from foreword.errors import MissingError
from foreword.service.request import Request
from foreword.service.responses import Problem
from foreword.service.routes import ROUTES
from foreword.service.service import Service

NOW = "2026-03-07T12:00:00+00:00"


@pytest.fixture
def repository(tree, git, monkeypatch):
    """A repository with two commits by two authors, a line that is not committed, and a folder without git beside it."""
    git("init")
    for author, text in (("Ada", "# Shop\n"), ("Bo", "# Shop\n\nUse tabs.\n")):
        tree({"w/AGENTS.md": text, "w/sub/CLAUDE.md": text, "plain/AGENTS.md": text, "home": None})
        git("add", ".")
        git("commit", "-m", "change", author=author)
    tree({"w/AGENTS.md": "# Shop\n\nUse tabs.\nNever sleep.\n"})
    return tree


@pytest.fixture
def call(repository):
    """A function that calls a route of a service in this process."""

    def call(route_path, *, root="w", **fields):
        service = Service(":memory:", [repository.path(root)], home=repository.path("home"))
        with closing(service.conversations):
            route = next(route for route in ROUTES if route.path == route_path)
            return route.function(service, Request({}, [], None, route.body(**fields))).body

    return call


def printed(capsys, repository, command, *arguments):
    main([command, *arguments, "--json", f"--home={repository.path('home')}"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("options", [{"git": True}, {"by": "author"}, {"by": "file"}, {"git": True, "by": "age"}])
def test_blame_answers_what_the_command_prints(call, repository, capsys, options):
    arguments = ["--git", *(f"--by={options['by']}" for _ in range("by" in options))]
    Path(repository.path("w/.git/shallow")).write_text("")
    expected = printed(capsys, repository, "blame", repository.path("w"), "--layout=claude", f"--now={NOW}", *arguments)
    assert call("/blame", cwd="", layout="claude", now=datetime.fromisoformat(NOW), **options) == expected
    assert "the clone is shallow" in expected["notes"][0]
    known = {row.get("author") or row.get("name") for row in expected["sums" if "by" in options else "lines"]}
    assert known >= ({"Ada", "Bo"} if options.get("by") in (None, "author") else set())


def test_a_review_answers_what_the_command_prints_without_temporary_paths(call, repository, capsys):
    expected = printed(capsys, repository, "review", "HEAD~1", repository.path("w"))
    answered = call("/review", cwd="sub", base="HEAD~1")
    assert answered == expected
    assert answered["changed"] and {row["path"] for row in answered["files"]} == {"AGENTS.md", "sub/CLAUDE.md"}
    assert tempfile.gettempdir() not in json.dumps(answered).replace(repository.path("w"), "")


def test_a_lock_is_compared_but_not_written(call, repository, capsys, git):
    main(["lock", repository.path("w"), f"--home={repository.path('home')}"])
    capsys.readouterr()
    written = Path(repository.path("w/foreword.lock")).read_text()
    repository({"w/AGENTS.md": "# Changed\n"})
    expected = printed(capsys, repository, "lock", repository.path("w"), "--check")
    answered = call("/lock", cwd="")
    assert answered == expected
    assert "AGENTS.md has changed" in answered["differences"]
    assert Path(repository.path("w/foreword.lock")).read_text() == written


@pytest.mark.parametrize("options", [{}, {"agents": ["qwen"]}, {"merge": True}, {"links": True}])
def test_an_alignment_is_planned_but_not_written(call, repository, capsys, options):
    repository({"w/CLAUDE.md": "Be kind.\n", "w/GEMINI.md": "Be brief.\n"})
    flags = [f"--{name}" for name in options if name != "agents"]
    named = [f"--agent={name}" for name in options.get("agents", ())]
    expected = printed(capsys, repository, "align", repository.path("w"), *flags, *named)
    answered = call("/align", cwd="sub", **options)
    assert answered == expected
    assert answered["changes"] and answered["before"]["claude"]["missing"] == ["AGENTS.md"]
    assert not Path(repository.path("w/.claude")).exists()


QUESTIONS = [
    ("/blame", {"git": True}),
    ("/blame", {"by": "file"}),
    ("/review", {"base": "HEAD"}),
    ("/lock", {}),
    ("/align", {}),
]


@pytest.mark.parametrize(("route", "fields"), QUESTIONS)
def test_a_repository_that_is_larger_than_the_served_folder_is_not_read(call, route, fields):
    with pytest.raises(Problem, match="is larger than the served folder") as caught:
        call(route, root="w/sub", cwd="", **fields)
    assert caught.value.kind == "outside-roots"


@pytest.mark.parametrize(("route", "fields"), QUESTIONS[:3])
def test_a_folder_without_git_is_not_found(call, route, fields):
    with pytest.raises(MissingError, match="not in a git repository"):
        call(route, root="plain", cwd="", **fields)


def test_an_unknown_commit_is_not_found(call):
    with pytest.raises(MissingError, match="there is no commit 'nope'"):
        call("/review", cwd="", base="nope")
