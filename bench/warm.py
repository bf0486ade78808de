"""Measure prompts in a running process: with nothing changed, with one file changed, and with many skills."""

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


def rows(project: fixture.Fixture) -> list[Row]:
    """Compare an unchanged prompt with `stat`, one changed file with reading all files, and the cost per skill of two sizes."""
    time.sleep(0.1)  # the reader does not cache files that were modified a moment ago
    agent = Agent(
        tools=[
            Tool(row["name"], row["description"], schema=row["schema"]) for row in json.loads(project.tools.read_text())
        ]
    )
    workspace = Workspace(str(project.cwd), home=str(project.home))
    files = [str(path) for path in sorted(project.top.rglob("*.md"))]
    return [
        unchanged_row(workspace, agent, files),
        one_changed_row(workspace, agent, files, project),
        many_skills_row(agent),
    ]


def unchanged_row(workspace: Workspace, agent: Agent, files: list[str]) -> Row:
    assembler = Assembler(workspace)
    first = assembler.prompt(agent)
    assert assembler.prompt(agent) is first, "the unchanged prompt was rebuilt"

    def stat_files() -> None:
        for path in files:
            os.stat(path)

    times = take_turns({"ours": lambda: assembler.prompt(agent), "baseline": stat_files}, ROUNDS)
    name = "rebuild, nothing changed, vs. stat of its files"
    return Row(name, times["ours"], times["baseline"], 1.6, "Assembler.prompt(agent)", f"os.stat of {len(files)} files")


def one_changed_row(workspace: Workspace, agent: Agent, files: list[str], project: fixture.Fixture) -> Row:
    assembler = Assembler(workspace)
    edited_file = project.cwd / "AGENTS.md"
    original = edited_file.read_text()
    ours, baseline = [], []
    for number in range(ROUNDS):
        edited_file.write_text(f"{original}Rule {number}\n")
        start = perf_counter_ns()
        prompt = assembler.prompt(agent)
        ours.append(perf_counter_ns() - start)
        assert f"Rule {number}\n" in prompt.text, "the change was not picked up"
        start = perf_counter_ns()
        for path in files:
            with open(path, "rb") as file:
                file.read()
        baseline.append(perf_counter_ns() - start)
    edited_file.write_text(original)
    name = "rebuild, one file changed, vs. reading all files"
    return Row(
        name,
        median(ours) / 1e6,
        median(baseline) / 1e6,
        2.6,
        "Assembler.prompt(agent)",
        f"open, read, close of {len(files)} files",
    )


def many_skills_row(agent: Agent) -> Row:
    with tempfile.TemporaryDirectory(prefix="foreword-skills-") as folder:
        few, many = Path(folder, "few"), Path(folder, "many")
        for top, number in ((few, fixture.SKILLS), (many, MANY)):
            (top / ".git").mkdir(parents=True)
            fixture.write_skills(top, number)

        def build_cold(top: Path) -> None:
            Assembler(Workspace(str(top), home=str(top))).prompt(agent)

        times = take_turns({"ours": lambda: build_cold(many), "baseline": lambda: build_cold(few)}, 15)
    name = f"cost per skill, {MANY:,} skills vs. {fixture.SKILLS}"
    return Row(
        name,
        times["ours"] / MANY,
        times["baseline"] / fixture.SKILLS,
        1.2,
        f"gather and build with {MANY:,} skills",
        f"the same with {fixture.SKILLS}",
    )
