"""Prompts rebuilt under variations that should not matter: they are really applied, and differences are detected."""

import subprocess
import sys
import weakref
from datetime import datetime
from pathlib import Path

import pytest

from foreword import Agent, Assembler, Document, Tool
from foreword.building.build import build
from foreword.errors import ForewordError
from foreword.programs.caching import cache_report
from foreword.programs.question import Question
from foreword.programs.stability import ReversedDisk, in_another_process, rebuilds
from foreword.sources.reader import Reader
from foreword.text.tokens import count
from foreword.vocabulary import replace

NOW = datetime.fromisoformat("2026-03-07T08:55:05-06:00")


def rebuild_all(tree, layout, agent=None, **options):
    assembler = Assembler(tree.workspace(options.pop("cwd", "w")), layout, **options)
    agent = agent or Agent(tools=[Tool("read"), Tool("shell")])
    fields = {**question(tree), "layout": layout, "tools": [{"name": tool.name} for tool in agent.tools]}
    first = assembler.prompt(agent, NOW)
    return first, list(rebuilds(assembler, agent, NOW, fields))


def question(tree):
    return {"cwd": tree.path("w"), "home": tree.path("home"), "now": NOW.isoformat()}


def variations_that_changed(first, results):
    """The variations that changed the prompt."""
    assert [result.error for result in results if result.prompt is None] == []
    return sorted({result.variation for result in results if result.prompt.text != first.text})


@pytest.fixture
def workspace(tree, skill):
    skills = {f"w/.agents/skills/{name}/SKILL.md": skill(name) for name in ("b", "a", "c")}
    return tree({"w/.git": None, "w/AGENTS.md": "Rules.\n", **skills})


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pod", "builder"])
def test_layouts_without_a_clock_give_the_same_bytes(workspace, layout):
    first, results = rebuild_all(workspace, layout)
    assert variations_that_changed(first, results) == []
    assert {result.variation for result in results} == {"clock", "directory", "environment", "listing", "hash seed"}


def test_a_clock_changes_the_prompt(workspace):
    assert variations_that_changed(*rebuild_all(workspace, "pi")) == ["clock"]


def test_a_date_changes_the_prompt_only_by_day(workspace):
    workspace({"w/AGENTS.md": "Today is {{ date }}.\n"})
    first, results = rebuild_all(workspace, "ion")
    assert [result.detail for result in results if result.prompt.text != first.text] == ["a day later"]


def test_a_variable_that_depends_on_the_order_of_the_environment_changes_the_prompt(workspace):
    def order(name, workspace):
        return ",".join(workspace.environment)

    workspace_with_environment = workspace.workspace(environment={"A": "", "B": ""})
    assembler = Assembler(workspace_with_environment, "builder", variables={"order": order})
    agent = Agent(base=Document("base", "[order:x]"))
    first = assembler.prompt(agent, NOW)
    results = [rebuild for rebuild in rebuilds(assembler, agent, NOW, {}) if rebuild.variation == "environment"]
    assert (first.text, [result.prompt.text for result in results]) == ("A,B", ["B,A"])


def test_a_directory_reached_through_a_link_has_a_different_name(workspace):
    workspace({"link": Path(workspace.path("w"))})
    first, results = rebuild_all(workspace, "foreword", cwd="link")
    details = [
        result.detail for result in results if result.variation == "directory" and result.prompt.text != first.text
    ]
    assert details == ["as the directory that the link points to"]


def test_directories_are_listed_in_reverse(workspace):
    folder = workspace.path("w/.agents/skills")
    with ReversedDisk().scandir(folder) as listing:
        assert [entry.name for entry in listing] == ["c", "b", "a"]
    assert Reader(disk=ReversedDisk()).entries(folder) == (["a", "b", "c"], None)


def test_the_seed_reaches_the_other_process(workspace, monkeypatch):
    """A module that Python loads at start-up records the seed."""
    workspace(
        {
            "site/sitecustomize.py": f"import os; open({workspace.path('seen')!r}, 'a').write(os.environ['PYTHONHASHSEED'])\n"
        }
    )
    monkeypatch.setenv("PYTHONPATH", workspace.path("site"))
    _, results = rebuild_all(workspace, "foreword")
    assert Path(workspace.path("seen")).read_text() == "1"
    assert [result.error for result in results] == [""] * len(results)
    Path(workspace.path("seen")).unlink()
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    rebuild_all(workspace, "foreword")
    assert Path(workspace.path("seen")).read_text() == "2"


def test_a_stable_prompt_is_built_once_here_and_once_in_another_process(workspace, monkeypatch):
    builds = []
    monkeypatch.setattr("foreword.engine.assembler.build", lambda *args: builds.append(1) or build(*args))
    monkeypatch.setattr("foreword.programs.stability.in_another_process", lambda *_: builds.append("another process"))
    assembler, agent = Assembler(replace(workspace.workspace(), environment=None), "foreword"), Agent()
    results = list(rebuilds(assembler, agent, NOW, question(workspace)))
    assert (builds, variations_that_changed(results[0].prompt, results)) == ([1], [])
    assert [result.variation for result in results][-3:] == ["environment", "listing", "hash seed"]


def test_what_the_builds_read_is_freed_before_tokens_are_counted(workspace, monkeypatch):
    assemblers, alive = [], []

    class RecordedAssembler(Assembler):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            assemblers.append(weakref.ref(self))

    def record_and_count(*args):
        alive.extend(assembler for assembler in assemblers if assembler() is not None)
        return count(*args)

    monkeypatch.setattr("foreword.programs.question.Assembler", RecordedAssembler)
    monkeypatch.setattr("foreword.text.tokens.count", record_and_count)
    report = cache_report(Question({**question(workspace), "layout": "foreword"}))
    assert report.form["prompt"]["tokens"] and assemblers
    assert alive == []


def test_if_another_process_differs_each_variation_is_tried_separately(workspace, monkeypatch):
    monkeypatch.setattr("foreword.programs.stability._id_in_another_process", lambda *_: "sha256:other")
    first, results = rebuild_all(workspace, "foreword")
    assert variations_that_changed(first, results) == []
    assert [result.detail for result in results if result.variation == "hash seed"] == [
        "in a process with hash seed 1",
        "in a process with hash seed 2",
    ]


def test_directories_are_listed_in_reverse_in_the_other_process(workspace):
    program = f"from foreword.programs.stability import reverse_listings; reverse_listings(); import os; print([entry.name for entry in os.scandir({workspace.path('w/.agents/skills')!r})])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['c', 'b', 'a']"


def test_the_error_of_the_other_process_is_reported(workspace):
    with pytest.raises(ForewordError, match="does not exist"):
        in_another_process({"cwd": workspace.path("nowhere")}, "1")
    assembler = Assembler(workspace.workspace(), "foreword")
    fields = {"cwd": workspace.path("nowhere")}
    results = [rebuild for rebuild in rebuilds(assembler, Agent(), NOW, fields) if rebuild.variation == "hash seed"]
    assert ["does not exist" in result.error for result in results] == [True, True]


def test_another_process_that_takes_too_long_is_killed(workspace, monkeypatch):
    """Otherwise leaving the block would wait for its end."""
    monkeypatch.setattr("foreword.programs.stability._TIMEOUT", 0.5)
    monkeypatch.setattr("foreword.programs.stability._PROGRAM", "import signal; signal.pause()")
    with pytest.raises(ForewordError, match=r"did not finish within 0\.5 seconds"):
        in_another_process(question(workspace), "1")


def test_a_rebuild_after_the_last_day_of_the_calendar_is_an_error(workspace):
    last = NOW.replace(year=9999, month=12, day=31, hour=23, minute=59)
    assembler = Assembler(workspace.workspace(), "pi")
    results = [rebuild for rebuild in rebuilds(assembler, Agent(), last, {}) if rebuild.variation == "clock"]
    assert [bool(result.error) for result in results] == [True, True]


def test_another_process_imports_nothing_from_the_current_directory(workspace, monkeypatch):
    """The current directory may be an untrusted workspace."""
    workspace({"w/json.py": "raise SystemExit('imported from the workspace')\n"})
    monkeypatch.chdir(workspace.path("w"))
    assert in_another_process({**question(workspace), "layout": "ion"}, "1").text
