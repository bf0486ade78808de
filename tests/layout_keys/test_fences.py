"""What is front matter (the key `fences`), and fields that make a condition unnecessary (`always`)."""

import pytest

from foreword.errors import LayoutError
from foreword.text.pieces import keep_spans, slice_pieces
from foreword.vocabulary import Origin, Piece

MIRROR = {"mirrors": "Program 1.0", "line_ends": "keep"}
INSIDE = {**MIRROR, "fences": "inside"}
SECTIONS = {**MIRROR, "fences": "sections", "raw": True}
ITEM = {"item": "[{front.a}]{text}"}


def found(notes, text, fences):
    find = {"trim": "none", "front": "drop-space"}
    return notes.prompt({"w/N.md": text.encode()}, find, ITEM, **fences).text


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: 1\n---\nText\n", "[1]Text\n"),
        ("---\na: 1 --- 2\nb: 3\n---\nText\n", "[1]2\nb: 3\n---\nText\n"),
        ("---\na: 1 ---\nText\n", "[1]Text\n"),
        ("---\na: 1\n  ---\nText\n", "[1]Text\n"),
        ("---\na: 1\n-----\nText\n", "[1]--\nText\n"),
        ("---\na: 1\n--- # b\nText\n", "[1]# b\nText\n"),
        ("--- \t\n\n \na: 1\n--- \t\n\n  Text\n", "[1]Text\n"),
        ("---\n---\nText\n", "[]Text\n"),
        ("----\na: 1\n---\nText\n", "[]----\na: 1\n---\nText\n"),
        ("--- # b\na: 1\n---\nText\n", "[]--- # b\na: 1\n---\nText\n"),
        (" ---\na: 1\n---\nText\n", "[] ---\na: 1\n---\nText\n"),
        ("\n---\na: 1\n---\nText\n", "[]\n---\na: 1\n---\nText\n"),
        ("---\na: 1\nText\n", "[]---\na: 1\nText\n"),
        ("---", "[]---"),
    ],
)
def test_the_second_fence_may_be_inside_a_line(notes, text, expected, line_end):
    text, expected = text.replace("\n", line_end), expected.replace("\n", line_end)
    assert found(notes, text, INSIDE) == expected


@pytest.mark.parametrize(("lines", "is_sent"), [(1_000, True), (40_000, False)])
def test_front_matter_that_is_too_long_to_parse_counts_as_yaml(notes, lines, is_sent):
    text = found(notes, "---\na: [\n" + "\n" * lines + "---\nText\n", SECTIONS)
    assert ("a: [" in text, "Text" in text) == (is_sent, True)


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: 1\n---\n\n Text\n\n", "[1]Text"),
        ("Before\n---\na: 1\n---\nText\n", "[1]Text"),
        ("Before\n\n---\n\nMiddle\n\n---\n\nText\n", "[]Text"),
        ("---\na: 1\n---\nText\n\n---\n\n\nMore\n---\n", "[1]Text\n\n---\nMore\n---"),
        ("---\n---\n---\n\n  Text\n", "[]---\n  Text"),
        ("\n\n---  \na: 1\n---\t\nText\n", "[1]Text"),
        ("```\n---\na: 1\n---\n```\nText\n", "[1]```\nText"),
        ("\nText\n---\nMore\n\n", "[]\nText\n---\nMore\n\n"),
        ("\nText\n---\nThis: is: [not YAML\n---\nMore\n\n", "[]\nText\n---\nThis: is: [not YAML\n---\nMore\n\n"),
        ("\nText\n ---\nb\n ---\nb\n----\n", "[]\nText\n ---\nb\n ---\nb\n----\n"),
        ("---\na: b --- c\n---\nText --- \nMore\n", "[b --- c]Text --- \nMore"),
    ],
)
def test_every_line_may_be_a_fence(notes, text, expected, line_end):
    find = {"trim": "none", "front": "drop-ends", "line_ends": "lf"}
    assert notes.prompt({"w/N.md": text.replace("\n", line_end).encode()}, find, ITEM, **SECTIONS).text == expected


def test_only_a_mirror_may_have_other_fences(notes):
    with pytest.raises(LayoutError, match="fences: 'inside' is only for a layout that mirrors a program"):
        notes.prompt({}, fences="inside")
    assert found(notes, "---\na: 1 --- 2\n---\nText\n", {}) == "[1 --- 2]Text\n"


@pytest.mark.parametrize(
    ("fences", "text"),
    [(INSIDE, "---\nglobs: '*.py' ---\nText\n"), (SECTIONS, "Gone\n---\nglobs: '*.py'\n---\nText\n")],
)
def test_conditions_use_the_same_fences(notes, fences, text):
    find = {"where": {"globs": ""}, "front": "drop"}
    assert notes.prompt({"w/N.md": text}, find, **fences).text == ""
    assert notes.prompt({"w/N.md": text}, {**find, "where": {"globs": "*.py"}}, **fences).text == "Text"


@pytest.mark.parametrize(("fences", "expected"), [(INSIDE, "- x: One"), (MIRROR, "")])
def test_menus_use_the_same_fences(notes, fences, expected):
    find = {"as": "agent", "files": ["cwd:*.md"]}
    files = {"w/x.md": "---\ndescription: One\n  ---\nBody\n"}
    assert notes.prompt(files, find, {"item": "- {name}: {description}"}, **fences).text == expected


@pytest.mark.parametrize(
    ("fields", "is_found"),
    [
        ("a: 1", True),
        ("globs: '*.py'", False),
        ("globs: '*.py'\nalwaysApply: true", True),
        ("globs: '*.py'\nalwaysApply: false", False),
        ("globs: '*.py'\nalwaysApply: true\nb: 2", False),
    ],
)
def test_a_field_may_make_conditions_unnecessary(notes, fields, is_found):
    find = {"front": "drop", "where": {"globs": ""}, "always": {"alwaysApply": True}, "unless": {"b": "2"}}
    assert notes.prompt({"w/N.md": f"---\n{fields}\n---\nText\n"}, find).text == ("Text" if is_found else "")


def test_always_needs_a_condition(notes):
    with pytest.raises(LayoutError, match="always has no effect without where"):
        notes.prompt({}, {"always": {"alwaysApply": True}})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "Before\n---\na: 1\n---\nText\n",
            "what is between its first two lines `---` is read as front matter, and the text before them is left out",
        ),
        ("---\nglobs: **/*.py\n---\nText\n", "the front matter is not valid YAML and is sent as text"),
        ("Text\n---\nMore\n", ""),
        ("---\na: 1\n---\nText\n---\nMore\n", ""),
    ],
)
def test_a_rule_that_loses_its_first_text_or_its_fields_is_reported(notes, text, problem):
    findings = notes.prompt({"w/N.md": text}, {"front": "drop-ends"}, **SECTIONS).findings
    messages = [found.message.partition(": ")[2] for found in findings if found.code == "front-matter-invalid"]
    assert messages == ([problem] if problem else [])


@pytest.mark.parametrize(
    "spans",
    [
        [],
        [(0, 9)],
        [(0, 0), (1, 2), (2, 3)],
        [(1, 5), (8, 9)],
        [(0, 4), (4, 9)],
        [(3, 7), (7, 7), (7, 8)],
        [(2, 3), (5, 6)],
    ],
)
def test_many_parts_have_the_same_origins_as_one_at_a_time(spans):
    origin = Origin("file", "/w/N.md", (3, 5))
    pieces = (Piece("a\nb\n", origin), Piece("", Origin("mark")), Piece("c\n", Origin("mark")), Piece("d\ne", origin))
    assert keep_spans(pieces, spans) == tuple(piece for span in spans for piece in slice_pieces(pieces, *span))
