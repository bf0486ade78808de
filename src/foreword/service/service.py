"""What a request may reach: the folders that are served, and the conversations of the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..conversation.conversations import Conversation, Conversations
from ..errors import CallError, LayoutError, StoreError
from ..extensions import Extension
from ..packs.packs import layout_names
from ..packs.settings import read_settings
from ..sources.environment import resolve_workspace
from ..sources.files import Reader, is_unchanged, real_path
from ..sources.places import is_inside
from ..template.addresses import is_address, is_file, is_only_address
from ..text.lines import printable
from ..vocabulary import Access, Agent, Document, Edition, Scope, Tool, Workspace
from .answers import Problem
from .bodies import AccessBody, AgentBody

DEFAULT_LAYOUT = "builder"
_SCOPES = 256
UNREACHABLE = object()


class Service:
    """Conversations, and the folders in which they may work."""

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
    ) -> None:
        self.home, self.settings, self.assignments, self.packs = home, settings, tuple(assignments), dict(packs or {})
        self.roots = [os.path.abspath(root) for root in roots]
        for root in self.roots:
            if not os.path.isdir(root):
                raise CallError(f"--root {printable(root)}: there is no such directory")
        self._real_roots = [real_path(root) for root in self.roots]
        self._inside = tuple(dict.fromkeys((*self._real_roots, *self.roots)))
        self._scopes: dict[str, tuple[tuple[tuple[str, Any], ...], Scope | None]] = {}
        self.talks = Conversations(store, extensions)
        self.metrics: Callable[[], str] = str
        # A file on this machine answers sooner than a thread can be woken; a server elsewhere may not answer at all.
        self.is_local = not store.startswith(("postgresql:", "postgres:"))

    def path(self, given: str, what: str = "cwd") -> str:
        """A path of a request, relative to the first folder; a Problem if it leaves those that are served, links resolved."""
        path = os.path.normpath(os.path.join(self.roots[0], given))
        try:
            real = real_path(path)
        except ValueError:
            raise Problem("wrong-call", f"{what} {given!r} is the name of no directory") from None
        if not any(is_inside(real, root) for root in self._real_roots):
            raise _outside(what, given)
        return path

    def workspace(self, cwd: str) -> Workspace:
        """Where a request works. What it reads there is checked when it is open: a folder may be swapped for a link meanwhile."""
        return Workspace(self.path(cwd), home=self.home, inside=self._inside)

    def open(
        self,
        id: str,
        workspace: Workspace,
        agent: Agent | None,
        layout: str,
        assignments: Sequence[tuple[str, Any]] | None = None,
    ) -> Conversation:
        """A conversation with the settings and packs of this service; `assignments` take the place of its own."""
        assignments = self.assignments if assignments is None else assignments
        return self.talks.open(
            id, workspace, agent, layout, settings=self.settings, assignments=assignments, packs=self.packs
        )

    @property
    def default_layout(self) -> str:
        """The layout of a new conversation for which none is named: that of the settings the service was started with."""
        if not self.settings:
            return DEFAULT_LAYOUT
        reader = Reader()
        files, _ = read_settings(resolve_workspace(self.workspace(""), reader), reader, self.settings)
        return str(files[-1].mapping.get("layout") or DEFAULT_LAYOUT)

    def check_settings(self) -> None:
        """Refuse settings that no request could be answered with: `--set` has to fit one of the layouts."""
        names = dict.fromkeys((self.default_layout, *layout_names()))
        wrong: LayoutError | None = None
        for name in names:
            try:
                self.open("check", self.workspace(""), None, name).assembler.layout()
                return
            except LayoutError as error:
                wrong = wrong or error
        if wrong is not None:
            raise wrong

    def agent(self, body: AgentBody, workspace: Workspace) -> Agent:
        """The agent that a request describes."""
        tools = {
            each.name: Tool(each.name, each.description, each.snippet, each.guidelines, each.schema)
            for each in reversed(body.tools or ())
        }
        return Agent(
            tools=None if body.tools is None else list(reversed(tools.values())),
            model=body.model,
            provider=body.provider,
            role="sub" if body.sub_agent else "main",
            session=body.session,
            base=body.base if not body.base or is_only_address(body.base) else Document("request", body.base),
            skill=body.skill,
            plan=body.plan,
            scope=self._scope(body, workspace),
            language=body.language,
            docs=body.docs,
        )

    def talk(self, id: str, body: AgentBody, layout: str = "") -> Conversation:
        """The conversation of a request. A known one goes on with its layout unless another is named; `builder` for new ones."""
        workspace = self.workspace(body.cwd)
        layout = named_layout(body.layout) or layout or self._layout_of(id) or self.default_layout
        return self.open(id, workspace, self.agent(body, workspace), layout)

    def edition(self, id: str, number: int | None = None) -> Edition:
        """The edition in use, or one by its number."""
        if number is None:
            return self.in_use(id)
        edition = self.talks.store.edition(id, number)
        if edition is None:
            raise Problem("not-found", f"the conversation {id!r} has no edition {number}")
        return edition

    def in_use(self, id: str, moment: object = None) -> Edition:
        """The edition in use; while the store cannot be reached, the one this process saw last."""
        edition, _ = self.talks.current(id, moment)
        if edition is None:
            raise Problem("not-found", f"the conversation {id!r} was never constructed")
        return edition

    def moment(self) -> object:
        """What is the same as long as the store is; None if that is not known, UNREACHABLE if the store does not answer at once."""
        try:
            return self.talks.store.moment()
        except StoreError:
            return UNREACHABLE

    def _layout_of(self, id: str) -> str:
        edition, _ = self.talks.current(id)
        return edition.layout if edition and is_address(edition.layout) else ""

    def _scope(self, body: AgentBody, workspace: Workspace) -> Scope | None:
        """What the agent may reach, all of it served. A repository around the folders that are served is not opened by them."""
        if body.scope is not None:
            allow = [self._access(each, "write", workspace) for each in body.scope.allow]
            return Scope(allow, [self._access(each, "read", workspace) for each in body.scope.deny])
        stamps, scope = self._scopes.get(workspace.cwd, ((), None))
        if not stamps or not is_unchanged(stamps):
            reader = Reader()
            scope = self._scope_in(workspace, reader)
            if len(self._scopes) >= _SCOPES:
                self._scopes.clear()
            self._scopes[workspace.cwd] = tuple(reader.stamps.items()), scope
        return scope

    def _scope_in(self, workspace: Workspace, reader: Reader) -> Scope | None:
        root = real_path(resolve_workspace(workspace, reader).root or workspace.cwd)
        if any(is_inside(root, served) for served in self._real_roots):
            return None
        cwd = real_path(workspace.cwd)
        inside = max((served for served in self._real_roots if is_inside(cwd, served)), key=len, default=None)
        if inside is None:  # it was inside a moment ago
            raise _outside("cwd", workspace.cwd)
        return Scope([Access(inside, "write")])

    def _access(self, row: AccessBody, unless_said: str, workspace: Workspace) -> Access:
        path = self.path(os.path.join(workspace.cwd, row.path), "scope")
        return Access(path, "read" if (row.permission or unless_said) == "read" else "write", row.recursive)


def _outside(what: str, given: str) -> Problem:
    return Problem(
        "outside-roots",
        f"{what} {printable(given)!r} lies outside of the folders that are served; start the service with --root for it",
    )


def named_layout(name: str) -> str:
    """A layout as a request may name it: shipped, or by an address. A file would be any file of this machine."""
    if is_file(name):
        raise Problem(
            "wrong-call", "over HTTP a layout is a shipped one or an address such as $user/mine; it cannot be a file"
        )
    return name
