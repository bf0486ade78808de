"""Routes about many conversations: their list, and their usage."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from msgspec import UNSET

from ..conversation.usage import sum_usage, usage_of
from ..errors import ForewordError, StoreError
from ..packs.packs import layout_names
from ..store import waits
from ..store.listing import ConversationQuery
from ..vocabulary import replace
from ..wire.answers import conversation_form, usage_form
from .bodies import ConversationsQuery, DriftQuery, ListQuery
from .conversations import drift_of
from .responses import Problem, Response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..store.rows import ConversationRow
    from ..vocabulary import Edition
    from .request import Request
    from .service import Service

# Comparing a conversation builds its prompt.
_MAX_COMPARED = 50
_EPOCH = date(1970, 1, 1)


def list_conversations(service: Service, request: Request) -> Response:
    """Return a page of conversations, sorted by id or with the newest first.

    A page may have fewer conversations than `limit`; there are more if `next` is not null. Only the last page can be empty.
    """
    query: ListQuery = request.query
    wanted, store = _store_query(query), service.store
    if query.drifted is UNSET:
        page = store.conversations(wanted)
        rows, (count, is_exact) = page.rows, store.count(wanted)
        count = max(count, len(rows))  # a count that is not exact may not have reached them
    else:
        waits.announce("inspect")
        page = store.conversations(replace(wanted, limit=min(query.limit, _MAX_COMPARED)))
        rows = _compared(service, page.rows, query.drifted)
        count, is_exact = len(rows), not query.after and not page.next
    return Response(
        {
            "conversations": [conversation_form(row) for row in rows],
            "next": page.next or None,
            "total": {"count": count, "exact": is_exact},
        }
    )


def read_usage(service: Service, request: Request) -> Response:
    """Return what the calls of a page of conversations used: in total, and by the day of each edition's last call, in UTC."""
    query: ConversationsQuery = request.query
    page = service.store.conversations(_store_query(query))
    by_day = service.store.daily_usage([row.id for row in page.rows])
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


def _compared(service: Service, rows: Sequence[ConversationRow], drifted: bool) -> list[ConversationRow]:
    """Return the conversations that have drifted, or those that have not. Equal editions are compared once."""
    known: dict[tuple[str, ...], bool] = {}
    found = []
    for row in rows:
        edition = service.store.current(row.id)
        if edition is None:  # it was just removed
            continue
        key = (edition.system, edition.tools, edition.account, edition.layout, edition.built_for)
        if key not in known:
            known[key] = _has_drifted(service, row.id, edition)
        if known[key] is drifted:
            found.append(row)
    return found


def _has_drifted(service: Service, id: str, edition: Edition) -> bool:
    """Whether a rebuild would change the prompt. It would not if it failed, for example because the folder is no longer served."""
    try:
        return drift_of(service, id, edition, DriftQuery()).is_changed
    except StoreError:
        raise
    except (Problem, ForewordError):
        return False
