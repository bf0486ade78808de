"""Edits keep everything else in a file."""

import json

import pytest

from foreword.programs.align.edits import add_import, read_json_key, remove_json_key, set_json_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "@A.md\n"),
        ("Own.", "@A.md\n\nOwn."),
        ("Own.\n", "@A.md\n\nOwn.\n"),
        ("\nOwn.\n", "@A.md\n\nOwn.\n"),
        ("Own.\r\nMore.\r\n", "@A.md\r\n\r\nOwn.\r\nMore.\r\n"),
        ("\ufeffOwn.\n", "\ufeff@A.md\n\nOwn.\n"),
        ("---\nx: 1\n---\nOwn.\n", "---\nx: 1\n---\n@A.md\n\nOwn.\n"),
        ("---\nx: 1\n---", "---\nx: 1\n---\n@A.md\n"),
        ("---\nnot front matter\n", "@A.md\n\n---\nnot front matter\n"),
    ],
)
def test_an_import_line_is_added_at_the_start(text, expected):
    assert add_import(text, "@A.md") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '{\n  "a": {\n    "b": ["x"]\n  }\n}\n'),
        ("{}", '{\n  "a": {\n    "b": ["x"]\n  }\n}'),
        ('{"c": 1}', '{"a": {"b": ["x"]}, "c": 1}'),
        ('{"a": {"b": "old", "c": 1}}', '{"a": {"b": ["x"], "c": 1}}'),
        ('{"a": {}}', '{"a": {\n  "b": ["x"]\n}}'),
        ('{\r\n    "c": 1\r\n}\r\n', '{\r\n    "a": {\r\n      "b": ["x"]\r\n    },\r\n    "c": 1\r\n}\r\n'),
        ('{ // c\n  "c": 1,\n}', '{"a": {"b": ["x"]}, // c\n  "c": 1,\n}'),
        ("{\n  // only a comment\n}", '{\n  // only a comment\n  "a": {\n    "b": ["x"]\n  }\n}'),
        ('{"a": 1}', None),
        ("[]", None),
        ('{"a": {"b": ', None),
        ('{"c" 1}', None),
        ("{", None),
    ],
)
def test_a_key_of_json_is_set(text, expected):
    assert set_json_key(text, "a.b", ["x"]) == expected
    if expected is not None:
        assert read_json_key(expected, "a.b") == ["x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": {"b": ["x", // y\n "z",]}}', ["x", "z"]),
        ('{"a": {"b": "/* no comment */"}}', "/* no comment */"),
        ('{"a": 1}', None),
        ("", None),
        ("nonsense", None),
    ],
)
def test_a_key_of_json_is_read(text, expected):
    assert read_json_key(text, "a.b") == expected


def test_json_without_comments_is_equal_except_for_the_key():
    content = {"z": [1, {"y": None}], "a": {"x": 'é"', "b": 2}, "m": -1.5e3}
    text = json.dumps(content, indent=2, ensure_ascii=False)
    assert json.loads(set_json_key(text, "a.b", 3)) == {**content, "a": {"x": 'é"', "b": 3}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "a": {\n    "b": []\n  }\n}\n', "{\n}\n"),
        ('{"x": 1, "a": {"b": []}}', '{"x": 1}'),
        ('{\n  // c\n  "a": {"b": [], "x": 1},\n  "y": 2\n}\n', '{\n  // c\n  "a": {"x": 1},\n  "y": 2\n}\n'),
        ('{"a": {"x": 1, "b": []}, "y": 2}', '{"a": {"x": 1}, "y": 2}'),
        ('{\r\n  "a": {\r\n    "b": ["x"]\r\n  },\r\n  "y": 1\r\n}\r\n', '{\r\n  "y": 1\r\n}\r\n'),
        ('{"a": {/* mine */ "b": []}}', None),
        ('{"a": {"x": 1}}', None),
        ('{"a": 1}', None),
        ("x", None),
    ],
)
def test_a_key_of_json_is_removed(text, expected):
    assert remove_json_key(text, "a.b") == expected
