"""Run the tests in several processes: `pytest --workers 3`.

This process collects all tests and then forks the workers, so that nothing is collected or imported twice. Each worker takes one group of
tests after the other from a pipe, and sends its reports to this process. A group is the tests with the same mark `xdist_group`, or the
other tests of a file, so that what they share is made once.
"""

from __future__ import annotations

import os
import traceback
from itertools import chain, pairwise
from multiprocessing.connection import Pipe, wait
from tempfile import TemporaryFile

import pytest
from _pytest.capture import FDCapture

_NUMBER = 4
"""The size of a group's number in the pipe, in bytes: a worker reads all of it at once."""


def groups_of(items):
    """Return the tests by group. Groups that are named are slow, so they come first."""
    named, files = {}, {}
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        groups, name = (named, mark.args[0]) if mark else (files, item.location[0])
        groups.setdefault(name, []).append(item)
    return [*named.values(), *files.values()]


def run(session, count):
    """Run all tests of a session in some workers."""
    groups = groups_of(session.items)
    session.config._tmp_path_factory.getbasetemp()  # each worker would make another one, and leave it behind
    queue, filled = os.pipe()
    os.write(filled, b"".join(number.to_bytes(_NUMBER, "big") for number in range(len(groups))))
    os.close(filled)
    workers = {}
    try:
        for _ in range(min(count, len(groups))):
            reader, writer = Pipe(duplex=False)
            if pid := os.fork():
                writer.close()
                workers[reader] = _Worker(pid)
            else:
                work(session, chain.from_iterable(groups[number] for number in _numbers(queue)), writer)
        while workers:
            for reader in wait(workers):
                _receive(session, workers, reader)
            if session.shouldfail or session.shouldstop:
                while os.read(queue, 1 << 16):
                    pass  # so that no worker begins another group
    finally:
        for reader, worker in workers.items():
            reader.close()
            os.waitpid(worker.pid, 0)
        os.close(queue)


class _Worker:
    """A worker, seen from the process that started it."""

    def __init__(self, pid):
        self.pid = pid
        self.nodeid, self.location = "none", ("none", None, "none")  # of the last test that began


def _receive(session, workers, reader):
    """Handle one message of a worker, or its end."""
    hook, worker = session.config.hook, workers[reader]
    try:
        name, content = reader.recv()
    except (EOFError, ConnectionResetError):
        del workers[reader]
        reader.close()
        if status := os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1]):
            text = f"the worker ended with status {status}, and did not run the other tests of its group"
            report = pytest.TestReport(worker.nodeid, worker.location, {}, "failed", text, "call")
            hook.pytest_runtest_logreport(report=report)
        return
    if name == "start":
        worker.nodeid, worker.location = content
    elif name == "report":
        report = hook.pytest_report_from_serializable(config=session.config, data=content)
        hook.pytest_runtest_logreport(report=report)
    else:
        hook.pytest_runtest_logfinish(nodeid=worker.nodeid, location=worker.location)


def work(session, tests, writer):
    """Run tests, send what happens to them, and end this process."""
    status = 1
    try:
        manager = session.config.pluginmanager
        manager.unregister(name="terminalreporter")
        manager.register(_Sender(session.config, writer))
        _separate_output(manager.get_plugin("capturemanager")._global_capturing)
        try:
            for item, following in pairwise(chain(tests, [None])):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if session.shouldfail or session.shouldstop:
                    break
        finally:
            session._setupstate.teardown_exact(None)
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(status)


def _separate_output(capturing):
    """Replace the files for captured output, which all workers share, and which modules may have kept when they were imported."""
    for stream in (capturing.out, capturing.err):
        if isinstance(stream, FDCapture):
            with TemporaryFile() as own:
                os.dup2(own.fileno(), stream.tmpfile.fileno(), inheritable=False)


def _numbers(queue):
    while number := os.read(queue, _NUMBER):
        yield int.from_bytes(number, "big")


class _Sender:
    """Sends what the reports of a worker show."""

    def __init__(self, config, writer):
        self.config, self.writer = config, writer
        # Only these show times of fixtures; otherwise, fixtures that succeed without output need no report.
        self.is_complete = bool(config.option.xmlpath) or config.option.durations is not None

    def pytest_runtest_logstart(self, nodeid, location):
        self.writer.send(("start", (nodeid, location)))

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed or report.sections or self.is_complete:
            content = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
            self.writer.send(("report", content))

    def pytest_runtest_logfinish(self):
        self.writer.send(("finish", None))
