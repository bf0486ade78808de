"""Routes for health checks, metrics and the web page's static files."""

from __future__ import annotations

from ..conversation.shipped_definitions import SHIPPED_NAMES, shipped_tools
from ..errors import StoreBusyError, StoreError
from ..layout.keys import KEYS
from ..vocabulary.tools import tool_definition
from . import forms
from .page import asset
from .request import Request
from .responses import Problem, Response
from .route import STORE, Route
from .service import Service


def healthz(service: Service, request: Request) -> Response:
    """Report that the process is running."""
    return Response({"status": "ok"})


def readyz(service: Service, request: Request) -> Response:
    """Report whether the store responds and accepts writes."""
    try:
        service.conversations.store.check_writable()
    except StoreBusyError:
        pass
    except StoreError as error:
        raise Problem("store-down", "the store does not respond or cannot be written", reason=f"{error}") from None
    return Response({"status": "ready"})


def metrics(service: Service, request: Request) -> Response:
    """Return counts of requests, latencies, constructed and reused prompts, drift and store errors, in Prometheus format."""
    return Response(service.metrics().encode(), kind="text/plain; version=0.0.4; charset=utf-8")


def read_token(service: Service, request: Request) -> Response:
    """Return what the token of this request may do: everything, if the service has no tokens."""
    caller = service.caller
    return Response(
        {
            "name": caller.name,
            "rights": [right for right in caller.rights if right != "sessions" or service.has_sessions],
            "team": caller.team,
            "default_template": caller.default_template,
            "protected_labels": list(service.protected_labels),
        }
    )


def list_tools(service: Service, request: Request) -> Response:
    """Return the tools that `POST /conversations/{id}/tools/{name}` can run. Add them to the agent's tools, so that the model can call them."""
    return Response({"tools": [tool_definition(tool) for tool in shipped_tools(*SHIPPED_NAMES)]})


def list_layout_keys(service: Service, request: Request) -> Response:
    """Return the keys of layouts with their types and meanings, for editors."""
    return Response(
        {
            "keys": [
                {
                    "table": key.table,
                    "name": key.name,
                    "takes": key.takes,
                    "about": key.about,
                    "choices": list(key.choices),
                }
                for key in KEYS
            ]
        }
    )


def static(service: Service, request: Request) -> Response:
    """Return one of the web page's static files."""
    return asset(request.text("name"), request)


ROUTES = (
    Route("GET", "/layouts/keys", "reading", "read", False, list_layout_keys, forms.LayoutKeysForm),
    Route("GET", "/tools", "inline", "read", False, list_tools, forms.ToolsForm),
    Route("GET", "/token", "inline", "read", False, read_token, forms.TokenForm),
    Route("GET", "/healthz", "inline", "none", False, healthz, forms.StatusForm),
    Route("GET", "/readyz", "reading", "none", False, readyz, forms.StatusForm, None, None, STORE),
    Route("GET", "/metrics", "inline", "read", False, metrics, str),
    Route("GET", "/static/{name}", "reading", "none", False, static, None),
)  # fmt: skip
