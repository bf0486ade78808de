"""Addresses of templates: `$prefix/path`, without extension. What stands there, only the caller's `load` knows."""

from __future__ import annotations

from ..errors import TemplateError
from ..text.lines import printable

_SHOWN = 60


def resolve(name: str, current: str = "") -> str:
    """The address that a name means in the template at `current`.

    A name with a prefix is an address as it is; one without stands beside that template, or below it.
    """
    if name.startswith("$"):
        prefix, path = split(name)
    elif not current.startswith("$"):
        where = f"{printable(current)} is in no pack" if current else "there is no template beside which it could stand"
        raise TemplateError(
            f"{_shown(name)} has no prefix, and {where}; an address is $prefix/path, such as $std/default"
        )
    else:
        prefix, beside = split(current)
        folder = beside.rpartition("/")[0]
        path = f"{folder}/{name}" if folder else name
        _refuse(path, name)
    return f"${prefix}/{path}"


def split(address: str) -> tuple[str, str]:
    """`$prefix/path` as prefix and path; what cannot be an address is an error that says why."""
    prefix, slash, path = address.removeprefix("$").partition("/")
    if not address.startswith("$") or not slash or not prefix or not path or "\\" in prefix:
        raise TemplateError(f"{_shown(address)} is no address; an address is $prefix/path, such as $std/default")
    _refuse(path, address)
    return prefix, path


def _refuse(path: str, given: str) -> None:
    if "\\" in path:
        raise TemplateError(f"{_shown(given)}: an address is written with '/', not with a backslash")
    if any(segment in ("", ".", "..") for segment in path.split("/")):
        raise TemplateError(f"{_shown(given)}: an address may not hold '.', '..' or an empty segment")
    if not path.isprintable():
        raise TemplateError(f"{_shown(given)}: an address may not hold control characters")


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else name[: _SHOWN - 1] + "…")
