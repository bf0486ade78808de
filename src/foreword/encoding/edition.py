"""Parse the JSON in editions, each distinct string only once.

Many conversations share one prompt, and therefore its account, tools and inputs. They share the parsed values too, so callers must
not change what these functions return.
"""

from __future__ import annotations

import json
import marshal
from _thread import allocate_lock

from ..vocabulary import value
from ..vocabulary.hashes import StringHashes
from .inputs import inputs_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence
    from typing import Any

    from ..vocabulary import Edition, Inputs

_MAX_CHARACTERS = 16 * 2**20


class ParseCache(dict[str, "Any"]):
    """What `parse` returns for each text. When the texts' total size exceeds a limit, the oldest are dropped."""

    def __init__(self, parse: Callable[[str], Any], max_characters: int = _MAX_CHARACTERS) -> None:
        self._parse, self._max = parse, max_characters
        self._lock = allocate_lock()
        self._hashes = StringHashes()
        self._size = 0

    def __missing__(self, text: str) -> Any:
        parsed = self._parse(text)
        with self._lock:
            if text in self:
                return self[text]
            self[text] = parsed
            self._size += len(text)
            while self._size > self._max and len(self) > 1:
                oldest = next(iter(self))
                del self[oldest]
                self._hashes.discard(oldest)
                self._size -= len(oldest)
        return parsed

    def forget(self, hashes: Container[bytes]) -> None:
        """Drop the texts with these hashes."""
        found = self._hashes.find(list(self), hashes)
        with self._lock:
            for text in found:
                if text in self:
                    del self[text]
                    self._size -= len(text)


@value
class EditionTarget:
    """The agent, workspace and version of the global template that an edition was created for.

    `agent` is an `agent_form`. `tool_order` lists the tools if the agent's order is not alphabetical. `template` is 0 for the
    layout's own template, and None if the layout does not use a stored one. `template_name` and `template_label` are empty for the
    default template and for the label `production`.
    """

    cwd: str = ""
    model: str = ""
    provider: str = ""
    template: int | None = None
    agent: Mapping[str, Any] = {}
    tool_order: Sequence[str] = ()
    template_name: str = ""
    template_label: str = ""


_TARGET_FIELDS = tuple(EditionTarget.__annotations__)


def _parse_target(text: str) -> EditionTarget:
    stored = json.loads(text)
    return EditionTarget(**{name: stored[name] for name in _TARGET_FIELDS if name in stored})


_forms = ParseCache(json.loads)
_tools = ParseCache(lambda text: tuple(json.loads(text)))
_dumps = ParseCache(lambda text: marshal.dumps(json.loads(text)))
_targets = ParseCache(_parse_target)
_inputs = ParseCache(lambda text: inputs_from(json.loads(text)))


def forget_texts(hashes: Container[bytes]) -> None:
    """Drop what was parsed from the texts with these hashes, because the store does not contain them any more."""
    for cache in (_forms, _tools, _dumps, _targets, _inputs):
        cache.forget(hashes)


def tools_of(edition: Edition) -> Sequence[Mapping[str, Any]]:
    """Return an edition's tool definitions."""
    tools: Sequence[Mapping[str, Any]] = _tools[edition.tools]
    return tools


def parse_tools(text: str) -> Sequence[Mapping[str, Any]]:
    """Parse tool definitions from their stored form."""
    tools: Sequence[Mapping[str, Any]] = _tools[text]
    return tools


def copy_tools(edition: Edition) -> list[dict[str, Any]]:
    """Return a copy of an edition's tool definitions, which the caller may change."""
    # Loading a dump is twice as fast as parsing JSON.
    tools: list[dict[str, Any]] = marshal.loads(_dumps[edition.tools])
    return tools


def account_of(edition: Edition) -> Mapping[str, Any]:
    """Return the passages, candidates and findings of an edition's prompt."""
    account: Mapping[str, Any] = _forms[edition.account]
    return account


def target_of(edition: Edition) -> EditionTarget:
    """Return the agent, workspace and template that an edition was created for."""
    target: EditionTarget = _targets[edition.built_for]
    return target


def target_form(target: EditionTarget) -> dict[str, Any]:
    """Return the stored form of an edition's target."""
    optional: dict[str, Any] = {"agent": target.agent, "tool_order": list(target.tool_order)}
    optional |= {"template_name": target.template_name, "template_label": target.template_label}
    return {
        "cwd": target.cwd,
        "model": target.model,
        "provider": target.provider,
        **({"template": target.template} if target.template is not None else {}),
        **{name: content for name, content in optional.items() if content},
    }


def inputs_of(edition: Edition) -> Inputs:
    """Return the inputs that an edition was built from."""
    inputs: Inputs = _inputs[edition.inputs]
    return inputs


def agent_row(edition: Edition) -> dict[str, Any]:
    """Return an edition's agent as one mapping: cwd, model, provider, the fields from `agent_form`, and the tools by name."""
    target = target_of(edition)
    fields = {"cwd": target.cwd, "model": target.model, "provider": target.provider}
    return {**fields, **target.agent, "tools": described_tools(edition)}


def described_tools(edition: Edition) -> dict[str, dict[str, Any]]:
    """Return an edition's tools by name, in the agent's order: definitions, snippets and guidelines."""
    return {row["name"]: {key: row[key] for key in row if key != "name"} for row in tool_rows(edition)}


def tool_rows(edition: Edition) -> list[dict[str, Any]]:
    """Return an edition's tools in the agent's order, with the snippets and guidelines that only the prompt contains."""
    target = target_of(edition)
    notes = target.agent.get("tools", {})
    tools = {tool["name"]: tool for tool in tools_of(edition)}
    names = dict.fromkeys((*target.tool_order, *tools))
    return [{**tools[name], **notes.get(name, {})} for name in names if name in tools]
