"""What an experiment is about: the instruction files of a repository, the arms made from them, and what the arms do not have."""

from __future__ import annotations

import os
import posixpath

from ...errors import CallError, show
from ...findings import finding
from ...sources.environment import resolve_workspace
from ...sources.git import require_git
from ...sources.paths import is_inside
from ...sources.reader import Reader
from ...text.imports import import_tokens
from ...text.leaving_out import leave_out
from ...text.lines import printable
from ...vocabulary import value
from ..files_read import files_read
from ..project import ProjectPrompts
from .arms import arms_for
from .clones import read_tracked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...sources.git import Git
    from ...vocabulary import Finding, Workspace
    from ..question import Question
    from .clones import Tracked
    from .design import Arm


@value
class ExperimentSubject:
    """A repository with its instruction files, by path relative to the root. `links` are links to them. `extra` are untracked paths."""

    workspace: Workspace
    git: Git
    tracked: Tracked
    texts: Mapping[str, str]
    links: Mapping[str, str]
    extra: Sequence[str]
    findings: Sequence[Finding]

    @property
    def folder(self) -> str:
        """The working directory, relative to the root."""
        return os.path.relpath(self.workspace.cwd, self.git.root)

    def edits(self, arm: Arm) -> dict[str, str | None]:
        """Return the new text of each file that an arm changes, or None for one that it does not have."""
        edits = leave_out(self.texts, arm.selections)
        gone = {link: None for link, target in self.links.items() if target in edits and edits[target] is None}
        return {**edits, **gone}


def read_subject(question: Question, extra: Sequence[str]) -> ExperimentSubject:
    """Read the repository's files. Raises a CallError if there is none, or if it cannot be cloned."""
    reader = Reader()
    workspace = resolve_workspace(question.workspace, reader)
    git = require_git(workspace, reader, "effect")
    tracked, paths = read_tracked(git), [_extra_path(path, workspace, git.root) for path in extra]
    findings = list(_submodule_findings(tracked, paths, git.root))
    known = set(tracked.files)
    found = [os.path.relpath(path, git.root) for path in ProjectPrompts(question.portable(), git.root).files()]
    copied = [path for path in found if path in known or any(is_inside(path, top) for top in paths)]
    links = {path: _link_target(path, git.root) for path in copied if os.path.islink(os.path.join(git.root, path))}
    texts = _read_texts([path for path in copied if path not in links], known, git.root)
    left_out = [path for path in found if path not in copied]
    findings += [
        finding("effect-left-out", f"git does not track {path}, so no arm has it; copy it with --with {path}", path)
        for path in map(printable, left_out)
    ]
    return ExperimentSubject(workspace, git, tracked, texts, links, paths, findings)


def _extra_path(path: str, workspace: Workspace, root: str) -> str:
    """Return a path of `--with`, relative to the root."""
    full = os.path.normpath(os.path.join(workspace.cwd, path))
    if not os.path.lexists(full):
        raise CallError(f"--with {show(path)}: the path does not exist")
    if not is_inside(full, root) or full == root or ".git" in os.path.relpath(full, root).split(os.sep):
        raise CallError(f"--with {show(path)}: the path must be in the repository {printable(root)}")
    return os.path.relpath(full, root)


def _submodule_findings(tracked: Tracked, extra: Sequence[str], root: str) -> Iterable[Finding]:
    for path, _ in tracked.submodules:
        folder = os.path.join(root, path)
        if path in extra or not os.path.isdir(folder) or not os.listdir(folder):
            continue
        name = printable(path)
        yield finding(
            "effect-left-out", f"the submodule {name} is empty in every arm; copy its files with --with {name}", name
        )


def _link_target(path: str, root: str) -> str:
    return os.path.relpath(os.path.realpath(os.path.join(root, path)), os.path.realpath(root))


def _read_texts(paths: Sequence[str], tracked: set[str], root: str) -> dict[str, str]:
    """Read instruction files, and the tracked files that they import."""
    texts: dict[str, str] = {}
    pending = list(paths)
    while pending:
        path = pending.pop(0)
        content = Reader().read_data(os.path.join(root, path)) if path not in texts else b""
        if isinstance(content, bytes) and content.strip():
            texts[path] = content.decode("utf-8", "surrogateescape")
            names = (token.name for token in import_tokens(texts[path], "markdown"))
            targets = (posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) for name in names)
            pending += [target for target in targets if target in tracked]
    return texts


# What the arms do not have


def compare_with_arms(question: Question, subject: ExperimentSubject, clone: str) -> list[Finding]:
    """Say what differs between the checkout and the arm "everything" for each agent in use, and what every arm still has."""
    root = subject.git.root
    project = ProjectPrompts(question.portable(), root)
    outside: dict[str, list[str]] = {}
    missing: dict[str, list[str]] = {}
    names = project.layouts()
    for name in names:
        here = files_read(question, name, subject.workspace.cwd, root)
        there = files_read(question, name, os.path.join(clone, subject.folder), clone)
        for path in here - there:
            missing.setdefault(path, []).append(name or "foreword")
        for path in there:
            if os.path.isabs(path):
                outside.setdefault(path, []).append(name or "foreword")
    known = {problem.path for problem in subject.findings}
    findings = [
        finding(
            "effect-outside",
            f"every arm still has {path}, which is outside the repository ({', '.join(readers)})",
            path,
        )
        for path, readers in outside.items()
    ]
    findings += [
        finding("effect-left-out", f"no arm has {path}, which the checkout has ({', '.join(readers)})", path)
        for path, readers in sorted(missing.items())
        if path not in known
    ]
    message = (
        "the arms are in another folder than the checkout: trust, approvals, memory and settings that an agent keeps for a folder do "
        "not apply in them"
    )
    return [*findings, finding("effect-folder", message)]


def first_arms(how: str, subject: ExperimentSubject) -> list[Arm]:
    """Return the arms of the first stage. A file may be named relative to the working directory."""
    relative = posixpath.normpath(posixpath.join(subject.folder, how))
    return arms_for(relative if relative in subject.texts else how, subject.texts)
