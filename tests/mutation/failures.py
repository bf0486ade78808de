"""What failed in a run of pytest."""

from __future__ import annotations

import re

from faults import shorten


def failure(output: str) -> str:
    """Name what failed in the output of pytest: a test, or else the reason why it stopped."""
    if found := re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", output, re.MULTILINE):
        return found[1]
    if "Timeout (" in output:
        return "a test that took more than ten times as long as without the fault"
    return f"pytest, which ended with: {shorten(output[-300:])}"
