"""Connect settings, layout, gathering and building.

`assemble` builds one prompt. An `Assembler` is for programs that build many: it reads nothing again while nothing has changed on the
disk, and may be used from several threads.
"""

from __future__ import annotations

from _thread import allocate_lock

from ..building.build import build
from ..building.clock import time_precision
from ..building.drafts import DraftWriter
from ..errors import CallError, check_moment, expect, expect_mapping, ordered, pairs
from ..gathering.gather import gather
from ..layout.model import Pattern
from ..layout.parse import parse
from ..packs.packs import check_packs, find_layout, find_template, load_template, shipped_layout, with_texts
from ..packs.settings import confined, layout_of, read_settings, with_settings, writers
from ..packs.wording import with_wording
from ..sources.environment import resolve_workspace
from ..sources.files import Reader
from ..sources.stamps import is_unchanged
from ..template.addresses import is_address, is_in, is_only_address
from ..template.languages import LANGUAGES, language_of
from ..vocabulary import Agent, Document, Workspace, replace, value
from .checks import check_agent
from .skills import activation, each_skill, skill_named, with_active_skill, with_body

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..building.lists import Rule
    from ..layout.model import Layout
    from ..vocabulary import Finding, Inputs, Piece, Prompt, Scope, Skill

DEFAULT_LAYOUT = "foreword"
_SNAPSHOTS = 8
_OPTIONS = ("settings", "assignments", "rules", "packs", "values", "skill_folders", "variables")


# How the paths of untrusted templates begin: those of the workspace, the global one (anyone may have set it), and those of requests.
_UNTRUSTED = ("$workspace/", "template", "request")
# An untrusted template with more characters or tags than this may be slow.
_LONG = 100_000
_MANY_TAGS = 200


def assemble(
    workspace: Workspace | None = None,
    agent: Agent | None = None,
    layout: str = "",
    *,
    now: datetime | None = None,
    settings: str = "",
    assignments: Sequence[tuple[str, Any]] = (),
    rules: Sequence[Rule] = (),
    packs: Mapping[str, str] | None = None,
) -> Prompt:
    """The prompt for an agent in a workspace.

    `layout` is a name, an address or a file. `settings` is the path of a settings file, `assignments` sets single keys of the layout,
    and `packs` are more folders of layouts, templates and wording, by prefix.
    """
    return Assembler(workspace, layout, settings=settings, assignments=assignments, rules=rules, packs=packs).prompt(
        agent, now
    )


@value
class Plan:
    """The layout with all settings applied, for a workspace; with findings, and the stamps of everything that was read."""

    layout: Layout
    workspace: Workspace
    findings: Sequence[Finding]
    stamps: Sequence[tuple[str, Any]]


@value
class Snapshot:
    """The state of a workspace at one moment: the plan, and the inputs that were gathered for it.

    `precision` is that of the time in the prompt. `base` and `scope` are those of the agent that it was gathered for, and `template`
    was the global template. `base_text` is the base, or the template that the base refers to.
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
        from .sandbox import render

        is_trusted = all(
            _is_trusted(self.layout, name, body) for name, body in self.inputs.bodies.items() if body.path == root
        )
        return render(
            root,
            templates,
            facts,
            limit=self.layout.template_limit,
            is_trusted=is_trusted and _only_trusted(templates),
        )


class Assembler:
    """Assembles prompts for one workspace and layout. If nothing has changed, a prompt costs one `stat` for each file.

    Conversations in the same workspace share an assembler, so that nothing is read twice.

    `values` sets variables of templates, by `type:name`, and takes precedence over the workspace. `variables` are more types of
    variables, each a function from a name and the workspace to a string or None.
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
    ) -> None:
        self.workspace = Workspace() if workspace is None else workspace
        self.layout_name = layout
        expect("the workspace", self.workspace, Workspace)
        expect("the layout", layout, str)
        expect("the settings", settings, str)
        self.settings, self.assignments = settings, pairs("assignments", assignments)
        self.rules = ordered("rules", rules)
        for name, mapping in (("packs", packs), ("values", values), ("variables", variables)):
            expect_mapping(name, mapping)
        for function in (*self.rules, *(variables or {}).values()):
            if not callable(function):
                raise CallError(f"a rule or variable must be a function, not {type(function).__name__}")
        for folder in (packs or {}).values():
            expect("the folder of a pack", folder, str)
        self.packs, self.values = dict(packs or {}), dict(values or {})
        self.skill_folders, self.variables = ordered("skill_folders", skill_folders, str), dict(variables or {})
        self.reader: Callable[[], Reader] = Reader
        self.finds_skills = True
        self._lock = allocate_lock()
        self._current_plan: Plan | None = None
        self._snapshots: tuple[Snapshot, ...] = ()
        self._reader = Reader()
        self._requested: dict[str, None] = {}
        self._draft_writer: DraftWriter | None = None
        self._last: tuple[Snapshot, Agent, datetime | None, Prompt] | None = None

    def for_directory(self, cwd: str) -> Assembler:
        """A copy for another working directory that does not search for skills."""
        other = self.like(workspace=replace(self.workspace, cwd=cwd, root=None), skill_folders=())
        other.finds_skills = False
        return other

    def like(self, **changes: Any) -> Assembler:
        """A new assembler with the same arguments except for these."""
        arguments = {
            "workspace": self.workspace,
            "layout": self.layout_name,
            **{name: getattr(self, name) for name in _OPTIONS},
        }
        return Assembler(**{**arguments, **changes})

    def snapshot(self, agent: Agent | None = None, template: Document | None = None) -> Snapshot:
        """The layout and its inputs for this agent, read again only if something has changed.

        `template` is the global template, for layouts that use it.
        """
        key = (agent.base, agent.scope, template) if agent else ("", None, template)
        _announce(key[0])  # before the lock, which others may need
        _announce(template)
        with self._lock:
            before = next((each for each in self._snapshots if each.key == key), None)
            if before is not None and is_unchanged(before.inputs.stamps):
                return before
            snapshot, untrusted = self._take_snapshot(before or next(iter(self._snapshots), None), *key)
        for root, templates in untrusted:  # without the lock, because the worker may be slow
            _parse(root, templates)
        with self._lock:
            self._snapshots = (snapshot, *(each for each in self._snapshots if each is not before))[:_SNAPSHOTS]
            return snapshot

    def prompt(
        self, agent: Agent | None = None, now: datetime | None = None, template: Document | None = None
    ) -> Prompt:
        """The prompt for an agent now; the same object as before if nothing has changed."""
        agent = Agent() if agent is None else agent
        last = self._last
        if last is None or last[1] is not agent:
            check_agent(agent)
        check_moment(now)
        snapshot = self.snapshot(agent, template)
        now = round_to(snapshot.precision, now)
        if last and last[0] is snapshot and last[2] == now and (last[1] is agent or last[1] == agent):
            return last[3]
        ready = agent if snapshot.base_text is agent.base else replace(agent, base=snapshot.base_text)
        ready, inputs = with_active_skill(ready, snapshot.layout, snapshot.inputs)
        with self._lock:
            if self._draft_writer is None or self._draft_writer.layout is not snapshot.layout:
                self._draft_writer = DraftWriter(snapshot.layout)
            prompt = build(snapshot.layout, inputs, ready, now, self.rules, self._draft_writer, snapshot.render)
        self._last = (snapshot, agent, now, prompt)
        return prompt

    def skills(self) -> list[Skill]:
        """The skills of the layout, including hidden ones."""
        return list(each_skill(self.snapshot().inputs))

    def skill(self, name: str) -> Skill:
        """The skill of this name, with its body."""
        snapshot = self.snapshot()
        return with_body(
            skill_named(name, snapshot.layout, snapshot.inputs), snapshot.layout, snapshot.inputs.workspace
        )

    def skill_message(self, name: str) -> str:
        """The message that activates a skill, as the layout words it."""
        return activation(self.snapshot().layout, self.skill(name))

    def template(self, address: str) -> Document:
        """The template at an address of this workspace's packs."""
        reader = self.reader()
        try:
            return load_template(address, resolve_workspace(self.workspace, reader), reader, self.packs)
        finally:
            self._requested.update(dict.fromkeys(reader.stamps))

    def with_base(self, agent: Agent) -> Agent:
        """The agent, with a base that is a reference (`$user/greet`) replaced by the template that it refers to."""
        if isinstance(agent.base, str) and is_only_address(agent.base):
            return replace(agent, base=self.template(agent.base.strip()))
        return agent

    def layout(self) -> Layout:
        """The layout with all settings applied. Nothing is gathered."""
        return self._plan(self.reader()).layout

    def paths_read(self) -> list[str]:
        """Every file and directory on which the prompt depends, including those that a failed attempt tried to read."""
        known = self._snapshots[0].inputs.stamps if self._snapshots else ()
        return list(dict.fromkeys([*(path for path, _ in known), *self._reader.stamps, *self._requested]))

    def _take_snapshot(
        self, before: Snapshot | None, base: str | Document, scope: Scope | None, template: Document | None
    ) -> tuple[Snapshot, list[tuple[str, dict[str, Document]]]]:
        """Read what has changed: the settings and the layout, or only the inputs.

        The second value has the untrusted templates, which are not parsed yet, by the path of the one that includes the others.
        """
        reader = self._reader = self.reader()
        plan = self._plan(reader)
        if before is not None and before.plan is not plan:
            before = None
        layout, workspace = plan.layout, plan.workspace
        base_text = base
        if isinstance(base, str) and is_only_address(base):
            base_text = load_template(base.strip(), workspace, reader, self.packs)
        bodies = _bodies(layout, base_text, template, workspace, reader, self.packs)
        templates, untrusted = _templates(layout, bodies, workspace, reader, self.packs)
        inputs = gather(
            layout, workspace, reader, before.inputs if before else None, bodies, templates, scope, self.variables
        )
        if plan.findings or self.values:
            inputs = replace(
                inputs, findings=(*plan.findings, *inputs.findings), values={**inputs.values, **self.values}
            )
        return Snapshot(plan, inputs, time_precision(layout, inputs), base, scope, template, base_text), untrusted

    def _plan(self, reader: Reader) -> Plan:
        """The plan, read again if one of its files has changed."""
        plan = self._current_plan
        if plan is None or not is_unchanged(plan.stamps):
            plan = self._current_plan = self._read_plan(reader)
        reader.stamps.update(plan.stamps)
        return plan

    def _read_plan(self, reader: Reader) -> Plan:
        check_packs(self.packs)
        workspace = resolve_workspace(self.workspace, reader)
        files, wrong = read_settings(workspace, reader, self.settings)
        source, refused = layout_of(
            self.layout_name, files, DEFAULT_LAYOUT, lambda name: find_layout(name, workspace, reader, self.packs)
        )
        source, unknown = with_wording(source, workspace, reader, self.packs)
        source, more = with_settings(source, files, self.assignments)
        source, guarded = confined(with_texts(source, workspace, reader, self.packs))
        layout = parse(source.mapping, source.name, source.address, source.untrusted)
        if source.written:
            layout = replace(layout, written=writers(source))
        if self.skill_folders:
            layout = _with_skill_folders(layout, self.skill_folders)
        if not self.finds_skills:
            finds = [replace(each, groups=()) if each.kind == "skill" else each for each in layout.finds]
            layout = replace(layout, finds=finds)
        return Plan(layout, workspace, (*wrong, *refused, *unknown, *more, *guarded), tuple(reader.stamps.items()))


def _with_skill_folders(layout: Layout, folders: Sequence[str]) -> Layout:
    """The layout with more folders in which to search for skills, after its own."""
    added = tuple((Pattern("path", f"{folder}/**/SKILL.md"),) for folder in folders)
    finds = [replace(each, groups=(*each.groups, *added)) if each.kind == "skill" else each for each in layout.finds]
    return replace(layout, finds=finds)


def _bodies(
    layout: Layout,
    base: str | Document,
    template: Document | None,
    workspace: Workspace,
    reader: Reader,
    packs: Mapping[str, str],
) -> dict[str, Document]:
    """The templates of a layout's sections: the caller's, else the global one, else the layout's own or one it refers to."""
    bodies: dict[str, Document] = {}
    for section in layout.each_section():
        if section.language not in LANGUAGES:
            continue
        document = base if isinstance(base, Document) else Document("base", base)
        if "base" in section.instead and (document.text or isinstance(base, Document)):
            bodies[section.name] = document
        elif "template" in section.instead and template is not None:
            bodies[section.name] = template
        elif section.text is not None and is_address(section.text):
            bodies[section.name] = load_template(section.text, workspace, reader, packs)
        elif section.text is not None:
            by = layout.written.get(f"section.{section.name}.text")
            path = by.path if by is not None and by.kind == "setting" else f"{layout.address}/{section.name}"
            bodies[section.name] = Document(path, section.text)
    return bodies


def _templates(
    layout: Layout, bodies: Mapping[str, Document], workspace: Workspace, reader: Reader, packs: Mapping[str, str]
) -> tuple[dict[str, Document], list[tuple[str, dict[str, Document]]]]:
    """All templates that are used, by address. Trusted ones are parsed now; the second value has the untrusted ones.

    This reports an invalid template before the first turn.
    """
    templates: dict[str, Document] = {}
    untrusted: list[tuple[str, dict[str, Document]]] = []
    for section in layout.each_section():
        body = bodies.get(section.name)
        if body is None:
            continue
        language = language_of(body, section.language)
        are_trusted = _only_trusted if _is_trusted(layout, section.name, body) else _never
        loaded = language.module().load_all(body, _loading(body, workspace, reader, packs), are_trusted)
        templates |= loaded
        if language.is_sandboxed and loaded and not are_trusted(loaded):
            untrusted.append((body.path, loaded))
    return templates, untrusted


def _announce(template: str | Document | None) -> None:
    """Announce an untrusted template that may be slow, so that a service can limit how many run at once.

    Templates that need the sandbox are announced there.
    """
    if not isinstance(template, Document) or not template.path.startswith(_UNTRUSTED):
        return
    if len(template.text) > _LONG or template.text.count("[") > _MANY_TAGS:
        from ..store import waits

        waits.before("template")


def _parse(root: str, templates: Mapping[str, Document]) -> None:
    from .sandbox import parse

    parse(root, templates)


def _loading(
    body: Document, workspace: Workspace, reader: Reader, packs: Mapping[str, str]
) -> Callable[[str], Document | None]:
    return lambda address: body if address == body.path else find_template(address, workspace, reader, packs)


def _only_trusted(addresses: Iterable[str]) -> bool:
    """Whether none of these templates is in the workspace."""
    return not any(is_in(each, "workspace") for each in addresses)


def _never(_: Iterable[str]) -> bool:
    return False


def _is_trusted(layout: Layout, section: str, body: Document) -> bool:
    """Whether a template comes from the caller, the user or Foreword itself, not from the workspace or a request."""
    return not body.path.startswith(_UNTRUSTED) and f"section.{section}.text" not in layout.untrusted


def round_to(precision: str, now: datetime | None) -> datetime | None:
    """The time rounded down to a precision (see `time_precision`); None if that is empty."""
    if not precision:
        return None
    now = local_time() if now is None else now if now.tzinfo else now.astimezone()
    return now if precision == "time" else now.replace(hour=0, minute=0, second=0, microsecond=0)


def default_template() -> str:
    """The built-in template, which is that of `builder`."""
    return str(shipped_layout("builder")["section"]["body"]["text"])


def local_time() -> datetime:
    """Now, in the local zone."""
    from datetime import datetime

    return datetime.now().astimezone()
