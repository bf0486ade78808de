"""The database of OpenCode on bad days: damaged, locked, of another version, or with rows that nobody expects."""

import json
import sqlite3

import pytest
from other_logs import write_opencode

from foreword.programs.sessions import DIMENSIONS, mapping_answer

REQUESTS = [(5000, 0, 7), (300, 5000, 7), (200, 5300, 7)]
TOTAL = {"fresh": 5500, "written": 0, "read": 10300, "out": 21}


@pytest.fixture
def path(tmp_path):
    return write_opencode(tmp_path, tmp_path, {"ses_a": (None, REQUESTS)})


@pytest.fixture
def ask(tmp_path):
    def ask(**fields):
        answers = [
            mapping_answer({"cwd": str(tmp_path), "home": str(tmp_path), "no_cache": True, "by": by, **fields})
            for by in ("", *DIMENSIONS)
        ]
        assert all(answer["total"] == answers[0]["total"] for answer in answers)
        return answers[0]

    return ask


def run(path, *statements):
    connection = sqlite3.connect(path)
    for statement, *values in statements:
        connection.execute(statement, values)
    connection.commit()
    connection.close()


def found(answer):
    return [(row["code"], row["message"].split(": ", 1)[-1]) for row in answer["findings"]]


def test_a_database_as_it_should_be(path, ask):
    assert (ask()["total"]["tokens"], ask()["findings"]) == (TOTAL, [])


@pytest.mark.parametrize("size", [0, 50, 4096, 6000])
def test_a_database_that_was_cut_off(path, ask, size):
    path.write_bytes(path.read_bytes()[:size])
    answer = ask()
    assert [row["code"] for row in answer["findings"]] == ["session-log-unreadable"]
    assert answer["sessions"] == []


def test_a_file_that_is_not_a_database(path, ask):
    path.write_bytes(b"not a database" * 1000)
    assert found(ask()) == [("session-log-unreadable", "file is not a database")]


def test_a_damaged_page_keeps_what_can_be_read(path, ask, tmp_path):
    text = "x" * 600
    for number in range(200):
        run(
            path, ("INSERT INTO part VALUES (?, 'ses_a-0', 'ses_a', ?, ?)", f"p{number}", json.dumps({"text": text}), 1)
        )
    data = bytearray(path.read_bytes())
    start = len(data) // 4096 // 2 * 4096
    data[start : start + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    answer = ask()
    assert answer["total"]["tokens"] == TOTAL
    assert [code for code, _ in found(answer)] == ["session-log-unreadable"]
    assert "the rest could not be read" in found(answer)[0][1]


def test_a_database_that_is_locked(path, ask):
    owner = sqlite3.connect(path)
    owner.execute("BEGIN EXCLUSIVE")
    try:
        answer = mapping_answer({"cwd": str(path.parent), "home": str(path.parents[3]), "everywhere": True})
    finally:
        owner.close()
    assert found(answer) == [("session-log-unreadable", "database is locked")]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("ALTER TABLE message RENAME COLUMN data TO content", "no such column: data"),
        ("ALTER TABLE session RENAME TO sessions", "no such table: session"),
        ("DROP TABLE part", "no such table: part"),
    ],
)
def test_another_schema(path, ask, change, reason):
    run(path, (change,))
    messages = [message for code, message in found(ask()) if code == "session-log-unreadable"]
    assert len(messages) == 1
    assert reason in messages[0]


DEEP = "[" * 200_000


@pytest.mark.parametrize("data", [None, 7, b"\xff\xfe", "{", "[]", '"text"', DEEP, '{"a":' * 100_000, "x" * (65 << 20)])
@pytest.mark.parametrize("table", ["message", "part"])
def test_data_that_is_not_an_object(path, ask, table, data):
    columns = {"message": "'x', 'ses_a', ?, 1, 1", "part": "'x', 'ses_a-0', 'ses_a', ?, 1"}[table]
    run(path, (f"INSERT INTO {table} VALUES ({columns})", data))
    answer = mapping_answer({"cwd": str(path.parent), "home": str(path.parents[3]), "everywhere": True, "by": "file"})
    assert answer["total"]["tokens"] == TOTAL
    assert {row["code"] for row in answer["findings"]} <= {"session-log-cut"}


@pytest.mark.parametrize("name", [None, 7, b"\xff", "a#b", "", "../../x", "a\x00b"])
def test_ids_that_nobody_expects(path, ask, name):
    run(path, ("INSERT INTO session VALUES (?, '/w', '1', NULL, 'soon')", name))
    assert ask()["total"]["tokens"] == TOTAL


def test_a_view_is_not_a_table(path, ask):
    connection = sqlite3.connect(path)
    connection.executescript(
        "DROP TABLE part; CREATE VIEW part AS WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count)"
        " SELECT n AS id, 'ses_a-0' AS message_id, 'ses_a' AS session_id, '{}' AS data, n AS time_created FROM count"
    )
    connection.close()
    answer = ask()
    assert answer["total"]["requests"] == 0
    assert {row["code"] for row in answer["findings"]} == {"session-log-unreadable"}
    assert answer["findings"][0]["message"].endswith("part is a view, not a table")


def test_nothing_is_created_beside_a_database_that_nobody_uses(path, ask):
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    connection.close()
    assert ask()["total"]["requests"] > 0
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_what_is_only_in_the_log_of_a_database_is_read(path, ask):
    before = ask()["total"]["requests"]
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("DELETE FROM message WHERE id = (SELECT max(id) FROM message)")
    connection.commit()
    assert ask()["total"]["requests"] == before - 1
    connection.close()
