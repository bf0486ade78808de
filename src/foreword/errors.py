"""What a caller can do wrong, and what Foreword answers: one sentence that says what would be right.

    ForewordError
    ├── CallError       an argument, option or setting that cannot be
    │   └── MissingError  it names something that is not there
    ├── LayoutError     a layout that says something the vocabulary does not know
    ├── TemplateError   a template that cannot be parsed or rendered
    ├── HookError       a hook that its extension requires has failed
    └── StoreError      the store cannot be reached, or refuses
        └── StaleError  someone else has written meanwhile

A user's file that is wrong is not an error but a Finding: work goes on.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class ForewordError(Exception):
    """The base of all; `str(error)` is one sentence for a person."""


class CallError(ForewordError):
    """An argument, option or setting that cannot be."""


class MissingError(CallError):
    """A directory, layout, template or skill was named that is not there."""


class LayoutError(ForewordError):
    """A layout that says something the vocabulary does not know."""


class TemplateError(ForewordError):
    """A template that cannot be parsed or rendered."""


class HookError(ForewordError):
    """A hook that its extension requires has failed, so nothing may be sent to a model."""


class StoreError(ForewordError):
    """The store cannot be reached, or refuses."""


class StaleError(StoreError):
    """Someone else has written meanwhile: what was to be replaced is no longer the newest."""


def suggestion(given: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` where something known is close, else the list of all that is known."""
    from difflib import get_close_matches

    names = sorted(known)
    close = get_close_matches(given, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], f"… ({len(names)} in all)"]
    return f"; known: {', '.join(shown)}" if names else ""


_SHOWN = 20
