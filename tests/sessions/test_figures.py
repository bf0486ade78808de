"""Reading only the figures of a log gives the same as reading all of it, and a log that grew is read from where it ended."""

import json
import os
import random
import sqlite3
from pathlib import Path

import pytest
from session_logs import ClaudeLog

from foreword.inspection.price_list import shipped_prices
from foreword.programs.sessions import mapping_answer
from foreword.sessions.costs import RateCard
from foreword.sessions.readers import all_readers, claude, claude_figures, lines, rows
from foreword.sessions.readers.lines import LogFile
from foreword.sessions.readers.rows import Texts
from foreword.sessions.records import reduce_figures, reduce_log

GOLDEN = Path(__file__).parents[1] / "golden" / "sessions"
CARD = RateCard(shipped_prices())


def compact_lines(log):
    """Return the rows as the program writes them: without spaces."""
    return [json.dumps(row, separators=(",", ":")) + "\n" for row in log.rows]


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))


def random_log(home, seed):
    """Return a log in which anything may happen: several blocks, results, files, edits, pauses, other models, sums, unknown rows."""
    chance = random.Random(seed)
    log = ClaudeLog(home, "/repo")
    if chance.random() < 0.7:
        log.snapshot()
    read = 0
    for number in range(chance.randint(1, 12)):
        event = chance.random()
        if event < 0.1:
            log.instructions(f"/repo/{chance.choice(('a', 'b'))}/CLAUDE.md", f"rule {number}")
        elif event < 0.15:
            log.row("novelty", note={"type": "user"})
        elif event < 0.2:
            log.row("system", subtype="compact_boundary", uuid=f"b{number}", compactMetadata={"preTokens": read})
        elif event < 0.3:
            log.row("cost-state", modelUsage={"claude-opus-5-5": {"inputTokens": 10**7}}, totalCostUSD=number + 0.5)
        result = {"type": "tool_result", "tool_use_id": "t", "content": 'a "usage" of {"type":"user"}'}
        log.row("user", message={"role": "user", "content": [result]}, toolUseResult={"usage": {"input_tokens": 9}})
        written = chance.randint(100, 4000)
        known = read if chance.random() < 0.93 else 0
        pause = chance.choice((1, 1, 1, 400))
        model = "claude-opus-5-5" if chance.random() < 0.97 else "claude-sonnet-5-5"
        log.answer(written=written, read=known, seconds=pause, blocks=chance.randint(1, 3), model=model)
        if chance.random() < 0.2:  # the last row of an answer has more output than the first
            last = json.loads(json.dumps(log.rows[-1]))
            last["message"]["usage"]["output_tokens"] += 50
            log.rows.append(last)
        read = known + written
    return log


def whole(path):
    return reduce_log(claude.read_log(LogFile(str(path)), Texts()), CARD, "anthropic")


@pytest.mark.parametrize("seed", range(120))
def test_figures_alone_are_those_of_the_whole_log(tmp_path, seed):
    log = random_log(tmp_path, seed)
    write(log.path, compact_lines(log))
    figures = claude.read_figures(LogFile(str(log.path)))
    record = figures and reduce_figures(figures, CARD, "anthropic")
    if record is None:
        expected = whole(log.path)
        needs_parts = any(entry.collapse for entry in expected.entries) or expected.log.problems or expected.log.events
        assert needs_parts or len({row["attachment"]["type"] for row in log.rows if "attachment" in row}) > 1
    else:
        assert record == whole(log.path)


def test_most_logs_need_no_more_than_their_figures(tmp_path):
    log = ClaudeLog(tmp_path, "/repo").snapshot().instructions("/repo/CLAUDE.md", "rule")
    for number in range(5):
        log.user().answer(read=1000 * number, written=1000, blocks=2)
    write(log.path, compact_lines(log))
    assert reduce_figures(claude.read_figures(LogFile(str(log.path))), CARD, "anthropic") == whole(log.path)


@pytest.mark.parametrize("agent", ["claude", "codex", "copilot", "pi-agent", "gemini", "qwen"])
def test_figures_of_every_program_are_those_of_the_whole_log(tmp_path, agent):
    reader = next(reader for reader in all_readers() if agent == reader.AGENT)
    compared = 0
    for path in (GOLDEN / agent).rglob("*.jsonl"):
        rows = path.read_bytes().splitlines(keepends=True)
        target = tmp_path / path.parent.name / path.name
        target.parent.mkdir(exist_ok=True)
        for count in range(1, len(rows) + 1):
            target.write_bytes(b"".join(rows[:count]))
            figures = reader.read_figures(LogFile(str(target)))
            record = figures and reduce_figures(figures, CARD, reader.PROVIDER)
            if record is not None and record.entries:
                compared += 1
                assert record == reduce_log(reader.read_log(LogFile(str(target)), Texts()), CARD, reader.PROVIDER)
    assert compared


@pytest.mark.parametrize("block", [2, 7, 60])
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"a",
        b"a\n",
        b"\n\na",
        b"ab\n" * 9 + b"c",
        b"x" * 70 + b"\ny\n",
        b"y\n" + b"x" * 70,
        b"x" * 60 + b"\ny",
        b"x" * 61 + b"\ny",
        b"x" * 60,
        b"x" * 61,
    ],
)
def test_lines_do_not_depend_on_how_they_are_read(tmp_path, monkeypatch, data, block):
    monkeypatch.setattr(lines, "_BLOCK", block)
    monkeypatch.setattr(lines, "LONGEST", 60)
    monkeypatch.setattr(lines, "_SMALL", 30)
    monkeypatch.setattr(lines, "_MARK", 5)
    path = tmp_path / "log"
    path.write_bytes(data)
    expected = [line if len(line) <= 60 else line[:5] for line in data.splitlines(keepends=True)]
    assert list(lines.LogFile(str(path)).lines()) == expected


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("line", "row"),
    [
        (b'{"a": 1} ', {"a": 1}),
        (b'{"a": 1e400}', {"a": float("inf")}),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b"[1]", None),
        (b'{"a": 1', None),
        (b"", None),
        (b"\xff", None),
        (b'{"a":' + b"[" * 100_000, None),
    ],
)
def test_both_parsers_agree(monkeypatch, line, row, fast):
    monkeypatch.setattr(rows._RowParser, "decode", None)
    if fast:
        rows.prepare_parser(1 << 30)
    assert rows.parse_row(line) == row


def ask(home, **fields):
    return mapping_answer({"cwd": str(home), "home": str(home), "everywhere": True, "utc": True, **fields})


@pytest.mark.parametrize("seed", range(60))
def test_a_log_that_grows_has_the_same_figures_as_if_it_was_read_once(tmp_path, seed):
    log, chance = random_log(tmp_path, 1000 + seed), random.Random(seed)
    lines = compact_lines(log)
    data = "".join(lines)
    ends = sorted(chance.randint(1, len(data)) for _ in range(4))
    for end in ends:
        write(log.path, [data[:end]])  # usually in the middle of a row
        ask(tmp_path)
    for count in range(len(lines) - 2, len(lines) + 1):
        write(log.path, lines[:count])
        ask(tmp_path)
    assert ask(tmp_path) == ask(tmp_path, no_cache=True)


@pytest.fixture
def reads(monkeypatch):
    """Return a list of where in the log each reading started."""
    starts = []
    original = claude.read_figures

    def read_figures(file, start=0, known=None):
        starts.append(start)
        return original(file, start, known)

    monkeypatch.setattr(claude, "read_figures", read_figures)
    return starts


def test_a_log_that_grew_is_read_from_where_it_ended(tmp_path, reads):
    log = ClaudeLog(tmp_path, "/repo").snapshot().user().answer(written=5000).user().answer(read=5000, written=100)
    lines = compact_lines(log)
    write(log.path, lines)
    ask(tmp_path)
    size = os.path.getsize(log.path)
    log.user().answer(read=5100, written=70)
    with open(log.path, "a") as file:
        file.write("".join(compact_lines(log)[len(lines) :]))
    assert ask(tmp_path)["total"]["tokens"] == {"fresh": 0, "written": 5170, "read": 10100, "out": 21}
    assert reads == [0, size]
    ask(tmp_path)
    assert reads == [0, size]  # it has not changed again


@pytest.mark.parametrize("keeps_inode", [True, False])
def test_a_log_that_was_replaced_is_read_from_its_start(tmp_path, reads, keeps_inode):
    old = ClaudeLog(tmp_path, "/repo").user().answer(written=5000).user().answer(read=5000, written=100)
    for end, new in ((len(compact_lines(old)), old), (99, ClaudeLog(tmp_path, "/repo").user("x" * 9000))):
        if new is not old:
            new.answer(written=300)
        if not keeps_inode:
            old.path.unlink(missing_ok=True)
        write(old.path, compact_lines(new)[:end])
        answer = ask(tmp_path)
    assert answer["total"]["tokens"] == {"fresh": 0, "written": 300, "read": 0, "out": 7}
    write(old.path, compact_lines(old)[:2])  # shorter
    assert ask(tmp_path)["total"]["tokens"]["written"] == 5000
    assert reads == [0, 0, 0]


def test_a_row_that_is_being_written_counts_when_it_is_complete(tmp_path):
    log = ClaudeLog(tmp_path, "/repo").user().answer(written=5000).user().answer(read=5000, written=100)
    data = "".join(compact_lines(log))
    write(log.path, [data[:-20]])
    answer = ask(tmp_path)
    assert (answer["total"]["requests"], [row["code"] for row in answer["findings"]]) == (1, ["session-log-cut"])
    write(log.path, [data])
    answer = ask(tmp_path)
    assert (answer["total"]["requests"], answer["findings"]) == (2, [])


def test_one_session_is_read_as_a_whole_and_the_others_are_not(tmp_path, monkeypatch):
    read = []
    original = claude.read_log

    def read_log(file, texts):
        read.append(os.path.basename(file.path)[:1])
        return original(file, texts)

    monkeypatch.setattr(claude, "read_log", read_log)
    for number in "123":
        log = ClaudeLog(tmp_path, "/repo", session=f"{number}1111111-aaaa-4bbb-8ccc-222222222222")
        log.count = 10 * int(number)
        log.snapshot().user().answer(written=5000).user().answer(read=5000, written=100)
        write(log.path, compact_lines(log))
    assert len(ask(tmp_path, id="2")["requests"]) == 2
    assert read == ["2"]


def test_programs_whose_caches_always_break_are_read_as_a_whole_at_once(tmp_path, reads):
    for number in range(12):
        log = ClaudeLog(tmp_path, "/repo", session=f"{number:08d}-aaaa-4bbb-8ccc-222222222222")
        log.count = 10 * number
        log.snapshot().user().answer(written=5000).user().answer(written=5100)
        write(log.path, compact_lines(log))
    assert sum(session["collapses"] for session in ask(tmp_path, no_cache=True)["sessions"]) == 12
    assert len(reads) == 9


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"type":"mode","mode":"normal","sessionId":"s"}', True),
        (b'{"type":"last-prompt","lastPrompt":"a \\"timestamp\\"","sessionId":"s"}', True),
        (b'{"type":"mode","timestamp":"2026-11-01T00:00:00Z"}', False),
        (b'{"type":"mode","mode":"nor', False),
        (b'{"type":"cost-state","sessionId":"s"}', False),
        (b'{"parentUuid":null,"type":"mode"}', False),
    ],
)
def test_rows_that_say_nothing_are_not_parsed(line, expected):
    assert claude_figures.is_unread(line + b"\n") is expected


def test_the_index_contains_no_texts(tmp_path):
    log = ClaudeLog(tmp_path, "/repo").snapshot("a secret prompt").instructions("/repo/CLAUDE.md", "a secret rule")
    log.user("a secret wish").answer(written=5000).user("another secret").answer(written=5000, seconds=900)
    write(log.path, compact_lines(log))
    ask(tmp_path)
    ask(tmp_path, by="file")
    [path] = (tmp_path / ".cache" / "foreword").iterdir()
    connection = sqlite3.connect(path)
    stored = [row for table in ("logs", "figures") for row in connection.execute(f"SELECT * FROM {table}")]
    connection.close()
    assert len(stored) == 2
    assert "secret" not in repr(stored)
