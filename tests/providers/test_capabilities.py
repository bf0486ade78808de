"""The table of what models accept: every row has a source, and a model is found however it is spelled."""

import re

import pytest

from foreword.errors import PROVIDERS
from foreword.providers import capabilities
from foreword.providers.capabilities import capabilities_of, read_capabilities


def test_every_provider_has_a_row_with_every_key():
    table = read_capabilities()
    assert set(table["provider"]) == set(PROVIDERS)
    assert all(row["source"] and re.fullmatch(r"2\d{3}-\d{2}", row["date"]) for row in table["provider"].values())
    assert all(row["source"] and re.fullmatch(r"2\d{3}-\d{2}", row["date"]) for row in table["model"])


@pytest.mark.parametrize(
    ("provider", "model", "system_messages", "added_tools", "breakpoints"),
    [
        ("anthropic", "", False, False, 4),
        ("anthropic", "claude-sonnet-5", False, False, 4),
        ("anthropic", "claude-opus-4-8", True, False, 4),
        ("anthropic", "claude-opus-5", True, True, 4),
        ("anthropic", "us.anthropic.claude-opus-5-5-20261001-v1:0", True, True, 4),
        ("anthropic", "claude-opus-5-9", False, False, 4),  # not known yet
        ("openai", "", False, False, 0),
        ("openai", "gpt-5.4-mini", True, False, 0),
        ("openai", "openai/GPT-5.6-sol", True, True, 4),
        ("openai", "gpt-6-luna", True, True, 4),
        ("openai", "claude-opus-5", False, False, 0),  # through a gateway
        ("gemini", "gemini-3.8-flash", False, False, 0),
    ],
)
def test_a_model_is_looked_up(provider, model, system_messages, added_tools, breakpoints):
    found = capabilities_of(provider, model)
    assert (found.system_messages, found.added_tools, found.breakpoints) == (system_messages, added_tools, breakpoints)


def test_the_table_is_read_once(monkeypatch):
    capabilities_of("openai", "gpt-6")
    monkeypatch.setattr(capabilities, "read_capabilities", lambda: pytest.fail("read again"))
    assert capabilities_of("openai", "gpt-6-another").breakpoints == 4


def test_tools_that_can_be_added_late_need_beta_headers():
    assert list(capabilities_of("anthropic", "claude-opus-5").betas) == [
        "mid-conversation-tool-changes-2026-07-01",
        "inline-tools-2026-09-15",
    ]


def test_an_unknown_provider_has_no_row():
    with pytest.raises(KeyError):
        capabilities_of("another", "m")
