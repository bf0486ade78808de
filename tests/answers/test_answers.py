"""What commands print in small workspaces: each file in `tests/golden/answers` is a transcript of commands and their output.

`pytest tests/answers --accept` rewrites the transcripts: read the diff before you commit it. To add a command, add a line that begins
with `$ ` to a transcript, and accept what it prints.
"""

import difflib
import re
import time
from pathlib import Path

import pytest
from tests.answers.shell import TOP, Shell, empty_folder
from tests.answers.workspaces import WORKSPACES
from tests.conftest import Tree

GOLDEN = Path(__file__).parents[1] / "golden" / "answers"
FILES = sorted(GOLDEN.rglob("*.txt"))


@pytest.fixture
def shell(request, monkeypatch):
    """A shell in the workspace of a transcript, which is named like its folder."""
    with empty_folder(), monkeypatch.context() as patch:
        Tree(TOP)(WORKSPACES[request.param.parent.name])
        yield Shell(patch)
    time.tzset()


@pytest.mark.xdist_group("answers")  # in one worker, because they use the same folder
@pytest.mark.parametrize(
    ("file", "shell"),
    [(file, file) for file in FILES],
    ids=[f"{file.parent.name}-{file.stem}" for file in FILES],
    indirect=["shell"],
)
def test_commands_print_what_they_printed(file, shell, request):
    time.tzset()
    recorded = file.read_text("utf-8")
    lines = re.findall(r"^[$#] .*\n", recorded, re.MULTILINE)
    printed = "".join(line + shell.run(line[2:].strip()) if line[0] == "$" else f"\n{line}" for line in lines).lstrip(
        "\n"
    )
    if request.config.getoption("--accept"):
        file.write_text(printed, "utf-8")
    elif printed != recorded:
        diff = difflib.unified_diff(
            recorded.splitlines(), printed.splitlines(), "recorded", "printed", n=2, lineterm=""
        )
        pytest.fail("\n".join(diff), pytrace=False)


def test_every_workspace_has_a_transcript():
    assert sorted({file.parent.name for file in FILES}) == sorted(WORKSPACES)
