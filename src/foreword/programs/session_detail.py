"""Answer questions about one session: request by request, and whether an instruction was in force."""

from __future__ import annotations

import os

from ..errors import CallError, MissingError
from ..findings import finding
from ..sessions.costs import dollars
from ..sessions.folders import normalize_folder
from ..sessions.in_force import Sent, find_spans
from ..sessions.pages import PagedTable
from ..sources.environment import absolute
from ..text.lines import printable
from .session_query import KeptStep, SessionQuery, iso, session_form, tokens_form, total_form, worst

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..sessions.in_force import Match
    from ..sessions.joining import Session
    from ..sessions.records import Collapse, Entry
    from ..sessions.values import LogPart
    from ..wire.session_forms import (
        CollapseForm,
        InForceForm,
        InForceSpanForm,
        NewPartForm,
        SessionDetailForm,
        SessionRequestForm,
    )
    from .question import Question
    from .session_query import Wanted

# How many requests are listed; an answer with all of a very long session would need gigabytes.
MOST_REQUESTS = 20_000
# The kinds of parts whose texts are compared to find the line of a difference.
_MOST_DIGITS = 9
_COMPARED = ("file", "server", "clock")


def detail_answer(question: Question) -> SessionDetailForm | InForceForm:
    """Return one session request by request or, if the question names an instruction, when it was in force."""
    from ..encoding.prompt import finding_form

    query = SessionQuery(question.with_fields(everywhere=True))
    session, steps, texts = find_session(query, question.fields["id"])
    if question.fields.get("in_force") or question.fields.get("in_force_text"):
        return in_force_answer(query, session, steps, texts)
    from .session_mirror import compare_with_mirror

    count = len(query.chosen(session))
    numbered = [
        request_form(query, number, entry, steps.get(entry.key))
        for number, entry in enumerate(query.chosen(session), 1)
        if number > count - MOST_REQUESTS
    ]
    found = [*query.findings([session]), *compare_with_mirror(query, session, steps)]
    if count > MOST_REQUESTS:
        listed = f"{count:,} requests, of which the last {MOST_REQUESTS:,} are listed; --until lists earlier ones"
        found.append(finding("session-log-cut", f"session {session.id} has {listed}", printable(session.path)))
    findings = [finding_form(entry) for entry in found]
    form = session_form(query, session)
    return {
        **form,
        "requests": numbered,
        "total": total_form(query, [session]),
        "findings": findings,
    }


def find_session(query: SessionQuery, name: str) -> tuple[Session, PagedTable[KeptStep], Mapping[str, str]]:
    """Return the session with this id, or whose id begins like this, with the steps of its requests and the texts that are needed."""
    steps: PagedTable[KeptStep] = PagedTable()
    texts: dict[str, str] = {}
    sessions = query.sessions(detail=(name, steps, texts, _wanted_texts(query)))
    matches = [session for session in sessions if session.id == name] or [
        session for session in sessions if session.id.startswith(name)
    ]
    if not matches:
        limit = " and a request that was asked for" if query.model or query.period.is_limited else ""
        raise MissingError(f"no session has the id {name!r}, or an id that begins like that{limit}")
    if len(matches) > 1:
        ids = ", ".join(session.id for session in matches[:5])
        raise CallError(f"{len(matches)} sessions have an id that begins with {name!r}: {ids}; pass more of it")
    return matches[0], steps, texts


def _wanted_texts(query: SessionQuery) -> Wanted:
    """Return which texts the answer needs: those in which the line of a difference is looked for, or those with the instruction."""
    fields = query.question.fields
    text = fields.get("in_force_text") or ""
    if text and fields.get("in_force"):
        raise CallError("--in-force and --in-force-text exclude each other")
    if not text and fields.get("in_force"):
        name, line = _split_line(fields["in_force"])
        lines = _read(_full_path(query, name), query.served).split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else "\n".join(lines)
    needle = text.strip()

    def is_wanted(part: LogPart, text: str) -> bool:
        return part.kind in _COMPARED or bool(needle and part.kind != "answer" and needle in text)

    return is_wanted


def request_form(query: SessionQuery, number: int, entry: Entry, step: KeptStep | None) -> SessionRequestForm:
    """Return the JSON form of a request."""
    return {
        "number": number,
        "time": iso(query, entry.time),
        "thread": entry.thread,
        "kind": entry.kind,
        "model": entry.model,
        "tokens": tokens_form(entry.tokens),
        "cost": dollars(entry.cost),
        "exactness": worst([entry.exactness]),
        "parts": entry.made or None,
        "new": new_parts(step) if step is not None else [],
        "collapse": collapse_form(entry.collapse) if entry.collapse else None,
    }


def collapse_form(collapse: Collapse) -> CollapseForm:
    return {
        "cause": collapse.cause,  # type: ignore[typeddict-item]
        "path": collapse.path or None,
        "line": collapse.line,
        "name": collapse.name or None,
        "pause_s": None if collapse.pause is None else round(collapse.pause, 3),
        "tokens": collapse.tokens,
        "cost": dollars(collapse.cost),
        "evidence": collapse.evidence,
    }


def new_parts(step: KeptStep) -> list[NewPartForm]:
    """Return what a request has that the one before it did not have, without texts."""
    return [{"kind": kind, "name": name or None, "bytes": size} for kind, name, size in step.new]


# In force


def in_force_answer(
    query: SessionQuery, session: Session, steps: PagedTable[KeptStep], texts: Mapping[str, str]
) -> InForceForm:
    """Return when an instruction was in the requests of a session."""
    fields = query.question.fields
    match = (
        _text_match(fields["in_force_text"], texts)
        if fields.get("in_force_text")
        else _file_match(query, session, steps, texts)
    )
    numbers = {hash(entry.key): number for number, entry in enumerate(query.chosen(session), 1) if entry.kind == "turn"}
    sent = (
        Sent(
            numbers.get(hash(step.request.key), 0),
            step.request.time,
            step.request.thread,
            step.request.tokens.input,
            step.is_compacted,
            f"{step.path}|{step.request.thread}",
            step.shared,
            step.request.tail,
        )
        for step in steps.values()
        if step.request.made or hash(step.request.key) in numbers
    )
    moment = _moment(query, fields.get("at") or "")
    spans: list[InForceSpanForm] = [
        {
            "from": iso(query, span.start),
            "to": iso(query, span.end),
            "version": span.version,
            "distance": span.distance,
            "lost": span.lost,
            "thread": span.thread,
            "requests": [span.first, span.last],
        }
        for span in find_spans(sent, match)
        if moment is None or span.start <= moment <= span.end
    ]
    made = {entry.made for entry in session.entries if entry.made}
    exactness = worst(made) if made else "estimated"
    return {"id": session.id, "spans": spans, "requests": len(numbers), "exactness": exactness, "findings": []}


def _moment(query: SessionQuery, text: str) -> float | None:
    if not text:
        return None
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CallError(f"--at must be a time such as 2026-11-01T12:00, not {text!r}") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=query.period.zone) if query.period.zone else moment.astimezone()
    return moment.timestamp()


def _text_match(text: str, texts: Mapping[str, str]) -> Match:
    wanted = text.strip()
    if not wanted:
        raise CallError("--in-force-text needs a text")

    def match(part: LogPart) -> str:
        return part.hash if part.kind != "answer" and wanted in texts.get(part.hash, "") else ""

    return match


def _file_match(query: SessionQuery, session: Session, steps: PagedTable[KeptStep], texts: Mapping[str, str]) -> Match:
    """Return a function that finds a file in a part by its path or, where the log does not name paths, by its text."""
    name, line = _split_line(query.question.fields["in_force"])
    full = _full_path(query, name)
    paths = {normalize_folder(path) for path in (name, full, os.path.realpath(full), _join(session.cwd, name))}
    files = {part for step in steps.values() for part in step.request.tail if part.kind == "file"}
    versions = {part.hash: texts.get(part.hash, "") for part in files if normalize_folder(part.path) in paths}
    current = _read(full, query.served)
    if not versions and not current:
        raise MissingError(f"the session's log does not name {printable(name)}, and there is no such file")
    wanted = _line_of(current or next(iter(versions.values())), line, name) if line else ""
    if versions:
        return lambda part: part.hash if part.hash in versions and wanted in versions[part.hash] else ""
    return _text_match(wanted or current, texts)


def _full_path(query: SessionQuery, name: str) -> str:
    if "\0" in name:
        raise CallError("a path cannot contain a null character")
    return absolute(os.path.join(query.workspace.cwd, name), query.environment)


def _line_of(text: str, line: int, name: str) -> str:
    lines = text.split("\n")
    if line > len(lines) or not lines[line - 1].strip():
        raise CallError(f"{printable(name)} has no text in line {line}")
    return lines[line - 1].strip()


def _join(cwd: str, name: str) -> str:
    return f"{cwd.rstrip('/')}/{name}" if cwd and not os.path.isabs(name) else name


def _split_line(text: str) -> tuple[str, int]:
    name, colon, number = text.rpartition(":")
    is_number = number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
    return (name, int(number)) if colon and name and is_number and int(number) else (text, 0)


def _read(path: str, served: Sequence[str]) -> str:
    """Return a file's text, or empty if it has none or is not in the served folders, if there are any."""
    from ..sources.paths import is_inside
    from ..sources.places import real_path
    from ..sources.reader import Reader

    if served and not any(is_inside(real_path(path), folder) for folder in served):
        return ""
    reading = Reader().read(path)
    return reading.text if reading.has_text else ""
