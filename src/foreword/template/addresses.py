"""Addresses of templates and layouts: `$prefix/path`, without a file suffix.

Only this module parses addresses and decides whether a name is an address, a file path or a plain name. The caller decides what
an address refers to.
"""

from __future__ import annotations

from ..errors import CallError, MissingError
from ..text.lines import printable

_MAX_QUOTED = 60
_EXAMPLE = "an address is $prefix/path, such as $user/review"


def is_address(name: str) -> bool:
    """Whether a name is meant as an address rather than a file path. It may still be malformed: `split` checks that."""
    return name.startswith("$")


def is_file_path(name: str) -> bool:
    """Whether a layout's name is a file path rather than an address or the name of a shipped layout."""
    is_path = "/" in name or "\\" in name or name.endswith(".toml") or name in (".", "..")
    return is_path and not is_address(name)


def is_only_address(text: object) -> bool:
    """Whether a value is a single address, such as `$user/greet`, possibly surrounded by white space."""
    if not isinstance(text, str) or len(text.split()) != 1:
        return False
    return is_address(text.lstrip()[:1]) and ("/" in text or "\\" in text)


def is_almost_address(text: str) -> bool:
    """Whether a text is one line that begins like an address in one of the usual packs, but is not one: it has spaces, or no path."""
    line = text.strip()
    is_prefix = line in _PREFIXES or line.startswith(tuple(f"{prefix}/" for prefix in _PREFIXES))
    return is_prefix and "\n" not in line and not is_only_address(line)


_PREFIXES = ("$std", "$user", "$workspace", "$agents")


def has_prefix(address: str, *prefixes: str) -> bool:
    """Whether an address has one of these prefixes."""
    return address.startswith(tuple(f"${prefix}/" for prefix in prefixes))


def is_shipped(address: str) -> bool:
    """Whether an address belongs to a pack that ships with Foreword."""
    return has_prefix(address, "std", "agents")


def short_address(address: str) -> str:
    """Return the name of a shipped layout, which means the same as its address, or any other address as it is."""
    return address.removeprefix("$std/")


def resolve(name: str, current: str = "") -> str:
    """Return the address that `name` refers to in the template at `current`: names without a prefix are relative to it."""
    if is_address(name):
        split(name)
        return name
    if not is_address(current):
        where = f"{printable(current)} is not in a pack" if current else "it is not included by a template in a pack"
        raise CallError(f"{_quote(name)} has no prefix, and {where}; {_EXAMPLE}")
    prefix, current_path = split(current)
    folder = current_path.rpartition("/")[0]
    path = f"{folder}/{name}" if folder else name
    _check_path(path, name)
    return f"${prefix}/{path}"


def split(address: str) -> tuple[str, str]:
    """Split `$prefix/path` into prefix and path. Raises a MissingError that explains why if it is not a valid address."""
    prefix, slash, path = address.removeprefix("$").partition("/")
    if is_address(address) and "\\" in prefix:
        _check_path(prefix, address)
    if not is_address(address) or not slash or not prefix or not path:
        raise MissingError(f"{_quote(address)} is not a valid address; {_EXAMPLE}")
    _check_path(path, address)
    return prefix, path


def _check_path(path: str, name: str) -> None:
    if "\\" in path:
        raise MissingError(f"{_quote(name)}: use '/' instead of a backslash in an address")
    if any(segment in ("", ".", "..") for segment in path.split("/")):
        raise MissingError(f"{_quote(name)}: an address cannot contain '.', '..' or an empty segment")
    if not path.isprintable():
        raise MissingError(f"{_quote(name)}: an address cannot contain control characters")


def _quote(name: str) -> str:
    return repr(name if len(name) <= _MAX_QUOTED else name[: _MAX_QUOTED - 1] + "…")
