"""Editions that were built recently, so that conversations that start with the same agent in the same workspace share one."""

from __future__ import annotations

from ..layout.model import Field
from ..store.rows import texts_of
from ..store.texts import hash_of
from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ..layout.model import Layout
    from ..vocabulary import Agent, Edition, Inputs

_SESSION_VARIABLE = "conversation_id"


@value
class RecentEdition:
    """A recently built edition and what it was built from. `source` is compared by identity."""

    source: object
    agent: Agent
    moment: datetime | None
    edition: Edition


class RecentEditions:
    """The most recently built editions, newest first. Safe to use from several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._editions: tuple[RecentEdition, ...] = ()

    def find(self, source: object, agent: Agent, moment: datetime | None) -> Edition | None:
        """Return the edition that was built from the same source for the same agent and time."""
        for recent in self._editions:
            if recent.source is source and recent.moment == moment and recent.agent == agent:
                return recent.edition
        return None

    def add(self, source: object, agent: Agent, moment: datetime | None, edition: Edition) -> None:
        self._editions = (RecentEdition(source, agent, moment, edition), *self._editions[: self._limit - 1])

    def forget(self, hashes: frozenset[bytes]) -> None:
        """Drop editions with texts that have these hashes, because they were removed from the store."""
        self._editions = tuple(
            recent for recent in self._editions if hashes.isdisjoint(map(hash_of, texts_of(recent.edition)))
        )


def may_contain_session(layout: Layout, inputs: Inputs) -> bool:
    """Whether a prompt may contain the conversation's id, so that no two conversations have the same prompt."""
    forms = ((*section.form, *section.wrap) for section in layout.all_sections)
    if any(isinstance(part, Field) and part.name == "session" for form in forms for part in form):
        return True
    return any(_SESSION_VARIABLE in document.text for document in (*inputs.bodies.values(), *inputs.templates.values()))
