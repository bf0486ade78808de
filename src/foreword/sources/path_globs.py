"""Compile and match the globs of rules that apply only to some paths (`paths`, `globs`, `applyTo`).

Globs have the same meaning in all of these fields, and nearly the same meaning as in a `.gitignore`:

    *.py             a name, in any folder
    src/*.py         with a slash: a path relative to the folder that the rule belongs to
    src/**/*.py      any number of folders, including none
    src              a folder: every file below it, as with src/ and src/**
    *.{ts,tsx}       either alternative
    a.py, b.py       several globs; semicolons or a list work too; one that starts with ! excludes what earlier ones match

`*` and `?` match within a name, including hidden names; `[a-z]` and `[!a-z]` match one character. Part of a glob also matches a name
that is literally the same, so that `app/[slug]/page.tsx` works. Matching is case-sensitive.
"""

from __future__ import annotations

from ..text import regex
from ..vocabulary import value
from .globs import MAX_ALTERNATIVES, expand_braces, has_too_many_alternatives

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from ..layout.model import GlobStyle

    # A character, a set of characters, or one of the wildcards below.
    Token: TypeAlias = "str | int | CharacterSet"

_MAX_LENGTH = 1_000
_MAX_GLOBS = 1_000
_ANY_FOLDERS = "**"
MATCH_ALL = frozenset(("*", "**", "**/*", "**/**", "/**"))  # globs that match every file
_STAR, _ANY_CHARACTER = 0, 1
_NOTHING = "\0"  # no path contains it
_RANGE = r"\{(\w)\.\.(\w)\}"
_SINGLE = r"\{([^{},]*)\}"
_GROUP = r"(?<!\\)[@+]?\(([^()\\]*)\)"


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
    matches_contents: bool = True  # whether a glob that matches a folder also matches the files in it

    def matches(self, names: Sequence[str]) -> bool:
        """Whether the glob matches a path, which is passed as a list of names. The caller handles negation."""
        return any(self._matches(names, parts, is_folder_only) for parts, is_folder_only in self.alternatives)

    def _matches(self, names: Sequence[str], parts: Sequence[GlobPart], is_folder_only: bool) -> bool:
        lengths = _match_lengths(names, parts)
        return (len(names) in lengths and not is_folder_only) or (
            self.matches_contents and any(0 < length < len(names) for length in lengths)
        )


@value
class PathGlobs:
    """The compiled globs of one rule, in order, and how they are interpreted."""

    globs: Sequence[Glob]
    style: GlobStyle = "folders"

    def match(self, *paths: str) -> bool:
        """Whether the rule applies to a file. If its path can be written in several ways, each glob may match any of them."""
        names = [split_names(path.lower() if self.style == "git" else path) for path in paths]
        if not all(names) or any(".." in each for each in names):
            return False
        if self.style in ("names", "paths"):
            return any(_matches_alone(glob, each, self.style) for glob in self.globs for each in names)
        is_matched = bool(self.globs) and self.globs[0].negated
        for glob in self.globs:
            if glob.negated == is_matched and any(glob.matches(each) for each in names):
                is_matched = not is_matched
        return is_matched

    def deciding_glob(self, *paths: str) -> Glob | None:
        """Return the last glob that matches a file, which decides whether the rule applies, or None if none matches."""
        names = [split_names(path) for path in paths]
        return next((glob for glob in reversed(self.globs) if any(map(glob.matches, names))), None)


def _matches_alone(glob: Glob, names: Sequence[str], style: GlobStyle) -> bool:
    """Whether a glob matches a path by itself. One that starts with `!` matches if the rest does not match the path or, with `names`, the name."""
    if glob.negated:
        return not (glob.matches(names) and (style == "paths" or glob.matches(names[-1:])))
    return glob.matches(names)


def split_names(path: str) -> list[str]:
    """Split a relative path into its names."""
    return [name for name in path.split("/") if name not in ("", ".")]


def compile_globs(text: str, style: GlobStyle = "folders") -> PathGlobs:
    """Compile globs that are separated by commas or semicolons. Globs that are too long, and all after the first 1,000, are ignored.

    `style` selects how a program interprets globs. With `git`, upper and lower case are the same, globs that start with `!` or `./`
    are ignored, `src/**` is the same as `src`, and `[!a]` is one of these two characters. With `names`, a glob that matches a folder does not
    match the files in it; with `paths`, in addition, a glob without a slash does not match in subfolders. With both, globs that start with
    `/` are ignored. With all three, semicolons do not separate globs, and a path in which a wildcard is literal does not match.
    """
    separators = ",;\n" if style == "folders" else ",\n"
    texts = split_globs(text.lower() if style == "git" else text, separators, has_quotes=style == "folders")[
        :_MAX_GLOBS
    ]
    ignored = ("!", "./") if style == "git" else ()
    globs = [_compile(glob, style) for glob in texts if len(glob) <= _MAX_LENGTH and not glob.startswith(ignored)]
    return PathGlobs(tuple(globs), style)


def describe_ignored_globs(text: str) -> str:
    """Return which of these globs `compile_globs` ignores, wholly or in part, or empty if it uses all of them."""
    if len(text) <= _MAX_LENGTH and "{" not in text:
        return ""
    globs = split_globs(text)
    if len(globs) > _MAX_GLOBS:
        return f"only the first {_MAX_GLOBS:,} of its {len(globs):,} globs are used"
    for glob in globs:
        if len(glob) > _MAX_LENGTH:
            return f"a glob of {len(glob):,} characters is ignored; the limit is {_MAX_LENGTH:,}"
        if has_too_many_alternatives(glob):
            short = glob if len(glob) <= 60 else glob[:59] + "…"
            return f"its glob {short} has more than {MAX_ALTERNATIVES} alternatives in braces; some of them are ignored"
    return ""


def split_globs(text: str, separators: str = ",;\n", *, has_quotes: bool = True) -> list[str]:
    """Split text into globs at commas, semicolons and line breaks, except at commas in braces. With `has_quotes`, quotes around a glob are removed."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(depth - 1, 0)
        elif character in separators and not (character == "," and depth):
            parts.append(text[start:position])
            start, depth = position + 1, 0
    globs = (_unquote(part.strip()) if has_quotes else part.strip() for part in (*parts, text[start:]))
    return [glob for glob in globs if glob.strip("!")]


def _unquote(text: str) -> str:
    return text[1:-1].strip() if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _compile(text: str, style: GlobStyle) -> Glob:
    negated = text.startswith("!")
    # In `names`, what follows a `!` is compared with the whole path and with the name.
    inner_style: GlobStyle = "paths" if negated and style == "names" else style
    compile_alternatives = _compile_alternatives if style == "folders" else _compile_exactly
    alternatives = tuple(compile_alternatives(text.removeprefix("!"), inner_style))
    return Glob(text, negated, alternatives, style in ("folders", "git"))


def _compile_alternatives(glob: str, style: GlobStyle) -> Iterator[tuple[Sequence[GlobPart], bool]]:
    """Yield a glob's alternatives: the parts of each, and whether they match only folders."""
    for alternative in expand_braces(glob):
        alternative = alternative.strip()
        parts = [_compile_part(name, style) for name in split_names(alternative)]
        if not parts:
            continue
        if "/" not in alternative.removeprefix("./").rstrip("/"):
            parts.insert(0, _ANY_FOLDERS_PART)
        yield _with_contents(parts), alternative.endswith("/")


def _compile_exactly(glob: str, style: GlobStyle) -> Iterator[tuple[Sequence[GlobPart], bool]]:
    """Yield the same as a program understands it that compares a glob as it is written, also with `//` and `/./`, which match nothing."""
    if style != "git" and glob.startswith("/"):
        return
    for alternative in expand_braces(_with_braces(glob) if style == "paths" else glob.replace("{}", _NOTHING)):
        alternative = _rewrite(alternative.strip().removeprefix("./"), style)
        names = alternative.removeprefix("/").removesuffix("/").split("/")
        parts = [_compile_part(name, style) for name in names]
        if "/" not in alternative.rstrip("/") and style != "paths":
            parts.insert(0, _ANY_FOLDERS_PART)
        if style == "paths" and len(parts) > 1 and parts[-1] is _ANY_FOLDERS_PART and parts[-2].tokens is None:
            yield tuple(parts[:-1]), False
        yield _with_contents(parts), alternative.endswith("/")


def _rewrite(glob: str, style: GlobStyle) -> str:
    """Return a glob without braces with another one in place of those that a program treats in a special way."""
    if style == "git":
        if not glob.endswith("/**/"):
            return glob.removesuffix("/**")
        return glob[:-3] if "/" in glob[:-4] else f"/{glob[:-3]}"
    if style == "names":
        return "**" if glob == "**/" else glob
    return f"**/*{glob[2:]}" if glob.startswith("**.") and glob[3:].isalnum() else glob


def _with_braces(glob: str) -> str:
    """Return a glob with `{a,b}` in place of `(a|b)` and `@(a|b)`, and `[1-3]` in place of `{1..3}`. Other braces without a comma are literal."""
    glob = regex.sub(_SINGLE, rf"{_NOTHING}\1", regex.sub(_RANGE, r"[\1-\2]", glob))
    return regex.sub(_GROUP, lambda match: f"{{{match[1].replace('|', ',')}}}" if "|" in match[1] else match[1], glob)


def _with_contents(parts: Sequence[GlobPart]) -> Sequence[GlobPart]:
    """Return the parts. `**` at the end matches everything below, but not the folder itself."""
    return (*parts, _ANY_NAME) if parts[-1] is _ANY_FOLDERS_PART else tuple(parts)


def _compile_part(text: str, style: GlobStyle) -> GlobPart:
    if text == _ANY_FOLDERS:
        return _ANY_FOLDERS_PART
    if not any(wildcard in text for wildcard in "*?[\\"):
        return GlobPart(text)
    negations = {"git": "", "paths": "^"}.get(style, "!^")
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        character = text[position]
        end = _end_of_set(text, position) if character == "[" else 0
        if character == "*":
            tokens += [] if tokens[-1:] == [_STAR] else [_STAR]
        elif character == "?":
            tokens.append(_ANY_CHARACTER)
        elif end:
            tokens.append(_character_set(text[position + 1 : end], negations))
            position = end
        else:
            position += character == "\\" and position + 1 < len(text)
            tokens.append(text[position])
        position += 1
    return GlobPart(text if style in ("folders", "paths") else "", tuple(tokens))


def _end_of_set(text: str, start: int) -> int:
    """Return the position of the `]` that closes the set, or 0 if it is not closed. A `]` right at its start is part of the set."""
    first = start + 2 if text[start + 1 : start + 2] in ("!", "^") else start + 1
    return max(text.find("]", first + 1), 0)


def _character_set(text: str, negations: str) -> CharacterSet:
    negated = text[0] in negations
    ranges: list[tuple[str, str]] = []
    position = 1 if negated else 0
    while position < len(text):
        is_range = text[position + 1 : position + 2] == "-" and position + 2 < len(text)
        ranges.append((text[position], text[position + 2] if is_range else text[position]))
        position += 3 if is_range else 1
    return CharacterSet(tuple(ranges), negated)


def _match_lengths(names: Sequence[str], parts: Sequence[GlobPart]) -> set[int]:
    """Return the possible numbers of leading names that the parts match."""
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
    name_index, token_index, star_index, retry_from = 0, 0, -1, 0
    while name_index < len(name):
        if token_index < len(tokens) and tokens[token_index] == _STAR:
            star_index, retry_from = token_index, name_index
            token_index += 1
        elif token_index < len(tokens) and _matches_character(name[name_index], tokens[token_index]):
            name_index, token_index = name_index + 1, token_index + 1
        elif star_index >= 0:
            retry_from += 1
            name_index, token_index = retry_from, star_index + 1
        else:
            return False
    return all(token == _STAR for token in tokens[token_index:])


def _matches_character(character: str, token: Token) -> bool:
    return token.has(character) if isinstance(token, CharacterSet) else token in (_ANY_CHARACTER, character)
