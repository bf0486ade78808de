"""A turn as an HTTP request: the body of a provider's API and the headers that it needs, for clients that do not use a Python SDK. Pure.

The functions for Python return arguments of an SDK, and some of these are not fields of the body. Anthropic's `extra_headers` are
headers. Gemini's `config` is spread over the body, whose keys are written in camel case. The arguments for OpenAI are its body already.
"""

from __future__ import annotations

import re

from . import request_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..vocabulary import Turn

_FUNCTIONS = "functionDeclarations"


def http_request(api: str, turn: Turn) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the body of a request to one of a provider's APIs, such as `openai-chat`, and the headers that it needs."""
    body = request_to(api, turn)
    headers: dict[str, str] = body.pop("extra_headers", {})
    return (_gemini_body(**body) if api == "gemini" else body), headers


def _gemini_body(config: Mapping[str, Any], contents: list[Any]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if "system_instruction" in config:
        body["systemInstruction"] = {"parts": [{"text": config["system_instruction"]}]}
    if "tools" in config:
        body["tools"] = [_gemini_tool(tool) for tool in config["tools"]]
    return {**body, "contents": contents}


def _gemini_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the keys of a tool, and of the functions that it declares. A JSON Schema and a tool's options are not changed."""
    converted = _with_camel_case(tool)
    if _FUNCTIONS in converted:
        converted[_FUNCTIONS] = [_with_camel_case(function) for function in converted[_FUNCTIONS]]
    return converted


def _with_camel_case(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub("_([a-z])", lambda match: match[1].upper(), key): content for key, content in fields.items()}
