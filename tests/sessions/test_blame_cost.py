"""`foreword blame --file FILE --cost`: what each line of an instruction file cost."""

import json
from pathlib import Path

import pytest
from session_logs import ClaudeLog

from foreword.cli import main
from foreword.errors import CallError, MissingError
from foreword.programs.question import Question
from foreword.programs.session_blame import REMOVED, blame_cost_answer
from foreword.programs.sessions import mapping_answer


@pytest.fixture
def fields(tmp_path):
    repo, home = tmp_path / "repo", tmp_path / "home"
    (repo / ".git").mkdir(parents=True)
    (repo / "CLAUDE.md").write_text("Use tabs.\n\nNever push without asking.\n")
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", "Use tabs.\nA rule that was removed.\n")
    log.user().answer(written=3001, fresh=7)
    log.instructions(repo / "CLAUDE.md", "Use tabs.\n\nNever push without asking.\n")
    log.user().answer(read=3001, written=401).write()
    return {"cwd": str(repo), "home": str(home), "no_cache": True, "file": "CLAUDE.md"}


def test_lines_add_up_to_the_files_row(fields):
    answer = blame_cost_answer(Question(fields))
    assert [line["text"] for line in answer["lines"]] == ["Use tabs.", "", "Never push without asking.", REMOVED]
    [row] = [row for row in mapping_answer({**fields, "by": "file"})["rows"] if row["key"].endswith("CLAUDE.md")]
    for kind in ("fresh", "written", "read", "out"):
        assert sum(line["tokens"][kind] for line in answer["lines"]) == row["tokens"][kind]
    assert sum(line["cost"] for line in answer["lines"]) == pytest.approx(row["cost"], abs=1e-12)
    first, _, third, removed = (sum(line["tokens"].values()) for line in answer["lines"])
    assert first > third > 0  # the first line was in both versions
    assert removed > 0


def test_the_command_prints_lines(fields, capsys):
    arguments = ["blame", fields["cwd"], "--home", fields["home"], "--file", "CLAUDE.md", "--cost"]
    assert main(arguments) == 0
    assert "Never push without asking." in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"]["exactness"] == "rebuilt"


def test_secrets_in_lines_are_masked(fields):
    path = Path(fields["cwd"], "CLAUDE.md")
    secret = "ghp_" + "R4nd0mXyZ9qWe8rTy7uIo6pAs5dFg4hJk3lZ"
    path.write_text(f"Use tabs.\nThe key is {secret}.\n")
    answer = blame_cost_answer(Question(fields))
    assert [line["text"] for line in answer["lines"]] == ["Use tabs.", "The key is ghp_" + "*" * 36 + ".", REMOVED]


def test_a_file_that_no_session_read_is_an_error(fields):
    with pytest.raises(MissingError, match="no session in this period read other"):
        blame_cost_answer(Question({**fields, "file": "other.md"}))
    with pytest.raises(CallError, match="--cost needs --file FILE"):
        blame_cost_answer(Question({**fields, "file": ""}))
