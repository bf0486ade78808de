"""Whether a sentence tells its reader to do something, or describes what something does.

`Use tabs` and `you must never use npm` are instructions; `the scripts use tabs` and `it never calls npm` are descriptions, whatever
verbs they share. A sentence counts as an instruction only if its words before the verb are of the few kinds that an instruction has:
nothing, an adverb, a modal verb, the reader as its subject, or an introduction such as `for packages`. So an unknown subject makes a
description, and lint keeps silent.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

_NEGATIONS = frozenset(
    "not never don't cannot can't shouldn't mustn't won't nor neither stop avoid without refrain quit".split()
)
# Words that may stand between the beginning of an instruction, or its subject, and its verb.
_LIGHT = _NEGATIONS | frozenset(
    "always only just simply please do must should shall can may will also ever again still even generally usually normally typically strictly"
    " consistently explicitly exclusively instead then first finally next now here either both to need have required expected supposed going"
    " be are sure make remember try prefer ensure certain choose continue start keep consider want strongly recommend it's it is important best"
    " mandatory essential necessary recommended better preferred from ought everywhere".split()
)
_READERS = frozenset("you we i let's lets us".split())
# These do things of their own accord too: only what they must do is an instruction.
_NAMED_READERS = frozenset(
    "agents agent contributors developers devs everyone everybody engineers authors reviewers assistants assistant claude codex copilot gemini".split()
)
_OBLIGES = frozenset(
    "must should shall cannot can't mustn't shouldn't don't do need have required expected ought".split()
)
_ARTICLES = frozenset(
    "the this that these those its it they he she his her their a an each every some most our my both all any no there".split()
)
_INTRODUCE = frozenset(
    "for in on to with when if before after during at inside across throughout by as unless until while once from under whenever wherever"
    " instead because since regarding given within outside besides unlike".split()
)
_PREPOSITIONS = frozenset("for in on to with at inside across throughout by during from".split())
_RELATIVE = ("that", "which", "who", "while", "where", "whereas", "because", "since")
_ASIDES = frozenset("however though too internally historically moreover furthermore therefore otherwise also".split())
_COMMANDS = frozenset(
    "use run install add build test start make write keep format indent commit check follow prefer call execute invoke set switch migrate move"
    " convert replace pick choose select stick manage work go do be ensure remember try note put create update upgrade remove delete edit open"
    " read see lint fix deploy publish bump pin lock begin configure always never let's apply respect treat consider verify stay leave avoid"
    " default stop type launch bootstrap set-up setup develop compile generate import define name document mark restrict limit mind wrap align"
    " favour favor adopt choose reach pass rely get give have let include enforce require".split()
)
# What an author writes, and a rule may have for its subject: `all files must use tabs`.
_WORKS = re.compile(
    r"(?:(?:all|every|each|any|new|source|our) ){0,3}(?:code|files?|sources?|modules?|contributions?|commits?|changes|tests?|scripts?|packages?"
    r"|dependencies|lines?|indentation|blocks?|imports|projects?|everything|commands) (?:must|should|shall|(?:has|have|needs?) to)\b(?P<rest>.*)"
)
_DECLARED = re.compile(r"(?:the |our |this project's |the project's |project |default |preferred )*")
_HARD = re.compile(r"[:;|()→•]|=>|\s[-–—]+\s|—")
_SOFT = re.compile(r"(,)|\b(and|or|but|so|then|therefore|hence|because|since|that|which|who|while|where|whereas)\b")
_FINITE = frozenset(
    "is was has does isn't doesn't hasn't wasn't can will cannot can't won't are were have aren't don't".split()
)
_SINGULAR = frozenset("is was has does isn't doesn't hasn't wasn't".split())
_START = re.compile(r"^[ \t>]*(?:(?:[-+*•]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?#{0,6}[ \t]*")
_NEW_BLOCK = re.compile(r"[ \t>]*(?:$|[-+*•][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||```|~~~|[A-Z*_])")
_SENTENCE = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?][\"'”’)\]*_]{0,3}\s+")
_LINK = re.compile(r"\[([^\[\]]{0,200})\]\([^()\s]{0,300}\)")
_CODE = re.compile(r"`[^`]{0,300}`")


def sentence_before(text: str, offset: int, near: int = 1_000) -> str:
    """What a sentence says before a place; lines that an author wrapped are joined, of a very long sentence what is near."""
    start = max(offset - near, 0)
    lines = text[start:offset].split("\n")
    taken = lines.pop()
    while lines and not _NEW_BLOCK.match(taken):
        above = lines.pop()
        if not above.strip() or above.lstrip().startswith(("#", "|", "```", "~~~")):
            break
        taken = f"{above} {taken.lstrip(' >')}"
    return _SENTENCE.split(_START.sub("", taken))[-1]


def attitude(before: str, is_elliptical: bool = False) -> Literal["", "asks", "forbids"]:
    """What a sentence wants of its reader, by what it says before a verb; empty if it describes.

    Where the words that follow are no verb of their own (`never npm`, `with tabs`), the verb before them counts.
    """
    plain = _CODE.sub(" code-span ", _LINK.sub(r"\1", before))
    if plain.count("`") % 2 or plain.count('"') % 2 or plain.count("“") > plain.count("”"):
        return ""
    plain = re.sub(r"[*_\"“”]", "", plain).replace("’", "'").lower()
    part = _HARD.split(plain)[-1].strip()
    if _is_introduced(part):
        return "asks"
    marks, clauses = _clauses(part)
    if not _instructs(marks, clauses, len(clauses) - 1, is_elliptical):
        return ""
    words = clauses[-1]
    if len(clauses) > 1 and not {*words, *clauses[-2]} - _LIGHT:
        words = [*clauses[-2], *words]  # `never, ever use`
    if "longer" in words:
        return ""
    if not set(words) & _NEGATIONS:
        return "asks"
    return "" if set(words) & {"need", "have", "required", "necessary", "mandatory"} else "forbids"


def is_declaration(before: str) -> bool:
    """Whether a name that begins here is declared for the project: `package manager: pnpm`, and not `its package manager is npm`."""
    plain = re.sub(r"[*_`\"]", "", before).replace("’", "'").lower()
    return _DECLARED.fullmatch(_HARD.split(plain)[-1].strip() + " ") is not None or not plain.strip()


def _clauses(part: str) -> tuple[list[str], list[list[str]]]:
    """The clauses of a sentence as words, and what stands before each."""
    marks, at = [""], 0
    clauses: list[list[str]] = []
    for match in _SOFT.finditer(part):
        words = part[at : match.start()].split()
        at = match.end()
        if not words and clauses:  # `, and`
            marks[-1] = match[0]
            continue
        clauses.append(words)
        marks.append(match[0])
    clauses.append(part[at:].split())
    return marks, clauses


def _is_introduced(part: str) -> bool:
    """`For packages use …`: a few words behind a preposition, and nothing among them that could be a subject."""
    words = part.split()
    if (
        not words
        or words[0] not in _PREPOSITIONS
        or "," in part
        or len(words) > 6
        or set(words) & (_NEGATIONS | _FINITE)
    ):
        return False
    return not set(words[2:]) & (_ARTICLES | {"code-span"}) and len(words) > 1


def _instructs(marks: Sequence[str], clauses: Sequence[Sequence[str]], at: int, is_elliptical: bool) -> bool:
    """Whether a clause is one of an instruction. What has no subject of its own shares that of the clause before."""
    words, mark = clauses[at], marks[at]
    if not set(words) - _LIGHT and not (words and words[0] in _HEADS and not _is_impersonal(words)):
        if not at or mark in ("so", "then", "therefore", "hence"):
            return True
        if mark in _RELATIVE:
            return False
        return _continues(marks, clauses, at, is_elliptical)
    return _begins(words, is_elliptical)


# With these a clause begins that has its subject elsewhere.
_HEADS = frozenset(("is", "are", "have", "it", "it's"))


def _is_impersonal(words: Sequence[str]) -> bool:
    """`It is important to`."""
    return words[-1] == "to" and len(words) > 2


def _begins(words: Sequence[str], is_elliptical: bool) -> bool:
    """Whether the words of a clause begin an instruction."""
    rest = list(words)
    while len(rest) > 1 and rest[0] in _LIGHT - _COMMANDS - _HEADS:
        del rest[0]
    if rest[0] in ("the", "all", "every", "any", "ai", "coding") and _NAMED_READERS & set(rest[1:3]):
        rest = rest[1 if rest[1] in _NAMED_READERS else 2 :]
    if rest and rest[0] in _NAMED_READERS:
        return not set(rest[1:]) - _LIGHT and bool(set(rest) & _OBLIGES)
    heavy = [number for number, word in enumerate(rest) if word not in _LIGHT]
    if heavy and rest[heavy[-1]] in _READERS and "used" not in rest:
        return len(heavy) == 1 or rest[0] in _INTRODUCE or rest[0] in ("ensure", "make", "remember", "note")
    rule = _WORKS.fullmatch(" ".join(rest))
    if rule and (is_elliptical or not set(rule["rest"].split()) - _LIGHT):
        return True
    if rest[:1] == ["ensure"] or rest[:2] == ["make", "sure"]:
        return True
    if is_elliptical:
        return bool(rest) and (rest[0] in _COMMANDS or rest[0] in _READERS) and "used" not in rest
    return bool(rest) and rest[0] in _COMMANDS and len(heavy) == 0


def _continues(marks: Sequence[str], clauses: Sequence[Sequence[str]], at: int, is_elliptical: bool) -> bool:
    """Whether a clause without a subject goes on with an instruction, or begins one behind a comma."""
    before = at - 1
    while before > 0 and clauses[before] and not set(clauses[before]) - _ASIDES:
        before -= 1
    words = clauses[before]
    if not words or not set(words) - _ASIDES:
        return True
    if words[0] in _INTRODUCE and marks[at] == ",":
        return True
    if marks[before] in _RELATIVE:
        return False
    if _instructs(marks, clauses, before, True):
        return True
    if is_elliptical or before < at - 1 or any(mark in ("that", "which", "who") for mark in marks[: at + 1]):
        return False
    # `npm is slow, use pnpm`; but `the tools are fast and use npm` goes on with its subject.
    return bool(set(words) & (_FINITE if marks[at] == "," else _SINGULAR)) and marks[at] in (",", "but")
