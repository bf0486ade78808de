"""Find rules that wait for paths which no file in the repository has."""

from __future__ import annotations

from ..inspection.lint.agent_facts import place_of
from ..inspection.lint.rule_globs import PathIndex, literal_folders, split_globs
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


class WaitingRules:
    """The rules that agents use only for some paths, each with those paths and the agents."""

    def __init__(self) -> None:
        self.rules: dict[str, tuple[str, dict[str, None]]] = {}

    def add(self, path: str, target: str, agent: str) -> None:
        """Note that an agent uses the rule in this file for the paths that `target` matches."""
        self.rules.setdefault(path, (target, {}))[1][agent] = None

    def report_unmatched(self, files: RepositoryFiles, facts: Facts) -> None:
        """Report the rules whose patterns no file or folder in the repository matches."""
        index = _index_paths(files.real_root, files.listings) if self.rules else None
        for path, (target, agents) in self.rules.items():
            source = files.read(path)
            globs = split_globs(target)
            folders = literal_folders(globs)
            if index is None or source is None or not folders or index.has_match(globs):
                continue
            # What is not in git may exist elsewhere, for example after a build.
            if not ignored(files.real_root, [f"{folder}/x" for folder in folders]):
                _report_unmatched_rule(globs, source, agents, facts)


def _report_unmatched_rule(globs: Sequence[str], source: SourceText, agents: Iterable[str], facts: Facts) -> None:
    patterns = ", ".join(globs)
    message = (
        f"{{agents}} never use{{s}} this rule: no file in the repository matches {patterns};"
        " correct the pattern, or delete the rule"
    )
    for_several = (
        f"{{agents}} never use{{s}} these {{count}} rules, because no file in the repository matches {patterns}: {{files}};"
        " correct the pattern, or delete the rules"
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
