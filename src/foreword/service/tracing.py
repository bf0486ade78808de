"""Distributed tracing: the trace of a request in the log, and OpenTelemetry spans if that is installed and configured."""

from __future__ import annotations

import os
import re
from typing import Any

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


class Traced:
    """Records a span for each request to an application. Spans contain methods, paths and statuses, but no text.

    Spans that extensions and database drivers record while the request is answered belong to its span, and the header `traceresponse`
    tells the client which span that is.
    """

    def __init__(self, application: Any, tracer: Any) -> None:
        self._application, self._tracer = application, tracer

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
