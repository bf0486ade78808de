"""Compare plain concatenation with Foreword in sixteen situations that have broken real agents' prompt caches.

Both run the same thirty turns of a small scenario in which one thing changes. The concatenator puts everything it knows into the
system prompt and rebuilds it for every request, as many agents do. Foreword runs real conversations; facts that do not belong in a system
prompt (time, git, memory, title) are sent as a message when they change, so that the model has the same information. Requests are built for
Anthropic, with breakpoints where the provider module sets them and one after the last message, and compared byte by byte. The cache is
assumed not to expire between turns. Tokens are counted for the model and priced with the shipped table; no figure is hard-coded.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import fixture
from foreword import Agent, Conversations, Tool, Workspace
from foreword.inspection.cache import Segment, count_kept, segments_of, with_last_breakpoint
from foreword.inspection.price_list import read_prices
from foreword.inspection.prices import MILLION, Price, ProviderRules
from foreword.providers.anthropic import for_anthropic
from foreword.text.tokens import count
from foreword.vocabulary import Turn

TURNS, MIDDLE = 30, 15
MODEL, OTHER_MODEL = "claude-sonnet-5", "claude-opus-5"
IDENTITY = "You are a coding agent at work in a user's project. Read before you write, and check what you did.\n"
SUMMARISER = "You write summaries of conversations. Keep what matters for the work to go on."


class Scene(NamedTuple):
    """The state of the scenario in one turn."""

    time: str = "2026-11-14 09:00"
    date: str = "2026-11-14"
    folder: str = ""
    git: str = "On branch main, nothing to commit."
    memory: str = "Nothing was remembered."
    title: str = "Untitled"
    plan: str = "1. Look around."
    release: str = "1.0"
    model: str = MODEL
    tools: tuple[Tool, ...] = ()
    added_skills: tuple[str, ...] = ()
    is_listed_backwards: bool = False
    process: int = 1
    is_compacted: bool = False


class Scenario(NamedTuple):
    """A situation that breaks a cache: its name, and a function that returns the scene for each turn."""

    name: str
    scene: Callable[[int, Scene], Scene]


def tools(names: Sequence[str] = fixture.TOOLS, session: str = "") -> tuple[Tool, ...]:
    """Tools with descriptions of realistic length."""
    rows = [fixture.tool(name) for name in names]
    details = (
        "It takes a path and says what it found there. Prefer it to the shell, and give it one path at a time. " * 8
    )
    link = f" Logs: https://logs.example/{session}" if session else ""
    return tuple(Tool(str(row["name"]), f"{row['description']} {details}{link}", schema=row["schema"]) for row in rows)  # type: ignore[arg-type]


def switch_at(turn: int, at: int, then: Scene, before: Scene) -> Scene:
    return then if turn >= at else before


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
        "skill order", lambda turn, base: base._replace(is_listed_backwards=turn // 10 % 2 == 1, process=turn // 10)
    ),
    Scenario(
        "late MCP server",
        lambda turn, base: switch_at(turn, 3, base._replace(tools=base.tools + tools(["mcp_a", "mcp_b"])), base),
    ),
    Scenario(
        "resume",
        lambda turn, base: switch_at(
            turn, MIDDLE, base._replace(process=2, time="2026-11-14 09:30", tools=base.tools[1:] + base.tools[:1]), base
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
    Scenario("model switch", lambda turn, base: base._replace(model=OTHER_MODEL if 10 <= turn < 20 else MODEL)),
)


# The two contenders, which build the requests for each turn


class Concatenation:
    """Concatenates everything it knows anew for each request."""

    def __init__(self, project: fixture.Fixture) -> None:
        self.project = project
        self.history: list[Mapping[str, Any]] = []

    def requests(self, number: int, scene: Scene) -> Iterator[dict[str, Any]]:
        if scene.is_compacted:
            yield for_anthropic(Turn("", 1, False, SUMMARISER, [*self.history, user_message("Sum up.")], ()))
            self.history = [user_message(summary())]
        self.history.append(user_message(request_text(number)))
        turn = Turn("", 1, False, self.system(scene), self.history, [definition(tool) for tool in scene.tools])
        yield for_anthropic(turn)
        self.history = [*self.history, assistant_message(number)]

    def system(self, scene: Scene) -> str:
        cwd = self.project.cwd / scene.folder
        files = [path / "AGENTS.md" for path in (*reversed(self.project.cwd.parents), self.project.cwd)]
        skills = sorted((self.project.top / ".agents" / "skills").iterdir(), reverse=scene.is_listed_backwards)
        heads = [(path / "SKILL.md").read_text().split("---")[1].strip() for path in skills]
        return "\n\n".join(
            [
                f"{IDENTITY}You are release {scene.release}, on {scene.model}.",
                f"Today is {scene.date}. The time is {scene.time}. Working directory: {cwd}\n{scene.git}",
                *(path.read_text() for path in files if path.is_file() and path.is_relative_to(self.project.top)),
                "Skills:\n" + "\n".join(heads),
                f"Title: {scene.title}",
                f"Memory: {scene.memory}",
                f"Plan:\n{scene.plan}",
            ]
        )


class Foreword:
    """A conversation with the `foreword` layout, in which changes are sent as messages and the prompt stays the same."""

    def __init__(self, project: fixture.Fixture) -> None:
        self.project = project
        self.conversations = Conversations(":memory:")
        self.history: list[Mapping[str, Any]] = []
        self.announced: dict[str, str] = {}

    def requests(self, number: int, scene: Scene) -> Iterator[dict[str, Any]]:
        agent = Agent(scene.tools, scene.model, base=f"{IDENTITY}You are release {scene.release}.", plan=scene.plan)
        workspace = Workspace(str(self.project.cwd / scene.folder), home=str(self.project.home))
        conversation = self.conversations.open("t", workspace, agent, "foreword", assignments=[("on.turn", "append")])
        if scene.is_compacted:
            yield for_anthropic(conversation.compact(messages=self.history))
            self.history = [user_message(summary())]
        for name in ("time", "date", "git", "memory", "title", "model"):
            current = getattr(scene, name)
            if self.announced.get(name) != current:
                conversation.send_message(f"The {name} is now: {current}")
                self.announced[name] = current
        turn = conversation.turn(request_text(number), self.history)
        yield for_anthropic(turn)
        self.history = [*turn.history, assistant_message(number)]


def user_message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def request_text(number: int) -> str:
    return f"Step {number}: look at the module, mend what is wrong there, and say what you did."


def assistant_message(number: int) -> dict[str, str]:
    return {"role": "assistant", "content": fixture.fill(f"Step {number}. ", f"What I found in step {number}", 3000)}


def summary() -> str:
    return fixture.fill("Summary. ", "What was done", 2000)


def definition(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "schema": tool.schema or {}}


# The provider and its prices


class Bill(NamedTuple):
    """The total cost of a contender's requests and, for each change, how many tokens were cached before it and how many were kept."""

    dollars: float
    kept: tuple[int, ...]
    cached_before: tuple[int, ...]

    @property
    def mean_kept(self) -> str:
        """The mean number of tokens kept and of tokens cached before, over all changes."""
        return f"{sum(self.kept) // len(self.kept):,} of {sum(self.cached_before) // len(self.cached_before):,}"


def add_up(
    contender: Concatenation | Foreword,
    scenes: Sequence[Scene],
    project: fixture.Fixture,
    rules: ProviderRules,
    price: Price,
) -> Bill:
    """Send every request to a simulated provider that caches the last request of each model."""
    sent: dict[str, list[Segment]] = {}
    dollars = 0.0
    kept: list[int] = []
    cached_before: list[int] = []
    for number, scene in enumerate(scenes):
        apply_scene(project, scene)
        for index, request in enumerate(contender.requests(number, scene)):
            segments = with_last_breakpoint(segments_of(request, rules.order))
            before = sent.get(scene.model, [])
            total, _, kept_tokens = count_kept(before, segments, rules, price, tokens_in)
            dollars += (kept_tokens * price.read + (total - kept_tokens) * price.write) / MILLION
            is_changed = number > 0 and scene._replace(process=1) != scenes[number - 1]._replace(process=1)
            # In a compaction, only the request for the summary counts: afterwards the whole history is new.
            if is_changed and index == 0 and not scenes[number - 1].is_compacted:
                last = sent.get(scene.model) or sent[scenes[number - 1].model]
                kept.append(kept_tokens)
                cached_before.append(sum(tokens_in(segment.text) for segment in last))
            sent[scene.model] = segments
    return Bill(dollars, tuple(kept), tuple(cached_before))


@lru_cache(maxsize=20_000)
def tokens_in(text: str) -> int:
    return count(text, MODEL).count


def apply_scene(project: fixture.Fixture, scene: Scene) -> None:
    (project.cwd / "docs").mkdir(exist_ok=True)
    for name in scene.added_skills:
        path = project.top / ".agents" / "skills" / name / "SKILL.md"
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_text(f"---\nname: {name}\ndescription: Came while the conversation went on.\n---\nBody.\n")


def measure(scenario: Scenario) -> tuple[Bill, Bill]:
    """Both contenders' bills for one scenario. Each runs in its own workspace."""
    table = read_prices()
    rules = next(provider for provider in table.providers if provider.name == "anthropic")
    price = table.price_of(rules, MODEL)
    assert price is not None
    scenes = [scenario.scene(turn, Scene(tools=tools())) for turn in range(TURNS)]
    bills: list[Bill] = []
    for contender_class in (Concatenation, Foreword):
        with tempfile.TemporaryDirectory(prefix="foreword-bench-") as folder:
            project = fixture.build(Path(folder) / contender_class.__name__[0])
            bills.append(add_up(contender_class(project), scenes, project, rules, price))
    return bills[0], bills[1]


def lines() -> Iterator[str]:
    """Yield the lines of the table: for each scenario, the prefix tokens kept when something changed, and the cost of all turns."""
    yield f"prompt cache, {TURNS} turns of {MODEL} on Anthropic: mean prefix tokens kept when something changed, and the cost of all turns"
    width = max(len(scenario.name) for scenario in SCENARIOS)
    yield f"{'':{width}}  {'changes':>7}  {'kept, concatenated':>18}  {'kept, Foreword':>16}  {'concatenated':>12}  {'Foreword':>8}  {'ratio':>6}"
    for scenario in SCENARIOS:
        concatenated, foreword_bill = measure(scenario)
        money = f"{f'${concatenated.dollars:.3f}':>12}  {f'${foreword_bill.dollars:.3f}':>8}  {concatenated.dollars / foreword_bill.dollars:5.2f}x"
        yield f"{scenario.name:{width}}  {len(concatenated.kept):7}  {concatenated.mean_kept:>18}  {foreword_bill.mean_kept:>16}  {money}"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
