"""Spans inside a request, with OpenTelemetry's own SDK: the store, hooks, reading the workspace and building the prompt."""

import asyncio
import io
import json
import subprocess
import sys

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from foreword.extensions import Extension
from foreword.service.application import Application
from foreword.service.guard import RequestGuard
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.routes import ROUTES
from foreword.service.service import Service
from foreword.service.tracing import Traced
from foreword.store.rows import LabelMove, TemplateVersion
from foreword.store.spans import span, use_tracer
from foreword.vocabulary import digest


@pytest.fixture
def traced(tmp_path):
    """`traced(method, path, body)` sends a request to a traced service, and returns the response's body and the spans, by name."""
    (tmp_path / "AGENTS.md").write_text("planted instructions")
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    extension = Extension("house", context=lambda messages, about: messages)
    service = Service(f"{tmp_path}/store.db", [str(tmp_path)], [extension])
    for text in ("planted one", "planted two"):
        service.conversations.store.add_template(TemplateVersion(0, text, name="support"))
    service.conversations.store.move_label(LabelMove("support", "staging", 0, 1))
    application = Application(service, RequestGuard(), Log(stream=io.StringIO()), Metrics(ROUTES))
    traced = Traced(application, provider.get_tracer("test"))

    def send(method, path, body=None):
        messages = []

        async def receive():
            return {"type": "http.request", "body": b"" if body is None else json.dumps(body).encode()}

        async def keep(message):
            messages.append(message)

        scope = {"type": "http", "method": method, "raw_path": path.encode(), "query_string": b""}
        exporter.clear()
        asyncio.run(traced({**scope, "headers": [(b"host", b"localhost")]}, receive, keep))
        return json.loads(messages[-1]["body"]), exporter.get_finished_spans()

    yield send
    use_tracer(None)
    service.conversations.close()


def test_the_spans_of_a_first_turn_belong_to_its_request(traced):
    body = {"cwd": "", "layout": "builder", "model": "claude", "template_name": "support@staging", "message": "planted"}
    answer, spans = traced("POST", "/conversations/chat/turn", body)
    (request,) = [each for each in spans if each.parent is None]
    assert {each.name for each in spans} == {"POST conversations", "store", "gather", "build", "hook"}
    assert {each.context.trace_id for each in spans} == {request.context.trace_id}
    attributes = {each.name: dict(each.attributes) for each in spans}
    assert attributes["store"] == {"db.system.name": "sqlite"}
    assert attributes["hook"] == {"foreword.extension": "house"}
    assert attributes["build"] == attributes["gather"] == {"foreword.layout": "$std/builder"}
    assert attributes["POST conversations"] == {
        "http.request.method": "POST",
        "url.path": "/conversations/chat/turn",
        "http.response.status_code": 200,
        gen_ai_attributes.GEN_AI_CONVERSATION_ID: "chat",
        gen_ai_attributes.GEN_AI_REQUEST_MODEL: "claude",
        gen_ai_attributes.GEN_AI_PROMPT_NAME: "support",
        "foreword.prompt.version": 1,
        "foreword.prompt.label": "staging",
        "foreword.prompt.id": digest(answer["system"]),
        "foreword.edition": 1,
        "foreword.layout": "$std/builder",
    }
    assert "planted" not in "".join(each.to_json() for each in spans)


def test_a_known_turn_builds_nothing_and_names_the_edition(traced):
    for _ in range(2):
        _, spans = traced("POST", "/conversations/chat/turn", {"cwd": "", "layout": "pi"})
    request = spans[-1]
    assert "build" not in {each.name for each in spans}
    assert (request.attributes["foreword.edition"], request.attributes["foreword.layout"]) == (1, "$std/pi")
    assert "gen_ai.prompt.name" not in request.attributes, "the layout uses no stored template"


def test_an_exception_inside_a_span_is_not_recorded():
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    use_tracer(provider.get_tracer("test"))
    try:
        with pytest.raises(ValueError, match="planted"), span("store"):
            raise ValueError("planted")
    finally:
        use_tracer(None)
    (only,) = exporter.get_finished_spans()
    assert (only.events, only.status.description) == ((), None)


@pytest.mark.parametrize(
    ("arguments", "attributes"), [(("store",), {}), (("hook", "foreword.hook", "start"), {"foreword.hook": "start"})]
)
def test_a_span_has_an_attribute_only_if_one_is_named(arguments, attributes):
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    use_tracer(provider.get_tracer("test"))
    try:
        with span(*arguments):
            pass
    finally:
        use_tracer(None)
    (only,) = exporter.get_finished_spans()
    assert (only.name, dict(only.attributes)) == (arguments[0], attributes)


def test_without_a_tracer_nothing_is_imported():
    script = (
        "import sys; from foreword.store.spans import span; from foreword.store import open_store\n"
        "with span('store'): open_store(':memory:').stats()\n"
        "import foreword.service.application; print([name for name in sys.modules if 'opentelemetry' in name])"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"
