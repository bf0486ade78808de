"""Gathers a layout's inputs from a workspace. All reading happens here.

Every lookup rule of the layout is run. Each file that was considered becomes a candidate with its fate, and a file or text that was
found twice is kept once. The inputs are frozen and do not depend on the agent or the time, so they can be stored and formatted again
for another turn. A lookup rule is run again only if something that it read has changed on disk.
"""

from __future__ import annotations

from ..findings import finding
from ..sources.environment import resolve_workspace
from ..sources.finder import bound_of, choose_files, find_slots, layer_of, walked_directories
from ..sources.paths import absolute_scope
from ..sources.stamps import UNSTABLE, changed_paths
from ..sources.trail import Trail
from ..text.lines import printable
from ..vocabulary import Candidate, Document, Inputs, Skill, replace
from .duplicates import Deduplicator
from .entries import find_entries
from .results import FoundText, LookupResult, SearchStep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence, Set
    from typing import Any

    from ..layout.model import Layout, Lookup
    from ..sources.finder import Slot
    from ..sources.reader import Reader
    from ..sources.readings import Reading
    from ..vocabulary import Finding, Resident, Scope, Workspace
    from .includes import Includes
    from .values import Variable

    Select = Callable[[Lookup, LookupResult], LookupResult]


def gather(
    layout: Layout,
    workspace: Workspace,
    reader: Reader,
    before: Inputs | None = None,
    bodies: Mapping[str, Document] | None = None,
    templates: Mapping[str, Document] | None = None,
    scope: Scope | None = None,
    variables: Mapping[str, Variable] | None = None,
    select: Select | None = None,
) -> Inputs:
    """Gather a layout's inputs from a workspace.

    `before` are the inputs that the same layout gathered last time, `bodies` its sections' templates, whose variables are read if the scope
    allows it, `templates` all that they include, and `variables` the types that extensions add. `select` returns what is used of a result.
    """
    if workspace.environment is None or workspace.root is None:
        workspace = resolve_workspace(workspace, reader)
    scope, variables = absolute_scope(scope, workspace), variables or {}
    results = _run_lookups(layout, workspace, reader, before)
    counted_results, shadowed_findings = _apply_conditions(layout, _select_results(layout, results, select), workspace)
    deduplicator = Deduplicator(layout, counted_results, workspace, reader)
    includes = _follow_includes(deduplicator, workspace, scope, reader)
    trail = Trail()
    found = deduplicator.kept_entries() | _prepare_texts(layout, deduplicator, workspace, scope, reader, trail)
    found |= _withheld_texts(layout, counted_results, found)
    values: dict[str, str | Document] = {}
    if bodies:
        from ..sources.variables import read_values
        from .values import extension_values, referenced_variables

        names = referenced_variables(layout, bodies, variables.keys())
        values = read_values(names, workspace, scope, layout.settings, reader, trail)
        values |= extension_values(names, variables, workspace, reader, trail.findings)
    findings = [
        *(problem for result in counted_results.values() for problem in result.findings),
        *shadowed_findings,
        *deduplicator.findings,
        *(includes.findings if includes else ()),
        *trail.findings,
        *_git_findings(layout, workspace),
    ]
    if layout.mirrors:
        findings = [_mention_mirror(problem, layout.mirrors) for problem in findings]
    return Inputs(
        workspace=workspace,
        found=found,
        candidates=_one_per_file(
            (*deduplicator.candidates(), *(includes.candidates if includes else ()), *trail.candidates),
            _named_paths(layout, found),
        ),
        findings=tuple(dict.fromkeys(findings)),
        stamps=_all_stamps(reader, results),
        lookup_results=results,
        includes=includes.found if includes else {},
        bodies=bodies or {},
        templates=templates or {},
        values=values,
        types=tuple(variables),
    )


def _withheld_texts(
    layout: Layout, results: Mapping[str, LookupResult], found: Mapping[str, Sequence[Document | Skill | Resident]]
) -> dict[str, Sequence[Document]]:
    """Return the untrusted texts that are sent with a lower role, each once, without copies of trusted ones."""
    if not layout.untrusted_lookup:
        return {}
    texts = {entry.text for entries in found.values() for entry in entries if isinstance(entry, Document)}
    withheld: dict[str, Document] = {}
    for result in results.values():
        for document in result.withheld:
            if document.text not in texts:
                withheld.setdefault(document.text, document)
    return {layout.untrusted_lookup: tuple(withheld.values())}


def _mention_mirror(problem: Finding, mirrors: str) -> Finding:
    """If Foreword refused to read a file, add to the finding that the mirrored program would read it."""
    if problem.code not in ("link-refused", "workspace-refused"):
        return problem
    return replace(problem, message=f"{problem.message}; {mirrors} would read it")


def _follow_includes(deduplicator: Deduplicator, workspace: Workspace, scope: Scope, reader: Reader) -> Includes | None:
    """Drop copies, which may depend on includes, and read the includes of the texts that are kept.

    Returns None if no section has directives.
    """
    if not deduplicator.with_directives:
        deduplicator.drop_copies(None)
        return None
    from .includes import Includes

    includes = Includes(workspace, scope, reader, deduplicator.paths_by_identity())
    deduplicator.drop_copies(includes)
    includes = Includes(workspace, scope, reader, deduplicator.paths_by_identity(), includes.readings)
    deduplicator.follow_includes(includes)
    return includes


def _prepare_texts(
    layout: Layout, deduplicator: Deduplicator, workspace: Workspace, scope: Scope, reader: Reader, trail: Trail
) -> dict[str, Sequence[Document]]:
    """Return the documents of the lookup rules that change text, by lookup rule, including the files that they import."""
    if not any(lookup.rules.change_text for lookup in layout.lookups):
        return {}
    from .texts import TextPreparer

    importer = None
    if _may_import(layout, deduplicator):
        from .imports import Importer

        importer = Importer(layout, workspace, scope, reader, deduplicator.paths_by_identity(), trail)
    return TextPreparer(layout, deduplicator, trail, importer).prepare_all()


def _may_import(layout: Layout, deduplicator: Deduplicator) -> bool:
    """Whether a text may import a file, or may not count because another one has the same file."""
    names = {lookup.name for lookup in layout.lookups if lookup.rules.imports}
    readings = [text.reading for name, text in deduplicator.kept_texts() if name in names] if names else []
    has_copies = len({reading.identity for reading in readings}) < len(readings)
    return has_copies or any("@" in reading.text for reading in readings)


def _select_results(
    layout: Layout, results: Mapping[str, LookupResult], select: Select | None
) -> Mapping[str, LookupResult]:
    return {lookup.name: select(lookup, results[lookup.name]) for lookup in layout.lookups} if select else results


def _apply_conditions(
    layout: Layout, results: Mapping[str, LookupResult], workspace: Workspace
) -> tuple[Mapping[str, LookupResult], Sequence[Finding]]:
    """Return the results that count, and findings about files that other files hide."""
    if not any(lookup.when for lookup in layout.lookups):
        return results, ()
    from .conditions import apply_conditions

    changing = {lookup.name: lookup for lookup in layout.lookups if lookup.is_probe and lookup.rules.change_text}
    results = {
        name: _without_blank_texts(changing[name], result) if name in changing else result
        for name, result in results.items()
    }
    return apply_conditions(layout, results, workspace)


def _without_blank_texts(lookup: Lookup, result: LookupResult) -> LookupResult:
    """Return the result of a lookup rule that is only a condition, without texts of which it drops everything, such as comments."""
    from .documents import drop_parts

    kept = [text for text in result.texts if any(p.text.strip() for p in drop_parts(text.reading, lookup.rules))]
    return replace(result, texts=kept) if len(kept) < len(result.texts) else result


def _one_per_file(candidates: Sequence[Candidate], named_paths: Set[str]) -> tuple[Candidate, ...]:
    """Return one candidate for each file, even if it was considered several times: preferably one that was used.

    Files in `named_paths` remain `waiting`: the prompt names them but does not contain their text.
    """
    if len({candidate.path for candidate in candidates}) == len(candidates):
        return tuple(candidates)
    by_path: dict[str, Candidate] = {}
    for candidate in candidates:
        path, earlier = candidate.path, by_path.setdefault(candidate.path, candidate)
        if earlier is candidate:
            continue
        is_better = earlier.fate not in ("used", "cut") and candidate.fate in ("used", "cut")
        # Why an import was not followed explains more than that the file counts only without the importing one.
        is_better = is_better or (
            earlier.fate == "shadowed" and candidate.layer == "import" and candidate.fate == "unused"
        )
        if path in named_paths and "waiting" in (earlier.fate, candidate.fate):
            by_path[path] = earlier if earlier.fate == "waiting" else candidate
        elif is_better:
            by_path[path] = candidate
    return tuple(by_path.values())


def _named_paths(layout: Layout, found: Mapping[str, Sequence[Document | Skill | Resident]]) -> Set[str]:
    """Return the paths of scoped rules that sections name without printing their text, as in a table."""
    rules = {lookup.name for lookup in layout.lookups if lookup.kind == "text" and lookup.unless}
    for section in layout.all_sections if rules else ():
        if any(not isinstance(part, str) and part.name == "text" for part in section.item):
            rules.discard(section.list_name or "")
    return {printable(entry.path) for name in rules for entry in found.get(name, ())}


def _all_stamps(reader: Reader, results: Mapping[str, LookupResult]) -> tuple[tuple[str, Any], ...]:
    """Return the stamps of all lookup rules. A path that changed between two of them counts as unstable."""
    stamps = dict(reader.stamps)
    for result in results.values():
        for path, stamp in result.stamps.items():
            if stamps.setdefault(path, stamp) != stamp:
                stamps[path] = UNSTABLE
    return tuple(stamps.items())


def _git_findings(layout: Layout, workspace: Workspace) -> Iterator[Finding]:
    """Yield a finding if a lookup rule starts at the git root and there is no repository."""
    if not workspace.is_repository and any(_stops_at_git(lookup) for lookup in layout.lookups):
        cwd = printable(workspace.cwd)
        yield finding("not-a-repository", f"{cwd} is not in a git repository; only that directory was searched", cwd)


def _stops_at_git(lookup: Lookup) -> bool:
    is_walked = any(group and group[0].place == "walk" for group in lookup.groups)
    return lookup.kind == "text" and lookup.walk == "git" and is_walked


def _run_lookups(
    layout: Layout, workspace: Workspace, reader: Reader, before: Inputs | None
) -> dict[str, LookupResult]:
    """Run each lookup rule, or reuse its last result if nothing that it read has changed."""
    results: dict[str, LookupResult] = {}
    # Every lookup rule depends on these directories, because they determine whether a link points outside the workspace.
    root_stamps = {path: reader.stamp(path) for path in walked_directories("git", workspace)}
    for lookup in layout.lookups:
        result = before.lookup_results.get(lookup.name) if before and before.workspace == workspace else None
        is_same = result is not None and result.directories == tuple(lookup.directories)
        if result is None or not is_same or not _has_same_stamps(result, reader):
            own_reader = reader.successor(result.readings if result else {}, root_stamps)
            result = _run_lookup(lookup, workspace, own_reader, result.steps if result else ())
        results[lookup.name] = result
    return results


def _has_same_stamps(result: LookupResult, reader: Reader) -> bool:
    """Whether nothing that a lookup rule read has changed. Paths that the reader has just stamped are not looked up again."""
    if reader.changed_paths is not None:
        return reader.changed_paths.isdisjoint(result.stamps)
    recent = reader.stamps
    stamps = [row for row in result.stamps.items() if row[1] in (None, UNSTABLE) or recent.get(row[0]) != row[1]]
    return not changed_paths(stamps, reader.disk)


def _run_lookup(lookup: Lookup, workspace: Workspace, reader: Reader, earlier: Sequence[SearchStep]) -> LookupResult:
    trail = Trail()
    entries: list[Skill | Resident] = []
    identities: dict[str, tuple[int, int]] = {}
    places: dict[str, tuple[str, str]] = {}
    texts: list[FoundText] = []
    steps: list[SearchStep] = []
    if lookup.kind == "text":
        texts, steps = TextSearch(lookup, workspace, reader).find(trail, earlier)
    else:
        entries, identities, places = find_entries(lookup, workspace, reader, trail)
    return LookupResult(
        entries,
        identities,
        texts,
        trail.candidates,
        trail.findings,
        reader.stamps,
        reader.readings,
        tuple(lookup.directories),
        places,
        trail.withheld,
        steps,
    )


# Texts


class TextSearch:
    """The search for the texts that one lookup rule finds, slot by slot.

    After a change, only the slots that depend on it are searched again.
    """

    def __init__(self, lookup: Lookup, workspace: Workspace, reader: Reader) -> None:
        self.lookup, self.workspace, self.reader = lookup, workspace, reader

    def find(self, trail: Trail, earlier: Sequence[SearchStep]) -> tuple[list[FoundText], list[SearchStep]]:
        """Return the texts in the order of the rule, and the steps of the search, if the rule is run again.

        `earlier` contains the steps of the last search.
        """
        lookup = self.lookup
        texts: list[FoundText] = []
        steps: list[SearchStep] = []
        if lookup.take == "nearest":
            slots = self.slots(trail)
            for slot in slots if lookup.order in ("nearest", "pattern") else reversed(slots):
                texts += self.texts_in(slot, trail, nearest=texts[0].reading if texts else None)
        elif self.reader.changed_paths is None or lookup.directories:
            for slot in self.slots(trail):
                texts += self.texts_in(slot, trail)
        else:
            steps = self.search_again(earlier)
            for step in steps:
                trail.extend(step.trail)
            texts = [text for step in steps[1:] for text in step.found]
        if lookup.order == "path":
            texts.sort(key=lambda text: text.reading.path.encode("utf-16-be", "surrogatepass"))
        return texts, steps

    def search_again(self, earlier: Sequence[SearchStep]) -> list[SearchStep]:
        """Return the steps of the search, the earlier ones if nothing that they depend on has changed. The first finds the slots."""
        if not earlier or not self.reader.reuse(earlier[0].stamps):
            earlier = [self.step(0, self.slots)]
        steps, start = [earlier[0]], 0
        for number, slot in enumerate(earlier[0].found, 1):
            step = earlier[number] if number < len(earlier) else None
            if step is None or step.start != start or not self.reader.reuse(step.stamps):
                step = self.step_in(slot, start)
            steps.append(step)
            start += len(step.trail.candidates)
        return steps

    def step(self, start: int, find: Callable[[Trail], Sequence[Any]]) -> SearchStep:
        trail = Trail()
        found, stamps = self.reader.stamp_apart(lambda: find(trail))
        return SearchStep(start, found, trail, stamps)

    def step_in(self, slot: Slot, start: int) -> SearchStep:
        return self.step(start, lambda trail: self.texts_in(slot, trail, start))

    def slots(self, trail: Trail) -> list[Slot]:
        return list(find_slots(self.lookup, self.workspace, trail, self.reader))

    def texts_in(self, slot: Slot, trail: Trail, start: int = 0, nearest: Reading | None = None) -> list[FoundText]:
        """Return the texts in one slot, whose first candidate has the number `start`. `nearest` is the text that was chosen, if only one is."""
        lookup = self.lookup
        texts: list[FoundText] = []
        chosen, count = nearest, len(trail.candidates)
        readings = choose_files(slot, lookup, self.workspace, self.reader, trail)
        pointers = _remove_pointers(trail, count)
        for reading, pattern, is_taken in readings:
            layer = layer_of(lookup, pattern)
            if is_taken and (chosen is None or lookup.take != "nearest"):
                trail.record(reading.path, layer, reading.fate, reading.reason, reading.code)
                bound = bound_of(reading.path, pattern, lookup, self.workspace)
                base = next(base for slot_pattern, base, _ in slot if slot_pattern is pattern)
                number = start + len(trail.candidates) - 1
                texts.append(FoundText(reading, reading.document, number, bound, pattern.place, base, pattern.path))
                chosen = reading
                trail.withheld.extend(reading.withheld)
            else:
                _record_rejected(reading, layer, chosen, trail, count)
        trail.candidates.extend(pointers)
        return texts


def _remove_pointers(trail: Trail, start: int) -> list[Candidate]:
    """Remove and return the candidates that only point to another file, so that they can be listed after that file."""
    pointers = [candidate for candidate in trail.candidates[start:] if candidate.fate == "duplicate"]
    if pointers:
        trail.candidates[start:] = [
            candidate for candidate in trail.candidates[start:] if candidate.fate != "duplicate"
        ]
    return pointers


def _record_rejected(reading: Reading, layer: str, chosen: Reading | None, trail: Trail, start: int) -> None:
    """Record text that was not chosen: a copy of the chosen text, or shadowed by it or by a blank file after candidate `start`."""
    if chosen is not None and (reading.identity == chosen.identity or reading.text == chosen.text):
        kind = "file" if reading.identity == chosen.identity else "text"
        reason = f"the same {kind} as {printable(chosen.path)}"
        trail.record(reading.path, layer, "duplicate", reason, "file-duplicate", chosen.path)
        return
    blank = next((candidate.path for candidate in trail.candidates[start:] if candidate.fate == "blank"), "")
    if chosen is None and blank:
        reason, target = f"{blank} comes before it, although it is blank", blank
    else:
        target = chosen.path if chosen else ""
        reason = f"{printable(target) or 'another file'} comes before it"
    trail.record(reading.path, layer, "shadowed", reason, "file-shadowed", target)
