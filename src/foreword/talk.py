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
from _thread import allocate_lock

from .build import build
from .clock import tells_time
from .conversation import Settled, decide, drift, settle, tools_by_name, written_tools
from .engine import Assembler, as_told, each_skill, local_time, with_body
from .errors import CallError, StoreError, suggestion
from .extensions import run
from .findings import finding
from .store import open_store
from .vocabulary import Agent, Document, Edition, Turn, printable, replace
from .wire import account_form, inputs_form, inputs_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from .conversation import Drift
    from .extensions import Extension, Resources
    from .layout import Layout
    from .vocabulary import Finding, Inputs, Prompt, Skill, Store, Tool, Workspace

    Message = Mapping[str, Any]

_REMEMBERED = 10_000
_MOST_FILES = 50


class Conversations:
    """Conversations in one store. May be used from several threads and processes."""

    def __init__(self, store: str | Store = ":memory:", extensions: Sequence[Extension] = ()) -> None:
        self.store: Store = open_store(store) if isinstance(store, str) else store
        self.extensions = tuple(extensions)
        self._lock = allocate_lock()
        self._known: dict[str, Edition] = {}

    def open(
        self,
        id: str,
        workspace: Workspace | None = None,
        agent: Agent | None = None,
        layout: str = "",
        *,
        settings: str = "",
        assignments: Sequence[tuple[str, Any]] = (),
    ) -> Talk:
        """A conversation, new or known. Nothing is read or written before its first turn."""
        packs = {name: folder for each in self.extensions for name, folder in each.packs.items()}
        rules = [rule for each in self.extensions for rule in each.rules]
        assembler = Assembler(workspace, layout, settings=settings, assignments=assignments, rules=rules, packs=packs)
        return Talk(self, id, assembler, agent or Agent())

    def construct(self, id: str, workspace: Workspace, agent: Agent | None = None, layout: str = "builder") -> str:
        """The prompt of a conversation: the one it has, or one that is made now and kept."""
        return self.open(id, workspace, agent, layout).turn().system

    def get(self, id: str) -> str | None:
        """The prompt of a conversation; None if it was never constructed."""
        edition, _ = self.current(id)
        return edition.system if edition else None

    def current(self, id: str) -> tuple[Edition | None, list[Finding]]:
        """The edition in use. When the store is away, the one this process saw last, with a finding."""
        try:
            edition = self.store.current(id)
        except StoreError as error:
            known = self._known.get(id)
            if known is None:
                raise
            return known, [finding("store-down", f"{error}; the edition this process knows is used")]
        if edition is not None:
            self.remember(id, edition)
        return edition, []

    def remember(self, id: str, edition: Edition) -> None:
        with self._lock:
            self._known[id] = edition
            if len(self._known) > _REMEMBERED:
                self._known.pop(next(iter(self._known)))

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()


class Talk:
    """One conversation, for one agent in one workspace."""

    def __init__(self, talks: Conversations, id: str, assembler: Assembler, agent: Agent) -> None:
        self.talks, self.id, self.assembler = talks, id, assembler
        self.agent = agent if agent.session else replace(agent, session=id)
        self._layout: Layout | None = None
        self._events: list[str] = []
        self._waiting: list[Message] = []
        self._parsed: tuple[Edition, list[Any], list[Any]] | None = None
        self._tools: tuple[object, str] = (None, "")

    # what the caller asks

    def turn(self, message: str = "", messages: Sequence[Message] = (), now: datetime | None = None) -> Turn:
        """What the model sees now: `messages` is the history, `message` what the user says."""
        events, self._events = ["turn", *self._events], []
        settled, is_reused = self._carry_out(events, now)
        return self._turn(settled, is_reused, message, messages)

    def reload(self, now: datetime | None = None) -> Turn:
        """Read everything again, if the layout does that on a reload."""
        self._discover("reload")
        settled, is_reused = self._carry_out(["reload"], now)
        return self._turn(settled, is_reused, "", ())

    def compact(self, message: str = "", messages: Sequence[Message] = (), now: datetime | None = None) -> Turn:
        """The request for a summary, as the layout asks for it. What is asked is not kept."""
        layout = self.layout
        request = layout.wording.get("compaction", "")
        try:
            if layout.compaction.get("under") == "new":
                settled, is_reused = self._carry_out(["compaction"], now)
                self._keep_state(settled.edition, {"skills": [], "told": {}})
            else:
                settled, is_reused = self._kept(now)
                self._keep_state(settled.edition, {"is_compacted": True, "skills": []})
        except StoreError as error:
            if layout.compaction.get("under") != "new":
                raise
            alone = Edition(0, "")
            settled, is_reused = (
                Settled(alone, (), [finding("store-down", f"{error}; the request stands alone")]),
                False,
            )
        turn = self._turn(settled, is_reused, message, messages)
        if layout.compaction.get("say") == "message":
            return replace(turn, messages=(*turn.messages, {"role": "user", "content": request}))
        return replace(turn, system="\n\n".join(filter(None, (turn.system, request))))

    def drift(self, now: datetime | None = None) -> Drift:
        """What a prompt built now would change."""
        using, _ = self.talks.current(self.id)
        if using is None:
            raise CallError(f"the conversation {self.id!r} has no edition yet; its first turn makes one")
        return drift(using, self._gathered(now))

    def set_active_tools(self, tools: Sequence[Tool]) -> None:
        """The agent has these tools from the next turn on."""
        self.agent = replace(self.agent, tools=tuple(tools))

    def refresh_registry(self, tools: Sequence[Tool]) -> None:
        """The set of tools that exist has changed; these are active."""
        self.set_active_tools(tools)
        self._events.append("registry")

    def add_resources(self, resources: Resources) -> None:
        """Further folders of skills and packs, from an extension."""
        self._take(resources)
        self._events.append("resources")

    def send_message(self, content: str) -> None:
        """Put a message (user role) into the next turn."""
        self._waiting.append({"role": "user", "content": content})

    def use_skill(self, name: str) -> Message:
        """The message that gives the model a skill's body; a second time it only says that the skill is active."""
        using = self._using_or_made()
        known = {skill.name: skill for skill in each_skill(self._inputs_of(using))}
        if name not in known:
            raise CallError(f"no skill {name!r}" + (suggestion(name, known) if known else "; no skills were found"))
        state = json.loads(using.state)
        if name in state.get("skills", ()):
            return {"role": "user", "content": _filled(self.layout, "skill_active_message", known[name])}
        skill = with_body(known[name])
        self._keep_state(using, {"skills": [*state.get("skills", ()), name]})
        content = _filled(self.layout, "skill_message", skill) + _bundled(skill) + _changed_since(skill, using)
        return {"role": "user", "content": content}

    def sub_agent(
        self,
        task: str,
        tools: Sequence[Tool] = (),
        *,
        workspace: Workspace | None = None,
        is_appended: bool = False,
        with_context: bool = True,
        with_skills: bool = True,
        now: datetime | None = None,
    ) -> Prompt:
        """A prompt for an agent that does one task: the task as its base, or behind the parent's base, and what it inherits."""
        inputs = self._inputs_of(self._using_or_made())
        kinds = {find.name: find.kind for find in self.layout.finds}
        kept = {name for name in inputs.found if (with_skills if kinds.get(name) == "skill" else with_context)}
        found = {name: entries if name in kept else () for name, entries in inputs.found.items()}
        where = inputs.workspace
        if workspace is not None:
            where = replace(where, cwd=workspace.cwd, root=workspace.root or workspace.cwd)
        base = f"{_text(self.agent.base)}\n\n{task}".strip() if is_appended else task
        agent = replace(self.agent, role="sub", tools=tuple(tools), base=base, session="", plan="", skill="")
        return self._built(replace(inputs, found=found, workspace=where), agent, now)

    @property
    def layout(self) -> Layout:
        """The layout, read once for this conversation."""
        if self._layout is None:
            self._layout = self.assembler.layout()
        return self._layout

    # how a step is carried out

    def _carry_out(self, events: list[str], now: datetime | None) -> tuple[Settled, bool]:
        """Decide, build what is needed, settle, publish. Of two processes that publish at once, the loser takes the winner's."""
        using, findings = self.talks.current(self.id)
        if using is not None:
            events = [*events, *self._other_events(using)]
        step = decide(self.layout.on, using, events)
        if using is not None and (step == "keep" or findings):
            return Settled(using, (), findings), True
        if using is None:
            self._discover("start")
        settled = settle(step, using, self._fresh_for(step, using, events, now))
        edition = settled.edition
        if using is None or edition.number != using.number:
            edition = self.talks.store.publish(self.id, edition, using.number if using else 0)
        elif edition.state != using.state:
            self.talks.store.keep_state(self.id, edition.number, edition.state)
        self.talks.remember(self.id, edition)
        self._tell("constructed" if using is None else step, edition)
        return replace(settled, edition=edition), using is not None and edition.number == using.number

    def _kept(self, now: datetime | None) -> tuple[Settled, bool]:
        """The edition in use as it is, whatever has changed; one is made where there is none."""
        using, findings = self.talks.current(self.id)
        return (Settled(using, (), findings), True) if using else self._carry_out(["turn"], now)

    def _fresh_for(self, step: str, using: Edition | None, events: list[str], now: datetime | None) -> Edition:
        """What would be built now: from the kept inputs, where only the agent counts, else from the disk."""
        is_about_tools = step == "append" and self.layout.on.get("turn", "keep") != "append"
        if using and using.inputs and (step == "format" or (is_about_tools and "compaction" not in events)):
            return self._formatted(using, now)
        return self._gathered(now)

    def _other_events(self, using: Edition) -> list[str]:
        events = ["tools"] if self._has_other_tools(using) else []
        if '"is_compacted": true' in using.state:
            events.append("compaction")
        return events

    def _has_other_tools(self, using: Edition) -> bool:
        tools = self._written_tools()
        return tools != using.tools and tools_by_name(tools) != tools_by_name(using.tools)

    def _written_tools(self) -> str:
        if self._tools[0] is not self.agent:
            self._tools = (self.agent, written_tools(self.agent.tools))
        return self._tools[1]

    def _gathered(self, now: datetime | None) -> Edition:
        if any("template" in section.instead for section in self.layout.each_section()):
            version = self.talks.store.template()
            self.assembler.global_template = (
                Document(f"template {version.version}", version.template) if version else None
            )
        prompt = self.assembler.prompt(self.agent, now)
        return self._fresh(prompt, self.assembler.stand(self.agent).inputs)

    def _formatted(self, using: Edition, now: datetime | None) -> Edition:
        inputs = inputs_from(json.loads(using.inputs))
        return replace(self._fresh(self._built(inputs, self.agent, now), inputs), inputs=using.inputs)

    def _built(self, inputs: Inputs, agent: Agent, now: datetime | None) -> Prompt:
        moment = as_told(tells_time(self.layout, inputs), now)
        return build(self.layout, inputs, agent, moment, self.assembler.rules)

    def _fresh(self, prompt: Prompt, inputs: Inputs) -> Edition:
        """What would be the edition now. Inputs are kept only where the layout formats them again."""
        is_formatted = "format" in self.layout.on.values() or any(find.kind == "skill" for find in self.layout.finds)
        kept = json.dumps(inputs_form(inputs), ensure_ascii=False, sort_keys=True) if is_formatted else ""
        made_for = {"cwd": printable(inputs.workspace.cwd), "model": self.agent.model, "provider": self.agent.provider}
        return Edition(
            number=0,
            system=prompt.text,
            tools=self._written_tools(),
            account=json.dumps(account_form(self._checked(prompt)), ensure_ascii=False, sort_keys=True),
            inputs=kept,
            layout=self.layout.address,
            made_for=json.dumps(made_for, ensure_ascii=False, sort_keys=True),
            made=local_time().isoformat(timespec="milliseconds"),
        )

    def _checked(self, prompt: Prompt) -> Prompt:
        """The prompt with what the checks of extensions found."""
        found: list[Finding] = []
        for extension in self.talks.extensions:
            for check in extension.checks:
                found.extend(run(extension, lambda: list(check(prompt)), found) or ())  # noqa: B023 - called at once
        return replace(prompt, findings=(*prompt.findings, *found)) if found else prompt

    def _keep_state(self, edition: Edition, changes: dict[str, Any]) -> None:
        state = json.dumps({**json.loads(edition.state), **changes}, sort_keys=True)
        if state != edition.state:
            self.talks.store.keep_state(self.id, edition.number, state)
            self.talks.remember(self.id, replace(edition, state=state))

    def _using_or_made(self) -> Edition:
        using, _ = self.talks.current(self.id)
        return using or self._carry_out(["turn"], None)[0].edition

    def _inputs_of(self, edition: Edition) -> Inputs:
        return inputs_from(json.loads(edition.inputs)) if edition.inputs else self.assembler.stand(self.agent).inputs

    # what the model sees

    def _turn(self, settled: Settled, is_reused: bool, message: str, messages: Sequence[Message]) -> Turn:
        edition = settled.edition
        findings = list(settled.findings)
        passages, tools = self._read(edition)
        system, injected = self._started(edition.system, message, findings)
        current = [{"role": "user", "content": message}] if message else []
        waiting, self._waiting = self._waiting, []
        whole = [*converted(messages), *settled.messages, *waiting, *current, *injected]
        for extension in self.talks.extensions:
            if extension.context is not None:
                whole = run(extension, extension.context, findings, list(whole)) or whole
        if system != edition.system:
            passages = []
        return Turn(self.id, edition.number, is_reused, system, whole, tools, passages, findings)

    def _read(self, edition: Edition) -> tuple[list[Any], list[Any]]:
        known = self._parsed
        if known is None or known[0].account is not edition.account or known[0].tools is not edition.tools:
            account = json.loads(edition.account)
            passages = [(each["start"], each["end"], each["lifetime"]) for each in account.get("passages", ())]
            known = self._parsed = (edition, passages, json.loads(edition.tools))
        return known[1], known[2]

    def _started(self, system: str, message: str, findings: list[Finding]) -> tuple[str, list[Message]]:
        """`before_agent_start`, in order: each sees the prompt of the one before; the change is for this turn only."""
        injected: list[Message] = []
        for extension in self.talks.extensions if message else ():
            if extension.before_agent_start is None:
                continue
            start = run(extension, extension.before_agent_start, findings, system, message)
            if start is not None:
                system = system if start.prompt is None else start.prompt
                injected += [{"role": "user", "content": start.message}] if start.message else []
        return system, injected

    def _tell(self, event: str, edition: Edition) -> None:
        for extension in self.talks.extensions:
            if extension.listen is not None:
                run(extension, extension.listen, [], event, {"conversation": self.id, "edition": edition.number})

    def _discover(self, reason: str) -> None:
        """Ask extensions for resources, at the start and on every reload."""
        for extension in self.talks.extensions:
            if extension.resources_discover is not None:
                resources = run(extension, extension.resources_discover, [], reason)
                if resources is not None:
                    self._take(resources)

    def _take(self, resources: Resources) -> None:
        old = self.assembler
        self.assembler = Assembler(
            old.workspace,
            old.layout_name,
            settings=old.settings,
            assignments=old.assignments,
            rules=old.rules,
            packs={**old.packs, **resources.packs},
            values=old.values,
            skill_folders=tuple(dict.fromkeys((*old.skill_folders, *resources.skills))),
        )


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
                content = f"Ran `{each.get('command', '')}`:\n\n{each.get('output', '')}".rstrip()
                seen.append({"role": "user", "content": content})
        elif role in ("summary", "branch_summary", "custom"):
            seen.append({"role": "user", "content": each.get("content", "")})
        else:
            seen.append(each)
    return seen


def _filled(layout: Layout, key: str, skill: Skill) -> str:
    wording = layout.wording.get(key, "{text}")
    return wording.replace("{name}", "\0name\0").replace("{text}", skill.body).replace("\0name\0", skill.name)


def _bundled(skill: Skill) -> str:
    """The files beside a skill's own, listed and not read."""
    folder = os.path.dirname(skill.path)
    paths: list[str] = []
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        paths += [
            os.path.join(above, name) for name in sorted(names) if name != "SKILL.md" and not name.startswith(".")
        ]
        if len(paths) > _MOST_FILES:
            break
    if not paths:
        return ""
    shown = [f"- {printable(path)}" for path in paths[:_MOST_FILES]]
    more = [f"- … and more ({_MOST_FILES} are listed)"] if len(paths) > _MOST_FILES else []
    return "\n\nFiles that come with it (not read yet):\n" + "\n".join(shown + more)


def _changed_since(skill: Skill, using: Edition) -> str:
    from datetime import datetime

    try:
        changed = os.stat(skill.path).st_mtime
        made = datetime.fromisoformat(using.made).timestamp()
    except (OSError, ValueError):
        return ""
    return "\n\n(This file has changed since the list of skills was made.)" if changed > made else ""


def _text(given: str | Document) -> str:
    return given if isinstance(given, str) else given.text
