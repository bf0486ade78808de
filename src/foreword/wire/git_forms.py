"""The types of the answers to `lock`, `blame --git`, `review` and `trust`."""

from __future__ import annotations

from typing import TypedDict

from .forms import LineForm


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


class LockedFileForm(TypedDict):
    path: str
    hash: str


class LockForm(TypedDict):
    """What a repository's prompts consist of, and in sentences how the lock file differs from it."""

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


class AuthorSumForm(TypedDict):
    name: str
    tokens: int
    lines: int
