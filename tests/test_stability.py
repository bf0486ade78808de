"""Prompts built again in ways that should not matter: what is varied is really varied, and what moves is seen."""

import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from foreword import Agent, Assembler, Document, Tool
from foreword.building.build import build
from foreword.errors import ForewordError
from foreword.programs.stability import BackwardsDisk, in_another_process, rebuilds
from foreword.sources.files import Reader
from foreword.vocabulary import replace

NOW = datetime.fromisoformat("2026-03-07T08:55:05-06:00")


def again(tree, layout, agent=None, **options):
    assembler = Assembler(tree.workspace(options.pop("cwd", "w")), layout, **options)
    agent = agent or Agent(tools=[Tool("read"), Tool("shell")])
    fields = {**question(tree), "layout": layout, "tools": [{"name": tool.name} for tool in agent.tools]}
    first = assembler.prompt(agent, NOW)
    return first, list(rebuilds(assembler, agent, NOW, fields))


def question(tree):
    return {"cwd": tree.path("w"), "home": tree.path("home"), "now": NOW.isoformat()}


def moved(first, found):
    """What was varied where something else came out."""
    assert [each.error for each in found if each.prompt is None] == []
    return sorted({each.variation for each in found if each.prompt.text != first.text})


@pytest.fixture
def place(tree, skill):
    skills = {f"w/.agents/skills/{name}/SKILL.md": skill(name) for name in ("b", "a", "c")}
    return tree({"w/.git": None, "w/AGENTS.md": "Rules.\n", **skills})


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pod", "builder"])
def test_layouts_without_a_clock_give_the_same_bytes(place, layout):
    first, found = again(place, layout)
    assert moved(first, found) == []
    assert {each.variation for each in found} == {"clock", "directory", "environment", "listing", "hash seed"}


def test_a_clock_moves(place):
    assert moved(*again(place, "pi")) == ["clock"]


def test_a_date_moves_only_by_the_day(place):
    place({"w/AGENTS.md": "Today is {{ date }}.\n"})
    first, found = again(place, "ion")
    assert [each.how for each in found if each.prompt.text != first.text] == ["a day later"]


def test_a_variable_that_goes_by_the_order_of_the_environment_moves(place):
    def order(name, workspace):
        return ",".join(workspace.environment)

    tree_environment = place.workspace(environment={"A": "", "B": ""})
    assembler = Assembler(tree_environment, "builder", variables={"order": order})
    agent = Agent(base=Document("base", "[order:x]"))
    first = assembler.prompt(agent, NOW)
    found = [each for each in rebuilds(assembler, agent, NOW, {}) if each.variation == "environment"]
    assert (first.text, [each.prompt.text for each in found]) == ("A,B", ["B,A"])


def test_a_directory_that_is_reached_through_a_link_has_another_name(place):
    place({"link": Path(place.path("w"))})
    first, found = again(place, "foreword", cwd="link")
    hows = [each.how for each in found if each.variation == "directory" and each.prompt.text != first.text]
    assert hows == ["as the directory that the link points to"]


def test_directories_are_really_listed_backwards(place):
    folder = place.path("w/.agents/skills")
    with BackwardsDisk().scandir(folder) as listing:
        assert [entry.name for entry in listing] == ["c", "b", "a"]
    assert Reader(disk=BackwardsDisk()).entries(folder) == (["a", "b", "c"], None)


def test_the_seed_reaches_the_other_process(place, monkeypatch):
    """A module that Python itself loads at the start of a process writes down the seed it sees."""
    place(
        {"site/sitecustomize.py": f"import os; open({place.path('seen')!r}, 'a').write(os.environ['PYTHONHASHSEED'])\n"}
    )
    monkeypatch.setenv("PYTHONPATH", place.path("site"))
    _, found = again(place, "foreword")
    assert Path(place.path("seen")).read_text() == "1"
    assert [each.error for each in found] == [""] * len(found)
    Path(place.path("seen")).unlink()
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    again(place, "foreword")
    assert Path(place.path("seen")).read_text() == "2"


def test_a_stable_prompt_is_built_once_here_and_once_in_another_process(place, monkeypatch):
    built = []
    monkeypatch.setattr("foreword.engine.assembler.build", lambda *given: built.append(1) or build(*given))
    monkeypatch.setattr("foreword.programs.stability.in_another_process", lambda *_: built.append("another process"))
    assembler, agent = Assembler(replace(place.workspace(), environment=None), "foreword"), Agent()
    found = list(rebuilds(assembler, agent, NOW, question(place)))
    assert (built, moved(found[0].prompt, found)) == ([1], [])
    assert [each.variation for each in found][-3:] == ["environment", "listing", "hash seed"]


def test_where_another_process_gives_another_prompt_each_way_is_tried_on_its_own(place, monkeypatch):
    monkeypatch.setattr("foreword.programs.stability._id_in_another_process", lambda *_: "sha256:other")
    first, found = again(place, "foreword")
    assert moved(first, found) == []
    assert [each.how for each in found if each.variation == "hash seed"] == [
        "in a process with hash seed 1",
        "in a process with hash seed 2",
    ]


def test_directories_are_listed_backwards_in_the_other_process(place):
    program = f"from foreword.programs.stability import list_backwards; list_backwards(); import os; print([each.name for each in os.scandir({place.path('w/.agents/skills')!r})])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['c', 'b', 'a']"


def test_another_process_that_fails_says_why(place):
    with pytest.raises(ForewordError, match="does not exist"):
        in_another_process({"cwd": place.path("nowhere")}, "1")
    assembler = Assembler(place.workspace(), "foreword")
    found = [each for each in rebuilds(assembler, Agent(), NOW, {"layuot": "ion"}) if each.variation == "hash seed"]
    assert ["did you mean 'layout'?" in each.error for each in found] == [True, True]


def test_the_end_of_the_calendar_is_no_traceback(place):
    last = NOW.replace(year=9999, month=12, day=31, hour=23, minute=59)
    assembler = Assembler(place.workspace(), "pi")
    found = [each for each in rebuilds(assembler, Agent(), last, {}) if each.variation == "clock"]
    assert [bool(each.error) for each in found] == [True, True]
