"""Which team a request is for: the team of its token, or the one that it names with `?team=`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from ..errors import CallError, StoreBusyError, StoreError
from ..store.all_teams import AllTeams
from ..store.rows import ALL_TEAMS, check_team
from ..vocabulary import replace
from .responses import Problem

if TYPE_CHECKING:
    from .route import Route
    from .service import Service
    from .tokens import Caller

_PARAMETER = b"team="
# What a token that sees all teams reads of all of them.
_LISTS = frozenset(("/conversations", "/usage", "/templates", "/prompts/{id}", "/token"))


def take_team(query: bytes) -> tuple[str | None, bytes]:
    """Return the team that a query string names, or None, and the query without it."""
    if _PARAMETER not in query:
        return None, query
    parts = query.split(b"&")
    own = [part for part in parts if part.startswith(_PARAMETER)]
    if not own:
        return None, query
    if len(own) > 1:
        raise Problem("invalid-query", f"'team' is repeated {len(own)} times; pass it once")
    try:
        ((_, team),) = parse_qsl(own[0].decode("ascii"), keep_blank_values=True, strict_parsing=True, errors="strict")
    except ValueError:
        raise Problem("invalid-query", "team must be the name of a team, in UTF-8") from None
    return team, b"&".join(part for part in parts if part is not own[0])


def caller_in_team(caller: Caller, team: str) -> Caller:
    """Return the sender of a request that names a team. Raises a Problem if it may not see this team."""
    if team == caller.team:
        return caller
    if not caller.names_team:
        raise Problem("not-found", f"no team {team[:100]!r}; GET /token says which team this token sees")
    if team != ALL_TEAMS:
        try:
            check_team(team)
        except CallError as error:
            raise Problem("invalid-query", str(error)) from None
    return replace(caller, team=team)


def must_be_found(route: Route, caller: Caller) -> bool:
    """Whether a request of someone who sees all teams must be for a single one."""
    return caller.team == ALL_TEAMS and route.path not in _LISTS and not route.is_open


def find_team(service: Service, route: Route, path: Mapping[str, str]) -> str:
    """Return the only team that has the conversation or template in a path. If there is none, it is the one without a name.

    Raises a Problem if several teams have it.
    """
    teams = AllTeams(service.conversations.store)
    try:
        if route.path.startswith("/conversations/"):
            return _only(teams.with_conversation(path["id"]), f"conversation {path['id'][:100]!r}")
        if route.path.startswith("/templates/"):
            return _only(teams.with_template(path["name"]), f"template {path['name'][:100]!r}")
    except StoreBusyError as error:
        raise Problem("store-busy", f"{error}") from error
    except StoreError as error:
        raise Problem("store-down", f"{error}") from error
    except CallError as error:
        raise Problem("invalid-request", str(error)) from None
    return ""


def _only(teams: Sequence[str], what: str) -> str:
    if len(teams) > 1:
        names = ", ".join(repr(team) for team in teams[:10])
        raise Problem("ambiguous-team", f"several teams have a {what}: {names}; name one with ?team=")
    return teams[0] if teams else ""
