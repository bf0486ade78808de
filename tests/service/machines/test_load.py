"""Services that are killed under load; the soak does it hundreds of times: `python tests/service/machines/load.py`."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("machines")


def test_nothing_that_was_answered_is_lost_when_services_are_killed():
    script = Path(__file__).parent / "load.py"
    done = subprocess.run([sys.executable, str(script), "--kills", "5"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.endswith("every answer was right, and nothing is lost\n")
