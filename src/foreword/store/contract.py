"""The protocol that every store implements, used only by the type checker."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ..vocabulary import Edition
    from .rows import ConversationRow, TemplateVersion
    from .usage import CallUsage, UsageRow

    class EditionReader(Protocol):
        """Confirms cached editions for an event loop."""

        async def confirm(self, conversation: str) -> object:
            """Return a moment at which the cached edition was in use, or None if that is not known."""

        async def close(self) -> None:
            """Close the connection."""

    class Store(Protocol):
        """Storage for templates, prompts and editions. Every write is one transaction. Failures raise a StoreError."""

        def current(self, conversation: str, moment: object = None) -> Edition | None:
            """Return the edition in use, or None if the conversation has not started.

            This takes one SELECT, and another one for texts that are not cached.

            If `moment` is the result of an earlier `moment()`, an edition read at that moment is returned without a SELECT.
            """

        def last_known(self, conversation: str) -> Edition | None:
            """Return the edition that this process last read or wrote, for use when the store cannot be reached."""

        def moment(self) -> object:
            """Return a value that changes whenever the store does, or None if getting one would take as long as reading an edition."""

        def batch_reader(self) -> EditionReader | None:
            """Return an object that confirms cached editions in batches for an event loop, or None if reading a row is faster than that."""

        def publish(self, conversation: str, edition: Edition, after: int, state: str | None = None) -> Edition:
            """Make this the edition in use, provided that edition `after` (0 if there is none yet) is still in use.

            With `state`, edition `after` must also still have that state. Returns the edition that is in use afterwards: this one,
            or another one that was published first.
            """

        def save_state(self, conversation: str, number: int, state: str, before: str | None = None) -> bool:
            """Save a conversation's state with its edition.

            With `before`, it is saved only if the edition is in use and still has that state. Returns False if another process has
            changed it.
            """

        def edition(self, conversation: str, number: int) -> Edition | None:
            """Return one edition of a conversation."""

        def editions(self, conversation: str) -> list[Edition]:
            """Return all editions of a conversation, oldest first."""

        def conversations(self, search: str = "", limit: int = 100, offset: int = 0) -> list[ConversationRow]:
            """Return the conversations whose id contains `search`, sorted by id."""

        def prompt(self, id: str) -> tuple[str, str] | None:
            """Return a prompt's text and its account, or None if there is no prompt with this id."""

        def template(self) -> TemplateVersion | None:
            """Return the newest version of the global template, or None if it was never set."""

        def templates(self) -> list[TemplateVersion]:
            """Return all versions of the global template, newest first."""

        def add_template(self, version: TemplateVersion, after: int | None = None) -> TemplateVersion:
            """Add a version, which gets the next number. With `after`, raises StaleError if that is not the newest version."""

        def add_usage(self, conversation: str, number: int, call: CallUsage) -> UsageRow:
            """Add a call's usage to an edition's counters, in one statement, and return the counters."""

        def usage(self, conversation: str, number: int) -> UsageRow | None:
            """Return the counters of an edition, or None if nothing was recorded."""

        def uses(self) -> list[tuple[str, int]]:
            """Return the distinct values of `built_for` among the editions in use, each with its number of conversations."""

        def verify(self) -> list[str]:
            """Return the problems in the store, one sentence each: hashes that do not match, editions with missing texts."""

        def stats(self) -> dict[str, int]:
            """Return the number of stored conversations, editions, distinct texts, bytes and template versions."""

        def close(self) -> None:
            """Close all connections."""
