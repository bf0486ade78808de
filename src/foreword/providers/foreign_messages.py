"""Messages in the form of another provider, whose calls and results would be lost."""

from __future__ import annotations

import json

from ..errors import CallError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class ForeignMessageError(CallError):
    """A message has content in a field that the provider does not have."""


def check_message_form(function: str, message: Mapping[str, Any], foreign: Sequence[str], right: str) -> None:
    """Raise a ForeignMessageError if a message has one of these fields. `right` says how to write it instead."""
    field = next((name for name in foreign if message.get(name)), "")
    if field:
        raise ForeignMessageError(
            f"{function}: a message has {field!r}, which this provider does not have, so it would be lost; {right}"
        )


def as_text(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message with everything that is in it as text, to predict its size. One with text only is not changed."""
    if isinstance(message.get("content"), str) and set(message) <= {"role", "content"}:
        return message
    role = "assistant" if message.get("role") in ("assistant", "model") else "user"
    return {"role": role, "content": json.dumps(message, ensure_ascii=False, default=str)}
