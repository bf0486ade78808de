"""Read the usage that a provider reports with a response, as the provider's own object or as a mapping. Pure.

Anthropic          input_tokens, which excludes cached tokens, plus cache_read_input_tokens and cache_creation_input_tokens
OpenAI Responses   input_tokens, which includes cached_tokens and cache_write_tokens in input_tokens_details
OpenAI Chat        prompt_tokens, which includes cached_tokens and cache_write_tokens in prompt_tokens_details; likewise Azure, OpenRouter,
                   vLLM and llama.cpp
DeepSeek           prompt_tokens, which includes prompt_cache_hit_tokens
Gemini, Vertex     prompt_token_count, which includes cached_content_token_count, in snake case or camel case
Bedrock Converse   inputTokens, which excludes cached tokens, plus cacheReadInputTokens and cacheWriteInputTokens
llama.cpp          `timings`: prompt_n, which excludes the reused tokens, plus cache_n
Ollama             prompt_eval_count, which does not say how much was cached
LangChain          input_tokens, which includes cache_read and cache_creation in input_token_details, from any provider
LiteLLM            like OpenAI Chat, with cache_creation_tokens for Anthropic
pydantic-ai        input_tokens, which includes cache_read_tokens and cache_write_tokens, from any provider

If none of the fields for cached tokens is there, or all are null, how much was cached is unknown. That is not the same as zero.
"""

from __future__ import annotations

from ..errors import CallError, show
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MAX_TOKENS = 10**9
_HOUR = 3600


@value
class ReportedTokens:
    """The tokens of one call. `input` counts all input tokens, cached or not. `read` and `written` are None if they are unknown.

    `written_long` counts those of the `written` tokens that are cached for longer than the default, and `lifetime` is for how many
    seconds (0 if there are none).
    """

    input: int
    read: int | None
    written: int | None
    output: int
    written_long: int = 0
    lifetime: int = 0


def reported_tokens(usage: Any) -> ReportedTokens:
    """Read a usage object from a provider or a framework, including the last one of a stream.

    Raises a CallError for anything else.
    """
    for name, read in _READERS:
        if _field(usage, name) is not None:
            return read(usage)
    known = sorted(map(str, usage.keys())) if hasattr(usage, "keys") else []
    keys = f" with the keys {show(known)}" if known else ""
    raise CallError(
        "usage must be what the provider returned as usage (usage_metadata for Gemini), with input_tokens, prompt_tokens or"
        f" prompt_token_count; {type(usage).__name__}{keys} has none of them"
    )


def _input_tokens(usage: object) -> ReportedTokens:
    """Read a usage object with `input_tokens`, which several providers and frameworks use in different ways."""
    if _field(usage, "input_tokens_details") is not None:
        return _openai(usage, "input_tokens", "output_tokens")
    if (details := _field(usage, "input_token_details")) is not None:
        return _framework(usage, _optional(details, "cache_read"), _optional(details, "cache_creation"))
    if _field(usage, "cache_read_tokens") is not None:
        return _framework(usage, _optional(usage, "cache_read_tokens"), _optional(usage, "cache_write_tokens"))
    return _anthropic(usage)


def _anthropic(usage: object) -> ReportedTokens:
    read, written = _optional(usage, "cache_read_input_tokens"), _optional(usage, "cache_creation_input_tokens")
    if written is None:
        written = _optional(usage, "cache_write_input_tokens")
    hour = _count(_field(usage, "cache_creation"), "ephemeral_1h_input_tokens")
    tokens = _count(usage, "input_tokens") + (read or 0) + (written or 0)
    return _reported(tokens, read, written, _count(usage, "output_tokens"), hour, _HOUR)


def _openai(usage: object, input_name: str, output_name: str) -> ReportedTokens:
    details = _field(usage, f"{input_name}_details")
    read = _optional(details, "cached_tokens")
    if read is None:
        read = _optional(usage, "prompt_cache_hit_tokens")
    written = _optional(details, "cache_write_tokens")
    if not written:
        written = _optional(details, "cache_creation_tokens")
    half_day = _count(_field(details, "cache_write_tokens_details"), "ttl_12h_tokens")
    return _reported(_count(usage, input_name), read, written, _count(usage, output_name), half_day, 12 * _HOUR)


def _chat(usage: object) -> ReportedTokens:
    return _openai(usage, "prompt_tokens", "completion_tokens")


def _framework(usage: object, read: int | None, written: int | None) -> ReportedTokens:
    """Read a usage object whose input tokens include those that were read from the cache or written to it."""
    hour = _count(usage, "cache_write_1h_tokens")
    return _reported(_count(usage, "input_tokens"), read, written, _count(usage, "output_tokens"), hour, _HOUR)


def _gemini(usage: object) -> ReportedTokens:
    tokens = _count(usage, "prompt_token_count") + _count(usage, "tool_use_prompt_token_count")
    read = _optional(usage, "cached_content_token_count")
    output = _count(usage, "candidates_token_count") + _count(usage, "thoughts_token_count")
    return _reported(tokens, None if read is None else min(read, tokens), None, output)


def _llama_timings(usage: object) -> ReportedTokens:
    read = _optional(usage, "cache_n")
    return _reported(_count(usage, "prompt_n") + (read or 0), read, None, _count(usage, "predicted_n"))


def _ollama(usage: object) -> ReportedTokens:
    return _reported(_count(usage, "prompt_eval_count"), None, None, _count(usage, "eval_count"))


def _reported(
    tokens: int, read: int | None, written: int | None, output: int, written_long: int = 0, lifetime: int = 0
) -> ReportedTokens:
    """Return the tokens of a call. If the provider reported only one of `read` and `written`, the other is 0."""
    if read is None and written is None:
        return ReportedTokens(tokens, None, None, output)
    read, written = read or 0, written or 0
    return ReportedTokens(
        max(tokens, read + written), read, written, output, min(written_long, written), lifetime * bool(written_long)
    )


# The field by which each kind of usage is recognised.
_READERS: tuple[tuple[str, Callable[[Any], ReportedTokens]], ...] = (
    ("prompt_token_count", _gemini),
    ("prompt_tokens", _chat),
    ("input_tokens", _input_tokens),
    ("output_tokens", _input_tokens),
    ("prompt_n", _llama_timings),
    ("prompt_eval_count", _ollama),
)


def _field(usage: Any, name: str) -> Any:
    """Return a field of an object or a mapping, whose keys may also be in camel case, or None if it does not exist or is null."""
    if usage is None:
        return None
    if isinstance(usage, str | int | float | list | type):
        raise CallError(f"usage must be an object or a mapping, and so must its details; {show(usage)} is neither")
    if not hasattr(usage, "keys"):
        return getattr(usage, name, None)
    first, *others = name.split("_")
    names, keys = (name, first + "".join(word.capitalize() for word in others)), usage.keys()
    return next((usage[key] for key in names if key in keys and usage[key] is not None), None)


def _count(usage: object, name: str) -> int:
    return _optional(usage, name) or 0


def _optional(usage: object, name: str) -> int | None:
    """Return a count, or None if it is missing or null."""
    count = _field(usage, name)
    if count is None:
        return None
    if type(count) is float and count.is_integer():  # JSON does not distinguish 7.0 from 7
        count = int(count)
    if type(count) is not int or not 0 <= count <= _MAX_TOKENS:
        raise CallError(f"{name} in usage must be a whole number from 0 to {_MAX_TOKENS:,}, not {show(count)}")
    return int(count)
