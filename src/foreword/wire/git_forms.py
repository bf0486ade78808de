"""The types of the answers to `lock`, `blame --git`, `review` and `trust`."""

from __future__ import annotations

from typing import TypedDict

from ..encoding.forms import FindingForm
from .forms import ChangesForm, LineForm, PriceForm, SectionDiffForm


class LockSectionForm(TypedDict):
    section: str
    tokens: int


class LockedPromptForm(TypedDict):
    layout: str
    folder: str
    hash: str
    tokens: int
    sections: list[LockSectionForm]
    files: list[str]
    touched: list[str]


class LockedFileForm(TypedDict):
    path: str
    hash: str


class LockForm(TypedDict):
    """What a repository's prompts consist of, and a sentence for each difference from the lock file."""

    path: str
    prompts: list[LockedPromptForm]
    files: list[LockedFileForm]
    differences: list[str]


class AuthoredLineForm(LineForm):
    """A line of a prompt and its commit. `committed` is null if the line does not come from a file in the repository."""

    committed: bool | None
    commit: str | None
    author: str | None
    email: str | None
    time: str | None


class AuthorshipForm(TypedDict):
    """The lines of a prompt with their commits, and notes about what git could not determine."""

    lines: list[AuthoredLineForm]
    notes: list[str]


class AuthorSumForm(TypedDict):
    name: str
    tokens: int
    lines: int


class AuthorSumsForm(TypedDict):
    """The tokens of each author, file or age, and notes about what git could not determine."""

    sums: list[AuthorSumForm]
    notes: list[str]


class RevisionForm(TypedDict):
    name: str
    commit: str


class AgentOutcomeForm(TypedDict):
    """What an agent at the root does with a file before and after a change; null if the file does not exist."""

    agent: str
    before: str | None
    after: str | None
    reason: str


class FileReviewForm(TypedDict):
    path: str
    change: str
    old_path: str | None
    agents: list[AgentOutcomeForm]


class PromptReviewForm(ChangesForm):
    """How a prompt changes. `cost` is in US dollars per 1,000 conversations of `turns` turns or, if they are known, in the agent's `requests`."""

    layout: str
    folder: str
    tokens_before: int
    tokens_after: int
    tokens_kept: int
    cost: float | None
    details: list[SectionDiffForm]


class ReviewForm(TypedDict):
    base: RevisionForm
    head: RevisionForm
    changed: bool
    files: list[FileReviewForm]
    prompts: list[PromptReviewForm]
    unchanged: int
    price: PriceForm | None
    turns: int
    new_findings: list[FindingForm]
    fixed_findings: list[FindingForm]
    conversations: int | None
    requests: dict[str, int] | None
    notes: list[str]


class TrustedFileForm(TypedDict):
    """A file that a workspace contributes to prompts. `state` is trusted, changed or new.

    `lines` are the first and last lines of each part that is not in the trusted ref, if it has a version of the file.
    """

    path: str
    hash: str
    state: str
    lines: list[list[int]]


class TrustedWorkspaceForm(TypedDict):
    root: str
    files: int
    ref: str | None


class TrustForm(TypedDict):
    root: str
    ref: str | None
    accepted: bool
    files: list[TrustedFileForm]
    workspaces: list[TrustedWorkspaceForm]
