"""Search for the smallest set of proposals after which every agent reads every source once. Pure.

Agents and proposals that cannot influence each other are searched separately. A small group is searched exhaustively; in a larger one,
the folders are decided one after the other, from the root down, and a proposal that turns out to be superfluous is dropped.
"""

from __future__ import annotations

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .model import AgentReading, Proposal

    # Returns what an agent reads if these proposals are carried out.
    ReadWith = Callable[[str, Sequence[Proposal]], AgentReading]
    # Whether a proposal can change what an agent reads.
    Concerns = Callable[[str, Proposal], bool]
    Score = tuple[int, int, int, int, int, tuple[tuple[str, str], ...]]

_MAX_EXHAUSTIVE = 6
_MAX_IMPROVED = 40


@value
class Group:
    """Agents and proposals that may influence each other, but no others."""

    agents: Sequence[str]
    proposals: Sequence[Proposal]


def smallest(
    agents: Sequence[str],
    proposals: Sequence[Proposal],
    read: ReadWith,
    concerns: Concerns,
    limit: int = _MAX_EXHAUSTIVE,
) -> list[Proposal]:
    """Return the best set of proposals: with the fewest unread sources, then the fewest repeated ones, then the fewest changes, then the cheapest means."""
    chosen: list[Proposal] = []
    before = {agent: read(agent, ()) for agent in agents}
    for group in groups(agents, proposals, concerns):
        score = _scorer(group, read, before)
        if not any(before[agent].problems for agent in group.agents):
            continue
        best = _exhaustive(group, score) if len(group.proposals) <= limit else _by_folder(group, read, score)
        chosen += best
    return sorted(chosen, key=lambda proposal: proposal.path)


def groups(agents: Sequence[str], proposals: Sequence[Proposal], concerns: Concerns) -> list[Group]:
    """Divide agents and proposals into groups that cannot influence each other."""
    remaining = list(agents)
    found: list[Group] = []
    while remaining:
        members, own = [remaining.pop(0)], []
        for agent in members:  # grows while it is searched
            own += [row for row in proposals if row not in own and concerns(agent, row)]
            joined = [other for other in remaining if any(concerns(other, row) for row in own)]
            members += joined
            remaining = [other for other in remaining if other not in joined]
        found.append(Group(tuple(members), tuple(own)))
    return found


def _scorer(group: Group, read: ReadWith, before: Mapping[str, AgentReading]) -> Callable[[Sequence[Proposal]], Score]:
    """Return a function that scores a set of proposals; the smallest score is the best.

    What an agent that starts in another folder misses counts only if it did not miss it before, or between equally many changes.
    """

    def score(chosen: Sequence[Proposal]) -> Score:
        readings = {agent: read(agent, chosen) for agent in group.agents}
        unread = sum(reading.unread for reading in readings.values())
        repeated = sum(len(reading.repeated) for reading in readings.values())
        new = sum(len({*readings[agent].elsewhere} - {*before[agent].elsewhere}) for agent in group.agents)
        elsewhere = sum(len(reading.elsewhere) for reading in readings.values())
        names = tuple(sorted((row.path, row.text or "") for row in chosen))
        return unread, repeated + new, len(chosen), elsewhere, sum(row.cost for row in chosen), names

    return score


def _exhaustive(group: Group, score: Callable[[Sequence[Proposal]], Score]) -> Sequence[Proposal]:
    """Return the best of all sets, smallest first. Stops at the first size without problems."""
    best: Sequence[Proposal] = ()
    best_score = score(())
    sets = sorted(sensible_sets(group.proposals), key=len)
    for chosen in sets:
        if len(chosen) > len(best) and best_score[:2] == (0, 0):
            break
        if (new := score(chosen)) < best_score:
            best, best_score = chosen, new
    return best


def sensible_sets(proposals: Sequence[Proposal]) -> list[tuple[Proposal, ...]]:
    """Return all sets in which no path is changed twice and no agent gets a source by two means."""
    sets: list[tuple[Proposal, ...]] = [()]
    for row in proposals:
        sets += [(*chosen, row) for chosen in sets if not any(_excludes(row, other) for other in chosen)]
    return sets


def _excludes(proposal: Proposal, other: Proposal) -> bool:
    return proposal.path == other.path or not (
        {*proposal.agents}.isdisjoint(other.agents) or {*proposal.sources}.isdisjoint(other.sources)
    )


def _by_folder(group: Group, read: ReadWith, score: Callable[[Sequence[Proposal]], Score]) -> Sequence[Proposal]:
    """Return a good set: decide each folder after those above it, then improve the set one proposal at a time."""
    chosen: tuple[Proposal, ...] = ()
    for batch in batches(group.proposals):
        problems = {agent: read(agent, chosen).problem_paths for agent in group.agents}
        rows = [row for row in batch if any(not problems[agent].isdisjoint(row.sources) for agent in row.agents)]
        if rows:
            chosen = min(((*chosen, *option) for option in sensible_sets(rows)), key=score)
    return _improve(group, chosen, score(chosen), score)


def batches(proposals: Sequence[Proposal]) -> list[list[Proposal]]:
    """Return the proposals that are decided together: those in one folder, the root's first, and those for one rule or skill."""
    found: dict[tuple[int, str], list[Proposal]] = {}
    for row in proposals:
        source = row.sources[0] if row.sources else ""
        folder = "" if row.means == "setting" else source.rpartition("/")[0]
        is_rule = source.startswith(".agents/")
        key = (-1, source) if is_rule else (folder.count("/") + bool(folder), folder)
        found.setdefault(key, []).append(row)
    return [found[key] for key in sorted(found)]


def _improve(
    group: Group, chosen: tuple[Proposal, ...], best: Score, score: Callable[[Sequence[Proposal]], Score]
) -> Sequence[Proposal]:
    """Add, drop or exchange single proposals as long as that makes the set better."""
    is_better = len(group.proposals) <= _MAX_IMPROVED
    while is_better:
        is_better = False
        for option in _neighbours(group, chosen):
            if (new := score(option)) < best:
                chosen, best, is_better = option, new, True
                break
    return chosen


def _neighbours(group: Group, chosen: tuple[Proposal, ...]) -> Iterator[tuple[Proposal, ...]]:
    for row in chosen:
        yield tuple(other for other in chosen if other is not row)
    for row in group.proposals:
        if row not in chosen:
            yield (*(other for other in chosen if not _excludes(row, other)), row)
