"""Every place that knows the providers. CONTRIBUTING.md has the same list, for adding one.

The adapters in `foreword.integrations` may call a provider's functions, because no other package imports them
(`tests/test_architecture.py`).
"""

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import foreword
from foreword.errors import APIS, PROVIDERS
from foreword.providers import function_of, request_for
from foreword.providers.usage import reported_tokens
from foreword.service.bodies import RequestForm
from foreword.service.proxy.observer import endpoint_of

SRC = Path(foreword.__file__).parent
ADAPTERS = SRC / "integrations"


def module_of(name):
    return import_module(f"foreword.providers.{name}")


def functions_of(name):
    return {attribute for attribute in vars(module_of(name)) if attribute.startswith("for_")}


SHARED = {
    "__init__",
    "blank_text",
    "blocks",
    "capabilities",
    "converse_form",
    "existing_breakpoints",
    "foreign_messages",
    "http_form",
    "late",
    "late_tool_effect",
    "merging",
    "message_breakpoints",
    "request_check",
    "request_parts",
    "tool_fields",
    "use_tool",
    "usage",
}


def test_every_module_is_listed():
    modules = {path.stem for path in (SRC / "providers").glob("*.py")} - SHARED
    assert modules == set(PROVIDERS)


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_function_is_exported(name):
    assert functions_of(name)
    assert functions_of(name) <= set(foreword.__all__)
    assert module_of(name).request.__name__ in functions_of(name)


def code_of(path):
    """Return a module's text without the examples in its docstrings."""
    return "\n".join(line for line in path.read_text().split("\n") if not line.lstrip().startswith(">>> "))


@pytest.mark.parametrize("name", PROVIDERS)
def test_no_other_module_names_the_functions_of_a_provider(name):
    own_module = {SRC / "__init__.py", SRC / "providers/__init__.py", SRC / f"providers/{name}.py"}
    modules = [path for path in SRC.rglob("*.py") if ADAPTERS not in path.parents]
    users = [path for path in modules if any(function in code_of(path) for function in functions_of(name))]
    assert set(users) <= own_module


def test_a_request_is_in_its_providers_format(make_turn):
    turn = make_turn()
    for name in PROVIDERS:
        assert request_for(name, turn) == module_of(name).request(turn)
    assert request_for("another", turn) == foreword.for_openai_responses(turn)


def test_every_provider_has_cache_rules():
    prices = tomllib.loads((SRC / "inspection/prices.toml").read_text())
    assert set(prices["provider"]) == set(PROVIDERS)


def test_every_provider_has_capabilities():
    table = tomllib.loads((SRC / "providers/capabilities.toml").read_text())
    assert set(table["provider"]) == set(PROVIDERS)


def test_every_function_is_available_over_http():
    """`errors.APIS` lists them; a client can choose each, and the proxy knows its endpoint."""
    assert set(map(function_of, APIS)) == {function for name in PROVIDERS for function in functions_of(name)}
    assert get_args(RequestForm) == tuple(APIS)


@pytest.mark.parametrize(
    ("path", "api"),
    [
        ("/v1/messages", "anthropic"),
        ("/v1/responses/", "openai-responses"),
        ("/v1/chat/completions?x=/messages", "openai-chat"),
        ("/v1beta/models/gemini-3:generateContent", "gemini"),
        ("/v1beta/models/gemini-3:streamGenerateContent?alt=sse", "gemini"),
        ("/model/a/converse", "bedrock"),
        ("/v1/messages/count_tokens", ""),
    ],
)
def test_the_endpoint_of_a_request_is_known(path, api):
    assert endpoint_of("POST", path) == api
    assert endpoint_of("GET", path) == ""


USAGE = {
    "anthropic": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 3},
    "openai": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 3},
    "gemini": {"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 3},
    "bedrock": {"inputTokens": 60, "cacheReadInputTokens": 40, "outputTokens": 3},
}


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_usage_of_every_provider_is_read(name):
    tokens = reported_tokens(USAGE[name])
    assert (tokens.input, tokens.read, tokens.output) == (100, 40, 3)


def test_the_recipe_for_a_provider_names_every_place():
    """Each file that names all providers or their APIs is in the recipe, and no other one names them."""
    text = (SRC.parents[1] / "CONTRIBUTING.md").read_text()
    [row] = [line for line in text.split("\n") if line.startswith("| a provider |")]
    recipe = set(re.findall(r"`((?!tests/)[\w/]+\.(?:py|toml))`", row))
    known = {"providers/http_form.py", "providers/usage.py", "providers/use_tool.py", "providers/request_parts.py"}
    generated = {"inspection/compiled_prices.py"}
    for path in [*SRC.rglob("*.py"), *SRC.rglob("*.toml")]:
        name = str(path.relative_to(SRC))
        others = (
            "packs/",
            "sessions/",
            "integrations/",
            "text/",
            "providers/converse_form.py",
        )
        if not name.startswith(others) and re.search(r"""["'\[.]gemini["'\]]""", path.read_text()):
            known.add(name)
    assert recipe == known - generated - {f"providers/{provider}.py" for provider in PROVIDERS}
