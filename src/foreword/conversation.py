"""How long an edition stands: what to do on which event, and what that makes of the edition in use. Pure.

    decide    event -> step, by the layout's table; of several events at once the strongest step counts
    settle    step, edition in use, fresh prompt -> edition, messages to add, findings
    drift     what a fresh prompt would change, which source changed it, and what prefix a rebuild would lose

The same text and the same tools are the same edition. Prompts are compared by their final bytes, never by what they were made of.
"""

from __future__ import annotations

import json

from .findings import finding
from .tokens import estimate
from .vocabulary import Edition, digest, replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .vocabulary import Finding, Tool

STEPS = ("keep", "warn", "append", "format", "gather")


def decide(on: Mapping[str, str], using: Edition | None, events: Sequence[str]) -> str:
    """The step for what happened: the strongest of those that the layout names. A conversation without edition is gathered."""
    if using is None:
        return "gather"
    return max((on.get(event, "keep") for event in events), key=STEPS.index, default="keep")


@value
class Settled:
    """What a step came to: the edition to use, messages for the model, and what a person should know."""

    edition: Edition
    messages: Sequence[Mapping[str, Any]] = ()
    findings: Sequence[Finding] = ()


def settle(step: str, using: Edition | None, fresh: Edition) -> Settled:
    """Carry a step out on the edition in use. `fresh` is what would be built now."""
    if using is None:
        return Settled(replace(fresh, number=1))
    if step in ("format", "gather"):
        is_same = (using.system, using.tools) == (fresh.system, fresh.tools)
        return Settled(using if is_same else replace(fresh, number=using.number + 1))
    change = drift(using, fresh)
    if step == "warn":
        return Settled(using, (), [finding("drift", change.sentence())] if change.has_any else ())
    if step == "append":
        return _append(using, fresh, change)
    return Settled(using)


# Drift


@value
class SectionChange:
    """A section that a fresh prompt would change: how, which sources did it, and how it would read."""

    section: str
    how: str
    sources: Sequence[str] = ()
    text: str = ""


@value
class Drift:
    """What stands between the edition in use and a prompt built now."""

    sections: Sequence[SectionChange]
    tools_added: Sequence[str]
    tools_removed: Sequence[str]
    tools_changed: Sequence[str]
    tokens_kept: int
    tokens_lost: int

    @property
    def has_any(self) -> bool:
        return bool(self.sections or self.tools_added or self.tools_removed or self.tools_changed)

    def sentence(self) -> str:
        """The change in one sentence, with its price."""
        told = [
            f"section '{each.section}' {each.how}" + (f" ({', '.join(each.sources)})" if each.sources else "")
            for each in self.sections
        ]
        names = (("came", self.tools_added), ("went", self.tools_removed), ("changed", self.tools_changed))
        told += [f"tool{'s' if len(each) > 1 else ''} {', '.join(each)} {how}" for how, each in names if each]
        return f"{'; '.join(told)}; a rebuild would lose about {self.tokens_lost:,} tokens of prefix"


def drift(using: Edition, fresh: Edition) -> Drift:
    """How a fresh prompt differs from the edition in use."""
    before, after = _sections(using), _sections(fresh)
    changes: list[SectionChange] = []
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            changes.append(SectionChange(name, "went", sorted(before[name][1])))
        elif name not in before:
            changes.append(SectionChange(name, "came", sorted(after[name][1]), after[name][0]))
        elif before[name][0] != after[name][0]:
            sources = sorted({path for path, _ in before[name][1].items() ^ after[name][1].items()})
            changes.append(SectionChange(name, "changed", sources, after[name][0]))
    old, new = tools_by_name(using.tools), tools_by_name(fresh.tools)
    kept = _common(using.system, fresh.system)
    has_other_tools = using.tools != fresh.tools
    return Drift(
        changes,
        [name for name in new if name not in old],
        [name for name in old if name not in new],
        [name for name in new if name in old and new[name] != old[name]],
        0 if has_other_tools else estimate(using.system[:kept]),
        estimate(using.system if has_other_tools else using.system[kept:]),
    )


def _sections(edition: Edition) -> dict[str, tuple[str, dict[str, str]]]:
    """The text of each section, and the sources it came from with their hashes."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    for passage in json.loads(edition.account).get("passages", ()):
        sources = {
            each["path"]: each["hash"]
            for each in passage["origins"]
            if each["path"] and each["kind"] not in ("builtin", "mark")
        }
        found[passage["section"]] = (edition.system[passage["start"] : passage["end"]], sources)
    return found


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


# Append: the change goes into a message, once, and the prefix stays


def _append(using: Edition, fresh: Edition, change: Drift) -> Settled:
    state = json.loads(using.state)
    announced = digest(f"{fresh.system}\n{fresh.tools}")
    told = dict(state.get("told", {}))
    news = [each for each in change.sections if told.get(each.section) != digest(each.text)]
    texts = [_told(each) for each in news]
    tools = with_new_tools(using.tools, fresh.tools)
    added = [name for name in tools_by_name(tools) if name not in tools_by_name(using.tools)]
    if added:
        texts.append("New tools are available from now on: " + ", ".join(f"`{name}`" for name in added) + ".")
    if not texts:
        return Settled(using)
    told.update({each.section: digest(each.text) for each in news})
    kept = replace(using, state=json.dumps({**state, "told": told, "announced": announced}, sort_keys=True))
    findings = [finding("drift", change.sentence())]
    if added:
        cost = estimate(tools) - estimate(using.tools)
        findings = [
            finding(
                "drift",
                f"tools came late: {', '.join(added)}; their definitions cost about {cost:,} tokens and the prefix behind them",
            )
        ]
        kept = replace(kept, number=using.number + 1, tools=tools)
    return Settled(kept, [{"role": "user", "content": "\n\n".join(texts)}], findings)


def _told(change: SectionChange) -> str:
    if change.how == "went":
        return f"The section '{change.section}' of your instructions no longer applies."
    return f"The section '{change.section}' of your instructions has changed. It now reads:\n\n{change.text}"


# Tool definitions


def written_tools(tools: Iterable[Tool]) -> str:
    """Tool definitions as JSON in one stable order, whatever order they came in: their bytes come before all else."""
    rows = {
        tool.name: {"name": tool.name, "description": tool.description, "schema": tool.schema or {}} for tool in tools
    }
    return json.dumps([rows[name] for name in sorted(rows)], ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def tools_by_name(written: str) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads(written)}


def with_new_tools(known: str, now: str) -> str:
    """The known definitions as they are, and behind them those of tools that are new."""
    old = json.loads(known)
    names = {row["name"] for row in old}
    rows = [*old, *(row for row in json.loads(now) if row["name"] not in names)]
    return json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
