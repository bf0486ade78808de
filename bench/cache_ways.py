"""Compare plain concatenation with Foreword in sixteen situations that have broken real agents' prompt caches.

Both run the same scenario of thirty turns, one every twenty seconds, in which one thing changes. Both send the same content.
The concatenator takes the prompt's sections from Foreword, adds everything else that it knows (time, git, memory, title, model), and
rebuilds the system prompt for every request, as many agents do. Foreword runs real conversations, in which the prompt contains those
facts as they were at the start, and a message says what has changed. The model's name is at the end of the system prompt in both, because
every model has its own cache. Both set breakpoints, including the automatic one after the last message.

Each request is sent to a simulated provider (`provider_cache.py`). Tokens are counted for the model and priced with the shipped table,
so no figure is hard-coded. Each run uses models from one provider; those in the second run do not accept late changes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import floor
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import fixture
from foreword import Agent, Assembler, Conversations, Tool, Workspace, shipped_tools
from foreword.inspection.price_list import read_prices
from foreword.providers import request_for
from foreword.text.tokens import count, estimate
from foreword.vocabulary import Turn, replace
from provider_cache import Charge, Model, ProviderCache

TURNS, MIDDLE = 30, 15
SECONDS_PER_TURN = 20
MAIN, OTHER = "main", "other"  # the models of a run
IDENTITY = "You are a coding agent at work in a user's project. Read before you write, and check what you did.\n"
SUMMARISER = "You write summaries of conversations. Keep what is needed to continue the work."


class Scene(NamedTuple):
    """The state of the scenario in one turn."""

    time: str = "2026-11-14 09:00"
    date: str = "2026-11-14"
    folder: str = ""
    git: str = "On branch main, nothing to commit."
    memory: str = "Nothing yet."
    title: str = "Untitled"
    plan: str = "1. Look around."
    release: str = "1.0"
    model: str = MAIN
    tools: tuple[Tool, ...] = ()
    expects_tools: bool = False  # whether the program lists `use_tool`, because tools may arrive late
    added_skills: tuple[str, ...] = ()
    lists_skills_backwards: bool = False
    process: int = 1
    is_compacted: bool = False
    pause: int = 0


class Scenario(NamedTuple):
    """A situation that can break the cache: its name, and a function that returns the scene for each turn."""

    name: str
    scene: Callable[[int, Scene], Scene]


def tools(names: Sequence[str] = fixture.TOOLS, session: str = "") -> tuple[Tool, ...]:
    """Return tools with descriptions of realistic length. Their schemas have sorted keys, because another order has more or fewer tokens."""
    rows = [json.loads(json.dumps(fixture.tool(name), sort_keys=True)) for name in names]
    details = (
        "It takes a path and says what it found there. Prefer it to the shell, and give it one path at a time. " * 8
    )
    link = f" Logs: https://logs.example/{session}" if session else ""
    return tuple(Tool(str(row["name"]), f"{row['description']} {details}{link}", schema=row["schema"]) for row in rows)


def switch_at(turn: int, first_turn: int, after: Scene, before: Scene) -> Scene:
    return after if turn >= first_turn else before


SCENARIOS = (
    Scenario("clock", lambda turn, base: base._replace(time=f"2026-11-14 09:{turn:02}")),
    Scenario("date", lambda turn, base: switch_at(turn, MIDDLE, base._replace(date="2026-11-15"), base)),
    Scenario("cwd line", lambda turn, base: base._replace(folder="docs" if turn // 5 % 2 else "")),
    Scenario("git status", lambda turn, base: base._replace(git=f"On branch main, {turn // 2} files changed.")),
    Scenario("tool order", lambda turn, base: base._replace(tools=base.tools[turn % 3 :] + base.tools[: turn % 3])),
    Scenario(
        "session id in a tool",
        lambda turn, base: base._replace(tools=tools(session=f"s-{turn // 10}"), process=turn // 10),
    ),
    Scenario("skill added", lambda turn, base: switch_at(turn, MIDDLE, base._replace(added_skills=("zeal",)), base)),
    Scenario(
        "skill order", lambda turn, base: base._replace(lists_skills_backwards=turn // 10 % 2 == 1, process=turn // 10)
    ),
    Scenario(
        "late MCP server",
        lambda turn, base: switch_at(
            turn,
            3,
            base._replace(tools=base.tools + tools(["mcp_a", "mcp_b"]), expects_tools=True),
            base._replace(expects_tools=True),
        ),
    ),
    Scenario(
        "resume",
        lambda turn, base: switch_at(
            turn,
            MIDDLE,
            base._replace(
                process=2,
                time="2026-11-14 09:04",
                tools=base.tools[1:] + base.tools[:1],
                pause=240 if turn == MIDDLE else 0,
            ),
            base,
        ),
    ),
    Scenario("upgrade", lambda turn, base: switch_at(turn, MIDDLE, base._replace(release="1.1", process=2), base)),
    Scenario(
        "memory hit",
        lambda turn, base: base._replace(memory=f"The user said on day {turn // 5}: prefer small commits."),
    ),
    Scenario("plan text", lambda turn, base: base._replace(plan=f"1. Look around (done).\n2. Step {turn // 3}.")),
    Scenario("title", lambda turn, base: switch_at(turn, 2, base._replace(title="Fix the failing test"), base)),
    Scenario("compaction", lambda turn, base: base._replace(is_compacted=turn == MIDDLE)),
    Scenario("model switch", lambda turn, base: base._replace(model=OTHER if 10 <= turn < 20 else MAIN)),
)


# The two contenders, which build the requests for each turn


class Concatenation:
    """Builds the system prompt for each request by concatenating everything it knows."""

    def __init__(self, project: fixture.Fixture, run: Run) -> None:
        self.project, self.run = project, run
        self.history: list[Mapping[str, Any]] = []
        self.assemblers: dict[str, Assembler] = {}

    def requests(self, number: int, scene: Scene) -> Iterator[dict[str, Any]]:
        if scene.is_compacted:
            yield self.run.plain_request(SUMMARISER, [*self.history, user_message("Sum up.")], ())
            self.history = [user_message(summary())]
        self.history.append(user_message(request_text(number)))
        yield self.run.plain_request(self.system(scene), self.history, scene.tools)
        self.history = [*self.history, assistant_message(number)]

    def system(self, scene: Scene) -> str:
        if scene.folder not in self.assemblers:
            self.assemblers[scene.folder] = Assembler(workspace_of(self.project, scene), "foreword")
        prompt = self.assemblers[scene.folder].prompt(agent_of(scene, self.run))
        first, *others = (passage.text for passage in prompt.passages)
        texts = [first, "\n".join(facts_of(scene).values()), *others, self.run.model_sentence(scene)]
        return "\n\n".join(map(_with_skills_reversed, texts) if scene.lists_skills_backwards else texts)


def _with_skills_reversed(text: str) -> str:
    """Return the text with its list of skills in reverse order."""
    lines = text.split("\n")
    skills = [line for line in reversed(lines) if line.startswith("- skill-")]
    return "\n".join(skills.pop(0) if line.startswith("- skill-") else line for line in lines)


class Foreword:
    """A conversation with the `foreword` layout, in which changes are sent as messages and the prompt stays the same."""

    def __init__(self, project: fixture.Fixture, run: Run) -> None:
        self.project, self.run = project, run
        self.conversations = Conversations(":memory:")
        self.history: list[Mapping[str, Any]] = []
        self.in_prompt: dict[str, str] = {}
        self.announced: dict[str, str] = {}

    def requests(self, number: int, scene: Scene) -> Iterator[dict[str, Any]]:
        facts = facts_of(scene)
        if not self.in_prompt:
            self.in_prompt = self.announced = facts
        workspace, agent = workspace_of(self.project, scene), agent_of(scene, self.run, self.in_prompt)
        conversation = self.conversations.open("t", workspace, agent, "foreword", assignments=[("on.turn", "append")])
        if scene.is_compacted:
            yield self.request(conversation.compact(messages=self.history), scene)
            self.history = [user_message(summary())]
        if changed := [text for name, text in facts.items() if self.announced.get(name) != text]:
            conversation.send_message("\n".join(changed))
            self.announced = facts
        turn = conversation.turn(request_text(number), self.history)
        yield self.request(turn, scene)
        self.history = [*turn.history, assistant_message(number)]

    def request(self, turn: Turn, scene: Scene) -> dict[str, Any]:
        return self.run.request(replace(turn, system=f"{turn.system}\n\n{self.run.model_sentence(scene)}"))


def workspace_of(project: fixture.Fixture, scene: Scene) -> Workspace:
    return Workspace(str(project.cwd / scene.folder), home=str(project.home))


def agent_of(scene: Scene, run: Run, facts: Mapping[str, str] | None = None) -> Agent:
    base, tools = f"{IDENTITY}You are release {scene.release}.", scene.tools
    if facts:
        base += "\n\n" + "\n".join(facts.values())
        tools += shipped_tools("use_tool") if scene.expects_tools else ()
    return Agent(tools, run.model_name(scene), base=base, plan=scene.plan)


def facts_of(scene: Scene) -> dict[str, str]:
    """Return sentences that state facts the model should know in addition to the prompt."""
    return {name: f"The {name} is now: {getattr(scene, name)}" for name in ("time", "date", "git", "memory", "title")}


def user_message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def request_text(number: int) -> str:
    return f"Step {number}: look at the module, fix what is broken, and say what you did."


def assistant_message(number: int) -> dict[str, str]:
    return {"role": "assistant", "content": fixture.fill(f"Step {number}. ", f"What I found in step {number}", 3000)}


def summary() -> str:
    return fixture.fill("Summary. ", "What was done", 2000)


# The provider and its prices


EPHEMERAL = {"type": "ephemeral"}


class Run(NamedTuple):
    """A provider, the model that each scenario uses, and the model that the last scenario switches to."""

    provider: str
    model: str
    other_model: str

    def model_name(self, scene: Scene) -> str:
        return self.other_model if scene.model == OTHER else self.model

    def model_sentence(self, scene: Scene) -> str:
        return f"The model is now: {self.model_name(scene)}"

    def request(self, turn: Turn) -> dict[str, Any]:
        automatic = {"cache_control": EPHEMERAL} if self.provider == "anthropic" else {}
        return request_for(self.provider, turn) | automatic

    def plain_request(
        self, system: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Tool]
    ) -> dict[str, Any]:
        """Return the request that a hand-written loop sends, with the breakpoints that Anthropic's documentation recommends."""
        if self.provider != "anthropic":
            definitions = [
                {"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in tools
            ]
            return request_for(self.provider, Turn("", 1, False, system, messages, definitions))
        definitions = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools
        ]
        if definitions:
            definitions[-1]["cache_control"] = EPHEMERAL
        prompt = [{"type": "text", "text": system, "cache_control": EPHEMERAL}]
        return {"tools": definitions, "system": prompt, "messages": messages, "cache_control": EPHEMERAL}


RUNS = (
    Run("anthropic", "claude-sonnet-5.5", "claude-opus-5.5"),
    Run("anthropic", "claude-sonnet-5", "claude-opus-4.7"),
    Run("openai", "gpt-5.6-terra", "gpt-5.6-sol"),
    Run("gemini", "gemini-3.8-flash", "gemini-2.5-pro"),
)


class Bill(NamedTuple):
    """A contender's requests: the total cost and, for each change, how many tokens were cached before it and how many were kept."""

    dollars: float
    charges: tuple[Charge, ...]
    kept: tuple[int, ...]
    cached_before: tuple[int, ...]

    @property
    def share_kept(self) -> float:
        """The share of the cached tokens that were kept, over all changes."""
        return sum(self.kept) / sum(self.cached_before)


def add_up(
    contender: Concatenation | Foreword, scenes: Sequence[Scene], project: fixture.Fixture, models: Mapping[str, Model]
) -> Bill:
    """Send every request to a simulated provider, and return the bill."""
    cache, now = ProviderCache(), 0
    charges: list[Charge] = []
    last: dict[str, Charge] = {}
    kept: list[int] = []
    cached_before: list[int] = []
    for number, scene in enumerate(scenes):
        apply_scene(project, scene)
        now += SECONDS_PER_TURN + scene.pause
        for index, request in enumerate(contender.requests(number, scene)):
            charge = cache.send(request, models[scene.model], now)
            before = scenes[number - 1]
            is_changed = number > 0 and _without_process(scene) != _without_process(before)
            # For a compaction, only the request for the summary counts, because the history after it is entirely new.
            if is_changed and index == 0 and not before.is_compacted:
                kept.append(charge.read)
                cached_before.append((last.get(scene.model) or last[before.model]).tokens)
            last[scene.model] = charge
            charges.append(charge)
    return Bill(sum(charge.dollars for charge in charges), tuple(charges), tuple(kept), tuple(cached_before))


def _without_process(scene: Scene) -> Scene:
    return scene._replace(process=1, pause=0)


@lru_cache(maxsize=50_000)
def count_tokens(text: str, model: str, provider: str) -> int:
    return count(text, model, provider).count


@lru_cache(maxsize=50_000)
def estimate_tokens(text: str) -> int:
    return estimate(text)


def apply_scene(project: fixture.Fixture, scene: Scene) -> None:
    (project.cwd / "docs").mkdir(exist_ok=True)
    for name in scene.added_skills:
        path = project.top / ".agents" / "skills" / name / "SKILL.md"
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text(f"---\nname: {name}\ndescription: Added during the conversation.\n---\nBody.\n")


def models_of(run: Run, is_estimated: bool) -> dict[str, Model]:
    table = read_prices()
    rules = next(provider for provider in table.providers if provider.name == run.provider)
    models: dict[str, Model] = {}
    for key, name in ((MAIN, run.model), (OTHER, run.other_model)):
        price = table.price_of(rules, name)
        assert price is not None
        counter = estimate_tokens if is_estimated else _counter(name, run.provider)
        models[key] = Model(rules, price, counter)
    return models


def _counter(model: str, provider: str) -> Callable[[str], int]:
    return lambda text: count_tokens(text, model, provider)


def measure(scenario: Scenario, run: Run = RUNS[0], *, is_estimated: bool = False) -> tuple[Bill, Bill]:
    """Return both contenders' bills for one scenario. Each uses a new workspace at the same path, because the prompt contains the path."""
    models = models_of(run, is_estimated)
    scenes = [scenario.scene(turn, Scene(tools=tools())) for turn in range(TURNS)]
    bills: list[Bill] = []
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        for contender_class in (Concatenation, Foreword):
            project = fixture.build(Path(folder) / "work")
            bills.append(add_up(contender_class(project, run), scenes, project, models))
            rmtree(project.top.parent)
    return bills[0], bills[1]


def ratio(plain: Bill, ours: Bill) -> float:
    """Return the cost of concatenation as a multiple of Foreword's."""
    return plain.dollars / ours.dollars


def _rounded_down(number: float) -> str:
    """Return a ratio with three decimals, never more than it is."""
    return f"{floor(number * 1000) / 1000:6.3f}"


def lines(runs: Sequence[Run] = RUNS) -> Iterator[str]:
    """Yield the lines of the tables: for each scenario, the share of the prefix kept when something changed, and the cost of all turns.

    The program exits if a scenario costs more with Foreword.
    """
    width = max(len(scenario.name) for scenario in SCENARIOS)
    for run in runs:
        yield f"prompt cache, {TURNS} turns of {run.model} (switch: {run.other_model}): prefix kept when something changed, and the cost of all turns"
        yield f"{'':{width}}  {'changes':>7}  {'kept, plain':>11}  {'kept, Foreword':>14}  {'plain':>8}  {'Foreword':>8}  {'ratio':>7}"
        for scenario in SCENARIOS:
            plain, ours = measure(scenario, run)
            kept = f"{plain.share_kept:11.1%}  {ours.share_kept:14.1%}"
            money = f"{f'${plain.dollars:.3f}':>8}  {f'${ours.dollars:.3f}':>8}  {_rounded_down(ratio(plain, ours))}x"
            yield f"{scenario.name:{width}}  {len(plain.kept):7}  {kept}  {money}"
            if ratio(plain, ours) < 1:
                sys.exit(f"{scenario.name} costs more with Foreword than with concatenation for {run.model}")
        yield ""


if __name__ == "__main__":
    chosen = [run for run in RUNS if run.model in sys.argv[1:]] or RUNS
    for line in lines(chosen):
        print(line, flush=True)
