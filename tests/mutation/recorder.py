"""Note which lines of Foreword a process executes. Each Python process of a copy imports this while tests are recorded: see `records.py`.

A line is noted when it is executed for the first time, and then costs nothing. It is written at once, because a server may be killed at
any moment. In pytest's own process, `recording.py` takes the lines after each test instead.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

_TOOL = 4  # one of the numbers of `sys.monitoring` without a purpose


class Recorder:
    def __init__(self, package: str, folder: str) -> None:
        self.package, self.folder = package, folder
        self.is_kept = False  # for the next `take`, instead of written
        self._executed: set[str] = set()

    def start(self) -> None:
        monitoring, events = sys.monitoring, sys.monitoring.events
        monitoring.use_tool_id(_TOOL, "foreword")
        monitoring.register_callback(_TOOL, events.LINE, self._note)
        # Python 3.13 does not report the line of a function that has only one.
        monitoring.register_callback(_TOOL, events.PY_START, lambda code, _: self._note(code, code.co_firstlineno))
        monitoring.set_events(_TOOL, events.LINE | events.PY_START)
        os.register_at_fork(after_in_child=self._write_from_now_on)

    def take(self) -> list[str]:
        """Return the lines that were executed since the last time, and begin again."""
        executed = sorted(self._executed)
        self._executed.clear()
        sys.monitoring.restart_events()
        return executed

    def _write_from_now_on(self) -> None:
        self.is_kept = False
        sys.monitoring.restart_events()

    def _note(self, code, line):
        if code.co_filename.startswith(self.package):
            function = code.co_qualname.partition(".<locals>")[0]
            name = f"{code.co_filename.removeprefix(self.package)}:{function}:{line}"
            if self.is_kept:
                self._executed.add(name)
            else:
                with suppress(OSError), open(f"{self.folder}/{os.getpid()}", "a") as file:
                    file.write(f"{name}\n")
        return sys.monitoring.DISABLE


def start(package: str, folder: str) -> None:
    """Begin, unless this process has begun already: in an environment, Python executes the lines of `.pth` files twice."""
    global recorder
    if not sys.monitoring.get_tool(_TOOL):
        recorder = Recorder(package, folder)
        recorder.start()
