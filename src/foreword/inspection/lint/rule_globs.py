"""Rules that apply to some paths only: whether any file of the repository matches their globs.

Agents read globs differently. A rule is reported only if no reading of its globs matches: at any depth, in any letter case, as the
name of a folder. Globs with classes, groups or negation count as matching.
"""

from __future__ import annotations

from posixpath import basename

from ...sources.globs import alternatives, matches_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NOT_UNDERSTOOD = frozenset("[]()!\\$<>")
_LONGEST = 1_000
_MAX_COMPARISONS = 1_000_000


def split_globs(text: str) -> list[str]:
    """The globs in a field: separated by commas outside braces, or by blanks."""
    parts: list[str] = []
    start = depth = 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character in ", \n" and depth <= 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [glob for each in parts if (glob := each.strip().strip("\"'"))]


def names_folder(globs: Iterable[str]) -> bool:
    """Whether a glob contains the name of a folder, and not only extensions."""
    return any("*" not in segment for glob in globs for segment in glob.strip("/").split("/")[:-1])


class PathIndex:
    """The files and folders of a repository, indexed so that most globs are answered without comparing every path."""

    def __init__(self, paths: Iterable[str], opaque: Iterable[str] = ()) -> None:
        """`paths` are relative to the root. Nothing is known about what is in the `opaque` folders."""
        self.paths = [each.lower() for each in paths]
        self.opaque = [f"/{each.lower()}/" for each in opaque]
        self.by_ending: dict[str, list[str]] = {}
        self.names: set[str] = set()
        self.comparisons = 0
        for path in self.paths:
            name = basename(path)
            self.names.update(path.split("/"))
            for ending in {name, name[name.rfind(".") :]}:
                self.by_ending.setdefault(ending, []).append(path)

    def has_match(self, globs: Sequence[str]) -> bool:
        """Whether any path matches one of these globs, or whether that cannot be said."""
        try:
            return not globs or any(self._matches(each) for each in globs)
        except _TooMany:
            return True

    def _matches(self, glob: str) -> bool:
        if len(glob) > _LONGEST or not _NOT_UNDERSTOOD.isdisjoint(glob) or ".." in glob or glob.startswith("~"):
            return True
        return any(self._matches_one(each) for each in alternatives(glob.lower()))

    def _matches_one(self, glob: str) -> bool:
        segments = [each for each in glob.split("/") if each not in ("", ".")]
        while segments and segments[-1] in ("**", "*"):
            segments.pop()  # everything in a folder: the folder itself matches
        if not segments or any(each in f"/{glob}" for each in self.opaque):
            return True
        if any(not _has_wildcard(each) and each not in self.names for each in segments):
            return False
        wanted = "**/" + "/".join(segments)
        return any(matches_glob(path, wanted) for path in self._possible(segments[-1]))

    def _possible(self, last: str) -> Iterator[str]:
        """The paths that can match a glob with this last segment."""
        ending = last[last.rfind("*") + 1 :]
        is_indexed = "?" not in last and ("*" not in last or (ending.startswith(".") and ending.count(".") == 1))
        for path in self.by_ending.get(ending, ()) if is_indexed else self.paths:
            self.comparisons += 1
            if self.comparisons > _MAX_COMPARISONS:
                raise _TooMany
            yield path


class _TooMany(Exception):
    """There are too many globs and paths to compare all of them."""


def _has_wildcard(segment: str) -> bool:
    return "*" in segment or "?" in segment
