"""Apply the conditions of lookup rules (`when`): their files count only if other rules have found something, or nothing."""

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
    """Return the results that count, and findings about files that others hide.

    If a lookup rule's conditions do not hold, its result keeps only its candidates.
    """
    facts = {f"platform:{workspace.platform}", *(f"set:{name}" for name, content in layout.settings.items() if content)}
    counted: dict[str, LookupResult] = {}
    for lookup in layout.lookups:
        result = results[lookup.name]
        failed = _first_failed(lookup, facts)
        if failed is not None:
            result = _left_out(lookup, result, failed, counted)
        elif result.texts or result.entries:
            facts.add(f"found:{lookup.name}")
        counted[lookup.name] = result
    return counted, list(_hidden_findings(counted))


def _first_failed(lookup: Lookup, facts: set[str]) -> Condition | None:
    """Return a lookup rule's first condition that does not hold, or None if all hold."""
    for condition in lookup.when:
        if any(fact in facts for fact in condition.facts) == condition.negated:
            return condition
    return None


def _hidden_findings(counted: Mapping[str, LookupResult]) -> Iterator[Finding]:
    """Yield a finding for each file that another lookup rule's file hides and that no lookup rule uses."""
    candidates = [candidate for result in counted.values() for candidate in result.candidates]
    used = {candidate.path for candidate in candidates if candidate.fate in ("used", "cut")}
    for result in counted.values():
        is_left_out = not (result.texts or result.entries)
        for candidate in result.candidates if is_left_out else ():
            if candidate.fate == "shadowed" and candidate.target and candidate.path not in used:
                yield finding("file-shadowed", f"{candidate.path}: {candidate.reason}", candidate.path)


def _left_out(
    lookup: Lookup, result: LookupResult, failed: Condition, counted: Mapping[str, LookupResult]
) -> LookupResult:
    """Return the result of a lookup rule whose condition failed: its candidates, each with the reason."""
    found = [counted[fact.partition(":")[2]] for fact in failed.facts if fact.startswith("found:")]
    target = next(
        (candidate.path for other in found for candidate in other.candidates if candidate.fate in ("used", "cut")), ""
    )
    fate: Fate = "unused"
    if failed.negated and target:
        fate, reason = "shadowed", f"it counts only without files such as {target}"
    else:
        facts = " or ".join(failed.facts)
        target = ""
        reason = (
            f"it counts only {'without' if failed.negated else 'with'} {facts}; see find.{lookup.name} in the layout"
        )
    candidates = [
        Candidate(candidate.path, candidate.layer, fate, reason, target)
        if candidate.fate in ("used", "cut")
        else candidate
        for candidate in result.candidates
    ]
    return replace(result, entries=(), identities={}, texts=(), candidates=candidates, findings=())
