"""Reads an instruction file of which only some lines are trusted: its text is those lines, and the others are withheld.

Lines are judged separately only if leaving some out cannot change what the others are. A file is trusted as a whole or not at all if
its front matter has untrusted lines, if trusted lines would no longer be inside or outside the same code fence, or if it contains
comments or placeholders, which may be directives.
"""

from __future__ import annotations

from ..text.lines import printable
from ..text.markdown import fences
from ..text.pieces import trim_blank_lines
from ..vocabulary import Document, Origin, Piece, digest, replace
from .readings import UNTRUSTED_CODE, refused_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .readings import LineCheck, Reading, TrustCheck

    Run = tuple[int, int]  # the first and the last line

_MAX_RUNS = 100
_MAX_NAMED_RUNS = 5


def only_trusted(reading: Reading, data: bytes, real: str, trust: TrustCheck, trim: bool) -> Reading:
    """Return the reading of a file with only the lines that are trusted. `data` are its bytes, and `real` is its real path."""
    refusal = trust.refusal(reading.path, data, real)
    if refusal is None:
        return reading
    may_have_directives = "<!--" in reading.text or "{{" in reading.text
    is_divisible = reading.fate == "used" and not may_have_directives
    check = trust.check_lines(reading.path, data, real) if is_divisible else None
    partial = _withhold_lines(reading, check, trust.untrusted, trim) if check else None
    return partial or _withhold_file(reading, refused_reading(reading.path, refusal), trust.untrusted)


def _withhold_file(reading: Reading, refused: Reading, untrusted: str) -> Reading:
    """Return the reading of an untrusted file. Its text is withheld if untrusted text is used with a lower role."""
    if untrusted == "drop" or not reading.has_text:
        return refused
    problem = refused.reason.partition(";")[0]
    reason = f"{problem}, so it is sent as a user message; to accept it, run: foreword trust"
    return replace(refused, reason=reason, withheld=(_with_lines(reading.document, ""),))


def _withhold_lines(reading: Reading, check: LineCheck, untrusted: str, trim: bool) -> Reading | None:
    """Return the reading of a file's trusted lines, or None if it cannot be used without the others."""
    lines = _split(reading.text)
    trusted = [*check.lines[reading.line - 1 :]][: len(lines)]
    if len(trusted) < len(lines) or check.is_front_changed:
        return None
    runs = _runs_with_text(lines, trusted)
    if not runs:
        missing = _describe_missing(check)
        return replace(reading, code="file-changed", reason=missing) if missing else reading
    if len(runs) > _MAX_RUNS or not _is_separable(lines, trusted):
        return None
    first, path = reading.line, printable(reading.path)
    pieces = tuple(_piece(path, lines, run, first) for run in line_runs(trusted, wanted=True))
    reason = _describe_withheld([(begin + first, end + first) for begin, end in runs], check, untrusted)
    withheld = [_withheld_run(path, lines, run, first) for run in runs]
    return _with_pieces(replace(reading, code=UNTRUSTED_CODE, reason=reason, withheld=withheld), pieces, trim)


def _runs_with_text(lines: Sequence[str], trusted: Sequence[bool]) -> list[Run]:
    """Return the runs of untrusted lines that are not all blank."""
    return [run for run in line_runs(trusted, wanted=False) if any(line.strip() for line in lines[run[0] : run[1] + 1])]


def _with_pieces(reading: Reading, pieces: tuple[Piece, ...], trim: bool) -> Reading:
    pieces = trim_blank_lines(pieces) if trim else pieces
    text = "".join(piece.text for piece in pieces)
    line = pieces[0].origin.lines[0] if pieces[0].origin.lines else 1
    return replace(reading, text=text, line=line, hash=digest(text), pieces=pieces)


def _piece(path: str, lines: Sequence[str], run: Run, first: int) -> Piece:
    return Piece("".join(lines[run[0] : run[1] + 1]), Origin("file", path, (run[0] + first, run[1] + first)))


def _withheld_run(path: str, lines: Sequence[str], run: Run, first: int) -> Document:
    text = "".join(lines[run[0] : run[1] + 1]).removesuffix("\n")
    return _with_lines(Document(path, text, digest(text), run[0] + first), _range((run[0] + first, run[1] + first)))


def _with_lines(document: Document, lines: str) -> Document:
    return replace(document, fields=(("lines", f' lines="{lines}"' if lines else ""),))


def _is_separable(lines: Sequence[str], trusted: Sequence[bool]) -> bool:
    """Whether the trusted lines contain text, and have the same front matter and the same code fences with and without the others."""
    kept = [index for index, is_trusted in enumerate(trusted) if is_trusted]
    if not any(lines[index].strip() for index in kept):
        return False
    front = _front_matter_length(lines)
    kept_lines = [lines[index] for index in kept]
    if kept[:front] != list(range(front)) or _front_matter_length(kept_lines) != front:
        return False
    fenced, fenced_if_kept = _fenced_lines(lines), _fenced_lines(kept_lines)
    return [index in fenced for index in kept] == [number in fenced_if_kept for number in range(len(kept))]


def _front_matter_length(lines: Sequence[str]) -> int:
    """Return the number of lines of front matter, or 0 if there is none."""
    if not lines[0].startswith("---"):
        return 0
    from .front_matter import split

    text = "".join(lines)
    _, rest, _ = split(text)
    return text[: len(text) - len(rest)].count("\n")


def _fenced_lines(lines: Sequence[str]) -> set[int]:
    """Return the indexes of the lines in code fences, including the fences themselves."""
    spans = fences("".join(lines))
    result: set[int] = set()
    position = 0
    for index, line in enumerate(lines) if spans else ():
        while spans and spans[0][1] <= position:
            spans = spans[1:]
        if spans and spans[0][0] <= position:
            result.add(index)
        position += len(line)
    return result


def line_runs(trusted: Sequence[bool], *, wanted: bool) -> list[Run]:
    """Return the first and last index of each run of lines that are trusted, or of those that are not."""
    runs: list[Run] = []
    for index, is_trusted in enumerate(trusted):
        if is_trusted != wanted:
            continue
        if runs and runs[-1][1] == index - 1:
            runs[-1] = runs[-1][0], index
        else:
            runs.append((index, index))
    return runs


def _split(text: str) -> list[str]:
    """Return the lines of a text, which end only with line feeds."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _range(run: Run) -> str:
    return str(run[0]) if run[0] == run[1] else f"{run[0]}-{run[1]}"


def _describe_withheld(runs: Sequence[Run], check: LineCheck, untrusted: str) -> str:
    """Return why lines are not in the text: `lines 3-5 and 9 are not in origin/main, so they were left out`."""
    outcome = "left out" if untrusted == "drop" else "sent as a user message"
    missing = _describe_missing(check)
    missing = f"; {missing}" if missing else ""
    if len(runs) == 1 and runs[0][0] == runs[0][1]:
        return f"line {runs[0][0]} is not in {check.ref}, so it was {outcome}{missing}"
    named = [_range(run) for run in runs[:_MAX_NAMED_RUNS]]
    if more := len(runs) - len(named):
        listed = f"{', '.join(named)} and {more} more"
    else:
        listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    return f"lines {listed} are not in {check.ref}, so they were {outcome}{missing}"


def _describe_missing(check: LineCheck) -> str:
    if not check.missing:
        return ""
    subject = "1 line" if check.missing == 1 else f"{check.missing:,} lines"
    return f"{subject} of the version in {check.ref} {'is' if check.missing == 1 else 'are'} missing"
