"""Create the agents that requests describe, each limited to the served folders."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from time import perf_counter
from typing import Any

from msgspec.structs import asdict

from ..encoding.agent import KEYS, agent_from, document_form, scope_form
from ..sources.reader import Reader
from ..sources.stamps import changed_paths
from ..store import waits
from ..template.addresses import is_only_address
from ..vocabulary import Access, Agent, Document, Scope, Workspace
from ..vocabulary.tools import Tool
from ..vocabulary.values import replace_valid
from .bodies import AccessBody, AgentBody, ToolBody
from .bounded import BoundedDict
from .folders import ServedFolders
from .tool_cache import SharedTools

_MAX_SCOPES = 256


class RequestedAgents:
    """Creates agents from the bodies of requests. Remembers the scope of each workspace, which depends on its repository."""

    def __init__(self, folders: ServedFolders) -> None:
        self._folders = folders
        self._scopes: BoundedDict[str, tuple[tuple[tuple[str, Any], ...], Scope | None, float]] = BoundedDict(
            _MAX_SCOPES
        )

    def create(self, body: AgentBody, workspace: Workspace, session: str = "") -> Agent:
        """Create the agent that a request describes. `session` is its session unless the request names one."""
        session, scope = body.session or session, self._scope(body, workspace)
        known: dict[Hashable, Agent] = {}
        if isinstance(body.tools, SharedTools) and not _has_own_texts(body) and _is_plain(session):
            known = body.tools.agents
        key = (body.model, body.provider, body.sub_agent, body.language, scope)
        if key in known:
            return replace_valid(known[key], session=session)
        content = {**_content(body), "scope": scope, "session": session}
        known[key] = agent_from({name: field for name, field in content.items() if field not in (None, "", [])})
        return known[key]

    def fields(self, body: AgentBody, workspace: Workspace) -> dict[str, Any]:
        """Return the agent that a request describes as plain data."""
        content = {**_content(body), "scope": self._scope(body, workspace)}
        if body.tools is not None:
            content["tools"] = [asdict(tool) for tool in body.tools]
        if isinstance(content["base"], Document):
            content["base"] = document_form(content["base"])
        if content["scope"] is not None:
            content["scope"] = scope_form(content["scope"])
        return content

    def _scope(self, body: AgentBody, workspace: Workspace) -> Scope | None:
        """Return the agent's scope, limited to the served folders even if the repository around them is larger."""
        if body.scope is not None:
            allow = [self._access(path, "write", workspace) for path in body.scope.allow]
            return Scope(allow, [self._access(path, "read", workspace) for path in body.scope.deny])
        return self.default_scope(workspace)

    def default_scope(self, workspace: Workspace) -> Scope | None:
        """Return the scope of an agent that has none: the served folder, if the repository around it is larger."""
        stamps, scope, checked = self._scopes.get(workspace.cwd, ((), None, 0.0))
        if waits.is_checked(checked):
            return scope
        now = perf_counter()
        if not stamps or changed_paths(stamps):
            reader = Reader()
            scope = self._scope_in(workspace, reader)
            stamps = tuple(reader.stamps.items())
        self._scopes[workspace.cwd] = stamps, scope, now
        return scope

    def _scope_in(self, workspace: Workspace, reader: Reader) -> Scope | None:
        served_root = self._folders.served_root(workspace, reader)
        return Scope([Access(served_root, "write")]) if served_root else None

    def _access(self, row: AccessBody, default: str, workspace: Workspace) -> Access:
        path = self._folders.path(os.path.join(workspace.cwd, row.path), "scope")
        return Access(path, "read" if (row.permission or default) == "read" else "write", row.recursive)


def _content(body: AgentBody) -> dict[str, Any]:
    content: dict[str, Any] = {key: getattr(body, key) for key in KEYS}
    if body.tools is not None:
        content["tools"] = _tools(body.tools)
    if body.base and not is_only_address(body.base):
        content["base"] = Document("request", body.base)
    content["residents"] = [asdict(resident) for resident in body.residents]
    return content


def _has_own_texts(body: AgentBody) -> bool:
    """Whether a request describes an agent with more than names and tools. Only it is likely to need that agent."""
    return bool(body.base or body.skill or body.plan or body.docs or body.residents) or body.servers is not None


def _is_plain(session: str) -> bool:
    """Whether an agent would accept this session as it is."""
    return session.isascii() and not session.isspace()


def _tools(bodies: Sequence[ToolBody]) -> Sequence[Any]:
    """Return the tools that a request describes, which requests with the same tools share."""
    if isinstance(bodies, SharedTools) and bodies.tools is not None:
        return bodies.tools
    rows = tuple(asdict(tool) for tool in bodies)  # an empty list would mean that the request names no tools
    if not isinstance(bodies, SharedTools):
        return rows
    bodies.tools = tuple(agent_from({"tools": rows}).tools or ())
    return bodies.tools


def tools_from(bodies: Sequence[ToolBody]) -> Sequence[Tool]:
    """Return the tools that a request describes."""
    return agent_from({"tools": _tools(bodies)}).tools or ()
