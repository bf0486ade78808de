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
    concatenated, with_foreword = stability.measure(
        next(scenario for scenario in stability.SCENARIOS if scenario.name == name)
    )
    assert sum(concatenated.kept) < sum(concatenated.cached_before) / 2
    assert sum(with_foreword.kept) > 0.99 * sum(with_foreword.cached_before)
    assert with_foreword.dollars < concatenated.dollars


def test_each_model_has_its_own_cache(stability):
    concatenated, with_foreword = stability.measure(
        next(scenario for scenario in stability.SCENARIOS if scenario.name == "model switch")
    )
    assert (concatenated.kept[0], with_foreword.kept[0]) == (0, 0)
    assert concatenated.kept[1] > 0 and with_foreword.kept[1] > 0
