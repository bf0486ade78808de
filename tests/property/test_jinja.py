"""Every template renders or is rejected, values are inserted unchanged, and every character has its origin."""

import minijinja
from hypothesis import assume, example, given
from hypothesis import strategies as st

from foreword.errors import CallError, TemplateError
from foreword.template import inclusion, tags
from foreword.template.addresses import resolve
from foreword.template.bounded import is_bounded
from foreword.template.jinja import check, render
from foreword.vocabulary import Document

everything = st.text(st.characters(exclude_categories=()))
valid_characters = st.text()
prose = valid_characters.filter(lambda text: not any(mark in text for mark in ("{{", "{%", "{#")))
FRAGMENTS = ["{{", "}}", "{%", "%}", "{#", "#}", "-", "+", "if", "elif", "else", "endif", "for", "in", "endfor", "set"]
FRAGMENTS += ["endset", "raw", "endraw", "include", "'a'", '"', "'", "\\", "(", ")", "[", "]", "{", "}", "|", "~", "."]
FRAGMENTS += [",", "=", " ", "\n", "a", "b", "upper", "is", "not", "1", "1e-", "0x1e", "\x0b", "\xa0", "é", "\ud800"]
fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)


def render_text(text, variables=(), **more):
    return render("$u/t", {"$u/t": Document("", text), **more}, dict(variables))


def text_of(pieces):
    return "".join(piece.text for piece in pieces)


@given(prose)
@example("a\n")
@example("a\r\n")
@example("\n\n")
@example("{ {} % # }\n")
def test_a_template_without_tags_is_unchanged(text):
    pieces = render_text(text)
    assert text_of(pieces) == text
    assert len(pieces) == bool(text)


@given(everything)
@example("{{ date }}{% if")
@example("\\1 $& %s \ue0000:")
@example("\ud800")
def test_any_value_is_inserted_literally(value):
    written = value.encode("utf-8", "backslashreplace").decode()
    pieces = render_text("<{{ a }}|{% if true %}{{ a }}{% endif %}>", {"a": value})
    assert text_of(pieces) == f"<{written}|{written}>"
    assert [piece.text for piece in pieces if piece.origin.kind == "variable"] == [written] * 2 * bool(written)


@given(st.one_of(everything, fragments))
def test_parsing_raises_only_template_errors(text):
    document = Document("$u/t", text)
    for call in (
        lambda: list(inclusion.find_includes(document, tags.scan(document))),
        lambda: check("$u/t", {"$u/t": Document("", text)}.get),
    ):
        message = ""
        try:
            call()
        except TemplateError as error:
            message = str(error)
        assert not message or (message.startswith("$u/t") and message.encode())


@given(st.one_of(valid_characters, fragments.filter(lambda text: "\ud800" not in text)))
def test_the_engine_rejects_what_the_scanner_rejects(text):
    try:
        tags.scan(Document("", text))
    except TemplateError:
        try:
            minijinja.Environment(debug=False).add_template("t", text)
        except minijinja.TemplateError:
            return
        raise


@given(st.one_of(everything, st.text("$/.\\ab")), st.sampled_from(["", "/w/x", "$u/t", "$u/a/b"]))
def test_an_address_stays_in_its_pack(name, current):
    try:
        address = resolve(name, current)
    except CallError:
        return
    assert address.startswith("$") and address == resolve(address)
    assert not {"", ".", ".."} & set(address.split("/"))
    assert name.startswith("$") or address.endswith("/" + name)


# Valid templates

spaces = st.sampled_from(["", " ", "\n", "\n\n", " \n\t", "\x0b", "\xa0", "\u2003"])
texts = st.lists(st.one_of(spaces, st.sampled_from(["x", "ab\ncd", "é", "{ ", "}", "\ue000"])), max_size=4).map("".join)
signs = st.sampled_from(["", "", "-", "+"])
EXPRESSIONS = ["a", "b | join(', ')", "a ~ b[0]", "'x'", "a | upper", "'{{' if b else '}}'", "c | default('\n')"]
expressions = st.sampled_from(EXPRESSIONS)


def tag(inside, mark="{}"):
    opening, closing = ("{{", "}}") if mark == "{}" else ("{%", "%}")
    return st.builds("{}{} {} {}{}".format, st.just(opening), signs, inside, signs, st.just(closing))


def block(word, inside, ending):
    return st.builds("".join, st.tuples(tag(st.just(word), "%"), inside, tag(st.just(ending), "%")))


def nested(inside):
    other = st.builds("".join, st.tuples(inside, tag(st.just("else"), "%"), inside))
    return st.one_of(
        st.lists(inside, max_size=3).map("".join),
        block("if 'x' in a", other, "endif"),
        block("if b", inside, "endif"),
        block("for t in b", st.builds("".join, st.tuples(inside, tag(st.just("t")))), "endfor"),
        st.builds("{{% raw %}}{}{{% endraw %}}".format, texts),
    )


def nested_with_sets(inside):
    return st.one_of(
        nested(inside),
        block("filter upper", inside, "endfilter"),
        block("set d", inside, "endset"),
        st.builds("".join, st.tuples(block("set d", inside, "endset"), tag(st.just("d")))),
    )


leaves = st.one_of(texts, tag(expressions), st.just("{#- c -#}"), tag(st.just("include 'p'"), "%"))
valid_templates = st.recursive(leaves, nested_with_sets, max_leaves=12)


@given(
    valid_templates,
    valid_templates.filter(lambda text: "include" not in text),
    everything,
    st.lists(st.text(max_size=5), max_size=3),
)
@example("{% for t in b %}{{ t }}{% endfor %}", "", "", ["\ue000", "0:"])
def test_the_traced_pieces_are_the_output(text, part, a, b):
    variables = {"a": a, "b": [*b, "y"]}
    templates = {"$u/t": Document("", text), "$u/p": Document("", part)}
    pieces = render("$u/t", templates, variables)
    assert text_of(pieces) == text_of(render("$u/t", templates, variables, trace=False))
    assert text_of(pieces) == render_with_minijinja(templates, variables)
    lines = {address: template.text.split("\n") for address, template in templates.items()}
    for piece in pieces:
        assert piece.text
        if piece.origin.kind == "variable":
            assert piece.origin.path in ("a", "b", "a, b")
        else:
            first, last = piece.origin.lines
            source = "\n".join([*lines[piece.origin.path][first - 1 : last], ""])
            assert 1 <= first <= last and (piece.text in source or "{%" in source or "{{" in source)


def render_with_minijinja(templates, variables):
    names = {address.removeprefix("$u/"): template.text for address, template in templates.items()}
    names["p"] = names["p"].removesuffix("\n").removesuffix("\r")
    values = {"a": variables["a"].encode("utf-8", "backslashreplace").decode(), "b": variables["b"]}
    environment = minijinja.Environment(
        templates=names, debug=False, undefined_behavior="strict", keep_trailing_newline=True
    )
    return environment.render_template("t", **values)


plain_leaves = st.one_of(texts, tag(st.sampled_from(["a", "b | join(', ')"])), tag(st.just("include 'p'"), "%"))
direct = st.recursive(plain_leaves, nested, max_leaves=12)


@given(direct, valid_characters)
def test_literal_text_has_exact_origins(text, a):
    """Each piece is a contiguous part of a template's text, with its lines, or one value."""
    templates = {"$u/t": Document("", text), "$u/p": Document("", "p\n{{ a }}\n")}
    collected = inclusion.collect("$u/t", templates.get)
    runs = {
        (address, start, stop, template.document.text[start:stop])
        for address, template in collected.items()
        for kind, _, _, start, stop, _ in template.tokens
        if kind == "text"
    }
    for piece in render("$u/t", templates, {"a": a, "b": ["y"]}):
        if piece.origin.kind == "variable":
            assert (piece.origin.path, piece.text) in (("a", a), ("b", "y"))
        else:
            first, last = piece.origin.lines
            source = templates[piece.origin.path].text
            assert any(
                (address, run) == (piece.origin.path, piece.text)
                and (first, last) == (source.count("\n", 0, start) + 1, source.count("\n", 0, stop - 1) + 1)
                for address, start, stop, run in runs
            )


@given(valid_templates, valid_characters, st.integers(0, 40))
def test_a_limited_template_stays_within_its_limit(text, a, count):
    variables = {"a": a, "b": ["y" * count] * count}
    templates = {"$u/t": Document("", text), "$u/p": Document("", "p")}
    assume(is_bounded(inclusion.collect("$u/t", templates.get), variables))
    try:
        written = text_of(render("$u/t", templates, variables))
    except TemplateError:  # the empty list has no first item
        assert not count
    else:
        assert len(written) <= 5_000_000
