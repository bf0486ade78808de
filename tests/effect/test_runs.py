"""What a command's status and output mean, and the file of results."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from foreword import CallError
from foreword.programs.effect.command import _environment
from foreword.programs.effect.results import ResultsFile, read_header
from foreword.programs.effect.runs import RunOutcome, read_outcome


@pytest.mark.parametrize(
    ("status", "output", "score", "cost"),
    [
        (0, "", 1.0, None),
        (1, "", 0.0, None),
        (1, "log\n0.75\n\n", 0.75, None),
        (0, "17\n", 1.0, None),
        (0, "-0.5", 1.0, None),
        (0, '{"score": 0.25, "cost": 0.5}', 0.25, 0.5),
        (1, '{"score": true}', 1.0, None),
        (1, '{"cost": 0.5}', 0.0, 0.5),
        (0, '{"score": 2}', None, None),
        (0, '{"score": "good"}', None, None),
        (0, '{"score": NaN, "cost": -1}', None, None),
        (0, "1e999", 1.0, None),
        (0, '{"score": 0.5}\nbye', 1.0, None),
        (0, "[" * 100_000, 1.0, None),
        (2, "0.5", None, None),
        (-9, "", None, None),
    ],
)
def test_status_and_last_line(status, output, score, cost):
    outcome = read_outcome(status, output, 1.5)
    assert (outcome.score, outcome.cost, bool(outcome.reason)) == (score, cost, score is None)


def test_a_command_may_say_how_long_it_took_and_what_it_used():
    outcome = read_outcome(0, '{"score": 1, "seconds": 3, "tokens": 100, "cost": 0.1}', 9.0)
    assert outcome == RunOutcome(1.0, 0, 3.0, 0.1, 100)


HEADER = {"fingerprint": "a", "seed": 1}
FAILED, PASSED = RunOutcome(None, 2, 1.0, reason="it ended with status 2"), RunOutcome(1.0, 0, 1.0, 0.5)


def test_results_are_read_again(tmp_path):
    path = str(tmp_path / "deep" / "results.jsonl")
    results = ResultsFile(path, HEADER, 1, resume=False)
    for arm, number, outcome in [("a", 1, PASSED), ("a", 2, FAILED), ("a", 2, FAILED), ("b", 1, FAILED)]:
        results.add(arm, number, 7, outcome)
    assert results.scores == {"a": {1: 1.0, 2: None}}, "b may be tried once more"
    results.close()
    again = ResultsFile(path, HEADER, 1, resume=True)
    assert (again.scores, again.attempts, again.spent) == (results.scores, results.attempts, 0.5)
    again.close()
    assert [json.loads(line).get("attempt") for line in Path(path).read_text().splitlines()] == [None, 1, 1, 2, 1]


def test_a_line_that_was_cut_off_is_dropped(tmp_path):
    path = tmp_path / "results.jsonl"
    results = ResultsFile(str(path), HEADER, 0, resume=False)
    results.add("a", 1, 7, PASSED)
    results.close()
    path.write_bytes(path.read_bytes() + b'{"arm": "a", "run": 2, "sco')
    again = ResultsFile(str(path), HEADER, 0, resume=True)
    again.add("a", 3, 7, PASSED)
    again.close()
    last = ResultsFile(str(path), HEADER, 0, resume=True)
    last.close()
    assert last.scores == {"a": {1: 1.0, 3: 1.0}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"kind": "foreword effect", "fingerprint": "b"}\n', "another experiment"),
        ("hello\n", "not a file of results"),
        ("[1]\n", "not a file of results"),
        ('{"kind": "x", "fingerprint": "a"}\n', "not a file of results"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "results.jsonl"
    path.write_text(content)
    with pytest.raises(CallError, match=message):
        ResultsFile(str(path), HEADER, 0, resume=True)
    if "not a file" in message:
        with pytest.raises(CallError, match=message):
            read_header(str(path))
    with pytest.raises(CallError, match="exists already"):
        ResultsFile(str(path), HEADER, 0, resume=False)


def test_commands_find_the_repository_by_their_folder(monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "OLDPWD"):
        monkeypatch.setenv(name, "/elsewhere")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    environment = _environment(SimpleNamespace(home="/home/x"))
    assert "/elsewhere" not in environment.values()
    assert (environment["GIT_AUTHOR_NAME"], environment["HOME"]) == ("Ada", "/home/x")
