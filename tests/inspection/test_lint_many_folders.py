"""`lint --recursive` builds an agent's prompt only in folders that may be unlike others. The answer is the same as if it built all."""

import os
import random

import pytest

from foreword import Workspace
from foreword.engine.assembler import Assembler
from foreword.programs import agent_lint, lint_disk, waiting_rules
from foreword.programs.proofread import proofread
from foreword.programs.quiet_folders import QuietFolders
from foreword.sources.tree import Listings

SHARED = (
    "Every handler checks the caller's rights before it touches the database, and says in the log who asked for it. "
    * 5
)
NAMES = (
    *("AGENTS.md", "CLAUDE.md", "GEMINI.md", "AGENTS.override.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "agents.md"),
    *(
        ".claude/rules/style.md",
        ".cursor/rules/api.mdc",
        ".cursor/rules/api.md",
        ".github/instructions/a.instructions.md",
    ),
)
FRONT = ("---\npaths: src/**\n---\n", "---\nglobs: src/**\nalwaysApply: false\n---\n", "---\npath: src\n---\n", "")


def text_for(chance, name):
    body = f"Point {chance.random()} is to keep the part number {chance.random()} small and to test it well.\n"
    return (chance.choice(FRONT) if "rules/" in name or "instructions/" in name else "") + chance.choice(
        (
            *((body,) * 20),
            *("", " \n", SHARED, f"{body}\n{SHARED}", "AGENTS.md", "@AGENTS.md\n", f"@AGENTS.md\n\n{body}"),
            *("@missing.md\n", f"See `@AGENTS.md`.\n{body}", f"@../AGENTS.md\n{body}", f"Read AGENTS.md.\n{body}"),
        )
    )


def write_tree(tree, chance):
    """Write folders up to three levels deep with a few files each, some of them links."""
    files = {"w/.git/HEAD": "ref: refs/heads/main\n", "w/src/a.py": ""}
    folders = ["", *(f"{'/'.join(chance.choices('abA', k=chance.randint(1, 3)))}/m{number}/" for number in range(30))]
    for folder in folders:
        for name in ("AGENTS.md",) if chance.random() < 0.5 else chance.sample(NAMES, chance.choice((1, 2, 3))):
            files[f"w/{folder}{name}"] = text_for(chance, name)
    tree(files)
    for folder in chance.sample(folders[1:], 4):
        if not os.path.lexists(link := tree.path(f"w/{folder}CLAUDE.md")):
            os.symlink("AGENTS.md", link)


@pytest.mark.parametrize("seed", range(8))
def test_folders_that_are_alike_are_checked_once(tree, monkeypatch, seed):
    write_tree(tree, random.Random(seed))

    def report():
        workspace = Workspace(tree.path("w"), home=tree.path("home"), environment={}, platform="linux")
        return proofread(Assembler(workspace), is_recursive=True)

    visits = []
    check = agent_lint.AgentLint._visit
    monkeypatch.setattr(agent_lint.AgentLint, "_visit", lambda *args: visits.append(args) or check(*args))
    quick, count = report(), len(visits)
    monkeypatch.setattr(QuietFolders, "likeness", lambda *_: None)
    monkeypatch.setattr(QuietFolders, "can_ignore_rules", lambda *_: False)
    assert quick == report()
    assert count < len(visits) - count


@pytest.mark.parametrize(("limit", "names"), [(3, ["a.md", "b.md"]), (2, None)])
def test_files_are_found_by_name_unless_there_are_too_many(tree, monkeypatch, limit, names):
    tree({"w/a.md": "", "w/sub/b.md": ""})
    monkeypatch.setattr(lint_disk, "_MAX_FILES", limit)
    found = lint_disk._files_by_name(tree.path("w"), Listings())
    assert (found and sorted(found)) == names


def test_the_paths_of_a_repository_are_needed_only_for_patterns(tree, monkeypatch):
    tree({"w/.git/HEAD": "", "w/CLAUDE.md": "Be brief.\n", "w/a/AGENTS.md": "Use tabs.\n", "w/a/x.py": ""})
    indexed = []
    monkeypatch.setattr(waiting_rules, "_index_paths", lambda root, listings: indexed.append(root))

    def lint():
        workspace = Workspace(tree.path("w"), home=tree.path("home"), environment={}, platform="linux")
        proofread(Assembler(workspace), is_recursive=True)
        return len(indexed)

    assert lint() == 0
    tree({"w/.claude/rules/style.md": "---\npaths: src/**\n---\nNo semicolons.\n"})
    assert lint() == 1
