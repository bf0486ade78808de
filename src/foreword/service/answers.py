"""What the service answers, and how it says that something cannot be: problems as in RFC 9457."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..errors import TemplateError
from ..vocabulary import value

# The kind of each problem, its status, and its title.
PROBLEMS = {
    "wrong-headers": (400, "The headers are not valid"),
    "not-http": (400, "What was sent is no request"),
    "not-json": (400, "The body is not JSON"),
    "wrong-body": (400, "The body does not say what this route takes"),
    "wrong-query": (400, "The query does not say what this route takes"),
    "wrong-call": (400, "The request asks for something that cannot be"),
    "no-token": (401, "A token is needed"),
    "wrong-token": (401, "The token is wrong"),
    "outside-roots": (403, "The path lies outside of the folders that are served"),
    "foreign-host": (403, "The request was meant for another host"),
    "foreign-origin": (403, "The request comes from a page of another site"),
    "no-route": (404, "There is nothing here"),
    "not-found": (404, "There is no such thing"),
    "wrong-method": (405, "This route does not take that method"),
    "slow-request": (408, "The request took too long to arrive"),
    "slow-reader": (408, "The client did not read its answer in time"),
    "template-changed": (412, "The template was changed meanwhile"),
    "too-large": (413, "The request is too large"),
    "wrong-template": (422, "The template cannot be parsed or rendered"),
    "large-headers": (431, "The headers are too large"),
    "client-gone": (499, "The client disconnected before it was answered"),
    "failed": (500, "Something went wrong here"),
    "busy": (503, "The service has too much to do"),
    "store-down": (503, "The store cannot be reached"),
    "too-slow": (504, "The work took too long"),
}
# From the first quotation mark to the last: what is quoted may hold some itself.
_QUOTED = re.compile("(?<!\\w)['\"`“].*['\"`”]")
_WITH_SLASH = re.compile(r"[^\s'…]*[/\\](?:[^\s';,]*[^\s';,.:])?")
_LONGEST = 300
_PLACE = re.compile(r"\(line (\d+), column \d+\)")
RETRY_AFTER = {"busy": "2", "store-down": "5", "too-slow": "5"}


@value
class Answer:
    """What is sent back: a value to be written as JSON, or bytes. `counts` are added to the metrics, `reason` stands in the log.

    `tail` is sent behind a body of bytes, as it is: it may be long, and is not copied for every request.
    """

    body: Any
    status: int = 200
    headers: Mapping[str, str] = {}
    kind: str = "application/json"
    counts: Sequence[str] = ()
    problem: str = ""
    reason: str = ""
    tail: bytes = b""


def written(form: Any) -> bytes:
    """A value as JSON."""
    try:
        return msgspec.json.encode(form)
    except UnicodeEncodeError:  # half a character, which only an escape can carry
        return json.dumps(form).encode()


def loggable(detail: str) -> str:
    """What the log may say of a detail: without quotations, which may be of the request, and without paths."""
    line = detail.partition("\n")[0]
    line = _QUOTED.sub("'…'", line)
    return _WITH_SLASH.sub("…", line)[:_LONGEST]


def reason_of(error: TemplateError) -> str:
    """What the log may say of a template's error: only the place, where the message quotes the template."""
    found = _PLACE.search(str(error))
    return f"the template is wrong at {found[0][1:-1]}" if found else loggable(str(error))


def line_of(error: Exception) -> int | None:
    """The line of the template that its error names."""
    found = _PLACE.search(str(error))
    return int(found[1]) if found else None


class Problem(Exception):
    """Something that cannot be, with a sentence a person can act on."""

    def __init__(
        self, kind: str, detail: str, headers: Mapping[str, str] | None = None, *, reason: str = "", **more: Any
    ) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.headers, self.more = kind, detail, dict(headers or {}), more
        self.reason = reason or loggable(detail)

    def answer(self, id: str) -> Answer:
        """What is sent; `id` is that of the request, under which the log has it too."""
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
        return Answer(
            {**body, **self.more},
            status,
            {**headers, **self.headers},
            "application/problem+json",
            ("store_errors",) if self.kind == "store-down" else (),
            self.kind,
            self.reason,
        )
