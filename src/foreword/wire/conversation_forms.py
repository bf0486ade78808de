"""The types of the answers about conversations: their editions, what their calls used, and what a rebuild costs."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from ..encoding.forms import EditionTargetForm, FindingForm


class EditionRowForm(TypedDict):
    edition: int
    id: str
    layout: str
    created: str
    trigger: str | None
    built_for: EditionTargetForm


class UsageForm(TypedDict):
    """`read` and `written` are null if a call did not report how much was cached; `unreported` is the number of those calls."""

    calls: int
    input: int
    read: int | None
    written: int | None
    output: int
    cost: float | None
    hit_rate: float | None
    unreported: int


class MeasuredEditionForm(EditionRowForm):
    """An edition in a list, with what its own calls used."""

    usage: UsageForm | None


class RecordedForm(TypedDict):
    """`usage` is that of the whole conversation, and `edition_usage` that of the edition in use."""

    conversation: str
    edition: int
    usage: UsageForm
    edition_usage: UsageForm
    findings: list[FindingForm]


class ListedDriftForm(TypedDict):
    """Whether a prompt built now would differ, the sources that changed, and what a rebuild costs: see `RebuildCostForm`."""

    changed: bool
    sources: list[str]
    tokens_lost: int
    cost: float | None
    basis: str


class ConversationForm(TypedDict):
    """A conversation in a list. With `details`, it also has the folder, tokens and usage; with `compare`, how it has drifted.

    `tokens` are those of the prompt, `usage` that of all calls, and `drift` is null if the conversation cannot be compared.
    """

    id: str
    editions: int
    prompt: str
    layout: str
    created: str
    model: str
    template: str | None
    version: int | None
    team: str
    cwd: NotRequired[str]
    tokens: NotRequired[int]
    usage: NotRequired[UsageForm | None]
    last_call: NotRequired[str | None]
    drift: NotRequired[ListedDriftForm | None]


class CacheRuleForm(TypedDict):
    provider: str | None
    model: str | None
    caching: str
    step: int
    minimum: int | None
    assumed: bool


class CachedPartForm(TypedDict):
    """The cached tokens of the `tools`, the `prompt` or the `history` of a request, kept and lost."""

    of: str
    tokens_kept: int
    tokens_lost: int


class RebuildCostForm(TypedDict):
    """What sending another prompt costs: cached tokens kept and lost, messages included, and US dollars.

    `basis` is what the tokens are counted from: the last recorded `call`, the `messages`, or only the `prompt`. `expired` is whether the
    last recorded call is so long ago that the provider has probably dropped its cache. `parts` are the same tokens by part of the
    request, in the order in which the provider reads them, and empty if none are lost.
    """

    tokens_kept: int
    tokens_lost: int
    cost: float | None
    basis: str
    expired: bool
    parts: list[CachedPartForm]
    cache: CacheRuleForm
