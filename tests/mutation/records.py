"""Which tests execute which functions of Foreword, and how long they take: recorded once for each file of tests, in `.mutation/`.

A file of tests is recorded again when it has changed. Only functions are recorded, not lines: a function is small, and its name stays
the same when lines move. A test that uses a result which an earlier test has left in a cache does not execute the function.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

# Tests in a browser, of the packaging and of all examples are too slow to run once per fault; the last two read the source as text.
LEFT_OUT = ("browser/", "packaging/", "mutation/", "test_docs.py", "test_architecture.py", "test_sizes.py")
# To import a file of tests takes about this long.
_FILE_SECONDS = 0.1


class RecordedTest(NamedTuple):
    name: str
    file: str
    seconds: float


class Records:
    """The records of a checkout, as they are in its folder `.mutation`."""

    def __init__(self, root: Path) -> None:
        self.tests, self.folder = root / "tests", root / ".mutation"
        # For each test, whether only a process that it may have started executes the function.
        self.of_function: dict[str, dict[RecordedTest, bool]] = {}
        self.of_module: dict[str, dict[RecordedTest, bool]] = {}

    def files(self) -> list[str]:
        """Every file of tests that is recorded, as a path below `tests`."""
        paths = (path.relative_to(self.tests).as_posix() for path in self.tests.rglob("test_*.py"))
        return sorted(path for path in paths if not path.startswith(LEFT_OUT))

    def is_outdated(self, path: str) -> bool:
        """Whether a file of tests has changed since its record was made, or has none."""
        return self._read(path).get("hash") != self._hash(path)

    def add(self, path: str, raw: Path) -> None:
        """Keep what `recorder.py` and `recording.py` have written about one file of tests."""
        lines = (
            [json.loads(line) for line in (raw / "tests").read_text().splitlines()] if (raw / "tests").exists() else []
        )
        processes = {name for file in raw.iterdir() if file.name != "tests" for name in file.read_text().splitlines()}
        names = sorted(processes.union(*(functions for _, _, functions in lines)))
        number = {name: index for index, name in enumerate(names)}
        record = {
            "hash": self._hash(path),
            "functions": names,
            "processes": sorted(number[name] for name in processes),
            "tests": [[test, seconds, [number[name] for name in functions]] for test, seconds, functions in lines],
        }
        target = self._place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(record))

    def load(self) -> None:
        """Read all records. What a process has executed counts for every test of the file, because its tests may share a server."""
        for path in self.files():
            record = self._read(path)
            names = record.get("functions", [])
            for name, seconds, functions in record.get("tests", []):
                test = RecordedTest(name, path, seconds)
                for number in {*(executed := set(functions)), *record["processes"]}:
                    is_shared = number not in executed
                    self.of_function.setdefault(names[number], {})[test] = is_shared
                    module = self.of_module.setdefault(names[number].partition(":")[0], {})
                    module[test] = module.get(test, True) and is_shared

    def tests_of(self, module: str, function: str = "") -> list[RecordedTest]:
        """The tests that execute a function, or if there are none, its module; the quickest first, and last those that need a process."""
        found = self.of_function.get(f"{module}:{function}") or self.of_module.get(module, {})
        return sorted(found, key=lambda test: (found[test], test.seconds, test.name))

    def _place(self, path: str) -> Path:
        return self.folder / f"{path}.json"

    def _read(self, path: str) -> dict:
        place = self._place(path)
        return json.loads(place.read_text()) if place.exists() else {}

    def _hash(self, path: str) -> str:
        return hashlib.sha256((self.tests / path).read_bytes()).hexdigest()


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
