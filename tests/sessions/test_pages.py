"""Very long sessions are kept in packed pages. Pages of a few entries give the same answers as none."""

import pytest
from session_logs import ClaudeLog, restore

from foreword.programs import session_detail
from foreword.programs.sessions import DIMENSIONS
from foreword.sessions import chains, pages
from foreword.sessions.pages import PagedTable, Pages, choose
from foreword.sessions.readers import claude


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(pages, "PAGE", 3)


def test_a_packed_list_has_the_entries_of_a_list(small):
    entries = Pages(range(20))
    assert (len(entries), list(entries), entries[-1], entries[4], entries[19]) == (20, list(range(20)), 19, 4, 19)
    for index in (0, 4, 13, 19):
        entries.replace(index, -index)
    assert [entries[index] for index in (0, 4, 13, 19, 5)] == [0, -4, -13, -19, 5]
    assert sum(map(len, entries.pages())) == 20
    assert list(choose(entries, lambda entry: entry > 10)) == [11, 12, 14, 15, 16, 17, 18]


def test_a_short_list_is_not_packed():
    assert (Pages([1, 2]).plain(), Pages([1, 2]).frozen()) == ([1, 2], (1, 2))


def test_a_packed_table_finds_its_entries(small):
    table = PagedTable()
    for number in range(20):
        table.put(f"key {number}", number)
    table.put("key 1", 100)
    table.put("key 15", 1500)
    table.replace_last(-19)
    assert [table.get(f"key {number}") for number in (0, 1, 15, 19, 20)] == [0, 100, 1500, -19, None]
    assert ("key 3" in table, "key 99" in table, len(table), table.last()) == (True, False, 20, -19)
    assert list(table.values())[:3] == [0, 100, 2]


def answers(ask):
    """Return the answers to all questions about the logs."""
    found = [ask(), ask(since="2026-11-01", until="2026-11-17"), *(ask(by=name) for name in DIMENSIONS)]
    for session in found[0]["sessions"]:
        found.append(ask(id=session["id"]))
        found.append(ask(id=session["id"], in_force_text="Rule"))
    return found


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "gemini"])
def test_answers_do_not_depend_on_pages(tmp_path, ask, monkeypatch, agent):
    restore(agent, tmp_path)
    expected = answers(ask)
    assert expected[0]["sessions"]
    monkeypatch.setattr(pages, "PAGE", 2)
    assert answers(ask) == expected


def test_of_a_very_long_session_the_last_requests_are_listed(home, ask, monkeypatch):
    monkeypatch.setattr(session_detail, "MOST_REQUESTS", 2)
    log = ClaudeLog(home, "/repo")
    for number in range(5):
        log.user().answer(written=100, read=100 * number)
    log.write()
    answer = ask(id=log.session)
    assert [row["number"] for row in answer["requests"]] == [4, 5]
    assert answer["total"]["tokens"]["written"] == 500
    assert "has 5 requests, of which the last 2 are listed" in answer["findings"][-1]["message"]


@pytest.mark.parametrize("module", [claude, chains])
def test_a_thread_with_too_many_parts_is_followed_without_them(home, ask, monkeypatch, module):
    monkeypatch.setattr(module, "MOST_PARTS", 10)
    log = ClaudeLog(home, "/repo").snapshot().instructions("/repo/CLAUDE.md", "- Rule.\n")
    for number in range(12):
        log.user().answer(written=1000, read=1000 * number)
    log.write()
    answer = ask(by="file")
    assert answer["total"]["tokens"]["read"] == 66_000
    assert "of which only the tokens are known" in " ".join(row["message"] for row in answer["findings"])
    assert {row["key"] for row in answer["rows"]} >= {"/repo/CLAUDE.md", "not in the log"}
