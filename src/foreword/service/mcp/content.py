"""What the MCP server offers: the prompt, the skills, the tools and a prompt for each layout. Nothing here depends on the protocol.

foreword://prompt            the prompt that `foreword show --tool use_skill` prints
foreword://prompt/LAYOUT     the same for another layout
skill://NAME/SKILL.md        a skill, and skill://NAME/PATH for the files that come with it
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from ...conversation.conversation import Conversation
from ...conversation.shipped_definitions import shipped_tools
from ...encoding.agent import scope_form
from ...encoding.prompt import candidate_form
from ...engine.assembler import Assembler
from ...engine.skill_files import MAIN_FILE, SkillFiles, read_skill_files
from ...errors import CallError, ForewordError, MissingError, show
from ...programs.question import Question
from ...programs.questions import candidates_of, layouts
from ...programs.touch import touched_by
from ...sources.front_matter import parse_front_matter
from ...vocabulary import Skill, replace, value
from ...vocabulary.tools import Tool
from ...wire.answers import touched_form
from ..responses import Problem
from ..service import Service, check_layout_name
from ..tokens import UNLIMITED, Caller

PROMPT = "foreword://prompt"
_SKILL = "skill://"
_MAX_ASSEMBLERS = 64
_MAX_CONTENTS = 64
_CWD = {
    "type": "string",
    "description": "The agent's working directory; by default the one the server was started for.",
}
_STRINGS = {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 1000}
_OWN_TOOLS = (
    Tool(
        "why",
        "Lists the instruction files and skills that were considered for the system prompt, and why each is or is not in it."
        " With a path, explains that file only.",
        schema={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "A file or folder, or a file's name. By default everything."},
                "for": {"type": "string", "description": "A file: explain whether the rule `path` applies to it."},
                "cwd": _CWD,
            },
            "additionalProperties": False,
        },
    ),
    Tool(
        "touch",
        "Returns the instructions that apply to files: those of the folders above them, and the rules for their paths."
        " Call it before you read or edit a file in a folder that is new to you.",
        schema={
            "type": "object",
            "properties": {
                "paths": {
                    **_STRINGS,
                    "description": "The files, relative to the working directory. They need not exist.",
                },
                "how": {
                    "type": "string",
                    "enum": ["read", "edit", "create"],
                    "description": "What you will do with the files; by default, read.",
                },
                "cwd": _CWD,
            },
            "required": ["paths"],
            "additionalProperties": False,
        },
    ),
)


@value
class ToolResult:
    """The result of a tool: text for the model, and the same as data if the tool returns any."""

    text: str
    data: Mapping[str, Any] | None = None
    is_error: bool = False


@value
class SkillEntry:
    """A skill as the skills extension lists it: its address, its front matter, and its files with their hashes."""

    uri: str
    front_matter: Mapping[str, Any]
    resources: Sequence[Mapping[str, Any]]


class McpContents:
    """The content for each sender of requests: with its folders, its packs, its template and the conversations that it may see."""

    def __init__(self, service: Service, fields: Mapping[str, Any], conversation: str = "") -> None:
        self._service, self._fields, self._conversation = service, fields, conversation
        self._contents: dict[Caller, McpContent] = {}

    def of(self, caller: Caller = UNLIMITED) -> McpContent:
        """Return what this sender may use. One that sees all teams uses the server's."""
        team = self._fields.get("team") or ""
        if caller.names_team and caller.team != team:
            caller = replace(caller, team=team)
        content = self._contents.get(caller)
        if content is None:
            if len(self._contents) >= _MAX_CONTENTS:
                self._contents.clear()
            content = McpContent(self._service.view(caller), self._fields, self._conversation)
            self._contents[caller] = content
        return content


class McpContent:
    """Answers MCP clients' questions about one working directory, and others in the served folders.

    `fields` are those of a question. With a conversation's id, `use_skill` and `touch` send that conversation only what is new to it;
    without one they always send everything, because a client may have forgotten what it was sent. The working directory of a token
    that may not use the one in `fields` is the first of its own folders.
    """

    def __init__(self, service: Service, fields: Mapping[str, Any], conversation: str = "") -> None:
        self._service, self._fields = service, dict(fields)
        self._cwd = _cwd_for(service, str(fields.get("cwd") or ""))
        self._conversation = conversation
        self._assemblers: dict[tuple[str, str], Assembler] = {}

    @property
    def token(self) -> str:
        """The name of the sender's token."""
        return self._service.caller.name

    # Prompts

    def prompt(self, layout: str = "") -> str:
        """Return the text of the prompt, for the configured layout or another one.

        Unless tools are configured, the agent has `use_skill`, which this server offers, so that the prompt lists the skills.
        """
        tools: dict[str, Any] = {"tools": [{"name": "use_skill"}]} if self._fields.get("tools") is None else {}
        return self._question(layout=check_layout_name(layout), **tools).checked_prompt().text

    def layouts(self) -> list[tuple[str, str]]:
        """Return the names of all layouts that are not mirrors of released programs, each with its description."""
        rows = layouts(self._question().with_fields(layout=""))
        return [(row["name"], row["about"]) for row in rows if isinstance(row, dict) and not row["mirrors"]]

    # Skills

    def skills(self) -> list[Skill]:
        """Return the skills that the layout finds."""
        return self._question().assembler.skills()

    def skill_entries(self) -> list[SkillEntry]:
        """Return every skill with the hashes of its files."""
        assembler = self._question().assembler
        return [_entry(read_skill_files(assembler, skill)) for skill in assembler.skills()]

    def skill_entry(self, uri: str) -> SkillEntry:
        """Return the skill whose SKILL.md has this address."""
        files, path = self._skill_files(uri)
        if path != MAIN_FILE:
            raise MissingError(f"{show(uri)} is not the address of a skill; it ends in /{MAIN_FILE}")
        return _entry(files)

    # Resources

    def read(self, uri: str) -> str | bytes:
        """Return the content of a resource: text, or bytes if it is not text."""
        if uri == PROMPT:
            return self.prompt()
        if uri.startswith(f"{PROMPT}/"):
            return self.prompt(unquote(uri.removeprefix(f"{PROMPT}/")))
        files, path = self._skill_files(uri)
        data = files.files[path]
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data

    def _skill_files(self, uri: str) -> tuple[SkillFiles, str]:
        """Return the files of the skill that an address names, and the path of the one that it names."""
        name, slash, path = uri.removeprefix(_SKILL).partition("/")
        if uri.startswith(_SKILL) and slash:
            assembler = self._question().assembler
            skill = next((skill for skill in assembler.skills() if skill.name == unquote(name)), None)
            files = read_skill_files(assembler, skill) if skill else None
            if files and unquote(path) in files.files:
                return files, unquote(path)
        raise MissingError(f"no resource {show(uri)}; resources/list and skills/list list those that exist")

    # Tools

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a tool. If the call is wrong, the result says what would be valid."""
        tool = next((tool for tool in offered_tools() if tool.name == name), None)
        if tool is None:
            raise MissingError(f"no tool {show(name)}; tools/list lists those that exist")
        try:
            if tool not in _OWN_TOOLS:
                return ToolResult(self._call_shipped(name, arguments))
            _check_arguments(name, arguments, tool.schema or {})
            return self._why(**_renamed(arguments)) if name == "why" else self._touch(**arguments)
        except (ForewordError, Problem) as error:
            return ToolResult(str(error), is_error=True)

    def _call_shipped(self, name: str, arguments: Mapping[str, Any]) -> str:
        is_stored = name == "write_plan" or (name == "use_skill" and bool(self._conversation))
        question = self._question(right="turn" if is_stored else "read")
        if name == "use_skill" and not self._conversation and set(arguments) == {"name"}:
            return question.assembler.skill_message(arguments["name"])
        return self._open(question, self._conversation or f"mcp:{self._cwd}").call_tool(name, arguments)

    def _why(self, path: str = "", for_file: str = "", cwd: str = "") -> ToolResult:
        question = self._question(cwd, path=path, **({"for": for_file} if for_file else {}))
        in_prompt = {candidate.path for candidate in question.checked_prompt().candidates}
        names = {os.path.basename(known) for known in in_prompt}
        if path and path not in in_prompt | names:
            # Explaining a path looks for it on the disk.
            self._service.path(os.path.join(question.cwd, path), "path")
        if for_file:
            self._service.path(os.path.join(question.cwd, for_file), "for")
        rows = [candidate_form(candidate) for candidate in candidates_of(question)]
        lines = [f"{row['fate']}: {row['path']}" + (f" ({row['reason']})" if row["reason"] else "") for row in rows]
        return ToolResult("\n".join(lines) or "Nothing was considered.", {"candidates": rows})

    def _touch(self, paths: Sequence[str], how: str = "read", cwd: str = "") -> ToolResult:
        question = self._question(cwd, right="turn" if self._conversation else "read", paths=list(paths), how=how)
        for path in paths:
            self._service.path(os.path.join(question.cwd, path), "paths")
        if self._conversation:
            touched = self._open(question, self._conversation).touch(list(paths), how)  # type: ignore[arg-type]
        else:
            touched = touched_by(question)
        return ToolResult(touched.text or "No further instructions apply to these files.", dict(touched_form(touched)))

    # Questions

    def _open(self, question: Question, id: str) -> Conversation:
        return self._service.open_with(id, question.assembler, question.agent, mirror=True)

    def _question(self, cwd: str = "", layout: str = "", right: str = "read", **fields: Any) -> Question:
        """Return a question about a directory in the served folders. Raises a Problem if the sender does not have the right to ask it."""
        if right not in self._service.caller.rights:
            raise Problem("forbidden", f"this request needs the right {right!r}, which the token does not have")
        workspace = self._service.workspace(os.path.join(self._cwd, cwd) if cwd else self._cwd)
        changes: dict[str, Any] = {
            "cwd": workspace.cwd,
            "inside": workspace.inside,
            "packs": self._service.packs,
            **fields,
        }
        if layout:
            changes["layout"] = layout
        if self._fields.get("scope") is None and (scope := self._service.agents.default_scope(workspace)):
            changes["scope"] = scope_form(scope)
        content = {**self._fields, **changes}
        key = (workspace.cwd, layout)
        if key not in self._assemblers:
            if len(self._assemblers) >= _MAX_ASSEMBLERS:
                self._assemblers.clear()
            self._assemblers[key] = Question(content).assembler
        template = self._service.stored_template("")
        return Question(content, None, self._assemblers[key], self._service.store, template)


def _cwd_for(service: Service, cwd: str) -> str:
    """Return the working directory, or the first served folder if that is elsewhere."""
    try:
        return service.path(cwd)
    except Problem:
        return service.path("")


def offered_tools() -> Sequence[Tool]:
    """Return the tools that clients can call."""
    return (*shipped_tools(), *_OWN_TOOLS)


def skill_uri(name: str, path: str = MAIN_FILE) -> str:
    """Return the address of a skill's file."""
    return f"{_SKILL}{quote(name, safe='')}/{quote(path)}"


def layout_uri(name: str) -> str:
    """Return the address of the prompt for a layout."""
    return f"{PROMPT}/{quote(name, safe='')}"


def _entry(files: SkillFiles) -> SkillEntry:
    skill = files.skill
    resources = [
        {
            "uri": skill_uri(skill.name, path),
            "digest": f"sha256:{sha256(data).hexdigest()}",
            "size": len(data),
        }
        for path, data in files.files.items()
    ]
    fields = parse_front_matter(files.files.get(MAIN_FILE, b"").decode("utf-8", "replace"))
    named = {"name": skill.name, "description": skill.description}
    return SkillEntry(
        skill_uri(skill.name), {**named, **(_json(fields) if isinstance(fields, dict) else {})}, resources
    )


def _json(content: Any) -> Any:
    """Return parsed YAML as values that JSON can represent: names are strings, and values of other types become text."""
    if isinstance(content, dict):
        return {str(name): _json(field) for name, field in content.items()}
    if isinstance(content, list):
        return [_json(item) for item in content]
    return content if content is None or isinstance(content, str | int | float | bool) else str(content)


def _renamed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with a name for `for` that Python accepts."""
    return {"for_file" if name == "for" else name: content for name, content in arguments.items()}


def _check_arguments(name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raise a CallError unless the arguments match a tool's schema."""
    properties: Mapping[str, Any] = schema["properties"]
    for key in schema.get("required", ()):
        if key not in arguments:
            raise CallError(f"{name} needs the argument {key!r}")
    for key, content in arguments.items():
        if key not in properties:
            raise CallError(f"{name} has no argument {show(key)}; it accepts {', '.join(properties)}")
        _check_argument(f"{name}: {key}", content, properties[key])


def _check_argument(name: str, content: Any, expected: Mapping[str, Any]) -> None:
    """Raise a CallError unless an argument is a string, or a list of strings, as a tool's schema says."""
    is_list = isinstance(content, list) and content and all(isinstance(item, str) for item in content)
    if not (is_list if expected["type"] == "array" else isinstance(content, str)):
        kind = "a list of strings" if expected["type"] == "array" else "a string"
        raise CallError(f"{name} must be {kind}, not {show(content)}")
    if "enum" in expected and content not in expected["enum"]:
        raise CallError(f"{name} must be one of {', '.join(expected['enum'])}, not {show(content)}")
    if is_list and len(content) > expected["maxItems"]:
        raise CallError(f"{name} has {len(content):,} entries; the limit is {expected['maxItems']:,}")
