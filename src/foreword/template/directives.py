"""Directives in instruction files: comments that include other files or test facts about the agent, and four named values.

    text       = { directive | value | code | other }
    directive  = "<!--" blanks body blanks "-->"              on one line, without NUL
    body       = "include:" blanks target
               | "if:" blanks condition                       see conditions.py
               | "else"
               | "endif"
    value      = "{{" blanks name blanks "}}"                 not inside {{{ … }}}
    name       = "cwd" | "model" | "provider" | "date"
    code       = a fence or a code span                       see markdown.py

    block      = if text [ else text ] endif                  within one file

All other comments and all other `{{` are text. An unmatched or malformed directive is left as text and reported. If the
condition of an `if` cannot be parsed, its `else` and `endif` are left as text too, along with everything between them. A comment
that looks like a directive (`<!-- IF: … -->`, `<!-- else if: … -->`, `<!-- if provider == "x" -->`) or has an unknown name
(`<!-- word: … -->`) is also left as text and reported.

A directive inside a line is replaced without changing the rest of the line. If a line with a directive or value would be left
with only white space, it is removed with its newline; if it came after an empty line or at the beginning, the empty lines after
it are removed too. So a directive on its own line, a branch that is not taken or an empty value leaves no gap. Included text
replaces its comment, without its final newline, and a fence or comment that it leaves open is closed. A file is included
only once. If it cannot be included (missing, cycle, too deep), its comment is removed.
"""

from __future__ import annotations

import re

from ..errors import describe_unknown_platform
from ..findings import finding
from ..text.markdown import Spans, find_unclosed, prose
from ..text.pieces import may_be_unclosed
from ..vocabulary import Document, Origin, Piece, digest, replace, value
from . import TEMPLATE_LIMIT, conditions
from .conditions import Comparison, DirectiveCondition
from .diagnostics import Diagnostic, to_findings
from .limits import OutputLimit, utf8_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from ..vocabulary import Finding

    Load: TypeAlias = Callable[[str, str], Document | Finding]
    Run: TypeAlias = tuple[int, int] | Piece  # a range of the file's own text, or a piece from elsewhere

MAX_DEPTH = 5
"""How deeply includes may nest."""


def includes(text: str) -> tuple[str, ...]:
    """Return the include targets in a file, in any branch, without duplicates. They must be read before rendering."""
    return tuple(dict.fromkeys(mark.argument for mark in _scan(text, []) if mark.word == "include"))


def fingerprint(document: Document, load: Load, cache: dict[tuple[str, int], str]) -> str:
    """Return a string that is equal for documents with equal content, wherever they are.

    It is the document's text or, if it has includes, a hash of all text that could be included, whatever the conditions.
    `cache` contains earlier results for this `load`.
    """
    has_includes = (document.path, MAX_DEPTH) in cache or includes(document.text)
    return _fingerprint(document, load, MAX_DEPTH, cache) if has_includes else document.text


def _fingerprint(document: Document, load: Load, depth: int, cache: dict[tuple[str, int], str]) -> str:
    key = (document.path, depth)
    if key not in cache:
        cache[key] = own_hash = digest(document.text)
        documents = [load(document.path, target) for target in includes(document.text)] if depth else []
        if documents:
            parts = [
                _fingerprint(included, load, depth - 1, cache) if isinstance(included, Document) else ""
                for included in documents
            ]
            cache[key] = digest("\n".join((own_hash, *parts)))
    return cache[key]


def render(
    document: Document, facts: Mapping[str, str], load: Load, limit: int = TEMPLATE_LIMIT
) -> tuple[tuple[Piece, ...], tuple[Finding, ...]]:
    """Render a document. Returns the pieces and the findings. Raises a TemplateError if the output is longer than `limit` bytes.

    `facts` are cwd, model, provider, platform and date; a missing fact is empty. `load(path, target)` returns the document
    that `target` refers to in the file `path`, or a finding that explains why it cannot be included.
    """
    rendering = _Rendering(facts, load, OutputLimit(document.path, limit))
    pieces = rendering.render_document(document, (document.path,))
    return tuple(pieces), tuple(rendering.findings)


# Text to marks


@value
class Mark:
    """A directive or value in a file. `word` is include, if, else, endif or value.

    `condition` is None for an `if` that could not be parsed.
    """

    word: str
    start: int
    end: int
    argument: str = ""
    condition: DirectiveCondition | None = None


# Patterns are compiled on first use: most files have no directives.
_TOKEN = (
    r"\\[\\`]"
    r"|`(`*)"
    r"|<!--([^\n\0<-]*(?:(?!<!--|-->)[<-][^\n\0<-]*)*)-->"
    r"|\{\{(?<!\{\{\{)[ \t]*(cwd|model|provider|date)[ \t]*\}\}(?!\})"
)
_DIRECTIVE_WITH_ARGUMENT = r"(include|if):[ \t]*(.*)"
_MALFORMED_DIRECTIVE = r"(?i)(?:include|(?:else[ \t]*)?if|elif|else|end[ \t]*if)[ \t]*(?::.*)?"
_IF_WITHOUT_COLON = r"(?i)if[ \t]+(.*)"
# Comments that begin with `foreword:` are for `foreword lint`.
_UNKNOWN_DIRECTIVE = r"(?!foreword:)[a-z][a-z0-9_-]*:(?:[ \t].*)?"
_MARK = Origin("mark")
_EMPTY_LINES = r"(?:[ \t\n]*\n)?"


def _scan(text: str, diagnostics: list[Diagnostic]) -> Iterator[Mark]:
    """Yield the marks outside code, in order. Comments that only look like directives are added to `diagnostics`."""
    if "<!--" not in text and "{{" not in text:
        return
    spans = Spans(text)
    search = re.compile(_TOKEN).search
    for start, limit in prose(text):
        position = start
        while match := search(text, position, limit):
            position = match.end()
            ticks, comment, name = match.groups()
            if ticks is not None:
                position = spans.end(match.start(), len(match[0]), limit) or position
            elif name:
                yield Mark("value", match.start(), position, name)
            elif comment is not None:
                mark = _parse_comment(match, diagnostics)
                if mark:
                    yield mark
                else:
                    position = match.start(2)  # an ordinary comment's content is text


def _parse_comment(match: re.Match[str], diagnostics: list[Diagnostic]) -> Mark | None:
    """Return the directive in a comment, or None if it is an ordinary comment."""
    start, end = match.span()
    body = match[2].strip(" \t")
    if body in ("else", "endif"):
        return Mark(body, start, end)
    directive_match = re.fullmatch(_DIRECTIVE_WITH_ARGUMENT, body)
    if directive_match and directive_match[1] == "if":
        return _read_condition(match, directive_match[2], diagnostics)
    if directive_match and directive_match[2]:
        return Mark("include", start, end, directive_match[2])
    diagnostic = _diagnose(body)
    if diagnostic:
        code, problem = diagnostic
        diagnostics.append(Diagnostic(code, f"{problem} and is left as text", start, end))
    return None


def _read_condition(match: re.Match[str], text: str, diagnostics: list[Diagnostic]) -> Mark:
    condition = conditions.parse(text)
    if isinstance(condition, DirectiveCondition):
        compared = (step for step in condition.steps if isinstance(step, Comparison) and step.fact == "platform")
        for problem in filter(None, (describe_unknown_platform(step.string) for step in compared)):
            diagnostics.append(
                Diagnostic(
                    "directive-platform", f"compares the platform with an unknown name: {problem}", *match.span()
                )
            )
        return Mark("if", *match.span(), text, condition)
    begin = match.string.index(text, match.string.index(":", match.start()) + 1)
    problem = f"{condition.problem}; the if is left as text, with its else and endif"
    diagnostics.append(Diagnostic("directive-malformed", problem, begin + condition.start, begin + condition.end))
    return Mark("if", *match.span(), text)


def _diagnose(body: str) -> tuple[str, str] | None:
    """Return the finding code and the message for a comment that only looks like a directive, or None if it does not."""
    if re.fullmatch(_MALFORMED_DIRECTIVE, body):
        return "directive-malformed", "looks like a directive but is not one,"
    condition_match = re.fullmatch(_IF_WITHOUT_COLON, body)
    if condition_match and isinstance(conditions.parse(condition_match[1]), DirectiveCondition):
        return "directive-malformed", "would be a directive with a colon after 'if',"
    if re.fullmatch(_UNKNOWN_DIRECTIVE, body):
        return "directive-unknown", "is not one of the directives (include:, if:, else, endif)"
    return None


def _effective_marks(marks: list[Mark], diagnostics: list[Diagnostic]) -> list[Mark]:
    """Return the marks that are not left as text: values, includes, and directives of complete blocks with a valid condition."""
    blocks = _find_blocks(marks, diagnostics)
    effective = {index for block in blocks if marks[block[0]].condition is not None for index in block}
    return [mark for index, mark in enumerate(marks) if mark.word in ("include", "value") or index in effective]


def _find_blocks(marks: list[Mark], diagnostics: list[Diagnostic]) -> list[list[int]]:
    """Return the complete blocks, each as the indexes of its if, else and endif."""
    blocks: list[list[int]] = []
    open_blocks: list[list[int]] = []
    for index, mark in enumerate(marks):
        if mark.word == "if":
            open_blocks.append([index])
        elif mark.word == "endif" and open_blocks:
            blocks.append([*open_blocks.pop(), index])
        elif mark.word == "else" and open_blocks and len(open_blocks[-1]) == 1:
            open_blocks[-1].append(index)
        elif mark.word in ("else", "endif"):
            problem = "is the second else of its if" if open_blocks else "has no if"
            diagnostics.append(_unmatched_diagnostic(mark, problem))
    diagnostics.extend(_unmatched_diagnostic(marks[index], "has no endif") for block in open_blocks for index in block)
    return blocks


def _unmatched_diagnostic(mark: Mark, problem: str) -> Diagnostic:
    return Diagnostic("directive-unmatched", f"{problem} and is left as text", mark.start, mark.end)


# Marks to pieces


class _Rendering:
    """The state of one call to render: facts, findings, and the files included so far."""

    def __init__(self, facts: Mapping[str, str], load: Load, output_limit: OutputLimit) -> None:
        self.facts = facts
        self.output_limit = output_limit
        self.load = load
        self.findings: list[Finding] = []
        self.included: set[str] = set()

    def render_document(self, document: Document, chain: tuple[str, ...]) -> list[Piece]:
        """Render a document. `chain` lists the paths of the files that include it, ending with its own."""
        self.included.add(document.path)
        self.output_limit.count(utf8_size(document.text))
        renderer = _DocumentRenderer(document, chain, self)
        runs = renderer.runs()
        self.findings.extend(to_findings(renderer.diagnostics, document.text, document.path, document.line))
        return list(_pieces(document, runs))

    def include(self, path: str, target: str, chain: tuple[str, ...]) -> Document | tuple[str, str] | None:
        """Return the document to include, or a finding's code and problem, or None if `load` returned a finding."""
        if len(chain) > MAX_DEPTH:
            return "directive-depth", f"is nested more than {MAX_DEPTH} files deep: {' -> '.join((*chain, target))}"
        document = self.load(path, target)
        if not isinstance(document, Document):
            self.findings.append(document)
            return None
        if document.path in chain:
            return "directive-cycle", f"includes a file that includes it: {' -> '.join((*chain, document.path))}"
        if document.path in self.included:
            return "file-duplicate", f"is not included again: {document.path} is already included"
        return document

    def close_block(self, text: str, before: str, path: str) -> list[Piece]:
        """Return a piece that closes a fence or comment left open by included text. `before` is the line up to the include."""
        closing, was_open = find_unclosed(before + text)
        if not closing or find_unclosed(before)[0]:
            return []
        self.findings.append(finding("file-fence", f"{path} ends inside {was_open}; it was closed", path))
        return [Piece(closing, _MARK)]


class _DocumentRenderer:
    """Renders one document. Its state: whether the current branch is active, the enclosing branches, and the output so far."""

    def __init__(self, document: Document, chain: tuple[str, ...], rendering: _Rendering) -> None:
        self.document = document
        self.chain = chain
        self.rendering = rendering
        self.diagnostics: list[Diagnostic] = []
        self.is_active = True
        self.open_ifs: list[
            tuple[bool, bool]
        ] = []  # for each open if: whether the branch around it is active, and whether its condition is true
        self.output: list[Run] = []
        self.trailing_newlines = 2  # of the output; two are an empty line, and the beginning counts as an empty line
        self.is_after_gap = False

    def runs(self) -> list[Run]:
        text = self.document.text
        position = 0
        for begin, end, marks in _lines_with_marks(
            text, _effective_marks(list(_scan(text, self.diagnostics)), self.diagnostics)
        ):
            if self.is_active:
                self.write((position, begin))
            self.write_line(begin, end, marks)
            position = end
        self.write((position, len(text)))
        return self.output

    def write_line(self, begin: int, end: int, marks: list[Mark]) -> None:
        """Write a line with these marks, or nothing if only white space would be left."""
        runs: list[Run] = []
        position = begin
        for mark in marks:
            if self.is_active:
                runs.append((position, mark.start))
                runs.extend(self.insert(mark, runs))
            self.update_branch(mark)
            position = mark.end
        if self.is_active:
            runs.append((position, end))
        if any(self.text(run).strip() for run in runs):
            for run in self.separate_fences(runs):
                self.write(run)
        else:
            self.is_after_gap = True

    def separate_fences(self, runs: list[Run]) -> Iterator[Run]:
        """Yield a line's runs, with a newline inserted between a closing fence and text after it."""
        follows_fence = False
        for run in runs:
            visible = self.text(run).strip(" \t")
            if follows_fence and visible and visible[0] != "\n":
                yield Piece("\n", _MARK)
            if visible:
                follows_fence = isinstance(run, Piece) and run.origin == _MARK and visible[-1] in "`~"
            yield run

    def update_branch(self, mark: Mark) -> None:
        """Enter or leave a branch."""
        if mark.word == "if" and mark.condition:
            is_true = conditions.is_true(mark.condition, self.rendering.facts)
            self.open_ifs.append((self.is_active, is_true))
            self.is_active = self.is_active and is_true
        elif mark.word == "else":
            parent_is_active, was_true = self.open_ifs[-1]
            self.is_active = parent_is_active and not was_true
        elif mark.word == "endif":
            self.is_active = self.open_ifs.pop()[0]

    def insert(self, mark: Mark, before: list[Run]) -> list[Piece]:
        """Return the pieces that replace a mark. `before` contains the runs that precede it on its line."""
        if mark.word == "value":
            fact = self.rendering.facts.get(mark.argument, "")
            self.rendering.output_limit.count(utf8_size(fact))
            return [Piece(fact, Origin("variable", mark.argument))] if fact else []
        if mark.word != "include":
            return []
        included = self.rendering.include(self.document.path, mark.argument, self.chain)
        if isinstance(included, tuple):
            self.diagnostics.append(Diagnostic(*included, mark.start, mark.end))
        return self.included_pieces(included, before) if isinstance(included, Document) else []

    def included_pieces(self, document: Document, before: list[Run]) -> list[Piece]:
        """Return the pieces of an included file, with any open fence or comment closed."""
        pieces = _without_final_newline(self.rendering.render_document(document, (*self.chain, document.path)))
        text = "".join([piece.text for piece in pieces])
        if not may_be_unclosed(text):
            return pieces
        line = "".join([self.text(run) for run in before]).rpartition("\n")[2]
        return [*pieces, *self.rendering.close_block(text, line, document.path)]

    def write(self, run: Run) -> None:
        """Write a run. If lines were removed after an empty line, drop its leading empty lines."""
        if self.is_after_gap and self.trailing_newlines > 1 and not isinstance(run, Piece):
            run = _skip_empty_lines(self.document.text, run)
        text = self.text(run)
        if text:
            stripped = text.rstrip()
            self.trailing_newlines = text.count("\n", len(stripped)) + (0 if stripped else self.trailing_newlines)
            self.is_after_gap = False
            self.output.append(run)

    def text(self, run: Run) -> str:
        return run.text if isinstance(run, Piece) else self.document.text[run[0] : run[1]]


def _skip_empty_lines(text: str, run: tuple[int, int]) -> tuple[int, int]:
    match = re.compile(_EMPTY_LINES).match(text, *run)
    return (match.end(), run[1]) if match else run


def _lines_with_marks(text: str, marks: list[Mark]) -> Iterator[tuple[int, int, list[Mark]]]:
    """Yield the start, end and marks of each line that has marks."""
    line_marks: list[Mark] = []
    end = 0
    for mark in marks:
        if line_marks and mark.start >= end:
            yield text.rfind("\n", 0, line_marks[0].start) + 1, end, line_marks
            line_marks = []
        if not line_marks:
            end = (text.find("\n", mark.end) + 1) or len(text)
        line_marks.append(mark)
    if line_marks:
        yield text.rfind("\n", 0, line_marks[0].start) + 1, end, line_marks


def _pieces(document: Document, runs: Iterable[Run]) -> Iterator[Piece]:
    """Yield the runs as pieces, with adjacent ranges of the file joined."""
    text, line, position = document.text, document.line, 0
    for run in _join_ranges(runs):
        if isinstance(run, Piece):
            yield run
            continue
        start, end = run
        first = line + text.count("\n", position, start)
        line, position = first + text.count("\n", start, end), end
        last = line - text.endswith("\n", start, end)
        yield Piece(text[start:end], Origin("file", document.path, (first, last)))


def _join_ranges(runs: Iterable[Run]) -> Iterator[Run]:
    pending = (0, 0)
    for run in runs:
        if isinstance(run, Piece):
            if pending[0] < pending[1]:
                yield pending
            pending = (0, 0)
            yield run
        elif run[0] < run[1]:
            if pending[1] == run[0]:
                run = (pending[0], run[1])
            elif pending[0] < pending[1]:
                yield pending
            pending = run
    if pending[0] < pending[1]:
        yield pending


def _without_final_newline(pieces: list[Piece]) -> list[Piece]:
    if not pieces or pieces[-1].origin.kind != "file" or not pieces[-1].text.endswith("\n"):
        return pieces
    *before, last = pieces
    if last.text == "\n":
        return before
    text = last.text[:-1]
    first, final = last.origin.lines or (1, 1)
    return [*before, Piece(text, replace(last.origin, lines=(first, final - text.endswith("\n"))))]
