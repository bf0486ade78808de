"""Prompts inside a running program: again with nothing changed, again with one file changed, and with many skills."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from time import perf_counter_ns

import fixture
from foreword import Agent, Assembler, Tool, Workspace
from measure import Row, take_turns

ROUNDS = 200
MANY = 5_000


def rows(place: fixture.Fixture) -> list[Row]:
    """The unchanged turn beside `stat`, one changed file beside reading all, and the cost of a skill among many."""
    time.sleep(0.1)  # what was written a moment ago is not yet trusted
    agent = Agent(
        tools=[
            Tool(row["name"], row["description"], schema=row["schema"]) for row in json.loads(place.tools.read_text())
        ]
    )
    workspace = Workspace(str(place.cwd), home=str(place.home))
    files = [str(path) for path in sorted(place.top.rglob("*.md"))]
    return [unchanged(workspace, agent, files), one_changed(workspace, agent, files, place), many_skills(agent)]


def unchanged(workspace: Workspace, agent: Agent, files: list[str]) -> Row:
    assembler = Assembler(workspace)
    first = assembler.prompt(agent)
    assert assembler.prompt(agent) is first, "the unchanged prompt was made again"

    def look() -> None:
        for path in files:
            os.stat(path)

    took = take_turns({"ours": lambda: assembler.prompt(agent), "beside": look}, ROUNDS)
    name = "prompt again, nothing changed, beside stat of its files"
    return Row(name, took["ours"], took["beside"], 2.0, "Assembler.prompt(agent)", f"os.stat of {len(files)} files")


def one_changed(workspace: Workspace, agent: Agent, files: list[str], place: fixture.Fixture) -> Row:
    assembler = Assembler(workspace)
    changed = place.cwd / "AGENTS.md"
    original = changed.read_text()
    ours, beside = [], []
    for number in range(ROUNDS):
        changed.write_text(f"{original}Rule {number}\n")
        start = perf_counter_ns()
        prompt = assembler.prompt(agent)
        ours.append(perf_counter_ns() - start)
        assert f"Rule {number}\n" in prompt.text, "the change was not seen"
        start = perf_counter_ns()
        for path in files:
            with open(path, "rb") as file:
                file.read()
        beside.append(perf_counter_ns() - start)
    changed.write_text(original)
    name = "prompt again, one file changed, beside reading all"
    return Row(
        name,
        median(ours) / 1e6,
        median(beside) / 1e6,
        3.0,
        "Assembler.prompt(agent)",
        f"open, read, close of {len(files)} files",
    )


def many_skills(agent: Agent) -> Row:
    with tempfile.TemporaryDirectory(prefix="foreword-skills-") as folder:
        few, many = Path(folder, "few"), Path(folder, "many")
        for top, number in ((few, fixture.SKILLS), (many, MANY)):
            (top / ".git").mkdir(parents=True)
            fixture.write_skills(top, number)

        def cold(top: Path) -> None:
            Assembler(Workspace(str(top), home=str(top))).prompt(agent)

        took = take_turns({"ours": lambda: cold(many), "beside": lambda: cold(few)}, 15)
    name = f"one skill of {MANY:,}, beside one of {fixture.SKILLS}"
    return Row(
        name,
        took["ours"] / MANY,
        took["beside"] / fixture.SKILLS,
        1.3,
        f"gather and build with {MANY:,} skills",
        f"the same with {fixture.SKILLS}",
    )
