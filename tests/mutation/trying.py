"""A plugin of pytest which collects tests once, and then runs some of them whenever another process asks for it: `--connection FD`.

Each time, a fork of this process runs them, in which the functions of a changed module get their new code. So nothing is imported or
collected again.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, Pipe

import pytest
from replacing import Functions, NotReplaceable


def pytest_addoption(parser):
    parser.addoption("--connection", type=int)
    parser.addoption("--package", help="the folder of the package, whose modules are changed")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session):
    options = session.config.option
    session.config._tmp_path_factory.getbasetemp()  # each fork would make another one, and leave it behind
    tests = {item.nodeid: (number, item) for number, item in enumerate(session.items)}
    functions = Functions(f"{options.package}/", os.path.basename(options.package))
    os.set_inheritable(options.connection, False)
    with Connection(options.connection) as connection, suppress(EOFError):
        connection.send(len(tests))
        while True:
            change, batches, seconds = connection.recv()
            try:
                replacements = functions.replacements(*change) if change else []
            except NotReplaceable:
                connection.send(None)
                continue
            # In the order of collection, so that what the tests of a file share is made once in each batch.
            items = [item for batch in batches for _, item in sorted(tests[name] for name in batch if name in tests)]
            limits = {name: limit for batch in batches for name, limit in batch.items()}
            connection.send(_run(session, items, limits, seconds, partial(functions.replace, replacements)))
    return True


def _run(session, items, limits, seconds, prepare):
    """Run tests in a fork until one fails. Return what happened, the name of the test that was running, and how many have passed."""
    from tests import workers

    reader, writer = Pipe(duplex=False)
    pid = os.fork()
    if not pid:
        os.setsid()
        prepare()
        workers.work(session, items, writer)
    writer.close()
    try:
        outcome, name, passed = _watch(reader, limits, seconds)
        if outcome == "ended":
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            return ("failed", name, passed) if status else ("passed", "", passed)
        if outcome == "failed":
            _wait(pid, 20)  # it stops what the tests have started
        return outcome, name, passed
    finally:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        reader.close()


def _watch(reader, limits, seconds):
    """Read what a fork sends until a test has failed or takes too long, the time is over, or the fork has ended."""
    name, passed = "", 0
    late = stuck = time.monotonic() + seconds
    while True:
        if not reader.poll(max(min(late, stuck) - time.monotonic(), 0)):
            return ("late", "", passed) if late <= stuck else ("stuck", name, passed)
        try:
            kind, content = reader.recv()
        except EOFError:
            return "ended", name, passed
        if kind == "start":
            name = content[0]
            stuck = time.monotonic() + limits[name]
        elif kind == "finish":
            passed += 1
        elif content["outcome"] == "failed":
            return "failed", name, passed


def _wait(pid, seconds):
    """Wait until a process ends, but not longer than some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(ChildProcessError):
            if os.waitpid(pid, os.WNOHANG) == (0, 0):
                time.sleep(0.02)
                continue
        return
