"""Announce work that may block a thread.

A server can set a listener for each of its threads, which decides whether the thread may block. The HTTP service moves such work to
other threads, so that the threads that answer reads stay free. Without a listener, nothing happens.
"""

from __future__ import annotations

from _thread import _local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, Protocol

    Kind = Literal["read", "build", "write", "search", "template", "inspect", "hook"]

    class Listener(Protocol):
        def on_slow_work(self, kind: Kind) -> None:
            """Called before work that may take a long time. May raise an exception.

            Such work is reading a store on another machine, rereading settings, writing to any store, building a prompt, searching a large part of the
            store, rendering an untrusted template, examining a whole repository or a large prompt, or calling a hook over the network.
            """

        def set_interrupt(self, stop: Callable[[], None] | None) -> None:
            """Called with a function that stops this thread's work early, and with None when the work has ended."""


# Counting the tokens of more characters than this holds the interpreter for a time that others would notice.
_LARGE = 200_000
# When a request arrived for which nothing may be used that was checked earlier. `math` would take time to load.
_NEVER = float("inf")


class _Thread(_local):
    listener: Listener | None = None
    moment: object = None
    arrived: float = _NEVER


_thread = _Thread()


def listen(listener: Listener | None, moment: object = None, arrived: float = _NEVER) -> None:
    """Set this thread's listener, or remove it with None.

    With `moment` (from `Store.moment`), the thread may use editions that were read at that moment, until it writes. `arrived` is when the
    request arrived for which it works, by `perf_counter`.
    """
    _thread.listener, _thread.moment, _thread.arrived = listener, moment, arrived


def moment() -> object:
    """Return the moment at which this thread reads, or None if it must ask the store."""
    return _thread.moment


def is_checked(time: float) -> bool:
    """Whether files that were checked at this time, by `perf_counter`, need no other check, because this thread's request is older."""
    return time > _thread.arrived


def announce(kind: Kind) -> None:
    """Announce work of this kind to this thread's listener."""
    if kind == "write":
        _thread.moment = None
    if _thread.listener is not None:
        _thread.listener.on_slow_work(kind)


def announce_size(length: int) -> None:
    """Announce that a prompt of this many characters is about to be counted or compared, if that is long work."""
    if length > _LARGE:
        announce("inspect")


def set_interrupt(stop: Callable[[], None] | None) -> None:
    """Pass the listener a function that stops the work that this thread is about to wait for, or None when it has ended."""
    if _thread.listener is not None:
        _thread.listener.set_interrupt(stop)
