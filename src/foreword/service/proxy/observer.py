"""Report on each call: its conversation, what changed since the previous call, and what the provider read from its cache."""

from __future__ import annotations

import json

from ...errors import APIS
from ...providers.request_check import MAX_BREAKPOINTS
from ...text.shares import cached_percent
from ...vocabulary import replace, value
from ..side_process import SideProcessEnded
from .answers import MAX_BODY, UsageReader, decoder
from .conversations import SeenConversations
from .fingerprint import fingerprint, printable_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...providers.usage import ReportedTokens
    from ..side_process import Duty, SideProcess
    from .fingerprint import Fingerprint
    from .http1 import Head

# Reading a longer request would stop the event loop for a moment that others would notice.
_MAX_READ_HERE = 256 * 1024
READS_REQUESTS = "foreword.service.proxy.observer:reads_requests"
CONVERSATION_HEADER = "x-foreword-conversation"


def endpoint_of(method: str, target: str) -> str:
    """Return the name of the model endpoint that a request is for, or an empty string if it is for something else."""
    path = target.partition("?")[0].rstrip("/")
    return next((api for api, ends in APIS.items() if method == "POST" and path.endswith(ends)), "")


def model_in(target: str) -> str:
    """Return the model named in the path of a request to Gemini, or an empty string for other requests."""
    last = target.partition("?")[0].rpartition("/")[2]
    return last.partition(":")[0] if ":" in last else ""


@value
class CallReport:
    """One call, without any of its text. `changed` says what invalidated the cache, `problem` why the request could not be read or answered.

    Tokens are None if the provider did not report usage, and so are hit rates if it did not say how much was cached. `total_hit_rate` is
    for the conversation so far.
    """

    endpoint: str
    status: int
    conversation: str = ""
    call: int = 0
    model: str = ""
    breakpoints: int = 0
    changed: str = ""
    tokens_lost: int = 0
    tokens: ReportedTokens | None = None
    total_hit_rate: float | None = None
    problem: str = ""

    @property
    def hit_rate(self) -> float | None:
        tokens = self.tokens
        return tokens.read / tokens.input if tokens and tokens.input and tokens.read is not None else None

    def form(self) -> dict[str, Any]:
        """Return the report as the object that `--json` prints."""
        tokens = self.tokens
        return {
            "endpoint": self.endpoint,
            "status": self.status,
            "conversation": self.conversation or None,
            "call": self.call or None,
            "model": self.model or None,
            "input": tokens.input if tokens else None,
            "read": tokens.read if tokens else None,
            "written": tokens.written if tokens else None,
            "output": tokens.output if tokens else None,
            "hit_rate": _rounded(self.hit_rate),
            "total_hit_rate": _rounded(self.total_hit_rate),
            "breakpoints": self.breakpoints,
            "changed": self.changed or None,
            "tokens_lost": self.tokens_lost,
            "problem": self.problem or None,
        }

    def line(self) -> str:
        """Return the report as one line."""
        name = f"{self.conversation} call {self.call}" if self.call else self.endpoint
        fields = [
            name,
            *([self.model] if self.model else []),
            *([] if self.status == 200 else [f"status {self.status}"]),
        ]
        if self.tokens:
            fields.append(f"{self.tokens.input:,} tokens in, {self.tokens.output:,} out")
            fields.append(f"{_percent(self.hit_rate)} read from the cache ({_percent(self.total_hit_rate)} so far)")
        if self.breakpoints:
            fields.append(f"{self.breakpoints} breakpoint{'' if self.breakpoints == 1 else 's'}")
        if self.breakpoints > MAX_BREAKPOINTS:
            fields[-1] += f", {MAX_BREAKPOINTS} allowed"
        if self.changed:
            fields.append(f"{self.changed}; about {self.tokens_lost:,} tokens lost")
        return " · ".join([*fields, *([self.problem] if self.problem else [])])


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _percent(share: float | None) -> str:
    return "-" if share is None else cached_percent(share)


class _Unreadable(Exception):
    """Why a request cannot be compared."""


_NOT_READABLE = "the request is not in a format that the proxy can read"


def reads_requests() -> Duty:
    """Return the duty of the process that reads large requests: it gets the arguments of `_read` and returns its result."""
    return lambda request: _read(*request), lambda: None


def _read(content: bytes, encoding: str, key: bytes, model: str) -> Fingerprint | str:
    """Return the fingerprint of a request, or why there is none."""
    try:
        request = json.loads(_decoded(content, encoding))
        if not isinstance(request, dict):
            return "the request is not a JSON object"
        return fingerprint(request, key, model)
    except _Unreadable as error:
        return str(error)
    except Exception:  # a request that cannot be read is forwarded all the same
        return _NOT_READABLE


class Call:
    """A call that is passing through: collects the request, then reads the response."""

    def __init__(self, seen: SeenConversations, reader: SideProcess, endpoint: str, head: Head) -> None:
        self._seen, self._other, self._endpoint = seen, reader, endpoint
        self._model, self._encoding = model_in(head.words[1]), head.get("content-encoding").strip()
        self._name = printable_name(head.get(CONVERSATION_HEADER).strip())
        self._content: bytearray | None = bytearray()
        self._report = CallReport(endpoint, 0)
        self._reader: UsageReader | None = None

    def add_request(self, content: bytes) -> None:
        """Collect a piece of the request's body, unless the body is too long to be read."""
        if self._content is not None:
            if len(self._content) + len(content) <= MAX_BODY and self._seen.reserve(len(content)):
                self._content += content
            else:
                self.drop_request()

    def drop_request(self) -> None:
        """Forget the request's body."""
        if self._content is not None:
            self._seen.release(len(self._content))
            self._content = None

    def read_request(self) -> None:
        """Compare the request with the previous one, and forget its text. A long request is read in another process."""
        request = self._fingerprint()
        self.drop_request()
        if isinstance(request, str):
            self._report = replace(self._report, problem=f"not compared: {request}")
            return
        observation = self._seen.observe(self._endpoint, request, self._name)
        self._report = replace(
            self._report,
            conversation=observation.conversation,
            call=observation.call,
            model=request.model,
            breakpoints=request.breakpoints,
            changed=observation.difference.what if observation.difference else "",
            tokens_lost=observation.difference.tokens_lost if observation.difference else 0,
        )

    def _fingerprint(self) -> Fingerprint | str:
        if self._content is None:
            return "the request is too long"
        request = (bytes(self._content), self._encoding, self._seen.key, self._model)
        if len(self._content) <= _MAX_READ_HERE:
            return _read(*request)
        try:
            answer: Fingerprint | str = self._other.ask(request)
            return answer
        except SideProcessEnded:
            return _NOT_READABLE

    def start_response(self, head: Head) -> None:
        """Start reading a response."""
        self._reader = UsageReader(head.get("content-type"), head.get("content-encoding").strip())

    def add_response(self, content: bytes) -> None:
        """Read a piece of the response's body."""
        if self._reader is not None:
            self._reader.feed(content)

    def finish(self, status: int, problem: str = "") -> CallReport:
        """Return the report. `problem` says why the response is incomplete. This takes a while for a long response."""
        tokens = self._reader.tokens() if self._reader else None
        total = self._seen.add_usage(self._report.conversation, tokens) if tokens and self._report.call else None
        problems = "; ".join(filter(None, (self._report.problem, problem)))
        return replace(self._report, status=status, tokens=tokens, total_hit_rate=total, problem=problems)


def _decoded(content: bytes, encoding: str) -> bytes:
    """Return the decompressed content. Raises an _Unreadable if it is too long."""
    decompressor = decoder(encoding)
    if decompressor is None:
        return content
    plain: bytes = decompressor.decompress(content, MAX_BODY)
    if decompressor.unconsumed_tail:
        raise _Unreadable("the request is too long")
    return plain
