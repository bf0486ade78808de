"""Connect settings, layout, gathering and building.

An `Assembler` is for programs that build many prompts: it rereads only files that have changed, and may be used from several threads.
"""

from __future__ import annotations

from _thread import allocate_lock
from time import perf_counter

from ..building.build import build
from ..building.clock import time_precision
from ..building.drafts import DraftWriter
from ..errors import (
    CallError,
    check_time,
    check_trust,
    check_untrusted,
    expect,
    expect_mapping,
    path_text,
    to_pairs,
    to_tuple,
)
from ..gathering.gather import gather
from ..sources.reader import Reader
from ..sources.stamps import changed_paths
from ..store import waits
from ..template.addresses import is_only_address
from ..vocabulary import Agent, Document, Workspace, replace, value
from .checks import check_agent
from .plans import Plan, read_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence, Set
    from datetime import datetime
    from typing import Any

    from ..building.lists import Rule
    from ..layout.model import ConfigValue, Layout
    from ..vocabulary import Inputs, Piece, Prompt, Scope, Skill

_MAX_SNAPSHOTS = 8
_FIXED_PLACES = ("root", "home", "env")  # the same for all working directories in a repository
_OPTIONS = (
    *("trust", "untrusted"),
    *("settings", "assignments", "rules", "packs", "values", "skill_folders", "variables"),
    *("requested", "layout_text", "defaults"),
)


@value
class Snapshot:
    """The state of a workspace at one moment: the plan, and the inputs that were gathered for it.

    `precision` is the precision of the time in the prompt. `base` and `scope` come from the agent that the snapshot was taken for, and
    `template` is the global template. `base_text` is the base, or the template that it refers to.
    """

    plan: Plan
    inputs: Inputs
    precision: str
    base: str | Document = ""
    scope: Scope | None = None
    template: Document | None = None
    base_text: str | Document = ""

    @property
    def layout(self) -> Layout:
        return self.plan.layout

    @property
    def key(self) -> tuple[str | Document, Scope | None, Document | None]:
        return self.base, self.scope, self.template

    def render(
        self, root: str, templates: Mapping[str, Document], facts: Mapping[str, str | Sequence[str]]
    ) -> tuple[Piece, ...]:
        """Render a template, in the sandbox if any part of it is untrusted."""
        from .bodies import is_trusted, only_trusted
        from .sandbox import render

        has_trusted_bodies = all(
            is_trusted(self.layout, name, body) for name, body in self.inputs.bodies.items() if body.path == root
        )
        return render(
            root,
            templates,
            facts,
            limit=self.layout.template_limit,
            is_trusted=has_trusted_bodies and only_trusted(templates, self.layout),
        )


class Assembler:
    """Assembles prompts for one workspace and layout. If nothing has changed, it only calls `stat` once per file.

    Conversations in the same workspace share an assembler, so that nothing is read twice.

    `values` sets template variables, by `type:name`, and takes precedence over the workspace. `variables` adds types of
    variables: each is a function that takes a name and the workspace and returns a string or None.

    `requested` and `layout_text` are for a service, which does not trust its clients: they are assignments and a layout (TOML, in
    place of `layout`) that may not read more files than a workspace's own, nor relax any check. `defaults` are its own assignments for
    every layout that has their keys.

    `trust` is `off`, `record` or `ask`, or a function that takes a path and a hash and says whether to use a file that is new or has
    changed. `untrusted` says what happens to the files that are not: `drop` leaves them out, and `user` sends instruction files as a user
    message after the system prompt. If these are empty, the user's settings decide.

    >>> assembler = Assembler(Workspace("."), "foreword")
    >>> "Be brief." in assembler.prompt(Agent([Tool("shell")])).text
    True
    """

    def __init__(
        self,
        workspace: Workspace | None = None,
        layout: str = "",
        *,
        settings: str = "",
        assignments: Sequence[tuple[str, Any]] = (),
        rules: Sequence[Rule] = (),
        packs: Mapping[str, str] | None = None,
        values: Mapping[str, str] | None = None,
        skill_folders: Sequence[str] = (),
        variables: Mapping[str, Callable[[str, Workspace], str | None]] | None = None,
        requested: Sequence[tuple[str, Any]] = (),
        layout_text: str = "",
        defaults: Sequence[tuple[str, Any]] = (),
        trust: str | Callable[[str, str], bool] = "",
        untrusted: str = "",
    ) -> None:
        self.workspace = Workspace() if workspace is None else workspace
        expect("the workspace", self.workspace, Workspace)
        self.layout_name = path_text("the layout", layout)
        self.settings, self.assignments = path_text("the settings", settings), to_pairs("assignments", assignments)
        self.requested, self.layout_text = to_pairs("requested", requested), layout_text
        self.defaults = to_pairs("defaults", defaults)
        self.rules = to_tuple("rules", rules)
        for name, mapping in (("packs", packs), ("values", values), ("variables", variables)):
            expect_mapping(name, mapping)
        for function in (*self.rules, *(variables or {}).values()):
            if not callable(function):
                raise CallError(f"a rule or variable must be a function, not {type(function).__name__}")
        self.packs = {name: path_text("the folder of a pack", folder) for name, folder in (packs or {}).items()}
        self.values = dict(values or {})
        self.skill_folders, self.variables = (
            to_tuple("skill_folders", skill_folders, str),
            dict(variables or {}),
        )
        self.trust, self.untrusted = check_trust(trust), check_untrusted(untrusted)
        self.reader: Callable[[], Reader] = Reader
        self.finds_skills = True
        self.reads_user_files = True
        self.looks_for_changes = True
        self._changed_paths: Set[str] | None = None
        self._lock = allocate_lock()
        self._current_plan: Plan | None = None
        self._checked: tuple[Plan | None, float] = (None, 0.0)
        self._snapshots: tuple[Snapshot, ...] = ()
        self._checked_snapshot: tuple[Snapshot | None, float] = (None, 0.0)
        self._reader = Reader()
        self._template_paths: dict[str, None] = {}
        self._draft_writer: DraftWriter | None = None
        self._last: tuple[Snapshot, Agent, datetime | None, Prompt] | None = None

    def for_directory(self, cwd: str) -> Assembler:
        """Return a copy for another working directory, which does not search for skills, sub-agents or commands."""
        other = self.copy_with(workspace=replace(self.workspace, cwd=cwd, root=None), skill_folders=())
        other.finds_skills = False
        other.reads_user_files = self.reads_user_files
        return other

    def copy_with(self, **changes: Any) -> Assembler:
        """Return a copy with these arguments changed."""
        arguments = {
            "workspace": self.workspace,
            "layout": self.layout_name,
            **{name: getattr(self, name) for name in _OPTIONS},
        }
        return Assembler(**{**arguments, **changes})

    def snapshot(self, agent: Agent | None = None, template: Document | None = None) -> Snapshot:
        """Return the layout and its inputs for this agent, rereading them only if something has changed.

        `template` is the global template, for layouts that use it.
        """
        key = (agent.base, agent.scope, template) if agent else ("", None, template)
        for document in (key[0], template):
            if isinstance(document, Document):
                from .bodies import announce

                announce(document)  # before taking the lock, which other threads may need
        with self._lock:
            previous = next((snapshot for snapshot in self._snapshots if snapshot.key == key), None)
            changed, self._changed_paths = self._changed_paths, None
            if previous is not None and changed is None:
                changed = _changes_since(self, previous)
                if not changed:
                    return previous
            snapshot, untrusted = self._take_snapshot(previous or next(iter(self._snapshots), None), changed, *key)
        for root, templates in untrusted:  # without the lock, because the worker may be slow
            _parse(root, templates)
        with self._lock:
            others = [other for other in self._snapshots if other is not previous]
            self._snapshots = (snapshot, *others)[:_MAX_SNAPSHOTS]
            return snapshot

    def prompt(
        self, agent: Agent | None = None, now: datetime | None = None, template: Document | None = None
    ) -> Prompt:
        """Return the prompt for an agent now, or the same object as before if nothing has changed."""
        agent = Agent() if agent is None else agent
        last = self._last
        if last is None or last[1] is not agent:
            check_agent(agent)
        check_time(now)
        snapshot = self.snapshot(agent, template)
        now = round_to(snapshot.precision, now)
        if last and last[0] is snapshot and last[2] == now and (last[1] is agent or last[1] == agent):
            return last[3]
        prepared = agent if snapshot.base_text is agent.base else replace(agent, base=snapshot.base_text)
        inputs = snapshot.inputs
        if prepared.skill:
            from .skills import with_active_skill

            prepared, inputs = with_active_skill(prepared, snapshot.layout, inputs, trust=snapshot.plan.trust)
        with self._lock:
            if self._draft_writer is None or self._draft_writer.layout is not snapshot.layout:
                self._draft_writer = DraftWriter(snapshot.layout)
            prompt = build(snapshot.layout, inputs, prepared, now, self.rules, self._draft_writer, snapshot.render)
        self._last = (snapshot, agent, now, prompt)
        return prompt

    def skills(self) -> list[Skill]:
        """Return all skills that the layout finds, including hidden ones."""
        from .skills import all_skills

        return list(all_skills(self.snapshot().inputs))

    def skill(self, name: str) -> Skill:
        """Return the skill with this name, including its body."""
        from .skills import skill_named, with_body

        snapshot = self.snapshot()
        layout, inputs = snapshot.layout, snapshot.inputs
        return with_body(skill_named(name, layout, inputs), layout, inputs.workspace, snapshot.plan.trust)

    def skill_message(self, name: str) -> str:
        """Return the message that activates a skill, worded by the layout."""
        from .skills import activation

        return activation(self.snapshot().layout, self.skill(name))

    def template(self, address: str) -> Document:
        """Return the template at an address in this workspace's packs."""
        from ..packs.packs import load_template

        plan, reader = self.plan(), self.reader()
        reader.trust = plan.trust
        try:
            return load_template(address, plan.workspace, reader, _template_packs(self, plan.layout))
        finally:
            self._template_paths.update(dict.fromkeys(reader.stamps))

    def with_base(self, agent: Agent) -> Agent:
        """Return the agent with the template itself as its base, if the base is an address such as `$user/greet`."""
        if isinstance(agent.base, str) and is_only_address(agent.base):
            return replace(agent, base=self.template(agent.base.strip()))
        return agent

    def layout(self) -> Layout:
        """Return the layout with all settings applied, without gathering anything."""
        return current_plan(self).layout

    def plan(self) -> Plan:
        """Return the layout and the resolved workspace, rereading them if one of their files has changed."""
        return current_plan(self)

    def paths_read(self) -> list[str]:
        """Return every file and directory that the prompt depends on, including those that a failed attempt tried to read."""
        stamps = self._snapshots[0].inputs.stamps if self._snapshots else ()
        return list(dict.fromkeys([*(path for path, _ in stamps), *self._reader.stamps, *self._template_paths]))

    def _take_snapshot(
        self,
        before: Snapshot | None,
        changed: Set[str] | None,
        base: str | Document,
        scope: Scope | None,
        template: Document | None,
    ) -> tuple[Snapshot, list[tuple[str, dict[str, Document]]]]:
        """Read what has changed since a snapshot: the settings and the layout, or only the inputs. `changed` are the paths, if known.

        The second value lists untrusted templates that are still to be parsed: the path of each root template, and all templates that
        it includes.
        """
        reader = self._reader = self.reader()
        reader.changed_paths = changed
        plan = current_plan(self, reader, changed if before and before.plan is self._current_plan else None)
        reader.stamps.update(plan.stamps)
        reader.trust, reader.encoding, reader.line_ends = plan.trust, plan.layout.encoding, plan.layout.line_ends
        if before is not None and before.plan is not plan:
            before = None
        layout, workspace = plan.layout, plan.workspace
        base_text = base
        if isinstance(base, str) and is_only_address(base):
            from ..packs.packs import load_template

            base_text = load_template(base.strip(), workspace, reader, _template_packs(self, layout))
        bodies: dict[str, Document] = {}
        templates: dict[str, Document] = {}
        untrusted: list[tuple[str, dict[str, Document]]] = []
        if any(section.is_template for section in layout.all_sections):
            from .bodies import bodies_of, templates_of

            packs = _template_packs(self, layout)
            bodies = bodies_of(layout, base_text, template, workspace, reader, packs)
            templates, untrusted = templates_of(layout, bodies, workspace, reader, packs)
        inputs = gather(
            layout, workspace, reader, before.inputs if before else None, bodies, templates, scope, self.variables
        )
        findings = (*plan.findings, *plan.trust.finish()) if plan.trust else plan.findings
        if findings or self.values:
            inputs = replace(inputs, findings=(*findings, *inputs.findings), values={**inputs.values, **self.values})
        return Snapshot(plan, inputs, time_precision(layout, inputs), base, scope, template, base_text), untrusted


def current_plan(assembler: Assembler, reader: Reader | None = None, changed: Set[str] | None = None) -> Plan:
    """Return an assembler's plan, rereading it if one of its files has changed, with this reader or a new one.

    `changed` are the paths that have just changed, if the caller has looked at those of the plan.
    """
    plan, (checked, time) = assembler._current_plan, assembler._checked
    if plan is not None and plan is checked and waits.is_checked(time):
        return plan
    now = perf_counter()
    if plan is not None and assembler.looks_for_changes:
        changed = changed_paths(plan.stamps) if changed is None else changed & dict(plan.stamps).keys()
        plan = None if changed else plan
    if plan is None:
        waits.announce("read")
        plan = assembler._current_plan = read_plan(assembler, reader or assembler.reader())
    assembler._checked = plan, now
    return plan


def _changes_since(assembler: Assembler, snapshot: Snapshot) -> Set[str]:
    """Return the paths that have changed since a snapshot. Requests that arrived before the last look at them share its result."""
    checked, time = assembler._checked_snapshot
    if not assembler.looks_for_changes or (checked is snapshot and waits.is_checked(time)):
        return set()
    now = perf_counter()
    changed = changed_paths(snapshot.inputs.stamps)
    assembler._checked_snapshot = None if changed else snapshot, now
    return changed


def reread(assembler: Assembler, paths: Set[str]) -> None:
    """Let an assembler that does not look for changes read these paths again, and whatever depends on them, for the next prompt."""
    plan = assembler._current_plan
    if plan is None or not paths.isdisjoint(path for path, _ in plan.stamps):
        assembler._current_plan = None
    assembler._snapshots, assembler._changed_paths = assembler._snapshots[:1], paths


def share_layout(assembler: Assembler, other: Assembler, *, has_same_settings: bool = False) -> None:
    """Let an assembler use the layout that another one has read in the same repository, unless it may depend on the working directory.

    `has_same_settings` means that both working directories are known to have the same settings. What the layout's own text became is
    shared too, so the two may not be used at the same time.
    """
    plan = other._current_plan
    if plan is not None and (has_same_settings or all(_is_shared(row) for row in plan.layout.config)):
        workspace = replace(plan.workspace, cwd=assembler.workspace.cwd)
        assembler._current_plan, assembler._draft_writer = replace(plan, workspace=workspace), other._draft_writer


def _is_shared(row: ConfigValue) -> bool:
    """Whether a setting has the same value for all working directories in a repository."""
    return row.pattern.place in _FIXED_PLACES and "{cwd}" not in row.key


def _template_packs(assembler: Assembler, layout: Layout) -> Mapping[str, str]:
    """Return the packs in which templates are found: the caller's, and the layout's own names for the others."""
    if not layout.packs and "folder" not in layout.settings:
        return assembler.packs
    from ..packs.packs import template_packs

    return template_packs(assembler.packs, {"packs": layout.packs, "settings": layout.settings})


def _parse(root: str, templates: Mapping[str, Document]) -> None:
    from .sandbox import parse

    parse(root, templates)


def round_to(precision: str, now: datetime | None) -> datetime | None:
    """Round a time down to a precision (see `time_precision`). Returns None if the prompt contains no time."""
    if not precision:
        return None
    now = local_time() if now is None else now
    return now if precision == "time" else now.replace(hour=0, minute=0, second=0, microsecond=0)


def default_template() -> str:
    """Return the built-in template, which is the `builder` layout's."""
    from ..packs.packs import shipped_layout

    return str(shipped_layout("builder")["section"]["body"]["text"])


def local_time() -> datetime:
    """Return the current time in the local time zone."""
    import datetime  # in every first turn; `from datetime import datetime` would take six times as long

    return datetime.datetime.now(datetime.UTC).astimezone()
