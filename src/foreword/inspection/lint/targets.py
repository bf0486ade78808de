"""Finds `make` targets and `npm` scripts that the instructions say to run but the project does not define.

A command whose folder is known (`cd web && make lint`) needs the makefile or package.json there. Any other command may be meant for
every folder of the workspace, so its name is missing only if no makefile or package.json in the whole workspace defines it. When in
doubt, both checks report nothing: a makefile that includes others or computes the names of its targets can define anything, and a
skill may be written for other projects.
"""

from __future__ import annotations

import re
from itertools import islice
from posixpath import dirname

from ...vocabulary import value
from .commands import find_commands, is_literal, named_place
from .instructions import is_about_other_repository, is_conditional, is_quoted
from .patterns import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from .commands import Command
    from .source_text import SourceText

    # Returns the files with these names that apply to a source, nearest first: path and content (None if unreadable).
    FilesAbove = Callable[[str, Sequence[str], str], Iterable[tuple[str, str | None]]]
    # Returns all files with these names in the workspace, or None if there are too many.
    FilesAnywhere = Callable[[Sequence[str]], Iterable[tuple[str, str | None]] | None]
    Exists = Callable[..., bool]

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
PACKAGES = ("package.json",)


@value
class ProjectFiles:
    """How to look up a project's makefiles and packages; the functions of `LintContext` with these names."""

    above: FilesAbove
    anywhere: FilesAnywhere
    exists: Exists


@value
class MissingName:
    """A name that a command runs but the file at `path` does not define. `defined` contains the names that the file defines."""

    offset: int
    name: str
    path: str
    defined: Collection[str]


@value
class Invocation:
    """The names that a command runs, and the folder in which it runs them. If a file in `alternatives` exists, no name is missing."""

    names: Sequence[str]
    folder: str = ""
    alternatives: Sequence[str] = ()


# In a heading or in a comment above a command.
_LATER = lazy_pattern(r"\b(?:planned|future|roadmap|deferred|phase \d|proposed)\b", re.IGNORECASE)
# Words before a command that suggest that it may not exist, belongs to another project, or should not be run.
_HEDGES = lazy_pattern(
    r"\b(?:if (?:there|it|one|you have|the (?:project|repo|makefile|package))|you want|e\.g|for example"
    r"|for instance|an example|such as|something like|would|could|might|no longer|formerly|used to|deprecated|legacy|instead of|rather than|never|not"
    r"|don['’]t|doesn['’]t|isn['’]t|there is no|there['’]s no|no|nor|without|avoid|wrong|bad|upstream\w*|their|your|another|other|equivalent|similar"
    r"|missing|planned|todo)\b|❌|✗",
    re.IGNORECASE,
)
_PROPOSES = lazy_pattern(
    r"\b(?:add|creat|implement|introduc|defin|propos|provid|renam|remov|delet|replac)\w*[ \t]+(?:[\w-]+[ \t]+){0,3}[`*_]{1,4}$",
    re.IGNORECASE,
)
_IS_MISSING = lazy_pattern(
    r"[`*_]*[ \t]*\((?:future|planned|todo|tbd|proposed|coming soon|not yet)\b"
    r"|[`*_]*[ \t,(]*(?:(?:target|script|rule|command)s?[ \t]+)?(?:(?:is|was|are|were|has been|have been|got)[ \t]+(?:now[ \t]+)?(?:not|no longer|removed"
    r"|gone|deprecated|renamed|replaced|missing|planned|obsolete)|(?:does|did|do)(?:es)?[ \t]+not|(?:doesn|isn|wasn|didn)['’]t|no longer"
    r"|if[ \t]+(?:it|there|one|you have)|or similar|or equivalent)\b",
    re.IGNORECASE,
)
_BAD_COMMENT = lazy_pattern(
    r"#.*\b(?:if (?:it|there|present|available|defined)|deprecated|removed|no longer|wrong|bad|don['’]t|do not|never|not|e\.g|example|your)\b|❌|✗",
    re.IGNORECASE,
)
_ELSEWHERE = lazy_pattern(
    r"\b(?:in|from|inside|within|under|into|of)[ \t]+(?:the[ \t]+|each[ \t]+|every[ \t]+)?(?:`(?!g?make[ `]|p?npm[ `]|yarn[ `])[\w./@-]{1,200}`"
    r"|[\w.@-]{1,100}/[\w./-]{0,100}|(?:[\w-]{1,60}[ \t]+)?(?:folder|directory|package|repo|repository|project|sub-?project|module|workspace)s?\b)",
    re.IGNORECASE,
)
# Not in a container, which has a root of its own.
_AT_ROOT = lazy_pattern(r"^(?!.*\bcontainers?\b).*\b(?:root|top[- ]level|topmost)\b", re.IGNORECASE)


def find_missing_targets(source: SourceText, files: ProjectFiles) -> Iterator[MissingName]:
    """Yield the targets that the instructions say to run but no makefile defines, without duplicates."""
    if source.kind == "skill":
        return
    finder = _DefinitionFinder(source, files, MAKEFILES, targets_of)
    for command in find_commands(source, ("make", "gmake")):
        invocation = _parse_make(command)
        names = [name for name in invocation.names if _is_target(name)] if invocation else []
        if invocation is None or _is_prose(invocation.names):
            continue
        # None of several words is a target: this is a sentence, such as `make checkout faster`.
        if len(invocation.names) > 1 and not any(finder.defines(name, invocation.folder) for name in invocation.names):
            continue
        for name in names:
            alternatives = [name + suffix for suffix in _BUILT_IN_SUFFIXES]
            finder.look_up(command.offset, name, invocation.folder, alternatives)
    yield from finder.missing()


def find_missing_scripts(source: SourceText, files: ProjectFiles) -> Iterator[MissingName]:
    """Yield the scripts that the instructions say to run but no package.json defines, without duplicates."""
    if source.kind == "skill":
        return
    script_finder = _DefinitionFinder(source, files, PACKAGES, scripts_of)
    script_or_program_finder = _DefinitionFinder(source, files, PACKAGES, scripts_and_programs_of)
    for command in find_commands(source, ("npm", "pnpm", "yarn")):
        invocation = _parse_script_command(command)
        if invocation:
            finder = script_or_program_finder if command.words[0] == "yarn" else script_finder
            finder.look_up(command.offset, invocation.names[0], invocation.folder, invocation.alternatives)
    is_known = script_finder.is_known or script_or_program_finder.is_known
    found = [*script_finder.missing(is_known), *script_or_program_finder.missing(is_known)]
    yield from sorted(found, key=lambda missing: missing.offset)


@value
class Definitions:
    """The names that a file defines. `patterns` are prefixes and suffixes of further names. If `is_open`, it may define any name."""

    defined: Collection[str] = ()
    patterns: Sequence[tuple[str, str]] = ()
    is_open: bool = False

    def has(self, name: str) -> bool:
        return (
            self.is_open
            or name in self.defined
            or any(
                len(name) > len(start + end) and name.startswith(start) and name.endswith(end)
                for start, end in self.patterns
            )
        )


class _DefinitionFinder:
    """Finds the names defined by the files that apply to a source. Each file is parsed once."""

    def __init__(
        self, source: SourceText, files: ProjectFiles, names: Sequence[str], parse: Callable[[str], Definitions]
    ) -> None:
        self.source, self.files, self.names, self.parse = source, files, names, parse
        self.nearest_by_folder: dict[str, tuple[str, Definitions] | None] = {}
        self.everywhere: list[Definitions] | None = None
        self.found: dict[tuple[str, str], MissingName] = {}
        # The names that a sentence calls examples, or those of another folder.
        self.elsewhere: set[str] = set()
        # Whether a name that the source runs is defined.
        self.is_known = False

    def missing(self, is_known: bool = False) -> Iterator[MissingName]:
        """Yield the names that were not found.

        A rule or a command in a hidden folder may have been installed. It is about this project if something that it runs is defined here.
        """
        for missing in self.found.values():
            is_certain = self.is_known or is_known or "/." not in self.source.path[len(dirname(missing.path)) :]
            is_in_sample = re.search(
                rf'"{re.escape(missing.name)}"\s*:\s*"', self.source.text
            )  # of a package.json to write
            if is_certain and not is_in_sample and missing.name not in self.elsewhere:
                yield missing

    def look_up(self, offset: int, name: str, folder: str, alternatives: Sequence[str]) -> None:
        """Note the name if no applicable file defines it and none of the files in `alternatives` is next to the nearest one."""
        if not self._applies_here(offset, folder):
            self.elsewhere.add(name)
            return
        if (name, folder) in self.found:
            return
        nearest = self._nearest(folder)
        if nearest is None or self.defines(name, folder):
            self.is_known = self.is_known or nearest is not None
            return
        path, names = nearest
        if not any(self.files.exists(path, alternative, True) for alternative in alternatives):
            suggestions = [other for other in islice(names.defined, _MAX_SUGGESTIONS) if _PLAIN.fullmatch(other)]
            self.found[name, folder] = MissingName(offset, name, path, suggestions)

    def defines(self, name: str, folder: str) -> bool:
        """Whether an applicable file defines a name: the one in this folder or, if the folder is unknown, any in the workspace."""
        nearest = self._nearest(folder)
        if nearest and nearest[1].has(name):
            return True
        return not folder and any(definitions.has(name) for definitions in self._everywhere())

    def _nearest(self, folder: str) -> tuple[str, Definitions] | None:
        if folder not in self.nearest_by_folder:
            found = next(iter(self.files.above(self.source.path, self.names, folder)), None)
            self.nearest_by_folder[folder] = (found[0], self._parse(found[1])) if found else None
        return self.nearest_by_folder[folder]

    def _everywhere(self) -> list[Definitions]:
        if self.everywhere is None:
            found = self.files.anywhere(self.names)
            self.everywhere = [Definitions(is_open=True)] if found is None else [self._parse(text) for _, text in found]
        return self.everywhere

    def _parse(self, text: str | None) -> Definitions:
        return Definitions(is_open=True) if text is None else self.parse(text)

    def _applies_here(self, offset: int, folder: str) -> bool:
        """Whether a command is meant to be run here: its line does not call it an example or another project's command."""
        source = self.source
        line, before = source.line_around(offset), source.before(offset)
        if is_conditional(line) or is_about_other_repository(source.section_before(offset)):
            return False
        if _LATER.search(source.heading_above(offset)) or _OF_CONSUMERS.search(source.headings_above(offset)):
            return False
        if source.is_fenced(offset):
            return self._applies_in_fence(offset)
        sentence = re.split(r"[.!?;][ \t]", before)[-1]
        end = line.find("`", len(before))
        if _HEDGES.search(_SPANS.sub("", sentence)) or _PROPOSES.search(before) or _IS_MISSING.match(line, end):
            return False
        if is_quoted(before):  # an example of what somebody says
            return False
        # An earlier step may have changed the folder.
        steps = f"{source.list_above(offset)[1]}{line}"
        return bool(folder or _AT_ROOT.search(line)) or not _ELSEWHERE.search(_SPANS.sub(_drop_command, steps))

    def _applies_in_fence(self, offset: int) -> bool:
        source, fence = self.source, self.source.fence_before(offset)
        place = named_place(fence)
        if (
            source.is_counterexample(offset)
            or _LATER.search(fence)
            or (place and not self.files.exists(source.path, place))
        ):
            return False
        above = fence.rpartition("\n")[0].rpartition("\n")[2].lstrip()
        return not (
            _BAD_COMMENT.search(source.line_around(offset)) or (above.startswith("#") and _BAD_COMMENT.search(above))
        )


_OF_CONSUMERS = lazy_pattern(r"\bconsumers?\b", re.IGNORECASE)
_SPANS = lazy_pattern(r"`[^`]{0,300}`")


def _drop_command(span: re.Match[str]) -> str:
    return "" if " " in span[0] else span[0]


_PLAIN = lazy_pattern(r"[^\W_][\w.:/@+-]{0,79}")
_MAX_SUGGESTIONS = 500


def _join_path(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


# Make

_OPTIONS_WITH_VALUE = frozenset(
    "-I -o -W --include-dir --old-file --assume-old --what-if --new-file --assume-new -l --load-average".split()
)
_FLAG = lazy_pattern(r"-[BbdeikmnqRrSstw]+|-j\d*|-O\w*|-l[\d.]*|--[a-z-]+(?:=\S*)?")
_TARGET_CHANGING_OPTIONS = frozenset(
    "-f --file --makefile --eval -v --version -h --help -p --print-data-base -E".split()
)
# Suffixes of files that one of make's built-in rules turns into a program.
_BUILT_IN_SUFFIXES = tuple(".c .cc .cpp .C .cxx .f .p .s .S .r .m .mod .sh .tex .texi".split())
_PROSE_WORDS = frozenset(
    "sure it the a an this that these them your our one sense changes edits use certain every any no some".split()
)


def _parse_make(command: Command) -> Invocation | None:
    """Return the targets that a `make` command runs, or None if an option changes their meaning."""
    folder, names = command.folder, []
    rest = list(command.words[1:])
    while rest:
        word = rest.pop(0)
        if word == "/":  # another command: `make lint / make test`
            break
        if word.startswith("-C") or word.partition("=")[0] == "--directory":
            path = _make_folder(word, rest)
            if not _is_relative_path(path):
                return None
            folder = _join_path(folder, path)
        elif word.startswith("-"):
            if not _skip_option(word, rest):
                return None
        elif "=" not in word:
            names.append(word)
    return Invocation(names, folder)


def _make_folder(word: str, rest: list[str]) -> str:
    """Return the value of `-C`: a separate word (which is removed from `rest`), attached (`-Cweb`), or after `=`."""
    if word in ("-C", "--directory"):
        return rest.pop(0) if rest else ""
    return word.removeprefix("--directory=") if word.startswith("--") else word[2:].removeprefix("=")


def _skip_option(word: str, rest: list[str]) -> bool:
    """Skip an option and its value. Returns False if the option may change the meaning of the targets."""
    if word.partition("=")[0] in _TARGET_CHANGING_OPTIONS or word[:2] in ("-f", "-E"):
        return False
    if word in _OPTIONS_WITH_VALUE:
        del rest[:1]
    elif word in ("-j", "--jobs"):
        del rest[: 1 if rest and rest[0].isdecimal() else 0]
    else:
        return _FLAG.fullmatch(word) is not None
    return True


def _is_relative_path(path: str) -> bool:
    """Whether this is a literal relative path."""
    return is_literal(path) and path[0] not in "~/"


def _is_prose(names: Sequence[str]) -> bool:
    """Whether these are the words of a sentence, such as `make sure that …` in a fence."""
    return len(names) > 6 or any(name.lower() in _PROSE_WORDS or not is_literal(name) for name in names)


def _is_target(name: str) -> bool:
    """Whether only a rule can define this name. A file name does not count: the file may exist, or come from a built-in rule."""
    return re.fullmatch(r"[A-Za-z0-9][\w:+-]{0,99}", name) is not None and not name.isupper()


_DEFINES_MORE = lazy_pattern(
    r"^[ \t]*-?s?include\b|\$[({]eval\b|^ *load[ \t]|\.RECIPEPREFIX|^ *\.DEFAULT[ \t]*:|^[ \t]*!", re.MULTILINE
)
_RULE = lazy_pattern(r"(?P<targets>[^\t#=:][^#=:]*)::?(?![:=])(?P<rest>.*)", re.DOTALL)
_PRINTS = lazy_pattern(r"\$[({](?:info|warning|error)[ \t]")
_DEFINE = lazy_pattern(r"[ ]*(?:override[ \t]+)?(define|endef)\b")
_REFERENCE = lazy_pattern(r"\$(?:\([^()]*\)|\{[^{}]*\}|.)")


def targets_of(makefile: str) -> Definitions:
    """Return the targets that a makefile defines: those with a rule, and those declared as phony."""
    if _DEFINES_MORE.search(makefile):
        return Definitions(is_open=True)
    defined: dict[str, None] = {}
    patterns: dict[tuple[str, str], None] = {}
    for line in _lines_outside_defines(makefile):
        for name in _targets(line):
            if "$" in name and not ("/" in name or "." in name):
                return Definitions(is_open=True)
            if "%" in name:
                start, _, end = name.partition("%")
                patterns[start, end] = None
            else:
                defined[name] = None
    return Definitions(defined.keys(), tuple(patterns))


def _lines_outside_defines(makefile: str) -> Iterator[str]:
    """Yield the lines of a makefile that are not inside a `define`."""
    depth = 0
    for line in _lines(makefile):
        block = _DEFINE.match(line)
        if block:
            depth = max(depth + (1 if block[1] == "define" else -1), 0)
        elif not depth:
            yield line


def _targets(line: str) -> list[str]:
    """Return the targets that a line defines, or `["$"]` if it expands a variable, which may contain a rule."""
    if line.startswith("\t"):
        return []
    # A variable reference may contain a colon.
    rule = _RULE.match(_REFERENCE.sub("$", line))
    if rule is None:
        expands = line.lstrip(" ").startswith("$") and not _PRINTS.match(line.lstrip(" "))
        return ["$"] if expands else []
    names = rule["targets"].rstrip().removesuffix("&").split()
    if ".PHONY" in names:
        names += rule["rest"].partition("#")[0].partition(";")[0].split()
    return [name.replace("\\", "") for name in names]


def _lines(makefile: str) -> Iterator[str]:
    """Yield the lines of a makefile, with continuation lines joined."""
    parts: list[str] = []
    for line in makefile.split("\n"):
        if line.endswith("\\") and not line.endswith("\\\\"):
            parts.append(line[:-1])
            continue
        yield " ".join([*parts, line.lstrip()] if parts else [line])
        parts = []
    if parts:
        yield " ".join(parts)


# npm, pnpm and yarn

_SAFE_OPTIONS = frozenset("-s --silent --quiet -q --verbose --foreground-scripts --no-progress".split())
_FOLDER_OPTIONS = {
    "npm": ("--prefix", "-C"),
    "pnpm": ("-C", "--dir", "--prefix"),
    "yarn": ("--cwd",),
}
_SHORTCUTS = {"test": "test", "t": "test", "tst": "test", "start": "start"}
# yarn also runs programs from packages; the names of these differ from those of their packages.
_PROGRAMS = frozenset(
    "tsc tsserver ng nest vue-cli-service react-scripts next nuxt sb storybook playwright env".split()
)


def _parse_script_command(command: Command) -> Invocation | None:
    """Return the script that a command runs, or None if it runs no script, or another package's."""
    program, *rest = command.words
    folder = _skip_options(program, rest, command.folder)
    verb, name = rest.pop(0) if rest else "", ""
    if folder is not None and verb in ("run", "run-script"):
        folder = _skip_options(program, rest, folder)
        name = rest.pop(0) if rest else ""
    elif program == "npm" or verb in ("test", "start"):
        name = _SHORTCUTS.get(verb, "")
    if folder is None or not name or not _stays_in_package(rest, program):
        return None
    return _script(program, name, folder)


def _skip_options(program: str, rest: list[str], folder: str) -> str | None:
    """Remove the leading options and return the folder they select, or None if one of them may select another package."""
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, path = word.partition("=")
        if name in _FOLDER_OPTIONS[program]:
            path = path if equals else rest.pop(0) if rest else ""
            if not _is_relative_path(path):
                return None
            folder = _join_path(folder, path)
        elif word not in _SAFE_OPTIONS:
            return None
    return folder


def _stays_in_package(rest: Sequence[str], program: str) -> bool:
    """Whether no option after the script's name selects another package."""
    args = rest[: rest.index("--")] if "--" in rest else rest
    return program != "npm" or all(not arg.startswith("-") or arg in _SAFE_OPTIONS for arg in args)


def _script(program: str, name: str, folder: str) -> Invocation | None:
    is_name = re.fullmatch(r"[A-Za-z0-9@][\w:.@/+-]{0,99}", name) is not None and not name.isupper()
    if not is_name or name == "env":
        return None
    if program == "yarn" and (":" in name or name in _PROGRAMS):
        return None
    if program == "yarn":
        return Invocation((name,), folder, (f"node_modules/.bin/{name}", f"node_modules/{name}"))
    return Invocation((name,), folder, ("server.js",) if name == "start" else ())


_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def scripts_of(package: str) -> Definitions:
    """Return the scripts that a package.json defines. If it is invalid, it may define anything."""
    content = parse_object(package)
    scripts = content.get("scripts", {}) if content is not None else None
    return Definitions(tuple(scripts)) if isinstance(scripts, dict) else Definitions(is_open=True)


def scripts_and_programs_of(package: str) -> Definitions:
    """Like `scripts_of`, with the packages whose programs `yarn run` can run."""
    names, content = scripts_of(package), parse_object(package) or {}
    groups = [content.get(key) for key in _DEPENDENCIES]
    packages = {name.rpartition("/")[2]: None for group in groups if isinstance(group, dict) for name in group}
    return Definitions((*names.defined, *packages), is_open=names.is_open)


def parse_object(text: str) -> dict[str, Any] | None:
    """Return the object that a JSON file contains, or None if it contains something else."""
    import json

    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
