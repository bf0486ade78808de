"""How long an edition stands: what to do on which event, and what that makes of the edition in use. Pure.

    decide    events -> steps, by the layout's table: one about the tools, one about all else
    settle    step, edition in use, fresh prompt -> edition, messages to add, findings
    drift     what a fresh prompt would change, which source changed it, and what prefix a rebuild would lose

The same text and the same tools are the same edition. Prompts are compared by their final bytes, never by what they were made of.
"""

from __future__ import annotations

import json

from .errors import CallError
from .findings import finding
from .inspection.words import common_start
from .layout import STEPS
from .notices import lasting
from .tokens import estimate
from .vocabulary import Edition, Tool, digest, replace, value
from .wire import made_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    from .vocabulary import Finding

_ABOUT_TOOLS = ("tools", "registry")


@value
class Steps:
    """What to do about the tools, and about all else: files, settings, and whatever else the agent brings."""

    tools: str
    rest: str

    @property
    def strongest(self) -> str:
        return _strongest((self.tools, self.rest))

    @property
    def moves(self) -> Sequence[tuple[Literal["tools", "rest", "all"], str]]:
        """The steps to carry out, one after the other, each with what it is about. Equal ones are one."""
        if self.tools == self.rest:
            return () if self.rest == "keep" else (("all", self.rest),)
        both: tuple[tuple[Literal["tools", "rest"], str], ...] = (("tools", self.tools), ("rest", self.rest))
        return tuple((about, step) for about, step in both if step != "keep")


def decide(on: Mapping[str, str], using: Edition | None, events: Sequence[str], is_other_layout: bool = False) -> Steps:
    """The steps for what happened: of several events about the same, the strongest that the layout names.

    A conversation without edition is gathered, and so is one for which somebody asks for a rebuild. What was found for another
    layout can be neither formatted nor told of, and is gathered by this one. To gather is to do so for the tools of the turn,
    and so is to format everything else.
    """
    if using is None:
        return Steps("gather", "gather")
    steps: dict[bool, list[str]] = {True: [], False: []}
    for event in events:
        step = on.get(event, "gather" if event == "rebuild" else "keep")
        is_impossible = is_other_layout and step in ("append", "format")
        steps[event in _ABOUT_TOOLS].append("gather" if is_impossible else step)
    tools, rest = _strongest(steps[True]), _strongest(steps[False])
    if "gather" in (tools, rest):
        return Steps("gather", "gather")
    return Steps("format" if rest == "format" else tools, rest)


def _strongest(steps: Iterable[str]) -> str:
    return max(steps, key=STEPS.index, default="keep")


@value
class Settled:
    """What a step came to: the edition to use, messages for the model, and what a person should know."""

    edition: Edition
    messages: Sequence[Mapping[str, Any]] = ()
    findings: Sequence[Finding] = ()


def settle(
    step: str, using: Edition | None, fresh: Edition, is_summarised: bool = False, since: Edition | None = None
) -> Settled:
    """Carry a step out on the edition in use. `fresh` is what would be built now, `since` what is accounted for already.

    Skills stay in use from one edition to the next, until the messages that hold them are summarised.
    """
    if using is None:
        return Settled(replace(fresh, number=1))
    using = with_state(using, is_compacted=None, **(summarised(json.loads(using.state)) if is_summarised else {}))
    if step in ("format", "gather"):
        if (using.system, using.tools) == (fresh.system, fresh.tools):
            return Settled(using)
        state = json.loads(using.state)
        carried = {name: state.get(name) for name in _CARRIED}
        return Settled(with_state(replace(fresh, number=using.number + 1), **carried, notices=lasting(state)))
    change = drift(using, fresh, since)
    if step == "warn":
        return Settled(using, (), [finding("drift", change.sentence())] if change.has_any else ())
    return _append(using, fresh, change) if step == "append" else Settled(using)


# What the conversation remembers from one edition to the next: skills in use, those to bring back, and the prompt of a hook.
_CARRIED = ("skills", "returning", "in_prompt", "prompt")


def summarised(state: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a state when the messages are summarised: what they said is gone, and skills in use are to come back."""
    returning = [*dict.fromkeys((*state.get("returning", ()), *state.get("skills", ())))]
    return {"skills": None, "returning": returning, "told": None, "notices": None, "unsent": None}


def with_state(edition: Edition, **changes: Any) -> Edition:
    """The edition with something to remember beside it. What is empty is not kept: most conversations remember nothing."""
    before = json.loads(edition.state)
    state = {name: content for name, content in {**before, **changes}.items() if content}
    return edition if state == before else replace(edition, state=json.dumps(state, sort_keys=True))


# Drift


@value
class SectionChange:
    """A section that a fresh prompt would change: how, which sources did it, and how it would read."""

    section: str
    how: Literal["came", "went", "changed"]
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


def drift(using: Edition, fresh: Edition, since: Edition | None = None) -> Drift:
    """How a fresh prompt differs from the edition in use, or from what is accounted for; the price is that of a rebuild."""
    since = since or using
    before, after = _sections(since), _sections(fresh)
    changes: list[SectionChange] = []
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            changes.append(SectionChange(name, "went", sorted(before[name][1])))
        elif name not in before:
            changes.append(SectionChange(name, "came", sorted(after[name][1]), after[name][0]))
        elif before[name][0] != after[name][0]:
            sources = sorted({path for path, _ in before[name][1].items() ^ after[name][1].items()})
            changes.append(SectionChange(name, "changed", sources, after[name][0]))
    old, new = tools_by_name(since.tools), tools_by_name(fresh.tools)
    kept = common_start(using.system, fresh.system)
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


# Append: the change goes into a message, once, and the prefix stays


_INACTIVE = "tool:"


def _append(using: Edition, fresh: Edition, change: Drift) -> Settled:
    told: dict[str, str] = dict(json.loads(using.state).get("told", {}))
    news = _news(using, fresh, change, told)
    texts = [text for _, text, _ in news]
    if change.tools_added:
        texts.append(f"New tools are available from now on: {_listed(change.tools_added)}.")
    if not texts:
        return Settled(with_state(using, active=_active(using, fresh)))
    for name, _, hash in news:
        told.pop(name, None)
        told.update({name: hash} if hash else {})
    kept = with_state(using, told=told)
    others = replace(change, tools_added=())
    findings = [finding("drift", others.sentence())] if others.has_any else []
    if change.tools_added:
        tools = with_new_tools(using.tools, fresh.tools)
        cost = estimate(tools) - estimate(using.tools)
        sentence = f"tools came late: {', '.join(change.tools_added)}; their definitions cost about {cost:,} tokens"
        findings.append(finding("drift", f"{sentence} and the prefix behind them, about {change.tokens_lost:,} tokens"))
        kept = replace(kept, number=using.number + 1, tools=tools)
    findings = findings or [finding("drift", "what had changed is as it was")]
    return Settled(
        with_state(kept, active=_active(kept, fresh)), [{"role": "user", "content": "\n\n".join(texts)}], findings
    )


def _active(using: Edition, fresh: Edition) -> dict[str, Any] | None:
    """The tools that the agent has now, where the edition defines others; None where it defines the same."""
    tools = made_for(fresh)["tools"]
    return {"tools": _rows(tools)} if tools != made_for(using)["tools"] else None


def _rows(tools: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, **row} for name, row in tools.items()]


def _news(using: Edition, fresh: Edition, change: Drift, told: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """What the messages so far do not say yet: what of, the sentence, and the hash of what it is now; none if as at first."""
    now = {each.section: (_told(each), digest(each.text)) for each in change.sections}
    definitions = tools_by_name(fresh.tools)
    for name in change.tools_changed:
        written = json.dumps(definitions[name], ensure_ascii=False, sort_keys=True)
        now[f"tool:{name}"] = (f"The tool `{name}` has changed. Its definition is now:\n\n{written}", digest(written))
    if change.tools_removed:
        names = _listed(change.tools_removed)
        sentence = f"Tools that are not active from now on, so do not call them: {names}. All others are active."
        now[_INACTIVE] = (sentence, digest(names))
    news = [(name, text, hash) for name, (text, hash) in now.items() if told.get(name) != hash]
    known = {f"tool:{name}" for name in definitions} | {_INACTIVE}
    taken_back = [name for name in told if name not in now and (name in known or not name.startswith("tool:"))]
    return news + [(name, _as_at_first(name, using), "") for name in taken_back]


def _as_at_first(name: str, using: Edition) -> str:
    if name == _INACTIVE:
        return "All tools are active again."
    if name.startswith("tool:"):
        return f"The tool `{name.removeprefix('tool:')}` is again as it was defined at first."
    text, _ = _sections(using).get(name, ("", {}))
    return _told(SectionChange(name, "changed" if text else "went", (), text))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


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
    ordered = [rows[name] for name in sorted(rows)]
    try:
        return json.dumps(ordered, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise CallError(
            f"the schema of {_unwritable(ordered)} is no JSON: it holds NaN, an infinity or itself"
        ) from None


def _unwritable(rows: Iterable[Mapping[str, Any]]) -> str:
    """Which of these tools cannot be written as JSON."""
    for row in rows:
        try:
            json.dumps(row, allow_nan=False)
        except ValueError:
            return f"the tool {row['name']!r}"
    return "a tool"


def tools_in_use(edition: Edition) -> list[Tool]:
    """The tools that the agent of a conversation has, as far as its edition knows: those of it that are active."""
    active = json.loads(edition.state).get("active")
    rows = active["tools"] if active else _rows(made_for(edition)["tools"])
    return [
        Tool(row["name"], row["description"], row.get("snippet", ""), row.get("guidelines", ()), row["schema"])
        for row in rows
    ]


def tools_by_name(written: str) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads(written)}


def with_new_tools(known: str, now: str) -> str:
    """The known definitions as they are, and behind them those of tools that are new."""
    old = json.loads(known)
    names = {row["name"] for row in old}
    rows = [*old, *(row for row in json.loads(now) if row["name"] not in names)]
    return json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
