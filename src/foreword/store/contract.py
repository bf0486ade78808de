"""The protocol that every store implements. For the type checker only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ..vocabulary import Edition
    from .rows import ConversationRow, TemplateVersion

    class Store(Protocol):
        """Storage for templates, prompts and editions. Every write is one transaction; failures are StoreErrors."""

        def current(self, conversation: str, moment: object = None) -> Edition | None:
            """The edition in use, or None if the conversation was never constructed. One SELECT, and another for uncached texts.

            With the result of an earlier `moment()`, an edition that was read at that moment is returned without a SELECT.
            """

        def last_known(self, conversation: str) -> Edition | None:
            """The edition this process last read or wrote, without asking the store: for when it cannot be reached."""

        def moment(self) -> object:
            """A value that changes whenever the store does; None where finding out costs as much as reading."""

        def publish(self, conversation: str, edition: Edition, after: int, state: str | None = None) -> Edition:
            """Make this the edition in use if number `after` still is (0 if there is none yet) and, with `state`, still has that
            state. Returns this same edition, or the one in use if another was published first.
            """

        def save_state(self, conversation: str, number: int, state: str, before: str | None = None) -> bool:
            """Save the state of a conversation with its edition. With `before`, only if the edition is in use and still has that
            state; returns False if another process has changed it.
            """

        def edition(self, conversation: str, number: int) -> Edition | None:
            """One edition of a conversation."""

        def editions(self, conversation: str) -> list[Edition]:
            """All editions of a conversation, oldest first."""

        def conversations(self, search: str = "", limit: int = 100, offset: int = 0) -> list[ConversationRow]:
            """Conversations whose id contains `search`, sorted by id."""

        def prompt(self, id: str) -> tuple[str, str] | None:
            """The text and the account of a prompt; None if there is no prompt with this id."""

        def template(self) -> TemplateVersion | None:
            """The newest version of the global template; None if it was never set."""

        def templates(self) -> list[TemplateVersion]:
            """All versions of the global template, newest first."""

        def add_template(self, version: TemplateVersion, after: int | None = None) -> TemplateVersion:
            """Add a version, which gets the next number. With `after`, raises StaleError if that is no longer the newest."""

        def uses(self) -> list[tuple[str, int]]:
            """The distinct `built_for` of the editions in use, each with its number of conversations."""

        def verify(self) -> list[str]:
            """The faults in the store, one sentence each: hashes that do not match, editions with missing texts."""

        def stats(self) -> dict[str, int]:
            """How many conversations, editions, distinct texts, bytes and versions of the template are stored."""

        def close(self) -> None:
            """Close all connections."""
