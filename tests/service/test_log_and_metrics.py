"""Log, metrics and health of the service."""

import json
import re
from datetime import datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families

from foreword.service.log import Log
from foreword.service.responses import PROBLEMS

# The log. When a server ends, its fixture checks that no line contains planted text.

REQUESTS_WITH_SECRETS = [
    ("POST", "/conversations/spoken/turn", {"cwd": "", "message": "planted", "base": "planted", "tools": [{"name": "planted"}]}),
    ("POST", "/conversations/spoken/turn", {"cwd": "planted"}),
    ("POST", "/conversations/spoken/turn", {"cwd": "/planted"}),
    ("POST", "/conversations/spoken/turn", {"planted": "planted"}),
    ("POST", "/conversations/spoken/turn", b"planted"),
    ("POST", "/conversations/spoken/turn", {"cwd": "", "layout": "planted"}),
    ("POST", "/conversations/spoken/turn", {"cwd": "", "layout": "$planted/x"}),
    ("PUT", "/system-prompt?author=planted&note=planted", {"template": "planted [prompt:cwd]"}),
    ("PUT", "/system-prompt?planted=planted", {"template": "planted"}),
    ("POST", "/system-prompt/preview", {"template": "{{ planted }}", "layout": "pod"}),
    ("POST", "/system-prompt/check", {"template": "[planted:planted]"}),
    ("GET", "/conversations?search=planted", None),
    ("GET", "/files?prefix=planted&cwd=planted", None),
    ("GET", "/conversations/spoken/drift?cwd=planted", None),
]  # fmt: skip


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_line_has_the_reason_but_not_the_content(service, guarded_service, form):
    server = {"text": service, "json": guarded_service}[form]
    for method, path, body in REQUESTS_WITH_SECRETS:
        response = server.request(method, path, body)
        (line,) = server.lines(response.headers["x-request-id"])
        assert (line["status"], line["method"], line["path"]) == (response.status, method, path.partition("?")[0])
        title = "" if response.status == 200 else f"{response.problem}: {response.json['title']}"
        if form == "json":
            assert line.get("problem", "") == title
            assert bool(line.get("reason")) == bool(title)
        else:
            assert (line["problem"] == title == "") or (line["problem"].startswith(f"{title}  ") and title)
        assert "planted" not in json.dumps(line)


REASONS = [
    ({"cwd": "planted one/planted 'two' \"three/planted"}, "the working directory … does not exist; pass an existing directory"),
    ({"cwd": "/planted/x y planted"}, "cwd '…' is outside the served folders; the token's roots, or without them --root, must include it"),
    ({"cwd": "", "layout": "pod", "base": "planted {{ planted"}, "invalid template at line 1, column 9"),
    ({"cwd": "", "layout": "pod", "base": "planted {{ planted }}"}, "invalid template at line 1, column 12"),
    ({"cwd": "", "layout": "planted/'planted"}, "layout must be the name of a shipped layout or an address such as …; over HTTP it cannot be a file"),
    ({"cwd": "", "layout": "planed_planted"}, "unknown layout '…'; known: builder, claude, codex, continue, copilot, cursor, droid, foreword, gemini, gptme, grok, ion, kilo, kimi, opal, opencode, pi, pi-agent, pod, qwen, … (21 in all)"),
    ({"cwd": "", "layout": "opel"}, "unknown layout '…'; did you mean '…'?"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), REASONS)
def test_the_reason_sent_to_the_client_is_in_the_log(guarded_service, body, reason):
    response = guarded_service.post("/conversations/reason/turn", body)
    (line,) = guarded_service.lines(response.headers["x-request-id"])
    assert line["reason"] == reason


def test_a_json_line_has_all_fields(guarded_service):
    response = guarded_service.get("/roots")
    (line,) = guarded_service.lines(response.headers["x-request-id"])
    assert line.keys() == {"time", "level", "status", "method", "path", "ms", "request"}
    assert datetime.fromisoformat(line["time"]).tzinfo is not None
    assert isinstance(line["ms"], float)


@pytest.mark.parametrize(
    ("sent", "is_used"),
    [("abc-1.2_3", True), ("x" * 64, True), ("x" * 65, False), ("a b", False), ("", False), ("ü", False), ('"}', False), ("a\tb", False)],
)  # fmt: skip
def test_the_request_id_is_the_clients_or_a_new_one(service, sent, is_used):
    response = service.request("GET", "/nothing", headers={"X-Request-Id": sent.encode("latin-1")})
    id = response.headers["x-request-id"]
    assert (id == sent) if is_used else re.fullmatch("[0-9a-f]{16}", id)
    assert service.lines(id)
    assert response.problem == "unknown-path"


def test_a_path_cannot_inject_a_log_line(service, guarded_service):
    for server in (service, guarded_service):
        path = "/x%0A2026-01-01T00:00:00.000Z%20200%20GET%20/%1B[2J" + "y" * 1000
        response = server.get(path)
        (line,) = server.lines(response.headers["x-request-id"])
        assert len(line["path"]) == 300


def test_invalid_requests_are_logged(guarded_service):
    response = guarded_service.send_raw(b"planted\r\n\r\n")
    (line,) = guarded_service.lines(response.headers["x-request-id"])
    assert (line["status"], line["problem"]) == (400, f"not-http: {PROBLEMS['not-http'][1]}")
    assert line["reason"] == response.json["detail"].replace("HTTP/1.1", "…")


# Counts


class Pipe:
    """Keeps each write, encoded like the standard error stream."""

    def __init__(self):
        self.written = []

    def write(self, text):
        self.written.append(text.encode(errors="backslashreplace"))

    def flush(self):
        pass


@pytest.mark.parametrize("reason", ["x" * 200, "…" * 200, "\udc80" * 200, ""])
def test_lines_of_several_workers_cannot_mix_in_a_pipe(reason):
    pipe = Pipe()
    log = Log(stream=pipe)
    with log.together():
        for number in range(1000):
            log.request("GET", b"/tools", 200, 0.001, f"{number}", reason=reason)
    assert all(len(written) <= 4096 and written.endswith(b"\n") for written in pipe.written)
    lines = b"".join(pipe.written).decode().splitlines()
    assert [line.split()[6] for line in lines] == [str(number) for number in range(1000)]
    assert len(pipe.written) < len(lines) / 2


def counts(server):
    """Return every series by name and labels, parsed by the Prometheus client."""
    response = server.get("/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples = {}
    for family in text_string_to_metric_families(response.body.decode()):
        assert family.documentation and family.type in ("counter", "gauge", "histogram")
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in samples
            samples[key] = sample.value
    return samples


def requests(samples, method, route, status):
    return samples.get(("foreword_requests_total", ("method", method), ("route", route), ("status", str(status))), 0)


def test_requests_are_counted(fresh_service):
    assert counts(fresh_service)[("foreword_builds_total",)] == 0
    fresh_service.conversation("a", layout="opal")
    fresh_service.conversation("a")
    fresh_service.conversation("a")
    fresh_service.conversation("b", "construct")
    fresh_service.conversation("b", "turn", cwd="ghost")
    fresh_service.get("/conversations/a/drift?tool=new")
    fresh_service.get("/conversations/a/drift")
    fresh_service.get("/nothing")
    fresh_service.raw(b"nonsense\r\n\r\n")
    fresh_service.get("/conversations/a")
    fresh_service.request(
        "GET", "/conversations/a", headers={"If-None-Match": fresh_service.get("/conversations/a").headers["etag"]}
    )
    samples = counts(fresh_service)
    totals = ("builds", "reuses", "drift", "store_errors")
    assert [samples[(f"foreword_{name}_total",)] for name in totals] == [2, 2, 1, 0]
    assert requests(samples, "POST", "/conversations/{id}/turn", 200) == 3
    assert requests(samples, "POST", "/conversations/{id}/turn", 404) == 1
    assert requests(samples, "GET", "/conversations/{id}", 200) == 2
    assert requests(samples, "GET", "/conversations/{id}", 304) == 1
    assert requests(samples, "", "other", 404) == 1
    assert requests(samples, "", "other", 400) == 1
    assert requests(samples, "GET", "/metrics", 200) == 1


def test_the_histogram_adds_up(service):
    for _ in range(3):
        service.get("/layouts")
    samples = counts(service)
    labels = (("method", "GET"), ("route", "/layouts"))
    buckets = {
        float(dict(key[1:])["le"]): value
        for key, value in samples.items()
        if key[0] == "foreword_request_seconds_bucket" and dict(key[1:])["route"] == "/layouts"
    }
    ordered = [buckets[limit] for limit in sorted(buckets)]
    assert ordered == sorted(ordered)
    assert buckets[float("inf")] == samples[("foreword_request_seconds_count", *labels)] >= 3
    assert samples[("foreword_request_seconds_sum", *labels)] > 0


def test_labels_come_from_routes_not_from_requests(service):
    service.get("/conversations/" + "z" * 50)
    service.get('/zz"zz\\')
    text = service.get("/metrics").body.decode()
    assert "zzz" not in text and 'zz"' not in text


def test_store_errors_are_counted(start):
    server = start(store="postgresql://foreword@127.0.0.1:1/none")
    server.get("/system-prompt")
    server.request("PUT", "/system-prompt", {"template": "x"})
    server.get("/readyz")
    assert counts(server)[("foreword_store_errors_total",)] == 3
    server.close()


def test_health_needs_no_token_and_reveals_nothing(guarded_service):
    assert guarded_service.get("/healthz", token="").json == {"status": "ok"}
    assert guarded_service.get("/readyz", token="").json == {"status": "ready"}
