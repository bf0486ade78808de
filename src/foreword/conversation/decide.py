"""Decide what each event does, and whether the edition in use is kept or replaced. Pure.

    decide      events -> steps, from the layout's table: one for the tools, one for everything else
    apply_step  step, edition in use, new edition -> edition, messages to add, findings
    drift       what a new prompt would change, which source changed it, and how much cached prefix a rebuild would lose

Prompts with the same text, divided into the same messages, and the same tools are the same edition. They are compared by their final
bytes, never by their inputs.
"""

from __future__ import annotations

import json

from ..encoding.edition import account_of, described_tools, target_of, tool_rows, tools_of
from ..findings import finding
from ..inspection.changes import BETWEEN_SECTIONS, WHOLE_PROMPT, ChangedParts, Names, edition_side, find_changes
from ..inspection.rebuilding import RebuildCost
from ..layout.keys import STEPS
from ..text.tokens import estimate
from ..text.words import common_prefix_length
from ..vocabulary import Edition, digest, replace, value
from ..vocabulary.tools import LateToolEffect, inactive_tools, join_tool_names, new_tools_sentence
from .announcing import (
    SectionText,
    apply_edits,
    describe_section,
    describe_tool,
    find_edits,
    join_changes,
    section_texts,
)
from .leading import earlier_hashes, is_same_prompt
from .notices import changes_of, lasting_notices, retired_hashes, still_unsent
from .state import state_of, update_state, with_state
from .tools import tools_by_name, with_new_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal

    from ..inspection.changes import SectionChange, Side
    from ..inspection.prices import CacheRule
    from ..vocabulary import Finding
    from .choice import Carrying
    from .state import State

    EffectFunction = Callable[[Edition, Sequence[str]], LateToolEffect]
    LossFunction = Callable[[Edition, Edition], RebuildCost]
    Subject = Literal["tools", "rest", "all"]

_TOOL_EVENTS = ("tools", "registry")
_ANNOUNCING = ("announce", "append")


@value
class Steps:
    """The steps for the tools and for everything else: files, settings, and the rest of the agent."""

    tools: str
    rest: str

    @property
    def strongest(self) -> str:
        return _strongest((self.tools, self.rest))

    @property
    def announces(self) -> bool:
        return self.rest in _ANNOUNCING

    @property
    def changes(self) -> Sequence[tuple[Subject, str]]:
        """The steps other than `keep`, in order, each with its subject. Equal steps are merged."""
        if self.tools == self.rest:
            return () if self.rest == "keep" else (("all", self.rest),)
        steps: tuple[tuple[Subject, str], ...] = (("tools", self.tools), ("rest", self.rest))
        return tuple((subject, step) for subject, step in steps if step != "keep")


def decide(on: Mapping[str, str], events: Sequence[str], layout_changed: bool = False) -> Steps:
    """Return the steps for these events: for each subject, the strongest one in the layout's table `on`.

    An explicit rebuild gathers. Inputs that were gathered for another layout can be neither formatted nor compared, so they are
    gathered again. Gathering always uses the turn's tools, and so does formatting everything else.
    """
    steps: dict[bool, list[str]] = {True: [], False: []}
    for event in events:
        step = on.get(event, "gather" if event == "rebuild" else "keep")
        is_impossible = layout_changed and step in ("announce", "append", "format")
        steps[event in _TOOL_EVENTS].append("gather" if is_impossible else step)
    tools, rest = _strongest(steps[True]), _strongest(steps[False])
    if "gather" in (tools, rest):
        return Steps("gather", "gather")
    if rest in _ANNOUNCING and tools in _ANNOUNCING:
        return Steps(rest, rest)  # all changes are announced together, from the same inputs
    return Steps("format" if rest == "format" else tools, rest)


_TRIGGERS = ("rebuild", "reload", "compaction", "resources", "registry", "tools", "turn")


def trigger_of_steps(on: Mapping[str, str], events: Sequence[str], layout_changed: bool = False) -> str:
    """Return the event that causes a new edition: the one with the strongest step in the layout's table `on`.

    An explicit rebuild is called `construct`, like the caller's method. A layout other than the edition's is `layout`.
    """
    if "rebuild" in events:
        return "construct"
    candidates = [event for event in _TRIGGERS if event in events]
    event = max(candidates, key=lambda event: STEPS.index(on.get(event, "keep")), default="turn")
    return "layout" if layout_changed and on.get(event, "keep") != "gather" else event


def _strongest(steps: Iterable[str]) -> str:
    return max(steps, key=STEPS.index, default="keep")


@value
class Outcome:
    """The result of a step: the edition to use, whether it was in use before, messages for the model, and findings.

    `changes` lists the names of the tools that each message adds, removes and restores.
    """

    edition: Edition
    messages: Sequence[Mapping[str, Any]] = ()
    findings: Sequence[Finding] = ()
    is_reused: bool = False
    changes: Sequence[Mapping[str, Any]] = ()


def apply_step(
    step: str,
    current: Edition,
    new_edition: Edition,
    forget: Callable[[State], State] | None = None,
    since: Edition | None = None,
    loss: LossFunction | None = None,
    late_tool_effect: EffectFunction = lambda edition, added: LateToolEffect(),
    carrying: Carrying | None = None,
) -> Outcome:
    """Apply a step to the edition in use. `new_edition` is what would be built now.

    `since` is an edition whose changes are already reported. `loss` returns how much of the provider's cache a rebuild keeps and
    loses. `late_tool_effect` returns what new tools do to the next request. Skills stay in use from one edition to the next, until the
    messages that contain them are summarised: `forget` then returns the state without their content. Without `carrying`, the step
    `append` always announces.
    """
    state = replace(state_of(current), is_compacted=False)
    state = forget(state) if forget else state
    current = with_state(current, state)
    if step in ("format", "gather"):
        if is_same_prompt(current, new_edition) and current.tools == new_edition.tools:
            return Outcome(current)
        return Outcome(_successor(current, new_edition))
    change = drift(current, new_edition, since, loss)
    if step == "warn":
        return Outcome(current, (), [finding("drift", change.sentence())] if change.is_changed else ())
    if step in _ANNOUNCING:
        outcome = _announce(current, new_edition, change, loss or _prefix_loss, late_tool_effect)
        if step == "append" and carrying is not None and change.is_changed:
            announcement = carrying.count("".join(message["content"] for message in outcome.messages))
            choice = carrying.choose(announcement, change.rebuild)
            if choice.is_rebuild:
                message = carrying.describe(current.number + 1, choice, announcement, change.rebuild)
                return Outcome(_successor(current, new_edition), (), [finding("rebuilt", message)])
        return outcome
    return Outcome(current)


def _successor(current: Edition, new_edition: Edition) -> Edition:
    """Return the new edition with the next number, and with what it takes over from the one in use."""
    state = state_of(current)
    carried = {name: getattr(state, name) for name in _CARRIED_FIELDS}
    carried |= {"notices": lasting_notices(state), "unsent": still_unsent(state)}
    carried |= {"earlier": earlier_hashes(current), "retired": retired_hashes(state)}
    return update_state(replace(new_edition, number=current.number + 1), **carried)


# The fields of the state that the next edition takes over.
_CARRIED_FIELDS = ("skills", "skills_again", "in_prompt", "prompt", "touched", "touched_again", "plan", "resources")


# Drift


@value
class Drift(ChangedParts):
    """The differences between a newly built prompt and the edition in use, and what a rebuild would cost.

    Fields:
        sections: The sections that differ.
        tools: The names of the tools that differ.
        rebuild: How much of the provider's cache a rebuild would keep and lose, messages included, in tokens and dollars.
        system: The system prompt that would be built now.
        tokens_kept: How many cached tokens a rebuild would keep.
        tokens_lost: How many cached tokens a rebuild would lose.
        rule: The caching rule that the numbers follow.
        is_changed: Whether the text or the tool definitions differ.
        section_names: The names of the sections that differ.
    """

    sections: Sequence[SectionChange]
    tools: Names
    rebuild: RebuildCost
    system: str = ""

    @property
    def tokens_kept(self) -> int:
        return self.rebuild.tokens_kept

    @property
    def tokens_lost(self) -> int:
        return self.rebuild.tokens_lost

    @property
    def rule(self) -> CacheRule:
        return self.rebuild.rule

    def sentence(self) -> str:
        """Describe the change in one sentence, including what a rebuild would lose."""
        if not self.is_changed:
            return "nothing has changed since the edition in use was created"
        parts = [_describe_change(section) for section in self.sections]
        parts += [
            f"tool{'s' if len(names) > 1 else ''} {', '.join(names)} {kind}" for kind, names in self.tools.by_kind()
        ]
        return f"{'; '.join(parts)}; a rebuild would {self.rebuild.describe()}"


def _describe_change(change: SectionChange) -> str:
    """Return a description such as `section 'project' moved and changed (/w/AGENTS.md)`."""
    what = {WHOLE_PROMPT: "the prompt", BETWEEN_SECTIONS: "the text between sections"}.get(
        change.section, f"section '{change.section}'"
    )
    sources = f" ({', '.join(change.sources)})" if change.sources else ""
    return f"{what} {' and '.join(change.kinds)}{sources}"


def drift(
    current: Edition, new_edition: Edition, since: Edition | None = None, loss: LossFunction | None = None
) -> Drift:
    """Compare a new edition with the edition in use, or with `since`. The loss is always that of rebuilding the edition in use.

    Without `loss`, a rebuild is assumed to keep the common prefix of the two prompts.
    """
    changes = find_changes(_side(since or current), _side(new_edition))
    return Drift(changes.sections, changes.tools, (loss or _prefix_loss)(current, new_edition), new_edition.system)


def _prefix_loss(current: Edition, new_edition: Edition) -> RebuildCost:
    kept = common_prefix_length(current.system, new_edition.system) if current.tools == new_edition.tools else 0
    return RebuildCost(estimate(current.system[:kept]), estimate(current.system[kept:]))


def _side(edition: Edition) -> Side:
    """Return what an edition sends to a model, for a comparison."""
    return edition_side(edition.system, account_of(edition), tools_of(edition))


# The steps `announce` and `append`: a message announces each change once, and the prefix stays the same


_MAX_NAMES = 20  # in a finding
_TOOL_KEY = "tool:"  # the prefix of a tool's key in `announced`; without a name, the key of the inactive tools


@value
class _Announcement:
    """A change that no message has announced yet, and what to remember about it: nothing if the change was reverted.

    For a section, that is how the edition's text becomes the announced one; for a tool, the hash of its definition.
    """

    key: str
    text: str
    known: Any = None
    needs_introduction: bool = False


def _announce(
    current: Edition, new_edition: Edition, change: Drift, loss: LossFunction, late_tool_effect: EffectFunction
) -> Outcome:
    """Return the edition with messages that announce the changes."""
    announced = dict(state_of(current).announced)
    announcements = _unannounced(current, new_edition, change, announced)
    texts = join_changes((announcement.text, announcement.needs_introduction) for announcement in announcements)
    if change.tools.added:
        texts.append(new_tools_sentence(change.tools.added))
    if not texts:
        return Outcome(update_state(current, active=_active_tools(current, new_edition)))
    for announcement in announcements:
        announced.pop(announcement.key, None)
        announced.update({announcement.key: announcement.known} if announcement.known else {})
    kept = update_state(current, announced=announced)
    # New tools are reported in a separate finding, and the edition keeps the order of its tools.
    other_changes = replace(change, tools=replace(change.tools, added=(), moved=()))
    findings = [finding("drift", other_changes.sentence())] if other_changes.is_changed else []
    if change.tools.added:
        kept = replace(kept, number=current.number + 1, tools=with_new_tools(current.tools, new_edition.tools))
        cost = estimate(kept.tools) - estimate(current.tools)
        effect = late_tool_effect(kept, change.tools.added)
        has_loss = effect.loses_cache or effect.exception
        lost = loss(current, replace(current, tools=kept.tools)) if has_loss else RebuildCost(0, 0)
        findings.append(finding("drift", _late_tools_sentence(change.tools.added, cost, lost, effect)))
    findings = findings or [finding("drift", "an announced change was reverted")]
    message = {"role": "user", "content": "\n\n".join(texts)}
    changes = [_tool_names(current, change)]
    edition = update_state(kept, active=_active_tools(kept, new_edition))
    return Outcome(edition, [message], findings, changes=changes)


def _late_tools_sentence(names: Sequence[str], cost: int, lost: RebuildCost, effect: LateToolEffect) -> str:
    """Return the sentence for a finding about new tools: what they cost, and what is lost from the cache."""
    shown = (
        ", ".join(names)
        if len(names) <= _MAX_NAMES
        else f"{', '.join(names[:_MAX_NAMES])} and {len(names) - _MAX_NAMES} more"
    )
    start = f"tools added late: {shown}; "
    if not effect.is_in_prompt:
        return start + "they are deferred, so the prefix is kept"
    scope = " and all messages" if lost.basis == "prompt" else ", messages included"
    loss = f"the prefix after them, about {lost.tokens_lost:,} tokens{scope}"
    exception = f", except that {effect.exception} loses {loss}" if effect.exception else ""
    price = f" and {loss}" if effect.loses_cache else f"; the prefix is kept{exception}"
    return f"{start}their definitions cost about {cost:,} tokens{price}"


def _tool_names(current: Edition, change: Drift) -> dict[str, list[str]]:
    """Return the names of tools that were added, removed (no longer active) or restored (active again)."""
    state = state_of(current)
    announced = inactive_tools([*changes_of(state.notices), *changes_of(state.unsent)])
    inactive = [name for name in tools_by_name(current.tools) if name in announced]
    changes = {
        "added": list(change.tools.added),
        "removed": [name for name in change.tools.removed if name not in inactive],
        "restored": [name for name in inactive if name not in change.tools.removed],
    }
    return {key: names for key, names in changes.items() if names}


def _active_tools(current: Edition, new_edition: Edition) -> dict[str, Any] | None:
    """Return the agent's current tools and MCP servers, or None if they match the edition's."""
    old_servers, servers = (target_of(edition).agent.get("servers", {}) for edition in (current, new_edition))
    if described_tools(new_edition) == described_tools(current) and servers == old_servers:
        return None
    return {"tools": tool_rows(new_edition), **({"servers": servers} if servers != old_servers else {})}


def _unannounced(
    current: Edition, new_edition: Edition, change: Drift, announced: Mapping[str, Any]
) -> list[_Announcement]:
    """Return the changes that no message has announced yet, and announced changes that have been reverted."""
    definitions = tools_by_name(new_edition.tools)
    tools = list(_changed_tools(tools_by_name(current.tools), definitions, change))
    by_key = {announcement.key: announcement for announcement in tools}
    known_tools = {f"{_TOOL_KEY}{name}" for name in definitions} | {_TOOL_KEY}
    reverted = [key for key in announced if key not in by_key and key in known_tools]
    return [
        *_changed_sections(current, new_edition, change, announced),
        *(announcement for announcement in tools if announced.get(announcement.key) != announcement.known),
        *(_Announcement(key, _reverted_message(key)) for key in reverted),
    ]


def _changed_sections(
    current: Edition, new_edition: Edition, change: Drift, announced: Mapping[str, Any]
) -> Iterable[_Announcement]:
    """Yield the sections whose text is not the one that the model knows."""
    changed = [
        section.section
        for section in change.sections
        # The model cannot act on a move or on a different separator.
        if tuple(section.kinds) != ("moved",) and section.section not in (WHOLE_PROMPT, BETWEEN_SECTIONS)
    ]
    names = dict.fromkeys((*changed, *(key for key in announced if not key.startswith(_TOOL_KEY))))
    if not names:
        return
    old, new = (section_texts(edition.system, account_of(edition)) for edition in (current, new_edition))
    for name in names:
        base, after = old.get(name, SectionText()).text, new.get(name, SectionText())
        edits = announced.get(name, ())
        if isinstance(edits, str):  # an older Foreword stored only a hash, so the text is unknown
            before = after.text if edits == digest(after.text) else ""
        else:
            before = apply_edits(base, edits)
        if before != after.text:
            text, needs_introduction = describe_section(name, before, after)
            yield _Announcement(name, text, find_edits(base, after.text), needs_introduction)


def _changed_tools(old: Mapping[str, Any], definitions: Mapping[str, Any], change: Drift) -> Iterable[_Announcement]:
    for name in change.tools.changed:
        definition = json.dumps(definitions[name], ensure_ascii=False, sort_keys=True)
        text = describe_tool(name, old.get(name), definitions[name])
        yield _Announcement(f"{_TOOL_KEY}{name}", text, digest(definition))
    if change.tools.removed:
        names = join_tool_names(change.tools.removed)
        text = f"Tools that are not active from now on, so do not call them: {names}. All others are active."
        yield _Announcement(_TOOL_KEY, text, digest(names))


def _reverted_message(key: str) -> str:
    """Return the message for an announced change of tools that no longer applies."""
    if key == _TOOL_KEY:
        return "All tools are active again."
    return f"The tool `{key.removeprefix(_TOOL_KEY)}` is again as it was defined at first."
