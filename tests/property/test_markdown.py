"""Fences and code spans are where markdown-it finds them: in generated text, and in the examples of the CommonMark specification.

npm installs the specification with the packages of the page.
"""

import re
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from foreword.text.markdown import Spans, fences, find_unclosed, prose

COMMONMARK = MarkdownIt("commonmark")

MARKS = (
    "``` ~~~ ```` ~~~~ ```js ```a`b ` text # === --- --> <!-- > - -- * + 1. 2. 10) 1".split()
    + ["``` x", "   ```", "    ```", "    code", "> ", "- ", "-   ", "* ", "+ ", "1. ", "2. ", "10) ", "# h"]
    + ["<!-- c -->", "  ", "\t", ""]
)
TEXTS = st.lists(st.lists(st.sampled_from(MARKS), max_size=3).map("".join), min_size=1, max_size=7).map(
    lambda lines: "\n".join(lines) + "\n"
)
# The reference implementations treat `    > ` as text in a quote; markdown-it treats it as a quote mark.
DEEP_QUOTE = re.compile(r"(?m)^[ >]*(?:\t| {4})[ \t]*>")


def lines_of(text, ranges):
    return [(text.count("\n", 0, start), text.count("\n", 0, end)) for start, end in ranges]


def expected_fences(tokens):
    return [tuple(token.map) for token in tokens if token.type == "fence"]


@given(TEXTS)
@example("- ```\n```\n")
@example("> ```\n> a\nb\n```\n")
@example("1. a\n\n   ```\n   b\n\n  ```\n")
@example("a\n2. ```\n   b\n")
@example("<!--\n```\n-->\n```\na\n")
@example("~~~ a`b\n```\n~~~~\n```\n")
@example("-\n\n  ```\n  a\n")
def test_fences_match_commonmark(text):
    assume(not DEEP_QUOTE.search(text))
    assert lines_of(text, fences(text)) == expected_fences(COMMONMARK.parse(text))


INLINE = st.lists(
    st.sampled_from(
        [
            "`",
            "`",
            "``",
            "```",
            "a",
            "b",
            " ",
            "\\",
            "*",
            "#",
            "|",
            "\n",
            "\n\n",
            "\n> ",
            "\n- ",
            "\n# ",
            "\n  ",
            "\n---\n",
        ]
        + ["\n1. ", "\n2. ", "\n2. \n", "\n| ", "\n<!-- a -->\n", "\n==="]
    )
)


def code_spans(text):
    """The code spans of a text, found in the way that directives and lint find them."""
    spans, spans_found = Spans(text), []
    for start, limit in prose(text):
        position = start
        while match := re.compile(r"\\[\\`]|`+").search(text, position, limit):
            position = match.end()
            end = spans.end(match.start(), len(match[0]), limit) if match[0][0] == "`" else None
            if end is not None:
                spans_found.append(text[position : end - len(match[0])])
                position = end
    return spans_found


def without_marks(spans):
    """The spans without white space and quote marks, which differ between a text and its parsed form."""
    return [re.sub(r"[\s>]", "", code) for code in spans]


def expected_spans(tokens):
    return [child.content for token in tokens for child in token.children or () if child.type == "code_inline"]


@given(INLINE.map("".join))
@example("`a\n> `b\n")
@example("> `a\n> b`\n")
@example("> `a\n> > b`\n")
@example("`a\n\nb`\n")
@example("`` a`b ``\n")
@example("`a\n- b`\n")
@example("\\`a`b`\n")
@example("`a\n# b`\n")
def test_code_spans_match_commonmark(text):
    tokens = COMMONMARK.parse(text)
    assume(not DEEP_QUOTE.search(text) and all(token.type != "code_block" for token in tokens))
    assert without_marks(code_spans(text)) == without_marks(expected_spans(tokens))


SPEC = Path(__file__).parents[2] / "web/node_modules/commonmark-spec/spec.txt"
EXAMPLE = re.compile(r"(?ms)^`{32} example\n(.*?)^\.\n(.*?)^`{32}$")

# The examples that are parsed differently, and why.
FENCES_DIFFER = {
    "<div></div>\n``` c\nint x = 33;\n```\n": "HTML other than a comment counts as a paragraph, so a fence can interrupt it",
}
SPANS_DIFFER = {
    '<a href="`">`\n': "tags are not parsed, so the backtick in an attribute begins a code span",
    "<https://foo.bar.`baz>`\n": "addresses are not parsed, so the backtick in one begins a code span",
}
ENDS_DIFFER = {
    '<style\n  type="text/css">\n\nfoo\n': "only fences and comments are closed, not tags",
}


@pytest.fixture(scope="module")
def examples():
    """The HTML of each example, by its Markdown."""
    assert SPEC.exists(), f"{SPEC} is missing; run `make page` to install it"
    return dict(match.groups() for match in EXAMPLE.finditer(SPEC.read_text(encoding="utf-8").replace("→", "\t")))


def test_markdown_it_renders_the_examples(examples):
    assert len(examples) > 600
    rendered = {text: COMMONMARK.render(text) for text in examples}
    assert rendered == {text: html.replace("<blockquote>\n</", "<blockquote></") for text, html in examples.items()}


def test_fences_in_the_examples_match_commonmark(examples):
    differ = [text for text in examples if lines_of(text, fences(text)) != expected_fences(COMMONMARK.parse(text))]
    assert differ == list(FENCES_DIFFER)


def test_code_spans_in_the_examples_match_commonmark(examples):
    differ = [
        text
        for text in examples
        if without_marks(code_spans(text)) != without_marks(expected_spans(COMMONMARK.parse(text)))
    ]
    assert differ == list(SPANS_DIFFER)


def test_nothing_is_open_after_an_example_is_closed(examples):
    def ends_with_heading(text):
        return [token.type for token in COMMONMARK.parse(text)[-3:]] == ["heading_open", "inline", "heading_close"]

    differ = [text for text in examples if not ends_with_heading(f"{text}{find_unclosed(text)[0]}\n\n# end\n")]
    assert differ == list(ENDS_DIFFER)
