"""The service on PostgreSQL: what one store takes, the other takes too."""

import subprocess
import sys
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[1] / "store" / "server.py"
pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture(scope="module")
def kept_there(start):
    """A service on a PostgreSQL of its own."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, str(SERVER)], text=True, **pipes) as postgres:
        server = start(store=postgres.stdout.readline().strip())
        yield server
        server.close()


@pytest.mark.parametrize("text", ["", "\0", "a\0b", "\x1b", "🐍\U0010ffff", "%_\\'\"", "\u202e\ufffe", "x" * 500_000])
def test_any_text_is_kept_as_it_is(kept_there, text):
    from urllib.parse import quote

    short = text[:200]
    path = f"/system-prompt?author={quote(short)}&note={quote(short)}"
    assert kept_there.ask("PUT", path, {"template": text}).json == {"template": text}
    assert kept_there.get("/system-prompt").json == {"template": text}
    newest = kept_there.get("/system-prompt/versions").json["versions"][0]
    assert (newest["author"], newest["note"], newest["template"]) == (short, short, text)
    assert kept_there.get(f"/conversations?search={quote(short)}").status == 200


def test_a_conversation_with_odd_words(kept_there):
    body = {
        "model": "\0",
        "provider": "\0",
        "session": "\0",
        "base": "\0 planted",
        "tools": [{"name": "odd", "description": "\0", "schema": {"\0": "\0"}}],
    }
    for layout in ("builder", "opal", "foreword"):
        told = kept_there.talk(f"odd ü/ {layout}", layout=layout, message="\0", **body).json
        assert kept_there.get(f"/conversations/odd%20%C3%BC%2F%20{layout}").json["system"] == told["system"]
        assert kept_there.get(f"/conversations/odd%20%C3%BC%2F%20{layout}/drift").status == 200


def test_ids_that_cannot_be_are_refused_before_the_store_is_asked(kept_there):
    for id in ("%00", "x" * 513, "%0A"):
        assert kept_there.get(f"/conversations/{id}").problem == "invalid-request"
    assert kept_there.get("/prompts/%00").problem == "not-found"
    assert kept_there.get("/conversations/none/editions/999999999").problem == "not-found"
    assert kept_there.get("/conversations?offset=2147483647").json == {"conversations": []}
