"""Layout and workspace in, Inputs out: all reading happens here.

Runs every find of the layout. Each file that was considered becomes a candidate with its fate, and a file or text that was found
twice is kept once. The inputs are frozen and depend on neither agent nor clock, so they can be stored and formatted again for
another turn. A find is run again only if something that it read has changed on the disk.
"""

from __future__ import annotations

import os

from ..findings import finding, kind_of
from ..sources.environment import resolve_workspace
from ..sources.files import GONE
from ..sources.finder import (
    SKILL_FILE,
    Trail,
    bound_of,
    choose,
    layer_of,
    matches,
    record_refused,
    slots,
    walked_directories,
)
from ..sources.front_matter import read_resident, read_skill
from ..sources.links import reach_of
from ..sources.paths import absolute_scope, distance_of
from ..sources.stamps import UNSTABLE, is_unchanged, real_path
from ..text.lines import printable
from ..vocabulary import Candidate, Document, Inputs, Skill, include_key, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import Find, Layout
    from ..sources.files import Reader
    from ..sources.finder import Bound
    from ..sources.readings import Reading
    from ..vocabulary import Finding, Resident, Scope, Workspace
    from .includes import Includes

    Variable = Callable[[str, Workspace], str | None]


@value
class FoundText:
    """Text that was found, the index of its candidate, and the bound for its includes."""

    reading: Reading
    candidate: int
    bound: Bound


@value
class FindResult:
    """What one find read and found: menu entries, with the identity of each file by its path; or texts."""

    entries: Sequence[Skill | Resident]
    identities: Mapping[str, tuple[int, int]]
    texts: Sequence[FoundText]
    candidates: Sequence[Candidate]
    findings: Sequence[Finding]
    stamps: Sequence[tuple[str, Any]]
    readings: Mapping[str, Any]


def gather(
    layout: Layout,
    workspace: Workspace,
    reader: Reader,
    before: Inputs | None = None,
    bodies: Mapping[str, Document] | None = None,
    templates: Mapping[str, Document] | None = None,
    scope: Scope | None = None,
    variables: Mapping[str, Variable] | None = None,
) -> Inputs:
    """The inputs that the workspace has for this layout.

    `before` are the inputs that the same layout gathered last time. `bodies` are the templates of its sections, whose variables are
    read as far as the scope allows, and `templates` are all templates that they include. `variables` are types that extensions add.
    """
    if workspace.environment is None or workspace.root is None:
        workspace = resolve_workspace(workspace, reader)
    scope = absolute_scope(scope, workspace)
    results = _run_finds(layout, workspace, reader, before)
    unique = _Deduplicator(layout, results, workspace, reader)
    includes: Includes | None = None
    if unique.with_directives:
        from .includes import Includes

        includes = Includes(workspace, scope, reader, unique.names())
    unique.drop_copies(includes)
    if includes is not None:
        includes = Includes(workspace, scope, reader, unique.names(), includes.readings)
        unique.follow(includes)
    trail = Trail()
    values = _values(layout, bodies or {}, workspace, scope, reader, variables or {}, trail)
    findings = [
        *(each for result in results.values() for each in result.findings),
        *unique.findings,
        *(includes.findings if includes else ()),
        *trail.findings,
        *_git_findings(layout, workspace),
    ]
    return Inputs(
        workspace=workspace,
        found=unique.found(),
        candidates=_one_per_file((*unique.candidates(), *(includes.candidates if includes else ()), *trail.candidates)),
        findings=tuple(dict.fromkeys(findings)),
        stamps=_all_stamps(reader, results),
        find_results=results,
        includes=includes.found if includes else {},
        bodies=bodies or {},
        templates=templates or {},
        values=values,
        types=tuple(variables or ()),
    )


def _one_per_file(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """One candidate for each file, however often it was considered: preferably one that was used."""
    fates: dict[str, Candidate] = {}
    for each in candidates:
        known = fates.setdefault(each.path, each)
        if known.fate not in ("used", "cut") and each.fate in ("used", "cut"):
            fates[each.path] = each
    return tuple(fates.values())


def _all_stamps(reader: Reader, results: Mapping[str, FindResult]) -> tuple[tuple[str, Any], ...]:
    """The stamps of all finds. A path that changed between two of them counts as unstable."""
    stamps = dict(reader.stamps)
    for result in results.values():
        for path, stamp in result.stamps:
            if stamps.setdefault(path, stamp) != stamp:
                stamps[path] = UNSTABLE
    return tuple(stamps.items())


def _git_findings(layout: Layout, workspace: Workspace) -> Iterator[Finding]:
    """A finding if a find starts at the git root and there is none."""
    if not workspace.is_repository and any(_stops_at_git(find) for find in layout.finds):
        cwd = printable(workspace.cwd)
        yield finding("not-a-repository", f"{cwd} is not in a git repository; only that directory was searched", cwd)


def _stops_at_git(find: Find) -> bool:
    is_walked = any(group and group[0].place == "walk" for group in find.groups)
    return find.kind == "text" and find.walk == "git" and is_walked


def _run_finds(layout: Layout, workspace: Workspace, reader: Reader, before: Inputs | None) -> dict[str, FindResult]:
    """The result of each find: the last one, unless something that it read has changed."""
    results: dict[str, FindResult] = {}
    # Whether a link leads out of the workspace depends on these, whatever else a find reads.
    root_stamps = {path: reader.stamp(path) for path in walked_directories("git", workspace)}
    for find in layout.finds:
        known = before.find_results.get(find.name) if before and before.workspace == workspace else None
        if known is None or not is_unchanged(known.stamps, reader.disk):
            known = _run_find(find, workspace, reader.successor(known.readings if known else {}, root_stamps))
        results[find.name] = known
    return results


def _run_find(find: Find, workspace: Workspace, reader: Reader) -> FindResult:
    trail = Trail()
    entries: list[Skill | Resident] = []
    identities: dict[str, tuple[int, int]] = {}
    texts: list[FoundText] = []
    if find.kind == "text":
        texts = _find_texts(find, workspace, reader, trail)
    else:
        entries, identities = _find_entries(find, workspace, reader, trail)
    stamps = tuple(reader.stamps.items())
    return FindResult(entries, identities, texts, trail.candidates, trail.findings, stamps, reader.readings)


# Texts


def _find_texts(find: Find, workspace: Workspace, reader: Reader, trail: Trail) -> list[FoundText]:
    """The texts of one find, farthest first."""
    places = list(slots(find, workspace, trail))
    is_nearest_only = find.take == "nearest"
    texts: list[FoundText] = []
    for slot in reversed(places) if is_nearest_only else places:
        chosen = texts[0].reading if is_nearest_only and texts else None
        start = len(trail.candidates)
        readings = choose(slot, find, workspace, reader, trail)
        pointers = _remove_pointers(trail, start)
        for reading, pattern, is_taken in readings:
            layer = layer_of(find, pattern)
            if is_taken and (chosen is None or not is_nearest_only):
                trail.record(reading.path, layer, reading.fate, reading.reason, reading.code)
                bound = bound_of(reading.path, pattern, find, workspace)
                texts.append(FoundText(reading, len(trail.candidates) - 1, bound))
                chosen = reading
            else:
                _record_unchosen(reading, layer, chosen, trail)
        trail.candidates.extend(pointers)
    return texts


def _remove_pointers(trail: Trail, start: int) -> list[Candidate]:
    """Remove the candidates that only point at another file, so that they can be listed after that file."""
    pointers = [each for each in trail.candidates[start:] if each.fate == "duplicate"]
    trail.candidates[start:] = [each for each in trail.candidates[start:] if each.fate != "duplicate"]
    return pointers


def _record_unchosen(reading: Reading, layer: str, chosen: Reading | None, trail: Trail) -> None:
    """Record text that was not chosen: a copy of the chosen one, or shadowed by it."""
    if chosen is not None and (reading.identity == chosen.identity or reading.text == chosen.text):
        what = "file" if reading.identity == chosen.identity else "text"
        reason = f"the same {what} as {printable(chosen.path)}"
        trail.record(reading.path, layer, "duplicate", reason, "file-duplicate", chosen.path)
    else:
        reason = f"{printable(chosen.path)} comes before it" if chosen else "another file comes before it"
        trail.record(reading.path, layer, "shadowed", reason, "file-shadowed", chosen.path if chosen else "")


class _Deduplicator:
    """Removes duplicates from the results of all finds, so that no file and no text is kept twice.

    If texts in two directories are equal, the nearer one is kept. If two names of one file are equally near, the one that is not a
    link is kept, otherwise the first.
    """

    def __init__(self, layout: Layout, results: Mapping[str, FindResult], workspace: Workspace, reader: Reader) -> None:
        # Text that may replace a section is compared later: whether it does depends on the agent.
        replacing = {name for section in layout.each_section() for name in section.instead}
        self.with_directives = {section.of for section in layout.each_section() if section.language == "directives"}
        self.finds = {find.name: find for find in layout.finds}
        self.results, self.workspace, self.reader = results, workspace, reader
        self.findings: list[Finding] = []
        self.fates: dict[str, list[Candidate | None]] = {
            name: list(result.candidates) for name, result in results.items()
        }
        self.texts = [(name, text) for name, result in results.items() for text in result.texts]
        self.comparable = [number for number, (name, _) in enumerate(self.texts) if name not in replacing]
        self.dropped: set[int] = set()
        self.dropped_entries: set[tuple[str, str]] = set()
        self.drop_aliases()
        self.drop_repeated_entries()

    def drop_aliases(self) -> None:
        """Keep one of the names of each file."""
        names: dict[tuple[int, int], int] = {}
        for number in self.comparable:
            identity = self.texts[number][1].reading.identity
            other = names.setdefault(identity, number)
            if other != number:
                nearer = self.distance(other) - self.distance(number)
                is_better = nearer > 0 or (not nearer and self.is_only_a_link(self.path(other), self.path(number)))
                loser, names[identity] = (other, number) if is_better else (number, other)
                self.drop(loser, names[identity], "file")

    def drop_repeated_entries(self) -> None:
        """Keep an entry in one find only, if several have found it."""
        owners: dict[tuple[int, int], tuple[str, str]] = {}
        for name, result in self.results.items():
            for path, identity in result.identities.items():
                other = owners.setdefault(identity, (name, path))
                if other != (name, path):
                    is_better = self.is_only_a_link(other[1], path)
                    loser, owners[identity] = (other, (name, path)) if is_better else ((name, path), other)
                    self.dropped_entries.add(loser)
                    number = [each.path for each in self.results[loser[0]].candidates].index(printable(loser[1]))
                    self.report_duplicate(loser[0], number, "the same file as", printable(owners[identity][1]))

    def drop_copies(self, includes: Includes | None) -> None:
        """Keep only the nearest of equal texts. Texts with includes are equal if what they include is equal too."""
        by_text: dict[str, list[int]] = {}
        for number in self.comparable:
            if number not in self.dropped:
                by_text.setdefault(self.texts[number][1].reading.text, []).append(number)
        for numbers in by_text.values():
            if len(numbers) == 1:
                continue
            nearest: dict[str, int] = {}
            for number in numbers:
                content = self.fingerprint(number, includes)
                other = nearest.setdefault(content, number)
                if other != number:
                    is_beside = os.path.dirname(self.path(other)) == os.path.dirname(self.path(number))
                    loser, nearest[content] = (number, other) if is_beside else (other, number)
                    self.drop(loser, nearest[content], "text")

    def fingerprint(self, number: int, includes: Includes | None) -> str:
        """A string that is equal for equal content: two equal texts may include different files."""
        name, text = self.texts[number]
        if includes is None or name not in self.with_directives or "<!--" not in text.reading.text:
            return text.reading.text
        from ..template import directives

        root = text.reading.document
        includes.follow(root, text.reading.path, text.bound)
        return directives.fingerprint(
            root, lambda path, target: includes.found[include_key(root.path, path, target)], {}
        )

    def follow(self, includes: Includes) -> None:
        """Read the includes of the texts that are kept."""
        for number, (name, text) in enumerate(self.texts):
            if number not in self.dropped and name in self.with_directives and "<!--" in text.reading.text:
                includes.follow(text.reading.document, text.reading.path, text.bound)

    def path(self, number: int) -> str:
        return self.texts[number][1].reading.path

    def distance(self, number: int) -> int:
        return distance_of(printable(self.path(number)), self.finds[self.texts[number][0]], self.workspace)

    def is_only_a_link(self, earlier: str, later: str) -> bool:
        """Whether the earlier of two names of one file goes through a link and the later one does not."""
        top = os.path.commonpath((earlier, later))
        return self.reader.is_linked(earlier, top) and not self.reader.is_linked(later, top)

    def drop(self, loser: int, winner: int, what: str) -> None:
        self.dropped.add(loser)
        name, text = self.texts[loser]
        if self.path(loser) == self.path(winner):
            self.fates[name][text.candidate] = None  # two finds have found the same path
        else:
            self.report_duplicate(name, text.candidate, f"the same {what} as", printable(self.path(winner)))

    def report_duplicate(self, name: str, number: int, reason: str, target: str) -> None:
        candidate = self.results[name].candidates[number]
        reason = f"{reason} {target}"
        self.fates[name][number] = Candidate(candidate.path, candidate.layer, "duplicate", reason, target)
        self.findings.append(finding("file-duplicate", f"{candidate.path}: {reason}", candidate.path))

    def names(self) -> dict[tuple[int, int], str]:
        """The name of each file that is kept, by its identity."""
        texts = [text for number, (_, text) in enumerate(self.texts) if number not in self.dropped]
        return {text.reading.identity: printable(text.reading.path) for text in texts}

    def candidates(self) -> Iterator[Candidate]:
        for candidates in self.fates.values():
            yield from (each for each in candidates if each is not None)

    def found(self) -> dict[str, Sequence[Document | Skill | Resident]]:
        """The kept entries of each find. A menu without duplicates is returned unchanged, so that it can be compared by identity."""
        found: dict[str, Sequence[Document | Skill | Resident]] = {}
        for name, result in self.results.items():
            dropped = {path for find, path in self.dropped_entries if find == name}
            found[name] = (
                tuple(each for each in result.entries if each.path not in dropped) if dropped else result.entries
            )
        for number, (name, text) in enumerate(self.texts):
            if number not in self.dropped:
                found[name] = (*found[name], text.reading.document)
        return found


# Menus


def _find_entries(
    find: Find, workspace: Workspace, reader: Reader, trail: Trail
) -> tuple[list[Skill | Resident], dict[str, tuple[int, int]]]:
    """The skills or residents sorted by name, the first one of each name; and the identity of each file by its path."""
    entries: dict[str, Skill | Resident] = {}
    seen: dict[object, str] = {}
    identities: dict[str, tuple[int, int]] = {}
    # Links to skills are a common way to share them, so they are not reported; a second name for a resident is a mistake.
    code = "file-duplicate" if find.kind == "resident" else ""
    for slot in slots(find, workspace, trail):
        for pattern, base in slot.patterns:
            layer = layer_of(find, pattern)
            reach = reach_of(pattern, base, find, workspace)
            for path in _links_last(find, matches(pattern, base, find, reader, trail, layer, reach), reader):
                reading = reader.read_head(path, reach)
                if record_refused(reading, layer, reader, trail, reach):
                    continue
                file = reading.identity if reading.has_text else real_path(path)
                if file in seen:
                    if seen[file] != path:
                        reason = f"the same file as {printable(seen[file])}"
                        trail.record(path, layer, "duplicate", reason, code, seen[file])
                    continue
                seen[file] = path
                is_entry = _is_entry(reading, layer, trail) and _has_right_name(path, find, layer, trail)
                if is_entry and _add_entry(find, reading, layer, entries, trail):
                    identities[path] = reading.identity
    return [entries[name] for name in sorted(entries)], identities


def _links_last(find: Find, paths: list[str], reader: Reader) -> list[str]:
    """The paths in their order; for residents, links come last."""
    if find.kind != "resident":
        return paths
    return sorted(paths, key=lambda path: reader.is_linked(path, os.path.dirname(path)))


def _has_right_name(path: str, find: Find, layer: str, trail: Trail) -> bool:
    """Whether the name of a skill's file is accepted. Strict validation refuses `skill.md`; otherwise it only causes a finding."""
    name = os.path.basename(path)
    if find.kind != "skill" or name == SKILL_FILE or name.lower() != SKILL_FILE.lower():
        return True
    if find.validation == "strict":
        trail.record(path, layer, "refused", f"it was not read: it must be named {SKILL_FILE}", "file-case")
        return False
    shown = printable(path)
    message = f"{shown} was read, but it should be named {SKILL_FILE}: other agents do not see it"
    trail.findings.append(finding("file-case", message, shown))
    return True


def _is_entry(reading: Reading, layer: str, trail: Trail) -> bool:
    if reading.has_text:
        return True
    reason = reading.reason or ("it contains only white space" if reading.fate == "blank" else GONE)
    trail.record(reading.path, layer, reading.fate, reason, reading.code or "file-unreadable")
    return False


def _add_entry(find: Find, reading: Reading, layer: str, entries: dict[str, Skill | Resident], trail: Trail) -> bool:
    """Read the front matter of a file and add it to the menu, or record why not."""
    shown = printable(reading.path)
    entry: Skill | Resident | None
    if find.kind == "skill":
        entry, findings = read_skill(reading.text, shown, find.validation)
    else:
        entry, findings = read_resident(reading.text, shown)
    trail.findings.extend(findings)
    if entry is None:
        reason = findings[-1].message if findings else "its front matter does not ask for a place in the menu"
        trail.record(reading.path, layer, "refused" if findings else "unused", reason)
    elif entry.name in entries:
        reason = f"{printable(entries[entry.name].path)} has the name {entry.name!r} too and comes first"
        trail.record(reading.path, layer, "shadowed", reason, "skill-shadowed", entries[entry.name].path)
    else:
        entries[entry.name] = entry if entry.path == reading.path else replace(entry, path=reading.path)
        trail.record(reading.path, layer, "used")
        return True
    return False


# Variables of templates


def _values(
    layout: Layout,
    bodies: Mapping[str, Document],
    workspace: Workspace,
    scope: Scope,
    reader: Reader,
    extension_types: Mapping[str, Variable],
    trail: Trail,
) -> dict[str, str | Document]:
    """The values of variables in bracket templates that have to be read. `extension_types` have functions of extensions."""
    if not bodies:
        return {}
    from ..sources.variables import read_values
    from ..template.languages import language_of

    wanted: dict[tuple[str, str], None] = {}
    for section in layout.each_section():
        body = bodies.get(section.name)
        if body is not None:
            module = language_of(body, section.language).module()
            wanted.update(dict.fromkeys(module.wanted_values(body, extension_types.keys())))
    for type_, name in wanted:
        if type_ == "file":
            reader.stamp_down_to(os.path.normpath(os.path.join(workspace.cwd, name)), workspace.cwd)
    values, is_stamped = read_values(wanted, workspace, scope, layout.settings, reader, trail)
    for type_, name in wanted:
        if type_ in extension_types:
            is_stamped = False
            _add_value(extension_types[type_], type_, name, workspace, values, trail.findings)
    if not is_stamped:
        reader.distrust(workspace.cwd)
    return values


def _add_value(
    variable: Variable,
    type_: str,
    name: str,
    workspace: Workspace,
    values: dict[str, str | Document],
    findings: list[Finding],
) -> None:
    """Add the value of an extension's variable. If its function raises, the variable does not exist, with a finding."""
    try:
        found: object = variable(name, workspace)
    except Exception as error:
        findings.append(
            finding("extension-failed", f"the variable [{type_}:{name}] raised {type(error).__name__} and was skipped")
        )
        return
    if isinstance(found, str):
        values[f"{type_}:{name}"] = found
    elif found is not None:
        message = f"the variable [{type_}:{name}] returned {kind_of(found)}, not a string, and was skipped"
        findings.append(finding("extension-failed", message))
