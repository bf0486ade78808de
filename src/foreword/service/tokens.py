"""Named tokens: who may do what, from a file that is read again when it changes.

    [[token]]
    name = "team-a"
    hash = "sha256:…"
    rights = ["read", "turn", "template"]
    prefix = "a-"
    roots = ["/srv/a"]

The file contains only hashes, so that reading it does not reveal a token. What a token may not see does not exist for it: the ids of
its conversations and the names of its templates begin with its prefix.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from time import monotonic
from typing import Any, TypeGuard

from ..errors import CallError, is_plain, show
from ..store.contents import DEFAULT_TEMPLATE
from ..text.lines import printable
from ..vocabulary import value

RIGHTS = ("read", "turn", "template", "admin")
_KEYS = ("name", "hash", "rights", "prefix", "roots")
_MAX_REMEMBERED = 1000
_INTERVAL = 1.0
_HASH = re.compile("(?:sha256:)?[0-9a-f]{64}")


@value
class Caller:
    """What the sender of a request may do. By default, everything.

    Fields:
        name: The name of the token, for the log and as the author of templates.
        rights: `read` answers without changing anything, `turn` starts and continues conversations, `template` saves templates and moves
            their labels, and `admin` removes conversations.
        prefix: What the ids of conversations and the names of templates begin with.
        roots: The folders in which agents may work, or empty for all folders of the service.
    """

    name: str = ""
    rights: Sequence[str] = RIGHTS
    prefix: str = ""
    roots: Sequence[str] = ()

    @property
    def default_template(self) -> str:
        """The name of the template that conversations use if they do not name one."""
        return self.prefix + DEFAULT_TEMPLATE


UNLIMITED = Caller()


def hash_token(token: bytes) -> bytes:
    return b"sha256:" + sha256(token).hexdigest().encode()


def new_token(name: str) -> tuple[str, str]:
    """Return a new token, and its entry for the token file."""
    token = token_urlsafe(32)
    rights = ", ".join(f'"{right}"' for right in RIGHTS[:3])
    lines = (
        "[[token]]",
        f'name = "{name}"',
        f'hash = "{hash_token(token.encode()).decode()}"',
        f"rights = [{rights}]",
        f'prefix = "{name}-"',
    )
    return token, "\n".join(lines)


def read_tokens(path: str) -> dict[bytes, Caller]:
    """Return the tokens in a file, by hash. Raises a CallError that says what is wrong with it."""
    name = printable(path)
    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise CallError(f"--tokens {name}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CallError(f"--tokens {name}: {error}") from None
    rows = content.get("token")
    if set(content) - {"token"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise CallError(f"--tokens {name}: the file must contain only [[token]] tables")
    tokens: dict[bytes, Caller] = {}
    for number, row in enumerate(rows, 1):
        try:
            hash, access = _parse(row, os.path.dirname(os.path.abspath(path)))
        except ValueError as error:
            raise CallError(f"--tokens {name}: token {number}: {error}") from None
        if hash in tokens or access.name in {known.name for known in tokens.values()}:
            raise CallError(f"--tokens {name}: token {number}: another token already has its name or hash")
        tokens[hash] = access
    return tokens


def _parse(row: Mapping[str, Any], folder: str) -> tuple[bytes, Caller]:
    """Return the hash and rights in a table. Raises a ValueError if a key is missing or wrong."""
    unknown = [key for key in row if key not in _KEYS]
    if unknown:
        raise ValueError(f"unknown key {show(unknown[0])}; known keys are {', '.join(_KEYS)}")
    name, hash, prefix = (row.get(key, "") for key in ("name", "hash", "prefix"))
    if not _is_text(name, 100) or not name:
        raise ValueError("name must be a string of 1 to 100 printable characters")
    if not isinstance(hash, str) or not _HASH.fullmatch(hash):
        raise ValueError("hash must be sha256: followed by 64 hexadecimal digits; see foreword serve --new-token")
    rights = row.get("rights", [])
    if not isinstance(rights, list) or not rights or any(right not in RIGHTS for right in rights):
        raise ValueError(f"rights must be a list of one or more of {', '.join(RIGHTS)}")
    _check_prefix(prefix)
    roots = _parse_roots(row.get("roots", []), folder)
    return b"sha256:" + hash[-64:].encode(), Caller(name, tuple(rights), prefix, roots)


def _check_prefix(prefix: object) -> None:
    if not _is_text(prefix, 100) or "@" in prefix:
        raise ValueError("prefix must be a string of at most 100 printable characters without @")
    if prefix and DEFAULT_TEMPLATE.startswith(prefix):
        raise ValueError(f"prefix {show(prefix)} would include the template {DEFAULT_TEMPLATE!r}; choose another one")


def _is_text(content: object, max_length: int) -> TypeGuard[str]:
    return isinstance(content, str) and is_plain(content) and len(content) <= max_length


def _parse_roots(roots: object, folder: str) -> tuple[str, ...]:
    """Return the folders in a table as absolute paths. Relative paths start at the file's folder."""
    if not isinstance(roots, list) or not all(isinstance(root, str) and root for root in roots):
        raise ValueError("roots must be a list of folders")
    paths = tuple(os.path.abspath(os.path.join(folder, os.path.expanduser(root))) for root in roots)
    for path in paths:
        if not os.path.isdir(path):
            raise ValueError(f"no such folder {show(printable(path))}")
    return paths


class Tokens:
    """The tokens that this process accepts. The file is read again when it changes; if it has become invalid, the previous tokens stay in effect.

    Each header is hashed only once. `report` is called with what is wrong with a changed file.
    """

    def __init__(self, token: str = "", path: str = "", report: Callable[[str], None] | None = None) -> None:
        self._path, self._report = path, report
        self._full = hash_token(token.encode()) if token else b""
        self._stamp = self._stat()
        self._tokens = read_tokens(path) if path else {}
        self._next_check = 0.0
        self._known: dict[bytes, Caller] = {}
        self.problem = ""

    def __bool__(self) -> bool:
        return bool(self._full or self._path)

    def find(self, header: bytes) -> Caller | None:
        """Return what the sender of an Authorization header may do, or None if its token is not known."""
        if self._path and monotonic() > self._next_check:
            self._reload()
        known = self._known.get(header)
        if known is not None:
            return known
        hash = hash_token(header.partition(b" ")[2].strip())
        found = UNLIMITED if self._full and compare_digest(hash, self._full) else None
        for expected, access in self._tokens.items():
            if compare_digest(hash, expected):
                found = access
        if found is not None:
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            self._known[header] = found
        return found

    def _stat(self) -> tuple[int, int, int]:
        try:
            status = os.stat(self._path)
        except (OSError, ValueError):
            return (0, 0, 0)
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _reload(self) -> None:
        self._next_check = monotonic() + _INTERVAL
        stamp = self._stat()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._tokens, self.problem = read_tokens(self._path), ""
            self._known = {}
        except CallError as error:
            self.problem = str(error)
            if self._report is not None:
                self._report(f"{error}; the previous tokens stay in effect")
