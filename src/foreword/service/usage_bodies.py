"""The types of the usage that a provider reports with a response."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from .bodies import Label

# JSON does not distinguish 7.0 from 7. A field that a provider does not report is missing or null.
Reported = Annotated[float, Meta(ge=0, le=1e9, multiple_of=1)] | UnsetType | None


class CacheWriteDetails(Struct):
    """The tokens that OpenAI has written to its cache, by how long it keeps them."""

    ttl_12h_tokens: Reported = UNSET


class InputDetails(Struct):
    """The parts of the input tokens, as OpenAI reports them."""

    cached_tokens: Reported = UNSET
    cache_write_tokens: Reported = UNSET
    cache_creation_tokens: Reported = UNSET
    cache_write_tokens_details: CacheWriteDetails | UnsetType | None = UNSET


class CachedInput(Struct):
    """The input tokens that were read from a cache or written to it, as LangChain reports them."""

    cache_read: Reported = UNSET
    cache_creation: Reported = UNSET


class CacheCreation(Struct):
    """The tokens that Anthropic has written to its cache, by how long it keeps them."""

    ephemeral_1h_input_tokens: Reported = UNSET


# `reported_tokens` needs one of these fields to recognise the provider.
_REQUIRED_FIELDS = (
    "input_tokens",
    "output_tokens",
    "inputTokens",
    "prompt_tokens",
    "prompt_token_count",
    "promptTokenCount",
    "prompt_n",
    "prompt_eval_count",
)


class ProviderUsage(Struct):
    """Usage as Anthropic, OpenAI, Gemini, Bedrock, DeepSeek, llama.cpp, Ollama or a framework reports it. Other fields are ignored."""

    schema_rules: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"type": "object", "required": [name], "properties": {name: {"type": "number"}}}
            for name in _REQUIRED_FIELDS
        ]
    }
    input_tokens: Reported = UNSET
    output_tokens: Reported = UNSET
    cache_read_input_tokens: Reported = UNSET
    cache_creation_input_tokens: Reported = UNSET
    cache_creation: CacheCreation | UnsetType | None = UNSET
    cache_read_tokens: Reported = UNSET
    cache_write_tokens: Reported = UNSET
    cache_write_1h_tokens: Reported = UNSET
    input_token_details: CachedInput | UnsetType | None = UNSET
    input_tokens_details: InputDetails | UnsetType | None = UNSET
    prompt_tokens: Reported = UNSET
    completion_tokens: Reported = UNSET
    prompt_tokens_details: InputDetails | UnsetType | None = UNSET
    prompt_cache_hit_tokens: Reported = UNSET
    inputTokens: Reported = UNSET
    outputTokens: Reported = UNSET
    cacheReadInputTokens: Reported = UNSET
    cacheWriteInputTokens: Reported = UNSET
    prompt_n: Reported = UNSET
    cache_n: Reported = UNSET
    predicted_n: Reported = UNSET
    prompt_eval_count: Reported = UNSET
    eval_count: Reported = UNSET
    promptTokenCount: Reported = UNSET
    cachedContentTokenCount: Reported = UNSET
    candidatesTokenCount: Reported = UNSET
    thoughtsTokenCount: Reported = UNSET
    toolUsePromptTokenCount: Reported = UNSET
    prompt_token_count: Reported = UNSET
    cached_content_token_count: Reported = UNSET
    candidates_token_count: Reported = UNSET
    thoughts_token_count: Reported = UNSET
    tool_use_prompt_token_count: Reported = UNSET


class UsageBody(Struct, forbid_unknown_fields=True):
    """The usage that a provider returned with a response, unchanged. `model` is only needed if it differs from the conversation's."""

    usage: ProviderUsage
    model: Label = ""
