"""What all readers of logs share: rows, times, counts, texts and pictures, from logs in which anything may be damaged."""

import json

import pytest

from foreword.sessions.readers import rows as module
from foreword.sessions.readers.rows import (
    Texts,
    json_text,
    note_unknown,
    number,
    own_cost,
    parse_row,
    parse_row_sharing,
    parse_time,
    prepare_parser,
    remember,
    server_of,
    size_of,
    string,
    without_pictures,
)


@pytest.fixture(params=[False, True], ids=["json", "msgspec"])
def parser(request, monkeypatch):
    """The parser for a few rows, or the one for many."""
    monkeypatch.setattr(module._RowParser, "decode", None)
    monkeypatch.setattr(module._RowParser, "size", 0)
    prepare_parser(20 << 20)
    assert module._RowParser.decode is None
    if request.param:
        prepare_parser(1)
    assert (module._RowParser.decode is not None) is request.param


@pytest.mark.parametrize(
    ("line", "row"),
    [
        (b'{"a": 1}', {"a": 1}),
        (b' {"a": [null, true]} \r', {"a": [None, True]}),
        (b'{"a": "\\ud800"}', {"a": "\ud800"}),
        (b"{}", {}),
        (b"[1]", None),
        (b"7", None),
        (b"null", None),
        (b"", None),
        (b'{"a": 1', None),
        (b'{"a": 1} x', None),
        (b'{"a": 1}{"b": 2}', None),
        (b'{"a": "\xff"}', None),
        (b"[" * 100_000, None),
    ],
)
def test_a_row_is_an_object_on_a_line(parser, line, row):
    assert parse_row(line) == row


SHARED = {"name": "read", "deep": {"a": [1, 2]}}


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ({"id": 1, "shape": SHARED, "time": 2}, None),
        ({"id": 1, "shape": {"other": 1}, "time": 2}, None),
        ({"id": 1, "shape": [1], "time": 2}, None),
        ({"id": 1, "time": 2}, None),
        ({"shape": SHARED, "id": 1}, None),
        ({"inner": {"shape": {"a": 1}, "time": 1}, "shape": SHARED, "time": 2}, None),
        ({"id": 1, "shape": SHARED, "inner": {"time": 3}, "time": 2}, None),
        ('{"id":1,"shape":{"a":1,"time":2}', {}),
        ('{"id":1,"shape":{"a":1}x,"time":2}', {}),
    ],
)
def test_a_large_field_that_many_rows_have_is_parsed_once(line, row):
    text = line if isinstance(line, str) else json.dumps(line, separators=(",", ":"))
    expected = None if row == {} else json.loads(text)
    first, second = (parse_row_sharing(text.encode(), "shape", b',"time":') for _ in range(2))
    assert first == second == expected
    if isinstance(line, dict) and line.get("shape") == SHARED and list(line)[-1] == "time" and "inner" not in line:
        assert first["shape"] is second["shape"]


@pytest.mark.parametrize(
    ("time", "seconds"),
    [
        ("2026-11-20T01:02:03.045Z", 1795136523.045),
        ("2026-11-20T02:02:03+01:00", 1795136523.0),
        ("2026-11-20T01:02:03", 1795136523.0),
        ("1960-01-01T00:00:00Z", 0.0),
        ("soon", 0.0),
        ("", 0.0),
        (1795136523, 1795136523.0),
        (1795136523.5, 1795136523.5),
        (1795136523045, 1795136523.045),
        (100_000_000_000, 100_000_000_000.0),
        (100_000_000_001, 100_000_000.001),
        (99_999_999_999_999, 99_999_999_999.999),
        (100_000_000_000_000, 0.0),
        (0, 0.0),
        (-1, 0.0),
        (True, 0.0),
        (None, 0.0),
        (float("nan"), 0.0),
    ],
)
def test_a_time_is_text_or_a_number(time, seconds):
    assert parse_time(time) == seconds


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"a": 3, "b": 4}, 3),
        ({"b": 4}, 4),
        ({"a": -1, "b": 4}, 4),
        ({"a": "3", "b": 4.9}, 4),
        ({"a": True, "b": 0}, 0),
        ({"a": 0, "b": 4}, 0),
        ({"a": 10**12 - 1}, 10**12 - 1),
        ({"a": 10**12}, 0),
        ({"a": float("nan")}, 0),
        ({}, 0),
        ([1], 0),
        (None, 0),
    ],
)
def test_a_count_is_the_first_field_that_can_be_one(fields, count):
    assert number(fields, "a", "b") == count


@pytest.mark.parametrize(
    ("amount", "cost"),
    [(0.5, 0.5), (2, 2.0), (0, None), (-1, None), (10**12 - 1, 10.0**12 - 1), (10**12, None), (True, None), ("1", None), (None, None)],
)  # fmt: skip
def test_a_cost_is_an_amount_above_zero(amount, cost):
    assert own_cost(amount) == cost


@pytest.mark.parametrize(
    ("fields", "text"),
    [({"a": "x", "b": "y"}, "x"), ({"a": "", "b": "y"}, "y"), ({"a": 1, "b": "y"}, "y"), ({"a": None}, ""), ({}, ""), ("a", ""), (None, "")],
)  # fmt: skip
def test_a_text_is_the_first_field_with_one(fields, text):
    assert string(fields, "a", "b") == text


@pytest.mark.parametrize(
    ("tool", "server"), [("mcp__gh__search", "gh"), ("mcp__gh", "gh"), ("mcp__", ""), ("mcp_gh__x", ""), ("read", "")]
)
def test_the_name_of_a_tool_may_name_its_server(tool, server):
    assert server_of(tool) == server


@pytest.mark.parametrize(("text", "size"), [("", 0), ("abc", 3), ("ä€", 5), ("\ud800", 3)])
def test_a_size_is_in_bytes(text, size):
    assert size_of(text) == Texts().part("message", text).size == size


@pytest.mark.parametrize(
    ("content", "text"),
    [({"a": [1, "ä"], "b": None}, '{"a":[1,"ä"],"b":null}'), ([1, True], "[1,true]"), ("x", '"x"'), ({}, "{}"), ({"a": {1}}, '{"a":"{1}"}')],
)  # fmt: skip
def test_json_is_compact(content, text):
    assert json_text(content) == text


IMAGE = {"type": "image", "source": {"data": "x"}}


@pytest.mark.parametrize(
    ("content", "plain", "count"),
    [
        ("text", "text", 0),
        (IMAGE, {"type": "image"}, 1),
        ({"type": "input_image", "image_url": "data:x"}, {"type": "image"}, 1),
        ({"type": "document", "source": {}}, {"type": "image"}, 1),
        ({"type": "image"}, {"type": "image"}, 0),
        ({"type": "text", "source": {}}, {"type": "text", "source": {}}, 0),
        ([IMAGE, "a", [IMAGE]], [{"type": "image"}, "a", [{"type": "image"}]], 2),
        ({"type": "tool_result", "content": [IMAGE, IMAGE]}, {"type": "tool_result", "content": [{"type": "image"}] * 2}, 2),
        ({"type": "tool_result", "content": ["a"]}, {"type": "tool_result", "content": ["a"]}, 0),
        ({"type": "tool_result", "content": IMAGE}, {"type": "tool_result", "content": IMAGE}, 0),
    ],
)  # fmt: skip
def test_the_data_of_pictures_is_not_text(content, plain, count):
    assert without_pictures(content) == (plain, count)


def test_only_the_last_entries_are_remembered():
    known = {}
    for index in range(2001):
        remember(known, str(index), index)
    assert (len(known), "0" in known, "1" in known) == (2000, False, True)


def test_only_the_first_types_that_are_not_known_are_named():
    problems = {}
    for index in range(150):
        note_unknown(problems, f"{index} " + "x" * 100, "v" * 100)
    assert len(problems) == 100
    assert next(iter(problems)) == ("session-record-unknown", f"0 {'x' * 58} {'v' * 60}")
    note_unknown(problems := {}, "odd", "")
    assert list(problems) == [("session-record-unknown", "odd")]


def test_a_long_text_that_many_logs_have_is_divided_once():
    calls = []

    def divide():
        calls.append(1)
        return [Texts().part("prompt", "x")]

    for text in ("a" * 399, "b" * 400):
        for texts in (Texts(), Texts(), Texts(lambda part, text: True)):
            assert texts.divided("test", text, divide) == [Texts().part("prompt", "x")]
    assert len(calls) == 3 + 2


def test_the_texts_of_wanted_parts_are_kept():
    texts = Texts(lambda part, text: part.kind == "file")
    part = texts.part("file", "Be brief.", path="/w/AGENTS.md")
    texts.part("message", "Hi.")
    assert texts.texts == {part.hash: "Be brief."}
