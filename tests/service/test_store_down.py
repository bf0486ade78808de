"""The service while its store is down: reads use the last known state, writes fail, and it recovers."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from foreword.errors import StoreBusyError
from foreword.service.error_problems import problem_of
from foreword.service.request import Request
from foreword.store import open_store
from foreword.store.rows import TemplateVersion
from foreword.template.catalog import CATALOG

POSTGRES = Path(__file__).parents[1] / "store" / "server.py"
DEFAULT_BEGINS = "You are a helpful coding assistant.\n"


@pytest.fixture(scope="module")
def service_without_store(start):
    """A service whose PostgreSQL server does not exist."""
    return start(store="postgresql://foreword:planted-password@127.0.0.1:1/none")


def test_the_template_is_the_default_without_a_version(service_without_store):
    response = service_without_store.get("/system-prompt")
    assert (response.status, "etag" in response.headers) == (200, False)
    assert response.headers["foreword-store"] == "down"
    assert response.json["template"].startswith(DEFAULT_BEGINS)


def test_variables_are_listed_without_a_store(service_without_store):
    assert len(service_without_store.get("/system-prompt/variables").json["variables"]) == len(CATALOG)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/system-prompt", {"template": "planted"}),
        ("POST", "/system-prompt/versions/0/restore", {}),
        ("GET", "/system-prompt/versions", None),
        ("GET", "/system-prompt/usage", None),
        ("GET", "/conversations", None),
        ("GET", "/conversations/a", None),
        ("GET", "/conversations/a/editions", None),
        ("GET", "/conversations/a/editions/1", None),
        ("GET", "/conversations/a/drift", None),
        ("GET", "/prompts/sha256:" + "0" * 64, None),
        ("POST", "/conversations/a/turn", {"cwd": ""}),
        ("POST", "/conversations/a/construct", {"cwd": ""}),
        ("POST", "/conversations/a/reload", {"cwd": "", "layout": "pi"}),
        ("POST", "/conversations/a/skills/tidy", {"cwd": "", "layout": "opal"}),
        ("POST", "/conversations/a/tools/write_plan", {"cwd": "", "layout": "opal", "arguments": {"plan": "x"}}),
        ("GET", "/readyz", None),
    ],
)
def test_routes_that_need_the_store_report_it(service_without_store, method, path, body):
    response = service_without_store.request(method, path, body)
    assert (response.status, response.problem) == (503, "store-down")
    assert int(response.headers["retry-after"]) > 0
    assert "planted" not in response.body.decode()
    assert service_without_store.lines(response.headers["x-request-id"])[0]["problem"].startswith("store-down")


def test_an_invalid_body_is_reported_first(service_without_store):
    assert service_without_store.request("PUT", "/system-prompt", b"{}").problem == "invalid-body"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/system-prompt/preview", {}),
        ("POST", "/system-prompt/preview", {"layout": "pod"}),
        ("POST", "/system-prompt/check", {"template": "x"}),
        ("POST", "/system-prompt/values", {}),
        ("GET", "/files", None),
        ("GET", "/layouts", None),
        ("GET", "/roots", None),
        ("GET", "/healthz", None),
        ("GET", "/metrics", None),
        ("GET", "/openapi.json", None),
        ("GET", "/", None),
    ],
)
def test_routes_without_the_store_keep_working(service_without_store, method, path, body):
    assert service_without_store.request(method, path, body).status == 200


def test_a_store_that_is_only_busy_is_not_reported_as_down():
    problem = problem_of(StoreBusyError("the row is locked"), None, Request({}, []))
    response = problem.response("1")
    assert (response.status, response.headers, response.counts) == (503, {"Retry-After": "2"}, ("store_busy",))
    assert (problem.kind, problem.detail) == ("store-busy", "the row is locked")


def test_compaction_works_without_the_store(service_without_store):
    messages = [{"role": "user", "content": "planted"}]
    response = service_without_store.conversation("a", "compact", messages=messages).json
    assert response["edition"] == 0
    assert [finding["code"] for finding in response["findings"]] == ["store-down"]


def test_the_service_survives_a_database_file_that_disappears_and_returns(start, tmp_path):
    file, moved = tmp_path / "store.db", tmp_path / "away.db"
    server = start(store=str(file))
    server.request("PUT", "/system-prompt", {"template": "planted one"})
    known = server.conversation("known").json
    file.rename(moved)
    assert server.get("/readyz").problem == "store-down"
    assert server.request("PUT", "/system-prompt", {"template": "planted two"}).status == 503
    assert server.conversation("new").status == 503
    continued = server.conversation("known").json
    assert (continued["system"], continued["edition"], continued["reused"]) == (known["system"], 1, True)
    remembered = server.get("/conversations/known")
    assert (remembered.json["system"], remembered.headers["foreword-store"]) == (known["system"], "down")
    assert b'foreword_findings_total{code="store-down"} 1' in server.get("/metrics").body
    assert not file.exists()
    moved.rename(file)
    assert server.get("/readyz").json == {"status": "ready"}
    assert server.request("PUT", "/system-prompt", {"template": "planted two"}).headers["etag"] == '"2"'
    assert server.conversation("known").json["findings"] == known["findings"]
    server.wait_for_event("store", "the store responds again after")
    failures = [line["message"] for line in server.log() if (line.get("level"), line.get("from")) == ("error", "store")]
    assert len(failures) == 1 and "store.db" in failures[0]
    server.close()


def test_a_replaced_database_file_is_used(start, tmp_path):
    file = tmp_path / "store.db"
    server = start(store=str(file))
    server.request("PUT", "/system-prompt", {"template": "planted one"})
    server.conversation("known")
    other = open_store(str(tmp_path / "other.db"))
    other.add_template(TemplateVersion(0, "other"))
    other.close()
    os.replace(tmp_path / "other.db", file)
    assert server.get("/system-prompt").json == {"template": "other"}
    assert server.get("/conversations/known").status == 404
    assert server.conversation("known").json["system"] == "other"
    server.close()


def store_lines(server):
    """Return what the log says about the store."""
    return [line["message"].partition("  ")[0] for line in server.log() if line.get("from") == "store"]


@pytest.mark.xdist_group("postgres")
def test_a_database_server_that_only_reads_is_down_until_it_accepts_writes(start):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(POSTGRES)], text=True, **pipes) as postgres:
        url = postgres.stdout.readline().strip()

        def set_read_only(setting):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("SET default_transaction_read_only = off")
                connection.execute(f"ALTER DATABASE postgres SET default_transaction_read_only = {setting}")
                connection.execute(
                    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                    " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
                )

        server = start(store=url)
        known = server.conversation("known").json
        set_read_only("on")
        for _ in range(2):
            assert server.conversation("new").problem == "store-down"
            assert server.get("/readyz").problem == "store-down"
            assert server.conversation("known").json["system"] == known["system"]
            time.sleep(2.5)  # longer than the time between two probes
        assert store_lines(server) == ["the store failed"]
        assert b"foreword_store_down 1" in server.get("/metrics").body
        set_read_only("off")
        server.wait_for_event("store", "the store responds again after")
        assert server.get("/readyz").json == {"status": "ready"}
        assert server.conversation("new").status == 200
        assert len(store_lines(server)) == 2
        server.close()


@pytest.mark.xdist_group("postgres")
def test_the_service_survives_a_database_server_that_stops_and_returns(start):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(POSTGRES)], text=True, **pipes) as postgres:

        def command(word):
            print(word, file=postgres.stdin, flush=True)
            assert postgres.stdout.readline().strip() == word

        server = start(store=postgres.stdout.readline().strip())
        assert server.get("/readyz").json == {"status": "ready"}
        assert server.request("PUT", "/system-prompt", {"template": "planted one"}).headers["etag"] == '"1"'
        known = server.conversation("known", message="planted").json
        command("stop")
        assert server.get("/readyz").problem == "store-down"
        assert server.get("/system-prompt").json["template"].startswith(DEFAULT_BEGINS)
        assert server.request("PUT", "/system-prompt", {"template": "planted two"}).status == 503
        continued = server.conversation("known", message="planted").json
        assert (continued["system"], continued["edition"], continued["reused"]) == (known["system"], 1, True)
        assert [finding["code"] for finding in continued["findings"]] == ["store-down"]
        assert server.get("/conversations/known").json["system"] == known["system"]
        assert server.conversation("new").status == 503
        command("start")
        assert server.get("/readyz").json == {"status": "ready"}
        assert server.get("/system-prompt").headers["etag"] == '"1"'
        assert server.conversation("known").json["findings"] == known["findings"]
        assert server.conversation("new").json["edition"] == 1
        assert server.request("PUT", "/system-prompt", {"template": "planted two"}).headers["etag"] == '"2"'
        server.close()
