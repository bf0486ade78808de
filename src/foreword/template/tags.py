r"""Splits a Jinja-like template into tags and text, and enforces the limits that protect the engine.

    text                          written unchanged
    {{ expression }}              writes a value
    {% statement %}               if, for, include, set, …
    {# comment #}                 writes nothing
    {% raw %} text {% endraw %}   text, whatever it contains

A `-` at the edge of a tag removes the white space on that side; a `+`, or neither, keeps it.
A tag ends at the first closing delimiter outside strings and brackets.

minijinja parses expressions and branches recursively, and a stack overflow kills the process. So everything is checked here
first: size, lines, tags, operators in a tag, depth of blocks. In a thread with 256 KiB of stack, 500 branches or 1,000
operators were enough to crash it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..errors import TemplateError, TemplateSyntaxError
from .diagnostics import Diagnostic, to_findings
from .limits import SOURCE_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from ..vocabulary import Document

    # Kind (text, {{ or {%), start, end, start and end of the content, and the first word of a statement.
    Token: TypeAlias = tuple[str, int, int, int, int, str]
    Word: TypeAlias = tuple[str, int]

MAX_LINES = 65_000
"""How many lines a template may have: minijinja counts them in sixteen bits."""
MAX_TAG_LENGTH = 10_000
"""How many characters a tag may have inside its delimiters."""
MAX_OPERATORS = 200
"""How many operators a tag may have; calls, brackets and tests count too."""
MAX_TAGS = 10_000
"""How many tags a template may have: parsing this many takes most of a second."""
MAX_DEPTH = 100
"""How deeply blocks may nest; each `elif` counts as a level, as it does in minijinja's parser."""

# The characters that the engine trims as white space; Python's definition is slightly different.
SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"

_OPENING = re.compile(r"(\{[{%#])[-+]?")
_SPACES = re.compile(f"[{SPACE}]*")
_RAW = re.compile(r"[ \t\n\r\f]*raw[ \t\n\r\f]*([-+]?)%\}")
_ENDRAW = re.compile(r"\{%([-+]?)[ \t\n\r\f]*endraw[ \t\n\r\f]*([-+]?)%\}")
_STATEMENT = re.compile(r"[ \t\n\r\f]*([A-Za-z_]\w*)")
_BLANKS = re.compile(r"[ \t\n\r\f]*")
# Names consist of letters, digits and all non-ASCII characters. The class is negated because one that lists all of Unicode
# takes 20 ms to compile.
_WORD = re.compile(
    r"""
      [^\0-@\[-^`{-\x7f] [^\0-/:-@\[-^`{-\x7f]*
    | 0[xX][\da-fA-F_]* | \d[\d_]* (?: \. (?![^\0-@\[-^`{-\x7f]) [\d_]* )? (?: \.?[eE][-+]?[\d_]* )?
    | "[^"\\]*(?:\\.[^"\\]*)*" | '[^'\\]*(?:\\.[^'\\]*)*'
    | // | \*\* | [!=<>]= | [-+*/%.,:~|=<>()\[\]{}]
    """,
    re.VERBOSE | re.DOTALL,
)
# Matches nearly all tags: words, strings, and brackets that do not nest. Other tags are scanned word by word. Nothing that can
# follow a repetition begins like the repeated part, so a failed match takes linear time.
_STRING = r""" "[^"\\]*" | '[^'\\]*' """
_GROUP = rf"""[(\[] [^"'()\[\]{{}}]* (?: (?: {_STRING} ) [^"'()\[\]{{}}]* )* [)\]]"""
_SIMPLE_TAG = {
    "{{": re.compile(rf"""([^"'()\[\]{{}}]* (?: (?: {_STRING} | {_GROUP} ) [^"'()\[\]{{}}]* )*) \}}\}}""", re.VERBOSE),
    "{%": re.compile(rf"""([^"'()\[\]{{}}%]* (?: (?: {_STRING} | {_GROUP} ) [^"'()\[\]{{}}%]* )*) %\}}""", re.VERBOSE),
}
_CLOSING = {"{{": "}}", "{%": "%}"}
_BLOCKS = frozenset("if for with filter macro call block autoescape".split())
_WORD_OPERATORS = frozenset("and or not in is if else".split())
_PUNCTUATION = frozenset([",", ":", ")", "]", "}"])
_STATEMENTS_WITHOUT_NAMES = frozenset("include import from extends block endblock".split())
_KEYWORDS = frozenset("and or not in is if else true false none True False None".split())


def error_at(
    template: Document, problem: str, start: int, end: int, kind: type[TemplateError] = TemplateSyntaxError
) -> TemplateError:
    """Return an error about a range of a template, with file, line, column and carets."""
    diagnostic = Diagnostic("template-malformed", problem, start, end)
    (finding,) = to_findings([diagnostic], template.text, template.path, template.line)
    message = f"{template.path or 'the template'}: {finding.message}"
    return kind(message, finding.line, finding.column, finding.end_column)


# Text to tokens


def scan(template: Document) -> tuple[Token, ...]:
    """Split a template into tokens, in linear time. Raises a TemplateSyntaxError if it exceeds a limit."""
    _check_size(template)
    text = template.text
    tokens: list[Token] = []
    position = 0
    while opening := _OPENING.search(text, position):
        start = opening.start()
        stop = position + len(text[position:start].rstrip(SPACE)) if opening[0].endswith("-") else start
        if position < stop:
            tokens.append(("text", position, stop, position, stop, ""))
        if opening[1] == "{#":
            position, trims = _scan_comment(template, opening)
        else:
            token, trims = _scan_raw(template, opening) or _scan_tag(template, opening)
            position = token[2]
            if token[3] < token[4] or token[0] != "text":
                tokens.append(token)
        if trims:
            position = _match_end(_SPACES, text, position)
    if position < len(text):
        tokens.append(("text", position, len(text), position, len(text), ""))
    _check_nesting(template, tokens)
    return tuple(tokens)


def _check_size(template: Document) -> None:
    name, text = template.path or "the template", template.text
    if len(text) > SOURCE_LIMIT:
        raise TemplateSyntaxError(f"{name} has {len(text):,} characters; at most {SOURCE_LIMIT:,} are accepted")
    lines = text.count("\n") + 1
    if lines > MAX_LINES:
        raise TemplateSyntaxError(f"{name} has {lines:,} lines; at most {MAX_LINES:,} are accepted")
    tags = text.count("{{") + text.count("{%")
    if tags > MAX_TAGS:
        raise TemplateSyntaxError(f"{name} has {tags:,} tags; at most {MAX_TAGS:,} are accepted")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise error_at(template, "is a lone surrogate and cannot be encoded", error.start, error.start + 1) from None


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _scan_comment(template: Document, opening: re.Match[str]) -> tuple[int, bool]:
    """Return the end of a comment, and whether it trims the white space after it."""
    end = template.text.find("#}", opening.end())
    if end < 0:
        raise error_at(template, "is a comment that is never closed", *opening.span())
    return end + 2, end > opening.end() and template.text[end - 1] == "-"


def _scan_raw(template: Document, opening: re.Match[str]) -> tuple[Token, bool] | None:
    """Return the token for a raw block, and whether it trims the white space after it, or None if this is not a raw block."""
    begin = _RAW.match(template.text, opening.end()) if opening[1] == "{%" else None
    if begin is None:
        return None
    text, closing = template.text, _ENDRAW.search(template.text, begin.end())
    if closing is None:
        raise error_at(template, "has no {% endraw %}", opening.start(), begin.end())
    start, stop = begin.end(), closing.start()
    if begin[1] == "-":
        start = min(stop, _match_end(_SPACES, text, start))
    if closing[1] == "-":
        stop = start + len(text[start:stop].rstrip(SPACE))
    return ("text", start, closing.end(), start, stop, ""), closing[2] == "-"


def _scan_tag(template: Document, opening: re.Match[str]) -> tuple[Token, bool]:
    """Return the token for a tag, and whether it trims the white space after it."""
    kind, text = opening[1], template.text
    simple = _SIMPLE_TAG[kind].match(text, opening.end())
    if simple and not text.endswith(("e-", "E-", "e+", "E+"), simple.start(1), simple.end(1)):
        stop, end = simple.end(1), simple.end()
        stop -= text.endswith(("-", "+"), simple.start(1), stop)
    else:
        stop, end = _scan_tag_end(template, opening)
    if stop - opening.end() > MAX_TAG_LENGTH:
        raise error_at(template, f"has more than {MAX_TAG_LENGTH:,} characters in one tag", opening.start(), end)
    if stop - opening.end() > MAX_OPERATORS:
        _check_operators(template, opening, stop)
    first = _STATEMENT.match(text, opening.end(), stop) if kind == "{%" else None
    return (kind, opening.start(), end, opening.end(), stop, first[1] if first else ""), text[stop] == "-"


def _scan_tag_end(template: Document, opening: re.Match[str]) -> tuple[int, int]:
    """Scan a tag word by word, and return where its content and the tag itself end."""
    text, closing, position, balance = template.text, _CLOSING[opening[1]], opening.end(), 0
    while True:
        position = _match_end(_BLANKS, text, position)
        if balance == 0:
            has_sign = text[position : position + 1] in ("-", "+") and text.startswith(closing, position + 1)
            if has_sign or text.startswith(closing, position):
                return position, position + 2 + has_sign
        word = _WORD.match(text, position)
        if word is None:
            break
        balance += (word[0] in ("(", "[", "{")) - (word[0] in (")", "]", "}"))
        position = word.end()
        if position - opening.end() > MAX_TAG_LENGTH:
            raise error_at(template, f"has more than {MAX_TAG_LENGTH:,} characters in one tag", *opening.span())
    if position == len(text):
        raise error_at(template, "is a tag that is never closed", *opening.span())
    if text[position] in "\"'":
        raise error_at(template, "is a string that is never closed", position, position + 1)
    raise error_at(template, "is not allowed in a tag", position, position + 1)


def _check_operators(template: Document, opening: re.Match[str], stop: int) -> None:
    tag_words = words(template.text[opening.end() : stop])
    operators = sum(
        word in _WORD_OPERATORS or not (word[0].isalnum() or word[0] in "_\"'" or word in _PUNCTUATION)
        for word, _ in tag_words
    )
    if operators > MAX_OPERATORS:
        problem = f"has {operators:,} operators in one tag; at most {MAX_OPERATORS} are accepted"
        raise error_at(template, problem, opening.start(), stop)


def _check_nesting(template: Document, tokens: Sequence[Token]) -> None:
    """Raise an error if a block is not closed or nests too deeply."""
    open_blocks: list[Token] = []
    for token in tokens:
        if token[5] == "elif" or is_opening(template, token):
            if token[5] == "elif" and (not open_blocks or open_blocks[-1][5] not in ("if", "elif")):
                raise error_at(template, "has no {% if %}", token[1], token[2])
            open_blocks.append(token)
            if len(open_blocks) > MAX_DEPTH:
                raise error_at(template, f"is more than {MAX_DEPTH} blocks and elif branches deep", token[1], token[2])
        elif token[5].startswith("end"):
            _close_block(template, open_blocks, token)
    if open_blocks:
        token = next(block for block in reversed(open_blocks) if block[5] != "elif")
        raise error_at(template, f"has no {{% end{token[5]} %}}", token[1], token[2])


def _close_block(template: Document, open_blocks: list[Token], token: Token) -> None:
    """Remove the innermost block and its elif branches. Raises an error if this token does not close that block."""
    while open_blocks and open_blocks[-1][5] == "elif":
        open_blocks.pop()
    if not open_blocks or "end" + open_blocks[-1][5] != token[5]:
        problem = f"does not close {{% {open_blocks[-1][5]} %}}" if open_blocks else "closes nothing"
        raise error_at(template, problem, token[1], token[2])
    open_blocks.pop()


# The content of a tag


def tag_text(template: Document, token: Token) -> str:
    """Return the text between a tag's delimiters."""
    return template.text[token[3] : token[4]]


def is_opening(template: Document, token: Token) -> bool:
    """Whether a token is a statement that opens a block. A `set` opens one if it has no value."""
    if token[5] != "set":
        return token[5] in _BLOCKS
    for word, _ in words(tag_text(template, token))[1:]:
        is_target = word in (".", ",", "(", ")") or word[0].isalpha() or word[0] == "_"
        if not is_target:
            return word != "="
    return True


@lru_cache(maxsize=1000)
def words(text: str) -> tuple[Word, ...]:
    """Return the names, numbers, strings and operators inside a tag, with their offsets."""
    return tuple((match[0], match.start()) for match in _WORD.finditer(text))


def names_in_tag(template: Document, token: Token) -> list[Word]:
    """Return the names that a tag looks up or binds, with their offsets in the template."""
    word = token[5]
    if token[0] == "text" or word in _STATEMENTS_WITHOUT_NAMES:
        return []
    tag_words = words(tag_text(template, token))[bool(word) :]
    if word == "for" and tag_words and tag_words[-1][0] == "recursive":
        tag_words = tag_words[:-1]
    return [(name, token[3] + start) for name, start in names(tag_words)]


def names(tag_words: Sequence[Word]) -> Iterator[Word]:
    """Yield the names among these words, except attributes, filters, tests, keywords and argument names."""
    before = ""
    for position, (word, start) in enumerate(tag_words):
        is_argument = position + 1 < len(tag_words) and tag_words[position + 1][0] == "="
        is_name = (word[0].isalpha() or word[0] == "_") and word not in _KEYWORDS
        if is_name and not is_argument and before not in (".", "|", "is"):
            yield word, start
        if not (word == "not" and before == "is"):
            before = word


def operand_start(template: Document, token: Token, offset: int) -> int:
    """Return where the expression begins whose attribute or item is looked up at this offset: at `.x.y` in `tools.x.y`, at `tools`.

    Returns the offset itself if nothing is looked up there.
    """
    tag_words = words(tag_text(template, token))[bool(token[5]) :]
    index = next((index for index, (_, start) in enumerate(tag_words) if token[3] + start == offset), -1)
    if index < 0:
        return offset
    while index > 0 and tag_words[index][0] in (".", "[", "(") and _ends_operand(tag_words[index - 1][0]):
        index = _matching_index(tag_words, index - 1)
        if index > 0 and tag_words[index - 1][0] == ".":
            index -= 1
    return token[3] + tag_words[index][1]


def _ends_operand(word: str) -> bool:
    is_value = word[0].isalnum() or word[0] in "_\"'"
    return word in (")", "]", "}") or (is_value and word not in _WORD_OPERATORS)


def _matching_index(tag_words: Sequence[Word], index: int) -> int:
    """Return the index of the bracket that a closing bracket belongs to, or the index itself for any other word."""
    balance = 0
    while index >= 0:
        word = tag_words[index][0]
        balance += (word in (")", "]", "}")) - (word in ("(", "[", "{"))
        if balance == 0:
            return index
        index -= 1
    return 0
