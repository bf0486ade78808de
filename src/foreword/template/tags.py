r"""The tags of a Jinja-like text: where they stand, and which are more than the engine can bear.

    text                          what is written as it stands
    {{ expression }}              writes a value
    {% statement %}               if, for, include, set, …
    {# comment #}                 writes nothing
    {% raw %} text {% endraw %}   text, whatever it holds

A `-` inside the edge of a tag takes away the white space on that side of it, a `+` keeps it; otherwise all white space
stays. A tag ends at its closing mark outside of strings and brackets.

minijinja reads expressions and branches by recursion, and a stack that overflows takes the whole process with it. So
nothing reaches it that has not been measured here: size, lines, tags, operators in a tag, depth of blocks.
A thread with 256 KiB of stack, measured, dies of 500 branches or 1,000 operators.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..errors import TemplateError
from .doubts import Doubt, tell
from .limits import SOURCE_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from ..vocabulary import Document

    # Kind (text, {{ or {%), where it begins and ends, where its inside does, and the first word of a statement.
    Token: TypeAlias = tuple[str, int, int, int, int, str]
    Word: TypeAlias = tuple[str, int]

LINES = 65_000
"""The most lines: minijinja counts them in sixteen bits."""
TAG = 10_000
"""The most characters inside a tag."""
OPERATORS = 200
"""The most operators inside a tag: whatever joins, calls, opens or asks."""
TAGS = 10_000
"""The most tags: so many take a good part of a second."""
DEPTH = 100
"""The most blocks inside each other; every `elif` counts as one, as it does to the parser."""

# White space as the engine knows it when it trims, which is not quite what Python knows.
SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"

_OPENING = re.compile(r"(\{[{%#])[-+]?")
_SPACES = re.compile(f"[{SPACE}]*")
_RAW = re.compile(r"[ \t\n\r\f]*raw[ \t\n\r\f]*([-+]?)%\}")
_ENDRAW = re.compile(r"\{%([-+]?)[ \t\n\r\f]*endraw[ \t\n\r\f]*([-+]?)%\}")
_STATEMENT = re.compile(r"[ \t\n\r\f]*([A-Za-z_]\w*)")
_BLANKS = re.compile(r"[ \t\n\r\f]*")
# A name is made of letters, digits and whatever is not ASCII, written as what it is not: a class that names the whole of
# Unicode takes 20 ms to compile.
_WORD = re.compile(
    r"""
      [^\0-@\[-^`{-\x7f] [^\0-/:-@\[-^`{-\x7f]*
    | 0[xX][\da-fA-F_]* | \d[\d_]* (?: \. (?![^\0-@\[-^`{-\x7f]) [\d_]* )? (?: \.?[eE][-+]?[\d_]* )?
    | "[^"\\]*(?:\\.[^"\\]*)*" | '[^'\\]*(?:\\.[^'\\]*)*'
    | // | \*\* | [!=<>]= | [-+*/%.,:~|=<>()\[\]{}]
    """,
    re.VERBOSE | re.DOTALL,
)
# Nearly every tag: words and strings, and brackets that hold no others. The rest is read word by word. What may follow a
# repetition never begins with what it repeats, so a tag that does not match costs its length and no more.
_STRING = r""" "[^"\\]*" | '[^'\\]*' """
_GROUP = rf"""[(\[] [^"'()\[\]{{}}]* (?: (?: {_STRING} ) [^"'()\[\]{{}}]* )* [)\]]"""
_WHOLE = {
    "{{": re.compile(rf"""([^"'()\[\]{{}}]* (?: (?: {_STRING} | {_GROUP} ) [^"'()\[\]{{}}]* )*) \}}\}}""", re.VERBOSE),
    "{%": re.compile(rf"""([^"'()\[\]{{}}%]* (?: (?: {_STRING} | {_GROUP} ) [^"'()\[\]{{}}%]* )*) %\}}""", re.VERBOSE),
}
_CLOSING = {"{{": "}}", "{%": "%}"}
_BLOCKS = frozenset("if for with filter macro call block autoescape".split())
_JOINING = frozenset("and or not in is if else".split())
_NO_OPERATORS = frozenset([",", ":", ")", "]", "}"])
_NAMELESS = frozenset("include import from extends block endblock".split())
_NO_NAMES = frozenset("and or not in is if else true false none True False None".split())


def wrong(template: Document, words: str, start: int, end: int) -> TemplateError:
    """The error that tells what is wrong with this stretch of a template, with file, line, column and carets."""
    told = tell((Doubt("template-malformed", words, start, end),), template.text, template.path, template.line)
    message = f"{template.path or 'the template'}: {told[0].message}"
    return TemplateError(message, told[0].line, told[0].column, told[0].end_column)


# From text to tokens


def scan(template: Document) -> tuple[Token, ...]:
    """The tokens of a template in their order, in time proportional to its length. What is too much is an error."""
    _measure(template)
    text = template.text
    tokens: list[Token] = []
    at = 0
    while opening := _OPENING.search(text, at):
        start = opening.start()
        stop = at + len(text[at:start].rstrip(SPACE)) if opening[0].endswith("-") else start
        if at < stop:
            tokens.append(("text", at, stop, at, stop, ""))
        if opening[1] == "{#":
            at, trims = _comment(template, opening)
        else:
            token, trims = _raw(template, opening) or _tag(template, opening)
            at = token[2]
            if token[3] < token[4] or token[0] != "text":
                tokens.append(token)
        if trims:
            at = _end(_SPACES, text, at)
    if at < len(text):
        tokens.append(("text", at, len(text), at, len(text), ""))
    _nest(template, tokens)
    return tuple(tokens)


def _measure(template: Document) -> None:
    name, text = template.path or "the template", template.text
    if len(text) > SOURCE_LIMIT:
        raise TemplateError(f"{name} has {len(text):,} characters; at most {SOURCE_LIMIT:,} are accepted")
    lines = text.count("\n") + 1
    if lines > LINES:
        raise TemplateError(f"{name} has {lines:,} lines; at most {LINES:,} are accepted")
    tags = text.count("{{") + text.count("{%")
    if tags > TAGS:
        raise TemplateError(f"{name} has {tags:,} tags; at most {TAGS:,} are accepted")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise wrong(template, "is half a character and cannot be written", error.start, error.start + 1) from None


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _comment(template: Document, opening: re.Match[str]) -> tuple[int, bool]:
    """Where a comment ends, and whether it takes away the white space behind it."""
    end = template.text.find("#}", opening.end())
    if end < 0:
        raise wrong(template, "is a comment that is never closed", *opening.span())
    return end + 2, end > opening.end() and template.text[end - 1] == "-"


def _raw(template: Document, opening: re.Match[str]) -> tuple[Token, bool] | None:
    """The text of a raw block, if this is one."""
    begin = _RAW.match(template.text, opening.end()) if opening[1] == "{%" else None
    if begin is None:
        return None
    text, closing = template.text, _ENDRAW.search(template.text, begin.end())
    if closing is None:
        raise wrong(template, "has no {% endraw %}", opening.start(), begin.end())
    start, stop = begin.end(), closing.start()
    if begin[1] == "-":
        start = min(stop, _end(_SPACES, text, start))
    if closing[1] == "-":
        stop = start + len(text[start:stop].rstrip(SPACE))
    return ("text", start, closing.end(), start, stop, ""), closing[2] == "-"


def _tag(template: Document, opening: re.Match[str]) -> tuple[Token, bool]:
    """A tag, and whether it takes away the white space behind it."""
    kind, text = opening[1], template.text
    whole = _WHOLE[kind].match(text, opening.end())
    if whole and not text.endswith(("e-", "E-", "e+", "E+"), whole.start(1), whole.end(1)):
        stop, end = whole.end(1), whole.end()
        stop -= text.endswith(("-", "+"), whole.start(1), stop)
    else:
        stop, end = _word_by_word(template, opening)
    if stop - opening.end() > TAG:
        raise wrong(template, f"has more than {TAG:,} characters in one tag", opening.start(), end)
    if stop - opening.end() > OPERATORS:
        _weigh(template, opening, stop)
    first = _STATEMENT.match(text, opening.end(), stop) if kind == "{%" else None
    return (kind, opening.start(), end, opening.end(), stop, first[1] if first else ""), text[stop] == "-"


def _word_by_word(template: Document, opening: re.Match[str]) -> tuple[int, int]:
    """Where the inside of a tag ends, and the tag itself."""
    text, closing, at, balance = template.text, _CLOSING[opening[1]], opening.end(), 0
    while True:
        at = _end(_BLANKS, text, at)
        if balance == 0:
            signed = text[at : at + 1] in ("-", "+") and text.startswith(closing, at + 1)
            if signed or text.startswith(closing, at):
                return at, at + 2 + signed
        word = _WORD.match(text, at)
        if word is None:
            break
        balance += (word[0] in ("(", "[", "{")) - (word[0] in (")", "]", "}"))
        at = word.end()
        if at - opening.end() > TAG:
            raise wrong(template, f"has more than {TAG:,} characters in one tag", *opening.span())
    if at == len(text):
        raise wrong(template, "is a tag that is never closed", *opening.span())
    if text[at] in "\"'":
        raise wrong(template, "is a string that is never closed", at, at + 1)
    raise wrong(template, "cannot stand in a tag", at, at + 1)


def _weigh(template: Document, opening: re.Match[str], stop: int) -> None:
    found = words(template.text[opening.end() : stop])
    operators = sum(
        word in _JOINING or not (word[0].isalnum() or word[0] in "_\"'" or word in _NO_OPERATORS) for word, _ in found
    )
    if operators > OPERATORS:
        told = f"has {operators:,} operators in one tag; at most {OPERATORS} are accepted"
        raise wrong(template, told, opening.start(), stop)


def _nest(template: Document, tokens: Sequence[Token]) -> None:
    """Refuse blocks that are not closed, or stand too deep inside each other."""
    opened: list[tuple[str, Token]] = []
    for token in tokens:
        word = token[5]
        if word == "elif" and (not opened or opened[-1][0] not in ("if", "elif")):
            raise wrong(template, "has no {% if %}", token[1], token[2])
        if word == "elif" or is_opening(template, token):
            opened.append((word, token))
            if len(opened) > DEPTH:
                told = f"is more than {DEPTH} blocks and elif branches deep"
                raise wrong(template, told, token[1], token[2])
        elif word.startswith("end"):
            while opened and opened[-1][0] == "elif":
                opened.pop()
            if not opened or "end" + opened[-1][0] != word:
                told = f"does not close {{% {opened[-1][0]} %}}" if opened else "closes nothing"
                raise wrong(template, told, token[1], token[2])
            opened.pop()
    if opened:
        word, token = next(each for each in reversed(opened) if each[0] != "elif")
        raise wrong(template, f"has no {{% end{word} %}}", token[1], token[2])


# What a tag says


def inside(template: Document, token: Token) -> str:
    """What stands between the marks of a tag."""
    return template.text[token[3] : token[4]]


def is_opening(template: Document, token: Token) -> bool:
    """Whether a token is a statement that opens a block. A `set` does if it gives no value."""
    if token[5] != "set":
        return token[5] in _BLOCKS
    target = True
    for each, _ in words(inside(template, token))[1:]:
        target = each in (".", ",", "(", ")") or each[0].isalpha() or each[0] == "_"
        if not target:
            return each != "="
    return True


@lru_cache(maxsize=1000)
def words(text: str) -> tuple[Word, ...]:
    """The words of a tag's inside and where they begin in it: names, numbers, strings, operators."""
    return tuple((found[0], found.start()) for found in _WORD.finditer(text))


def looked_up(template: Document, token: Token) -> list[Word]:
    """The names that a tag looks up or binds, and where they begin in the template."""
    word = token[5]
    if token[0] == "text" or word in _NAMELESS:
        return []
    found = words(inside(template, token))[bool(word) :]
    if word == "for" and found and found[-1][0] == "recursive":
        found = found[:-1]
    return [(name, token[3] + start) for name, start in names(found)]


def names(found: Sequence[Word]) -> Iterator[Word]:
    """The names among these words: no attribute, filter, test, keyword or name of an argument."""
    before = ""
    for at, (word, start) in enumerate(found):
        is_argument = at + 1 < len(found) and found[at + 1][0] == "="
        is_name = (word[0].isalpha() or word[0] == "_") and word not in _NO_NAMES
        if is_name and not is_argument and before not in (".", "|", "is"):
            yield word, start
        if not (word == "not" and before == "is"):
            before = word
