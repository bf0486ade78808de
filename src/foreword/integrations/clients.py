"""Anthropic and OpenAI SDK clients that add a conversation's prompt to their requests.

Both SDKs call a function with each request before it is sent: middleware in Anthropic's, and `_prepare_options` in OpenAI's. Copies of a
client (`with_options`) call it too.
"""

from __future__ import annotations

import asyncio
import copy
import inspect

from ..errors import CallError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Any

    from .prompting import Prompting

_BETA = "anthropic-beta"


def prompted_client(client: Any, prompting: Prompting) -> Any:
    """Return a copy of an Anthropic or OpenAI client that puts the prompt into every model request. Both share connections."""
    is_async = inspect.iscoroutinefunction(getattr(client, "post", None))
    if hasattr(client, "with_middleware"):
        return client.with_middleware(_async_middleware(prompting) if is_async else _middleware(prompting))
    if hasattr(client, "_prepare_options") and hasattr(client, "copy"):
        return _with_prepared_options(client, prompting, is_async)
    raise CallError(
        f"expected a client from the anthropic SDK (2.0 or later) or the openai SDK, not {type(client).__name__}"
    )


def _middleware(prompting: Prompting) -> Callable[[Any, Callable[[Any], Any]], Any]:
    def handle(request: Any, call_next: Callable[[Any], Any]) -> Any:
        return call_next(_prompted_request(request, prompting))

    return handle


def _async_middleware(prompting: Prompting) -> Callable[[Any, Callable[[Any], Awaitable[Any]]], Awaitable[Any]]:
    async def handle(request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        return await call_next(await asyncio.to_thread(_prompted_request, request, prompting))

    return handle


def _prompted_request(request: Any, prompting: Prompting) -> Any:
    body = prompting.prompted(request.url, request.json)
    if body is None:
        return request
    return request.copy(headers=merged_headers(request.headers, body.pop("extra_headers", {})), body=body)


def merged_headers(headers: Mapping[str, Any], added: Mapping[str, str]) -> dict[str, Any]:
    """Return the headers with others added. The beta header's values are joined; any other header is replaced."""
    merged = dict(headers)
    for name, content in added.items():
        key = next((existing for existing in merged if existing.lower() == name), name)
        values = [*str(merged.get(key) or "").split(","), *content.split(",")] if name == _BETA else [content]
        merged[key] = ",".join(dict.fromkeys(entry.strip() for entry in values if entry.strip()))
    return merged


def _with_prepared_options(client: Any, prompting: Prompting, is_async: bool) -> Any:
    kind = type(client)

    def prompted(options: Any) -> Any:
        body = prompting.prompted(options.url, options.json_data)
        if body is not None:
            options = copy.copy(options)
            options.json_data = body
        return options

    def prepare(self: Any, options: Any) -> Any:
        return kind._prepare_options(self, prompted(options))

    async def prepare_async(self: Any, options: Any) -> Any:
        return await kind._prepare_options(self, await asyncio.to_thread(prompted, options))

    copied = client.copy()
    # A subclass, because the SDK copies a client by calling its class.
    copied.__class__ = type(kind.__name__, (kind,), {"_prepare_options": prepare_async if is_async else prepare})
    return copied
