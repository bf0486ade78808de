"""Lets the tests in this folder import the module that writes logs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
