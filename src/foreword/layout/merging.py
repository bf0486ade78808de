"""Merge an unparsed layout with the one it extends, and set keys in it."""

from __future__ import annotations

from ..errors import LayoutError, similar_name, suggestion
from ..shapes import NAMES, STRING, SWITCH, WHOLE_NUMBER, check
from .keys import CONTENT_KEYS, KEYS_BY_TABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any


_MAX_LIKES = 50
INHERITED_ROW = {"from": "inherited"}


def merge(base: Mapping[str, Any], layout: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a layout into the one it extends. Tables are merged key by key; other values are replaced.

    In `guideline`, the row `from = "inherited"` stands for the rows of the extended layout.
    """
    merged = dict(base)
    if any(key in layout for key in CONTENT_KEYS):
        for key in CONTENT_KEYS:
            merged.pop(key, None)
    for key, content in layout.items():
        both_tables = isinstance(content, dict) and isinstance(merged.get(key), dict)
        if key == "guideline" and isinstance(content, list | tuple) and key in base:
            content = [row for own in content for row in (base[key] if own == INHERITED_ROW else (own,))]
        merged[key] = merge(merged[key], content) if both_tables else content
    return merged


def resolve_likes(tables: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Add to each lookup rule or section the missing keys from the one that its `like` refers to.

    A key replaces the other's, even if both are tables (`where`, `label`). Only `imports` is a table of keys, which are added one by one.
    """
    if not any(isinstance(table, dict) and "like" in table for table in tables.values()):
        return dict(tables)
    resolved: dict[str, Any] = {}
    for name in tables:
        _resolve_like(name, tables, kind, resolved, ())
    return {name: resolved[name] for name in tables}


def _resolve_like(
    name: str, tables: Mapping[str, Any], kind: str, resolved: dict[str, Any], chain: tuple[str, ...]
) -> Any:
    """Add a table with all its keys to `resolved`, and return it. `chain` contains the tables that refer to it."""
    if name in resolved:
        return resolved[name]
    table = tables[name]
    other = table.get("like") if isinstance(table, dict) else None
    if other is not None:
        if name in chain or len(chain) >= _MAX_LIKES:
            raise LayoutError(f"{kind}.{name}.like: circular or too long: {' > '.join((*chain[:5], name))}").at(
                f"{kind}.{name}.like"
            )
        _check_like(name, other, tables, kind)
        base = _resolve_like(other, tables, kind, resolved, (*chain, name))
        own = {key: content for key, content in table.items() if key != "like"}
        replaced = own.keys() - {"imports"}
        table = merge({key: base[key] for key in base if key not in replaced}, own)
    resolved[name] = table
    return table


def untrusted_copies(tables: Mapping[str, Any], untrusted: frozenset[str]) -> frozenset[str]:
    """Return the keys that decide where lookup rules search and that they copy, with `like`, from keys that an untrusted file set.

    A rule with an untrusted `like` is included: a workspace may not use it to read the user's files in its own way.
    """
    copies: set[str] = set()
    for name, table in tables.items():
        own, other, chain = table, table.get("like") if isinstance(table, dict) else None, [name]
        while isinstance(other, str) and isinstance(tables.get(other), dict) and other not in chain:
            if f"find.{chain[-1]}.like" in untrusted:
                copies.add(f"find.{name}.files")
            copied = [key for key in _SEARCH_KEYS if f"find.{other}.{key}" in untrusted and key not in own]
            copies.update(f"find.{name}.{key}" for key in copied)
            chain.append(other)
            own, other = {**tables[other], **own}, tables[other].get("like")
    return frozenset(copies)


_SEARCH_KEYS = ("files", "walk", "markers")


def _check_like(name: str, other: Any, tables: Mapping[str, Any], kind: str) -> None:
    if not isinstance(other, str) or not isinstance(tables.get(other), dict) or other == name:
        others = [table for table in tables if table != name]
        noun = "lookup rule" if kind == "find" else kind
        raise LayoutError(f"{kind}.{name}.like: unknown {noun} {other!r}" + suggestion(str(other), others)).at(
            f"{kind}.{name}.like"
        )


def assign(mapping: Mapping[str, Any], key: str, content: Any) -> dict[str, Any]:
    """Return a copy of the mapping with one key set. The key may be shortened: `skills.validation`, `names`, `skills.budget`."""
    path = _full_path(mapping, key)
    if isinstance(content, str) and _takes_list(mapping, path):
        content = split_list(content)
    nested: dict[str, Any] = {path[-1]: content}
    for table in reversed(path[:-1]):
        nested = {table: nested}
    check_settings(nested, mapping)
    return merge(mapping, nested)


def check_settings(layout: Mapping[str, Any], base: Mapping[str, Any], prefix: str = "") -> None:
    """Raise a LayoutError unless each setting has the type of its default. Another type would turn a switch on, or find no files.

    `base` has the defaults, and `prefix` precedes a setting's name in the error.
    """
    defaults = _dict_at(base, "settings")
    for name, content in _dict_at(layout, "settings").items():
        shape = _SETTING_SHAPES.get(type(defaults.get(name)))
        if shape:
            check(content, shape, prefix + name, LayoutError, f"settings.{name}")


_SETTING_SHAPES = {bool: SWITCH, str: STRING, int: WHOLE_NUMBER, list: NAMES, tuple: NAMES}


def split_list(text: str) -> list[str]:
    """Return the parts of a list that is written as plain text, with commas between them."""
    return [part.strip() for part in text.split(",") if part.strip()]


def full_key(mapping: Mapping[str, Any], key: str) -> str:
    """Return the full dotted path of a key that may be shortened."""
    return ".".join(_full_path(mapping, key))


def has_key(mapping: Mapping[str, Any], key: str) -> bool:
    """Whether a layout has a key, which may be shortened."""
    return any(key in (".".join(path), ".".join(path[1:] or path)) for path in _settable_paths(mapping))


def short_keys(mapping: Mapping[str, Any]) -> set[str]:
    """Return the keys that a caller may set in this layout, as short as possible."""
    return {".".join(path[1:] or path) for path in _settable_paths(mapping)}


def _full_path(mapping: Mapping[str, Any], key: str) -> tuple[str, ...]:
    for path in _settable_paths(mapping):
        if key.endswith(path[-1]) and key in (".".join(path), ".".join(path[1:])):
            return path
    similar = similar_name(key, short_keys(mapping))
    if similar:
        raise LayoutError(f"unknown key {key!r} in this layout; did you mean {similar!r}?").at(key)
    raise LayoutError(f"unknown key {key!r} in this layout").at(key).with_list("keys")


def _settable_paths(mapping: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield every path that a caller may set in this layout. If two paths shorten to the same key, the first is used."""
    for name in _dict_at(mapping, "settings"):
        yield "settings", name
    for key in KEYS_BY_TABLE["layout"]:
        if key != "extends":
            yield (key,)
    yield ("guideline",)
    for table in ("find", "section"):
        for name in _dict_at(mapping, table):
            for key in KEYS_BY_TABLE[table]:
                yield table, name, key
            for key in KEYS_BY_TABLE["imports"] if table == "find" else ():
                yield table, name, "imports", key
    for table in ("on", "compaction", "packs", "touch", "program", "align"):
        for key in KEYS_BY_TABLE[table]:
            yield table, key
    for name in flatten(_dict_at(mapping, "wording")):
        yield "wording", name


def _dict_at(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a table, or an empty one if the value is not a table, which `parse` reports later."""
    content = mapping.get(key)
    return content if isinstance(content, dict) else {}


def _takes_list(mapping: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    if path[0] == "settings":
        return isinstance(_dict_at(mapping, "settings").get(path[1]), list)
    table, name = (path[0], path[-1]) if len(path) > 1 else ("layout", path[0])
    key = KEYS_BY_TABLE.get(table, {}).get(name)
    return key is not None and key.takes in ("names", "groups", "conditions")


def flatten(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Flatten a nested table: its keys become dotted names."""
    pairs: dict[str, Any] = {}
    for name, content in table.items():
        if isinstance(content, dict):
            pairs.update(flatten(content, f"{prefix}{name}."))
        else:
            pairs[prefix + name] = content
    return pairs
