"""`foreword sessions` on small logs: totals, collapses and causes, sums by key, and damaged files."""

import json
import os
import stat

import pytest
from session_logs import ClaudeLog, codex_item, codex_rows, codex_usage, write_codex

from foreword.errors import CallError, MissingError
from foreword.programs.sessions import mapping_answer


@pytest.fixture
def repo(tmp_path):
    folder = tmp_path / "repo"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


@pytest.fixture
def ask(home, repo):
    def ask(**fields):
        return mapping_answer({"cwd": str(repo), "home": str(home), "utc": True, **fields})

    return ask


def requests_of(answer):
    return [(row["tokens"]["read"], (row["collapse"] or {}).get("cause")) for row in answer["requests"]]


def test_a_request_is_counted_once_however_many_rows_its_answer_has(home, repo, ask):
    ClaudeLog(home, repo).snapshot().user().answer(written=5000, blocks=3).user().answer(read=5000, written=100).write()
    [session] = ask()["sessions"]
    assert session["requests"] == 2
    assert session["tokens"] == {"fresh": 0, "written": 5100, "read": 5000, "out": 14}
    assert session["cost"] == pytest.approx((5100 * 5 + 5000 * 0.2 + 14 * 20) / 1e6, abs=1e-12)
    assert (session["exactness"], session["collapses"]) == ("recorded", 0)


def test_synthetic_rows_are_not_requests(home, repo, ask):
    ClaudeLog(home, repo).user().answer(written=900).answer(out=0, model="<synthetic>").write()
    assert ask()["total"]["requests"] == 1


def test_a_fork_repeats_requests_that_are_counted_once(home, repo, ask):
    parent = ClaudeLog(home, repo).user().answer(written=900).user().answer(read=900, written=50)
    parent.write()
    fork = ClaudeLog(home, repo, session="99999999-aaaa-4bbb-8ccc-222222222222")
    fork.rows = [{**row, "sessionId": fork.session} for row in parent.rows]
    fork.time, fork.count = parent.time, parent.count
    fork.user().answer(read=950, written=20).write()
    answer = ask()
    assert {row["id"][:1]: row["requests"] for row in answer["sessions"]} == {"1": 2, "9": 1}
    assert answer["total"]["tokens"] == {"fresh": 0, "written": 970, "read": 1850, "out": 21}


def test_sub_agents_belong_to_their_session(home, repo, ask):
    path = ClaudeLog(home, repo).user().answer(written=900).write()
    sub = ClaudeLog(home, repo)
    sub.path = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    sub.count = 5
    sub.user(agentId="a1").answer(written=400, agentId="a1").write()
    [session] = ask()["sessions"]
    assert (session["requests"], session["tokens"]["written"]) == (2, 1300)


def test_a_compaction_request_is_what_the_programs_sum_has_and_the_rows_do_not(home, repo, ask):
    log = ClaudeLog(home, repo).snapshot().user().answer(written=9000).user().answer(read=9000, written=100)
    log.row("system", subtype="compact_boundary", uuid="b1", compactMetadata={"trigger": "manual", "preTokens": 9100})
    usage = {"inputTokens": 12, "outputTokens": 514, "cacheReadInputTokens": 18100, "cacheCreationInputTokens": 9100}
    log.row("cost-state", totalCostUSD=0.5, modelUsage={"claude-opus-5-5[1m]": usage})
    log.user("the summary", isCompactSummary=True).user().answer(read=1200, written=800).write()
    answer = ask(id="1111")
    assert [(row["kind"], row["tokens"]) for row in answer["requests"]][2] == (
        "compaction",
        {"fresh": 12, "written": 0, "read": 9100, "out": 500},
    )
    assert requests_of(answer) == [(0, None), (9000, None), (9100, None), (1200, "compaction")]
    assert answer["requests"][2]["exactness"] == "rebuilt"


@pytest.mark.parametrize(
    ("change", "usage", "expected"),
    [
        (lambda log: log, {"model": "claude-sonnet-5-5"}, ("model", None, None)),
        (lambda log: log, {"seconds": 400}, ("lifetime", None, None)),
        (lambda log: log.snapshot(tools=("Read",)), {}, ("tool", None, "Bash")),
        (lambda log: log.snapshot(tools=("Read", "Bash", "mcp__gh__search")), {}, ("server", None, "gh")),
        (lambda log: log.snapshot(prompt="You are another agent. " * 40), {}, ("setting", None, "system")),
        (lambda log: log, {}, ("provider", None, None)),
    ],
)
def test_the_cause_of_a_collapse(home, repo, ask, change, usage, expected):
    log = ClaudeLog(home, repo).snapshot().user().answer(written=9000).user().answer(read=9000, written=100)
    seconds = usage.pop("seconds", 1)
    change(log).time += seconds
    log.user().answer(written=9200, **usage).write()
    collapse = ask(id="1111")["requests"][-1]["collapse"]
    assert (collapse["cause"], collapse["path"], collapse["name"] if collapse["cause"] != "model" else None) == expected
    assert collapse["tokens"] == 9100
    price = (2.5, 0.1) if usage.get("model") else (5, 0.2)
    assert collapse["cost"] == pytest.approx(9100 * (price[0] - price[1]) / 1e6, abs=1e-9)


def test_without_tools_and_prompt_in_the_log_the_cause_is_unknown(home, repo, ask):
    log = ClaudeLog(home, repo, version="2.1.218").user().answer(written=9000).user().answer(read=9000, written=100)
    log.user().answer(read=3000, written=6200).write()
    collapse = ask(id="1111")["requests"][-1]["collapse"]
    assert collapse["cause"] == "unknown"
    assert "the tools and the system prompt" in collapse["evidence"]


def test_a_small_loss_is_not_a_collapse(home, repo, ask):
    log = ClaudeLog(home, repo).snapshot().user().answer(written=9000)
    log.user().answer(read=8295, written=1000).write()
    assert ask()["sessions"][0]["collapses"] == 0
    log.rows[-1]["message"]["usage"]["cache_read_input_tokens"] = 8293
    log.write()
    assert ask()["sessions"][0]["collapses"] == 1


@pytest.mark.parametrize("by", ["file", "tool", "server", "skill", "section", "cause", "day", "model", "agent"])
def test_rows_add_up_to_the_total(home, repo, ask, by):
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", "Use tabs.\n" * 50)
    log.user().answer(written=3001, fresh=7, out=13).user().answer(read=3001, written=101, out=11)
    log.user().answer(fresh=3, written=3200, model="a-model-without-a-price").write()
    rows = [*codex_rows(repo), codex_item("hello"), codex_item("Hi.", "assistant"), *codex_usage(1, 4000, 0)]
    write_codex(home, [*rows, codex_item("more"), codex_item("Yes.", "assistant"), *codex_usage(2, 4100, 3968)])
    answer = ask(by=by)
    total = answer["total"]
    assert total["requests"] == 5
    assert total["unpriced_tokens"] == 3210
    for kind in ("fresh", "written", "read", "out"):
        assert sum(row["tokens"][kind] for row in answer["rows"]) == total["tokens"][kind]
    assert sum(row["cost"] or 0 for row in answer["rows"]) == pytest.approx(total["cost"], abs=1e-12)
    assert total["cost"] == ask()["total"]["cost"]
    assert all(row["exactness"] in ("recorded", "rebuilt", "estimated") for row in answer["rows"])


def test_a_file_has_its_share_of_the_bytes(home, repo, ask):
    text = "Use tabs.\n" * 50
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", text)
    log.user("x" * 500).answer(written=2000).write()
    rows = {row["key"]: row for row in ask(by="file")["rows"]}
    row = rows[str(repo / "CLAUDE.md")]
    rendered = len(f"<system-reminder>\nContents of {repo}/CLAUDE.md:\n\n</system-reminder>") + len(text)
    tools = [{"name": name, "description": f"Use {name}. " * 30, "input_schema": {}} for name in ("Read", "Bash")]
    size = sum(len(json.dumps(tool, separators=(",", ":"))) for tool in tools) + 18 * 40 + rendered + 500
    assert row["tokens"]["written"] == pytest.approx(2000 * (len(text) - 1) / size, abs=1)
    assert (row["times"], row["exactness"]) == (1, "rebuilt")


def test_a_model_without_a_price_has_no_cost(home, repo, ask):
    ClaudeLog(home, repo).user().answer(written=900, model="a-model-without-a-price").write()
    answer = ask()
    assert (answer["sessions"][0]["cost"], answer["total"]["cost"], answer["total"]["unpriced_tokens"]) == (
        None,
        None,
        907,
    )


def test_a_request_has_the_price_of_its_day(home, repo, ask):
    (home / ".config" / "foreword").mkdir(parents=True)
    (home / ".config" / "foreword" / "foreword.toml").write_text('prices = "prices.toml"\n')
    rows = ["2026-11-07", 40, "2026-11-06", 400]  # what it cost until these days; the log begins on 2026-11-06
    text = '[[model]]\nname = "claude-opus-5.5"\nuntil = "{}"\ninput = {}\n'
    (home / ".config" / "foreword" / "prices.toml").write_text(text.format(*rows[:2]) + text.format(*rows[2:]))
    log = ClaudeLog(home, repo).user().answer(fresh=1000, out=0)
    log.time += 2 * 86_400
    log.user().answer(fresh=1000, out=0).write()
    assert ask()["days"] == {"2026-11-06": 0.04, "2026-11-08": 0.004}
    assert ask()["total"]["cost"] == ask(by="file")["total"]["cost"] == 0.044
    assert sum(row["cost"] for row in ask(by="model")["rows"]) == 0.044


def test_codex_has_every_request_in_two_rows_and_counts_it_once(home, repo, ask):
    rows = [*codex_rows(repo), codex_item("hello"), codex_item("Hi.", "assistant"), *codex_usage(1, 4000, 0)]
    rows += [codex_item("more", seconds=3), codex_item("Yes.", "assistant", 3), *codex_usage(2, 4100, 3968, seconds=4)]
    path = write_codex(home, rows)
    [session] = ask()["sessions"]
    assert (session["agent"], session["requests"]) == ("codex", 2)
    assert session["tokens"] == {"fresh": 4132, "written": 0, "read": 3968, "out": 14}
    older = [row for row in rows if row["type"] != "token_usage_record"]
    path.write_text("".join(json.dumps(row) + "\n" for row in older))
    assert ask()["sessions"][0]["tokens"] == session["tokens"]


def test_a_late_tool_in_codex_leaves_no_trace_so_the_cause_is_unknown(home, repo, ask):
    rows = [*codex_rows(repo), codex_item("hello"), codex_item("Hi.", "assistant"), *codex_usage(1, 4000, 0)]
    rows += [codex_item("more", seconds=3), codex_item("Yes.", "assistant", 3), *codex_usage(2, 4100, 3968, seconds=4)]
    rows += [codex_item("and", seconds=5), codex_item("No.", "assistant", 5), *codex_usage(3, 5200, 0, seconds=6)]
    write_codex(home, rows)
    assert requests_of(ask(id="019a"))[-1] == (0, "unknown")


# Which sessions


def test_only_the_sessions_of_the_repository_are_listed(home, repo, ask, tmp_path):
    (repo / "packages").mkdir()
    worktree = tmp_path / "tree"
    (repo / ".git" / "worktrees" / "tree").mkdir(parents=True)
    (repo / ".git" / "worktrees" / "tree" / "gitdir").write_text(f"{worktree}/.git\n")
    for number, folder in enumerate([repo, repo / "packages", worktree, tmp_path / "other", f"{repo}-two"]):
        ClaudeLog(home, folder, session=f"{number}0000000").user().answer(written=900, model=f"m{number}").write()
    assert sorted(row["id"][0] for row in ask()["sessions"]) == ["0", "1", "2"]
    assert len(ask(everywhere=True)["sessions"]) == 5


def test_a_folder_that_was_moved_is_a_finding(home, repo, ask):
    ClaudeLog(home, "/somewhere/else/repo").user().answer(written=900).write()
    answer = ask()
    assert answer["sessions"] == []
    assert [row["code"] for row in answer["findings"]] == ["session-folder-moved"]


def test_windows_paths_are_compared_without_case(home, ask):
    from foreword.sessions.folders import SessionPlace

    place = SessionPlace(["C:\\Work\\Repo"])
    assert place.contains("c:\\work\\repo\\packages")
    assert not place.contains("c:\\work\\repository")


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"since": "2026-11-07"}, 0),
        ({"until": "2026-11-06T21:20:03+00:00"}, 1),
        ({"until": "2026-11-05"}, 0),
        ({"until": "2026-11-06"}, 2),  # all of that day
        ({"since": "1h"}, 1),
        ({"model": "claude-opus-5.5"}, 2),
    ],
)
def test_a_period_or_model_limits_the_requests(home, repo, ask, fields, count):
    log = ClaudeLog(home, repo).user().answer(written=900)
    log.time += 3600
    path = log.user().answer(read=900, written=10).write()
    os.utime(path, (1_794_003_700, 1_794_003_700))
    assert ask(now="2026-11-06T22:25:00+00:00", **fields)["total"]["requests"] == count


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"since": "yesterday"}, "--since must be a period such as 7d"),
        ({"agents": ["claud"]}, "unknown agent 'claud'; did you mean 'claude'"),
        ({"by": "colour"}, "--by must be one of"),
        ({"in_force": "CLAUDE.md"}, "need --id"),
        ({"since": "9" * 400 + "d"}, "--since must be a period such as 7d"),
        ({"id": "1", "by": "file"}, "--by and --id exclude each other"),
        ({"id": "1", "at": "2026-11-06"}, "--at needs --in-force or --in-force-text"),
        ({"id": "1", "in_force": "CLAUDE.md", "in_force_text": "kind"}, "exclude each other"),
        ({"id": "1", "in_force": "CLAUDE.md\0"}, "cannot contain a null character"),
        ({"since": "2026-02-01", "until": "2026-01-01"}, "is after"),
    ],
)
def test_an_invalid_question_says_what_would_be_right(ask, fields, message):
    with pytest.raises(CallError, match=message):
        ask(**fields)


def test_days_are_in_order_and_causes_count_every_request_once(home, repo, ask):
    log = ClaudeLog(home, repo).snapshot().user().answer(written=900)
    for _ in range(3):
        log.time += 86_400
        log.user().answer(written=900 + log.time // 1000)
    log.write()
    assert [row["key"] for row in ask(by="day")["rows"]] == ["2026-11-09", "2026-11-08", "2026-11-07", "2026-11-06"]
    assert {row["key"]: row["times"] for row in ask(by="cause")["rows"]} == {"lifetime": 3, "no collapse": 1}


def test_without_a_home_directory_nothing_is_read(repo, monkeypatch):
    monkeypatch.chdir(repo)
    monkeypatch.delenv("HOME")
    ClaudeLog(repo, repo).user().answer(written=900).write()
    assert mapping_answer({"cwd": str(repo)})["sessions"] == []


def test_an_unknown_id_is_an_error(home, repo, ask):
    ClaudeLog(home, repo).user().answer(written=900).write()
    with pytest.raises(MissingError, match=r"no session has the id '7', or an id that begins like that$"):
        ask(id="7")
    with pytest.raises(MissingError, match=r"no session has the id '1', .* and a request that was asked for"):
        ask(id="1", until="2020-01-01")


# Damage


def test_cut_lines_and_unknown_records_are_findings(home, repo, ask):
    log = ClaudeLog(home, repo).user().answer(written=900)
    log.row("a-new-record").row("a-new-record")
    path = log.write()
    with path.open("ab") as file:
        file.write(b'\xff\xfe not json\n[1]\n{"type": "assistant", "message": {"usage": 7}}\n{"type": "user", "mess')
    answer = ask()
    assert answer["total"]["requests"] == 1
    assert sorted(row["code"] for row in answer["findings"]) == ["session-log-cut", "session-record-unknown"]
    assert "a-new-record 2.1.281" in next(row["message"] for row in answer["findings"] if "unknown" in row["code"])


def test_a_log_that_cannot_be_read_is_a_finding(home, repo, ask):
    path = ClaudeLog(home, repo).user().answer(written=900).write()
    os.mkfifo(path.with_name("fifo.jsonl"))
    path.with_name("folder.jsonl").mkdir()
    answer = ask(everywhere=True)
    assert answer["total"]["requests"] == 1
    assert [row["code"] for row in answer["findings"]] == ["session-log-unreadable"] * 2


# The index


def test_a_second_run_uses_the_index_and_sees_what_was_added(home, repo, ask):
    log = ClaudeLog(home, repo).snapshot().user().answer(written=900)
    log.write()
    first = ask()
    index = next((home / ".cache" / "foreword").iterdir())
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    assert b"You are an agent" not in index.read_bytes()
    assert ask() == first == ask(no_cache=True)
    log.user().answer(read=900, written=40).write()
    assert ask()["total"]["requests"] == 2


def test_a_damaged_index_is_ignored(home, repo, ask):
    ClaudeLog(home, repo).user().answer(written=900).write()
    first = ask()
    next((home / ".cache" / "foreword").iterdir()).write_bytes(b"no database")
    assert ask() == first


def test_without_the_cache_nothing_is_written(home, repo, ask):
    ClaudeLog(home, repo).user().answer(written=900).write()
    ask(no_cache=True)
    assert not (home / ".cache").exists()


# In force


def test_a_file_is_in_force_until_a_compaction(home, repo, ask):
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", "Use tabs.\nNever push.\n")
    log.user().answer(written=900).user().answer(read=900, written=10)
    log.row("system", subtype="compact_boundary", uuid="b1", compactMetadata={})
    log.user("summary", isCompactSummary=True).user().answer(read=500, written=200).write()
    [span] = ask(id="1", in_force="CLAUDE.md")["spans"]
    assert (span["requests"], span["lost"]) == ([1, 2], "compaction")
    assert ask(id="1", in_force=f"{repo}/CLAUDE.md:2")["spans"] == [span]
    assert ask(id="1", in_force_text="Never push")["spans"] == [span]
    assert ask(id="1", in_force_text="Always push")["spans"] == []
    assert ask(id="1", in_force="CLAUDE.md", at=span["from"])["spans"] == [span]
    assert ask(id="1", in_force="CLAUDE.md", at="2026-01-01")["spans"] == []
