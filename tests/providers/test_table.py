"""Adding a provider touches three places: its module, `errors.PROVIDERS`, and the exports of `foreword`.

The adapters in `foreword.integrations` may call a provider's functions, because no other package imports them
(`tests/test_architecture.py`).
"""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import foreword
from foreword.errors import PROVIDERS
from foreword.providers import request_for

SRC = Path(foreword.__file__).parent
ADAPTERS = SRC / "integrations"


def module_of(name):
    return import_module(f"foreword.providers.{name}")


def functions_of(name):
    return {attribute for attribute in vars(module_of(name)) if attribute.startswith("for_")}


SHARED = {
    "__init__",
    "blocks",
    "capabilities",
    "existing_breakpoints",
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


@pytest.mark.parametrize("name", PROVIDERS)
def test_no_other_module_names_the_functions_of_a_provider(name):
    own_module = {SRC / "__init__.py", SRC / "providers/__init__.py", SRC / f"providers/{name}.py"}
    modules = [path for path in SRC.rglob("*.py") if ADAPTERS not in path.parents]
    users = [path for path in modules if any(function in path.read_text() for function in functions_of(name))]
    assert set(users) <= own_module


def test_a_request_is_in_its_providers_format(make_turn):
    turn = make_turn()
    for name in PROVIDERS:
        assert request_for(name, turn) == module_of(name).request(turn)
    assert request_for("another", turn) == foreword.for_openai_responses(turn)


def test_every_provider_has_cache_rules():
    prices = tomllib.loads((SRC / "inspection/prices.toml").read_text())
    assert set(prices["provider"]) == set(PROVIDERS)
