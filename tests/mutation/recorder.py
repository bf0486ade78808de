"""Note which functions of Foreword a process executes. Each Python process of a copy imports this while tests are recorded: see `records.py`.

The functions are written when they are called for the first time, because a server may be killed at any moment. In pytest's own
process, `recording.py` takes them after each test instead.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress


class Recorder:
    def __init__(self, package: str, folder: str) -> None:
        self.package, self.folder = package, folder
        self.is_kept = False  # for the next `take`, instead of written
        self._seen: set[int] = set()
        self._executed: set[str] = set()
        os.register_at_fork(after_in_child=self._write_from_now_on)

    def start(self) -> None:
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def take(self) -> list[str]:
        """Return the functions that were executed since the last time, and begin again."""
        executed = sorted(self._executed)
        self._seen.clear()
        self._executed.clear()
        return executed

    def _write_from_now_on(self) -> None:
        self.is_kept = False

    def _trace(self, frame, event, argument):
        """Called for each call of a function; returns None, so that Python does not call it for each line too."""
        code = frame.f_code
        if id(code) not in self._seen and code.co_filename.startswith(self.package):
            self._seen.add(id(code))
            name = f"{code.co_filename.removeprefix(self.package)}:{code.co_qualname.partition('.<locals>')[0]}"
            if self.is_kept:
                self._executed.add(name)
            else:
                with suppress(OSError), open(f"{self.folder}/{os.getpid()}", "a") as file:
                    file.write(f"{name}\n")


def start(package: str, folder: str) -> None:
    global recorder
    recorder = Recorder(package, folder)
    recorder.start()
