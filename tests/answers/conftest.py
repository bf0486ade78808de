"""Lets the tests in this folder import `peers`, whose generators write some of the workspaces."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
