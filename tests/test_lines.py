"""Where text may be cut, and the blank lines around it."""

import pytest

from foreword.sources.readings import decode
from foreword.text.lines import end_of_whole_characters, without_blank_lines

FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("abc", 2, 2),
        ("abc", 3, 3),
        ("abc", 9, 9),
        ("ae\u0301b", 2, 1),
        ("ae\u0301b", 3, 3),
        (f"a{FAMILY}b", 1, 1),
        *((f"a{FAMILY}b", end, 1) for end in range(2, 6)),
        (f"a{FAMILY}b", 6, 6),
        ("a\N{WAVING HAND SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}", 2, 1),
        *((f"a\N{WAVING HAND SIGN}{tone}", 2, 1) for tone in "\U0001f3fb\U0001f3ff"),
        *((f"a\N{WAVING HAND SIGN}{other}", 2, 2) for other in "\U0001f3fa\U0001f400"),
        *((f"a{letter}", 1, 0) for letter in "\u1160\u11ff\U000e0020\U000e007f"),
        *((f"a{letter}", 1, 1) for letter in "\u115f\u1200\U000e001f\U000e0080"),
        ("\u2764\ufe0f!", 1, 0),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 1, 0),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 2, 2),
        ("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7", 3, 2),
        ("1\ufe0f\u20e3", 2, 0),
        ("\u1112\u1161\u11ab", 2, 0),
        ("漢字", 1, 1),
        ("a" + "\u0301" * 1000, 500, 500),
        ("", 0, 0),
    ],
)
def test_a_cut_does_not_split_what_is_shown_as_one_character(text, end, expected):
    assert end_of_whole_characters(text, end) == expected


@pytest.mark.parametrize(("ending", "expected"), [(FAMILY, "ab"), ("cd", "abc"), ("e\u0301", "abe")])
def test_the_beginning_of_a_large_file_ends_with_a_whole_character(ending, expected):
    """An accent may follow a plain letter, but nobody reads so far ahead."""
    data = f"ab{ending}".encode()
    limit = 2 + len(ending.encode()) - 1 if ending == FAMILY else 3
    assert decode("/x", data, len(data), (0, 0), limit).text == expected


@pytest.mark.parametrize(
    ("text", "content", "line"),
    [
        ("", "", 1),
        ("x", "x", 1),
        (" x ", " x ", 1),
        ("\n \n  x\n\ny\n \n", "  x\n\ny", 3),
        ("\nx \n", "x ", 2),
        (" \n\t", "", 2),
    ],
)
def test_blank_lines_around_a_text_are_left_out(text, content, line):
    assert without_blank_lines(text) == (content, line)
