"""How long an edition stands: what to do on which event, and what that makes of the edition in use. Pure.

    decide    events -> steps, by the layout's table: one about the tools, one about all else
    apply_step    step, edition in use, fresh prompt -> edition, messages to add, findings
    drift     what a fresh prompt would change, which source changed it, and what prefix a rebuild would lose

The same text and the same tools are the same edition. Prompts are compared by their final bytes, never by what they were made of.
"""

from __future__ import annotations

import json

from ..encoding.agent import made_for
from ..encoding.edition import account_of, parse_tools, state_of, tools_of
from ..errors import CallError
from ..findings import finding
from ..inspection.changes import BETWEEN, WHOLE, Names, changes, section_names, sent_edition
from ..inspection.prices import CacheRule
from ..layout.keys import STEPS
from ..text.tokens import estimate
from ..text.words import common_start
from ..vocabulary import Edition, Tool, digest, replace, value
from .notices import lasting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from ..inspection.changes import SectionChange, Sent
    from ..vocabulary import Finding

    Pricing = Callable[[Edition, Edition], tuple[int, int, CacheRule]]

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
class Outcome:
    """What a step came to: the edition to use, messages for the model, and what a person should know."""

    edition: Edition
    messages: Sequence[Mapping[str, Any]] = ()
    findings: Sequence[Finding] = ()


def apply_step(
    step: str,
    using: Edition | None,
    fresh: Edition,
    is_summarised: bool = False,
    since: Edition | None = None,
    price: Pricing | None = None,
) -> Outcome:
    """Carry a step out on the edition in use. `fresh` is what would be built now, `since` what is accounted for already.
    `price` says what of the provider's cache a rebuild would keep and lose.

    Skills stay in use from one edition to the next, until the messages that hold them are summarised.
    """
    if using is None:
        return Outcome(replace(fresh, number=1))
    using = with_state(using, is_compacted=None, **(summarised(state_of(using)) if is_summarised else {}))
    if step in ("format", "gather"):
        if (using.system, using.tools) == (fresh.system, fresh.tools):
            return Outcome(using)
        state = state_of(using)
        carried = {name: state.get(name) for name in _CARRIED}
        return Outcome(with_state(replace(fresh, number=using.number + 1), **carried, notices=lasting(state)))
    change = drift(using, fresh, since, price)
    if step == "warn":
        return Outcome(using, (), [finding("drift", change.sentence())] if change.is_changed else ())
    return _append(using, fresh, change) if step == "append" else Outcome(using)


# What the conversation remembers from one edition to the next: skills in use, those to bring back, and the prompt of a hook.
_CARRIED = ("skills", "returning", "in_prompt", "prompt")


def summarised(state: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a state when the messages are summarised: what they said is gone, and skills in use are to come back."""
    returning = [*dict.fromkeys((*state.get("returning", ()), *state.get("skills", ())))]
    return {"skills": None, "returning": returning, "told": None, "notices": None, "unsent": None}


def with_state(edition: Edition, **changes: Any) -> Edition:
    """The edition with something to remember beside it. What is empty is not kept: most conversations remember nothing."""
    before = state_of(edition)
    state = {name: content for name, content in {**before, **changes}.items() if content}
    return edition if state == before else replace(edition, state=json.dumps(state, sort_keys=True))


# Drift


@value
class Drift:
    """What differs between the edition in use and a prompt built now, and what of the provider's cache a rebuild would lose."""

    sections: Sequence[SectionChange]
    tools: Names
    tokens_kept: int
    tokens_lost: int
    rule: CacheRule = CacheRule()

    @property
    def is_changed(self) -> bool:
        """True if and only if the text or the tool definitions differ."""
        return bool(self.sections) or self.tools.has_any

    @property
    def section_names(self) -> Names:
        return section_names(self.sections)

    def sentence(self) -> str:
        """The change in one sentence, with its price."""
        if not self.is_changed:
            return "nothing has changed since the edition in use was made"
        parts = [_described(each) for each in self.sections]
        parts += [f"tool{'s' if len(names) > 1 else ''} {', '.join(names)} {kind}" for kind, names in self.tools.each()]
        return f"{'; '.join(parts)}; a rebuild would lose about {self.tokens_lost:,} tokens of prefix ({self.rule})"


def _described(change: SectionChange) -> str:
    """`section 'project' moved and changed (/w/AGENTS.md)`"""
    what = {WHOLE: "the prompt", BETWEEN: "the text between sections"}.get(
        change.section, f"section '{change.section}'"
    )
    sources = f" ({', '.join(change.sources)})" if change.sources else ""
    return f"{what} {' and '.join(change.kinds)}{sources}"


def drift(using: Edition, fresh: Edition, since: Edition | None = None, price: Pricing | None = None) -> Drift:
    """How a fresh prompt differs from the edition in use, or from what is accounted for; the price is that of a rebuild.

    Without `price` it is assumed that the common beginning of the two prompts is kept.
    """
    found = changes(sent_by(since or using), sent_by(fresh))
    return Drift(found.sections, found.tools, *(price or _prefix_price)(using, fresh))


def _prefix_price(using: Edition, fresh: Edition) -> tuple[int, int, CacheRule]:
    kept = common_start(using.system, fresh.system) if using.tools == fresh.tools else 0
    return estimate(using.system[:kept]), estimate(using.system[kept:]), CacheRule()


def sent_by(edition: Edition) -> Sent:
    """What a model is sent with an edition."""
    return sent_edition(edition.system, account_of(edition), tools_of(edition))


def _texts(edition: Edition) -> dict[str, str]:
    """The text of each section; sections of one name are joined."""
    found: dict[str, list[str]] = {}
    for passage in account_of(edition).get("passages", ()):
        found.setdefault(passage["section"], []).append(edition.system[passage["start"] : passage["end"]])
    return {name: "\n\n".join(texts) for name, texts in found.items()}


# Append: the change goes into a message, once, and the prefix stays


_INACTIVE = "tool:"
_NO_SECTIONS = (WHOLE, BETWEEN)


def _append(using: Edition, fresh: Edition, change: Drift) -> Outcome:
    told: dict[str, str] = dict(state_of(using).get("told", {}))
    news = _news(using, fresh, change, told)
    texts = [text for _, text, _ in news]
    if change.tools.added:
        texts.append(f"New tools are available from now on: {_listed(change.tools.added)}.")
    if not texts:
        return Outcome(with_state(using, active=_active(using, fresh)))
    for name, _, hash in news:
        told.pop(name, None)
        told.update({name: hash} if hash else {})
    kept = with_state(using, told=told)
    # New tools have a finding of their own, and the order of tools is kept.
    others = replace(change, tools=replace(change.tools, added=(), moved=()))
    findings = [finding("drift", others.sentence())] if others.is_changed else []
    if change.tools.added:
        tools = with_new_tools(using.tools, fresh.tools)
        cost = estimate(tools) - estimate(using.tools)
        sentence = f"tools came late: {', '.join(change.tools.added)}; their definitions cost about {cost:,} tokens"
        findings.append(finding("drift", f"{sentence} and the prefix behind them, about {change.tokens_lost:,} tokens"))
        kept = replace(kept, number=using.number + 1, tools=tools)
    findings = findings or [finding("drift", "what had changed is as it was")]
    return Outcome(
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
    texts = _texts(fresh)
    # A move, or another separator, is nothing the model could act on.
    named = [each.section for each in change.sections if tuple(each.kinds) != ("moved",)]
    now = {
        name: (_told(name, texts.get(name, "")), digest(texts.get(name, "")))
        for name in named
        if name not in _NO_SECTIONS
    }
    definitions = tools_by_name(fresh.tools)
    for name in change.tools.changed:
        written = json.dumps(definitions[name], ensure_ascii=False, sort_keys=True)
        now[f"tool:{name}"] = (f"The tool `{name}` has changed. Its definition is now:\n\n{written}", digest(written))
    if change.tools.removed:
        names = _listed(change.tools.removed)
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
    return _told(name, _texts(using).get(name, ""))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _told(section: str, text: str) -> str:
    if not text:
        return f"The section '{section}' of your instructions no longer applies."
    return f"The section '{section}' of your instructions has changed. It now reads:\n\n{text}"


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
    active = state_of(edition).get("active")
    rows = active["tools"] if active else _rows(made_for(edition)["tools"])
    return [
        Tool(row["name"], row["description"], row.get("snippet", ""), row.get("guidelines", ()), row["schema"])
        for row in rows
    ]


def tools_by_name(written: str) -> dict[str, Any]:
    return {row["name"]: row for row in parse_tools(written)}


def with_new_tools(known: str, now: str) -> str:
    """The known definitions as they are, and behind them those of tools that are new."""
    old = parse_tools(known)
    names = {row["name"] for row in old}
    rows = [*old, *(row for row in parse_tools(now) if row["name"] not in names)]
    return json.dumps(rows, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
