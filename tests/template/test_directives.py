"""Directives in instruction files, case by case: tests/cases/directives has the inputs and outputs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from foreword.findings import finding
from foreword.template.diagnostics import MAX_LISTED
from foreword.template.directives import MAX_DEPTH, includes, render
from foreword.vocabulary import Document, Finding, Origin, Piece

FACTS = {"cwd": "/w", "model": "opus", "provider": "anthropic", "platform": "linux", "date": "2026-04-15"}

TABLES = sorted((Path(__file__).parent.parent / "cases" / "directives").glob("*.toml"))
CASES = [
    pytest.param(case, id=f"{table.stem}: {case['name']}")
    for table in TABLES
    for case in tomllib.loads(table.read_text("utf-8"))["case"]
]


def loader(files):
    """A load function over a mapping of absolute paths to texts."""

    def load(path, target):
        full = normpath(join(dirname(path), target))
        if full not in files:
            return finding("file-unreadable", "there is no such file", full)
        return Document(full, files[full], f"hash of {full}")

    return load


def render_text(text, files=(), **facts):
    pieces, findings = render(Document("/w/AGENTS.md", text), FACTS | facts, loader(dict(files)))
    return "".join(piece.text for piece in pieces), findings


def format_finding(found):
    """A finding as `code path line:column`, as far as it has them."""
    position = [f"{found.line}:{found.column}"] if found.column else []
    return " ".join([found.code, found.path.removeprefix("/w/"), *position])


@pytest.mark.parametrize("case", CASES)
def test_a_case_renders_as_expected(case):
    text, findings = render_text(case["text"], case.get("files", {}), **case.get("facts", {}))
    assert text == case.get("output", case["text"])
    assert [format_finding(found) for found in findings] == case.get("findings", [])
    if "includes" in case:
        assert list(includes(case["text"])) == case["includes"]


def test_a_third_of_the_cases_have_findings():
    with_findings = [case for case in CASES if case.values[0].get("findings")]
    assert len(with_findings) * 3 >= len(CASES)


def test_plain_text_is_one_piece():
    document = Document("/w/AGENTS.md", "a\n`{{ cwd }}`\n<!-- b -->\n", "sha256:1", line=4)
    origin = Origin("file", "/w/AGENTS.md", (4, 6))
    assert render(document, FACTS, loader({})) == ((Piece(document.text, origin),), ())


def test_every_piece_says_where_it_comes_from():
    text = "one {{ model }}\ntwo\n<!-- if: model == 'opus' -->\nfour\n<!-- endif -->\n<!-- include: b.md -->\nseven\n"
    files = {"/w/b.md": "B1\n\n<!-- if: model == 'x' -->x<!-- endif -->\nB4\n"}
    pieces, findings = render(Document("/w/AGENTS.md", text, "h", line=3), FACTS, loader(files))
    assert findings == ()
    assert pieces == (
        Piece("one ", Origin("file", "/w/AGENTS.md", (3, 3))),
        Piece("opus", Origin("variable", "model")),
        Piece("\ntwo\n", Origin("file", "/w/AGENTS.md", (3, 4))),
        Piece("four\n", Origin("file", "/w/AGENTS.md", (6, 6))),
        Piece("B1\n\n", Origin("file", "/w/b.md", (1, 2))),
        Piece("B4", Origin("file", "/w/b.md", (4, 4))),
        Piece("\nseven\n", Origin("file", "/w/AGENTS.md", (8, 9))),
    )


def test_text_between_unmatched_directives_stays_one_piece():
    text = "a <!-- else --> b\n<!-- if: model == 'x' -->\nc\n"
    pieces, _ = render(Document("/w/AGENTS.md", text), FACTS, loader({}))
    assert pieces == (Piece(text, Origin("file", "/w/AGENTS.md", (1, 3))),)


def test_the_final_newline_of_an_included_file_is_not_among_its_lines():
    pieces, _ = render(Document("/w/a.md", "<!-- include: b.md -->"), FACTS, loader({"/w/b.md": "B\n\n"}))
    assert pieces == (Piece("B\n", Origin("file", "/w/b.md", (1, 1))),)


def test_a_finding_shows_its_location():
    _, findings = render(Document("/w/AGENTS.md", "\n- <!-- if: modle == 'x' -->", line=5), FACTS, loader({}))
    assert findings == (
        Finding(
            "directive-unmatched",
            "warning",
            "<!-- if: modle == 'x' --> has no endif and is left as text\n"
            "    - <!-- if: modle == 'x' -->\n"
            "      ^^^^^^^^^^^^^^^^^^^^^^^^^",
            "/w/AGENTS.md",
            6,
            3,
            28,
        ),
        Finding(
            "directive-malformed",
            "warning",
            "modle is not valid here; expected one of provider, model, platform, cwd; "
            "the if is left as text, with its else and endif\n"
            "    - <!-- if: modle == 'x' -->\n"
            "               ^^^^^",
            "/w/AGENTS.md",
            6,
            12,
            17,
        ),
    )


def test_the_chain_of_includes_is_shown():
    files = {"/w/b.md": "<!-- include: c.md -->", "/w/c.md": "<!-- include: b.md -->"}
    _, (found,) = render_text("<!-- include: b.md -->", files)
    assert "/w/AGENTS.md -> /w/b.md -> /w/c.md -> /w/b.md" in found.message

    deep = {f"/w/{n}.md": f"<!-- include: {n + 1}.md -->" for n in range(1, MAX_DEPTH + 2)}
    _, (found,) = render_text("<!-- include: 1.md -->", deep)
    assert "/w/AGENTS.md -> /w/1.md -> /w/2.md -> /w/3.md -> /w/4.md -> /w/5.md -> 6.md" in found.message


def test_files_that_include_each_other_many_times_are_read_once():
    loaded = []
    files = {f"/w/{n}.md": f"{n}" + f"<!-- include: {n + 1}.md -->" * 50 for n in range(1, MAX_DEPTH + 1)}

    def load(path, target):
        loaded.append(target)
        return loader(files)(path, target)

    pieces, _ = render(Document("/w/AGENTS.md", "<!-- include: 1.md -->" * 50), FACTS, load)
    assert "".join(piece.text for piece in pieces) == "12345"
    assert len(loaded) == 50 * MAX_DEPTH


def test_only_includes_in_branches_that_are_taken_are_loaded():
    loaded = []

    def load(path, target):
        loaded.append((path, target))
        return Document("/w/b.md", "B")

    text = "<!-- if: model == 'x' --><!-- include: a.md --><!-- else --><!-- include: b.md --><!-- endif -->"
    render(Document("/w/AGENTS.md", text), FACTS, load)
    assert loaded == [("/w/AGENTS.md", "b.md")]


@pytest.mark.parametrize(
    "unit",
    [
        "<!--", "<!-- if", "<!-- if: x -->", "<!-- if: cwd == '' -->\n", "<!-- else -->", "<!-- a: b -->", "<!-- include: b.md -->",
        "{{", "{{ ", "{{ cwd }}", "`", "` ", "``` ", "```\n", "> ```\n> ```\n", "``\n`\n```a`\n", "| ` \n", "\n", " ", "- ", "> ", "-",
    ],
)  # fmt: skip
def test_hostile_text_is_parsed_in_linear_time(unit):
    text = "{{ cwd }}" + unit * (100_000 // len(unit))
    _, findings = render_text(text, {"/w/b.md": "B"})
    assert len(findings) <= MAX_LISTED + 1


@pytest.mark.parametrize(
    "condition", ["(" * 100_000, "(" * 50_000 + "cwd == '/w'" + ")" * 50_000, "not " * 50_000 + "cwd == '/w'"]
)
def test_conditions_nest_to_any_depth(condition):
    text, _ = render_text(f"<!-- if: {condition} -->x<!-- endif -->")
    assert text in ("x", f"<!-- if: {condition} -->x<!-- endif -->")
