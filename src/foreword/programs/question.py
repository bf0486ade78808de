"""Questions about a prompt: plain fields, converted to the workspace, agent and prompt that they describe.

The command line, HTTP and MCP ask questions as mappings of these fields, all of which are optional. A base or plan is a string, or
{"path": …, "text": …} if it came from a file.

    cwd, home, layout, settings, set, packs, values, store, now       where to look, and with which layout
    model, tools, scope, …                                            the agent: the keys of `encoding.agent.KEYS`
    root, inside, requested, layout_text, defaults                    only from a service: its limits and settings, and untrusted parts
"""

from __future__ import annotations

import os

from ..encoding.agent import KEYS, agent_from, document_form
from ..engine.assembler import Assembler
from ..errors import CallError, show, suggestion
from ..shapes import OBJECT, STRING, STRINGS, check
from ..sources.environment import absolute
from ..store import waits
from ..vocabulary import Document, Workspace, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..conversation.stored_template import StoredTemplate
    from ..shapes import Shape
    from ..sources.reader import Reader
    from ..store.contract import Store
    from ..vocabulary import Agent, Prompt

_TIME: Shape = ("an ISO 8601 time", lambda content: isinstance(content, str) or hasattr(content, "tzinfo"))
# The kinds of the fields that every question accepts.
_KINDS: dict[str, Shape] = {
    **dict.fromkeys(("cwd", "home", "layout", "settings", "store", "team"), STRING),
    **{"set": STRINGS, "packs": OBJECT, "values": OBJECT, "now": _TIME},
}


class Question:
    """The fields of a question, and the objects that they describe, each created when it is first needed.

    `names` maps fields to the names that error messages use for them, such as `--tools tools.json`. `template` is the stored template to
    use instead of the global one.
    """

    def __init__(
        self,
        fields: Mapping[str, Any],
        names: Mapping[str, str] | None = None,
        assembler: Assembler | None = None,
        store: Store | None = None,
        template: StoredTemplate | None = None,
    ) -> None:
        self.fields = fields
        self._names = names or {}
        self.cwd: str = fields.get("cwd") or "."
        self.home: str | None = fields.get("home")
        self.model: str = fields.get("model") or ""
        self.provider: str = fields.get("provider") or ""
        self.now = parse_time(fields.get("now"))
        self.is_portable = False
        self._assembler, self._store, self._template = assembler, store, template
        self._agent: Agent | None = None
        self._checked: Prompt | None = None

    def with_fields(self, **fields: Any) -> Question:
        """Return the same question with some fields replaced."""
        other = Question({**self.fields, **fields}, self._names, store=self._store, template=self._template)
        other.is_portable = self.is_portable
        if not any(name in KEYS for name in fields):
            other._agent = self._agent
        return other

    @property
    def workspace(self) -> Workspace:
        if self.is_portable:
            return Workspace(self.cwd, platform="linux", environment={})
        return Workspace(self.cwd, self.fields.get("root"), home=self.home, inside=self.fields.get("inside") or ())

    def paths_of(self, name: str, cwd: str = "") -> list[str]:
        """Return the absolute paths that a name may refer to: in the workspace and, unless a service asks, in the current directory."""
        in_workspace = absolute(os.path.join(cwd or self.cwd, name), os.environ)
        return [in_workspace] if self.fields.get("inside") else [in_workspace, absolute(name, os.environ)]

    def portable(self) -> Question:
        """Return the question about the repository's files alone: the user's files, environment and platform do not matter."""
        other = self.with_fields()
        other.is_portable = True
        return other

    @property
    def assembler(self) -> Assembler:
        """The assembler for this question's workspace and layout."""
        if self._assembler is None:
            self._assembler = self.assembler_for(self.workspace, self.fields.get("layout") or "", self.assignments())
            if self.fields.get("without"):
                from ..engine.without import without_instructions

                names = self.fields["without"]
                self._assembler = without_instructions(self._assembler, names, self.agent_with_template(), self.now)
        return self._assembler

    def assembler_for(self, workspace: Workspace, layout: str, assignments: Sequence[tuple[str, Any]]) -> Assembler:
        """Return a new assembler for this workspace and layout, with the question's other options."""
        return Assembler(
            workspace,
            layout,
            settings=self.fields.get("settings") or "",
            assignments=assignments,
            packs=self.fields.get("packs"),
            values=self.fields.get("values"),
            requested=self.fields.get("requested") or (),
            defaults=self.fields.get("defaults") or (),
            layout_text=self.fields.get("layout_text") or "",
        )

    @property
    def agent(self) -> Agent:
        """The agent that the fields describe."""
        if self._agent is None:
            mapping = {key: self.fields[key] for key in KEYS if self.fields.get(key) is not None}
            self._agent = agent_from(mapping, self._names)
        return self._agent

    def assignments(self) -> list[tuple[str, Any]]:
        """Return the keys that the field `set` assigns, with their values."""
        return _assignments(self.fields.get("set") or ())

    def prompt(self) -> Prompt:
        """Return the prompt that a conversation with this agent would start with."""
        prompt = self.assembler.prompt(self.agent_with_template(), self.now)
        waits.announce_size(len(prompt.text))
        return prompt

    def checked_prompt(self) -> Prompt:
        """Return the prompt, with a finding for each file that was skipped because its name has the wrong case."""
        if self._checked is None:
            from ..sources.tree import Listings
            from .wrong_case import WrongCaseFinder

            prompt = self.prompt()
            finder = WrongCaseFinder(listings=Listings(self.workspace.inside))
            known = {(finding.code, finding.path) for finding in prompt.findings}
            case_findings = [
                finding for finding in finder.findings(prompt.candidates) if (finding.code, finding.path) not in known
            ]
            self._checked = replace(prompt, findings=(*prompt.findings, *case_findings)) if case_findings else prompt
        return self._checked

    def agent_with_template(self) -> Agent:
        """Return the agent, with the global template as its base if the layout accepts one and the agent has none."""
        sections = self.assembler.layout().all_sections
        if self.agent.base or not any("template" in section.instead for section in sections):
            return self.agent
        base = self._stored_template() if self._store or self.has_store() else None
        return self.agent if base is None else replace(self.agent, base=base)

    def _stored_template(self) -> Document | None:
        store = self.store_to_read()
        if self._template is not None:
            return self._template.read(store)
        stored = store.template()
        return Document(f"template {stored.version}", stored.template, syntax=stored.syntax) if stored else None

    def fields_with_template(self) -> dict[str, Any]:
        """Return the fields with the global template as the base if it is used, for a process that cannot read this one's store."""
        base = self.agent_with_template().base
        return {**self.fields, "base": document_form(base) if isinstance(base, Document) else base}

    # The store

    @property
    def team(self) -> str:
        """The team that the stored templates and conversations belong to."""
        from ..store.rows import check_team

        team: str = self.fields.get("team") or ""
        check_team(team)
        return team

    def store_url(self) -> str:
        """Return the URL of the store: from the field, `FOREWORD_STORE`, the settings, or the user's data folder."""
        return self._store_url()[0]

    def url_to_write(self) -> str:
        """Return the store's URL for a caller that writes. If it was set explicitly, its folder must exist, in case it is misspelled."""
        from ..store import check_folder, make_folder

        url, is_explicit = self._store_url()
        if not is_explicit:
            make_folder(url)
        check_folder(url)
        return url

    def has_store(self) -> bool:
        """Whether the store exists."""
        from ..store import exists

        return exists(self.store_url())

    def url_to_read(self) -> str:
        """Return the store's URL for a caller that only reads. A store that does not exist is not created."""
        return self.store_url() if self.has_store() else ":memory:"

    def store_to_read(self) -> Store:
        """Return the open store, for a caller that only reads."""
        if self._store is not None:
            return self._store
        from ..store import open_store

        return open_store(self.url_to_read(), self.team)

    def existing_store(self) -> Store:
        """Return the open store, for a caller that inspects the store itself. If it was set explicitly, it must exist."""
        if self._store is not None:
            return self._store
        from ..store import open_store

        return open_store(self.existing_store_url(), self.team)

    def existing_store_url(self) -> str:
        """Return the store's URL for a caller that inspects the store itself. If it was set explicitly, the store must exist."""
        from ..text.lines import printable

        url, is_explicit = self._store_url()
        if is_explicit and not self.has_store():
            raise CallError(f"the store {printable(url)} does not exist; a first turn or `template set` creates it")
        return self.url_to_read()

    def _store_url(self) -> tuple[str, bool]:
        """Return the store's URL, and whether it was set explicitly."""
        from ..sources.environment import resolve_workspace
        from ..sources.reader import Reader

        url = self.fields.get("store") or os.environ.get("FOREWORD_STORE", "")
        if url and "~" not in url:
            return url, True
        reader = Reader()
        workspace = resolve_workspace(self.workspace, reader)
        if url:
            return _expand_home(url, workspace), True
        url = self._url_in_settings(workspace, reader)
        return (url, True) if url else (self._default_url(workspace), False)

    def _url_in_settings(self, workspace: Workspace, reader: Reader) -> str:
        """Return the store's URL or path in the last trusted settings that have one, or an empty string."""
        from ..packs.settings import read_settings

        files, _ = read_settings(workspace, reader, self.fields.get("settings") or "")
        for file in reversed(files):
            if file.mapping.get("store") and not file.is_untrusted:
                location = _expand_home(file.mapping["store"], workspace)
                is_path = "://" not in location and location != ":memory:"
                return os.path.join(os.path.dirname(file.path), location) if is_path else location
        return ""

    def _default_url(self, workspace: Workspace) -> str:
        """Return the URL of the store in the user's data folder."""
        from ..sources.paths import data_folder

        # If another home directory was passed, this environment's data folder belongs to a different user.
        home_folder = os.path.join(workspace.home, ".local", "share") if self.home and workspace.home else ""
        folder = home_folder or data_folder(workspace)
        if not folder:
            raise CallError("the store needs a home directory, which is unknown; set --store or FOREWORD_STORE")
        return f"sqlite:///{os.path.join(folder, 'foreword', 'foreword.db')}"


def _assignments(entries: Iterable[str | tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return assignments, parsing those that are still written as `KEY=VALUE`."""
    if not entries:
        return []
    from ..packs.settings import parse_assignment

    return [parse_assignment(entry) if isinstance(entry, str) else (entry[0], entry[1]) for entry in entries]


def check_fields(fields: Any, extra: Mapping[str, Shape]) -> None:
    """Raise a CallError for an unknown field or a value of the wrong kind. `extra` has the kinds of the fields of one command."""
    check(fields, OBJECT, "a question")
    kinds = {**_KINDS, **extra}
    known = (*kinds, *KEYS)
    for name, content in fields.items():
        if name not in known:
            raise CallError(f"unknown field {show(name)}{suggestion(str(name), known)}")
        if content is not None and name in kinds:
            check(content, kinds[name], name)


def parse_time(now: str | datetime | None) -> datetime | None:
    """Parse an ISO 8601 time. None means the time at which the prompt is built."""
    if not isinstance(now, str):
        return now
    from datetime import datetime

    try:
        time = datetime.fromisoformat(now)
        return time if time.tzinfo else time.astimezone()
    except (OverflowError, OSError, ValueError):
        raise CallError(f"now must be an ISO 8601 time such as 2026-03-07T08:55:05-06:00, not {show(now)}") from None


def _expand_home(url: str, workspace: Workspace) -> str:
    for prefix in ("~/", "sqlite:///~/"):
        if url.startswith(prefix) and workspace.home:
            return f"{prefix.removesuffix('~/')}{workspace.home}/{url.removeprefix(prefix)}"
    return url
