"""Finds the entries of menus: skills, residents, sub-agents and commands, which their front matter describes."""

from __future__ import annotations

import os
from itertools import groupby

from ..findings import finding
from ..sources.finder import find_slots, layer_of, matching_paths, record_refused, searched_folder
from ..sources.front_matter import parse_front_matter, read_resident, read_skill
from ..sources.paths import name_by_path
from ..sources.places import real_path
from ..sources.reader import DISAPPEARED_REASON
from ..sources.search import SKILL_FILE
from ..text.lines import printable
from ..vocabulary import Skill, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..layout.model import Lookup
    from ..sources.reader import Reader
    from ..sources.readings import Reading
    from ..sources.trail import Trail
    from ..vocabulary import Finding, Resident, Workspace


def find_entries(
    lookup: Lookup, workspace: Workspace, reader: Reader, trail: Trail
) -> tuple[list[Skill | Resident], dict[str, tuple[int, int]], dict[str, tuple[str, str]]]:
    """Return the skills or residents, in the order of the lookup rule, and by the path of each its identity, and its pattern's place and directory."""
    entries: dict[str, list[Skill | Resident]] = {}
    seen: dict[object, str] = {}
    identities: dict[str, tuple[int, int]] = {}
    places: dict[str, tuple[str, str]] = {}
    # People share skills through links, so these are not reported; a second path to a resident is a mistake.
    code = "" if lookup.kind == "skill" else "file-duplicate"
    for slot in find_slots(lookup, workspace, trail, reader):
        for pattern, base, reach in slot:
            layer = layer_of(lookup, pattern)
            folder = searched_folder(pattern, base) if lookup.named != "field" else ""
            for path in _links_last(lookup, matching_paths(pattern, base, lookup, reader, trail, layer, reach), reader):
                reading = _read(lookup, path, reach, reader)
                if record_refused(reading, layer, reader, trail, reach):
                    continue
                file = reading.identity if reading.has_text else real_path(path)
                if file in seen:
                    if seen[file] != path:
                        reason = f"the same file as {printable(seen[file])}"
                        trail.record(path, layer, "duplicate", reason, code, seen[file])
                    continue
                seen[file] = path
                is_entry = _check_text(reading, layer, trail) and _has_accepted_name(path, lookup, layer, trail)
                if is_entry and _add_entry(lookup, folder, reading, layer, entries, trail):
                    identities[path], places[path] = reading.identity, (pattern.place, base)
    listed = _in_order(lookup, entries, places, trail)
    return listed, {entry.path: identities[entry.path] for entry in listed}, places


def _read(lookup: Lookup, path: str, reach: Any, reader: Reader) -> Reading:
    """Read a file, or only its front matter unless the text after that may describe the entry."""
    has_description_in_text = lookup.kind == "command" or lookup.described
    return reader.read(path, reach) if has_description_in_text else reader.read_head(path, reach)


def _in_order(
    lookup: Lookup,
    entries: Mapping[str, Sequence[Skill | Resident]],
    places: Mapping[str, tuple[str, str]],
    trail: Trail,
) -> list[Skill | Resident]:
    """Return the entries, which are grouped by name, in the order of the lookup rule."""
    names = entries if lookup.order in ("found", "directory") else sorted(entries)
    listed = [entry for name in names for entry in entries[name]]
    if lookup.order == "directory":
        runs = groupby(listed, key=lambda entry: places[entry.path][1])
        return [entry for _, run in runs for entry in sorted(run, key=lambda entry: entry.name)]
    if lookup.order == "layer":
        layers = {candidate.path: candidate.layer for candidate in trail.candidates}
        ranks = list(dict.fromkeys(layer_of(lookup, pattern) for group in lookup.groups for pattern in group))
        listed.sort(key=lambda entry: ranks.index(layers[printable(entry.path)]))
    return listed


def _links_last(lookup: Lookup, paths: list[str], reader: Reader) -> list[str]:
    """Return the paths with links last. Skills keep their order."""
    if lookup.kind == "skill":
        return paths
    return sorted(paths, key=reader.is_link)


def _has_accepted_name(path: str, lookup: Lookup, layer: str, trail: Trail) -> bool:
    """Whether the name of a skill's file is accepted. Mirrors and strict validation refuse `skill.md`; lenient validation only reports it."""
    name = os.path.basename(path)
    if lookup.kind != "skill" or name == SKILL_FILE or name.lower() != SKILL_FILE.lower():
        return True
    if lookup.is_mirror:
        trail.record(path, layer, "unused", f"it must be named {SKILL_FILE}")
        return False
    if lookup.validation == "strict":
        trail.record(path, layer, "refused", f"it was not read: it must be named {SKILL_FILE}", "file-case")
        return False
    display_path = printable(path)
    message = f"{display_path} was read, but it should be named {SKILL_FILE}: other agents do not see it"
    trail.findings.append(finding("file-case", message, display_path))
    return True


def _check_text(reading: Reading, layer: str, trail: Trail) -> bool:
    """Whether a file has text. If not, the reason is recorded."""
    if reading.has_text:
        return True
    reason = reading.reason or ("it contains only white space" if reading.fate == "blank" else DISAPPEARED_REASON)
    trail.record(reading.path, layer, reading.fate, reason, reading.code or "file-unreadable")
    return False


def _add_entry(
    lookup: Lookup, folder: str, reading: Reading, layer: str, entries: dict[str, list[Skill | Resident]], trail: Trail
) -> bool:
    """Add a file to the menu by its front matter, or record why it is left out. `folder` is the folder that was searched."""
    entry, findings = _read_entry(lookup, reading)
    trail.findings.extend(findings)
    if entry is None:
        reason = findings[-1].message if findings else _why_unlisted(lookup)
        trail.record(reading.path, layer, "refused" if findings else "unused", reason)
        return False
    name = _listed_name(lookup, folder, reading.path, entry.name)
    if (name, reading.path) != (entry.name, entry.path):
        entry = replace(entry, path=reading.path, name=name)
    if isinstance(entry, Skill) and layer != entry.layer:
        entry = replace(entry, layer=layer)
    same_name_entries = entries.setdefault(entry.name, [])
    if same_name_entries and lookup.same_name == "first":
        reason = f"{printable(same_name_entries[0].path)} also has the name {entry.name!r} and comes first"
        trail.record(reading.path, layer, "shadowed", reason, "skill-shadowed", same_name_entries[0].path)
        return False
    if same_name_entries and lookup.same_name == "last":
        _replace_entry(same_name_entries.pop(), entry, trail)
    if isinstance(entry, Skill) and entry.paths:
        entry = _with_scope(entry, lookup, layer, trail)
    else:
        trail.record(reading.path, layer, "used")
    same_name_entries.append(entry)
    return True


def _listed_name(lookup: Lookup, folder: str, path: str, field: str) -> str:
    """Return the name under which a file below this folder is listed. `field` is the one in its front matter."""
    if lookup.named == "field":
        return field
    name = name_by_path(path, folder)
    is_other = lookup.named == "both" and field and field != name
    is_word = all(character.isalnum() or character in "_.:-" for character in field)
    return f"{name} ({field})" if is_other and is_word else name


def _why_unlisted(lookup: Lookup) -> str:
    unlisted = "says that only the user may call it" if lookup.kind == "command" else "does not ask for it to be listed"
    return f"its front matter {unlisted}"


def _read_entry(lookup: Lookup, reading: Reading) -> tuple[Skill | Resident | None, Sequence[Finding]]:
    """Return the entry that a file describes in its front matter, or None, and findings about the front matter."""
    display_path, text = printable(reading.path), reading.text_by(lookup.rules)
    if lookup.kind == "resident":
        return read_resident(text, display_path)
    if lookup.skips:
        from ..sources.flaws import find_flaw

        if flaw := find_flaw(text, _default_name(reading.path, lookup.kind), lookup.skips):
            code = "front-matter-invalid" if lookup.kind == "command" else f"{lookup.kind}-invalid"
            return None, [finding(code, f"{flaw}; the {lookup.kind} is skipped", display_path, 1)]
    entry, findings = _parse_entry(lookup, text, display_path)
    if entry is not None and lookup.rules.trim in ("none", "fence"):
        from ..sources.definitions import untrimmed_description

        entry = replace(entry, description=untrimmed_description(text, entry.description, lookup.rules.trim))
    if isinstance(entry, Skill) and lookup.disabled == "list" and entry.hidden:
        entry = replace(entry, hidden=False)
    if entry is not None and (lookup.longest or lookup.used_when):
        entry = replace(entry, description=_complete_description(lookup, entry.description, text))
    return entry, findings


def _complete_description(lookup: Lookup, description: str, text: str) -> str:
    """Return a description with `when_to_use`, cut to the layout's limit. What begins a new line does not count towards it."""
    fields = parse_front_matter(text) if lookup.used_when else None
    use = fields.get("when_to_use") if isinstance(fields, dict) else None
    more = lookup.used_when.replace("{}", use) if isinstance(use, str) and use else ""
    if more.startswith("\n"):
        return _cut(description, lookup) + more
    return _cut(description + more, lookup)


def _cut(description: str, lookup: Lookup) -> str:
    """Return a description cut to the layout's limit, in units of UTF-16."""
    encoded = description.encode("utf-16-le", "surrogatepass") if lookup.longest else b""
    if not lookup.longest or len(encoded) <= 2 * lookup.longest:
        return description
    return encoded[: 2 * (lookup.longest - len(lookup.ellipsis))].decode("utf-16-le", "ignore") + lookup.ellipsis


def _default_name(path: str, kind: str) -> str:
    """Return the name of a skill's folder, or of another file without its suffix."""
    return os.path.basename(os.path.dirname(path) if kind == "skill" else os.path.splitext(path)[0])


def _parse_entry(lookup: Lookup, text: str, path: str) -> tuple[Skill | Resident | None, list[Finding]]:
    """Return the skill, sub-agent or command that a text describes, or None, and findings."""
    if lookup.kind != "skill":
        from ..sources.definitions import read_definition

        return read_definition(text, path, lookup.kind, lookup.described)
    skill, findings = read_skill(text, path, lookup.validation)
    if skill is None and lookup.described:
        from ..sources.definitions import read_undescribed_skill

        return read_undescribed_skill(text, path, lookup.described, findings)
    return skill, findings


def _with_scope(skill: Skill, lookup: Lookup, layer: str, trail: Trail) -> Skill:
    """Return a skill that is only for some files, and record whether it waits until one of them is touched."""
    if lookup.scoped == "wait":
        reason = f"it waits for a file that matches {skill.paths} (paths in its front matter)"
        trail.record(skill.path, layer, "waiting", reason, target=skill.paths)
        return replace(skill, hidden=True)
    trail.record(skill.path, layer, "used")
    if not lookup.match:
        message = "its paths are ignored: this layout lists every skill from the start"
        trail.findings.append(finding("skill-field", message, printable(skill.path), 1))
    return skill


def _replace_entry(earlier: Skill | Resident, later: Skill | Resident, trail: Trail) -> None:
    """Record that a later entry with the same name takes the place of an earlier one."""
    path = printable(earlier.path)
    number = next(number for number, candidate in enumerate(trail.candidates) if candidate.path == path)
    reason = f"{printable(later.path)} also has the name {later.name!r} and takes its place"
    known = trail.candidates[number]
    trail.candidates[number] = replace(known, fate="shadowed", reason=reason, target=printable(later.path))
    trail.findings.append(finding("skill-shadowed", f"{path}: {reason}", path))
