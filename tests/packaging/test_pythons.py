"""The interpreters that `make test-pythons` and continuous integration find, tested with fake interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PYTHONS = Path(__file__).with_name("pythons.py")
BROKEN = "exit 127"


def interpreter(path, answer):
    """Write a program that reports its version like an interpreter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{answer if answer == BROKEN else f'echo {answer} {path}'}\n")
    path.chmod(0o755)


@pytest.fixture
def find_pythons(tmp_path):
    """`find_pythons(*versions)` returns the interpreters found among fake ones, considering only these versions."""

    def find_pythons(programs, *arguments):
        for name, answer in programs.items():
            interpreter(tmp_path / name, answer)
        environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{tmp_path / 'more'}", "HOME": str(tmp_path)}
        environment.pop("PYENV_ROOT", None)
        command = [sys.executable, PYTHONS, *arguments]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        paths = [Path(line) for line in result.stdout.splitlines()]
        return [path.relative_to(tmp_path).as_posix() for path in paths if path.is_relative_to(tmp_path)]

    return find_pythons


def test_each_version_is_found_once_oldest_first(find_pythons):
    programs = {
        "bin/python3": "3 98 1",
        "bin/python3.98": "3 98 1",
        "bin/python3-config": "3 97 0",
        "more/python3.11": "3 11 0",
        "more/python3.96": BROKEN,
        "more/python3.10": "3 10 99",
        ".pyenv/versions/3.98.0/bin/python3": "3 98 0",
        ".pyenv/versions/3.9.18/bin/python3": "3 9 18",
        ".pyenv/versions/3.98.1/bin/python3": "3 98 1",
    }
    expected = ["more/python3.11", ".pyenv/versions/3.98.0/bin/python3", "bin/python3"]
    assert find_pythons(programs) == expected


def test_the_ends_are_the_oldest_and_the_newest(find_pythons):
    programs = {"bin/python3.11": "3 11 0", "bin/python3.97": "3 97 0", "bin/python3.98": "3 98 0"}
    assert find_pythons(programs, "--ends") == ["bin/python3.11", "bin/python3.98"]


def test_a_virtual_environment_does_not_count(tmp_path):
    """The tests run in one, and its interpreter comes first on PATH."""
    environment = {**os.environ, "PATH": str(Path(sys.executable).parent)}
    result = subprocess.run([sys.executable, PYTHONS], env=environment, capture_output=True, text=True, check=False)
    assert sys.prefix != sys.base_prefix
    assert sys.executable not in result.stdout.splitlines()
