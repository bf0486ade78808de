"""Finds files that contradict each other: one says `npm`, another `pnpm`, and the agent may follow either.

A family is a set of alternatives, of which a project uses one. A file *runs* a choice if it contains its command, *asks* for it in
words (`use pnpm`), or *forbids* it (`never npm`, `npm must not be used`). Two files contradict each other if one forbids what the
other runs or asks for, or if they ask for different choices. A file of the same folder that runs another choice than the one that is
asked for counts too. In another folder, it may be a package with tools of its own.
"""

from __future__ import annotations

import re
from itertools import islice

from ...vocabulary import value
from .instructions import attitude, is_declaration, sentence_before
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .source_text import SourceText

    Statement = tuple[str, int]


@value
class Family:
    """Alternatives of which a project uses one. `choices` maps their names to patterns for their commands."""

    name: str
    choices: Mapping[str, str]
    # Whether a file of the same folder that runs another choice is also a contradiction, or only one that asks for it.
    counts_runs: bool = False


_SCRIPT = r"(?:install|ci|i|add|run|test|start|build|dev|lint|exec|update|remove)\b(?![ \t]+(?:-g|--global)\b)"
FAMILIES = (
    Family(
        "the package manager",
        {
            "npm": rf"npm[ \t]+(?:{_SCRIPT})(?![ \t]+(?:-g|--global|pnpm|yarn|bun|corepack)\b)",
            "pnpm": rf"pnpm[ \t]+(?:{_SCRIPT}|[a-z][\w:-]+)",
            "yarn": rf"yarn[ \t]+(?:{_SCRIPT}|[a-z][\w:-]+)",
            "bun": r"bun[ \t]+(?:install|add|i|ci|remove)\b(?![ \t]+(?:-g|--global)\b)",
        },
        counts_runs=True,
    ),
    Family(
        "the Python package manager",
        {
            "pip": r"pip3?[ \t]+install\b(?![ \t]+(?:-U[ \t]+|--upgrade[ \t]+)?(?:pip|uv|poetry|pipenv|pdm|hatch)\b)",
            "uv": r"uv[ \t]+(?:sync|add|pip|run|lock|venv)\b",
            "poetry": r"poetry[ \t]+(?:install|add|run|lock|shell)\b",
            "pipenv": r"pipenv[ \t]+(?:install|run|shell|sync)\b",
            "pdm": r"pdm[ \t]+(?:install|add|run|sync)\b",
        },
        counts_runs=True,
    ),
    Family(
        "the test runner",
        {
            "jest": r"jest(?:[ \t]+[-\w./]+|$)",
            "vitest": r"vitest(?:[ \t]+[-\w./]+|$)",
            "mocha": r"mocha(?:[ \t]+[-\w./]+|$)",
        },
    ),
    Family("the Python test runner", {"pytest": r"pytest\b", "unittest": r"unittest\b"}),
    Family(
        "the formatter",
        {"prettier": r"prettier[ \t]+-", "biome": r"biome[ \t]+(?:check|format)"},
    ),
    Family("the Python formatter", {"black": r"black[ \t]+[.-]", "ruff format": r"ruff[ \t]+format\b"}),
)
_DECLARES = lazy_pattern(r"\b(?:package manager|test runner|formatter)(?:[ \t]+is)?:?[*_]*[ \t]+$", re.IGNORECASE)
_ASKS = lazy_pattern(
    r"\b(?:use|using|prefer|stick to|switch to|migrate to|install[ \t]+(?:[\w-]+[ \t]+){0,3}with)[ \t]+(?:only[ \t]+)?$",
    re.IGNORECASE,
)
# `_AVOIDS` includes the verb, `_EXCLUDES` does not.
_AVOIDS = lazy_pattern(
    r"\b(?:avoid|(?:stop|quit|avoid)[ \t]+(?:using|running)|(?:do not|don['’]t|must not|never)[ \t]+(?:ever[ \t]+)?(?:run|call|invoke))[ \t]+$",
    re.IGNORECASE,
)
_EXCLUDES = lazy_pattern(
    r"\b(?:(?:never|do not|don['’]t|not)|(?:instead of|rather than|over)(?:[ \t]+(?:using|running|use|run))?)[ \t]+$",
    re.IGNORECASE,
)
_FORBIDDEN = lazy_pattern(
    r"\b(?:never|do not|don['’]t|must not|avoid|not|instead of|rather than|wrong|bad|no longer|deprecated|legacy|old|formerly|migrat\w+ from"
    r"|only (?:in|for))\b|❌|✗",
    re.IGNORECASE,
)
# What may follow the name of a choice: in `use yarn resolutions`, yarn is not the choice.
_NAME_ENDS = lazy_pattern(
    r"[*_\"']{0,2}(?:[ \t]*(?:$|[.,;:()!—–|\n]|-)|[ \t]+(?:for|or|and|in|here|as|to|everywhere|only|with|because|since|not|never|instead)\b)"
)
# A rule for a certain place or case does not contradict a general one.
_CONDITION = lazy_pattern(
    r"\b(?:if|when|unless|except|only (?:in|for)|inside|within|for the|for any\w*|under|directly|as a last resort)\b|/|\.\w{1,4}\b",
    re.IGNORECASE,
)

_INDENT_PATTERNS = (
    (
        "tabs",
        r"\b(?:use|with|prefer|indent(?:ation)?[^\n]{0,20}?:?)[ \t]+(?:hard[ \t]+)?\**tabs\b(?! or)(?![^\n]{0,20}spaces? (?:instead|only))",
    ),
    ("2 spaces", r"\b(?:2|two)[ -]spaces?\b(?=[^\n]{0,20}indent)|\bindent[^\n]{0,24}?\b(?:2|two)[ -]spaces?\b"),
    (
        "spaces",
        r"\b(?:use|with|prefer|indent(?:ation)?[^\n]{0,20}?:?)[ \t]+(?:soft[ \t]+)?\**spaces\b(?! or)(?![^\n]{0,20}tabs? (?:instead|only))",
    ),
    ("4 spaces", r"\b(?:4|four)[ -]spaces?\b(?=[^\n]{0,20}indent)|\bindent[^\n]{0,24}?\b(?:4|four)[ -]spaces?\b"),
)
# Rules out tabs in a web page and spaces around operators.
_ABOUT_INDENTATION = lazy_pattern(
    r"indent|white ?space|\b(?:hard|soft) tabs\b|\btabs?\b.*\bspaces?\b|\bspaces?\b.*\btabs?\b|\b(?:use|prefer)[ \t]+\**(?:tabs|spaces)\W*$",
    re.IGNORECASE,
)
_ANY_SPACES = "spaces"
_INDENTATION = "the indentation"
_LANGUAGE = lazy_pattern(
    r"\b(?:go|golang|makefiles?|python|ya?ml|json|javascript|typescript|js|ts|tsx|rust|java|kotlin|swift|c\+\+|cpp|html|css|sql|shell|bash|lua"
    r"|proto|toml|markdown|list|lists|csv|tsv|tree|output|wrapped|continuation|pep[ -]?8)\b|\.[a-z]\w{0,4}\b",
    re.IGNORECASE,
)


@value
class Stance:
    """What one file says about a family: choices, with the offset of the first mention of each."""

    runs: Mapping[str, int]
    asks: Mapping[str, int]
    forbids: Mapping[str, int]
    # Forbids only installing packages with it; its other commands may be allowed.
    forbids_install: Mapping[str, int] = {}

    @property
    def used(self) -> set[str]:
        """The choices that the file runs or asks for."""
        return set(self.runs) | set(self.asks)


@value
class Contradiction:
    """Two instructions that cannot both be followed."""

    family: str
    path: str
    line: int
    says: str
    other: str
    other_line: int
    other_says: str


def find_contradictions(sources: Sequence[SourceText]) -> Iterator[Contradiction]:
    """Yield the contradictions between an earlier and a later file, one for each family and pair of files."""
    stances = [(source, source.cached("stances", stances_of)) for source in sources if source.is_file]
    for index, (later, says) in enumerate(stances):
        for earlier, earlier_says in stances[:index]:
            if later.path == earlier.path:
                continue
            for family in (family for family in says if family in earlier_says):
                counts_runs = _COUNTS_RUNS[family] and _base_folder(later.path) == _base_folder(earlier.path)
                clash = _conflict(says[family], earlier_says[family], counts_runs)
                if clash:
                    statement, other = clash
                    yield Contradiction(
                        family,
                        later.path,
                        later.line(statement[1]),
                        statement[0],
                        earlier.path,
                        earlier.line(other[1]),
                        other[0],
                    )


_COUNTS_RUNS = {**{family.name: family.counts_runs for family in FAMILIES}, _INDENTATION: False}


def _base_folder(path: str) -> str:
    """Return the folder that a file is about. For a rule in `.agent/rules`, that is the folder that contains `.agent`."""
    folder = path.rpartition("/")[0]
    return folder[: folder.index("/.")] if "/." in folder else folder


def _conflict(stance: Stance, other: Stance, counts_runs: bool) -> tuple[Statement, Statement] | None:
    """Return the statements in which two stances contradict each other, or None."""
    if found := _forbidden_use(stance, other):
        return found
    if found := _forbidden_use(other, stance):
        return found[1], found[0]
    is_asked = (stance.asks or other.asks) if counts_runs else (stance.asks and other.asks)
    if len(stance.used) != 1 or len(other.used) != 1 or not is_asked:
        return None
    (choice,), (other_choice,) = stance.used, other.used
    if choice == other_choice or _are_both_spaces(choice, other_choice):
        return None
    return (f"uses {choice}", _offset(stance, choice)), (f"uses {other_choice}", _offset(other, other_choice))


def _forbidden_use(stance: Stance, other: Stance) -> tuple[Statement, Statement] | None:
    """Return what a stance forbids and the other one uses, unless one of them contradicts itself."""
    for choice, offset in stance.forbids.items():
        if choice in other.used and choice not in stance.runs and choice not in other.forbids:
            return (f"forbids {choice}", offset), (f"uses {choice}", _offset(other, choice))
    for choice, offset in stance.forbids_install.items():
        if choice in other.asks and choice not in stance.used and choice not in other.forbids_install:
            return (f"forbids {choice} install", offset), (f"uses {choice}", other.asks[choice])
    return None


def _are_both_spaces(choice: str, other: str) -> bool:
    """Whether both choices are spaces, and at least one does not say how many."""
    return _ANY_SPACES in (choice, other) and choice.endswith(_ANY_SPACES) and other.endswith(_ANY_SPACES)


def _offset(stance: Stance, choice: str) -> int:
    return stance.asks[choice] if choice in stance.asks else stance.runs[choice]


def stances_of(source: SourceText) -> dict[str, Stance]:
    """Return what a file says about each family that it mentions."""
    stances: dict[str, Stance] = {}
    for family in FAMILIES:
        stance = Stance({}, {}, {})
        for choice in family.choices:
            if choice in source.text or choice.capitalize() in source.text:
                stance = _add_choice(source, family, choice, stance)
        if stance.used or stance.forbids or stance.forbids_install:
            stances[family.name] = stance
    indentation = _indentation_stance(source)
    if indentation.asks or indentation.forbids:
        stances[_INDENTATION] = indentation
    return stances


def _add_choice(source: SourceText, family: Family, choice: str, before: Stance) -> Stance:
    """Add what a file says about one more choice to a stance. Only the first mentions count, because a log may have thousands."""
    word, run = _patterns(family, choice)
    runs, asks, forbids, installs = (
        {**mentions} for mentions in (before.runs, before.asks, before.forbids, before.forbids_install)
    )
    for index, match in enumerate(word.finditer(source.text)):
        offset = match.start()
        stated = _attitude_to(source, offset, match.end())
        if stated and _is_general(source, offset):
            (asks if stated == "asks" else forbids).setdefault(choice, offset)
        elif _is_install_banned(source, offset, match.end()) and _is_general(source, offset):
            installs.setdefault(choice, offset)
        elif choice not in runs and run.match(source.text, offset) and _is_command(source, offset):
            runs[choice] = offset
        if index == _MAX_MENTIONS:
            break
    if choice in forbids:
        asks.pop(choice, None)
    return Stance(runs, asks, forbids, installs)


_MAX_MENTIONS = 200


def _attitude_to(source: SourceText, start: int, end: int) -> str:
    """Return whether a sentence asks for a choice or forbids it. In backticks, the name must be alone: `bun test` does not ask for bun."""
    before, after = source.before(start), source.text[end : end + 40]
    if _is_banned(source, start, end):
        return "forbids"
    if before.endswith("`"):
        if not after.startswith("`"):
            return ""
    elif not _NAME_ENDS.match(after):
        return ""
    sentence = sentence_before(source.text, start).rstrip("`*_\"'")
    for pattern, is_elliptical, is_negative in (
        (_AVOIDS, False, True),
        (_EXCLUDES, True, True),
        (_ASKS, False, False),
    ):
        if match := pattern.search(sentence):
            stated = attitude(sentence[: match.start()], is_elliptical)
            return "forbids" if stated and is_negative else stated
    if match := _DECLARES.search(sentence):
        return "asks" if is_declaration(sentence[: match.start()]) else ""
    return ""


# `npm must not be used`, `using npm is forbidden`; but not `npm is forbidden in web/`.
_PASSIVE_BAN = lazy_pattern(
    r"[`*_]{0,3}[ \t]+(?:(?:must|should|may|shall|can)(?:[ \t]+(?:not|never)|n['’]t)[ \t]+be[ \t]+(?:used|run|called|invoked)"
    r"|(?:is|are)[ \t]+(?:strictly[ \t]+)?(?:forbidden|prohibited|banned|disallowed|not[ \t]+(?:allowed|permitted)))\b"
    r"(?![^.\n]{0,80}[ \t](?:by|for|in|on|to)\b)",
    re.IGNORECASE,
)
_BANNED = lazy_pattern(
    r"(?:(?:the[ \t]+use[ \t]+of|using|running|calling)[ \t]+)?(?:the[ \t]+)?[`*_]{0,3}", re.IGNORECASE
)
_NEVER_RUN = lazy_pattern(
    r"(?:please[ \t]+)?(?:(?:you[ \t]+)?must not|never|do not|don['’]t)[ \t]+(?:ever[ \t]+)?(?:run|call|invoke|execute|use)[ \t]+`",
    re.IGNORECASE,
)
_INSTALL = lazy_pattern(r"[ \t]+(?:install|ci|i|add)`[*_]{0,2}(?=[ \t]*(?:$|[.,;!\n]))")


def _is_banned(source: SourceText, start: int, end: int) -> bool:
    """Whether a sentence in the passive bans a choice."""
    is_subject = _BANNED.fullmatch(sentence_before(source.text, start)) is not None
    return is_subject and _PASSIVE_BAN.match(source.text, end) is not None


def _is_install_banned(source: SourceText, start: int, end: int) -> bool:
    """Whether a sentence forbids installing packages with a choice: "never run `npm install`"."""
    is_install = _INSTALL.match(source.text, end) is not None
    return is_install and _NEVER_RUN.fullmatch(sentence_before(source.text, start)) is not None


def _is_command(source: SourceText, offset: int) -> bool:
    """Whether a command begins here, and nothing on its line rejects it.

    A command begins a line in a fence or a code span, or it follows a verb in prose that asks to run it everywhere.
    """
    before = _RUNNER.sub("", source.before(offset))
    if source.is_fenced(offset):
        is_first = re.search(r"(?:^[ \t>]*|\$[ \t]+|&&[ \t]*|;[ \t]*)$", before) is not None
    else:
        sentence = sentence_before(source.text, offset)
        if before.endswith("`") and before.count("`") % 2 == 1:
            is_first = _is_told(sentence.rstrip("`"), source.text[offset : offset + 200])
        else:
            runs = _RUNS.search(sentence)
            stated = attitude(sentence[: runs.start()], runs[1].lower() not in _VERBS) if runs else ""
            is_first = stated == "asks" and _is_general(source, offset)
    return is_first and not _FORBIDDEN.search(source.line_around(offset)) and not source.is_counterexample(offset)


def _is_told(before: str, rest: str) -> bool:
    """Whether the reader should run a command: it begins a line or a cell, or follows a label or an instruction.

    Anything else describes it: `the image runs …`, `lazy-installer.ts — …`, `… is called by the hook`.
    """
    if _PASSIVE.match(rest):
        return False
    if not re.search(r"\w", before) or _LABEL.fullmatch(before):
        return True
    return attitude(before, is_elliptical=True) == "asks"


# `Install:`, `**Run the tests**:`, `| Install |`
_LABEL = lazy_pattern(r"[ \t|*_]*[A-Z][\w ,/()*-]{0,40}(?::[*_]*|\|)[ \t*_]*")
_PASSIVE = lazy_pattern(
    r"[^`\n]{1,120}`[*_]{0,2}[ \t]+(?:(?:is|are|was|were|gets?)[ \t]+(?:\w+ly[ \t]+)?(?:run|called|executed|invoked|used|spawned|triggered|handled|parsed"
    r"|started|detected|wrapped|supported)[ \t]+(?:by|in|inside|during|on|from|as|when|for|automatically)"
    r"|runs[ \t]+(?:in|inside|during|on|automatically|as part)|fail(?:s|ed)|broke|breaks|crash\w*|hangs)\b",
    re.IGNORECASE,
)
_VERBS = ("run", "execute", "use")
_RUNS = lazy_pattern(r"\b(run|running|execute|use|using|with|via)[ \t]+$", re.IGNORECASE)
_RUNNER = lazy_pattern(r"(?:npx|bunx|pnpm(?: exec)?|yarn|uv run|poetry run|python3? -m|sudo)[ \t]+$")


def _is_general(source: SourceText, offset: int) -> bool:
    """Whether a sentence in prose is a general rule, rather than one for a certain place or case."""
    return not source.is_fenced(offset) and not _CONDITION.search(source.line_around(offset))


_compiled: dict[tuple[str, str], tuple[re.Pattern[str], re.Pattern[str]]] = {}


def _patterns(family: Family, choice: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns for a choice's name and its command, compiled on first use."""
    key = (family.name, choice)
    if key not in _compiled:
        word = rf"(?<![\w/.@-])(?:{re.escape(choice)}|{re.escape(choice.capitalize())})(?![\w/'’-]|\.\w)"
        _compiled[key] = re.compile(word), re.compile(family.choices[choice], re.MULTILINE)
    return _compiled[key]


def _indentation_stance(source: SourceText) -> Stance:
    """Return what a file says about indentation."""
    text = source.text
    asks: dict[str, int] = {}
    forbids: dict[str, int] = {}
    if "tab" in text or "space" in text:
        for choice, pattern in _INDENT_PATTERNS:
            for match in islice(re.finditer(pattern, text, re.IGNORECASE), _MAX_MENTIONS):
                stated = _attitude_to_indentation(source, match)
                if stated:
                    (asks if stated == "asks" else forbids).setdefault(choice, match.start())
    if len(asks) > 1:
        asks.pop(_ANY_SPACES, None)  # mentioned both with and without a number
    for choice in forbids:
        asks.pop(choice, None)
    return Stance({}, asks, forbids)


_INNER_VERB = lazy_pattern(r"\b(?:use|prefer)\b", re.IGNORECASE)


def _attitude_to_indentation(source: SourceText, match: re.Match[str]) -> str:
    """Return what a sentence about indentation asks for or forbids, if it and its headings name no language, so that it applies to all files."""
    start = match.start()
    line = source.line_around(start)
    if not _ABOUT_INDENTATION.search(line) or source.is_fenced(start):
        return ""
    if _LANGUAGE.search(line) or _LANGUAGE.search(source.headings_above(start)):
        return ""
    verb = _INNER_VERB.search(match[0])  # `for indentation, use tabs`
    before = sentence_before(source.text, start + verb.start() if verb else start)
    word = (verb[0] if verb else match[0].split()[0]).lower().rstrip(":")
    if word.startswith("indentation") and is_declaration(before):
        return "asks"
    return attitude(before, word not in ("use", "prefer", "indent"))
