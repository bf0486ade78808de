"""Decides in which folders an agent has to be checked, so that lint need not build a prompt for each agent in every folder.

Two folders are alike for an agent if it finds the same kinds of files in them and in the folders above them, and nothing in those files
concerns another one. If the checks say nothing about the first of such folders, they say nothing about the others either.
"""

from __future__ import annotations

import os
import re

from ..inspection.lint.repeated import units_of
from ..sources.globs import matches_glob
from ..sources.paths import is_inside
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence, Set
    from typing import Any

    from ..inspection.lint.agent_facts import Facts, Visit
    from ..inspection.lint.source_text import SourceText
    from ..layout.model import Layout, Lookup, Pattern
    from ..sources.places import Walked

    Read = Callable[[str], SourceText | None]

_PLACES = ("walk", "between", "cwd")
_MAX_TEXTS = 1_000
_MAX_POINTER_LENGTH = 600
_PLAIN = "plain"


class FolderTexts:
    """The instruction files of a repository by the folder in which they apply, and what their texts have in common with others.

    `NAME/.claude/CLAUDE.md` applies in the folder `NAME`. All paths are printable.
    """

    def __init__(self, files: Iterable[str], root: str, read: Read) -> None:
        self.root, self.read = root, read
        self._names: dict[str, list[str]] = {}
        for path in files:
            folder, name = _split(path, root)
            self._names.setdefault(folder, []).append(name)
        self._units: dict[str, Set[int]] = {}

    def names(self, folder: str) -> Sequence[str]:
        """Return the files that apply in a folder, relative to it."""
        return self._names.get(folder, ())

    def units(self, path: str) -> Set[int]:
        """Return hashes of the paragraphs and lines of a file that would be reported if another file contained them too."""
        if path not in self._units:
            if len(self._units) >= _MAX_TEXTS:
                self._units.clear()
            source = self.read(path)
            self._units[path] = units_of(source) | {hash(source.text.strip())} if source else frozenset()
        return self._units[path]

    def kind(self, path: str, names: Sequence[str], *, follows_imports: bool, is_rule: bool) -> str | None:
        """Return what kind of text a file has, or None if it may be unlike any other. `names` are the agent's files in its folder.

        Rules are of the same kind only if they have the same front matter.
        """
        source = self.read(path)
        if source is None or os.path.islink(path):
            return None
        front, text = _split_front_matter(source.text.strip()) if is_rule else ("", source.text.strip())
        if not text:
            return front
        if text.lstrip("@") in names:
            return front + text
        may_refer = len(text) <= _MAX_POINTER_LENGTH and re.search(r"\.md\b", text) is not None
        return None if may_refer or (follows_imports and "@" in text) else front + _PLAIN


def _split_front_matter(text: str) -> tuple[str, str]:
    """Return the front matter of a rule, or as much as may be part of it, and the rest."""
    end = text.find("\n---", 3) if text.startswith("---") else -1
    return (text[: end + 4], text[end + 4 :].strip()) if end >= 0 else ("", text)


def _split(path: str, root: str) -> tuple[str, str]:
    """Return the folder in which a file applies, and its path relative to that folder."""
    hidden = path.find("/.", len(root))
    folder = path[:hidden] if hidden >= 0 else path.rpartition("/")[0]
    return folder, path[len(folder) + 1 :]


@value
class Likeness:
    """What a folder has in common with others: folders with the same `key` are alike, except for the texts of files in `related`.

    These are pairs of files that have a paragraph or a line in common.
    """

    key: object
    related: Sequence[tuple[str, str]] = ()


class QuietFolders:
    """The folders in which there is nothing new to say about one agent."""

    def __init__(self, layout: Layout, base: Visit, texts: FolderTexts, walked: Walked) -> None:
        self.texts, self.walked = texts, walked
        self._patterns = [pattern.path for _, pattern in _patterns(layout) if pattern.place in _PLACES]
        self._heads = {path.partition("/")[0].lower(): path.partition("/")[0] for path in self._patterns}
        self._follows_imports = any(lookup.rules.imports for lookup, _ in _patterns(layout))
        self._sorts_paths = any(lookup.order == "path" for lookup, _ in _patterns(layout))
        self._limit = min((section.bytes for section in layout.all_sections if section.bytes is not None), default=None)
        self._is_usable = layout.budget is None and all(map(_is_usual, self._patterns))
        self._rule_folders = rule_folders(layout)
        self._may_ignore_rules = not _conditions_on_rules(layout) and not self._imports_from_rules(base)
        self._labels: dict[str, str] = {}
        self._base_units: set[int] = set().union(*map(texts.units, base.loaded))
        self._base_size = sum(map(len, base.loaded.values()))
        self._known: dict[object, tuple[Sequence[tuple[int, str | None]], Sequence[Any]]] = {}

    def _imports_from_rules(self, base: Visit) -> bool:
        """Whether a rule of the working directory may import another file."""
        rules = [path for path in base.loaded if any(f"/{folder}/" in path for folder in self._rule_folders)]
        return self._follows_imports and any("@" in base.loaded[path] for path in rules)

    def likeness(self, folder: str) -> Likeness | None:
        """Return what a folder has in common with others, or None if it may be unlike any other."""
        if not self._is_usable:
            return None
        kinds: list[tuple[tuple[str, str], ...]] = []
        paths: list[str] = []
        current = folder
        while current != self.texts.root and is_inside(current, self.texts.root):
            found = self._kinds(current)
            if found is None or not (found or kinds):
                return None
            if found:
                kinds.append(tuple((self._label(name), kind) for name, kind in found))
                paths += [f"{current}/{name}" for name, _ in found]
            current = os.path.dirname(current)
        related = self._related(paths) if paths and self._are_short(paths) else None
        if related is None:
            return None
        order = tuple(sorted(range(len(paths)), key=paths.__getitem__)) if self._sorts_paths else ()
        return Likeness((tuple(kinds), order, related), [(paths[one], paths[other]) for one, other in related])

    def learn(self, folder: str, likeness: Likeness, visit: Visit, facts: Facts) -> None:
        """Record what is said about folders like this one, if that is only about files above them."""
        prefix, news = folder + "/", list(facts.news)
        if any(one in visit.loaded and other in visit.loaded for one, other in likeness.related):
            return
        if all(row and not row[1].path.startswith(prefix) and folder not in row[2] for row in news):
            self._known[likeness.key] = list(self._files_read(folder, visit)), [row for row in news if row]

    def _files_read(self, folder: str, visit: Visit) -> Iterator[tuple[int, str | None]]:
        """Yield the numbers of the files in a folder that the agent may read, each with the paths for which it waits, if it does."""
        for number, path in enumerate(self._own_files(folder)):
            candidate = visit.candidates.get(path)
            if candidate and (candidate.fate in ("waiting", "unused") or path in visit.loaded):
                yield number, candidate.target if candidate.fate == "waiting" else None

    def repeat(self, folder: str, likeness: Likeness, facts: Facts) -> list[tuple[str, str | None]] | None:
        """Say about a folder what is known about those like it, and return the files in it that the agent may read, or None if nothing is known.

        A file comes with the paths for which it waits, if it does.
        """
        if likeness.key not in self._known:
            return None
        read, news = self._known[likeness.key]
        for check, place, message, agent, was_folder, severity in news:
            facts.add(check, place, message, agent, folder if was_folder else "", severity)
        paths = self._own_files(folder)
        return [(paths[number], target) for number, target in read]

    def _own_files(self, folder: str) -> list[str]:
        return [f"{folder}/{name}" for name in self.texts.names(folder) if self._label(name)]

    def can_ignore_rules(self, folder: str) -> bool:
        """Whether the rules of the working directory cannot change anything that is said about a folder below it."""
        if not self._is_usable or not self._may_ignore_rules or self._limit is not None:
            return False
        current = folder
        while current != self.texts.root and is_inside(current, self.texts.root):
            for path in self._own_files(current):
                source = self.texts.read(path)
                if source is None or os.path.islink(path) or any(rules in source.text for rules in self._rule_folders):
                    return False
                if not self._base_units.isdisjoint(self.texts.units(path)):
                    return False
            current = os.path.dirname(current)
        return True

    def _kinds(self, folder: str) -> tuple[tuple[str, str], ...] | None:
        """Return the agent's files that apply in a folder, each with its kind, or None if there is anything unusual."""
        found = self.walked.names(folder)
        if found is None or not self._heads.keys().isdisjoint(self.walked.mixed(folder)):
            return None
        names = [name for name in self.texts.names(folder) if self._label(name)]
        if not found.isdisjoint(self._heads) and not self._are_usual(folder, names):
            return None
        kinds: list[tuple[str, str]] = []
        for name in names:
            is_rule = "*" in self._label(name)
            kind = self.texts.kind(f"{folder}/{name}", names, follows_imports=self._follows_imports, is_rule=is_rule)
            if kind is None:
                return None
            kinds.append((name, kind))
        return tuple(kinds)

    def _are_usual(self, folder: str, names: Sequence[str]) -> bool:
        """Whether every name in a folder that the agent may look for is exactly as expected, and folders of rules contain nothing else."""
        for path in (*self._patterns, *self._rule_folders):
            fixed, star, _ = path.partition("*")
            parent, _, name = f"{folder}/{fixed.rstrip('/')}".rpartition("/")
            listed = self.walked.names(parent)
            if listed is None:
                if self.walked.may_contain(folder, frozenset((fixed.partition("/")[0].lower(),))):
                    return False
                continue
            is_rules = star or path in self._rule_folders
            others = (self.walked.names(f"{parent}/{name}") if is_rules else None) or frozenset()
            expected = {own.rpartition("/")[2].lower() for own in names if own.startswith(f"{fixed.rstrip('/')}/")}
            if not others <= expected or (name.lower() in listed and not is_rules and path not in names):
                return False
            if name.lower() in self.walked.mixed(parent):
                return False
        return True

    def _label(self, name: str) -> str:
        """Return the pattern with which the agent finds a file in a folder if it may have any name, otherwise its name, or empty if it finds none."""
        if name not in self._labels:
            found = [pattern for pattern in self._patterns if matches_glob(name, pattern)]
            self._labels[name] = next((pattern for pattern in found if "*" in pattern), name if found else "")
        return self._labels[name]

    def _related(self, paths: Sequence[str]) -> tuple[tuple[int, int], ...] | None:
        """Return the pairs of files that have a paragraph or line in common, or None if one has so with a file of the working directory."""
        units = list(map(self.texts.units, paths))
        if not all(self._base_units.isdisjoint(own) for own in units):
            return None
        return tuple(
            (index, other)
            for index, own in enumerate(units)
            for other in range(index)
            if not own.isdisjoint(units[other])
        )

    def _are_short(self, paths: Sequence[str]) -> bool:
        if self._limit is None:
            return True
        sources = filter(None, map(self.texts.read, paths))
        return 4 * (self._base_size + sum(len(source.text) for source in sources)) < self._limit


def _is_usual(pattern: str) -> bool:
    """Whether a pattern finds files in a folder itself or in a hidden folder in it."""
    return ".." not in pattern and "{" not in pattern and ("/" not in pattern or pattern.startswith("."))


def _patterns(layout: Layout) -> Iterator[tuple[Lookup, Pattern]]:
    """Yield the patterns with which a layout finds instruction files, each with its lookup rule."""
    for lookup in layout.lookups:
        if lookup.kind == "text":
            yield from ((lookup, pattern) for group in lookup.groups for pattern in group)


def rule_folders(layout: Layout) -> frozenset[str]:
    """Return the folders, relative to a working directory, in which a layout searches for any number of rules."""
    patterns = [pattern for _, pattern in _patterns(layout) if pattern.place in (*_PLACES, "root")]
    return frozenset(pattern.path.partition("*")[0].rstrip("/") for pattern in patterns if "/*" in pattern.path)


def _conditions_on_rules(layout: Layout) -> bool:
    """Whether it matters to a lookup rule if another one finds any rules."""
    names = {fact.partition(":")[2] for lookup in layout.lookups for term in lookup.when for fact in term.facts}
    return any("*" in pattern.path and lookup.name in names for lookup, pattern in _patterns(layout))
