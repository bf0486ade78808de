"""Announcements of work that may block a thread.

A server can give its threads a listener, which decides whether this thread may block: the HTTP service moves such work to other
threads, so that the threads that answer reads stay free. Without a listener, nothing happens.
"""

from __future__ import annotations

from _thread import _local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal, Protocol

    Kind = Literal["build", "write", "template"]

    class Listener(Protocol):
        def before(self, kind: Kind) -> None:
            """Called before a prompt is built, the store is written, or an untrusted template is rendered. May raise."""

        def stoppable(self, stop: Callable[[], None] | None) -> None:
            """Called with a function that ends the work of this thread early, and with None when the work has ended."""


class _Thread(_local):
    listener: Listener | None = None


_thread = _Thread()


def listen(listener: Listener | None) -> None:
    """Set the listener of this thread, or remove it with None."""
    _thread.listener = listener


def before(kind: Kind) -> None:
    """Announce work of a kind to the listener of this thread."""
    if _thread.listener is not None:
        _thread.listener.before(kind)


def stoppable(stop: Callable[[], None] | None) -> None:
    """Pass the listener a function that ends what this thread is about to wait for."""
    if _thread.listener is not None:
        _thread.listener.stoppable(stop)
