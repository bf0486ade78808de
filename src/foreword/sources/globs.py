"""Globs as the configuration files of agents write them: `src/**/*.ts`, `{app,lib}/*.md`.

Paths and globs are compared name by name, without regular expressions, so that no glob is slow.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_ALTERNATIVES = 100
_LONGEST = 1_000


def matches_glob(path: str, glob: str) -> bool:
    """Whether a glob matches a whole path. `**` matches any number of folders, including none; a last `**` matches everything below.

    A glob of more than 1,000 characters matches nothing.
    """
    if len(glob) > _LONGEST:
        return False
    names = [each for each in path.split("/") if each]
    return any(_match(names, [each for each in one.split("/") if each not in ("", ".")]) for one in alternatives(glob))


def alternatives(glob: str) -> list[str]:
    """Expand the braces of a glob: `{a,b}.md` becomes `a.md` and `b.md`. If there are too many, only the first ones."""
    found: list[str] = []
    waiting = [glob]
    while waiting and len(found) + len(waiting) <= _MAX_ALTERNATIVES:
        one = waiting.pop(0)
        end = one.find("}")
        start = one.rfind("{", 0, end) if end >= 0 else -1
        if start < 0:
            found.append(one)
        else:
            waiting += [one[:start] + each + one[end + 1 :] for each in one[start + 1 : end].split(",")]
    return found + waiting


def _match(names: Sequence[str], segments: Sequence[str]) -> bool:
    """Whether the segments of a glob match these names: for each number of segments, the numbers of names they can match."""
    reached = {0}
    for segment in segments:
        if segment == "**":
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(names) and _match_name(names[n], segment)}
        if not reached:
            return False
    return len(names) in reached


def _match_name(name: str, pattern: str) -> bool:
    """Whether a pattern with `*` and `?` matches a name."""
    if "*" not in pattern and "?" not in pattern:
        return name == pattern
    at, in_pattern, star, after = 0, 0, -1, 0
    while at < len(name):
        if in_pattern < len(pattern) and pattern[in_pattern] == "*":
            star, after = in_pattern, at
            in_pattern += 1
        elif in_pattern < len(pattern) and pattern[in_pattern] in ("?", name[at]):
            at, in_pattern = at + 1, in_pattern + 1
        elif star >= 0:
            after += 1
            at, in_pattern = after, star + 1
        else:
            return False
    return not pattern[in_pattern:].strip("*")
