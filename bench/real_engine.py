"""Send a scripted conversation to a real server in three ways, and print how many tokens it evaluated and how many it reused.

    concatenation  builds the system prompt for every request, with the clock at its end, and sends the tools as they come
    defaults       Foreword without any settings, except for the provider's name
    recommended    Foreword with the settings that docs/local-models.md recommends

The server is llama.cpp's, with a small model; `--url` takes any other one with OpenAI's Chat Completions. The turns are in a file that
was written before they were measured (`bench/engine/turns.toml`); `--turns FILE` takes another one. The model's answers are taken from it
too, so that all three send the same history. The counts are the server's own. Only two of the model's layers
are kept: the counts are the same, and the whole model takes many minutes on a slow machine. Times on a small model say little.

    make real-engine
    make real-engine ENGINE="--url http://127.0.0.1:11434/v1 --model qwen3"
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

from foreword import Agent, Conversations, Tool, Turn, Workspace, assemble, for_openai_chat
from foreword.providers.usage import reported_tokens

LAYERS = 2
TURNS = Path(__file__).parent / "engine/turns.toml"
SUMMARY_REQUEST = (
    "Summarise the conversation, so that the work can continue from the summary alone. Answer with the summary only."
)
RECOMMENDED = [("on.turn", "append"), ("on.compaction", "append")]
EVENTS = ("edit", "tools", "touch", "compact")

Message = Mapping[str, Any]


class Script(NamedTuple):
    """A conversation with everything that changes in it."""

    start: datetime
    files: Mapping[str, str]
    tools: Mapping[str, Tool]
    first_tools: Sequence[str]
    turns: Sequence[Mapping[str, Any]]


class Measured(NamedTuple):
    """What one request cost. The counts are None if the server does not say how much it reused."""

    evaluated: int | None
    reused: int | None
    seconds: float


def read_script(path: Path) -> Script:
    content = tomllib.loads(path.read_text())
    tools = {name: _tool(name, row) for name, row in content["tools"].items()}
    return Script(content["start"], content["files"], tools, content["tools_at_start"], content["turns"])


def _tool(name: str, row: Mapping[str, Any]) -> Tool:
    properties = {key: {"type": "string", "description": text} for key, text in row["parameters"].items()}
    return Tool(name, row["description"], schema={"type": "object", "properties": properties})


# The three ways. Each returns the requests of the conversation, one after the other


class Scene:
    """The project, its tools and the clock, as the script changes them."""

    def __init__(self, script: Script, folder: Path) -> None:
        self.script, self.folder, self.time = script, folder, script.start
        self.tools = [script.tools[name] for name in script.first_tools]
        for path, text in script.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        (folder / ".git").mkdir()

    @property
    def workspace(self) -> Workspace:
        return Workspace(str(self.folder), home=str(self.folder.parent / "home"))

    def advance(self, turn: Mapping[str, Any]) -> None:
        """Do what happens before a turn."""
        self.time += timedelta(minutes=1)
        self.tools = [self.script.tools[name] for name in turn["tools"]] if "tools" in turn else self.tools
        if edit := turn.get("edit"):
            path = self.folder / edit["path"]
            path.write_text(path.read_text().replace(edit["old"], edit["new"]))


def concatenation(script: Script, folder: Path) -> Iterator[dict[str, Any]]:
    """Build everything for each request. The instructions of touched folders are added to the system prompt."""
    scene, history, touched = Scene(script, folder), list[Message](), list[str]()
    for turn in script.turns:
        scene.advance(turn)
        for path in turn.get("touch", ()):
            touched += [file.read_text() for file in [(folder / path).parent / "AGENTS.md"] if file.exists()]
        prompt = assemble(scene.workspace, Agent(tools=scene.tools), now=scene.time).text
        system = "\n\n".join((prompt, *touched, f"The time is {scene.time:%Y-%m-%d %H:%M}."))
        said = [{"role": "user", "content": SUMMARY_REQUEST if turn.get("compact") else turn["say"]}]
        messages = [*history, *said]
        all_messages = [{"role": "system", "content": system}, *messages]
        yield {"messages": all_messages, "tools": [_chat_tool(tool) for tool in scene.tools]}
        history = [{"role": "user", "content": turn["reply"]}] if turn.get("compact") else [*messages, _reply(turn)]


def _chat_tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _reply(turn: Mapping[str, Any]) -> Message:
    return {"role": "assistant", "content": turn["reply"]}


def with_foreword(script: Script, folder: Path, settings: Sequence[tuple[str, Any]] = ()) -> Iterator[dict[str, Any]]:
    """Use a conversation with these settings. Because its provider is a server for local models, the agent has `use_tool` too."""
    scene, history = Scene(script, folder), list[Message]()
    conversations = Conversations(":memory:")
    for turn in script.turns:
        scene.advance(turn)
        agent = Agent(tools=scene.tools, provider="llama.cpp")
        conversation = conversations.open("engine", scene.workspace, agent, assignments=settings)
        if turn.get("compact"):
            yield _request(conversation.compact(messages=history, now=scene.time))
            history = [{"role": "summary", "content": turn["reply"]}]
            continue
        if turn.get("touch"):
            history += conversation.touch(turn["touch"]).messages
        made = conversation.turn(turn["say"], history, scene.time)
        yield _request(made)
        history = [*made.history, _reply(turn)]
    conversations.close()


def _request(turn: Turn) -> dict[str, Any]:
    return for_openai_chat(turn, cache_key="")


def requests(script: Script, name: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Return the requests of one of the three ways."""
    project = folder / name.replace(" ", "-") / "shop"
    project.mkdir(parents=True)
    if name == "concatenation":
        return concatenation(script, project)
    if name == "defaults":
        return with_foreword(script, project)
    return with_foreword(script, project, RECOMMENDED)


WAYS = ("concatenation", "defaults", "recommended")


# The server


def send(url: str, model: str, request: Mapping[str, Any], mark: str) -> Measured:
    """Send a request, and return what the server says about it. The mark is the first line, so that no way reuses what another one sent."""
    first, *others = request["messages"]
    messages = [{**first, "content": f"{mark}\n\n{first['content']}"}, *others]
    options = {"stream": True, "stream_options": {"include_usage": True}, "max_tokens": 1, "temperature": 0}
    body = {**request, "messages": messages, **options, **({"model": model} if model else {})}
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("OPENAI_API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    start, seconds = perf_counter(), 0.0
    usage: Mapping[str, Any] = {}
    with urlopen(Request(f"{url}/chat/completions", json.dumps(body).encode(), headers)) as response:
        for line in response:
            if not line.startswith(b"data: {"):
                continue
            event = json.loads(line[6:])
            seconds = seconds or (perf_counter() - start if event.get("choices") else 0.0)
            usage = event.get("timings") or event.get("usage") or usage
    tokens = reported_tokens(usage)
    evaluated = None if tokens.read is None else tokens.input - tokens.read
    return Measured(evaluated, tokens.read, seconds)


# The report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--turns", type=Path, default=TURNS, help="a file with other turns, in the form of bench/engine/turns.toml"
    )
    parser.add_argument("--url", help="another server, up to and including /v1 (with a key: OPENAI_API_KEY)")
    parser.add_argument("--model", default="", help="the model's name, if the server needs one")
    parser.add_argument(
        "--layers",
        type=int,
        default=LAYERS,
        help="how many layers of the model to keep (0: all; the counts are the same)",
    )
    args = parser.parse_args()
    script = read_script(args.turns)
    with tempfile.TemporaryDirectory(prefix="foreword-engine-") as name:
        folder = Path(name)
        server, url = None, args.url
        if not url:
            from engine_server import start_server

            server, address = start_server(folder, args.layers)
            url = f"{address}/v1"
        rows = {way: measure(script, way, folder, url, args.model) for way in WAYS}
        del server
    print_report(script, rows)


def measure(script: Script, way: str, folder: Path, url: str, model: str) -> list[Measured]:
    mark, rows = f"{way} {os.urandom(4).hex()}", list[Measured]()
    for request in requests(script, way, folder):
        rows.append(send(url.rstrip("/"), model, request, mark))
        print(f"{way:<14} {len(rows):>2} of {len(script.turns)} turns, {rows[-1].seconds:.1f}s", file=sys.stderr)
    return rows


def print_report(script: Script, rows: Mapping[str, Sequence[Measured]]) -> None:
    print("\ntokens evaluated + reused, and seconds to the first token\n")
    print(f"{'turn':<16}" + "".join(f"{way:>26}" for way in WAYS))
    for number, turn in enumerate(script.turns):
        events = ", ".join(event for event in EVENTS if event in turn)
        print(f"{number + 1:>2} {events:<13}" + "".join(_cell(rows[way][number]) for way in WAYS))
    totals = {way: _total(rows[way]) for way in WAYS}
    print(f"{'all':<16}" + "".join(_cell(totals[way]) for way in WAYS))
    first = totals[WAYS[0]]
    for way in WAYS[1:]:
        print(
            f"\n{way}: {first.seconds / totals[way].seconds:.1f} times less time to the first tokens than concatenation"
        )
        if first.evaluated is None or not totals[way].evaluated:
            print("The server does not say how many tokens it reused, so only the times can be compared.")
            continue
        ratio = first.evaluated / (totals[way].evaluated or 1)
        print(f"{way}: {ratio:.1f} times fewer tokens evaluated than with concatenation")


def _cell(row: Measured) -> str:
    counts = "?" if row.evaluated is None else f"{row.evaluated:,} + {row.reused:,}"
    return f"{counts:>18}{row.seconds:>7.1f}s"


def _total(rows: Sequence[Measured]) -> Measured:
    seconds = sum(row.seconds for row in rows)
    counts = [(row.evaluated, row.reused) for row in rows if row.evaluated is not None and row.reused is not None]
    if len(counts) < len(rows):
        return Measured(None, None, seconds)
    return Measured(sum(count for count, _ in counts), sum(count for _, count in counts), seconds)


if __name__ == "__main__":
    main()
