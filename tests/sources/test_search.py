"""Names that match a segment of a pattern: `*` stands for any characters, and everything else for itself."""

import re
from itertools import product

import pytest

from foreword.sources.search import _matching_names

NAMES = ["".join(letters) for size in range(6) for letters in product("ab", repeat=size)]


@pytest.mark.parametrize("segment", ["*", "a*", "*a", "a*b", "a*a", "*ab*", "a*b*a", "**", "*a*a*", "ab*ba", "*b*ab"])
def test_stars_match_what_the_regular_expression_matches(segment):
    expression = re.compile(".*".join(segment.split("*")))
    assert _matching_names(NAMES, segment) == [name for name in NAMES if expression.fullmatch(name)]


def test_other_characters_stand_for_themselves_and_a_star_matches_line_feeds():
    assert _matching_names(["a.md", "a\nb.md", "axmd", "a[1]?.md"], "a*.md") == ["a.md", "a\nb.md", "a[1]?.md"]
    assert _matching_names(["a[1]?.md", "a1x.md"], "a[1]?*") == ["a[1]?.md"]


def test_only_a_leading_star_skips_hidden_names():
    names = [".a.md", "b.md"]
    assert [_matching_names(names, segment) for segment in ("*.md", ".*", "b*")] == [["b.md"], [".a.md"], ["b.md"]]
    assert _matching_names(names, "*.md", hidden=True) == names
