"""The suite of ways to break a cache tells the truth: every way changes the world, and the conversations are really run."""

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
def suite(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    yield importlib.import_module("stability")
    for name in ("stability", "fixture"):
        sys.modules.pop(name, None)


def test_there_are_sixteen_ways_and_each_changes_something(suite):
    assert [way.name for way in suite.WAYS] == NAMES
    base = suite.Scene(tools=suite.tools())
    for way in suite.WAYS:
        scenes = [way.scene(turn, base) for turn in range(suite.TURNS)]
        assert len(set(map(repr, scenes))) > 1, way.name


@pytest.mark.parametrize("name", ["tool order", "skill added", "compaction"])
def test_a_conversation_keeps_what_concatenation_loses(suite, name):
    plain, ours = suite.measured(next(way for way in suite.WAYS if way.name == name))
    assert sum(plain.kept) < sum(plain.most) / 2
    assert sum(ours.kept) > 0.99 * sum(ours.most)
    assert ours.dollars < plain.dollars


def test_another_model_has_a_cache_of_its_own(suite):
    plain, ours = suite.measured(next(way for way in suite.WAYS if way.name == "model switch"))
    assert (plain.kept[0], ours.kept[0]) == (0, 0)
    assert plain.kept[1] > 0 and ours.kept[1] > 0
