"""One agent in the folders below the working directory: builds its prompt only where something new may be said about it."""

from __future__ import annotations

import os

from ..sources.finder import walked_directories
from ..sources.places import Known
from ..sources.reader import Reader
from ..sources.without_files import DiskWithout
from .folder_assemblers import FolderAssemblers
from .quiet_folders import QuietFolders, rule_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..engine.assembler import Assembler
    from ..inspection.lint.agent_facts import Facts, Visit
    from .quiet_folders import FolderTexts


class AgentBelow:
    """One agent in folders below the one in which `visit` was made by its assembler."""

    def __init__(self, assembler: Assembler, visit: Visit, texts: FolderTexts, known: Known) -> None:
        self._quiet = QuietFolders(visit.layout, visit, texts, known.walked)
        self._all = FolderAssemblers(assembler, known)
        self._without_rules = FolderAssemblers(assembler, known, _reader_without_rules(assembler, known))

    def visit(
        self, folder: str, real: str, facts: Facts, check: Callable[[Assembler, str], Visit | None]
    ) -> Sequence[tuple[str, str | None]]:
        """Check the agent in a folder, or repeat what was said about a folder like it, and return the files that it may then read.

        `real` is the path of the folder, if that differs from the printable one. Only repeated files are returned, each with the paths
        for which it waits, if it does.
        """
        is_usual = real == folder and self._all.has_usual_settings(folder)
        likeness = self._quiet.likeness(folder) if is_usual else None
        facts.news.clear()
        files = self._quiet.repeat(folder, likeness, facts) if likeness else None
        if files is not None:
            return files
        is_short = is_usual and self._quiet.can_ignore_rules(folder)
        visit = check((self._without_rules if is_short else self._all).assembler(real), folder)
        if visit and likeness:
            self._quiet.learn(folder, likeness, visit, facts)
        return ()


def _reader_without_rules(assembler: Assembler, known: Known) -> Callable[[], Reader]:
    """Return a function that creates readers for which the working directory, and those above it, have no folders of rules.

    These rules were checked in the working directory, and there may be thousands of them.
    """
    rules = rule_folders(assembler.layout())
    folders = walked_directories("git", assembler.plan().workspace)
    disk, own = DiskWithout(os.path.join(folder, name) for folder in folders for name in rules), Known()
    own.walked = known.walked
    return lambda: Reader(disk=disk, known=own)
