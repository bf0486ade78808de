"""Record what takes time inside a request, for a program that traces its requests.

Without a tracer, which is the default, `span` does nothing. Spans have names and kinds of work, but no text. A tracer has the methods of
OpenTelemetry's; nothing of that is imported here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing import Any


class _NoSpan:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


_NO_SPAN = _NoSpan()
_tracer: Any = None


def use_tracer(tracer: Any) -> None:
    """Record spans with this tracer from now on, in every thread of the process. None stops it."""
    global _tracer
    _tracer = tracer


def is_tracing() -> bool:
    return _tracer is not None


def span(name: str, attribute: str = "", content: str = "") -> AbstractContextManager[Any]:
    """Return a context manager for the time that a piece of work takes. An exception is not recorded: its message may quote text."""
    if _tracer is None:
        return _NO_SPAN
    attributes = {attribute: content} if attribute else {}
    started: AbstractContextManager[Any] = _tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    )
    return started
