"""Reports files that an agent reads differently from what their author may expect: hidden, cut, misplaced or in another order.

Every check uses only the prompt that a layout builds in a folder. None depends on a particular agent.
"""

from __future__ import annotations

import re
from posixpath import basename, dirname, join, normpath, relpath

from ...sources.paths import is_in_page_folder, is_inside
from ..agent_rules import describe_places
from .agent_facts import Place, agent_name, mentions
from .agent_texts import find_unfollowed_imports
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ...layout.model import Layout, Lookup
    from ...vocabulary import Candidate, Severity
    from ..agents import AgentTable
    from .agent_facts import Facts, Visit
    from .source_text import SourceText

# A hidden file is not reported if at least this share of its text is in the prompt anyway.
_COVERED_SHARE = 0.8
# A shorter file is not a guide to a project, unless it is at least as long as the one that it hides.
_MIN_GUIDE, _MIN_SHORT_GUIDE = 600, 300
_MAX_POINTER_LENGTH = 600
_MAX_BEGINNING = 600
_OR_ALIGN = "or run `foreword align`"


# Hidden files


def report_hidden_files(visit: Visit, facts: Facts, shared: Collection[str], agents: Collection[str]) -> None:
    """Report files for several agents that this one does not read because it found a file of its own.

    A file that begins with the name of another of these agents is for that one.
    """
    lookups = list(_conditional_lookups(visit.layout))
    for hidden in visit.candidates_in_repository("shadowed"):
        name = basename(hidden.path)
        if name not in shared or not hidden.target or not any(_reads(lookup, name) for lookup in lookups):
            continue
        facts.news.append(None)
        if not _is_available(visit, hidden, agents):
            severity, message, for_several = _describe_unread(visit, hidden)
            facts.add("unread-file", Place(hidden.path), message, visit.agent, visit.folder, severity, for_several)


def _conditional_lookups(layout: Layout) -> Iterator[Lookup]:
    """Yield the lookup rules that apply only if another one finds nothing."""
    for lookup in layout.lookups:
        if any(term.negated and any(fact.startswith("found:") for fact in term.facts) for term in lookup.when):
            yield lookup


def _reads(lookup: Lookup, name: str) -> bool:
    return any(basename(pattern.path) == name for group in lookup.groups for pattern in group)


def _is_available(visit: Visit, hidden: Candidate, agents: Collection[str]) -> bool:
    """Whether the agent does not need a hidden file: it is for another agent, a copy is loaded, or a file that is loaded mentions it."""
    source = visit.read(hidden.path)
    if source is None or _is_copied(visit, hidden):
        return True
    if _is_for_another_agent(source.text, visit.agent, agents) or _names_own_file(visit, hidden, source.text):
        return True
    # An agent that starts further up follows these imports, and then learns of the file.
    imported = {path: other.text for _, _, _, path in find_unfollowed_imports(visit) if (other := visit.read(path))}
    known = {**visit.loaded, **imported}
    known.update(_named_files(visit, known, basename(hidden.path)))
    if any(mentions(text, hidden.path, path) for path, text in known.items()):
        return True
    if len(source.text) <= _MAX_POINTER_LENGTH and any(basename(path) in source.text for path in visit.loaded):
        return True
    if _is_page(visit, hidden.path):
        return True
    if _points_to_loaded_files(visit, hidden.path, source.text):
        return True
    return is_covered(source.text, list(visit.loaded.values())) or _has_own_guide(visit, hidden)


def _points_to_loaded_files(visit: Visit, path: str, text: str) -> bool:
    """Whether a short text is a list of files, all of which the agent loads."""
    named = [normpath(join(dirname(path), name)) for name in re.findall(r"[`(]([\w./-]+/[\w.-]+\.md)[`)]", text)]
    return bool(named) and len(text) <= _MAX_POINTER_LENGTH * len(named) / 2 and visit.loaded.keys() >= set(named)


def _is_page(visit: Visit, path: str) -> bool:
    """Whether a file is a page of documentation for people: it is in a folder of such pages, and an index links to it."""
    if not is_in_page_folder(dirname(path), visit.root):
        return False
    indexes = [join(dirname(path), name) for name in ("README.md", "index.md")]
    return any(
        f"]({relpath(path, dirname(index))})" in source.text
        for index in (*indexes, join(visit.root, "README.md"))
        if (source := visit.read(index)) is not None
    )


def _is_copied(visit: Visit, hidden: Candidate) -> bool:
    """Whether the file that hides this one has the same text, perhaps with its own name or another title."""
    source, hiding = visit.read(hidden.path), visit.read(hidden.target)
    return source is not None and hiding is not None and _without_names(source) == _without_names(hiding)


_TITLE = lazy_pattern(r"^#[ \t].*$", re.MULTILINE)


def _without_names(source: SourceText) -> str:
    """Return a text without its title, and without the name of its file."""
    return _TITLE.sub("", source.text, 1).replace(source.name, "")


def _named_files(visit: Visit, known: Mapping[str, str], name: str) -> Iterator[tuple[str, str]]:
    """Yield the path and text of each file with this name that a text beside it names: "Read AGENTS.md first"."""
    for path, text in list(known.items()):
        folder = _base_folder(visit.layout, path)
        beside = join(folder, name)
        if (
            beside not in known
            and mentions(text, beside, join(folder, basename(path)))
            and (source := visit.read(beside))
        ):
            yield beside, source.text


def _has_own_guide(visit: Visit, hidden: Candidate) -> bool:
    """Whether the agent has a guide of its own for the folder of a hidden file, which may differ from that one on purpose.

    A rule for this folder is such a guide too. A link to another document, such as CONTRIBUTING.md, does not count, and a broken link is reported
    as such. If the folder of the guide has no file of that name either, the repository does not use such files for every agent.
    """
    folder, start = dirname(hidden.path), _base_folder(visit.layout, hidden.target)
    own = hidden.target if start == folder else join(folder, basename(hidden.target))
    found, source = visit.candidates.get(own), visit.read(own)
    if found is not None and found.fate == "unreadable":
        return True
    if source is not None and _is_guide(source.text, visit.read(hidden.path)) and visit.resolve(own) == own:
        return True
    if _has_own_rule(visit, folder):
        return True
    return start != folder and is_inside(folder, start) and visit.read(join(start, basename(hidden.path))) is None


def _is_guide(text: str, hidden: SourceText | None) -> bool:
    """Whether a text is a guide to a project rather than a note beside the hidden one."""
    shortest = _MIN_GUIDE if hidden is None else max(min(_MIN_GUIDE, _extent(hidden.text)), _MIN_SHORT_GUIDE)
    return _extent(text) >= shortest


def _extent(text: str) -> int:
    """Return the length of a text in characters of English: one of Chinese, Japanese or Korean says as much as two or three."""
    return (
        len(text) if text.isascii() else len(text) + len(re.findall("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", text))
    )


def _has_own_rule(visit: Visit, folder: str) -> bool:
    """Whether a long rule of the agent is in a folder below the root (`web/.agent/rules`), or waits only for files there."""
    if folder == visit.root:
        return False
    scope = f"{relpath(folder, visit.root)}/"
    rules = [path for path in visit.loaded if path.startswith(f"{folder}/.")]
    for rule in visit.candidates_in_repository("waiting"):
        patterns = (rule.target or "").split(", ")
        if rule.path.startswith(f"{folder}/.") or all(each.removeprefix("/").startswith(scope) for each in patterns):
            rules.append(rule.path)
    return any(_extent(source.text) >= _MIN_GUIDE for source in map(visit.read, rules) if source is not None)


def _names_own_file(visit: Visit, hidden: Candidate, text: str) -> bool:
    """Whether a text begins with the name of the agent's own file beside it: it is made from that one, or says when it applies instead."""
    name = basename(hidden.target)
    return name in _beginning(text) and visit.read(join(dirname(hidden.path), name)) is not None


def _is_for_another_agent(text: str, agent: str, agents: Iterable[str]) -> bool:
    """Whether a text begins with the name of another agent, and not of this one: "Codex instructions"."""
    beginning = _beginning(text)
    own = _short_name(agent)
    others = {_short_name(name) for name in agents} - {own, *_ORDINARY_WORDS}
    if own.lower() in beginning.lower():
        return False
    return any(re.search(rf"\b{re.escape(name)}\b{_NOT_THE_AGENT}", beginning) for name in others)


# Names of agents with which a sentence may begin, or which occur in formulas.
_ORDINARY_WORDS = ("Continue", "pi")
# "the Gemini API"
_NOT_THE_AGENT = r"(?!-| (?:API|SDK|models?)\b)"


def _short_name(agent: str) -> str:
    """Return an agent's name as people write it: "Codex" for "Codex CLI"."""
    return agent.partition(" ")[0]


def _beginning(text: str) -> str:
    """Return the headings with which a text begins and, if there are less than two, the paragraph after them."""
    headings, rest = [], text[:_MAX_BEGINNING].lstrip()
    while rest.startswith("#"):
        heading, _, rest = rest.partition("\n")
        headings.append(heading)
        rest = rest.lstrip()
    paragraph = re.split(r"\n[ \t]*(?:\n|#)", rest)[0] if len(headings) < 2 else ""
    return "\n".join((*headings, paragraph))


def is_covered(text: str, others: Sequence[str]) -> bool:
    """Whether most of a text is in others too, disregarding headings, line breaks, Markdown's marks and letter case."""
    if any(_words(text) in _words(other) for other in others):
        return True
    lines = set(map(_words, text.split("\n")))
    available_lines = {_words(line) for other in others for line in other.split("\n")}
    return sum(map(len, lines & available_lines)) >= _COVERED_SHARE * max(sum(map(len, lines)), 1)


def _words(text: str) -> str:
    """Return a text's words, separated and surrounded by blanks, without those in headings."""
    words = re.findall(r"\w+", re.sub(r"(?m)^[ \t]{0,3}#{1,6}[ \t].*$", "", text).lower())
    return f" {' '.join(words)} " if words else ""


def _describe_unread(visit: Visit, hidden: Candidate) -> tuple[Severity | None, str, str]:
    """Return the severity (None for the check's own), and the messages for this file and for several like it.

    The messages say which file hides it and what to do.
    """
    folder = dirname(hidden.path)
    start = _base_folder(visit.layout, hidden.target)
    can_import = any(
        _reads(lookup, basename(hidden.target)) and lookup.rules.imports for lookup in visit.layout.lookups
    )
    if start != folder and is_inside(start, folder):
        own = join(folder, basename(hidden.target))
        message = (
            f"{{agents}} working in {{folders}} do{{es}} not read this file, because {hidden.target} takes its place;"
            f" make {own} a link to it"
        )
        for_several = (
            f"{{agents}} do{{es}} not read these {{count}} files when working in {start}, because {hidden.target} takes their place: {{files}};"
            f" make {basename(hidden.target)} beside each a link to it"
        )
        return "info", message, for_several
    problem = f"{{agents}} never read{{s}} this file, because {hidden.target} takes its place"
    own = hidden.target if start == folder else join(folder, basename(hidden.target))
    if not can_import:
        return None, f"{problem}; make {own} a link to it", ""
    token = f"`@{relpath(hidden.path, dirname(own))}`"
    has_own = start == folder or visit.read(own) is not None
    advice = f"add {token} to {own}" if has_own else f"add {own} with {token}"
    for_each = f"add {token} to the {basename(own)}" if has_own else f"add a {basename(own)} with {token}"
    for_several = (
        f"{{agents}} read{{s}} none of these {{count}} {basename(hidden.path)} files, because {hidden.target} takes their place: {{files}};"
        f" {for_each} beside each, {_OR_ALIGN}"
    )
    return None, f"{problem}; {advice}, {_OR_ALIGN}", for_several if start != folder else ""


def _base_folder(layout: Layout, path: str) -> str:
    """Return the folder that a file belongs to. For `.agent/NAME.md`, that is the folder that contains `.agent`."""
    suffixes = [
        "/" + pattern.path
        for lookup in layout.lookups
        for group in lookup.groups
        for pattern in group
        if "*" not in pattern.path
    ]
    return min(
        (path.removesuffix(suffix) for suffix in suffixes if path.endswith(suffix)), key=len, default=dirname(path)
    )


class BlankFiles:
    """Reports blank files: those that take the place of others, and those that have no effect."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._blank: dict[str, dict[str, None]] = {}
        self._hiding: set[str] = set()

    def visit(self, visit: Visit) -> None:
        for candidate in visit.candidates_in_repository("blank"):
            source = visit.read(candidate.path)
            # Only comments or fields, or a file that is for personal notes: a placeholder.
            if (source and source.text.strip()) or ".local." in basename(candidate.path):
                continue
            self._blank.setdefault(candidate.path, {})[visit.agent] = None
        for path in _report_blank_overrides(visit, self.facts):
            self._hiding.add(path)

    def report(self) -> None:
        """Report the blank files that hide nothing."""
        for path, agents in self._blank.items():
            if path not in self._hiding:
                message = "this file is blank, so {agents} get{s} nothing from it; write something in it, or delete it"
                for_several = "these {count} files are blank: {files}; write something in them, or delete them"
                for agent in agents:
                    self.facts.add("blank-file", Place(path), message, agent, for_several=for_several)


def _report_blank_overrides(visit: Visit, facts: Facts) -> Iterator[str]:
    """Report blank files that take the place of others, and yield their paths."""
    for hidden in visit.candidates_in_repository("shadowed"):
        hiding = visit.candidates.get(hidden.target)
        if hiding is None or not is_inside(hiding.path, visit.root) or _is_copied(visit, hidden):
            continue
        if hiding.fate == "blank" or (hiding.fate == "used" and not visit.loaded.get(hiding.path, "x").strip()):
            message = (
                f"this file is blank, and hides {hidden.path} from {{agents}}; delete it, or write something in it"
            )
            facts.add("blank-file", Place(hiding.path), message, visit.agent)
            yield hiding.path


# Order


def report_misordered_files(visit: Visit, facts: Facts) -> None:
    """Report general files that come after more specific ones because the layout sorts files by their paths."""
    for lookup in visit.layout.lookups:
        is_walked = any(
            pattern.place == "walk" and "*" not in pattern.path for group in lookup.groups for pattern in group
        )
        if lookup.order != "path" or lookup.kind != "text" or not is_walked:
            continue
        paths = [path for path in visit.loaded if _reads(lookup, basename(path))]
        for index, path in enumerate(paths):
            folder = _scope(path, visit.root)
            nearer = [
                other
                for other in paths[:index]
                if (scope := _scope(other, visit.root)) != folder and is_inside(scope, folder)
            ]
            if nearer:
                outcome, advice = (
                    "so the general instructions come last",
                    f"say in {nearer[-1]} that it takes precedence",
                )
                problem = "{agents} sort{s} files by path and put{s}"
                message = f"{problem} this one after {nearer[-1]}, {outcome}; {advice}"
                for_several = f"{problem} these {{count}} files after {nearer[-1]}, {outcome}: {{files}}; {advice}"
                facts.add("misordered-file", Place(path), message, visit.agent, for_several=for_several)


def _scope(path: str, root: str) -> str:
    """Return the folder that a file is about: for one in a hidden folder, the folder that contains that."""
    return root + dirname(path)[len(root) :].partition("/.")[0]


# Places


def report_misplaced_files(
    table: AgentTable,
    visits: Sequence[Visit],
    facts: Facts,
    in_use: Collection[str],
    layouts: Iterable[Layout],
) -> None:
    """Report files in a hidden folder that no agent reads, if an agent `in_use` would read them in the folder around it.

    A file elsewhere is for those who open its folder, or for other projects. One of these `layouts` may read it, or a text may name it.
    """
    taken = {row.path for row in table.rows}
    endings = tuple(set(_hidden_places(layouts)))
    for row in table.rows:
        folder = dirname(row.path)
        # Nobody works in the hidden folder itself.
        if any(verdict.name != "never" and verdict.target != folder for verdict in row.verdicts):
            continue
        if row.path.endswith(endings) or not _is_lost(row.path, visits):
            continue
        if join(dirname(folder), basename(row.path)) not in taken:
            readers = [view.layout for view in table.agents if agent_name(view.layout) in in_use]
            _report_misplaced(row.path, readers, visits[0], facts)


def _report_misplaced(path: str, layouts: Iterable[Layout], visit: Visit, facts: Facts) -> None:
    """Report a file that those of these layouts which read files with its name would read in the folder around it."""
    readers = [(layout, where) for layout in layouts if (where := describe_places(layout, path))]
    # Agents that read such files in different places have only the name in common.
    places = dict.fromkeys(where for _, where in readers)
    where = next(iter(places)) if len(places) == 1 else f"{basename(path)} in other folders"
    advice = f"move it to {join(dirname(dirname(path)), basename(path))}{_advise_on_imports(path, visit)}"
    for layout, _ in readers:
        message = f"{{agents}} ignore{{s}} this file, and read{{s}} only {where}; {advice}"
        severity: Severity = "warning" if layout.program else "info"
        facts.add("misplaced-file", Place(path), message, agent_name(layout), severity=severity)


_IMPORT = lazy_pattern(r"(?<!\S)@([\w.-][\w./-]*\.\w{1,10})\b")


def _advise_on_imports(path: str, visit: Visit) -> str:
    """Return what is to do with the imports of a file that is moved, which are relative to its folder, or empty if it has none."""
    source = visit.read(path)
    for match in _IMPORT.finditer(source.text) if source else ():
        is_code = source is not None and source.is_code(match.start())
        if not is_code and visit.read(normpath(join(dirname(path), match[1]))) is not None:
            return f", and correct the paths that it imports, such as {match[0]}"
    return ""


# A folder whose files are copied or linked into somebody's home directory.
_HOME = lazy_pattern(r"/(?:home|dotfiles?|dot_\w+)/")


def _is_lost(path: str, visits: Sequence[Visit]) -> bool:
    """Whether a path is that of a file with text, in a hidden folder of the repository, that no text names which an agent loads."""
    root = visits[0].root
    is_candidate = (
        is_inside(path, root) and _is_hidden_folder(dirname(path), root) and not _HOME.search(path[len(root) :])
    )
    source = visits[0].read(path) if is_candidate else None
    if source is None or not source.text.strip():
        return False
    return not any(mentions(text, path, other) for visit in visits for other, text in visit.loaded.items())


def _hidden_places(layouts: Iterable[Layout]) -> Iterator[str]:
    """Yield the ends of the paths of single files in hidden folders of a project that these layouts read."""
    for layout in layouts:
        for pattern in (pattern for lookup in layout.lookups for group in lookup.groups for pattern in group):
            if pattern.path.startswith(".") and "*" not in pattern.path and pattern.place in ("walk", "root", "cwd"):
                yield f"/{pattern.path}"


def _is_hidden_folder(folder: str, root: str) -> bool:
    """Whether a folder is hidden, in a folder in which people work. They edit the workflows in `.github` too."""
    *above, name = folder[len(root) :].split("/")
    return name.startswith(".") and name != ".github" and not any(part.startswith(".") for part in above)
