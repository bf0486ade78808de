"""Says which files the instruction files of a repository name: they may be read through these, so that another name would break something."""

from __future__ import annotations

import os

from ..inspection.lint.agent_facts import names_file
from ..sources.instruction_files import find_instruction_files, instruction_file_patterns
from ..text.lines import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..layout.model import Layout
    from .repository_files import RepositoryFiles


class NamedFiles:
    """The files that the repository's instruction files name, which are searched when somebody asks."""

    def __init__(self, files: RepositoryFiles, layouts: Iterable[Layout]) -> None:
        self.files, self.layouts = files, layouts
        self._instruction_files: Sequence[str] | None = None

    def is_named(self, path: str) -> bool:
        """Whether an instruction file, or another file in the same folder, names this one, or it cannot be read, such as a link to nothing."""
        if self.files.read(path) is None:
            return True
        if self._instruction_files is None:
            patterns = instruction_file_patterns(self.layouts)
            found = find_instruction_files(self.files.real_root, patterns, self.files.listings).paths
            self._instruction_files = [printable(other) for other in found]
        folder = os.path.dirname(path)
        others = {*self._instruction_files, *(f"{folder}/{name}" for name in self.files.entries(folder))}
        sources = (self.files.read(other) for other in others)
        return any(names_file(source.text, path, source.path) for source in sources if source is not None)
