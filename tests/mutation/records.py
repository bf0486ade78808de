"""Which tests execute which lines of Foreword, and how long they take: recorded once for each file of tests, in `.mutation/`.

A file of tests is recorded again when it has changed. A line is known by its function and its text, which stay the same when lines move.
A test that uses a result which an earlier test has left in a cache does not execute the lines that lead to it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial, reduce
from itertools import chain
from operator import or_
from pathlib import Path
from typing import NamedTuple

# Tests in a browser, of the packaging and of all examples are too slow to run once per fault; the last two read the source as text.
LEFT_OUT = ("browser/", "packaging/", "mutation/", "test_docs.py", "test_architecture.py", "test_sizes.py")
# How many parameters of a function are tried before those of other functions.
_PARAMETERS = 3
# To import a file of tests takes about this long.
_FILE_SECONDS = 0.1


class RecordedTest(NamedTuple):
    name: str
    file: str
    seconds: float
    lines: int = 0  # how many it executes


class Records:
    """The records of a checkout, as they are in its folder `.mutation`."""

    def __init__(self, root: Path) -> None:
        self.tests, self.folder = root / "tests", root / ".mutation"
        self._records: list[dict] = []

    def files(self) -> list[str]:
        """Every file of tests that is recorded, as a path below `tests`."""
        paths = (path.relative_to(self.tests).as_posix() for path in self.tests.rglob("test_*.py"))
        return sorted(path for path in paths if not path.startswith(LEFT_OUT))

    def is_outdated(self, path: str) -> bool:
        """Whether a file of tests has changed since its record was made, or has none."""
        return self._read(path).get("source") != self._hash(path)

    def add(self, path: str, raw: Path, package: Path) -> None:
        """Keep what `recorder.py` and `recording.py` have written about one file of tests."""
        named = partial(_named, package, {})
        lines = (raw / "tests").read_text().splitlines() if (raw / "tests").exists() else []
        tests = [json.loads(line) for line in lines]
        executed: dict[str, int] = {}
        for number, (_, _, places) in enumerate(tests):
            for name in set(chain.from_iterable(map(named, places))):
                executed[name] = executed.get(name, 0) | 1 << number
        places = {place for file in raw.iterdir() if file.name != "tests" for place in file.read_text().splitlines()}
        record = {
            "source": self._hash(path),
            "tests": [[name, path, seconds, len(places)] for name, seconds, places in tests],
            "executed": executed,
            "processes": sorted(set(chain.from_iterable(map(named, places)))),
        }
        target = self._place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(record))

    def load(self) -> None:
        """Read all records."""
        for path in self.files():
            if record := self._read(path):
                record["executed"] = {sys.intern(name): tests for name, tests in record["executed"].items()}
                record["processes"] = set(map(sys.intern, record["processes"]))
                record["tests"] = [RecordedTest(*test) for test in record["tests"]]
                self._records.append(record)

    def tests_of(self, module: str, function: str = "", lines: Sequence[str] = ()) -> list[RecordedTest]:
        """The tests that execute one of some lines, or if there are none, the function, or its module.

        Quick tests that execute few lines come first, because these are more likely to be about the ones in question, but only some of
        each function's parameters. Last come those that need a process: what a process has executed counts for every test of the file,
        because its tests may share a server.
        """
        function = f"{module}:{function}"
        for names in ([f"{function}:{line.strip()}" for line in lines], [function], [module]):
            if found := self._tests(names):
                break
        tests = sorted(found, key=lambda test: (found[test], test.lines * (1 + test.seconds), test.name))
        earlier: Counter[str] = Counter()
        rounds = {}
        for test in tests:
            function = test.name.partition("[")[0]
            rounds[test] = earlier[function] // _PARAMETERS
            earlier[function] += 1
        return sorted(tests, key=lambda test: (found[test], rounds[test]))

    def _tests(self, names: list[str]) -> dict[RecordedTest, bool]:
        """The tests that execute one of some names, and whether only a process that they may have started does."""
        found = {}
        for record in self._records:
            executed = reduce(or_, (record["executed"].get(name, 0) for name in names), 0)
            is_shared = not record["processes"].isdisjoint(names)
            for number, test in enumerate(record["tests"]):
                if is_shared or executed >> number & 1:
                    found[test] = not executed >> number & 1
        return found

    def _place(self, path: str) -> Path:
        return self.folder / f"{path}.json"

    def _read(self, path: str) -> dict:
        place = self._place(path)
        return json.loads(place.read_text()) if place.exists() else {}

    def _hash(self, path: str) -> str:
        return hashlib.sha256((self.tests / path).read_bytes()).hexdigest()


def _named(package: Path, texts: dict[str, list[str]], place: str) -> tuple[str, str, str]:
    """The names of an executed line: its module, its function, and its text in the function."""
    function, _, number = place.rpartition(":")
    module = function.partition(":")[0]
    if module not in texts:
        texts[module] = (package / module).read_text().split("\n")
    return module, function, f"{function}:{texts[module][int(number) - 1].strip()}"


def batches(tests: list[RecordedTest], seconds: float = 3) -> list[list[RecordedTest]]:
    """Split tests so that the first batch takes a few seconds, and each other batch four times as long as the one before."""
    found: list[list[RecordedTest]] = []
    files: set[str] = set()
    left = 0.0
    for test in tests:
        if left <= 0:
            found.append([])
            files, left = set(), seconds * 4 ** (len(found) - 1)
        found[-1].append(test)
        left -= test.seconds + (_FILE_SECONDS if test.file not in files else 0)
        files.add(test.file)
    return found
