"""Turn signals that end a process into KeyboardInterrupt, so that the terminal is restored first."""

from __future__ import annotations

import signal
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class TerminationSignals:
    """While active, SIGTERM and SIGHUP raise KeyboardInterrupt; `status` is then the exit status."""

    def __init__(self) -> None:
        self.status = 0
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> TerminationSignals:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)
                if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._end)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def _end(self, number: int, _: object) -> None:
        self.status = 128 + number
        raise KeyboardInterrupt
