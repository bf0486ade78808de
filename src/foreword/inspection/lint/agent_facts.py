"""What the checks about released agents share: an agent's prompt in one folder, and facts that concern several agents."""

from __future__ import annotations

import re
from posixpath import basename, dirname, relpath

from ...sources.paths import is_inside
from ...vocabulary import Finding, replace, value
from .patterns import lazy_pattern
from .table import BY_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ...layout.model import Layout
    from ...vocabulary import Candidate, Inputs, Prompt, Severity
    from .source_text import SourceText

# How many files a finding about several names.
_MAX_FILES = 8
_LAYOUT = "the layout "
_VERSION = lazy_pattern(r",.*| v?\d[\w.]*$", re.DOTALL)


def agent_name(layout: Layout) -> str:
    """Return the name of the program that a layout mirrors, without its version, or the layout's own name if it mirrors none."""
    return _VERSION.sub("", layout.mirrors) or f"{_LAYOUT}{layout.name}"


def shared_names(layouts: Iterable[Layout]) -> frozenset[str]:
    """Return the names of files by which several agents are detected. A file that indicates only one agent is written for that agent."""
    paths = [path for layout in layouts for path in dict.fromkeys(layout.detected_by)]
    return frozenset(path for path in paths if paths.count(path) > 1 and not path.endswith("/"))


class Visit:
    """What one agent reads when it works in a folder.

    `read` returns the text of a file in the repository, or None if there is none, and `resolve` the path to which that of a file leads
    through links.
    """

    def __init__(
        self,
        layout: Layout,
        inputs: Inputs,
        prompt: Prompt,
        folder: str,
        root: str,
        read: Callable[[str], SourceText | None],
        resolve: Callable[[str], str],
    ) -> None:
        self.layout, self.inputs, self.prompt = layout, inputs, prompt
        self.folder, self.root, self.read, self.resolve = folder, root, read, resolve
        self.agent = agent_name(layout)
        self.candidates: Mapping[str, Candidate] = {candidate.path: candidate for candidate in prompt.candidates}
        self._loaded: dict[str, str] | None = None
        self._sizes: dict[str, int] = {}

    @property
    def loaded(self) -> dict[str, str]:
        """The text of each file of the repository that is in the prompt, in order, with LF line endings like those that `read` returns."""
        if self._loaded is None:
            parts: dict[str, list[str]] = {}
            for passage in self.prompt.passages:
                for piece in passage.pieces:
                    if piece.origin.kind == "file" and is_inside(piece.origin.path, self.root):
                        parts.setdefault(piece.origin.path, []).append(piece.text)
            sent = {path: "".join(texts) for path, texts in parts.items()}
            self._sizes = {path: len(text.encode("utf-8", "surrogatepass")) for path, text in sent.items()}
            self._loaded = {path: text.replace("\r\n", "\n") for path, text in sent.items()}
        return self._loaded

    @property
    def sizes(self) -> dict[str, int]:
        """How many bytes of each file are in the prompt, with the line endings that the program sends."""
        return self._sizes if self.loaded else {}

    def candidates_in_repository(self, fate: str) -> Iterator[Candidate]:
        """Return the candidates in the repository with this fate."""
        return (
            candidate
            for candidate in self.prompt.candidates
            if candidate.fate == fate and is_inside(candidate.path, self.root)
        )


@value
class Place:
    """Where a fact is reported."""

    path: str
    line: int | None = None
    column: int | None = None
    end_column: int | None = None


class Facts:
    """Facts about files, each reported once with all agents and folders that it concerns.

    In a message, `{agents}` becomes the names of the agents, `{folders}` the folders, and `{s}` and `{es}` the ending of a verb. A message
    for several files may also contain `{count}` and `{files}`.
    """

    def __init__(self) -> None:
        self._facts: dict[tuple[str, Place], tuple[str, Severity | None, dict[str, None], dict[str, None]]] = {}
        # What `add` was called with, if that was new, or None where a check compared texts in order to decide.
        self.news: list[tuple[str, Place, str, str, str, Severity | None] | None] = []
        self._messages_for_several: dict[tuple[str, Place], str] = {}
        self._examples: dict[tuple[str, Place], str] = {}

    def add(
        self,
        check: str,
        place: Place,
        message: str,
        agent: str,
        folder: str = "",
        severity: Severity | None = None,
        for_several: str = "",
        example: str = "",
    ) -> None:
        """Record a fact. If it is already known, add the agent and folder to it and keep its first message.

        Facts about other files with the same message `for_several`, and the same agents, can be folded into one finding, which gets the first
        `example`.
        """
        self._examples[check, place] = example
        if for_several:
            self._messages_for_several.setdefault((check, place), for_several)
        _, _, agents, folders = self._facts.setdefault((check, place), (message, severity, {}, {}))
        if folder or agent not in agents:
            self.news.append((check, place, message, agent, folder, severity))
        agents[agent] = None
        if folder:
            folders[folder] = None

    def findings(self) -> Iterator[Finding]:
        for (check, place), (message, severity, agents, folders) in self._facts.items():
            yield Finding(
                check,
                severity or BY_ID[check].severity,
                _fill(message, agents).replace("{folders}", summarize(list(folders), "folder")),
                place.path,
                place.line,
                place.column,
                place.end_column,
            )

    def fold(self, findings: Sequence[Finding]) -> list[Finding]:
        """Return these findings, where those that say the same about several files are one, which lists the files."""
        groups: dict[object, list[Finding]] = {}
        for finding in findings:
            groups.setdefault(self._message_for_several(finding) or finding, []).append(finding)
        return _join_same_advice(
            found
            for message, group in groups.items()
            for found in _as_one(str(message).replace("{example}", self._examples.get(_key(group[0]), "")), group)
        )

    def _message_for_several(self, finding: Finding) -> str:
        key = _key(finding)
        message = self._messages_for_several.get(key, "")
        return _fill(message, self._facts[key][2]) if message else ""


def _key(finding: Finding) -> tuple[str, Place]:
    return finding.code, Place(finding.path, finding.line, finding.column, finding.end_column)


def _fill(message: str, agents: Collection[str]) -> str:
    """Return a message with the names of the agents, and with verbs that fit their number.

    A layout that mirrors no program is named only if no released agent is.
    """
    agents = [name for name in agents if not name.startswith(_LAYOUT)] or agents
    is_one = len(agents) == 1
    for field, text in (
        ("{s}", "s" if is_one else ""),
        ("{es}", "es" if is_one else ""),
        ("{agents}", join_names(sorted(agents))),
    ):
        message = message.replace(field, text)
    return message


def _join_same_advice(findings: Iterable[Finding]) -> list[Finding]:
    """Return these findings, where those about one place that advise the same, after the last semicolon, are one."""
    joined: dict[object, Finding] = {}
    for finding in findings:
        problem, _, advice = finding.message.rpartition("; ")
        # Agents search different folders for the same skills.
        place = finding.code if finding.code == "cut-menu" else (finding.path, finding.line)
        key = (place, advice) if finding.line and problem else finding
        if key in joined:
            first = joined[key]
            joined[key] = replace(first, message=f"{first.message.removesuffix(f'; {advice}')}, and {finding.message}")
        else:
            joined[key] = finding
    return list(joined.values())


def _as_one(message: str, findings: Sequence[Finding]) -> Sequence[Finding]:
    """Return one finding with this message if these are about several files, otherwise the findings themselves."""
    paths = list(dict.fromkeys(finding.path for finding in findings))
    return [replace(findings[0], message=_about_several(message, paths))] if len(paths) > 1 else findings


def _about_several(message: str, paths: Sequence[str]) -> str:
    """Return a message about several files, with their number and the first of them."""
    more = len(paths) - _MAX_FILES
    files = [*paths[:_MAX_FILES], f"{more:,} more"] if more > 1 else paths
    return message.replace("{count}", f"{len(paths):,}").replace("{files}", join_names(files))


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence: `A, B and C`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def summarize(paths: Sequence[str], kind: str) -> str:
    """Name the first file or folder and the number of others."""
    if len(paths) < 2:
        return "".join(paths)
    others = len(paths) - 1
    return f"{paths[0]} and {others:,} other {kind}{'s' if others > 1 else ''}"


def place_of(source: SourceText, text: str) -> Place:
    """Return the place where some text first occurs in a file, or the file itself if it does not occur."""
    offset = source.text.find(text) if text else -1
    if offset < 0:
        return Place(source.path)
    column = offset - source.text.rfind("\n", 0, offset)
    end = column + len(text) if "\n" not in text else None
    return Place(source.path, source.line(offset), column, end)


def mentions(text: str, path: str, written_in: str) -> bool:
    """Whether text in the file at `written_in` mentions another file: by its name if it is in the same folder, otherwise by its path.

    A sentence about all files with that name counts too.
    """
    text, name = text.lower(), basename(path).lower()
    if name not in text:
        return False
    if dirname(path) == dirname(written_in):
        return True
    if any(way.lower() in text for way in (f"{basename(dirname(path))}/{name}", relpath(path, dirname(written_in)))):
        return True
    about_all_files = re.compile(_ABOUT_ALL_FILES.format(re.escape(name)), re.IGNORECASE)
    return any(about_all_files.search(line) for line in text.split("\n") if name in line)


def names_file(text: str, path: str, written_in: str) -> bool:
    """Whether text in the file at `written_in` names another one: by its path, as `@name`, or by its name if that file's folder is named too."""
    name, folder = basename(path), dirname(path)
    if path == written_in or name not in text:
        return False
    if f"{basename(folder)}/{name}" in text or relpath(path, dirname(written_in)) in text.split():
        return True
    is_about_folder = dirname(written_in) == folder or f"{basename(dirname(folder))}/{basename(folder)}" in text
    before = r"(?<![\w./-])" if is_about_folder else "@"
    return re.search(rf"{before}{re.escape(name)}(?![\w-])", text) is not None


# "the nearest AGENTS.md", "AGENTS.md files in each package", "crates/<crate>/AGENTS.md"
_FOLDERS = "폴더|디렉[터토]리|目录|目錄|文件夹|资料夹|フォルダ|ディレクトリ|carpeta|pasta|dossier|ordner|verzeichnis"
_ABOUT_ALL_FILES = (
    r"\b(?:nested|near\w*|close\w*|each|every|any|all|local|relevant|scoped|specific|sub\w*|package\w*|project['’]?s|director\w+|folder\w*|"
    r"module\w*)[^.\n]{{0,40}}{0}|[>*}}\]]/{0}|{0}`?[^.\n]{{0,30}}\b(?:files|each|every|sub\w+|nested|director\w+|folder\w*)"
    rf"|(?:{_FOLDERS})[^\n]{{{{0,40}}}}{{0}}|{{0}}[^\n]{{{{0,40}}}}(?:{_FOLDERS})"
)
