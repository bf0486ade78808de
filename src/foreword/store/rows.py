"""Rows as values, for all stores: checks of arguments, the columns of an edition, and what `verify` checks."""

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
        id: The id of the conversation.
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
        version: The number of the version, counted from 1.
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


LATEST = 2
LARGEST = 2**31 - 1
TEXTS = ("system", "tools", "account", "inputs", "layout", "built_for")
COLUMNS = f"number, {', '.join(TEXTS)}, created, state"


def hash_at(pointer: str) -> str:
    """An SQL expression for the hash of the text that a column points at."""
    return f"(SELECT hash FROM foreword_texts WHERE id = {pointer})"


# The columns of an edition, with the hashes of its texts instead of their row ids.
READ = f"number, {', '.join(map(hash_at, TEXTS))}, created, state"
_NO_STATE = "{}"


# Checks of arguments


def check_next(edition: Edition, after: int) -> None:
    """Raise CallError unless an edition has the number after `after`."""
    if not 0 <= after < LARGEST:
        raise CallError(f"after must be the number of an edition, or 0 if there is none yet; {after} is neither")
    if edition.number != after + 1:
        raise CallError(f"the edition after number {after} must have number {after + 1}, not {edition.number}")


def check_page(limit: int, offset: int) -> None:
    if not (0 <= limit <= LARGEST and 0 <= offset <= LARGEST):
        raise CallError(f"limit and offset must be from 0 to {LARGEST}, not {limit} and {offset}")


def no_edition(conversation: str, number: int) -> StoreError:
    return StoreError(f"conversation {conversation!r} has no edition {number}")


def check_newest(newest: int, after: int | None) -> None:
    """Raise StaleError if `after` is not the newest version of the template."""
    if after is not None and after != newest:
        raise StaleError(
            f"the template has changed in the meantime: its newest version is {newest or 'none yet'}, not {after}"
        )


def hash_in(id: str) -> bytes | None:
    """The hash in the id of a prompt; None if the id is not valid."""
    scheme, _, digits = id.partition(":")
    try:
        return bytes.fromhex(digits) if scheme == "sha256" and len(digits) == 64 else None
    except ValueError:
        return None


# Rows as values


def texts_of(edition: Edition) -> list[str]:
    return [getattr(edition, name) for name in TEXTS]


def edition_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> Edition:
    """An edition from its READ columns and its texts by hash."""
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
    """The row that READ returns for an edition whose texts have these hashes."""
    return (edition.number, *hashes, to_bytes(edition.created), state_column(edition.state))


def state_column(state: str) -> bytes | None:
    """The column of a state: NULL if it is empty, as it is for nearly all of a million conversations."""
    return None if state == _NO_STATE else to_bytes(state)


def conversation_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> ConversationRow:
    """A conversation from its id, number, prompt hash, layout hash and time."""
    id, number, prompt, layout, created = row
    return ConversationRow(id, number, id_of(prompt), texts[layout], to_text(created))


def version_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> TemplateVersion:
    """A version of the template from its number, text hash, author, time, note and syntax."""
    version, template, *others = row
    return TemplateVersion(version, texts[template], *map(to_text, others))


# Tables


def schema(store: str, version: int) -> list[str]:
    """The statements that migrate a store from the previous version to this one."""
    path = os.path.join(os.path.dirname(__file__), "schema", f"{store}-{version}.sql")
    with open(path, encoding="utf-8") as file:
        return [statement for statement in file.read().split(";\n") if statement.strip()]


def check_version(version: int, latest: int = LATEST) -> None:
    """Raise StoreError if a newer Foreword has written the store."""
    if version > latest:
        raise StoreError(
            f"a newer Foreword wrote this store: its tables have version {version}, and this Foreword supports up to {latest}"
        )


# Verification


def faults(
    texts: Iterable[Sequence[Any]],
    prompts: Iterable[Sequence[Any]],
    editions: Iterable[Sequence[Any]],
    templates: Iterable[Sequence[Any]],
) -> Iterator[str]:
    """The faults in the rows of a store, one sentence each. Editions and templates must be sorted."""
    known: set[int] = set()
    for number, hash, form, body in texts:
        known.add(number)
        yield from _text_faults(number, hash, form, body)
    indexed: set[int] = set()
    for system, account in prompts:
        indexed.add(system)
        yield from _missing_texts("a prompt", {"text": system, "account": account}, known)
    yield from _edition_faults(editions, known, indexed)
    before = 0
    for version, template in templates:
        yield from _missing_texts(f"version {version} of the template", {"text": template}, known)
        if version != before + 1:
            yield f"version {version} of the template comes after version {before}"
        before = version


def _text_faults(number: int, hash: bytes, form: int, body: bytes) -> Iterator[str]:
    try:
        text = unpack(form, body)
    except (ValueError, TypeError, zlib.error):
        yield f"text {number} ({id_of(hash)}) cannot be decoded"
    else:
        if hash_of(text) != hash:
            yield f"text {number} does not match its hash {id_of(hash)}"


def _edition_faults(rows: Iterable[Sequence[Any]], known: set[int], indexed: set[int]) -> Iterator[str]:
    before: tuple[str, int] = ("", 0)
    for conversation, number, *numbers in rows:
        name = f"edition {number} of conversation {conversation!r}"
        yield from _missing_texts(name, dict(zip(TEXTS, numbers, strict=True)), known)
        if numbers[0] in known and numbers[0] not in indexed:
            yield f"the prompt of {name} cannot be found by its id"
        last = before[1] if before[0] == conversation else 0
        if number != last + 1:
            yield f"{name} comes after edition {last}"
        before = (conversation, number)


def _missing_texts(name: str, pointers: Mapping[str, int], known: set[int]) -> Iterator[str]:
    for what, number in pointers.items():
        if number not in known:
            yield f"{name} has no {what}: text {number} is missing"
