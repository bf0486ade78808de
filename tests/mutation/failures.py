"""What failed in a run of pytest."""

from __future__ import annotations

import re

from faults import shorten

# A fault may cause an endless loop or a wait that never ends. A single test takes seconds without a fault, so this is enough for one.
TEST_SECONDS = 120


def failure(output: str) -> str:
    """Name what failed in the output of pytest: a test, or else the reason why it stopped."""
    if found := re.search(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", output, re.MULTILINE):
        return found[1]
    if "Timeout (" in output:
        return f"a test that took more than {TEST_SECONDS} s"
    return f"pytest, which ended with: {shorten(output[-300:])}"
