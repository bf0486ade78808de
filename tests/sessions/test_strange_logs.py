"""Logs with values that no program should write, and files beside the logs that are not what they should be."""

import json
import os
import sqlite3

import pytest
from other_logs import gemini_rows, pi_rows, qwen_rows, write_gemini, write_opencode, write_pi, write_qwen
from session_logs import ClaudeLog

from foreword.cli import main
from foreword.errors import MissingError
from foreword.programs.sessions import mapping_answer
from foreword.sessions.index import Index

REQUESTS = [(5000, 0, 7), (300, 5000, 7)]
NO_AMOUNTS = ["NaN", "Infinity", "-1", "1e999", "1" + "0" * 400, "true", '"1"']


def claude_log(home, cost):
    path = ClaudeLog(home, "/repo").user().answer(written=900).write()
    path.write_text(path.read_text() + f'{{"type":"cost-state","totalCostUSD":{cost},"modelUsage":{{}}}}\n')


def pi_log(home, cost):
    path = write_pi(home, pi_rows("/repo", REQUESTS))
    path.write_text(path.read_text().replace('"cacheWrite":0', f'"cacheWrite":0,"cost":{{"total":{cost}}}'))


def opencode_log(home, cost):
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.unlink(missing_ok=True)
    write_opencode(home, "/repo", {"ses_1": (None, REQUESTS)})
    with sqlite3.connect(path) as connection:
        for key, data in connection.execute("SELECT id, data FROM message").fetchall():
            changed = json.dumps({**json.loads(data), "cost": 0}).replace('"cost": 0', f'"cost": {cost}')
            connection.execute("UPDATE message SET data = ? WHERE id = ?", (changed, key))
    connection.close()


@pytest.mark.parametrize("cost", NO_AMOUNTS)
@pytest.mark.parametrize("write", [claude_log, pi_log, opencode_log])
def test_a_programs_own_cost_has_to_be_an_amount(home, ask, write, cost):
    write(home, cost)
    [session] = ask()["sessions"]
    assert (session["own_cost"], session["requests"]) == (None, 1 if write is claude_log else 2)
    write(home, 0.25)
    assert ask()["sessions"][0]["own_cost"] == (0.25 if write is claude_log else 0.5)


def test_what_cannot_be_read_is_a_finding_if_nothing_else_is_in_the_log(home, ask):
    path = ClaudeLog(home, "/repo").user().answer(written=900).write()
    path.write_bytes(path.read_text().encode("utf-16"))
    answer = ask()
    assert (answer["sessions"], [row["code"] for row in answer["findings"]]) == ([], ["session-log-cut"])


def test_very_many_unknown_types_are_not_all_named(home, ask):
    log = ClaudeLog(home, "/repo").user().answer(written=900)
    for number in range(300):
        log.row(f"new-{number}" + "x" * 1000)
    log.write()
    answer = ask()
    messages = [row["message"] for row in answer["findings"]]
    assert (answer["total"]["requests"], len(messages)) == (1, 100)
    assert max(map(len, messages)) < 200


def test_a_path_may_contain_any_character(home, ask):
    path = "/re|po/\x1b[2J/CLAUDE.md"
    log = ClaudeLog(home, "/repo").snapshot().instructions(path, "Use tabs.\n" * 40)
    log.user().answer(written=900).instructions(path, "Use spaces.\n" * 40).user().answer(read=900, written=90).write()
    [message] = [row["message"] for row in ask()["findings"]]
    assert message.startswith(
        "/re|po/\\x1b[2J/CLAUDE.md was edited during session 11111111; the old text stayed in 1 req"
    )
    null = ClaudeLog(home, str(home), session="2").snapshot().instructions("/re\0po/CLAUDE.md", "Use tabs.")
    null.user().answer(written=901).write()
    assert ask(id="2")["findings"] == []
    assert (
        mapping_answer({"cwd": str(home), "home": str(home), "no_cache": True, "by": "file"})["total"]["requests"] == 1
    )


def test_a_line_number_that_is_too_long_is_part_of_a_name(home, ask):
    ClaudeLog(home, "/repo").user().answer(written=900).write()
    with pytest.raises(MissingError, match="there is no such file"):
        ask(id="1111", in_force="CLAUDE.md:" + "9" * 5000)


@pytest.mark.parametrize("name", ["cwd", "message"])
def test_what_a_tool_was_called_with_is_not_the_folder_of_a_session(home, tmp_path, name):
    """A session would be left out because of it."""
    repo = tmp_path / "repo"
    repo.mkdir()
    rows = gemini_rows(REQUESTS)
    rows[1]["content"] = [{"text": f"<session_context>\n**Workspace Directories:**\n  - {repo}\n</session_context>"}]
    rows[2]["toolCalls"] = [{"name": "run", "args": {"cwd": "/elsewhere"}}]
    write_gemini(home, rows)
    log = ClaudeLog(home, repo).row("attachment", attachment={"type": "hook", name: {"cwd": "/elsewhere"}})
    log.rows[0] = {"attachment": log.rows[0].pop("attachment"), **log.rows[0]}
    log.user().answer(written=900).write()
    answer = mapping_answer({"cwd": str(repo), "home": str(home), "no_cache": True})
    assert {session["agent"] for session in answer["sessions"]} == {"gemini", "claude"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
def test_a_list_of_projects_that_is_no_file_is_not_waited_for(home, ask):
    write_gemini(home, gemini_rows(REQUESTS))
    projects = home / ".gemini" / "projects.json"
    os.mkfifo(projects)
    assert ask()["total"]["requests"] == 2
    projects.unlink()
    projects.write_text("[" * 200_000)
    assert ask()["total"]["requests"] == 2
    projects.write_text(json.dumps({"projects": {"/work/shop": "repo"}}))
    assert ask()["sessions"][0]["cwd"] == "/work/shop"


def test_an_index_that_another_process_locks_is_waited_for_only_once(tmp_path):
    path = tmp_path / "index.db"
    index = Index(str(path))
    index.open()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert index.find_record("/log", "1 1 1") is None
    other.execute("ROLLBACK")
    other.close()
    assert index._connection is None


def test_requests_of_the_programs_own_are_not_sub_agents(home, ask, capsys):
    rows = qwen_rows("/repo", REQUESTS)
    rows[-1]["systemPayload"]["uiEvent"]["prompt_id"] = "memory-extraction-1"
    path = write_qwen(home, rows)
    [first, second] = ask(id=path.stem)["requests"]
    assert (first["kind"], second["kind"]) == ("turn", "side")
    assert main(["sessions", "--home", str(home), "--no-cache", "--id", path.stem]) == 0
    out = capsys.readouterr().out
    assert " side " in out
    assert "sub-agent" not in out


def test_after_a_damaged_row_the_time_before_it_does_not_count(home, ask):
    """The row may have been the message after the pause; then the provider would be blamed."""
    log = ClaudeLog(home, "/repo").snapshot().user().answer(written=9000)
    log.time += 900
    log.user("damaged").answer(written=9100)
    path = log.write()
    assert ask(id="1111")["requests"][1]["collapse"]["cause"] == "lifetime"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line[:40] + "\n" if "damaged" in line else line for line in lines))
    assert ask(id="1111")["requests"][1]["collapse"]["cause"] == "lifetime"
