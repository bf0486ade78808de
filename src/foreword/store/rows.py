"""Rows as values, for both stores: what can be asked for, what an edition's columns mean, and what can be wrong with them."""

from __future__ import annotations

import os
import zlib

from ..errors import CallError, StaleError, StoreError
from ..vocabulary import Edition, TemplateVersion, value
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
        made: When the current edition was created, as an ISO time.
    """

    id: str
    editions: int
    prompt: str
    layout: str
    made: str


LATEST = 2
LARGEST = 2**31 - 1
TEXTS = ("system", "tools", "account", "inputs", "layout", "made_for")
COLUMNS = f"number, {', '.join(TEXTS)}, made, state"


def hash_at(pointer: str) -> str:
    """The hash of the text that a column points at, as an expression of SQL. What is read goes by hashes alone."""
    return f"(SELECT hash FROM foreword_texts WHERE id = {pointer})"


# An edition as it is read: with the hashes of its texts in the place of their numbers.
READ = f"number, {', '.join(map(hash_at, TEXTS))}, made, state"
_NO_STATE = "{}"


# What can be asked for


def check_next(edition: Edition, after: int) -> None:
    """A CallError for an edition that does not follow the one it says it follows."""
    if not 0 <= after < LARGEST:
        raise CallError(f"editions are counted from 1 on, and 0 stands for none yet; {after} is neither")
    if edition.number != after + 1:
        raise CallError(f"the edition after number {after} is number {after + 1}, not {edition.number}")


def check_page(limit: int, offset: int) -> None:
    if not (0 <= limit <= LARGEST and 0 <= offset <= LARGEST):
        raise CallError(f"limit and offset are counts from 0 to {LARGEST}; given were {limit} and {offset}")


def no_edition(conversation: str, number: int) -> StoreError:
    return StoreError(f"conversation {conversation!r} has no edition {number}")


def check_newest(newest: int, after: int | None) -> None:
    """A StaleError if a version of the template was to follow one that is not the newest."""
    if after is not None and after != newest:
        raise StaleError(
            f"the template was changed meanwhile: its newest version is {newest or 'none yet'}, not {after}"
        )


def hash_in(id: str) -> bytes | None:
    """The hash that the id of a prompt names; None if it can be none."""
    scheme, _, digits = id.partition(":")
    try:
        return bytes.fromhex(digits) if scheme == "sha256" and len(digits) == 64 else None
    except ValueError:
        return None


# Rows as values


def texts_of(edition: Edition) -> list[str]:
    return [getattr(edition, name) for name in TEXTS]


def edition_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> Edition:
    """An edition from what is READ of it, given its texts by their hashes."""
    number, system, tools, account, inputs, layout, made_for, made, state = row
    return Edition(
        number,
        texts[system],
        texts[tools],
        texts[account],
        texts[inputs],
        texts[layout],
        texts[made_for],
        to_text(made),
        _NO_STATE if state is None else to_text(state),
    )


def row_of(edition: Edition, hashes: Sequence[bytes]) -> tuple[Any, ...]:
    """The row that READ returns for an edition whose texts have these hashes."""
    return (edition.number, *hashes, to_bytes(edition.made), state_column(edition.state))


def state_column(state: str) -> bytes | None:
    """The column of a state: NULL if it is empty, as it is for nearly all of a million conversations."""
    return None if state == _NO_STATE else to_bytes(state)


def conversation_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> ConversationRow:
    """A conversation from id, number, hash of the prompt, layout and time."""
    id, number, prompt, layout, made = row
    return ConversationRow(id, number, id_of(prompt), texts[layout], to_text(made))


def version_of(row: Sequence[Any], texts: Mapping[bytes, str]) -> TemplateVersion:
    """A version of the template from number, text, author, time, note and syntax."""
    version, template, *others = row
    return TemplateVersion(version, texts[template], *map(to_text, others))


# The tables


def schema(store: str, version: int) -> list[str]:
    """The statements that take a store from the version before to this one."""
    path = os.path.join(os.path.dirname(__file__), "schema", f"{store}-{version}.sql")
    with open(path, encoding="utf-8") as file:
        return [statement for statement in file.read().split(";\n") if statement.strip()]


def check_version(version: int, latest: int = LATEST) -> None:
    """A StoreError for a store that a newer Foreword has written."""
    if version > latest:
        raise StoreError(
            f"a newer Foreword wrote the store: its tables have version {version}, and this one knows them up to {latest}"
        )


# What can be wrong


def faults(
    texts: Iterable[Sequence[Any]],
    prompts: Iterable[Sequence[Any]],
    editions: Iterable[Sequence[Any]],
    templates: Iterable[Sequence[Any]],
) -> Iterator[str]:
    """What is wrong with the rows of a store, each as a sentence. Editions and templates come in their order."""
    known: set[int] = set()
    for number, hash, form, body in texts:
        known.add(number)
        yield from _faults_of_text(number, hash, form, body)
    accounted: set[int] = set()
    for system, account in prompts:
        accounted.add(system)
        yield from _lacking("a prompt", {"text": system, "account": account}, known)
    yield from _faults_of_editions(editions, known, accounted)
    before = 0
    for version, template in templates:
        yield from _lacking(f"version {version} of the template", {"text": template}, known)
        if version != before + 1:
            yield f"version {version} of the template follows version {before}"
        before = version


def _faults_of_text(number: int, hash: bytes, form: int, body: bytes) -> Iterator[str]:
    try:
        text = unpack(form, body)
    except (ValueError, TypeError, zlib.error):
        yield f"text {number} ({id_of(hash)}) cannot be unpacked"
    else:
        if hash_of(text) != hash:
            yield f"text {number} is not what its hash {id_of(hash)} says"


def _faults_of_editions(rows: Iterable[Sequence[Any]], known: set[int], accounted: set[int]) -> Iterator[str]:
    before: tuple[str, int] = ("", 0)
    for conversation, number, *numbers in rows:
        name = f"edition {number} of conversation {conversation!r}"
        yield from _lacking(name, dict(zip(TEXTS, numbers, strict=True)), known)
        if numbers[0] in known and numbers[0] not in accounted:
            yield f"the prompt of {name} cannot be found by its id"
        last = before[1] if before[0] == conversation else 0
        if number != last + 1:
            yield f"{name} follows edition {last}"
        before = (conversation, number)


def _lacking(name: str, pointers: Mapping[str, int], known: set[int]) -> Iterator[str]:
    for what, number in pointers.items():
        if number not in known:
            yield f"{name} has no {what}: text {number} is gone"
