"""How two prompts differ: sections that came, went, moved and changed, and what caused it."""

import pytest

from foreword.errors import CallError
from foreword.inspection.diff import BETWEEN, WHOLE, Cause, compare, told
from foreword.inspection.subject import Subject
from foreword.vocabulary import Candidate, Origin, Passage, Piece, Prompt
from foreword.wire import account_form, prompt_from


def made(*sections, layout="x", join="\n\n", candidates=()):
    """A prompt of sections: name, and pieces as (text, kind, path, first line)."""
    passages, text = [], ""
    for name, *pieces in sections:
        text += join if passages else ""
        whole = [
            Piece(words, Origin(kind, path, (line, line + words.count("\n")) if line else None))
            for words, kind, path, line in pieces
        ]
        passages.append(Passage(name, len(text), "".join(piece.text for piece in whole), "project", whole))
        text += passages[-1].text
    return Prompt(layout, text, passages, candidates)


def file(text, path="/w/AGENTS.md", line=1):
    return (text, "file", path, line)


def own(text, name="s"):
    return (text, "builtin", f"$std/x/{name}", None)


def compared(old, new, **options):
    return compare(Subject("old", old, **options), Subject("new", new, **options))


def summary(found):
    return [(each.section, *each.changes) for each in found.sections]


A, B, C = ("a", own("A")), ("b", file("B")), ("c", own("C"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ([A, B, C], [A, B, C], []),
        ([], [], []),
        ([A, C], [A, B, C], [("b", "came")]),
        ([A, B, C], [A, C], [("b", "went")]),
        ([A, B, C], [C, A, B], [("c", "moved")]),
        ([A, B, C], [A, ("b", file("X")), C], [("b", "changed")]),
        ([A, B, C], [("b", file("X")), A, C], [("b", "moved", "changed")]),
        ([A, B], [C], [("a", "went"), ("b", "went"), ("c", "came")]),
        # a name that stands twice is told apart by which time it is
        ([A, B, B, B], [A, B, ("b", file("X")), B], [("b", "changed")]),
        ([A, B, B], [A, B], [("b", "went")]),
    ],
)
def test_sections(old, new, expected):
    # A prompt without any section is a plain text: two empty ones are the same.
    assert sorted(summary(compared(made(*old), made(*new)))) == sorted(expected)


def test_what_stands_between_sections():
    found = compared(made(A, C), made(A, C, join="\n"))
    assert summary(found) == [(BETWEEN, "changed")]


def test_a_plain_text_is_compared_as_a_whole_and_the_other_side_tells_causes():
    found = compared(Prompt("", "A\n\nX", ()), made(A, ("b", file("B", line=7))))
    assert summary(found) == [(WHOLE, "changed")]
    assert found.sections[0].causes == (Cause("file", "/w/AGENTS.md", (7, 7)),)


def test_words_have_the_lines_of_their_file():
    text = "one\ntwo\nthree\nfour\n"
    found = compared(
        made(("s", own("<x>"), file(text, line=10))), made(("s", own("<x>"), file(text.replace("three", "3"), line=10)))
    )
    (edit,) = found.sections[0].edits
    assert (edit.old, edit.new) == ((11, 16), (11, 12))
    assert edit.causes == (Cause("file", "/w/AGENTS.md", (12, 12)),)


def test_a_wrapper_that_goes_with_its_file_is_no_cause():
    before = made(("s", own("<f>"), file("text"), own("</f>"), own("<f>"), file("more", "/w/x.md"), own("</f>")))
    after = made(("s", own("<f>"), file("text"), own("</f>")))
    assert [told(each) for each in compared(before, after).sections[0].causes] == ["/w/x.md:1"]


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
def test_causes(piece, expected):
    found = compared(made(("s", own("x ", "")), A), made(("s", own("x ", ""), piece), A))
    assert [told(each) for each in found.sections[0].causes] == [expected]


def test_what_became_of_a_file_in_the_other_prompt():
    shadowed = [Candidate("/w/AGENTS.md", "project", "shadowed", "")]
    found = compared(made(A, B), made(A, candidates=shadowed))
    assert [told(each) for each in found.sections[0].causes] == ["/w/AGENTS.md:1 (now shadowed)"]
    found = compared(made(A, candidates=shadowed), made(A, B))
    assert [told(each) for each in found.sections[0].causes] == ["/w/AGENTS.md:1 (was shadowed)"]


def test_the_layouts_own_words_change_because_of_the_layout_or_the_agent():
    tools = [{"name": "read"}], [{"name": "read"}, {"name": "shell"}]
    old, new = Subject("o", made(A, layout="x"), tools[0]), Subject("n", made(A, C, layout="y"), tools[1])
    found = compare(old, new)
    assert found.circumstances == (("layout", "x", "y"),)
    assert [told(each) for each in found.sections[0].causes] == [
        "layout (x → y)",
        "tool shell (came)",
        "base text $std/x/s",
    ]


def test_made_for():
    old = Subject("o", made(A), None, (), {"model": "a", "cwd": "/w", "only here": "x"})
    new = Subject("n", made(A), None, (), {"model": "", "cwd": "/w"})
    found = compare(old, new)
    assert (found.has_any, found.circumstances) == (False, (("model", "a", ""),))


@pytest.mark.parametrize(
    ("old", "new", "came", "went", "changed", "is_reordered"),
    [
        ("a b", "a b", [], [], [], False),
        ("a b", "b a", [], [], [], True),
        ("a", "a b", ["b"], [], [], False),
        ("a b", "b", [], ["a"], [], False),
        ("a b c", "c b!", [], ["a"], ["b"], True),
    ],
)
def test_tools(old, new, came, went, changed, is_reordered):
    def rows(names):
        return [{"name": name.rstrip("!"), "description": name} for name in names.split()]

    tools = compare(Subject("o", made(A), rows(old)), Subject("n", made(A), rows(new))).tools
    assert (tools.came, tools.went, tools.changed, tools.is_reordered) == (
        tuple(came),
        tuple(went),
        tuple(changed),
        is_reordered,
    )


def test_tools_that_are_not_known_are_not_held_against_the_other():
    assert not compare(Subject("o", made(A)), Subject("n", made(A), [{"name": "a"}])).has_any


# Saved forms


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi", "pod", "builder"])
def test_a_saved_prompt_is_the_prompt(tree, layout):
    tree({"w/AGENTS.md": "# A\n\nText 𝕏.\n", "w/.agents/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nB\n"})
    prompt = tree.prompt(layout, tools="read shell")
    again = prompt_from({"text": prompt.text, "layout": f"$std/{layout}", **account_form(prompt)}, "x")
    assert (again.layout, again.text) == (layout, prompt.text)
    assert [(each.section, each.start, each.text, each.lifetime) for each in again.passages] == [
        (each.section, each.start, each.text, each.lifetime) for each in prompt.passages
    ]
    assert account_form(again)["passages"] == account_form(prompt)["passages"]
    assert not compare(Subject("o", prompt), Subject("n", again)).has_any


def passage(**changes):
    return {"section": "s", "start": 0, "end": 3, "lifetime": "turn", "origins": [], **changes}


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ({}, "x: it takes a text"),
        ({"text": 5}, "x: it takes a text"),
        ({"text": "abc", "passages": 5}, "x: passages takes a list"),
        ({"text": "abc", "passages": [5]}, "x: passage 1 takes an object"),
        ({"text": "abc", "passages": [passage(end=4)]}, "x: passage 1 takes a start and an end between 0 and 3"),
        ({"text": "abc", "passages": [passage(start=True)]}, "x: passage 1 takes a start and an end"),
        ({"text": "abc", "passages": [passage(start=3, end=1)]}, "x: passage 1 takes a start and an end"),
        ({"text": "abc", "passages": [passage(lifetime="week")]}, "x: passage 1 takes a section and a lifetime"),
        ({"text": "abc", "passages": [passage(lifetime=[])]}, "x: passage 1 takes a section and a lifetime"),
        ({"text": "abc", "passages": [passage(section=None)]}, "x: passage 1 takes a section and a lifetime"),
        ({"text": "abc", "passages": [passage(), passage()]}, "x: the passages 's' and 's' overlap"),
        ({"text": "abc", "passages": [passage(origins=[{}])]}, "x: passage 1: origin 1 takes a start and an end"),
        (
            {"text": "abc", "passages": [passage(origins=[{"start": 0, "end": 1, "kind": 1}])]},
            "x: passage 1: origin 1 takes a kind",
        ),
        (
            {"text": "abc", "passages": [passage(origins=[{"start": 0, "end": 1, "kind": "file", "lines": [1]}])]},
            "x: passage 1: origin 1: lines takes two numbers or null",
        ),
        ({"text": "abc", "candidates": [{"path": 1}]}, "x: candidate 1 takes path, layer, fate and reason"),
    ],
)
def test_a_saved_form_that_cannot_be(form, complaint):
    with pytest.raises(CallError) as error:
        prompt_from(form, "x")
    assert str(error.value).startswith(complaint)
