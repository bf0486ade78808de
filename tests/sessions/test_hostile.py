"""Logs as programs leave them on bad days: rows written twice, copies in other files, retries, rubbish, links and huge lines."""

import json
import os
from decimal import Decimal

import pytest
from other_logs import (
    copilot_compaction,
    copilot_rows,
    gemini_rows,
    pi_rows,
    qwen_rows,
    write_copilot,
    write_gemini,
    write_opencode,
    write_pi,
    write_qwen,
)
from session_logs import ClaudeLog, codex_item, codex_rows, codex_usage, stamp, write_codex

from foreword.cli import main
from foreword.programs.sessions import DIMENSIONS

REQUESTS = [(5000, 0, 7), (300, 5000, 7), (200, 5300, 7)]
TOTAL = {"fresh": 5500, "written": 0, "read": 10300, "out": 21}


def codex_log(home, requests=REQUESTS):
    rows = codex_rows("/repo")
    for number, (fresh, read, out) in enumerate(requests):
        rows += [codex_item(f"Go {number}", seconds=number), *codex_usage(number, fresh + read, read, out, number)]
    return write_codex(home, rows)


WRITERS = {
    "codex": codex_log,
    "copilot": lambda home: write_copilot(home, copilot_rows("/repo", REQUESTS)),
    "pi-agent": lambda home: write_pi(home, pi_rows("/repo", REQUESTS)),
    "gemini": lambda home: write_gemini(home, gemini_rows(REQUESTS)),
    "qwen": lambda home: write_qwen(home, qwen_rows("/repo", REQUESTS)),
}


@pytest.fixture(params=WRITERS)
def path(request, home):
    return WRITERS[request.param](home)


def test_a_log_as_it_should_be(path, ask):
    answer = ask()
    assert (answer["total"]["tokens"], answer["total"]["requests"]) == (TOTAL, 3)
    assert (answer["findings"], answer["sessions"][0]["collapses"]) == ([], 0)


def test_rows_that_are_written_twice_count_once(path, ask):
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line * 2 for line in lines) + "".join(lines[-4:]))
    assert (ask()["total"]["tokens"], ask()["total"]["requests"]) == (TOTAL, 3)


def test_rubbish_between_the_rows_is_a_finding(path, ask):
    rubbish = [
        b"\x00\xff\xfe\x80\n",
        b'{"type":\n',
        b"[" * 100_000 + b"\n",
        b"null\n",
        b'{"type":"brand_new","id":"x"}\n',
        b"\n",
    ]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line + noise for line, noise in zip(lines, rubbish * len(lines), strict=False)))
    answer = ask()
    assert answer["total"]["tokens"] == TOTAL
    assert {row["code"] for row in answer["findings"]} <= {"session-log-cut", "session-record-unknown"}
    assert "session-log-cut" in {row["code"] for row in answer["findings"]}


def test_clocks_that_jump_do_not_change_the_sums(path, ask):
    text = path.read_text()
    for number, moment in enumerate(("1969-12-31T23:59:59Z", "2199-01-01T00:00:00Z", "yesterday")):
        text = text.replace(stamp(number), moment)
    path.write_text(text)
    assert ask()["total"]["tokens"] == TOTAL
    assert sum(row["tokens"]["read"] for row in ask(by="day")["rows"]) == TOTAL["read"]


def test_a_link_to_a_log_does_not_count_it_twice(path, ask):
    os.symlink(path, path.with_name("zz" + path.name))
    os.symlink("loop.jsonl", path.with_name("loop.jsonl"))
    assert ask()["total"]["tokens"] == TOTAL


def test_a_huge_row_is_read(path, ask):
    lines = path.read_text().splitlines(keepends=True)
    row = json.loads(lines[1])
    row["extra"] = "x" * (50 << 20)
    path.write_text("".join([lines[0], json.dumps(row) + "\n", *lines[2:]]))
    assert ask()["total"]["tokens"] == TOTAL


def test_a_read_error_keeps_what_was_read_before(path, ask, monkeypatch):
    data = path.read_bytes()
    whole = ask()["total"]["requests"]
    original = open

    def open_broken(file, *args, **kwargs):
        opened = original(file, *args, **kwargs)
        return Broken(opened) if isinstance(file, int) else opened

    class Broken:
        """A file whose second half cannot be read."""

        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def fileno(self):
            return self.file.fileno()

        def seek(self, position):
            return self.file.seek(position)

        def readlines(self, hint):
            raise OSError(5, "Input/output error")

        def readline(self, size=-1):
            line = self.file.readline(size)
            if self.file.tell() >= len(data) * 2 // 3:
                raise OSError(5, "Input/output error")
            return line

    monkeypatch.setattr("builtins.open", open_broken)
    answer = ask()
    assert 0 < answer["total"]["requests"] < whole
    [finding] = [row for row in answer["findings"] if row["code"] == "session-log-unreadable"]
    assert "the rest could not be read: Input/output error" in finding["message"]
    assert path.name in finding["message"]


def test_a_log_that_disappears_is_a_finding(path, ask, monkeypatch):
    original = os.open

    def open_late(name, *args, **kwargs):
        if str(name) == str(path):
            raise FileNotFoundError(2, "No such file or directory")
        return original(name, *args, **kwargs)

    monkeypatch.setattr(os, "open", open_late)
    answer = ask()
    assert [row["code"] for row in answer["findings"]] == ["session-log-unreadable"]
    assert answer["total"]["requests"] == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
def test_folders_and_fifos_in_place_of_logs_are_findings(path, ask):
    path.rename(path.with_name("kept" + path.name))
    os.mkfifo(path)
    path.with_name(f"folder{path.name}").mkdir()
    answer = ask()
    assert answer["total"]["tokens"] == TOTAL
    assert {row["code"] for row in answer["findings"]} == {"session-log-unreadable"}


# One program each


def test_a_request_with_too_many_parts_counts_without_them(home, ask, monkeypatch):
    monkeypatch.setattr("foreword.sessions.chains.MOST_PARTS", 10)
    log = ClaudeLog(home, "/repo").snapshot().instructions("/repo/CLAUDE.md", "rule\n" * 50)
    for number in range(9):
        log.user().answer(read=900 * number, written=900)
    log.write()
    answer = ask(by="file")
    assert answer["total"]["tokens"] == {"fresh": 0, "written": 8100, "read": 32_400, "out": 63}
    assert {row["key"]: row["times"] for row in answer["rows"]}["not in the log"] == 7
    assert [row["code"] for row in answer["findings"]] == ["session-log-cut"]
    assert len(ask(id="1111")["requests"]) == 9


def test_a_compaction_of_copilot_keeps_the_tools_and_the_system_prompt(home, ask):
    rows = copilot_rows("/repo", REQUESTS)
    text = "You are an agent.\n<custom_instruction>\nbe short\n</custom_instruction>\n" + "Be careful. " * 400
    rows.insert(1, {"type": "system.message", "data": {"content": text}, "id": "m", "timestamp": stamp(0)})
    after = copilot_rows("/repo", [(2500, 0, 7)])[1:]
    after[-1]["data"]["usage"]["apiCallId"] = "call-9"
    after = [{**row, "timestamp": stamp(20)} for row in after]
    write_copilot(home, [*rows, copilot_compaction(5600, 0, 99), *after])
    times = {row["key"]: row["times"] for row in ask(by="file")["rows"]}
    assert (times["custom instruction 1"], times["tools"], times["own prompt"]) == (4, 4, 4)
    spans = ask(id="7585", in_force_text="be short")["spans"]
    assert [(span["requests"], span["lost"]) for span in spans] == [([1, 5], None)]


def test_a_line_without_an_end_is_left_out(home, ask, monkeypatch):
    monkeypatch.setattr("foreword.sessions.readers.lines.LONGEST", 5000)
    monkeypatch.setattr("foreword.sessions.readers.lines._SMALL", 5000)
    monkeypatch.setattr("foreword.sessions.readers.lines._BLOCK", 4000)
    path = ClaudeLog(home, "/repo").user().answer(written=900).write()
    last = path.read_text().splitlines()[-1].replace("msg_1", "msg_2").replace("req_1", "req_2")
    with path.open("a") as file:
        file.write(json.dumps({"type": "user", "text": "x" * 90_000}) + f"\n{last}\n")
    answer = ask()
    assert answer["total"]["tokens"]["written"] == 1800
    assert [row["code"] for row in answer["findings"]] == ["session-log-cut"]


def test_an_answer_without_usage_breaks_no_cache(home, ask):
    log = ClaudeLog(home, "/repo").snapshot().user().answer(written=9000)
    log.user().answer(out=0).user().answer(read=9000, written=100).write()
    answer = ask()
    assert (answer["total"]["requests"], answer["sessions"][0]["collapses"]) == (2, 0)


def test_a_loss_after_an_answer_without_usage_is_found(home, ask):
    log = ClaudeLog(home, "/repo").snapshot().user().answer(written=9000)
    log.user().answer(out=0)
    log.time += 900
    log.user().answer(written=9100).write()
    assert ask()["total"]["collapse_cost"].keys() == {"lifetime"}


def test_a_sub_agents_log_beside_that_of_its_session(home, ask):
    path = ClaudeLog(home, "/repo").user().answer(written=900).write()
    sub = ClaudeLog(home, "/repo")
    sub.path, sub.count = path.with_name("agent-a1b2.jsonl"), 5
    sub.user(agentId="a1b2").answer(written=400, agentId="a1b2", isSidechain=True).write()
    [session] = ask()["sessions"]
    assert (session["requests"], session["tokens"]["written"], session["collapses"]) == (2, 1300, 0)


def test_going_back_in_a_conversation_is_a_rewritten_message(home, ask):
    log = ClaudeLog(home, "/repo").snapshot()
    for number in range(4):
        log.user(f"Question {number}. " * 90, uuid=f"u{number}", parentUuid=f"a{number - 1}")
        log.answer(
            written=3000 if number else 9000,
            read=6000 + 3000 * number if number else 0,
            uuid=f"a{number}",
            parentUuid=f"u{number}",
        )
    log.user("Another question.", uuid="u9", parentUuid="a0").answer(read=9000, written=300).write()
    requests = ask(id="1111")["requests"]
    assert [(row["collapse"] or {}).get("cause") for row in requests] == [None, None, None, None, "message"]


def test_a_compaction_of_copilot_that_is_written_twice(home, ask):
    compaction = copilot_compaction(5600, 0, 99)
    write_copilot(home, [*copilot_rows("/repo", REQUESTS), compaction, compaction])
    assert ask()["total"]["tokens"] == {"fresh": 11_100, "written": 0, "read": 10_300, "out": 120}


def test_a_fork_of_pi_repeats_requests_that_are_counted_once(home, ask):
    rows = pi_rows("/repo", REQUESTS)
    write_pi(home, rows)
    fork = pi_rows("/repo", [*REQUESTS, (100, 5500, 9)], session="01a1eaa4-9999-71d4-a200-5da0005e4194")
    write_pi(home, [{**fork[0], "parentSession": "x"}, *fork[1:]])
    assert sorted(row["requests"] for row in ask()["sessions"]) == [1, 3]
    assert ask()["total"]["tokens"] == {"fresh": 5600, "written": 0, "read": 15800, "out": 30}


def test_going_back_in_a_session_of_pi(home, ask):
    rows = pi_rows("/repo", [*REQUESTS, (900, 1400, 7)])
    rows[-2]["parentId"] = rows[3]["id"]  # the last message answers the first
    write_pi(home, rows)
    requests = ask(id="01a1")["requests"]
    assert [(row["collapse"] or {}).get("cause") for row in requests] == [None, None, None, "message"]


def test_a_compaction_of_pi_keeps_its_last_messages(home, ask):
    rows = pi_rows("/repo", [*REQUESTS, (1500, 600, 7)])
    summary = {
        "type": "compaction",
        "id": "c0",
        "parentId": rows[-3]["id"],
        "timestamp": stamp(50),
        "summary": "Short.",
    }
    rows.insert(-2, {**summary, "tokensBefore": 5500, "firstKeptEntryId": rows[6]["id"]})
    rows[-2]["parentId"] = "c0"
    write_pi(home, rows)
    requests = ask(id="01a1")["requests"]
    assert [(row["collapse"] or {}).get("cause") for row in requests] == [None, None, None, "compaction"]
    spans = ask(id="01a1", in_force_text="Message 2.")["spans"]
    assert [span["requests"] for span in spans] == [[3, 4]]


def test_tokens_that_gemini_writes_later_count(home, ask):
    rows = gemini_rows(REQUESTS)
    early = [{**row, "tokens": None} for row in rows[1:] if row["type"] == "gemini"]
    write_gemini(home, [*rows[:2], early[0], *rows[2:]])
    assert ask()["total"]["tokens"] == TOTAL


def test_a_session_of_gemini_that_repeats_another_in_a_new_file(home, ask):
    rows = gemini_rows(REQUESTS)
    write_gemini(home, rows)
    later = gemini_rows([*REQUESTS, (50, 5500, 7)], session="ffffffff-fa20-4df0-ac34-1b78c83fcd3e")
    write_gemini(home, [later[0], {"$set": {"messages": later[1:7]}}, *later[7:]], "session-2026-11-18T09-00-ffffffff")
    assert ask()["total"]["tokens"] == {"fresh": 5550, "written": 0, "read": 15800, "out": 28}


def test_a_fork_of_opencode_and_a_sub_agent(home, ask):
    sessions = {
        "ses_a": (None, REQUESTS),
        "ses_b": (None, [*REQUESTS, (10, 5500, 7)]),
        "ses_c": ("ses_a", [(77, 0, 1)]),
    }
    write_opencode(home, "/repo", sessions)
    assert ask()["total"]["tokens"] == {"fresh": 5587, "written": 0, "read": 15800, "out": 29}
    assert {row["id"]: row["requests"] for row in ask()["sessions"]} == {"ses_a": 4, "ses_b": 1}


def test_a_rollout_that_an_older_version_began(home, ask):
    counts = [row for number in (1, 2) for row in codex_usage(number, 5000 * number, 0)][1::2]
    rows = [*codex_rows("/repo"), counts[0], counts[0], counts[1], *codex_usage(3, 15000, 14000, seconds=9)]
    write_codex(home, rows)
    assert ask()["total"]["tokens"] == {"fresh": 16000, "written": 0, "read": 14000, "out": 21}


def test_a_rollout_of_an_older_version_that_was_copied(home, ask):
    counts = [row for number in (1, 2) for row in codex_usage(number, 5000 * number, 0, seconds=number)][1::2]
    write_codex(home, [*codex_rows("/repo"), *counts])
    other = "019a1e94-ffff-7521-beaa-426c32ed4af3"
    new = codex_usage(3, 15000, 14000, seconds=9)[1:]
    write_codex(home, [*codex_rows("/repo", other), *counts, *new], other)
    assert ask()["total"]["tokens"] == {"fresh": 16000, "written": 0, "read": 14000, "out": 21}


# Sums


@pytest.fixture
def everything(home):
    """Write a session of each program, with files, collapses and a model without a price."""
    for write in WRITERS.values():
        write(home)
    write_opencode(home, "/repo", {"ses_a": (None, REQUESTS)})
    log = ClaudeLog(home, "/repo").snapshot(tools=("Read", "mcp__gh__search"))
    log.instructions("/repo/CLAUDE.md", "rule\n" * 333).user()
    log.answer(written=7001, out=3).user().answer(written=7777, fresh=13).user()
    log.answer(read=14000, written=1, model="made-up-model").user().answer(read=3, written=99_991).write()


@pytest.mark.parametrize("by", DIMENSIONS)
def test_rows_add_up_exactly_in_every_form(home, everything, ask, capsys, by):
    options = ["sessions", str(home), "--home", str(home), "--everywhere", "--no-cache", "--utc", "--by", by]
    answer = ask(by=by)
    total = answer["total"]
    for kind in TOTAL:
        assert sum(row["tokens"][kind] for row in answer["rows"]) == total["tokens"][kind]
    costs = [row["cost"] for row in answer["rows"] if row["cost"] is not None]
    assert sum(map(_decimal, costs)) == _decimal(total["cost"])
    assert main([*options, "--csv"]) == 0
    lines = [line.rsplit(",", 6) for line in capsys.readouterr().out.splitlines()[1:]]
    assert sum(Decimal(line[5]) for line in lines if line[5]) == _decimal(total["cost"])
    assert main(options) == 0
    out = capsys.readouterr().out
    table = out.partition(" at list price")[0]
    *rows, printed = [word for word in table.split() if word.startswith("$")]
    assert sum(Decimal(word[1:]) for word in rows) == Decimal(printed[1:]), out


def _decimal(cost):
    return Decimal(repr(cost))


# Logs that change while they are read


def changing(monkeypatch, change):
    """Call a function once, after the first log was opened."""
    from foreword.sessions.readers import lines

    real, changes = lines.open_log, [change]

    def open_log(path):
        descriptor = real(path)
        if changes:
            changes.pop()()
        return descriptor

    monkeypatch.setattr(lines, "open_log", open_log)


def test_a_log_that_shrinks_while_it_is_read_keeps_what_is_left(path, ask, monkeypatch):
    end = len(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    changing(monkeypatch, lambda: os.truncate(path, end + 10))
    answer = ask()
    assert 0 < answer["total"]["requests"] < 3
    assert [row["code"] for row in answer["findings"]] == ["session-log-cut"]


def test_a_log_that_is_replaced_while_it_is_read_is_read_as_it_was(path, ask, monkeypatch):
    other = path.with_name("new")
    other.write_bytes(b"{}\n" * 10)
    changing(monkeypatch, lambda: os.replace(other, path))
    assert ask()["total"]["tokens"] == TOTAL


def test_a_link_that_leaves_the_folder_is_read_like_a_log(path, ask, tmp_path):
    moved, secret = tmp_path / "moved.jsonl", tmp_path / "secret.txt"
    os.replace(path, moved)
    os.symlink(moved, path)
    secret.write_text("a secret that is not JSON\n" * 3)
    os.symlink(secret, path.with_name("a" + path.name))
    answer = ask()
    assert answer["total"]["tokens"] == TOTAL
    assert "a secret" not in json.dumps(answer)
