"""Properties of all text with directives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foreword.findings import finding
from foreword.template import conditions
from foreword.template.directives import includes, render
from foreword.vocabulary import Document, Origin, Piece

FACTS = {"cwd": "/w", "model": "opus", "provider": "anthropic", "platform": "linux", "date": "2026-04-15"}

YES, NO, ELSE, ENDIF = "<!-- if: cwd == '/w' -->", "<!-- if: cwd != '/w' -->", "<!-- else -->", "<!-- endif -->"
WORDS = [YES, NO, ELSE, ENDIF, "<!-- if: x -->", "<!-- include: b -->", "<!-- include: c -->", "<!-- a -->"]
WORDS += ["<!-- IF: -->", "{{ cwd }}", "{{ model }}", "{{ x }}", "{{", "}}", "`", "``", "```", "```\n", "~~~\n"]
WORDS += ["> ", "- ", "# ", "|", "\\", "\n", "\n\n", " ", "<!--", "-->", "a", "é", "\r", "\t", "b c"]
tag_soup = st.lists(st.sampled_from(WORDS) | st.text(max_size=3)).map("".join)
files = st.dictionaries(st.sampled_from("bc"), tag_soup)

plain = st.text(st.characters(exclude_characters="`<{}\\\n|#>~", codec="utf-8"), max_size=6)
leaves = plain | st.sampled_from(["cwd", "model"]).map(lambda name: ("value", name))
trees = st.recursive(
    st.lists(leaves, max_size=4),
    lambda inner: st.lists(leaves | st.tuples(st.booleans(), inner, inner | st.none()), max_size=4),
    max_leaves=30,
)


def loader(texts):
    def load(path, target):
        return Document(target, texts[target]) if target in texts else finding("file-unreadable", "no", target)

    return load


def run(text, texts=(), facts=FACTS):
    return render(Document("a", text), facts, loader(dict(texts)))


def text_of(pieces):
    return "".join(piece.text for piece in pieces)


def source_of(tree):
    """Return the source text of a tree."""
    return "".join(map(_source_of, tree))


def _source_of(node):
    match node:
        case str():
            return node
        case ("value", name):
            return "{{ " + name + " }}"
        case (holds, inner, other):
            return (
                (YES if holds else NO) + source_of(inner) + ("" if other is None else ELSE + source_of(other)) + ENDIF
            )


def expected_output(tree):
    """Return the expected output of a tree."""
    return "".join(map(_expected_output, tree))


def _expected_output(node):
    match node:
        case str():
            return node
        case ("value", name):
            return FACTS[name]
        case (holds, inner, other):
            return expected_output(inner if holds else other or [])


@given(st.text())
def test_text_without_directives_is_unchanged(text):
    text = text.replace("<!--", "<--").replace("{{", "{")
    pieces, findings = run(text)
    assert text_of(pieces) == text and len(pieces) == bool(text) and findings == ()
    assert includes(text) == ()


@given(tag_soup, files)
def test_text_of_a_file_is_on_the_lines_its_origin_names(text, texts):
    texts = {"a": text, **texts}
    pieces, _ = run(text, texts)
    for piece in pieces:
        assert piece.text
        if piece.origin.kind == "file":
            lines = texts[piece.origin.path].split("\n")
            first, last = piece.origin.lines
            assert 1 <= first <= last <= len(lines)
            assert piece.text in "\n".join([*lines[first - 1 : last], ""])
            assert piece.text.rstrip("\n").count("\n") <= last - first
        elif piece.origin.kind == "variable":
            assert piece == Piece(FACTS[piece.origin.path], Origin("variable", piece.origin.path))
        else:
            assert piece.origin == Origin("mark")


@given(tag_soup, files)
def test_the_pieces_of_a_file_are_in_order_and_never_repeated(text, texts):
    pieces, _ = run(text, texts)
    position = 0
    for piece in pieces:
        if piece.origin.path == "a":
            position = text.index(piece.text, position) + len(piece.text)


@given(tag_soup, files)
def test_findings_point_into_their_file(text, texts):
    texts = {"a": text, **texts}
    _, findings = run(text, texts)
    for reported in findings:
        assert reported.line is None or 1 <= reported.line <= texts[reported.path].count("\n") + 1


@given(tag_soup, files)
def test_only_listed_includes_are_loaded(text, texts):
    loads = []

    def load(path, target):
        loads.append((path, target))
        return loader(texts)(path, target)

    render(Document("a", text), FACTS, load)
    assert {target for path, target in loads if path == "a"} <= set(includes(text))


@given(trees)
def test_a_line_renders_like_its_tree(tree):
    pieces, findings = run("." + source_of(tree))
    assert findings == ()
    assert text_of(pieces) == "." + expected_output(tree)


@given(tag_soup, st.sampled_from([("", "```"), ("", "~~~~"), ("  ", "```"), ("- ", "```"), ("> 1. ", "~~~")]))
def test_nothing_inside_a_fence_is_a_directive(text, fence):
    marker, ticks = fence
    inside = marker.replace("-", " ").replace("1.", "  ")
    lines = text.replace("`", "'").replace("~", "-").replace("\r", "\n").split("\n")
    text_with_fence = "\n".join([marker + ticks, *(inside + line for line in lines), f"{inside}{ticks}\n"])
    pieces, findings = run(text_with_fence)
    assert text_of(pieces) == text_with_fence and len(pieces) == 1 and findings == ()


@given(tag_soup)
def test_nothing_inside_a_code_span_is_a_directive(text):
    text = text.replace("`", "'").replace("\n", " ").replace("\r", " ")
    text_with_span = f"a ``{text}`` {{{{ cwd }}}}"
    assert text_of(run(text_with_span)[0]) == f"a ``{text}`` /w"


@given(tag_soup, st.sampled_from(["cwd", "model", "date"]), st.text().filter(str.strip))
def test_a_value_is_inserted_literally(surrounding_text, name, value):
    surrounding_text = (
        surrounding_text.replace("<", "(").replace("{", "(").replace("}", ")").replace("`", "'").replace("~", "-")
    )
    pieces, _ = run(f"{surrounding_text}{{{{ {name} }}}}{surrounding_text}", facts=FACTS | {name: value})
    assert text_of(pieces) == surrounding_text + value + surrounding_text


@given(st.lists(st.tuples(st.sampled_from([YES, NO, ""]), st.text("ab", min_size=1)), min_size=1))
def test_skipped_paragraphs_leave_no_empty_lines(paragraphs):
    text = "\n\n".join(f"{opening}\n{words}\n{ENDIF}" if opening else words for opening, words in paragraphs)
    expected = [words for opening, words in paragraphs if opening != NO]
    assert text_of(run(text)[0]).strip("\n") == "\n\n".join(expected)


comparisons = st.builds(
    lambda fact, operator, string: (f'{fact} {operator} "{string}"', f"facts[{fact!r}] {operator} {string!r}"),
    st.sampled_from(conditions.FACTS),
    st.sampled_from(["==", "!="]),
    st.sampled_from(["/w", "opus", "", "x"]),
)
expressions = st.recursive(
    comparisons,
    lambda inner: (
        inner.map(lambda one: (f"not {one[0]}", f"not {one[1]}"))
        | inner.map(lambda one: (f"({one[0]})", f"({one[1]})"))
        | st.builds(
            lambda a, word, b: (f"{a[0]} {word} {b[0]}", f"{a[1]} {word} {b[1]}"),
            inner,
            st.sampled_from(["and", "or"]),
            inner,
        )
    ),
)


@given(expressions)
def test_a_condition_has_the_value_of_the_same_python_expression(expression):
    text, python_expression = expression
    condition = conditions.parse(text)
    assert isinstance(condition, conditions.DirectiveCondition)
    assert conditions.is_true(condition, FACTS) == eval(python_expression, {"facts": FACTS})


@given(
    st.lists(st.sampled_from(["not", "and", "or", "(", ")", "==", "!=", "cwd", "model", "'x'", '"', "=", " "])).map(
        " ".join
    )
)
def test_every_condition_is_parsed_or_has_a_problem_with_a_position(text):
    condition = conditions.parse(text)
    if isinstance(condition, conditions.ConditionProblem):
        assert 0 <= condition.start <= condition.end <= len(text)
    else:
        conditions.is_true(condition, FACTS)
