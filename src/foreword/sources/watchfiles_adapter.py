"""The only file that relies on private parts of watchfiles. pyproject.toml limits the version, and a test checks that they exist.

The public functions of watchfiles watch a fixed set of paths. Foreword needs to change the set while watching.
"""

from __future__ import annotations

from ..errors import CallError
from .environment import install_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Protocol

    class Flag(Protocol):
        """Tells whether to stop, like a `threading.Event`."""

        def is_set(self) -> bool: ...


MODIFIED = 2  # the kind of an event that neither adds nor removes a path
DEBOUNCE, STEP = 50, 5  # milliseconds


def require_watchfiles() -> None:
    """Raise a CallError if watchfiles is not installed."""
    try:
        import watchfiles._rust_notify  # noqa: F401
    except ImportError:
        raise CallError(f"watching needs the package watchfiles; run {install_command('serve')}") from None


class EventsLost(Exception):
    """Events were lost: the system could not report something, such as a change in a file whose name is not UTF-8."""


class Watcher:
    """Watches directories, without their subdirectories."""

    def __init__(self, folders: Iterable[str]) -> None:
        """Raises an OSError if a directory cannot be watched, or if there are too many."""
        from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

        self._failure: type[Exception] = WatchfilesRustInternalError
        # debug, force_polling, poll_delay_ms, recursive, ignore_permission_denied
        self._notify: Any = RustNotify(list(folders), False, False, 300, False, True)

    def events(self, timeout: int, stop: Flag | None) -> set[tuple[int, str]] | None:
        """Wait for the next events and return their kinds and paths. Empty after `timeout` milliseconds (0: no timeout), None if stopped."""
        try:
            events = self._notify.watch(DEBOUNCE, STEP, timeout, stop)
        except self._failure:
            raise EventsLost from None
        if events == "signal":
            raise KeyboardInterrupt
        if events == "stop":
            return None
        changes: set[tuple[int, str]] = set() if events == "timeout" else events
        return changes

    def close(self) -> None:
        self._notify.close()
