"""Fills in who owns the repository, wherever a published file names it: make owner OWNER=name CONTACT=address"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = ("pyproject.toml", "SECURITY.md", "docs/review.md", "clients/typescript/package.json")
"""The files that contain OWNER, or CONTACT in SECURITY.md."""


def fill_in(root: Path, owner: str, contact: str) -> list[str]:
    """Replace the placeholders below this folder, and return the files that changed."""
    changed = []
    for name in FILES:
        path = root / name
        text = path.read_text("utf-8")
        filled = re.sub(r"\bOWNER\b", owner, text)
        if name == "SECURITY.md":
            filled = filled.replace("CONTACT", contact)
        if filled != text:
            path.write_text(filled, encoding="utf-8")
            changed.append(name)
    return changed


def main(arguments: list[str]) -> int:
    owner, contact = arguments
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?", owner) or "@" not in contact:
        sys.stderr.write("usage: make owner OWNER=name CONTACT=address, a name on GitHub and an address for reports\n")
        return 2
    sys.stdout.write("".join(f"{name}\n" for name in fill_in(ROOT, owner, contact)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
