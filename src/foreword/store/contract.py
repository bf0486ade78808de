"""What every store does: the one page that SQLite and PostgreSQL both follow. For the type checker only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ..vocabulary import Edition, TemplateVersion
    from .rows import ConversationRow

    class Store(Protocol):
        """Where templates, prompts and editions are kept. Every write is one transaction; what cannot be done is a StoreError."""

        def current(self, conversation: str, moment: object = None) -> Edition | None:
            """The edition in use, or None if the conversation was never constructed. One SELECT, and another for uncached texts.

            With the result of an earlier `moment()`, an edition that was read at that moment is returned without a SELECT.
            """

        def last_known(self, conversation: str) -> Edition | None:
            """The edition this process last read or wrote, without asking the store: for when it cannot be reached."""

        def moment(self) -> object:
            """A value that changes whenever the store does; None where finding out costs as much as reading."""

        def publish(self, conversation: str, edition: Edition, after: int, state: str | None = None) -> Edition:
            """Make this the edition in use if number `after` still is (0: none yet), and with `state`, if that is still kept
            beside it. Gives back this very edition; else the one that is in use.
            """

        def save_state(self, conversation: str, number: int, state: str, before: str | None = None) -> bool:
            """Remember something of a conversation beside its edition. With `before`, only if the edition is in use and that is
            still what is kept beside it: False if not, for someone else has written meanwhile.
            """

        def edition(self, conversation: str, number: int) -> Edition | None:
            """One edition of a conversation."""

        def editions(self, conversation: str) -> list[Edition]:
            """All editions of a conversation, the first first."""

        def conversations(self, search: str = "", limit: int = 100, offset: int = 0) -> list[ConversationRow]:
            """Conversations whose id holds the search, by id."""

        def prompt(self, id: str) -> tuple[str, str] | None:
            """The text and the account of a prompt by its id."""

        def template(self) -> TemplateVersion | None:
            """The newest version of the global template; None if none was ever set."""

        def templates(self) -> list[TemplateVersion]:
            """All versions, the newest first."""

        def add_template(self, version: TemplateVersion, after: int | None = None) -> TemplateVersion:
            """Add a version, which gets the next number. With `after`, only if that is still the newest: else a StaleError."""

        def uses(self) -> list[tuple[str, int]]:
            """For what the editions in use were made (`Edition.made_for`), each with the number of its conversations."""

        def verify(self) -> list[str]:
            """What is wrong in the store, each as a sentence: hashes that do not match, editions without their texts."""

        def stats(self) -> dict[str, int]:
            """How much is kept: conversations, editions, distinct texts, bytes, versions of the template."""

        def close(self) -> None:
            """Let go of the store."""
