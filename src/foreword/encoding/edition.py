"""Parse the JSON texts of editions, each distinct text once.

Many conversations share one prompt, and with it the account, the tools and the inputs. They share the parsed values as well, so
callers must not change what these functions return.
"""

from __future__ import annotations

import json
from _thread import allocate_lock

from .inputs import inputs_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Edition, Inputs

_MAX_CHARACTERS = 16 * 2**20


class ParseCache:
    """Calls `parse` once for each text, until the texts together exceed a limit; then the oldest are dropped."""

    def __init__(self, parse: Callable[[str], Any], max_characters: int = _MAX_CHARACTERS) -> None:
        self._parse, self._max = parse, max_characters
        self._lock = allocate_lock()
        self._values: dict[str, Any] = {}
        self._size = 0

    def get(self, text: str) -> Any:
        try:
            return self._values[text]
        except KeyError:
            return self._add(text, self._parse(text))

    def _add(self, text: str, value: Any) -> Any:
        with self._lock:
            if text in self._values:
                return self._values[text]
            self._values[text] = value
            self._size += len(text)
            while self._size > self._max and len(self._values) > 1:
                oldest = next(iter(self._values))
                del self._values[oldest]
                self._size -= len(oldest)
        return value


_forms = ParseCache(json.loads)
_inputs = ParseCache(lambda text: inputs_from(json.loads(text)))


def state_of(edition: Edition) -> Mapping[str, Any]:
    """What the conversation remembers between turns."""
    state: Mapping[str, Any] = _forms.get(edition.state)
    return state


def tools_of(edition: Edition) -> Sequence[Mapping[str, Any]]:
    """The tool definitions."""
    return parse_tools(edition.tools)


def parse_tools(text: str) -> Sequence[Mapping[str, Any]]:
    """Tool definitions in the form in which an edition has them."""
    tools: Sequence[Mapping[str, Any]] = _forms.get(text)
    return tools


def account_of(edition: Edition) -> Mapping[str, Any]:
    """The passages, candidates and findings of the prompt."""
    account: Mapping[str, Any] = _forms.get(edition.account)
    return account


def circumstances_of(edition: Edition) -> Mapping[str, Any]:
    """The workspace, model, provider, template and agent that the edition was made for."""
    made_for: Mapping[str, Any] = _forms.get(edition.made_for)
    return made_for


def inputs_of(edition: Edition) -> Inputs:
    """What was found in the workspace."""
    inputs: Inputs = _inputs.get(edition.inputs)
    return inputs
