"""Write `std/compiled.py`: the shipped layouts as Python literals, which load five times faster than TOML.

python -m foreword.packs.compile          write it
python -m foreword.packs.compile --check  check that it is up to date
"""

from __future__ import annotations

import os
import pprint
import sys
import tomllib

STD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "std")
TARGET = os.path.join(STD, "compiled.py")


def compiled() -> str:
    """The source of the module: one function per layout, so that only the one in use is built."""
    names = sorted(name.removesuffix(".toml") for name in os.listdir(STD) if name.endswith(".toml"))
    lines = [
        '"""Generated from the TOML files beside it by `python -m foreword.packs.compile`; do not edit."""',
        "",
        "# ruff: noqa",
        "from __future__ import annotations",
        "",
        "TYPE_CHECKING = False",
        "if TYPE_CHECKING:",
        "    from typing import Any",
        "",
        f"NAMES = {tuple(names)!r}",
    ]
    for name in names:
        with open(os.path.join(STD, name + ".toml"), "rb") as file:
            literal = pprint.pformat(tomllib.load(file), width=140, sort_dicts=False)
        lines += ["", "", f"def {name}() -> dict[str, Any]:", f"    return {literal}"]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        with open(TARGET, encoding="utf-8") as file:
            is_current = file.read() == compiled()
        print("compiled.py is current" if is_current else "compiled.py is stale: run python -m foreword.packs.compile")
        return 0 if is_current else 1
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(compiled())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
