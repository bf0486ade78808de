"""The service on PostgreSQL accepts the same content as on SQLite."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

SERVER = Path(__file__).parents[1] / "store" / "server.py"
pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(scope="module")
def service_on_postgres(start):
    """A service with a PostgreSQL store."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(SERVER)], text=True, **pipes) as postgres:
        url = postgres.stdout.readline().strip()
        server = start(store=f"{url}&call_timeout=100")
        server.store_url = url
        yield server
        server.close()


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\x1b", "🐍\U0010ffff", "%_\\'\"", "\u202e\ufffe", "x" * 500_000])
def test_any_text_is_stored_unchanged(service_on_postgres, text):
    from urllib.parse import quote

    short = text[:200]
    path = f"/system-prompt?author={quote(short)}&note={quote(short)}"
    assert service_on_postgres.request("PUT", path, {"template": text}).json == {"template": text}
    assert service_on_postgres.get("/system-prompt").json == {"template": text}
    newest = service_on_postgres.get("/system-prompt/versions").json["versions"][0]
    assert (newest["author"], newest["note"], newest["template"]) == (short, short, text)
    assert service_on_postgres.get(f"/conversations?search={quote(short)}").status == 200


def test_a_conversation_can_have_unusual_text(service_on_postgres):
    body = {
        "model": "\0",
        "provider": "\0",
        "session": "\0",
        "base": "\0 planted",
        "tools": [{"name": "odd", "description": "\0", "schema": {"\0": "\0"}}],
    }
    for layout in ("builder", "opal", "foreword"):
        turn = service_on_postgres.conversation(f"odd ü/ {layout}", layout=layout, message="\0", **body).json
        assert service_on_postgres.get(f"/conversations/odd%20%C3%BC%2F%20{layout}").json["system"] == turn["system"]
        assert service_on_postgres.get(f"/conversations/odd%20%C3%BC%2F%20{layout}/drift").status == 200


def test_invalid_ids_are_refused_before_the_store_is_used(service_on_postgres):
    for id in ("%00", "x" * 513, "%0A"):
        assert service_on_postgres.get(f"/conversations/{id}").problem == "invalid-request"
    assert service_on_postgres.get("/prompts/%00").problem == "not-found"
    assert service_on_postgres.get("/conversations/none/editions/999999999").problem == "not-found"
    assert service_on_postgres.get("/conversations?after=%F4%8F%BF%BF").json["conversations"] == []


def test_the_database_stops_searching_when_the_client_is_gone(service_on_postgres):
    waiting = (
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%foreword_editions%'"
    )
    with psycopg.connect(service_on_postgres.store_url) as other:
        other.execute("LOCK TABLE foreword_editions IN ACCESS EXCLUSIVE MODE")
        with psycopg.connect(service_on_postgres.store_url, autocommit=True) as observer:
            with socket.create_connection(("127.0.0.1", service_on_postgres.port)) as client:
                client.sendall(
                    b"GET /conversations?sort=newest&search=a HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: gone\r\n\r\n"
                )
                wait_until(lambda: observer.execute(waiting).fetchone() == (1,))
            wait_until(lambda: observer.execute(waiting).fetchone() == (0,))
        assert service_on_postgres.lines("gone")[0]["status"] == 499
        assert service_on_postgres.get("/readyz").status == 200, "nothing else is affected"


def wait_until(is_true):
    for _ in range(6000):
        if is_true():
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")
