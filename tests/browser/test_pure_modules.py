"""The modules of the page that need no browser, tested in Node."""

import subprocess
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"


def test_the_modules_that_need_no_browser():
    result = subprocess.run(["node", "test.mjs"], cwd=WEB, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "# pass 0" not in result.stdout
