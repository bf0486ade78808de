"""Front matter never raises, whatever a file contains, and the strict and lenient readers agree on valid input."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from foreword.layout.lookup_keys import FLAWS
from foreword.sources.definitions import read_definition, read_undescribed_skill
from foreword.sources.flaws import find_flaw
from foreword.sources.front_matter import body, load_yaml, parse_plain_fields, read_resident, read_skill, split
from foreword.sources.repairs import repair_front_matter
from foreword.sources.ryaml_adapter import yaml_parser

PATH = "/w/testing/SKILL.md"

PARTS = [
    *["---", "----", "name", "description", "testing", "true", "null", "123", "disable-model-invocation", "globs"],
    *["model_invokation", "metadata", "license", "allowed-tools", "compatibility", "<<", "..."],
    *[
        ":",
        ": ",
        "- ",
        "? ",
        "\n",
        "\n\n",
        "\n  ",
        "\n\t",
        " ",
        "\t",
        "#",
        " #",
        "'",
        '"',
        "\\",
        "\\u",
        "[",
        "]",
        "{",
        "}",
    ],
    *[",", "&a", " *a", "!", "!!str ", "|", ">-", "%YAML 1.1\n", "@", "`", "~", "\r", "\x85", "\u2028", "\x0c", "\x00"],
    *["\ufeff", "\ud800", "\uffff", "é", "👩‍👩‍👧"],
]
everything = st.text(st.characters(exclude_categories=()))
fragments = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)
heads = st.one_of(everything, fragments)
plain = st.text(st.sampled_from("ab -:#'\"[]{}&*!|>%@`,0.\\é\u2028"), max_size=20)
fields = st.lists(
    st.tuples(
        st.sampled_from(["name", "description", "license", "metadata", "globs", "x"]), st.one_of(plain, fragments)
    ).map(": ".join),
    max_size=6,
).map("\n".join)
files = st.one_of(
    everything,
    fragments,
    st.builds("---\n{}\n---\n{}".format, st.one_of(heads, fields), heads),
    st.builds("---\nname: testing\ndescription: {}\n{}\n---\n".format, plain, fields),
)


@given(files, st.one_of(st.just(PATH), everything))
@example("---\nname: testing\ndescription: Runs: x\n---\n", "\ud800/\udcff/SKILL.md")
def test_front_matter_never_raises(text: str, path: str) -> None:
    for validation in ("strict", "lenient"):
        skill, findings = read_skill(text, path, validation)  # type: ignore[arg-type]
        assert skill is not None or findings
        if skill is not None:
            assert skill.name.strip() and skill.description.strip()
            assert f"{skill.name}{skill.description}".encode()
    read_resident(text, path)


@given(files)
@example("---\nname: testing\ndescription: 010\n---\n")
def test_lenient_and_strict_read_valid_front_matter_alike(text: str) -> None:
    strict, strict_findings = read_skill(text, PATH, "strict")
    if strict is not None:
        assert (strict, strict_findings) == read_skill(text, PATH, "lenient")
        assert strict.name == "testing"


@given(files)
def test_lenient_skips_or_reports_what_strict_skips(text: str) -> None:
    strict, _ = read_skill(text, PATH, "strict")
    _, findings = read_skill(text, PATH, "lenient")
    assert strict is not None or findings


@given(files)
def test_head_and_body_are_slices_of_the_file(text: str) -> None:
    head, rest, line = split(text)
    lines = text.split("\n")
    assert text.endswith(rest)
    if head is not None:
        assert lines[0].rstrip(" \t") == lines[line - 2].rstrip(" \t") == "---"
        assert "\n".join(lines[1 : line - 2]) == head[:-1]
    inner, first = body(text)
    assert "\n".join(lines[first - 1 :]).startswith(inner)
    assert not inner or (inner.split("\n")[0].strip() and inner.split("\n")[-1].strip())


lines = st.tuples(
    st.text(st.sampled_from("aZ-_1 :#'?<"), max_size=6),
    st.text(st.sampled_from("abZ -:#'\"[]{}&*!|>%@`,0.\\?=<"), max_size=12),
).map(": ".join)


@given(
    st.lists(st.one_of(lines, st.sampled_from(["name: on", "a: nan", "y: No", "a: e1", "b: o7", ""])), max_size=4).map(
        "\n".join
    )
)
def test_plain_fields_are_what_the_parser_reads(head: str) -> None:
    fields = parse_plain_fields(head)
    assert not fields or yaml_parser()(head) == fields


@pytest.mark.parametrize("repair", ["symbols", "colons", "values", "fields", "rows"])
@given(head=st.one_of(heads, fields))
@example(head="- a: b:\n- c")
def test_a_repair_never_raises_and_leaves_valid_yaml(repair, head) -> None:
    decoded = head.encode("utf-8", "replace").decode()  # the text of a file has no surrogates
    _, error = load_yaml(repair_front_matter(decoded, repair).replace("\r\n", "\n"))
    assert not error


@given(files, st.sampled_from(["", "line", "text", "empty"]))
@example("---\n2026-01-01: a\n? [b]\n: c\n---\nText", "line")
def test_describing_a_file_never_raises(text, described) -> None:
    read_undescribed_skill(text, PATH, described, [])
    for kind in ("agent", "command"):
        read_definition(text, PATH, kind, described)
    find_flaw(text, "testing", FLAWS)
