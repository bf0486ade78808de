"""Routes about many conversations: their list, and their usage."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ..conversation.usage import sum_usage, usage_of
from ..encoding.edition import target_of
from ..errors import ForewordError, StoreError
from ..packs.packs import layout_names
from ..store import waits
from ..store.all_teams import AllTeams
from ..store.listing import ConversationQuery
from ..text.lines import printable
from ..vocabulary import replace
from ..wire.answers import conversation_form, drift_form, usage_form
from . import forms
from .bodies import DriftQuery, Label, Moment, check_moment
from .conversations import drift_of
from .responses import Problem, Response
from .route import STORED, Route

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..vocabulary import Edition
    from ..wire.conversation_forms import ConversationForm, ListedDriftForm
    from .request import Request
    from .service import Service

# Comparing a conversation builds its prompt.
_MAX_COMPARED = 50
_EPOCH = date(1970, 1, 1)


Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class ConversationsQuery(Struct, forbid_unknown_fields=True):
    """Which conversations to use: those whose id begins with `search`, and whose current edition has these properties.

    `since` and `until` limit the time of the current edition. To get the next page, pass the `next` of this one as `after`.
    """

    search: Annotated[str, Meta(max_length=512)] = ""
    layout: Label = ""
    model: Label = ""
    template: Label = ""
    version: Count | UnsetType = UNSET
    since: Moment | UnsetType = UNSET
    until: Moment | UnsetType = UNSET
    sort: Literal["id", "newest"] = "id"
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    after: Annotated[str, Meta(max_length=700)] = ""

    def __post_init__(self) -> None:
        check_moment(self.since or None, "since")
        check_moment(self.until or None, "until")


class ListQuery(ConversationsQuery, forbid_unknown_fields=True):
    """Which conversations to list: those whose id begins with `search`, and whose current edition has these properties.

    `since` and `until` limit the time of the current edition. With `drifted`, each page compares up to 50 conversations with a prompt
    built now, and lists those that differ (`true`) or do not (`false`); `total` counts only that page. With `compare`, such a page lists
    all of them, and how each has drifted. With `details`, each conversation has its folder, tokens and usage. To get the next page,
    pass the `next` of this one as `after`.
    """

    drifted: bool | UnsetType = UNSET
    details: bool = False
    compare: bool = False


def list_conversations(service: Service, request: Request) -> Response:
    """Return a page of conversations, sorted by id or with the newest first.

    A page may have fewer conversations than `limit`, or none; there may be more unless `next` is null.
    """
    query: ListQuery = request.query
    wanted, store = _store_query(query), service.store
    is_compared = query.compare or query.drifted is not UNSET
    if is_compared:
        waits.announce("inspect")
        wanted = replace(wanted, limit=min(query.limit, _MAX_COMPARED))
    page = store.conversations(wanted)
    rows = [conversation_form(row) for row in page.rows]
    if query.details:
        _add_details(service, rows)
    if is_compared:
        rows = _compared(service, rows, query.drifted, is_listed=query.compare)
    if query.drifted is UNSET:
        count, is_exact = store.count(wanted)
        count = max(count, len(rows))  # a count that is not exact may not have reached them
    else:
        count, is_exact = len(rows), not query.after and not page.next
    return Response(
        {
            "conversations": rows,
            "next": page.next or None,
            "total": {"count": count, "exact": is_exact},
        }
    )


def read_usage(service: Service, request: Request) -> Response:
    """Return what the calls of a page of conversations used: in total, and by the day of each edition's last call, in UTC."""
    query: ConversationsQuery = request.query
    page = service.store.conversations(_store_query(query))
    by_day = AllTeams(service.conversations.store).daily_usage(page.rows)
    return Response(
        {
            "conversations": len(page.rows),
            "next": page.next or None,
            "total": usage_form(sum_usage(by_day)),
            "days": [
                {"day": (_EPOCH + timedelta(days=row.day)).isoformat(), "usage": usage_form(usage_of(0, row))}
                for row in by_day
            ],
        }
    )


def _store_query(query: ConversationsQuery) -> ConversationQuery:
    return ConversationQuery(
        query.search,
        f"$std/{query.layout}" if query.layout in layout_names() else query.layout,
        query.model,
        query.template,
        None if query.version is UNSET else query.version,
        query.since.timestamp() if query.since else None,
        query.until.timestamp() if query.until else None,
        query.sort == "newest",
        query.limit,
        query.after,
    )


def _add_details(service: Service, rows: Sequence[ConversationForm]) -> None:
    """Add to each conversation its folder, the tokens of its prompt, what its calls used, and when the last one was."""
    from ..text.tokens import count

    counted: dict[tuple[str, str, str], int] = {}
    for row in rows:
        store = service.in_team(row["team"]).store
        edition = store.current(row["id"])
        if edition is None:  # it was just removed
            continue
        target = target_of(edition)
        key = (row["prompt"], target.model, target.provider)
        if key not in counted:
            counted[key] = count(edition.system, target.model, target.provider).count
        usages = store.usages(row["id"])
        row["cwd"] = printable(target.cwd)
        row["tokens"] = counted[key]
        row["usage"] = usage_form(sum_usage(usages.values())) if usages else None
        last = max((usage.time for usage in usages.values()), default=0)
        row["last_call"] = datetime.fromtimestamp(last, UTC).isoformat() if last else None


def _compared(
    service: Service, rows: Sequence[ConversationForm], drifted: bool | UnsetType, *, is_listed: bool
) -> list[ConversationForm]:
    """Return the conversations that have drifted, or those that have not, or all. Equal editions are compared once."""
    known: dict[tuple[str, ...], ListedDriftForm | None] = {}
    found = []
    for row in rows:
        in_team = service.in_team(row["team"])
        edition = in_team.store.current(row["id"])
        if edition is None:
            continue
        key = (edition.system, edition.tools, edition.account, edition.layout, edition.built_for)
        drift = known.get(key)
        if key not in known or (is_listed and drift and drift["changed"]):  # its cost depends on its own calls
            drift = known[key] = _drift_of(in_team, row["id"], edition)
        if drifted is UNSET or drifted is bool(drift and drift["changed"]):
            found.append(row)
        if is_listed:
            row["drift"] = drift
    return found


def _drift_of(service: Service, id: str, edition: Edition) -> ListedDriftForm | None:
    """Return how a conversation has drifted, or None if a rebuild would fail, for example because the folder is no longer served."""
    try:
        form = drift_form(id, drift_of(service, id, edition, DriftQuery()))
    except StoreError:
        raise
    except (Problem, ForewordError):
        return None
    return {
        "changed": form["changed"],
        "sources": sorted({source for detail in form["details"] for source in detail["sources"]}),
        "tokens_lost": form["tokens_lost"],
        "cost": form["cost"],
        "basis": form["basis"],
    }


ROUTES = (
    Route("GET", "/conversations", "reading", "read", False, list_conversations, forms.ConversationsForm, None, ListQuery, STORED),
    Route("GET", "/usage", "reading", "read", False, read_usage, forms.UsageTotalForm, None, ConversationsQuery, STORED),
)  # fmt: skip
