"""The first experiment on the page, as a new user would copy it."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "effect.md"


def blocks():
    """Return the indented blocks of the section, in order: the repository, the check, the commands and the report."""
    section = PAGE.read_text().partition("## Ten minutes with a toy\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", section, re.MULTILINE)
    return [re.sub(r"^    ", "", block.strip("\n"), flags=re.MULTILINE) for block in found]


def test_the_toy_on_the_page(tmp_path):
    create, check, commands, report = blocks()
    (tmp_path / "check.py").write_text(check)
    environment = {
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{role}_{key}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")},
    }
    script = f'set -e\nforeword() {{ "{sys.executable}" -m foreword "$@"; }}\n{create}\n{commands}\n'
    done = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert report in done.stdout
