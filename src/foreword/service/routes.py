"""All routes, from which the router, the OpenAPI document and the documentation are built. Each module of handlers has its own."""

from __future__ import annotations

from functools import cache
from threading import Lock

from . import (
    about,
    conversation_events,
    conversation_lists,
    conversations,
    events,
    named_templates,
    questions,
    repository_questions,
    sessions,
    templates,
)
from .page import page_or_placeholder
from .request import Request
from .responses import Response, to_json
from .route import Route
from .service import Service


def openapi(service: Service, request: Request) -> Response:
    """Return this OpenAPI 3.1 document."""
    with _building_document:  # many clients may ask for it at once, and building it takes a while
        return Response(_encoded_document())


_building_document = Lock()


@cache
def _encoded_document() -> bytes:
    from .openapi import document

    return to_json(document(ROUTES))


def page(service: Service, request: Request) -> Response:
    """Return the web page."""
    return page_or_placeholder(request, ROUTES)


ROUTES = (
    *conversations.ROUTES,
    *conversation_events.ROUTES,
    *conversation_lists.ROUTES,
    *questions.ROUTES,
    *repository_questions.ROUTES,
    *events.ROUTES,
    *sessions.ROUTES,
    *templates.ROUTES,
    *named_templates.ROUTES,
    *about.ROUTES,
    Route("GET", "/openapi.json", "reading", "read", False, openapi, dict),
    Route("GET", "/", "reading", "none", False, page, None),
)
