"""The sessions that released agents are driven through: a script for each, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Turn:
    """One run of the program: the user's message, other arguments, and what happens before it.

    `cause` is the cause of the collapse that it leads to, or empty if the cache has to be kept. None if the log cannot show it.
    """

    message: str
    cause: str | None = ""
    new: bool = False
    swap: dict[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    edit: int = 0  # how many times the instruction files have been edited, if they are edited before this turn
    pause: int = 0


READ = {
    "claude": '[[call Read {"file_path": "{file}"}]] [[call Bash {"command": "echo hi"}]]',
    "codex": '[[call exec_command {"cmd": "cat {file}"}]]',
    "copilot": '[[call view {"path": "{file}"}]]',
    "pi-agent": '[[call read {"path": "{file}"}]]',
    "gemini": '[[call read_file {"file_path": "{file}"}]]',
    "qwen": '[[call read_file {"file_path": "{file}", "absolute_path": "{file}"}]]',
    "opencode": '[[call read {"filePath": "{file}"}]]',
}
SUB_AGENT = (
    '[[call Agent {"description": "look", "prompt": "Please look. ((call Read {\\"file_path\\": \\"{file}\\"}))",'
    ' "subagent_type": "general-purpose"}]]'
)
MCP = '{"mcpServers": {"late": {"command": "{python}", "args": ["{server}"]}}}'
OPUS = ("--model", "claude-opus-5-5")
SONNET = ("--model", "claude-sonnet-5-5")
ALL_TOOLS = {
    "ENABLE_TOOL_SEARCH": "false"
}  # otherwise most tools are announced in messages, and a late one changes nothing
SCRIPTS: dict[str, list[Turn]] = {
    "claude": [
        Turn("read", new=True, extra=OPUS),
        Turn("Second turn.", extra=OPUS),
        Turn("After an edit.", edit=1, extra=OPUS),
        Turn(SUB_AGENT, extra=OPUS),
        Turn("/compact", extra=OPUS),
        Turn("After the compaction.", "compaction", extra=OPUS),
        Turn("Another model.", "model", extra=SONNET, env=ALL_TOOLS),
        Turn("Fewer tools.", "tool", extra=(*SONNET, "--disallowedTools", "Edit"), env=ALL_TOOLS),
        Turn(
            "A late server.", "server", extra=(*SONNET, "--disallowedTools", "Edit", "--mcp-config", MCP), env=ALL_TOOLS
        ),
        Turn(
            "A fork.",
            extra=(*SONNET, "--disallowedTools", "Edit", "--mcp-config", MCP, "--fork-session"),
            env=ALL_TOOLS,
        ),
    ],
    "codex": [
        Turn("read", new=True),
        Turn("Second turn."),
        Turn("After an edit.", edit=1),
        Turn("Another model.", "model", swap={"peer": "other"}),
        Turn(
            "A late server.",
            "unknown",
            swap={"peer": "other"},
            extra=("-c", 'mcp_servers.late={command="{python}",args=["{server}"]}'),
        ),
    ],
    "copilot": [
        Turn("read", new=True),
        Turn("Second turn.", "file"),
        Turn("After an edit.", "file", edit=1),
        Turn("/compact"),
        Turn("After the compaction.", None),
    ],
    "pi-agent": [Turn("read", new=True), Turn("Second turn."), Turn("After an edit.", "file", edit=1)],
    "gemini": [Turn("read", new=True), Turn("Second turn.", None), Turn("After an edit.", "file", edit=1)],
    "qwen": [Turn("read", new=True), Turn("Second turn."), Turn("After an edit.", "unknown", edit=1)],
    "opencode": [Turn("read", new=True), Turn("Second turn."), Turn("After an edit.", None, edit=1)],
}
PAUSE = Turn("After a pause.", "lifetime", extra=OPUS, pause=305)


# Random sessions

# What can happen in a session of each program, besides a plain turn.
EVENTS = {
    "claude": ("read", "edit", "sub-agent", "compaction", "model"),
    "codex": ("read", "edit", "model"),
    "copilot": ("read", "edit", "compaction"),
    "pi-agent": ("read", "edit"),
    "gemini": ("read", "edit"),
    "qwen": ("read", "edit"),
    "opencode": ("read", "edit"),
}
# The cause of the collapse after an edited file; programs that are not listed append the new text, which keeps the cache.
EDITED = {"copilot": "file", "pi-agent": "file", "gemini": "file", "qwen": "unknown", "opencode": None}
TURNS = 8


def random_script(name: str, seed: int) -> list[Turn]:
    """Return a session of random events. Every turn is a new process, so all but the first resume the session."""
    chance = random.Random(f"{name} {seed}")
    first = Turn("read" if chance.random() < 0.5 else "First turn.", new=True, extra=OPUS if name == "claude" else ())
    return list(_continue(name, first, chance))


def _continue(name: str, first: Turn, chance: random.Random) -> Iterator[Turn]:
    yield first
    edits, is_switched, has_discovered = 0, False, first.message == "read"
    base = replace(first, new=False)
    for number in range(2, TURNS + 1):
        event = chance.choice(("plain", *EVENTS[name]))
        # Copilot CLI forgets in each process what it discovered in the one before. Gemini CLI may rewrite its first message.
        cause = "file" if name == "copilot" and has_discovered else None if name == "gemini" else ""
        turn = replace(base, message=f"Turn {number}.", cause=cause)
        has_discovered = False
        if event == "edit":
            edits += 1
            turn = replace(turn, edit=edits, cause=EDITED.get(name, ""))
        elif event == "read":
            turn, has_discovered = replace(turn, message="read"), True
        elif event == "sub-agent":
            turn = replace(turn, message=SUB_AGENT)
        elif event == "compaction":
            yield replace(turn, message="/compact", cause="")
            turn = replace(turn, cause="compaction" if name == "claude" else None)
        elif event == "model":
            # The first model may still have most of the session in its cache.
            is_switched, cause = not is_switched, None if is_switched else "model"
            base = _with_model(base, name, is_switched)
            turn = replace(base, message=turn.message, cause=cause)
        yield turn


def _with_model(turn: Turn, name: str, is_switched: bool) -> Turn:
    if name == "claude":
        return replace(turn, extra=SONNET if is_switched else OPUS)
    return replace(turn, swap={"peer": "other"} if is_switched else {})
