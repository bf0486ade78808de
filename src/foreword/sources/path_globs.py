"""Compile and match the globs of rules that apply only to some paths (`paths`, `globs`, `applyTo`). Pure.

Globs mean the same in all of these fields, and nearly the same as in a `.gitignore`:

    *.py             a name, in any folder
    src/*.py         with a slash: a path relative to the folder that the rule belongs to
    src/**/*.py      any number of folders, including none
    src              a folder: every file below it, as with src/ and src/**
    *.{ts,tsx}       either of the two
    a.py, b.py       several globs, which may also be a list; one that starts with ! excludes what earlier ones match

`*` and `?` match within a name, hidden names too; `[a-z]` and `[!a-z]` match one character. A name that is spelled exactly like a part of
a glob matches it, so that `app/[slug]/page.tsx` works. Matching is case-sensitive.
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

_MAX_LENGTH = 1_000
_MAX_GLOBS = 1_000
_ANY_FOLDERS = "**"
_STAR, _ANY_CHARACTER = 0, 1


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


_ANY_FOLDERS_PART = GlobPart(_ANY_FOLDERS)
_ANY_NAME = GlobPart("*", (_STAR,))


@value
class Glob:
    """One compiled glob. It matches a path if one of its alternatives matches the path or a folder above it."""

    text: str
    negated: bool
    alternatives: Sequence[tuple[Sequence[GlobPart], bool]]  # the parts, and whether they match only folders
    with_folders: bool = True

    def matches(self, names: Sequence[str]) -> bool:
        """Whether the glob matches a path, which is passed as a list of names. The caller handles negation."""
        return any(self._matches(names, parts, is_folder_only) for parts, is_folder_only in self.alternatives)

    def _matches(self, names: Sequence[str], parts: Sequence[GlobPart], is_folder_only: bool) -> bool:
        lengths = _match_lengths(names, parts)
        return (len(names) in lengths and not is_folder_only) or (
            self.with_folders and any(0 < number < len(names) for number in lengths)
        )


@value
class PathGlobs:
    """The compiled globs of one rule, in order."""

    globs: Sequence[Glob]

    def match(self, path: str) -> bool:
        """Whether the rule applies to a path, which is relative to the folder that the rule belongs to."""
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
        """Return the last glob that matches a path, which decides whether the rule applies, or None if none matches."""
        names = names_of(path)
        return next((glob for glob in reversed(self.globs) if glob.matches(names)), None)


def names_of(path: str) -> list[str]:
    """Split a relative path into its names."""
    return [name for name in path.split("/") if name not in ("", ".")]


def compile_globs(text: str, reading: str = "folders") -> PathGlobs:
    """Compile globs that are separated by commas. Globs that are too long, or beyond the first 1,000, are ignored.

    Some programs interpret globs differently. With `names`, one that matches a folder does not match the files in it; with `paths`, one
    without a slash does not match in other folders either. With both, a glob that starts with `/` matches nothing, and `!` has no effect.
    """
    globs = [_compile(glob, reading) for glob in split_globs(text)[:_MAX_GLOBS] if len(glob) <= _MAX_LENGTH]
    if reading != "folders":
        globs = [glob for glob in globs if not glob.negated]
    return PathGlobs(tuple(globs))


def split_globs(text: str) -> list[str]:
    """Split text into globs at commas and line ends. Commas in braces do not count, and quotes around a glob are removed."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(depth - 1, 0)
        elif character == "\n" or (character == "," and not depth):
            parts.append(text[start:at])
            start, depth = at + 1, 0
    globs = (_unquote(part.strip()) for part in (*parts, text[start:]))
    return [glob for glob in globs if glob.strip("!")]


def _unquote(text: str) -> str:
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _compile(text: str, reading: str) -> Glob:
    negated = text.startswith("!")
    return Glob(text, negated, tuple(_alternatives(text.removeprefix("!"), reading)), reading == "folders")


def _alternatives(glob: str, reading: str) -> Iterator[tuple[Sequence[GlobPart], bool]]:
    """Yield a glob's alternatives: the parts of each, and whether they match only folders."""
    if reading != "folders" and glob.startswith("/"):
        return
    for alternative in alternatives(glob):
        alternative = alternative.strip()
        parts = [_part(name) for name in names_of(alternative)]
        if not parts:
            continue
        if "/" not in alternative.removeprefix("./").rstrip("/") and reading != "paths":
            parts.insert(0, _ANY_FOLDERS_PART)
        if parts[-1] is _ANY_FOLDERS_PART:  # everything below, but not the folder itself
            parts.append(_ANY_NAME)
        yield tuple(parts), alternative.endswith("/")


def _part(text: str) -> GlobPart:
    if text == _ANY_FOLDERS:
        return _ANY_FOLDERS_PART
    if not any(wildcard in text for wildcard in "*?[\\"):
        return GlobPart(text)
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        character = text[at]
        end = _end_of_set(text, at) if character == "[" else 0
        if character == "*":
            tokens += [] if tokens[-1:] == [_STAR] else [_STAR]
        elif character == "?":
            tokens.append(_ANY_CHARACTER)
        elif end:
            tokens.append(_character_set(text[at + 1 : end]))
            at = end
        else:
            at += character == "\\" and at + 1 < len(text)
            tokens.append(text[at])
        at += 1
    return GlobPart(text, tuple(tokens))


def _end_of_set(text: str, start: int) -> int:
    """Return where the set that starts here ends, or 0 if it is not closed. A `]` in the first position is part of the set."""
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


def _match_lengths(names: Sequence[str], parts: Sequence[GlobPart]) -> set[int]:
    """Return how many names, counted from the first, the parts can match."""
    lengths = {0}
    for part in parts:
        if part is _ANY_FOLDERS_PART:
            lengths = set(range(min(lengths), len(names) + 1))
        else:
            lengths = {n + 1 for n in lengths if n < len(names) and part.matches(names[n])}
        if not lengths:
            break
    return lengths


def _match_tokens(name: str, tokens: Sequence[Token]) -> bool:
    """Whether tokens match a name. On a mismatch, the last `*` is extended by one character."""
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
    return all(rest == _STAR for rest in tokens[token:])


def _matches_character(character: str, token: Token) -> bool:
    return token.has(character) if isinstance(token, CharacterSet) else token in (_ANY_CHARACTER, character)
