"""The logs of released agents that `peers/sessions.py` drove through scripts, against what the provider recorded."""

import json
import re

import pytest
from session_logs import GOLDEN, restore

from foreword.programs.sessions import mapping_answer

PROGRAMS = sorted(path.name for path in GOLDEN.iterdir())
KINDS = ("fresh", "written", "read", "out")


@pytest.fixture(params=PROGRAMS)
def program(request, tmp_path):
    home = restore(request.param, tmp_path)
    expected = json.loads((GOLDEN / request.param / "expected.json").read_text())

    def ask(**fields):
        return mapping_answer({"cwd": str(tmp_path), "home": str(home), "everywhere": True, "no_cache": True, **fields})

    return ask, expected


def logged(expected):
    """Return the requests that the program logs: OpenCode does not log the one for a title, which offers no tools."""
    return [row for row in expected["requests"] if row["tools"] or expected["program"] != "opencode"]


def test_at_least_five_programs_are_read():
    assert {"claude", "codex", "copilot", "pi-agent", "gemini"} <= set(PROGRAMS)


def test_totals_are_those_of_the_provider(program):
    ask, expected = program
    total = ask()["total"]
    assert total["tokens"] == {kind: sum(row[kind] for row in logged(expected)) for kind in KINDS}
    by_model = {row["key"]: row["tokens"] for row in ask(by="model")["rows"]}
    assert by_model == {
        model: {kind: sum(row[kind] for row in logged(expected) if row["model"] == model) for kind in KINDS}
        for model in by_model
    }


def test_causes_are_those_of_the_script(program):
    ask, expected = program
    causes = []
    for session in ask()["sessions"]:
        rows = ask(id=session["id"])["requests"]
        causes += [row["collapse"]["cause"] for row in rows if row["collapse"] and not row["thread"]]
    missing = [cause for cause in expected["causes"] if cause not in causes]
    assert missing == []


def test_the_tool_that_was_removed_is_named(tmp_path):
    # The texts of two messages in between were reduced, so that their hashes are not found.
    home = restore("claude", tmp_path)
    fields = {"cwd": str(tmp_path), "home": str(home), "everywhere": True, "no_cache": True}
    rows = mapping_answer({**fields, "id": "1807bc9d"})["requests"]
    found = [row["collapse"]["evidence"] for row in rows if row["collapse"] and row["collapse"]["cause"] == "tool"]
    assert found == ["the program removed tool `Edit` from position 6"]
    assert [row["parts"] for row in rows].count("estimated") == 2


@pytest.mark.parametrize("by", ["file", "tool", "section", "cause"])
def test_rows_add_up(program, by):
    ask, _ = program
    answer = ask(by=by)
    for kind in KINDS:
        assert sum(row["tokens"][kind] for row in answer["rows"]) == answer["total"]["tokens"][kind]


# What the scripts do that a user would not expect.
SURPRISES = {"claude": "session-old-text", "codex": "session-old-text", "copilot": "session-file-lost"}


def test_every_record_is_known_and_surprises_are_found(program):
    ask, expected = program
    codes = {row["code"] for row in ask()["findings"]}
    assert codes <= {"session-old-text", "session-file-lost"}
    assert codes >= {SURPRISES[expected["program"]]} if expected["program"] in SURPRISES else not codes


def test_nothing_of_a_real_machine_is_in_the_logs():
    texts = [path.read_text() for path in GOLDEN.rglob("*") if path.is_file()]
    assert texts
    assert [match for text in texts for match in re.findall(r"(?<!\w)/(?:home|Users|root|work)/[\w.-]+", text)] == []
