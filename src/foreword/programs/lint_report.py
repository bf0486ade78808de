"""Reduces lint's findings to those that say something new: once for each mistake, and nothing about files that are not shared."""

from __future__ import annotations

import os
import re

from ..inspection.lint.patterns import lazy_pattern
from ..sources.paths import is_inside
from ..sources.shared_files import ignored, in_submodules, left_out
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..vocabulary import Finding

MISSING_FILE = "missing-file"
_MISSING_IMPORT = lazy_pattern(r" not import @(\S+), because the file does not exist(?:; \S+ does)?$")


def without_repeated_reasons(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those that another one says better.

    That a section is large is known if its file is cut or over an agent's limit, and that a text is repeated if an agent gets it twice.
    Invalid YAML is one mistake, whatever it means for each agent. That an import is not followed is said once, with the reason.
    """
    findings = list(_without_sections_below(_with_first_yaml_problem(findings)))
    too_long = {found.path for found in findings if found.code in ("cut-file", "over-limit")}
    said = {
        "oversized-section": too_long,
        "repeated-paragraph": {found.path for found in findings if found.code == "sent-twice"},
    }
    imports = {(found.path, found.line) for found in findings if found.code.startswith("import-")}
    return [
        found
        for found in findings
        if found.path not in said.get(found.code, frozenset[str]())
        and (found.code != "unsupported-include" or (found.path, found.line) not in imports)
    ]


def _without_sections_below(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without large sections of which a file above is known to be too long, too, unless most of one comes from its own file."""
    findings = list(findings)
    known = {os.path.dirname(found.path) for found in findings if found.code in ("cut-file", "oversized-section")}

    def is_known_above(found: Finding) -> bool:
        folder = os.path.dirname(found.path)
        is_part = found.code == "oversized-section" and "most of them come from here" not in found.message
        return is_part and any(is_inside(folder, above) for above in known - {folder})

    return [found for found in findings if not is_known_above(found)]


_YAML = lazy_pattern(r"the front matter (?:cannot be read as YAML|is never closed|has [\d,]+ characters)")


def _with_first_yaml_problem(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings, but only the first one for each file whose front matter cannot be read."""
    seen: set[str] = set()
    for found in findings:
        if _YAML.search(found.message):
            if found.path in seen:
                continue
            seen.add(found.path)
        yield found


def without_files_of_git(findings: Sequence[Finding], root: str, submodules: str) -> list[Finding]:
    """Return the findings without missing files that git ignores, which a build or a person makes, or that a checkout may leave out.

    `submodules` is the text of `.gitmodules`.
    """
    paths = {
        found: set(possible_paths(found.path, target, root))
        for found in findings
        if (target := missing_target(found)) and is_inside(found.path, root)
    }
    names = set[str]().union(*paths.values())
    known = ignored(root, names) | left_out(root, names) | in_submodules(submodules, names) if names else set[str]()
    return [found for found in findings if known.isdisjoint(paths.get(found, ()))]


def missing_target(found: Finding) -> str:
    """Return the path in a finding about a file that does not exist, or empty if it is about something else."""
    if found.code == MISSING_FILE:
        return found.message.removesuffix(" does not exist")
    missing = _MISSING_IMPORT.search(found.message) if found.code == "unfollowed-import" else None
    return missing[1] if missing else ""


def possible_paths(path: str, target: str, root: str) -> Iterator[str]:
    """Yield the paths, relative to the root, that a target in a file may mean."""
    folder = os.path.dirname(path)
    while is_inside(folder, root):
        path = os.path.normpath(os.path.join(folder, target))
        if is_inside(path, root):
            yield os.path.relpath(path, root)
        if folder == root:
            return
        folder = os.path.dirname(folder)


# Folding

_OFTEN_COPIED = (MISSING_FILE, "missing-target", "missing-script", "repeated-paragraph")
# How many of the things that are missing in one file are named.
_MAX_NAMED = 5


class _Foldable:
    """A kind of finding that a file may have several times: what a message names, and how to name several of them.

    `pattern` has the groups `name` and `key`. Findings with equal keys are joined, and `join` gets that key and the names.
    """

    def __init__(self, codes: Sequence[str], pattern: str, join: Callable[[str, str], str]) -> None:
        self.codes, self.pattern, self.join = codes, lazy_pattern(pattern), join


_FOLDABLE = (
    _Foldable((MISSING_FILE,), r"(?P<key>)(?P<name>.+) does not exist", lambda key, names: f"{names} do not exist"),
    _Foldable(
        (MISSING_FILE,),
        r"(?P<key>)(?P<name>.+) is on one person's disk; link to it by a relative path",
        lambda key, names: f"{names} are on one person's disk; link to them by relative paths",
    ),
    _Foldable(
        ("missing-target", "missing-script"),
        r"(?P<key>.+ has no (?:target|script)) (?P<name>'[^']+')(?:;.*)?",
        lambda key, names: f"{key}s {names}",
    ),
    _Foldable(
        ("unsupported-include",),
        r"(?P<key>.+ not expand) (?P<name>\S+): the model sees the line, not the file; say when to read it",
        lambda key, names: f"{key} {names}: the model sees the lines, not the files; say when to read them",
    ),
    _Foldable(
        ("unfollowed-import",),
        r"(?P<key>.+ not import) (?P<name>@\S+), because the file does not exist",
        lambda key, names: f"{key} {names}, because the files do not exist",
    ),
    _Foldable(
        ("unfollowed-import",),
        r"(?P<key>.+ not import) (?P<name>@\S+), because its path is relative to this file's folder",
        lambda key, names: f"{key} {names}, because their paths are relative to this file's folder",
    ),
)


def fold_by_file(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings, where those about several things that are missing in one file are one, at the first of them.

    What is missing in several files, or what several repeat, is reported for the first: often these are copies.
    """
    others_of: dict[Finding, list[Finding]] = {}
    groups: dict[object, list[tuple[Finding, str, _Foldable | None, str]]] = {}
    first_of: dict[str, Finding] = {}
    for found in findings:
        if found.code in _OFTEN_COPIED and (first := first_of.setdefault(found.message, found)) is not found:
            others_of.setdefault(first, []).append(found)
            continue
        foldable, match = _match(found)
        if foldable is None or match is None:
            groups[found] = [(found, "", None, "")]
        else:
            key = (found.path, foldable, match["key"])
            groups.setdefault(key, []).append((found, match["name"], foldable, match["key"]))
    return [_join_group(group, others_of) for group in groups.values()]


def _match(found: Finding) -> tuple[_Foldable | None, re.Match[str] | None]:
    for foldable in _FOLDABLE:
        if found.code in foldable.codes and (match := foldable.pattern.fullmatch(found.message)):
            return foldable, match
    return None, None


def _join_group(
    group: Sequence[tuple[Finding, str, _Foldable | None, str]], others_of: dict[Finding, list[Finding]]
) -> Finding:
    """Return one finding for those of a group, which names the first things and counts the rest."""
    first, _, foldable, key = group[0]
    if foldable is None or len(group) == 1:
        others = _describe_others(others_of.get(first, ()))
        return replace(first, message=f"{first.message}; {others}") if others else first
    names = [
        _with_notes(
            name,
            f"line {found.line}" if found.line and found.line != first.line else "",
            _describe_others(others_of.get(found, ())),
        )
        for found, name, _, _ in group
    ]
    more = len(names) - _MAX_NAMED
    shown = [*names[:_MAX_NAMED], f"{more:,} more"] if more > 1 else names
    return replace(first, message=foldable.join(key, f"{', '.join(shown[:-1])} and {shown[-1]}"))


def _with_notes(name: str, *notes: str) -> str:
    text = "; ".join(filter(None, notes))
    return f"{name} ({text})" if text else name


def _describe_others(others: Sequence[Finding]) -> str:
    """Return a clause about the other places of a finding, or empty if there are none."""
    if not others:
        return ""
    more = f" and {len(others) - 1:,} more" if len(others) > 1 else ""
    return f"also in {others[0].path}:{others[0].line}{more}"
