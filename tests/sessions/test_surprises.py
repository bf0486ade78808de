"""What only a log shows, and what would have helped."""

import json
from types import SimpleNamespace

import pytest
from session_logs import ClaudeLog

from foreword.cli import main
from foreword.programs.sessions import mapping_answer
from foreword.sessions.readers.copilot import _CopilotLog


@pytest.fixture
def place(tmp_path):
    repo, home = tmp_path / "repo", tmp_path / "home"
    (repo / ".git").mkdir(parents=True)
    (repo / "CLAUDE.md").write_text("Use tabs.\n")
    return repo, home


def ask(place, **fields):
    return mapping_answer({"cwd": str(place[0]), "home": str(place[1]), "no_cache": True, **fields})


def messages(answer, code):
    return [row["message"] for row in answer["findings"] if row["code"] == code]


def test_the_old_text_of_an_edited_file_stays(place):
    repo, home = place
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", "Use tabs.\n" * 40)
    log.user().answer(written=900).instructions(repo / "CLAUDE.md", "Use spaces.\n" * 40)
    log.user().answer(read=900, written=90).user().answer(read=990, written=9).write()
    [message] = messages(ask(place), "session-old-text")
    assert "the old text stayed in 2 requests" in message


def test_a_file_that_a_compaction_lost(place):
    repo, home = place
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "api" / "CLAUDE.md", "Validate.\n")
    log.user().answer(written=900).row("system", subtype="compact_boundary", uuid="b")
    log.user("summary", isCompactSummary=True).answer(read=500, written=30).write()
    [message] = messages(ask(place), "session-file-lost")
    assert "api/CLAUDE.md was not sent any more after a compaction" in message


def test_a_program_that_read_other_files_than_its_mirror(place):
    repo, home = place
    other = repo / "NOTES.md"
    other.write_text("Notes.\n")
    log = (
        ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", "Use tabs.\n").instructions(other, "Notes.\n")
    )
    log.time = 10**8
    log.user().answer(written=900).write()
    [message] = messages(ask(place, id="1"), "session-mirror-differs")
    assert "claude 2.1.281 read" in message
    assert "NOTES.md, which its mirror does not load" in message


def test_a_longer_lifetime_is_advised_only_if_it_saves(place):
    repo, home = place
    log = ClaudeLog(home, repo).snapshot().user().answer(written=50_000)
    for _ in range(3):
        log.time += 600
        log.user().answer(written=50_000)
    log.write()
    advice = ask(place)["advice"]
    assert [row["change"] for row in advice] == ["cache for one hour instead of five minutes"]
    saved = 3 * 50_000 * (5 - 0.2) - 50_000 * (8 - 5)
    assert advice[0]["saving"] == pytest.approx(saved / 1e6)
    log.user().answer(read=50_000, written=900_000).write()
    assert ask(place)["advice"] == []


def test_servers_that_were_never_called(place):
    repo, home = place
    log = ClaudeLog(home, repo).snapshot(tools=("Read", "mcp__gh__search", "mcp__db__query"))
    log.user().answer(written=900)
    call = {"type": "tool_use", "id": "t1", "name": "mcp__db__query", "input": {}}
    log.rows[-1]["message"]["content"] = [call]
    log.user().answer(read=900, written=9).write()
    advice = ask(place, by="server")["advice"]
    assert [row["change"] for row in advice] == ["switch off the MCP server gh"]


def test_the_table_of_agents_shows_what_files_cost(place, capsys):
    repo, home = place
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", "Use tabs.\n" * 40)
    log.user().answer(written=90_000).write()
    arguments = [
        "agents",
        str(repo),
        "--home",
        str(home),
        "--now",
        "2026-11-10T00:00:00Z",
        "--cost",
        "--layout",
        "$agents/claude",
    ]
    assert main(arguments) == 0
    assert "CLAUDE.md ($0.0" in capsys.readouterr().out
    assert main([*arguments, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["costs"]) == [str(repo / "CLAUDE.md")]


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"/w/AGENTS.md": "# Shop\nUse pnpm.", "/w/CLAUDE.md": "# Bank"}, "/w/AGENTS.md"),
        ({"/w/AGENTS.md": "# Shop", "/w/CLAUDE.md": "\n# Shop"}, "custom instruction 2"),
        ({"/w/AGENTS.md": "# Bank"}, "custom instruction 2"),
    ],
)
def test_an_instruction_of_copilot_is_the_only_file_that_begins_like_it(files, path):
    log = SimpleNamespace(root="/w", _text=lambda path: files.get(path, ""))
    assert _CopilotLog._path_of(log, "# Shop\nUse npm.", 2) == path
