"""Compare two recordings, or a recording with the prompt that the layout of the same name builds."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from foreword import Agent, Conversations, Prompt, Turn, Workspace, assemble

from .programs import Program
from .recordings import Case
from .reduce import Format, Message, added_messages, files, reduce, without_gaps
from .tree import write_files

KNOWN_DIFFERENCES = tomllib.loads((Path(__file__).parent / "known.toml").read_text())
PACK = Path(__file__).parents[1] / "src/foreword/packs/agents"

Recorded = dict[str, Any]


def has_layout(program: str) -> bool:
    """Whether Foreword ships a layout that mirrors the program."""
    return (PACK / f"{program}.toml").exists()


def known_difference(program: str, case: Case) -> str:
    """Return the sentence in the layout's `differs` that explains its difference from this case's recording, or an empty string."""
    return str(KNOWN_DIFFERENCES.get(program, {}).get(case.name, ""))


def random_difference(program: str, case: Case) -> str:
    """Return why a random tree is left out, or empty: outside a repository, programs may differ in what they do above the working directory."""
    if case.data.is_git or case.cwd == "repo":
        return ""
    known = KNOWN_DIFFERENCES.get(program, {}).items()
    return next((str(sentence) for name, sentence in known if name.startswith("outside-git")), "")


def documented_differences(program: str) -> list[str]:
    """Return the sentences in which a layout describes how it differs from the program."""
    sentences = tomllib.loads((PACK / f"{program}.toml").read_text()).get("differs", [])
    return [str(sentence) for sentence in sentences]


def verdict(program: Program, case: Case, recorded: Recorded) -> tuple[bool, str]:
    """Return whether the layout agrees with a recording or differs as expected, and the sentence to print."""
    problem = difference_to_layout(program, case, recorded)
    known = known_difference(program.name, case)
    if known:
        return bool(problem), f"known: {known}" if problem else "no longer differs: remove it from peers/known.toml"
    return not problem, problem or "same"


def first_difference(recorded: Recorded | None, result: Recorded) -> str:
    """Return the first difference between a recording and a new result, in one sentence, or an empty string if there is none."""
    if recorded is None:
        return "differs: there is no recording; run with --record"
    if recorded.get("prefix") != result.get("prefix"):
        return f"differs: the prefix was {recorded.get('prefix')} and is {result.get('prefix')}"
    if "hash" in recorded:
        return _compact_difference(recorded, result)
    return _difference(recorded["files"], result["files"], "file") or _difference(
        _rows(recorded), _rows(result), "line"
    )


def assemble_case(program: Program, case: Case, base: str) -> Recorded:
    """Return what the program's layout sends for the tree in `base` (at the start, on a touch or after an edit), as a recording."""
    workspace = Workspace(
        os.path.join(base, case.cwd),
        home=os.path.join(base, "home"),
        platform="linux",
        environment=case.data.environment(base),
    )
    if case.event == "start":
        return _reduced(prompt_messages(assemble(workspace, Agent(), program.name)), program.form, case, base)
    conversation = Conversations().open("peer", workspace, Agent(), program.name, mirror=True)
    if case.event == "touch":
        sent = conversation.touch([os.path.join(base, case.data.touch)]).messages
        # A touch sends each file on its own, so nothing was sorted in its recording.
        form = replace(program.form, unordered=None)
        return _reduced([(message["role"], [message["content"]]) for message in sent], form, case, base)
    first = conversation.turn("Hello.")
    write_files(base, case.data.edit)
    second = conversation.turn("More.", first.history)
    is_kept, messages = added_messages(_turn_messages(first), _turn_messages(second))
    return {"prefix": "kept" if is_kept else "changed", **_reduced(messages, program.form, case, base)}


def _reduced(messages: Sequence[Message], form: Format, case: Case, base: str) -> Recorded:
    entries = reduce(messages, case.data, form, base)
    return {"files": files(entries, case.data), "messages": entries}


def _turn_messages(turn: Turn) -> list[Message]:
    return [("system", [turn.system]), *((message["role"], [message["content"]]) for message in turn.messages)]


def prompt_messages(prompt: Prompt) -> list[Message]:
    """Return the role and text of each message in a prompt. Adjacent sections with the same role form one message."""
    spans: list[tuple[str, int, int]] = []
    for passage in prompt.passages:
        role = str(getattr(passage, "role", "system"))
        if spans and spans[-1][0] == role:
            spans[-1] = (role, spans[-1][1], passage.end)
        else:
            spans.append((role, passage.start, passage.end))
    return [(role, [prompt.text[start:end]]) for role, start, end in spans]


def compact(recorded: Recorded, case: Case) -> Recorded:
    """Return the recording of a compact tree: the files, and the number and hash of the lines that a layout must reproduce."""
    rows = _rows(_without_output(recorded, case) if case.event == "touch" else recorded, gaps=False)
    if case.data.is_sorted:
        rows.sort()
    digest = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    kept: Recorded = {key: recorded[key] for key in ("prefix", "files") if key in recorded}
    files = [file for file in kept["files"] if file[0] != "tools"]
    return {**kept, "files": sorted(files) if case.data.is_sorted else files, "lines": len(rows), "hash": digest}


def _compact_difference(recorded: Recorded, found: Recorded) -> str:
    for key in ("files", "lines", "hash"):
        if key == "files" and (difference := _difference(recorded["files"], found["files"], "file")):
            return difference
        if recorded[key] != found[key]:
            return f"differs: {key} is {recorded[key]} in the program and {found[key]} here"
    return ""


def difference_to_layout(program: Program, case: Case, recorded: Recorded) -> str:
    """Return the first difference between a recording and the layout, in one sentence, or an empty string if there is none.

    Files, order, roles, texts and cuts must be the same. Tool descriptions are not compared, because layouts do not control them, and
    layouts always end lines with \\n.
    """
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.realpath(folder)
        case.data.write(base)
        built = assemble_case(program, case, base)
    if "hash" in recorded:
        return _compact_difference(recorded, compact(built, case))
    expected = [file for file in recorded["files"] if file[0] != "tools"]
    if case.event == "touch":
        recorded = _without_output(recorded, case)
    if case.event == "edit" and recorded["prefix"] != built["prefix"]:
        return f"differs: the prefix is {recorded['prefix']} in the program and {built['prefix']} here"
    return _difference(expected, built["files"], "file") or _difference(
        _rows(recorded, gaps=False), _rows(built, gaps=False), "line"
    )


def _without_output(recorded: Recorded, case: Case) -> Recorded:
    """Return a touch's recording without the touched file's text, which is at the start of the tool result."""
    file_lines = {"", *case.data.files.get(case.data.touch, "").splitlines()}
    messages = []
    for entry in recorded["messages"]:
        lines = list(entry["lines"])
        while entry["role"] == "tool" and lines and lines[0] in file_lines:
            lines.pop(0)
        messages.append({**entry, "lines": lines})
    return {**recorded, "messages": messages}


def _rows(recorded: Recorded, gaps: bool = True) -> list[tuple[str, str]]:
    """Return pairs of role and line. Without `gaps`, these are what a layout must reproduce: no tool descriptions."""
    return [
        (entry["role"], line)
        for entry in recorded["messages"]
        if gaps or entry["role"] != "tools"
        for line in (entry["lines"] if gaps else without_gaps(entry["lines"]))
    ]


def _difference(expected: Sequence[Sequence[str]], found: Sequence[Sequence[str]], what: str) -> str:
    """Describe the first pair that differs, or return an empty string if there is none."""
    for index in range(max(len(expected), len(found))):
        expected_row = tuple(expected[index]) if index < len(expected) else "nothing"
        found_row = tuple(found[index]) if index < len(found) else "nothing"
        if expected_row != found_row:
            return f"differs: {what} {index + 1} is {expected_row} in the program and {found_row} here"
    return ""
