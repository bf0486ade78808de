"""Tests of one group run in one worker, so that their services, browsers and builds start once."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

GROUPED = """
import os
import pathlib
import pytest

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("number", range(8))
def test_one(number):
    pathlib.Path(f"{number}.worker").write_text(os.environ["PYTEST_XDIST_WORKER"])
"""


def test_a_group_runs_in_one_worker(tmp_path):
    (tmp_path / "test_grouped.py").write_text(GROUPED)
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
    ]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the other plugins take seconds to import
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    workers = [path.read_text() for path in tmp_path.glob("*.worker")]
    assert len(workers) == 8 and len(set(workers)) == 1


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
