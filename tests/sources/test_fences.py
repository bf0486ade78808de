"""What is front matter, by the fences that a layout asks for, and how it is written between fences that are lines."""

import pytest

from foreword.layout.model import TextRules
from foreword.sources.fences import describe_problem, split_parts, with_lines
from foreword.sources.front_matter import MAX_HEAD_LENGTH

LONG = "a: [\n" + "\n" * MAX_HEAD_LENGTH  # too long to be parsed


@pytest.mark.parametrize(
    ("fences", "text", "head", "parts"),
    [
        ("lines", "Text\n", None, ["Text\n"]),
        ("lines", "---\na: 1\n---\nText\n", "a: 1\n", ["Text\n"]),
        ("lines", "---\na: 1 --- 2\n---\nText\n", "a: 1 --- 2\n", ["Text\n"]),
        ("lines", "---\na: 1\n", None, ["---\na: 1\n"]),
        ("inside", "---\na: 1\n---\nText\n", "a: 1\n", ["Text\n"]),
        ("inside", "---  \n\na: 1 --- 2\n---\nText\n", "a: 1 ", ["2\n---\nText\n"]),
        ("inside", "---\na: 1\n------\nText\n", "a: 1\n", ["---\nText\n"]),
        ("inside", "---\u2028\n a: 1\n---\u3000\ufeff\n\n  Text\n", " a: 1\n", ["Text\n"]),
        ("inside", "---", None, ["---"]),
        ("inside", "---\na: 1\n", None, ["---\na: 1\n"]),
        ("inside", " ---\na: 1\n---\n", None, [" ---\na: 1\n---\n"]),
        ("inside", "Text\n---\na: 1\n---\n", None, ["Text\n---\na: 1\n---\n"]),
        ("sections", "---\na: 1\n---\nText\n", "a: 1", ["Text\n"]),
        ("sections", "Before\n---\na: 1\n---\nText\n", "a: 1", ["Text\n"]),
        ("sections", "---\r\na: 1\r\n---\r\nText", "a: 1", ["Text"]),
        ("sections", "---\na: 1\n---\nOne\n---\nTwo\n---", "a: 1", ["One\n---", "Two\n---", ""]),
        ("sections", "---\na: 1\n---", "a: 1", [""]),
        ("sections", "---\na: 1\n--- x\nText", None, ["---\na: 1\n--- x\nText"]),
        ("sections", "---\na: [\n---\nText\n", None, ["---\na: [\n---\nText\n"]),
        ("sections", "---\nText\n", None, ["---\nText\n"]),
        ("sections", "x---\na: 1\n---\nText\n", None, ["x---\na: 1\n---\nText\n"]),
        ("sections", f"---\n{LONG}---\nText\n", LONG, ["Text\n"]),
    ],
)
def test_the_fences_decide_what_is_front_matter(fences, text, head, parts):
    found, places = split_parts(text, fences)
    assert (found and found.rstrip("\n"), [text[start:end].lstrip("\n") for start, end in places]) == (
        head and head.rstrip("\n"),
        parts,
    )


@pytest.mark.parametrize(
    ("rules", "is_start", "text", "expected"),
    [
        ({}, True, "---\na: 1\n---\nText\n", "---\na: 1\n---\nText\n"),
        ({"fences": "inside"}, True, "---\na: 1 --- Text\n", "---\na: 1 \n---\nText\n"),
        ({"fences": "inside"}, True, "---\n------\nText\n", "---\n---\n---\nText\n"),
        ({"fences": "inside"}, False, "---\na: 1 --- Text\n", "\n---\na: 1 --- Text\n"),
        ({"fences": "inside"}, True, "Text\n", "Text\n"),
        ({"fences": "inside"}, True, "---\nText\n", "\n---\nText\n"),
        ({"fences": "sections"}, True, "Before\n---\na: 1\n---\nText\n", "---\na: 1\n---\n\nText\n"),
        ({"fences": "sections"}, False, "Before\n---\na: 1\n---\nText\n", "---\na: 1\n---\n\nText\n"),
        ({"fences": "sections"}, True, "---\na: [\n---\nText\n", "\n---\na: [\n---\nText\n"),
    ],
)
def test_front_matter_is_written_between_lines(rules, is_start, text, expected):
    assert with_lines(text, TextRules(**rules), is_start=is_start) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Text\n", ""),
        ("---\nText\n", ""),
        ("---\na: 1\n---\nText\n", ""),
        ("---\r\na: 1\r\n---\r\nText\r\n", ""),
        ("\n \n---\na: 1\n---\nText\n", ""),
        ("Before\n---\na: [\n---\nText\n", ""),
        ("---\na: [\n---\nText\n", "the front matter is not valid YAML and is sent as text"),
        ("Before\n---\na: 1\n---\nText\n", "what is between its first two lines `---` is read as front matter, and the text before them is left out"),
        (f"---\n{LONG}---\nText\n", ""),
    ],
)  # fmt: skip
def test_what_is_unexpected_about_sections_is_described(text, problem):
    assert describe_problem(text, "sections") == problem
    assert describe_problem(text, "lines") == describe_problem(text, "inside") == ""
