"""Conversations at work: the edition in use, the turn that the model sees, and what events do to them.

    talks = Conversations("sqlite:///foreword.db")
    talk = talks.open("talk-42", workspace, agent, layout="builder")
    turn = talk.turn("fix the failing test")

What to do is decided in `conversation.py`; here it is carried out. The caller owns the messages: a turn takes the list and gives
it back with what was added. What this process has seen it can serve when the store is away.
"""

from __future__ import annotations

import json
import os
from _thread import allocate_lock, get_ident

from ..building.build import build
from ..building.clock import tells_time
from ..building.drafts import DraftWriter
from ..encoding.agent import agent_form, tool_order, words_form
from ..encoding.edition import ParseCache, circumstances_of, inputs_of, state_of
from ..encoding.inputs import inputs_form
from ..encoding.prompt import account_form
from ..engine.assembler import Assembler, Plan, Snapshot, local_time, round_to
from ..engine.checks import check_agent
from ..engine.skills import activation, entry_of, skill_named, skill_text, with_active_skill, with_body
from ..errors import (
    CallError,
    ForewordError,
    StoreError,
    check_id,
    check_message,
    check_moment,
    checked_messages,
    expect,
    ordered,
    suggestion,
)
from ..extensions import About, Extension, Resources, checked, run
from ..findings import finding
from ..inspection.price_list import price_rebuild, read_prices, shipped_prices
from ..inspection.subject import files_of, root_end
from ..layout.model import with_inner
from ..sources.environment import resolve_workspace
from ..sources.files import Reader
from ..store import open_store, waits
from ..template.addresses import is_address, is_in, is_only_address
from ..template.languages import LANGUAGES, language_of
from ..text.lines import printable
from ..text.pieces import as_read
from ..text.tokens import count_exactly, estimate_for
from ..vocabulary import Agent, Candidate, Document, Edition, Finding, Tool, Turn, Workspace, replace, value
from .decide import (
    Outcome,
    Steps,
    apply_step,
    decide,
    drift,
    summarised,
    tools_by_name,
    tools_in_use,
    with_state,
    written_tools,
)
from .hooks import check_extensions, discovered, in_context, last_said, started
from .notices import placed, restored, with_unsent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..inspection.price_list import Counter
    from ..inspection.prices import CacheRule, Prices
    from ..layout.model import Layout, Section
    from ..store.contract import Store
    from ..vocabulary import Fate, Inputs, Lifetime, Prompt, Resident, Skill, TemplateVersion
    from .decide import Drift, Pricing

    Message = Mapping[str, Any]

_CONSTRUCTED_AS = "builder"
_POSTPONED = 10_000
_ASSEMBLERS = 64
_TEMPLATE = "template "
_TOOLS_KEPT = (
    "the tools differ from those the conversation started with, which this layout keeps until it builds another prompt"
)
_TOLD_OF_TOOLS = Steps("append", "keep")


class Conversations:
    """Conversations in one store. May be used from several threads and processes."""

    def __init__(self, store: str | Store = ":memory:", extensions: Sequence[Extension] = ()) -> None:
        if not hasattr(store, "publish"):
            expect("the store", store, str)
        self.extensions: tuple[Extension, ...] = ordered("extensions", extensions, Extension)
        check_extensions(self.extensions)
        self.store: Store = open_store(store) if isinstance(store, str) else store
        self._lock = allocate_lock()
        self.postponed: dict[str, Mapping[str, Any]] = {}
        self._assemblers: dict[str, Assembler] = {}
        self.constructing: dict[str, Constructing] = {}

    def open(
        self,
        id: str,
        workspace: Workspace | None = None,
        agent: Agent | None = None,
        layout: str = "",
        *,
        settings: str = "",
        assignments: Sequence[tuple[str, Any]] = (),
        packs: Mapping[str, str] | None = None,
    ) -> Conversation:
        """A conversation, new or known. Nothing is read or written before its first turn.

        Without a layout, a known conversation goes on with the shipped or user's layout it was made with.
        """
        assembler = Assembler(workspace, layout, settings=settings, assignments=assignments, packs=packs)
        return self.open_with(id, assembler, agent)

    def open_with(self, id: str, assembler: Assembler, agent: Agent | None = None) -> Conversation:
        """A conversation whose prompts this assembler makes, with what the extensions add to it."""
        check_id(id)
        expect("the assembler", assembler, Assembler)
        agent = Agent() if agent is None else agent
        expect("the agent", agent, Agent)
        rules = [rule for each in self.extensions for rule in each.rules]
        packs = {name: folder for each in self.extensions for name, folder in each.packs.items()}
        variables = {type_: each for extension in self.extensions for type_, each in extension.variables.items()}
        if rules or packs or variables:
            assembler = assembler.like(
                rules=(*assembler.rules, *rules),
                packs={**packs, **assembler.packs},
                variables={**assembler.variables, **variables},
            )
        return Conversation(self, id, self.shared(assembler), with_tools_of(self.extensions, agent))

    def shared(self, assembler: Assembler) -> Assembler:
        """The assembler of this process for the same workspace, layout and settings: what it has read is not read again."""
        what = {name: each for name, each in vars(assembler).items() if not name.startswith("_")}
        key = repr((os.path.abspath(assembler.workspace.cwd), what))
        with self._lock:
            assembler = self._assemblers.pop(key, assembler)
            _remember(self._assemblers, key, assembler, _ASSEMBLERS)
        return assembler

    def construct(
        self,
        id: str,
        workspace: Workspace,
        agent: Agent | None = None,
        layout: str = "",
    ) -> str:
        """Construct the prompt of a conversation from what is there now, store it and return it.

        Without a layout, a known conversation keeps its own, and a new one gets `builder`.
        """
        if not layout and self.current(id)[0] is None:
            layout = _CONSTRUCTED_AS
        return self.open(id, workspace, agent, layout).construct().system

    def get(self, id: str) -> str | None:
        """The prompt of a conversation; None if it was never constructed."""
        check_id(id)
        edition, _ = self.current(id)
        return edition.system if edition else None

    def current(self, id: str, moment: object = None) -> tuple[Edition | None, list[Finding]]:
        """The edition in use. If the store cannot be reached, the one this process saw last, with a finding.

        With `moment` (from `Store.moment`), an edition that was read at that moment is not read again.
        """
        try:
            return self.store.current(id, moment), []
        except StoreError as error:
            known = self.store.last_known(id)
            if known is None:
                raise
            known = with_state(known, **self.postponed.get(id, {}))
            return known, [finding("store-down", f"{error}; the edition this process knows is used")]

    def postpone(self, id: str, changes: Mapping[str, Any]) -> None:
        """Save changes of a state as soon as the store is back; until then only this process knows them."""
        with self._lock:
            _remember(self.postponed, id, {**self.postponed.get(id, {}), **changes}, _POSTPONED)

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def __enter__(self) -> Conversations:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@value
class Account:
    """What a turn needs of the account of a prompt: its passages, its findings, and the files in it with where each ends."""

    passages: Sequence[tuple[int, int, Lifetime]]
    findings: Sequence[Finding]
    files: Sequence[tuple[str, int]]


def _read_account(text: str) -> Account:
    form = json.loads(text)
    passages = [(each["start"], each["end"], each["lifetime"]) for each in form.get("passages", ())]
    findings = [Finding(**{**each, "path": each["path"] or ""}) for each in form.get("findings", ())]
    return Account(passages, findings, list(files_of(form)))


_accounts = ParseCache(_read_account)


class Constructing:
    """A construction that is under way, and the edition it led to: calls that overlap wait for it and use that."""

    def __init__(self) -> None:
        self.edition: Edition | None = None
        self.thread = get_ident()
        self.ended = allocate_lock()
        self.ended.acquire()


def _remember(known: dict[Any, Any], key: object, content: object, most: int) -> None:
    known[key] = content
    if len(known) > most:
        known.pop(next(iter(known)))


class Conversation:
    """One conversation, for one agent in one workspace."""

    def __init__(self, talks: Conversations, id: str, assembler: Assembler, agent: Agent) -> None:
        self.talks, self.id, self.assembler = talks, id, assembler
        self.agent = agent if agent.session else replace(agent, session=id)
        self._layout: Layout | None = None
        self._lock = allocate_lock()
        self._events: list[str] = []
        self._waiting: list[Message] = []
        self._reports: list[Finding] = []
        self._opened_with = assembler
        self._added: list[Resources] = []
        self._discovered: list[Resources] | None = None
        self._number = 0
        self._known_tools = {tool.name: tool for each in talks.extensions for tool in each.tools}
        self._know(self.agent.tools or ())
        self._acting: tuple[tuple[object, ...], Agent] = ((), self.agent)
        self._skill_in_prompt = ""
        # What was made of what, so that nothing is parsed or built twice.
        self._defined_for: Agent | None = None
        self._defined_tools = "[]"
        self._scribe: DraftWriter | None = None
        self._made: tuple[tuple[object, Agent, datetime | None, Edition], ...] = ()
        self._settled_for: tuple[Any, ...] = ()

    # what the caller asks

    def turn(
        self,
        message: str = "",
        messages: Sequence[Message] = (),
        now: datetime | None = None,
        *,
        new_prompt: bool = False,
    ) -> Turn:
        """What the model sees now: `messages` is the history, `message` what the user says.

        A call with a message is a new prompt of the user. If that is in `messages` already, say so with `new_prompt`.
        """
        check_message(message)
        messages = checked_messages(messages)
        check_moment(now)
        expect("new_prompt", new_prompt, bool)
        with self._lock:
            events, self._events = self._events, []
        try:
            outcome, is_reused = self._carry_out(["turn", *events], now)
        except BaseException:
            self._happened(events)
            raise
        if events and any(each.code == "store-down" for each in outcome.findings):
            self._happened(events)
        outcome = self._with_notices(outcome, messages)
        with self._lock:
            waiting, self._waiting = self._waiting, []
        prompt = message or (last_said(messages) if new_prompt else None)
        try:
            return self._turn(outcome, is_reused, message, messages, waiting, prompt)
        except BaseException:
            with self._lock:
                self._waiting = [*waiting, *self._waiting]
            raise

    def construct(self, now: datetime | None = None) -> Turn:
        """Construct the prompt from what is there now, and keep it. Calls that overlap agree on one edition."""
        check_moment(now)
        while True:
            mine = Constructing()
            other = self.talks.constructing.setdefault(self.id, mine)
            if other is mine or other.thread == mine.thread:
                break
            with other.ended:
                if other.edition is not None:
                    return self._unsent(Outcome(other.edition), is_reused=True)
        try:
            outcome, is_reused = self._carry_out(["turn", "rebuild"], now)
            mine.edition = outcome.edition
        finally:
            if other is mine:
                del self.talks.constructing[self.id]
            mine.ended.release()
        return self._unsent(outcome, is_reused)

    def reload(self, now: datetime | None = None) -> Turn:
        """Read everything again, if the layout does that on a reload."""
        check_moment(now)
        waits.before("build")
        self._discover("reload")
        outcome, is_reused = self._carry_out(["turn", "reload"], now)
        return self._unsent(outcome, is_reused)

    def compact(self, message: str = "", messages: Sequence[Message] = (), now: datetime | None = None) -> Turn:
        """The request for a summary, as the layout asks for it. What is asked is not kept."""
        check_message(message)
        messages = checked_messages(messages)
        check_moment(now)
        try:
            outcome, is_reused = self._compacted(now)
        except StoreError as error:
            if self.layout.compaction.get("under") != "new":
                raise
            return self.compact_alone(error, message, messages)
        return self._asked(self._turn(outcome, is_reused, message, messages, prompt=message or None))

    def compact_alone(self, error: StoreError, message: str = "", messages: Sequence[Message] = ()) -> Turn:
        """The request for a summary without a prompt, where the store does not say which one it is."""
        told = [finding("store-down", f"{error}; the request stands alone")]
        alone = Outcome(Edition(0, ""), (), told)
        return self._asked(self._turn(alone, False, message, messages, prompt=message or None))

    def _asked(self, turn: Turn) -> Turn:
        """A turn in which a summary is asked for."""
        request = self.layout.wording.get("compaction", "")
        if self.layout.compaction.get("say") == "message":
            return replace(turn, messages=(*turn.messages, {"role": "user", "content": request}))
        return replace(turn, system="\n\n".join(filter(None, (turn.system, request))))

    def drift(self, now: datetime | None = None) -> Drift:
        """What a prompt built now would change."""
        check_moment(now)
        using, _ = self._current()
        if using is None:
            raise CallError(f"the conversation {self.id!r} has no edition yet; its first turn makes one")
        table = read_prices("", self.assembler.workspace, self.assembler.settings)
        return drift(using, self._gathered(now), price=self._pricing(using, lambda: table, count_exactly))

    def _pricing(self, using: Edition, table: Callable[[], Prices], counter: Counter) -> Pricing:
        """What a rebuild would keep of this agent's provider's cache; where it has none, of that which the edition was made for."""
        made_for = circumstances_of(using)
        model, provider = self.agent.model, self.agent.provider
        if not (model or provider):
            model, provider = made_for.get("model", ""), made_for.get("provider", "")

        def price(old: Edition, new: Edition) -> tuple[int, int, CacheRule]:
            return price_rebuild(old, new, provider, model, table(), counter)

        return price

    def preview(self, template: Document | None = None, now: datetime | None = None) -> Prompt:
        """The prompt as it would be made now, with another template in the place of the global one. Nothing is kept.

        In a layout that knows no global template it takes the place of the base, where that is a template.
        """
        if template is not None:
            expect("the template", template, Document)
        check_moment(now)
        agent = self._agent_now()
        if self._discovered is None:
            self._discover("start")
        sections = list(self.layout.each_section())
        if template is None:
            snapshot = self._snapshot()
        elif any("template" in section.instead for section in sections):
            snapshot = self.assembler.snapshot(agent, template)
        else:
            if any("base" in section.instead and section.language for section in sections):
                agent = replace(agent, base=template)
            snapshot = self.assembler.snapshot(agent)
        self._layout = snapshot.layout
        return self._checked(self._built(self._with_sources(snapshot.inputs), agent, now))

    def set_active_tools(self, tools: Sequence[Tool | str]) -> None:
        """Give the agent these tools from the next turn on: definitions, or names of tools that the conversation knows."""
        tools = ordered("the active tools", tools)
        for each in tools:
            expect("an active tool", each, Tool, str)
        self._know([each for each in tools if isinstance(each, Tool)])
        active = [self._tool_named(each) if isinstance(each, str) else each for each in tools]
        self.agent = replace(self.agent, tools=tuple(active))

    def refresh_registry(self, tools: Sequence[Tool | str]) -> None:
        """The set of tools that exist has changed; these are active."""
        self.set_active_tools(tools)
        self._happened(["registry"])

    def add_resources(self, resources: Resources) -> None:
        """Further folders of skills and packs, from an extension."""
        expect("the resources", resources, Resources)
        self._added.append(resources)
        self._equip()
        self._happened(["resources"])

    def send_message(self, content: str) -> None:
        """Put a message (user role) into the next turn."""
        check_message(content)
        with self._lock:
            self._waiting.append({"role": "user", "content": content})

    def use_skill(self, name: str) -> Message:
        """The message that gives the model a skill's body; a second time it only says that the skill is active."""
        expect("the name of a skill", name, str)
        using = self._using_or_made()
        inputs = self._inputs_of(using)
        skill = skill_named(name, self.layout, inputs)
        if name in state_of(using).get("skills", ()):
            return {"role": "user", "content": skill_text(self.layout, "skill_active_message", skill)}
        where = replace(inputs.workspace, inside=self.assembler.workspace.inside)
        skill = with_body(skill, self.layout, where)
        self._keep(using, lambda state: _with_skill(state, name))
        return {"role": "user", "content": activation(self.layout, skill) + _changed_since(skill, using)}

    def sub_agent(
        self,
        task: str,
        tools: Sequence[Tool] = (),
        *,
        workspace: Workspace | None = None,
        append: bool = False,
        with_context: bool = True,
        with_skills: bool = True,
        message: str = "",
        messages: Sequence[Message] = (),
        now: datetime | None = None,
    ) -> Turn:
        """A turn of an agent that does one task: the task as its base, or behind the parent's base, and what it inherits.

        The task is a text or a reference (`$user/review`). It takes the place of the layout's base, and is written in its language
        where that is a template. `message` and `messages` are what the sub-agent is sent, after the `context` hooks. The
        turn has the number 0: nothing is kept.
        """
        expect("the task", task, str)
        tools = ordered("tools", tools, Tool)
        check_message(message)
        history: list[Message] = list(checked_messages(messages))
        check_moment(now)
        if workspace is not None:
            expect("the workspace", workspace, Workspace)
        agent = replace(self.agent, role="sub", tools=tools, session="", plan="", skill="")
        inputs = self._inherited(with_context, with_skills)
        prompt = self._checked(self._sub_prompt(task, agent, inputs, workspace, now, append))
        history = [*history, *([{"role": "user", "content": message}] if message else ())]
        findings = list(prompt.findings)
        about = replace(self._about(0), tools=[tool.name for tool in tools])
        return Turn(
            self.id,
            0,
            False,
            prompt.text,
            in_context(self.talks.extensions, converted(history), about, findings),
            json.loads(written_tools(tools)),
            [(each.start, each.end, each.lifetime) for each in prompt.passages],
            findings,
            history=history,
        )

    def _inherited(self, with_context: bool, with_skills: bool) -> Inputs:
        """What was found for this conversation, as far as a sub-agent inherits it."""
        inputs = self._inputs_of(self._using_or_made())
        kinds = {find.name: find.kind for find in self.layout.finds}
        kept = {name for name in inputs.found if (with_skills if kinds.get(name) == "skill" else with_context)}
        return replace(inputs, found={name: each if name in kept else () for name, each in inputs.found.items()})

    def _sub_prompt(
        self,
        task: str,
        agent: Agent,
        inputs: Inputs,
        workspace: Workspace | None,
        now: datetime | None,
        append: bool,
    ) -> Prompt:
        document = self.assembler.template(task.strip()) if is_only_address(task) else Document("", task)
        if any(section.language in LANGUAGES for section in _bases(self.layout)):
            document = replace(document, path=document.path or "task")
            base = _behind(self.layout, inputs, document) if append else document
            found = inputs.found
            inputs = (
                self.assembler.like(workspace=workspace or self.assembler.workspace)
                .snapshot(replace(agent, base=base))
                .inputs
            )
            return self._built(replace(inputs, found=found), replace(agent, base=base), now)
        if workspace is not None:
            own = resolve_workspace(workspace, Reader())
            where = replace(inputs.workspace, cwd=own.cwd, root=own.root, is_repository=own.is_repository)
            inputs = replace(inputs, workspace=where)
        if append:
            before = _base_text(self.layout, self._built(inputs, agent, now))
            document = Document("", "\n\n".join(filter(None, (before, document.text))))
        return self._built(inputs, replace(agent, base=document), now)

    @property
    def layout(self) -> Layout:
        """The layout, as it was when this conversation was last gathered here."""
        if self._layout is None:
            try:
                self._layout = self.assembler.layout()
            except ForewordError:
                # It may come from an extension, which a process that goes on with a conversation has not asked yet.
                if self._discovered is not None:
                    raise
                self._discover("start")
                self._layout = self.assembler.layout()
        return self._layout

    # how a step is carried out

    def _carry_out(self, events: list[str], now: datetime | None) -> tuple[Outcome, bool]:
        """Decide, build what is needed, apply_step, publish. Of two processes that publish at once, the loser goes on from the winner's."""
        last = None
        while True:
            using, findings = self._current()
            number = using.number if using else 0
            if last not in (None, number):
                events = ["turn"]  # whoever made that edition has carried the others out
            last = number
            happened = [*events, *self._other_events(using)] if using else events
            steps = decide(self.layout.on, using, happened, self._is_other_layout(using))
            if using and (not steps.moves or findings or self._is_unchanged(steps, using)):
                if steps.moves and findings and _is_demanded(events):
                    self.talks.store.current(self.id)  # says why, for whoever asked for more than a turn
                if "tools" in happened and not steps.moves:
                    findings = [*findings, finding("tools-kept", _TOOLS_KEPT)]
                return Outcome(using, (), findings), True
            outcome = self._outcome(steps, using, now, is_summarised="compaction" in events)
            try:
                kept = self._published(using, outcome.edition)
            except StoreError as error:
                if using is None or _is_demanded(events) or "compaction" in events:
                    raise
                told = finding("store-down", f"{error}; the edition in use goes on")
                return Outcome(using, (), [told]), True
            if kept is None:
                continue
            if kept is using and not outcome.messages:
                self._settled_for = self._stand_of(using) if steps == _TOLD_OF_TOOLS else ()
            self._tell("constructed" if using is None else steps.strongest, kept)
            return replace(outcome, edition=kept), using is not None and kept.number == using.number

    def _published(self, using: Edition | None, edition: Edition) -> Edition | None:
        """The edition as it is kept now; None if another process has made one, or kept something beside it, meanwhile."""
        store = self.talks.store
        if using is None:
            kept = store.publish(self.id, edition, 0)
            return kept if kept is edition else None
        if edition.number != using.number:
            kept = store.publish(self.id, edition, using.number, using.state)
            return kept if kept is edition else None
        if edition.state != using.state:
            return edition if store.save_state(self.id, using.number, edition.state, using.state) else None
        return using

    def _compacted(self, now: datetime | None) -> tuple[Outcome, bool]:
        """The edition under which a summary is asked for; what only the messages knew is forgotten with them."""
        using, findings = self._current()
        if self.layout.compaction.get("under") == "new":
            if findings:
                self.talks.store.current(self.id)  # says why
            outcome, is_reused = self._carry_out(["turn", "compaction"], now)
            return replace(outcome, edition=self._keep(outcome.edition, summarised)), is_reused
        outcome, is_reused = (Outcome(using, (), findings), True) if using else self._carry_out(["turn"], now)
        is_compacted = self.layout.on.get("compaction", "keep") != "keep" or None

        def forgotten(state: Mapping[str, Any]) -> dict[str, Any]:
            return {**summarised(state), "is_compacted": is_compacted}

        try:
            self._keep(outcome.edition, forgotten)
        except StoreError as error:
            self.talks.postpone(self.id, forgotten(state_of(outcome.edition)))
            down = finding("store-down", f"{error}; until it is back, only this process knows of the compaction")
            outcome = replace(outcome, findings=outcome.findings or [down])
        return outcome, is_reused

    def _keep(self, using: Edition, change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> Edition:
        """Keep something beside the edition in use, on top of what others have kept there. Nothing changed, nothing written."""
        if with_state(using, **change(state_of(using))) is using:
            return using
        while True:
            latest = self.talks.store.current(self.id) or using
            kept = with_state(latest, **change(state_of(latest)))
            if kept is latest or self.talks.store.save_state(self.id, kept.number, kept.state, latest.state):
                break
        return kept if kept.number == using.number else using

    def _current(self) -> tuple[Edition | None, list[Finding]]:
        using, findings = self._kept_edition()
        self._number = using.number if using else 0
        self._act_for(using)
        return using, findings

    def _kept_edition(self) -> tuple[Edition | None, list[Finding]]:
        using, findings = self.talks.current(self.id)
        if using and not self.assembler.layout_name and is_in(using.layout, "std", "user"):
            self._opened_with = self.talks.shared(self._opened_with.like(layout=using.layout))
            self._equip()
        if using and not findings and self.id in self.talks.postponed:
            return self._caught_up(using)
        return using, findings

    def _caught_up(self, using: Edition) -> tuple[Edition, list[Finding]]:
        """The edition with what could not be kept beside it while the store was away."""
        changes = self.talks.postponed[self.id]
        try:
            kept = self._keep(using, lambda _: dict(changes))
        except StoreError as error:
            return with_state(using, **changes), [finding("store-down", f"{error}; the edition in use goes on")]
        self.talks.postponed.pop(self.id, None)
        return kept, []

    def _outcome(self, steps: Steps, using: Edition | None, now: datetime | None, is_summarised: bool) -> Outcome:
        """Carry the steps out, each on what the one before has left, and all of them in one edition."""
        if using is None:
            return apply_step("gather", None, self._gathered(now, is_known=False))
        outcome, seen = Outcome(using), None
        for about, step in steps.moves:
            edition = outcome.edition
            fresh = self._fresh_for(edition, about, step, now, are_tools_kept=about == "rest" and seen is None)
            price = self._pricing(edition, shipped_prices, estimate_for)
            then = apply_step(step, edition, fresh, is_summarised and seen is None, seen, price)
            outcome = replace(
                then,
                messages=(*outcome.messages, *then.messages),
                findings=(*outcome.findings, *then.findings),
            )
            seen = fresh
        if outcome.messages:
            texts = [each["content"] for each in outcome.messages]
            kept = with_state(outcome.edition, **with_unsent(state_of(outcome.edition), texts))
            outcome = replace(outcome, edition=kept)
        return outcome

    def _fresh_for(
        self, using: Edition, about: str, step: str, now: datetime | None, *, are_tools_kept: bool
    ) -> Edition:
        """What would be built now: from the kept inputs, where only the agent counts, else from the disk.

        Where the tools are kept, that is for those of the edition.
        """
        if (about == "tools" or step == "format") and self._kept_inputs(using):
            return self._formatted(using, now)
        if are_tools_kept:
            return replace(self._gathered(now, self._agent_of(using)), tools=using.tools)
        return self._gathered(now)

    def _agent_of(self, using: Edition) -> Agent:
        """The agent with the tools of the edition; of those that it has no more, only the definitions are known."""
        if not self._has_other_tools(using):
            return self._who
        known = tools_by_name(using.tools)
        tools = [tool for tool in self._who.tools or () if tool.name in known]
        active = {tool.name for tool in tools}
        tools += [
            Tool(name, row["description"], schema=row["schema"]) for name, row in known.items() if name not in active
        ]
        return replace(self._who, tools=tools)

    def _is_other_layout(self, using: Edition | None) -> bool:
        return using is not None and using.layout != self.layout.address

    def _is_unchanged(self, steps: Steps, using: Edition) -> bool:
        """Whether it is known that these tools tell this edition nothing new."""
        return steps == _TOLD_OF_TOOLS and self._settled_for == self._stand_of(using)

    def _stand_of(self, using: Edition) -> tuple[Any, ...]:
        return (using.number, using.state, using.inputs, self._who)

    def _happened(self, events: list[str]) -> None:
        with self._lock:
            self._events = [*events, *self._events]

    def _other_events(self, using: Edition) -> list[str]:
        state = state_of(using)
        is_told = "told" in state and self.layout.on.get("tools") == "append"
        events = ["tools"] if is_told or self._has_other_tools(using) else []
        if state.get("is_compacted"):
            events.append("compaction")
        return events

    def _has_other_tools(self, using: Edition) -> bool:
        """Whether the agent's tools differ from those of the edition in definition, snippet or guidelines."""
        tools = self._definitions(self._who)
        if words_form(self._who.tools or ()) != circumstances_of(using).get("agent", {}).get("tools", {}):
            return True
        return tools != using.tools and tools_by_name(tools) != tools_by_name(using.tools)

    def _definitions(self, agent: Agent) -> str:
        """The definitions of an agent's tools, as an edition has them."""
        if self._defined_for is not agent:
            check_agent(agent)
            self._defined_tools, self._defined_for = written_tools(agent.tools or ()), agent
        return self._defined_tools

    # how an edition is made

    def _gathered(self, now: datetime | None, agent: Agent | None = None, *, is_known: bool = True) -> Edition:
        waits.before("build")
        if self._discovered is None:
            self._discover("start")
        snapshot = self._snapshot()
        self._layout = snapshot.layout
        inputs = self._with_sources(snapshot.inputs)
        source = snapshot if inputs is snapshot.inputs else object()
        return self._fresh(source, inputs, now, agent or self._who, is_known=is_known)

    def _snapshot(self) -> Snapshot:
        """What the workspace holds now, with the global template where the layout has a place for it."""
        waits.before("build")
        version = None
        if any("template" in section.instead for section in self.layout.each_section()):
            version = self.talks.store.template()
        template = _document(version) if version else None
        return self.assembler.snapshot(self.agent, template)

    def _formatted(self, using: Edition, now: datetime | None) -> Edition:
        """The kept inputs for the agent of this turn. When they were gathered is remembered: the menu is as old as that."""
        fresh = self._fresh(using.inputs, self._inputs_of(using), now, self._who)
        gathered = state_of(using).get("gathered") or using.made
        return with_state(replace(fresh, inputs=using.inputs), gathered=gathered)

    def _fresh(
        self, source: object, inputs: Inputs, now: datetime | None, agent: Agent, *, is_known: bool = True
    ) -> Edition:
        """What would be the edition now. Inputs are kept only where the layout compares with them or formats them again."""
        moment = round_to(tells_time(self.layout, inputs), now)
        for last in self._made:
            if last[0] is source and last[1] is agent and last[2] == moment:
                return last[3]
        prompt = self._built(inputs, agent, moment, is_known=is_known)
        is_needed = not {"warn", "append", "format"}.isdisjoint(self.layout.on.values())
        is_needed = is_needed or any(find.kind == "skill" for find in self.layout.finds)
        kept = _kept(inputs_form(inputs)) if is_needed else ""
        made_for: dict[str, Any] = {
            "cwd": printable(inputs.workspace.cwd),
            "model": agent.model,
            "provider": agent.provider,
            **_template_used(self.layout, inputs),
        }
        if form := agent_form(agent, self.id):
            made_for["agent"] = form
        if order := tool_order(agent.tools or ()):
            made_for["tool_order"] = order
        edition = Edition(
            number=0,
            system=prompt.text,
            tools=self._definitions(agent),
            account=_kept(account_form(self._checked(prompt))),
            inputs=kept,
            layout=self.layout.address,
            made_for=_kept(made_for),
            made=local_time().isoformat(timespec="milliseconds"),
        )
        self._made = ((source, agent, moment, edition), *self._made[:1])
        return edition

    def _built(self, inputs: Inputs, agent: Agent, now: datetime | None, *, is_known: bool = False) -> Prompt:
        """The prompt of these inputs. A skill that is not there is an error, but in a known conversation it has gone meanwhile."""
        waits.before("build")
        check_agent(agent)
        agent = self.assembler.with_base(agent)
        layout = self.layout
        snapshot = Snapshot(Plan(layout, inputs.workspace, (), ()), inputs, tells_time(layout, inputs))
        agent, inputs = with_active_skill(agent, layout, inputs, may_be_gone=is_known)
        with self._lock:
            if self._scribe is None or self._scribe.layout is not layout:
                self._scribe = DraftWriter(layout)
            moment = round_to(snapshot.tells, now)
            return build(layout, inputs, agent, moment, self.assembler.rules, self._scribe, snapshot.render)

    def _checked(self, prompt: Prompt) -> Prompt:
        """The prompt with what the checks of extensions found."""
        found = checked(self.talks.extensions, prompt)
        return replace(prompt, findings=(*prompt.findings, *found)) if found else prompt

    def _with_sources(self, inputs: Inputs) -> Inputs:
        """The inputs with the documents of extensions, behind those that were found; what is there already is left out."""
        asked = [(each, name) for each in self.talks.extensions for name in each.sources]
        if not asked:
            return inputs
        finds = {find.name: find for find in self.layout.finds}
        found, candidates, findings = dict(inputs.found), list(inputs.candidates), list(inputs.findings)
        for extension, name in asked:
            if name not in finds:
                told = f"the extension {extension.name!r} has a source for {name!r}, which the layout {self.layout.name} does not find"
                findings.append(finding("extension-unused", told + suggestion(name, finds)))
                continue
            for given in run(extension, extension.sources[name], findings, inputs.workspace, lists=Document) or ():
                document = as_read(given)
                entry, doubts = entry_of(document, finds[name]) if document.text else (None, [])
                findings += doubts
                fate, reason = _fate(document, entry, name, found, self.layout)
                candidates.append(Candidate(document.path, extension.name, fate, reason))
                if fate in ("duplicate", "shadowed"):
                    code = "file-duplicate" if fate == "duplicate" else "skill-shadowed"
                    findings.append(finding(code, f"{document.path}: {reason}", document.path))
                elif fate == "used" and entry is not None:
                    found[name] = (*found[name], entry)
        return replace(inputs, found=found, candidates=candidates, findings=findings)

    def _using_or_made(self) -> Edition:
        using, _ = self._current()
        if using is not None:
            return using
        outcome, _ = self._carry_out(["turn"], None)
        return outcome.edition

    def _inputs_of(self, edition: Edition) -> Inputs:
        return self._kept_inputs(edition) or self._snapshot().inputs

    def _kept_inputs(self, edition: Edition) -> Inputs | None:
        """What was found for the edition. None if that is not kept, or was found for another layout than this one is now."""
        if not edition.inputs or self._is_other_layout(edition):
            return None
        inputs = inputs_of(edition)
        return inputs if all(find.name in inputs.found for find in self.layout.finds) else None

    # what the model sees

    def _turn(
        self,
        outcome: Outcome,
        is_reused: bool,
        message: str,
        messages: Sequence[Message],
        waiting: Sequence[Message] = (),
        prompt: str | None = None,
    ) -> Turn:
        """The edition and the messages as hooks leave them. `prompt` is what the user says, None if this is not a new prompt."""
        turn = self._unsent(outcome, is_reused)
        edition, findings, about = outcome.edition, list(turn.findings), self._about(outcome.edition.number)
        system, injected = self._started(edition, prompt, about, findings)
        current = [{"role": "user", "content": message}] if message else []
        notices = state_of(edition).get("notices", ())
        history = [*restored([*messages, *waiting, *current], notices), *injected]
        return replace(
            turn,
            system=system,
            passages=turn.passages if system == edition.system else (),
            root_end=turn.root_end if system == edition.system else 0,
            messages=in_context(self.talks.extensions, converted(history), about, findings),
            history=history,
            findings=list(dict.fromkeys(findings)),
        )

    def _unsent(self, outcome: Outcome, is_reused: bool) -> Turn:
        """The edition as a turn without messages, with what a person should know. No hook sees it: it goes to no model."""
        edition = outcome.edition
        account: Account = _accounts.get(edition.account)
        end = root_end(account.files, circumstances_of(edition).get("cwd", ""))
        findings = [*outcome.findings, *(() if is_reused else account.findings), *self._reports]
        self._reports = []
        tools = json.loads(edition.tools)
        return Turn(
            self.id,
            edition.number,
            is_reused,
            edition.system,
            (),
            tools,
            account.passages,
            list(dict.fromkeys(findings)),
            end,
        )

    def _started(
        self, edition: Edition, prompt: str | None, about: About, findings: list[Finding]
    ) -> tuple[str, list[Message]]:
        """The system prompt, and messages to add: those of `before_agent_start` for a new prompt of the user, which are kept
        for all calls until the next one.
        """
        held = state_of(edition).get("prompt")
        if prompt is None:
            return held["text"] if held else edition.system, []
        system, injected = started(self.talks.extensions, edition.system, prompt, about, findings)
        changed = {"text": system} if system != edition.system else None
        if changed != held and edition.number:
            self._keep_or_postpone(edition, lambda _: {"prompt": changed}, findings)
        return system, injected

    def _with_notices(self, outcome: Outcome, messages: Sequence[Message]) -> Outcome:
        """The edition once all that waits for a turn is part of its messages: what has changed, and skills that come back."""
        edition, findings = outcome.edition, list(outcome.findings)
        if not {"unsent", "returning"} & state_of(edition).keys():
            return outcome
        brought, in_prompt = self._brought_back(edition, findings), self._skill_in_prompt

        def sent(state: Mapping[str, Any]) -> dict[str, Any]:
            state, names = dict(state), [name for name in state.get("returning", ()) if name in brought]
            for name in names:
                if name != in_prompt:
                    state.update(with_unsent(state, [brought[name]], name))
            skills = [*dict.fromkeys((*state.get("skills", ()), *names))]
            kept = {"returning": None, "skills": skills, "in_prompt": in_prompt if not self.agent.skill else None}
            return {**kept, "unsent": None, **placed(state, messages)}

        kept = self._keep_or_postpone(edition, sent, findings)
        return replace(outcome, edition=kept, findings=findings)

    def _brought_back(self, edition: Edition, findings: list[Finding]) -> dict[str, str]:
        """The messages that give the model its skills again after a compaction. One that is gone is left out."""
        messages: dict[str, str] = {}
        for name in state_of(edition).get("returning", ()):
            try:
                inputs = self._inputs_of(edition)
                where = replace(inputs.workspace, inside=self.assembler.workspace.inside)
                skill = with_body(skill_named(name, self.layout, inputs), self.layout, where)
            except CallError as error:
                findings.append(finding("skill-invalid", f"{error}; it does not come back after the compaction"))
            else:
                messages[name] = activation(self.layout, skill)
        return messages

    def _keep_or_postpone(
        self, edition: Edition, change: Callable[[Mapping[str, Any]], dict[str, Any]], findings: list[Finding]
    ) -> Edition:
        """Keep something beside the edition; while the store is away, in this process."""
        try:
            if not any(each.code == "store-down" for each in findings):
                return self._keep(edition, change)
        except StoreError as error:
            findings.append(finding("store-down", f"{error}; until it is back, only this process knows of this turn"))
        changes = change(state_of(edition))
        self.talks.postpone(self.id, changes)
        return with_state(edition, **changes)

    def _about(self, number: int) -> About:
        cwd = printable(os.path.abspath(self.assembler.workspace.cwd))
        return About(self.id, cwd, self.agent.model, [tool.name for tool in self._who.tools or ()], number)

    # for whom the prompt is built

    @property
    def _who(self) -> Agent:
        """The agent with its tools, and with the skill that has come back after a compaction."""
        return self._acting[1]

    def _act_for(self, using: Edition | None) -> None:
        """Find out which tools the agent has: its own, else those of the conversation, else those that extensions add."""
        agent, edition = self.agent, using or Edition(0, "")
        made_of = (agent, edition.tools, edition.made_for, edition.state)
        if self._acting[0] == made_of:
            return
        if agent.tools is None:
            tools = tools_in_use(using) if using else [tool for each in self.talks.extensions for tool in each.tools]
            agent = replace(agent, tools=tools)
        self._skill_in_prompt = self._skill_of(edition)
        if self._skill_in_prompt and not agent.skill:
            agent = replace(agent, skill=self._skill_in_prompt)
        self._acting = (made_of, agent if agent != self._who else self._who)

    def _skill_of(self, edition: Edition) -> str:
        """The skill in use that stands in the prompt, where the layout has a place for one and builds the prompt again."""
        if not {"in_prompt", "returning"} & state_of(edition).keys():
            return ""
        sections, on = self.layout.each_section(), self.layout.on
        if not any(section.of == "active_skill" for section in sections):
            return ""
        if {"gather", "format"}.isdisjoint((on.get("turn"), on.get("compaction"))):
            return ""
        state, own = state_of(edition), self.agent.skill
        if own:
            return own if isinstance(own, str) else own.name
        return str(state.get("in_prompt") or state["returning"][-1])

    def _agent_now(self) -> Agent:
        """The agent with its tools, as far as the store can be asked."""
        try:
            self._current()
        except StoreError:
            self._act_for(None)
        return self._who

    def _know(self, tools: Sequence[Tool]) -> None:
        self._known_tools |= {tool.name: tool for tool in tools}

    def _tool_named(self, name: str) -> Tool:
        if name not in self._known_tools:
            using, _ = self._current()
            self._known_tools = {tool.name: tool for tool in _every_tool(using)} | self._known_tools
        if name not in self._known_tools:
            known = ", ".join(sorted(self._known_tools)) or "none"
            raise CallError(f"unknown tool {name!r}; known: {known}. Pass a Tool to define another one")
        return self._known_tools[name]

    def _tell(self, event: str, edition: Edition) -> None:
        for extension in self.talks.extensions:
            if extension.listen is not None:
                run(
                    extension,
                    extension.listen,
                    self._reports,
                    event,
                    {"conversation": self.id, "edition": edition.number},
                )

    # what extensions bring

    def _discover(self, reason: str) -> None:
        """Ask extensions for resources: before this process first gathers for a conversation, and on every reload."""
        self._discovered = []
        self._discovered = discovered(self.talks.extensions, reason, self._about(self._number), self._reports)
        self._equip()

    def _equip(self) -> None:
        """Give the assembler what was discovered and added, if it has not got that already."""
        opened, resources = self._opened_with, [*(self._discovered or ()), *self._added]
        packs = dict(opened.packs)
        for each in resources:
            packs.update(each.packs)
        folders = tuple(dict.fromkeys((*opened.skill_folders, *(one for each in resources for one in each.skills))))
        has = self.assembler
        if (has.layout_name, has.packs, has.skill_folders) != (opened.layout_name, packs, folders):
            self.assembler = self.talks.shared(opened.like(packs=packs, skill_folders=folders))
            self._layout = None


def with_tools_of(extensions: Sequence[Extension], agent: Agent) -> Agent:
    """The agent with the tools that extensions add, behind its own. One that is to have none, or keeps its own, gets none."""
    own = {tool.name for tool in agent.tools or () if isinstance(tool, Tool)}
    added = [tool for each in extensions for tool in each.tools if tool.name not in own]
    return replace(agent, tools=(*agent.tools, *added)) if agent.tools and added else agent


def _every_tool(using: Edition | None) -> list[Tool]:
    """Every tool that an edition knows, active or not."""
    return [*tools_in_use(replace(using, state="{}")), *tools_in_use(using)] if using else []


def _with_skill(state: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The changes of a state when a skill is used: it is in use, and need not come back by itself."""
    skills = [*dict.fromkeys((*state.get("skills", ()), name))]
    return {"skills": skills, "returning": [each for each in state.get("returning", ()) if each != name]}


def _is_demanded(events: Sequence[str]) -> bool:
    """Whether somebody asked for more than a turn, for whom the edition in use is no answer."""
    return not {"reload", "rebuild"}.isdisjoint(events)


def _fate(
    document: Document,
    entry: Document | Skill | Resident | None,
    find: str,
    found: Mapping[str, Sequence[Document | Skill | Resident]],
    layout: Layout,
) -> tuple[Fate, str]:
    """What becomes of a document for a find; a copy of another is one too many, unless that may replace a section."""
    if not document.text:
        return "blank", ""
    if entry is None:
        return "refused", "its front matter does not describe an entry of this find"
    if not isinstance(entry, Document):
        first = next((each for each in found[find] if not isinstance(each, Document) and each.name == entry.name), None)
        return (
            ("shadowed", f"{entry.name!r} is the name of {first.path} too, which comes first")
            if first
            else ("used", "")
        )
    replacing = {name for section in layout.each_section() for name in section.instead if name != find}
    for name, entries in found.items():
        for each in entries if name not in replacing else ():
            if isinstance(each, Document) and each.text == document.text:
                return "duplicate", f"the same text as {each.path}"
    return "used", ""


def converted(messages: Sequence[Message]) -> list[Message]:
    """The history as a model may see it: summaries, executions and messages of extensions become user messages.

    A `summary` and a `branch_summary` carry `content`; an `execution` carries `command` and `output`, and is left out if it is
    `excluded`; a `custom` message carries `content`.
    """
    seen: list[Message] = []
    for each in messages:
        role = each.get("role")
        if role == "execution":
            if not each.get("excluded"):
                content = f"Ran `{each.get('command') or ''}`:\n\n{each.get('output') or ''}".rstrip()
                seen.append({"role": "user", "content": content})
        elif role in ("summary", "branch_summary", "custom"):
            seen.append({"role": "user", "content": each.get("content") or ""})
        else:
            seen.append(each)
    return seen


def _changed_since(skill: Skill, using: Edition) -> str:
    from datetime import datetime

    try:
        changed = os.stat(skill.path).st_mtime
        made = datetime.fromisoformat(state_of(using).get("gathered") or using.made).timestamp()
    except (OSError, ValueError):
        return ""
    return "\n\n(This file has changed since the list of skills was made.)" if changed > made else ""


# The base of a layout


def _bases(layout: Layout) -> list[Section]:
    """The sections that a caller's base takes the place of."""
    return [section for section in layout.each_section() if "base" in section.instead]


def _behind(layout: Layout, inputs: Inputs, task: Document) -> Document:
    """The template of the parent's base with the task behind it.

    A template of a pack is included where the language can: so its own includes are found, and it is trusted no more than alone.
    """
    section, body = next(
        (each, inputs.bodies[each.name]) for each in _bases(layout) if inputs.bodies.get(each.name) is not None
    )
    module = language_of(body, section.language).module()
    text = (module.include_tag(task.path) if is_address(task.path) else None) or task.text
    return replace(body, text=f"{body.text.rstrip()}\n\n{text}".lstrip("\n"), hash="")


def _base_text(layout: Layout, prompt: Prompt) -> str:
    """What stands in a prompt where a caller's base would snapshot."""
    names = {section.name for section in with_inner(_bases(layout))}
    passages = [passage for passage in prompt.passages if passage.section in names]
    return prompt.text[passages[0].start : passages[-1].end] if passages else ""


def _kept(form: Mapping[str, Any]) -> str:
    """A form as an edition has it."""
    return json.dumps(form, ensure_ascii=False, sort_keys=True)


def _document(version: TemplateVersion) -> Document:
    """A version of the global template, in its own language."""
    return Document(f"{_TEMPLATE}{version.version}", version.template, syntax=version.syntax)


def _template_used(layout: Layout, inputs: Inputs) -> dict[str, int]:
    """Which version of the global template these inputs hold; 0 is the layout's own. Nothing where it has no place."""
    for section in layout.each_section():
        body = inputs.bodies.get(section.name) if "template" in section.instead else None
        if body is not None and body.path.startswith(_TEMPLATE):
            return {"template": int(body.path.removeprefix(_TEMPLATE))}
        if body is not None and body.path.startswith(layout.address):
            return {"template": 0}
    return {}
