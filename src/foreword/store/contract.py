"""The protocol that every store implements, used only by the type checker."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Protocol, TypeVar

    from ..vocabulary import Edition
    from .confirming import EditionReader
    from .listing import ConversationPage, ConversationQuery
    from .moving import Moved
    from .rows import LabelMove, Pruned, TemplateRow, TemplateVersion
    from .usage import CallUsage, DailyUsage, UsageRow
    from .versions import SchemaVersion
    from .walking import Select

    T = TypeVar("T")

    class Store(Protocol):
        """Storage for templates, prompts and editions, as one team sees it. Every write is one transaction. Failures raise a StoreError.

        Two teams may use the same ids and names for different things.
        """

        team: str

        def for_team(self, team: str) -> Store:
            """Return the same store as another team sees it: with the same connections, and the same memory of texts."""

        def teams(self) -> list[str]:
            """Return the names of the teams that have something in the store, sorted."""

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

        def pool_counts(self) -> Mapping[str, int]:
            """Return statistics of the connection pool, or nothing if there is none."""

        def cache_counts(self) -> Mapping[str, int]:
            """Return how many editions this process has in memory, and how often that did and did not save reading one."""

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

        def search(self, work: Callable[[Select], T]) -> T:
            """Call `work` with a function that runs a SELECT over all teams. It stops when nobody waits for the result any more."""

        def conversations(self, query: ConversationQuery = ...) -> ConversationPage:
            """Return a page of conversations, sorted and filtered by index."""

        def count(self, query: ConversationQuery = ...) -> tuple[int, bool]:
            """Return how many conversations there are, and whether that is exact. Otherwise there are at least that many."""

        def prompt(self, id: str) -> tuple[str, str] | None:
            """Return a prompt's text and its account, or None if this team has no prompt with this id."""

        def template(self, name: str = "default", label: str = "production") -> TemplateVersion | None:
            """Return the version of a template that a label refers to, or None if there is no such label."""

        def template_version(self, name: str, version: int) -> TemplateVersion | None:
            """Return one version of a template."""

        def templates(self, name: str = "default", texts: bool = True) -> list[TemplateVersion]:
            """Return all versions of a template, newest first. If `texts` is False, no text is read, and each is empty."""

        def template_names(self, prefix: str = "", limit: int = 100, after: str = "") -> list[TemplateRow]:
            """Return the templates whose name begins with `prefix` and comes after `after`, sorted by name."""

        def add_template(
            self, version: TemplateVersion, after: int | None = None, label: str = "production"
        ) -> TemplateVersion:
            """Add a version, which gets the next number, and move the label to it. An empty label moves none.

            With `after`, raises StaleError if the label does not refer to that version.
            """

        def labels(self, name: str) -> dict[str, int]:
            """Return the version of each of a template's labels."""

        def move_label(self, move: LabelMove, after: int | None = None) -> LabelMove:
            """Move a label to a version, and record who did it. Raises MissingError if there is no such version.

            With `after`, raises StaleError if the label does not refer to that version.
            """

        def remove_label(self, move: LabelMove) -> LabelMove:
            """Remove a label, and record who did it as a move to version 0. Raises MissingError if there is no such label."""

        def delete_template(self, name: str, author: str = "", time: str = "") -> int:
            """Delete a template with its labels, and any text that nothing else uses. Returns how many versions it had.

            Raises MissingError if there is no such template, and CallError for the default one. What remains is a move without a label
            that says who deleted it. If a template with this name is saved again, the numbers of its versions continue.
            """

        def label_moves(self, name: str, limit: int = 1000) -> list[LabelMove]:
            """Return the moves of a template's labels, newest first."""

        def forget(self, conversation: str) -> bool:
            """Remove a conversation, and any text that nothing else uses. Returns False if there is no such conversation."""

        def prune(self, before: float, keep_last: int = 1) -> Iterator[Pruned]:
            """Remove editions that were created before a time, in seconds since 1970, except the newest ones of each conversation.

            Works in small transactions, and yields the progress after each. Wrap it in `forgetting.leave_time` to leave time to other
            writers. If it is stopped, call it again.
            """

        def drop_forgotten(self) -> None:
            """Drop from this process's memory what any process has removed from the store."""

        def listen(self, on_forgotten: Callable[[frozenset[bytes]], None]) -> None:
            """Call a function with the hashes of what was removed from the store, whenever `drop_forgotten` finds some."""

        def add_usage(self, conversation: str, number: int, call: CallUsage) -> UsageRow:
            """Add a call's usage to an edition's counters, in one statement, and return the counters."""

        def usage(self, conversation: str, number: int) -> UsageRow | None:
            """Return the counters of an edition, or None if nothing was recorded."""

        def usages(self, conversation: str) -> dict[int, UsageRow]:
            """Return the counters of a conversation's editions by number, oldest first, without those for which nothing was recorded."""

        def daily_usage(self, conversations: Sequence[str]) -> list[DailyUsage]:
            """Return the usage of these conversations' editions, by the day of their last call in UTC, oldest first."""

        def count_template_uses(self) -> dict[tuple[str, int], int]:
            """Return the number of conversations that currently use each template and version."""

        def verify(self) -> list[str]:
            """Return the problems in the store, one sentence each: hashes that do not match, editions with missing texts."""

        def stats(self) -> dict[str, int]:
            """Return the number of stored conversations, editions, distinct texts, bytes and template versions."""

        def migrate(self, contract: bool = False) -> SchemaVersion:
            """Return the version of the tables, which opening the store has expanded. With `contract`, first remove what only older versions need."""

        def move_to_teams(self, teams: Mapping[str, str]) -> Iterator[Moved]:
            """Give this team's conversations and templates to other teams: those of each prefix to its team, the longest prefix first.

            Works in small transactions, and yields the progress after each. No id changes.
            """

        def take_lease(self, name: str, holder: str, seconds: int, interval: int) -> bool:
            """Become the only process that does a job, for so many seconds.

            Returns False if another process is doing it, or if it was done less than `interval` seconds ago.
            """

        def renew_lease(self, name: str, holder: str, seconds: int) -> bool:
            """Keep doing a job for so many more seconds. Returns False if another process has taken over."""

        def finish_lease(self, name: str, holder: str) -> None:
            """Record that the job is done."""

        def last_done(self, name: str) -> int:
            """Return when a job was last done, in seconds since 1970, or 0 if it never was."""

        def check_writable(self) -> None:
            """Raise a StoreError unless the store responds and accepts writes, and a StoreBusyError if it is locked. Changes no data."""

        def close(self) -> None:
            """Close all connections."""
