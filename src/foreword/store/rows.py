"""Code that all stores share: argument checks, conversion between rows and values, and verification."""

from __future__ import annotations

import os
import zlib

from ..errors import CallError, StaleError, StoreError
from ..vocabulary import Edition, value
from .texts import hash_of, id_of, to_bytes, to_text, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any


@value
class ConversationRow:
    """One conversation in a list.

    Fields:
        id: The conversation's id.
        editions: How many editions it has.
        prompt: The id of its current prompt.
        layout: The name or address of its layout.
        created: When the current edition was created, as an ISO time.
    """

    id: str
    editions: int
    prompt: str
    layout: str
    created: str


@value
class TemplateVersion:
    """One version of the global template. Versions are only ever added.

    Fields:
        version: The version number, starting at 1.
        template: The text.
        author: Who saved it.
        time: When it was saved, as an ISO time.
        note: A note about the change.
        syntax: The template language.
    """

    version: int
    template: str
    author: str = ""
    time: str = ""
    note: str = ""
    syntax: str = "brackets"


LATEST = 3
MAX_NUMBER = 2**31 - 1
TEXT_COLUMNS = ("system", "tools", "account", "inputs", "layout", "built_for")
COLUMNS = f"number, {', '.join(TEXT_COLUMNS)}, created, state"


def hash_at(pointer: str) -> str:
    """Return an SQL expression for the hash of the text that a column refers to."""
    return f"(SELECT hash FROM foreword_texts WHERE id = {pointer})"


# An edition's columns, with the hashes of its texts instead of their row ids.
EDITION_COLUMNS = f"number, {', '.join(map(hash_at, TEXT_COLUMNS))}, created, state"
_NO_STATE = "{}"


# Argument checks


def check_next(edition: Edition, after: int) -> None:
    """Raise a CallError unless the edition's number is the one after `after`."""
    if not 0 <= after < MAX_NUMBER:
        raise CallError(f"after must be the number of an edition, or 0 if there is none yet; {after} is neither")
    if edition.number != after + 1:
        raise CallError(f"the edition after number {after} must be number {after + 1}, not {edition.number}")


def check_page(limit: int, offset: int) -> None:
    if not (0 <= limit <= MAX_NUMBER and 0 <= offset <= MAX_NUMBER):
        raise CallError(f"limit and offset must be from 0 to {MAX_NUMBER}, not {limit} and {offset}")


def no_edition_error(conversation: str, number: int) -> StoreError:
    return StoreError(f"conversation {conversation!r} has no edition {number}")


def check_newest(newest: int, after: int | None) -> None:
    """Raise a StaleError if `after` is not the newest version of the template."""
    if after is not None and after != newest:
        if not newest:
            raise StaleError(f"the template has no version {after}: none has been saved yet")
        raise StaleError(f"the template has changed in the meantime: its newest version is {newest}, not {after}")


def hash_from_id(id: str) -> bytes | None:
    """Return the hash in a prompt's id, or None if the id is not valid."""
    scheme, _, digits = id.partition(":")
    try:
        return bytes.fromhex(digits) if scheme == "sha256" and len(digits) == 64 else None
    except ValueError:
        return None


# Rows and values


def texts_of(edition: Edition) -> list[str]:
    return [getattr(edition, name) for name in TEXT_COLUMNS]


def edition_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> Edition:
    """Return the edition in a row of EDITION_COLUMNS. `texts` contains its texts by hash."""
    number, system, tools, account, inputs, layout, built_for, created, state = row
    return Edition(
        number,
        texts[system],
        texts[tools],
        texts[account],
        texts[inputs],
        texts[layout],
        texts[built_for],
        to_text(created),
        _NO_STATE if state is None else to_text(state),
    )


def row_of(edition: Edition, hashes: Sequence[bytes]) -> tuple[Any, ...]:
    """Return the row of EDITION_COLUMNS for an edition whose texts have these hashes."""
    return (edition.number, *hashes, to_bytes(edition.created), state_column(edition.state))


def state_column(state: str) -> bytes | None:
    """Return the value of the state column: NULL for an empty state, which nearly all conversations have."""
    return None if state == _NO_STATE else to_bytes(state)


def conversation_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> ConversationRow:
    """Return the conversation in a row of id, number, prompt hash, layout hash and time."""
    id, number, prompt, layout, created = row
    return ConversationRow(id, number, id_of(prompt), texts[layout], to_text(created))


def version_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> TemplateVersion:
    """Return the template version in a row of number, text hash, author, time, note and syntax."""
    version, template, *others = row
    return TemplateVersion(version, texts[template], *map(to_text, others))


# Tables


def schema(store: str, version: int) -> list[str]:
    """Return the statements that migrate a store from the previous version to this one."""
    path = os.path.join(os.path.dirname(__file__), "schema", f"{store}-{version}.sql")
    with open(path, encoding="utf-8") as file:
        return [statement for statement in file.read().split(";\n") if statement.strip()]


def check_version(version: int, latest: int = LATEST) -> None:
    """Raise a StoreError if a newer version of Foreword wrote the store."""
    if version > latest:
        raise StoreError(
            f"a newer version of Foreword wrote this store: its schema is version {version}, and this installation supports up to {latest}"
        )


# Verification


def faults(
    texts: Iterable[Sequence[Any]],
    prompts: Iterable[Sequence[Any]],
    editions: Iterable[Sequence[Any]],
    templates: Iterable[Sequence[Any]],
) -> Iterator[str]:
    """Yield the problems in a store's rows, one sentence each. Editions and templates must be sorted."""
    text_ids: set[int] = set()
    for number, hash, form, body in texts:
        text_ids.add(number)
        yield from _text_faults(number, hash, form, body)
    prompt_ids: set[int] = set()
    for system, account in prompts:
        prompt_ids.add(system)
        yield from _missing_texts("a prompt", {"text": system, "account": account}, text_ids)
    yield from _edition_faults(editions, text_ids, prompt_ids)
    previous = 0
    for version, template in templates:
        yield from _missing_texts(f"version {version} of the template", {"text": template}, text_ids)
        if version != previous + 1:
            yield f"version {version} of the template comes after version {previous}"
        previous = version


def _text_faults(number: int, hash: bytes, form: int, body: bytes) -> Iterator[str]:
    try:
        text = unpack(form, body)
    except (ValueError, TypeError, zlib.error):
        yield f"text {number} ({id_of(hash)}) cannot be decoded"
    else:
        if hash_of(text) != hash:
            yield f"text {number} does not match its hash {id_of(hash)}"


def _edition_faults(rows: Iterable[Sequence[Any]], text_ids: set[int], prompt_ids: set[int]) -> Iterator[str]:
    previous: tuple[str, int] = ("", 0)
    for conversation, number, *numbers in rows:
        name = f"edition {number} of conversation {conversation!r}"
        yield from _missing_texts(name, dict(zip(TEXT_COLUMNS, numbers, strict=True)), text_ids)
        if numbers[0] in text_ids and numbers[0] not in prompt_ids:
            yield f"the prompt of {name} cannot be found by its id"
        last = previous[1] if previous[0] == conversation else 0
        if number != last + 1:
            yield f"{name} comes after edition {last}"
        previous = (conversation, number)


def _missing_texts(name: str, pointers: Mapping[str, int], text_ids: set[int]) -> Iterator[str]:
    for column, number in pointers.items():
        if number not in text_ids:
            yield f"{name} has no {column}: text {number} is missing"
