"""The usage objects of all providers add up to the same numbers."""

import pytest
from anthropic.types import MessageDeltaUsage
from anthropic.types import Usage as AnthropicUsage
from google.genai.types import GenerateContentResponseUsageMetadata
from openai.types import CompletionUsage
from openai.types.responses import ResponseUsage
from pydantic_ai.usage import RequestUsage

from foreword import CallError
from foreword.providers.usage import ReportedTokens, reported_tokens

# 10,000 tokens in, of which 8,000 were read from the cache; 300 tokens out.
ANTHROPIC = {
    "input_tokens": 500,
    "cache_read_input_tokens": 8000,
    "cache_creation_input_tokens": 1500,
    "output_tokens": 300,
}
RESPONSES = {
    "input_tokens": 10_000,
    "input_tokens_details": {"cached_tokens": 8000, "cache_write_tokens": 1500},
    "output_tokens": 300,
    "output_tokens_details": {"reasoning_tokens": 200},
    "total_tokens": 10_300,
}
CHAT = {
    "prompt_tokens": 10_000,
    "prompt_tokens_details": {"cached_tokens": 8000},
    "completion_tokens": 300,
    "total_tokens": 10_300,
}
GEMINI = {
    "prompt_token_count": 10_000,
    "cached_content_token_count": 8000,
    "candidates_token_count": 100,
    "thoughts_token_count": 200,
}
CAMEL_CASE = {
    "promptTokenCount": 10_000,
    "cachedContentTokenCount": 8000,
    "candidatesTokenCount": 100,
    "thoughtsTokenCount": 200,
}

LANGCHAIN = {
    "input_tokens": 10_000,
    "output_tokens": 300,
    "total_tokens": 10_300,
    "input_token_details": {"cache_read": 8000, "cache_creation": 1500},
}
LITELLM = {**CHAT, "prompt_tokens_details": {"cached_tokens": 8000, "cache_creation_tokens": 1500}}


@pytest.mark.parametrize(
    ("usage", "written"),
    [
        (ANTHROPIC, 1500),
        (AnthropicUsage(**ANTHROPIC), 1500),
        (MessageDeltaUsage(**ANTHROPIC), 1500),  # the last event of a stream
        (RESPONSES, 1500),
        (ResponseUsage.model_validate(RESPONSES), 1500),
        (CHAT, 0),
        (CompletionUsage.model_validate(CHAT), 0),
        (GEMINI, 0),
        (CAMEL_CASE, 0),
        (GenerateContentResponseUsageMetadata(**GEMINI), 0),
        (LANGCHAIN, 1500),
        (LITELLM, 1500),
        (RequestUsage(input_tokens=10_000, cache_read_tokens=8000, cache_write_tokens=1500, output_tokens=300), 1500),
    ],
)
def test_usage_from_all_providers_adds_up(usage, written):
    assert reported_tokens(usage) == ReportedTokens(10_000, 8000, written, 300)


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 7.0, "output_tokens": 2},
        {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": None, "cache_creation_input_tokens": None},
        {"input_tokens": 7, "output_tokens": 2, "input_tokens_details": {}},
        {"input_tokens": 7, "output_tokens": 2, "input_token_details": {}},
        {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": None},
        {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": None}},
        CompletionUsage(prompt_tokens=7, completion_tokens=2, total_tokens=9),
        {"promptTokenCount": 7, "candidatesTokenCount": 2},
        {"inputTokens": 7, "outputTokens": 2, "totalTokens": 9},
        {"prompt_eval_count": 7, "eval_count": 2, "prompt_eval_duration": 1},
        {"prompt_n": 7, "predicted_n": 2, "prompt_ms": 1.5},
    ],
)
def test_usage_that_does_not_say_how_much_was_cached_is_unknown(usage):
    assert reported_tokens(usage) == ReportedTokens(7, None, None, 2)


@pytest.mark.parametrize(
    ("usage", "read", "written"),
    [
        ({"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 0}, 0, 0),
        ({"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}}, 0, 0),
        ({"prompt_tokens": 7, "completion_tokens": 2, "prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 3}, 4, 0),
        ({"inputTokens": 1, "outputTokens": 2, "cacheReadInputTokens": 4, "cacheWriteInputTokens": 2}, 4, 2),
        ({"prompt_n": 3, "cache_n": 4, "predicted_n": 2, "prompt_ms": 1.5}, 4, 0),
        ({"prompt_n": 7, "cache_n": 0, "predicted_n": 2}, 0, 0),
    ],
)  # fmt: skip
def test_other_servers_report_in_their_own_names(usage, read, written):
    """DeepSeek, Bedrock Converse, and the timings of llama.cpp."""
    assert reported_tokens(usage) == ReportedTokens(7, read, written, 2)


def test_a_row_of_a_database_is_read_like_a_mapping():
    class Row:
        def keys(self):
            return ["input_tokens", "output_tokens"]

        def __getitem__(self, name):
            return {"input_tokens": 7, "output_tokens": 2}[name]

    assert reported_tokens(Row()) == ReportedTokens(7, None, None, 2)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({**ANTHROPIC, "cache_creation": {"ephemeral_1h_input_tokens": 1000}}, (1000, 3600)),
        (
            {
                **RESPONSES,
                "input_tokens_details": {
                    "cached_tokens": 8000,
                    "cache_write_tokens": 1500,
                    "cache_write_tokens_details": {"ttl_12h_tokens": 1500, "ttl_30m_tokens": 0},
                },
            },
            (1500, 43_200),
        ),
    ],
)
def test_longer_lifetimes_are_read(usage, expected):
    tokens = reported_tokens(usage)
    assert (tokens.written_long, tokens.lifetime) == expected


@pytest.mark.parametrize(
    ("usage", "message"),
    [
        ({}, "dict has none of them"),
        ({"tokens": 3}, "dict with the keys ['tokens'] has none of them"),
        ("10", "usage must be an object or a mapping, and so must its details; '10' is neither"),
        (None, "NoneType has none of them"),
        (dict, "is neither"),
        ({"prompt_tokens": 1, "prompt_tokens_details": 7}, "and so must its details; 7 is neither"),
        ({"input_tokens": -1}, "input_tokens in usage must be a whole number from 0 to 1,000,000,000, not -1"),
        ({"input_tokens": True}, "input_tokens in usage must be a whole number from 0 to 1,000,000,000, not True"),
        ({"prompt_tokens": "9"}, "prompt_tokens in usage must be a whole number from 0 to 1,000,000,000, not '9'"),
        ({"input_tokens": 9, "output_tokens": 1e400}, "not inf"),
    ],
)
def test_anything_else_is_an_error(usage, message):
    with pytest.raises(CallError) as error:
        reported_tokens(usage)
    assert str(error.value).endswith(message)
