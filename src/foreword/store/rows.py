"""Code that all stores share: argument checks, and conversion between rows and values."""

from __future__ import annotations

from ..errors import CallError, ForgottenError, StaleError, is_plain, show
from ..vocabulary import Edition, value
from .contents import DEFAULT_TEMPLATE
from .texts import id_of, to_bytes, to_text
from .times import pack_time, unpack_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


@value
class ConversationRow:
    """One conversation in a list.

    Fields:
        id: The conversation's id.
        editions: The number of its current edition.
        prompt: The id of its current prompt.
        layout: The name or address of its layout.
        created: When the current edition was created, as an ISO time.
        model: The model that the current edition was built for.
        template: The name of the stored template that its layout uses, or an empty string.
        version: The version of that template, 0 for the layout's own, or None if the layout uses no stored template.
        team: The team that it belongs to.
    """

    id: str
    editions: int
    prompt: str
    layout: str
    created: str
    model: str = ""
    template: str = ""
    version: int | None = None
    team: str = ""


@value
class TemplateVersion:
    """One version of a stored template. Versions are only ever added.

    Fields:
        version: The version number, starting at 1.
        template: The text.
        author: Who saved it.
        time: When it was saved, as an ISO time.
        note: A note about the change.
        syntax: The template language.
        name: The name of the template.
    """

    version: int
    template: str
    author: str = ""
    time: str = ""
    note: str = ""
    syntax: str = "brackets"
    name: str = DEFAULT_TEMPLATE


@value
class LabelMove:
    """One move of a label from a version of a template to another.

    The deletion of a template is recorded as a move without a label, from its newest version to version 0.

    Fields:
        name: The name of the template.
        label: The label.
        previous: The version that the label referred to before, or 0 if it is new.
        version: The version that it refers to now, or 0 if it was removed.
        author: Who moved it.
        time: When it was moved, as an ISO time.
        note: A note about the move.
    """

    name: str
    label: str
    previous: int
    version: int
    author: str = ""
    time: str = ""
    note: str = ""


@value
class TemplateRow:
    """One template in a list: its name, its newest version, the version of each label, and its team."""

    name: str
    newest: int
    labels: Mapping[str, int]
    team: str = ""


@value
class Pruned:
    """How much has been removed so far."""

    conversations: int = 0
    editions: int = 0
    texts: int = 0


PRODUCTION = "production"
MAX_NUMBER = 2**31 - 1
_MAX_NAME_LENGTH = 200
_MAX_TEAM_LENGTH = 100
# Names all teams, so no team can have this name.
ALL_TEAMS = "*"
TEXT_COLUMNS = ("system", "tools", "account", "inputs", "layout", "built_for")


def hash_at(table: str, pointer: str) -> str:
    """Return an SQL expression for the hash of the text that a column of a table refers to."""
    return f"(SELECT t.hash FROM foreword_texts AS t WHERE t.team = {table}.team AND t.id = {table}.{pointer})"


# An edition's columns, with the hash of its content instead of its row id.
EDITION_COLUMNS = (
    "number, (SELECT c.hash FROM foreword_contents AS c WHERE c.team = foreword_editions.team AND c.id = content),"
    " created, created_text, state"
)
_NO_STATE = "{}"


# Argument checks


def check_team(team: str) -> None:
    """Raise a CallError if a string cannot be the name of a team. Without a name, it is the team of everything that names none."""
    if len(team) > _MAX_TEAM_LENGTH or not is_plain(team) or team != team.strip() or team == ALL_TEAMS:
        raise CallError(
            f"the name of a team must have at most {_MAX_TEAM_LENGTH} characters, and no control characters or surrounding"
            f" spaces, and must not be {ALL_TEAMS!r}, not {show(team)}"
        )


def check_next(edition: Edition, after: int) -> None:
    """Raise a CallError unless the edition's number is the one after `after`."""
    if not 0 <= after < MAX_NUMBER:
        raise CallError(f"after must be the number of an edition, or 0 if there is none yet; {after} is neither")
    if edition.number != after + 1:
        raise CallError(f"the edition after number {after} must be number {after + 1}, not {edition.number}")


def check_limit(limit: int) -> None:
    if not 0 <= limit <= MAX_NUMBER:
        raise CallError(f"limit must be from 0 to {MAX_NUMBER}, not {limit}")


def check_name(name: str, what: str = "the name of a template") -> None:
    """Raise a CallError if a string cannot be the name of a template or a label."""
    if not 1 <= len(name) <= _MAX_NAME_LENGTH or not is_plain(name) or name != name.strip():
        raise CallError(
            f"{what} must have 1 to {_MAX_NAME_LENGTH} characters, and no control characters or surrounding spaces,"
            f" not {show(name)}"
        )
    if "@" in name:
        raise CallError(f"{what} must not contain @, which comes before a label: {show(name)}")


def check_label(label: str) -> None:
    """Raise a CallError if a string cannot be a label. After @, a number is a version, so a label begins with a letter."""
    is_valid = label.isascii() and label[:1].isalpha() and all(each.isalnum() or each in "_.-" for each in label)
    if not is_valid or len(label) > _MAX_NAME_LENGTH:
        raise CallError(
            f"a label begins with a letter and has at most {_MAX_NAME_LENGTH} letters, digits and '_', '.' or '-', not {show(label)}"
        )


def no_edition_error(conversation: str, number: int) -> ForgottenError:
    return ForgottenError(f"conversation {conversation!r} has no edition {number}")


def check_unchanged(live: int, after: int | None) -> None:
    """Raise a StaleError if `after` is not the version that the label refers to."""
    if after is not None and after != live:
        if not live:
            raise StaleError(f"the template has no version {after}: none has been saved yet")
        raise StaleError(f"the template has changed in the meantime: its current version is {live}, not {after}")


def hash_from_id(id: str) -> bytes | None:
    """Return the hash in a prompt's id, or None if the id is not valid."""
    scheme, _, digits = id.partition(":")
    try:
        return bytes.fromhex(digits) if scheme == "sha256" and len(digits) == 64 else None
    except ValueError:
        return None


# Rows and values


def key_of(team: str, conversation: str) -> str:
    """Return the string that identifies a conversation among those of all teams. Neither part contains NUL."""
    return f"{team}\0{conversation}" if team else conversation


def texts_of(edition: Edition) -> list[str]:
    return [getattr(edition, name) for name in TEXT_COLUMNS]


def edition_of(row: Sequence[Any], texts: Sequence[str]) -> Edition:
    """Return the edition in a row of EDITION_COLUMNS. `texts` are those of its content."""
    number, _, created, created_text, state = row
    system, tools, account, inputs, layout, built_for = texts
    time = unpack_time(created, created_text)
    state = _NO_STATE if state is None else to_text(state)
    return Edition(number, system, tools, account, inputs, layout, built_for, time, state)


def row_of(edition: Edition, content: bytes) -> tuple[Any, ...]:
    """Return the row of EDITION_COLUMNS for an edition whose content has this hash."""
    return (edition.number, content, *pack_time(edition.created), state_column(edition.state))


def state_column(state: str) -> bytes | None:
    """Return the value of the state column: NULL for an empty state, which nearly all conversations have."""
    return None if state == _NO_STATE else to_bytes(state)


def conversation_of(team: str, row: Sequence[Any]) -> ConversationRow:
    """Return the conversation in a row of id, number, prompt hash, time and kind."""
    id, number, prompt, created, created_text, layout, model, template, version = row
    names = map(to_text, (layout, model, template))
    layout, model, template = names
    time = unpack_time(created, created_text)
    return ConversationRow(id, number, id_of(prompt), layout, time, model, template, version, team)


def version_of(row: Sequence[Any], texts: Mapping[Any, str]) -> TemplateVersion:
    """Return the template version in a row of number, text hash, author, time, note, syntax and name."""
    version, template, *others, name = row
    author, time, note, syntax = map(to_text, others)
    return TemplateVersion(version, texts[template], author, time, note, syntax, name)


def move_of(row: Sequence[Any]) -> LabelMove:
    """Return the move in a row of template, label, previous version, version, author, time and note."""
    name, label, previous, version, *others = row
    return LabelMove(name, label, previous, version, *map(to_text, others))


# Tables
