"""On random trees, `agents`, `why`, `show`, `touch` and `lint` say the same about every file, for every agent."""

import os
import random
import tempfile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from peers.odd_trees import odd_tree

from foreword.inspection.agents import OWN_REFUSAL
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
AGENTS = sorted(all_mirrors(WORKSPACE, Reader(), None)[0])


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


@given(numbers)
@settings(max_examples=4)
def test_lint_calls_no_file_unread_that_is_read(top, number):
    _, fields, verdicts = write(number, top)
    for found in answer("lint", fields)["findings"]:
        if found["code"] != "unread-file" or "working in" in found["message"]:
            continue
        named = [name for name in AGENTS if name.split("-")[0] in found["message"].lower()]
        for name in named:
            verdict = verdicts[name].get(found["path"])
            assert verdict is None or verdict["verdict"] not in IN_PROMPT, (number, name, found, verdict)
