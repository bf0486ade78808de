"""How often released agents really sent this repository's prompts, from their logs, for `foreword review --sessions`."""

from __future__ import annotations

from ..vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..inspection.prices import Price
    from .question import Question

PERIOD = "30d"
_MILLION = 1_000_000


@value
class SentRequests:
    """The requests of one agent in the period. `written` of them wrote the prompt to the cache: the first of a session, and each collapse."""

    count: int
    written: int

    def cost(self, tokens: int, price: Price) -> float:
        """Return what these tokens would have cost in these requests."""
        return tokens * (self.written * price.write + (self.count - self.written) * price.read) / _MILLION


def count_requests(question: Question) -> Mapping[str, SentRequests]:
    """Return the requests in the last 30 days' sessions in the question's repository, by agent."""
    from .session_query import SessionQuery

    query = SessionQuery(question.with_fields(since=PERIOD, model=""))
    counts: dict[str, tuple[int, int]] = {}
    for session in query.sessions():
        entries = query.chosen(session)
        written = min(1 + sum(entry.collapse is not None for entry in entries), len(entries))
        count, known = counts.get(session.agent, (0, 0))
        counts[session.agent] = count + len(entries), known + written
    return {agent: SentRequests(*pair) for agent, pair in counts.items()}
