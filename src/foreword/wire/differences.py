"""The JSON forms of the answers to `diff`, `cache` and `lint`."""

from __future__ import annotations

from ..encoding.prompt import finding_form, tokens_form
from ..text.lines import printable
from .answers import change_form, changes_form, rebuild_cost_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inspection.cache import Breakpoint, MisplacedSection
    from ..inspection.diff import Cause, Difference, Edit, SectionDiff
    from ..inspection.prices import Price, ProviderRules
    from ..inspection.rebuilding import CacheReuse, FirstDifference, RebuildCost
    from ..inspection.subject import Subject
    from ..text.tokens import Count
    from ..vocabulary import Finding
    from .forms import (
        BreakpointForm,
        CacheReuseForm,
        CauseForm,
        DifferenceForm,
        EditForm,
        FirstDifferenceForm,
        LintForm,
        MisplacedForm,
        PriceForm,
        SectionDiffForm,
        SectionSpanForm,
        SpanForm,
        SubjectForm,
    )

# Differences


def difference_form(
    old: Subject, new: Subject, tokens: tuple[Count, Count], difference: Difference, rebuild: RebuildCost
) -> DifferenceForm:
    """Return two prompts, the differences between them, and what it costs to replace the old one with the new one."""
    return {
        **changes_form(difference),
        "old": subject_form(old, tokens[0]),
        "new": subject_form(new, tokens[1]),
        "details": [section_diff_form(section, old.prompt.text, new.prompt.text) for section in difference.sections],
        "circumstances": [
            {"name": name, "old": before, "new": after} for name, before, after in difference.circumstances
        ],
        "files": [],
        "rebuild": rebuild_cost_form(rebuild),
    }


def subject_form(subject: Subject, tokens: Count) -> SubjectForm:
    prompt = subject.prompt
    return {"name": subject.name, "id": prompt.id, "layout": prompt.layout or None, "tokens": tokens_form(tokens)}


def section_diff_form(section: SectionDiff, old: str, new: str) -> SectionDiffForm:
    return {
        **change_form(section),
        "old": _span_form(section.old, section.old_place),
        "new": _span_form(section.new, section.new_place),
        "edits": [edit_form(edit, old, new) for edit in section.edits],
        "causes": [cause_form(cause) for cause in section.causes],
    }


def _span_form(span: tuple[int, int] | None, place: int) -> SectionSpanForm | None:
    return {"start": span[0], "end": span[1], "place": place} if span else None


def edit_form(edit: Edit, old: str, new: str) -> EditForm:
    """Return changed words, with their offsets in the old and the new text."""
    before: SpanForm = {"start": edit.old[0], "end": edit.old[1], "text": old[edit.old[0] : edit.old[1]]}
    after: SpanForm = {"start": edit.new[0], "end": edit.new[1], "text": new[edit.new[0] : edit.new[1]]}
    return {"old": before, "new": after, "causes": [cause_form(cause) for cause in edit.causes]}


def cause_form(cause: Cause) -> CauseForm:
    return {
        "kind": cause.kind,
        "path": cause.path or None,
        "lines": list(cause.lines) if cause.lines else None,
        "note": cause.note or None,
    }


# Prompt caches


def price_form(price: Price) -> PriceForm:
    return {
        "model": price.name,
        "input": price.input,
        "write": price.write,
        "read": price.read,
        "minimum": price.minimum,
        "source": price.source,
        "date": price.date,
    }


def breakpoint_form(point: Breakpoint) -> BreakpointForm:
    return {
        "of": point.argument,
        "after": point.after,
        "lifetime": point.lifetime,
        "tokens": point.tokens,
        "kept": point.is_cacheable,
    }


def misplaced_form(row: MisplacedSection) -> MisplacedForm:
    return {
        "section": row.section,
        "lifetime": row.lifetime,
        "before": list(row.before),
        "tokens": row.tokens,
    }


def cache_reuse_form(reuse: CacheReuse, rules: ProviderRules, price: Price | None, turns: int) -> CacheReuseForm:
    """Return how much of a prompt a provider's cache keeps.

    `rewrite` is the cost of writing the rest once, and `rewrite_each_turn` the cost of writing it in every turn. `basis` says what the
    tokens are counted from: the last recorded call of the old prompt's conversation, its messages, or only the prompt.
    """
    rebuild = reuse.rebuild
    return {
        "provider": reuse.provider,
        "caching": rules.caching,
        "order": list(rules.order),
        "price": price_form(price) if price else None,
        "tokens": reuse.total,
        "cacheable": rebuild.tokens_kept + rebuild.tokens_lost,
        "shared": reuse.shared,
        "kept": rebuild.tokens_kept,
        "lost": rebuild.tokens_lost,
        "basis": rebuild.basis,
        "expired": rebuild.is_expired,
        "rewrite": rebuild.cost,
        "rewrite_each_turn": None if rebuild.cost is None else rebuild.cost * turns,
        "first": _first_difference_form(reuse.first) if reuse.first else None,
    }


def _first_difference_form(first: FirstDifference) -> FirstDifferenceForm:
    causes = [cause_form(cause) for cause in first.causes]
    return {"of": first.argument, "name": first.name or None, "offset": first.offset, "causes": causes}


# Lint


def lint_form(root: str, files: int, unchecked: int, findings: Sequence[Finding], shown: Sequence[Finding]) -> LintForm:
    """Return the lint findings that are shown, and the number of all by severity."""
    severities = [finding.severity for finding in findings]
    return {
        "root": printable(root),
        "files": files,
        "unchecked": unchecked,
        "counts": {
            "error": severities.count("error"),
            "warning": severities.count("warning"),
            "info": severities.count("info"),
        },
        "findings": [finding_form(finding) for finding in shown],
    }
