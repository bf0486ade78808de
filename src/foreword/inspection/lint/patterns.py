"""Regular expressions that are compiled when they are first used.

Compiling all of them would take longer than checking a few files, and most files need only some.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub")


class _LazyPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:  # so that later calls do not come here
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression that is compiled when one of its methods is first used."""
    return _LazyPattern(source, flags)  # type: ignore[return-value]
