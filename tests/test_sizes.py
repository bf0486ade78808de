"""Limits on the size of files, classes and functions; every class name is used once."""

import ast
import os
import re
import subprocess
import sys
import textwrap
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from tests.syntax_trees import syntax_tree, walk

import foreword

pytestmark = pytest.mark.xdist_group("source")

PACKAGE = Path(foreword.__file__).parent
GENERATED = (PACKAGE / "packs/std", PACKAGE / "packs/agents", PACKAGE / "inspection/compiled_prices.py")
PATHS = [path for path in sorted(PACKAGE.rglob("*.py")) if path not in GENERATED and path.parent not in GENERATED]

ENTRIES = 28
LINES_OF_A_FILE = 500
LINES_OF_A_CLASS = 240
COMPLEXITY = 15

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.Assert,
)


def complexity(function):
    """McCabe complexity, counting boolean operators and comprehensions; nested functions are counted separately."""
    count, nodes = 1, list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        if isinstance(node, DEFINITIONS):
            continue
        count += isinstance(node, BRANCHES)
        count += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        count += 1 + len(node.ifs) if isinstance(node, ast.comprehension) else 0
        nodes += ast.iter_child_nodes(node)
    return count


def location(path, node):
    return f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}"


@cache
def all_definitions():
    return [(path, node) for path in PATHS for node in walk(syntax_tree(path)) if isinstance(node, DEFINITIONS)]


def definitions(kinds):
    return [(path, node) for path, node in all_definitions() if isinstance(node, kinds)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("return 1", 1),
        ("if a: return 1", 2),
        ("return a and b and c", 3),
        ("return [a for a in b if a if b]", 4),
        ("return a if b else c", 2),
        ("for a in b:\n    while a:\n        pass", 3),
        ("try:\n    a\nexcept E:\n    b", 2),
        ("def inner():\n    if a:\n        b", 1),
    ],
)
def test_complexity_counts_what_a_reader_has_to_follow(source, expected):
    assert complexity(ast.parse("def outer():\n" + textwrap.indent(source, "    ")).body[0]) == expected


def test_files_are_short():
    lengths = {str(path.relative_to(PACKAGE)): len(path.read_text().splitlines()) for path in PATHS}
    assert {name: length for name, length in lengths.items() if length > LINES_OF_A_FILE} == {}


def test_the_package_can_be_taken_in_at_a_glance():
    entries = [entry.name for entry in PACKAGE.iterdir() if entry.name != "__pycache__"]
    assert len(entries) <= ENTRIES, sorted(entries)


def test_classes_are_short():
    lengths = {location(path, node): node.end_lineno - node.lineno + 1 for path, node in definitions(ast.ClassDef)}
    assert {name: length for name, length in lengths.items() if length > LINES_OF_A_CLASS} == {}


def test_functions_are_simple():
    numbers = {location(path, node): complexity(node) for path, node in definitions(FUNCTIONS)}
    assert {name: number for name, number in numbers.items() if number > COMPLEXITY} == {}


def test_a_class_name_is_used_once():
    files = defaultdict(list)
    for path, node in definitions(ast.ClassDef):
        files[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}


@pytest.mark.parametrize(
    ("command", "frames", "run", "loaded"), [(["show"], 23, 50, 70), (["touch", "src/app.py"], 26, 60, 80)]
)
def test_a_command_stays_shallow(tmp_path, command, frames, run, loaded):
    """The fewer calls are nested, the sooner a reader of a stack or a debugger sees what happens."""
    (tmp_path / "src").mkdir()
    (tmp_path / "AGENTS.md").write_text("# Rules\n\nBe brief.\n")
    (tmp_path / "src/AGENTS.md").write_text("# Source\n\nUse tabs.\n")
    (tmp_path / ".git").mkdir()
    name, *paths = command
    arguments = [sys.executable, Path(__file__).with_name("frames.py"), name, tmp_path, *paths]
    environment = {**os.environ, "HOME": str(tmp_path / "home")}
    answer = subprocess.run(arguments, capture_output=True, text=True, check=True, env=environment)
    assert ("Be brief." in answer.stdout, "Use tabs." in answer.stdout) == (name == "show", name == "touch")
    counts = [int(word) for word in answer.stderr.splitlines()[-1].split() if word.isdigit()]
    assert all(count <= limit for count, limit in zip(counts, (frames, run, loaded), strict=True)), answer.stderr


def test_a_turn_over_http_stays_shallow(tmp_path):
    (tmp_path / "AGENTS.md").write_text("# Rules\n\nBe brief.\n")
    (tmp_path / ".git").mkdir()  # otherwise changes in the folders above would be noticed
    arguments = [sys.executable, Path(__file__).with_name("frames.py"), "http", tmp_path]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=True)
    frames = {name: int(count) for name, count in re.findall(r"^(\w+) turn: (\d+) frames", answer.stderr, re.MULTILINE)}
    limits = {"first": 19, "second": 12, "third": 9}
    assert frames.keys() == limits.keys()
    assert {name: count for name, count in frames.items() if count > limits[name]} == {}, answer.stderr
