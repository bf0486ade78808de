"""The sessions that released agents are driven through: a script for each, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Turn:
    """One run of the program: the user's message, other arguments, and what happens before it.

    `cause` is the cause of the collapse that it leads to, if it leads to one, or several divided by `|`. Empty if the cache has to be kept.
    """

    message: str
    cause: str = ""
    new: bool = False
    swap: dict[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # configuration files
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
        Turn("After the compaction.", "compaction"),
    ],
    "pi-agent": [Turn("read", new=True), Turn("Second turn."), Turn("After an edit.", "file", edit=1)],
    "gemini": [Turn("read", new=True), Turn("Second turn.", "message|unknown"), Turn("After an edit.", "file", edit=1)],
    "qwen": [Turn("read", new=True), Turn("Second turn."), Turn("After an edit.", "unknown", edit=1)],
    "opencode": [Turn("read", new=True), Turn("Second turn."), Turn("After an edit.", "unknown", edit=1)],
}


def with_pause(turns: list[Turn], lifetime: int) -> list[Turn]:
    """Return a script with a pause after its second turn that is longer than the caches last."""
    pause = replace(turns[1], message="After a pause.", cause="lifetime|unknown", pause=lifetime + 5, edit=0)
    return [*turns[:2], pause, *turns[2:]]


# Random sessions

# What can happen in a session of each program, besides a plain turn.
EVENTS = {
    "claude": ("read", "edit", "sub-agent", "compaction", "model", "server", "fork"),
    "codex": ("read", "edit", "model", "server", "fork"),
    "copilot": ("read", "edit", "compaction", "server"),  # a resumed session keeps its model
    "pi-agent": ("read", "edit", "fork"),
    "gemini": ("read", "edit", "model", "server"),
    "qwen": ("read", "edit", "model", "server", "fork"),
    "opencode": ("read", "edit", "server", "fork"),
}
# The cause of the collapse after an edited file; programs that are not listed append the new text, which keeps the cache.
EDITED = {"copilot": "file", "pi-agent": "file", "gemini": "file", "qwen": "unknown", "opencode": "unknown"}
# The same after a turn in which a file was read: Copilot CLI forgets the instructions that it brought, Gemini CLI sends the tool call
# without its signature, which is not in the log, and the result twice, and Qwen Code sends a reminder, which is not in the log either,
# only with the newest message, so that the message before the file changes.
RESUMED = {"copilot": "file", "gemini": "message|unknown", "qwen": "unknown"}
# What changes in all later turns when another model is used, a server is added, or only in the next one when the session is forked.
MODELS: dict[str, dict[str, Any]] = {
    "codex": {"swap": {"peer": "other"}},
    "gemini": {"swap": {"gemini-2.5-pro": "gemini-2.5-flash"}},
    "qwen": {"env": {"OPENAI_MODEL": "other"}},
}
GEMINI_SETTINGS = (
    '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},'
    ' "general": {"enableAutoUpdate": false}, "mcpServers": {"late": {"command": "{python}", "args": ["{server}"], "trust": true}}}'
)
OPENCODE_SETTINGS = '{"mcp": {"late": {"type": "local", "command": ["{python}", "{server}"], "enabled": true}}}'
SERVERS: dict[str, dict[str, Any]] = {
    "claude": {"extra": ("--mcp-config", MCP)},
    "codex": {"extra": ("-c", 'mcp_servers.late={command="{python}",args=["{server}"]}')},
    "copilot": {"extra": ("--additional-mcp-config", MCP)},
    "gemini": {"files": {"home/.gemini/settings.json": GEMINI_SETTINGS}},
    "qwen": {"extra": ("--mcp-config", MCP)},
    "opencode": {"files": {"home/.config/opencode/opencode.json": OPENCODE_SETTINGS}},
}
FORKS: dict[str, dict[str, Any]] = {
    "claude": {"extra": ("--fork-session",)},
    "codex": {"swap": {"resume": "fork", "--last": "{session}"}},
    "pi-agent": {"swap": {"--continue": ""}, "extra": ("--fork", "{session}")},
    "qwen": {"extra": ("--fork-session",)},
    "opencode": {"extra": ("--fork",)},
}
# The cause of the collapse in a fork: OpenCode offers another list of tools.
FORKED = {"opencode": "unknown"}
# The cause of the collapse after a late server. Only Claude Code logs the names of tools, and only Copilot CLI their number.
SERVED = {"claude": "server", "copilot": "tool"}
TURNS = 8


def random_script(name: str, seed: int) -> list[Turn]:
    """Return a session of random events. Every turn is a new process, so all but the first resume the session."""
    chance = random.Random(f"{name} {seed}")
    first = Turn("read" if chance.random() < 0.5 else "First turn.", new=True)
    if name == "claude":  # which offers all tools, because otherwise a late one is announced in a message
        first = replace(first, extra=OPUS, env=ALL_TOOLS)
    return list(_continue(name, first, chance))


def _continue(name: str, first: Turn, chance: random.Random) -> Iterator[Turn]:
    yield first
    edits, is_switched, has_read = 0, False, first.message == "read"
    base, has_server, has_called = replace(first, new=False), False, has_read
    for number in range(2, TURNS + 1):
        event = chance.choice(("plain", *EVENTS[name]))
        turn = replace(base, message=f"Turn {number}.", cause=RESUMED.get(name, "") if has_read else "")
        has_read = False
        if event == "edit":
            edits += 1
            turn = replace(turn, edit=edits, cause=EDITED.get(name, ""))
        elif event == "read":
            turn, has_read, has_called = replace(turn, message="read"), True, True
        elif event == "sub-agent":
            turn = replace(turn, message=SUB_AGENT)
        elif event == "compaction":
            yield replace(turn, message="/compact", cause="")
            # The summary of Copilot CLI has the user's messages, so the provider makes the call in the last of them again.
            turn, has_read = replace(turn, cause="compaction"), has_called
        elif event == "fork":
            turn = _with(replace(turn, cause=FORKED.get(name, turn.cause)), FORKS[name])
        elif event == "server" and not has_server:
            has_server, base = True, _with(base, SERVERS[name])
            turn = replace(base, message=turn.message, cause=SERVED.get(name, "unknown"))
        elif event == "model":
            is_switched = not is_switched
            base = _with_model(base, name, is_switched)
            turn = replace(base, message=turn.message, cause="model")
        yield turn


def _with(turn: Turn, added: Mapping[str, Any]) -> Turn:
    """Return a turn with more arguments, variables, files or replaced words."""
    return replace(
        turn,
        swap=turn.swap | added.get("swap", {}),
        extra=(*turn.extra, *added.get("extra", ())),
        env=turn.env | added.get("env", {}),
        files=turn.files | added.get("files", {}),
    )


def _with_model(turn: Turn, name: str, is_switched: bool) -> Turn:
    if name == "claude":
        extra = tuple(word for word in turn.extra if word not in (*OPUS, *SONNET))
        return replace(turn, extra=(*(SONNET if is_switched else OPUS), *extra))
    if is_switched:
        return _with(turn, MODELS[name])
    added = {word for words in MODELS[name].values() for word in words}
    swap, env = ({key: word for key, word in words.items() if key not in added} for words in (turn.swap, turn.env))
    return replace(turn, swap=swap, env=env)
