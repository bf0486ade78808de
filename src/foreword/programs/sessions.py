"""Answer `foreword sessions`: what released agents did, what it cost, and why the cache broke."""

from __future__ import annotations

from ..errors import CallError
from ..sessions.attribution import ANSWERS, SECTIONS, Ledger, key_for
from ..sessions.costs import dollars
from ..sessions.readers import all_readers
from .session_detail import detail_answer
from .session_query import SessionQuery, day_costs, session_form, tokens_form, total_form, worst

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..sessions.joining import Session
    from ..wire.session_forms import InForceForm, SessionDetailForm, SessionRowForm, SessionRowsForm, SessionsForm
    from .question import Question

DIMENSIONS = ("file", "tool", "server", "skill", "section", "cause", "day", "model", "agent")
IN_PARTS = ("file", "tool", "server", "skill", "section")
REST = "no collapse"
_COST_PERIOD = "30d"
SECTION_NAMES = frozenset((*SECTIONS.values(), ANSWERS))


def sessions_answer(question: Question) -> SessionsForm | SessionRowsForm | SessionDetailForm | InForceForm:
    """Return the JSON answer to `foreword sessions`."""
    fields = question.fields
    _check(fields)
    if fields.get("id"):
        return detail_answer(question)
    query = SessionQuery(question)
    if by := fields.get("by"):
        return rows_answer(query, by)
    return list_answer(query)


def _check(fields: Mapping[str, Any]) -> None:
    """Raise a CallError if fields do not fit together."""
    by, name = fields.get("by"), fields.get("id")
    has_instruction = bool(fields.get("in_force") or fields.get("in_force_text"))
    if by and by not in DIMENSIONS:
        raise CallError(f"--by must be one of {', '.join(DIMENSIONS)}, not {by!r}")
    if by and name:
        raise CallError("--by and --id exclude each other: --by adds up all sessions")
    if fields.get("at") and not has_instruction:
        raise CallError("--at needs --in-force or --in-force-text")
    if has_instruction and not name:
        raise CallError("--in-force and --in-force-text need --id ID")


def list_answer(query: SessionQuery) -> SessionsForm:
    """Return the sessions, and what they add up to."""
    sessions = query.sessions()
    return {
        "sessions": [{**session_form(query, session), "requests": len(query.chosen(session))} for session in sessions],
        "total": total_form(query, sessions),
        "days": day_costs(query, sessions),
        "advice": query.advice(sessions),
        "findings": query.finding_forms(sessions),
    }


def rows_answer(query: SessionQuery, by: str) -> SessionRowsForm:
    """Return what each file, tool, day and so on cost: the most expensive first, and days newest first."""
    ledger = Ledger(key_for(by))
    sessions = query.sessions(ledger if by in IN_PARTS else None)
    if by not in IN_PARTS:
        _add_entries(query, ledger, sessions, by)
    rows: list[SessionRowForm] = [
        {
            "key": key,
            "times": times,
            "tokens": tokens_form(tokens),
            "cost": dollars(cost),
            "exactness": worst([exactness]),
        }
        for key, times, tokens, cost, exactness in ledger.final_rows()
    ]
    if by == "day":
        rows.sort(key=lambda row: row["key"], reverse=True)
    total = total_form(query, sessions)
    unused = (
        {key: cost or 0 for key, _, _, cost, _ in ledger.final_rows() if key in ledger.unused_servers()}
        if by == "server"
        else {}
    )
    advice = query.advice(sessions, unused)
    return {"by": by, "rows": rows, "total": total, "advice": advice, "findings": query.finding_forms(sessions)}


def _add_entries(query: SessionQuery, ledger: Ledger, sessions: Sequence[Session], by: str) -> None:
    for session in sessions:
        for entry in query.chosen(session):
            rates = query._rates(session, entry)
            if by != "cause":
                keys = {"day": query.period.day(entry.time), "model": entry.model, "agent": session.agent}
                ledger.add_whole(keys[by], entry.tokens, rates, entry.exactness)
            elif entry.collapse is None:
                ledger.add_whole(REST, entry.tokens, rates, entry.exactness)
            else:
                ledger.add_collapse(entry.collapse.cause, REST, entry, rates)


def agent_names() -> str:
    """Return the names of the agents whose logs are read."""
    return ", ".join(reader.AGENT for reader in all_readers())


def mapping_answer(fields: Mapping[str, Any]) -> Any:
    """Return the answer to a mapping of fields."""
    from .question import Question

    return sessions_answer(Question(fields))


def file_costs(question: Question, paths: Iterable[str]) -> dict[str, float | None]:
    """Return what each of these files cost in this repository in the last 30 days, with any model. A file that no session read is left out."""
    import os

    rows = rows_answer(SessionQuery(question.with_fields(since=_COST_PERIOD, model="")), "file")["rows"]
    known = {
        os.path.realpath(row["key"]): row["cost"]
        for row in rows
        if os.path.isabs(row["key"]) and "\0" not in row["key"]
    }
    return {path: known[real] for path in paths if (real := os.path.realpath(path)) in known}
