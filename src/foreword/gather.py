"""Layout and workspace in, Inputs out: all reading ends here.

Every find of the layout is looked for; each file that was considered becomes a candidate with its fate; a file that was found
twice, by its real path or by its text, stays once. What comes out is frozen and knows neither agent nor clock, so that it can be
kept and formatted again for another turn. A find of which nothing changed on the disk is not looked for again.
"""

from __future__ import annotations

import os

from .findings import finding, kind_of
from .sources.environment import settled
from .sources.files import GONE, UNTRUSTED, is_inside, is_unchanged
from .sources.finder import Slot, Trail, bound_of, choose, matches, may_be_used, slots, walked_directories
from .sources.skills import read_resident, read_skill
from .vocabulary import Access, Candidate, Document, Inputs, Scope, Skill, include_key, printable, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from .layout import Find, Layout
    from .sources.files import Reader, Reading
    from .vocabulary import Finding, Resident, Workspace

    Variable = Callable[[str, Workspace], str | None]

_LAYERS = {"home": "user", "config": "user", "path": "extra"}


@value
class Look:
    """What one find looked at and found: menu entries, or texts with the number of their candidate."""

    entries: Sequence[Skill | Resident]
    texts: Sequence[tuple[Reading, int]]
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
        workspace = settled(workspace, reader)
    looks: dict[str, Look] = {}
    # Whether a file leads out of the workspace depends on these, whatever else a find looks at.
    way = {path: reader.stamp(path) for path in walked_directories("git", workspace)}
    for find in layout.finds:
        known = before.looks.get(find.name) if before and before.workspace == workspace else None
        if known is None or not is_unchanged(known.stamps, reader.disk):
            known = _look(find, workspace, reader.successor(known.readings if known else {}, way))
        looks[find.name] = known
    found: dict[str, Sequence[Document | Skill | Resident]] = {name: look.entries for name, look in looks.items()}
    texts = _Texts(layout, looks)
    found.update(texts.documents())
    trail = Trail()
    places = {printable(reading.path): reading.path for look in looks.values() for reading, _ in look.texts}
    names = {reading.identity: printable(reading.path) for look in looks.values() for reading, _ in look.texts}
    includes = _follow(layout, found, places, names, workspace, reader, trail)
    values, refused = _values(layout, bodies or {}, workspace, scope, reader, variables or {})
    findings = [
        *(each for look in looks.values() for each in look.findings),
        *texts.findings,
        *trail.findings,
        *refused,
    ]
    if not workspace.is_repository and any(_stops_at_git(find) for find in layout.finds):
        message = f"{printable(workspace.cwd)} is in no git repository: only that directory was looked in"
        findings.append(finding("not-a-repository", message, printable(workspace.cwd)))
    return Inputs(
        workspace=workspace,
        found=found,
        candidates=(*texts.candidates, *trail.candidates),
        findings=tuple(dict.fromkeys(findings)),
        stamps=_together(reader, looks),
        looks=looks,
        includes=includes,
        bodies=bodies or {},
        templates=templates or {},
        values=values,
        types=tuple(variables or ()),
    )


def _together(reader: Reader, looks: Mapping[str, Look]) -> tuple[tuple[str, Any], ...]:
    """The stamps of all looks. What changed between two of them is trusted to neither."""
    stamps = dict(reader.stamps)
    for look in looks.values():
        for path, stamp in look.stamps:
            if stamps.setdefault(path, stamp) != stamp:
                stamps[path] = UNTRUSTED
    return tuple(stamps.items())


def _stops_at_git(find: Find) -> bool:
    is_walked = any(group and group[0].place == "walk" for group in find.groups)
    return find.kind == "text" and find.walk == "git" and is_walked


def _layer(find: Find, slot: Slot) -> str:
    return find.layer or _LAYERS.get(slot.patterns[0][0].place if slot.patterns else "", "project")


def _look(find: Find, workspace: Workspace, reader: Reader) -> Look:
    trail = Trail()
    entries: list[Skill | Resident] = []
    texts: list[tuple[Reading, int]] = []
    if find.kind == "text":
        texts = _find_texts(find, workspace, reader, trail)
    else:
        entries = _find_entries(find, workspace, reader, trail)
    stamps = tuple(reader.stamps.items())
    return Look(entries, texts, trail.candidates, trail.findings, stamps, reader.readings)


# Texts


def _find_texts(find: Find, workspace: Workspace, reader: Reader, trail: Trail) -> list[tuple[Reading, int]]:
    """The texts of one find, farthest first, each with the number of its candidate."""
    places = list(slots(find, workspace, trail))
    is_nearest_only = find.take == "nearest"
    texts: list[tuple[Reading, int]] = []
    for slot in reversed(places) if is_nearest_only else places:
        layer = _layer(find, slot)
        chosen = texts[0][0] if is_nearest_only and texts else None
        looked_at = len(trail.candidates)
        readings = choose(slot, find, layer, workspace, reader, trail)
        pointers = _put_aside(trail, looked_at)
        for reading, is_taken in readings:
            if is_taken and (chosen is None or not is_nearest_only):
                trail.leave(reading.path, layer, reading.fate, reading.reason, reading.code)
                texts.append((reading, len(trail.candidates) - 1))
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
        trail.leave(
            reading.path, layer, "duplicate", f"the same {sameness} as {printable(chosen.path)}", "file-duplicate"
        )
    else:
        reason = f"{printable(chosen.path)} comes before it" if chosen else "another comes before it"
        trail.leave(reading.path, layer, "shadowed", reason, "file-shadowed")


class _Texts:
    """The text files of all finds together; of equal ones the nearer stays."""

    def __init__(self, layout: Layout, looks: Mapping[str, Look]) -> None:
        # Whether a text that replaces a section does so, and a copy of it is one too many, is only known for an agent.
        self.firm = {name for section in layout.each_section() for name in section.instead}
        self.names = [find.name for find in layout.finds if find.kind == "text"]
        self.candidates: list[Candidate] = []
        self.findings: list[Finding] = []
        self.found: list[tuple[str, Reading, int]] = []
        self.kept: dict[object, int] = {}
        self.lost: set[int] = set()
        for name, look in looks.items():
            start = len(self.candidates)
            self.candidates.extend(look.candidates)
            for reading, number in look.texts:
                self.add(name, reading, start + number)

    def add(self, name: str, reading: Reading, candidate: int) -> None:
        """Add a text, unless it is there already; then the nearer of the two stays."""
        number = len(self.found)
        self.found.append((name, reading, candidate))
        if name in self.firm:
            return
        for sameness, key in (("file", reading.identity), ("text", reading.text)):
            other = self.kept.get((sameness, key))
            if other is None or other in self.lost:
                self.kept[sameness, key] = number
                continue
            loser, winner = (number, other) if self.stays(other, number) else (other, number)
            self.kept[sameness, key] = winner
            self.lose(loser, winner, sameness)
            if loser == number:
                return

    def stays(self, earlier: int, later: int) -> bool:
        return os.path.dirname(self.found[earlier][1].path) == os.path.dirname(self.found[later][1].path)

    def lose(self, loser: int, winner: int, sameness: str) -> None:
        self.lost.add(loser)
        _, reading, candidate = self.found[loser]
        shown = printable(reading.path)
        reason = f"the same {sameness} as {printable(self.found[winner][1].path)}"
        self.candidates[candidate] = Candidate(shown, self.candidates[candidate].layer, "duplicate", reason)
        self.findings.append(finding("file-duplicate", f"{shown}: {reason}", shown))

    def documents(self) -> dict[str, Sequence[Document | Skill | Resident]]:
        """What stays, by the name of the find."""
        documents: dict[str, list[Document | Skill | Resident]] = {name: [] for name in self.names}
        for number, (name, reading, _) in enumerate(self.found):
            if number not in self.lost:
                cut_from = reading.size if reading.fate == "cut" else 0
                document = Document(printable(reading.path), reading.text, reading.hash, reading.line, cut_from)
                documents[name].append(document)
        return {name: tuple(entries) for name, entries in documents.items()}


# Menus


def _find_entries(find: Find, workspace: Workspace, reader: Reader, trail: Trail) -> list[Skill | Resident]:
    """Skills or residents, by name; of one name the first stays."""
    taken: dict[str, Skill | Resident] = {}
    seen: set[tuple[int, int]] = set()
    for slot in slots(find, workspace, trail):
        layer = _layer(find, slot)
        for pattern, base in slot.patterns:
            for path in matches(pattern, base, reader, trail, layer):
                reading = reader.read_head(path)
                if reading.identity in seen:
                    trail.leave(path, layer, "duplicate", "the same file under another name")
                elif _is_entry(reading, layer, trail) and may_be_used(path, pattern, layer, workspace, reader, trail):
                    seen.add(reading.identity)
                    _enter(find, reading, layer, taken, trail)
    return [taken[name] for name in sorted(taken)]


def _is_entry(reading: Reading, layer: str, trail: Trail) -> bool:
    if reading.has_text:
        return True
    reason = reading.reason or ("nothing but white space" if reading.fate == "blank" else GONE)
    trail.leave(reading.path, layer, reading.fate, reason, reading.code or "file-unreadable")
    return False


def _enter(find: Find, reading: Reading, layer: str, taken: dict[str, Skill | Resident], trail: Trail) -> None:
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
        trail.leave(reading.path, layer, "refused" if findings else "unused", reason)
    elif entry.name in taken:
        reason = f"{entry.name!r} is the name of {printable(taken[entry.name].path)} too, which comes first"
        trail.leave(reading.path, layer, "shadowed", reason, "skill-shadowed")
    else:
        taken[entry.name] = entry if entry.path == reading.path else replace(entry, path=reading.path)
        trail.leave(reading.path, layer, "used")


# What texts and templates ask for


def _follow(
    layout: Layout,
    found: Mapping[str, Sequence[Document | Skill | Resident]],
    places: dict[str, str],
    names: dict[tuple[int, int], str],
    workspace: Workspace,
    reader: Reader,
    trail: Trail,
) -> dict[str, Document | Finding]:
    """Every file that a text with directives includes, whatever its condition, by `include_key`.

    `places` are the paths of files as the disk has them, by the path that is shown; `names` the first name of each file, by
    which it is known under any other.
    """
    included: dict[str, Document | Finding] = {}
    readings: dict[str, Reading] = {}
    finds = {find.name: find for find in layout.finds}
    asking = [each.of for each in layout.each_section() if each.language == "directives" and each.of in finds]
    for name in dict.fromkeys(asking):
        waiting = [(entry, 0) for entry in found[str(name)] if isinstance(entry, Document) and "<!--" in entry.text]
        while waiting:
            from .template import directives

            # The shallowest first, so that what is within reach is not missed for having been met too deep.
            document, depth = waiting.pop(0)
            for target in directives.includes(document.text):
                key = include_key(document.path, target)
                if key not in included and depth <= directives.DEPTH:
                    bound = bound_of(places[document.path], finds[str(name)], workspace)
                    include = included[key] = _include(document, target, bound, places, names, readings, reader, trail)
                    if isinstance(include, Document) and "<!--" in include.text:
                        waiting.append((include, depth + 1))
    return included


def _include(
    document: Document,
    target: str,
    bound: str,
    places: dict[str, str],
    names: dict[tuple[int, int], str],
    readings: dict[str, Reading],
    reader: Reader,
    trail: Trail,
) -> Document | Finding:
    """What a file means by a target. A file is read once, however often and in whatever spelling it is named."""
    from .sources.variables import is_secret

    # The name is written in UTF-8, whatever the locale.
    name = os.fsdecode(target.encode("utf-8", "surrogateescape"))
    path = os.path.normpath(os.path.join(os.path.dirname(places[document.path]), name))
    shown = printable(path)
    places.setdefault(shown, path)
    why = ""
    real = _real_path(path)
    reader.stamp_way(path, bound)
    if real is None:
        why = "no file can have that name"
    elif not is_inside(real, os.path.realpath(bound)):
        why = f"it lies outside of {printable(bound)}"
    elif is_secret(path) or is_secret(real):
        why = "its name is one of a file that holds secrets"
    if not why and path not in readings:
        readings[path] = reader.read(path)
    reading = None if why else readings[path]
    if reading is None or not reading.has_text:
        reason = why or (reading.reason if reading else "") or "there is no such file, or nothing in it"
        trail.leave(
            path,
            "include",
            "refused" if why else reading.fate if reading else "absent",
            f"included by {document.path}; {reason}",
        )
        return finding(
            "include-refused", f"{document.path} includes {target!r}, which is left out: {reason}", document.path
        )
    trail.leave(path, "include", reading.fate, f"included by {document.path}", reading.code)
    shown = names.setdefault(reading.identity, shown)
    places.setdefault(shown, path)
    return Document(shown, reading.text, reading.hash, reading.line, reading.size if reading.fate == "cut" else 0)


def _real_path(path: str) -> str | None:
    """The path with its links resolved; None where the system cannot spell it."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return None


def _values(
    layout: Layout,
    bodies: Mapping[str, Document],
    workspace: Workspace,
    scope: Scope | None,
    reader: Reader,
    further: Mapping[str, Variable],
) -> tuple[dict[str, str | Document], list[Finding]]:
    """The values that the bracket templates ask for and that come from outside; `further` are types of extensions."""
    if not bodies:
        return {}, []
    from .sources.variables import read_values
    from .template import brackets
    from .template.catalog import TYPES

    wanted: dict[tuple[str, str], None] = {}
    for section in layout.each_section():
        if section.language == "brackets" and section.name in bodies:
            template = brackets.parse(bodies[section.name].text, TYPES | further.keys())
            wanted.update(dict.fromkeys((each.type, each.name) for each in template.variables))
    for type_, name in wanted:
        if type_ == "file":
            reader.stamp_way(os.path.normpath(os.path.join(workspace.cwd, name)), workspace.cwd)
    scope = scope or Scope((Access(workspace.root or workspace.cwd),))
    values, findings, is_stamped = read_values(wanted, workspace, scope, layout.settings, reader)
    for type_, name in wanted:
        if type_ in further:
            is_stamped = False
            _ask(further[type_], type_, name, workspace, values, findings)
    if not is_stamped:
        reader.distrust(workspace.cwd)
    return values, findings


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
        message = f"the variable [{type_}:{name}] gave {kind_of(found)}, not a text, and was skipped"
        findings.append(finding("extension-failed", message))
