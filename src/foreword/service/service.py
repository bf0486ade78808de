"""The resources that routes use: the served folders, and the conversations in the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from ..conversation.conversation import Conversation
from ..conversation.conversations import Conversations
from ..conversation.stored_template import StoredTemplate
from ..encoding.edition import target_of
from ..engine.assembler import Assembler
from ..errors import ForewordError, LayoutError, show, suggestion
from ..extensions import Extension
from ..inspection.price_list import read_prices
from ..inspection.prices import Prices
from ..layout.merging import has_key
from ..packs.packs import Source, custom_layouts, find_layout, layout_names, mirror_names, shipped_layout
from ..packs.settings import check_defaults, read_settings
from ..sources.environment import resolve_workspace
from ..sources.reader import Reader
from ..store import is_local
from ..store.all_teams import AllTeams
from ..store.rows import ALL_TEAMS, check_label
from ..template.addresses import is_address, is_file_path, short_address
from ..vocabulary import Agent, Edition, Workspace, replace
from .bodies import AgentBody
from .bounded import BoundedDict
from .folders import LocalFolders, ServedFolders
from .requested_agents import RequestedAgents
from .responses import Problem
from .tokens import UNLIMITED, Caller

if TYPE_CHECKING:
    from ..store.contract import Store

DEFAULT_LAYOUT = "builder"
_MAX_ASSEMBLERS = 64
_MAX_WORKSPACES = 256
_MAX_VIEWS = 256


class Service(ServedFolders):
    """The conversations, and the folders in which agents may work."""

    def __init__(
        self,
        store: str,
        roots: Sequence[str],
        extensions: Sequence[Extension] = (),
        *,
        home: str | None = None,
        settings: str = "",
        assignments: Sequence[tuple[str, Any]] = (),
        packs: Mapping[str, str] | None = None,
        layout: str = "",
        pack_roots: Sequence[str] = (),
        protected_labels: Sequence[str] = (),
        has_url_hooks: bool = False,
        has_sessions: bool = False,
    ) -> None:
        self.protected_labels = _checked_labels(protected_labels)
        self.configured_layout = layout
        self.home, self.settings, self.assignments = home, settings, tuple(assignments)
        super().__init__(roots, packs or {}, pack_roots)
        self._clear_memory()
        self.conversations = Conversations(store, extensions)
        self.metrics: Callable[[], str] = str
        self.has_hooks, self.has_url_hooks, self.has_sessions = bool(extensions), has_url_hooks, has_sessions
        self._prices: Prices | None = None
        # Reading a local file is faster than waking a thread, but a database server may not respond at all.
        self.is_local = is_local(store)
        self.caller, self._first = UNLIMITED, self
        self._views: BoundedDict[Caller, Service] = BoundedDict(_MAX_VIEWS)

    def _clear_memory(self) -> None:
        self.agents, self.local_folders = RequestedAgents(self), LocalFolders()
        self._assemblers: BoundedDict[tuple[str, str], Assembler] = BoundedDict(_MAX_ASSEMBLERS)
        self._workspaces: BoundedDict[str, Workspace] = BoundedDict(_MAX_WORKSPACES)

    def view(self, caller: Caller) -> Service:
        """Return this service as the sender of a request may use it: with other folders, and without other teams' data."""
        if caller is self.caller:
            return self
        view = self._views.get(caller)
        if view is None:
            view = copy(self._first)
            view.caller = caller
            view._clear_memory()
            if caller.team != ALL_TEAMS:
                view.conversations = self.conversations.for_team(caller.team)
            if caller.roots:
                view.restrict(caller.roots)
            if caller.packs is not None:
                view.packs = {name: folder for name, folder in self.packs.items() if name in caller.packs}
            self._views[caller] = view
        return view

    @property
    def store(self) -> Store:
        """The store, as the team of the request's sender sees it. If that is all teams, it has only lists."""
        store = self.conversations.store
        return store if self.caller.team != ALL_TEAMS else cast("Store", AllTeams(store))

    def in_team(self, team: str) -> Service:
        """Return this service as the sender of the request may use it for one team."""
        return self if self.caller.team == team else self.view(replace(self.caller, team=team))

    def author(self, requested: str) -> str:
        """Return the author of a change: the name of the token if it has one."""
        return self.caller.name or requested

    def stored_template(self, reference: str) -> StoredTemplate:
        """Return the stored template for a request, by default the sender's."""
        return StoredTemplate(reference, self.caller.default_template)

    def workspace(self, cwd: str) -> Workspace:
        """Return the request's workspace. Files are checked again when they are opened, because a folder may be replaced by a link."""
        path = self.path(cwd)
        known = self._workspaces.get(path)
        if known is None:
            known = self._workspaces[path] = Workspace(path, home=self.home, inside=self._allowed_folders)
        return known

    def open(
        self,
        id: str,
        workspace: Workspace,
        agent: Agent | None,
        layout: str,
        assignments: Sequence[tuple[str, Any]] | None = None,
        mirror: bool = False,
        body: AgentBody | None = None,
    ) -> Conversation:
        """Open a conversation with the settings and packs of this service and of a request.

        `assignments`, if passed, replace the service's.
        """
        assembler = self._assembler(workspace, layout, assignments, body)
        return self.open_with(id, assembler, agent, mirror, body.template_name if body else "")

    def open_with(
        self, id: str, assembler: Assembler, agent: Agent | None, mirror: bool = False, template: str = ""
    ) -> Conversation:
        """Open a conversation of the sender's team with an assembler."""
        stored = self.stored_template(template)
        return self.conversations.open_with(id, assembler, agent, mirror=mirror, template=stored)

    def _assembler(
        self, workspace: Workspace, layout: str, assignments: Sequence[tuple[str, Any]] | None, body: AgentBody | None
    ) -> Assembler:
        """Return the assembler for a request. Requests that do not set settings or packs share an assembler."""
        requested, packs = _requested_assignments(body), self._packs_for(body)
        is_shared = assignments is None and not requested and packs is self.packs
        known = self._assemblers.get((workspace.cwd, layout)) if is_shared else None
        if known is not None:
            return known
        assembler = Assembler(
            workspace,
            layout,
            settings=self.settings,
            defaults=self.assignments if assignments is None else (),
            assignments=assignments or (),
            packs=packs,
            requested=requested,
        )
        if is_shared:
            self._assemblers[workspace.cwd, layout] = assembler
        return assembler

    @property
    def default_layout(self) -> str:
        """The layout for new conversations that do not specify one: the one from --layout, the one in the settings file, or `builder`."""
        if self.configured_layout:
            return self.configured_layout
        if not self.settings:
            return DEFAULT_LAYOUT
        reader = Reader()
        files, _ = read_settings(resolve_workspace(self.workspace(""), reader), reader, self.settings)
        return str(files[-1].mapping.get("layout") or DEFAULT_LAYOUT)

    def layout_options(self, body: AgentBody) -> dict[str, Any]:
        """Return the settings and packs for a request, as fields of a question."""
        options = {"settings": self.settings, "defaults": self.assignments}
        return {**options, "packs": self._packs_for(body), "requested": _requested_assignments(body)}

    def conversation(self, id: str, body: AgentBody, layout: str = "", mirror: bool = False) -> Conversation:
        """Open the conversation for a request. An existing one keeps its layout unless the request specifies another."""
        workspace = self.workspace(body.cwd)
        layout = check_layout_name(body.layout) or layout or self._stored_layout(id) or self.default_layout
        agent = self.agents.create(body, workspace, id)
        assembler = self._assembler(workspace, layout, None, body)
        template = self.stored_template(body.template_name)
        opened = self.conversations.open_with(id, assembler, agent, mirror=mirror or body.mirror, template=template)
        opened.stored.share_tools()
        return opened

    def prices(self) -> Prices:
        """Return the price table, including the service's own prices. It is read only once."""
        if self._prices is None:
            self._prices = read_prices("", self.workspace(""), self.settings)
        return self._prices

    def edition(self, id: str, number: int | None = None) -> Edition:
        """Return the current edition, or the one with this number."""
        if number is None:
            return self.current(id)
        edition = self.conversations.store.edition(id, number)
        if edition is None:
            raise Problem("not-found", f"conversation {id!r} has no edition {number}")
        return edition

    def current(self, id: str) -> Edition:
        """Return the current edition or, if the store is unavailable, the last one that this process saw."""
        return self.current_or_remembered(id)[0]

    def current_or_remembered(self, id: str) -> tuple[Edition, str]:
        """Return the current edition. If this process only remembers it, because the store is `down` or `busy`, also say which."""
        edition, findings = self.conversations.current(id)
        if edition is None:
            raise Problem("not-found", f"conversation {id!r} has not been started")
        return edition, findings[0].code.removeprefix("store-") if findings else ""

    def body_of(self, id: str) -> AgentBody:
        """Return the body of a request for an existing conversation that changes nothing about its agent."""
        return AgentBody(cwd=target_of(self.current(id)).cwd, mirror=True)

    def _packs_for(self, body: AgentBody | None) -> Mapping[str, str]:
        """Return the service's packs and those of a request."""
        return {**self.packs, **self.pack_folders(body.packs)} if body is not None and body.packs else self.packs

    def _stored_layout(self, id: str) -> str:
        edition, _ = self.conversations.editions.current(id)
        # A conversation that continues with a shipped layout shares the assembler with those that start with it.
        return short_address(edition.layout) if edition and is_address(edition.layout) else ""


def _requested_assignments(body: AgentBody | None) -> list[tuple[str, Any]]:
    """Return the keys that a request sets, including those of its wording."""
    compaction = getattr(body, "compaction", "")
    if body is None or not (body.settings or body.wording or compaction):
        return []
    wording = {"compaction": compaction, **body.wording}
    return [*body.settings.items(), *((f"wording.{name}", text) for name, text in wording.items() if text)]


def check_layout_name(name: str) -> str:
    """Return a layout's name. Raises a Problem unless it is a shipped layout or an address: a path could be any file on this machine."""
    if is_file_path(name):
        raise Problem(
            "not-found",
            "layout must be the name of a shipped layout or an address such as $user/mine; over HTTP it cannot be a file",
        )
    names = (*layout_names(), *mirror_names())
    if name and not is_address(name) and name not in names:
        raise Problem("not-found", f"unknown layout {show(name)}{suggestion(name, names)}")
    return name


def _loadable_layouts(names: Iterable[str], workspace: Workspace, packs: Mapping[str, str]) -> Iterator[Source]:
    for name in names:
        with suppress(ForewordError):
            yield find_layout(name, workspace, Reader(), packs)


def check_settings(service: Service) -> None:
    """Raise an error if no layout has or accepts one of the keys, or if the service's own layout cannot be used."""
    if service.assignments:
        workspace = resolve_workspace(service.workspace(""), Reader())
        own = filter(None, (service.configured_layout, *custom_layouts(workspace, service.packs)))
        check_defaults(service.assignments, [*_loadable_layouts(own, workspace, service.packs)])
    if service.configured_layout:
        service.open(
            "check", service.workspace(""), None, service.configured_layout, (), mirror=True
        ).assembler.layout()
    errors: dict[str, LayoutError] = {}
    names = dict.fromkeys((service.default_layout, *layout_names()))
    for name in names:
        try:
            service.open("check", service.workspace(""), None, name, mirror=True).assembler.layout()
        except LayoutError as error:
            errors[name] = error
    if len(errors) == len(names):
        raise errors[service.default_layout]
    for key, _ in service.assignments:
        having = [name for name in layout_names() if has_key(shipped_layout(name), key)]
        if having and all(name in errors for name in having):
            raise errors[having[0]]


def _checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    for label in labels:
        check_label(label)
    return tuple(dict.fromkeys(labels))
