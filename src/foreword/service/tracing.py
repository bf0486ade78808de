"""Distributed tracing: the trace of a request in the log, and OpenTelemetry spans if that is installed and configured."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from ..encoding.edition import target_of
from ..store.contents import DEFAULT_TEMPLATE
from ..store.rows import PRODUCTION
from ..store.spans import is_tracing, use_tracer
from ..vocabulary import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..store.contract import Store

# The parts of a W3C trace context: version, trace, parent and flags.
_TRACE_PARENT = re.compile(rb"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def parse_trace(header: bytes) -> str:
    """Return the id of the trace that a `traceparent` header names, or an empty string if the header is invalid."""
    match = _TRACE_PARENT.fullmatch(header)
    return match[1].decode() if match else ""


def find_tracer() -> Any:
    """Return a tracer, or None if OpenTelemetry is not installed or has nowhere to send spans.

    A program that runs this one may have configured OpenTelemetry already. Otherwise the endpoint is read from the environment.
    """
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        if not any(os.environ.get(name) for name in _ENDPOINTS):
            return None
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError:
            return None
        provider = TracerProvider(resource=Resource.create({"service.name": "foreword"}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
    return trace.get_tracer("foreword")


def describe_answer(path: str, variables: Mapping[str, str], store: Store) -> None:
    """Add to the span of the request, if there is one, which conversation and which edition it was about. Conventions name the attributes `gen_ai.…`."""
    if not is_tracing() or not path.startswith("/conversations/"):
        return
    from opentelemetry import trace

    conversation = variables["id"]
    edition = store.last_known(conversation)
    span = trace.get_current_span()
    span.set_attribute("gen_ai.conversation.id", conversation)
    if edition is None:
        return
    target = target_of(edition)
    is_stored = target.template is not None
    attributes = {
        "gen_ai.request.model": target.model,
        "gen_ai.prompt.name": (target.template_name or DEFAULT_TEMPLATE) if is_stored else "",
        "foreword.prompt.version": target.template,
        "foreword.prompt.label": (target.template_label or PRODUCTION) if is_stored else "",
        "foreword.prompt.id": digest(edition.system),
        "foreword.edition": edition.number,
        "foreword.layout": edition.layout,
    }
    for name, content in attributes.items():
        if content not in (None, ""):
            span.set_attribute(name, content)


class Traced:
    """Records a span for each request to an application, and in it one for each use of the store, each hook and each prompt that is built.

    Spans contain methods, paths, statuses and the names of layouts, templates and models, but no text.

    Spans that extensions and database drivers record while the request is answered belong to its span, and the header `traceresponse`
    tells the client which span that is.
    """

    def __init__(self, application: Any, tracer: Any) -> None:
        self._application, self._tracer = application, tracer
        use_tracer(tracer)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        names = (b"traceparent", b"tracestate")
        carrier = {name.decode(): content.decode("latin-1") for name, content in scope["headers"] if name in names}
        path = scope["raw_path"].decode("ascii", "backslashreplace")
        with self._tracer.start_as_current_span(
            f"{scope['method']} {path.split('/')[1] if '/' in path else path}",
            context=TraceContextTextMapPropagator().extract(carrier),
            kind=trace.SpanKind.SERVER,
            attributes={"http.request.method": scope["method"], "url.path": path},
        ) as span:

            async def send_and_record(message: Any) -> None:
                if "headers" in message:
                    message = {**message, "headers": [*message["headers"], (b"traceresponse", _trace_parent(span))]}
                    span.set_attribute("http.response.status_code", message["status"])
                    if message["status"] >= 500:
                        span.set_status(trace.Status(trace.StatusCode.ERROR))
                await send(message)

            await self._application(scope, receive, send_and_record)


def _trace_parent(span: Any) -> bytes:
    """Return a span as a W3C trace context."""
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags:02x}".encode()
