"""Lookups with conditions (`when`): their files count only if other lookups have found something, or nothing."""

from __future__ import annotations

from ..findings import finding
from ..vocabulary import Candidate, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..layout.model import Condition, Layout, Lookup
    from ..vocabulary import Fate, Finding, Workspace
    from .results import LookupResult


def with_conditions(
    layout: Layout, results: Mapping[str, LookupResult], workspace: Workspace
) -> tuple[dict[str, LookupResult], list[Finding]]:
    """The results that count: of a lookup whose conditions do not hold, only candidates remain. Files that others hide are findings."""
    facts = {f"platform:{workspace.platform}", *(f"set:{name}" for name, content in layout.settings.items() if content)}
    counted: dict[str, LookupResult] = {}
    for lookup in layout.lookups:
        result = results[lookup.name]
        failed = _failed(lookup, facts)
        if failed is not None:
            result = _left_out(lookup, result, failed, counted)
        elif result.texts or result.entries:
            facts.add(f"found:{lookup.name}")
        counted[lookup.name] = result
    return counted, list(_hidden(counted))


def _failed(lookup: Lookup, facts: set[str]) -> Condition | None:
    """The first condition of a lookup that does not hold."""
    for condition in lookup.when:
        if any(fact in facts for fact in condition.facts) == condition.negated:
            return condition
    return None


def _hidden(counted: Mapping[str, LookupResult]) -> Iterator[Finding]:
    """A finding for each file that a file of another lookup hides and that no lookup uses."""
    every = [each for result in counted.values() for each in result.candidates]
    used = {each.path for each in every if each.fate in ("used", "cut")}
    for result in counted.values():
        is_left_out = not (result.texts or result.entries)
        for each in result.candidates if is_left_out else ():
            if each.fate == "shadowed" and each.target and each.path not in used:
                yield finding("file-shadowed", f"{each.path}: {each.reason}", each.path)


def _left_out(
    lookup: Lookup, result: LookupResult, failed: Condition, counted: Mapping[str, LookupResult]
) -> LookupResult:
    """The result of a lookup whose files do not count."""
    found = [counted[fact.partition(":")[2]] for fact in failed.facts if fact.startswith("found:")]
    target = next((each.path for other in found for each in other.candidates if each.fate in ("used", "cut")), "")
    fate: Fate = "unused"
    if failed.negated and target:
        fate, reason = "shadowed", f"it counts only without files such as {target}"
    else:
        facts = " or ".join(failed.facts)
        target = ""
        reason = (
            f"it counts only {'without' if failed.negated else 'with'} {facts}, as {lookup.name!r} says in the layout"
        )
    candidates = [
        Candidate(each.path, each.layer, fate, reason, target) if each.fate in ("used", "cut") else each
        for each in result.candidates
    ]
    return replace(result, entries=(), identities={}, texts=(), candidates=candidates, findings=())
