"""Reduce requests to fingerprints (hashes and token counts instead of text), and find the first difference between two. Pure.

The hashes are keyed, so that they reveal nothing to anyone who does not have the key.
"""

from __future__ import annotations

from hashlib import blake2b

from ...providers.request_parts import as_json, changed_setting, describe_tool_change, first_difference, parse_request
from ...text.tokens import estimator
from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

_CHUNK = 512  # the system prompt is hashed in chunks of this many characters
_MAX_UNITS = 10_000  # per part of the request; anything after that is not compared
_MAX_NAME = 128


@value
class Unit:
    """A tool, a message or a chunk of the system prompt: its name or role, its hash and its token count."""

    name: str
    hash: bytes
    tokens: int


@value
class Fingerprint:
    """What is remembered of a request: its model, the units of each part, hashes of its settings, and the number of breakpoints."""

    model: str
    tools: Sequence[Unit]
    system: Sequence[Unit]
    messages: Sequence[Unit]
    settings: Mapping[str, str]
    breakpoints: int


@value
class RequestChange:
    """The first difference between two requests, as a verb phrase, and how many of the earlier request's tokens come after it."""

    what: str
    tokens_lost: int


def fingerprint(request: Mapping[str, Any], key: bytes, model: str = "") -> Fingerprint:
    """Return the fingerprint of a request. `model` is used if the request does not name one."""
    parts = parse_request(request)
    name = request.get("model")
    model = printable_name(name if isinstance(name, str) else model)
    count = estimator(model, "")

    def unit(name: str, text: str) -> Unit:
        return Unit(printable_name(name), _hash(text, key), count(text))

    return Fingerprint(
        model,
        [unit(tool["name"], as_json(tool)) for tool in parts.tools[:_MAX_UNITS]],
        [unit("", chunk) for chunk in _chunks(parts.system)],
        [unit(role, text) for role, text in parts.messages[:_MAX_UNITS]],
        {name: _hash(text, key).hex() for name, text in parts.settings.items()},
        len(parts.breakpoints),
    )


def printable_name(name: str) -> str:
    """Return a name that is safe to print: at most 128 characters, without control characters."""
    return "".join(character if character.isprintable() else "?" for character in name[:_MAX_NAME])


def _hash(text: str, key: bytes) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest()


def _chunks(text: str) -> Iterator[str]:
    for start in range(0, min(len(text), _CHUNK * _MAX_UNITS), _CHUNK):
        yield text[start : start + _CHUNK]


def difference(old: Fingerprint, new: Fingerprint) -> RequestChange | None:
    """Return the first difference that invalidates part of the old request's prefix, or None if the new request only continues it."""
    tools, system, messages = (_total_tokens(units) for units in (old.tools, old.system, old.messages))
    setting, part = changed_setting(old.settings, new.settings)
    if part == "tools":
        return RequestChange(f"changed {setting}", tools + system + messages)
    index = first_difference(old.tools, new.tools)
    if index is not None:
        what = describe_tool_change([tool.name for tool in old.tools], [tool.name for tool in new.tools], index)
        return RequestChange(what, _total_tokens(old.tools[index:]) + system + messages)
    index = first_difference(old.system, new.system)
    if index is not None:
        what = f"changed the system prompt after character {index * _CHUNK:,}"
        return RequestChange(what, _total_tokens(old.system[index:]) + messages)
    if setting:
        return RequestChange(f"changed {setting}", messages)
    index = first_difference(old.messages, new.messages)
    if index is None or index >= len(old.messages):
        return None
    verb = "changed" if index < len(new.messages) else "removed"
    return RequestChange(
        f"{verb} message {index + 1} ({old.messages[index].name})", _total_tokens(old.messages[index:])
    )


def _total_tokens(units: Sequence[Unit]) -> int:
    return sum(unit.tokens for unit in units)
