"""Put random faults into the source, one at a time, and print those that no test notices: `make mutants SEED=1 NUMBER=20`.

Works in a temporary copy of the checkout with its own environment, so the processes that tests start use the changed module too.
The tests that execute the changed line run, short ones first, until one fails or the time for a fault is over. They are collected
once, and run in a fork in which the function has its new code: see `trying.py`. A failure counts if the test also fails alone with the
fault, and passes without it.
Which tests these are is recorded first, once for each file of tests: see `records.py`.
`--only conversation/assembling.py` limits the faults to files whose path below `src/foreword` begins like this; it can be repeated.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from checkout import ROOT, Collected, Copy, Outcome
from equivalent import EQUIVALENT
from faults import Fault, compiles, faults
from records import RecordedTest, Records, batches

PACKAGE = Path("src/foreword")
# Generated from other files.
GENERATED = ("packs/std/", "packs/agents/", "inspection/compiled_prices.py")


class Trial:
    """Tries faults in a copy, and remembers which tests fail without a fault too."""

    def __init__(self, copy: Copy, records: Records, seconds: float) -> None:
        self.copy, self.records, self.seconds = copy, records, seconds
        files = [path for path in records.files() if (copy.root / "tests" / path).exists()]  # others are new
        self.collected = Collected(copy, files)
        self.broken: set[str] = set()

    def result(self, fault: Fault) -> str:
        """Return what happened to a fault: which test killed it, that it survived, or that the time was over."""
        module = str(Path(fault.path).relative_to(PACKAGE))
        lines = (self.copy.root / fault.path).read_text().split("\n")[fault.line - 1 :][: fault.before.count("\n") + 1]
        tests = [test for test in self.records.tests_of(module, fault.function, lines) if test.name not in self.broken]
        deadline = time.monotonic() + self.seconds
        while True:
            kind, name, passed = self._run(fault, tests, deadline)
            if kind == "passed":
                return f"SURVIVED {len(tests)} tests"
            if kind == "late":
                return f"UNDECIDED in {self.seconds:.0f} s, after {passed} of {len(tests)} tests"
            failed = [test for test in tests if test.name == name]
            assert failed, f"pytest ended before the first test: {self.copy.output()}"
            if self.collected.run([failed], self.seconds).kind != "passed":
                self.broken.add(name)
                print(f"left out, because it fails without a fault too: {name}", flush=True)
            elif kind == "stuck" or self._run(fault, failed, time.monotonic() + self.seconds).kind != "passed":
                return f"killed by {name}{' (too slow)' if kind == 'stuck' else ''}"
            else:
                print(f"left out, because alone it passes with this fault: {name}", flush=True)
            tests = [test for test in tests if test.name != name]

    def _run(self, fault: Fault, tests: list[RecordedTest], deadline: float) -> Outcome:
        """Run tests with a fault until one fails, short ones first."""
        with self.copy.changed(fault) as change:
            outcome = self.collected.run(batches(tests, 0.5), max(deadline - time.monotonic(), 1), change)
            return outcome or self._run_again(tests, deadline)

    def _run_again(self, tests: list[RecordedTest], deadline: float) -> Outcome:
        """Like `_run`, but with new processes, for a fault that changes what happens when a module is imported."""
        passed = 0
        for batch in batches(tests):
            collected = None
            try:
                collected = Collected(self.copy, sorted({test.file for test in batch}), deadline - time.monotonic())
                outcome = collected.run([batch], max(deadline - time.monotonic(), 1))
            except EOFError:
                return Outcome("failed", batch[0].name, passed)
            except TimeoutError:
                return Outcome("late", "", passed)
            finally:
                if collected:
                    collected.close()
            passed += outcome.passed
            if outcome.kind != "passed":
                return outcome._replace(passed=passed)
        return Outcome("passed", "", passed)


def sample(seed: int, number: int, only: list[str]) -> list[Fault]:
    """Random faults from all modules, or from those whose path begins like one of `only`."""
    everything: list[Fault] = []
    for path in sorted((ROOT / PACKAGE).rglob("*.py")):
        module = path.relative_to(ROOT / PACKAGE).as_posix()
        if not module.startswith(GENERATED) and (not only or module.startswith(tuple(only))):
            everything += faults(str(PACKAGE / module), path.read_bytes())
    everything = [fault for fault in everything if (fault.path, fault.before, fault.text) not in EQUIVALENT]
    random.Random(seed).shuffle(everything)
    compiling = (fault for fault in everything if compiles(fault.apply((ROOT / fault.path).read_bytes())))
    return list(islice(compiling, number))


def record(copy: Copy, records: Records) -> None:
    """Bring the records up to date. In random order, so that several processes can share the work."""
    outdated = [path for path in records.files() if records.is_outdated(path)]
    random.shuffle(outdated)
    for number, path in enumerate(outdated, 1):
        print(f"recording {number} of {len(outdated)}: {path}", flush=True)
        if records.is_outdated(path):
            copy.record(path, records)


def try_all(chosen: list[Fault], trial: Trial) -> list[str]:
    """Try each fault; return those that no test killed, each with what happened to it."""
    left = []
    for number, fault in enumerate(chosen, 1):
        print(f"{number} of {len(chosen)}: {fault}", flush=True)
        start = time.monotonic()
        result = trial.result(fault)
        print(f"  {result} ({time.monotonic() - start:.0f} s)", flush=True)
        if not result.startswith("killed"):
            left.append(f"{result.split()[0]} {fault}")
    return left


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=20)
    parser.add_argument("--only", action="append", default=[], metavar="PATH")
    parser.add_argument("--seconds", type=float, default=300, help="how long to run tests for each fault")
    parser.add_argument("--list", action="store_true", help="print the faults instead of trying them")
    parser.add_argument("--tests", metavar="PATH", help="print the files of tests that execute a module")
    options = parser.parse_args()
    records = Records(ROOT)
    if options.tests:
        records.load()
        print(*sorted({f"tests/{test.file}" for test in records.tests_of(options.tests)}), sep="\n")
        return 0
    if sys.version_info < (3, 12):
        sys.exit(
            "make mutants needs Python 3.12 or later in .venv: run make clean, and make setup PYTHON=/path/to/python3.13"
        )
    chosen = sample(options.seed, options.number, options.only)
    if options.list:
        print(*chosen, sep="\n")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # so that the tests end too, and the copy is removed
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        os.chmod(folder, 0o755)  # PostgreSQL runs as another user if this one is root
        copy = Copy(Path(folder))
        record(copy, records)
        records.load()
        left = try_all(chosen, Trial(copy, records, options.seconds))
    survivors = sum(line.startswith("SURVIVED") for line in left)
    undecided = f"{len(left) - survivors} could not be decided in {options.seconds:.0f} s"
    print(f"\n{survivors} of {len(chosen)} survived, and {undecided} (seed {options.seed})", *left, sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
