"""Named tokens: who may do what, from a file that is read again when it changes.

    [[token]]
    name = "billing-ci"
    hash = "sha256:…"
    rights = ["read", "turn", "template"]
    team = "billing"
    roots = ["/srv/billing"]
    packs = ["house"]
    template = "support"
    older_than = "90d"

The file contains only hashes, so that reading it does not reveal a token. A token sees the conversations and templates of its team;
everything else gets a 404. With `teams = ["*"]` instead of `team`, and the right `admin`, it sees those of all teams.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from hmac import compare_digest
from secrets import token_urlsafe
from time import monotonic
from typing import Any, TypeGuard

from ..errors import CallError, is_plain, show
from ..store.contents import DEFAULT_TEMPLATE
from ..store.rows import ALL_TEAMS, check_name, check_team
from ..store.times import seconds_of
from ..text.lines import printable
from ..vocabulary import value

RIGHTS = ("read", "turn", "template", "admin", "sessions")
_KEYS = ("name", "hash", "rights", "team", "teams", "roots", "packs", "template", "older_than")
# What separates the prefix of an id from the rest, and so is not part of a team's name.
_SEPARATORS = "-_./: "
_MAX_REMEMBERED = 1000
_INTERVAL = 1.0
_HASH = re.compile("(?:sha256:)?[0-9a-f]{64}")


@value
class Caller:
    """What the sender of a request may do. By default, everything.

    Fields:
        name: The name of the token, for the log and as the author of templates.
        rights: `read` answers without changing anything, `turn` starts and continues conversations, `template` saves templates and moves
            or removes their labels, `admin` removes conversations, deletes templates and changes protected labels, and `sessions` reads
            the logs of released agents, if the service was started for that.
        team: The team whose conversations and templates it sees, or `*` for all teams.
        names_team: Whether a request may name another team, with `?team=`.
        roots: The folders in which agents may work, or empty for all folders of the service.
        packs: The names of the service's packs that requests may use, or None for all of them.
        template: The template for conversations that do not name one.
        older_than: The age in seconds after which the team's conversations are removed, or None if they are kept.
    """

    name: str = ""
    rights: Sequence[str] = RIGHTS
    team: str = ""
    roots: Sequence[str] = ()
    packs: Sequence[str] | None = None
    template: str = ""
    names_team: bool = False
    older_than: float | None = None

    @property
    def default_template(self) -> str:
        """The name of the template that conversations use if they do not name one."""
        return self.template or DEFAULT_TEMPLATE


UNLIMITED = Caller(names_team=True)
# Beside the tokens of teams, the one in the environment has every right but this one, and sees all teams.
_OPERATOR = Caller(rights=tuple(right for right in RIGHTS if right != "sessions"), team=ALL_TEAMS, names_team=True)


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
        f'team = "{name}"',
    )
    return token, "\n".join(lines)


def _read_rows(path: str) -> list[dict[str, Any]]:
    """Return the tables in a file of tokens."""
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
    return rows


def read_tokens(path: str) -> dict[bytes, Caller]:
    """Return the tokens in a file, by hash. Raises a CallError that says what is wrong with it."""
    name = printable(path)
    tokens: dict[bytes, Caller] = {}
    for number, row in enumerate(_read_rows(path), 1):
        try:
            hash, access = _parse(row, os.path.dirname(os.path.abspath(path)))
        except ValueError as error:
            raise CallError(f"--tokens {name}: token {number}: {error}") from None
        if hash in tokens or access.name in {known.name for known in tokens.values()}:
            raise CallError(f"--tokens {name}: token {number}: another token already has its name or hash")
        tokens[hash] = access
    retentions_of(tokens.values())
    return tokens


def retentions_of(callers: Iterable[Caller]) -> dict[str, float]:
    """Return the age in seconds after which conversations are removed, by team. Raises a CallError if tokens of a team differ."""
    ages: dict[str, float] = {}
    for caller in callers:
        if caller.older_than is not None and ages.setdefault(caller.team, caller.older_than) != caller.older_than:
            raise CallError(f"the tokens of the team {show(caller.team)} have different older_than; write it once")
    return ages


def _parse(row: Mapping[str, Any], folder: str) -> tuple[bytes, Caller]:
    """Return the hash and rights in a table. Raises a ValueError if a key is missing or wrong."""
    if "prefix" in row:
        raise ValueError(_prefix_error(row))
    unknown = [key for key in row if key not in _KEYS]
    if unknown:
        raise ValueError(f"unknown key {show(unknown[0])}; known keys are {', '.join(_KEYS)}")
    name, hash = (row.get(key, "") for key in ("name", "hash"))
    if not _is_text(name, 100) or not name:
        raise ValueError("name must be a string of 1 to 100 printable characters")
    if not isinstance(hash, str) or not _HASH.fullmatch(hash):
        raise ValueError("hash must be sha256: followed by 64 hexadecimal digits; see foreword serve --new-token")
    rights = _parse_rights(row.get("rights"))
    team = _parse_team(row, rights)
    roots = _parse_roots(row.get("roots", []), folder)
    packs, template = _parse_packs(row.get("packs")), _parse_template(row.get("template", ""))
    older_than = _parse_older_than(row, team)
    caller = Caller(name, rights, team, roots, packs, template, team == ALL_TEAMS, older_than)
    return b"sha256:" + hash[-64:].encode(), caller


def _parse_rights(rights: Any) -> tuple[str, ...]:
    if not isinstance(rights, list) or not rights or any(right not in RIGHTS for right in rights):
        raise ValueError(f"rights must be a list of one or more of {', '.join(RIGHTS)}")
    return tuple(rights)


def _parse_team(row: Mapping[str, Any], rights: Sequence[str]) -> str:
    """Return the name of a token's team, or `*` if it sees all."""
    if "teams" in row:
        if row["teams"] != [ALL_TEAMS]:
            raise ValueError(f'teams must be ["{ALL_TEAMS}"]; for a token that sees one team, write team = "NAME"')
        if "team" in row:
            raise ValueError("a token has either team or teams, not both")
        if "admin" not in rights:
            raise ValueError(f'teams = ["{ALL_TEAMS}"] needs the right admin')
        return ALL_TEAMS
    team = row.get("team", "")
    if not isinstance(team, str):
        raise ValueError("team must be a string")
    try:
        check_team(team)
    except CallError as error:
        raise ValueError(str(error)) from None
    return team


def team_of_prefix(prefix: str) -> str:
    """Return the name of the team that replaces a prefix, such as `billing` for `billing-`."""
    return prefix.strip(_SEPARATORS) or prefix.strip()


def _prefix_error(row: Mapping[str, Any]) -> str:
    prefix = row["prefix"]
    team = row.get("team") or (team_of_prefix(prefix) if isinstance(prefix, str) else "")
    template = row.get("template") or f"{prefix}{DEFAULT_TEMPLATE}"
    if not team:
        return "prefix is not used any more, because ids need none; remove it"
    return (
        f"prefix is not used any more, because ids need none. First run foreword store migrate --tokens FILE with this file,"
        f" which gives everything whose id begins with {show(str(prefix))} to the team {show(str(team))}. Then replace the line by"
        f" team = {json.dumps(str(team))}, and, to keep the default template, template = {json.dumps(str(template))}"
    )


def read_prefixes(path: str) -> dict[str, str]:
    """Return the team of each prefix in a file of tokens from the time when tokens had prefixes. Other keys are not checked."""
    teams: dict[str, str] = {}
    for number, row in enumerate(_read_rows(path), 1):
        where = f"--tokens {printable(path)}: token {number}"
        prefix = row.get("prefix", "")
        if not _is_text(prefix, 100):
            raise CallError(f"{where}: prefix must be a string of at most 100 printable characters")
        if not prefix:
            continue
        team = row.get("team") or team_of_prefix(prefix)
        if not isinstance(team, str):
            raise CallError(f"{where}: team must be a string")
        check_team(team)
        if teams.setdefault(prefix, team) != team:
            raise CallError(f"{where}: the prefix {show(prefix)} belongs to two teams, {teams[prefix]!r} and {team!r}")
    if not teams:
        raise CallError(f"--tokens {printable(path)}: no token has a prefix, so nothing has to move to a team")
    return teams


def _is_text(content: object, max_length: int) -> TypeGuard[str]:
    return isinstance(content, str) and is_plain(content) and len(content) <= max_length


def _parse_roots(roots: object, folder: str) -> tuple[str, ...]:
    """Return the folders in a table as absolute paths, even if they do not exist. Relative paths start at the file's folder."""
    if not isinstance(roots, list) or not all(isinstance(root, str) and root for root in roots):
        raise ValueError("roots must be a list of folders")
    if any("\0" in root for root in roots):
        raise ValueError("roots must not contain null characters")
    return tuple(os.path.abspath(os.path.join(folder, os.path.expanduser(root))) for root in roots)


def _parse_packs(packs: object) -> tuple[str, ...] | None:
    if packs is None:
        return None
    if not isinstance(packs, list) or not all(isinstance(name, str) for name in packs):
        raise ValueError("packs must be a list of names, as in --pack NAME=DIR")
    return tuple(packs)


def _parse_template(template: object) -> str:
    if template == "":
        return ""
    if not isinstance(template, str):
        raise ValueError("template must be the name of a stored template")
    try:
        check_name(template)
    except CallError as error:
        raise ValueError(str(error)) from None
    return template


def _parse_older_than(row: Mapping[str, Any], team: str) -> float | None:
    age = row.get("older_than")
    if age is None:
        return None
    if team == ALL_TEAMS:
        raise ValueError("older_than belongs to a token with a team, whose conversations it removes")
    seconds = seconds_of(age) if isinstance(age, str) else None
    if not seconds:
        raise ValueError("older_than must be a number of days, hours or minutes, such as 90d, 12h or 30m")
    return seconds


class Tokens:
    """The tokens that this process accepts. The file is read again when it changes; if it has become invalid, the previous tokens stay in effect.

    Each header is hashed only once. `report` is called with the level and the text of a message for the log: what is wrong with a
    changed file, or which folder in it does not exist.
    """

    def __init__(self, token: str = "", path: str = "", report: Callable[[str, str], None] | None = None) -> None:
        self._path, self._report = path, report
        self._full = hash_token(token.encode()) if token else b""
        self._stamp = self._stat()
        self._tokens = self._read() if path else {}
        self._next_check = 0.0
        self._known: dict[bytes, Caller] = {}
        self.problem = ""

    def __bool__(self) -> bool:
        return bool(self._full or self._path)

    def find(self, header: bytes) -> Caller | None:
        """Return what the sender of an Authorization header may do, or None if its token is not known."""
        self.refresh()
        known = self._known.get(header)
        if known is not None:
            return known
        hash = hash_token(header.partition(b" ")[2].strip())
        owner = _OPERATOR if self._path else UNLIMITED
        found = owner if self._full and compare_digest(hash, self._full) else None
        for expected, access in self._tokens.items():
            if compare_digest(hash, expected):
                found = access
        if found is not None:
            if len(self._known) >= _MAX_REMEMBERED:
                self._known.clear()
            self._known[header] = found
        return found

    def retentions(self) -> dict[str, float]:
        """Return the age in seconds after which conversations are removed, by team."""
        return retentions_of(self._tokens.values())

    def has_accepted(self, header: bytes) -> bool:
        """Whether this process has already accepted this Authorization header."""
        return header in self._known

    def refresh(self) -> None:
        """Read the file again if it has changed, but look at most once a second."""
        if self._path and monotonic() > self._next_check:
            self._reload()

    def _read(self) -> dict[bytes, Caller]:
        """Read the file, and report folders that do not exist. They stay in the list, because an empty list would allow every folder."""
        tokens = read_tokens(self._path)
        for caller in tokens.values():
            for root in caller.roots:
                if not os.path.isdir(root) and self._report is not None:
                    missing = f"token {caller.name}: no such folder {printable(root)}"
                    self._report("warning", f"{missing}; agents cannot work there until it exists")
        return tokens

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)
        except (OSError, ValueError):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _reload(self) -> None:
        self._next_check = monotonic() + _INTERVAL
        stamp = self._stat()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._tokens, self.problem = self._read(), ""
            self._known = {}
        except CallError as error:
            self.problem = str(error)
            if self._report is not None:
                self._report("error", f"{error}; the previous tokens stay in effect")
