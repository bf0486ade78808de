"""List the cases to record, and read and write each program's golden file."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .tree import Tree
from .trees import TREES

GOLDEN = Path(__file__).parents[1] / "tests/golden/agents"


@dataclass(frozen=True)
class Case:
    """One run: a tree, a working directory and an event (start, touch or edit)."""

    tree: str
    cwd: str
    event: str
    data: Tree

    @property
    def name(self) -> str:
        return f"{self.tree} {self.cwd} {self.event}"


def cases(program: str, only: Collection[str] = ()) -> Iterator[Case]:
    """Yield a program's cases: all of them, or those for the trees in `only`."""
    for name, tree in TREES.items():
        if program not in tree.programs or (only and name not in only):
            continue
        for cwd in tree.cwds:
            yield Case(name, cwd, "start", tree)
        if tree.touch:
            yield Case(name, tree.cwds[0], "touch", tree)
        if tree.edit:
            yield Case(name, tree.cwds[-1], "edit", tree)


def read_golden(program: str) -> dict[str, Any]:
    """Return a program's recorded title, version, own part and cases, or an empty mapping if there is no recording."""
    path = GOLDEN / f"{program}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write_golden(program: str, recording: dict[str, Any]) -> None:
    """Write the recording as JSON that is easy to read in a diff, with short lists on one line."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    lines = ["{"]
    for key in ("program", "version", "date"):
        lines.append(f'  "{key}": {_json(recording[key])},')
    if "own" in recording:
        lines.append(f'  "own": {_json(recording["own"])},')
    lines.append('  "cases": {')
    blocks = [_block(name, case) for name, case in recording["cases"].items()]
    lines += [",\n".join(blocks), "  }", "}", ""]
    (GOLDEN / f"{program}.json").write_text("\n".join(lines))


def _block(name: str, case: dict[str, Any]) -> str:
    if "hash" in case:
        return f"    {_json(name)}: {_json(case)}"
    lines = [f"    {_json(name)}: {{"]
    if "prefix" in case:
        lines.append(f'      "prefix": {_json(case["prefix"])},')
    files = ",\n".join(f"        {_json(file)}" for file in case["files"])
    lines.append('      "files": [' + (f"\n{files}\n      ]," if files else "],"))
    messages = []
    for entry in case["messages"]:
        rows = ",\n".join(f"          {_json(line)}" for line in entry["lines"])
        messages.append(f'        {{"role": {_json(entry["role"])}, "lines": [\n{rows}\n        ]}}')
    joined = ",\n".join(messages)
    lines.append('      "messages": [' + (f"\n{joined}\n      ]" if joined else "]"))
    lines.append("    }")
    return "\n".join(lines)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
