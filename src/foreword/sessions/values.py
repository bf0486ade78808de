"""The values that every reader produces: parts, requests, events and logs.

There can be a million parts, so these are tuples with names, which are faster to create than `@value` classes.
"""

from __future__ import annotations

from operator import add, sub
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# How exact a figure is, best first.
EXACTNESS = ("recorded", "rebuilt", "estimated")
# How many bytes a token has, for the part of a request that the log does not show.
TOKEN_BYTES = 4
CAUSES = (
    "file", "tool", "server", "setting", "clock", "message", "lifetime", "compaction", "model", "provider", "unknown",
)  # fmt: skip


class LogPart(NamedTuple):
    """A run of a request's text with one origin.

    Fields:
        kind: `tool` (a definition), `prompt` (the program's own text), `file` (instructions), `skills` (a line of the menu), `skill` (a
            body), `server` (an MCP server's instructions), `clock`, `message` (the user's), `answer` (the model's), `result` (of a tool),
            `summary`, or `unknown` (what the log does not have).
        name: The tool, skill or server.
        path: The file.
        hash: A hash of the text.
        size: The size in bytes, which is the part's weight. An `unknown` part has 0 until it is known what is left for it.
    """

    kind: str
    name: str
    path: str
    hash: str
    size: int


class TokenCounts(NamedTuple):
    """Tokens by kind: input that was neither read nor written, written to the cache, read from it, and output.

    `long` of the `written` tokens are kept for longer than the default, which costs more.
    """

    fresh: int = 0
    written: int = 0
    read: int = 0
    out: int = 0
    long: int = 0

    @property
    def input(self) -> int:
        return self.fresh + self.written + self.read

    def plus(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(*map(add, self, other))

    def minus(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(*map(sub, self, other))


class LoggedRequest(NamedTuple):
    """One request to a model, as its log has it.

    Fields:
        key: Identifies the request; a copy of it in another log has the same key.
        thread: Empty for the user's conversation, otherwise the sub-agent that sent it.
        time: When the answer was recorded, in seconds since 1970; 0 if unknown.
        sent: When the request was sent, as precisely as the log says.
        kind: `turn`, `compaction`, or `side` (a request of the program's own).
        exactness: Of the tokens.
        keep: How many parts it has in common with the request before it in its thread, from the start. -1 if the two are described in
            different ways and have to be compared part by part.
        tail: The parts after those.
        made: How the parts are known: `rebuilt`, `estimated`, or empty if they are not.
        lifetime: For how many seconds the provider was asked to keep the prefix; 0 is its default.
        settings: Hashes of the arguments that affect the cache, by name.
        own_cost: What the program says that it cost, in dollars.
        ref: Where the log describes the request: the id of a row.
    """

    key: str
    thread: str
    time: float
    sent: float
    model: str
    tokens: TokenCounts
    kind: str = "turn"
    exactness: str = "recorded"
    keep: int = 0
    tail: tuple[LogPart, ...] = ()
    made: str = ""
    lifetime: int = 0
    settings: tuple[tuple[str, str], ...] = ()
    own_cost: float | None = None
    ref: str = ""


class Event(NamedTuple):
    """Something that happened between requests: `compaction`, `resume`, `total` (a sum that the program wrote), `discovered`, …"""

    kind: str
    thread: str
    time: float
    after: int  # how many requests of the log came before it
    detail: str = ""


class SessionLog(NamedTuple):
    """One log file: whose it is, and what happened."""

    path: str
    agent: str
    session: str
    version: str
    cwd: str
    branch: str
    thread: str
    parent: str
    requests: Sequence[LoggedRequest]
    events: tuple[Event, ...]
    problems: tuple[tuple[str, str], ...]  # the code of a finding, and what its message is about
    totals: tuple[
        tuple[str, int, float, TokenCounts], ...
    ] = ()  # model, requests before it, time, the program's own sums
    own_cost: float | None = None
