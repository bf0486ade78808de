"""Parse a lookup rule's keys about the text of its files: trim, comments, front matter, labels and imports."""

from __future__ import annotations

from ..errors import LayoutError, suggestion
from ..shapes import check_table
from .forms import parse_form
from .keys import KEY_SHAPES
from .lookup_keys import PLACES
from .model import Imports, TextRules
from .text_keys import TRIM_CHOICES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    Trim = Literal["lines", "ends", "tail", "none", "fence"]

TEXT_RULE_KEYS = (
    "trim",
    "blank",
    "comments",
    "front",
    "label",
    "imports",
    "max_lines",
    "max_bytes",
    "line_ends",
    "alias",
)
_FORMS = {
    "form": ("text", "name", "path"),
    "missing": ("name", "path", "reason"),
    "outside": ("name", "path", "reason"),
    "repeated": ("name", "path", "reason"),
}
_KEYS_NOT_FOR_ITEMS = ("trim", "once", *_FORMS)


def parse_text_rules(table: Mapping[str, Any], where: str, top: Mapping[str, Any]) -> TextRules:
    """Parse the rules for the text of a lookup rule's files. `top` contains the layout's top-level keys."""
    common: Any = {"fences": top.get("fences", "lines"), "repair": top.get("repair", "lines")}
    is_mirror = bool(top.get("mirrors", "").strip())
    text_keys = [key for key in TEXT_RULE_KEYS if key in table]
    if not text_keys:
        return TextRules(**common)
    kind = table.get("as", "text")
    if kind in ("skill", "agent", "command") and text_keys == ["trim"]:
        trim = _check_trim(table["trim"], ("ends", "none", "fence"), where)
        return TextRules(**common) if trim == "ends" else TextRules(trim, **common)
    if kind != "text":
        raise LayoutError(f"{where}{text_keys[0]} is only for files that are used as text, not as {kind}").at(
            f"{where}{text_keys[0]}"
        )
    return TextRules(
        _check_trim(table.get("trim", "lines"), TRIM_CHOICES, where),
        table.get("blank", "skip"),
        table.get("comments", "keep"),
        table.get("front", "keep"),
        _parse_labels(table.get("label", ""), where + "label"),
        _parse_imports(table["imports"], where + "imports", is_mirror) if "imports" in table else None,
        table.get("max_lines"),
        table.get("max_bytes"),
        table.get("line_ends", "keep"),
        alias=_parse_alias(table.get("alias", {}), where + "alias"),
        **common,
    )


def _check_trim(trim: Trim, choices: Sequence[str], where: str) -> Trim:
    """Return a value of `trim`, or raise a LayoutError if it does not apply to files of this kind."""
    if trim not in choices:
        raise LayoutError(f"{where}trim must be one of {', '.join(choices)} for these files, not {trim!r}").at(
            f"{where}trim"
        )
    return trim


def _parse_alias(alias: Mapping[str, Any], where: str) -> tuple[tuple[str, str], ...]:
    for name, other in alias.items():
        if not isinstance(other, str) or not other.strip() or not name.strip() or other == name:
            raise LayoutError(f"{where}.{name} must be the name of another field, not {other!r}").at(where)
    return tuple(alias.items())


def _parse_labels(label: str | Mapping[str, str], where: str) -> tuple[tuple[str, str], ...]:
    if isinstance(label, str):
        return (("*", label),) if label else ()
    for key in label:
        if key.endswith(":"):
            if key[:-1] not in PLACES:
                raise LayoutError(f"{where}: unknown place {key!r}" + suggestion(key[:-1], PLACES)).at(where)
        elif not key or "/" in key:
            raise LayoutError(f"{where}: {key!r} is neither a file name nor a place such as 'home:'").at(where)
    return tuple(label.items())


def _parse_imports(table: Mapping[str, Any], where: str, is_mirror: bool) -> Imports:
    check_table(table, KEY_SHAPES["imports"], where, LayoutError)
    place = table.get("place", "item")
    for key in _KEYS_NOT_FOR_ITEMS:
        if key in table and place == "item":
            raise LayoutError(
                f"{where}.{key} needs place = 'replace' or 'insert'; with place = 'item', the token is left as it is"
            ).at(f"{where}.{key}")
    once = table.get("once", "prompt")
    if once != "prompt" and not is_mirror:
        raise LayoutError(
            f"{where}.once: {once!r} is only for a layout that mirrors a program; add mirrors = 'PROGRAM VERSION', or remove it"
        ).at(f"{where}.once")
    forms: dict[str, Any] = {
        key: parse_form(table[key], fields, f"{where}.{key}") for key, fields in _FORMS.items() if key in table
    }
    if "form" in forms and not any(getattr(part, "name", "") == "text" for part in forms["form"]):
        raise LayoutError(f"{where}.form needs '{{text}}', for the text of the imported file").at(f"{where}.form")
    others = {
        key: table[key]
        for key in ("files", "file_extensions", "depth", "within", "place", "tokens", "relative_to", "once", "trim")
        if key in table
    }
    return Imports(**others, **forms)
