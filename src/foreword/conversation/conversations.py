"""Conversations in one store.

conversations = Conversations("sqlite:///foreword.db")
conversation = conversations.open("fix-tests", workspace, agent, layout="builder")
turn = conversation.turn("fix the failing test")
"""

from __future__ import annotations

from ..engine.assembler import Assembler
from ..errors import ForewordError, check_id, expect
from ..packs.agents import NAMES as mirror_names
from ..store.contents import DEFAULT_TEMPLATE
from ..store.rows import check_team
from ..template.addresses import has_prefix
from ..template.languages import LANGUAGES
from ..vocabulary import Agent
from .agents import with_extension_tools
from .assembling import mirror_refusal
from .conversation import Conversation
from .shared import Shared
from .stored_template import StoredTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..extensions import Extension
    from ..store.contract import Store
    from ..vocabulary import Edition, Finding, Workspace
    from .editions import Editions
    from .sub_agents import SubAgent

_DEFAULT_LAYOUT = "builder"


class Conversations:
    """Conversations of one team in one store. May be used from several threads and processes.

    Two teams may use the same ids and the same names of templates. Without a team, it is the one that has no name.

    >>> with Conversations() as conversations:
    ...     "Be brief." in conversations.construct("42", Workspace("."), layout="foreword")
    True
    """

    def __init__(
        self, store: str | Store = ":memory:", extensions: Sequence[Extension] = (), *, team: str = ""
    ) -> None:
        expect("the team", team, str)
        check_team(team)
        self._shared = Shared(store, extensions, team)

    def for_team(self, team: str) -> Conversations:
        """Return another team's conversations in the same store, with the same extensions."""
        expect("the team", team, str)
        check_team(team)
        conversations = object.__new__(Conversations)
        conversations._shared = self._shared.for_team(team)
        return conversations

    @property
    def store(self) -> Store:
        """Where templates, prompts and editions are stored."""
        return self._shared.store

    @property
    def editions(self) -> Editions:
        """The editions in use, which this process remembers while the store is down."""
        return self._shared.editions

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
        mirror: bool = False,
        template: str = "",
        default_template: str = DEFAULT_TEMPLATE,
        trust: str | Callable[[str, str], bool] = "",
        untrusted: str = "",
    ) -> Conversation:
        """Open a new or existing conversation. Nothing is written before its first turn.

        If its layout has a strict template, as `pod` has, a new conversation is rendered, and a template that cannot be raises a
        TemplateError. Otherwise nothing is gathered before the first turn.

        Without a layout, an existing conversation continues with the layout that it was created with if that is shipped, the user's or
        in one of `packs`. Raises a CallError if the layout mirrors a released program, unless `mirror` is true.

        `template` names the stored template for layouts that use one: `support`, `support@staging` for a label, or `support@3` for a
        version. Without it, an existing conversation keeps its template, and a new one uses `default_template`.

        `trust` and `untrusted` are those of an `Assembler`. They apply when the conversation's prompt is built.
        """
        assembler = Assembler(
            workspace,
            layout,
            settings=settings,
            assignments=assignments,
            packs=packs,
            trust=trust,
            untrusted=untrusted,
        )
        stored_template = StoredTemplate(template, default_template)
        conversation = self.open_with(id, assembler, agent, mirror=mirror, template=stored_template)
        if self._must_be_rendered(conversation):
            conversation.preview()
        return conversation

    def _must_be_rendered(self, conversation: Conversation) -> bool:
        """Whether a conversation is new and a template in its layout is strict. The first turn raises errors other than that template's."""
        try:
            sections = conversation.assembler.layout().all_sections
            is_strict = any(section.is_template and LANGUAGES[section.language].is_strict for section in sections)
            return is_strict and self.store.current(conversation.id) is None
        except (ForewordError, OSError):
            return False

    def open_with(
        self,
        id: str,
        assembler: Assembler,
        agent: Agent | None = None,
        *,
        mirror: bool = False,
        template: StoredTemplate | None = None,
    ) -> Conversation:
        """Open a conversation with this assembler, extended with the extensions' rules, packs and variables."""
        self._shared.editions.check_open()
        check_id(id)
        expect("the assembler", assembler, Assembler)
        agent = Agent() if agent is None else agent
        expect("the agent", agent, Agent)
        expect("mirror", mirror, bool)
        name = assembler.layout_name
        if not mirror and (name in mirror_names or has_prefix(name, "agents")):
            raise mirror_refusal(name)
        extensions = self._shared.extensions
        if extensions:
            assembler, agent = _with_extensions(assembler, extensions), with_extension_tools(extensions, agent)
        return Conversation(self._shared, id, self._shared.assembler(assembler), agent, mirror, template)

    def open_sub_agent(self, id: str, parent: Conversation, sub_agent: SubAgent) -> Conversation:
        """Open a conversation for a sub-agent that `parent.sub_agents.prepare` returned."""
        check_id(id)
        assembler = parent.assembler
        if sub_agent.workspace is not None:
            assembler = self._shared.assembler(assembler.copy_with(workspace=sub_agent.workspace))
        return Conversation(self._shared, id, assembler, sub_agent.agent, mirror=True)

    def construct(
        self,
        id: str,
        workspace: Workspace,
        agent: Agent | None = None,
        layout: str = "",
    ) -> str:
        """Build a conversation's prompt from the current workspace, store it and return it, including its messages.

        Without a layout, an existing conversation keeps its layout, and a new one uses `builder`.
        """
        if not layout and self.current(id)[0] is None:
            layout = _DEFAULT_LAYOUT
        turn = self.open(id, workspace, agent, layout).construct()
        edition = self.store.edition(id, turn.edition) if turn.leading else None
        return edition.system if edition else turn.system

    def get(self, id: str) -> str | None:
        """Return a conversation's prompt, including its messages, or None if it was never constructed."""
        check_id(id)
        return self._shared.prompt(id)

    def current(self, id: str, moment: object = None) -> tuple[Edition | None, list[Finding]]:
        """Return the edition in use. While the store is down, this is the one that this process saw last, with a finding.

        With `moment` (from `Store.moment`), an edition that was read at that moment is not read again.
        """
        return self._shared.editions.current(id, moment)

    def forget(self, id: str) -> bool:
        """Remove a conversation, and any text that only it used. Returns False if there is no such conversation."""
        return self.store.forget(id)

    def close(self) -> None:
        """Close the store. Using one of its conversations afterwards is an error."""
        self._shared.editions.is_closed = True
        self._shared.store.close()

    def __enter__(self) -> Conversations:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _with_extensions(assembler: Assembler, extensions: Sequence[Extension]) -> Assembler:
    """Return the assembler with the extensions' rules, packs and variables. Its own packs and variables come before theirs."""
    rules = [rule for extension in extensions for rule in extension.rules]
    packs = {name: folder for extension in extensions for name, folder in extension.packs.items()}
    variables = {type_: variable for extension in extensions for type_, variable in extension.variables.items()}
    if not (rules or packs or variables):
        return assembler
    return assembler.copy_with(
        rules=(*assembler.rules, *rules),
        packs={**packs, **assembler.packs},
        variables={**assembler.variables, **variables},
    )
