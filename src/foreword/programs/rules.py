"""Explain whether a rule applies to a file and, if not, why not."""

from __future__ import annotations

from ..engine.touches import TouchReader
from ..errors import MissingError
from ..gathering.touched import bases_of_rule, relative_paths
from ..sources.path_globs import compile_globs, split_names
from ..text.lines import printable
from ..vocabulary import Candidate, replace, value
from .explain import is_match
from .touch_candidates import HOW_TO_ADD_TOUCH, describe_missing_touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..engine.touches import TouchReading
    from ..gathering.touched import RuleScopes
    from ..layout.model import Lookup
    from ..sources.path_globs import Glob
    from ..sources.scoping import RuleScope
    from .question import Question

_MAX_GLOBS = 5
_IN_PROMPT = "it is always in the prompt, whatever file is touched"


def explain_rule(question: Question, rule: str, file: str) -> list[Candidate]:
    """Return candidates that say whether rules and instruction files at a path apply to a file and, if not, what would match."""
    layout = question.assembler.layout()
    if layout.touch is None:
        raise MissingError(f"{describe_missing_touch(layout)}, so no rule applies to a file; {HOW_TO_ADD_TOUCH}")
    reader = TouchReader(question.assembler)
    reading = reader.read(layout, layout.touch, [file])
    if not reading.files:
        raise MissingError(reading.findings[0].message)
    found: dict[str, Candidate] = {}
    for candidate_rule in _rules(reading, reader.scopes):
        path = printable(candidate_rule.path)
        if is_match(path, rule, question):
            layer = next(
                (candidate.layer for candidate in reading.inputs.candidates if candidate.path == path), "project"
            )
            applies, reason = _verdict(candidate_rule, reading, file)
            found[path] = Candidate(path, layer, "used" if applies else "waiting", reason)
    for candidate in reading.inputs.candidates:
        if is_match(candidate.path, rule, question) and candidate.fate != "absent":
            default_reason = f"it is in a folder above {printable(file)}"
            found.setdefault(candidate.path, replace(candidate, reason=candidate.reason or default_reason))
    return _with_prompt(question, list(found.values()))


def _with_prompt(question: Question, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, where a rule that the touch does not send is `used` if the prompt contains it."""
    in_prompt = {
        candidate.path for candidate in question.checked_prompt().candidates if candidate.fate in ("used", "cut")
    }
    return [
        replace(candidate, fate="used", reason=_IN_PROMPT)
        if candidate.fate in ("waiting", "unused") and candidate.path in in_prompt
        else candidate
        for candidate in candidates
    ]


@value
class _Rule:
    """A rule or skill that may apply to the file. Its globs are relative to any of `bases`."""

    path: str
    lookup: Lookup
    scope: RuleScope
    bases: Sequence[str]


def _rules(reading: TouchReading, scopes: RuleScopes) -> Iterator[_Rule]:
    workspace = reading.inputs.workspace
    for lookup in reading.layout.lookups:
        result = reading.inputs.lookup_results.get(lookup.name)
        if result is None or not lookup.match:
            continue
        for text in result.texts:
            path = text.reading.path
            if lookup.has_conditions_for(path):
                bases = bases_of_rule(lookup, path, text.place, text.base, workspace)
                yield _Rule(path, lookup, scopes.scope_of_rule(lookup, text), bases)
        for skill in result.entries:
            place, start = result.places[skill.path]
            bases = bases_of_rule(lookup, skill.path, place, start, workspace)
            yield _Rule(skill.path, lookup, scopes.scope_of_skill(lookup, skill), bases)


def _verdict(rule: _Rule, reading: TouchReading, file: str) -> tuple[bool, str]:
    """Return whether a rule applies to the file, and why."""
    scope, base = rule.scope, rule.bases[0]
    if not scope.is_scoped:
        if rule.lookup.unscoped != "skip":
            return True, "it does not list any paths, so it applies to every file"
        return False, f"it does not apply to any file, because its front matter has no {' or '.join(rule.lookup.match)}"
    ways = [paths for touched in reading.files for paths in relative_paths(touched, rule.bases)]
    if not ways:
        return False, f"{printable(file)} is not in {printable(base)}, to which its globs are relative"
    if scope.field == "alwaysApply":
        return True, "it applies to every file: its front matter has alwaysApply: true"
    for paths in ways:
        if scope.globs.match(*paths):
            deciding = scope.globs.deciding_glob(*paths)
            name = next((path for path in paths if scope.globs.match(path)), paths[0])
            return True, f"{name} matches {deciding.text if deciding else scope.text} ({scope.field})"
    return False, _why_not(scope, ways[0], base)


def _why_not(scope: RuleScope, paths: Sequence[str], base: str) -> str:
    """Explain which globs did not match, and what would match."""
    name, deciding = paths[0], scope.globs.deciding_glob(*paths)
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
        yield f"{glob.text} differs only in case"
    elif "/" in glob.text and compile_globs(f"**/{glob.text.lstrip('./')}").match(name):
        yield f"**/{glob.text.lstrip('./')} would match it"


def example_of(glob: str) -> str:
    """Return a path that a glob matches."""
    alternative = _first_alternative(glob.strip().lstrip("!"))
    names = split_names(alternative)
    is_folder = alternative.endswith("/")
    example = [
        name.replace("*", "name").replace("?", "x")
        for index, name in enumerate(names)
        if name != "**" or index == len(names) - 1
    ]
    example = ["file" if name == "namename" else name for name in example]
    return "/".join((*example, *(["file"] if is_folder else [])))


def _first_alternative(glob: str) -> str:
    from ..sources.globs import expand_braces

    return expand_braces(glob)[0]
