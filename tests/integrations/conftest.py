"""Run ten turns with a framework against a simulated provider, and check what its requests have in common.

The tools are in a different order in every turn. AGENTS.md is edited before the third turn, a tool is added in the fifth, and the framework
replaces its history with a summary before the eighth.

Frameworks that are not in the lock file are installed by `make integrations`, in a separate environment; if one is missing, its
tests are not collected, and skipped if you name their file.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import json
import os
import threading
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from foreword import Agent, Conversations, Workspace

ROOT = Path(__file__).parents[2]
FRAMEWORKS = {
    "test_langchain.py": "langchain",
    "test_deepagents.py": "deepagents",
    "test_openai_agents.py": "agents",
    "test_litellm.py": "litellm",
    "test_google_adk.py": "google.adk",
    "test_claude_agent_sdk.py": "claude_agent_sdk",
}


def is_installed(module):
    return all(find_spec(name) for name in itertools.accumulate(module.split("."), "{}.{}".format))


collect_ignore = [
    name
    for name, module in FRAMEWORKS.items()
    if "FOREWORD_ALL_FRAMEWORKS" not in os.environ and not is_installed(module)
]


class MissingFramework(pytest.Module):
    """A module of tests that cannot be imported."""

    def collect(self):
        pytest.skip(f"{FRAMEWORKS[self.path.name]} is not installed; run `make integrations`", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    """Pytest collects a file that is named as an argument even if it is in `collect_ignore`."""
    if module_path.name in collect_ignore:
        return MissingFramework.from_parent(parent, path=module_path)
    return None


TURNS, EDIT, LATE, COMPACTION = 10, 2, 4, 7
BREAKPOINT_KEYS = ("cache_control", "prompt_cache_breakpoint")
# Settings for Claude Code, which the Claude Agent SDK runs, so that it sends only the conversation's requests.
CLAUDE_CODE = dict.fromkeys(
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_DISABLE_AUTO_MEMORY", "DISABLE_AUTOUPDATER"), "1"
)


def load_pretend():
    spec = spec_from_file_location("pretend", ROOT / "examples/pretend.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read_file(path: str) -> str:
    """Reads a text file.

    Args:
        path: The path of the file.
    """
    return Path(path).read_text()


def list_files(path: str) -> str:
    """Lists the files in a folder.

    Args:
        path: The path of the folder.
    """
    return "\n".join(sorted(os.listdir(path)))


def run_tests(name: str) -> str:
    """Runs a test.

    Args:
        name: The name of the test.
    """
    return "passed"


def open_issue(title: str) -> str:
    """Opens an issue.

    Args:
        title: Its title.
    """
    return "#1"


FUNCTIONS = (read_file, list_files, run_tests)


def without_breakpoints(content):
    """Return the content without cache breakpoints."""
    if isinstance(content, dict):
        return {key: without_breakpoints(field) for key, field in content.items() if key not in BREAKPOINT_KEYS}
    return [without_breakpoints(part) for part in content] if isinstance(content, list) else content


def count_breakpoints(content):
    if isinstance(content, dict):
        return sum(1 if key in BREAKPOINT_KEYS else count_breakpoints(field) for key, field in content.items())
    return sum(map(count_breakpoints, content)) if isinstance(content, list) else 0


def as_blocks(message):
    """Return the message as Anthropic reads it: a string is short for one block of text, and only a block can have a breakpoint."""
    content = message["content"]
    return {**message, "content": [{"type": "text", "text": content}]} if isinstance(content, str) else message


class Request:
    """A request that the provider received."""

    def __init__(self, line):
        self.body = json.loads(line)
        system = self.body.get("system") or self.body.get("instructions") or self.body.get("systemInstruction") or []
        self.system = without_breakpoints(system if isinstance(system, list) else [system])
        self.tools = without_breakpoints(self.body.get("tools", []))
        self.messages = without_breakpoints(
            self.body.get("messages") or self.body.get("input") or self.body.get("contents")
        )
        if self.body["path"].endswith("/messages"):
            self.messages = [as_blocks(message) for message in self.messages]
        self.marks = count_breakpoints(self.body)

    @property
    def pieces(self):
        """What the provider caches, in order, as it was sent. A deferred tool is not in the prompt until a message adds it."""
        tools = [tool for tool in self.tools if not tool.get("defer_loading")]
        return [json.dumps(piece) for piece in (*tools, *self.system, *self.messages)]

    @property
    def text(self):
        return json.dumps(self.body)

    @property
    def prompt(self):
        """The text of the system prompt: in its own field, or in the first message."""
        return json.dumps([self.system, self.messages[0]])

    @property
    def tool_names(self):
        flat = [declaration for tool in self.tools for declaration in tool.get("functionDeclarations", [tool])]
        return [tool.get("function", tool)["name"] for tool in flat]


class TenTurns:
    """A workspace, a conversation in it, and a provider that records the requests of ten turns."""

    def __init__(self, folder, pretend):
        self.folder, self.pretend = folder, pretend
        self.record = folder.parent / "requests.jsonl"
        self.starts = []
        self.edit("Run `make test` before you say that you are done.")
        self.conversations = Conversations(str(folder.parent / "talks.db"))
        self.conversation = self.conversations.open("talk", Workspace(str(folder)), Agent())

    def edit(self, text):
        (self.folder / "AGENTS.md").write_text(f"# Shop\n\n{text}\n")

    @property
    def requests(self):
        return [Request(line) for line in self.record.read_text().splitlines()] if self.record.exists() else []

    def run(self, ask, compacted):
        """Let a framework answer ten messages. `ask` takes a message, tools and a history, and returns the new history."""
        history = None
        with asyncio.Runner() as runner:
            for number in range(TURNS):
                if number == EDIT:
                    self.edit("Ask before you push.")
                if number == COMPACTION:
                    history = compacted(history)
                functions = [*FUNCTIONS, *([open_issue] if number >= LATE else [])]
                functions = [functions[(offset + number) % len(functions)] for offset in range(len(functions))]
                self.starts.append(len(self.requests))
                question = "Can you open an issue?" if number > LATE else f"What is in file {number}?"
                message = question if number % 2 else f"Hello {number}."
                history = ask(message, functions, history)
                if inspect.isawaitable(history):
                    history = runner.run(history)

    def check_wrong_call(self, monkeypatch, ask):
        """Check that a framework sends the model a sentence about its wrong call of `use_tool`."""
        call = ("use_tool", {"name": "open_isue", "arguments": {}})
        monkeypatch.setattr(self.pretend, "tool_call", lambda *_: call)
        ask("Can you open an issue?", [open_issue])
        assert "no tool 'open_isue'; did you mean 'open_issue'?" in self.requests[-1].text

    def check_streamed_call(self, ask):
        """Check that a framework runs a late tool that the model calls with `use_tool` in a stream."""

        async def ask_three_times():
            history = await ask("Hello.", [], [])
            history = await ask("Hello.", [open_issue], history)
            await ask("Can you open an issue?", [open_issue], history)

        asyncio.run(ask_three_times())
        assert "#1" in self.requests[-1].text
        assert all(request.tool_names == ["use_tool"] for request in self.requests)

    def check(self, late="in the messages", more_tools=()):
        """Check the requests of ten turns.

        A late tool is sent in the messages. If the API cannot do that, the model calls it with `use_tool`, or it is the last tool.
        """
        requests, compaction, late_start = self.requests, self.starts[COMPACTION], self.starts[LATE]
        assert len(requests) == TURNS + TURNS // 2, "every second message is a question, which needs a tool"
        assert max(request.marks for request in requests) <= 4
        for number, (earlier, later) in enumerate(itertools.pairwise(requests), 1):
            if number == compaction:
                continue
            kept, pieces = earlier.pieces, later.pieces
            if number == late_start and late == "last tool":
                assert later.tool_names == [*earlier.tool_names, "open_issue"]
                kept, pieces = kept[len(earlier.tools) :], pieces[len(later.tools) :]
            assert pieces[: len(kept)] == kept, f"request {number + 1} does not start with the one before"
        for number, request in enumerate(requests):
            assert ("make test" in request.prompt) == (number < compaction)
            assert ("Ask before you push" in request.prompt) == (number >= compaction)
            assert ("open_issue" in request.text) == (number >= late_start)
        names = ["list_files", "read_file", "run_tests", *more_tools, *(["use_tool"] if late == "use_tool" else ())]
        assert sorted(requests[0].tool_names) == sorted(names)
        assert sorted(requests[-1].tool_names) == sorted([*names, "open_issue"])
        assert len(requests[compaction].messages) < 5
        called = requests[self.starts[LATE + 1] + 1]
        assert "#1" in json.dumps(called.messages), "the framework ran the late tool"
        assert ('"use_tool"' in json.dumps(called.messages)) == (late == "use_tool")


@pytest.fixture
def ten_turns(tmp_path, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name in [name for name in os.environ if name.startswith(("CLAUDE", "ANTHROPIC_"))]:
        monkeypatch.delenv(name)
    for name, value in CLAUDE_CODE.items():
        monkeypatch.setenv(name, value)
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(shop)
    pretend = load_pretend()
    with pretend.Provider(str(tmp_path / "requests.jsonl")) as provider:
        for name, value in pretend.environment(provider.url).items():
            monkeypatch.setenv(name, value)
        thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        turns = TenTurns(shop, pretend)
        yield turns
        turns.conversations.close()
        provider.shutdown()
        thread.join()
