"""The types of the answers to `lock`, `blame --git`, `review` and `trust`."""

from __future__ import annotations

from typing import TypedDict


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
