"""Fences and code spans are where markdown-it, which passes the examples of CommonMark, finds them."""

import re

from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from foreword.text.markdown import Spans, fences, prose

COMMONMARK = MarkdownIt("commonmark")

MARKS = (
    "``` ~~~ ```` ~~~~ ```js ```a`b ` text # === --- --> <!-- > - -- * + 1. 2. 10) 1".split()
    + ["``` x", "   ```", "    ```", "    code", "> ", "- ", "-   ", "* ", "+ ", "1. ", "2. ", "10) ", "# h"]
    + ["<!-- c -->", "  ", "\t", ""]
)
TEXTS = st.lists(st.lists(st.sampled_from(MARKS), max_size=3).map("".join), min_size=1, max_size=7).map(
    lambda lines: "\n".join(lines) + "\n"
)
# The reference implementations take `    > ` for text in a quote; markdown-it takes it for a mark.
DEEP_QUOTE = re.compile(r"(?m)^[ >]*(?:\t| {4})[ \t]*>")


def lines_of(text, ranges):
    return [(text.count("\n", 0, start), text.count("\n", 0, end)) for start, end in ranges]


@given(TEXTS)
@example("- ```\n```\n")
@example("> ```\n> a\nb\n```\n")
@example("1. a\n\n   ```\n   b\n\n  ```\n")
@example("a\n2. ```\n   b\n")
@example("<!--\n```\n-->\n```\na\n")
@example("~~~ a`b\n```\n~~~~\n```\n")
@example("-\n\n  ```\n  a\n")
def test_fences_are_those_of_commonmark(text):
    assume(not DEEP_QUOTE.search(text))
    theirs = [tuple(token.map) for token in COMMONMARK.parse(text) if token.type == "fence"]
    assert lines_of(text, fences(text)) == theirs


INLINE = st.lists(
    st.sampled_from(["`", "`", "``", "```", "a", "b", " ", "\\", "*", "\n", "\n\n", "\n> ", "\n- ", "\n# "])
)
OTHER_BLOCKS = re.compile(r"(?m)^[ >]*[-*] *[-*#>]|^[ >]*[-*] *$|^(?:[ >\-*]*) {4}")


def code_spans(text):
    """The code spans of a text, found in the way that directives and lint find them."""
    spans, found = Spans(text), []
    for start, limit in prose(text):
        at = start
        while match := re.compile(r"\\[\\`]|`+").search(text, at, limit):
            at = match.end()
            end = spans.end(match.start(), len(match[0]), limit) if match[0][0] == "`" else None
            if end is not None:
                found.append(text[at : end - len(match[0])])
                at = end
    return found


def without_marks(code):
    """White space and the marks of quotes differ between a text and its parsed form."""
    return re.sub(r"[\s>]", "", code)


@given(INLINE.map("".join))
@example("`a\n> `b\n")
@example("> `a\n> b`\n")
@example("> `a\n> > b`\n")
@example("`a\n\nb`\n")
@example("`` a`b ``\n")
@example("`a\n- b`\n")
@example("\\`a`b`\n")
@example("`a\n# b`\n")
def test_code_spans_are_those_of_commonmark(text):
    assume(not OTHER_BLOCKS.search(text))
    parsed = [child for token in COMMONMARK.parse(text) for child in token.children or ()]
    theirs = [without_marks(child.content) for child in parsed if child.type == "code_inline"]
    assert [without_marks(each) for each in code_spans(text)] == theirs
