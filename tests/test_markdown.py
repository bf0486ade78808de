"""Code spans and fences, and blocks left open at the end of a text. Every row follows CommonMark."""

import pytest

from foreword.text.markdown import Spans, comments, fences, find_unclosed, prose
from foreword.text.pieces import close_open_blocks
from foreword.vocabulary import Origin, Piece

FENCE, COMMENT = "a code fence", "a comment"


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        ("```", "\n```"),
        ("```sh\nmake", "\n```"),
        ("```sh\nmake\n", "```"),
        ("~~~~ a `b`\n~~~\n```", "\n~~~~"),
        ("````\n```\n````\n```", "\n```"),
        ("```\n``` not the end", "\n```"),
        ("   ```\nx", "\n```"),
        ("text\n```\nx", "\n```"),
        ("```\n> ```\n- ```", "\n```"),
        # a closing fence is indented by at most three columns
        ("```\n    ```", "\n```"),
        ("```\n\t```", "\n```"),
        # the container of a fence ends, and another one begins
        ("- ```\n```", "\n```"),
        ("1. x\n\n   ```\n  ```", "\n```"),
        ("> ```\n```", "\n```"),
        ("- ```\n  x\n\ny\n```", "\n```"),
        ("-\n\n  ```\n  x", "\n```"),
        # not an item: a rule, too many digits, no space
        ("- - -\n  ```\n  x", "\n```"),
        ("1234567890. x\n\n  ```", "\n```"),
        ("-x\n  ```", "\n```"),
        # cannot interrupt a paragraph, so not an item
        ("x\n2. y\n   ```", "\n```"),
        ("x\n-\n  ```", "\n```"),
        ("x\r```\r", "\n```"),
        ("-->\n```", "\n```"),
        ("<!-- a -->\n```", "\n```"),
        ("```\n~~~\n<!-- a -->", "\n```"),
    ],
)
def test_a_fence_is_left_open(text, closing):
    assert find_unclosed(text) == (closing, FENCE)


@pytest.mark.parametrize(
    "text",
    [
        "```\nx\n```",
        "```\nx\n   `````  ",
        "```\r\nx\r\n```\r\n",
        # not a fence: a code span, indented code, the middle of a line
        "``` `x`",
        "```x```",
        "    ```",
        "\t```",
        "x ```",
        "x\n    ```",
        # in an item, closed in it or by its end
        "- ```sh\n  make\n  ```",
        "- ```sh\n  make",
        "1. ```\n   x\n   ```",
        "* ~~~\n  x\n\n  y\n  ~~~",
        "- x\n\n  ```\n  y",
        "- x\n\n      ```\n",
        "- - ```\n    x\n\n  y",
        "-\t```\n    x",
        "-     ```",
        "-\n  ```\n  x\n  ```",
        "x\n1. ```\n   y",
        "x\n===\n2. ```",
        # in a quote
        "> ```\n> x\n\ny",
        "> ```\n> x",
        "> - ```\n>   x\n>\n>   ```",
        ">```\n> x\ny",
        ">\t```",
        # in a comment
        "<!--\n```\n-->",
        "x\n<!--\n```\n-->",
        "<!-->",
        "<!--->",
        "<!-- a -- b -->",
    ],
)
def test_nothing_is_left_open(text):
    assert find_unclosed(text) == ("", "")


@pytest.mark.parametrize(
    ("text", "closing", "what"),
    [
        ("<!--", " -->", COMMENT),
        ("x <!-- y", " -->", COMMENT),
        ("<!-- one --> <!-- two", " -->", COMMENT),
        ("<!--\n```", " -->", COMMENT),
        ("<!-- a\n\nb\n", " -->", COMMENT),
        ("- <!-- x", " -->", COMMENT),
        ("`a` <!-- `b`", " -->", COMMENT),
        # after a closing fence it would open the fence again
        ("x <!-- y\n\n```\nz\n```", "\n-->", COMMENT),
        ("x <!-- y\n\n```\nz", "\n```\n-->", f"{FENCE} and {COMMENT}"),
        # in code it is not a comment
        ("`<!--`", "", ""),
        ("`a\n<!--`", " -->", COMMENT),
        ("`a\nb <!--`", "", ""),
        ("`a\r\rb <!--`", " -->", COMMENT),
        ("`a\r\nb <!--`", "", ""),
        (r"\<!-- x", "", ""),
        ("```\n<!--\n```", "", ""),
        ("x <!-- y\n\n```\n-->\n```", "", ""),
    ],
)
def test_a_comment_is_left_open_outside_code(text, closing, what):
    assert find_unclosed(text) == (closing, what)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```\nb\n```\nc", ["```\nb\n```\n"]),
        ("a\n```\nb", ["```\nb"]),
        ("- ```\n  a\n  ```\n- b", ["- ```\n  a\n  ```\n"]),
        ("- ```\n  a\n\nb", ["- ```\n  a\n\n"]),
        ("- ```\n- ~~~\nb", ["- ```\n", "- ~~~\n"]),
        ("> ```\n> a\n\nb", ["> ```\n> a\n"]),
        ("```\n    ```\na\n```\nb", ["```\n    ```\na\n```\n"]),
        ("```\r\na\r\n```\r\nb", ["```\r\na\r\n```\r\n"]),
        ("<!--\n```\n-->\na", []),
        ("    ```\na", []),
    ],
)
def test_fences_and_prose_cover_the_text(text, code):
    assert [text[start:end] for start, end in fences(text)] == code
    assert "".join(sorted((text[start:end] for start, end in [*fences(text), *prose(text)]), key=text.find)) == text


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("`a\n2. b` c", "`a\n2. b`"),
        ("`a\n| b` c", "`a\n| b`"),
        ("> `a\nb` c", "`a\nb`"),
        ("`a\n1. b`", None),
        ("- `a\n  # b`", None),
        ("- `a\n\n  b`", None),
        ("`a\r\n# b`", None),
        # a row of a table
        ("| `a |\n|---|\n| b` |", None),
        ("x `a\n| b` |\n|---|", None),
        ("`a | b\n--- | :-:\nc` | d", None),
        ("> | `a |\n> |-|\n> | b` |", None),
        # not a table: the number of cells differs, or there is no header
        ("| `a |\n|---|---|\n| b` |", "`a |\n|---|---|\n| b`"),
        ("a \\| `b\n|---|---|\nc` | d", "`b\n|---|---|\nc`"),
        ("`a\n|---|\nb`", "`a\n|---|\nb`"),
    ],
)
def test_a_code_span_ends_with_its_paragraph_or_table_row(text, span):
    start = text.index("`")
    end = Spans(text).end(start, 1, len(text))
    assert (text[start:end] if end else None) == span


@pytest.mark.parametrize(
    "text",
    [
        ">" * 150_000,
        ">" * 75_000 + "\n" * 75_000,
        "- " * 37_000 + "x" + "\n" * 75_000,
        "> " + "- " * 37_000 + "x" + "\n>" * 37_000,
        "- " * 37_000 + "x" + " -" * 37_000,
        "1. " * 50_000,
        "- > " * 18_000 + "x" + "\n  >" * 25_000,
        "\t" * 75_000 + "-\t" * 37_000,
        "x <!-- `" * 20_000,
        "x|" * 40_000 + "\n" + "|-" * 40_000 + "|\n" * 20_000,
    ],
    ids=range(10),
)
def test_blocks_may_nest_deeply(text):
    assert find_unclosed(f"{text}\n\n# end\n~~~ -->") == ("\n~~~", FENCE)


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        ("<!-- a -->\n\n\ntext", ["<!-- a -->\n\n\n"]),
        ("x\n\n<!-- a --> <!-- b -->\n\ny", ["<!-- a --> <!-- b -->\n\n"]),
        ("<!-- a --> b <!-- c -->\n\nd", ["<!-- a -->", "<!-- c -->"]),
        ("<!-- a -->b\n\nc", ["<!-- a -->"]),
        ("<!-- a", []),
    ],
)
def test_a_comment_that_is_alone_on_its_lines_takes_the_empty_lines_with_it(text, ranges):
    assert [text[start:end] for start, end in comments(text)] == ranges


def test_pieces_are_unchanged_if_nothing_is_open():
    pieces = (Piece("```\nx\n```", Origin("file", "a.md")),)
    assert close_open_blocks(pieces) == (pieces, "")
    assert close_open_blocks(pieces[:1] + (Piece("\n```", Origin("mark")),))[1] == FENCE
