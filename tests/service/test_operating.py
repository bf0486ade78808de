"""Levels, audits and traces in the log; rate limits; figures of the process in the metrics; spans."""

import asyncio
import io
import json

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from foreword import __version__
from foreword.engine import sandbox
from foreword.errors import StoreError
from foreword.service.lanes import READING, TEMPLATES, Job, Lanes
from foreword.service.log import Log
from foreword.service.metrics import Metrics
from foreword.service.rates import RateLimit
from foreword.service.responses import Problem
from foreword.service.store_watch import StoreWatch
from foreword.service.tracing import Traced, find_tracer, parse_trace
from foreword.store import open_store
from foreword.vocabulary import Document, Edition

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


# The log


@pytest.mark.parametrize(("level", "lines"), [("debug", 3), ("info", 3), ("warning", 2), ("error", 1)])
def test_lines_below_the_level_are_left_out(level, lines):
    stream = io.StringIO()
    log = Log(False, stream, level)
    log.request("GET", b"/", 404, 0.0, "1")
    log.event("uvicorn", "warning", "slow")
    log.request("GET", b"/", 503, 0.0, "2", "store-down")
    log.audit("DELETE", b"/conversations/a", "", "", "ada", "3")
    *others, audit = stream.getvalue().splitlines()
    assert len(others) == lines and audit.endswith("audit  DELETE /conversations/a by ada  request 3")


def test_requests_can_be_written_together_while_events_are_written_at_once():
    stream = io.StringIO()
    log = Log(stream=stream)
    with log.together():
        for id in ("one", "two"):
            log.request("GET", b"/x", 200, 0.0, id)
        log.event("store", "info", "written at once")
        assert len(stream.getvalue().splitlines()) == 1
    log.request("GET", b"/x", 200, 0.0, "three")
    assert [line.split()[-1] for line in stream.getvalue().splitlines()] == ["once", "one", "two", "three"]


def test_changes_to_the_template_are_audited_without_their_text(guarded_service):
    saved = guarded_service.request("PUT", "/system-prompt?author=planted", {"template": "planted"})
    refused = guarded_service.request("PUT", "/system-prompt", {"template": "planted"}, headers={"If-Match": '"999"'})
    assert (saved.status, refused.status) == (200, 412)
    line = guarded_service.wait_for_event("audit", f"PUT /system-prompt version {saved.headers['etag']}")
    assert line["message"] == f"PUT /system-prompt version {saved.headers['etag']} by 127.0.0.1"
    assert (line["level"], line["cause"]) == ("info", f"request {saved.headers['x-request-id']}")
    guarded_service.request("POST", "/templates/t/versions?label=production", {"template": "planted"})
    guarded_service.request("PUT", "/templates/t/labels/staging", {"version": 1})
    guarded_service.wait_for_event("audit", 'POST /templates/t/versions version "1" label production by 127.0.0.1')
    guarded_service.wait_for_event("audit", 'PUT /templates/t/labels/staging version "1" by 127.0.0.1')
    causes = [line["cause"] for line in guarded_service.log() if line.get("from") == "audit"]
    assert f"request {refused.headers['x-request-id']}" not in causes


def test_the_log_names_the_trace_of_a_request(guarded_service):
    response = guarded_service.get("/roots", headers={"traceparent": PARENT})
    (line,) = guarded_service.lines(response.headers["x-request-id"])
    assert (line["trace"], line["level"]) == (TRACE, "info")


@pytest.mark.parametrize(
    ("header", "trace"),
    [
        (PARENT.encode(), TRACE),
        (b"", ""),
        (f"00-{'0' * 32}-b7ad6b7169203331-01".encode(), ""),
        (f"00-{TRACE}-{'0' * 16}-01".encode(), ""),
        (f"{PARENT}planted".encode(), ""),
    ],
)
def test_only_a_valid_trace_is_logged(header, trace):
    assert parse_trace(header) == trace


def test_the_failure_and_the_return_of_the_store_are_logged_once():
    stream = io.StringIO()
    answers = [StoreError("down"), StoreError("down"), None]

    def probe():
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    async def run():
        watch = StoreWatch(Log(True, stream), probe, interval=0.001)
        watch.report_failure("connection refused")
        watch.report_failure("connection refused")
        assert watch.is_down
        while watch.is_down:
            await asyncio.sleep(0.001)

    asyncio.run(run())
    failed, returned = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (failed["level"], failed["message"], failed["cause"]) == ("error", "the store failed", "connection refused")
    assert (returned["level"], returned["message"]) == ("info", "the store responds again after 0 seconds")


# Rate limits


def test_each_caller_has_its_own_limit():
    now = [0.0]
    limit = RateLimit(2, lambda: now[0])
    for _ in range(2):
        limit.check("a")
    with pytest.raises(Problem, match="you may send 2 requests per second") as problem:
        limit.check("a")
    assert (problem.value.kind, problem.value.headers) == ("too-many-requests", {"Retry-After": "1"})
    limit.check("b")
    now[0] = 0.5
    limit.check("a")
    with pytest.raises(Problem):
        limit.check("a")


@pytest.mark.parametrize(("others", "is_limited"), [(9_999, True), (10_000, False)])
def test_the_callers_that_were_seen_last_are_remembered(others, is_limited):
    limit = RateLimit(1, lambda: 0.0)
    for number in range(others + 1):
        limit.check(str(number))
    try:
        limit.check("0")
    except Problem:
        assert is_limited
    else:
        assert not is_limited


def test_a_slow_rate_allows_one_request_at_a_time():
    limit = RateLimit(0.1, lambda: 0.0)
    limit.check("a")
    with pytest.raises(Problem) as problem:
        limit.check("a")
    assert problem.value.headers == {"Retry-After": "10"}


def test_too_many_requests_are_refused_but_health_checks_are_not(start):
    server = start("--rate-limit", "0.01")
    assert server.get("/roots").status == 200
    refused = server.get("/roots")
    assert (refused.status, refused.problem, refused.headers["retry-after"]) == (429, "too-many-requests", "100")
    assert server.get("/healthz").status == 200
    server.close()


# Metrics


@pytest.mark.parametrize("workers", ["1", "2"])
def test_metrics_describe_the_processes(start, workers):
    server = start("--workers", workers)
    while True:  # a worker may still be starting
        families = {
            family.name: family for family in text_string_to_metric_families(server.get("/metrics").body.decode())
        }
        if families["foreword_processes"].samples[0].value == int(workers):
            break
    (build,) = families["foreword_build_info"].samples
    assert (build.labels["version"], build.value) == (__version__, 1)
    assert {sample.labels["lane"] for sample in families["foreword_waiting_jobs"].samples} == {
        *("reading", "building", "questions", "templates", "inspections")
    }
    for name in (
        "process_cpu_seconds",
        "process_resident_memory_bytes",
        "process_open_fds",
        "process_start_time_seconds",
    ):
        assert families[name].samples[0].value > 0, name
    assert families["foreword_store_down"].samples[0].value == 0
    assert {sample.labels["state"] for sample in families["foreword_sandbox_processes"].samples} == {"idle", "busy"}
    assert families["foreword_event_streams"].samples[0].value == 0
    server.close()


def test_findings_are_counted_by_code():
    metrics = Metrics(())
    metrics.request(None, 200, 0.0, (), {}, ["file-cut", "file-cut", "drift", "of-an-extension"])
    lines = [line for line in metrics.text().splitlines() if line.startswith("foreword_findings_total{")]
    assert lines == ['foreword_findings_total{code="file-cut"} 2', 'foreword_findings_total{code="drift"} 1']


def test_reads_from_memory_are_counted(tmp_path):
    store = open_store(f"{tmp_path}/store.db")
    store.publish("a", Edition(1, "You are helpful."), 0)
    other = open_store(f"{tmp_path}/store.db")
    for _ in range(3):
        other.current("a")
    assert other.cache_counts() == {"cached_editions": 1, "cache_hits": 2, "cache_misses": 1}
    store.close()
    other.close()


def test_work_of_the_sandbox_is_counted():
    before = sandbox.counts()
    sandbox.parse("t", {"t": Document("t", "Hello.")})
    after = sandbox.counts()
    assert (after["sandbox_requests"] - before["sandbox_requests"], after["sandbox_busy"]) == (1, 0)
    assert after["sandbox_idle"] >= 1 and after["sandbox_ended"] == before["sandbox_ended"]
    taken = sandbox.take_counts()
    assert taken == (after["sandbox_requests"], after["sandbox_ended"])
    assert sandbox.counts()["sandbox_requests"] == 0
    sandbox.add_counts(*taken)
    assert sandbox.counts() == after


# Spans


def test_a_span_belongs_to_the_callers_trace():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 503, "headers": []})

    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "raw_path": b"/conversations/a",
        "headers": [(b"traceparent", PARENT.encode())],
    }
    asyncio.run(Traced(application, provider.get_tracer("test"))(scope, None, send))
    (span,) = exporter.get_finished_spans()
    assert (span.name, f"{span.context.trace_id:032x}") == ("GET conversations", TRACE)
    assert dict(span.attributes) == {
        "http.request.method": "GET",
        "url.path": "/conversations/a",
        "http.response.status_code": 503,
    }
    assert not span.status.is_ok
    assert sent[0]["headers"] == [(b"traceresponse", f"00-{TRACE}-{span.context.span_id:016x}-01".encode())]


def test_work_in_threads_belongs_to_the_span_of_its_request():
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer, lanes = provider.get_tracer("test"), Lanes(1, 1)

    async def run():
        with tracer.start_as_current_span("request"):
            for lane in (READING, TEMPLATES):
                await lanes.submit(Job(lambda: tracer.start_span("work").end()), lane)

    asyncio.run(run())
    lanes.close()
    *work, request = exporter.get_finished_spans()
    assert [span.parent.span_id for span in work] == [request.context.span_id] * 2


def test_without_an_endpoint_there_is_no_tracer(monkeypatch):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert find_tracer() is None
