"""The bracket language, case by case: tests/cases/brackets has the inputs and outputs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from foreword.errors import TemplateError
from foreword.template.brackets import Variable, parse, render
from foreword.template.diagnostics import MAX_LISTED
from foreword.template.limits import SOURCE_LIMIT
from foreword.vocabulary import Finding, Origin, Piece

TYPES = ("file", "system", "prompt", "git")
OURS = Origin("template", "$user/mine")


TABLES = sorted((Path(__file__).parent.parent / "cases" / "brackets").glob("*.toml"))
CASES = [
    pytest.param(case, id=f"{table.stem}: {case['name']}")
    for table in TABLES
    for case in tomllib.loads(table.read_text("utf-8"))["case"]
]


def values_of(values):
    def lookup(type, name):
        text = values.get(f"{type}:{name}")
        return None if text is None else (Piece(text, Origin("variable", f"{type}:{name}")),)

    return lookup


def render_text(template, values=()):
    return "".join(piece.text for piece in render(parse(template, TYPES), values_of(dict(values)), OURS))


def format_findings(findings):
    """Findings as `code line:column`."""
    return [f"{finding.code} {finding.line}:{finding.column}" for finding in findings]


@pytest.mark.parametrize("case", CASES)
def test_a_case_renders_as_expected(case):
    template = parse(case["template"], TYPES)
    assert render_text(case["template"], case.get("values", {})) == case["output"]
    assert format_findings(template.findings) == case.get("findings", [])
    if "variables" in case:
        assert [f"{variable.type}:{variable.name}" for variable in template.variables] == case["variables"]


def test_a_third_of_the_cases_have_findings():
    with_findings = [case for case in CASES if case.values[0].get("findings")]
    assert len(with_findings) * 3 >= len(CASES)


def test_text_has_its_lines_and_a_value_its_own_origin():
    template = parse("one\ntwo [file:a] two\nthree\n[if file:a]four\n\n[endif]six", TYPES)
    value = Piece("A\nB", Origin("file", "/w/a", (1, 2)))
    assert render(template, lambda type, name: (value,), OURS) == (
        Piece("one\ntwo ", Origin("template", "$user/mine", (1, 2))),
        Piece("A\nB", Origin("file", "/w/a", (1, 2), tag=("$user/mine", 2, 2))),
        Piece(" two\nthree\n", Origin("template", "$user/mine", (2, 3))),
        Piece("four\n\n", Origin("template", "$user/mine", (4, 5))),
        Piece("six", Origin("template", "$user/mine", (6, 6))),
    )


def test_text_is_one_piece_even_with_escapes_and_unmatched_tags():
    text = "a \\[b]\n[else] [if file:x] [TODO: c]\n"
    escaped = "a [b]\n[else] [if file:x] [TODO: c]\n"
    assert render(parse(text, TYPES), values_of({}), OURS) == (
        Piece(escaped, Origin("template", "$user/mine", (1, 2))),
    )


def test_an_empty_template_has_no_pieces():
    assert render(parse("", TYPES), values_of({}), OURS) == ()


def test_only_variables_in_branches_that_are_taken_are_looked_up_each_once():
    looked_up = []

    def lookup(type, name):
        looked_up.append(f"{type}:{name}")
        return (Piece("x", OURS),) if name != "no" else None

    template = parse("[if file:no][git:status][else][file:a][file:a][endif][if file:a][nix:x][endif][file:no]", TYPES)
    render(template, lookup, OURS)
    assert looked_up == ["file:no", "file:a"]
    assert template.variables == (
        Variable("file", "no"),
        Variable("git", "status"),
        Variable("file", "a"),
    )


def test_the_types_match_the_catalog():
    assert parse("[ticket:12]", (*TYPES, "ticket")).variables == (Variable("ticket", "12"),)
    assert parse("[if:x]", (*TYPES, "if")).variables == (Variable("if", "x"),)


def test_a_finding_shows_its_location():
    text = "one\nand so [endif] on\n"
    assert parse(text, TYPES, "/w/prompt.md").findings == (
        Finding(
            "template-unmatched",
            "error",
            "[endif] has no [if] and is left as text\n    and so [endif] on\n           ^^^^^^^",
            "/w/prompt.md",
            2,
            8,
            15,
        ),
    )


def test_a_finding_shows_a_short_printable_part_of_a_long_line():
    text = "x" * 500 + "\x1b[31m\t[file:" + "n" * 500 + "\n"
    (finding,) = parse(text, TYPES).findings
    _, line, carets = finding.message.split("\n")
    assert len(line) <= 64 and line.isprintable()
    assert line[carets.index("^") :].startswith("[file:nnn")


def test_carets_count_terminal_columns():
    (finding,) = parse("漢字 e\u0301 [else:字]", (*TYPES, "x")).findings[:1]
    _, line, carets = finding.message.split("\n")
    assert (line, carets) == ("    漢字 e\u0301 [else:字]", " " * (4 + 4 + 1 + 1 + 1) + "^" * 9)


def test_too_many_findings_are_counted():
    findings = parse("[else]" * (MAX_LISTED + 7), TYPES).findings
    assert len(findings) == MAX_LISTED + 1
    assert findings[-1] == Finding("template-more", "info", "7 more problems are not listed")


def test_a_template_over_the_limit_is_an_error():
    assert render_text("x" * SOURCE_LIMIT) == "x" * SOURCE_LIMIT
    with pytest.raises(TemplateError, match=r"^/t has 10,485,759 characters; at most 500,000 are accepted$"):
        parse("[if" * (10 * 1024 * 1024 // 3), TYPES, "/t")


@pytest.mark.parametrize("depth", [5_000, 25_000])
def test_blocks_nest_to_any_depth(depth):
    text = "[if file:a]" * depth + "x" + "[else]y[endif]" * depth if depth < 20_000 else "[if file:a]" * depth + "x"
    expected = "x" if depth < 20_000 else text
    assert render_text(text, {"file:a": "A"}) == expected


@pytest.mark.parametrize(
    "unit",
    ["[", "[if", "[if file:a]", "[file:", "[x:y]", "[ ", "\\[", "[else]", "[endif]", "[IF a:", "[if !", "]", "[if \t"],
)
def test_hostile_text_is_parsed_in_linear_time(unit):
    text = unit * (100_000 // len(unit))
    template = parse(text, TYPES)
    render(template, values_of({}), OURS)
    assert len(template.findings) <= MAX_LISTED + 1
