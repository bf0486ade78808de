"""A plugin of pytest which runs only the tests that a file names, one per line: `--chosen FILE`.

Unlike names on the command line, one that does not exist, because a fault has changed the parameters of a test, is no error.
"""

from __future__ import annotations

from pathlib import Path


def pytest_addoption(parser):
    parser.addoption("--chosen", type=Path)


def pytest_collection_modifyitems(config, items):
    names = set(config.option.chosen.read_text().split("\n"))
    items[:] = [item for item in items if item.nodeid in names]
