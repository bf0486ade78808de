"""Split Claude Code's messages and attachments into parts. Pure.

An attachment has the text that was sent (`rendered`), and says what it is: instruction files, the menu of skills, the date, and so on.
Later the same text is found again in a message by its hash. Several attachments can be joined in one message of the system's.
"""

from __future__ import annotations

from .rows import PICTURE, hash_of, json_text, remember, server_of, string, without_pictures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..values import LogPart
    from .rows import Texts

INSTRUCTION_NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md")
_OPEN, _CLOSE = "<system-reminder>\n", "\n</system-reminder>"
_START = 32
# The parts of the tools and system prompts that were parsed last. The objects are kept, so that their ids are not used again.
_shapes: dict[int, tuple[dict[str, Any], tuple[LogPart, ...]]] = {}
_MAX_SHAPES = 100


class PartMaker:
    """Makes the parts of one log's messages. Knows the attachments and tool calls that came before."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._attached: dict[str, tuple[LogPart, ...]] = {}
        self._starts: dict[str, list[tuple[int, str, tuple[LogPart, ...]]]] = {}
        self._beginnings: set[str] = set()  # of attached texts, because most other texts do not have to be hashed
        self._tools: dict[str, str] = {}

    def missing(self, digest: str) -> LogPart:
        """Return the part of a message that the log does not have."""
        return self.texts.part("unknown", "")._replace(hash=digest)

    # Attachments

    def attach(self, row: dict[str, Any]) -> tuple[LogPart, ...]:
        """Remember the texts that an attachment was sent as, and return their parts."""
        attachment = row.get("attachment")
        if not isinstance(attachment, dict):
            return ()
        kind = string(attachment, "type")
        rendered = row.get("rendered")
        if not isinstance(rendered, list):
            return self._unrendered(kind, attachment)
        found: list[LogPart] = []
        for entry in rendered:
            text = entry.get("content") if isinstance(entry, dict) else None
            if isinstance(text, str):
                found += self._remember(text, self._split_attachment(kind, attachment, text))
        return tuple(found)

    def _unrendered(self, kind: str, attachment: dict[str, Any]) -> tuple[LogPart, ...]:
        """Return the parts of an attachment of an older version, which did not log the text as sent."""
        if kind in ("nested_memory", "instructions"):
            return tuple(self.texts.part("file", text, path=path) for path, text in instruction_files(kind, attachment))
        return ()

    def _remember(self, text: str, parts: Sequence[LogPart]) -> tuple[LogPart, ...]:
        known = tuple(parts)
        self._attached[hash_of(text)] = known
        self._beginnings.add(text[:_START])
        inner = text.removeprefix(_OPEN).removesuffix(_CLOSE)
        if inner != text:
            entry = len(inner), hash_of(inner), known
            entries = self._starts.setdefault(inner[:_START], [])
            if entry not in entries:
                entries.append(entry)
        return known

    def _split_attachment(self, kind: str, attachment: dict[str, Any], text: str) -> list[LogPart]:
        files = list(instruction_files(kind, attachment))
        if files:
            return self._split_files(text, files)
        if kind == "skill_listing":
            return self._split_skills(text, attachment)
        if kind == "date":
            return [self.texts.part("clock", text)]
        if kind.startswith("mcp_instructions"):
            names = attachment.get("addedNames")
            name = names[0] if isinstance(names, list) and len(names) == 1 and isinstance(names[0], str) else ""
            return [self.texts.part("server", text, name)]
        if kind == "file":
            return [self.texts.part("result", text, "Read")]
        if kind in ("invoked_skills", "skill"):
            return [self.texts.part("skill", text, string(attachment, "name", "skill"))]
        return [self.texts.part("prompt", text, kind)]

    def _split_files(self, text: str, files: Sequence[tuple[str, str]]) -> list[LogPart]:
        """Return the parts of a text that contains these files. What is around them is the program's own."""
        parts, position = [], 0
        for path, content in files:
            content = content.strip("\n")
            start = text.find(content, position) if content else -1
            if start < 0:
                continue
            if start > position:
                parts.append(self.texts.part("prompt", text[position:start], "instructions"))
            parts.append(self.texts.part("file", content, path=path))
            position = start + len(content)
        if not parts and len(files) == 1:  # the text was changed on its way, for example numbered
            return [self.texts.part("file", text, path=files[0][0])]
        if position < len(text):
            parts.append(self.texts.part("prompt", text[position:], "instructions"))
        return parts

    def _split_skills(self, text: str, attachment: dict[str, Any]) -> list[LogPart]:
        names = attachment.get("names")
        known = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
        runs: list[tuple[str, list[str]]] = []
        for line in text.split("\n"):
            name = line[2:].partition(":")[0] if line.startswith("- ") else ""
            if name and (name in known or not known):
                runs.append((name, [line]))
            elif runs and line.startswith("</"):
                runs.append(("", [line]))
            elif runs:
                runs[-1][1].append(line)
            else:
                runs.append(("", [line]))
        return [
            self.texts.part("skills" if name else "prompt", "\n".join(lines), name or "skill_listing")
            for name, lines in runs
        ]

    # Messages

    def note_calls(self, message: dict[str, Any]) -> None:
        """Remember the tool calls in an answer, by which the results are named."""
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                self._note_call(block)

    def _note_call(self, block: dict[str, Any]) -> None:
        if isinstance(block.get("id"), str):
            remember(self._tools, block["id"], string(block, "name"))

    def message(self, message: dict[str, Any], is_summary: bool = False) -> tuple[LogPart, ...]:
        """Return the parts of a message."""
        role, content = message.get("role"), message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not isinstance(blocks, list):
            return ()
        if len(blocks) == 1 and isinstance(blocks[0], dict):
            return tuple(self._block(blocks[0], str(role), is_summary))
        found: list[LogPart] = []
        for block in blocks:
            if isinstance(block, dict):
                found += self._block(block, str(role), is_summary)
        return tuple(found)

    def _block(self, block: dict[str, Any], role: str, is_summary: bool) -> Sequence[LogPart]:
        kind = block.get("type")
        text = block.get("text")
        if kind == "text" and isinstance(text, str):
            if role == "assistant":
                return [self.texts.part("answer", text)]
            return self._injected(text, role) or [self.texts.part("summary" if is_summary else "message", text)]
        if kind == "tool_use":
            self._note_call(block)
            return [self.texts.part("answer", json_text(block.get("input")), string(block, "name"))]
        if kind == "tool_result":
            return [self._result(block)]
        if kind == "thinking":
            return [self.texts.part("answer", string(block, "thinking"), "thinking")]
        plain, pictures = without_pictures(block)
        part = self.texts.part("answer" if role == "assistant" else "message", json_text(plain))
        return [part._replace(size=part.size + PICTURE * pictures)]

    def _result(self, block: dict[str, Any]) -> LogPart:
        content, pictures = without_pictures(block.get("content"))
        text = content if isinstance(content, str) else _joined(content)
        part = self.texts.part("result", text, self._tools.get(str(block.get("tool_use_id")), ""))
        return part._replace(size=part.size + PICTURE * pictures) if pictures else part

    def _injected(self, text: str, role: str) -> Sequence[LogPart]:
        """Return the parts of a text that the program added, or none if the user wrote it."""
        if text[:_START] in self._beginnings and (known := self._attached.get(hash_of(text))):
            return known
        if role == "system":
            return self._split_joined(text)
        if text.startswith(_OPEN):
            inner = text.removeprefix(_OPEN).rstrip().removesuffix("</system-reminder>").rstrip()
            return self._known_at(inner, 0)[1] or [self.texts.part("prompt", text, "reminder")]
        return ()

    def _split_joined(self, text: str) -> list[LogPart]:
        parts: list[LogPart] = []
        position = start = 0
        while position < len(text):
            length, known = self._known_at(text, position)
            if length:
                if text[start:position].strip():
                    parts.append(self.texts.part("prompt", text[start:position], "system"))
                parts += known
                position = start = position + length
                continue
            following = text.find("\n\n", position)
            position = len(text) if following < 0 else following + 2
        if text[start:].strip():
            parts.append(self.texts.part("prompt", text[start:], "system"))
        return parts

    def _known_at(self, text: str, position: int) -> tuple[int, Sequence[LogPart]]:
        """Return the length and parts of the attachment whose text starts here or after line feeds, which count, or 0 and none."""
        start = position
        while text.startswith("\n", start):
            start += 1
        for length, known_hash, parts in self._starts.get(text[start : start + _START], ()):
            if hash_of(text[start : start + length]) == known_hash:
                return start - position + length, parts
        return 0, ()

    # What comes before the messages

    def shape(self, shape: dict[str, Any]) -> tuple[LogPart, ...]:
        """Return the parts of a request's tools and system prompt. Most sessions of a program have the same, so they are kept."""
        known = _shapes.get(id(shape))
        if known is not None and known[0] is shape and self.texts.wanted is None:
            return known[1]
        parts = self._divide_shape(shape)
        if len(_shapes) >= _MAX_SHAPES:
            _shapes.clear()
        _shapes[id(shape)] = shape, parts
        return parts

    def _divide_shape(self, shape: dict[str, Any]) -> tuple[LogPart, ...]:
        found: list[LogPart] = []
        tools, system = shape.get("tools"), shape.get("system", shape.get("systemPrompt"))
        for tool in tools if isinstance(tools, list) else []:
            if isinstance(tool, dict) and not tool.get("defer_loading"):
                name = string(tool, "name", "type")
                text = json_text({key: field for key, field in tool.items() if key != "cache_control"})
                found.append(self.texts.part("tool", text, name, server_of(name)))
        for block in [system] if isinstance(system, str) else system if isinstance(system, list) else []:
            text = block if isinstance(block, str) else string(block, "text")
            if text:
                found.append(self.texts.part("prompt", text, "system"))
        return tuple(found)


def _joined(content: Any) -> str:
    if not isinstance(content, list):
        return json_text(content) if content is not None else ""
    return "\n".join(string(entry, "text") or json_text(entry) for entry in content)


def instruction_files(kind: str, attachment: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the instruction files in an attachment: their paths and texts."""
    if kind == "instructions":
        entries = attachment.get("files")
        rows = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        return [(string(row, "path"), string(row, "content")) for row in rows if string(row, "path")]
    if kind == "nested_memory":
        inner = attachment.get("content")
        path = string(attachment, "path") or string(inner, "path")
        return [(path, string(inner, "content") or string(attachment, "content"))] if path else []
    if kind == "edited_text_file":
        path = string(attachment, "filename", "path")
        if path.replace("\\", "/").rpartition("/")[2] in INSTRUCTION_NAMES:
            return [(path, string(attachment, "snippet", "content"))]
    return []
