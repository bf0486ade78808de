"""On random trees, `agents`, `why`, `show`, `touch` and `lint` say the same about every file, for every agent."""

import os
import random
import re
import tempfile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from peers.odd_trees import odd_tree

from foreword.inspection.agents import OWN_REFUSAL
from foreword.inspection.lint.agent_facts import agent_name
from foreword.packs.mirrors import all_mirrors
from foreword.programs.questions import answer
from foreword.sources.environment import resolve_workspace
from foreword.sources.reader import Reader
from foreword.vocabulary import Workspace

FATES = {
    **{"loaded": "used", "listed": "used", "cut": "cut", "shadowed": "shadowed", "copy": "duplicate", "blank": "blank"},
    **{"unused": "unused", "on-touch": "waiting", "never": "unread"},
}
IN_PROMPT = ("loaded", "listed", "cut")
READ_LATER = ("on-touch", "elsewhere")
numbers = st.integers(1_001, 1_000_000)
WORKSPACE = resolve_workspace(Workspace(os.path.dirname(__file__)), Reader())
MIRRORS = all_mirrors(WORKSPACE, Reader(), None)[0]
AGENTS = sorted(MIRRORS)
# What the table of agents may say about a file that lint reports for an agent.
VERDICTS = {
    "unread-file": {"shadowed", "never", "elsewhere", "copy", "blank", "unused", "on-touch"},
    "cut-file": {"cut"},
    "blank-file": {"blank", "loaded"},  # some programs send a blank file
    # Nobody works in the hidden folder of another agent, where these would be read.
    "misplaced-file": {"never", "elsewhere", "on-touch", "shadowed", "copy"},
    "unmatched-rule": {"on-touch"},
    "file-case": {"never", "elsewhere", "on-touch"},
}


@pytest.fixture(scope="module")
def top():
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.realpath(folder)


def write(number, top):
    """Write a tree to a new folder. Returns the workspace's root, the fields of a question about it, and the verdicts on its files by agent."""
    tree, base = odd_tree(number), tempfile.mkdtemp(dir=top)
    tree.write(base)
    fields = {"cwd": os.path.join(base, tree.cwds[0]), "home": os.path.join(base, "home")}
    table = answer("agents", {**fields, "layouts": AGENTS})
    verdicts = {
        name: {
            row["path"]: verdict for row in table["files"] for verdict in row["verdicts"] if verdict["agent"] == name
        }
        for name in AGENTS
    }
    return table["root"], fields, verdicts


def is_own_refusal(verdict):
    """Whether the program reads a file that Foreword refuses to read."""
    return OWN_REFUSAL in verdict["reason"]


@given(numbers)
@settings(max_examples=4)
def test_agents_and_show_agree(top, number):
    _, fields, verdicts = write(number, top)
    for name, by_path in verdicts.items():
        fates = {row["path"]: row["fate"] for row in answer("show", {**fields, "layout": name})["candidates"]}
        for path, verdict in by_path.items():
            is_in_prompt = verdict["verdict"] in IN_PROMPT and not is_own_refusal(verdict)
            assert is_in_prompt == (fates.get(path) in ("used", "cut")), (number, name, path, verdict, fates.get(path))
            if is_in_prompt or fates.get(path) in ("shadowed", "duplicate", "blank", "unused"):
                assert FATES[verdict["verdict"]] == fates[path], (number, name, path, verdict)


@given(numbers)
@example(29895)  # a/b/agents.md, which Copilot reads in any case
@example(407109)  # the working directory is hidden
@settings(max_examples=4)
def test_agents_and_why_agree(top, number):
    root, fields, verdicts = write(number, top)
    choose = random.Random(number)
    for name in choose.sample(AGENTS, 3):
        inside = {path: verdict for path, verdict in verdicts[name].items() if path.startswith(f"{root}/")}
        for path in choose.sample(sorted(inside), min(4, len(inside))):
            verdict = inside[path]
            answers = answer("why", {**fields, "layout": name, "path": path})
            row = next(row for row in answers if row["path"] == path)
            if is_own_refusal(verdict):
                continue
            assert row["fate"] == FATES.get(verdict["verdict"], verdict["verdict"]), (number, name, path, verdict, row)
            assert verdict["reason"] in row["reason"] or row["fate"] == "unread", (number, name, path, verdict, row)


@given(numbers)
@settings(max_examples=4)
def test_agents_and_touch_agree(top, number):
    root, fields, verdicts = write(number, top)
    folder = random.Random(number).choice(("", "a", "a/b", "ü"))
    touched = os.path.join(fields["cwd"], folder, "z.py")
    for name, by_path in verdicts.items():
        rows = answer("touch", {**fields, "layout": name, "paths": [touched]})["candidates"]
        sent = {row["path"] for row in rows if row["fate"] in ("used", "cut")}
        for path in sent & by_path.keys():
            assert by_path[path]["verdict"] == "on-touch", (number, name, path, by_path[path])
        for path, verdict in by_path.items():
            # Of the files that wait for a touch, those of a folder are named by it, and those of a pattern by the pattern.
            waits_for = os.path.join(root, verdict["target"].removesuffix("**"))
            is_folder = verdict["reason"].startswith("it waits for a file in ") and verdict["target"].endswith("/**")
            if verdict["verdict"] == "on-touch" and is_folder and touched.startswith(waits_for):
                assert path in sent or any(row["path"] == path for row in rows), (number, name, path, verdict)


def agents_named_in(message):
    return [name for name in AGENTS if re.search(rf"\b{re.escape(agent_name(MIRRORS[name]))}\b", message)]


@given(numbers)
@settings(max_examples=4)
def test_agents_and_lint_agree(top, number):
    _, fields, verdicts = write(number, top)
    for found in answer("lint", fields)["findings"]:
        if found["code"] not in VERDICTS or "working in" in found["message"]:
            continue
        for name in agents_named_in(found["message"]):
            verdict = verdicts[name].get(found["path"])
            assert verdict is None or verdict["verdict"] in VERDICTS[found["code"]], (number, name, found, verdict)


@given(numbers)
@settings(max_examples=2)
def test_lint_does_not_call_a_menu_cut_that_agents_list(top, number):
    _, fields, _ = write(number, top)
    skills = os.path.join(fields["cwd"], ".claude", "skills")
    for index in range(30):
        os.makedirs(os.path.join(skills, f"menu{index}"))
        with open(os.path.join(skills, f"menu{index}", "SKILL.md"), "w") as file:
            file.write(f"---\nname: menu{index}\ndescription: {'d' * 900}\n---\nX.\n")
    listed = {
        row["path"] for row in answer("show", {**fields, "layout": "claude"})["candidates"] if row["fate"] == "used"
    }
    cut = [found for found in answer("lint", fields)["findings"] if found["code"] == "cut-menu"]
    assert all(found["path"] in listed for found in cut if "Claude Code lists" in found["message"])
    assert any("Claude Code lists" in found["message"] for found in cut)
