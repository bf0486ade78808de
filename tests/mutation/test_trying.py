"""How `make mutants` tries a fault: new code for functions that are imported already, and tests that run in a fork."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from multiprocessing.connection import Pipe
from pathlib import Path

import pytest
from checkout import Change
from replacing import Functions, NotReplaceable

ROOT = Path(__file__).parents[2]
SOURCE = """
import functools
LIMIT = 1
class A:
    size = 2
    def f(self): return 3
    @property
    def p(self): return [4 for _ in range(1)]
def outer():
    def inner(): return 5
    return inner
made = outer()
@functools.cache
def cached(): return 6
def g(value=7): return value
table = {"a": lambda: 8}
"""
"""A module whose numbers are changed."""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "module_to_change.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("module_to_change", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def change(module, number):
    functions = Functions(os.path.dirname(module.__file__), "module_to_change")
    after = SOURCE.replace(str(number), "9")
    functions.replace(functions.replacements(module.__file__, SOURCE.encode(), after.encode()))


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (3, lambda module: module.A().f()),
        (4, lambda module: module.A().p[0]),
        (5, lambda module: module.made()),
        (5, lambda module: module.outer()()),
        (6, lambda module: module.cached()),
        (8, lambda module: module.table["a"]()),
    ],
)
def test_functions_get_the_code_of_a_changed_module(module, number, value):
    assert value(module) == number
    change(module, number)
    assert value(module) == 9


@pytest.mark.parametrize("number", [1, 2, 7])
def test_code_that_has_run_when_a_module_was_imported_cannot_be_replaced(module, number):
    with pytest.raises(NotReplaceable):
        change(module, number)


TESTS = """
import os, time
from package_to_change import value
def test_equal(): assert value() == 1
def test_quick():
    while value() == 3: time.sleep(0.01)
def test_end():
    if value() == 4: os._exit(1)
def test_other(): pass
"""


def test_chosen_tests_run_until_one_fails_ends_the_process_or_takes_too_long(tmp_path):
    package = tmp_path / "package_to_change"
    package.mkdir()
    (package / "__init__.py").write_text("def value(): return 1\n")
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text("")
    ours, other = Pipe()
    with other:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-qx",
            "-pno:cacheprovider",
            "-p",
            "trying",
            "--package",
            str(package),
        ]
        process = subprocess.Popen(
            [*command, "--connection", str(other.fileno()), "test_it.py"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT, Path(__file__).parent)))},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[other.fileno()],
        )

    def run(value, names, seconds=60, limit=60):
        before = (package / "__init__.py").read_bytes()
        changed = Change(str(package / "__init__.py"), before, before.replace(b"1", value))
        ours.send((changed, [{f"test_it.py::test_{name}": limit} for name in names.split()], seconds))
        return ours.recv()

    assert ours.poll(60) and ours.recv() == 4
    assert run(b"1", "equal quick end other") == ("passed", "", 4)
    assert run(b"2", "equal quick other") == ("failed", "test_it.py::test_equal", 0)
    assert run(b"2", "quick end removed") == ("passed", "", 2)
    assert run(b"3", "quick other", limit=0.5) == ("stuck", "test_it.py::test_quick", 0)
    assert run(b"3", "other quick", seconds=0.5) == ("late", "", 1)
    assert run(b"4", "other end quick") == ("failed", "test_it.py::test_end", 1)
    ours.close()
    assert "no tests ran" in process.communicate(timeout=60)[0].decode()
