"""The types of the answer to `align`."""

from __future__ import annotations

from typing import Literal, TypedDict

from ..encoding.forms import FindingForm


class FileChangeForm(TypedDict):
    """A change to a file. `before` is its text now, or null if there is none. `text` is its new text, a link's target, or null if the file is removed."""

    path: str
    action: Literal["create", "edit", "remove", "link"]
    before: str | None
    text: str | None
    agents: list[str]
    reason: str


class AgentReadingForm(TypedDict):
    """The instructions that an agent reads exactly once and whole, and the others."""

    read: list[str]
    missing: list[str]
    repeated: list[str]
    cut: list[str]


class AlignForm(TypedDict):
    """The changes, and what each agent reads before and after them."""

    changes: list[FileChangeForm]
    before: dict[str, AgentReadingForm]
    after: dict[str, AgentReadingForm]
    findings: list[FindingForm]
