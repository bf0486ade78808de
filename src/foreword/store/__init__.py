"""Storage for templates, prompts and editions: SQLite by default, PostgreSQL for many machines.

Both implement `contract.Store` in plain SQL. Each distinct text is stored once, under its hash, and so is each combination of texts, its
*content*. An edition is a small row that refers to its content. Everything belongs to a team: no statement joins the rows of two teams.

| module | contents |
|---|---|
| `contract.py` | the interface of every store |
| `team_store.py` | the team of a store, and what the stores of all teams share |
| `reader.py`, `writer.py` | the methods that read and write editions, which all stores share |
| `listing.py` | lists, filters and counts conversations by index |
| `all_teams.py` | the lists across all teams, for operators |
| `templates.py` | named templates, their versions and labels |
| `forgetting.py`, `collecting.py` | remove conversations and old editions, and then the texts that only they used |
| `moving.py` | gives conversations and templates to teams, by the prefix of their ids |
| `spans.py` | records what takes time inside a request, if a program traces its requests |
| `leasing.py` | which process does a job that only one may do at a time |
| `rows.py`, `contents.py`, `times.py` | conversion between rows and values, and argument checks |
| `faults.py` | finds problems in a store's rows, for `verify` |
| `upgrade.py` | the part of migrations that SQL alone cannot do |
| `usage.py` | the usage that providers reported for an edition's calls |
| `texts.py` | how text is encoded |
| `cache.py` | texts and editions that this process has read |
| `pool.py` | connections to SQLite |
| `sqlite_connection.py` | opens SQLite files, and migrates their tables |
| `backup.py` | saves a SQLite file, and restores it |
| `file.py` | checks that a SQLite file is still the one that was opened |
| `postgres_pool.py`, `postgres_server.py` | connections to PostgreSQL: how many, and whether the server can be reached |
| `confirming.py` | the interface for confirming cached editions |
| `postgres_batches.py` | confirms cached editions in batches, for services on PostgreSQL |
| `postgres_schema.py` | migrates the tables in PostgreSQL |
| `psycopg_connection.py` | PostgreSQL connections with a timeout |
| `schema/` | the tables, one file per store and version |

To add a store, write its module and schema, add it to `STORES`, and add its URL to the fixtures of `tests/store/conftest.py`.
"""

from __future__ import annotations

import os

from ..errors import CallError
from ..text.lines import printable
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .contract import Store


@value
class StoreKind:
    """A kind of store: its URL schemes, the function that opens it, and examples for error messages.

    A local store is a file or in memory, and `open` takes its path. Other stores are servers, and `open` takes the URL.
    """

    schemes: Sequence[str]
    open: Callable[[str], Store]
    examples: Sequence[str]
    is_local: bool


def _open_sqlite(path: str) -> Store:
    from .sqlite import SqliteStore

    return SqliteStore(path)


def _open_postgres(url: str) -> Store:
    from .postgres import PostgresStore

    return PostgresStore(url)


STORES = (
    StoreKind(
        schemes=("sqlite",),
        open=_open_sqlite,
        examples=("a path", ":memory:", "sqlite:///relative.db", "sqlite:////absolute/path.db"),
        is_local=True,
    ),
    StoreKind(
        schemes=("postgresql", "postgres"),
        open=_open_postgres,
        examples=("postgresql://user@host/name",),
        is_local=False,
    ),
)
_BY_SCHEME = {scheme: kind for kind in STORES for scheme in kind.schemes}
_EXAMPLES = [example for kind in STORES for example in kind.examples]
_EXPECTED = f"use {', '.join(_EXAMPLES[:-1])} or {_EXAMPLES[-1]}"


def open_store(url: str, team: str = "") -> Store:
    """Open the store at a URL or path, as a team sees it. A file is opened and migrated immediately; if it is missing, it is created with its directories.

    A server is not contacted until the first call, so a service may start before its database.
    """
    kind, address = _parse(url)
    store = kind.open(address)
    return store.for_team(team) if team else store


def exists(url: str) -> bool:
    """Whether a store's file exists. Also true if its folder cannot be read: opening the store then says so.

    Always true for stores in memory, and for servers, which are not contacted.
    """
    kind, address = _parse(url)
    if not (kind.is_local and address):
        return True
    try:
        os.lstat(address)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        pass
    return True


def folder_of(url: str) -> str:
    """Return the folder that contains a store's file, or an empty string for other stores."""
    kind, address = _parse(url)
    return os.path.dirname(os.path.abspath(address)) if kind.is_local and address else ""


def check_folder(url: str) -> None:
    """Raise a CallError if the folder of a store's file does not exist: its path may be misspelled."""
    folder = folder_of(url)
    if folder and not os.path.isdir(folder):
        raise CallError(
            f"the store {printable(url)} cannot be created: there is no folder {printable(folder)}; create it first"
        )


def make_folder(url: str) -> None:
    """Create the folder of a store's file, with access only for the user. Nothing happens if that fails: opening the store says why."""
    try:
        os.makedirs(folder_of(url) or ".", 0o700, exist_ok=True)
    except OSError:
        pass


def local_path(url: str) -> str | None:
    """Return the path of a store's file, an empty string for a store in memory, or None for a server."""
    kind, address = _parse(url)
    return address if kind.is_local else None


def is_local(url: str) -> bool:
    """Whether a store is a file or in memory rather than a server."""
    return _parse(url)[0].is_local


def is_in_memory(url: str) -> bool:
    """Whether a store is in memory, where no other process can reach it."""
    kind, address = _parse(url)
    return kind.is_local and not address


def _parse(url: str) -> tuple[StoreKind, str]:
    """Return a store's kind and the argument for `open`: a URL, or a path, which is empty for a store in memory."""
    if not url or "\0" in url:
        raise CallError(f"a store's URL or path must not be empty or contain NUL; {_EXPECTED}")
    scheme, separator, rest = url.partition("://")
    if not separator:
        return STORES[0], _plain_path(url)
    if scheme not in _BY_SCHEME:  # show only the scheme: the rest may contain a password
        raise CallError(f"unknown kind of store {scheme}://…; {_EXPECTED}")
    kind = _BY_SCHEME[scheme]
    return kind, _url_path(url, scheme, rest) if kind.is_local else url


def _url_path(url: str, scheme: str, rest: str) -> str:
    if rest in ("", "/", "/:memory:"):
        return ""
    if not rest.startswith("/"):
        raise CallError(
            f"{url!r} has too few slashes; use {scheme}:///{rest} for a relative path or {scheme}:////{rest} for an"
            " absolute one"
        )
    return rest[1:]


def _plain_path(url: str) -> str:
    scheme, colon, _ = url.partition(":")
    if colon and scheme in _BY_SCHEME:
        raise CallError(f"{scheme}: must be followed by slashes; {_EXPECTED}")
    return "" if url == ":memory:" else url
