"""Find the sources of an alignment among the names of a repository's files. Pure."""

from __future__ import annotations

import re
from posixpath import basename, dirname

from ...sources.front_matter import read_fields, split
from ...sources.globs import expand_braces
from ...sources.path_globs import split_globs
from ...sources.tree import SKIPPED_FOLDERS
from .model import Instruction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

INSTRUCTIONS = "AGENTS.md"
RULES = ".agents/rules/"
SKILLS = ".agents/skills/"
_SAMPLE = "x"
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&#39;", "'"), ("&amp;", "&"))
_LEFT_OUT = "\0"
_IMPORT = re.compile(r"(?:^|\s)@\S")


def find_sources(
    names: Iterable[str], text_of: Callable[[str], str | None], name: str = INSTRUCTIONS
) -> list[Instruction]:
    """Return the repository's instruction files with this name, its rules and its skills, in order of their paths.

    Files without text, and files that cannot be read as text, are not sources.
    """
    found: list[Instruction] = []
    names = sorted(names)
    for path in names:
        kind = _kind(path, name)
        text = text_of(path) if kind else None
        if kind is None or text is None:
            continue
        text = text.removeprefix("\ufeff").replace("\r\n", "\n")
        lines = content_lines(text)
        if lines:
            has_others = kind == "skill" and any(row.startswith(f"{dirname(path)}/") and row != path for row in names)
            found.append(_source(path, kind, text, lines, has_others))
    return found


def unreadable_sources(
    names: Iterable[str], text_of: Callable[[str], str | None], name: str = INSTRUCTIONS
) -> list[str]:
    """Return the paths that would be sources if they could be read as text."""
    return sorted(path for path in names if _kind(path, name) and text_of(path) is None)


def _source(path: str, kind: str, text: str, lines: list[str], has_others: bool) -> Instruction:
    if kind == "file":
        return Instruction(path, "file", dirname(path), text, lines)
    if kind == "skill":
        return Instruction(path, "skill", "", text, lines, name=basename(dirname(path)), has_other_files=has_others)
    name = path[len(RULES) :].removesuffix(".md").replace("/", "-")
    return Instruction(path, "rule", "", text, lines, name, tuple(rule_globs(text)))


def _kind(path: str, name: str) -> str | None:
    if basename(path) == name and not is_skipped(dirname(path)):
        return "file"
    if path.startswith(RULES) and path.endswith(".md") and basename(path).lower() != "readme.md":
        return "rule"
    return "skill" if re.fullmatch(r"\.agents/skills/[^/]+/SKILL\.md", path) else None


def is_skipped(folder: str) -> bool:
    """Whether a folder is hidden, contains third-party code, or is inside such a folder."""
    return any(name.startswith(".") or name in SKIPPED_FOLDERS for name in folder.split("/"))


def rule_globs(text: str) -> list[str]:
    """Return the globs in a rule's front matter, or an empty list if it always applies."""
    return split_globs(read_fields(text)[0].get("paths", ""))


def sample_path(globs: Iterable[str]) -> str:
    """Return a path that one of these globs matches."""
    glob = next((glob for glob in globs if not glob.startswith("!")), "*")
    names = [name for name in expand_braces(glob)[0].split("/") if name not in ("", ".")]
    last = _SAMPLE if not names or names[-1] == "**" else names[-1]
    folders = [name for name in names[:-1] if name != "**"]
    return "/".join(re.sub(r"\[[^\]]*\]|\*+|\?", _SAMPLE, name) for name in (*folders, last))


def content_lines(text: str) -> list[str]:
    """Return the lines that every reader of a file must see, without the spaces around them.

    Some agents leave out front matter and comments, or replace imports, so lines with these do not count.
    """
    body = _COMMENT.sub(_LEFT_OUT, split(text)[1])
    lines = (line.strip() for line in body.split("\n"))
    return [line for line in lines if line and _LEFT_OUT not in line and not _IMPORT.search(line)]


def comparable(line: str) -> str:
    """Return a line as it is compared: some agents escape quotation marks and other characters, or keep a BOM."""
    line = line.removeprefix("\ufeff")
    for entity, character in _ENTITIES:
        line = line.replace(entity, character)
    return line


def count_lines(lines: Iterable[str]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    return counts


def count_copies(source: Mapping[str, int], text: Mapping[str, int]) -> int:
    """Return how often a text contains all of a source's lines."""
    return min((text.get(line, 0) // count for line, count in source.items()), default=0)


def shared_lines(source: Instruction, lines: Iterable[str]) -> Iterator[str]:
    """Yield those of the lines that the source has too, without those that have no letter or digit."""
    known = set(source.lines)
    return (line for line in lines if line in known and any(map(str.isalnum, line)))
