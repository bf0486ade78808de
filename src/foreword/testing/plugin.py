"""The pytest plugin that adds `--accept`, which is installed with Foreword."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def pytest_addoption(parser: Any) -> None:
    """Add the option, unless another plugin has one with this name, whose value is then used."""
    try:
        parser.addoption(
            "--accept", action="store_true", help="store the prompts that assert_prompt compares; read the diff"
        )
    except ValueError:
        pass


def pytest_configure(config: Any) -> None:
    """Tell `assert_prompt` whether to store prompts."""
    from .. import testing

    testing.is_accepting = bool(config.getoption("--accept", default=False))
