"""A plugin of pytest which writes a line for each test: its name, its seconds, and the lines of Foreword that it executed."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

import pytest
from recorder import recorder


def pytest_sessionstart():
    recorder.is_kept = True
    with suppress(FileNotFoundError):
        os.unlink(f"{recorder.folder}/{os.getpid()}")  # what importing `conftest.py` has executed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    recorder.take()
    start = time.perf_counter()
    try:
        return (yield)
    finally:
        line = json.dumps([item.nodeid, round(time.perf_counter() - start, 4), recorder.take()])
        with open(f"{recorder.folder}/tests", "a") as file:
            file.write(f"{line}\n")
