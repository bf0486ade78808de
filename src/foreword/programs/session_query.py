"""The logs that a question about sessions is about: which, in which period, and what they add up to."""

from __future__ import annotations

import os
from itertools import islice
from typing import NamedTuple

from ..errors import CallError, suggestion
from ..findings import finding
from ..sessions.advice import advise
from ..sessions.attribution import Ledger
from ..sessions.collect import LogCollector
from ..sessions.costs import RateCard, dollars
from ..sessions.folders import SessionPlace, normalize_folder, place_of
from ..sessions.index import Index, index_path
from ..sessions.joining import UNLOGGED, join_records
from ..sessions.pages import PagedTable, choose, pages_of
from ..sessions.readers import all_readers
from ..sessions.readers.lines import UnreadableLog
from ..sessions.records import reduce_log
from ..sessions.values import CAUSES, EXACTNESS, TokenCounts
from ..sources.environment import resolve_workspace
from ..sources.reader import Reader
from ..text.lines import printable
from ..vocabulary.values import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo
    from types import ModuleType
    from typing import Any

    from ..sessions.chains import Step
    from ..sessions.joining import Session
    from ..sessions.records import Entry, LogRecord
    from ..sessions.values import LoggedRequest, LogPart, SessionLog
    from ..vocabulary import Finding
    from ..wire.session_forms import AdviceForm, Exactness, SessionSummaryForm, SessionTokensForm, SessionTotalForm
    from .question import Question

    Wanted = Callable[[LogPart, str], bool]
    # The beginning of an id, requests by key, texts by hash, and which texts are needed.
    Detail = tuple[str, PagedTable["KeptStep"], dict[str, str], Wanted]

_MAX_NEW = 20
_DAY = 86_400
_QUARTER = 900  # days begin at the quarter of an hour, in every zone
_MOST_DIGITS = 9
_UNITS = {"m": 60, "h": 3600, "d": _DAY, "w": 7 * _DAY}


class KeptStep(NamedTuple):
    """A request of the session in question: its log, how many parts it shares with the one before it, and what is new in it."""

    request: LoggedRequest
    path: str
    shared: int
    is_compacted: bool
    new: list[tuple[str, str, int]]


class Period:
    """The times that a question is about, in seconds since 1970, and the zone in which its days begin."""

    def __init__(self, since: str, until: str, now: float, zone: tzinfo | None) -> None:
        self.zone, self.now = zone, now
        self._days: dict[int, str] = {}
        self.start = self._parse(since, "--since") if since else 0.0
        self.end = self._parse(until, "--until", is_end=True) if until else float("inf")
        if self.start > self.end:
            raise CallError(f"--since {since} is after --until {until}")

    @property
    def is_limited(self) -> bool:
        return bool(self.start) or self.end != float("inf")

    def contains(self, time: float) -> bool:
        return self.start <= time < self.end or (not time and not self.start and self.end == float("inf"))

    def day(self, time: float) -> str:
        if not time:
            return "unknown"
        quarter = int(time // _QUARTER)
        if quarter not in self._days:
            self._days[quarter] = f"{self.moment(time):%Y-%m-%d}"
        return self._days[quarter]

    def moment(self, time: float) -> Any:
        from datetime import UTC, datetime

        moment = datetime.fromtimestamp(time, UTC)
        return moment.astimezone(self.zone)

    def _parse(self, text: str, option: str, is_end: bool = False) -> float:
        from datetime import datetime, timedelta

        count, unit = text[:-1], text[-1:]
        if unit in _UNITS and count.isascii() and count.isdecimal() and len(count) <= _MOST_DIGITS:
            return self.now - int(count) * _UNITS[unit]
        try:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=self.zone) if self.zone else moment.astimezone()
            if is_end and len(text) == len("2026-11-01"):
                moment += timedelta(days=1)
            return moment.timestamp()
        except (ValueError, OverflowError, OSError):
            raise CallError(
                f"{option} must be a period such as 7d or a date such as 2026-11-01, not {text!r}"
            ) from None


# Without a home directory, only folders that the environment names are read.
_NO_HOME = os.path.join(os.devnull, "home")


def _zone(question: Question) -> tzinfo | None:
    """Return the time zone of days and times: UTC if asked for, then that of the caller's clock, otherwise None for the local one."""
    from datetime import UTC

    if question.fields.get("utc"):
        return UTC
    return question.now.tzinfo if question.now else None


class SessionQuery:
    """The logs that a question is about, and what they add up to."""

    def __init__(self, question: Question) -> None:
        from ..inspection.price_list import read_prices

        fields = question.fields
        self.question = question
        self.workspace = resolve_workspace(question.workspace, reader := Reader())
        self.home = self.workspace.home or ""
        now = question.now.timestamp() if question.now else _time()
        self.period = Period(fields.get("since") or "", fields.get("until") or "", now, _zone(question))
        self.readers = _chosen_readers(fields.get("agents") or ())
        self.model = fields.get("model") or ""
        prices = read_prices("", question.workspace, fields.get("settings") or "")
        self.card, self._card_id = RateCard(prices), digest(repr(prices))
        self.environment = os.environ if self.workspace.environment is None else self.workspace.environment
        self.served: Sequence[str] = fields.get("served") or ()
        is_kept = self.home and not fields.get("no_cache")
        self.index = Index(index_path(self.home, self.environment) if is_kept else "")
        # With a clock of the caller's, the time at which a file was changed says nothing about the rows in it.
        changed_since = 0.0 if question.now else self.period.start
        self.collector = LogCollector(
            self.readers, self.home or _NO_HOME, self.environment, self.index, self._place(reader), changed_since,
            fields.get("progress"),
        )  # fmt: skip
        self.providers = {reader.AGENT: getattr(reader, "PROVIDER", "") for reader in self.readers}
        self._seen: set[int] = set()  # hashes of the keys of requests
        self._files: dict[LogPart, tuple[ModuleType, str]] = {}  # where each version of an instruction file is logged
        self._chosen: dict[tuple[str, str], Sequence[Entry]] = {}
        self._sums: dict[tuple[str, str], Sums] = {}
        self._copies: dict[int, tuple[str, Step, Entry]] = {}
        self.empty: list[Session] = []  # sessions without requests, perhaps because their logs could not be read

    def _place(self, reader: Reader) -> SessionPlace | None:
        """Return where the sessions that count have worked. None means anywhere."""
        if not self.question.fields.get("everywhere"):
            return place_of(self.workspace, reader, self.served)
        return SessionPlace(self.served) if self.served else None

    def sessions(self, ledger: Ledger | None = None, detail: Detail | None = None) -> list[Session]:
        """Return the sessions with at least one request in the period, newest first.

        The ledger gets each request in the period once. For the session that `detail` names, the steps and texts are added to it.
        """
        self.index.open()
        try:
            if ledger is not None:
                records = [self._add_log(reader, log, ledger) for reader, log in self.collector.logs()]
            else:
                figures = self.collector.records(self.card, self._card_id)
                records = [self._with_detail(record, detail) if detail else record for record in figures]
        finally:
            self.index.close()
        sessions = join_records(records, self.card, self.providers)
        if ledger is not None:
            self._add_copies(ledger)
            for session in sessions:
                for entry in self.chosen(session):
                    if entry.key.startswith(UNLOGGED):
                        ledger.add_whole("not in the log", entry.tokens, self._rates(session, entry), "rebuilt")
        self.empty = [session for session in sessions if not len(session.entries)]
        found = [session for session in sessions if len(self.chosen(session))]
        return sorted(found, key=lambda session: (-self.sums(session).end, session.id))

    def _with_detail(self, record: LogRecord, detail: Detail) -> LogRecord:
        """Return the figures of a log. If it belongs to the session that `detail` names, it is read as a whole, with its texts."""
        log = record.log
        if not log.session.startswith(detail[0]):
            return record
        reader = next(reader for reader in self.readers if log.agent == reader.AGENT)
        try:
            log, texts = self.collector.with_texts(reader, log.path, detail[3])
        except UnreadableLog:
            return record  # it was deleted after it had been found
        detail[2].update(texts)
        return reduce_log(
            log, self.card, self.providers[log.agent], lambda step, entry: _keep(detail[1], log.path, step), texts
        )

    def _add_log(self, reader: ModuleType, log: SessionLog, ledger: Ledger) -> LogRecord:
        """Add the requests of a log to the ledger, and return its figures."""
        provider = self.providers[log.agent]
        ledger.start_log()
        for request in log.requests:
            for part in request.tail:
                if part.kind == "file":
                    self._files.setdefault(part, (reader, log.path))
        return reduce_log(log, self.card, provider, lambda step, entry: self._add(ledger, log.agent, step, entry))

    def _add(self, ledger: Ledger, agent: str, step: Step, entry: Entry) -> None:
        ledger.follow(step)
        key = hash((agent, entry.key))
        if key in self._seen or not self._is_chosen(entry) or not entry.tokens.input + entry.tokens.out:
            return
        if step.request.ref and step.request.made != "rebuilt":
            self._copies[key] = agent, step, entry  # it is probably a copy, and the original can be rebuilt
            return
        self._seen.add(key)
        ledger.add_step(step, self.card.rule(entry.model, self.providers[agent], entry.time).rates)

    def _add_copies(self, ledger: Ledger) -> None:
        """Add the copies whose originals are not in any log."""
        for key, (agent, step, entry) in self._copies.items():
            if key not in self._seen:
                ledger.add(
                    step.request, step.parts, self.card.rule(entry.model, self.providers[agent], entry.time).rates
                )

    def _rates(self, session: Session, entry: Entry) -> Any:
        return self.card.rule(entry.model, self.providers[session.agent], entry.time).rates

    def _is_chosen(self, entry: Entry) -> bool:
        if self.model and entry.model != self.model:
            from ..text.models import is_same_model

            if not is_same_model(self.model, entry.model):
                return False
        return self.period.contains(entry.time)

    def chosen(self, session: Session) -> Sequence[Entry]:
        """Return a session's entries in the period and of the model that were asked for."""
        key = session.agent, session.id
        if key not in self._chosen:
            is_limited = self.model or self.period.is_limited
            self._chosen[key] = choose(
                session.entries, lambda row: any(row.tokens) and (not is_limited or self._is_chosen(row))
            )
        return self._chosen[key]

    def sums(self, session: Session) -> Sums:
        """Return what these entries add up to."""
        key = session.agent, session.id
        if key not in self._sums:
            self._sums[key] = sum_up(self.chosen(session))
        return self._sums[key]

    def file_texts(self, paths: set[str]) -> dict[str, str]:
        """Return the texts of all versions of these files in the logs that were added to a ledger, by hash."""
        texts: dict[str, str] = {}

        def is_wanted(part: LogPart, text: str) -> bool:
            return part.kind == "file" and part.hash not in texts and normalize_folder(part.path) in paths

        for part, (reader, path) in self._files.items():
            if is_wanted(part, ""):
                texts.update(self.collector.with_texts(reader, path, is_wanted)[1])
        return texts

    def advice(self, sessions: Sequence[Session], servers: Mapping[str, int] | None = None) -> list[AdviceForm]:
        """Return the changes that would have saved most."""
        rows = advise([(session, self.chosen(session)) for session in sessions], self._rates, servers)
        return [{"change": row.change, "saving": dollars(row.saving), "evidence": row.evidence} for row in rows]

    def finding_forms(self, sessions: Sequence[Session]) -> list[Any]:
        from ..encoding.prompt import finding_form

        return [finding_form(entry) for entry in self.findings(sessions)]

    def findings(self, sessions: Sequence[Session]) -> list[Finding]:
        """Return what could not be read, and what a person should know."""
        found = [
            finding(code, f"{printable(path)}: {reason}", printable(path))
            for code, path, reason in self.collector.problems
        ]
        for cwd, count in self.collector.moved.items():
            logs = "1 log is" if count == 1 else f"{count:,} logs are"
            found.append(
                finding(
                    "session-folder-moved",
                    f"{logs} of {printable(cwd)}, which does not exist any more; --everywhere includes them",
                )
            )
        seen: set[tuple[str, str, str]] = set()
        for session in [*sessions, *self.empty]:
            for code, about in session.problems:
                # Records of one type and version are reported once, whichever sessions have them.
                where = session.agent if code == "session-record-unknown" else session.path
                if (code, where, about) not in seen:
                    seen.add((code, where, about))
                    found.append(_problem(session, code, about))
        return found


def _problem(session: Session, code: str, about: str) -> Finding:
    path = printable(session.path)
    # A path, which comes first, may contain the mark too.
    words = [printable(word) for word in about.rsplit("|", 2 if code == "session-old-text" else 1)]
    message = _PROBLEMS[code].format(*words, agent=session.agent, about=printable(about), path=path, id=session.id[:8])
    return finding(code, message, path)


_PROBLEMS = {
    "session-old-text": "{0} was edited during session {id}; the old text stayed in {1} requests, about {2} tokens in all",
    "session-file-lost": "{0} was not sent any more after {1} in session {id}",
    "session-bare-agent": "{0} of the sub-agents of session {id} got no instruction files",
    "session-log-cut": "{path} has {about}",
    "session-record-unknown": "{agent} wrote a record of an unknown type ({about}); it was left out",
    "session-rebuild-differs": "{about} rebuilt from {path} differ from what the log says was sent",
}


def _keep(steps: PagedTable[KeptStep], path: str, step: Step) -> None:
    is_compacted = any(event.kind == "compaction" for event in step.events)
    new = merge_parts(step.line.parts[max(step.keep, 0) : step.length])
    if step.request.key not in steps:
        steps.put(step.request.key, KeptStep(step.request, path, step.shared, is_compacted, new))


def merge_parts(parts: Iterable[LogPart]) -> list[tuple[str, str, int]]:
    """Return the first of these parts, without texts: kind, name and size. Those with the same name are one."""
    merged: dict[tuple[str, str], int] = {}
    for part in parts:
        key = part.kind, part.path if part.kind == "file" else part.name
        merged[key] = merged.get(key, 0) + part.size
    return [(kind, name, size) for (kind, name), size in islice(merged.items(), _MAX_NEW)]


def _time() -> float:
    import time

    return time.time()


def _chosen_readers(names: Iterable[str]) -> list[ModuleType]:
    readers = all_readers()
    known = {name: reader for reader in readers for name in (reader.AGENT, *reader.TITLES)}
    chosen: list[ModuleType] = []
    for name in names:
        reader = known.get(name.lower())
        if reader is None:
            agents = [reader.AGENT for reader in readers]
            raise CallError(f"unknown agent {name!r}{suggestion(name, agents)}")
        chosen.append(reader)
    return chosen or readers


# JSON


def session_form(query: SessionQuery, session: Session) -> SessionSummaryForm:
    """Return the JSON form of a session, as far as it is in the period, without its requests."""
    sums = query.sums(session)
    return {
        "id": session.id,
        "agent": session.agent,
        "version": session.version,
        "path": session.path,
        "cwd": session.cwd,
        "started": iso(query, sums.start),
        "ended": iso(query, sums.end),
        "models": list(sums.models),
        "tokens": tokens_form(sums.tokens),
        "cost": dollars(sums.cost),
        "own_cost": own_cost(session),
        "exactness": worst(sums.exactness),
        "collapses": sums.collapses,
    }


def own_cost(session: Session) -> float | None:
    """Return what the program itself says that a session cost, or None. A fork's sum includes the session that it continues."""
    if session.copies or session.own_cost is not None:
        return None if session.copies else session.own_cost
    costs = [entry.own_cost for entry in session.entries if entry.own_cost is not None]
    return sum(costs) if costs else None


def day_costs(query: SessionQuery, sessions: Sequence[Session]) -> dict[str, float | None]:
    """Return what each day cost, in order."""
    days: dict[str, int | None] = {}
    for session in sessions:
        for entry in query.chosen(session):
            day = query.period.day(entry.time)
            known = days.setdefault(day, None)
            if entry.cost is not None:
                days[day] = entry.cost + (known or 0)
    return {day: dollars(days[day]) for day in sorted(days)}


def total_form(query: SessionQuery, sessions: Sequence[Session]) -> SessionTotalForm:
    """Return what the sessions add up to, with the cost of collapses by cause."""
    total = _NO_SUMS
    for session in sessions:
        total = _join_sums(total, query.sums(session))
    return {
        "requests": sum(len(query.chosen(session)) for session in sessions),
        "tokens": tokens_form(total.tokens),
        "cost": dollars(total.cost),
        "collapse_cost": {
            cause: dollars(total.collapse_cost[cause]) for cause in CAUSES if cause in total.collapse_cost
        },
        "unpriced_tokens": total.unpriced,
    }


class Sums(NamedTuple):
    """What some requests add up to. Costs are None if none of them has a price, and `unpriced` are the tokens of those without one."""

    tokens: TokenCounts
    cost: int | None
    unpriced: int
    collapse_cost: dict[str, int | None]
    collapses: int
    models: dict[str, None]
    exactness: set[str]
    start: float
    end: float


_NO_SUMS = Sums(TokenCounts(), None, 0, {}, 0, {}, set(), 0.0, 0.0)


def sum_up(entries: Sequence[Entry]) -> Sums:
    """Add up requests, page by page."""
    total = _NO_SUMS
    for page in filter(None, pages_of(entries)):
        total = _join_sums(total, _sum_page(page))
    return total


def _sum_page(page: Sequence[Entry]) -> Sums:
    tokens = TokenCounts(*map(sum, zip(*(entry.tokens for entry in page), strict=True)))
    costs = [entry.cost for entry in page if entry.cost is not None]
    unpriced = sum([entry.tokens.input + entry.tokens.out for entry in page if entry.cost is None])
    collapses = [entry.collapse for entry in page if entry.collapse is not None]
    causes: dict[str, int | None] = {}
    for collapse in collapses:
        causes[collapse.cause] = _add(causes.get(collapse.cause), collapse.cost)
    models = dict.fromkeys([entry.model for entry in page])
    times = [entry.time for entry in page if entry.time] or [0.0]
    return Sums(
        tokens, sum(costs) if costs else None, unpriced, causes, len(collapses), models,
        {entry.exactness for entry in page}, min(times), max(times),
    )  # fmt: skip


def _join_sums(sums: Sums, more: Sums) -> Sums:
    causes = {cause: _add(sums.collapse_cost.get(cause), cost) for cause, cost in more.collapse_cost.items()}
    return Sums(
        sums.tokens.plus(more.tokens), _add(sums.cost, more.cost), sums.unpriced + more.unpriced,
        sums.collapse_cost | causes, sums.collapses + more.collapses, sums.models | more.models,
        sums.exactness | more.exactness, min(sums.start or more.start, more.start or sums.start), max(sums.end, more.end),
    )  # fmt: skip


def _add(cost: int | None, more: int | None) -> int | None:
    return cost if more is None else more + (cost or 0)


def worst(names: Iterable[str]) -> Exactness:
    return max(names, key=EXACTNESS.index, default="recorded")  # type: ignore[arg-type]


def tokens_form(tokens: TokenCounts) -> SessionTokensForm:
    return {"fresh": tokens.fresh, "written": tokens.written, "read": tokens.read, "out": tokens.out}


def iso(query: SessionQuery, time: float) -> str | None:
    return query.period.moment(time).isoformat(timespec="milliseconds") if time else None
