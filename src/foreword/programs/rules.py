"""Explain whether a rule applies to a file and, if not, why not."""

from __future__ import annotations

from ..engine.touches import TouchReader
from ..errors import CallError
from ..gathering.touched import base_of_rule, relative_names
from ..sources.path_globs import compile_globs, names_of
from ..text.lines import printable
from ..vocabulary import Candidate, replace
from .explain import is_match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..engine.touches import TouchReading
    from ..gathering.results import FoundText
    from ..layout.model import Lookup
    from ..sources.path_globs import Glob
    from ..sources.scoping import RuleScope
    from .question import Question

_MAX_GLOBS = 5


def explain_rule(question: Question, rule: str, file: str) -> list[Candidate]:
    """Return candidates that say whether rules and instruction files at a path apply to a file and, if not, what would match."""
    layout = question.assembler.layout()
    if layout.touch is None:
        raise CallError(
            f"the layout {layout.name} sends nothing when a file is touched; --for needs a layout that does"
        )
    reader = TouchReader(question.assembler)
    reading = reader.read(layout, layout.touch, [file])
    if not reading.files:
        raise CallError(reading.findings[0].message)
    found: dict[str, Candidate] = {}
    for lookup, text in _rules(reading):
        path = printable(text.reading.path)
        if is_match(path, rule, question.cwd):
            layer = next(
                (candidate.layer for candidate in reading.inputs.candidates if candidate.path == path), "project"
            )
            applies, reason = _verdict(reader.scopes.of(lookup, text), lookup, text, reading, file)
            found[path] = Candidate(path, layer, "used" if applies else "waiting", reason)
    for candidate in reading.inputs.candidates:
        if is_match(candidate.path, rule, question.cwd) and candidate.fate != "absent":
            default_reason = f"it is in a folder above {printable(file)}"
            found.setdefault(candidate.path, replace(candidate, reason=candidate.reason or default_reason))
    return list(found.values())


def _rules(reading: TouchReading) -> Iterator[tuple[Lookup, FoundText]]:
    for lookup in reading.layout.lookups:
        result = reading.inputs.lookup_results.get(lookup.name)
        for text in result.texts if result and lookup.match else ():
            if not lookup.below or f"/{lookup.below}/" in text.reading.path:
                yield lookup, text


def _verdict(scope: RuleScope, lookup: Lookup, text: FoundText, reading: TouchReading, file: str) -> tuple[bool, str]:
    """Whether a rule applies to the file, and why."""
    if not scope.is_scoped:
        if lookup.unscoped != "skip":
            return True, "it does not list any paths, so it applies to every file"
        return False, f"it does not apply to any file, because its front matter has no {' or '.join(lookup.match)}"
    base = base_of_rule(lookup, text, reading.inputs.workspace)
    names = [name for touched in reading.files for name in relative_names(touched, base)]
    if not names:
        return False, f"{printable(file)} is not in {printable(base)}, to which its globs are relative"
    for name in names:
        if scope.globs.match(name):
            deciding = scope.globs.deciding(name)
            return True, f"{name} matches {deciding.text if deciding else scope.text} ({scope.field})"
    return False, _why_not(scope, names[0], base)


def _why_not(scope: RuleScope, name: str, base: str) -> str:
    """Explain which globs did not match, and what would match."""
    deciding = scope.globs.deciding(name)
    if deciding is not None and deciding.negated:
        return f"{name} is excluded by {deciding.text} ({scope.field})"
    globs = [glob for glob in scope.globs.globs if not glob.negated][:_MAX_GLOBS]
    failed = ", ".join(glob.text for glob in globs)
    hints = dict.fromkeys(hint for glob in globs for hint in _hints(glob, name))
    examples = " or ".join(dict.fromkeys(example_of(glob.text) for glob in globs))
    reason = f"{name} (in {printable(base)}) does not match {failed} ({scope.field}); {examples} would match"
    return "; ".join((reason, *hints))


def _hints(glob: Glob, name: str) -> Iterator[str]:
    """Yield hints about how to change a glob so that it matches a name."""
    if compile_globs(glob.text.lower()).match(name.lower()):
        yield f"{glob.text} differs only in upper and lower case"
    elif "/" in glob.text and compile_globs(f"**/{glob.text.lstrip('./')}").match(name):
        yield f"**/{glob.text.lstrip('./')} would match it"


def example_of(glob: str) -> str:
    """Return a path that a glob matches."""
    alternative = _first_alternative(glob.strip().lstrip("!"))
    names = names_of(alternative)
    is_folder = alternative.endswith("/")
    example = [
        name.replace("*", "name").replace("?", "x")
        for number, name in enumerate(names)
        if name != "**" or number == len(names) - 1
    ]
    example = ["file" if name == "namename" else name for name in example]
    return "/".join((*example, *(["file"] if is_folder else [])))


def _first_alternative(glob: str) -> str:
    from ..sources.globs import alternatives

    return alternatives(glob)[0]
