"""Where templates, prompts and editions are kept: SQLite by default, PostgreSQL for many machines.

Both keep the protocol `Store` of the vocabulary, in plain SQL. Each distinct text is kept once, by its hash; an edition is a
small row that points at its texts by number.

| module | what |
|---|---|
| `texts.py` | a text as bytes, and what this process has seen |
| `rows.py` | rows as values, what can be asked for, what can be wrong |
| `connections.py` | connections that nobody uses at the moment |
| `file.py` | whether a SQLite file is still the one that is open |
| `schema/` | the tables, one file per version and store, run when a store is opened |
"""

from __future__ import annotations

import os

from ..errors import CallError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .contract import Store

_RIGHT = "a path, sqlite:///relative.db, sqlite:////absolute/path.db, :memory: or postgresql://user@host/name"


def open_store(url: str) -> Store:
    """The store at a URL or path. SQLite is opened and migrated at once, its folder made where there is none.

    PostgreSQL is reached by the first call: a service may start before its database.
    """
    path = _file_of(url)
    if path is None:
        from .postgres import PostgresStore

        return PostgresStore(url)
    from .sqlite import SqliteStore

    return SqliteStore(path)


def is_there(url: str) -> bool:
    """Whether opening a store would make no file. Servers are not asked."""
    path = _file_of(url)
    return not path or os.path.lexists(path)


def _file_of(url: str) -> str | None:
    """The path of a SQLite file, empty for memory; None for a server."""
    if not url or "\0" in url:
        raise CallError(f"a store needs a name; right would be {_RIGHT}")
    scheme, has_scheme, rest = url.partition("://")
    if scheme in ("postgresql", "postgres") and has_scheme:
        return None
    return _path(url, scheme, rest) if has_scheme else _bare(url)


def _path(url: str, scheme: str, rest: str) -> str:
    """The path in a URL, empty for memory. Of a URL that cannot be, only the scheme is shown: it may hold a password."""
    if scheme != "sqlite":
        raise CallError(f"no store is known for {scheme}://…; right would be {_RIGHT}")
    if rest in ("", "/", "/:memory:"):
        return ""
    if not rest.startswith("/"):
        raise CallError(
            f"{url!r} has too few slashes: sqlite:///{rest} is a relative path, sqlite:////{rest} one from the root"
        )
    return rest[1:]


def _bare(url: str) -> str:
    if url.startswith(("sqlite:", "postgres:", "postgresql:")):
        raise CallError(f"{url.partition(':')[0]}: lacks its slashes; right would be {_RIGHT}")
    return "" if url == ":memory:" else url
