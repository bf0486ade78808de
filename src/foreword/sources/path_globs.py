"""The globs of a rule that applies only to some paths (`paths`, `globs`, `applyTo`), compiled. Pure.

All spellings mean the same, and nearly the same as in a `.gitignore`:

    *.py             a name, in any folder
    src/*.py         with a slash: from the folder that the rule belongs to
    src/**/*.py      any number of folders, also none
    src              a folder: every file below it, as with src/ and src/**
    *.{ts,tsx}       either
    a.py, b.py       several globs, also as a list; one that starts with ! excludes what earlier ones match

`*` and `?` match within a name, hidden names too; `[a-z]` and `[!a-z]` match one character. A name that is spelled exactly like a part of
a glob matches it, so that `app/[slug]/page.tsx` works. Upper and lower case differ.
"""

from __future__ import annotations

from ..vocabulary import value
from .globs import alternatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    # A character, a set of characters, or one of the wildcards below.
    Token: TypeAlias = "str | int | CharacterSet"

_LONGEST = 1_000
_MAX_GLOBS = 1_000
_ANY_FOLDERS = "**"
_STAR, _ONE = 0, 1


@value
class CharacterSet:
    """`[a-z_]`: ranges of characters, or every character that is in none of them."""

    ranges: Sequence[tuple[str, str]]
    negated: bool

    def has(self, character: str) -> bool:
        return any(first <= character <= last for first, last in self.ranges) != self.negated


@value
class GlobPart:
    """The part of a glob between two slashes. `tokens` is None if it has no wildcards."""

    text: str
    tokens: Sequence[Token] | None = None

    def matches(self, name: str) -> bool:
        return name == self.text or (self.tokens is not None and _match_tokens(name, self.tokens))


_FOLDERS = GlobPart(_ANY_FOLDERS)
_NAME = GlobPart("*", (_STAR,))


@value
class Glob:
    """One compiled glob. It matches a path if one of its alternatives matches the path or a folder above it."""

    text: str
    negated: bool
    ways: Sequence[tuple[Sequence[GlobPart], bool]]  # the parts, and whether they name a folder
    with_folders: bool = True

    def matches(self, names: Sequence[str]) -> bool:
        """Whether it matches a path, as its names; whether that excludes the path is for the caller to decide."""
        return any(self._matches(names, parts, only_folders) for parts, only_folders in self.ways)

    def _matches(self, names: Sequence[str], parts: Sequence[GlobPart], only_folders: bool) -> bool:
        reached = _reached(names, parts)
        return (len(names) in reached and not only_folders) or (
            self.with_folders and any(0 < number < len(names) for number in reached)
        )


@value
class PathGlobs:
    """The compiled globs of one rule, in order."""

    globs: Sequence[Glob]

    def match(self, path: str) -> bool:
        """Whether they match a path, which is relative to the folder that the rule belongs to."""
        return self.match_names(names_of(path))

    def match_names(self, names: Sequence[str]) -> bool:
        if not names or ".." in names:
            return False
        is_matched = bool(self.globs) and self.globs[0].negated
        for glob in self.globs:
            if glob.negated == is_matched and glob.matches(names):
                is_matched = not is_matched
        return is_matched

    def deciding(self, path: str) -> Glob | None:
        """The last glob that matches a path, which decides; None if none matches."""
        names = names_of(path)
        return next((glob for glob in reversed(self.globs) if glob.matches(names)), None)


def names_of(path: str) -> list[str]:
    """The names in a relative path."""
    return [each for each in path.split("/") if each not in ("", ".")]


def compile_globs(text: str, reading: str = "folders") -> PathGlobs:
    """Compile globs that are separated by commas. One that is too long matches nothing; there may be 1,000.

    Some programs read globs in other ways. With `names`, one that matches a folder does not match the files in it; with `paths`, one
    without a slash does not match in other folders either. With both, a glob that starts with `/` matches nothing, and `!` has no effect.
    """
    found = [_compile(each, reading) for each in split_globs(text)[:_MAX_GLOBS] if len(each) <= _LONGEST]
    if reading != "folders":
        found = [each for each in found if not each.negated]
    return PathGlobs(tuple(found))


def split_globs(text: str) -> list[str]:
    """The globs in text that separates them by commas or line ends. Commas in braces do not count, and quotes around a glob are removed."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(depth - 1, 0)
        elif character == "\n" or (character == "," and not depth):
            parts.append(text[start:at])
            start, depth = at + 1, 0
    cleaned = (_unquoted(each.strip()) for each in (*parts, text[start:]))
    return [each for each in cleaned if each.strip("!")]


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _compile(text: str, reading: str) -> Glob:
    negated = text.startswith("!")
    return Glob(text, negated, tuple(_ways(text.removeprefix("!"), reading)), reading == "folders")


def _ways(glob: str, reading: str) -> Iterator[tuple[Sequence[GlobPart], bool]]:
    """The alternatives of a glob: the parts of each, and whether they name a folder."""
    if reading != "folders" and glob.startswith("/"):
        return
    for one in alternatives(glob):
        one = one.strip()
        parts = [_part(each) for each in one.split("/") if each not in ("", ".")]
        if not parts:
            continue
        if "/" not in one.removeprefix("./").rstrip("/") and reading != "paths":
            parts.insert(0, _FOLDERS)
        if parts[-1] is _FOLDERS:  # everything below, but not the folder itself
            parts.append(_NAME)
        yield tuple(parts), one.endswith("/")


def _part(text: str) -> GlobPart:
    if text == _ANY_FOLDERS:
        return _FOLDERS
    if not any(each in text for each in "*?[\\"):
        return GlobPart(text)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        character = text[at]
        end = _end_of_set(text, at) if character == "[" else 0
        if character == "*":
            tokens += [] if tokens[-1:] == [_STAR] else [_STAR]
        elif character == "?":
            tokens.append(_ONE)
        elif end:
            tokens.append(_character_set(text[at + 1 : end]))
            at = end
        else:
            at += character == "\\" and at + 1 < len(text)
            tokens.append(text[at])
        at += 1
    return GlobPart(text, tuple(tokens))


def _end_of_set(text: str, start: int) -> int:
    """Where the set that starts here ends; 0 if it is not closed. A `]` in the first position is part of the set."""
    first = start + 2 if text[start + 1 : start + 2] in ("!", "^") else start + 1
    return max(text.find("]", first + 1), 0)


def _character_set(text: str) -> CharacterSet:
    negated = text[0] in "!^"
    ranges: list[tuple[str, str]] = []
    at = 1 if negated else 0
    while at < len(text):
        is_range = text[at + 1 : at + 2] == "-" and at + 2 < len(text)
        ranges.append((text[at], text[at + 2] if is_range else text[at]))
        at += 3 if is_range else 1
    return CharacterSet(tuple(ranges), negated)


def _reached(names: Sequence[str], parts: Sequence[GlobPart]) -> set[int]:
    """How many of the names, from the first one on, the parts can match."""
    reached = {0}
    for part in parts:
        if part is _FOLDERS:
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {n + 1 for n in reached if n < len(names) and part.matches(names[n])}
        if not reached:
            break
    return reached


def _match_tokens(name: str, tokens: Sequence[Token]) -> bool:
    """Whether tokens match a name; in case of doubt, the last `*` matches one character more."""
    at, token, star, after = 0, 0, -1, 0
    while at < len(name):
        if token < len(tokens) and tokens[token] == _STAR:
            star, after = token, at
            token += 1
        elif token < len(tokens) and _matches_character(name[at], tokens[token]):
            at, token = at + 1, token + 1
        elif star >= 0:
            after += 1
            at, token = after, star + 1
        else:
            return False
    return all(each == _STAR for each in tokens[token:])


def _matches_character(character: str, token: Token) -> bool:
    return token.has(character) if isinstance(token, CharacterSet) else token in (_ONE, character)
