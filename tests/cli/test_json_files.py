"""JSON that a caller passes means the same as in Python's `json`, which is loaded only to explain mistakes."""

import json
import subprocess
import sys

import pytest

from foreword.cli.json_files import parse_json
from foreword.errors import CallError


@pytest.mark.parametrize(
    "text",
    [
        "null",
        " \t\n\r[] \r\n",
        '{"a": [1, -2.5e3, true, false, null, {"b": ""}], "a": 2}',
        r'"\u00e9\ud83d\ude00\n\"\\ \ud800"',
        '"é😀"',
        "-0",
        "123456789012345678901234567890",
    ],
)
def test_a_valid_text_is_parsed_as_by_json(text):
    assert repr(parse_json(text, "--tools t.json")) == repr(json.loads(text))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", " (line 1, column 1)"),
        ("[1,\n 2", " (line 2, column 3)"),
        ("\n\n[] x", " (line 3, column 4)"),
        ("[] []", " (line 1, column 4)"),
        ("\u00a0[]", " (line 1, column 1)"),
        ('"a\nb"', " (line 1, column 3)"),
        ("[NaN]", ""),
        ("[-Infinity]", ""),
        ("[" * 100_000, ""),
    ],
)
def test_an_invalid_text_is_an_error_that_says_where(text, where):
    with pytest.raises(CallError) as error:
        parse_json(text, "--tools t.json")
    assert str(error.value) == f"--tools t.json: the file is not valid JSON{where}"


def test_json_is_not_loaded_for_a_valid_text():
    code = "import sys; from foreword.cli.json_files import parse_json; print(parse_json('[1]', ''), 'json' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-I", "-c", code], text=True) == "[1] False\n"


def test_a_python_with_another_scanner_is_supported(monkeypatch):
    monkeypatch.setitem(sys.modules, "_json", None)
    assert parse_json("[1]", "") == [1]
