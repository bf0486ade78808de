"""Tests of the cache benchmark: every scenario changes something, and conversations keep what concatenation loses."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
NAMES = [
    "clock", "date", "cwd line", "git status", "tool order", "session id in a tool", "skill added", "skill order", "late MCP server",
    "resume", "upgrade", "memory hit", "plan text", "title", "compaction", "model switch",
]  # fmt: skip


@pytest.fixture
def stability(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module("stability")
    for name in ("stability", "fixture"):
        sys.modules.pop(name, None)


def test_there_are_sixteen_scenarios_and_each_changes_something(stability):
    assert [scenario.name for scenario in stability.SCENARIOS] == NAMES
    base = stability.Scene(tools=stability.tools())
    for scenario in stability.SCENARIOS:
        scenes = [scenario.scene(turn, base) for turn in range(stability.TURNS)]
        assert len(set(map(repr, scenes))) > 1, scenario.name


@pytest.mark.parametrize("name", ["tool order", "skill added", "compaction"])
def test_a_conversation_keeps_what_concatenation_loses(stability, name):
    plain, ours = stability.measure(next(scenario for scenario in stability.SCENARIOS if scenario.name == name))
    assert sum(plain.kept) < sum(plain.cached_before) / 2
    assert sum(ours.kept) > 0.99 * sum(ours.cached_before)
    assert ours.dollars < plain.dollars


def test_each_model_has_its_own_cache(stability):
    plain, ours = stability.measure(
        next(scenario for scenario in stability.SCENARIOS if scenario.name == "model switch")
    )
    assert (plain.kept[0], ours.kept[0]) == (0, 0)
    assert plain.kept[1] > 0 and ours.kept[1] > 0
