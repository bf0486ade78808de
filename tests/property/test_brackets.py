"""Properties of all templates in the bracket language."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foreword.template.brackets import parse, render
from foreword.vocabulary import Origin, Piece

TYPES = ("file", "git")
OURS = Origin("template", "t")

WORDS = ["[", "]", "\\", "\n", " ", "(", "!", ":", "if", "else", "endif", "file", "a", "é", "\r", "\0", "\t"]
WORDS += ["[if file:a]", "[if !file:a]", "[else]", "[endif]", "[file:a]", "[ git:b ]", "[nix:c]", "[if nix:c]"]
WORDS += ["\\[", "[IF file:a]", "[file:"]
tag_soup = st.lists(st.sampled_from(WORDS) | st.text(max_size=3)).map("".join)
names = st.text("abc ./-é", min_size=1, max_size=5).map(str.strip).filter(bool)

# Trees that are easy to write as a template and to evaluate.
leaves = st.text(st.characters(exclude_characters="[\\", codec="utf-8"), max_size=8) | st.tuples(st.just("file"), names)
trees = st.recursive(
    st.lists(leaves, max_size=4),
    lambda inner: st.lists(leaves | st.tuples(st.booleans(), names, inner, inner | st.none()), max_size=4),
    max_leaves=30,
)


def source_of(tree):
    """Return the template text of a tree."""
    return "".join(map(_source_of, tree))


def _source_of(node):
    match node:
        case str():
            return node
        case ("file", name):
            return f"[file:{name}]"
        case (negated, name, inner, other):
            otherwise = "" if other is None else "[else]" + source_of(other)
            return f"[if {'!' * negated}file:{name}]{source_of(inner)}{otherwise}[endif]"


def expected_output(tree, values):
    """Return the expected output of a tree."""
    return "".join(_expected_output(node, values) for node in tree)


def _expected_output(node, values):
    match node:
        case str():
            return node
        case ("file", name):
            return values.get(name, "")
        case (negated, name, inner, other):
            return expected_output(inner if bool(values.get(name)) != negated else other or [], values)


def pieces_of(text, values=()):
    known = dict(values)

    def lookup(type, name):
        return (Piece(known[name], Origin("variable", name)),) if name in known else None

    return render(parse(text, TYPES), lookup, OURS)


def text_of(pieces):
    return "".join(piece.text for piece in pieces)


@given(st.text(min_size=1))
def test_a_template_without_brackets_is_unchanged(text):
    text = text.replace("[", "(")
    lines = (1, 1 + text.count("\n") - text.endswith("\n"))
    assert pieces_of(text) == (Piece(text, Origin("template", "t", lines)),)


@given(st.text())
def test_escaped_text_renders_as_the_original(text):
    assert text_of(pieces_of(text.replace("[", "\\["))) == text


@given(tag_soup, tag_soup | st.text())
def test_a_value_is_inserted_literally(surrounding_text, value):
    surrounding_text = surrounding_text.replace("[", "(").replace("\\", "/")
    line = surrounding_text.count("\n") + 1
    value_piece = Piece(value, Origin("variable", "v", tag=("t", line, line)))
    pieces = pieces_of(f"{surrounding_text}[file:v]{surrounding_text}", {"v": value})
    assert text_of(pieces) == surrounding_text + value + surrounding_text
    assert value_piece in pieces


@given(tag_soup)
def test_parsing_never_raises_and_findings_point_into_the_text(text):
    lines = text.split("\n")
    for finding in parse(text, TYPES).findings:
        assert finding.line is None or 1 <= finding.line <= len(lines)


@given(tag_soup, st.dictionaries(st.sampled_from("ab"), st.text(max_size=3)))
def test_text_is_on_the_lines_its_origin_names(text, values):
    lines = text.split("\n")
    line = 1
    for piece in pieces_of(text, values):
        if piece.origin.kind == "template":
            first, last = piece.origin.lines
            assert line <= first <= last <= len(lines)
            assert piece.text in "\n".join([*lines[first - 1 : last], ""]).replace("\\[", "[")
            line = last


@given(trees, st.dictionaries(names, st.text(max_size=5)))
def test_a_template_renders_like_its_tree(tree, values):
    template = parse(source_of(tree), TYPES)
    assert template.findings == ()
    assert text_of(pieces_of(source_of(tree), values)) == expected_output(tree, values)


@given(tag_soup, st.dictionaries(st.sampled_from("ab"), st.text(max_size=3)))
def test_only_listed_variables_are_looked_up(text, values):
    calls = []

    def lookup(type, name):
        calls.append((type, name))
        return None

    template = parse(text, TYPES)
    render(template, lookup, OURS)
    known = [(variable.type, variable.name) for variable in template.variables]
    assert len(set(calls)) == len(calls) and set(calls) <= set(known)
    assert len(set(known)) == len(known)


@given(st.integers(0, 5_000), st.booleans())
def test_deep_nesting_works(depth, exists):
    text = "[if file:a]" * depth + "x" + "[else]y[endif]" * depth
    assert text_of(pieces_of(text, {"a": "A"} if exists else {})) == ("x" if exists or not depth else "y")
