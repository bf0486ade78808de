"""The lock file: what a repository's prompts consist of, so that a change to them is visible in review.

Each line of `foreword.lock` is one fact, and lines are sorted, so that a diff shows exactly what changed and merges rarely conflict:

    file AGENTS.md sha256:…                  a file, and the hash of its text
    prompt claude . sha256:…                 a layout and a folder, and the hash of the prompt
    prompt claude . reads AGENTS.md
    prompt claude . section project 120      an estimate of its tokens
    prompt claude . touch api/CLAUDE.md      it is sent when the agent touches a file

The same files give the same lines on every machine.
"""

from __future__ import annotations

import os

from ..errors import CallError, ForewordError
from ..sources.links import Reach
from ..sources.reader import Reader
from ..text.lines import printable
from ..text.tokens import estimate
from ..vocabulary import digest, replace, value
from .folder_assemblers import FolderAssemblers
from .project import ProjectPrompts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..engine.assembler import Assembler
    from ..wire.git_forms import LockForm
    from .question import Question

LOCK_FILE = "foreword.lock"
_HEADER = "# Written by `foreword lock`. Do not edit; `foreword lock --check` compares it with the files."
_MAX_PROMPTS = 2_000


@value
class LockedPrompt:
    """The prompt of a layout in a folder: the hash of its text, the files it is built from, and the tokens of its sections.

    At the root, `touched` are the files that it does not contain, but that are sent when the agent touches a file.
    """

    layout: str
    folder: str
    hash: str
    files: Sequence[str]
    sections: Sequence[tuple[str, int]]
    touched: Sequence[str] = ()


@value
class Lock:
    """What a repository's prompts consist of. `files` are the hashes of all files, by path."""

    prompts: Sequence[LockedPrompt]
    files: Mapping[str, str]


@value
class LockReport:
    """The current state, where the lock file is, how the file differs from it, in sentences, and whether there is one."""

    path: str
    lock: Lock
    differences: Sequence[str]
    exists: bool = True


def lock_report(question: Question) -> LockReport:
    """Return the current lock of a repository, and how its lock file differs."""
    project = ProjectPrompts(question)
    project.hide_ignored()
    current = read_prompts(project)
    while current.files and project.hide_ignored([os.path.join(project.root, path) for path in current.files]):
        current = read_prompts(project)  # another file may take the place of one that is hidden
    path = os.path.join(project.root, LOCK_FILE)
    return LockReport(path, current, _compare_with_file(path, project.root, current), os.path.lexists(path))


def lock_answer(report: LockReport) -> LockForm:
    """Return the JSON form of a report."""
    return {
        "path": printable(report.path),
        "prompts": [
            {
                "layout": prompt.layout,
                "folder": prompt.folder,
                "hash": prompt.hash,
                "tokens": sum(tokens for _, tokens in prompt.sections),
                "sections": [{"section": section, "tokens": tokens} for section, tokens in prompt.sections],
                "files": list(prompt.files),
                "touched": list(prompt.touched),
            }
            for prompt in report.lock.prompts
        ],
        "files": [{"path": path, "hash": hash} for path, hash in report.lock.files.items()],
        "differences": list(report.differences),
    }


def write_lock(report: LockReport) -> None:
    """Write the lock file. If it is a link, the link is replaced, not the file that it leads to."""
    import tempfile

    folder = os.path.dirname(report.path)
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".foreword-lock-", dir=folder)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(format_lock(report.lock))
            os.chmod(temporary, 0o644)
            os.replace(temporary, report.path)
        except OSError:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise CallError(f"{printable(report.path)} cannot be written: {error.strerror}") from None


def read_prompts(project: ProjectPrompts) -> Lock:
    """Build the prompt of every layout in use at the root, and in each folder where it contains other files."""
    prompts: list[LockedPrompt] = []
    hashes: dict[str, str] = {}
    for layout in project.layouts():
        at_root: set[str] = set()
        own = project.assembler(layout, project.root)
        below = FolderAssemblers(own, project.known)
        for folder in project.folders()[:_MAX_PROMPTS]:
            try:
                assembler = own if folder == project.root else project.assembler(layout, folder)
                below.share_layout(assembler, folder)
                prompt, files = _read_prompt(project, assembler, folder)
            except ForewordError:
                if folder == project.root:
                    raise
                continue  # a nested folder's own settings are refused
            if folder == project.root:
                at_root = set(files)
                touched = project.touched_files(assembler, at_root)
                prompt = replace(prompt, touched=tuple(touched))
                hashes.update(touched)
            elif not set(files) - at_root:
                continue
            prompts.append(prompt)
            hashes.update(files)
    prompts.sort(key=lambda prompt: (prompt.layout, prompt.folder))
    return Lock(prompts, dict(sorted(hashes.items())))


def _read_prompt(project: ProjectPrompts, assembler: Assembler, folder: str) -> tuple[LockedPrompt, dict[str, str]]:
    prompt = project.prompt(assembler)
    files = project.source_files(prompt)
    sections = project.portable_sections(prompt)
    tokens: dict[str, int] = {}
    for section, text in sections:
        tokens[section] = tokens.get(section, 0) + estimate(text)
    name = project.portable_text(printable(folder)).removeprefix("./")
    text = "\n".join(f"{section}\n{text}" for section, text in sections)
    return LockedPrompt(prompt.layout, name, digest(text), tuple(files), tuple(tokens.items())), files


# The file


def format_lock(lock: Lock) -> str:
    """Return the text of the lock file."""
    return "\n".join([_HEADER, *sorted(_lines(lock)), ""])


def _lines(lock: Lock) -> Iterator[str]:
    for path, hash in lock.files.items():
        yield f"file {_quote(path)} {hash or 'unreadable'}"
    for prompt in lock.prompts:
        start = f"prompt {_quote(prompt.layout)} {_quote(prompt.folder)}"
        yield f"{start} {prompt.hash}"
        yield from (f"{start} reads {_quote(path)}" for path in prompt.files)
        yield from (f"{start} touch {_quote(path)}" for path in prompt.touched)
        yield from (f"{start} section {_quote(section)} {tokens}" for section, tokens in prompt.sections)


def _quote(name: str) -> str:
    """Return a name as one word: in JSON if it contains a space, a quotation mark or a control character."""
    if name.isprintable() and " " not in name and '"' not in name and name:
        return name
    import json

    return json.dumps(name).replace(" ", "\\u0020")


def _unquote(word: str) -> str:
    if not word.startswith('"'):
        return word
    import json

    try:
        return str(json.loads(word))
    except ValueError:
        return word


def _compare_with_file(path: str, root: str, current: Lock) -> list[str]:
    reading = Reader(limit=16 << 20).read(path, Reach(root, root, can_be_allowed=False))
    if reading.fate == "absent":
        return [f"there is no {LOCK_FILE}; to create it, run: foreword lock"]
    if reading.fate not in ("used", "blank"):
        return [f"{LOCK_FILE} cannot be read: {reading.reason}"]
    locked = [line for line in reading.text.split("\n") if line and not line.startswith("#")]
    return list(compare_lines(locked, list(_lines(current))))


def compare_lines(locked: Iterable[str], current: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each fact that differs between two locks, unless another sentence already says it."""
    before, after = _facts(locked), _facts(current)
    changed = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    details = {key[1:3] for key in changed if key[0] in ("reads", "section")}
    for key in changed:
        prompt = ("prompt", *key[1:3])
        is_in_both = prompt in before and prompt in after
        if (key == prompt and is_in_both and key[1:3] in details) or (
            key[0] in ("reads", "section", "touch") and not is_in_both
        ):
            continue
        yield _describe(key, before.get(key), after.get(key))


def _facts(lines: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Return the facts by subject. A line that is not a fact, such as one of a merge conflict, counts as a separate fact."""
    facts: dict[tuple[str, ...], str] = {}
    for line in lines:
        words = [_unquote(word) for word in line.split(" ")]
        if words[0] == "file" and len(words) == 3:
            facts[("file", words[1])] = words[2]
        elif words[0] == "prompt" and len(words) == 4:
            facts[("prompt", words[1], words[2])] = words[3]
        elif words[0] == "prompt" and len(words) == 5 and words[3] in ("reads", "touch"):
            facts[(words[3], *words[1:3], words[4])] = ""
        elif words[0] == "prompt" and len(words) == 6 and words[3] == "section":
            facts[("section", *words[1:3], words[4])] = words[5]
        else:
            facts[("line", line)] = ""
    return facts


def _describe(key: tuple[str, ...], old: str | None, new: str | None) -> str:
    change = "is new" if old is None else "is gone" if new is None else "has changed"
    kind, *names = map(printable, key)
    if kind == "file":
        return f"{names[0]} {change}"
    if kind == "line":
        return f"{LOCK_FILE} contains an unexpected line: {names[0]}"
    place = f"{names[0]} at the root" if names[1] == "." else f"{names[0]} in {names[1]}"
    if kind == "prompt":
        return f"{place}: the prompt {change}"
    if kind == "touch":
        return f"{place}: {names[2]} is {'now' if old is None else 'no longer'} sent when a file is touched"
    if kind == "reads":
        return f"{place}: the prompt {'now reads' if old is None else 'no longer reads'} {names[2]}"
    if old is None or new is None:
        tokens = printable(new or old or "")
        return f"{place}: section {names[2]} {change} ({tokens} tokens)"
    return f"{place}: section {names[2]} has {printable(new)} tokens instead of {printable(old)}"
