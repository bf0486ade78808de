"""Differences between prompts: sections added, removed, moved and changed, and the causes."""

import pytest

from foreword.encoding.prompt import account_form, prompt_from
from foreword.errors import CallError
from foreword.inspection.changes import BETWEEN_SECTIONS, WHOLE_PROMPT, Names
from foreword.inspection.diff import Cause, compare, describe_cause
from foreword.inspection.subject import Subject
from foreword.vocabulary import Candidate, Origin, Passage, Piece, Prompt


def make_prompt(*sections, layout="x", join="\n\n", candidates=()):
    """A prompt with these sections: name, and pieces as (text, kind, path, first line)."""
    passages, text = [], ""
    for name, *pieces in sections:
        text += join if passages else ""
        pieces = [
            Piece(words, Origin(kind, path, (line, line + words.count("\n")) if line else None))
            for words, kind, path, line in pieces
        ]
        passages.append(Passage(name, len(text), "".join(piece.text for piece in pieces), "project", pieces))
        text += passages[-1].text
    return Prompt(layout, text, passages, candidates)


def file_piece(text, path="/w/AGENTS.md", line=1):
    return (text, "file", path, line)


def builtin_piece(text, name="s"):
    return (text, "builtin", f"$std/x/{name}", None)


def diff(old, new, **options):
    return compare(Subject("old", old, **options), Subject("new", new, **options))


def summary(difference):
    return [(section.section, *section.kinds) for section in difference.sections]


A, B, C = ("a", builtin_piece("A")), ("b", file_piece("B")), ("c", builtin_piece("C"))
X, Y = ("b", file_piece("X")), ("b", file_piece("Y"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([A, B, C], [A, B, C], []),
        ([], [], []),
        ([A, C], [A, B, C], [("b", "added")]),
        ([A, B, C], [A, C], [("b", "removed")]),
        ([A, B, C], [C, A, B], [("c", "moved")]),
        ([A, B, C], [A, ("b", file_piece("X")), C], [("b", "changed")]),
        ([A, B, C], [("b", file_piece("X")), A, C], [("b", "moved", "changed")]),
        ([A, B], [C], [("a", "removed"), ("b", "removed"), ("c", "added")]),
        # a repeated name is distinguished by its position
        ([A, B, B, B], [A, B, ("b", file_piece("X")), B], [("b", "changed")]),
        ([A, B, B], [A, B], [("b", "removed")]),
        # but first by its content
        ([A, X, B, Y], [A, B, Y], [("b", "removed")]),
        ([A, X, Y], [A, Y, B], [("b", "added"), ("b", "removed")]),
        ([A, X, B, Y], [A, X, C, Y], [("b", "removed"), ("c", "added")]),
        ([X, A, Y], [Y, A, X], [("a", "moved"), ("b", "moved")]),
    ],
)
def test_changed_sections_are_listed_by_kind(old, new, expected):
    # A prompt without sections is plain text: two empty ones are equal.
    assert sorted(summary(diff(make_prompt(*old), make_prompt(*new)))) == sorted(expected)


def test_changed_text_between_sections_is_reported():
    difference = diff(make_prompt(A, C), make_prompt(A, C, join="\n"))
    assert summary(difference) == [(BETWEEN_SECTIONS, "changed")]
    (section,) = difference.sections
    assert (section.edits[0].old, section.edits[0].new, section.causes) == ((1, 3), (1, 2), (Cause("layout"),))


def test_a_changed_separator_next_to_a_changed_section_is_reported():
    difference = diff(make_prompt(A, B, C), make_prompt(A, B, ("c", builtin_piece("D")), join="\n"))
    assert summary(difference) == [("c", "changed"), (BETWEEN_SECTIONS, "changed")]


def test_equal_texts_never_differ_no_matter_how_they_are_split():
    assert not diff(
        make_prompt(("a", builtin_piece("A\n\nB"))), make_prompt(("a", builtin_piece("A")), ("b", builtin_piece("B")))
    ).is_changed
    assert not diff(make_prompt(("a", builtin_piece("A"))), make_prompt(("b", builtin_piece("A")))).is_changed


def test_plain_text_is_compared_as_one_section_with_causes_from_the_other_side():
    difference = diff(Prompt("", "A\n\nX", ()), make_prompt(A, ("b", file_piece("B", line=7))))
    assert summary(difference) == [(WHOLE_PROMPT, "changed")]
    assert difference.sections[0].causes == (Cause("file", "/w/AGENTS.md", (7, 7)),)


def test_word_changes_have_the_lines_of_their_file():
    text = "one\ntwo\nthree\nfour\n"
    difference = diff(
        make_prompt(("s", builtin_piece("<x>"), file_piece(text, line=10))),
        make_prompt(("s", builtin_piece("<x>"), file_piece(text.replace("three", "3"), line=10))),
    )
    (edit,) = difference.sections[0].edits
    assert (edit.old, edit.new) == ((11, 16), (11, 12))
    assert edit.causes == (Cause("file", "/w/AGENTS.md", (12, 12)),)


def test_a_wrapper_that_is_removed_with_its_file_is_not_a_cause():
    before = make_prompt(
        (
            "s",
            builtin_piece("<f>"),
            file_piece("text"),
            builtin_piece("</f>"),
            builtin_piece("<f>"),
            file_piece("more", "/w/x.md"),
            builtin_piece("</f>"),
        )
    )
    after = make_prompt(("s", builtin_piece("<f>"), file_piece("text"), builtin_piece("</f>")))
    assert [describe_cause(cause) for cause in diff(before, after).sections[0].causes] == ["/w/x.md:1"]


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        (("9:00", "environment", "now.long", None), "clock now.long"),
        (("9:00", "variable", "system:time", None), "clock system:time"),
        (("9:00", "variable", "date", None), "clock date"),
        (("/w", "environment", "cwd", None), "environment cwd"),
        (("v", "variable", "git:branch", None), "variable git:branch"),
        (("t", "tool", "shell", None), "tool shell"),
        (("/w", "scope", "/w", None), "scope /w"),
        (("b", "caller", "base", None), "caller base"),
        (("b", "builtin", "$std/x/s", 3), "base text $std/x/s:3"),
        (("r", "extension", "mine", None), "extension mine"),
        (("d", "skill", "/w/SKILL.md", 2), "/w/SKILL.md:2"),
    ],
)
def test_the_origin_of_changed_words_is_their_cause(piece, expected):
    difference = diff(
        make_prompt(("s", builtin_piece("x ", "")), A), make_prompt(("s", builtin_piece("x ", ""), piece), A)
    )
    assert [describe_cause(cause) for cause in difference.sections[0].causes] == [expected]


def test_a_cause_names_the_fate_of_its_file_in_the_other_prompt():
    shadowed = [Candidate("/w/AGENTS.md", "project", "shadowed", "")]
    difference = diff(make_prompt(A, B), make_prompt(A, candidates=shadowed))
    assert [describe_cause(cause) for cause in difference.sections[0].causes] == ["/w/AGENTS.md:1 (now shadowed)"]
    difference = diff(make_prompt(A, candidates=shadowed), make_prompt(A, B))
    assert [describe_cause(cause) for cause in difference.sections[0].causes] == ["/w/AGENTS.md:1 (was shadowed)"]


def test_the_layouts_text_changes_because_of_the_layout_or_the_agent():
    tools = [{"name": "read"}], [{"name": "read"}, {"name": "shell"}]
    old, new = Subject("o", make_prompt(A, layout="x"), tools[0]), Subject("n", make_prompt(A, C, layout="y"), tools[1])
    difference = compare(old, new)
    assert difference.circumstances == (("layout", "x", "y"),)
    assert [describe_cause(cause) for cause in difference.sections[0].causes] == [
        "layout (x → y)",
        "tool shell (added)",
        "base text $std/x/s",
    ]


def test_a_different_layout_name_or_folder_is_not_a_change():
    old = Subject("o", make_prompt(A), None, (), {"model": "a", "cwd": "/w", "only here": "x"})
    new = Subject("n", make_prompt(A), None, (), {"model": "", "cwd": "/w"})
    difference = compare(old, new)
    assert (difference.is_changed, difference.circumstances) == (False, (("model", "a", ""),))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a b", "a b", Names()),
        ("a b", "b a", Names(moved=["b"])),
        ("a", "a b", Names(added=["b"])),
        ("a b", "b", Names(removed=["a"])),
        ("a b c", "c b!", Names(removed=["a"], changed=["b"], moved=["c"])),
        ("a a", "a", Names(removed=["a"])),
        ("a a", "a a!", Names(changed=["a"])),
    ],
)
def test_changed_tools_are_listed_by_kind(old, new, expected):
    def rows(names):
        return [{"name": name.rstrip("!"), "description": name} for name in names.split()]

    assert compare(Subject("o", make_prompt(A), rows(old)), Subject("n", make_prompt(A), rows(new))).tools == expected


@pytest.mark.parametrize(
    ("old", "new", "is_changed"),
    [
        ({}, {"description": "", "schema": {}}, False),  # never sent
        ({"schema": {"a": 1, "b": 2}}, {"schema": {"b": 2, "a": 1}}, True),  # different bytes
        ({"schema": {"a": 1}}, {"schema": {"a": True}}, True),
        ({"description": "d", "schema": {"a": 1}}, {"schema": {"a": 1}, "description": "d"}, False),
    ],
)
def test_a_tool_is_changed_if_different_bytes_are_sent(old, new, is_changed):
    tools = [[{"name": "a", **fields}] for fields in (old, new)]
    assert compare(*(Subject("s", make_prompt(A), tool) for tool in tools)).is_changed is is_changed


def test_unknown_tools_are_not_compared():
    assert not compare(Subject("o", make_prompt(A)), Subject("n", make_prompt(A), [{"name": "a"}])).is_changed


# Saved forms


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi", "pod", "builder"])
def test_a_saved_prompt_is_read_back_unchanged(tree, layout):
    tree({"w/AGENTS.md": "# A\n\nText 𝕏.\n", "w/.agents/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nB\n"})
    prompt = tree.prompt(layout, tools="read shell")
    restored = prompt_from({"text": prompt.text, "layout": f"$std/{layout}", **account_form(prompt)}, "x")
    assert (restored.layout, restored.text) == (layout, prompt.text)
    assert [(passage.section, passage.start, passage.text, passage.lifetime) for passage in restored.passages] == [
        (passage.section, passage.start, passage.text, passage.lifetime) for passage in prompt.passages
    ]
    assert account_form(restored)["passages"] == account_form(prompt)["passages"]
    assert not compare(Subject("o", prompt), Subject("n", restored)).is_changed


def make_passage(**changes):
    return {"section": "s", "start": 0, "end": 3, "lifetime": "turn", "origins": [], **changes}


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({}, "x has no text"),
        ({"text": 5}, "x has no text"),
        ({"text": "abc", "passages": 5}, "x: passages must be a list"),
        ({"text": "abc", "passages": [5]}, "x: passage 1 must be an object"),
        (
            {"text": "abc", "passages": [make_passage(end=4)]},
            "x: passage 1 must have a start and an end between 0 and 3",
        ),
        ({"text": "abc", "passages": [make_passage(start=True)]}, "x: passage 1 must have a start and an end"),
        ({"text": "abc", "passages": [make_passage(start=3, end=1)]}, "x: passage 1 must have a start and an end"),
        (
            {"text": "abc", "passages": [make_passage(lifetime="week")]},
            "x: passage 1 must have a section and a lifetime",
        ),
        ({"text": "abc", "passages": [make_passage(lifetime=[])]}, "x: passage 1 must have a section and a lifetime"),
        ({"text": "abc", "passages": [make_passage(section=None)]}, "x: passage 1 must have a section and a lifetime"),
        ({"text": "abc", "passages": [make_passage(), make_passage()]}, "x: the passages 's' and 's' overlap"),
        (
            {"text": "abc", "passages": [make_passage(origins=[{}])]},
            "x: passage 1: origin 1 must have a start and an end",
        ),
        (
            {"text": "abc", "passages": [make_passage(origins=[{"start": 0, "end": 1, "kind": 1}])]},
            "x: passage 1: origin 1 must have a kind",
        ),
        (
            {"text": "abc", "passages": [make_passage(origins=[{"start": 0, "end": 1, "kind": "file", "lines": [1]}])]},
            "x: passage 1: origin 1: lines must be two numbers or null",
        ),
        ({"text": "abc", "candidates": [{"path": 1}]}, "x: candidate 1 must have path, layer, fate and reason"),
    ],
)
def test_an_invalid_saved_form_is_an_error(form, message):
    with pytest.raises(CallError) as error:
        prompt_from(form, "x")
    assert str(error.value).startswith(message)
