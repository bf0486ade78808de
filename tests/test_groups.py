"""Tests of one group or file run in one worker, so that their services, browsers and builds start once."""

import gc
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
        print(os.getpid(), file=file)

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("number", range(8))
def test_grouped(number):
    note("together")

@pytest.mark.parametrize("address", ["a@b", "::", "b"] * 3)
def test_other(address):
    note(pathlib.Path(__file__).name)
"""


FAILING = """
import sys

import pytest

def test_kept_output(errors=sys.stderr): print("kept", file=errors)

@pytest.fixture
def broken():
    raise ValueError("in setup")

@pytest.fixture
def breaking():
    print("made")
    yield
    print("removed")
    raise ValueError("in teardown")

@pytest.fixture
def talking():
    print("before")
    yield
    print("after")

def test_setup(broken): pass
def test_teardown(breaking): pass
def test_call(talking): raise ValueError("in call")
def test_skipped(): pytest.skip("for a reason")
def test_passing(talking): pass
"""


ENDING = """
import os

def test_before(): pass
def test_that_ends_its_process(): os._exit(3)
def test_after(): pass
"""


def run_in_workers(folder, *options):
    """Run the tests of a folder in two workers, with this project's settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the other plugins take seconds to import
    environment["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "--workers", "2"]
    return subprocess.run([*command, *options], cwd=folder, env=environment, capture_output=True, text=True)


def test_workers_report_every_failure_with_the_output_of_its_fixtures(tmp_path):
    (tmp_path / "test_failing.py").write_text(FAILING)
    result = run_in_workers(tmp_path, "-rA", "--junitxml=times.xml")
    counts = "1 failed, 3 passed, 1 skipped, 2 errors"
    assert (result.returncode, counts in result.stdout) == (1, True), result.stdout
    assert 'errors="2" failures="1" skipped="1"' in (tmp_path / "times.xml").read_text()
    result = run_in_workers(tmp_path, "-rA")
    assert (result.returncode, counts in result.stdout) == (1, True), result.stdout
    for text in ("in setup", "in teardown", "in call", "for a reason", "kept"):
        assert text in result.stdout
    failure = result.stdout.partition("= FAILURES =")[2].partition("= PASSES =")[0]
    assert [line for line in failure.splitlines() if line in ("before", "after")] == ["before", "after"]


def test_a_worker_that_ends_too_early_is_a_failure_and_the_others_go_on(tmp_path):
    (tmp_path / "test_ending.py").write_text(ENDING)
    (tmp_path / "test_failing.py").write_text(FAILING)
    result = run_in_workers(tmp_path)
    assert (result.returncode, "2 failed, 4 passed, 1 skipped, 2 errors" in result.stdout) == (1, True), result.stdout
    assert "the worker ended with status 3, and did not run the other tests of its group" in result.stdout
    assert "FAILED test_ending.py::test_that_ends_its_process" in result.stdout


def test_no_group_begins_after_the_failure_that_should_be_the_last(tmp_path):
    (tmp_path / "test_0.py").write_text("def test_failing(): assert False\ndef test_of_the_same_group(): pass\n")
    (tmp_path / "test_1.py").write_text("def test_passing(): pass\n")
    result = run_in_workers(tmp_path, "-x", "--workers", "1")
    assert (result.returncode, "1 failed in" in result.stdout) == (1, True), result.stdout
    assert "stopping after 1 failures" in result.stdout


def test_an_error_in_collection_stops_the_run(tmp_path):
    (tmp_path / "test_0.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "test_1.py").write_text("def test_passing(): pass\n")
    result = run_in_workers(tmp_path)
    assert (result.returncode, "1 error in" in result.stdout) == (2, True), result.stdout


def test_a_group_and_the_rest_of_a_file_each_run_in_one_worker(tmp_path):
    for number in range(3):
        (tmp_path / f"test_{number}.py").write_text(TESTS)
    result = run_in_workers(tmp_path)
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


def test_a_file_is_collected_without_the_frameworks():
    """Pytest collects a file that is named even if its folder ignores it."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-rs"]
    files = ["tests/integrations/test_langchain.py"]
    result = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 5, result.stdout
    assert "langchain is not installed; run `make integrations`" in result.stdout


def test_the_garbage_collector_runs_but_not_over_what_was_collected():
    assert gc.isenabled() and gc.get_freeze_count() > 0
