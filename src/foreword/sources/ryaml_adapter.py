"""The only file that relies on private parts of ryaml. pyproject.toml limits the version, and a test checks that they exist.

The package imports `typing`, which takes as long as everything else in a short command, so its extension module is loaded without
the package.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MODULE = "ryaml._ryaml"


def yaml_parser() -> Callable[[str], Any]:
    """Return the function that parses YAML text. It raises a ValueError for invalid text."""
    module = sys.modules.get(_MODULE)
    if module is None:
        from importlib.machinery import PathFinder

        package = PathFinder.find_spec("ryaml")
        spec = PathFinder.find_spec(_MODULE, package.submodule_search_locations) if package else None
        if spec is None or spec.loader is None:
            raise ImportError("the package ryaml is not installed")
        module = spec.loader.create_module(spec)
        assert module is not None
        spec.loader.exec_module(module)
        # The module can be loaded only once, so a program that imports the package later must find it.
        sys.modules[_MODULE] = module
    loads: Callable[[str], Any] = module.loads
    return loads
