"""Whether a change to a repository breaks its alignment, for a review."""

from __future__ import annotations

from posixpath import basename

from ...findings import finding
from ...packs.packs import mirror_names
from ...packs.shipped import shipped_mirror
from ...sources.front_matter import split
from ...sources.overlay import SharedFiles
from ...text.lines import printable
from .notes import listed
from .plan import Planner
from .sources import INSTRUCTIONS, content_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...vocabulary import Finding

    # What each agent does not read exactly once, by the agent's name.
    Problems = Mapping[str, Sequence[str]]

_MAX_SOURCES = 50  # more would take too long in a review
MAX_BYTES = 30_000  # of instructions together; no agent cuts fewer


def alignment_problems(root: str, names: Iterable[str], links: Iterable[str], agents: Iterable[str]) -> Problems:
    """Return what each of these agents does not read exactly once in a folder with these files."""
    wanted = set(agents)
    layouts = {name: shipped_mirror(name) for name in mirror_names() if name in wanted}
    if not layouts:
        return {}
    planner = Planner(SharedFiles(root, names, links), layouts, max_sources=_MAX_SOURCES, in_all_folders=False)
    return {agent.name: sorted(planner.before[agent.name].problem_paths) for agent in planner.agents}


def may_break(changed: Mapping[str, tuple[str, str]], others: Mapping[str, str]) -> bool:
    """Whether edits of files can change what agents read exactly once. `changed` has the old and the new text of each file.

    They cannot if only the wording of sources changes, without imports, with the same front matter, and if no other file has all of their
    lines. `others` are the other instruction files. All texts together have at most MAX_BYTES.
    """
    if any(basename(path) != INSTRUCTIONS or not _is_reworded(old, new) for path, (old, new) in changed.items()):
        return True
    sources = [text for path, text in others.items() if basename(path) == INSTRUCTIONS]
    if any(_equal_pairs([row[side] for row in changed.values()], sources) for side in (0, 1)):
        return True
    own = [set(content_lines(text)) for path, text in others.items() if basename(path) != INSTRUCTIONS]
    return any(set(content_lines(text)) <= lines for texts in changed.values() for text in texts for lines in own)


def _is_reworded(old: str, new: str) -> bool:
    """Whether two texts have lines, no imports, and the same front matter."""
    return all(content_lines(text) and "@" not in text for text in (old, new)) and split(old)[0] == split(new)[0]


def _equal_pairs(texts: Sequence[str], others: Sequence[str]) -> bool:
    """Whether one of the texts is equal to another one, of which some agents would read only one."""
    stripped, rest = [text.strip() for text in texts], {text.strip() for text in others}
    return len({*stripped}) < len(stripped) or not rest.isdisjoint(stripped)


def broken_alignment(before: Problems, after: Problems) -> list[Finding]:
    """Return a finding if agents read everything exactly once before a change, but not after it."""
    broken = {shipped_mirror(name).mirrors: paths for name, paths in after.items() if paths and before.get(name) == []}
    if not broken:
        return []
    parts = "; ".join(f"{name}: {listed(paths)}" for name, paths in broken.items())
    message = (
        f"the change breaks the alignment: agents no longer read every file exactly once ({parts});"
        " foreword align shows the fewest changes that help"
    )
    return [finding("align-broken", message, printable(next(iter(broken.values()))[0]))]
