"""The faults that `make mutants` puts into the source, and the tests that it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from equivalent import EQUIVALENT
from failures import failure
from faults import compiles, faults
from own_tests import OF_PACKAGE, own_tests

TESTS = Path(__file__).parents[1]
PACKAGE = TESTS.parent / "src/foreword"
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("x = a < b", ["x = (a <= b)"]),
        ("x = a in b", ["x = (a not in b)"]),
        ("x = a < b != c", ["x = (a <= b != c)", "x = (a < b == c)"]),
        ("x = a and b", ["x = (a or b)", "x = (b)", "x = (a)"]),
        ("x = not a", ["x = (a)"]),
        ("x = a + 1", ["x = (a - 1)", "x = a + (2)"]),
        ("x = a if b else c", ["x = (a)", "x = (c)"]),
        ("x = True", ["x = (False)"]),
        ("if a:\n    f()", ["if (not (a)):\n    f()", "if a:\n    pass"]),
        ("while a:\n    break", ["while (not (a)):\n    break", "while a:\n    continue"]),
        ("def f():\n    return a", ["def f():\n    return None"]),
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


def test_every_module_has_tests_of_its_own():
    tests = {module: own_tests(module, TESTS) for module in MODULES}
    assert [module for module in MODULES if not tests[module]] == []
    assert {
        path for groups in tests.values() for group in groups for path in group if not (TESTS / path).exists()
    } == set()


def test_every_package_is_listed():
    assert set(OF_PACKAGE) == {module.partition("/")[0] if "/" in module else "" for module in MODULES}


def test_tests_that_import_a_module_run_first():
    assert own_tests("store/rows.py", TESTS)[-1] == ["store", "conversation"]
    assert own_tests("conversation/transitions.py", TESTS)[0][0] == "conversation/test_transitions.py"
    assert own_tests("cli/trust.py", TESTS)[0][:2] == ["sources/test_trust.py", "cli/test_hostile_trust.py"]


def test_every_equivalent_fault_still_exists():
    for path, before, after in EQUIVALENT:
        found = {(fault.before, fault.text) for fault in faults(path, (TESTS.parent / path).read_bytes())}
        assert (before, after) in found, path


@pytest.mark.parametrize(
    ("output", "named"),
    [
        ("F\n=== short ===\nFAILED tests/a/test_b.py::test_c[x y] - assert 1 == 2\n", "tests/a/test_b.py::test_c[x y]"),
        ("ERROR tests/a/test_b.py::test_c - OSError: no\n", "tests/a/test_b.py::test_c"),
        ("ERROR tests/a/test_b.py\n!!! Interrupted !!!\n", "tests/a/test_b.py"),
        ("..Timeout (0:02:00)!\nThread 0x1:\n", "a test that took more than 120 s"),
        ("ImportError while loading conftest", "pytest, which ended with: ImportError while loading conftest"),
    ],
)
def test_what_failed_is_read_from_the_output_of_pytest(output, named):
    assert failure(output) == named
