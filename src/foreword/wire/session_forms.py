"""The types of the answers to `sessions` and `blame --cost`. Costs are in dollars, and None if no price is known."""

from __future__ import annotations

from typing import Literal, TypedDict

from ..encoding.forms import FindingForm

Exactness = Literal["recorded", "rebuilt", "estimated"]
Cause = Literal[
    "file",
    "tool",
    "server",
    "setting",
    "clock",
    "message",
    "lifetime",
    "compaction",
    "model",
    "provider",
    "unknown",
]


class SessionTokensForm(TypedDict):
    """Tokens by kind: input that was not cached, input that was written to the cache or read from it, and output."""

    fresh: int
    written: int
    read: int
    out: int


class SessionSummaryForm(TypedDict):
    """A session without its requests. `own_cost` is what the program's log says."""

    id: str
    agent: str
    version: str
    path: str
    cwd: str
    started: str | None
    ended: str | None
    models: list[str]
    tokens: SessionTokensForm
    cost: float | None
    own_cost: float | None
    exactness: Exactness
    collapses: int


class SessionForm(SessionSummaryForm):
    """A session, and how many requests it has in the period."""

    requests: int


class SessionTotalForm(TypedDict):
    """What sessions add up to. `cost` leaves out `unpriced_tokens`."""

    requests: int
    tokens: SessionTokensForm
    cost: float | None
    collapse_cost: dict[str, float | None]
    unpriced_tokens: int


class AdviceForm(TypedDict):
    """A change that would have saved money."""

    change: str
    saving: float | None
    evidence: str


class SessionsForm(TypedDict):
    """The sessions in a period, newest first, and what each day cost."""

    sessions: list[SessionForm]
    total: SessionTotalForm
    days: dict[str, float | None]
    advice: list[AdviceForm]
    findings: list[FindingForm]


class SessionRowForm(TypedDict):
    """What one file, tool, day and so on cost. `times` is how often it was sent."""

    key: str
    times: int
    tokens: SessionTokensForm
    cost: float | None
    exactness: Exactness


class SessionRowsForm(TypedDict):
    """What each file, tool, day and so on cost. The rows add up to the total."""

    by: str
    rows: list[SessionRowForm]
    total: SessionTotalForm
    advice: list[AdviceForm]
    findings: list[FindingForm]


class CollapseForm(TypedDict):
    """Why a request read less from the cache than the one before it had put there."""

    cause: Cause
    path: str | None
    line: int | None
    name: str | None
    pause_s: float | None
    tokens: int
    cost: float | None
    evidence: str


class NewPartForm(TypedDict):
    """A part of a request that the request before it did not have."""

    kind: str
    name: str | None
    bytes: int


class SessionRequestForm(TypedDict):
    """A request. `parts` says how it is known what it consisted of, or is None."""

    number: int
    time: str | None
    thread: str
    kind: str
    model: str
    tokens: SessionTokensForm
    cost: float | None
    exactness: Exactness
    parts: str | None
    new: list[NewPartForm]
    collapse: CollapseForm | None


class SessionDetailForm(SessionSummaryForm):
    """One session, request by request."""

    requests: list[SessionRequestForm]
    total: SessionTotalForm
    findings: list[FindingForm]


InForceSpanForm = TypedDict(
    "InForceSpanForm",
    {
        "from": str | None,
        "to": str | None,
        "version": str,
        "distance": int,
        "lost": str | None,
        "thread": str,
        "requests": list[int],
    },
)


class InForceForm(TypedDict):
    """When an instruction was in the requests of a session."""

    id: str
    spans: list[InForceSpanForm]
    requests: int
    exactness: Exactness
    findings: list[FindingForm]


class PricedLineForm(TypedDict):
    """A line of an instruction file, and what it cost. The last may stand for lines that are no longer in the file."""

    number: int | None
    text: str
    section: str | None
    kind: str
    path: str
    line: int | None
    tokens: SessionTokensForm
    cost: float | None


class FileCostForm(TypedDict):
    times: int
    tokens: SessionTokensForm
    cost: float | None
    exactness: Exactness


class PricedFileForm(TypedDict):
    """What each line of an instruction file cost."""

    path: str
    lines: list[PricedLineForm]
    total: FileCostForm
    findings: list[FindingForm]
