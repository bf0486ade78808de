"""Ask the mirrors what each agent would read if files were changed. The changes exist only in memory."""

from __future__ import annotations

import os

from ...engine.assembler import Assembler
from ...engine.touches import TouchReader, build_touch
from ...sources.globs import matches_glob
from ...sources.overlay import Overlay
from ...sources.places import Known
from ...sources.reader import Reader
from ...text.lines import printable
from ...vocabulary import Agent, Document, Workspace, digest, replace
from .model import AgentReading
from .sources import comparable, count_copies, count_lines, sample_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ...layout.model import Layout
    from ...sources.overlay import SharedFiles
    from ...vocabulary import Inputs, Prompt
    from .model import Instruction, Texts

    # The text that was read from each file, by its path.
    Read = Mapping[str, str]

_TOUCHED_NAME = "file"
_PROJECT_PLACES = ("cwd", "root", "walk", "between", "down")


class Mirrors:
    """What agents read in a repository, by the names of their layouts. An answer that cannot be different is not computed again.

    `copies` are the generated files, each with the path of its source.
    """

    def __init__(
        self,
        files: SharedFiles,
        layouts: Mapping[str, Layout],
        sources: Sequence[Instruction],
        copies: Mapping[str, str],
    ) -> None:
        self.files, self.layouts, self.sources, self.copies = files, layouts, sources, copies
        self._counts = {source.path: count_lines(map(comparable, source.lines)) for source in sources}
        self._patterns = {name: tuple(_patterns(layout)) for name, layout in layouts.items()}
        self._readings: dict[tuple[str, frozenset[tuple[str, str | None]]], AgentReading] = {}
        self._concerns: dict[tuple[str, str], bool] = {}
        self._answers: dict[tuple[str, str, str, frozenset[tuple[str, str | None]]], Read] = {}

    def concerns(self, agent: str, path: str) -> bool:
        """Whether an agent looks for a file at this path."""
        if (agent, path) not in self._concerns:
            self._concerns[agent, path] = any(matches_glob(path, pattern) for pattern in self._patterns[agent])
        return self._concerns[agent, path]

    def read(self, agent: str, changes: Texts, copies: Mapping[str, str], *, is_exact: bool = False) -> AgentReading:
        """Return what an agent reads after these changes. `copies` are the generated files among them.

        If `is_exact`, changes to files that the agent does not look for, and in folders next to those where it works, count too.
        """
        if is_exact:
            return self._read(agent, changes, copies, self.view(agent, changes).read)
        # Settings and imports can lead to a source, whatever its name.
        relevant = {path: text for path, text in changes.items() if path in self._counts or self.concerns(agent, path)}
        key = agent, frozenset(relevant.items())
        if key not in self._readings:

            def recall(how: str, place: str) -> Read:
                return self._recall(agent, how, place, relevant)

            self._readings[key] = self._read(agent, relevant, copies, recall)
        return self._readings[key]

    def _read(
        self, agent: str, changes: Texts, copies: Mapping[str, str], read: Callable[[str, str], Read]
    ) -> AgentReading:
        owners = {source.path: source.path for source in self.sources} | {**self.copies, **copies}
        found: dict[str, list[str]] = {"read": [], "missing": [], "repeated": [], "cut": []}
        has_touch = self.layouts[agent].touch is not None
        for source in self.sources:
            if source.kind == "skill":
                state = _state_of_skill(source, read("skills", ""))
            else:
                state = self._state(source, read(*place_of(source, has_touch)), owners)
            found[state].append(source.path)
        elsewhere = []
        for folder in sorted({source.folder for source in self.sources} - {""}):
            above = [row for row in self.sources if row.kind == "file" and is_at_or_above(row.folder, folder)]
            elsewhere += [
                (folder, row.path) for row in above if self._state(row, read("start", folder), owners) != "read"
            ]
        return AgentReading(found["read"], found["missing"], found["repeated"], found["cut"], elsewhere)

    def _recall(self, agent: str, how: str, place: str, changes: Texts) -> Read:
        """Return what an agent reads at a place. Only changes in its folder and those above it count."""
        folder = place.rpartition("/")[0] if how == "touch" else place
        relevant = frozenset(
            (path, text) for path, text in changes.items() if is_at_or_above(working_folder(path), folder)
        )
        key = agent, how, place, relevant
        if key not in self._answers:
            start = self._recall(agent, "start", "", changes) if how == "touch" else None
            self._answers[key] = self.view(agent, dict(relevant)).read(how, place, start)
        return self._answers[key]

    def view(self, agent: str, changes: Texts) -> _View:
        contents = {path: None if text is None else text.encode() for path, text in changes.items()}
        return _View(self.layouts[agent], Overlay(self.files, contents))

    def _state(self, source: Instruction, read: Read, owners: Mapping[str, str]) -> str:
        """Return whether an agent that has read these files has read a source once: read, missing, repeated or cut."""
        lines = self._counts[source.path]
        total, is_begun = 0, False
        for path, text in read.items():
            if owners.get(path, source.path) != source.path:
                continue
            counts = count_lines(comparable(line.strip()) for line in text.split("\n"))
            total += count_copies(lines, counts)
            is_begun = is_begun or (path in owners and not counts.keys().isdisjoint(lines))
        if total == 1:
            return "read"
        return "repeated" if total else "cut" if is_begun else "missing"


class _View:
    """What one agent reads on one state of the disk: when it starts in a folder, and when it touches a file."""

    def __init__(self, layout: Layout, overlay: Overlay) -> None:
        self.layout, self.overlay, self.known = layout, overlay, Known()
        self._assemblers: dict[tuple[str, bool], Assembler] = {}
        self._answers: dict[tuple[str, str], Read] = {}

    def read(self, how: str, place: str, start: Read | None = None) -> Read:
        """Return what the agent reads when it starts in a folder (`start`) or at the root and then touches a path (`touch`).

        `skills` are the skills that it lists at the root. `start` is what it reads when it starts at the root, if that is known.
        """
        key = how, place
        if key not in self._answers:
            if how == "touch":
                start = self.read("start", "") if start is None else start
                self._answers[key] = _join(start, self._touch(place, start))
            elif place and not self.overlay.has_folder(place):  # a change will create it
                self._answers[key] = {}
            else:
                kind = "skill" if how == "skills" else "file"
                self._answers[key] = self._texts(self._assembler(place, how == "skills").prompt(Agent()), kind)
        return self._answers[key]

    def _touch(self, path: str, start: Read) -> Read:
        """Return what an agent at the root reads when it touches a path, except what it has read already."""
        assembler = self._assembler("")
        layout = assembler.layout()
        if layout.touch is None:
            return {}
        reading = TouchReader(assembler).read(layout, layout.touch, [os.path.join(self.overlay.files.root, path)])
        keep_copies = any(lookup.copies == "keep" for lookup in layout.touch.lookups)
        inputs = _only_new(reading.inputs, start, self.overlay.files.root, keep_copies)
        return self._texts(build_touch(reading, inputs, Agent()))

    def _assembler(self, folder: str, finds_skills: bool = False) -> Assembler:
        key = folder, finds_skills
        if key not in self._assemblers:
            path = os.path.join(self.overlay.files.root, folder) if folder else self.overlay.files.root
            assembler = Assembler(Workspace(path, platform="linux", environment={}), self.layout.name)
            assembler.reader = lambda: Reader(disk=self.overlay, known=self.known)
            assembler.reads_user_files = assembler.looks_for_changes = False
            assembler.finds_skills = finds_skills
            self._assemblers[key] = assembler
        return self._assemblers[key]

    def _texts(self, prompt: Prompt, kind: str = "file") -> Read:
        """Return the text of each file, or the entry of each skill, in a prompt, by its path relative to the root."""
        texts: dict[str, str] = {}
        start = printable(self.overlay.files.root) + "/"
        for passage in prompt.passages:
            last = ""
            for piece in passage.pieces:
                path = piece.origin.path
                has_text = kind == "skill" or piece.origin.lines
                if piece.origin.kind == kind and has_text and path.startswith(start):
                    name = path[len(start) :]
                    gap = "" if last == path else "\n"
                    texts[name] = f"{texts.get(name, '')}{gap}{piece.text}"
                last = path
        return texts


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


def _join(first: Read, second: Read) -> Read:
    return {path: f"{first.get(path, '')}\n{second.get(path, '')}" for path in {**first, **second}}


def _only_new(inputs: Inputs, read: Read, root: str, keep_copies: bool) -> Inputs:
    """Return the inputs without what the agent has read already."""
    start = printable(root) + "/"
    hashes = set() if keep_copies else {digest(text.strip("\n")) for text in read.values()}
    found = {
        name: tuple(
            entry
            for entry in entries
            if printable(entry.path).removeprefix(start) not in read
            and not (isinstance(entry, Document) and digest(entry.text.strip("\n")) in hashes)
        )
        for name, entries in inputs.found.items()
    }
    return replace(inputs, found=found)


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


def working_folder(path: str) -> str:
    """Return the folder in which an agent works for which a file is meant: not a hidden one, but the one that contains it."""
    folder = path.rpartition("/")[0]
    hidden = f"/{folder}".find("/.")
    return folder if hidden < 0 else folder[: max(hidden - 1, 0)]


def is_at_or_above(folder: str, other: str) -> bool:
    """Whether a folder is another one or contains it. The root's name is empty."""
    return not folder or folder == other or other.startswith(folder + "/")
