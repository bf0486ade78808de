"""A store as a token with a prefix sees it: other teams' conversations, prompts and templates do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..store.contents import DEFAULT_TEMPLATE
from ..store.rows import PRODUCTION
from ..vocabulary import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..store.contract import Store
    from ..store.listing import ConversationPage, ConversationQuery
    from ..store.rows import TemplateRow, TemplateVersion
    from ..store.usage import DailyUsage, UsageRow
    from ..vocabulary import Edition


class ScopedStore:
    """The reading methods of a store, limited to ids and names that begin with a prefix. It cannot write.

    `default` is the full name of the default template.
    """

    def __init__(self, store: Store, prefix: str, default: str = "") -> None:
        self._store, self._prefix = store, prefix
        self._default = default or prefix + DEFAULT_TEMPLATE

    def current(self, conversation: str, moment: object = None) -> Edition | None:
        return self._store.current(conversation, moment) if conversation.startswith(self._prefix) else None

    def last_known(self, conversation: str) -> Edition | None:
        return self._store.last_known(conversation) if conversation.startswith(self._prefix) else None

    def edition(self, conversation: str, number: int) -> Edition | None:
        return self._store.edition(conversation, number) if conversation.startswith(self._prefix) else None

    def editions(self, conversation: str) -> list[Edition]:
        return self._store.editions(conversation) if conversation.startswith(self._prefix) else []

    def usage(self, conversation: str, number: int) -> Any:
        return self._store.usage(conversation, number) if conversation.startswith(self._prefix) else None

    def usages(self, conversation: str) -> dict[int, UsageRow]:
        return self._store.usages(conversation) if conversation.startswith(self._prefix) else {}

    def daily_usage(self, conversations: Sequence[str]) -> list[DailyUsage]:
        return self._store.daily_usage([id for id in conversations if id.startswith(self._prefix)])

    def conversations(self, query: ConversationQuery) -> ConversationPage:
        return self._store.conversations(self.limit(query))

    def count(self, query: ConversationQuery) -> tuple[int, bool]:
        return self._store.count(self.limit(query))

    def limit(self, query: ConversationQuery) -> ConversationQuery:
        """Return a query that finds only conversations whose ids begin with both prefixes."""
        if query.prefix.startswith(self._prefix):
            return query
        if self._prefix.startswith(query.prefix):
            return replace(query, prefix=self._prefix)
        return replace(query, prefix="\0")

    def prompt(self, id: str, prefix: str = "") -> tuple[str, str] | None:
        return self._store.prompt(id, self._prefix)

    def template(self, name: str = DEFAULT_TEMPLATE, label: str = PRODUCTION) -> TemplateVersion | None:
        return self._store.template(self._name(name), label)

    def template_version(self, name: str, version: int) -> TemplateVersion | None:
        return self._store.template_version(self._name(name), version)

    def templates(self, name: str = DEFAULT_TEMPLATE, texts: bool = True) -> list[TemplateVersion]:
        return self._store.templates(self._name(name), texts)

    def template_names(self, prefix: str = "", limit: int = 100, after: str = "") -> list[TemplateRow]:
        return self._store.template_names(self._prefix, limit, after)

    def count_template_uses(self) -> dict[tuple[str, int], int]:
        return {
            key: count for key, count in self._store.count_template_uses().items() if key[0].startswith(self._prefix)
        }

    def _name(self, name: str) -> str:
        """Return the full name of a template: the default template is this team's."""
        if name == DEFAULT_TEMPLATE:
            return self._default
        return name if name.startswith(self._prefix) else self._prefix + name
