"""How many bytes of bodies and answers a process holds at the same time."""

from __future__ import annotations

from .answers import Problem

IN_FLIGHT = 256
"""The most bytes of bodies and answers in flight, in MB, unless the service is started with another number."""
# What is smaller is always let in: clients with large bodies are not to keep others out.
_SMALL = 64 * 1024


class Budget:
    """The bytes that all requests of a process may hold together."""

    def __init__(self, most: int) -> None:
        self.most, self.used = most, 0


class Hold:
    """What one request holds of the budget."""

    __slots__ = ("_budget", "_held")

    def __init__(self, budget: Budget) -> None:
        self._budget, self._held = budget, 0

    def take(self, size: int) -> None:
        """Hold so many bytes more; a Problem if all requests together would hold too many."""
        budget = self._budget
        if self._held + size > _SMALL and budget.used + size > budget.most:
            most = f"{budget.most // 1_000_000:,} MB"
            raise Problem(
                "busy",
                f"bodies and answers in flight have {most} already; try again later",
                {"Connection": "close"},
            )
        budget.used += size
        self._held += size

    def free(self) -> None:
        """Let go of all of it."""
        self._budget.used -= self._held
        self._held = 0
