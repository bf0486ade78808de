"""The lines of a file that are trusted, without those that are not."""

import pytest

from foreword.sources.readings import LineCheck, Reading
from foreword.sources.trusted_text import only_trusted


class Lines:
    """Trusts some lines of every file."""

    untrusted = "drop"

    def __init__(self, trusted):
        self.trusted = trusted

    def refusal(self, path, data, real=""):
        return "refused", "it is new", "file-untrusted"

    def check_lines(self, path, data, real):
        return LineCheck(self.trusted, 0, "main")


def read(trusted, line=1):
    """Read a file with these lines; `line` is the first one that is not blank."""
    text = "".join(f"{number}\n" for number in range(line, len(trusted) + 1))
    return only_trusted(Reading("/w/AGENTS.md", "used", text, line), b"", "", Lines(trusted), trim=False)


@pytest.mark.parametrize(
    ("trusted", "first", "text", "line", "origins", "withheld"),
    [
        ([True, True, False], 1, "1\n2\n", 1, [(1, 2)], [(3, "3", ' lines="3"')]),
        ([False, True, True], 1, "2\n3\n", 2, [(2, 3)], [(1, "1", ' lines="1"')]),
        ([False, False, True, False], 1, "3\n", 3, [(3, 3)], [(1, "1\n2", ' lines="1-2"'), (4, "4", ' lines="4"')]),
        ([True, True, False, True, True], 1, "1\n2\n4\n5\n", 1, [(1, 2), (4, 5)], [(3, "3", ' lines="3"')]),
        # The file begins with two blank lines, which are not in the text.
        ([True, True, False, True, True], 3, "4\n5\n", 4, [(4, 5)], [(3, "3", ' lines="3"')]),
    ],
)
def test_the_trusted_lines_are_the_text_and_keep_their_numbers(trusted, first, text, line, origins, withheld):
    reading = read(trusted, first)
    assert (reading.text, reading.line, [piece.origin.lines for piece in reading.pieces]) == (text, line, origins)
    assert [(part.line, part.text, dict(part.fields)["lines"]) for part in reading.withheld] == withheld


def test_a_file_with_more_than_100_untrusted_places_is_trusted_as_a_whole_or_not_at_all():
    assert len(read([True, False] * 100).withheld) == 100
    assert (read([True, False] * 101).fate, read([True, False] * 101).text) == ("refused", "")
