"""The JSON forms as types: what `--json` prints, what HTTP answers, and what the description of the service is made from.

`wire.py` makes them. They stand alone because only a type checker and the service load them: `typing` costs a start-up.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


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


class PassageForm(TypedDict):
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


class FindingForm(TypedDict):
    code: str
    severity: str
    message: str
    path: str | None
    line: int | None


class LineForm(TypedDict):
    number: int
    text: str
    section: str | None
    kind: str | None
    path: str | None
    line: int | None


class SkillForm(TypedDict):
    name: str
    description: str
    location: str
    hidden: bool


class VariableForm(TypedDict):
    type: str
    name: str
    description: str
    dynamic: NotRequired[bool]


class AccountPassage(TypedDict):
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


class TurnForm(TypedDict):
    conversation: str
    edition: int
    reused: bool
    system: str
    messages: list[dict[str, Any]]
    tools: list[ToolForm]
    findings: list[FindingForm]


class MadeForForm(TypedDict):
    cwd: NotRequired[str]
    model: NotRequired[str]
    provider: NotRequired[str]
    template: NotRequired[int]


class EditionRowForm(TypedDict):
    edition: int
    id: str
    layout: str
    made: str
    made_for: MadeForForm


class EditionForm(EditionRowForm):
    conversation: str
    system: str
    tools: list[ToolForm]
    passages: list[AccountPassage]
    candidates: list[CandidateForm]
    findings: list[FindingForm]


class ConversationForm(TypedDict):
    id: str
    editions: int
    prompt: str
    layout: str
    made: str


class SectionChangeForm(TypedDict):
    section: str
    change: Literal["came", "went", "changed"]
    sources: list[str]


class ToolChangesForm(TypedDict):
    added: list[str]
    removed: list[str]
    changed: list[str]


class DriftForm(TypedDict):
    conversation: str
    changed: bool
    sections: list[SectionChangeForm]
    tools: ToolChangesForm
    tokens_kept: int
    tokens_lost: int


class VersionForm(TypedDict):
    version: int
    author: str
    time: str | None
    note: str
    template: str
