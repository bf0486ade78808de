"""Work that may keep a thread waiting announces itself here first.

A program that serves many callers gives its threads a listener, which decides whether this thread may wait: the service moves such
work to other threads, so that those which answer reads are always free. Without a listener nothing happens.
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
            """Takes what ends the work of this thread early, and None once there is nothing to end."""


class _Thread(_local):
    listener: Listener | None = None


_thread = _Thread()


def listen(listener: Listener | None) -> None:
    """Set the listener of this thread, or remove it."""
    _thread.listener = listener


def before(kind: Kind) -> None:
    """Announce work of this kind."""
    if _thread.listener is not None:
        _thread.listener.before(kind)


def stoppable(stop: Callable[[], None] | None) -> None:
    """Tell the listener how to end what this thread is about to wait for."""
    if _thread.listener is not None:
        _thread.listener.stoppable(stop)
