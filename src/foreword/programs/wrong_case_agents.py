"""Find files that released agents would read if their names had the right case."""

from __future__ import annotations

from posixpath import relpath

from ..findings import finding
from ..inspection.lint.agent_facts import join_names
from .wrong_case import CASE_CHECK, is_page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..inspection.lint.agent_facts import Visit
    from ..vocabulary import Finding
    from .repository_files import RepositoryFiles


class WrongCaseNames:
    """Collects the files that released agents would read if their names had the right case, with the agents."""

    def __init__(self, files: RepositoryFiles) -> None:
        self.files = files
        self.agents: dict[tuple[str, str], dict[str, None]] = {}
        self.named: set[str] = set()
        self._names: dict[str, Mapping[str, list[str]]] = {}

    def visit(self, visit: Visit) -> None:
        """Note the names that differ only in case from one that this agent looked for in vain.

        A file below the root whose path is in an instruction file has its name on purpose.
        """
        for candidate in visit.candidates_in_repository("absent"):
            folder, _, expected = candidate.path.rpartition("/")
            for name in self._names_by_lower_case(folder).get(expected.lower(), ()):
                path = f"{folder}/{name}"
                if name == expected or path in visit.candidates:
                    continue
                self.agents.setdefault((path, expected), {})[visit.agent] = None
                if folder != visit.root and any(relpath(path, visit.root) in text for text in visit.loaded.values()):
                    self.named.add(path)

    def findings(self) -> Iterator[Finding]:
        for (path, expected), agents in self.agents.items():
            folder, _, name = path.rpartition("/")
            entries = self.files.entries(folder)
            if (
                entries.get(name) == "file"
                and path not in self.named
                and not is_page(name, folder, self.files.root, entries)
            ):
                message = f"{path} was not read: it must be named {expected} for {join_names(sorted(agents))}"
                yield finding(CASE_CHECK, message, path)

    def _names_by_lower_case(self, folder: str) -> Mapping[str, list[str]]:
        if folder not in self._names:
            names: dict[str, list[str]] = {}
            for name in self.files.entries(folder):
                names.setdefault(name.lower(), []).append(name)
            self._names[folder] = names
        return self._names[folder]
