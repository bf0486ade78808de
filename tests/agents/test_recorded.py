"""Compare the layouts that mirror released agents with what those agents sent, as `make peers` recorded it.

A recording contains only our own lines and the format around each file; see `peers/reduce.py`.
"""

from __future__ import annotations

import tomllib
from dataclasses import replace

import pytest
from peers.compare import KNOWN_DIFFERENCES, PACK, documented_differences, has_layout, random_difference, verdict
from peers.programs import read_not_run, read_programs
from peers.recordings import GOLDEN, Case, cases, read_golden
from peers.reduce import files, reduce
from peers.tree import MARKER, Tree
from peers.trees import TREES

from foreword.packs.shipped import shipped_mirror

PROGRAMS = read_programs()
RECORDED = {path.stem: read_golden(path.stem) for path in sorted(GOLDEN.glob("*.json"))}
ALL_CASES = [
    pytest.param(PROGRAMS[name], case, id=f"{name}: {case.name}")
    for name, recording in RECORDED.items()
    for case in cases(name)
    if case.name in recording["cases"]
]
MIRRORED_CASES = [parameters for parameters in ALL_CASES if has_layout(parameters.values[0].name)]


def test_every_mirror_is_run_or_listed_with_a_reason():
    listed = {title.lower() for title in read_not_run()}
    assert sorted(path.stem for path in PACK.glob("*.toml") if path.stem not in {*PROGRAMS, *listed}) == []


def test_the_agents_that_most_people_use_are_recorded():
    assert {"claude", "codex", "copilot", "gemini", "opencode"} <= set(RECORDED) <= set(PROGRAMS)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_every_case_is_recorded(name):
    recording = RECORDED[name]
    assert recording["program"] == PROGRAMS[name].title
    assert list(recording["cases"]) == [case.name for case in cases(name)]


@pytest.mark.parametrize("name", sorted(filter(has_layout, RECORDED)))
def test_a_layout_states_the_recorded_size_of_the_own_part(name):
    program = shipped_mirror(name).program
    assert RECORDED[name]["own"] == {"prompt": program["prompt"], "tools": program["tools"]}


@pytest.mark.parametrize(("program", "case"), ALL_CASES)
def test_a_recording_contains_only_our_lines_and_the_format_around_them(program, case):
    recorded = RECORDED[program.name]["cases"][case.name]
    if case.data.is_compact:
        assert set(recorded) <= {"prefix", "files", "lines", "hash"}
        return
    messages = [(entry["role"], ["\n".join(entry["lines"])]) for entry in recorded["messages"]]
    again = reduce(messages, case.data, replace(program.form, unordered=None), "{base}")
    assert again == recorded["messages"]
    assert files(again, case.data) == recorded["files"]


@pytest.mark.parametrize(("program", "case"), MIRRORED_CASES)
def test_a_layout_produces_what_the_program_sent(program, case):
    agrees, sentence = verdict(program, case, RECORDED[program.name]["cases"][case.name])
    assert agrees, sentence


@pytest.mark.parametrize("name", sorted(name for name in PROGRAMS if has_layout(name)))
def test_a_layout_names_a_version_that_make_peers_runs(name):
    title, _, version = tomllib.loads((PACK / f"{name}.toml").read_text())["mirrors"].rpartition(" ")
    assert title == PROGRAMS[name].title
    assert version in PROGRAMS[name].versions


@pytest.mark.parametrize("name", sorted(KNOWN_DIFFERENCES))
def test_a_layout_says_how_it_is_known_to_differ(name):
    assert [
        case for case, sentence in KNOWN_DIFFERENCES[name].items() if sentence not in documented_differences(name)
    ] == []
    assert set(KNOWN_DIFFERENCES[name]) <= set(RECORDED[name]["cases"])


def test_a_random_tree_outside_a_repository_is_left_out_if_the_program_differs_there():
    def reason(program, cwd, is_git=False):
        return random_difference(program, Case("--seed 1", cwd, "start", Tree({}, (cwd,), is_git=is_git)))

    assert reason("qwen", "repo/a").startswith("Outside a repository") and reason("vibe", "repo/a")
    assert (reason("qwen", "repo"), reason("qwen", "repo/a", is_git=True), reason("codex", "repo/a")) == ("", "", "")


@pytest.mark.parametrize("name", sorted(set(TREES) - {"equal", "rules-same"}))
def test_every_marker_belongs_to_one_file(name):
    owners = {}
    for path, text in TREES[name].files.items():
        for marker in MARKER.findall(text):
            # The two files of a random worktree have one marker on purpose.
            owners.setdefault(marker, set()).add("worktree" if marker == "qx-worktree" else path)
    assert {marker: paths for marker, paths in owners.items() if len(paths) > 1} == {}
