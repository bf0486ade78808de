"""Print Foreword's costs relative to the minimum work that each task requires, because milliseconds vary between machines.

A benchmark in BENCHES takes the fixture and returns rows. A suite in SUITES measures something other than time and yields the lines
of its own table. A ratio over its limit is printed but is not an error, because noise must not fail a build.

    python bench/run.py                  everything
    python bench/run.py stores pruning   only these benchmarks
"""

from __future__ import annotations

import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import cache_ways
import cold
import fixture
import lint
import page
import pruning
import review
import scale
import service
import sessions
import stores
import talks
import templates
import warm
import watch
from measure import Row, print_table

# `scale` is first, because a child's peak memory includes the memory of this process at the time it was started.
BENCHES: list[Callable[[fixture.Fixture], list[Row]]] = [
    scale.rows,
    cold.rows,
    warm.rows,
    templates.rows,
    talks.rows,
    stores.rows,
    pruning.rows,
    service.rows,
    watch.rows,
    lint.rows,
    review.rows,
    sessions.rows,
    page.rows,
]
SUITES = [cache_ways.lines]


def main() -> None:
    names = {bench.__module__: bench for bench in BENCHES}
    if unknown := [name for name in sys.argv[1:] if name not in names]:
        sys.exit(f"no benchmark {unknown[0]!r}; there are {', '.join(names)}")
    benches = [bench for name, bench in names.items() if name in (sys.argv[1:] or names)]
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        project = fixture.build(Path(folder))
        rows = [row for bench in benches for row in bench(project)]
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}; medians in ms\n")
    print_table(rows)
    print()
    for row in rows:
        print(f"{row.name}\n  ours      {row.ours_label}\n  baseline  {row.baseline_label}")
    for suite in () if sys.argv[1:] else SUITES:
        print()
        for line in suite():
            print(line)


if __name__ == "__main__":
    main()
