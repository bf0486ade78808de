"""Directives in an instruction file: comments that include other files or depend on the agent, and four named values.

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

Every other comment and every other `{{` is text. So is a directive that has no partner or is badly written, and that
is a finding. An `if` whose condition cannot be read still has its `else` and `endif`: they are text with it, and what
stands between is kept. A comment that resembles a directive (`<!-- IF: … -->`, `<!-- else if: … -->`, `<!-- if
provider == "x" -->`) and one that names an unknown one (`<!-- word: … -->`) are text and a finding too.

Where a directive stands in a line, only the comment gives way. A line that holds a directive or value, and of which
nothing but white space is left, vanishes with its newline; and where an empty line or the beginning stands before it,
so do the empty lines that follow. So neither a directive on a line of its own nor a branch that is not taken nor a
value that is empty leaves a trace. Included text stands in the place of its comment, without its final newline, and
what it leaves open is closed. A file is included once; where it cannot be (missing, cycle, too deep), nothing stands
in its place.
"""

from __future__ import annotations

import re

from ..findings import finding
from ..text.markdown import Spans, left_open, prose
from ..text.pieces import may_stay_open
from ..vocabulary import Document, Origin, Piece, digest, replace, value
from . import conditions
from .conditions import Condition
from .doubts import Doubt, tell
from .limits import TEMPLATE_LIMIT, OutputLimit, utf8_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from ..vocabulary import Finding

    Load: TypeAlias = Callable[[str, str], Document | Finding]
    Run: TypeAlias = tuple[int, int] | Piece  # a stretch of the file's own text, or a piece from elsewhere

DEPTH = 5
"""How many files deep an include may lead."""


def includes(text: str) -> tuple[str, ...]:
    """The targets a text includes, under whatever condition, each once: what must be read before it can be rendered."""
    return tuple(dict.fromkeys(mark.argument for mark in _scan(text, []) if mark.word == "include"))


def entering(document: Document, load: Load, known: dict[tuple[str, int], str]) -> str:
    """What enters with a document, whatever its conditions: the text itself, or for one with includes a hash of it and of theirs.

    It is equal for two documents that say the same, wherever they lie. `known` keeps what was found out by means of this `load`.
    """
    has_includes = (document.path, DEPTH) in known or includes(document.text)
    return _fingerprint(document, load, DEPTH, known) if has_includes else document.text


def _fingerprint(document: Document, load: Load, depth: int, known: dict[tuple[str, int], str]) -> str:
    key = (document.path, depth)
    if key not in known:
        known[key] = own = document.hash or digest(document.text)
        found = [load(document.path, target) for target in includes(document.text)] if depth else []
        if found:
            parts = [_fingerprint(each, load, depth - 1, known) if isinstance(each, Document) else "" for each in found]
            known[key] = digest("\n".join((own, *parts)))
    return known[key]


def render(
    document: Document, facts: Mapping[str, str], load: Load, limit: int = TEMPLATE_LIMIT
) -> tuple[tuple[Piece, ...], tuple[Finding, ...]]:
    """The document with its directives carried out, and what was found wrong. A TemplateError if it has more than `limit` bytes.

    `facts` are cwd, model, provider, platform and date; one that is missing is empty. `load(path, target)` gives the
    document that the file `path` means by `target`, or the finding why it may not have it.
    """
    rendering = _Rendering(facts, load, OutputLimit(document.path, limit))
    pieces = rendering.follow(document, (document.path,))
    return tuple(pieces), tuple(rendering.findings)


# From text to marks


@value
class Mark:
    """A directive or value in a text. `word` is include, if, else, endif or value.

    An `if` without condition is one that cannot be read.
    """

    word: str
    start: int
    end: int
    argument: str = ""
    condition: Condition | None = None


# Patterns are text until a file needs them: most hold no directive at all.
_TOKEN = (
    r"\\[\\`]"
    r"|`(`*)"
    r"|<!--([^\n\0<-]*(?:(?!<!--|-->)[<-][^\n\0<-]*)*)-->"
    r"|\{\{(?<!\{\{\{)[ \t]*(cwd|model|provider|date)[ \t]*\}\}(?!\})"
)
_ARGUED = r"(include|if):[ \t]*(.*)"
_ALMOST = r"(?i)(?:include|(?:else[ \t]*)?if|elif|else|end[ \t]*if)[ \t]*(?::.*)?"
_WITHOUT_COLON = r"(?i)if[ \t]+(.*)"
# A comment for `foreword lint` is no directive, and none was meant.
_UNKNOWN = r"(?!foreword:)[a-z][a-z0-9_-]*:(?:[ \t].*)?"
_MARK = Origin("mark")
_EMPTY_LINES = r"(?:[ \t\n]*\n)?"


def _scan(text: str, doubts: list[Doubt]) -> Iterator[Mark]:
    """The marks of a text outside its code, from left to right; what only looks like one is a doubt."""
    if "<!--" not in text and "{{" not in text:
        return
    spans = Spans(text)
    search = re.compile(_TOKEN).search
    for start, limit in prose(text):
        at = start
        while match := search(text, at, limit):
            at = match.end()
            ticks, comment, name = match.groups()
            if ticks is not None:
                at = spans.end(match.start(), len(match[0]), limit) or at
            elif name:
                yield Mark("value", match.start(), at, name)
            elif comment is not None:
                mark = _read(match, doubts)
                if mark:
                    yield mark
                else:
                    at = match.start(2)  # an ordinary comment is text like any other


def _read(match: re.Match[str], doubts: list[Doubt]) -> Mark | None:
    """The directive that a comment is."""
    start, end = match.span()
    body = match[2].strip(" \t")
    if body in ("else", "endif"):
        return Mark(body, start, end)
    argued = re.fullmatch(_ARGUED, body)
    if argued and argued[1] == "if":
        return _read_condition(match, argued[2], doubts)
    if argued and argued[2]:
        return Mark("include", start, end, argued[2])
    doubt = _doubt(body)
    if doubt:
        code, wrong = doubt
        doubts.append(Doubt(code, f"{wrong} and stands as text", start, end))
    return None


def _read_condition(match: re.Match[str], written: str, doubts: list[Doubt]) -> Mark:
    condition = conditions.parse(written)
    if isinstance(condition, Condition):
        return Mark("if", *match.span(), written, condition)
    begin = match.string.index(written, match.string.index(":", match.start()) + 1)
    words = f"{condition.words}; the if stands as text, with its else and endif"
    doubts.append(Doubt("directive-malformed", words, begin + condition.start, begin + condition.end))
    return Mark("if", *match.span(), written)


def _doubt(body: str) -> tuple[str, str] | None:
    """What is doubtful about a comment that is no directive: the code of the finding, and its words."""
    if re.fullmatch(_ALMOST, body):
        return "directive-malformed", "resembles a directive but is none,"
    bare = re.fullmatch(_WITHOUT_COLON, body)
    if bare and isinstance(conditions.parse(bare[1]), Condition):
        return "directive-malformed", "would be a directive with a colon after 'if',"
    if re.fullmatch(_UNKNOWN, body):
        return "directive-unknown", "is none of the directives (include:, if:, else, endif)"
    return None


def _live(marks: list[Mark], doubts: list[Doubt]) -> list[Mark]:
    """The marks that do something: values, includes, and the directives of whole blocks whose condition can be read."""
    live = [mark.word in ("include", "value") for mark in marks]
    opened: list[list[int]] = []
    for index, mark in enumerate(marks):
        if mark.word == "if":
            opened.append([index])
        elif mark.word == "endif" and opened:
            block = [*opened.pop(), index]
            for part in block:
                live[part] = marks[block[0]].condition is not None
        elif mark.word == "else" and opened and len(opened[-1]) == 1:
            opened[-1].append(index)
        elif mark.word in ("else", "endif"):
            wrong = "is the second of its if" if opened else "has no if"
            doubts.append(Doubt("directive-unmatched", f"{wrong} and stands as text", mark.start, mark.end))
    for mark in (marks[index] for block in opened for index in block):
        doubts.append(Doubt("directive-unmatched", "has no endif and stands as text", mark.start, mark.end))
    return [mark for index, mark in enumerate(marks) if live[index]]


# From marks to pieces


class _Rendering:
    """One call of render: what is given, what was found, and which files have entered."""

    def __init__(self, facts: Mapping[str, str], load: Load, output: OutputLimit) -> None:
        self.facts = facts
        self.output = output
        self.load = load
        self.findings: list[Finding] = []
        self.entered: set[str] = set()

    def follow(self, document: Document, chain: tuple[str, ...]) -> list[Piece]:
        """The pieces of a document; the chain of paths by which it is reached ends with its own."""
        self.entered.add(document.path)
        self.output.count(utf8_size(document.text))
        walk = _Walk(document, chain, self)
        runs = walk.runs()
        self.findings.extend(tell(walk.doubts, document.text, document.path, document.line))
        return list(_pieces(document, runs))

    def include(self, path: str, target: str, chain: tuple[str, ...]) -> Document | tuple[str, str] | None:
        """An included file that may enter, or the code of a finding and its words."""
        if len(chain) > DEPTH:
            return "directive-depth", f"leads more than {DEPTH} files deep: {' -> '.join((*chain, target))}"
        found = self.load(path, target)
        if not isinstance(found, Document):
            self.findings.append(found)
            return None
        if found.path in chain:
            return "directive-cycle", f"leads back to a file that includes it: {' -> '.join((*chain, found.path))}"
        if found.path in self.entered:
            return "file-duplicate", f"is not included again: {found.path} has entered already"
        return found

    def closing(self, text: str, before: str, path: str) -> list[Piece]:
        """What closes that in which an included text ends, behind what stands before it on its line."""
        closing, was_open = left_open(before + text)
        if not closing or left_open(before)[0]:
            return []
        self.findings.append(finding("file-fence", f"{path} ends inside {was_open}; it was closed", path))
        return [Piece(closing, _MARK)]


class _Walk:
    """The walk through one document: which branch is being taken, inside which others, and what has come of it."""

    def __init__(self, document: Document, chain: tuple[str, ...], rendering: _Rendering) -> None:
        self.document = document
        self.chain = chain
        self.rendering = rendering
        self.doubts: list[Doubt] = []
        self.taking = True
        self.outer: list[tuple[bool, bool]] = []  # for each open if: was it reached, and did it hold
        self.written: list[Run] = []
        self.newlines = 2  # at the end of what is written; two make an empty line, and so does a beginning
        self.is_after_gap = False

    def runs(self) -> list[Run]:
        text = self.document.text
        at = 0
        for begin, end, marks in _lines(text, _live(list(_scan(text, self.doubts)), self.doubts)):
            if self.taking:
                self.write((at, begin))
            self.line(begin, end, marks)
            at = end
        self.write((at, len(text)))
        return self.written

    def line(self, begin: int, end: int, marks: list[Mark]) -> None:
        """Write a line with these marks: nothing at all if they leave only white space."""
        runs: list[Run] = []
        at = begin
        for mark in marks:
            if self.taking:
                runs.append((at, mark.start))
                runs.extend(self.insert(mark, runs))
            self.turn(mark)
            at = mark.end
        if self.taking:
            runs.append((at, end))
        if any(self.text(run).strip() for run in runs):
            for run in self.behind_fences(runs):
                self.write(run)
        else:
            self.is_after_gap = True

    def behind_fences(self, runs: list[Run]) -> Iterator[Run]:
        """The runs of a line; what follows the end of a fence stands on a line of its own."""
        is_behind = False
        for run in runs:
            rest = self.text(run).strip(" \t")
            if is_behind and rest and rest[0] != "\n":
                yield Piece("\n", _MARK)
            if rest:
                is_behind = isinstance(run, Piece) and run.origin == _MARK and rest[-1] in "`~"
            yield run

    def turn(self, mark: Mark) -> None:
        """Enter or leave a branch."""
        if mark.word == "if" and mark.condition:
            held = conditions.holds(mark.condition, self.rendering.facts)
            self.outer.append((self.taking, held))
            self.taking = self.taking and held
        elif mark.word == "else":
            reached, held = self.outer[-1]
            self.taking = reached and not held
        elif mark.word == "endif":
            self.taking = self.outer.pop()[0]

    def insert(self, mark: Mark, before: list[Run]) -> list[Piece]:
        """What stands in the place of a mark, behind these runs of the same line."""
        if mark.word == "value":
            fact = self.rendering.facts.get(mark.argument, "")
            self.rendering.output.count(utf8_size(fact))
            return [Piece(fact, Origin("variable", mark.argument))] if fact else []
        if mark.word != "include":
            return []
        found = self.rendering.include(self.document.path, mark.argument, self.chain)
        if isinstance(found, tuple):
            self.doubts.append(Doubt(*found, mark.start, mark.end))
        return self.included(found, before) if isinstance(found, Document) else []

    def included(self, document: Document, before: list[Run]) -> list[Piece]:
        """The pieces of an included file, which swallow nothing that follows them."""
        pieces = _without_final_newline(self.rendering.follow(document, (*self.chain, document.path)))
        text = "".join([piece.text for piece in pieces])
        if not may_stay_open(text):
            return pieces
        line = "".join([self.text(run) for run in before]).rpartition("\n")[2]
        return [*pieces, *self.rendering.closing(text, line, document.path)]

    def write(self, run: Run) -> None:
        """Write a run. Where lines have vanished between empty lines, those that follow go with them."""
        if self.is_after_gap and self.newlines > 1 and not isinstance(run, Piece):
            run = _after_empty_lines(self.document.text, run)
        text = self.text(run)
        if text:
            kept = text.rstrip()
            self.newlines = text.count("\n", len(kept)) + (0 if kept else self.newlines)
            self.is_after_gap = False
            self.written.append(run)

    def text(self, run: Run) -> str:
        return run.text if isinstance(run, Piece) else self.document.text[run[0] : run[1]]


def _after_empty_lines(text: str, run: tuple[int, int]) -> tuple[int, int]:
    empty = re.compile(_EMPTY_LINES).match(text, *run)
    return (empty.end(), run[1]) if empty else run


def _lines(text: str, marks: list[Mark]) -> Iterator[tuple[int, int, list[Mark]]]:
    """The lines that hold marks: where each begins and ends, and its marks."""
    own: list[Mark] = []
    end = 0
    for mark in marks:
        if own and mark.start >= end:
            yield text.rfind("\n", 0, own[0].start) + 1, end, own
            own = []
        if not own:
            end = (text.find("\n", mark.end) + 1) or len(text)
        own.append(mark)
    if own:
        yield text.rfind("\n", 0, own[0].start) + 1, end, own


def _pieces(document: Document, runs: Iterable[Run]) -> Iterator[Piece]:
    """The runs as pieces, neighbours in the file as one."""
    text, line, at = document.text, document.line, 0
    for run in _joined(runs):
        if isinstance(run, Piece):
            yield run
            continue
        start, end = run
        first = line + text.count("\n", at, start)
        line, at = first + text.count("\n", start, end), end
        last = line - text.endswith("\n", start, end)
        yield Piece(text[start:end], Origin("file", document.path, (first, last)))


def _joined(runs: Iterable[Run]) -> Iterator[Run]:
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
