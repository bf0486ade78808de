"""The sentences that all formats of a review share."""

from __future__ import annotations

from .terminal import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inspection.agents import Verdict
    from ..programs.review import FileReview, PromptReview, Review


def headline(review: Review) -> str:
    """Describe a review in one line."""
    # A link to a changed file counts only if that file is not listed itself.
    changed = len(
        {
            row.change.removeprefix("leads to ") if row.change.startswith("leads to ") else row.path
            for row in review.files
            if row.change != "unchanged"
        }
    )
    if not review.prompts:
        files = f", although {count_of(changed, 'instruction file')} changed" if changed else ""
        return f"No agent's prompt at the root changes{files}" if changed else "No agent's prompt changes"
    names = len({prompt.layout for prompt in review.prompts})
    return f"{count_of(changed, 'instruction file')} changed, which changes the prompts of {count_of(names, 'agent')}"


def describe_place(folder: str) -> str:
    """Return where an agent works, as text."""
    return f"in {folder}" if folder else "at the root"


def describe_cost(review: Review, prompt: PromptReview) -> str:
    """Return what the change of a prompt costs, with a sign, or empty if it is not known."""
    cost = review.cost(prompt)
    if cost is None:
        return ""
    return f"{'-' if cost < 0 else '+'}${abs(cost):,.2f}"


def cost_period(review: Review) -> str:
    """Return what a cost is for, as a heading."""
    return "per 1,000 conversations" if review.requests is None else "in the last 30 days"


def price_note(review: Review) -> str:
    """Describe how tokens and costs were calculated."""
    from ..programs.review import TURNS

    tokens = "Tokens are estimates, without the agents' own prompts and tools."
    if review.price is None:
        return f"{tokens} The model's price is unknown; pass one with --prices."
    if review.requests is not None:
        sent = ", ".join(f"{name} {requests.count:,}" for name, requests in review.requests.items()) or "none"
        return (
            f"{tokens} Costs are for {review.price.name}, in the requests that agents sent in this repository "
            f"in the last 30 days, according to their logs ({sent})."
        )
    return (
        f"{tokens} Costs are for {review.price.name}, in conversations of {TURNS} turns that read the prompt "
        "from the cache after the first."
    )


def join_layouts(prompts: Sequence[PromptReview]) -> str:
    """Return the names of the prompts' layouts."""
    return ", ".join(dict.fromkeys(prompt.layout for prompt in prompts))


def name_of(row: FileReview) -> str:
    """Return the path of a file, and its old path if it was renamed."""
    return f"{row.path} (from {row.old_path})" if row.old_path else row.path


def describe_outcomes(row: FileReview) -> str:
    """Describe what agents do with a file, and what they did before if that differs: `loaded: codex; loaded → shadowed: claude`.

    Agents that do not read it either way are left out, unless there are no others.
    """
    readers = {name: pair for name, pair in row.verdicts.items() if not all(map(_is_never, pair))}
    groups: dict[str, list[str]] = {}
    for name, (before, after) in (readers or row.verdicts).items():
        groups.setdefault(describe_outcome(before, after), []).append(name)
    return "; ".join(f"{outcome}: {', '.join(names)}" for outcome, names in groups.items())


def _is_never(verdict: Verdict | None) -> bool:
    return verdict is None or verdict.name == "never"


def describe_outcome(before: Verdict | None, after: Verdict | None) -> str:
    """Describe one agent's verdict on a file before and after."""
    old, new = (_verdict_text(verdict) for verdict in (before, after))
    if before is None or after is None:
        return new or f"was {old}"
    return new if old == new else f"{old} → {new}"


def _verdict_text(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    if verdict.name == "cut":
        return f"cut {verdict.cut}%"
    return {"on-touch": "on touch", "elsewhere": "only in its folder"}.get(verdict.name, verdict.name)
