"""Convert the library's errors to problems."""

from __future__ import annotations

from ..errors import (
    ForewordError,
    HookError,
    LayoutError,
    MirrorError,
    MissingError,
    StoreBusyError,
    StoreError,
    TemplateError,
    TemplateRenderError,
)
from ..layout.positions import position_of
from ..providers.tool_fields import UnsupportedToolError
from ..text.lines import printable
from .request import Request
from .responses import Problem, describe, redact, redact_template_error
from .service import Service


def problem_of(error: ForewordError, service: Service, request: Request) -> Problem:
    """Return the problem for an error that the function of a route has raised."""
    reason = ""
    match error:
        case StoreError():
            return Problem("store-busy" if isinstance(error, StoreBusyError) else "store-down", f"{error}")
        case TemplateError():
            columns = {"column": error.column, "end_column": error.end_column}
            location = {"line": error.line, **columns, "message": error.message}
            name = "template-not-rendered" if isinstance(error, TemplateRenderError) else "invalid-template"
            return Problem(name, str(error), reason=redact_template_error(error), errors=[location])
        case LayoutError():
            return _layout_problem(error, request)
        case MirrorError():
            name = "invalid-layout"
        case UnsupportedToolError():
            name = "unsupported-tool"
        case MissingError():
            name, reason = "not-found", _redact_cwd(error, service, request)
        case HookError():
            name, reason = "hook-failed", _redact_cwd(error, service, request)
        case _:
            name, reason = "invalid-request", _redact_cwd(error, service, request)
    return Problem(name, describe(error), reason=reason)


def _layout_problem(error: LayoutError, request: Request) -> Problem:
    """Return the problem for an invalid layout. If the request contains the layout, the problem says where the error is."""
    text = getattr(request.body, "layout_text", "")
    if not text:
        bodies = [request.body, request.query, *(getattr(request.body, name, None) for name in ("old", "new"))]
        fields = ("settings", "wording", "compaction")
        is_from_request = any(getattr(body, name, None) for body in bodies for name in fields)
        return Problem("invalid-layout" if is_from_request else "invalid-request", describe(error))
    position = (error.line, error.column, None) if error.line else position_of(text, error.key) or (None, None, None)
    line, column, end_column = position
    location = {"line": line, "column": column, "end_column": end_column, "message": describe(error)}
    reason = f"invalid layout at line {line}" if line else "invalid layout"
    return Problem("invalid-layout", describe(error), reason=reason, errors=[location])


def _redact_cwd(error: ForewordError, service: Service, request: Request) -> str:
    """Return an error's message for the log, without the working directory, whose name may contain spaces."""
    message, body = str(error), request.body or request.query
    for part in (body, getattr(body, "old", None), getattr(body, "new", None)):
        cwd = getattr(part, "cwd", "")
        path = printable(service.absolute(cwd)) if isinstance(cwd, str) else ""
        message = message.replace(path, "…") if path else message
    return redact(message)
