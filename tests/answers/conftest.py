"""Lets the tests in this folder import `peers` and `tests/sessions/other_logs.py`, which write some of the workspaces."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/sessions")]
