"""Checks whether any file in the repository matches the globs of rules that apply only to some paths.

Agents interpret globs differently. A rule is reported only if no interpretation of its globs matches: at any depth, in any letter
case, or as the name of a folder. Globs with classes, groups or negation count as matching.
"""

from __future__ import annotations

from posixpath import basename

from ...sources.globs import expand_braces, matches_glob
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_UNSUPPORTED_CHARACTERS = frozenset("[]()!\\$<>")
_WILDCARDS = lazy_pattern("[*?{}]")
_MAX_GLOB_LENGTH = 1_000
_MAX_COMPARISONS = 1_000_000


def split_globs(text: str) -> list[str]:
    """Split a field into globs, which are separated by commas or line breaks outside braces. A name may contain blanks."""
    parts: list[str] = []
    start = depth = 0
    for index, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character in ",\n" and depth <= 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return [glob for part in parts if (glob := part.strip().strip("\"'"))]


def split_at_blanks(globs: Iterable[str]) -> list[str]:
    """Split each of these globs at blanks too: some people separate globs by them, although no agent does."""
    return [part for glob in globs for part in glob.split()]


def matches_all(globs: Sequence[str]) -> bool:
    """Whether one of these globs matches every file."""
    return any(glob.removeprefix("./") in ("*", "**", "**/*", "**/*.*", "*.*") for glob in globs)


def literal_folders(globs: Iterable[str]) -> list[str]:
    """Return the folders with which globs begin, up to the first wildcard. Globs that begin with a wildcard have none.

    A glob such as `**/*.py` is often for files that do not exist yet, but one that names a folder is wrong if there is no such folder.
    """
    folders = []
    for glob in globs:
        segments = glob.strip("/").removeprefix("./").split("/")
        first = next((index for index, segment in enumerate(segments) if _has_wildcard(segment)), len(segments))
        if folder := "/".join(segments[: min(first, len(segments) - 1)]):
            folders.append(folder)
    return folders


class PathIndex:
    """The files and folders of a repository, indexed so that most globs can be matched without comparing every path."""

    def __init__(self, paths: Iterable[str], unknown_folders: Iterable[str] = ()) -> None:
        """`paths` are relative to the root. The contents of `unknown_folders` are not known."""
        self.paths = [path.lower() for path in paths]
        self.unknown_folders = [f"/{folder.lower()}/" for folder in unknown_folders]
        self.by_ending: dict[str, list[str]] = {}
        self.names: set[str] = set()
        self.comparisons = 0
        for path in self.paths:
            name = basename(path)
            self.names.update(path.split("/"))
            for ending in {name, name[name.rfind(".") :]}:
                self.by_ending.setdefault(ending, []).append(path)

    def has_match(self, globs: Sequence[str]) -> bool:
        """Whether any path matches one of these globs. True if that cannot be determined."""
        try:
            return not globs or any(self._matches(glob) for glob in globs)
        except _TooManyComparisons:
            return True

    def has_candidate(self, globs: Iterable[str]) -> bool:
        """Whether files for which one of these globs may have been meant exist anywhere, with its extension or in a folder with its last name.

        Otherwise, nothing was renamed: the files may be yet to come, or the rule is a copy.
        """
        alternatives = (other for glob in globs for other in expand_braces(glob.lower().rstrip("/")))
        return any(map(self._has_candidate, alternatives))

    def _has_candidate(self, glob: str) -> bool:
        name = basename(glob)
        _, dot, ending = name.rpartition(".")
        if dot and not _has_wildcard(ending):
            suffix = _WILDCARDS.split(name)[-1]  # `.story.md` of `*.story.md`
            paths = [path for path in self.by_ending.get(f".{ending}", ()) if "/." not in f"/{path}"]
            return any(path.endswith(suffix) for path in paths) if suffix.startswith(".") else bool(paths)
        folders = [segment for segment in glob.split("/") if segment and not _has_wildcard(segment)]
        return bool(folders) and folders[-1] in self.names

    def _matches(self, glob: str) -> bool:
        if (
            len(glob) > _MAX_GLOB_LENGTH
            or not _UNSUPPORTED_CHARACTERS.isdisjoint(glob)
            or ".." in glob
            or glob.startswith("~")
        ):
            return True
        return any(self._matches_one(alternative) for alternative in expand_braces(glob.lower()))

    def _matches_one(self, glob: str) -> bool:
        segments = [segment for segment in glob.split("/") if segment not in ("", ".")]
        while segments and segments[-1] in ("**", "*"):
            segments.pop()  # everything in a folder: the folder itself matches
        if not segments or any(folder in f"/{glob}" for folder in self.unknown_folders):
            return True
        if any(not _has_wildcard(segment) and segment not in self.names for segment in segments):
            return False
        full_glob = "**/" + "/".join(segments)
        return any(matches_glob(path, full_glob) for path in self._possible_paths(segments[-1]))

    def _possible_paths(self, last: str) -> Iterator[str]:
        """Yield the paths that can match a glob with this last segment."""
        ending = last[last.rfind("*") + 1 :]
        is_indexed = "?" not in last and ("*" not in last or (ending.startswith(".") and ending.count(".") == 1))
        for path in self.by_ending.get(ending, ()) if is_indexed else self.paths:
            self.comparisons += 1
            if self.comparisons > _MAX_COMPARISONS:
                raise _TooManyComparisons
            yield path


class _TooManyComparisons(Exception):
    """There are too many globs and paths to compare all of them."""


def _has_wildcard(segment: str) -> bool:
    return any(character in segment for character in "*?{")
