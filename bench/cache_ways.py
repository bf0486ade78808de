"""Compare Foreword with four other ways to send a prompt that changes, in situations that have broken real agents' prompt caches.

All run the same scenario, usually of thirty turns, one every twenty seconds, in which one thing changes. All send the same content.

    clock first     concatenation: takes the prompt's sections from Foreword, adds everything else that it knows (time, git, memory, title)
                    after the first section, and rebuilds the system prompt for every request, as many agents do
    clock last      the same, with those facts at the end of the system prompt
    rebuild         the same without the time, so that the prompt changes only if something else does
    whole file      as Claude Code and Codex do it: instructions are the first user message and stay as they were, and after an edit a
                    message contains the whole changed file
    Foreword        real conversations with `on.turn` set to `append`: the prompt contains the facts as they were at the start, and a message
                    says what has changed, or a new edition is built if that is cheaper

The model's name is at the end of the system prompt in all of them, because every model has its own cache. All set breakpoints, including
the automatic one after the last message. The tables show wins and losses alike.

Each request is sent to a simulated provider (`provider_cache.py`). Tokens are counted for the model and priced with the shipped table,
so no figure is hard-coded. Each run uses models from one provider; those in the second run do not accept late changes.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
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
    edits: int | None = None  # how many words of a long AGENTS.md were changed up to now, if the scenario has one


class Scenario(NamedTuple):
    """A situation that can break the cache: its name, a function that returns the scene for each turn, and the number of turns.

    If it is 0, there are `TURNS`.
    """

    name: str
    scene: Callable[[int, Scene], Scene]
    turns: int = 0


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


RULE_COUNT = 350


def rules_text(edits: int) -> str:
    """Return an AGENTS.md of 28,000 characters in which this many words were changed."""
    lines = [
        f"- Rule {number}: check module {number} before you change it, and say what you did.\n"
        for number in range(RULE_COUNT)
    ]
    for number in range(edits):
        lines[number * 37 % RULE_COUNT] = lines[number * 37 % RULE_COUNT].replace("check", "test", 1)
    return "".join(
        f"\n## Part {number // 10}\n\n{line}" if number % 10 == 0 else line for number, line in enumerate(lines)
    )


def edited(count: int, turns: int) -> Callable[[int, Scene], Scene]:
    """Return the scenes of a scenario in which a long AGENTS.md is edited this often, at equal intervals."""
    return lambda turn, base: base._replace(edits=turn * (count + 1) // (turns or TURNS))


def with_pauses(turn: int, base: Scene) -> Scene:
    """Return the scenes of a scenario with six edits, each after a pause that is longer than the usual lifetime of a cache."""
    return base._replace(edits=turn // 5, pause=900 if turn and turn % 5 == 0 else 0)


EDITS = (
    *(Scenario(f"{count} edit{'s' if count > 1 else ''}", edited(count, 0)) for count in (1, 3, 6, 10, 20)),
    Scenario("edits after pauses", with_pauses),
    Scenario("200 turns, 10 edits", edited(10, 200), 200),
)
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
    *EDITS,
)


# The contenders, which build the requests for each turn


class Concatenation:
    """Builds the system prompt for each request by concatenating everything it knows."""

    has_facts_last = is_timeless = False

    def __init__(self, project: fixture.Fixture, run: Run) -> None:
        self.project, self.run = project, run
        self.history: list[Mapping[str, Any]] = []
        self.assemblers: dict[str, Assembler] = {}

    def record(self, charge: Charge, scene: Scene, now: int) -> None:
        """Take note of what a request has cost, which this program does not need."""

    def requests(self, number: int, scene: Scene, now: int) -> Iterator[dict[str, Any]]:
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
        facts = "\n".join(text for name, text in facts_of(scene).items() if name != "time" or not self.is_timeless)
        texts = [first, *([] if self.has_facts_last else [facts]), *others, *([facts] if self.has_facts_last else [])]
        texts.append(self.run.model_sentence(scene))
        return "\n\n".join(map(_with_skills_reversed, texts) if scene.lists_skills_backwards else texts)


def _with_skills_reversed(text: str) -> str:
    """Return the text with its list of skills in reverse order."""
    lines = text.split("\n")
    skills = [line for line in reversed(lines) if line.startswith("- skill-")]
    return "\n".join(skills.pop(0) if line.startswith("- skill-") else line for line in lines)


class ClockLast(Concatenation):
    """Concatenation with everything that changes often at the end of the system prompt."""

    has_facts_last = True


class AlwaysRebuild(ClockLast):
    """Concatenation without a clock: the prompt is the same until something else changes."""

    is_timeless = True


class WholeFile(Concatenation):
    """The way of Claude Code and Codex: the instructions are the first message, and a later message contains a file that has changed."""

    def __init__(self, project: fixture.Fixture, run: Run) -> None:
        super().__init__(project, run)
        self.base, self.instructions = "", ""
        self.known: dict[str, str] = {}
        self.announced: dict[str, str] = {}

    def requests(self, number: int, scene: Scene, now: int) -> Iterator[dict[str, Any]]:
        if scene.is_compacted:
            yield self.request([*self.history, user_message("Sum up.")], scene)
            self.base, self.history = "", [user_message(summary())]
        prompt = Assembler(workspace_of(self.project, scene), "foreword").prompt(agent_of(scene, self.run))
        texts = {passage.section: passage.text for passage in prompt.passages}
        files = {piece.origin.path: piece.text for passage in prompt.passages for piece in passage.pieces if piece.origin.kind == "file"}  # fmt: skip
        facts = facts_of(scene) | {"plan": scene.plan}
        news: list[str] = []
        if not self.base:
            self.instructions = texts.pop("instructions", "")
            self.base, self.known, self.announced = "\n\n".join(texts.values()), files, facts
        news += [text for name, text in facts.items() if self.announced.get(name) != text]
        news += [f"Contents of {path}:\n\n{text}" for path, text in files.items() if self.known.get(path) != text]
        self.known, self.announced = files, facts
        self.history += [*([user_message("\n\n".join(news))] if news else []), user_message(request_text(number))]
        yield self.request(self.history, scene)
        self.history = [*self.history, assistant_message(number)]

    def request(self, messages: Sequence[Mapping[str, Any]], scene: Scene) -> dict[str, Any]:
        system = f"{self.base}\n\n{self.run.model_sentence(scene)}"
        return self.run.plain_request(system, [user_message(self.instructions), *messages], scene.tools)


START = datetime(2026, 11, 14, 9, tzinfo=UTC)


class Foreword:
    """A conversation with the `foreword` layout, in which changes are sent as messages and the prompt stays the same."""

    def __init__(self, project: fixture.Fixture, run: Run) -> None:
        self.project, self.run = project, run
        self.conversations = Conversations(":memory:")
        self.history: list[Mapping[str, Any]] = []
        self.in_prompt: dict[str, str] = {}
        self.announced: dict[str, str] = {}

    def record(self, charge: Charge, scene: Scene, now: int) -> None:
        """Record a request's usage, as the provider reports it."""
        usage = {
            "input_tokens": charge.tokens - charge.read - charge.written,
            "cache_read_input_tokens": charge.read,
            "cache_creation_input_tokens": charge.written,
        }
        model = self.run.model_name(scene)
        self.conversation.record_usage(usage, model=model, now=START + timedelta(seconds=now))

    def requests(self, number: int, scene: Scene, now: int) -> Iterator[dict[str, Any]]:
        facts = facts_of(scene)
        if not self.in_prompt:
            self.in_prompt = self.announced = facts
        workspace, agent = workspace_of(self.project, scene), agent_of(scene, self.run, self.in_prompt)
        conversation = self.conversations.open("t", workspace, agent, "foreword", assignments=[("on.turn", "append")])
        self.conversation, time = conversation, START + timedelta(seconds=now)
        if scene.is_compacted:
            yield self.request(conversation.compact(messages=self.history), scene)
            self.history = [user_message(summary())]
        if changed := [text for name, text in facts.items() if self.announced.get(name) != text]:
            conversation.send_message("\n".join(changed))
            self.announced = facts
        turn = conversation.turn(request_text(number), self.history, time)
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


CONTENDERS: Mapping[str, type[Concatenation] | type[Foreword]] = {
    "clock first": Concatenation,
    "clock last": ClockLast,
    "rebuild": AlwaysRebuild,
    "whole file": WholeFile,
    "Foreword": Foreword,
}
RIVALS = tuple(CONTENDERS)[:-1]


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
        for index, request in enumerate(contender.requests(number, scene, now)):
            charge = cache.send(request, models[scene.model], now)
            contender.record(charge, scene, now)
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
    if scene.edits is not None:
        (project.top / "AGENTS.md").write_text(rules_text(scene.edits))


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


def measure(
    scenario: Scenario, run: Run = RUNS[0], names: Sequence[str] = tuple(CONTENDERS), *, is_estimated: bool = False
) -> dict[str, Bill]:
    """Return the contenders' bills for one scenario. Each uses a new workspace at the same path, because the prompt contains the path."""
    models = models_of(run, is_estimated)
    scenes = [scenario.scene(turn, Scene(tools=tools())) for turn in range(scenario.turns or TURNS)]
    bills: dict[str, Bill] = {}
    with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
        for name in names:
            project = fixture.build(Path(folder) / "work")
            bills[name] = add_up(CONTENDERS[name](project, run), scenes, project, models)
            rmtree(project.top.parent)
    return bills


def ratio(rival: Bill, ours: Bill) -> float:
    """Return the cost of another way as a multiple of Foreword's."""
    return rival.dollars / ours.dollars


def _rounded_down(number: float) -> str:
    """Return a ratio with three decimals, never more than it is."""
    return f"{floor(number * 1000) / 1000:.3f}x"


def lines(runs: Sequence[Run] = RUNS, scenarios: Sequence[Scenario] = SCENARIOS) -> Iterator[str]:
    """Yield the lines of the tables: for each scenario, how much of the prefix Foreword kept when something changed, what all turns cost
    with Foreword, and what the others cost as a multiple of that. A multiple below 1 is a loss; the last lines count them.
    """
    width = max(len(scenario.name) for scenario in scenarios)
    losses: list[str] = []
    count = 0
    for run in runs:
        yield f"prompt cache, {TURNS} turns of {run.model} (switch: {run.other_model}): prefix kept, cost of all turns, and that of others as a multiple"
        yield f"{'':{width}}  {'changes':>7}  {'kept':>6}  {'Foreword':>8}" + "".join(
            f"  {name:>11}" for name in RIVALS
        )
        for scenario in scenarios:
            bills = measure(scenario, run)
            ours = bills["Foreword"]
            ratios = {name: ratio(bills[name], ours) for name in RIVALS}
            cells = "".join(f"  {_rounded_down(number):>11}" for number in ratios.values())
            yield f"{scenario.name:{width}}  {len(ours.kept):7}  {ours.share_kept:6.1%}  {f'${ours.dollars:.3f}':>8}{cells}"
            count += len(ratios)
            losses += [
                f"{scenario.name}, {run.model}: {name} costs {_rounded_down(number)}"
                for name, number in ratios.items()
                if number < 1
            ]
        yield ""
    yield f"Foreword costs more in {len(losses)} of {count} comparisons"
    yield from losses


if __name__ == "__main__":
    chosen = [run for run in RUNS if run.model in sys.argv[1:]] or RUNS
    for line in lines(chosen):
        print(line, flush=True)
