"""LiteLLM: `completion` and `acompletion` with a conversation's prompt in every request.

    completions = ForewordCompletions(conversation)
    answer = completions.completion(model="anthropic/claude-sonnet-5-5", messages=messages, tools=tools)

It works with Anthropic's models, and with all models that LiteLLM calls through the OpenAI SDK.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import litellm
import openai
from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler, HTTPHandler

from ..errors import CallError
from .clients import merged_headers, rewriting_client
from .forms import RequestOptions
from .rewriting import RequestRewriter

if TYPE_CHECKING:
    from typing import Unpack

    from ..conversation.conversation import Conversation
    from .forms import RequestKeywords


class ForewordCompletions:
    """Requests completions with a conversation's prompt. The messages need not contain a system prompt; if they do, it follows Foreword's.

    The other arguments are the fields of `RequestOptions`: with a `task`, or the name of a `definition`, the requests are made for a
    sub-agent of the conversation.
    """

    def __init__(self, conversation: Conversation, **options: Unpack[RequestKeywords]) -> None:
        self._rewriter = RequestRewriter(conversation, RequestOptions(**options))
        self._clients: dict[tuple[Any, ...], Any] = {}

    def completion(self, model: str, messages: list[Any], **options: Any) -> Any:
        """Call `litellm.completion` with the prompt."""
        client = self._client(model, options, HTTPHandler, openai.OpenAI)
        return litellm.completion(model=model, messages=messages, client=client, **options)

    async def acompletion(self, model: str, messages: list[Any], **options: Any) -> Any:
        """Call `litellm.acompletion` with the prompt."""
        client = self._client(model, options, AsyncHTTPHandler, openai.AsyncOpenAI)
        return await litellm.acompletion(model=model, messages=messages, client=client, **options)

    def _client(self, model: str, options: dict[str, Any], handler: type, sdk: type) -> Any:
        """Return the client for a model's provider. Clients are reused, because they keep connections open."""
        if options.get("client") is not None:
            raise CallError("do not pass a client: Foreword passes its own to LiteLLM")
        _, provider, key, base = litellm.get_llm_provider(
            model, api_base=options.get("api_base"), api_key=options.get("api_key")
        )
        uses_openai_sdk = provider == "openai" or provider in litellm.openai_compatible_providers
        if provider != "anthropic" and not uses_openai_sdk:
            raise CallError(
                f"the model {model!r} is served by {provider!r}, whose requests Foreword cannot change; use a model from Anthropic,"
                " OpenAI or a server with OpenAI's API"
            )
        client_key = (sdk if uses_openai_sdk else handler, provider, key, base)
        if client_key not in self._clients:
            if uses_openai_sdk:
                self._clients[client_key] = rewriting_client(sdk(api_key=key, base_url=base), self._rewriter)
            else:
                kind = _RewritingHandler if handler is HTTPHandler else _AsyncRewritingHandler
                self._clients[client_key] = kind(self._rewriter)
        return self._clients[client_key]


class _RewritingHandler(HTTPHandler):
    """LiteLLM's own client, which adds the prompt to requests."""

    def __init__(self, rewriter: RequestRewriter) -> None:
        super().__init__()
        self._rewriter = rewriter

    def post(self, url: str, **options: Any) -> Any:
        return super().post(url, **_rewrite(self._rewriter, url, options))


class _AsyncRewritingHandler(AsyncHTTPHandler):
    """LiteLLM's own asynchronous client, which adds the prompt to requests."""

    def __init__(self, rewriter: RequestRewriter) -> None:
        super().__init__()
        self._rewriter = rewriter

    async def post(self, url: str, **options: Any) -> Any:
        return await super().post(url, **await asyncio.to_thread(_rewrite, self._rewriter, url, options))


def _rewrite(rewriter: RequestRewriter, url: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return a POST's options with the prompt added to its body, which may or may not be encoded as JSON already."""
    key = "json" if options.get("json") is not None else "data"
    body = options[key]
    is_text = isinstance(body, str | bytes)
    rewritten = rewriter.rewrite(url, json.loads(body) if is_text else body)
    if rewritten is None:
        raise CallError(
            f"LiteLLM sends this request to {url!r}, which Foreword does not recognize as a model's endpoint"
        )
    headers = merged_headers(options.get("headers") or {}, rewritten.pop("extra_headers", {}))
    return {**options, "headers": headers, key: json.dumps(rewritten) if is_text else rewritten}
