"""The examples run as a stranger would run them, against the provider that pretends: the cache stays warm, and the files stay short."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# One worker takes all of these, so that each example talks once.
pytestmark = pytest.mark.xdist_group("examples")
LOOPS = [*sorted(path.name for path in EXAMPLES.glob("*_loop.py")), "sidecar.mjs"]
MESSAGES = ("What is this project?", "And how is it tested?", "/compact", "Go on.")


def shop_in(folder):
    """A workspace to work in, and beside it a home with nothing in it."""
    (folder / "home").mkdir()
    shop = folder / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "AGENTS.md").write_text("# Shop\n\nRun `make test` before you say that you are done.\n")
    return shop


def run(shop, name, *words):
    """Run an example against the pretended provider; what it prints, and the requests that it sent."""
    if not name.endswith(".mjs"):
        return sent(shop, {}, sys.executable, EXAMPLES / name, *words)
    serve = [sys.executable, "-m", "foreword", "serve", "--port", "0", "--store", "talks.db", "--log", "json"]
    with subprocess.Popen(serve, cwd=shop, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        try:
            url = service.stdout.readline().split()[-1]
            return sent(shop, {"FOREWORD_URL": url}, "node", EXAMPLES / name, *words)
        finally:
            service.terminate()


def sent(shop, more, *command):
    """What a command prints, and the requests that it has sent to the pretended provider."""
    record = shop.parent / "requests.jsonl"
    record.unlink(missing_ok=True)
    pretend = [sys.executable, EXAMPLES / "pretend.py", "--record", record]
    environment = {"HOME": str(shop.parent / "home"), "PATH": os.environ["PATH"], "PYTHONWARNINGS": "error", **more}
    done = subprocess.run([*pretend, *command], cwd=shop, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, [json.loads(line) for line in record.read_text().splitlines()]


def prefix(request):
    """What a provider reads before the messages, without the marks of the cache."""
    system = request.get("instructions") or "".join(each["text"] for each in request["system"])
    return system, [each.get("name") for each in request["tools"]]


def messages(request):
    return [{**each, "cache_control": None} for each in request.get("input") or request["messages"]]


def cached(printed):
    """The edition of each request with the tokens that came from the cache and those that were new."""
    rows = re.findall(r"\[edition (\d+): ([\d,]+) tokens from the cache, ([\d,]+) new\]", printed)
    return [tuple(int(number.replace(",", "")) for number in row) for row in rows]


def begins_with(longer, shorter):
    return longer[: len(shorter)] == shorter


@pytest.fixture(scope="module", params=LOOPS)
def talked(request, tmp_path_factory):
    """A conversation with an example; then AGENTS.md is edited, and another process goes on with it."""
    shop = shop_in(tmp_path_factory.mktemp("talked"))
    first = run(shop, request.param, *MESSAGES)
    (shop / "AGENTS.md").write_text("# Shop\n\nAsk before you push.\n")
    return first, run(shop, request.param, "Hello again.", "/compact", "Go on.")


def test_every_request_begins_with_the_one_before(talked):
    (printed, requests), _ = talked
    assert [line for line in printed.splitlines() if line[:1] == ">"] == [f"> {each}" for each in MESSAGES]
    assert "AGENTS.md begins: # Shop" in printed
    assert [sorted(prefix(each)[1]) for each in requests] == [["list_files", "read_file"]] * 6
    asked = requests[:-1]  # the last follows the compaction, and begins with the summary
    assert len({str(prefix(each)) for each in requests}) == 1
    assert all(begins_with(messages(later), messages(each)) for each, later in itertools.pairwise(asked))
    assert len(messages(requests[-1])) <= 2


def test_the_cache_stays_warm(talked):
    rows = cached(talked[0][0])
    assert {edition for edition, _, _ in rows} == {1}
    assert all(read > new for _, read, new in rows[-3:])


def test_an_edited_file_waits_for_the_compaction(talked):
    (_, before), (printed, after) = talked
    assert [edition for edition, _, _ in cached(printed)] == [1, 1, 2]
    assert prefix(after[0]) == prefix(after[1]) == prefix(before[0])
    assert "make test" in prefix(after[1])[0] and "Ask before you push." in prefix(after[2])[0]


@pytest.mark.parametrize("name", LOOPS)
def test_a_tool_that_fails_is_told_to_the_model(tmp_path, name):
    shop = shop_in(tmp_path)
    (shop / "AGENTS.md").unlink()
    _, requests = run(shop, name, "What is this project?")
    assert re.search("FileNotFoundError|ENOENT", json.dumps(messages(requests[-1])[-1]))


@pytest.mark.parametrize("name", LOOPS)
def test_a_tool_that_is_not_there_is_told_to_the_model(tmp_path, name):
    other = tmp_path / name
    other.write_text((EXAMPLES / name).read_text().replace("read_file", "open_file"))
    printed, requests = run(shop_in(tmp_path), str(other), "What is this project?")
    assert len(requests) == 2 and "read_file" in json.dumps(messages(requests[-1])) and "AGENTS.md begins" in printed


def test_pretend_gives_the_status_of_the_command(tmp_path):
    failing = [sys.executable, EXAMPLES / "pretend.py", sys.executable, "-c", "raise SystemExit(3)"]
    assert subprocess.run(failing, cwd=tmp_path).returncode == 3


@pytest.mark.parametrize("name", LOOPS)
def test_an_example_says_where_it_runs(name):
    assert "in a folder with an AGENTS.md" in (EXAMPLES / name).read_text()


@pytest.mark.parametrize("name", LOOPS)
def test_an_example_is_short(name):
    assert len((EXAMPLES / name).read_text().splitlines()) <= 90
