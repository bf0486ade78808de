"""Prints the changelog's section of a version, which becomes the text of the release: python -m release.notes 0.1.0"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def notes(changelog: str, version: str) -> str | None:
    """The section of a version, without its heading. None if there is none."""
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL)
    return found[1].strip() + "\n" if found else None


def main(arguments: list[str]) -> int:
    changelog = CHANGELOG.read_text("utf-8")
    text = notes(changelog, arguments[0]) or notes(changelog, "Unreleased")
    sys.stdout.write(text or "")
    return 0 if text else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
