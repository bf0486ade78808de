"""Start `foreword` as a copy of a process that has imported the service, because importing it is most of the cost of starting it.

The tests start over a hundred services. One process imports the modules and then waits; for each start it forks. The copy has its own
arguments, environment, directory and output, and runs `foreword` as `python -m foreword` does. Tests of how a process starts use an
interpreter of their own, and so does a service whose environment has variables that only an interpreter reads.
"""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import signal
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.reduction import recv_handle, send_handle

IMPORTED = ("foreword.cli.serve", "foreword.service.server", "foreword.store.sqlite")


class Launcher:
    """The process that is copied, seen from the tests. Calling it starts `foreword`."""

    def __init__(self):
        self.connection, other = Pipe()
        command = [sys.executable, __file__, str(other.fileno())]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        environment["LC_ALL"] = "C.UTF-8"
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[other.fileno()], env=environment)
        other.close()
        self.statuses = {}

    def __call__(self, arguments, *, env, cwd, stdout, stderr):
        """Start `foreword` with these arguments. `stdout` and `stderr` are files, or `subprocess.PIPE` for a pipe of text."""
        if any(name.startswith("PYTHON") for name in env):  # these act only when an interpreter starts
            command = [sys.executable, "-m", "foreword", *arguments]
            return subprocess.Popen(command, env=env, cwd=cwd, stdout=stdout, stderr=stderr, text=True)
        ours = []
        theirs = [self._output(output, ours) for output in (stdout, stderr)]
        self.connection.send((list(map(str, arguments)), dict(env), str(cwd)))
        for descriptor in theirs:
            send_handle(self.connection, descriptor, self.process.pid)
        while (message := self.connection.recv())[0] != "started":
            self._note(message)
        for descriptor, output in zip(theirs, (stdout, stderr), strict=True):
            if output is subprocess.PIPE:
                os.close(descriptor)
        return Launched(self, message[1], *ours)

    def _output(self, output, ours):
        """Return the descriptor that the new process gets, and append the file from which the tests read it, or None."""
        if output is not subprocess.PIPE:
            ours.append(None)
            return output.fileno()
        reader, writer = os.pipe()
        ours.append(os.fdopen(reader, encoding="utf-8"))
        return writer

    def _note(self, message):
        _, pid, status = message
        self.statuses[pid] = os.waitstatus_to_exitcode(status)

    def status(self, pid, timeout):
        """Return the exit status of a process, or None if it is still running after this many seconds; None waits for as long as it runs."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while pid not in self.statuses:
            if not self.connection.poll(None if deadline is None else max(0, deadline - time.monotonic())):
                return None
            self._note(self.connection.recv())
        return self.statuses[pid]

    def close(self):
        self.connection.close()
        self.process.wait()


class Launched:
    """A process that the launcher started, with the methods of `subprocess.Popen` that the tests use."""

    def __init__(self, launcher, pid, stdout, stderr):
        self.launcher, self.pid, self.stdout, self.stderr = launcher, pid, stdout, stderr
        self.returncode = None

    def poll(self):
        if self.returncode is None:
            self.returncode = self.launcher.status(self.pid, 0)
        return self.returncode

    def wait(self, timeout=None):
        if self.returncode is None:
            self.returncode = self.launcher.status(self.pid, timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(["foreword"], timeout)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def _serve(connection):
    """Fork for each request, and report each process that has ended. Returns the request in a new process, and None at the end."""
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    while True:
        ready = wait([connection, woken])
        if woken in ready:
            os.read(woken, 1 << 12)
            _report_ended(connection)
        if connection in ready:
            try:
                request = connection.recv()
            except EOFError:
                return None
            descriptors = [recv_handle(connection) for _ in range(2)]
            if pid := os.fork():
                connection.send(("started", pid))
                for descriptor in descriptors:
                    os.close(descriptor)
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, descriptor in enumerate(descriptors, start=1):
                os.dup2(descriptor, number)
            connection.close()
            for descriptor in (woken, wake, *descriptors):
                os.close(descriptor)
            return request


def _report_ended(connection):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        with suppress(BrokenPipeError):  # the tests have ended
            connection.send(("ended", pid, status))


def main():
    connection = Connection(int(sys.argv[1]))
    for name in IMPORTED:
        importlib.import_module(name)
    gc.freeze()  # so that no copy searches what all of them share
    request = _serve(connection)
    if request is None:
        return
    arguments, environment, directory = request
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(directory)
    sys.argv = ["foreword", *arguments]
    sys.path[0] = directory
    runpy.run_module("foreword", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
