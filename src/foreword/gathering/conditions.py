"""Applies the conditions of lookup rules (`when`): a rule's files count only if its conditions hold, such as `found:x`."""

from __future__ import annotations

from ..findings import finding
from ..vocabulary import Candidate, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..layout.model import Condition, Layout, Lookup
    from ..vocabulary import Fate, Finding, Workspace
    from .results import LookupResult


def apply_conditions(
    layout: Layout, results: Mapping[str, LookupResult], workspace: Workspace
) -> tuple[dict[str, LookupResult], list[Finding]]:
    """Return the results that count, and findings about files that other files hide.

    If a lookup rule's conditions do not hold, its result contains only candidates.
    """
    facts = {f"platform:{workspace.platform}", *(f"set:{name}" for name, content in layout.settings.items() if content)}
    counted_results: dict[str, LookupResult] = {}
    for lookup in layout.lookups:
        result = results[lookup.name]
        failed_condition = _first_failed_condition(lookup, facts)
        if failed_condition is not None:
            result = _drop_result(lookup, result, failed_condition, counted_results, layout)
        elif result.texts or result.entries or _unread_files(result, layout) or _has_empty_file(lookup, result):
            facts.add(f"found:{lookup.name}")
        counted_results[lookup.name] = result
    return counted_results, list(_hidden_findings(counted_results))


def is_read_by_program(candidate: Candidate, layout: Layout) -> bool:
    """Whether the program that a layout mirrors reads a file that Foreword does not read: a link out of the workspace, or one with NUL."""
    if candidate.fate == "binary":
        return layout.encoding != "utf-8"
    return bool(layout.mirrors) and candidate.fate in ("refused", "untrusted")


def _has_empty_file(lookup: Lookup, result: LookupResult) -> bool:
    """Whether a rule that keeps blank files found an empty one, or a folder with its name, which adds nothing but is there."""
    return lookup.rules.blank == "keep" and any(
        candidate.fate in ("blank", "unreadable") for candidate in result.candidates
    )


def _unread_files(result: LookupResult, layout: Layout) -> list[Candidate]:
    """Return the files that only the mirrored program reads. For it, they are found."""
    return [candidate for candidate in result.candidates if is_read_by_program(candidate, layout)]


def _first_failed_condition(lookup: Lookup, facts: set[str]) -> Condition | None:
    """Return the first condition of a lookup rule that does not hold, or None if all hold."""
    for condition in lookup.when:
        if any(fact in facts for fact in condition.facts) == condition.negated:
            return condition
    return None


def _hidden_findings(counted_results: Mapping[str, LookupResult]) -> Iterator[Finding]:
    """Yield a finding for each file that no lookup rule uses because another rule's file hides it."""
    candidates = [candidate for result in counted_results.values() for candidate in result.candidates]
    used = {candidate.path for candidate in candidates if candidate.fate in ("used", "cut")}
    for result in counted_results.values():
        is_left_out = not (result.texts or result.entries)
        for candidate in result.candidates if is_left_out else ():
            if candidate.fate == "shadowed" and candidate.target and candidate.path not in used:
                yield finding("file-shadowed", f"{candidate.path}: {candidate.reason}", candidate.path)


def _drop_result(
    lookup: Lookup,
    result: LookupResult,
    failed_condition: Condition,
    counted_results: Mapping[str, LookupResult],
    layout: Layout,
) -> LookupResult:
    """Return the result of a lookup rule whose condition failed: only its candidates, each with the reason."""
    found = [counted_results[fact.partition(":")[2]] for fact in failed_condition.facts if fact.startswith("found:")]
    hiding = [candidate for other in found for candidate in other.candidates if candidate.fate in ("used", "cut")]
    hiding += [candidate for other in found for candidate in _unread_files(other, layout)]
    target = hiding[0].path if hiding else ""
    fate: Fate = "unused"
    if failed_condition.negated and target:
        fate, reason = "shadowed", f"it counts only without files such as {target}"
    else:
        facts = " or ".join(failed_condition.facts)
        target = ""
        reason = f"it counts only {'without' if failed_condition.negated else 'with'} {facts}; see find.{lookup.name} in the layout"
    unread = set(_unread_files(result, layout))
    candidates = [
        Candidate(candidate.path, candidate.layer, fate, reason, target)
        if candidate.fate in ("used", "cut") or candidate in unread
        else candidate
        for candidate in result.candidates
    ]
    return replace(result, entries=(), identities={}, texts=(), candidates=candidates, findings=(), withheld=())
