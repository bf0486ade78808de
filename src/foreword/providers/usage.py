"""Read the usage that a provider reports with a response, as the provider's own object or as a mapping. Pure.

Anthropic          input_tokens, which excludes cached tokens, plus cache_read_input_tokens and cache_creation_input_tokens
OpenAI Responses   input_tokens, which includes cached_tokens and cache_write_tokens in input_tokens_details
OpenAI Chat        prompt_tokens, which includes cached_tokens and cache_write_tokens in prompt_tokens_details
Gemini             prompt_token_count, which includes cached_content_token_count, in snake case or camel case
LangChain          input_tokens, which includes cache_read and cache_creation in input_token_details, from any provider
LiteLLM            like OpenAI Chat, with cache_creation_tokens for Anthropic
pydantic-ai        input_tokens, which includes cache_read_tokens and cache_write_tokens, from any provider
"""

from __future__ import annotations

from ..errors import CallError, show
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_TOKENS = 10**9
_HOUR = 3600


@value
class ReportedTokens:
    """The tokens of one call. `input` counts all input tokens, cached or not.

    `written_long` counts those of the `written` tokens that are cached for longer than the default, and `lifetime` is for how many
    seconds (0 if there are none).
    """

    input: int
    read: int
    written: int
    output: int
    written_long: int = 0
    lifetime: int = 0


def reported_tokens(usage: Any) -> ReportedTokens:
    """Read a usage object from Anthropic, OpenAI, Gemini or a framework, including the last one of a stream.

    Raises a CallError for anything else.
    """
    if _field(usage, "prompt_token_count") is not None:
        return _gemini(usage)
    if _field(usage, "prompt_tokens") is not None:
        return _openai(usage, "prompt_tokens", "completion_tokens")
    if _field(usage, "input_tokens") is not None or _field(usage, "output_tokens") is not None:
        if _field(usage, "input_tokens_details") is not None:
            return _openai(usage, "input_tokens", "output_tokens")
        if (details := _field(usage, "input_token_details")) is not None:
            return _framework(usage, _count(details, "cache_read"), _count(details, "cache_creation"))
        if _field(usage, "cache_read_tokens") is not None:
            return _framework(usage, _count(usage, "cache_read_tokens"), _count(usage, "cache_write_tokens"))
        return _anthropic(usage)
    keys = f" with the keys {show(sorted(map(str, usage.keys())))}" if hasattr(usage, "keys") else ""
    raise CallError(
        "usage must be what the provider returned as usage (usage_metadata for Gemini), with input_tokens, prompt_tokens or"
        f" prompt_token_count; {type(usage).__name__}{keys} has none of them"
    )


def _anthropic(usage: object) -> ReportedTokens:
    read, written = _count(usage, "cache_read_input_tokens"), _count(usage, "cache_creation_input_tokens")
    hour = _count(_field(usage, "cache_creation"), "ephemeral_1h_input_tokens")
    tokens = _count(usage, "input_tokens") + read + written
    return ReportedTokens(tokens, read, written, _count(usage, "output_tokens"), min(hour, written), _HOUR * bool(hour))


def _openai(usage: object, input_name: str, output_name: str) -> ReportedTokens:
    details = _field(usage, f"{input_name}_details")
    read = _count(details, "cached_tokens")
    written = _count(details, "cache_write_tokens") or _count(details, "cache_creation_tokens")
    half_day = _count(_field(details, "cache_write_tokens_details"), "ttl_12h_tokens")
    tokens = max(_count(usage, input_name), read + written)
    lifetime = 12 * _HOUR * bool(half_day)
    return ReportedTokens(tokens, read, written, _count(usage, output_name), min(half_day, written), lifetime)


def _framework(usage: object, read: int, written: int) -> ReportedTokens:
    """Read a usage object whose input tokens include those that were read from the cache or written to it."""
    tokens = max(_count(usage, "input_tokens"), read + written)
    long = min(_count(usage, "cache_write_1h_tokens"), written)
    return ReportedTokens(tokens, read, written, _count(usage, "output_tokens"), long, _HOUR * bool(long))


def _gemini(usage: object) -> ReportedTokens:
    tokens = _count(usage, "prompt_token_count") + _count(usage, "tool_use_prompt_token_count")
    read = min(_count(usage, "cached_content_token_count"), tokens)
    output = _count(usage, "candidates_token_count") + _count(usage, "thoughts_token_count")
    return ReportedTokens(tokens, read, 0, output)


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
    count = _field(usage, name)
    if count is None:
        return 0
    if type(count) is float and count.is_integer():  # JSON does not distinguish 7.0 from 7
        count = int(count)
    if type(count) is not int or not 0 <= count <= _MAX_TOKENS:
        raise CallError(f"{name} in usage must be a whole number from 0 to {_MAX_TOKENS:,}, not {show(count)}")
    return int(count)
