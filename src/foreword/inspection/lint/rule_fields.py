"""Reports rules that an agent ignores because of their extension, and fields of rules that it ignores: misspelled ones, those of other
agents, empty lists of paths, and values that are neither true nor false.

What an agent knows is taken from the conditions of its layout's lookup rules.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from posixpath import basename, dirname, join, splitext

from ...layout.touch_keys import MATCH_FIELDS
from ...sources.globs import matches_glob
from ...sources.paths import is_inside
from ...text.lines import printable
from .agent_facts import Place, agent_name, mentions, place_of
from .agent_files import is_covered
from .patterns import lazy_pattern
from .rule_globs import matches_all, split_globs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ...layout.model import Layout, Lookup
    from ...vocabulary import Candidate, Severity
    from .agent_facts import Facts, Visit
    from .source_text import SourceText

_BOOLEANS = ("true", "false")
_FATES = ("used", "cut", "waiting", "unused")
_PATH_FIELDS = tuple(name for name in MATCH_FIELDS if name != "alwaysApply")


class RuleFields:
    """Reports the fields of rules that an agent ignores although their author expects an effect. Each rule is checked once for each agent.

    `read_fields` parses front matter. `resolve` returns the path to which that of a file leads through links: a rule that is a link to a
    file with one of the names in `shared`, which is for several agents, has no fields.
    """

    def __init__(
        self,
        facts: Facts,
        read_fields: Callable[[str], Mapping[str, str]],
        resolve: Callable[[str], str],
        shared: Collection[str],
    ) -> None:
        self.facts, self.read_fields, self.resolve, self.shared = facts, read_fields, resolve, shared
        self._checked: dict[str, set[str]] = {}

    def visit(self, visit: Visit) -> None:
        loaded = "\n".join(visit.loaded.values())
        for fate in _FATES:
            # A rule that a text mentions may be read when needed.
            candidates = (
                candidate
                for candidate in visit.candidates_in_repository(fate)
                if fate != "unused" or basename(candidate.path) not in loaded
            )
            self.check(visit.layout, candidates, visit.read)

    def check(self, layout: Layout, candidates: Iterable[Candidate], read: Callable[[str], SourceText | None]) -> None:
        """Check the rules among these candidates of a layout. `read` returns the text of a file in the repository, or None."""
        checked = self._checked.setdefault(layout.name, set())
        for candidate in candidates:
            if candidate.fate in _FATES and candidate.path not in checked:
                checked.add(candidate.path)
                self._check(layout, candidate, read)

    def _check(self, layout: Layout, candidate: Candidate, read: Callable[[str], SourceText | None]) -> None:
        lookups = list(_rule_lookups(layout, candidate.path))
        source = read(candidate.path) if lookups else None
        if source is None or _is_named_in_settings(candidate.path, read):
            return
        fields = self.read_fields(source.text) if source.text.startswith("---") else {}
        known = _known_values(lookups)
        if layout.mirrors and source.text.strip() and basename(self.resolve(candidate.path)) not in self.shared:
            is_shared = candidate.path.endswith(".instructions.md")
            has_apply_to = is_shared and any("applyTo" in dict(lookup.where) for lookup in lookups)
            self._check_conditions(layout, candidate, source, fields, known, has_apply_to)
        applies_always = candidate.fate != "unused" and not candidate.target
        problems = [
            problem for problem in _problems(fields, known) if not _changes_nothing(problem[0], fields, applies_always)
        ]
        if applies_always:
            problems += _empty_scopes(fields, lookups)
        for name, message in problems:
            for_several = _about_rules(message)
            place = place_of(source, f"{name}:")
            self.facts.add("rule-field", place, message, agent_name(layout), for_several=for_several)

    def _check_conditions(
        self,
        layout: Layout,
        candidate: Candidate,
        source: SourceText,
        fields: Mapping[str, str],
        known: Mapping[str, Collection[str]],
        has_apply_to: bool,
    ) -> None:
        """Report a rule without `applyTo`, which two programs of one agent read differently."""
        conditions = [fields.get(name, "").lower() for name in (*known, "description")]
        if any(condition not in ("", "false") for condition in conditions) or _problem_names(fields, known):
            return
        if (
            "applyTo" in fields
            or candidate.fate == "unused"
            or not has_apply_to
            or _NOT_A_RULE.search(basename(source.path).split(".")[0])
        ):
            return
        if _APPLY_TO_ABOVE.match(_COMMENTS.sub("", source.text, count=1)):
            if _FRONT_MATTER.match(source.text):
                return  # its `applyTo` cannot be used, which `report_invalid_fields` says
            message = (
                "`applyTo` has no effect, because the front matter does not begin with a line `---` and end with another,"
                " so {agents} use{s} this file for every file; correct it"
            )
            for_several = (
                "`applyTo` has no effect in these {count} files, because their front matter does not begin with a line `---` and end with"
                " another, so {agents} use{s} them for every file: {files}; correct them"
            )
            place = place_of(source, "applyTo")
            self.facts.add("rule-field", place, message, agent_name(layout), for_several=for_several)
        else:
            message = (
                "this file has no `applyTo`, so {agents} use{s} it for every file, and Copilot in VS Code for none;"
                " add `applyTo: '**'`, or the paths that it is for"
            )
            for_several = (
                "these {count} files have no `applyTo`, so {agents} use{s} them for every file, and Copilot in VS Code for none: {files};"
                " add `applyTo: '**'`, or the paths that each is for"
            )
            self.facts.add("rule-field", Place(source.path), message, agent_name(layout), for_several=for_several)


# Comments above the front matter.
_COMMENTS = lazy_pattern(r"\A(?:\s{0,99}<!--(?:(?!-->).){0,2000}-->)+\s{0,99}", re.DOTALL)
_FRONT_MATTER = lazy_pattern(r"---[ \t]*\r?\n(?:[^\n]{0,2000}\n){0,200}?---[ \t]*(?:\r?\n|\Z)")
# The field on one of the first lines of a file.
_APPLY_TO_ABOVE = lazy_pattern(r"(?:[^\n]{0,2000}\n){0,4}[ \t]*[\"']?applyTo[\"']?[ \t]*:")


def _changes_nothing(name: str, fields: Mapping[str, str], applies_always: bool) -> bool:
    """Whether a field with the paths of a rule has no effect anyway: with `alwaysApply`, or if it matches every file and the rule applies to all."""
    if not _closest(name, _PATH_FIELDS):
        return False
    if fields.get("alwaysApply", "").lower() == "true":
        return True
    return applies_always and matches_all(split_globs(fields[name]))


def _about_rules(message: str) -> str:
    """Return a message about one rule as one about several, or empty if it cannot be."""
    problem, separator, advice = message.partition(" of this rule; ")
    return f"{problem} of these {{count}} rules: {{files}}; {advice}" if separator else ""


def _problem_names(fields: Mapping[str, str], known: Mapping[str, Collection[str]]) -> list[str]:
    return [name for name, _ in _problems(fields, known)]


# A field that the gatherer did not use.
_UNUSABLE_FIELD = re.compile(r"its (\S+) is (.+), and is ignored")


def report_invalid_fields(visit: Visit, facts: Facts) -> None:
    """Report rules whose front matter is not valid YAML, or has globs that cannot be used. That of an imported file has no effect."""
    for finding in visit.prompt.findings:
        candidate = visit.candidates.get(finding.path)
        is_rule = candidate is None or candidate.layer != "import"
        if finding.code == "front-matter-invalid" and is_rule and is_inside(finding.path, visit.root):
            problem = finding.message.removeprefix(f"{finding.path}: ")
            message = f"{problem}, so {{agents}} may ignore its fields; correct it"
            for_several = (
                f"{problem} in these {{count}} files, so {{agents}} may ignore their fields: {{files}}; correct them"
            )
            if match := _UNUSABLE_FIELD.fullmatch(problem):
                said = f"`{match[1]}` is {match[2]},"
                message = f"{said} so {{agents}} may ignore it; correct it"
                for_several = f"{said} in these {{count}} files, so {{agents}} may ignore it: {{files}}; correct them"
            if problem.endswith("is left out"):
                message, for_several = f"{problem} by {{agents}}; write `***` for a horizontal rule", ""
            # Whether a program known only from its documentation minds a colon was not observed.
            is_certain = visit.layout.program or "a colon and a space" not in problem
            severity: Severity = "warning" if is_certain else "info"
            facts.add("rule-field", Place(finding.path, 1), message, visit.agent, "", severity, for_several)


def _rule_lookups(layout: Layout, path: str) -> Iterator[Lookup]:
    """Yield the lookup rules whose patterns find this file and whose conditions apply to it."""
    for lookup in (*layout.lookups, *(layout.touch.lookups if layout.touch else ())):
        has_conditions = lookup.where or lookup.unless or lookup.match
        if lookup.kind != "text" or not has_conditions or not lookup.has_conditions_for(path):
            continue
        if "name" in dict(lookup.where):  # one of several files is chosen by its name, such as an output style
            continue
        patterns = (pattern.path for group in lookup.groups for pattern in group)
        if any("*" in pattern and matches_glob(path, f"**/{pattern}") for pattern in patterns):
            yield lookup


def _known_values(lookups: Collection[Lookup]) -> dict[str, set[str]]:
    """Return the fields that lookup rules know, with the values that their conditions name."""
    known: dict[str, set[str]] = {name: set() for lookup in lookups for name in lookup.match}
    for lookup in lookups:
        for name, values in (*lookup.where, *lookup.unless, *lookup.always):
            known.setdefault(name, set()).update(filter(None, values))
        for name, other in lookup.rules.alias:
            known.setdefault(name, set()).update(known.get(other, ()))
    if "alwaysApply" in known:
        known["alwaysApply"].update(_BOOLEANS)
    return known


def _problems(fields: Mapping[str, str], known: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
    """Yield a field's name and the message for each field that has not the effect that its author expects.

    Of several that mean the same field, such as those of two other agents, only the first is named.
    """
    found = set()
    for name, content in fields.items():
        if name in known:
            if _is_boolean(known[name]) and content and content.lower() not in _BOOLEANS:
                yield name, f"`{name}: {content[:40]}` is neither true nor false"
        elif (meant := _meant(name, fields, known)) and meant not in found:
            found.add(meant)
            yield name, f"{{agents}} ignore{{s}} the field `{name}` of this rule; did you mean `{meant}`?"


def _is_named_in_settings(path: str, read: Callable[[str], SourceText | None]) -> bool:
    """Whether the settings of VS Code name a file, which is then used for what they say."""
    settings = read(f"{path.partition('/.github/')[0]}/.vscode/settings.json") if "/.github/" in path else None
    return settings is not None and basename(path) in settings.text


def _empty_scopes(fields: Mapping[str, str], lookups: Iterable[Lookup]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a rule for every file that should list paths, but are empty. Cursor writes them beside `alwaysApply`."""
    scopes = [name for name in dict.fromkeys(_optional_scopes(lookups)) if name in fields]
    if "alwaysApply" not in fields and not any(split_globs(fields[name]) for name in scopes):
        for name in scopes:
            message = f"`{name}` is empty, so {{agents}} use{{s}} this rule for every file; add a pattern, or delete the field"
            yield name, message


def _optional_scopes(lookups: Iterable[Lookup]) -> Iterator[str]:
    """Yield the fields without which a rule applies to every file."""
    for lookup in lookups:
        where = dict(lookup.where)
        if "alwaysApply" not in where:
            alias = dict(lookup.rules.alias)
            yield from (name for name in _PATH_FIELDS if "" in where.get(alias.get(name, name), ()))
        if lookup.unscoped != "skip":
            yield from (name for name in _PATH_FIELDS if name in lookup.match)


def _is_boolean(values: Collection[str]) -> bool:
    return bool(values) and all(value in _BOOLEANS for value in values)


def _meant(name: str, fields: Mapping[str, str], known: Collection[str]) -> str:
    """Return the known field that was probably meant by an unknown one, or empty if there is none or if it is present too."""
    if name not in MATCH_FIELDS:
        if other := _closest(name, known):
            return other if other not in fields else ""
        name = _closest(name, MATCH_FIELDS) if fields[name] else ""
    elif not fields[name]:
        return ""
    # A field of another agent, perhaps misspelled.
    scopes = [other for other in known if other in _PATH_FIELDS]
    is_scoped = any(fields.get(other) for other in scopes)
    return scopes[0] if name in _PATH_FIELDS and scopes and not is_scoped else ""


def _closest(name: str, fields: Collection[str]) -> str:
    """Return the field whose name is closest to this one, or empty if none is close."""
    close = get_close_matches(name.lower(), [field.lower() for field in fields], 1, 0.8)
    return next((field for field in fields if [field.lower()] == close), "")


# Extensions


# The name of a file for people who write rules.
_NOT_A_RULE = lazy_pattern(r"(?:^|[-_.])(?:readme|index|template|example)s?$", re.IGNORECASE)


def report_other_extensions(
    visit: Visit, facts: Facts, entries: Callable[[str, str], Iterable[str]], is_named: Callable[[str], bool]
) -> None:
    """Report files in a folder of rules that the agent ignores because of their extension, such as `.mdc` for Claude Code.

    `entries` returns the names in a folder below another, and `is_named` whether a file cannot be read, or any instruction
    file of the repository names the one with this path: then it may be read through that one, which a new name would break.
    """
    for folder, endings in _rule_folders(visit.layout).items():
        # In the folder of another agent, that agent may read the file.
        if not any(f"{folder}/".startswith(path) for path in visit.layout.detected_by if path.endswith("/")):
            continue
        names = list(entries(visit.folder, folder))
        for name in names:
            stem, extension = splitext(name)
            is_rule = extension == ".mdc" or (extension == ".md" and extension not in endings)
            if not is_rule or _NOT_A_RULE.search(stem) or name.endswith(tuple(endings)):
                continue
            message = (
                f"{{agents}} ignore{{s}} this file, and read{{s}} only files that end in {' or '.join(endings)} in this folder;"
                f" rename it to {_stem_for(printable(stem), endings[0])}{endings[0]}"
            )
            place = Place(f"{visit.folder}/{folder}/{printable(name)}")
            if is_named(place.path) or _has_version(
                visit, place.path, [name for name in names if name.endswith(tuple(endings))], endings
            ):
                continue
            for_several = (
                f"{{agents}} ignore{{s}} these {{count}} files, and read{{s}} only files that end in {' or '.join(endings)} in that folder:"
                f" {{files}}; rename them to *{endings[0]}"
            )
            facts.add("misplaced-file", place, message, visit.agent, "", "warning", for_several)


def _has_version(visit: Visit, path: str, rules: Sequence[str], endings: Iterable[str]) -> bool:
    """Whether the agent learns of a file, or of a version: a rule in the same folder that has its name, or most of its text."""
    stem = splitext(basename(path))[0]
    if any(stem + ending in rules for ending in endings):
        return True
    if any(mentions(text, path, other) for other, text in visit.loaded.items()):
        return True
    source = visit.read(path)
    others = [visit.read(join(dirname(path), name)) for name in rules] if source else []
    return source is not None and is_covered(source.text, [other.text for other in others if other])


def _stem_for(stem: str, ending: str) -> str:
    """Return a file's stem without what was meant as the first part of an ending: `web` for `web.instruction` and `.instructions.md`."""
    name, _, part = stem.rpartition(".")
    is_misspelled = name and get_close_matches(part.lower(), [ending[1:].partition(".")[0]], 1, 0.8)
    return name if is_misspelled else stem


def _rule_folders(layout: Layout) -> dict[str, list[str]]:
    """Return the folders of rules in the repository that a layout searches, each with the endings of the files that it reads there."""
    endings: dict[str, list[str]] = {}
    for lookup in layout.lookups:
        for pattern in (pattern for group in lookup.groups for pattern in group if lookup.kind == "text"):
            folder, _, name = pattern.path.rpartition("/")
            if pattern.place in ("walk", "root", "cwd") and name.startswith("*.") and "*" not in name[1:]:
                endings.setdefault(folder.removesuffix("/**"), []).append(name[1:])
    return {folder: list(dict.fromkeys(names)) for folder, names in endings.items() if folder and "*" not in folder}
