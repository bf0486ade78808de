"""Finds files that exceed the limits of well-known agents, and sections that are too large."""

from __future__ import annotations

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...vocabulary import Candidate, Passage
    from .source_text import SourceText


@value
class Limit:
    """An agent's limit in characters: which files it applies to, what happens above it, and its source and date."""

    agent: str
    names: Sequence[str]
    maximum: int
    outcome: str
    source: str
    date: str


# Agents change, so each row has a date and a source that can be looked up.
LIMITS = (
    Limit(
        "Claude Code",
        ("CLAUDE.md",),
        40_000,
        "it prints a warning each time it starts in that folder",
        "its warning 'Large CLAUDE.md will impact performance (… > 40.0k)'",
        "2026-11",
    ),
)
MAX_SECTION_TOKENS = 30_000


@value
class Excess:
    """A file that exceeds a limit, and the name beside it by which the agent reads it, or empty if that is its own."""

    limit: Limit
    path: str
    size: int
    read_as: str = ""


def find_excesses(sources: Sequence[SourceText], candidates: Sequence[Candidate]) -> Iterator[Excess]:
    """Yield the files that exceed a limit."""
    names = _names_by_path(sources, candidates)
    for limit in LIMITS:
        for source in sources:
            found = names[source.path] & set(limit.names)
            if found and len(source.text) > limit.maximum:
                yield Excess(limit, source.path, len(source.text), "" if source.name in found else min(found))


def _names_by_path(sources: Sequence[SourceText], candidates: Sequence[Candidate]) -> dict[str, set[str]]:
    """Return the names of each file: its own, and those of duplicates in the same folder (a CLAUDE.md that links to AGENTS.md)."""
    names = {source.path: {source.name} if source.is_file else set() for source in sources}
    for candidate in candidates:
        if candidate.fate == "duplicate":
            folder, _, name = candidate.path.rpartition("/")
            for path in names:
                if candidate.target == path and path.rpartition("/")[0] == folder:
                    names[path].add(name)
    return names


def find_large_sections(
    passages: Sequence[Passage], count_tokens: Callable[[str], int]
) -> Iterator[tuple[Passage, int]]:
    """Yield the sections with too many tokens, each with its number of tokens."""
    for passage in passages:
        # A string never has more tokens than characters, so short ones need not be counted.
        if len(passage.text) > MAX_SECTION_TOKENS and (tokens := count_tokens(passage.text)) > MAX_SECTION_TOKENS:
            yield passage, tokens
