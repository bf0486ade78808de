"""The JSON types of responses that only the service sends; the others are in `wire`."""

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
from ..wire.conversation_forms import ConversationForm, MeasuredEditionForm, UsageForm
from ..wire.forms import TemplateForm, VersionForm
from ..wire.store_forms import MoveForm, TemplateNameForm


class SavedVersionForm(TemplateForm):
    """A version that was saved: its text, its number, who saved it and why."""

    version: int
    author: str
    time: str | None
    note: str
    syntax: str


class VersionsForm(TypedDict):
    versions: list[VersionForm]


class TemplatesForm(TypedDict):
    templates: list[TemplateNameForm]
    next: str | None


class NamedVersionsForm(TypedDict):
    versions: list[VersionForm]
    labels: dict[str, int]
    moves: list[MoveForm]


class UseForm(TypedDict):
    version: int
    conversations: int


class UsesForm(TypedDict):
    versions: list[UseForm]


class FindingsForm(TypedDict):
    findings: list[FindingForm]


class ValueForm(TypedDict):
    type: str
    name: str
    value: str | None


class ValuesForm(TypedDict):
    values: list[ValueForm]


class EntryForm(TypedDict):
    path: str
    kind: Literal["file", "folder"]


class EntriesForm(TypedDict):
    entries: list[EntryForm]


class LayoutChoiceForm(TypedDict):
    name: str
    about: str
    sections: list[str]
    language: str | None
    stored_template: bool
    mirrors: str


class LayoutKeyForm(TypedDict):
    table: str
    name: str
    takes: str
    about: str
    choices: list[str]


class LayoutKeysForm(TypedDict):
    keys: list[LayoutKeyForm]


class LayoutsForm(TypedDict):
    layouts: list[LayoutChoiceForm]
    languages: list[str]
    models: list[str]


class TemplateLinesForm(TypedDict):
    """A range of the prompt, and the template lines that produced it, as text or (`value`) as the value of a tag."""

    start: int
    end: int
    lines: list[int]
    value: bool


class PreviewForm(PromptForm):
    template_lines: list[TemplateLinesForm]


class SourceForm(TypedDict):
    """Where text of a prompt came from."""

    kind: str
    path: str


class CompactPassageForm(PassageMessage):
    """A section of a prompt. `spans` has six numbers for each part with an origin, in order.

    They are its length, its index in `sources`, the first and the last line of the source, and the first and the last line of the
    template that produced it. Lines that are not known are 0.
    """

    section: str
    start: int
    end: int
    lifetime: str
    tokens: int
    spans: list[int]


class CompactPreviewForm(TypedDict):
    """A prompt as a PreviewForm, but without an object for each origin."""

    id: str
    layout: str
    text: str
    tokens: TokensForm
    passages: list[CompactPassageForm]
    sources: list[SourceForm]
    candidates: list[CandidateForm]
    findings: list[FindingForm]


class ToolsForm(TypedDict):
    tools: list[ToolForm]


class ToolCallForm(TypedDict):
    name: str
    arguments: dict[str, Any]


class ToolResultForm(TypedDict):
    content: str
    is_error: bool
    call: NotRequired[ToolCallForm]


class WaitingForm(TypedDict):
    conversation: str
    waiting: int


class RootsForm(TypedDict):
    roots: list[str]


class TokenForm(TypedDict):
    """What a token may do. `team` is the team whose conversations and templates it sees, or `*` for all teams.

    Only a token with the right `admin` may change which version a protected label refers to.
    """

    name: str
    rights: list[str]
    team: str
    default_template: str
    protected_labels: list[str]


class TotalForm(TypedDict):
    """How many conversations match: exactly, or at least."""

    count: int
    exact: bool


class ConversationsForm(TypedDict):
    conversations: list[ConversationForm]
    next: str | None
    total: TotalForm


class DayForm(TypedDict):
    day: str
    usage: UsageForm


class UsageTotalForm(TypedDict):
    """The usage of a page of conversations, and how many those are. There are more if `next` is not null."""

    conversations: int
    next: str | None
    total: UsageForm
    days: list[DayForm]


class EditionsForm(TypedDict):
    editions: list[MeasuredEditionForm]


class StoredPromptForm(TypedDict):
    id: str
    text: str
    passages: list[AccountPassage]
    candidates: list[CandidateForm]
    findings: list[FindingForm]


class StatusForm(TypedDict):
    status: str


class TemplateErrorForm(TypedDict):
    line: int | None
    column: int | None
    end_column: int | None
    message: str


class ProblemForm(TypedDict):
    """An RFC 9457 error; `detail` says what is wrong and what to do."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: NotRequired[list[TemplateErrorForm]]
