"""What a mirrored program sends in addition to what its layout shows."""

from __future__ import annotations

import pytest

from foreword.inspection.own_part import OwnPart, own_part
from foreword.packs.shipped import shipped_mirror
from foreword.programs.questions import answer
from foreword.vocabulary import replace

OWN = OwnPart("Agent 1.0", prompt=100, tools=1000)


@pytest.mark.parametrize(
    ("argument", "order", "tokens"),
    [
        ("system", ("tools", "system", "messages"), 1100),
        ("tools", ("tools", "system", "messages"), 1000),
        ("system", ("system", "tools", "messages"), 100),
        ("tools", ("system", "tools", "messages"), 1100),
        ("leading", ("system", "tools", "messages"), 1100),
    ],
)
def test_only_what_the_provider_reads_first_comes_before_a_breakpoint(argument, order, tokens):
    assert OWN.before(argument, order) == tokens


def test_sizes_are_scaled_for_the_model():
    layout = replace(shipped_mirror("claude"), program={"prompt": 1000, "tools": 2000})
    exact, scaled = own_part(layout), own_part(layout, "claude-sonnet-5")
    assert exact == OwnPart(layout.mirrors, 1000, 2000)
    assert scaled is not None and scaled.prompt > 1000 and scaled.tools == pytest.approx(2 * scaled.prompt, abs=1)


def test_a_layout_without_sizes_has_no_own_part():
    assert own_part(replace(shipped_mirror("claude"), program={"command": "claude"})) is None


def test_every_question_counts_it_in(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "CLAUDE.md").write_text("Use tabs.\n")
    fields = {"cwd": str(tmp_path), "layout": "claude"}
    layout = shipped_mirror("claude")
    sizes = {name: layout.program[name] for name in ("prompt", "tools")}
    own = {"program": layout.mirrors, **sizes}
    assert answer("tokens", fields)["own"] == own
    assert answer("agents", fields)["agents"][0]["own"] == own
    cache = answer("cache", fields)
    assert cache["own"] == own
    for provider in cache["providers"]:
        assert provider["tokens"] > sum(sizes.values())
        assert provider["breakpoints"][-1]["kept"]


def test_an_agent_that_is_no_mirror_has_none(tmp_path):
    fields = {"cwd": str(tmp_path)}
    assert answer("tokens", fields)["own"] is None
    assert answer("cache", fields)["own"] is None
