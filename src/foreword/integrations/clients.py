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

    from .rewriting import RequestRewriter

_BETA = "anthropic-beta"


def rewriting_client(client: Any, rewriter: RequestRewriter) -> Any:
    """Return a copy of an Anthropic or OpenAI client that puts the prompt into every model request. Both share connections."""
    is_async = inspect.iscoroutinefunction(getattr(client, "post", None))
    if hasattr(client, "with_middleware"):
        return client.with_middleware(_async_middleware(rewriter) if is_async else _middleware(rewriter))
    if hasattr(client, "_prepare_options") and hasattr(client, "copy"):
        return _with_prepared_options(client, rewriter, is_async)
    raise CallError(
        f"expected a client from the anthropic SDK (2.0 or later) or the openai SDK, not {type(client).__name__}"
    )


def _middleware(rewriter: RequestRewriter) -> Callable[[Any, Callable[[Any], Any]], Any]:
    def handle(request: Any, call_next: Callable[[Any], Any]) -> Any:
        return call_next(_rewritten(request, rewriter))

    return handle


def _async_middleware(rewriter: RequestRewriter) -> Callable[[Any, Callable[[Any], Awaitable[Any]]], Awaitable[Any]]:
    async def handle(request: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        return await call_next(await asyncio.to_thread(_rewritten, request, rewriter))

    return handle


def _rewritten(request: Any, rewriter: RequestRewriter) -> Any:
    body = rewriter.rewrite(request.url, request.json)
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


def _with_prepared_options(client: Any, rewriter: RequestRewriter, is_async: bool) -> Any:
    kind = type(client)

    def rewritten(options: Any) -> Any:
        body = rewriter.rewrite(options.url, options.json_data)
        if body is not None:
            options = copy.copy(options)
            options.json_data = body
        return options

    def prepare(self: Any, options: Any) -> Any:
        return kind._prepare_options(self, rewritten(options))

    async def prepare_async(self: Any, options: Any) -> Any:
        return await kind._prepare_options(self, await asyncio.to_thread(rewritten, options))

    copied = client.copy()
    # A subclass, because the SDK copies a client by calling its class.
    copied.__class__ = type(kind.__name__, (kind,), {"_prepare_options": prepare_async if is_async else prepare})
    return copied
