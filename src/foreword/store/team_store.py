"""What a store consists of: a team, connections on which statements run, and the caches of this process."""

from __future__ import annotations

from . import waits
from .cache import EditionCache, TextCache
from .rows import ALL_TEAMS, check_team

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Self, TypeVar

    T = TypeVar("T")
    Rows = list[tuple[Any, ...]]

# Everything that a team has refers to a text. This reads one row for each team, however many texts there are.
TEAMS = """
    WITH RECURSIVE teams (team) AS (
        SELECT min(team) FROM foreword_texts
        UNION ALL SELECT (SELECT min(t.team) FROM foreword_texts AS t WHERE t.team > teams.team) FROM teams
        WHERE teams.team IS NOT NULL
    ) SELECT team FROM teams WHERE team IS NOT NULL
"""


class TeamStore:
    """A store as one team sees it. Subclasses run the statements."""

    # Stores for several teams share everything else: their attributes are in the same `__dict__`.
    __slots__ = ("__dict__", "__weakref__", "team")

    def __init__(self) -> None:
        self.team = ""
        self._clear_caches()

    def _clear_caches(self) -> None:
        self._texts, self._editions = TextCache(), EditionCache()
        self._contents: dict[bytes, tuple[bytes, ...]] = {}

    def for_team(self, team: str) -> Self:
        if team != ALL_TEAMS:
            check_team(team)
        if team == self.team:
            return self
        store = object.__new__(type(self))
        store.__dict__ = self.__dict__
        store.team = team
        return store

    def teams(self) -> list[str]:
        everything = self.for_team(ALL_TEAMS)
        return [team for (team,) in everything._run(lambda connection: everything._select(connection, TEAMS))]

    def _run(self, work: Callable[[Any], T]) -> T:
        """Call `work` with a connection that no other thread is using. Failures raise a StoreError."""
        raise NotImplementedError

    def _interrupt(self, connection: Any) -> None:
        """Stop the statement that another thread runs on this connection."""
        raise NotImplementedError

    def _search(self, work: Callable[[Callable[[str, Sequence[object]], Rows]], T]) -> T:
        """Call `work` with a function that runs a SELECT. It stops when nobody waits for the result any more."""

        def interruptible(connection: Any) -> T:
            waits.set_interrupt(lambda: self._interrupt(connection))
            try:
                return work(lambda statement, key: self._select(connection, statement, key))
            finally:
                waits.set_interrupt(None)

        return self._run(interruptible)

    def _scan(self, work: Callable[[Any], T]) -> T:
        """Like `_run`, for work that reads every row and may take a long time."""
        return self._run(work)

    def _select(self, connection: Any, statement: str, key: Sequence[object] = ()) -> Rows:
        """Return all rows of a SELECT."""
        raise NotImplementedError

    def _stream(self, connection: Any, statement: str, key: Sequence[object]) -> Iterable[tuple[Any, ...]]:
        """Return the rows of a SELECT whose result may not fit into memory."""
        raise NotImplementedError

    def search(self, work: Callable[[Callable[[str, Sequence[object]], Rows]], T]) -> T:
        return self.for_team(ALL_TEAMS)._search(work)
