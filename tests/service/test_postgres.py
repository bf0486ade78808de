"""The service on PostgreSQL accepts the same content as on SQLite."""

import subprocess
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[1] / "store" / "server.py"
pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(scope="module")
def service_on_postgres(start):
    """A service with a PostgreSQL store."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(SERVER)], text=True, **pipes) as postgres:
        server = start(store=postgres.stdout.readline().strip())
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
