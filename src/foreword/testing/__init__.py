"""Test your own agent's prompt in pytest: compare it with a file that you keep in git.

    def test_the_prompt():
        prompt = foreword.assemble(foreword.Workspace("."), my_agent)
        assert_prompt(prompt, "tests/prompt.md")

`pytest --accept` writes the file. Read its diff before you commit it.
"""

from __future__ import annotations

import os

from ..errors import CallError, expect, expect_mapping
from ..text.lines import escape_controls
from ..vocabulary import Prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["assert_prompt"]
_MAX_DIFF_LINES = 200
# The pytest plugin sets this to True for --accept.
is_accepting = False


def assert_prompt(
    prompt: Prompt | str,
    path: str | os.PathLike[str],
    *,
    replace: Mapping[str, str] | None = None,
    accept: bool | None = None,
) -> None:
    """Raise an AssertionError, with a readable diff, unless a prompt is the same as the one stored in a file.

    `replace` maps text that differs between machines, such as a temporary folder, to what is stored instead. With `pytest --accept`,
    or if `accept` is true, the prompt is stored, and nothing is raised.
    """
    expect("the prompt", prompt, Prompt, str)
    expect_mapping("replace", replace)
    text = prompt if isinstance(prompt, str) else prompt.text
    for old, new in (replace or {}).items():
        if not old:
            raise CallError("replace cannot contain an empty string")
        text = text.replace(old, new)
    text = text.removesuffix("\n") + "\n"
    stored = _read(path)
    if stored == text:
        return
    if is_accepting if accept is None else accept:
        _write(path, text)
        return
    name = os.fspath(path)
    if stored is None:
        raise AssertionError(f"there is no stored prompt {name}; run pytest --accept to store it, and read it")
    raise AssertionError(
        f"the prompt differs from {name}; if that is intended, run pytest --accept and read the diff\n"
        + _describe_difference(stored, text)
    )


def _read(path: str | os.PathLike[str]) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read().replace("\r\n", "\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise CallError(f"the stored prompt {os.fspath(path)} cannot be read: {error}") from None


def _write(path: str | os.PathLike[str], text: str) -> None:
    os.makedirs(os.path.dirname(os.fspath(path)) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _describe_difference(stored: str, text: str) -> str:
    """Return the lines that differ, with a few lines around them. Invisible characters are escaped."""
    from difflib import unified_diff

    before, after = (
        [escape_controls(line, keep="\t") for line in side.removesuffix("\n").split("\n")] for side in (stored, text)
    )
    lines = list(unified_diff(before, after, "stored", "now", n=2, lineterm=""))
    more = len(lines) - _MAX_DIFF_LINES
    return "\n".join(lines[:_MAX_DIFF_LINES]) + (f"\n… {more:,} more lines" if more > 0 else "")
