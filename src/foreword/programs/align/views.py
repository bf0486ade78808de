"""Ask the mirrors what an agent reads at a place, if files were changed. The changes exist only in memory.

An answer is remembered with the paths that it depends on, and is computed again only if a change affects one of them. The cost of a search is
therefore that of the files that its changes concern, however large the repository is.
"""

from __future__ import annotations

import os
from posixpath import dirname

from ...engine.assembler import Assembler, share_layout
from ...engine.touches import TouchReader, build_touch
from ...sources.overlay import Asked, Overlay
from ...sources.places import Known
from ...sources.reader import Reader
from ...text.lines import printable
from ...vocabulary import Agent, Document, Workspace, digest, replace, value
from .model import LinkTo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...layout.model import Layout
    from ...sources.overlay import SharedFiles
    from ...vocabulary import Inputs, Prompt
    from .model import Content, Contents

    # The text that was read from each file, by its path.
    Read = Mapping[str, str]
    Changes = frozenset[tuple[str, Content]]

_MAX_VIEWS = 4


@value
class Answer:
    """What an agent reads, the paths that this depends on, and those of the changes that affect it."""

    read: Read
    examined: frozenset[str]
    changes: Changes


class Views:
    """What agents read at places in a repository, by the names of their layouts."""

    def __init__(self, files: SharedFiles, layouts: Mapping[str, Layout]) -> None:
        self.files, self.layouts = files, layouts
        self._asked = {name: Asked() for name in layouts}
        self._views: dict[tuple[str, Changes], MirrorView] = {}
        self._answers: dict[tuple[str, str, str], list[Answer]] = {}
        self._new: dict[str, tuple[set[str], str]] = {}

    def read(self, agent: str, how: str, place: str, changes: Contents) -> Read:
        """Return what an agent reads after changes: see `MirrorView.read`."""
        known = self._answers.setdefault((agent, how, place), [])
        for answer in known:
            if self._affecting(agent, changes, answer.examined) == answer.changes:
                return answer.read
        read, examined = self._view(agent, changes).read(how, place)
        known.append(Answer(read, examined, self._affecting(agent, changes, examined)))
        return read

    def _view(self, agent: str, changes: Contents) -> MirrorView:
        key = agent, frozenset(changes.items())
        if key not in self._views:
            own = [other for other in self._views if other[0] == agent and other[1]]
            if len(own) >= _MAX_VIEWS:
                del self._views[own[0]]
            overlay = Overlay(self.files, *_split(changes), asked=self._asked[agent])
            self._views[key] = MirrorView(self.layouts[agent], overlay)
        return self._views[key]

    def _affecting(self, agent: str, changes: Contents, examined: frozenset[str]) -> Changes:
        """Return the changes that affect an answer which depends on these paths."""
        asked = self._asked[agent]
        return frozenset(row for row in changes.items() if self._affects(row, examined, asked))

    def _affects(self, change: tuple[str, Content], examined: frozenset[str], asked: Asked) -> bool:
        path, content = change
        if path in examined:
            return True
        if path in self.files.names and content is not None:
            return False
        names, folder = self._created(path)
        if not names.isdisjoint(examined):
            return True
        return folder in examined and (folder in asked.listed or not names.isdisjoint(asked.missing))

    def _created(self, path: str) -> tuple[set[str], str]:
        """Return what a new file creates, itself and folders, and the existing folder that contains them."""
        if path not in self._new:
            names, folder = {path}, dirname(path)
            while folder not in self.files.children:
                names.add(folder)
                folder = dirname(folder)
            self._new[path] = names, folder
        return self._new[path]


class MirrorView:
    """What one agent reads on one state of the disk: when it starts in a folder, and when it touches a file."""

    def __init__(self, layout: Layout, overlay: Overlay) -> None:
        self.layout, self.overlay, self.known = layout, overlay, Known()
        self._assemblers: dict[tuple[str, bool], Assembler] = {}
        self._touches: TouchReader | None = None
        self._answers: dict[tuple[str, str], tuple[Read, frozenset[str]]] = {}

    def read(self, how: str, place: str) -> tuple[Read, frozenset[str]]:
        """Return what the agent reads when it starts in a folder (`start`) or at the root and then touches a path (`touch`).

        `skills` are the skills that it lists at the root. The second value has the paths that the answer depends on.
        """
        key = how, place
        if key not in self._answers:
            if how == "touch":
                self._answers[key] = self._touch(place)
            elif place and not self.overlay.has_folder(place):  # a change will create it
                self._answers[key] = {}, frozenset([place])
            else:
                kind = "skill" if how == "skills" else "file"
                assembler = self._assembler(place, how == "skills")
                texts = self._texts(assembler.prompt(Agent()), kind)
                self._answers[key] = texts, self._names(assembler.paths_read())
        return self._answers[key]

    def _touch(self, path: str) -> tuple[Read, frozenset[str]]:
        """Return what an agent reads that has started at the root and touches a path."""
        start, examined = self.read("start", "")
        assembler = self._assembler("")
        layout = assembler.layout()
        if layout.touch is None:
            return start, examined
        self._touches = self._touches or TouchReader(assembler)
        root = self.overlay.files.root
        reading = self._touches.read(layout, layout.touch, [os.path.join(root, path)])
        keep_copies = any(lookup.keep_equal_texts for lookup in layout.touch.lookups)
        inputs = _only_new(reading.inputs, start, root, keep_copies)
        new = self._texts(build_touch(reading, inputs, Agent()))
        names = self._names(path for path, _ in reading.inputs.stamps)
        return _join(start, new), examined | names | self._folders_above(path)

    def _assembler(self, folder: str, finds_skills: bool = False) -> Assembler:
        key = folder, finds_skills
        if key not in self._assemblers:
            path = os.path.join(self.overlay.files.root, folder) if folder else self.overlay.files.root
            assembler = Assembler(Workspace(path, platform="linux", environment={}), self.layout.name)
            assembler.reader = lambda: Reader(disk=self.overlay, known=self.known)
            assembler.reads_user_files = assembler.looks_for_changes = False
            assembler.finds_skills = finds_skills
            if folder and ("", finds_skills) in self._assemblers:
                share_layout(assembler, self._assemblers["", finds_skills])
            self._assemblers[key] = assembler
        return self._assemblers[key]

    def _folders_above(self, path: str) -> frozenset[str]:
        """Return the folders of a touched path that exist: what appears in them may apply to it."""
        folders = set()
        while path:
            path = dirname(path)
            folders.add(path)
        return frozenset(folders)

    def _names(self, paths: Iterable[str]) -> frozenset[str]:
        """Return paths relative to the root, those that lead through a link also without it."""
        root = self.overlay.files.root
        start = len(root) + 1
        names = {path[start:] for path in paths if path == root or path.startswith(root + "/")}
        return frozenset(names | set(map(self.overlay.resolve, names)) if self.overlay.links else names)

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
                    texts[name] = f"{texts.get(name, '')}{gap}{_with_lf(piece.text)}"
                last = path
        return texts


def _split(changes: Contents) -> tuple[dict[str, bytes | None], dict[str, str]]:
    """Return the new content of files, and the targets of new links."""
    contents = {
        path: None if content is None else content.encode("utf-8", "surrogateescape")
        for path, content in changes.items()
        if not isinstance(content, LinkTo)
    }
    return contents, {path: content.target for path, content in changes.items() if isinstance(content, LinkTo)}


def _with_lf(text: str) -> str:
    """Return text with the line ends of the sources that it is compared with. Some agents get those of the file."""
    return text.replace("\r\n", "\n")


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
            and not (isinstance(entry, Document) and digest(_with_lf(entry.text).strip("\n")) in hashes)
        )
        for name, entries in inputs.found.items()
    }
    return replace(inputs, found=found)
