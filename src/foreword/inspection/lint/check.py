"""The type of the rows in lint's table of checks: what a check finds, how serious that is, and two examples."""

from __future__ import annotations

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...vocabulary import Severity


@value
class Example:
    """A workspace: the content of its files, by name. The check reports `path` and `line`, and its message contains `message_part`."""

    files: Mapping[str, str]
    path: str = "AGENTS.md"
    line: int | None = None
    message_part: str = ""
    options: Sequence[str] = ()


@value
class Check:
    """One of lint's checks. If it is a guard, a comment in a file cannot disable it."""

    id: str
    severity: Severity
    about: str
    why: str
    bad: Example
    good: Example
    is_guard: bool = False
