"""The values of an alignment."""

from __future__ import annotations

from ...vocabulary import value


@value
class LinkTo:
    """A link to a path, which is relative to the link's folder."""

    target: str


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    from ...vocabulary import Finding

    Kind = Literal["file", "rule", "skill"]
    Means = Literal["setting", "import", "copy", "link", "merge", "remove", "record"]
    # What is at a path after a change: a text, a link, or None if the file is removed.
    Content = str | LinkTo | None
    Contents = Mapping[str, Content]


@value
class Instruction:
    """An instruction that every agent should read: a file, a rule for certain paths, or a skill.

    `folder` is where it applies, empty for the root. `lines` are those that a reader must see, without blank ones. `globs` are the
    paths that a rule is for; without any, it always applies. `has_other_files` says whether a skill's folder contains more than it.
    """

    path: str
    kind: Kind
    folder: str
    text: str
    lines: Sequence[str]
    name: str = ""
    globs: Sequence[str] = ()
    has_other_files: bool = False


@value
class AlignedAgent:
    """A chosen agent: its layout's name, the program's name, and its means (the layout's table `[align]`)."""

    name: str
    program: str
    means: Mapping[str, Any]


@value
class Proposal:
    """One possible change to a file. A link's `text` is its target. `cost` orders the means: a setting, a link, an import, a copy. `rank` orders equal means.

    `sources` are the paths of the sources for which it is proposed, and `agents` the names of the agents.
    """

    path: str
    text: str | None
    means: Means
    agents: Sequence[str]
    sources: Sequence[str]
    reason: str
    is_new: bool = True
    rank: int = 0

    @property
    def content(self) -> Content:
        return LinkTo(self.text) if self.means == "link" and self.text is not None else self.text

    @property
    def cost(self) -> int:
        return _COSTS[self.means] * 10 + self.rank


_COSTS: dict[str, int] = {"record": 0, "remove": 0, "merge": 0, "setting": 1, "link": 2, "import": 3, "copy": 4}


@value
class AgentReading:
    """What an agent reads, by the sources' paths. `elsewhere` are the pairs of a folder and a source that an agent started there misses."""

    read: Sequence[str] = ()
    missing: Sequence[str] = ()
    repeated: Sequence[str] = ()
    cut: Sequence[str] = ()
    elsewhere: Sequence[tuple[str, str]] = ()

    @property
    def problems(self) -> int:
        return len(self.missing) + len(self.repeated) + len(self.cut)

    @property
    def problem_paths(self) -> set[str]:
        return {*self.missing, *self.repeated, *self.cut}

    @property
    def unread(self) -> int:
        return len(self.missing) + len(self.cut)


@value
class FileChange:
    """One change to a file: `text` is its new text, None if the file is removed, or a link's target."""

    path: str
    action: Literal["create", "edit", "remove", "link"]
    text: str | None
    agents: Sequence[str]
    reason: str
    before: str | None = None


@value
class Alignment:
    """The changes, and what each agent reads before and after them, by the agent's name."""

    root: str
    agents: Sequence[AlignedAgent]
    sources: Sequence[Instruction]
    changes: Sequence[FileChange]
    before: Mapping[str, AgentReading]
    after: Mapping[str, AgentReading]
    findings: Sequence[Finding] = ()
