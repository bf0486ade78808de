"""Prints what Foreword costs beside the least that could do the same work: ratios, as milliseconds belong to a machine.

A bench is a function from the fixture to rows, in a file of its own, named in BENCHES; a suite, named in SUITES, measures something
other than time and gives the lines of a table of its own. A ratio over its bar is printed, not an error: noise must not fail a build.
"""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path

import cold
import fixture
import lint
import page
import scale
import service
import stability
import stores
import talks
import templates
import warm
import watch
from measure import Row

BENCHES = [
    cold.rows,
    warm.rows,
    templates.rows,
    talks.rows,
    stores.rows,
    service.rows,
    watch.rows,
    lint.rows,
    scale.rows,
    page.rows,
]
SUITES = [stability.lines]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        place = fixture.build(Path(folder))
        rows = [row for bench in BENCHES for row in bench(place)]
    print_rows(rows)


def print_rows(rows: list[Row]) -> None:
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}; medians in ms\n")
    print_table(rows)
    print()
    for row in rows:
        print(f"{row.name}\n  ours    {row.ours_is}\n  beside  {row.beside_is}")
    for suite in SUITES:
        print()
        for line in suite():
            print(line)


def print_table(rows: list[Row]) -> None:
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}}  {'ours':>9}  {'beside':>9}  {'ratio':>6}  {'bar':>5}")
    for row in rows:
        bar = f"{row.bar:.1f}x" if row.bar else "-"
        numbers = f"{row.ours:9.3f}  {row.beside:9.3f}  {row.ratio:5.2f}x  {bar:>5}"
        print(f"{row.name:{width}}  {numbers}  {row.verdict}".rstrip())


if __name__ == "__main__":
    main()
