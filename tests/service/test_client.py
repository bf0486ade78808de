"""The TypeScript client: generated from the table of routes, and usable from Node without installing anything."""

import importlib.util
import json
import os
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from foreword import Agent, Conversations, Tool, Workspace, for_anthropic, for_openai_chat

ROOT = Path(__file__).parents[2]
NOW = "2026-03-07T08:55:05-06:00"
NODE = next(iter(sorted(ROOT.glob(".tools/nodejs*/bin/node"))), None) or shutil.which("node")


def generator():
    spec = importlib.util.spec_from_file_location("generate_client", ROOT / "clients/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_client_is_up_to_date():
    module = generator()
    for name, text in module.files().items():
        assert (module.FOLDER / name).read_text() == text, f"run python clients/generate.py ({name})"


@pytest.mark.skipif(not NODE, reason="needs Node")
def test_the_client_works_from_node(guarded_service):
    command = [str(NODE), str(ROOT / "tests/service/client.mjs"), guarded_service.url, guarded_service.token]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout) == {
        "turn": ["node/ü 1", 1],
        "edition": [True, True],
        "drift": ["a", "b"],
        "why": True,
        "page": ["node/ü 1"],
        "metrics": True,
        "events": ["start", "opal"],
        "layout": [422, "invalid-layout", True, [1]],
        "missing": [404, "not-found", True, []],
        "token": [401, "invalid-token", True, []],
    }


def tools_of(*names):
    return [
        Tool(
            name,
            description,
            schema={"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": keys},
        )
        if keys
        else Tool(name, description)
        for name, description, *keys in names
    ]


PI_TOOLS = tools_of(
    ("read", "Reads a file.", "path"),
    ("bash", "Runs a command.", "command"),
    ("edit", "Replaces text in a file.", "path", "old", "new"),
    ("write", "Writes a file.", "path", "content"),
)
OPAL_TOOLS = tools_of(
    ("read_file", "Reads a file.", "path"),
    ("shell", "Runs a command.", "command"),
    ("use_skill", "Loads a skill.", "name"),
)


@pytest.mark.parametrize(
    ("program", "script", "agent", "convert"),
    [
        pytest.param(NODE, "pi.mjs", Agent(tools=PI_TOOLS, model="claude-sonnet-5-5"), for_anthropic, id="pi"),
        pytest.param(
            shutil.which("jq") and "/bin/sh",
            "opal.sh",
            Agent(tools=OPAL_TOOLS, model="gpt-5.6"),
            for_openai_chat,
            id="opal",
        ),
    ],
)
def test_an_example_sends_what_the_library_would(service, top_folder, program, script, agent, convert):
    """The examples contain no prompt code: the service builds each request."""
    if not program:
        pytest.skip(f"{script} needs Node, or curl and jq")
    name = script.partition(".")[0]
    more = {"FOREWORD_URL": service.url, "PRINT": "1", "NOW": NOW, "PWD": str(top_folder / "w")}
    command = [str(program), str(ROOT / "examples" / script), "Hi.", "More."]
    environment = {"PATH": os.environ["PATH"], **more}
    ended = subprocess.run(command, cwd=top_folder / "w", env=environment, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    conversation = Conversations().open(
        name, Workspace(str(top_folder / "w"), home=str(top_folder / "planted-home")), agent, name
    )
    now = datetime.fromisoformat(NOW)
    first = conversation.turn("Hi.", now=now)
    history = [*first.history, {"role": "assistant", "content": "Printed."}]
    expected = [convert(first), convert(conversation.turn("More.", history, now))]
    assert [json.loads(line) for line in ended.stdout.splitlines()] == json.loads(json.dumps(expected))
