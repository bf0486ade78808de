"""Write the benchmark workspace: 7 nested instruction files of 4 KiB, 50 skills of 6 KiB, 12 tools, and an empty home directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

DEPTH, SKILLS = 7, 50
TOOLS = "read_file write_file edit_file list_files search shell use_skill fetch ask plan test commit".split()


class Fixture(NamedTuple):
    top: Path
    cwd: Path
    home: Path
    tools: Path


def build(folder: Path) -> Fixture:
    """Write the workspace below `folder`. The working directory is the deepest directory."""
    top, home, tools = folder / "project", folder / "home", folder / "tools.json"
    home.mkdir(parents=True)
    (top / ".git").mkdir(parents=True)
    cwd = top
    for level in range(DEPTH):
        cwd = cwd / f"level-{level}" if level else top
        cwd.mkdir(exist_ok=True)
        (cwd / "AGENTS.md").write_text(fill(f"# Rules of level {level}\n\n", f"Rule of level {level}", 4096))
    write_skills(top, SKILLS)
    tools.write_text(json.dumps([tool(name) for name in TOOLS], indent=2))
    return Fixture(top, cwd, home, tools)


def write_skills(top: Path, number: int) -> None:
    """Write `number` skills of 6 KiB below `top`."""
    width = len(str(number - 1))
    for index in range(number):
        name = f"skill-{index:0{width}}"
        head = f"---\nname: {name}\ndescription: What {name} is for, and when an agent should reach for it.\n---\n\n"
        path = top / ".agents" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(fill(head, f"Step of {name}", 6144))


def fill(head: str, phrase: str, size: int) -> str:
    """Return `head` followed by numbered sentences, exactly `size` bytes in total."""
    lines = (f"{phrase}, number {number}: keep it short, and check what you did.\n" for number in range(size // 40))
    return (head + "".join(lines))[: size - 1] + "\n"


def tool(name: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return {"name": name, "description": f"The tool {name}, described in one line.", "schema": schema}
