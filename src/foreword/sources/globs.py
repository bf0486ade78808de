"""Matches globs as used in agents' configuration files: `src/**/*.ts`, `{app,lib}/*.md`.

Paths and globs are compared segment by segment, without regular expressions, so that no glob can be slow.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_ALTERNATIVES = 100
_MAX_LENGTH = 1_000
_MAX_PARSED = 500
_parsed_globs: dict[str, list[list[str]]] = {}  # the segments of each alternative of recently used globs


def matches_glob(path: str, glob: str) -> bool:
    """Whether a glob matches a whole path. `**` matches any number of folders, including none; at the end, it matches everything below.

    A glob of more than 1,000 characters matches nothing.
    """
    if len(glob) > _MAX_LENGTH:
        return False
    alternatives = _parsed_globs.get(glob)
    if alternatives is None:
        if len(_parsed_globs) >= _MAX_PARSED:
            _parsed_globs.clear()
        alternatives = _parsed_globs[glob] = [
            [segment for segment in alternative.split("/") if segment not in ("", ".")]
            for alternative in expand_braces(glob)
        ]
    names = [name for name in path.split("/") if name]
    return any(_match_segments(names, segments) for segments in alternatives)


def expand_braces(glob: str) -> list[str]:
    """Expand a glob's braces: `{a,b}.md` becomes `a.md` and `b.md`. If there are too many results, the last ones are not expanded."""
    expanded, pending = _expand(glob)
    return expanded + pending


def has_too_many_alternatives(glob: str) -> bool:
    """Whether `expand_braces` leaves some of a glob's alternatives out, because there are more than 100."""
    return bool(_expand(glob)[1])


def _expand(glob: str) -> tuple[list[str], list[str]]:
    """Return the alternatives without braces, and, if there are too many, those whose braces were not expanded."""
    expanded: list[str] = []
    pending = [glob]
    while pending and len(expanded) + len(pending) <= MAX_ALTERNATIVES:
        alternative = pending.pop(0)
        end = alternative.find("}")
        start = alternative.rfind("{", 0, end) if end >= 0 else -1
        if start < 0:
            expanded.append(alternative)
        else:
            pending += [
                alternative[:start] + option + alternative[end + 1 :]
                for option in alternative[start + 1 : end].split(",")
            ]
    return expanded, pending


def _match_segments(names: Sequence[str], segments: Sequence[str]) -> bool:
    """Whether a glob's segments match these names. Tracks how many names the segments so far can match."""
    matched_counts = {0}
    for segment in segments:
        if segment == "**":
            matched_counts = set(range(min(matched_counts), len(names) + 1))
        else:
            matched_counts = {n + 1 for n in matched_counts if n < len(names) and _match_name(names[n], segment)}
        if not matched_counts:
            return False
    return len(names) in matched_counts


def _match_name(name: str, pattern: str) -> bool:
    """Whether a pattern with `*` and `?` matches a name."""
    if "*" not in pattern and "?" not in pattern:
        return name == pattern
    name_position, pattern_position, star_position, retry_from = 0, 0, -1, 0
    while name_position < len(name):
        if pattern_position < len(pattern) and pattern[pattern_position] == "*":
            star_position, retry_from = pattern_position, name_position
            pattern_position += 1
        elif pattern_position < len(pattern) and pattern[pattern_position] in ("?", name[name_position]):
            name_position, pattern_position = name_position + 1, pattern_position + 1
        elif star_position >= 0:
            retry_from += 1
            name_position, pattern_position = retry_from, star_position + 1
        else:
            return False
    return not pattern[pattern_position:].strip("*")
