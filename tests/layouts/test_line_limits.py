"""`max_lines` and `max_bytes` of a lookup rule: only the first lines of a long file are used."""

import pytest

BASE = """
about = "A test."
sections = ["project"]
[section.project]
list = "project"
[find.project]
files = ["cwd:A.md"]
"""


@pytest.mark.parametrize(
    ("keys", "content", "text", "left_out"),
    [
        ("max_lines = 2", "a\nb\nc\nd\n", "a\nb", 2),
        ("max_lines = 4", "a\nb\nc\nd\n", "a\nb\nc\nd", 0),
        ("max_bytes = 4", "a\nb\nc\n", "a\nb", 1),
        ("max_bytes = 5", "a\nb\nc\n", "a\nb\nc", 0),
        ("max_bytes = 5", "é\né\nx\n", "é\né", 1),
        ("max_lines = 3\nmax_bytes = 4", "a\nb\nc\nd\n", "a\nb", 2),
        ('max_lines = 2\nfront = "drop"', "---\nx: 1\n---\na\nb\nc\n", "a\nb", 1),
    ],
)
def test_only_the_first_lines_are_used(tree, layout_text, keys, content, text, left_out):
    tree({"w/.git": None, "w/A.md": content})
    mark = f"\n\n[foreword: cut here, {left_out} lines left out]" if left_out else ""
    assert layout_text(keys) == text + mark
    assert [code for code, _ in tree.findings(layout_text.prompt)] == (["budget-file"] if left_out else [])


def test_the_finding_says_how_much_is_left_out(tree, layout_text):
    tree({"w/.git": None, "w/A.md": "a\nb\nc\n"})
    layout_text("max_lines = 1")
    assert tree.messages(layout_text.prompt) == [
        ("budget-file", "/w/A.md: its last 2 lines are left out; this layout uses only the first lines of a long file")
    ]
