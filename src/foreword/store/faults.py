"""Find problems in a store's rows: hashes that do not match, rows that refer to missing ones, and text that nothing uses."""

from __future__ import annotations

import zlib

from .contents import content_hash
from .rows import TEXT_COLUMNS
from .texts import hash_of, id_of, unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

# The rows of a team that `faults` takes, in this order.
ALL_ROWS = (
    "SELECT id, hash, form, body FROM foreword_texts WHERE team = ?",
    f"SELECT id, hash, kind, {', '.join(TEXT_COLUMNS)} FROM foreword_contents WHERE team = ?",
    "SELECT content FROM foreword_unused WHERE team = ?",
    "SELECT conversation, number, content, kind FROM foreword_editions WHERE team = ? ORDER BY conversation, number",
    "SELECT kind, sum(conversations), sum(editions) FROM foreword_counts WHERE team = ? GROUP BY kind",
    "SELECT name, max(previous) FROM foreword_moves WHERE team = ? AND label = '' GROUP BY name",
    "SELECT name, version, template FROM foreword_templates WHERE team = ? ORDER BY name, version",
    "SELECT name, label, version FROM foreword_labels WHERE team = ? ORDER BY name, label",
)


def faults(
    texts: Iterable[Sequence[Any]],
    contents: Iterable[Sequence[Any]],
    unused: Iterable[Sequence[Any]],
    editions: Iterable[Sequence[Any]],
    counts: Iterable[Sequence[Any]],
    deleted: Iterable[Sequence[Any]],
    templates: Iterable[Sequence[Any]],
    labels: Iterable[Sequence[Any]],
) -> Iterator[str]:
    """Yield the problems in the rows of `ALL_ROWS`, one sentence each."""
    hashes: dict[int, bytes] = {}
    for number, hash, form, body in texts:
        hashes[number] = _bytes(hash)
        yield from _text_faults(number, hashes[number], form, body)
    all_contents: dict[int, tuple[int, list[int]]] = {}
    yield from _content_faults(contents, hashes, all_contents)
    used_texts = {number for _, pointers in all_contents.values() for number in pointers}
    used_contents = {content for (content,) in unused}
    used_counts: dict[int, list[int]] = {}
    yield from _edition_faults(editions, hashes, all_contents, used_contents, used_counts)
    for content in all_contents.keys() - used_contents:
        yield f"content {content} is not used by any edition; run foreword store prune to remove it"
    stored = {kind: [conversations, number] for kind, conversations, number in counts if conversations or number}
    if stored != used_counts:
        yield "the counts of conversations and editions are wrong"
    versions: set[tuple[str, int]] = set()
    yield from _template_faults(templates, hashes, used_texts, versions, deleted)
    for name, label, version in labels:
        if (name, version) not in versions:
            yield f"label {label!r} of template {name!r} refers to version {version}, which is missing"
    for number in hashes.keys() - used_texts:
        yield f"text {number} is not used by any edition or template; run foreword store prune to remove it"


def _bytes(column: object) -> bytes:
    """Return the bytes of a column, or none if it has another type, which SQLite allows."""
    return column if isinstance(column, bytes) else b""


def _text_faults(number: int, hash: bytes, form: int, body: bytes) -> Iterator[str]:
    try:
        text = unpack(form, body)
    except (ValueError, TypeError, zlib.error):
        yield f"text {number} ({id_of(hash)}) cannot be decoded"
    else:
        if hash_of(text) != hash:
            yield f"text {number} does not match its hash {id_of(hash)}"


def _content_faults(
    rows: Iterable[Sequence[Any]], hashes: Mapping[int, bytes], contents: dict[int, tuple[int, list[int]]]
) -> Iterator[str]:
    """Yield the contents whose hash is wrong. Adds the kind of each content, and its texts."""
    for content, hash, kind, *pointers in rows:
        contents[content] = kind, pointers
        if all(pointer in hashes for pointer in pointers) and content_hash(map(hashes.__getitem__, pointers)) != hash:
            yield f"the texts of content {content} do not match its hash"


def _edition_faults(
    rows: Iterable[Sequence[Any]],
    hashes: Mapping[int, bytes],
    contents: Mapping[int, tuple[int, list[int]]],
    used: set[int],
    counts: dict[int, list[int]],
) -> Iterator[str]:
    """Yield the problems in editions, which must be sorted. Adds the contents and the counts of their kinds."""
    last, last_number, last_kind = "", 0, None
    for conversation, number, content, kind in rows:
        name = f"edition {number} of conversation {conversation!r}"
        used.add(content)
        if conversation != last and last_kind is None and last:
            yield f"conversation {last!r} has no edition in use"
        if conversation == last and number != last_number + 1:
            yield f"{name} comes after edition {last_number}"
        if conversation == last and last_kind is not None:
            yield f"edition {last_number} of conversation {last!r} is in use, but it is not the newest"
        last, last_number, last_kind = conversation, number, kind
        if content not in contents:
            yield f"{name} has no content: content {content} is missing"
            continue
        expected, pointers = contents[content]
        yield from _missing_texts(name, dict(zip(TEXT_COLUMNS, pointers, strict=True)), hashes)
        if kind not in (None, expected):
            yield f"{name} has the wrong kind"
        count = counts.setdefault(expected, [0, 0])
        count[0] += kind is not None
        count[1] += 1
    if last and last_kind is None:
        yield f"conversation {last!r} has no edition in use"


def _template_faults(
    rows: Iterable[Sequence[Any]],
    hashes: Mapping[int, bytes],
    used: set[int],
    versions: set[tuple[str, int]],
    deleted: Iterable[Sequence[Any]],
) -> Iterator[str]:
    """Yield the problems in versions of templates, which must be sorted. Adds their texts and numbers.

    `deleted` has the last version number of each deleted template. If it was saved again, its numbers continue from there.
    """
    previous = ("", 0)
    last_deleted = {row[0]: row[1] for row in deleted}
    for name, version, template in rows:
        used.add(template)
        versions.add((name, version))
        yield from _missing_texts(f"version {version} of template {name!r}", {"text": template}, hashes)
        last = previous[1] if previous[0] == name else 0
        if version not in (last + 1, last_deleted.get(name, 0) + 1):
            yield f"version {version} of template {name!r} comes after version {last}"
        previous = (name, version)


def _missing_texts(name: str, pointers: Mapping[str, int], hashes: Mapping[int, bytes]) -> Iterator[str]:
    for column, number in pointers.items():
        if number not in hashes:
            yield f"{name} has no {column}: text {number} is missing"
