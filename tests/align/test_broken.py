"""Which edits a review must look at more closely, because they can change what agents read exactly once."""

import pytest

from foreword.programs.align.broken import may_break

OTHERS = {"CLAUDE.md": "Be brief.\nAsk first.\n", "api/AGENTS.md": "Validate.\n"}


@pytest.mark.parametrize(
    ("path", "old", "new", "answer"),
    [
        ("AGENTS.md", "Use pnpm.\n", "Use npm.\n", False),
        ("AGENTS.md", "Use pnpm.\n", "Use pnpm.\nTest.\n", False),
        ("CLAUDE.md", "Use pnpm.\n", "Use npm.\n", True),  # it may be a copy by hand
        ("AGENTS.md", "Use pnpm.\n", "", True),
        ("AGENTS.md", "Use pnpm.\n", "Use pnpm.\n@docs/more.md\n", True),
        ("AGENTS.md", "Use pnpm.\n", "---\npaths: a\n---\nUse pnpm.\n", True),
        ("AGENTS.md", "Use pnpm.\n", "Be brief.\n", True),  # CLAUDE.md has that line too
        ("AGENTS.md", "Ask first.\n", "Use pnpm.\n", True),
        ("AGENTS.md", "Use pnpm.\n", "Validate.\n", True),  # some agents send equal files once
        ("AGENTS.md", "Validate.\n", "Use pnpm.\n", True),
    ],
)
def test_an_edit_of_wording_cannot_break_the_alignment(path, old, new, answer):
    assert may_break({path: (old, new)}, {name: text for name, text in OTHERS.items() if name != path}) is answer
