"""The globs of rules: the table in docs/touch.md, and the details."""

import re
from pathlib import Path

import pathspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


# Compared with pathspec, which mypy and MkDocs install

_NOT_IN_GIT = ("*.{ts,tsx}", "app/[slug]/page.tsx")  # braces, and a name that is spelled like the glob
_parts = st.sampled_from(["a", "*", "**", "*.py", "?", ".c", "src", "[a-b]", "a*"])
_names = st.sampled_from(["a", "b", ".c", "a.py", "src", "x.ts"])


def matches_as_git(glob, path):
    """Whether one of the globs in a `.gitignore` matches a path."""
    return pathspec.GitIgnoreSpec.from_lines(glob.split(", ")).match_file(path)


@pytest.mark.parametrize(("globs", "matching", "others"), ROWS)
def test_the_table_agrees_with_gitignore(globs, matching, others):
    for glob in globs:
        expected = [] if glob in _NOT_IN_GIT else matching
        assert [path for path in (*matching, *others) if matches_as_git(glob, path)] == expected


@given(
    start=st.sampled_from(["", "/"]),
    parts=st.lists(_parts, min_size=1, max_size=4),
    end=st.sampled_from(["", "/"]),
    names=st.lists(_names, min_size=1, max_size=4),
)
def test_random_globs_agree_with_gitignore(start, parts, end, names):
    """Except for `**/` at the end, which pathspec reads as `**`."""
    glob, path = start + "/".join(parts) + ("" if parts[-1] == "**" else end), "/".join(names)
    assert compile_globs(glob).match(path) == matches_as_git(glob, path)


@pytest.mark.parametrize(
    ("style", "globs", "is_match"),
    [
        ("git", "A/B/*.TS", True),
        ("git", "a/b", True),
        ("git", "./a/b/z.ts", False),
        ("git", "!a/b/z.ts", False),
        ("git", "**/*.ts, !a/**", True),
        ("folders", "A/B/*.TS", False),
        ("folders", "./a/b/z.ts", True),
        ("folders", "**/*.ts, !a/**", False),
        ("names", "!a/b/z.ts", True),
        ("names", "!**/*.ts", False),
        ("names", "!*.ts", True),
        ("names", "a/b", False),
        ("paths", "!**/*.py", True),
        ("paths", "!**/*.ts", False),
        ("paths", "*.ts", False),
    ],
)
def test_programs_interpret_globs_in_different_ways(style, globs, is_match):
    assert compile_globs(globs, style).match("a/b/z.ts") == is_match


@pytest.mark.parametrize(
    ("glob", "path", "matching"),
    [
        ("b/**", "a/b/z.ts", "git"),
        ("a/z.ts/**", "a/z.ts", "git paths"),
        ("{b/**,c}", "a/b/z.ts", "git"),
        ("a/**/", "a/z.ts", "git"),
        ("b/**/", "a/b/c/z.ts", ""),
        ("*/**", "z.ts", "git"),
        ("**/", "z.ts", "names"),
        ("**.ts", "a/z.ts", "folders git names paths"),
        ("v[!1].ts", "v1.ts", "git paths"),
        ("v[^1].ts", "v1.ts", "git"),
        ("[id]/*", "[id]/z.ts", "folders paths"),
        ("a//z.ts", "a/z.ts", "folders"),
        ("a/./z.ts", "a/z.ts", "folders"),
        ("a/{}/**", "a/z.ts", "folders"),
        ("{a}/*", "a/z.ts", "folders git names"),
        ("a;b", "a", "folders"),
        ("'a'", "a", "folders"),
        ("v{1..3}.ts", "v2.ts", "paths"),
        ("*.@(ts|js)", "z.ts", "paths"),
        ("(a)/*", "a/z.ts", "paths"),
    ],
)
def test_only_some_programs_match_such_globs(glob, path, matching):
    styles = ("folders", "git", "names", "paths")
    assert " ".join(style for style in styles if compile_globs(glob, style).match(path)) == matching
