"""Find rules that wait for paths which no file in the repository has."""

from __future__ import annotations

from ..inspection.lint.agent_facts import place_of
from ..inspection.lint.rule_globs import PathIndex, names_folder, split_globs
from ..sources.tree import walk_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..inspection.lint.agent_facts import Facts
    from ..inspection.lint.source_text import SourceText
    from ..sources.tree import Listings
    from ..vocabulary import Severity
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
            if index is not None and source is not None:
                _report_unmatched_rule(split_globs(target), index, source, agents, facts)


def _report_unmatched_rule(
    globs: Sequence[str], index: PathIndex, source: SourceText, agents: Iterable[str], facts: Facts
) -> None:
    if index.has_match(globs):
        return
    message = (
        f"{{agents}} never use{{s}} this rule: no file in the repository matches {', '.join(globs)};"
        " correct the pattern, or delete the rule"
    )
    place = place_of(source, globs[0])
    severity: Severity | None = None if names_folder(globs) else "info"
    for agent in agents:
        facts.add("unmatched-rule", place, message, agent, severity=severity)


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
