"""Align copies of repositories, and ask the released agents whether each of them reads the sources as often as the plan says.

python -m peers --align FOLDER…          each FOLDER is a clone of a repository; it is not changed

The agents get only the Markdown files of the aligned repository, and of its settings only the keys that align has written: a hook or
an MCP server of a stranger's repository must not run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from foreword.packs.shipped import shipped_mirror
from foreword.programs.align.edits import read_json_key, set_json_key
from foreword.programs.align.model import Alignment, Instruction
from foreword.programs.align.plan import plan_alignment
from foreword.programs.align.reading import place_of
from foreword.programs.align.sources import comparable, count_copies, count_lines
from foreword.programs.align.upkeep import RECORD
from foreword.programs.align.write import write_changes
from foreword.programs.question import Question
from foreword.sources.shared_files import shared_files

from .install import Installed, RunError
from .programs import Message, Program, ask
from .recordings import Case
from .tree import Tree

_ENDINGS = (".md", ".mdc")
_MAX_SIZE = 1 << 20


def check_folders(folders: Sequence[str], programs: Sequence[tuple[Program, Installed]], scratch: Path) -> bool:
    """Align a copy of each repository, print what the plan and the programs say, and return whether all is well."""
    is_fine = True
    for folder in folders:
        copy = scratch / "align-copy"
        shutil.rmtree(copy, ignore_errors=True)
        _git(Path(folder).resolve(), "clone", "-q", "--shared", "--no-checkout", ".", str(copy))
        _git(copy, "checkout", "-q", "-f", "HEAD", check=False)  # a copy of a repository may lack large files
        commit = _git(copy, "rev-parse", "HEAD").strip()
        alignment, problems = _align(copy)
        problems += [row for program in programs for row in _check_program(alignment, copy, *program, scratch)]
        total = Counter(change.action for change in alignment.changes)
        changes = ", ".join(f"{count} {action}" for action, count in sorted(total.items())) or "no changes"
        ran = ", ".join(program.name for program, _ in programs if program.name in alignment.after)
        print(f"{Path(folder).name} {commit[:12]}: {changes}; asked {ran or 'no program'}", flush=True)
        for problem in problems:
            print(f"  {problem}", flush=True)
        is_fine = is_fine and not problems
    return is_fine


def _align(copy: Path) -> tuple[Alignment, list[str]]:
    """Align a repository, and return the alignment and what is wrong with its result: lost lines, or changes in a second run."""
    before = _lines(copy)
    question = Question({"cwd": str(copy), "home": str(copy.parent)})
    alignment = plan_alignment(question)
    write_changes(alignment)
    lost = before - _lines(copy)
    problems = [f"lost {len(lost)} lines: {sorted(lost)[0]!r}"] if lost else []
    again = plan_alignment(question).changes
    problems += [f"a second run would change {', '.join(row.path for row in again)}"] if again else []
    return alignment, problems


def _lines(copy: Path) -> set[str]:
    files, _ = shared_files(str(copy), True)
    return {line for name in files.names if name.endswith(_ENDINGS) for line in (files.text(name) or "").splitlines()}


def _check_program(
    alignment: Alignment, copy: Path, program: Program, installed: Installed, scratch: Path
) -> Iterator[str]:
    """Run a program in the aligned repository, and yield how it differs from the plan."""
    if program.name not in alignment.after:
        return
    after = alignment.after[program.name]
    states = {path: state for state in ("read", "missing", "repeated", "cut") for path in getattr(after, state)}
    files = [row for row in alignment.sources if row.kind == "file"]
    for event, sources in _runs(files, shipped_mirror(program.name).touch is not None):
        touch = f"repo/{place_of(sources[-1], True)[1]}" if event == "touch" else ""
        base = str(scratch / "runs" / f"align-{program.name}")
        shutil.rmtree(base, ignore_errors=True)
        tree = Tree(_files(copy, touch))
        tree.write(base)
        _create_links(copy, base)
        try:
            requests = ask(program, installed, Case("align", "repo", event, Tree(tree.files, touch=touch)), base)
        except RunError as error:
            yield f"{program.title}: not run: {error}"
            return
        for source in sources:
            count = _count(source, requests[-1])
            state = "read" if count == 1 else "repeated" if count else "missing"
            expected = states[source.path].replace("cut", "missing")
            if state != expected:
                yield f"{program.title} reads {source.path} {count} times; the plan says: {states[source.path]}"


def _runs(sources: list[Instruction], has_touch: bool) -> Iterator[tuple[str, list[Instruction]]]:
    """Yield an event and the sources that an agent needs then: those at the root when it starts, and one below when it touches a file."""
    root = [row for row in sources if not row.folder]
    below = [row for row in sources if row.folder][:1]
    if below and has_touch:
        yield "touch", [*root, *below]
    elif root:
        yield "start", root


def _count(source: Instruction, messages: Sequence[Message]) -> int:
    lines = [line for role, texts in messages if role != "tools" for text in texts for line in text.split("\n")]
    return count_copies(
        count_lines(map(comparable, source.lines)), count_lines(comparable(line.strip()) for line in lines)
    )


def _files(copy: Path, touch: str) -> dict[str, str]:
    """Return the files that programs may read, with their paths in the tree."""
    shared, _ = shared_files(str(copy), True)
    files = {
        f"repo/{name}": (copy / name).read_bytes().decode("utf-8", "surrogateescape")
        for name in shared.names
        if name.endswith(_ENDINGS)
        and name not in shared.links
        and os.path.isfile(copy / name)
        and os.path.getsize(copy / name) < _MAX_SIZE
    }
    record = json.loads(shared.text(RECORD) or "{}")
    for name, keys in record.items():
        text = ""
        for key in keys:
            text = set_json_key(text, key, read_json_key(shared.text(name) or "", key)) or text
        files[f"repo/{name}"] = text
    return {**files, **({touch: "x\n"} if touch else {})}


def _create_links(copy: Path, base: str) -> None:
    """Create the links that lead to another file or folder of the repository."""
    shared, _ = shared_files(str(copy), True)
    for name, target in shared.links.items():
        path = Path(base, "repo", name)
        if shared.resolve(name) != name and not shared.resolve(name).startswith("..") and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)


def _git(folder: Path, *arguments: str, check: bool = True) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=check, capture_output=True, text=True).stdout
