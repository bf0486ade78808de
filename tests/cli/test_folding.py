"""Long tables of agents: a link and its target, files that nobody reads, and files that are treated alike are one row each."""

import os

from foreword.cli.folding import MIN_ROWS, fold
from foreword.inspection.agents import AgentTable, FileRow, Verdict


def folded(tmp_path, files, links=()):
    for name, target in links:
        os.makedirs(tmp_path / os.path.dirname(name), exist_ok=True)
        os.symlink(target, tmp_path / name)
    rows = [
        FileRow(str(tmp_path / name), [Verdict(verdict) for verdict in verdicts.split()])
        for name, verdicts in files.items()
    ]
    table, labels, notes = fold(AgentTable((), rows), list(files), lambda verdict: verdict.name)
    return [
        (label, *(verdict.name for verdict in row.verdicts)) for row, label in zip(table.rows, labels, strict=True)
    ], notes


def test_a_short_table_is_not_folded(tmp_path):
    files = {f"{number}/AGENTS.md": "loaded never" for number in range(MIN_ROWS - 1)}
    assert folded(tmp_path, files) == ([(name, "loaded", "never") for name in files], [])


def test_a_long_table_is_folded(tmp_path):
    files = {
        "AGENTS.md": "loaded never",
        "CLAUDE.md": "shadowed loaded",
        **{f"{number}/AGENTS.md": "on-touch elsewhere" for number in range(5)},
        "5/AGENTS.md": "loaded never",
        **{f".x/rules/{number}.md": "never loaded" for number in range(3)},
        **{f"old/{number}.md": "never never" for number in range(4)},
    }
    rows, notes = folded(tmp_path, files, [("CLAUDE.md", "AGENTS.md")])
    assert rows == [
        ("AGENTS.md = CLAUDE.md", "loaded", "loaded"),
        ("0/AGENTS.md and 4 alike", "on-touch", "elsewhere"),
        ("5/AGENTS.md", "loaded", "never"),
        (".x/rules/0.md and 2 alike", "never", "loaded"),
    ]
    assert notes == ["4 files that none of these agents reads: old/0.md, old/1.md, old/2.md and 1 more"]
