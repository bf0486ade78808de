"""Which conversations to list."""

from __future__ import annotations

from ..vocabulary import value


@value
class ConversationQuery:
    """Which conversations to list. Empty fields do not filter.

    Fields:
        prefix: A prefix of the ids.
        layout: The name or address of the layout.
        model: The model that the current edition was built for.
        template: The name of the stored template.
        version: The version of the stored template.
        since: The earliest time of the current edition, in seconds since 1970.
        until: The time before which the current edition was created.
        newest: Whether to sort by the time of the current edition, newest first, instead of by id.
        limit: The length of a page.
        after: `next` of the previous page.
    """

    prefix: str = ""
    layout: str = ""
    model: str = ""
    template: str = ""
    version: int | None = None
    since: float | None = None
    until: float | None = None
    newest: bool = False
    limit: int = 100
    after: str = ""

    @property
    def filters_kinds(self) -> bool:
        return bool(self.layout or self.model or self.template) or self.version is not None

    @property
    def filters_times(self) -> bool:
        return self.since is not None or self.until is not None


ANY_CONVERSATION = ConversationQuery()
