"""How much of the provider's cache a rebuild would lose, by the same rules as `foreword cache`."""

import json

import pytest

from foreword import CallError
from foreword.cli import main
from foreword.wire.answers import drift_form

RULES = "".join(f"Rule {number}: keep it short, and check what you did.\n" for number in range(300))
LATE = RULES.replace("Rule 290:", "Rule two hundred and ninety:")


@pytest.fixture
def drift_after_edit(tree, open_conversation):
    """`drift_after_edit(provider="openai")` returns the drift after an edit near the end of a long AGENTS.md."""

    def drift_after_edit(before=RULES, after=LATE, **agent):
        tree({"w/.git": None, "w/AGENTS.md": before})
        open_conversation("foreword", tools="read shell", **agent).turn("Hi.")
        tree({"w/AGENTS.md": after})
        return open_conversation("foreword", tools="read shell", **agent).drift()

    return drift_after_edit


def test_anthropic_keeps_only_up_to_the_last_breakpoint(drift_after_edit):
    """The part before the project's instructions is shorter than the minimum."""
    drift = drift_after_edit(provider="anthropic")
    assert (drift.is_changed, drift.tokens_kept) == (True, 0)
    assert drift.tokens_lost > 5000
    assert (drift.rule.provider, drift.rule.caching, drift.rule.is_assumed) == ("anthropic", "breakpoints", False)
    assert drift.sentence().endswith("(anthropic claude-sonnet-5 keeps up to the last breakpoint, from 1,024 tokens)")


def test_openai_keeps_the_common_prefix_in_steps(drift_after_edit):
    drift = drift_after_edit(model="gpt-5.6-terra")
    assert drift.tokens_kept > 3000 and drift.tokens_kept % 128 == 0
    assert (drift.rule.provider, drift.rule.model, drift.rule.step) == ("openai", "gpt-5.6-terra", 128)


def test_without_a_provider_the_assumed_rule_is_named(drift_after_edit):
    drift = drift_after_edit()
    assert drift.tokens_kept > 3000
    assert drift_form("t", drift)["cache"] == {
        "provider": None, "model": None, "caching": "prefix", "step": 1, "minimum": None, "assumed": True,
    }  # fmt: skip
    assert "unknown provider; assuming one that keeps the common prefix" in drift.sentence()


@pytest.mark.parametrize(("model", "is_cached"), [("claude-opus-4-5-20251101", False), ("claude-sonnet-5", True)])
def test_a_prompt_below_a_models_minimum_has_nothing_to_lose(drift_after_edit, model, is_cached):
    short = RULES[: len(RULES) // 4]
    drift = drift_after_edit(short, short.replace("Rule 60:", "Rule sixty:"), model=model)
    assert (drift.is_changed, drift.tokens_kept, drift.tokens_lost > 0) == (True, 0, is_cached)


def test_the_edition_sets_the_default_provider(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": RULES})
    open_conversation("foreword", provider="anthropic").turn("Hi.")
    tree({"w/AGENTS.md": LATE})
    assert open_conversation("foreword").drift().rule.provider == "anthropic"


def test_a_drift_finding_uses_the_providers_rule(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": RULES})
    open_conversation("foreword", provider="anthropic", set={"on.turn": "warn"}).turn("Hi.")
    tree({"w/AGENTS.md": LATE})
    turn = open_conversation("foreword", provider="anthropic", set={"on.turn": "warn"}).turn("Go on.")
    (message,) = [finding.message for finding in turn.findings if finding.code == "drift"]
    assert message.endswith("(anthropic claude-sonnet-5 keeps up to the last breakpoint, from 1,024 tokens)")


def test_a_rebuild_costs_what_the_last_call_left_in_the_cache(tree, open_conversation):
    tree({"w/.git": None, "w/AGENTS.md": RULES})
    conversation = open_conversation("foreword", provider="anthropic", model="claude-sonnet-5")
    conversation.turn("Hi.")
    prompt_only = conversation.drift().rebuild
    assert (prompt_only.basis, prompt_only.tokens_lost) == ("prompt", 0)  # nothing has changed
    usage = {
        "input_tokens": 3,
        "cache_read_input_tokens": 90_000,
        "cache_creation_input_tokens": 500,
        "output_tokens": 9,
    }
    conversation.record_usage(usage)
    assert conversation.drift().tokens_lost == 0
    tree({"w/AGENTS.md": LATE})
    rebuild = conversation.drift().rebuild
    assert (rebuild.tokens_kept, rebuild.tokens_lost, rebuild.basis) == (0, 90_500, "call")
    assert rebuild.cost == pytest.approx(90_500 * (2.5 - 0.2) / 1e6)
    assert "lose about 90,500 cached tokens ($0.2081), counted from the last recorded call (" in conversation.drift().sentence()  # fmt: skip


def test_messages_are_counted_if_no_call_is_recorded(tree, drift_after_edit, open_conversation):
    bare = drift_after_edit(provider="anthropic").rebuild
    history = [{"role": "user", "content": "word " * 5000}]
    counted = open_conversation("foreword", tools="read shell", provider="anthropic").drift(messages=history).rebuild
    assert (bare.basis, counted.basis) == ("prompt", "messages")
    assert counted.tokens_lost - bare.tokens_lost > 4000 and counted.cost > bare.cost


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_drift_and_the_cache_command_agree(tree, url, capsys, monkeypatch, provider):
    monkeypatch.setenv("HOME", tree.path("home"))
    tree({"w/.git": None, "w/AGENTS.md": RULES, "home": None})
    options = ["--tool", "read", "--provider", provider, "--store", url, "--json"]

    def run_json(*arguments):
        assert main([*arguments, *options]) == 0
        return json.loads(capsys.readouterr().out)

    run_json("conversation", "turn", "t", tree.path("w"))
    tree({"w/AGENTS.md": LATE})
    drift = run_json("conversation", "drift", "t", tree.path("w"))
    (row,) = run_json("cache", "conversation:t", tree.path("w"))["providers"]
    diff = run_json("diff", "conversation:t", tree.path("w"))["rebuild"]
    assert (drift["tokens_kept"], drift["cache"]["minimum"]) == (row["kept"], row["price"]["minimum"])
    assert [drift["tokens_lost"], diff["tokens_lost"]] == [row["lost"]] * 2
    assert [drift["cost"], diff["cost"]] == [pytest.approx(row["rewrite"], abs=1e-6)] * 2


def test_a_conversation_has_no_drift_before_its_first_turn(tree, open_conversation):
    with pytest.raises(CallError, match="the conversation 't' has no edition yet; its first turn creates one"):
        open_conversation("foreword").drift()
