"""A disk on which calls can be made to fail."""

import os
from collections import Counter
from contextlib import contextmanager
from types import SimpleNamespace

import pytest


class Disk:
    """The operating system, except for chosen paths: `fail(call, path, error)` makes one call raise. Calls are counted."""

    def __init__(self):
        self.calls = Counter()
        self.bytes_read = 0
        self.faults = {}
        self.ghosts = []
        self.paths = {}
        self.endless = set()
        self.backwards = False

    def fail(self, call, path, error, after=0):
        """Make a call raise for a path, after it has succeeded `after` times."""
        self.faults[call, path] = [*[None] * after, error]

    def add_ghost(self, path):
        """List a file that does not exist in its directory, as if it had just been removed."""
        self.ghosts.append(path)

    def _record(self, call, path):
        self.calls[call] += 1
        results = self.faults.get((call, path), [None])
        if error := results[0] if len(results) == 1 else results.pop(0):
            raise error

    def open(self, path, flags):
        self._record("open", path)
        descriptor = os.open(path, flags)
        self.paths[descriptor] = path
        return descriptor

    def close(self, descriptor):
        del self.paths[descriptor]
        os.close(descriptor)

    def fstat(self, descriptor):
        self._record("fstat", self.paths[descriptor])
        return os.fstat(descriptor)

    def read(self, descriptor, size):
        path = self.paths[descriptor]
        self._record("read", path)
        data = b"word\n".ljust(size, b"a") if path in self.endless else os.read(descriptor, size)
        self.bytes_read += len(data)
        return data

    def stat(self, path):
        self._record("stat", path)
        return os.stat(path)

    def lstat(self, path):
        self._record("lstat", path)
        return os.lstat(path)

    @contextmanager
    def scandir(self, folder):
        path = self.paths.get(folder, folder)
        self._record("scandir", path)
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name, reverse=self.backwards)
        missing = [os.path.basename(ghost) for ghost in self.ghosts if os.path.dirname(ghost) == path]
        yield iter([*entries, *(SimpleNamespace(name=name) for name in missing)])


@pytest.fixture
def disk():
    fake = Disk()
    yield fake
    assert fake.paths == {}
