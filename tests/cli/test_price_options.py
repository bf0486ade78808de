"""Prices and providers that the caller or the user adds, in `foreword cache`."""

import pytest

from foreword.wire.forms import CacheForm

pytestmark = pytest.mark.usefixtures("shop_with_a_skill")


def test_the_callers_prices_override_the_users(run, run_json, tree):
    own = '[[model]]\nname = "claude-sonnet-5"\nminimum = 7\n'
    tree({"w/prices.toml": own, "home/.config/foreword/prices.toml": own.replace("7", "8")})
    tree({"home/.config/foreword/foreword.toml": 'prices = "prices.toml"\n'})

    def minimum(*options):
        return run_json(CacheForm, "cache", "--provider", "anthropic", *options)["providers"][0]["price"]["minimum"]

    assert minimum() == 8
    assert minimum("--prices", "prices.toml") == 7


def test_a_workspace_cannot_set_prices(run_json, tree):
    tree({"w/.foreword/foreword.toml": 'prices = "prices.toml"\n', "w/.foreword/prices.toml": "[[model]]\nname = 5\n"})
    assert run_json(CacheForm, "cache", "--provider", "anthropic")["providers"][0]["price"]["minimum"] == 1024


def test_a_custom_provider_has_its_own_rules(run_json, tree):
    tree({
        "w/prices.toml": '[provider.deepseek]\norder = ["system", "tools", "messages"]\ncaching = "prefix"\nstep = 64\nmodel = "v4"\n'
        '[[model]]\nname = "v4"\nprovider = "deepseek"\ninput = 1\nwrite = 1\nread = 0.1\n'
    })  # fmt: skip
    form = run_json(CacheForm, "cache", "--prices", "prices.toml", "--provider", "deepseek", "--tool", "read")
    (only,) = form["providers"]
    assert (only["order"], only["breakpoints"][-1]["of"]) == (["system", "tools", "messages"], "tools")
