"""Find rules that wait for paths which no file in the repository has."""

from __future__ import annotations

from ..inspection.lint.agent_facts import place_of
from ..inspection.lint.rule_globs import PathIndex, literal_folders, split_at_blanks, split_globs
from ..sources.front_matter import PATH_FIELDS, parse_front_matter
from ..sources.shared_files import ignored
from ..sources.tree import walk_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..inspection.lint.agent_facts import Facts
    from ..inspection.lint.source_text import SourceText
    from ..sources.tree import Listings
    from .repository_files import RepositoryFiles

_MAX_FILES = 500_000
# People write rules for tests before there are any.
_FOLDERS_OF_TESTS = frozenset("test tests spec specs e2e __tests__".split())
# From this number of rules on, a repository in which most match nothing is a collection of rules for other projects.
_MIN_COLLECTION = 3


class WaitingRules:
    """The rules that agents use only for some paths, each with those paths and the agents."""

    def __init__(self) -> None:
        self.rules: dict[str, tuple[str, dict[str, None]]] = {}

    def add(self, path: str, target: str, agent: str) -> None:
        """Note that an agent uses the rule in this file for the paths that `target` matches."""
        self.rules.setdefault(path, (target, {}))[1][agent] = None

    def report_unmatched(self, files: RepositoryFiles, facts: Facts) -> None:
        """Report the rules whose patterns no file or folder in the repository matches, unless these are most of several rules."""
        # An instruction file that waits for any file in its folder has no pattern.
        has_patterns = any(target for target, _ in self.rules.values())
        index = _index_paths(files.real_root, files.listings) if has_patterns else None
        if index is None:
            return
        unmatched = [
            (source, globs, agents)
            for path, (target, agents) in self.rules.items()
            if (source := files.read(path)) and not _has_match(index, globs := split_globs(target), source)
        ]
        if len(self.rules) >= _MIN_COLLECTION and 2 * len(unmatched) > len(self.rules):
            return
        for source, globs, agents in unmatched:
            if _is_wrong(globs, index, files.real_root):
                _report_unmatched_rule(globs, source, agents, facts)


def _is_wrong(globs: Sequence[str], index: PathIndex, root: str) -> bool:
    """Whether globs that match nothing were meant for files that are elsewhere.

    One without a folder, or below one that exists, may be for files that do not exist yet, and so may one in a hidden folder, such as
    `.github/hooks`, or for tests. What is not in git may exist elsewhere.
    """
    folders = [
        folder
        for folder in literal_folders(globs)
        if not folder.startswith(".") and folder.rstrip("/") not in _FOLDERS_OF_TESTS
    ]
    is_wrong = len(folders) == len(globs) > 0 and not index.has_match(folders) and index.has_candidate(globs)
    return is_wrong and not ignored(root, [f"{folder}/x" for folder in folders])


def _has_match(index: PathIndex, globs: Sequence[str], source: SourceText) -> bool:
    """Whether any path matches one of these globs, or a part of one between blanks if the rule has them in one string."""
    if index.has_match(globs):
        return True
    parts = split_at_blanks(globs)
    return len(parts) > len(globs) and not _has_list(source.text) and index.has_match(parts)


def _has_list(text: str) -> bool:
    """Whether a rule has its globs in a list, whose items are not split."""
    fields = parse_front_matter(text)
    return isinstance(fields, dict) and any(isinstance(fields.get(name), list) for name in PATH_FIELDS)


def _report_unmatched_rule(globs: Sequence[str], source: SourceText, agents: Iterable[str], facts: Facts) -> None:
    patterns = ", ".join(globs)
    message = (
        f"no file in the repository matches {patterns}, so {{agents}} use{{s}} this rule for none;"
        " correct the pattern, or delete the rule"
    )
    for_several = (
        "{agents} use{s} these {count} rules for no file, because none in the repository matches their patterns: {files};"
        " correct the patterns, or delete the rules"
    )
    for agent in agents:
        facts.add("unmatched-rule", place_of(source, globs[0]), message, agent, for_several=for_several)


def _index_paths(root: str, listings: Listings) -> PathIndex | None:
    """Return every file and folder in the repository, or None if there are too many."""
    start = len(root.rstrip("/")) + 1
    paths: list[str] = []
    links: list[str] = []
    for folder, entries in walk_folders(root, [], listings):
        prefix = folder[start:] + "/" if len(folder) >= start else ""
        paths += [prefix + name for name in entries]
        links += [prefix + name for name, kind in entries.items() if kind == "linked folder"]
        if len(paths) > _MAX_FILES:
            return None
    return PathIndex(paths, links)
