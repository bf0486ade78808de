"""Responses, and errors as RFC 9457 problem details."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Event
from typing import Any

import msgspec

from ..errors import ForewordError, TemplateError
from ..vocabulary import value

# The status and title of each kind of problem.
PROBLEMS = {
    "invalid-headers": (400, "Invalid headers"),
    "not-http": (400, "Not a valid HTTP request"),
    "not-json": (400, "Invalid JSON"),
    "invalid-body": (400, "Invalid request body"),
    "invalid-query": (400, "Invalid query"),
    "invalid-request": (400, "Invalid request"),
    "missing-token": (401, "Missing token"),
    "invalid-token": (401, "Invalid token"),
    "forbidden": (403, "Not allowed with this token"),
    "outside-roots": (403, "Path outside the served folders"),
    "foreign-host": (403, "Unknown host name"),
    "foreign-origin": (403, "Cross-site request refused"),
    "unknown-path": (404, "Not found"),
    "not-found": (404, "Not found"),
    "method-not-allowed": (405, "Method not allowed"),
    "slow-request": (408, "Request timeout"),
    "slow-reader": (408, "Client too slow to read the response"),
    "in-use": (409, "Cannot be removed"),
    "ambiguous-team": (409, "Several teams have it"),
    "template-changed": (412, "Template changed in the meantime"),
    "too-large": (413, "Request too large"),
    "invalid-template": (422, "Invalid template"),
    "template-not-rendered": (422, "Template cannot be rendered"),
    "invalid-layout": (422, "Invalid layout"),
    "unsupported-tool": (422, "Tool not supported by the provider"),
    "too-many-requests": (429, "Too many requests"),
    "headers-too-large": (431, "Request headers too large"),
    "client-disconnected": (499, "Client disconnected"),
    "internal-error": (500, "Internal error"),
    "hook-failed": (502, "A required extension hook failed"),
    "busy": (503, "Service busy"),
    "store-busy": (503, "Store busy"),
    "store-down": (503, "Store unavailable"),
    "timeout": (504, "Timed out"),
}
# A quotation as `repr` prints it, or one in other quotation marks.
_QUOTED = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|“[^”]*”)(?!\w)""")
# If quoted text itself contains quotation marks, its end is unclear, so everything from the first mark to the last is removed.
_REMAINING_MARK = re.compile("(?<!\\w)['\"`“]|['\"`”](?!\\w)")
_FIRST_TO_LAST_MARK = re.compile("(?<!\\w)['\"`“].*['\"`”]")
_PATH = re.compile(r"[^\s'…]*[/\\](?:[^\s';,]*[^\s';,.:])?")
_MAX_LENGTH = 300
# The header of a response that comes from this process's memory, because the store does not respond.
_NOTHING: Mapping[str, Any] = {}
RETRY_AFTER = {"busy": "2", "store-busy": "2", "store-down": "5", "timeout": "5"}

# What counts the calls that the store refused, by the kind of problem, which is also the code of the finding.
STORE_COUNTS = {"store-busy": "store_busy", "store-down": "store_errors"}


@value
class Response:
    """A response. `body` is bytes, or a value to encode as JSON. `tail` is the rest of a body, which is shared with other responses.

    `counts`, `amounts` and the `codes` of findings are added to the metrics, and `reason` is written to the log. `events` returns the
    values to send as server-sent events until its argument is set; None means a heartbeat.
    """

    body: Any
    status: int = 200
    headers: Mapping[str, str] = {}
    kind: str = "application/json"
    counts: Sequence[str] = ()
    problem: str = ""
    reason: str = ""
    amounts: Mapping[str, float] = {}
    codes: Sequence[str] = ()
    events: Callable[[Event], Iterator[Any]] | None = None
    tail: bytes = b""

    # Every request creates a response, and this is several times as fast as the method that `value` adds.
    def __init__(
        self,
        body: Any,
        status: int = 200,
        headers: Mapping[str, str] = _NOTHING,
        kind: str = "application/json",
        counts: Sequence[str] = (),
        problem: str = "",
        reason: str = "",
        amounts: Mapping[str, float] = _NOTHING,
        codes: Sequence[str] = (),
        events: Callable[[Event], Iterator[Any]] | None = None,
        tail: bytes = b"",
    ) -> None:
        self.__dict__.update(
            body=body, status=status, headers=headers, kind=kind, counts=counts, problem=problem, reason=reason,
            amounts=amounts, codes=codes, events=events, tail=tail,
        )  # fmt: skip


def to_json(content: Any) -> bytes:
    """Encode a value as JSON."""
    try:
        return msgspec.json.encode(content)
    except UnicodeEncodeError:  # a lone surrogate, which can only be written as an escape
        return json.dumps(content, default=lambda raw: json.loads(bytes(raw))).encode()


# The routes that return what the `listing` of an error names.
_LISTS = {
    "templates": "GET /templates",
    "conversations": "GET /conversations",
    "prompts": "GET /conversations/{id}/editions",
    "keys": "GET /layouts/keys",
}


def describe(error: ForewordError) -> str:
    """Return an error's sentence for a client, with the route that lists valid names if there is one."""
    return f"{error}; see {_LISTS[error.listing]}" if error.listing else str(error)


def redact(detail: str) -> str:
    """Return the detail for the log, without quotations and paths, which may come from the request."""
    line = detail.partition("\n")[0]
    masked = _QUOTED.sub("…", line)
    line = _FIRST_TO_LAST_MARK.sub("'…'", line) if _REMAINING_MARK.search(masked) else _QUOTED.sub("'…'", line)
    return _PATH.sub("…", line)[:_MAX_LENGTH]


def redact_template_error(error: TemplateError) -> str:
    """Return the position of a template error for the log, without its message, which quotes the template."""
    if error.line is None:
        return redact(str(error))
    return f"invalid template at line {error.line}, column {error.column}"


class Problem(Exception):
    """An error response. `detail` is a sentence that says what is wrong and what to do."""

    def __init__(
        self, kind: str, detail: str, headers: Mapping[str, str] | None = None, *, reason: str = "", **more: Any
    ) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers, self.more = kind, detail, dict(headers or {}), more
        self.reason = reason or redact(detail)

    def response(self, id: str) -> Response:
        """Return the response for the request with this id, under which it also appears in the log."""
        status, title = PROBLEMS[self.kind]
        headers = {"Retry-After": RETRY_AFTER[self.kind]} if self.kind in RETRY_AFTER else {}
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        body: dict[str, Any] = {
            "type": f"urn:foreword:problem:{self.kind}",
            "title": title,
            "status": status,
            "detail": self.detail,
        }
        body["instance"] = f"urn:foreword:request:{id}"
        return Response(
            {**body, **self.more},
            status,
            {**headers, **self.headers},
            "application/problem+json",
            (STORE_COUNTS[self.kind],) if self.kind in STORE_COUNTS else (),
            self.kind,
            self.reason,
        )
