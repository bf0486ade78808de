"""What the tests in this folder share: a home directory for logs, and a function that asks about them."""

import sys
from pathlib import Path

import pytest

from foreword.programs.sessions import mapping_answer

# Lets the tests import the modules that write logs.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def ask(home):
    """Return a function that answers questions about all logs in the home directory, without the index."""

    def ask(**fields):
        return mapping_answer(
            {"cwd": str(home), "home": str(home), "everywhere": True, "utc": True, "no_cache": True, **fields}
        )

    return ask
