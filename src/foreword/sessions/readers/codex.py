"""Read the logs of Codex CLI: one rollout per thread, `sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl`.

The items of the conversation are logged as they are sent; the tools are not, and the base instructions are sent without some of their
sections. A sub-agent has a rollout of its own, which names its parent.
"""

from __future__ import annotations

import os
import re

from ..pages import Pages
from ..values import TokenCounts
from .composing import split_clock
from .jsonl import JsonLog
from .rows import PICTURE, NoTexts, json_text, number, remember, string, without_pictures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..records import LogRecord
    from ..values import LogPart, SessionLog
    from .lines import LogFile
    from .rows import Texts

AGENT = "codex"
TITLES = ("codex-cli", "codex cli")
PROVIDER = "openai"
SKIPPED = frozenset("ghost_snapshot session_state world_state_snapshot".split())
_ANSWERS = frozenset(
    "function_call custom_tool_call local_shell_call reasoning web_search_call tool_search_call".split()
)
_ID = re.compile(r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$")
# How a line begins, up to the type of its row.
_START = rb'\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":'
_PROJECT_MARK = "\n\n--- project-doc ---\n\n"


def find_logs(home: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the paths of all rollouts."""
    base = environment.get("CODEX_HOME") or os.path.join(home, ".codex")
    for name in ("sessions", "archived_sessions"):
        for folder, folders, files in os.walk(os.path.join(base, name)):
            folders.sort()
            yield from (os.path.join(folder, file) for file in sorted(files) if file.endswith(".jsonl"))


def read_log(file: LogFile, texts: Texts) -> SessionLog:
    """Read one rollout."""
    return _Rollout(file.path, texts).read(file)


def read_figures(file: LogFile, start: int = 0, known: LogRecord | None = None) -> SessionLog | None:
    """Return a log without what its requests were made of, or None if that matters or the log has grown."""
    return None if known else _Rollout(file.path, NoTexts()).read_figures(file)


class _Rollout(JsonLog):
    agent = AGENT
    unread = re.compile(_START + rb'"event_msg","payload":\{"type":"(?!token_count")')
    text_rows = re.compile(_START + rb'"(?:response_item|world_state)"')
    file_rows = re.compile(
        _START + rb'"response_item"(?=.*(?:"agents_md|AGENTS\.md instructions for |<user_instructions>))'
    )

    def __init__(self, path: str, texts: Texts) -> None:
        super().__init__(path, texts)
        self.meta: dict[str, Any] = {}
        self.sums: set[int] = set()  # hashes of those of `token_count`, for versions without `token_usage_record`
        self.is_recorded = False
        self.calls: dict[str, str] = {}
        self.settings: tuple[tuple[str, str], ...] = ()
        self.directory = ""

    def _row(self, row: dict[str, Any]) -> None:
        kind, payload = row.get("type"), row.get("payload")
        if not isinstance(payload, dict) or not isinstance(kind, str):
            return
        add = getattr(self, _ROWS.get(kind, ""), None)
        if add is not None:
            add(payload)
        elif kind not in SKIPPED:
            self._unknown(kind)

    def _add_meta(self, payload: dict[str, Any]) -> None:
        if self.meta:
            return  # a resumed or forked thread repeats the rows of the one that it continues
        self.meta, self.version = payload, string(payload, "cli_version")
        self.cwd, self.branch = string(payload, "cwd"), string(payload.get("git"), "branch")
        self.composer.head = (*self.composer.head, *self._base(string(payload.get("base_instructions"), "text")))

    def _base(self, text: str) -> list[LogPart]:
        return split_clock(self.texts, text, "system") if text else []

    def _add_context(self, payload: dict[str, Any]) -> None:
        self.model = string(payload, "model") or self.model
        effort = string(payload, "effort", "reasoning_effort")
        self.settings = (("effort", effort),) if effort else ()

    def _add_world(self, payload: dict[str, Any]) -> None:
        state = payload.get("state")
        agents = state.get("agents_md") if isinstance(state, dict) else None
        self.directory = string(agents, "directory") or self.directory

    def _add_item(self, payload: dict[str, Any]) -> None:
        parts, is_answer = self._item(payload)
        if not is_answer:
            self.sent = self.time
        self.composer.add(parts, is_answer)

    def _item(self, payload: dict[str, Any]) -> tuple[list[LogPart], bool]:
        """Return the parts of an item of the conversation, and whether the model wrote it."""
        kind = string(payload, "type")
        if kind == "message":
            role = string(payload, "role")
            return self._message(payload, role), role == "assistant"
        if kind.endswith("_output"):
            name = self.calls.get(string(payload, "call_id"), "")
            output, pictures = without_pictures(payload.get("output"))
            part = self.texts.part("result", output if isinstance(output, str) else json_text(output), name)
            return [part._replace(size=part.size + pictures * PICTURE)], False
        if kind in _ANSWERS:
            name = string(payload, "name") or kind
            if string(payload, "call_id"):
                remember(self.calls, string(payload, "call_id"), name)
            text = string(payload, "arguments", "input") or json_text(
                payload.get("action") or payload.get("summary") or ""
            )
            return [self.texts.part("answer", text, name)], True
        return [self.texts.part("message", json_text(payload))], False

    def _message(self, payload: dict[str, Any], role: str) -> list[LogPart]:
        content = payload.get("content")
        entries = content if isinstance(content, list) else []
        passed = payload.get("internal_chat_message_metadata_passthrough")
        kinds = passed.get("content_item_kinds") if isinstance(passed, dict) else None
        parts: list[LogPart] = []
        for index, entry in enumerate(entries):
            kind = kinds[index] if isinstance(kinds, list) and index < len(kinds) else ""
            text = string(entry, "text")
            if text:
                parts += self._text(text, role, str(kind))
            else:
                part = self.texts.part("message", json_text(without_pictures(entry)[0]))
                parts.append(part._replace(size=PICTURE))
        return parts

    def _text(self, text: str, role: str, kind: str) -> list[LogPart]:
        if role == "assistant":
            return [self.texts.part("answer", text)]
        if kind.startswith("agents_md") or text.startswith(("# AGENTS.md instructions for ", "<user_instructions>")):
            return self._instructions(text)
        if "skills" in kind or text.startswith("<skills_instructions>"):
            return self._skills(text)
        if kind.startswith("environments") or text.startswith("<environment_context>"):
            return split_clock(self.texts, text, "environment")
        if role in ("developer", "system") or (kind and not kind.startswith("user") and kind != "unknown"):
            return split_clock(self.texts, text, kind.partition(".")[0] or "developer")
        return [self.texts.part("message", text)]

    def _instructions(self, text: str) -> list[LogPart]:
        """Return the parts of the joined instruction files. The user's own comes first; the others are not told apart."""
        start = text.find("<INSTRUCTIONS>\n")
        end = text.rfind("\n</INSTRUCTIONS>")
        if start < 0 or end < 0:
            return [self.texts.part("file", text, path=self._file(text))]
        start += len("<INSTRUCTIONS>\n")
        body = text[start:end]
        user, mark, project = body.partition(_PROJECT_MARK)
        parts = [self.texts.part("prompt", text[:start], "instructions")]
        if mark:
            base = self.path.replace("\\", "/").partition("/sessions/")[0]
            parts.append(self.texts.part("file", user, path=f"{base}/AGENTS.md"))
            parts.append(self.texts.part("prompt", mark, "instructions"))
        parts.append(self.texts.part("file", project if mark else body, path=self._file(text)))
        return [*parts, self.texts.part("prompt", text[end:], "instructions")]

    def _file(self, text: str) -> str:
        named = re.match(r"# AGENTS\.md instructions for (.+)", text)
        folder = named[1].strip() if named else self.directory or string(self.meta, "cwd")
        separator = "\\" if "\\" in folder and "/" not in folder else "/"
        return f"{folder}{separator}AGENTS.md"

    def _skills(self, text: str) -> list[LogPart]:
        parts: list[LogPart] = []
        for line in text.split("\n"):
            named = re.match(r"- ([\w.:-]+): ", line)
            part = self.texts.part("skills" if named else "prompt", line + "\n", named[1] if named else "skills")
            parts.append(part)
        return parts

    # Usage and events

    def _add_usage(self, payload: dict[str, Any]) -> None:
        key = string(payload, "response_id") or f"{len(self.requests)}"
        self._add_request(f"{key}|{string(payload, 'thread_id')}", payload.get("usage"))
        self.is_recorded = True

    def _add_request(self, key: str, usage: Any) -> None:
        self._request(key, _tokens(usage), identity=key, settings=self.settings)

    def _add_event(self, payload: dict[str, Any]) -> None:
        """Add a request that has no record of its own, as in older versions. Where it has one, the count follows it."""
        info = payload.get("info")
        if payload.get("type") != "token_count" or not isinstance(info, dict):
            return
        total = json_text(info.get("total_token_usage"))
        if hash(total) not in self.sums and not self.is_recorded:
            self._add_request(f"{total}|{self.time}", info.get("last_token_usage"))
        self.sums.add(hash(total))
        self.is_recorded = False

    def _add_compaction(self, payload: dict[str, Any]) -> None:
        if len(self.requests) and self.requests.last().kind == "turn":  # the request before it wrote the summary
            self.requests.replace_last(self.requests.last()._replace(kind="compaction"))
        self._event("compaction", f"{len(self.events)}||")
        history = payload.get("replacement_history")
        parts: list[LogPart] = []
        for item in history if isinstance(history, list) else ():
            if isinstance(item, dict):
                parts += self._item(item)[0]
        if not parts and string(payload, "message"):
            parts = [self.texts.part("summary", string(payload, "message"))]
        self.composer.restart(parts)

    def log(self) -> SessionLog:
        log = super().log()
        found = _ID.search(self.path)
        own = string(self.meta, "id") or (found[1] if found else os.path.basename(self.path))
        is_sub = string(self.meta, "thread_source") == "subagent" or bool(string(self.meta, "parent_thread_id"))
        parent = string(self.meta, "parent_thread_id")
        session = (string(self.meta, "session_id") or parent or own) if is_sub else own
        if is_sub:
            requests = Pages(request._replace(thread=own) for request in log.requests).frozen()
            log = log._replace(
                thread=own, requests=requests, events=tuple(event._replace(thread=own) for event in log.events)
            )
        return log._replace(session=session, parent=parent if parent != session else "")


_ROWS = {
    "session_meta": "_add_meta",
    "turn_context": "_add_context",
    "world_state": "_add_world",
    "response_item": "_add_item",
    "token_usage_record": "_add_usage",
    "event_msg": "_add_event",
    "compacted": "_add_compaction",
}


def _tokens(usage: Any) -> TokenCounts:
    total = number(usage, "input_tokens")
    read = min(number(usage, "cached_input_tokens"), total)
    written = min(number(usage, "cache_write_input_tokens"), total - read)
    return TokenCounts(total - read - written, written, read, number(usage, "output_tokens"))
