"""Addresses of templates and layouts: `$prefix/path`, without a file suffix.

This module alone parses addresses and decides whether a name is an address, a file or a plain name. What an address refers to is up
to the caller.
"""

from __future__ import annotations

from ..errors import CallError
from ..text.lines import printable

_SHOWN = 60
_EXAMPLE = "an address is $prefix/path, such as $user/review"


def is_address(name: str) -> bool:
    """Whether a name that could also be a file is an address. It may still be malformed: `split` checks that."""
    return name.startswith("$")


def is_file(name: str) -> bool:
    """Whether the name of a layout is a file, rather than an address or the name of a shipped layout."""
    is_path = "/" in name or "\\" in name or name.endswith(".toml") or name in (".", "..")
    return is_path and not is_address(name)


def is_only_address(text: object) -> bool:
    """Whether a value is only an address, such as `$user/greet`, with or without white space around it."""
    return isinstance(text, str) and is_address(text.lstrip()[:1]) and "/" in text and len(text.split()) == 1


def is_in(address: str, *prefixes: str) -> bool:
    """Whether an address has one of these prefixes."""
    return address.startswith(tuple(f"${prefix}/" for prefix in prefixes))


def is_shipped(address: str) -> bool:
    """Whether an address belongs to a pack that ships with Foreword."""
    return is_in(address, "std", "agents")


def resolve(name: str, current: str = "") -> str:
    """The address that `name` refers to in the template at `current`: names without a prefix are relative to it."""
    if is_address(name):
        split(name)
        return name
    if not is_address(current):
        where = f"{printable(current)} is not in a pack" if current else "it is not included by a template in a pack"
        raise CallError(f"{_quote(name)} has no prefix, and {where}; {_EXAMPLE}")
    prefix, sibling = split(current)
    folder = sibling.rpartition("/")[0]
    path = f"{folder}/{name}" if folder else name
    _check_path(path, name)
    return f"${prefix}/{path}"


def split(address: str) -> tuple[str, str]:
    """The prefix and the path of `$prefix/path`; a CallError says why a string is not an address."""
    prefix, slash, path = address.removeprefix("$").partition("/")
    if not is_address(address) or not slash or not prefix or not path or "\\" in prefix:
        raise CallError(f"{_quote(address)} is not a valid address; {_EXAMPLE}")
    _check_path(path, address)
    return prefix, path


def _check_path(path: str, name: str) -> None:
    if "\\" in path:
        raise CallError(f"{_quote(name)}: use '/' instead of a backslash in an address")
    if any(segment in ("", ".", "..") for segment in path.split("/")):
        raise CallError(f"{_quote(name)}: an address cannot contain '.', '..' or an empty segment")
    if not path.isprintable():
        raise CallError(f"{_quote(name)}: an address cannot contain control characters")


def _quote(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else name[: _SHOWN - 1] + "…")
