"""Recognizes files that are yet to come: those that a skill or a command writes, and those that an instruction file uses only if they exist."""

from __future__ import annotations

import re
from posixpath import basename

from ..inspection.lint.patterns import lazy_pattern
from ..inspection.lint.rule_globs import literal_folders, split_globs
from ..sources.paths import is_inside
from ..sources.search import SKILL_FILE
from .lint_report import MISSING_FILE, missing_target, possible_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..inspection.lint.source_text import SourceText
    from ..vocabulary import Finding

UNMATCHED_RULE = "unmatched-rule"
_NO_MATCH = lazy_pattern(r"no file in the repository matches (.+), so ")
_PATH = r"(?<![\w./-])(?P<path>(?:[\w.-]{1,80}/){0,8}[\w.-]{1,80}\.\w{1,8})(?![\w/-])"
_ANY_PATH = lazy_pattern(_PATH)
# "**Output:** `docs/plan.md`", "| Writes | `docs/plan.md` |"
_OUTPUT_LINE = lazy_pattern(
    r"^[ \t>|]*(?:[-+*•][ \t]+|\d{1,3}[.)][ \t]+)?[*_]{0,3}(?:outputs?(?:[ \t]+(?:files?|path|to))?|(?:writes?|saves?|written|saved)(?:[ \t]+to)?)"
    r"[*_]{0,3}[ \t]*[:|](?![^\n]{0,400}\bsee\b)[^\n]{1,400}",
    re.IGNORECASE | re.MULTILINE,
)
# "save the report to `docs/report.md`"
_WRITES = lazy_pattern(
    r"\b(?:writ(?:es?|ten|ing)|sav(?:es?|ed|ing))(?:[ \t]+(?:it|this|that|them|the|a|your|outputs?|results?|reports?|plan|files?)){0,3}"
    rf"[ \t]+(?:to|as)[ \t]+[`*\"'(<]{{0,3}}{_PATH}",
    re.IGNORECASE,
)
_EXISTS = r"(?:already[ \t]+)?(?:exists?|(?:is[ \t]+)?(?:present|available))\b"
_MISSES = r"(?:is[ \t]+(?:missing|absent)|(?:does[ \t]+not|doesn['’]t)[ \t]+exist)\b"
# "`docs/plan.md` (if it exists)"; the line may be wrapped.
_GUARDED_AFTER = lazy_pattern(
    rf"{_PATH}[`*)\"'>]{{0,3}}[ \t,—-]{{0,3}}\n?[ \t]*\(?(?:only[ \t]+|but[ \t]+)?if[ \t]+(?:(?:it|one|that|the[ \t]+file)[ \t]*)?\n?[ \t]*{_EXISTS}",
    re.IGNORECASE,
)
# "if `docs/plan.md` does not exist"
_GUARDED_BEFORE = lazy_pattern(
    rf"\bif[ \t]+(?:the[ \t]+file[ \t]+)?[`*\"'(<]{{0,3}}{_PATH}[`*)\"'>]{{0,3}}[ \t]+(?:{_EXISTS}|{_MISSES})",
    re.IGNORECASE,
)
# A skill's own folders: a path in them is relative to the skill.
_OF_SKILL = ("references/", "reference/", "scripts/", "assets/", "resources/", "templates/")


def without_files_to_come(
    findings: Sequence[Finding], root: str, texts: Callable[[], Iterable[SourceText]]
) -> list[Finding]:
    """Return the findings without missing files that one of these texts uses only if they exist, or that a skill or a command writes."""
    if not any(found.code in (MISSING_FILE, UNMATCHED_RULE) for found in findings):
        return list(findings)
    sources = list(texts())
    expected = {
        path for text in sources for mentioned in _find_paths(text) for path in _meant(text.path, mentioned, root)
    }
    return [
        found
        for found in findings
        if not (
            _names_folder_of(found, sources)
            if found.code == UNMATCHED_RULE
            else found.code == MISSING_FILE and not expected.isdisjoint(_meant(found.path, missing_target(found), root))
        )
    ]


def _names_folder_of(found: Finding, sources: Sequence[SourceText]) -> bool:
    """Whether a skill or a command names the folder of the files that a rule waits for: it may make them."""
    match = _NO_MATCH.match(found.message)
    folders = literal_folders(split_globs(match[1])) if match else []
    texts = [source.text for source in sources if source.kind in ("skill", "command")]
    return any(folder.rstrip("/") + "/" in text for folder in folders for text in texts)


def _find_paths(source: SourceText) -> Iterator[str]:
    """Yield the paths of files that this text uses only if they exist or, if it is that of a skill or a command, writes."""
    text = source.text
    if "exist" in text or "present" in text or "available" in text:
        for pattern in (_GUARDED_AFTER, _GUARDED_BEFORE):
            yield from (match["path"] for match in pattern.finditer(text))
    if source.kind in ("skill", "command"):
        for line in _OUTPUT_LINE.finditer(text):
            yield from (match["path"] for match in _ANY_PATH.finditer(line[0]))
        yield from (match["path"] for match in _WRITES.finditer(text))


def _meant(path: str, target: str, root: str) -> list[str]:
    """Return the paths, relative to the root, that a target in a file may mean. In a skill's own folders, it means only one."""
    paths = list(possible_paths(path, target, root)) if is_inside(path, root) else []
    is_of_skill = basename(path) == SKILL_FILE and target.removeprefix("./").startswith(_OF_SKILL)
    return paths[:1] if is_of_skill else paths
