"""Whether a change to a repository breaks its alignment, for a review."""

from __future__ import annotations

from ...findings import finding
from ...packs.packs import mirror_names
from ...packs.shipped import shipped_mirror
from ...sources.overlay import SharedFiles
from ...text.lines import printable
from .notes import listed
from .plan import Planner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...vocabulary import Finding

    # What each program does not read exactly once, by the program's name.
    Problems = Mapping[str, Sequence[str]]

_MAX_SOURCES = 50  # more would take too long in a review


def alignment_problems(root: str, names: Iterable[str], links: Iterable[str], agents: Iterable[str]) -> Problems:
    """Return what each of these agents does not read exactly once in a folder with these files."""
    layouts = {name: shipped_mirror(name) for name in mirror_names() if name in set(agents)}
    planner = Planner(SharedFiles(root, names, links), layouts, max_sources=_MAX_SOURCES)
    return {agent.program: sorted(planner.before[agent.name].problem_paths) for agent in planner.agents}


def broken_alignment(before: Problems, after: Problems) -> list[Finding]:
    """Return a finding if agents read everything exactly once before a change, but not after it."""
    broken = {name: paths for name, paths in after.items() if paths and before.get(name) == []}
    if not broken:
        return []
    parts = "; ".join(f"{name}: {listed(paths)}" for name, paths in broken.items())
    message = (
        f"the change breaks the alignment: agents no longer read every file exactly once ({parts});"
        " foreword align shows the fewest changes that help"
    )
    return [finding("align-broken", message, printable(next(iter(broken.values()))[0]))]
