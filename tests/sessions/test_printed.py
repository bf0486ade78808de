"""What `foreword sessions` and `blame --cost` print: every answer matches its schema and can be printed as text and as CSV."""

import json

import pytest
from jsonschema import Draft202012Validator
from other_logs import gemini_rows, pi_rows, write_gemini, write_pi
from session_logs import ClaudeLog

from foreword.cli import main
from foreword.cli.schema import schema_of
from foreword.cli.session_detail import write_detail
from foreword.cli.session_words import write_days


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """A function that runs a command about two days of sessions in a repository, and returns what it prints."""
    home, repo = tmp_path / "home", tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    (repo / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (repo / "CLAUDE.md").write_text("Be kind.\nRun the tests.\n")
    log = ClaudeLog(home, repo).snapshot().instructions(repo / "CLAUDE.md", "Be kind.\nRun the tests.\n")
    log.user().answer(written=5000).user().answer(read=5000, written=100)
    log.time += 2 * 86_400
    log.user().answer(written=5200).write()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(command, *options):
        status = main([command, str(repo), "--home", str(home), *options])
        assert status == 0
        return capsys.readouterr().out

    return run


HERE = "no sessions were found in this repository"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], f"{HERE}; --everywhere shows those of all folders"),
        (
            ["--since", "1d", "--agent", "pi"],
            f"{HERE} that match --since and --agent; --everywhere shows those of all folders",
        ),
        (["--everywhere", "--model", "none"], "no sessions were found that match --model"),
        (["--everywhere", "--by", "file"], "no sessions were found: there are no logs of "),
    ],
)
def test_without_sessions_the_message_names_what_limits_the_search(tmp_path, capsys, options, expected):
    assert main(["sessions", str(tmp_path), "--home", str(tmp_path), "--no-cache", *options]) == 0
    assert capsys.readouterr().err.startswith(expected)


ANSWERS = [
    (["sessions"], "cost by day", "id,agent,version"),
    (["sessions", "--by", "file"], "CLAUDE.md", "file,times,fresh"),
    (["sessions", "--by", "cause"], "lifetime", "cause,times,fresh"),
    (["sessions", "--id", "1111"], "lifetime", "number,time,thread"),
    (["sessions", "--id", "1111", "--in-force", "CLAUDE.md:2"], "requests 1 to 3", "from,to,version"),
    (["sessions", "--id", "1111", "--in-force-text", "Run the tests."], "requests 1 to 3", "from,to,version"),
]


@pytest.mark.parametrize(("command", "text", "header"), ANSWERS)
def test_every_answer_is_printed_as_text_csv_and_json(run, command, text, header):
    assert text in run(*command)
    assert run(*command, "--csv").startswith(header)
    answer = json.loads(run(*command, "--json"))
    Draft202012Validator(schema_of("sessions")).validate(answer)


def test_the_cost_of_lines_matches_its_schema(run):
    command = ["blame", "--file", "CLAUDE.md", "--cost"]
    assert "Run the tests." in run(*command)
    Draft202012Validator(schema_of("blame")).validate(json.loads(run(*command, "--json")))


def test_a_terminal_shows_the_newest_sessions_and_the_sum_of_all(tmp_path, capsys, monkeypatch):
    for number in range(45):
        log = ClaudeLog(tmp_path, "/repo", session=f"{number:08d}-aaaa-4bbb-8ccc-222222222222")
        log.time, log.count = 100 * number, 10 * number
        log.user().answer(written=1000).write()
    command = ["sessions", str(tmp_path), "--home", str(tmp_path), "--everywhere", "--no-cache"]
    assert main(command) == 0
    assert capsys.readouterr().out.count("claude") == 90  # each has an agent and a model
    monkeypatch.setattr("foreword.cli.sessions.is_terminal", lambda _: True)
    assert main(command) == 0
    out = capsys.readouterr().out
    assert "00000044" in out
    assert "00000004" not in out
    assert "and 5 older sessions; --since 7d lists fewer" in out
    assert "for 45 requests" in out


def test_findings_of_one_kind_are_not_all_printed(tmp_path, capsys):
    for number in range(9):
        log = ClaudeLog(tmp_path, "/repo", session=f"{number:08}-aaaa-4bbb-8ccc-222222222222")
        log.count = 10 * number  # so that the answers are not copies
        log.user().answer(written=5000).write(end="\nnot JSON\n")
    assert main(["sessions", str(tmp_path), "--home", str(tmp_path), "--everywhere", "--no-cache"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.count("a line that is cut") for line in lines] == [1, 1, 1, 1, 0]
    assert lines[-1] == "5 more [session-log-cut]; --json has all of them"


@pytest.fixture
def short(monkeypatch):
    """A terminal in which two rows are shown."""
    for module in ("sessions", "session_detail"):
        monkeypatch.setattr(f"foreword.cli.{module}.is_terminal", lambda _: True)
        monkeypatch.setattr(f"foreword.cli.{module}._MOST", 2)
    monkeypatch.setattr("foreword.cli.session_detail._MOST_COLLAPSES", 1)
    monkeypatch.setattr("foreword.cli.session_detail._MOST_SPANS", 1)


def test_rows_that_do_not_fit_are_one_row_in_a_terminal(run, short):
    lines = run("sessions", "--by", "section").splitlines()
    rows = json.loads(run("sessions", "--by", "section", "--json"))["rows"]
    [others] = [line for line in lines if f"({len(rows) - 1} others: --csv)" in line]
    assert f" {sum(row['times'] for row in rows[1:])} " in others
    assert rows[0]["key"] in lines[0]


def test_the_last_requests_and_collapses_are_shown_in_a_terminal(run, short):
    text = run("sessions", "--id", "1111")
    assert "1 earlier request; --csv and --json list all" in text
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["2", "3"]


def test_the_last_spans_are_shown_in_a_terminal(short, capsys):
    span = {"from": None, "to": None, "version": "abc", "distance": 0, "lost": None, "thread": ""}
    spans = [{**span, "requests": [number, number]} for number in (1, 2)]
    write_detail({"id": "1", "spans": spans, "requests": 2, "exactness": "rebuilt"})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "1 earlier time; --csv and --json list all"
    assert "in request 2," in lines[1]


@pytest.mark.parametrize(
    ("lost", "end"), [(None, "still there in the last request"), ("compaction", "then lost: compaction")]
)
def test_a_span_says_how_it_ended(capsys, lost, end):
    span = {"from": None, "to": None, "version": "abc", "distance": 0, "lost": lost, "thread": "", "requests": [1, 1]}
    write_detail({"id": "1", "spans": [span], "requests": 2, "exactness": "rebuilt"})
    assert f"tokens from the end; {end}\n" in capsys.readouterr().out


def test_a_table_of_several_programs_fits_80_columns(tmp_path, capsys, monkeypatch):
    ClaudeLog(tmp_path, "/repo").user().answer(written=5000).user().answer(written=5100, seconds=900).write()
    write_gemini(tmp_path, gemini_rows([(5000, 0, 7), (300, 5000, 7)]))
    write_pi(tmp_path, pi_rows("/repo", [(5000, 0, 7), (300, 5000, 7)]))
    for module in ("sessions", "terminal"):
        monkeypatch.setattr(f"foreword.cli.{module}.is_terminal", lambda _: True)
    monkeypatch.setattr("foreword.cli.terminal.terminal_width", lambda _: 80)
    assert main(["sessions", str(tmp_path), "--home", str(tmp_path), "--everywhere", "--no-cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "agent", "ended", "model", "requests", "read", "cost", "breaks"]
    assert max(map(len, lines[:4])) <= 80


def test_days_without_sessions_have_a_dot(capsys):
    write_days({"2026-11-01": 0.5, "2026-11-02": None, "2026-11-04": 1.0, "unknown": 9.0})
    write_days({"2026-11-01": 1.0, "unknown": 9.0})
    write_days({"1970-01-01": 1.0, "2026-11-01": 1.0, "2026-11-02": 1.0})
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "▅··█  cost by day, 2026-11-01 to 2026-11-04",
        f"{'·' * 58}██  cost by day, 2026-09-04 to 2026-11-02",
    ]


def test_models_without_a_price_are_said_to_have_none(tmp_path, capsys):
    log = ClaudeLog(tmp_path, "/repo").user().answer(written=5000, model="peer")
    log.user().answer(written=5100, model="other").write()
    assert main(["sessions", str(tmp_path), "--home", str(tmp_path), "--everywhere", "--no-cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == [
        "2 requests of models without a price (0 fresh, 10.1k written, 0 read, 14 out)",
        "the cache collapsed: model",
    ]


def test_a_terminal_is_not_controlled_by_a_log(tmp_path, capsys, monkeypatch):
    bad = "\x1b[2J\x07"
    log = ClaudeLog(tmp_path, f"/re{bad}po", session=f"1{bad}").snapshot().user().answer(written=5000, model=f"m{bad}")
    log.instructions(f"/re{bad}po/CLAUDE.md", "Use tabs.\n" * 40).user().answer(read=5000, written=400, model=f"m{bad}")
    log.user().answer(written=5500, model="claude-opus-5-5").user().answer(written=5600, model=f"x{bad}")
    log.snapshot(tools=("Read", f"To{bad}ol")).user().answer(written=5700, model=f"x{bad}").write()
    monkeypatch.setattr("foreword.cli.terminal.is_terminal", lambda _: True)
    monkeypatch.setattr("foreword.cli.terminal.shows_colours", lambda _: False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    command = ["sessions", str(tmp_path), "--home", str(tmp_path), "--everywhere", "--no-cache"]
    for options in (
        [],
        ["--id", "1"],
        ["--csv"],
        ["--by", "tool"],
        ["--id", "1", "--csv"],
        ["--id", "1", "--in-force-text", "tabs"],
    ):
        assert main([*command, *options]) == 0
        printed = capsys.readouterr()
        assert "\x1b" not in printed.out + printed.err
        assert "\x07" not in printed.out + printed.err
