"""Show and record which of a workspace's files a user trusts: `foreword trust`."""

from __future__ import annotations

import os

from ..errors import CallError, ForewordError
from ..sources.environment import resolve_workspace
from ..sources.places import real_path
from ..sources.reader import Reader
from ..sources.readings import Reading
from ..sources.trust import Trust
from ..sources.trust_record import SUFFIX, read_record, trust_folder
from ..sources.trusted_text import line_runs
from ..text.lines import printable
from ..vocabulary import value
from .project import ProjectPrompts
from .touch_candidates import touch_candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..wire.git_forms import TrustForm
    from .question import Question


@value
class TrustedFile:
    """A file that a workspace contributes to prompts: its path relative to the root, its hash, and whether it is `trusted`, `changed` or `new`.

    `lines` are the first and last lines of the parts that are not in the trusted ref, if only some of them are not.
    """

    path: str
    hash: str
    state: str
    lines: Sequence[tuple[int, int]] = ()


@value
class TrustedWorkspace:
    """A workspace with a record: its root, the number of files, and the trusted ref."""

    root: str
    files: int
    ref: str = ""


class Trusting:
    """The files of one workspace, and which of them the user has accepted."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.workspace = resolve_workspace(question.workspace, Reader())
        self._trust = Trust(self.workspace, "ask")
        self.record = self._trust.record
        self._collected: dict[str, str] | None = None

    @property
    def root(self) -> str:
        return self.workspace.root or self.workspace.cwd

    def files(self) -> list[TrustedFile]:
        """Return everything that the workspace contributes to prompts, for all layouts in use and in all folders with instructions."""
        return [self._file(path, hash) for path, hash in sorted(self._collect().items())]

    def _file(self, path: str, hash: str) -> TrustedFile:
        known = self.record.files.get(path)
        state = "new" if known is None else "trusted" if known == hash else "changed"
        lines: Sequence[tuple[int, int]] = ()
        if state != "trusted" and self.record.ref:
            is_in_ref, lines = self._compare_with_ref(path)
            state = "trusted" if is_in_ref else "changed" if lines else state
        return TrustedFile(printable(path), hash, state, lines)

    def _compare_with_ref(self, path: str) -> tuple[bool, Sequence[tuple[int, int]]]:
        """Return whether the trusted ref has this version of a file and, if not, which of its lines it does not have."""
        file = os.path.join(self.root, path)
        data = Reader().read_data(file)
        if isinstance(data, Reading):
            return False, ()
        real = real_path(file)
        if self._trust.is_in_ref(path, data, real):
            return True, ()
        check = self._trust.check_lines(file, data, real)
        if check is None:
            return False, ()
        trusted = [
            is_trusted or not line.strip() for is_trusted, line in zip(check.lines, data.split(b"\n"), strict=True)
        ]
        return False, [(first + 1, last + 1) for first, last in line_runs(trusted, wanted=False)]

    def accept(self) -> None:
        """Record the files as they are now."""
        self.record.save(self._collect(), self.record.ref)

    def trust_ref(self, ref: str) -> None:
        """Trust everything in the history of a branch or tag, besides the files that were accepted."""
        self.record.save(self.record.files, self._full_ref(ref))
        self._trust = Trust(self.workspace, "ask")
        self.record = self._trust.record

    def _full_ref(self, ref: str) -> str:
        """Return the full name of a branch or tag. Raises a CallError if there is none."""
        from ..sources.git import open_git
        from ..sources.trusted_versions import full_ref

        reasons: list[str] = []
        git = open_git(self.workspace, Reader(), reasons.append)
        if git is None:
            raise CallError(f"--ref {ref}: {reasons[0] if reasons else 'the workspace is not a git repository'}")
        return full_ref(git, ref)

    def _collect(self) -> dict[str, str]:
        """Build every prompt with a check that accepts and remembers each file."""
        if self._collected is None:
            collected = Trust(self.workspace, "off")
            project = ProjectPrompts(self.question)
            for layout in dict.fromkeys((*project.layouts(), "")):
                for folder in project.folders():
                    assembler = project.assembler(layout, folder)
                    assembler.trust = collected
                    try:
                        project.prompt(assembler)
                        touch_candidates(assembler, [folder])
                    except ForewordError:  # a layout that cannot be used here contributes nothing
                        continue
            self._collected = collected.read_files
        return self._collected


def trusted_workspaces(question: Question) -> list[TrustedWorkspace]:
    """Return all workspaces with a record."""
    workspace = resolve_workspace(question.workspace, Reader())
    folder = trust_folder(workspace, "")
    rows = []
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIX))
    except FileNotFoundError:
        names = []
    except OSError as error:
        raise CallError(f"{printable(folder)} cannot be read: {error.strerror}") from None
    for name in names:
        root, ref, files = read_record(os.path.join(folder, name))
        if root and (files or ref):
            rows.append(TrustedWorkspace(printable(root), len(files), printable(ref)))
    return sorted(rows, key=lambda row: row.root)


def trust_answer(
    root: str, ref: str, files: Sequence[TrustedFile], workspaces: Sequence[TrustedWorkspace], is_accepted: bool
) -> TrustForm:
    """Return the JSON form of an answer."""
    return {
        "root": printable(root),
        "ref": ref or None,
        "accepted": is_accepted,
        "files": [
            {"path": row.path, "hash": row.hash, "state": row.state, "lines": [list(run) for run in row.lines]}
            for row in files
        ],
        "workspaces": [{"root": row.root, "files": row.files, "ref": row.ref or None} for row in workspaces],
    }
