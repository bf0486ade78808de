"""Routes for health checks, metrics and the web page's static files."""

from __future__ import annotations

from ..errors import StoreError
from .page import asset
from .request import Request
from .responses import Problem, Response
from .service import Service


def healthz(service: Service, request: Request) -> Response:
    """Report that the process is running."""
    return Response({"status": "ok"})


def readyz(service: Service, request: Request) -> Response:
    """Report whether the store responds."""
    try:
        service.conversations.store.template()
    except StoreError:
        raise Problem("store-down", "the store does not respond") from None
    return Response({"status": "ready"})


def metrics(service: Service, request: Request) -> Response:
    """Return counts of requests, latencies, constructed and reused prompts, drift and store errors, in Prometheus format."""
    return Response(service.metrics().encode(), kind="text/plain; version=0.0.4; charset=utf-8")


def static(service: Service, request: Request) -> Response:
    """Return one of the web page's static files."""
    return asset(request.text("name"), request)
