"""Finds the shell commands in a file, in code spans and fenced shell code.

Commands are split into words as a shell would split them, as far as that is possible without running a shell. Parsing a line stops
at anything uncertain (a variable, a placeholder, an open quote), because a wrong guess would cause a wrong finding.
"""

from __future__ import annotations

import re
from heapq import merge
from itertools import islice
from posixpath import normpath

from ...vocabulary import value
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .source_text import SourceText


@value
class Command:
    """A command: its offset, its words, and the folder it runs in, relative to the file's folder."""

    offset: int
    words: Sequence[str]
    folder: str = ""


_SPAN = lazy_pattern(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,300})\1(?!`)")
_SHELLS = frozenset(("", "sh", "bash", "shell", "zsh", "fish", "console", "shell-session", "shellsession", "terminal"))
_FENCE_INFO = lazy_pattern(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*\{?\.?([\w-]*)")
_PROMPT = lazy_pattern(r"[ \t>]*(?:[\w.@~:/-]{0,40}[$%][ \t]+)?")
_WORD = lazy_pattern(r"[ \t]*(?:(&&|\|\||[;|&()])|((?:[^\s;|&()\"'\\#]|(?<=[^\s])#|\"[^\"\n$`\\]*\"|'[^'\n]*')+))")
# "# In the shop:", "# No consumer (A/B)": the comment that names a place and nothing else.
_PLACE = lazy_pattern(
    r"^[ \t>]*#[ \t]*(?:(?:in|en|dans|im)[ \t]+(?:(?:the|your|el|la|le|der)[ \t]+)?"
    r"|(?:no|na|nos|nas)[ \t]+(?=consum|client|aplicat|app\b|proje|reposit|backend|frontend))"
    r"[`'\"]?(?P<name>[\w@./-]+)[`'\"]?(?:[ \t]+(?:app|project|repo|repository)\b)?[ \t]*(?:\([^()\n]*\))?[ \t]*:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
# What such a comment may name that is not a place.
_NOT_A_PLACE = lazy_pattern(
    r"(?:ci|cd|dev\w*|prod\w*|staging|test\w*|parallel|background|foreground|docker|container|watch|debug|headless|order|sequence|short|general|addition"
    r"|summary|terminal|shell|root|local|locally|release|browser|paralelo|orden|parallèle|production|developpement|desarrollo)",
    re.IGNORECASE,
)
_ANY_COMMENT = lazy_pattern(r"^[ \t>]*#[^\n]*$", re.MULTILINE)
_REDIRECTION = lazy_pattern(r"\d?[<>]")
_ASSIGNMENT = lazy_pattern(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset(("sudo", "time", "env", "exec", "command", "nohup"))
_NOT_LITERAL = lazy_pattern(r"[$<>{}*?\[\]…]|\.\.\.")
_MAX_COMMANDS = 500
# A line that names three of these is about projects in general.
_TESTS = lazy_pattern(
    r"`(?:(npm|pnpm|yarn|go|cargo|mvn|gradle|dotnet|mix|swift)(?: run)? test|(pytest|rspec|phpunit))\b"
)
_MAX_TESTS = 2


def find_commands(source: SourceText, programs: Sequence[str]) -> Iterator[Command]:
    """Yield the commands that run one of these programs, in order. In a very long file, only the first ones are found."""
    if any(program in source.text for program in programs):
        matching = (command for command in _all_commands(source) if command.words[0] in programs)
        yield from islice(matching, _MAX_COMMANDS)


def _all_commands(source: SourceText) -> Iterator[Command]:
    return merge(_span_commands(source), _shell_commands(source), key=lambda command: command.offset)


def _span_commands(source: SourceText) -> Iterator[Command]:
    text = source.text
    for match in _SPAN.finditer(text):
        if not source.is_fenced(match.start()) and not _is_about_any_project(source.line_around(match.start())):
            yield from _Line(match[2], match.start(2), "").commands()


def _shell_commands(source: SourceText) -> Iterator[Command]:
    text = source.text
    for start, end in source.fences:
        info = _FENCE_INFO.match(text, start)
        if info and info[1].lower() in _SHELLS:
            yield from _fence_commands(text, text.find("\n", start, end) + 1 or end, end)


def named_place(fence: str) -> str:
    """Return the place that the last comment in the beginning of a fence names, or empty if it names none: "# In web:"."""
    comments = _ANY_COMMENT.findall(fence.rpartition("\n")[0])
    place = _PLACE.match(comments[-1]) if comments else None
    return "" if place is None or _NOT_A_PLACE.fullmatch(place["name"]) else place["name"]


def _is_about_any_project(line: str) -> bool:
    return len({match.groups() for match in _TESTS.finditer(line)}) > _MAX_TESTS


def is_shell(source: SourceText, offset: int) -> bool:
    """Whether a character is outside fences, or in a fence with shell commands."""
    for start, end in source.fences:
        if start <= offset < end:
            info = _FENCE_INFO.match(source.text, start)
            return info is not None and info[1].lower() in _SHELLS
    return True


def _fence_commands(text: str, start: int, end: int) -> Iterator[Command]:
    """Yield the commands in a fence. A `cd` also applies to the lines below it, up to the next blank line or comment.

    After that, the folder is unknown: people often write independent steps in one fence.
    """
    folder: str | None = ""
    while start < end and folder is not None:
        newline = text.find("\n", start, end)
        stop = newline if newline >= 0 else end
        if folder and text[start:stop].strip(" \t>\r")[:1] in ("", "#"):
            return
        prompt = _PROMPT.match(text, start, stop)
        begin = prompt.end() if prompt else start
        # A continued line ends with a backslash, where parsing stops.
        line = _Line(text[begin : min(stop, begin + 2_000)], begin, folder)
        yield from line.commands()
        folder = line.folder_after
        while newline >= 0 and text[start:newline].rstrip("\r").endswith("\\"):
            start = newline + 1
            newline = text.find("\n", start, end)
        start = newline + 1 if newline >= 0 else end


class _Line:
    """A line of shell commands, its offset in the text, and the folder in which it runs."""

    def __init__(self, line: str, offset: int, folder: str) -> None:
        self.line, self.offset, self.folder = line, offset, folder
        self.folder_after: str | None = folder  # set after `commands` has parsed the line; None if unknown

    def commands(self) -> Iterator[Command]:
        """Yield the commands on the line, up to the first one that changes to an unknown folder."""
        folder: str | None = self.folder
        is_subshell = False
        for start, words, is_complete, operator in self._parts():
            command = _unwrap(words)
            if command and command[0] in _FOLDER_COMMANDS:
                folder = _change_folder(folder, command) if is_complete else None
            elif command and is_complete and folder is not None:
                yield Command(self.offset + start, tuple(command), folder)
            if folder is None:
                break
            is_subshell = is_subshell or operator == "("
        self.folder_after = self.folder if is_subshell else folder

    def _parts(self) -> Iterator[tuple[int, list[str], bool, str]]:
        """Yield the parts between operators: the start and words of each, whether it was parsed completely, and the operator after it."""
        words: list[str] = []
        position = start = 0
        while (match := _WORD.match(self.line, position)) or words:
            if match is None:
                # Text that cannot be parsed belongs to the last command.
                yield start, words, self._is_blank_from(position), ""
                return
            position = match.end()
            if match[2]:
                start = start if words else match.start(2)
                words.append(match[2])
            else:
                yield start, words, True, match[1]
                words = []

    def _is_blank_from(self, position: int) -> bool:
        rest = self.line[position:].strip()
        return rest in ("", "\\") or rest.startswith("#")


_FOLDER_COMMANDS = ("cd", "pushd", "popd")


def _unwrap(words: Sequence[str]) -> list[str]:
    """Return the command without variable assignments, prefixes such as `sudo`, and redirections."""
    rest = [re.sub(r"[\"']", "", word) for word in words]
    while rest and (rest[0] in _WRAPPERS or _ASSIGNMENT.match(rest[0])):
        del rest[0]
    for index, word in enumerate(rest):
        if _REDIRECTION.match(word):
            return rest[:index]
    return rest


def _change_folder(folder: str | None, words: Sequence[str]) -> str | None:
    """Return the folder after `cd`, or None if it is unknown."""
    if folder is None or len(words) != 2 or words[0] != "cd" or _NOT_LITERAL.search(words[1]) or words[1][:1] in "-~/":
        return None
    return normpath(f"{folder or '.'}/{words[1]}")


def is_literal(word: str) -> bool:
    """Whether a word is literal, rather than a placeholder, a variable or a pattern."""
    return bool(word) and not _NOT_LITERAL.search(word)
