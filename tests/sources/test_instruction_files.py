"""The walk that finds instruction files of any layout."""

import os
from pathlib import Path

import pytest

from foreword.layout.parse import parse
from foreword.sources import instruction_files
from foreword.sources.instruction_files import find_instruction_files, instruction_file_patterns

PATTERNS = ("AGENTS.md", ".tool/rules/**/*.md", ".tool/MAIN.md", "docs/*.txt")


def found_files(tree, patterns=PATTERNS):
    result = find_instruction_files(tree.path("w"), patterns)
    return [tree.short(path) for path in result.paths]


@pytest.mark.parametrize(
    ("file", "is_found"),
    [
        ("AGENTS.md", True),
        ("a/b/c/AGENTS.md", True),
        ("agents.md", False),
        ("AGENTS.md.orig", False),
        (".tool/rules/x.md", True),
        (".tool/rules/deep/er/x.md", True),
        (".tool/rules/x.txt", False),
        (".tool/x.md", False),
        ("sub/.tool/MAIN.md", True),
        (".tool/AGENTS.md", True),
        ("docs/a.txt", True),
        ("docs/deep/a.txt", False),
        ("node_modules/x/AGENTS.md", False),
        (".venv/AGENTS.md", False),
        (".hidden/AGENTS.md", False),
        ("new\nline/AGENTS.md", True),
    ],
)
def test_a_pattern_matches_at_every_depth(tree, file, is_found):
    tree({f"w/{file}": "x"})
    assert found_files(tree) == ([f"/w/{file}"] if is_found else [])


def test_the_hidden_folders_above_the_working_directory_are_searched(tree):
    tree({"w/.x/a/.y/AGENTS.md": "x", "w/.x/AGENTS.md": "x", "w/.z/AGENTS.md": "x", "w/.x/.z/AGENTS.md": "x"})
    result = find_instruction_files(tree.path("w"), PATTERNS, cwd=tree.path("w/.x/a/.y"))
    assert [tree.short(path) for path in result.paths] == ["/w/.x/AGENTS.md", "/w/.x/a/.y/AGENTS.md"]


def test_very_deep_folders_are_not_searched(tree, monkeypatch):
    monkeypatch.setattr(instruction_files, "_MAX_DEPTH", 2)
    tree({"w/a/b/AGENTS.md": "x"})
    assert find_instruction_files(tree.path("w"), PATTERNS).is_complete
    tree({"w/a/b/c/AGENTS.md": "x"})
    assert found_files(tree) == ["/w/a/b/AGENTS.md"]
    assert not find_instruction_files(tree.path("w"), PATTERNS).is_complete


def test_other_repositories_are_skipped(tree):
    tree({"w/.git/HEAD": "x", "w/AGENTS.md": "x", "w/sub/.git": "gitdir: x", "w/sub/AGENTS.md": "x"})
    assert found_files(tree) == ["/w/AGENTS.md"]


def test_links_to_folders_are_not_followed_but_links_to_files_are(tree):
    tree({"w/real.md": "x", "w/AGENTS.md": Path("real.md"), "w/loop": Path("."), "w/d/AGENTS.md": Path("..")})
    assert found_files(tree) == ["/w/AGENTS.md"]


def test_names_that_are_not_utf8_are_found(tree):
    name = os.fsencode(tree.path("w")) + b"/caf\xe9"
    os.mkdir(name)
    with open(name + b"/AGENTS.md", "wb") as file:
        file.write(b"x")
    assert len(found_files(tree)) == 1


def test_a_folder_that_cannot_be_listed_is_reported(tree, monkeypatch):
    tree({"w/a/AGENTS.md": "x", "w/locked/AGENTS.md": "x"})
    real_scandir = os.scandir

    def scandir(path):
        if path == tree.path("w/locked"):
            raise PermissionError(13, "Permission denied", path)
        return real_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    result = find_instruction_files(tree.path("w"), PATTERNS)
    assert (len(result.paths), result.unlisted) == (1, ((tree.path("w/locked"), "permission denied"),))


def test_the_walk_is_limited(tree):
    tree({f"w/{number}/AGENTS.md": "x" for number in range(9)})
    assert find_instruction_files(tree.path("w"), PATTERNS).is_complete
    result = find_instruction_files(tree.path("w"), PATTERNS, max_folders=5)
    assert (result.is_complete, len(result.paths)) == (False, 4)


def test_patterns_come_from_the_lookup_rules_of_layouts():
    layout = parse(
        {
            "about": "x",
            "sections": ["s"],
            "find": {
                "a": {"files": [["walk:ONE.md", "walk:TWO.md"], "root:.x/**/*.md"]},
                "b": {"files": ["home:.y/ONE.md", "system:etc/x.md", "path:/abs/x.md", "path:../x.md"]},
                "c": {"as": "skill", "files": ["walk:skills/**/SKILL.md"]},
            },
            "section": {"s": {"list": "a"}},
        },
        "sample",
        "sample",
    )
    assert instruction_file_patterns([layout, layout]) == ("ONE.md", "TWO.md", ".x/**/*.md", ".y/ONE.md")
