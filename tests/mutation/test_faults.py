"""The faults that `make mutants` puts into the source, and the tests that it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from equivalent import EQUIVALENT
from faults import compiles, faults
from records import RecordedTest, Records, batches

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("x = a < b", ["x = (a <= b)"]),
        ("x = a in b", ["x = (a not in b)"]),
        ("x = a < b != c", ["x = (a <= b != c)", "x = (a < b == c)"]),
        ("x = a and b", ["x = (a or b)", "x = (b)", "x = (a)"]),
        ("x = not a", ["x = (a)"]),
        ("x = a + 1", ["x = (a - 1)", "x = a + (2)"]),
        ("x = 9, 10", ["x = (10), 10", "x = 9, (20)"]),
        ("x = a if b else c", ["x = (a)", "x = (c)"]),
        ("x = True", ["x = (False)"]),
        ("if a:\n    f()", ["if (not (a)):\n    f()", "if a:\n    pass"]),
        ("while a:\n    break", ["while (not (a)):\n    break", "while a:\n    continue"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
        ("def f():\n    return False", ["def f():\n    return (True)"]),
        ("raise A", ["pass"]),
        ("a += b", ["pass"]),
        ("x = 'ä', a == b", ["x = 'ä', (a != b)"]),
        ('"""Text."""', []),
        ("x: A | B = f'{a + b}'", []),
        ("if TYPE_CHECKING:\n    f()", []),
        ("def f() -> A | B:\n    return None", []),
    ],
)
def test_a_fault_changes_one_place(source, mutants):
    found = faults("x.py", source.encode())
    assert [fault.apply(source.encode()).decode() for fault in found] == mutants


def test_a_change_that_is_not_python_is_left_out():
    source = b"@value\nclass A:\n    x = 1\n"
    assert compiles(source) and not compiles(b"f(a=1, (2))")


def test_a_fault_names_the_function_that_contains_it():
    source = b"""
x = 1
def f(a=2):
    def inner():
        return 3
class A:
    y = 4
    class B:
        async def g(self):
            4
if x:
    def h(): 5
"""
    assert {(fault.before, fault.function) for fault in faults("x.py", source) if fault.before.isdigit()} == {
        ("1", ""),
        ("2", "f"),
        ("3", "f"),
        ("4", ""),
        ("4", "A.B.g"),
        ("5", "h"),
    }


def test_every_equivalent_fault_still_exists():
    for path, before, after in EQUIVALENT:
        found = {(fault.before, fault.text) for fault in faults(path, (TESTS.parent / path).read_bytes())}
        assert (before, after) in found, path


@pytest.fixture
def records(tmp_path):
    """Records of two files of tests, one of which starts a server."""
    (tmp_path / "x.py").write_text("def f():\n    if a:\n        b()\nclass A:\n    def g(self):\n        c()\n")
    (tmp_path / "y.py").write_text("def f():\n    d()\n")
    (tmp_path / "tests").mkdir()
    for name, lines, processes in (
        ("a", [("a1", 0.1, ["x.py:f:2", "x.py:f:3", "x.py:A.g:6"]), ("a2", 0.2, ["x.py:f:2"])], []),
        ("b", [("b1", 3, ["y.py:f:2"]), ("b2", 0.05, [])], ["x.py:A.g:6", "y.py:<module>:1"]),
    ):
        raw = tmp_path / f"raw-{name}"
        raw.mkdir()
        (raw / "tests").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        (raw / "71").write_text("".join(f"{process}\n" for process in processes))
        (tmp_path / f"tests/test_{name}.py").write_text("")
        Records(tmp_path).add(f"test_{name}.py", raw, tmp_path)
    records = Records(tmp_path)
    records.load()
    return records


@pytest.mark.parametrize(
    ("module", "function", "lines", "names"),
    [
        ("x.py", "f", ["        b()"], ["a1"]),
        ("x.py", "f", ["    if a:", "        b()"], ["a2", "a1"]),
        ("x.py", "A.g", ["  c()"], ["a1", "b2", "b1"]),
        ("y.py", "f", ["    d()"], ["b1"]),
        # Lines that no test executes are left to the tests of their function, because they may be new.
        ("x.py", "f", ["        new()"], ["a2", "a1"]),
        # Code outside functions, and functions that no test executes, are left to the tests of the module.
        ("x.py", "", ["def f():"], ["a2", "a1", "b2", "b1"]),
        ("x.py", "new", ["    b()"], ["a2", "a1", "b2", "b1"]),
        ("new.py", "f", ["    b()"], []),
    ],
)
def test_the_tests_of_a_line_execute_it_or_share_a_server_that_does(records, module, function, lines, names):
    assert [test.name for test in records.tests_of(module, function, lines)] == names


def test_three_parameters_of_each_function_come_first(tmp_path):
    (tmp_path / "x.py").write_text("def f(): pass\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("")
    (tmp_path / "raw").mkdir()
    names = [*(f"a[{number}]" for number in range(5)), "b", "c[0]"]
    lines = [json.dumps([name, 0.01, ["x.py:f:1"]]) for name in names]
    (tmp_path / "raw" / "tests").write_text("\n".join(lines))
    records = Records(tmp_path)
    records.add("test_a.py", tmp_path / "raw", tmp_path)
    records.load()
    ordered = [test.name for test in records.tests_of("x.py", "f", ["def f(): pass"])]
    assert ordered == ["a[0]", "a[1]", "a[2]", "b", "c[0]", "a[3]", "a[4]"]


def test_a_record_is_outdated_when_its_tests_have_changed(records):
    assert [path for path in records.files() if records.is_outdated(path)] == []
    (records.tests / "test_b.py").write_text("def test_b3(): pass")
    (records.tests / "test_c.py").write_text("")
    assert [path for path in records.files() if records.is_outdated(path)] == ["test_b.py", "test_c.py"]


def test_each_batch_of_tests_takes_longer_than_the_one_before():
    tests = [RecordedTest(f"t{number}", "test_a.py", 0.1) for number in range(200)]
    assert [len(batch) for batch in batches(tests, 1)] == [10, 39, 151]
    assert [test for batch in batches(tests, 1) for test in batch] == tests
    assert batches([]) == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="make mutants needs Python 3.12")
def test_the_recorder_writes_what_a_process_and_its_children_execute(tmp_path):
    package = tmp_path / "package/"
    package.mkdir()
    (package / "x.py").write_text(
        "class A:\n    def f(self):\n        return [g() for _ in 'ab']\ndef g(): pass\ndef h():\n    g()\n"
    )
    code = (
        f"import os, sys, threading\nsys.path += [{str(package)!r}, {str(TESTS / 'mutation')!r}]\n"
        f"import recorder, x\nrecorder.start({f'{package}/'!r}, {str(tmp_path)!r})\n"
        "thread = threading.Thread(target=x.A().f)\nthread.start()\nthread.join()\n"
        "if child := os.fork():\n    os.waitpid(child, 0)\nelse:\n    x.h()\n    os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    written = [set(file.read_text().splitlines()) for file in tmp_path.iterdir() if file.is_file()]
    parent, child = {"x.py:A.f:2", "x.py:A.f:3", "x.py:g:4"}, {"x.py:h:5", "x.py:h:6", "x.py:g:4"}
    assert written in ([parent, child], [child, parent])
