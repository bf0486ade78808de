"""The field with which a resident file asks to be listed, and mistakes in it, which would leave the file out without a word."""

from __future__ import annotations

from ..errors import show
from ..findings import finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..vocabulary import Finding

RESIDENT_KEYS = ("model_invokation", "model-invocation", "model_invocation")
_SWITCH_WORDS = frozenset({"true", "yes", "on", "false", "no", "off", "none", ""})


def unlisted_findings(fields: Mapping[str, Any], path: str) -> Iterator[Finding]:
    """Yield a finding for each field that seems to ask for the file to be listed, but has another value or a misspelt name."""
    for name, content in fields.items():
        if name in RESIDENT_KEYS and str(content).strip().lower() not in _SWITCH_WORDS:
            message = f"its {name} is neither true nor false but {show(content)}; the file is not listed"
            yield finding("resident-field", message, path, 1)
        elif name not in RESIDENT_KEYS and _is_misspelt(str(name)):
            message = f"its field {name!r} is unknown; did you mean {RESIDENT_KEYS[-1]!r}? The file is not listed"
            yield finding("resident-field", message, path, 1)


def _is_misspelt(name: str) -> bool:
    """Whether a name differs from the field's in few letters, case or separators. `disable-model-invocation` is another field."""
    from difflib import SequenceMatcher

    letters = "".join(filter(str.isalpha, name.lower()))
    return SequenceMatcher(None, letters, "modelinvocation").ratio() >= 0.85
