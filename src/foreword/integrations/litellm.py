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
from .clients import merged_headers, prompted_client
from .prompting import Prompting

if TYPE_CHECKING:
    from ..conversation.conversation import Conversation


class ForewordCompletions:
    """Requests completions with a conversation's prompt. The messages need not contain a system prompt; if they do, it follows Foreword's.

    With a `task`, or the name of a `definition`, the requests are made for a sub-agent of the conversation.
    """

    def __init__(
        self,
        conversation: Conversation,
        *,
        task: str = "",
        definition: str = "",
        ttl: str | None = None,
        betas: bool = True,
    ) -> None:
        self._prompting = Prompting(conversation, task=task, definition=definition, ttl=ttl, betas=betas)
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
                self._clients[client_key] = prompted_client(sdk(api_key=key, base_url=base), self._prompting)
            else:
                kind = _PromptedHandler if handler is HTTPHandler else _AsyncPromptedHandler
                self._clients[client_key] = kind(self._prompting)
        return self._clients[client_key]


class _PromptedHandler(HTTPHandler):
    """LiteLLM's own client, which adds the prompt to requests."""

    def __init__(self, prompting: Prompting) -> None:
        super().__init__()
        self._prompting = prompting

    def post(self, url: str, **options: Any) -> Any:
        return super().post(url, **_prompted(self._prompting, url, options))


class _AsyncPromptedHandler(AsyncHTTPHandler):
    """LiteLLM's own asynchronous client, which adds the prompt to requests."""

    def __init__(self, prompting: Prompting) -> None:
        super().__init__()
        self._prompting = prompting

    async def post(self, url: str, **options: Any) -> Any:
        return await super().post(url, **await asyncio.to_thread(_prompted, self._prompting, url, options))


def _prompted(prompting: Prompting, url: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return a POST's options with the prompt added to its body, which may or may not be encoded as JSON already."""
    key = "json" if options.get("json") is not None else "data"
    body = options[key]
    is_text = isinstance(body, str | bytes)
    prompted = prompting.prompted(url, json.loads(body) if is_text else body)
    if prompted is None:
        raise CallError(
            f"LiteLLM sends this request to {url!r}, which Foreword does not recognize as a model's endpoint"
        )
    headers = merged_headers(options.get("headers") or {}, prompted.pop("extra_headers", {}))
    return {**options, "headers": headers, key: json.dumps(prompted) if is_text else prompted}
