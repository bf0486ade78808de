"""Decides whether a sentence instructs its reader or describes something.

`Use tabs` and `you must never use npm` are instructions; `the scripts use tabs` and `it never calls npm` are descriptions, although
they share verbs. A sentence is an instruction only if nothing comes before its verb except an adverb, a modal verb, the reader as the
subject, or an introduction such as `for packages`. A sentence with any other subject is a description, which lint ignores.
"""

from __future__ import annotations

import re

from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

_NEGATIONS = frozenset(
    "not never don't cannot can't shouldn't mustn't won't nor neither stop avoid without refrain quit".split()
)
# Words that may come before an instruction's verb, at its beginning or after its subject.
_FILLERS = _NEGATIONS | frozenset(
    "always only just simply please do must should shall can may will also ever again still even generally usually normally typically strictly"
    " consistently explicitly exclusively instead then first finally next now here either both to need have required expected supposed going"
    " be are sure make remember try prefer ensure certain choose continue start keep consider want strongly recommend it's it is important best"
    " mandatory essential necessary recommended better preferred from ought everywhere".split()
)
_READERS = frozenset("you we i let's lets us".split())
# A sentence with one of these as its subject may be a description; it is an instruction only if it says what they must do.
_NAMED_READERS = frozenset(
    "agents agent contributors developers devs everyone everybody engineers authors reviewers assistants assistant claude codex copilot gemini".split()
)
_OBLIGATIONS = frozenset(
    "must should shall cannot can't mustn't shouldn't don't do need have required expected ought".split()
)
_DETERMINERS = frozenset(
    "the this that these those its it they he she his her their a an each every some most our my both all any no there".split()
)
_INTRODUCTIONS = frozenset(
    "for in on to with when if before after during at inside across throughout by as unless until while once from under whenever wherever"
    " instead because since regarding given within outside besides unlike".split()
)
_PREPOSITIONS = frozenset("for in on to with at inside across throughout by during from".split())
_SUBORDINATORS = ("that", "which", "who", "while", "where", "whereas", "because", "since")
_ASIDES = frozenset("however though too internally historically moreover furthermore therefore otherwise also".split())
_IMPERATIVES = frozenset(
    "use run install add build test start make write keep format indent commit check follow prefer call execute invoke set switch migrate move"
    " convert replace pick choose select stick manage work go do be ensure remember try note put create update upgrade remove delete edit open"
    " read see lint fix deploy publish bump pin lock begin configure always never let's apply respect treat consider verify stay leave avoid"
    " default stop type launch bootstrap set-up setup develop compile generate import define name document mark restrict limit mind wrap align"
    " favour favor adopt choose reach pass rely get give have let include enforce require".split()
)
# Things that people write and that rules are about: `all files must use tabs`.
_RULE_FOR_FILES = lazy_pattern(
    r"(?:(?:all|every|each|any|new|source|our) ){0,3}(?:code|files?|sources?|modules?|contributions?|commits?|changes|tests?|scripts?|packages?"
    r"|dependencies|lines?|indentation|blocks?|imports|projects?|everything|commands) (?:must|should|shall|(?:has|have|needs?) to)\b(?P<rest>.*)"
)
_DECLARATION = lazy_pattern(r"(?:the |our |this project's |the project's |project |default |preferred )*")
_HARD_BREAK = lazy_pattern(r"[:;|()→•]|=>|\s[-–—]+\s|—")
_SOFT_BREAK = lazy_pattern(
    r"(,)|\b(and|or|but|so|then|therefore|hence|because|since|that|which|who|while|where|whereas)\b"
)
_FINITE_VERBS = frozenset(
    "is was has does isn't doesn't hasn't wasn't can will cannot can't won't are were have aren't don't".split()
)
_SINGULAR_VERBS = frozenset("is was has does isn't doesn't hasn't wasn't".split())
_START = lazy_pattern(r"^[ \t>]*(?:(?:[-+*•]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?#{0,6}[ \t]*")
_NEW_BLOCK = lazy_pattern(r"[ \t>]*(?:$|[-+*•][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|\||```|~~~|[A-Z*_])")
_SENTENCE = lazy_pattern(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?][\"'”’)\]*_]{0,3}\s+")
_LINK = lazy_pattern(r"\[([^\[\]]{0,200})\]\([^()\s]{0,300}\)")
_CODE = lazy_pattern(r"`[^`]{0,300}`")


_SPANS = lazy_pattern(r"`[^`]{0,300}`")


def is_quoted(before: str) -> bool:
    """Whether quotation marks are open at the end of a text, apart from those in code spans: what follows is what somebody says."""
    text = _SPANS.sub("", before)
    is_open = any(text.count(start) > text.count(end) for start, end in ("「」", "『』", "“”", "«»"))
    return is_open or text.count('"') % 2 == 1


def sentence_before(text: str, offset: int, near: int = 1_000) -> str:
    """Return the part of a sentence before an offset, with wrapped lines joined. If it is very long, only its end is returned."""
    start = max(offset - near, 0)
    lines = text[start:offset].split("\n")
    block = lines.pop()
    while lines and not _NEW_BLOCK.match(block):
        above = lines.pop()
        if not above.strip() or above.lstrip().startswith(("#", "|", "```", "~~~")):
            break
        block = f"{above} {block.lstrip(' >')}"
    return _SENTENCE.split(_START.sub("", block))[-1]


def attitude(before: str, is_elliptical: bool = False) -> Literal["", "asks", "forbids"]:
    """Return whether a sentence asks for something or forbids it, judging by the words before a verb, or empty if it only describes.

    `is_elliptical` means that no verb follows (`never npm`, `with tabs`), so that the verb is among the words before.
    """
    plain = _CODE.sub(" code-span ", _LINK.sub(r"\1", before))
    if plain.count("`") % 2 or plain.count('"') % 2 or plain.count("“") > plain.count("”"):
        return ""
    plain = re.sub(r"[*_\"“”]", "", plain).replace("’", "'").lower()
    part = _HARD_BREAK.split(plain)[-1].strip()
    if _is_introduced(part):
        return "asks"
    separators, clauses = _clauses(part)
    if not _instructs(separators, clauses, len(clauses) - 1, is_elliptical):
        return ""
    words = clauses[-1]
    if len(clauses) > 1 and not {*words, *clauses[-2]} - _FILLERS:
        words = [*clauses[-2], *words]  # `never, ever use`
    if "longer" in words:
        return ""
    if not set(words) & _NEGATIONS:
        return "asks"
    return "" if set(words) & {"need", "have", "required", "necessary", "mandatory"} else "forbids"


def is_declaration(before: str) -> bool:
    """Whether the name that follows is declared as the project's: `package manager: pnpm`, but not `its package manager is npm`."""
    plain = re.sub(r"[*_`\"]", "", before).replace("’", "'").lower()
    return _DECLARATION.fullmatch(_HARD_BREAK.split(plain)[-1].strip() + " ") is not None or not plain.strip()


def _clauses(part: str) -> tuple[list[str], list[list[str]]]:
    """Split a sentence into clauses: the word or comma before each, and the words of each."""
    separators, position = [""], 0
    clauses: list[list[str]] = []
    for match in _SOFT_BREAK.finditer(part):
        words = part[position : match.start()].split()
        position = match.end()
        if not words and clauses:  # `, and`
            separators[-1] = match[0]
            continue
        clauses.append(words)
        separators.append(match[0])
    clauses.append(part[position:].split())
    return separators, clauses


def _is_introduced(part: str) -> bool:
    """Whether this is an introduction such as `For packages use …`: a preposition and a few words, none of them a possible subject."""
    words = part.split()
    if (
        not words
        or words[0] not in _PREPOSITIONS
        or "," in part
        or len(words) > 6
        or set(words) & (_NEGATIONS | _FINITE_VERBS)
    ):
        return False
    return not set(words[2:]) & (_DETERMINERS | {"code-span"}) and len(words) > 1


def _instructs(separators: Sequence[str], clauses: Sequence[Sequence[str]], index: int, is_elliptical: bool) -> bool:
    """Whether a clause belongs to an instruction. A clause without a subject shares that of the previous clause."""
    words, separator = clauses[index], separators[index]
    if not set(words) - _FILLERS and not (words and words[0] in _AMBIGUOUS_STARTS and not _is_impersonal(words)):
        if not index or separator in ("so", "then", "therefore", "hence"):
            return True
        if separator in _SUBORDINATORS:
            return False
        return _continues(separators, clauses, index, is_elliptical)
    return _begins(words, is_elliptical)


# Fillers that can begin a description, because its subject may be in another clause.
_AMBIGUOUS_STARTS = frozenset(("is", "are", "have", "it", "it's"))


def _is_impersonal(words: Sequence[str]) -> bool:
    """Whether this is an impersonal start such as `it is important to`."""
    return words[-1] == "to" and len(words) > 2


def _begins(words: Sequence[str], is_elliptical: bool) -> bool:
    """Whether a clause with these words begins an instruction."""
    rest = _skip_to_reader(_skip_fillers(words))
    if rest and rest[0] in _NAMED_READERS:
        return not set(rest[1:]) - _FILLERS and bool(set(rest) & _OBLIGATIONS)
    content = [word for word in rest if word not in _FILLERS]
    if "used" not in rest and _READERS & set(content[-1:]):
        return len(content) == 1 or rest[0] in _INTRODUCTIONS | _REMINDERS
    if _is_rule_for_files(rest, is_elliptical) or rest[0] == "ensure" or rest[:2] == ["make", "sure"]:
        return True
    if is_elliptical:
        return rest[0] in _IMPERATIVES | _READERS and "used" not in rest
    return rest[0] in _IMPERATIVES and not content


_REMINDERS = frozenset(("ensure", "make", "remember", "note"))


def _skip_fillers(words: Sequence[str]) -> list[str]:
    """Return the words starting with the first that is not a filler. At least one word is returned."""
    rest = list(words)
    while len(rest) > 1 and rest[0] in _FILLERS - _IMPERATIVES - _AMBIGUOUS_STARTS:
        del rest[0]
    return rest


def _skip_to_reader(words: list[str]) -> list[str]:
    """Return the words starting with the named reader, if there is one: `all contributors must` becomes `contributors must`."""
    if words[0] in ("the", "all", "every", "any", "ai", "coding") and _NAMED_READERS & set(words[1:3]):
        return words[1 if words[1] in _NAMED_READERS else 2 :]
    return words


def _is_rule_for_files(words: Sequence[str], is_elliptical: bool) -> bool:
    """Whether this is `all files must …`, followed only by fillers unless the sentence is elliptical."""
    rule = _RULE_FOR_FILES.fullmatch(" ".join(words))
    return rule is not None and (is_elliptical or not set(rule["rest"].split()) - _FILLERS)


def _continues(separators: Sequence[str], clauses: Sequence[Sequence[str]], index: int, is_elliptical: bool) -> bool:
    """Whether a clause without a subject continues an instruction, or begins one after a comma."""
    before = index - 1
    while before > 0 and clauses[before] and not set(clauses[before]) - _ASIDES:
        before -= 1
    words, separator = clauses[before], separators[index]
    if not set(words) - _ASIDES or (words[0] in _INTRODUCTIONS and separator == ","):
        return True
    if separators[before] in _SUBORDINATORS:
        return False
    if _instructs(separators, clauses, before, True):
        return True
    is_relative = bool({"that", "which", "who"} & set(separators[: index + 1]))
    if is_elliptical or before < index - 1 or is_relative or separator not in (",", "but"):
        return False
    # `npm is slow, use pnpm` begins an instruction; `the tools are fast and use npm` continues with its subject.
    return bool(set(words) & (_FINITE_VERBS if separator == "," else _SINGULAR_VERBS))


_OTHER_REPOSITORY = lazy_pattern(
    r"\b(?:git|gh repo)[ \t]+clone\b|\bclon(?:e|ed|ing)[ \t]+(?:the|this|a|it)\b"
    r"|\b(?:other|another|separate|external|sibling|upstream|downstream|companion|target|consum\w+|parent|private|owning|product|your|their|own|user'?s?|customer'?s?|client'?s?|linked|sister)"
    r"[ \t]+(?:[\w-]+[ \t]+)?(?:repo|repos|repository|repositories|project|projects|codebase|checkout|clones?|workspace)\b"
    r"|\b(?:in|from|of|inside|see)[ \t]+(?:the[ \t]+)?"
    r"(?!(?:the|this|our|a|each|every|root|same|current|entire|whole|git|main|mono)\b)[`*\w./@-]{2,80}[ \t]+(?:(?:mono)?repo|repository)\b"
    r"|\b(?:lives?|located|maintained|kept)[ \t]+in[ \t]+(?:the[ \t]+)?[`*\w./@-]{2,80}[ \t]+(?:repo|repository)\b|リポジトリ|仓库",
    re.IGNORECASE,
)


_CONDITION = lazy_pattern(
    r"\b(?:if|when|where)\b[^.]{0,40}\b(?:exists?|present|available|configured|defined|absent|found)\b", re.IGNORECASE
)


def is_conditional(line: str) -> bool:
    """Whether a line says itself that what it names may not exist: "if available", "(if configured)"."""
    return _CONDITION.search(line) is not None


def is_about_other_repository(text: str) -> bool:
    """Whether a text, such as a section, is about the files or commands of another repository."""
    return _OTHER_REPOSITORY.search(text) is not None
