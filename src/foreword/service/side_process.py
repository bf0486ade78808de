"""A side process: another Python process for work that would hold this one's interpreter for long, or leave it with much memory.

Requests and answers are pickled: both processes run the same code for the same user. It starts with the first request. It ends when it
has been idle for a while, when it has used much memory, or when this process ends.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
from contextlib import suppress

from ..store import waits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import Popen
    from typing import IO, Any, NoReturn

    # What a side process does: it answers a request, and it does something every few seconds while there is none.
    Duty = tuple[Callable[[Any], Any], Callable[[], object]]

_CODE = "from foreword.service import side_process as side; side.ignore_signals(); from {0} import {1}; side.serve({1})"
_IDLE_STEP_SECONDS = 2.0
_IDLE_STEPS = 30
_MAX_MEMORY = 256 * 1024  # in KB, as the system reports it
# Requests in the main process come first.
_NICENESS = 10


class SideProcessEnded(Exception):
    """The side process ended without an answer."""


class SideProcess:
    """A process that answers requests, one at a time. `duty` is the `module:function` that returns its `Duty`."""

    def __init__(self, duty: str) -> None:
        self._duty = duty
        self._process: Popen[bytes] | None = None

    def ask(self, request: object, may_kill: bool = True) -> Any:
        """Return the answer to a request. If nobody waits for it any more, the process is killed, unless the answer comes soon anyway."""
        for _ in range(2):
            process = self._started()
            try:
                waits.set_interrupt(process.kill if may_kill else None)
                try:
                    _send(process.stdin, request)
                    return _receive(process.stdout)
                finally:
                    waits.set_interrupt(None)
            except (OSError, EOFError):
                if self.end() != 0:
                    break  # it has not ended by itself while it was idle
            except BaseException:
                self.end()  # otherwise the next request would receive this one's answer
                raise
        raise SideProcessEnded

    def _started(self) -> Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.end()
        if self._process is None:
            import subprocess

            options = ["-B"] if sys.dont_write_bytecode else []
            self._process = subprocess.Popen(
                [sys.executable, *options, "-P", "-c", _CODE.format(*self._duty.split(":"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C at the terminal must not reach it
            )
        return self._process

    def end(self) -> int:
        """Kill the process, and return the status with which it has ended."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # it has not read all of a request
                _pipe(pipe).close()
        return process.wait()


# In both processes


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None, "the side process was started with pipes"
    return pipe


def _send(pipe: IO[bytes] | None, message: object) -> None:
    """Write a message. A large body in it is written as it is: a copy of it would hold the interpreter for milliseconds."""
    pickle.dump(message, _pipe(pipe), protocol=5)
    _pipe(pipe).flush()


def _receive(pipe: IO[bytes] | None) -> Any:
    """Read the next message. Raises EOFError if the pipe was closed before its end."""
    try:
        return pickle.load(_pipe(pipe))
    except pickle.UnpicklingError:
        raise EOFError from None


# In the side process


def ignore_signals() -> None:
    """Ignore the signals that end a service, which finishes its requests. systemd sends SIGTERM to all of its processes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def serve(duty: Callable[[], Duty]) -> NoReturn:
    """Answer requests until the pipe is closed: the main loop of a side process."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # The pipe for answers stays open until this process has ended. Otherwise the next request would find it closed, and kill this process.
    with open(0, "rb", closefd=False) as requests, open(os.dup(1), "wb", closefd=False) as answers:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whatever is printed must not look like an answer
        answer, on_idle = duty()
        idle = 0
        while idle < _IDLE_STEPS and not _has_much_memory():
            if select.select([requests], [], [], _IDLE_STEP_SECONDS)[0]:
                try:
                    request = _receive(requests)
                except EOFError:
                    break
                _send(answers, answer(request))
                idle = 0
            else:
                idle += 1
                on_idle()
    sys.exit(0)


def _has_much_memory() -> bool:
    """Whether this process has ever used so much memory that the next one should start afresh."""
    try:
        return _peak_memory() > _MAX_MEMORY
    except (ImportError, OSError):
        return False


def _peak_memory() -> int:
    """Return the most memory that this process has used, in KB, or 0 if the system does not say."""
    if sys.platform != "linux":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    # `getrusage` would include what the process that started this one had used by then.
    with open("/proc/self/status", "rb") as status:
        return next((int(line.split()[1]) for line in status if line.startswith(b"VmHWM:")), 0)
