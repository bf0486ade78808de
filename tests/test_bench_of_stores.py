"""Tests of the benchmarks of stores: they still call what the store offers, and both sides of a comparison remove the same rows."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
MODULES = ("fixture", "measure", "pruning", "stores")


@pytest.fixture
def benches(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    stores, pruning = (importlib.import_module(name) for name in ("stores", "pruning"))
    monkeypatch.setattr(stores, "PROMPTS", 3)
    monkeypatch.setattr(stores, "ROUNDS", 1)
    for name, number in {"PRUNED": 10, "OWN": 4, "ROUNDS": 1, "FORGOTTEN": 1}.items():
        monkeypatch.setattr(pruning, name, number)
    yield stores, pruning
    for name in MODULES:
        sys.modules.pop(name, None)


def test_reading_and_removing_are_compared_with_plain_statements(benches, tmp_path):
    stores, pruning = benches
    talks = stores.SqliteTalks(
        str(tmp_path / "a.db"), stores.distinct_prompts(pruning.fixture.build(tmp_path / "project"))
    )
    talks.fill(60)
    talks.run(pruning.ADD_USAGE)
    rows = [stores.read_vs_select(talks), *pruning.store_rows("SQLite", talks)]
    assert all(row.ours > 0 and row.baseline > 0 for row in rows) and len(rows) == 5
    # Each side has removed 10 conversations twice, one, and 4 that it had added.
    assert talks.run("SELECT count(*) FROM foreword_editions WHERE kind IS NOT NULL") == [(60 - 2 * 21,)]
    talks.close()
