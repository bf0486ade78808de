"""Tests of one group or file run in one worker, so that their services, browsers and builds start once."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

TESTS = """
import os
import pathlib
import pytest

def note(name):
    with open(name + ".workers", "a") as file:
        print(os.environ["PYTEST_XDIST_WORKER"], file=file)

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("number", range(8))
def test_grouped(number):
    note("together")

@pytest.mark.parametrize("address", ["a@b", "::", "b"] * 3)
def test_other(address):
    note(pathlib.Path(__file__).name)
"""


def test_a_group_and_the_rest_of_a_file_each_run_in_one_worker(tmp_path):
    for number in range(3):
        (tmp_path / f"test_{number}.py").write_text(TESTS)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
        "-p",
        "conftest",
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the other plugins take seconds to import
    environment["PYTHONPATH"] = str(ROOT / "tests")
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    workers = {path.stem: path.read_text().split() for path in tmp_path.glob("*.workers")}
    assert {name: len(runs) for name, runs in workers.items()} == {
        "together": 24,
        "test_0.py": 9,
        "test_1.py": 9,
        "test_2.py": 9,
    }
    assert [len(set(runs)) for runs in workers.values()] == [1] * 4
    assert len({worker for runs in workers.values() for worker in runs}) == 2


def test_files_are_collected_without_xdist_and_without_the_frameworks():
    """Pytest collects a file that is named even if its folder ignores it."""
    files = ["tests/test_sizes.py", "tests/integrations/test_langchain.py"]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "--collect-only",
        "-rs",
        *files,
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    assert "langchain is not installed; run `make integrations`" in result.stdout
