"""The types of the stored forms."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict


class OriginForm(TypedDict):
    kind: str
    path: str
    lines: list[int] | None
    start: int
    end: int
    hash: str


class TokensForm(TypedDict):
    count: int
    method: str
    exact: bool
    error: float


class PassageMessage(TypedDict):
    role: str
    message: NotRequired[int]


class PassageForm(PassageMessage):
    section: str
    start: int
    end: int
    lifetime: str
    tokens: int
    origins: list[OriginForm]


class CandidateForm(TypedDict):
    path: str
    layer: str
    fate: str
    reason: str
    target: str | None


class ExplainedForm(CandidateForm):
    """A candidate, the other agents that read it, and how to include it. Both are empty unless a path was asked for."""

    readers: list[str]
    advice: str


class FindingForm(TypedDict):
    code: str
    severity: str
    message: str
    path: str | None
    line: int | None
    column: int | None
    end_column: int | None


class AccountPassage(PassageMessage):
    section: str
    start: int
    end: int
    lifetime: str
    origins: list[OriginForm]


class AccountForm(TypedDict):
    passages: list[AccountPassage]
    candidates: list[CandidateForm]
    findings: list[FindingForm]


class PromptForm(TypedDict):
    id: str
    layout: str
    text: str
    tokens: TokensForm
    passages: list[PassageForm]
    candidates: list[CandidateForm]
    findings: list[FindingForm]


# Conversations


class ToolForm(TypedDict):
    name: str
    description: str
    schema: dict[str, Any]
    server: NotRequired[str]
    defer: NotRequired[bool]
    strict: NotRequired[bool]
    allowed_callers: NotRequired[list[str]]
    type: NotRequired[str]
    options: NotRequired[dict[str, Any]]


class EditionTargetForm(TypedDict):
    cwd: NotRequired[str]
    model: NotRequired[str]
    provider: NotRequired[str]
    template: NotRequired[int]
