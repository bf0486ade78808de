"""Layout and workspace in, Inputs out: all reading ends here.

Every find of the layout is looked for; each file that was considered becomes a candidate with its fate; a file that was found
twice, by its real path or by its text, stays once. What comes out is frozen and knows neither agent nor clock, so that it can be
kept and formatted again for another turn. A find of which nothing changed on the disk is not looked for again.
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
from .includes import Includes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import Find, Layout
    from ..sources.files import Reader
    from ..sources.finder import Bound
    from ..sources.readings import Reading
    from ..vocabulary import Finding, Resident, Scope, Workspace

    Variable = Callable[[str, Workspace], str | None]


@value
class Text:
    """A text that was found, the number of its candidate, and where its includes stay."""

    reading: Reading
    candidate: int
    bound: Bound


@value
class Look:
    """What one find looked at and found: menu entries, each with the file it really is by its path; or texts."""

    entries: Sequence[Skill | Resident]
    identities: Mapping[str, tuple[int, int]]
    texts: Sequence[Text]
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
    """What the workspace holds for this layout.

    `before` is what the same layout found last time. `bodies` are the templates of its sections, whose variables are read as far
    as the scope allows, and `templates` is all that they include. `variables` are types that extensions add.
    """
    if workspace.environment is None or workspace.root is None:
        workspace = resolve_workspace(workspace, reader)
    scope = absolute_scope(scope, workspace)
    looks = _looks(layout, workspace, reader, before)
    kept = _Kept(layout, looks, workspace, reader)
    includes = Includes(workspace, scope, reader, kept.names() if kept.asking else {})
    kept.drop_copies(includes)
    if kept.asking:
        includes = Includes(workspace, scope, reader, kept.names(), includes.readings)
        kept.follow(includes)
    trail = Trail()
    values = _values(layout, bodies or {}, workspace, scope, reader, variables or {}, trail)
    findings = [
        *(each for look in looks.values() for each in look.findings),
        *kept.findings,
        *includes.findings,
        *trail.findings,
        *_outside_git(layout, workspace),
    ]
    return Inputs(
        workspace=workspace,
        found=kept.found(),
        candidates=_one_each((*kept.candidates(), *includes.candidates, *trail.candidates)),
        findings=tuple(dict.fromkeys(findings)),
        stamps=_together(reader, looks),
        looks=looks,
        includes=includes.found,
        bodies=bodies or {},
        templates=templates or {},
        values=values,
        types=tuple(variables or ()),
    )


def _one_each(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """One candidate for each file, however often it was considered: rather that it was read than that it was passed over."""
    fates: dict[str, Candidate] = {}
    for each in candidates:
        known = fates.setdefault(each.path, each)
        if known.fate not in ("used", "cut") and each.fate in ("used", "cut"):
            fates[each.path] = each
    return tuple(fates.values())


def _together(reader: Reader, looks: Mapping[str, Look]) -> tuple[tuple[str, Any], ...]:
    """The stamps of all looks. What changed between two of them is trusted to neither."""
    stamps = dict(reader.stamps)
    for look in looks.values():
        for path, stamp in look.stamps:
            if stamps.setdefault(path, stamp) != stamp:
                stamps[path] = UNSTABLE
    return tuple(stamps.items())


def _outside_git(layout: Layout, workspace: Workspace) -> Iterator[Finding]:
    """That a find which begins at the git root had none to begin at."""
    if not workspace.is_repository and any(_stops_at_git(find) for find in layout.finds):
        cwd = printable(workspace.cwd)
        yield finding("not-a-repository", f"{cwd} is in no git repository: only that directory was looked in", cwd)


def _stops_at_git(find: Find) -> bool:
    is_walked = any(group and group[0].place == "walk" for group in find.groups)
    return find.kind == "text" and find.walk == "git" and is_walked


def _looks(layout: Layout, workspace: Workspace, reader: Reader, before: Inputs | None) -> dict[str, Look]:
    """What each find looked at: the last time, if nothing of it has changed, else now."""
    looks: dict[str, Look] = {}
    # Whether a file leads out of the workspace depends on these, whatever else a find looks at.
    way = {path: reader.stamp(path) for path in walked_directories("git", workspace)}
    for find in layout.finds:
        known = before.looks.get(find.name) if before and before.workspace == workspace else None
        if known is None or not is_unchanged(known.stamps, reader.disk):
            known = _look(find, workspace, reader.successor(known.readings if known else {}, way))
        looks[find.name] = known
    return looks


def _look(find: Find, workspace: Workspace, reader: Reader) -> Look:
    trail = Trail()
    entries: list[Skill | Resident] = []
    identities: dict[str, tuple[int, int]] = {}
    texts: list[Text] = []
    if find.kind == "text":
        texts = _find_texts(find, workspace, reader, trail)
    else:
        entries, identities = _find_entries(find, workspace, reader, trail)
    stamps = tuple(reader.stamps.items())
    return Look(entries, identities, texts, trail.candidates, trail.findings, stamps, reader.readings)


# Texts


def _find_texts(find: Find, workspace: Workspace, reader: Reader, trail: Trail) -> list[Text]:
    """The texts of one find, farthest first."""
    places = list(slots(find, workspace, trail))
    is_nearest_only = find.take == "nearest"
    texts: list[Text] = []
    for slot in reversed(places) if is_nearest_only else places:
        chosen = texts[0].reading if is_nearest_only and texts else None
        looked_at = len(trail.candidates)
        readings = choose(slot, find, workspace, reader, trail)
        pointers = _put_aside(trail, looked_at)
        for reading, pattern, is_taken in readings:
            layer = layer_of(find, pattern)
            if is_taken and (chosen is None or not is_nearest_only):
                trail.record(reading.path, layer, reading.fate, reading.reason, reading.code)
                bound = bound_of(reading.path, pattern, find, workspace)
                texts.append(Text(reading, len(trail.candidates) - 1, bound))
                chosen = reading
            else:
                _pass_over(reading, layer, chosen, trail)
        trail.candidates.extend(pointers)
    return texts


def _put_aside(trail: Trail, start: int) -> list[Candidate]:
    """Take what only points at another file from the trail: who reads the list wants the file that it points at first."""
    pointers = [each for each in trail.candidates[start:] if each.fate == "duplicate"]
    trail.candidates[start:] = [each for each in trail.candidates[start:] if each.fate != "duplicate"]
    return pointers


def _pass_over(reading: Reading, layer: str, chosen: Reading | None, trail: Trail) -> None:
    """A text that lost to another of its group: a copy of that one, or shadowed by it."""
    if chosen is not None and (reading.identity == chosen.identity or reading.text == chosen.text):
        sameness = "file" if reading.identity == chosen.identity else "text"
        reason = f"the same {sameness} as {printable(chosen.path)}"
        trail.record(reading.path, layer, "duplicate", reason, "file-duplicate", chosen.path)
    else:
        reason = f"{printable(chosen.path)} comes before it" if chosen else "another comes before it"
        trail.record(reading.path, layer, "shadowed", reason, "file-shadowed", chosen.path if chosen else "")


class _Kept:
    """What stays of all that the finds found: no file twice, and no text twice.

    Of equal texts in two directories the nearer stays. Of two names of one file that are equally near, the one that is no link,
    else the first.
    """

    def __init__(self, layout: Layout, looks: Mapping[str, Look], workspace: Workspace, reader: Reader) -> None:
        # Whether a text that replaces a section does so, and a copy of it is one too many, is only known for an agent.
        firm = {name for section in layout.each_section() for name in section.instead}
        self.asking = {section.of for section in layout.each_section() if section.language == "directives"}
        self.finds = {find.name: find for find in layout.finds}
        self.looks, self.workspace, self.reader = looks, workspace, reader
        self.findings: list[Finding] = []
        self.fates: dict[str, list[Candidate | None]] = {name: list(look.candidates) for name, look in looks.items()}
        self.texts = [(name, text) for name, look in looks.items() for text in look.texts]
        self.comparable = [number for number, (name, _) in enumerate(self.texts) if name not in firm]
        self.lost: set[int] = set()
        self.lost_entries: set[tuple[str, str]] = set()
        self.drop_other_names()
        self.drop_entries_of_others()

    def drop_other_names(self) -> None:
        """Of the names of one file all but one are lost."""
        names: dict[tuple[int, int], int] = {}
        for number in self.comparable:
            identity = self.texts[number][1].reading.identity
            other = names.setdefault(identity, number)
            if other != number:
                nearer = self.distance(other) - self.distance(number)
                is_better = nearer > 0 or (not nearer and self.is_only_a_link(self.path(other), self.path(number)))
                loser, names[identity] = (other, number) if is_better else (number, other)
                self.lose(loser, names[identity], "file")

    def drop_entries_of_others(self) -> None:
        """An entry that another find has as well is listed once."""
        owners: dict[tuple[int, int], tuple[str, str]] = {}
        for name, look in self.looks.items():
            for path, identity in look.identities.items():
                other = owners.setdefault(identity, (name, path))
                if other != (name, path):
                    is_better = self.is_only_a_link(other[1], path)
                    loser, owners[identity] = (other, (name, path)) if is_better else ((name, path), other)
                    self.lost_entries.add(loser)
                    number = [each.path for each in self.looks[loser[0]].candidates].index(printable(loser[1]))
                    self.tell(loser[0], number, "the same file as", printable(owners[identity][1]))

    def drop_copies(self, includes: Includes) -> None:
        """Of equal texts all but the nearest are lost. Two that include others are equal if the same enters with both."""
        by_text: dict[str, list[int]] = {}
        for number in self.comparable:
            if number not in self.lost:
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
                    self.lose(loser, nearest[content], "text")

    def fingerprint(self, number: int, includes: Includes) -> str:
        """What enters with a text: two that say the same may include different files."""
        name, text = self.texts[number]
        if name not in self.asking or "<!--" not in text.reading.text:
            return text.reading.text
        from ..template import directives

        root = text.reading.document
        includes.follow(root, text.reading.path, text.bound)
        return directives.fingerprint(
            root, lambda path, target: includes.found[include_key(root.path, path, target)], {}
        )

    def follow(self, includes: Includes) -> None:
        """Look for what the texts that stay include."""
        for number, (name, text) in enumerate(self.texts):
            if number not in self.lost and name in self.asking and "<!--" in text.reading.text:
                includes.follow(text.reading.document, text.reading.path, text.bound)

    def path(self, number: int) -> str:
        return self.texts[number][1].reading.path

    def distance(self, number: int) -> int:
        return distance_of(printable(self.path(number)), self.finds[self.texts[number][0]], self.workspace)

    def is_only_a_link(self, earlier: str, later: str) -> bool:
        """Whether the earlier of two names of one file leads through a link, and the later does not."""
        top = os.path.commonpath((earlier, later))
        return self.reader.is_linked(earlier, top) and not self.reader.is_linked(later, top)

    def lose(self, loser: int, winner: int, sameness: str) -> None:
        self.lost.add(loser)
        name, text = self.texts[loser]
        if self.path(loser) == self.path(winner):
            self.fates[name][text.candidate] = None  # one file that was looked for twice
        else:
            self.tell(name, text.candidate, f"the same {sameness} as", printable(self.path(winner)))

    def tell(self, name: str, number: int, reason: str, target: str) -> None:
        candidate = self.looks[name].candidates[number]
        reason = f"{reason} {target}"
        self.fates[name][number] = Candidate(candidate.path, candidate.layer, "duplicate", reason, target)
        self.findings.append(finding("file-duplicate", f"{candidate.path}: {reason}", candidate.path))

    def names(self) -> dict[tuple[int, int], str]:
        """The name of each file that stays."""
        texts = [text for number, (_, text) in enumerate(self.texts) if number not in self.lost]
        return {text.reading.identity: printable(text.reading.path) for text in texts}

    def candidates(self) -> Iterator[Candidate]:
        for candidates in self.fates.values():
            yield from (each for each in candidates if each is not None)

    def found(self) -> dict[str, Sequence[Document | Skill | Resident]]:
        """What stays, by the name of the find. A menu of which nothing is lost is the very one that was found."""
        found: dict[str, Sequence[Document | Skill | Resident]] = {}
        for name, look in self.looks.items():
            lost = {path for find, path in self.lost_entries if find == name}
            found[name] = tuple(each for each in look.entries if each.path not in lost) if lost else look.entries
        for number, (name, text) in enumerate(self.texts):
            if number not in self.lost:
                found[name] = (*found[name], text.reading.document)
        return found


# Menus


def _find_entries(
    find: Find, workspace: Workspace, reader: Reader, trail: Trail
) -> tuple[list[Skill | Resident], dict[str, tuple[int, int]]]:
    """Skills or residents by name, of one name the first; and which file each of them really is, by its path."""
    taken: dict[str, Skill | Resident] = {}
    seen: dict[object, str] = {}
    identities: dict[str, tuple[int, int]] = {}
    # Skills are shared by links, and then both names are wanted; a second name for a resident is a mistake.
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
                if is_entry and _enter(find, reading, layer, taken, trail):
                    identities[path] = reading.identity
    return [taken[name] for name in sorted(taken)], identities


def _links_last(find: Find, paths: list[str], reader: Reader) -> list[str]:
    """The paths in their order; those of residents that are links behind the others, which are the better names."""
    if find.kind != "resident":
        return paths
    return sorted(paths, key=lambda path: reader.is_linked(path, os.path.dirname(path)))


def _has_right_name(path: str, find: Find, layer: str, trail: Trail) -> bool:
    """Whether a skill's file may be called as it is: `skill.md` is loaded leniently, with a finding, and refused strictly."""
    name = os.path.basename(path)
    if find.kind != "skill" or name == SKILL_FILE or name.lower() != SKILL_FILE.lower():
        return True
    if find.validation == "strict":
        trail.record(path, layer, "refused", f"it was not read: it must be named {SKILL_FILE}", "file-case")
        return False
    shown = printable(path)
    message = f"{shown} was read, but the name is {SKILL_FILE}: other agents do not see it"
    trail.findings.append(finding("file-case", message, shown))
    return True


def _is_entry(reading: Reading, layer: str, trail: Trail) -> bool:
    if reading.has_text:
        return True
    reason = reading.reason or ("it contains only white space" if reading.fate == "blank" else GONE)
    trail.record(reading.path, layer, reading.fate, reason, reading.code or "file-unreadable")
    return False


def _enter(find: Find, reading: Reading, layer: str, taken: dict[str, Skill | Resident], trail: Trail) -> bool:
    """Read the front matter of one file and add it to the menu, or say why not."""
    shown = printable(reading.path)
    entry: Skill | Resident | None
    if find.kind == "skill":
        entry, findings = read_skill(reading.text, shown, find.validation)
    else:
        entry, findings = read_resident(reading.text, shown)
    trail.findings.extend(findings)
    if entry is None:
        reason = findings[-1].message if findings else "its front matter does not ask for it"
        trail.record(reading.path, layer, "refused" if findings else "unused", reason)
    elif entry.name in taken:
        reason = f"{entry.name!r} is the name of {printable(taken[entry.name].path)} too, which comes first"
        trail.record(reading.path, layer, "shadowed", reason, "skill-shadowed", taken[entry.name].path)
    else:
        taken[entry.name] = entry if entry.path == reading.path else replace(entry, path=reading.path)
        trail.record(reading.path, layer, "used")
        return True
    return False


# What texts and templates ask for


def _values(
    layout: Layout,
    bodies: Mapping[str, Document],
    workspace: Workspace,
    scope: Scope,
    reader: Reader,
    further: Mapping[str, Variable],
    trail: Trail,
) -> dict[str, str | Document]:
    """The values that the bracket templates ask for and that come from outside; `further` are types of extensions."""
    if not bodies:
        return {}
    from ..sources.variables import read_values
    from ..template.languages import language_of

    wanted: dict[tuple[str, str], None] = {}
    for section in layout.each_section():
        body = bodies.get(section.name)
        if body is not None:
            module = language_of(body, section.language).module()
            wanted.update(dict.fromkeys(module.wanted_values(body, further.keys())))
    for type_, name in wanted:
        if type_ == "file":
            reader.stamp_down_to(os.path.normpath(os.path.join(workspace.cwd, name)), workspace.cwd)
    values, is_stamped = read_values(wanted, workspace, scope, layout.settings, reader, trail)
    for type_, name in wanted:
        if type_ in further:
            is_stamped = False
            _ask(further[type_], type_, name, workspace, values, trail.findings)
    if not is_stamped:
        reader.distrust(workspace.cwd)
    return values


def _ask(
    variable: Variable,
    type_: str,
    name: str,
    workspace: Workspace,
    values: dict[str, str | Document],
    findings: list[Finding],
) -> None:
    """The value of a variable of an extension; one that raises does not exist, and that is said."""
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
