"""Create the agents that requests describe, each limited to the served folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from ..encoding.agent import KEYS, agent_from, document_form, scope_form
from ..sources.reader import Reader
from ..sources.stamps import changed_paths
from ..template.addresses import is_only_address
from ..vocabulary import Access, Agent, Document, Scope, Workspace
from ..vocabulary.tools import Tool
from .bodies import AccessBody, AgentBody, ToolBody
from .bounded import BoundedDict
from .folders import ServedFolders
from .tool_cache import SharedTools

_MAX_SCOPES = 256


class RequestedAgents:
    """Creates agents from the bodies of requests. Remembers the scope of each workspace, which depends on its repository."""

    def __init__(self, folders: ServedFolders) -> None:
        self._folders = folders
        self._scopes: BoundedDict[str, tuple[tuple[tuple[str, Any], ...], Scope | None]] = BoundedDict(_MAX_SCOPES)

    def create(self, body: AgentBody, workspace: Workspace, session: str = "") -> Agent:
        """Create the agent that a request describes. `session` is its session unless the request names one."""
        content = self._content(body, workspace)
        content["session"] = content["session"] or session
        return agent_from({key: field for key, field in content.items() if field is not None and field != ""})

    def fields(self, body: AgentBody, workspace: Workspace) -> dict[str, Any]:
        """Return the agent that a request describes as plain data."""
        content = self._content(body, workspace)
        if body.tools is not None:
            content["tools"] = [asdict(tool) for tool in body.tools]
        if isinstance(content["base"], Document):
            content["base"] = document_form(content["base"])
        if content["scope"] is not None:
            content["scope"] = scope_form(content["scope"])
        return content

    def _content(self, body: AgentBody, workspace: Workspace) -> dict[str, Any]:
        content: dict[str, Any] = {key: getattr(body, key) for key in KEYS}
        if body.tools is not None:
            content["tools"] = _tools(body.tools)
        if body.base and not is_only_address(body.base):
            content["base"] = Document("request", body.base)
        content["scope"] = self._scope(body, workspace)
        content["residents"] = [asdict(resident) for resident in body.residents]
        return content

    def _scope(self, body: AgentBody, workspace: Workspace) -> Scope | None:
        """Return the agent's scope, limited to the served folders even if the repository around them is larger."""
        if body.scope is not None:
            allow = [self._access(path, "write", workspace) for path in body.scope.allow]
            return Scope(allow, [self._access(path, "read", workspace) for path in body.scope.deny])
        return self.default_scope(workspace)

    def default_scope(self, workspace: Workspace) -> Scope | None:
        """Return the scope of an agent that has none: the served folder, if the repository around it is larger."""
        stamps, scope = self._scopes.get(workspace.cwd, ((), None))
        if not stamps or changed_paths(stamps):
            reader = Reader()
            scope = self._scope_in(workspace, reader)
            self._scopes[workspace.cwd] = tuple(reader.stamps.items()), scope
        return scope

    def _scope_in(self, workspace: Workspace, reader: Reader) -> Scope | None:
        served_root = self._folders.served_root(workspace, reader)
        return Scope([Access(served_root, "write")]) if served_root else None

    def _access(self, row: AccessBody, default: str, workspace: Workspace) -> Access:
        path = self._folders.path(os.path.join(workspace.cwd, row.path), "scope")
        return Access(path, "read" if (row.permission or default) == "read" else "write", row.recursive)


def _tools(bodies: Sequence[ToolBody]) -> Sequence[Any]:
    """Return the tools that a request describes, which requests with the same tools share."""
    if isinstance(bodies, SharedTools) and bodies.tools is not None:
        return bodies.tools
    rows = [asdict(tool) for tool in bodies]
    if not isinstance(bodies, SharedTools):
        return rows
    bodies.tools = tuple(agent_from({"tools": rows}).tools or ())
    return bodies.tools


def tools_from(bodies: Sequence[ToolBody]) -> Sequence[Tool]:
    """Return the tools that a request describes."""
    return agent_from({"tools": _tools(bodies)}).tools or ()
