"""What each agent reads of the sources, if files were changed: once, not at all, more than once, or only a part."""

from __future__ import annotations

from ...sources.globs import matches_glob
from ...sources.search import SKILL_FILE
from .model import AgentReading
from .sources import comparable, count_copies, count_lines, sample_path
from .views import Views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...layout.model import Layout
    from ...sources.overlay import SharedFiles
    from .model import Contents, Instruction
    from .views import Read

_TOUCHED_NAME = "file"
_PROJECT_PLACES = ("cwd", "root", "walk", "between", "down")


class Mirrors:
    """What agents read of a repository's sources, by the names of their layouts.

    `copies` are the generated files, each with the path of its source.
    """

    def __init__(
        self,
        files: SharedFiles,
        layouts: Mapping[str, Layout],
        sources: Sequence[Instruction],
        copies: Mapping[str, str],
    ) -> None:
        self.layouts, self.sources, self.copies = layouts, sources, copies
        self.views = Views(files, layouts)
        self._lines = {source.path: count_lines(map(comparable, source.lines)) for source in sources}
        self._patterns = {name: tuple(_patterns(layout)) for name, layout in layouts.items()}
        self._concerns: dict[tuple[str, str], bool] = {}
        self._counts: dict[str, Mapping[str, int]] = {}
        self._states: dict[tuple[str, int, frozenset[tuple[str, str]]], str] = {}

    def concerns(self, agent: str, path: str) -> bool:
        """Whether an agent looks for a file at this path, or for a skill in a folder at this path."""
        if (agent, path) not in self._concerns:
            paths = path, f"{path}/{SKILL_FILE}"
            self._concerns[agent, path] = any(
                matches_glob(name, pattern) for pattern in self._patterns[agent] for name in paths
            )
        return self._concerns[agent, path]

    def read(
        self, agent: str, changes: Contents, copies: Mapping[str, str], *, in_all_folders: bool = True
    ) -> AgentReading:
        """Return what an agent reads after these changes. `copies` are the generated files among them.

        Unless `in_all_folders`, what an agent misses that starts in a folder below the root is not asked for.
        """
        found: dict[str, list[str]] = {"read": [], "missing": [], "repeated": [], "cut": []}
        has_touch = self.layouts[agent].touch is not None
        for source in self.sources:
            if source.kind == "skill":
                state = _state_of_skill(source, self.views.read(agent, "skills", "", changes))
            else:
                read = self.views.read(agent, *place_of(source, has_touch), changes)
                state = self._state(source, read, copies)
            found[state].append(source.path)
        elsewhere = []
        for folder in sorted({source.folder for source in self.sources} - {""}) if in_all_folders else ():
            above = [row for row in self.sources if row.kind == "file" and is_at_or_above(row.folder, folder)]
            read = self.views.read(agent, "start", folder, changes)
            elsewhere += [(folder, row.path) for row in above if self._state(row, read, copies) != "read"]
        return AgentReading(found["read"], found["missing"], found["repeated"], found["cut"], elsewhere)

    def _state(self, source: Instruction, read: Read, copies: Mapping[str, str]) -> str:
        """Return whether an agent that has read these files has read a source once: read, missing, repeated or cut."""
        key = source.path, id(read), frozenset((path, copies[path]) for path in read if path in copies)
        if key not in self._states:
            self._states[key] = self._compare(source, read, copies)
        return self._states[key]

    def _compare(self, source: Instruction, read: Read, copies: Mapping[str, str]) -> str:
        lines = self._lines[source.path]
        total, is_begun = 0, False
        for path, text in read.items():
            owner = copies.get(path) or self.copies.get(path) or (path if path in self._lines else None)
            if owner not in (None, source.path):
                continue
            if text not in self._counts:
                self._counts[text] = count_lines(comparable(line.strip()) for line in text.split("\n"))
            counts = self._counts[text]
            total += count_copies(lines, counts)
            is_begun = is_begun or (owner is not None and not counts.keys().isdisjoint(lines))
        if total == 1:
            return "read"
        return "repeated" if total else "cut" if is_begun else "missing"


def place_of(source: Instruction, has_touch: bool) -> tuple[str, str]:
    """Return where an agent must work to need a file or rule, and how it gets there: it starts at a folder, or touches a path."""
    if source.globs and has_touch:
        return "touch", sample_path(source.globs)
    if source.folder and has_touch:
        return "touch", f"{source.folder}/{_TOUCHED_NAME}"
    return "start", source.folder


def _state_of_skill(source: Instruction, listed: Read) -> str:
    count = sum(path.split("/")[-2:] == [source.name, "SKILL.md"] for path in listed)
    return "missing" if not count else "read" if count == 1 else "repeated"


def _patterns(layout: Layout) -> Iterable[str]:
    """Yield globs for all files that an agent looks for in a project."""
    touched = layout.touch.lookups if layout.touch else ()
    for lookup in (*layout.lookups, *touched):
        for pattern in (pattern for group in lookup.groups for pattern in group):
            if pattern.place in _PROJECT_PLACES:
                yield f"**/{pattern.path.removeprefix('./')}"
    for row in layout.config:
        if row.pattern.place in _PROJECT_PLACES:
            yield f"**/{row.pattern.path}"


def is_at_or_above(folder: str, other: str) -> bool:
    """Whether a folder is another one or contains it. The root's name is empty."""
    return not folder or folder == other or other.startswith(folder + "/")
