"""Leases: which process does a job that only one may do at a time.

A lease expires by itself, so that another process takes over if its holder is killed. The holder renews it while it works. Times are
those of the database server, or of the machine for SQLite. A lease that ends later than any could was taken before the clock was set back,
so it counts as expired.
"""

from __future__ import annotations

from .moving import MovingStore

_IS_FREE = "(known.holder = ? OR known.expires <= {now} OR known.expires > {now} + ?)"
_IS_DUE = "(known.done <= {now} - ? OR known.done > {now})"
_FIND = f"SELECT {_IS_FREE} AND {_IS_DUE} FROM foreword_leases AS known WHERE name = ?"
_TAKE = f"""
    INSERT INTO foreword_leases AS known (name, holder, expires, done) VALUES (?, ?, {{now}} + ?, 0)
    ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires = excluded.expires WHERE {_IS_FREE} AND {_IS_DUE}
    RETURNING holder
"""
_RENEW = "UPDATE foreword_leases SET expires = {now} + ? WHERE name = ? AND holder = ?"
_FINISH = "UPDATE foreword_leases SET expires = 0, done = {now} WHERE name = ? AND holder = ?"
_DONE = "SELECT done FROM foreword_leases WHERE name = ?"


class LeasingStore(MovingStore):
    """The methods of a store, including those that take leases. Subclasses run the statements."""

    # An SQL expression for the current time, in seconds since 1970.
    NOW = ""

    def take_lease(self, name: str, holder: str, seconds: int, interval: int) -> bool:
        find, take = _FIND.format(now=self.NOW), _TAKE.format(now=self.NOW)
        condition = (holder, seconds, interval)
        # Most attempts fail, and reading does not make other processes wait.
        found = self._run(lambda connection: self._select(connection, find, (*condition, name)))
        if found and not found[0][0]:
            return False
        key = (name, holder, seconds, *condition)
        return bool(self._run_write(lambda connection: self._select(connection, take, key)))

    def renew_lease(self, name: str, holder: str, seconds: int) -> bool:
        renew = _RENEW.format(now=self.NOW)
        return bool(self._run_write(lambda connection: self._execute(connection, renew, (seconds, name, holder))))

    def finish_lease(self, name: str, holder: str) -> None:
        finish = _FINISH.format(now=self.NOW)
        self._run_write(lambda connection: self._execute(connection, finish, (name, holder)))

    def last_done(self, name: str) -> int:
        rows = self._run(lambda connection: self._select(connection, _DONE, (name,)))
        return rows[0][0] if rows else 0
