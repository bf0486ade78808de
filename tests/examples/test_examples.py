"""Run the examples as a new user would, against the fake provider: the cache stays warm, and the files stay short."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# One worker runs all of these, so that each example runs only once.
pytestmark = pytest.mark.xdist_group("examples")
LOOPS = [*sorted(path.name for path in EXAMPLES.glob("*_loop.py")), "sidecar.mjs"]
MESSAGES = ("What is this project?", "And how is it tested?", "/compact", "Go on.")


def shop_in(folder):
    """A workspace, next to an empty home."""
    (folder / "home").mkdir()
    shop = folder / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "AGENTS.md").write_text("# Shop\n\nRun `make test` before you say that you are done.\n")
    return shop


@pytest.fixture(scope="module")
def warm_python(tmp_path_factory):
    """A command that runs a Python program in a process that has imported the providers' libraries."""
    command = [
        sys.executable,
        "-W",
        "error",
        Path(__file__).with_name("warm.py"),
        tmp_path_factory.mktemp("warm") / "s",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        yield [command[0], "-S", *command[3:]]
        process.stdin.close()
        assert process.wait() == 0


@pytest.fixture(scope="module")
def run(warm_python):
    """`run(shop, "late_tool.py", "Hello.")` runs an example against the fake provider; returns its output and the requests it sent."""
    return lambda shop, name, *words: run_example(warm_python, shop, name, *words)


def run_example(warm_python, shop, name, *words):
    program = {"mjs": "node", "sh": "sh"}.get(name.rpartition(".")[2])
    if program is None:
        return run_and_record(shop, {}, *warm_python, EXAMPLES / name, *words)
    serve = [sys.executable, "-m", "foreword", "serve", "--port", "0", "--store", "conversations.db", "--log", "json"]
    with subprocess.Popen(serve, cwd=shop, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as service:
        try:
            url = service.stdout.readline().split()[-1]
            return run_and_record(shop, {"FOREWORD_URL": url}, program, EXAMPLES / name, *words)
        finally:
            service.terminate()


def run_and_record(shop, more, *command):
    """Return the output of a command, and the requests it sent to the fake provider."""
    record = shop.parent / "requests.jsonl"
    record.unlink(missing_ok=True)
    pretend = [sys.executable, EXAMPLES / "pretend.py", "--record", record]
    environment = {"HOME": str(shop.parent / "home"), "PATH": os.environ["PATH"], "PYTHONWARNINGS": "error", **more}
    result = subprocess.run([*pretend, *command], cwd=shop, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout, [json.loads(line) for line in record.read_text().splitlines()]


def prefix(request):
    """The part of a request before its messages, without cache breakpoints."""
    developer = [message["content"] for message in request.get("input", ()) if message.get("role") == "developer"]
    blocks = developer[0] if developer else request.get("system", ())
    system = request.get("instructions") or "".join(block["text"] for block in blocks)
    return system, [tool.get("name") for tool in request["tools"]]


def messages(request):
    rows = request.get("input") or request["messages"]
    return [{**message, "cache_control": None} for message in rows if message.get("role") != "developer"]


def cache_usage(output):
    """The edition of each request, with its cached and its new tokens."""
    rows = re.findall(r"\[edition (\d+): ([\d,]+) tokens from the cache, ([\d,]+) new\]", output)
    return [tuple(int(number.replace(",", "")) for number in row) for row in rows]


def starts_with(longer, shorter):
    return longer[: len(shorter)] == shorter


@pytest.fixture(scope="module", params=LOOPS)
def conversation_output(request, tmp_path_factory, run):
    """A conversation with an example; then AGENTS.md is edited, and another process continues it."""
    shop = shop_in(tmp_path_factory.mktemp("talked"))
    (shop / ".claude/rules").mkdir(parents=True)
    (shop / ".claude/rules/agents.md").write_text("---\npaths: AGENTS.md\n---\nKeep AGENTS.md short.\n")
    first = run(shop, request.param, *MESSAGES)
    (shop / "AGENTS.md").write_text("# Shop\n\nAsk before you push.\n")
    return first, run(shop, request.param, "Hello again.", "/compact", "Go on.")


def test_every_request_starts_with_the_previous_one(conversation_output):
    (output, requests), _ = conversation_output
    assert [line for line in output.splitlines() if line[:1] == ">"] == [f"> {message}" for message in MESSAGES]
    assert "AGENTS.md begins: # Shop" in output
    assert [sorted(prefix(request)[1]) for request in requests] == [["list_files", "read_file"]] * 6
    before_compaction = requests[:-1]  # the last one follows the compaction, and starts with the summary
    assert len({str(prefix(request)) for request in requests}) == 1
    assert all(
        starts_with(messages(later), messages(earlier)) for earlier, later in itertools.pairwise(before_compaction)
    )
    assert len(messages(requests[-1])) <= 3  # the summary, the instructions for AGENTS.md, and the message


def test_breakpoints_are_where_lifetimes_end(conversation_output):
    (_, requests), _ = conversation_output
    for request in requests:
        [prompt] = [request["system"]] if "system" in request else [request["input"][0]["content"]]
        ends = [
            block["text"].rstrip().rpartition("\n")[2]
            for block in prompt
            if {"cache_control", "prompt_cache_breakpoint"} & {*block}
        ]
        assert ends == ["</identity>", "</instructions>", "</environment>"]
        assert json.dumps(request).count('"cache_control"') <= 4


def test_instructions_for_a_file_are_sent_once_after_its_tool_result(conversation_output):
    (_, requests), _ = conversation_output
    before_compaction = [json.dumps(messages(request)) for request in requests[:-1]]
    assert [text.count("Keep AGENTS.md short.") for text in before_compaction] == [0, 1, 1, 1, 1]
    assert before_compaction[-1].index("make test") < before_compaction[-1].index("Keep AGENTS.md short.")


def test_the_cache_stays_warm(conversation_output):
    rows = cache_usage(conversation_output[0][0])
    assert {edition for edition, _, _ in rows} == {1}
    assert all(read > new for _, read, new in rows[-3:])


def test_an_edited_file_takes_effect_at_the_compaction(conversation_output):
    (_, before), (output, after) = conversation_output
    assert [edition for edition, _, _ in cache_usage(output)] == [1, 1, 2]
    assert prefix(after[0]) == prefix(after[1]) == prefix(before[0])
    assert "make test" in prefix(after[1])[0] and "Ask before you push." in prefix(after[2])[0]


@pytest.mark.parametrize("name", LOOPS)
def test_a_failed_tool_is_reported_to_the_model(tmp_path, name, run):
    shop = shop_in(tmp_path)
    (shop / "AGENTS.md").unlink()
    _, requests = run(shop, name, "What is this project?")
    assert re.search("FileNotFoundError|ENOENT", json.dumps(messages(requests[-1])[-1]))


@pytest.mark.parametrize("name", LOOPS)
def test_a_missing_tool_is_reported_to_the_model(tmp_path, name, run):
    other = tmp_path / name
    other.write_text((EXAMPLES / name).read_text().replace("read_file", "open_file"))
    output, requests = run(shop_in(tmp_path), str(other), "What is this project?")
    assert len(requests) == 2 and "read_file" in json.dumps(messages(requests[-1])) and "AGENTS.md begins" in output


def test_pretend_returns_the_exit_status_of_the_command(tmp_path):
    failing = [sys.executable, EXAMPLES / "pretend.py", sys.executable, "-c", "raise SystemExit(3)"]
    assert subprocess.run(failing, cwd=tmp_path).returncode == 3


@pytest.mark.parametrize("name", LOOPS)
def test_an_example_says_where_it_runs(name):
    assert "in a folder with an AGENTS.md" in (EXAMPLES / name).read_text()


@pytest.mark.parametrize("name", LOOPS)
def test_an_example_is_short(name):
    assert len((EXAMPLES / name).read_text().splitlines()) <= 90


@pytest.mark.parametrize("name", ["pi.mjs", "opal.sh"])
def test_a_chat_without_a_tool_loop_stops_at_a_tool_call(tmp_path, name, run):
    if name.endswith(".sh") and not (shutil.which("jq") and shutil.which("curl")):
        pytest.skip("opal.sh needs curl and jq")
    output, requests = run(shop_in(tmp_path), name, "What is this project?", "And how is it tested?")
    assert len(requests) == 1 and "read_file" in output


def test_the_sidecar_sends_the_headers_of_a_late_tool(tmp_path, run):
    source = (EXAMPLES / "sidecar.mjs").read_text()
    early = re.sub(r'  \{ name: "list_files".*\n', "", source)
    assert early != source
    (tmp_path / "sidecar.mjs").write_text(early)
    shop = shop_in(tmp_path)
    [first] = run(shop, str(tmp_path / "sidecar.mjs"), "Hello.")[1]
    [second] = run(shop, "sidecar.mjs", "Hello again.")[1]
    assert prefix(second) == prefix(first) and "list_files" in json.dumps(second["messages"])


def test_a_late_tool_keeps_the_cache(tmp_path, run):
    _, requests = run(shop_in(tmp_path), "late_tool.py", "Hello.", "Can you open an issue?")
    assert [[tool["function"]["name"] for tool in request["tools"]] for request in requests] == [["use_tool"]] * 3
    for earlier, later in itertools.pairwise(requests):
        assert starts_with(later["messages"], earlier["messages"])
    assert requests[-1]["messages"][-1]["content"] == "Opened issue 7: Can you open an issue?"
