"""Messages that a client of the service may get do not tell it to run a command: it may not be on that machine."""

import ast
import re
from pathlib import Path

import pytest

import foreword

SOURCE = Path(foreword.__file__).parent
# `foreword proxy: ` begins a line of a log.
COMMAND = re.compile(r"\bforeword [a-z]+\b(?!: )")
PACKAGES = ("building", "conversation", "encoding", "engine", "gathering", "inspection", "service", "store", "template")
# What these say is read where the command line is: by who starts the service, verifies or saves a store, or edits the files that lint names.
LOCAL = {
    "service/tokens.py",
    "store/backup.py",
    "store/faults.py",
    "inspection/lint/agent_files.py",
    "inspection/lint/agent_texts.py",
}


def messages(path):
    """Yield the strings of a module that are not documentation."""
    tree = ast.parse(path.read_text())
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value


def test_commands_are_found():
    assert any(COMMAND.search(text) for text in messages(SOURCE / "store" / "faults.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_message_names_a_command(package):
    for path in (SOURCE / package).rglob("*.py"):
        if path.relative_to(SOURCE).as_posix() not in LOCAL:
            assert [text for text in messages(path) if COMMAND.search(text)] == [], path
