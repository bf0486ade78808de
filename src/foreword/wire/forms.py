"""The types of all answers, from which the HTTP API's JSON schemas are generated."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from ..encoding.forms import (
    AccountPassage,
    CandidateForm,
    FindingForm,
    PassageMessage,
    PromptForm,
    TokensForm,
    ToolForm,
)
from .conversation_forms import EditionRowForm, RebuildCostForm, UsageForm


class ShowForm(PromptForm):
    tools: list[ToolForm]


class LineForm(TypedDict):
    number: int
    text: str
    section: str | None
    kind: str | None
    path: str | None
    line: int | None


class VariableForm(TypedDict):
    type: str
    name: str
    description: str
    dynamic: NotRequired[bool]


class SentSectionForm(TypedDict):
    """A section of the prompt: its lifetime, and its offsets in `system` (message 0) or in a message that belongs to the prompt."""

    section: NotRequired[str]
    start: int
    end: int
    lifetime: Literal["release", "project", "conversation", "turn"]
    role: str
    message: int


class ChangeForm(TypedDict):
    """A late change that one of the messages announces, and the names of the tools that it adds, removes and restores."""

    text: str
    added: NotRequired[list[str]]
    removed: NotRequired[list[str]]
    restored: NotRequired[list[str]]


class TurnForm(TypedDict):
    """What to send to the model. `request` is the body of a provider's request, `request_headers` the headers that it needs, if any."""

    conversation: str
    edition: int
    reused: bool
    system: str
    messages: list[dict[str, Any]]
    leading: NotRequired[int]
    history: list[dict[str, Any]]
    tools: list[ToolForm]
    model: str
    sections: list[SentSectionForm]
    root_end: NotRequired[int]
    changes: NotRequired[list[ChangeForm]]
    request: NotRequired[dict[str, Any]]
    request_headers: NotRequired[dict[str, str]]
    findings: list[FindingForm]


class EditionForm(EditionRowForm):
    """For a conversation, `usage` is that of all its editions, and `edition_usage` that of the edition in use. For an edition, it is its own."""

    conversation: str
    system: str
    tools: list[ToolForm]
    tool_tokens: list[CountedTool]
    usage: NotRequired[UsageForm]
    edition_usage: NotRequired[UsageForm]
    passages: list[AccountPassage]
    candidates: list[CandidateForm]
    findings: list[FindingForm]


class NamesForm(TypedDict):
    added: list[str]
    removed: list[str]
    changed: list[str]
    moved: list[str]


class ChangesForm(TypedDict):
    changed: bool
    sections: NamesForm
    tools: NamesForm


class SectionChangeForm(TypedDict):
    section: str
    changes: list[str]
    sources: list[str]


class DriftForm(ChangesForm, RebuildCostForm):
    conversation: str
    details: list[SectionChangeForm]
    system: str


class TouchedForm(TypedDict):
    messages: list[MessageForm]
    candidates: list[CandidateForm]
    findings: list[FindingForm]


class VersionForm(TypedDict):
    version: int
    author: str
    time: str | None
    note: str
    syntax: str
    template: NotRequired[str]


# Differences and prompt caches


class SpanForm(TypedDict):
    start: int
    end: int
    text: str


class CauseForm(TypedDict):
    kind: str
    path: str | None
    lines: list[int] | None
    note: str | None


class EditForm(TypedDict):
    old: SpanForm
    new: SpanForm
    causes: list[CauseForm]


class SectionSpanForm(TypedDict):
    start: int
    end: int
    place: int


class SectionDiffForm(SectionChangeForm):
    old: SectionSpanForm | None
    new: SectionSpanForm | None
    edits: list[EditForm]
    causes: list[CauseForm]


class SubjectForm(TypedDict):
    name: str
    id: str
    layout: str | None
    tokens: TokensForm


class CircumstanceForm(TypedDict):
    name: str
    old: str
    new: str


class VerdictForm(TypedDict):
    agent: str
    verdict: str
    reason: str
    target: str
    cut: int | None
    rule: NotRequired[str]


class AgentFileForm(TypedDict):
    path: str
    verdicts: list[VerdictForm]


class FileDifferenceForm(AgentFileForm):
    change: str
    lines: list[str]


class DifferenceForm(ChangesForm):
    old: SubjectForm
    new: SubjectForm
    details: list[SectionDiffForm]
    circumstances: list[CircumstanceForm]
    files: list[FileDifferenceForm]
    rebuild: RebuildCostForm


class PriceForm(TypedDict):
    model: str
    input: float
    write: float
    read: float
    minimum: int | None
    source: str
    date: str


class BreakpointForm(TypedDict):
    of: str
    after: str
    lifetime: str
    tokens: int
    kept: bool | None


class OwnPartForm(TypedDict):
    """The tokens of a mirrored program's own prompt and tools, which Foreword does not show."""

    program: str
    prompt: int
    tools: int


class ProviderForm(TypedDict):
    provider: str
    caching: str
    order: list[str]
    price: PriceForm | None
    tokens: int
    breakpoints: list[BreakpointForm]
    first_request: float | None
    next_request: float | None


class MisplacedForm(TypedDict):
    section: str
    lifetime: str
    before: list[str]
    tokens: int


class BetterOrderForm(TypedDict):
    order: list[str]
    set: list[str]
    fixes: str


class RebuildForm(TypedDict):
    variation: str
    how: str
    changed: bool | None
    error: str | None
    sections: NamesForm
    details: list[SectionDiffForm]


class CacheForm(TypedDict):
    prompt: SubjectForm
    own: OwnPartForm | None
    tools: list[CountedTool]
    providers: list[ProviderForm]
    misplaced: list[MisplacedForm]
    better_order: BetterOrderForm | None
    rebuilds: list[RebuildForm]
    findings: list[FindingForm]


class FirstDifferenceForm(TypedDict):
    of: str
    name: str | None
    offset: int
    causes: list[CauseForm]


class CacheReuseForm(TypedDict):
    provider: str
    caching: str
    order: list[str]
    price: PriceForm | None
    tokens: int
    cacheable: int
    shared: int
    kept: int
    lost: int
    basis: str
    expired: bool
    rewrite: float | None
    rewrite_each_turn: float | None
    first: FirstDifferenceForm | None


class CacheReusesForm(ChangesForm):
    old: SubjectForm
    new: SubjectForm
    turns: int
    providers: list[CacheReuseForm]


class CountedPassage(PassageMessage):
    section: str
    start: int
    end: int
    lifetime: str
    tokens: int


class SectionEffectForm(SectionChangeForm):
    tokens_before: int
    tokens_after: int


class EffectForm(ChangesForm):
    details: list[SectionEffectForm]
    tokens_before: int
    tokens_kept: int
    breaks_in: str | None


class WatchForm(TypedDict):
    event: str
    time: str
    files: list[str]
    error: str | None
    id: str
    layout: str
    tokens: TokensForm
    passages: list[CountedPassage]
    tools: list[CountedTool]
    effect: EffectForm | None
    touched: TouchedForm | None
    findings: list[FindingForm]


class CountsForm(TypedDict):
    error: int
    warning: int
    info: int


class LintForm(TypedDict):
    """`unchecked` is the number of instruction files in the folders below, if they were not checked too."""

    root: str
    files: int
    unchecked: int
    counts: CountsForm
    findings: list[FindingForm]


# Agents


class AgentForm(TypedDict):
    name: str
    mirrors: str
    evidence: list[str]
    tokens: TokensForm
    own: OwnPartForm | None


class AgentsForm(TypedDict):
    """What each agent does with each file. With `--cost`, `costs` has what files cost in the last 30 days, by path; null is unknown."""

    root: str
    cwd: str
    agents: list[AgentForm]
    files: list[AgentFileForm]
    others: list[str]
    findings: list[FindingForm]
    costs: NotRequired[dict[str, float | None]]


# Templates and layouts


class TemplateForm(TypedDict):
    template: str


class VariablesForm(TypedDict):
    variables: list[VariableForm]


class CheckForm(TypedDict):
    variables: list[str]
    findings: list[FindingForm]


class MessageForm(TypedDict):
    role: str
    content: str


class CountedSource(TypedDict):
    kind: str
    path: str
    tokens: int


class CountedSection(CountedPassage):
    """A section's tokens, and those of each source. A source is counted on its own, so their sum may differ by a few tokens."""

    method: str
    exact: bool
    error: float
    sources: list[CountedSource]


class CountedTool(TypedDict):
    name: str
    server: str | None
    tokens: int


class CountedForm(TypedDict):
    tokens: TokensForm
    own: OwnPartForm | None
    passages: list[CountedSection]
    tools: list[CountedTool]


class LayoutFactsForm(TypedDict):
    name: str
    about: str
    mirrors: str


class LayoutRowForm(LayoutFactsForm):
    default: bool


class LayoutSectionForm(TypedDict):
    name: str
    depth: int
    lifetime: str
    role: str
    content: str


class LayoutForm(LayoutFactsForm):
    address: str
    sections: list[LayoutSectionForm]
    touch: list[LayoutSectionForm]
    lookups: dict[str, list[list[str]]]
    unused: list[str]
    on: dict[str, str]
    differs: list[str]
    detected_by: list[str]


class CompletionForm(TypedDict):
    shell: str
    script: str


class ListeningForm(TypedDict):
    url: str
