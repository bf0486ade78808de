"""Gathers the instructions for touched files: the instruction files in the folders above them, and the rules for their paths.

Rules are compiled once, and read again only if they change. A touch then compares the path with each of them.
"""

from __future__ import annotations

import os

from ..errors import show
from ..findings import finding
from ..sources.paths import absolute_path, is_inside
from ..sources.scoping import scope_of, scope_of_globs
from ..text.lines import printable
from ..vocabulary import Skill, replace, value
from .gather import gather

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..layout.model import Layout, Lookup
    from ..sources.reader import Reader
    from ..sources.scoping import RuleScope
    from ..vocabulary import Candidate, Finding, Inputs, Resident, Workspace
    from .results import FoundText, LookupResult

# Instructions in third-party code do not apply.
_SKIPPED_FOLDERS = frozenset(("node_modules", ".git"))
_MAX_PATH_LENGTH = 4096  # Linux cannot open longer paths, and checking every folder in one would take seconds
_USER_PLACES = ("home", "config", "env", "system", "above")


@value
class TouchedFile:
    """A touched file in the workspace. `names` are its path as written and, if that goes through a link, its real path."""

    path: str
    folder: str
    names: Sequence[str]


class RuleScopes:
    """The paths that rules apply to, compiled once for each text."""

    def __init__(self) -> None:
        self.compiled_count = 0
        self._scopes: dict[tuple[str, ...], RuleScope] = {}

    def scope_of_rule(self, lookup: Lookup, text: FoundText) -> RuleScope:
        key = (
            text.reading.path,
            text.reading.hash,
            lookup.rules.fences,
            lookup.rules.repair,
            lookup.globs,
            *lookup.match,
            *(name for names in lookup.rules.alias for name in names),
        )
        scope = self._scopes.get(key)
        if scope is None:
            self.compiled_count += 1
            scope = self._scopes[key] = scope_of(
                text.reading.text_by(lookup.rules), lookup.match, lookup.globs, lookup.rules.alias
            )
        return scope

    def scope_of_skill(self, lookup: Lookup, skill: Skill) -> RuleScope:
        key = skill.path, skill.paths, lookup.globs
        scope = self._scopes.get(key)
        if scope is None:
            scope = self._scopes[key] = scope_of_globs("paths", skill.paths, lookup.globs)
        return scope


def locate(path: str, workspace: Workspace, reader: Reader) -> TouchedFile | Finding:
    """Return the touched file at a path, which need not exist, or a finding if it is outside the workspace. Links are resolved."""
    display_path = printable(path)
    if "\0" in path or not path or len(path) > _MAX_PATH_LENGTH:
        return finding("touch-outside", f"{show(path)} is not a valid path; nothing was sent for it")
    written_path = absolute_path(path, workspace)
    root = workspace.root or workspace.cwd
    names = [written_path]
    if not is_inside(written_path, root) or reader.has_link(written_path, root):
        real, real_root = reader.real(written_path), reader.real(root)
        if not is_inside(real, real_root):
            message = f"{display_path} is outside the workspace {printable(root)}; nothing was sent for it"
            return finding("touch-outside", message, display_path)
        names = [*(name for name in names if is_inside(name, root)), root + real[len(real_root) :]]
    resolved = names[-1]
    folder = resolved if reader.is_folder(resolved) else os.path.dirname(resolved)
    return TouchedFile(resolved, folder, tuple(names))


def directories_above(
    lookup: Lookup, files: Iterable[TouchedFile], workspace: Workspace, reader: Reader, *, is_mirror: bool
) -> tuple[str, ...]:
    """Return the directories of the place `down`, outermost first: those above the touched files that the place `walk` does not include.

    They start at the nearest directory with one of the lookup rule's markers.
    """
    root, cwd = workspace.root or workspace.cwd, workspace.cwd
    directories: dict[str, None] = {}
    for file in files:
        if lookup.within == "cwd" and not is_inside(file.folder, cwd):
            continue
        folders: list[str] = []
        folder = file.folder
        # If a directory is known, so are those above it.
        while folder != root and folder not in directories and is_inside(folder, root) and not is_inside(cwd, folder):
            folders.append(folder)
            if any(reader.has_entry(os.path.join(folder, marker)) for marker in lookup.markers or ()):
                break
            folder = os.path.dirname(folder)
        for folder in reversed(folders):
            if not is_mirror and os.path.basename(folder) in _SKIPPED_FOLDERS:
                break
            directories[folder] = None
    return tuple(directories)


def gather_touched(
    layout: Layout,
    workspace: Workspace,
    reader: Reader,
    files: Sequence[TouchedFile],
    scopes: RuleScopes,
    before: Inputs | None = None,
    is_selected: Callable[[str], bool] | None = None,
) -> Inputs:
    """Gather the instructions for these touched files. With `is_selected`, rules are chosen by their own paths instead."""
    is_mirror = bool(layout.mirrors)
    # The results of the other lookup rules do not depend on these directories, and are reused for the next path.
    lookups = [
        replace(lookup, directories=directories_above(lookup, files, workspace, reader, is_mirror=is_mirror))
        if lookup.looks_down
        else lookup
        for lookup in layout.lookups
    ]

    def select(lookup: Lookup, result: LookupResult) -> LookupResult:
        if not lookup.match:
            return result
        select_rules = select_matching_skills if lookup.kind == "skill" else select_matching
        return select_rules(lookup, result, files, workspace, scopes, is_selected)

    return gather(replace(layout, lookups=tuple(lookups)), workspace, reader, before, select=select)


def select_matching(
    lookup: Lookup,
    result: LookupResult,
    files: Sequence[TouchedFile],
    workspace: Workspace,
    scopes: RuleScopes,
    is_selected: Callable[[str], bool] | None = None,
) -> LookupResult:
    """Remove from a lookup rule's result the rules that apply to none of these files. They remain as `waiting` candidates."""
    files = _files_for(lookup, files, workspace)
    candidates = list(result.candidates)
    kept: list[tuple[FoundText, RuleScope]] = []
    problems: list[Finding] = []
    for text in result.texts:
        if not lookup.has_conditions_for(text.reading.path):
            kept.append((text, _UNSCOPED))
            continue
        scope = scopes.scope_of_rule(lookup, text)
        candidate = candidates[text.candidate]
        if scope.problem:
            problems.append(finding("front-matter-invalid", f"{candidate.path}: {scope.problem}", candidate.path, 1))
        bases = bases_of_rule(lookup, text.reading.path, text.place, text.base, workspace)
        fate = _unmatched_candidate(lookup, scope, candidate, bases, files) if is_selected is None else None
        if fate is None and (is_selected is None or is_selected(candidate.path)):
            kept.append((text, scope))
        else:
            candidates[text.candidate] = fate or replace(candidate, fate="waiting", reason="it was not sent earlier")
    if lookup.unscoped == "first":
        kept = list(_unscoped_first(kept))
    return replace(
        result,
        texts=[text for text, _ in kept],
        candidates=candidates,
        findings=(*result.findings, *problems),
    )


def select_matching_skills(
    lookup: Lookup,
    result: LookupResult,
    files: Sequence[TouchedFile],
    workspace: Workspace,
    scopes: RuleScopes,
    is_selected: Callable[[str], bool] | None = None,
) -> LookupResult:
    """Remove from a lookup rule's result the skills that apply to none of these files.

    Those with paths remain as `waiting` candidates; the others are already listed in the prompt, so a touch does not list them.
    """
    files = _files_for(lookup, files, workspace)
    candidates = {candidate.path: candidate for candidate in result.candidates}
    kept: list[Skill | Resident] = []
    problems: list[Finding] = []
    for entry in result.entries:
        path = printable(entry.path)
        scope = scopes.scope_of_skill(lookup, entry) if isinstance(entry, Skill) else _UNSCOPED
        if scope.problem:
            problems.append(finding("front-matter-invalid", f"{path}: {scope.problem}", path, 1))
        bases = bases_of_rule(lookup, entry.path, *result.places[entry.path], workspace)
        if is_selected is not None:
            fate = (
                None
                if is_selected(path)
                else replace(candidates[path], fate="waiting", reason="it was not sent earlier")
            )
        else:
            fate = _unmatched_candidate(lookup, scope, candidates[path], bases, files)
        if fate is None:
            kept.append(entry)
        elif scope.is_scoped:
            candidates[path] = fate
        else:
            del candidates[path]
    return replace(result, entries=kept, candidates=tuple(candidates.values()), findings=(*result.findings, *problems))


def _files_for(lookup: Lookup, files: Sequence[TouchedFile], workspace: Workspace) -> list[TouchedFile]:
    """Return the files that a lookup rule's globs may match. A folder has no name that they could match."""
    is_confined = lookup.within == "cwd"
    return [file for file in files if file.names and (not is_confined or is_inside(file.path, workspace.cwd))]


def _unmatched_candidate(
    lookup: Lookup, scope: RuleScope, candidate: Candidate, bases: Sequence[str], files: Sequence[TouchedFile]
) -> Candidate | None:
    """Return the candidate of a rule or skill that does not apply, with the reason, or None if it applies."""
    if not scope.is_scoped:
        if lookup.unscoped != "skip":
            return None
        return replace(candidate, fate="unused", reason=f"its front matter has no {' or '.join(lookup.match)}")
    if any(scope.globs.match(*paths) for file in files for paths in relative_paths(file, bases)):
        return None
    reason = f"it waits for a file that matches {scope.text} ({scope.field} in its front matter)"
    return replace(candidate, fate="waiting", reason=reason, target=scope.text)


def bases_of_rule(lookup: Lookup, path: str, place: str, base: str, workspace: Workspace) -> tuple[str, ...]:
    """Return the directories that a rule's globs are relative to. The rule applies only to files in the first one.

    For a user's own rule that is the workspace, otherwise the directory where its folder was found.
    """
    root = workspace.root or workspace.cwd
    if lookup.globs_from == "root":
        return (root,)
    if place in _USER_PLACES or (place == "path" and not is_inside(path, base)):
        return (workspace.cwd if lookup.within == "cwd" else root,)
    return (base, root) if lookup.globs_from == "both" and base != root and is_inside(base, root) else (base,)


def relative_paths(file: TouchedFile, bases: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield a file's path relative to each of these directories, as written and resolved, if the file is in the first one."""
    for name in file.names:
        if is_inside(name, bases[0]) and name != bases[0]:
            yield [name[len(base.rstrip("/")) + 1 :] for base in bases]


def _unscoped_first(kept: Sequence[tuple[FoundText, RuleScope]]) -> Iterator[tuple[FoundText, RuleScope]]:
    """Yield the rules, with the unscoped ones first in each folder."""
    in_folder: list[tuple[FoundText, RuleScope]] = []
    for text, scope in kept:
        if in_folder and (in_folder[0][0].base, in_folder[0][0].pattern) != (text.base, text.pattern):
            yield from sorted(in_folder, key=lambda rule: rule[1].is_scoped)
            in_folder = []
        in_folder.append((text, scope))
    yield from sorted(in_folder, key=lambda rule: rule[1].is_scoped)


_UNSCOPED = scope_of("", ())
