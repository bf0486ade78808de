"""The classes of a parsed layout."""

from __future__ import annotations

from ..template import TEMPLATE_LIMIT
from ..vocabulary import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from ..vocabulary import Described, Encoding, Fences, Lifetime, LineEnds, Origin, Repair, Role

    GlobStyle = Literal["folders", "git", "names", "paths"]


@value
class Field:
    """A placeholder in a form, such as `{name|xml}`."""

    name: str
    filters: Sequence[str] = ()

    def __hash__(self) -> int:
        return hash(self.name)  # fast, because every menu entry looks up its fields


Form = tuple["str | Field", ...]
WORKSPACE_FACTS = ("cwd", "root", "home", "platform")


@value
class Pattern:
    """A file to search for.

    `confined` means that the pattern comes from an untrusted layout or setting, so the file must be inside the workspace. In the
    place `env`, `variable` is the environment variable and `default` is the folder that is used if the variable is not set.
    `may_be_folder` means that another pattern of the layout searches below this path, so that it is no mistake if it is a folder.
    """

    place: str
    path: str
    confined: bool = False
    variable: str = ""
    default: str = ""
    may_be_folder: bool = False


@value
class Condition:
    """One term of `when`. It holds if any of these facts holds or, if `negated`, if none does."""

    facts: Sequence[str]
    negated: bool = False
    is_choice: bool = False


@value
class ConfigValue:
    """A setting that is read from a program's own configuration file or from an environment variable.

    `pattern` is the file; in the place `env`, without a path, it is the file that the variable names. `key` is the path of its key, in
    which `{root}` and `{cwd}` are filled in. Without a key, the value is the variable itself. If `equals` is not None, the setting says
    whether the key has that value. `add` is the end at which values are added to those of earlier files, which they replace by default.
    `beside` means that the values are files in the folder of the configuration file; it is the name that is used if there is no key.
    With `only`, values that contain a slash are left out. `trusted_by` must be true for the folder of the configuration file, which is
    `{folder}` in its key.
    """

    setting: str
    pattern: Pattern
    key: Sequence[str] = ()
    equals: str | None = None
    when: Sequence[Condition] = ()
    add: Literal["before", "after", ""] = ""
    beside: str = ""
    only: Literal["names", ""] = ""
    trusted_by: ConfigValue | None = None


@value
class Imports:
    """How a file's imports (`@path`) are handled. If a form is None, the token is left as text."""

    depth: int = 5
    within: Literal["cwd", "root", "folder", "anywhere", ""] = ""
    place: Literal["item", "replace", "insert"] = "item"
    tokens: Literal["word", "loose", "markdown", "punctuated"] = "word"
    relative_to: Literal["link", "target"] = "link"
    once: Literal["prompt", "file", "chain"] = "prompt"
    trim: Literal["lines", "ends", "tail", "none"] = "lines"
    form: Form = (Field("text"),)
    missing: Form | None = None
    outside: Form | None = None
    repeated: Form | None = None
    files: Sequence[str] = ()
    file_extensions: Sequence[str] = ()


@value
class TextRules:
    """How a file's text is changed for the prompt. `label` contains pairs of a file name (or `place:`) and its label."""

    trim: Literal["lines", "ends", "tail", "none", "fence"] = "lines"
    blank: Literal["skip", "hide", "keep", "all"] = "skip"
    comments: Literal["keep", "drop", "all"] = "keep"
    front: Literal["keep", "drop", "drop-space", "drop-ends"] = "keep"
    label: Sequence[tuple[str, str]] = ()
    imports: Imports | None = None
    max_lines: int | None = None
    max_bytes: int | None = None
    line_ends: Literal["keep", "lf", "all"] = "keep"
    fences: Fences = "lines"
    repair: Repair = "lines"
    alias: Sequence[tuple[str, str]] = ()

    @property
    def keep_blank(self) -> bool:
        """Whether a file with only white space is used like any other."""
        return self.blank in ("keep", "all")

    @property
    def is_limited(self) -> bool:
        """Whether only the first lines of a long file are used."""
        return self.max_lines is not None or self.max_bytes is not None

    @property
    def change_text(self) -> bool:
        """Whether any of these rules changes a file's text or adds fields."""
        return (
            bool(self.label or self.imports or self.is_limited)
            or (self.comments, self.front, self.line_ends) != ("keep", "keep", "keep")
            or self.trim in ("ends", "tail")
        )


@value
class Lookup:
    """A lookup rule, `[find.NAME]`: which files to search for. If `is_probe`, it only checks whether such files exist.

    `directories` lists the directories of the place `down`, outermost first. They depend on the touched files.
    """

    name: str
    groups: Sequence[Sequence[Pattern]]
    walk: Literal["root", "checkout", "git", "git-or-root"] = "git"
    take: Literal["all", "nearest"] = "all"
    kind: Literal["text", "skill", "resident", "agent", "command"] = "text"
    validation: Literal["strict", "lenient"] = "lenient"
    layer: str = ""
    links: Literal["inside", "follow"] = "inside"
    copies: Literal["drop", "first", "texts", "keep"] = "drop"
    rules: TextRules = TextRules()
    order: Literal["farthest", "nearest", "pattern", "path", "name", "layer", "found", "directory"] = "farthest"
    markers: Sequence[str] | None = None
    any_case: bool = False
    hidden: bool = False
    exclude: Sequence[str] = ()
    when: Sequence[Condition] = ()
    is_probe: bool = False
    where: Sequence[tuple[str, Sequence[str]]] = ()
    unless: Sequence[tuple[str, Sequence[str]]] = ()
    always: Sequence[tuple[str, Sequence[str]]] = ()
    below: Sequence[str] = ()
    match: Sequence[str] = ()
    unscoped: Literal["apply", "first", "skip"] = "apply"
    within: Literal["root", "cwd"] = "root"
    globs: GlobStyle = "folders"
    globs_from: Literal["folder", "root", "both"] = "folder"
    directories: Sequence[str] = ()
    same_name: Literal["first", "last", "all"] = "first"
    named: Literal["field", "path", "both"] = "field"
    scoped: Literal["list", "wait"] = "list"
    described: Described = ""
    hidden_by: Sequence[str] = ()
    skips: Sequence[str] = ()
    disabled: Literal["hide", "list"] = "hide"
    longest: int | None = None
    ellipsis: Literal["...", "…"] = "..."
    used_when: str = ""
    is_mirror: bool = False

    @property
    def keep_equal_texts(self) -> bool:
        """Whether files with the same text are all used."""
        return self.copies in ("texts", "keep")

    @property
    def needs_touch(self) -> bool:
        """Whether the files that it finds depend on a touched file."""
        return bool(self.match) or self.looks_down

    def has_conditions_for(self, path: str) -> bool:
        """Whether `where`, `unless` and `match` apply to a file."""
        return not self.below or any(f"/{folder}/" in path for folder in self.below)

    @property
    def looks_down(self) -> bool:
        """Whether it has the place `down`: the directories between the working directory and a touched file."""
        return any(pattern.place == "down" for group in self.groups for pattern in group)


@value
class Root:
    """A folder that a menu numbers. In the place `walk` it is a folder of each directory, numbered from the top, or from the nearest.

    With `is_always`, it is numbered even if the menu lists nothing in it.
    """

    pattern: Pattern
    is_nearest_first: bool = False
    is_always: bool = False


@value
class Section:
    """A named part of the prompt, with inherited values filled in."""

    name: str
    lifetime: Lifetime
    text: str | None = None
    list_name: str | None = None  # a lookup rule, or one of the agent's own lists
    sections: Sequence[Section] = ()
    form: Form = ()
    item: Form = (Field("text"),)
    short: Form = ()
    folder: Form = ()
    roots: Sequence[Root] = ()
    join: str = "\n\n"
    wrap: Form = ()
    none: str = ""
    when: Sequence[Condition] = ()
    instead: Sequence[str] = ()
    language: str = ""
    trim: bool = True
    budget: int | None = None
    file_budget: int | None = None
    over: Literal["warn", "cut", "shorten"] = "warn"
    bytes: int | None = None
    bytes_cut: Literal["first", "last"] = "first"
    menu_limit: int | None = None
    menu_cut: Literal["names", "shorten", "line"] = "names"
    mark: bool = True
    role: Role = "system"

    @property
    def is_template(self) -> bool:
        """Whether the section's own text is a template. Directives are only for the text of files."""
        return self.language not in ("", "directives")


@value
class Guideline:
    """One `[[guideline]]` row: the sentences to print if all conditions hold, or the source of the guidelines to insert."""

    when: Sequence[Condition] = ()
    say: Sequence[Form] = ()
    source: Literal["tools", "extensions", ""] = ""


@value
class Touch:
    """What is sent when the agent touches a file: the sections, their lookup rules, and the kinds of touches that count."""

    sections: Sequence[Section]
    lookups: Sequence[Lookup]
    on: Sequence[str]
    budget: int | None = None
    changed: str = ""


@value
class Layout:
    """An ordered list of sections, the lookup rules for their files, and the step to take on each event.

    `all_sections` also contains the inner sections, each after the section that contains it. `key_origins` contains the
    origins of keys that the layout's own file does not set. `untrusted_lookup` is the name of the lookup rule and section for untrusted
    files, if they are sent with a lower role.
    """

    name: str
    address: str
    about: str
    sections: Sequence[Section]
    lookups: Sequence[Lookup]
    join: str = "\n\n"
    budget: int | None = None
    over: Literal["warn", "cut"] = "cut"
    tool_budget: int | None = None
    template_limit: int = TEMPLATE_LIMIT
    settings: Mapping[str, Any] = {}
    guidelines: Sequence[Guideline] = ()
    wording: Mapping[str, str] = {}
    on: Mapping[str, str] = {}
    compaction: Mapping[str, str] = {}
    packs: Mapping[str, str] = {}
    mirrors: str = ""
    program: Mapping[str, Any] = {}
    raw: bool = False
    encoding: Encoding = "utf-8"
    line_ends: LineEnds = "lf"
    differs: Sequence[str] = ()
    detected_by: Sequence[str] = ()
    config: Sequence[ConfigValue] = ()
    touch: Touch | None = None
    align: Mapping[str, Any] = {}

    all_sections: Sequence[Section] = ()
    untrusted: frozenset[str] = frozenset()
    untrusted_lookup: str = ""
    key_origins: Mapping[str, Origin] = {}


def with_inner_sections(sections: Iterable[Section]) -> Iterator[Section]:
    """Yield each section, followed by the sections inside it."""
    for section in sections:
        yield section
        yield from with_inner_sections(section.sections)


def layout_for_touch(layout: Layout, touch: Touch) -> Layout:
    """Return a layout for what a touch sends."""
    return replace(
        layout,
        sections=touch.sections,
        all_sections=tuple(with_inner_sections(touch.sections)),
        lookups=touch.lookups,
        budget=touch.budget,
        over="cut",
        guidelines=(),
        touch=None,
    )
