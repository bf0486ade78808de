"""Reports texts that an agent gets twice, and imports that it does not follow from the folder in which it works."""

from __future__ import annotations

import re
from bisect import bisect_left
from posixpath import basename, dirname, join, normpath, relpath

from ...sources.paths import is_inside
from ...vocabulary import replace, value
from .agent_facts import Place, join_names, place_of
from .instructions import is_conditional
from .patterns import lazy_pattern
from .records import has_text_of_tool, is_generated, is_record
from .references import INCLUDED_SUFFIXES, find_unexpanded_includes
from .repeated import MIN_REPEATED_LENGTH, find_repetitions
from .source_text import source_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from ...vocabulary import Finding
    from .agent_facts import Facts, Visit
    from .repeated import Repetition
    from .source_text import SourceCache, SourceText

# How far above an import a sentence may be about it.
_MAX_LINES_ABOVE = 4
# An import beside a file is what Claude Code's documentation recommends, so that only a long file is worth a word.
_MIN_IMPORTED_TWICE = 4_000


def report_missing_imports(visit: Visit, facts: Facts, entries: Callable[[str], Iterable[str]]) -> None:
    """Report imports of files that do not exist. Often only the punctuation after the import is wrong.

    `entries` returns the names in a folder.
    """
    replaced: dict[str, list[_MissingImport]] = {}
    punctuated: dict[tuple[str, str], list[_MissingImport]] = {}
    for source, token, missing in _find_missing_imports(visit):
        if _ENDS_EMPHASIS.search(missing.token):
            missing = replace(missing, token=missing.token.rstrip("*"))
        path = missing.token
        punctuation, before = token[len(path) :], _text_before(source, missing)
        if "*" in path:
            _add_missing_import(
                source.path, missing, f"{token}, because an import takes no `*`; name each file", visit, facts
            )
        elif not _is_path(path):
            replaced.setdefault(source.path, []).append(missing)
        elif punctuation and visit.read(normpath(join(dirname(source.path), path[1:]))):
            if "*" in punctuation or _BEGINS_LINE.fullmatch(before):  # in a sentence, the file may only be mentioned
                punctuated.setdefault((source.path, punctuation), []).append(missing)
        elif not before.endswith(("/", "[")) and (reason := _reason_for_missing(path, visit)):
            other = _other_case(join(dirname(source.path), path[1:]), entries) if reason == _NO_FILE else ""
            because = f"{reason}; {other} does" if other else reason
            _add_missing_import(source.path, missing, f"{token}, because {because}", visit, facts)
    for source_path, found in replaced.items():
        _report_replaced_words(source_path, found, visit, facts)
    for (source_path, punctuation), found in punctuated.items():
        message = (
            f"{{agents}} do{{es}} not import {_first_and_others(found, 'import')}, because the `{punctuation}` after it is taken as part of"
            " the path; write a space before it, or put the import on its own line"
        )
        _add_import(source_path, found[0], message, visit, facts)


def _find_missing_imports(visit: Visit) -> Iterator[tuple[SourceText, str, _MissingImport]]:
    """Yield each import that finds no file: the importing file, the token, and the import without the punctuation after it."""
    for finding in visit.prompt.findings:
        source = visit.read(finding.path) if finding.code == "import-missing" else None
        token = _token(source, finding) if source else ""
        if source and token and not is_record(source, 0) and not _may_exist(token, _lines_until(source, finding)):
            yield source, token, _MissingImport(token.rstrip(_PUNCTUATION), finding.line, finding.column)


def _may_exist(token: str, text: str) -> bool:
    """Whether this is not a missing file: it is in the home directory, not checked in or optional, or the token is the label of a link."""
    return token.startswith("@~") or ".local." in token or "](" in token or is_conditional(text)


def _reason_for_missing(path: str, visit: Visit) -> str:
    """Return why an import finds no file, or empty if the agent gets the file that was meant anyway."""
    from_root = normpath(join(visit.root, path[1:]))
    if from_root in visit.loaded:
        return ""
    return _OTHER_FOLDER if visit.read(from_root) else _NO_FILE


def _other_case(path: str, entries: Callable[[str], Iterable[str]]) -> str:
    """Return the name in the folder of a path that differs from that of the path only in letter case, or empty if there is none."""
    folder, name = dirname(normpath(path)), basename(path)
    return next((other for other in entries(folder) if other.lower() == name.lower() and other != name), "")


def _is_path(token: str) -> bool:
    """Whether a token was probably meant as an import: a path with an extension. `@example.com` is a domain."""
    return token.endswith(INCLUDED_SUFFIXES) or ("/" in token and _EXTENSION.search(token) is not None)


_NO_FILE = "the file does not exist"
_OTHER_FOLDER = "its path is relative to this file's folder"


@value
class _MissingImport:
    """An import of a file that does not exist, and where it is."""

    token: str
    line: int | None
    column: int | None


# Only the marks of a list, a quote or emphasis, or a verb such as `see`.
_BEGINS_LINE = lazy_pattern(r"[\s>*+_\d.()-]*(?:(?:see|read|follow|import|include)\s+)?", re.IGNORECASE)


def _text_before(source: SourceText, missing: _MissingImport) -> str:
    """Return the part of the line before an import. If it ends with `/`, this is the path of a package: node_modules/@scope/name/README.md."""
    return source.text.split("\n")[(missing.line or 1) - 1][: (missing.column or 1) - 1]


def _lines_until(source: SourceText, finding: Finding) -> str:
    """Return the line of a finding with the few lines above it, which may say when the import applies."""
    number = finding.line or 1
    return " ".join(source.text.split("\n")[max(number - 1 - _MAX_LINES_ABOVE, 0) : number])


def _add_missing_import(path: str, missing: _MissingImport, what: str, visit: Visit, facts: Facts) -> None:
    """Report one import. Files whose paths are all relative to another folder have the same mistake."""
    for_several = (
        "{agents} do{es} not import what these {count} files name, because each path is relative to its file's folder: {files}; correct the paths"
        if what.endswith(_OTHER_FOLDER)
        else ""
    )
    _add_import(path, missing, f"{{agents}} do{{es}} not import {what}", visit, facts, for_several)


def _add_import(
    path: str,
    missing: _MissingImport,
    message: str,
    visit: Visit,
    facts: Facts,
    for_several: str = "",
    example: str = "",
) -> None:
    end = missing.column + len(missing.token) if missing.column else None
    place = Place(visit.resolve(path), missing.line, missing.column, end)
    facts.add("unfollowed-import", place, message, visit.agent, for_several=for_several, example=example)


def _first_and_others(found: Sequence[_MissingImport], noun: str) -> str:
    """Name the first of these imports in one file, and the number of others."""
    first, *others = dict.fromkeys(missing.token for missing in found)
    if len(others) < 2:
        return " and ".join((first, *others))
    return f"{first} and {len(others):,} other {noun}s of this file"


def _report_replaced_words(path: str, found: Sequence[_MissingImport], visit: Visit, facts: Facts) -> None:
    """Report words of one file such as `@scope/name`, which the agent takes for imports and replaces by a comment, at the first one.

    In a generated file, backticks would be overwritten, and in a sample, they would become a part of it.
    """
    source = visit.read(path)
    if source is None or is_generated(source):
        return
    found = [missing for missing in found if not _is_in_sample(source, missing)]
    if not found:
        return
    words = _first_and_others(found, "word")
    noun, pronoun = ("an import", "it") if words == found[0].token else ("imports", "them")
    message = f"{{agents}} take{{s}} {words} for {noun}, and replace{{s}} {pronoun} by a comment that the import failed; write {pronoun} in backticks"
    for_several = (
        "{agents} take{s} words of these {count} files, such as {example}, for imports, and replace{s} them by a comment that the import failed:"
        " {files}; write them in backticks"
    )
    _add_import(path, found[0], message, visit, facts, for_several, found[0].token)


_PUNCTUATION = ".,;:!?)]}\"'"
_EXTENSION = lazy_pattern(r"\.\w{1,10}$")
# `*See @docs/style.md*`
_ENDS_EMPHASIS = lazy_pattern(r"^[^*]+\.\w{1,10}\*+$")
_IN_CODE = lazy_pattern(
    r"^[ \t>]*(?:[-*+][ \t]+)?`{0,2}(@(?:\./)?[\w./+-]{1,200}\.(?:md|mdc|txt))`{0,2}[ \t]*$", re.MULTILINE
)


def report_imports_in_code(visit: Visit, facts: Facts) -> None:
    """Report imports that are alone on their line, but in a code span or a fence, where the agent does not follow them."""
    names = _names_with_imports(visit)
    for path in visit.loaded:
        source = visit.read(path) if basename(path) in names else None
        for match in _IN_CODE.finditer(source.text) if source and "@" in source.text else ():
            target = normpath(join(dirname(path), match[1][1:]))
            if source and source.is_code(match.start(1)) and target not in visit.loaded and visit.read(target):
                message = f"{{agents}} do{{es}} not import {match[1]}, because it is in code; remove the backticks if it is an import"
                facts.add("unfollowed-import", place_of(source, match[1]), message, visit.agent, severity="info")


# "Lines that start with `@` name files: read them."
_EXPLAINS = lazy_pattern(
    r"(?:[`'\"]@[`'\"]|@[- ](?:lines?|paths?|mentions?|references?|imports?|files?)\b)[^\n]{0,300}\b(?:read|open|load|refer|follow)",
    re.IGNORECASE,
)


def report_unexpanded_includes(visit: Visit, facts: Facts, is_for: Callable[[str, str], bool]) -> None:
    """Report lines that include a file in files whose imports the agent does not follow, if `is_for` says that they are for this agent."""
    names = _names_with_imports(visit)
    for path in visit.loaded:
        source = visit.read(path) if basename(path) not in names and is_for(visit.agent, path) else None
        if source is None or "@" not in source.text or _EXPLAINS.search(source.text):
            continue

        def exists(path: str, target: str) -> bool:
            return visit.read(normpath(join(dirname(path), target))) is not None

        for reference, is_file in find_unexpanded_includes(source, exists, True, visit.loaded):
            if is_file:
                message = f"{{agents}} do{{es}} not expand {reference.target}: the model sees the line, not the file; say when to read it"
                for_several = (
                    f"{{agents}} do{{es}} not expand {reference.target} in these {{count}} files, so the model sees the line, not the file:"
                    " {files}; say when to read it"
                )
                place = Place(path, source.line(reference.offset))
                facts.add("unsupported-include", place, message, visit.agent, for_several=for_several)


def _names_with_imports(visit: Visit) -> set[str]:
    """Return the names of the files in which the agent follows imports."""
    return {
        basename(pattern.path)
        for lookup in visit.layout.lookups
        if lookup.rules.imports
        for group in lookup.groups
        for pattern in group
    }


def find_unfollowed_imports(visit: Visit) -> Iterator[tuple[Finding, SourceText, str, str]]:
    """Yield the findings about such imports, each with the importing file, the token and the path of the imported file."""
    for finding in visit.prompt.findings:
        source = visit.read(finding.path) if finding.code == "import-outside" else None
        token = _token(source, finding) if source else ""
        target = normpath(join(dirname(finding.path), token[1:].partition("#")[0].replace("\\ ", " ")))
        is_below = is_inside(target, visit.folder) or target in visit.loaded
        if source and token and not is_below and is_inside(target, visit.root) and visit.read(target):
            yield finding, source, token, target


def _token(source: SourceText, finding: Finding) -> str:
    """Return the text that a finding points at."""
    lines = source.text.split("\n")
    if finding.line is None or finding.column is None or finding.end_column is None or finding.line > len(lines):
        return ""
    return lines[finding.line - 1][finding.column - 1 : finding.end_column - 1]


# <code-snippet name="Theme" lang="css">
_SAMPLE_TAG = lazy_pattern(r"<(/?)(?:code|pre|example|sample|snippet)\b[^<>\n]{0,200}>", re.IGNORECASE)


def _is_in_sample(source: SourceText, missing: _MissingImport) -> bool:
    """Whether an import is between the tags of a sample."""
    tags = source.cached("sample tags", _find_sample_tags)
    index = bisect_left(tags, (missing.line or 1, missing.column or 1, False)) - 1
    return index >= 0 and tags[index][2]


def _find_sample_tags(source: SourceText) -> list[tuple[int, int, bool]]:
    """Return the line and column of each tag of a sample, and whether it opens one."""
    return [
        (source.line(match.start()), len(source.before(match.start())) + 1, not match[1])
        for match in _SAMPLE_TAG.finditer(source.text)
        if not source.is_code(match.start())
    ]


class RepeatedTexts:
    """Reports texts that an agent gets twice. Files that several agents read are compared only once."""

    def __init__(self, facts: Facts, shared: Collection[str], resolve: Callable[[str], str]) -> None:
        """`shared` are the names of files that several agents read. `resolve` returns the path to which a path leads through links."""
        self.facts, self.shared, self.resolve = facts, shared, resolve
        # The agents for which the repository has a file that no other agent reads. Nobody may use the others here.
        self.in_use: set[str] = set()
        self._sources: SourceCache = {}
        self._repetitions_by_sources: dict[tuple[int, ...], Sequence[Repetition]] = {}

    def visit(self, visit: Visit) -> None:
        if len(visit.loaded) > 1:
            for repetition in self._repetitions(visit):
                if self._concerns(visit, [repetition.path, repetition.other]):
                    self._report(repetition, visit)
        self._report_files_loaded_twice(visit)

    def _concerns(self, visit: Visit, paths: Iterable[str]) -> bool:
        """Whether an agent that gets the text of these files twice is used here, or the files are for every agent."""
        return visit.agent in self.in_use or all(basename(path) in self.shared for path in paths)

    def _repetitions(self, visit: Visit) -> Sequence[Repetition]:
        """Return the paragraphs that are in two files for the same agents. What a program writes into a file is left out."""
        sources = [
            source
            for source in source_texts(visit.prompt, self._sources)
            if source.is_file
            and is_inside(source.path, visit.root)
            # An agent may leave out comments.
            and not has_text_of_tool(visit.read(source.path) or source)
        ]
        key = tuple(map(id, sources))
        if key not in self._repetitions_by_sources:
            self._repetitions_by_sources[key] = [
                repetition
                for repetition in find_repetitions(sources)
                if len(repetition.text) >= MIN_REPEATED_LENGTH and self._have_same_readers(repetition, visit.root)
            ]
        return self._repetitions_by_sources[key]

    def _have_same_readers(self, repetition: Repetition, root: str) -> bool:
        """Whether two files are for the same agents: of others, such as AGENTS.md and CLAUDE.md, some agent may read only one.

        A link is one file.
        """
        path, other = repetition.path, repetition.other
        is_one_folder_of_rules = dirname(path) == dirname(other) and "/." in dirname(path)[len(root) :]
        has_one_name = basename(path) == basename(other)
        return has_one_name or is_one_folder_of_rules or self.resolve(path) == self.resolve(other)

    def _report(self, repetition: Repetition, visit: Visit) -> None:
        """Report a repetition at the nearer file, so that agents with a different order share the finding."""
        here, there = (repetition.path, repetition.line), (repetition.other, repetition.other_line)
        if (here[0].count("/"), here[0]) < (there[0].count("/"), there[0]):
            here, there = there, here
        if self.resolve(here[0]) == self.resolve(there[0]):
            self._report_link(here[0], there[0], visit)
            return
        subject = "this paragraph" if repetition.count == 1 else f"{repetition.count} paragraphs from here on"
        folder = "the root" if dirname(there[0]) == visit.root else dirname(there[0])
        message = (
            f"{{agents}} get{{s}} {subject} twice: the same text is in {there[0]}:{there[1]}; keep it in one of the two"
        )
        for_several = (
            f"{{agents}} get{{s}} most of these {{count}} files twice, because their text is also in {folder}: {{files}}; keep it in one place"
            if dirname(here[0]) != dirname(there[0])
            else ""
        )
        self.facts.add("sent-twice", Place(*here), message, visit.agent, for_several=for_several)

    def _report_link(self, path: str, other: str, visit: Visit) -> None:
        """Report a link to a file that the agent reads anyway."""
        if self.resolve(path).endswith(path[len(visit.root) :]):
            path, other = other, path
        message = (
            f"{{agents}} get{{s}} this file twice, because it is a link, and read{{s}} {other} anyway;"
            " delete the link if no other agent needs it"
        )
        for_several = (
            f"{{agents}} get{{s}} these {{count}} files twice, because they are links, and read{{s}} those in {dirname(other)} anyway: {{files}};"
            " delete the links if no other agent needs them"
        )
        self.facts.add("sent-twice", Place(path), message, visit.agent, for_several=for_several)

    def _report_files_loaded_twice(self, visit: Visit) -> None:
        """Report files that are both loaded and imported."""
        seen: set[tuple[str, str]] = set()
        twice: dict[str, None] = {}
        for passage in visit.prompt.passages:
            for piece in passage.pieces:
                path, text = piece.origin.path, piece.text.strip()
                if piece.origin.kind != "file" or len(text) < _MIN_IMPORTED_TWICE or path not in visit.loaded:
                    continue
                is_found = path in visit.candidates and visit.candidates[path].layer != "import"
                if (path, text) in seen and is_found:
                    twice[path] = None
                seen.add((path, text))
        for importing in visit.loaded if twice else ():
            if source := visit.read(importing):
                self._report_imports(source, [path for path in twice if path != importing], visit)

    def _report_imports(self, source: SourceText, paths: Sequence[str], visit: Visit) -> None:
        """Report the imports of one file whose files are loaded anyway, at the first of them.

        Another agent may need the import: in its own file, or of a file that it does not load itself.
        """
        is_own = basename(source.path) in map(basename, visit.layout.detected_by)
        found = [(path, match) for path in paths if (match := _find_import(path, source))]
        if not found or not is_own or visit.agent not in self.in_use:
            return
        if any(basename(path) in self.shared for path, _ in found):
            return
        path, match = found[0]
        is_mention = _is_in_sentence(source, match)
        advice = (
            f"write `{basename(path)}` instead of {match[0]}, so that it is only mentioned"
            if is_mention
            else "remove the import"
        )
        names, pronoun = join_names([other for other, _ in found]), "it is" if len(found) == 1 else "they are"
        message = f"{{agents}} get{{s}} {names} twice: {pronoun} loaded anyway, and imported here; {advice}"
        self.facts.add("sent-twice", place_of(source, match[0]), message, visit.agent)


def _find_import(path: str, source: SourceText) -> re.Match[str] | None:
    """Return where a file imports another, or None if it does not."""
    name = relpath(path, dirname(source.path))
    return re.search(rf"(?<!\S)@(?:\./)?{re.escape(name)}(?!\S)", source.text)


def _is_in_sentence(source: SourceText, match: re.Match[str]) -> bool:
    """Whether an import has other words on its line: "Read @AGENTS.md first"."""
    line = source.line_around(match.start())
    return re.search(r"\w", line.replace(match[0], "", 1)) is not None
