"""What tools that are added late cost, and what they leave of the provider's cache, before a request is sent. Pure."""

from __future__ import annotations

from ..errors import PROVIDERS
from ..vocabulary.tools import LateToolEffect
from .capabilities import capabilities_of
from .late import has_tool_search
from .use_tool import is_usable, lists_use_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Requests that contain new tools in the list of tools, whatever the model accepts.
_EXCEPTIONS = {"anthropic": "a request with betas=False", "openai": "a request to Chat Completions"}


def late_tool_effect(
    provider: str, model: str, tools: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]]
) -> LateToolEffect:
    """Return the effect of the last of these changes, which adds tools. `tools` are all definitions."""
    names = set(changes[-1]["added"])
    new_tools = [tool for tool in tools if tool["name"] in names]
    if provider == "anthropic":
        is_searched = has_tool_search(tools) and not any(tool.get("type") for tool in new_tools)
        if is_searched or all(tool.get("defer") for tool in new_tools):
            return LateToolEffect(loses_cache=False, is_in_prompt=False)
    if lists_use_tool(tools, changes) and all(map(is_usable, new_tools)):
        return LateToolEffect(loses_cache=False)
    if provider in PROVIDERS and capabilities_of(provider, model).added_tools:
        return LateToolEffect(loses_cache=False, exception=_EXCEPTIONS[provider])
    return LateToolEffect()
