"""The types of the answers about a store: its figures, what was removed from it, and its named templates."""

from __future__ import annotations

from typing import TypedDict


class FaultsForm(TypedDict):
    wrong: list[str]


class StatsForm(TypedDict):
    conversations: int
    editions: int
    texts: int
    bytes: int
    versions: int


class SchemaForm(TypedDict):
    """The version of a store's tables, and the lowest version of the schema that can use them."""

    version: int
    lowest: int


class ForgottenForm(TypedDict):
    forgotten: str


class PrunedForm(TypedDict):
    conversations: int
    editions: int
    texts: int


class DeletedTemplateForm(TypedDict):
    """The name of a deleted template, and how many versions it had."""

    deleted: str
    versions: int


class TemplateNameForm(TypedDict):
    name: str
    newest: int
    labels: dict[str, int]
    team: str


class MoveForm(TypedDict):
    """A move of a label from one version of a template to another.

    If the label was removed, `version` is 0. The deletion of a whole template is a move without a label, from its newest version.
    """

    template: str
    label: str
    previous: int | None
    version: int
    author: str
    time: str | None
    note: str
