"""Compares what several agents read in one repository: a table of files and agents.

    table = compare_agents(views, files, root, cwd)
    table.rows[0].verdicts[0]        # Verdict("loaded", …): what the first agent does with the first file

An agent is a layout and the prompt that it produces in the workspace. If the layout did not consider a file, the agent may still
read it when it works in another folder; otherwise it never does.
"""

from __future__ import annotations

from posixpath import basename, dirname, join

from ..gathering.conditions import is_read_by_program
from ..layout.model import Field
from ..sources.globs import matches_glob
from ..sources.paths import is_inside, other_spellings
from ..text.lines import printable
from ..vocabulary import Candidate, Document, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Literal

    from ..layout.model import Layout, Lookup, Pattern
    from ..text.tokens import Count
    from ..vocabulary import Inputs, Prompt
    from .own_part import OwnPart

    VerdictName = Literal[
        "loaded",
        "cut",
        "on-touch",
        "listed",
        "shadowed",
        "copy",
        "blank",
        "unused",
        "refused",
        "unreadable",
        "elsewhere",
        "absent",
        "never",
    ]

_VERDICTS: dict[str, VerdictName] = {
    "used": "loaded",
    "cut": "cut",
    "waiting": "on-touch",
    "shadowed": "shadowed",
    "duplicate": "copy",
    "blank": "blank",
    "unused": "unused",
    "refused": "refused",
    "untrusted": "refused",
    "unreadable": "unreadable",
    "binary": "unreadable",
    "absent": "absent",
}
# Trying a pattern from every folder above a file that is deeper than this would take too long.
_MAX_DEPTH = 64
_NO_TOUCH = "the layout has no [touch] table that sends it"
OWN_REFUSAL = "Foreword does not read it: "
"""How the reason begins if the program loads a file and Foreword refuses to."""
LOADED_VERDICTS = ("loaded", "cut")
READ_VERDICTS = (*LOADED_VERDICTS, "on-touch", "listed", "elsewhere")
_PLACES_FROM_CWD = ("walk", "between", "cwd")
WORKSPACE_PLACES = (*_PLACES_FROM_CWD, "root", "path")


@value
class AgentView:
    """What one agent reads: its layout, inputs and prompt. `evidence` lists the paths in the layout's `detected_by` that the repository contains.

    `touched` contains the files that it considers when it touches files in other folders, and the rules for certain paths.
    """

    layout: Layout
    inputs: Inputs
    prompt: Prompt
    tokens: Count
    evidence: Sequence[str] = ()
    touched: Sequence[Candidate] = ()
    own: OwnPart | None = None

    @property
    def name(self) -> str:
        return self.layout.name


@value
class Verdict:
    """What an agent does with a file.

    `cut` is the percentage of the text that is left out. `target` is the file that explains the verdict, or the paths that activate the
    file. `rule` is the lookup rule and the pattern that apply to the file, or None.
    """

    name: VerdictName
    reason: str = ""
    target: str = ""
    cut: int | None = None
    rule: tuple[Lookup, Pattern] | None = None


@value
class FileRow:
    """A file, with one verdict for each agent."""

    path: str
    verdicts: Sequence[Verdict]


@value
class AgentTable:
    """The agents, and a row for each file with one verdict per agent."""

    agents: Sequence[AgentView]
    rows: Sequence[FileRow]


def compare_agents(
    views: Sequence[AgentView], files: Sequence[str], root: str, cwd: str, missing: Collection[str] = ()
) -> AgentTable:
    """Compare all agents' verdicts on these files, and on every other existing file that one of them considered.

    The files in `missing` do not exist.
    """
    judges = [_Judge(view, root, cwd) for view in views]
    paths = {*files, *(path for judge in judges for path in judge.existing_paths())}
    rows = [
        FileRow(
            path, [_absent_verdict(judge.verdict(path)) if path in missing else judge.verdict(path) for judge in judges]
        )
        for path in sorted(paths, key=lambda path: _sort_key(path, root))
    ]
    return AgentTable(views, rows)


def _absent_verdict(verdict: Verdict) -> Verdict:
    """Return the verdict on a file that does not exist. It has no rule if the agent would never load the file."""
    return Verdict("absent", verdict.reason, rule=verdict.rule)


def folders_to_visit(table: AgentTable) -> list[tuple[int, str]]:
    """Return pairs of an agent's number and a folder in which that agent would read more of the table's files."""
    return list(
        dict.fromkeys(
            (index, verdict.target)
            for row in table.rows
            for index, verdict in enumerate(row.verdicts)
            if verdict.name == "elsewhere"
        )
    )


def apply_visits(table: AgentTable, visits: Mapping[tuple[int, str], Mapping[str, Candidate]]) -> AgentTable:
    """Update the verdicts with what happens in the visited folders: a file that is not loaded there is not `elsewhere`."""

    def after_visit(number: int, path: str, verdict: Verdict) -> Verdict:
        candidates = visits.get((number, verdict.target)) if verdict.name == "elsewhere" else None
        candidate = candidates.get(path) if candidates else None
        if candidate is None or candidate.fate in ("used", "cut"):
            return verdict
        if is_read_by_program(candidate, table.agents[number].layout):
            return replace(verdict, reason=f"{verdict.reason}. {OWN_REFUSAL}{candidate.reason}")
        if candidate.fate == "waiting" and table.agents[number].layout.touch is None:
            return _unsent_verdict(candidate, _NO_TOUCH, verdict.rule)
        return Verdict(_VERDICTS[candidate.fate], candidate.reason, candidate.target, None, verdict.rule)

    rows = [
        FileRow(row.path, [after_visit(index, row.path, verdict) for index, verdict in enumerate(row.verdicts)])
        for row in table.rows
    ]
    return AgentTable(table.agents, rows)


class _Judge:
    """Decides what one agent does with files."""

    def __init__(self, view: AgentView, root: str, cwd: str) -> None:
        self.view, self.root, self.cwd = view, root, cwd
        self.candidates = {candidate.path: candidate for candidate in view.prompt.candidates}
        self.touched = {candidate.path: candidate for candidate in view.touched}
        menu_lookups = {lookup.name for lookup in view.layout.lookups if lookup.kind != "text"}
        # Skills, sub-agents and commands are listed in menus; they are not instruction files.
        self.menu_paths = {
            candidate.path
            for name in menu_lookups
            if name in view.inputs.lookup_results
            for candidate in _lookup_candidates(view, name)
        }
        self.listed_paths = _listed_paths(view)
        self.by_name, self.by_wildcard = _patterns_by_name(view.layout)
        self._rules: dict[str, tuple[Lookup, Pattern] | None] = {}
        self.menu_patterns = [
            (lookup, pattern)
            for lookup in view.layout.lookups
            if lookup.kind != "text"
            for group in lookup.groups
            for pattern in group
        ]

    def existing_paths(self) -> Iterator[str]:
        for path, candidate in self.candidates.items():
            if candidate.fate != "absent" and path not in self.menu_paths:
                yield path
        for path, candidate in self.touched.items():
            if candidate.fate in ("used", "waiting"):
                yield path

    def is_unread(self, candidate: Candidate) -> bool:
        """Whether the program reads a file that Foreword does not read."""
        return is_read_by_program(candidate, self.view.layout)

    def verdict(self, path: str) -> Verdict:
        candidate = self.candidates.get(path)
        if candidate is None:
            verdict = self._verdict_on_touch(path)
            return (
                verdict
                if verdict and verdict.name == "on-touch"
                else self._verdict_elsewhere(path) or verdict or Verdict("never")
            )
        if candidate.fate == "waiting" and (problem := self._why_never_sent(path)):
            return _unsent_verdict(candidate, problem, self._rule_for(path))
        is_unread = self.is_unread(candidate)
        if (is_unread or candidate.fate == "used") and (earlier := self._unread_before(path)):
            return Verdict("shadowed", f"{earlier} comes before it", earlier, None, self._rule_for(path))
        if is_unread:
            return Verdict("loaded", OWN_REFUSAL + candidate.reason, candidate.target, None, self._rule_for(path))
        return self._verdict_on_candidate(candidate)

    def _verdict_on_candidate(self, candidate: Candidate) -> Verdict:
        """Return the verdict on a file that Foreword considered as the program does."""
        path, name = candidate.path, _VERDICTS[candidate.fate]
        if name == "loaded" and path in self.listed_paths:
            name = "listed"
        cut = _percent_cut(self.view, path) if name == "cut" else None
        return Verdict(name, candidate.reason, candidate.target, cut, self._rule_for(path))

    def _unread_before(self, path: str) -> str:
        """Return the file that the program reads instead of this one, and Foreword does not read, or empty if there is none."""
        rule = self._rule_for(path)
        if rule is None or "*" in rule[1].path:
            return ""
        lookup, pattern = rule
        group = next(patterns for patterns in lookup.groups if pattern in patterns)
        for other in group[: list(group).index(pattern)]:
            candidate = self.candidates.get(path.removesuffix(pattern.path) + other.path)
            if candidate and self.is_unread(candidate):
                return candidate.path
        return ""

    def _why_never_sent(self, path: str) -> str:
        """Return why no touch sends a rule for certain paths, or an empty string if a touch may send it."""
        if self.view.layout.touch is None:
            return _NO_TOUCH
        if path in self.menu_paths:
            return ""
        candidate = self.touched.get(path)
        if candidate is None:
            return "no lookup rule of [touch] finds it"
        return f"[touch] leaves it out: {candidate.reason}" if candidate.fate == "unused" else ""

    def _verdict_on_touch(self, path: str) -> Verdict | None:
        """Return the verdict on a file that the agent considers only when it touches another file, or None if it never does."""
        candidate = self.touched.get(path)
        if candidate is None:
            return None
        folder, rule = self._touch_rule(path)
        if self.is_unread(candidate):
            target = f"{folder[len(self.root) :].lstrip('/')}/**" if folder else ""
            return Verdict("on-touch", OWN_REFUSAL + candidate.reason, target, None, rule)
        is_copy = candidate.fate == "duplicate" and self._is_sent_with(candidate.target, folder)
        if candidate.fate == "waiting":
            return Verdict("on-touch", candidate.reason, candidate.target, None, rule)
        if candidate.fate in ("used", "cut", "absent", "duplicate") and not is_copy:
            target = f"{folder[len(self.root) :].lstrip('/')}/**" if folder else ""
            reason = f"it waits for a file in {folder}" if folder else "it is sent when the agent touches a file"
            return Verdict("on-touch", candidate.reason or reason, target, None, rule)
        return Verdict(_VERDICTS[candidate.fate], candidate.reason, candidate.target, None, rule)

    def _is_sent_with(self, path: str, folder: str) -> bool:
        """Whether an agent that touches a file in a folder has this file: from the prompt, or from the same touch."""
        candidate = self.candidates.get(path)
        is_loaded = candidate is not None and candidate.fate in ("used", "cut")
        return is_loaded or is_inside(folder, self._touch_rule(path)[0] or path)

    def _touch_rule(self, path: str) -> tuple[str, tuple[Lookup, Pattern] | None]:
        """Return the highest folder in which a touch finds a file, if that is below or beside the working directory, and the rule that finds it."""
        touch = self.view.layout.touch
        found: list[tuple[str, tuple[Lookup, Pattern]]] = []
        for lookup in touch.lookups if touch else ():
            for pattern in (pattern for group in lookup.groups for pattern in group):
                if pattern.place != "down":
                    if not found and matches_glob(path, f"**/{pattern.path}") and not lookup.is_probe:
                        return "", (lookup, pattern)
                    continue
                for folder in _start_folders(path, pattern, self.root):
                    if folder != self.root and not is_inside(self.cwd, folder):
                        found.append((folder, (lookup, pattern)))
        return min(found, key=lambda each: len(each[0]), default=("", None))

    def _rule_for(self, path: str) -> tuple[Lookup, Pattern] | None:
        """Return the lookup rule and the pattern that found a file."""
        if path not in self._rules:
            self._rules[path] = self._find_rule(path)
        return self._rules[path]

    def _find_rule(self, path: str) -> tuple[Lookup, Pattern] | None:
        is_in_workspace = is_inside(path, self.root)
        for lookup, pattern in self._possible_patterns(path):
            if pattern.place not in WORKSPACE_PLACES:
                if not is_in_workspace and matches_glob(path, f"**/{pattern.path}"):
                    return lookup, pattern
            elif any(self._is_searched(folder, pattern) for folder in _start_folders(path, pattern, self.root)):
                return lookup, pattern
        return None

    def _possible_patterns(self, path: str) -> Iterator[tuple[Lookup, Pattern]]:
        """Yield the patterns whose last segment may match the file's name."""
        yield from self.by_name.get(basename(path), ())
        yield from self.by_wildcard

    def _verdict_elsewhere(self, path: str) -> Verdict | None:
        """Return the verdict `elsewhere` if an agent in another folder would read the file; otherwise whether a menu lists it."""
        if is_inside(path, self.root):
            found: list[tuple[str, tuple[Lookup, Pattern]]] = []
            for lookup, pattern in self._possible_patterns(path):
                own = (
                    join(dirname(path), basename(pattern.path)) if lookup.any_case and "*" not in pattern.path else path
                )
                folders = _start_folders(own, pattern, self.root) if pattern.place in _PLACES_FROM_CWD else ()
                for folder in folders:
                    is_possible = pattern.place != "between" or folder != self.root
                    if is_possible and not self._is_searched(folder, pattern):
                        found.append((folder, (lookup, pattern)))
            if found:
                folder, rule = min(found, key=lambda each: len(each[0]))
                return Verdict("elsewhere", f"only an agent that works in {folder} reads it", folder, None, rule)
        return self._menu_verdict(path)

    def _menu_verdict(self, path: str) -> Verdict | None:
        """Return the verdict on a skill, sub-agent or command, which the agent lists here or in another folder, or None for other files."""
        elsewhere = None
        for lookup, pattern in self.menu_patterns:
            folders = _start_folders(path, pattern, self.root) if f"/{pattern.path.partition('*')[0]}" in path else ()
            for folder in folders:
                if pattern.place not in WORKSPACE_PLACES:
                    if not is_inside(path, self.root):
                        return Verdict("listed", rule=(lookup, pattern))
                elif self._is_searched(folder, pattern):
                    return Verdict("listed", rule=(lookup, pattern))
                elif pattern.place in _PLACES_FROM_CWD:
                    reason = f"only an agent that works in {folder} lists it"
                    elsewhere = elsewhere or Verdict("elsewhere", reason, folder, None, (lookup, pattern))
        return elsewhere

    def _is_searched(self, folder: str, pattern: Pattern) -> bool:
        """Whether the pattern starts from this folder when the agent works in `cwd`."""
        if pattern.place in ("cwd", "path"):
            return folder == self.cwd
        if pattern.place == "root":
            return folder == self.root
        is_between = folder not in (self.root, self.cwd) or pattern.place == "walk"
        return is_between and is_inside(self.cwd, folder)


def _unsent_verdict(candidate: Candidate, problem: str, rule: tuple[Lookup, Pattern] | None) -> Verdict:
    """Return the verdict on a rule for certain paths that is not in the prompt and that no touch sends."""
    return Verdict("never", f"it is only for files that match {candidate.target}, and {problem}", "", None, rule)


def _listed_paths(view: AgentView) -> set[str]:
    """Return the paths of the text files that the prompt only lists, without their text."""
    listed: set[str] = set()
    loaded: set[str] = set()
    names = {lookup.name for lookup in view.layout.lookups if lookup.kind == "text"}
    for section in view.layout.all_sections:
        name = section.list_name
        if name in names and name in view.inputs.lookup_results:
            has_text = any(isinstance(part, Field) and part.name == "text" for part in section.item)
            used = [candidate.path for candidate in _lookup_candidates(view, name) if candidate.fate == "used"]
            (loaded if has_text else listed).update(used)
    return listed - loaded


def _lookup_candidates(view: AgentView, lookup: str) -> Sequence[Candidate]:
    candidates: Sequence[Candidate] = view.inputs.lookup_results[lookup].candidates
    return candidates


def _patterns_by_name(
    layout: Layout,
) -> tuple[Mapping[str, list[tuple[Lookup, Pattern]]], list[tuple[Lookup, Pattern]]]:
    """Return the patterns for instruction files: those that end with a file name, by that name, and those that end with a wildcard."""
    by_name: dict[str, list[tuple[Lookup, Pattern]]] = {}
    by_wildcard: list[tuple[Lookup, Pattern]] = []
    for lookup in (rule for rule in layout.lookups if rule.kind == "text"):
        for pattern in (pattern for group in lookup.groups for pattern in group):
            name = basename(pattern.path)
            if "*" in name:
                by_wildcard.append((lookup, pattern))
                continue
            for spelling in (name, *(other_spellings(name) if lookup.any_case else ())):
                by_name.setdefault(spelling, []).append((lookup, pattern))
    return by_name, by_wildcard


_known_folders: dict[str, str] = {}  # of patterns, few of which are not a shipped layout's
_MAX_KNOWN = 500


def _fixed_folders(pattern: str) -> str:
    if pattern not in _known_folders:
        if len(_known_folders) >= _MAX_KNOWN:
            _known_folders.clear()
        _known_folders[pattern] = _folders_of(pattern)
    return _known_folders[pattern]


def _folders_of(pattern: str) -> str:
    """Return the folders with which every path that a pattern matches begins, such as `/.claude/rules/`, or `/` if there are none."""
    folders = pattern.partition("*")[0].rpartition("/")[0]
    return f"/{folders}/" if all(map(_is_plain_name, folders.split("/"))) else "/"


def _is_plain_name(folder: str) -> bool:
    """Whether a name consists of letters, digits, `_`, `-` and dots, with a letter, digit or `_` after the last dot."""
    name = folder.replace("-", "")
    return name.replace(".", "").replace("_", "x").isalnum() and not name.endswith(".")


def _start_folders(path: str, pattern: Pattern, root: str) -> Iterator[str]:
    """Yield the folders from which a pattern finds a file, the nearest first, up to the root, or to `/` for a file outside the root."""
    if _fixed_folders(pattern.path) not in path:
        return
    folder = dirname(path)
    top = root if is_inside(path, root) else "/"
    is_deep = path.count("/") > _MAX_DEPTH
    has_one_depth = not any(part in pattern.path for part in ("**", "{", "./", "//"))
    if has_one_depth or (is_deep and "**" not in pattern.path):
        folder = path.rsplit("/", pattern.path.count("/") + 1)[0] or "/"
        top = folder if is_inside(folder, top) else path
    while is_inside(folder, top):
        if matches_glob(path[len(folder) :], pattern.path):
            yield folder
        if folder in (top, "/"):
            break
        folder = dirname(folder)


def _percent_cut(view: AgentView, path: str) -> int:
    """Return the percentage of a file's text that is not in the prompt, at least 1."""
    length = max(
        (
            len(entry.text)
            for entries in view.inputs.found.values()
            for entry in entries
            if isinstance(entry, Document) and printable(entry.path) == path
        ),
        default=0,
    )
    kept = sum(
        len(piece.text)
        for passage in view.prompt.passages
        for piece in passage.pieces
        if piece.origin.kind == "file" and piece.origin.path == path
    )
    return max(round(100 - 100 * kept / length), 1) if length > kept else 1


def _sort_key(path: str, root: str) -> tuple[bool, Sequence[str], str]:
    """Return a sort key: files outside the repository first, then by folder, with a folder's files before those in its subfolders."""
    return is_inside(path, root), dirname(path).split("/"), basename(path)
