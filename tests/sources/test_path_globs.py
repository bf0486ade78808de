"""The globs of rules: the table in docs/touch.md, and the details."""

import re
from pathlib import Path

import pytest

from foreword.sources.path_globs import compile_globs

PAGE = (Path(__file__).parents[2] / "docs/touch.md").read_text()
ROWS = [
    [re.findall("`([^`]*)`", cell) for cell in line.strip("|\n").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]


@pytest.mark.parametrize(("globs", "matching", "others"), ROWS)
def test_the_table_in_the_documentation_is_right(globs, matching, others):
    for glob in globs:
        compiled = compile_globs(glob)
        assert [path for path in matching if not compiled.match(path)] == []
        assert [path for path in others if compiled.match(path)] == []


@pytest.mark.parametrize(
    ("glob", "path", "is_match"),
    [
        ("/src", "x/src/a", False),
        ("./src/*", "src/a", True),
        ("src/**", "src", False),
        ("src/", "src", False),
        ("**", "x", True),
        ("!*.md", "a.py", True),
        ("!*.md", "a.md", False),
        ("{a,b}/**/*.{c,d}", "b/q/w.d", True),
        ("a[]-]b", "a-b", True),
        ("\\*.py", "a.py", False),
        ("*" * 1001, "a", False),
        ("a*" * 300 + "b", "a" * 300, False),
        ("", "a", False),
        ("../x", "x", False),
    ],
)
def test_details_of_globs(glob, path, is_match):
    assert compile_globs(glob).match(path) == is_match
