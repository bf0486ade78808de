"""Run the page "First steps" as a new user would: a fresh copy, an empty home and a shell."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/first-steps.md"
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# A fresh copy has no build output, and does not need the history.
BUILD_OUTPUT = shutil.ignore_patterns(
    ".git", ".venv*", ".tools", "dist", "site", "node_modules", "__pycache__", ".*_cache", ".hypothesis", "*.db*"
)

pytestmark = pytest.mark.xdist_group("distribution")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def uv_cache():
    """The cache folder of uv: with an empty home it would download everything again."""
    uv = next(ROOT.glob(".venv*/bin/uv"))
    return subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def shell():
    """A shell in a home with a fresh copy of the checkout, which keeps its working directory and variables between calls."""
    sample = load(ROOT / "docs/sample.py")
    with sample.home() as home:
        shutil.rmtree(home / "shop")
        (home / "foreword").unlink()
        shutil.copytree(ROOT, home / "foreword", ignore=BUILD_OUTPUT)
        (home / "foreword/.tools").symlink_to(ROOT / ".tools")
        (home / ".state").write_text("cd ~/foreword\n")
        environment = {"HOME": str(home), "PATH": os.environ["PATH"], "UV_CACHE_DIR": uv_cache()}
        # Compiling all packages would take most of this test's time, and the page runs few of them.
        environment["MAKEFLAGS"] = "-- COMPILE="

        def shell(lines):
            script = f'source ~/.state\nset -e\n{lines}\nset +e\n{{ echo "cd $PWD"; declare -p foreword; }} > ~/.state 2>/dev/null; true'
            result = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True)
            return result.returncode, result.stdout.replace(str(home), sample.HOME), result.stderr

        shell.home, shell.write = home, sample.write
        yield shell


def without_counts(text):
    """Text without token counts and their prices, which depend on the path of the temporary home."""
    return re.sub(r"\(\$[\d.]+\)", "($N)", re.sub(r"[1-9]\d* (cached )?tokens", r"N \1tokens", text))


def test_the_first_steps_work(shell, request):
    text = accepted = PAGE.read_text()
    blocks = [match.groups() for match in FENCE.finditer(text)]
    output = "nothing"
    for language, title, content in blocks:
        if title:
            shell.write(Path(title.replace("~", str(shell.home), 1)), content)
        elif language == "sh":
            status, output, errors = shell(content)
            assert status == 0, f"{content}{output}{errors}"
            command, is_silent = content, errors == ""
        elif request.config.getoption("--accept"):
            accepted = accepted.replace(
                f"{command}```\n\n```text\n{content}```", f"{command}```\n\n```text\n{output}```", 1
            )
        else:
            assert language == "text" and without_counts(output) == without_counts(content)
            assert is_silent, f"{command}{errors}the page does not show what was printed"
    if request.config.getoption("--accept"):
        PAGE.write_text(accepted)
