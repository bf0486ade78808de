"""Whether the service is well, what it has done, how it is described, and its page."""

from __future__ import annotations

from ..errors import StoreError
from .answers import Answer, Problem
from .call import Call
from .page import asset
from .service import Service


def healthz(service: Service, call: Call) -> Answer:
    """The process answers."""
    return Answer({"status": "ok"})


def readyz(service: Service, call: Call) -> Answer:
    """The store answers."""
    try:
        service.talks.store.template()
    except StoreError:
        raise Problem("store-down", "the store does not answer") from None
    return Answer({"status": "ready"})


def metrics(service: Service, call: Call) -> Answer:
    """Requests, latencies, constructs, reuses, drift and store errors, for Prometheus."""
    return Answer(service.metrics().encode(), kind="text/plain; version=0.0.4; charset=utf-8")


def static(service: Service, call: Call) -> Answer:
    """A file of the page."""
    return asset(call.text("name"), call)
