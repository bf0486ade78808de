"""Generate Python files from the TOML files in `std/`, `agents/` and `inspection/`, because Python loads much faster than TOML.

`std/compiled.py` contains every layout of `std` as a mapping, for layouts that extend one and for prompts with settings. `std/opal.py`
contains the `opal` layout, already parsed and checked, for the usual case in which it is used unchanged. A module in `agents/` contains
both forms, because only one mirror is loaded at a time, and `agents/outlines.py` what the choice of agents needs of every mirror.
`inspection/compiled_prices.py` contains the table of prices.

    python -m foreword.packs.compile          write the files
    python -m foreword.packs.compile --check  check that they are up to date
"""

from __future__ import annotations

import os
import pprint
import sys
import tomllib

from ..layout import model
from ..layout.parse import parse
from ..sources.instruction_files import instruction_file_patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_VALUES = (
    model.Field,
    model.Pattern,
    model.Root,
    model.ConfigValue,
    model.Imports,
    model.TextRules,
    model.Lookup,
    model.Section,
    model.Condition,
    model.Guideline,
    model.Touch,
    model.Layout,
)
_NOTE = '"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""'
_IMPORT_ANY = "\nTYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Any\n\n"
_HEAD = [_NOTE, "", "# ruff: noqa", "from __future__ import annotations", ""]


def sources() -> dict[str, str]:
    """Return the source of each generated file, by its path in the package."""
    files: dict[str, str] = {}
    for pack in ("std", "agents"):
        mappings = _read_layouts(pack)
        files[f"packs/{pack}/__init__.py"] = _names_source(mappings)
        if pack == "std":
            files["packs/std/compiled.py"] = _mappings_source(mappings)
        for name, mapping in mappings.items():
            source = _layout_source(parse(mapping, name, f"${pack}/{name}"))
            files[f"packs/{pack}/{name.replace('-', '_')}.py"] = source + (
                _IMPORT_ANY + _mapping_function(mapping) if pack == "agents" else ""
            )
        if pack == "agents":
            files["packs/agents/outlines.py"] = _outlines_source(mappings)
    with open(os.path.join(_PACKAGE, "inspection", "prices.toml"), "rb") as file:
        files["inspection/compiled_prices.py"] = "\n".join(_HEAD) + _IMPORT_ANY + _mapping_function(tomllib.load(file))
    return files


def _read_layouts(pack: str) -> dict[str, dict[str, Any]]:
    mappings: dict[str, dict[str, Any]] = {}
    folder = os.path.join(_PACKAGE, "packs", pack)
    for name in sorted(name.removesuffix(".toml") for name in os.listdir(folder) if name.endswith(".toml")):
        with open(os.path.join(folder, name + ".toml"), "rb") as file:
            mappings[name] = tomllib.load(file)
    return mappings


def _names_source(mappings: dict[str, dict[str, Any]]) -> str:
    return "\n".join([*_HEAD, f"NAMES = {tuple(mappings)!r}"]) + "\n"


def _outlines_source(mappings: dict[str, dict[str, Any]]) -> str:
    """Return the source of a table with, for each mirror, the paths that show that its program is used, and the patterns of its files."""
    lines = [*_HEAD, "OUTLINES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {"]
    for name, mapping in mappings.items():
        layout = parse(mapping, name, f"$agents/{name}")
        lines.append(f"    {name!r}: ({tuple(layout.detected_by)!r}, {instruction_file_patterns([layout])!r}),")
    return "\n".join([*lines, "}"]) + "\n"


def _mappings_source(mappings: dict[str, dict[str, Any]]) -> str:
    """Return the source of one function per layout, so that only the mapping in use is built."""
    lines = [*_HEAD, "TYPE_CHECKING = False", "if TYPE_CHECKING:", "    from typing import Any"]
    for name, mapping in mappings.items():
        lines += ["", _mapping_function(mapping, name).rstrip("\n")]
    return "\n".join(lines) + "\n"


def _mapping_function(mapping: dict[str, Any], name: str = "mapping") -> str:
    literal = pprint.pformat(mapping, width=140, sort_dicts=False)
    return f"\ndef {name}() -> dict[str, Any]:\n    return {literal}\n"


def _layout_source(layout: model.Layout) -> str:
    """Return Python source that constructs a layout. `all_sections` is computed from `sections`, so it is not written out."""
    fields = {
        name: content for name, content in _non_default_fields(layout) if name not in ("sections", "all_sections")
    }
    body = [
        f"_SECTIONS = {_literal(layout.sections)}",
        "LAYOUT = Layout(",
        "    sections=_SECTIONS,",
        "    all_sections=tuple(with_inner_sections(_SECTIONS)),",
        *(f"    {name}={_literal(content)}," for name, content in fields.items()),
        ")",
        "",
    ]
    used = [cls.__name__ for cls in _VALUES if any(f"{cls.__name__}(" in line for line in body)]
    return "\n".join([*_HEAD, f"from ...layout.model import {', '.join((*used, 'with_inner_sections'))}", "", *body])


def _non_default_fields(content: Any) -> list[tuple[str, Any]]:
    """Return the fields of a value that differ from their defaults."""
    cls = type(content)
    fields = [(name, getattr(content, name)) for name in cls.__annotations__]
    return [(name, field) for name, field in fields if name not in cls.__dict__ or cls.__dict__[name] != field]


def _literal(content: Any) -> str:
    if isinstance(content, _VALUES):
        fields = ", ".join(f"{name}={_literal(field)}" for name, field in _non_default_fields(content))
        return f"{type(content).__name__}({fields})"
    if isinstance(content, tuple):
        return f"({''.join(f'{_literal(entry)}, ' for entry in content)})"
    return repr(content)


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        stale = [name for name, source in sources().items() if _current(name) != source]
        for name in stale:
            print(f"{name} is out of date; run python -m foreword.packs.compile")
        return 1 if stale else 0
    for name, source in sources().items():
        with open(os.path.join(_PACKAGE, name), "w", encoding="utf-8") as file:
            file.write(source)
    return 0


def _current(name: str) -> str:
    try:
        with open(os.path.join(_PACKAGE, name), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
