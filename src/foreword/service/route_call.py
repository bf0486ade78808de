"""Call the function of a route, and convert the library's errors to problems."""

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
from ..store.spans import is_tracing
from ..text.lines import printable
from .request import Request
from .responses import Problem, Response, describe, redact, redact_template_error
from .route import Route
from .service import Service
from .tracing import describe_edition


def run_route(route: Route, service: Service, request: Request) -> Response:
    """Call a route's function, and convert the library's errors to Problems."""
    try:
        response = route.function(service, request)
        if is_tracing() and route.path.startswith("/conversations/"):
            describe_edition(service.conversations.store.last_known(request.text("id")), request.text("id"))
        return response
    except StoreBusyError as error:
        raise Problem("store-busy", f"{error}") from error
    except StoreError as error:
        raise Problem("store-down", f"{error}") from error
    except TemplateError as error:
        columns = {"column": error.column, "end_column": error.end_column}
        location = {"line": error.line, **columns, "message": error.message}
        name = "template-not-rendered" if isinstance(error, TemplateRenderError) else "invalid-template"
        raise Problem(name, str(error), reason=redact_template_error(error), errors=[location]) from error
    except LayoutError as error:
        raise _layout_problem(error, request) from error
    except MirrorError as error:
        raise Problem("invalid-layout", describe(error)) from error
    except UnsupportedToolError as error:
        raise Problem("unsupported-tool", describe(error)) from error
    except MissingError as error:
        raise Problem("not-found", describe(error), reason=_redact_cwd(error, service, request)) from error
    except HookError as error:
        raise Problem("hook-failed", describe(error), reason=_redact_cwd(error, service, request)) from error
    except ForewordError as error:
        raise Problem("invalid-request", describe(error), reason=_redact_cwd(error, service, request)) from error


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
        path = printable(service.path(cwd)) if isinstance(cwd, str) else ""
        message = message.replace(path, "…") if path else message
    return redact(message)
