"""The shell commands that a text shows: in code spans, and in fences of a shell.

A command is split into words the way a shell does, as far as that needs no shell. What cannot be read with certainty (a variable, a
placeholder, an open quote) ends the line, because a wrong guess would be a wrong finding.
"""

from __future__ import annotations

import re
from itertools import islice
from posixpath import normpath

from ...vocabulary import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .source_text import SourceText


@value
class Command:
    """One command: its words, where it is in the text, and the folder it runs in, relative to that of the text."""

    offset: int
    words: Sequence[str]
    folder: str = ""


_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]{1,300})\1(?!`)")
_SHELLS = frozenset(("", "sh", "bash", "shell", "zsh", "fish", "console", "shell-session", "shellsession", "terminal"))
_INFO = re.compile(r"[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*\{?\.?([\w-]*)")
_PROMPT = re.compile(r"[ \t>]*(?:[\w.@~:/-]{0,40}[$%][ \t]+)?")
_WORD = re.compile(r"[ \t]*(?:(&&|\|\||[;|&()])|((?:[^\s;|&()\"'\\#]|(?<=[^\s])#|\"[^\"\n$`\\]*\"|'[^'\n]*')+))")
_REDIRECTION = re.compile(r"\d?[<>]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WRAPPERS = frozenset(("sudo", "time", "env", "exec", "command", "nohup"))
_UNCLEAR = re.compile(r"[$<>{}*?\[\]…]|\.\.\.")
_MOST = 500


def commands(source: SourceText, programs: Sequence[str]) -> Iterator[Command]:
    """The commands of a text that run one of these programs, in the order of the text; of a very long text the first ones."""
    if any(program in source.text for program in programs):
        found = (each for each in _all(source) if each.words[0] in programs)
        yield from islice(found, _MOST)


def _all(source: SourceText) -> Iterator[Command]:
    text = source.text
    for match in _SPAN.finditer(text):
        if not source.is_fenced(match.start()):
            yield from _of_line(match[2], match.start(2), "")[0]
    for start, end in source.fences:
        info = _INFO.match(text, start)
        if info and info[1].lower() in _SHELLS:
            yield from _of_fence(text, text.find("\n", start, end) + 1 or end, end)


def _of_fence(text: str, start: int, end: int) -> Iterator[Command]:
    """The commands of a fence. A change of folder holds for the lines below it."""
    folder: str | None = ""
    while start < end and folder is not None:
        newline = text.find("\n", start, end)
        stop = newline if newline >= 0 else end
        prompt = _PROMPT.match(text, start, stop)
        begin = prompt.end() if prompt else start
        # A line that goes on below ends with a backslash, at which its reading ends.
        found, folder = _of_line(text[begin : min(stop, begin + 2_000)], begin, folder)
        yield from found
        while newline >= 0 and text[start:newline].rstrip("\r").endswith("\\"):
            start = newline + 1
            newline = text.find("\n", start, end)
        start = newline + 1 if newline >= 0 else end


def _of_line(line: str, offset: int, folder: str) -> tuple[list[Command], str | None]:
    """The commands of a line, and the folder after it; None where that is not known."""
    found: list[Command] = []
    words: list[str] = []
    at = begin = 0
    after: str | None = folder
    is_open = False
    while (match := _WORD.match(line, at)) or words:
        if match and match[2]:
            begin = begin if words else match.start(2)
            words.append(match[2])
            at = match.end()
            continue
        # The rest of a line that cannot be read belongs to the last command.
        is_whole = match is not None or line[at:].strip() in ("", "\\") or line[at:].lstrip().startswith("#")
        ran = _unwrapped(words)
        words = []
        if ran and ran[0] in ("cd", "pushd", "popd"):
            after = _moved(after, ran) if is_whole else None
        elif ran and is_whole and after is not None:
            found.append(Command(offset + begin, tuple(ran), after))
        if not match or after is None:
            break
        is_open = is_open or match[1] == "("
        at = match.end()
    return found, folder if is_open else after


def _unwrapped(words: Sequence[str]) -> list[str]:
    """A command without what only sets it up: variables, `sudo`; nothing where that takes options of its own."""
    rest = [re.sub(r"[\"']", "", each) for each in words]
    while rest and (rest[0] in _WRAPPERS or _ASSIGNMENT.match(rest[0])):
        del rest[0]
    for number, each in enumerate(rest):
        if _REDIRECTION.match(each):
            return rest[:number]
    return rest


def _moved(folder: str | None, words: Sequence[str]) -> str | None:
    if folder is None or len(words) != 2 or words[0] != "cd" or _UNCLEAR.search(words[1]) or words[1][:1] in "-~/":
        return None
    return normpath(f"{folder or '.'}/{words[1]}")


def is_clear(word: str) -> bool:
    """Whether a word stands for itself, and is not a placeholder, a variable or a pattern."""
    return bool(word) and not _UNCLEAR.search(word)
