"""A layout is data: what to look for, what stands where, and what to do on which event.

`parse` turns a mapping (from TOML, or from its compiled form) into a `Layout`, strictly: a key, name or word that is not in the
tables below is an error that suggests what was meant. The reference page of keys is made from the same tables.
"""

from __future__ import annotations

import re

from .errors import LayoutError, suggestion
from .vocabulary import LIFETIMES, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Literal

    from .vocabulary import Lifetime, Origin

    Form = tuple["str | Field", ...]


# The tables of keys


TEMPLATE_LIMIT = 4_000_000
"""The most bytes that a template may write, unless the layout says otherwise."""


@value
class Key:
    """One key of a layout: the table it stands in, what it takes, and what it is for."""

    table: str
    name: str
    takes: str
    about: str
    choices: Sequence[str] = ()


TABLES = {
    "layout": "The top of the file.",
    "settings": "Named values that a caller may set: `{name}` in `files`, `set:name` and `@name` in `when`.",
    "find": "`[find.NAME]`: what is looked for, and where.",
    "section": "`[section.NAME]`: what stands where. Exactly one of `text`, `of`, `sections`.",
    "guideline": '`[[guideline]]`: the rows of `of = "guidelines"`, in order; each string is said once.',
    "wording": "Named texts that user, workspace and pack may override; one that lost its `{}` is refused.",
    "on": "Event to step: how long an edition stands. An event that is not named is kept through.",
    "compaction": "How the summary of a conversation is asked for.",
}
STEPS = ("keep", "warn", "append", "format", "gather")
EVENTS = {
    "turn": "the next message of a conversation comes",
    "tools": "the agent's active tools are others than the edition's, or than a message told",
    "registry": "the set of tools that exist has changed",
    "resources": "an extension brought skills or prompts",
    "reload": "the user asked to read everything again",
    "compaction": "the conversation was summarised",
}
KEYS = (
    Key("layout", "about", "text", "One sentence that says what the layout is."),
    Key(
        "layout",
        "extends",
        "text",
        "The layout this one starts from: tables merge key by key, everything else is replaced whole.",
    ),
    Key("layout", "sections", "names", "The sections of the prompt, in order."),
    Key("layout", "join", "text", "What stands between two sections; a blank line unless given."),
    Key("layout", "budget", "count", "Tokens for the whole prompt."),
    Key(
        "layout",
        "over",
        "choice",
        "Over the budget of the whole: only say so, or shorten menus of skills, then cut files, the farthest first, then shorten"
        " residents. Names are left out last, and counted.",
        ("warn", "cut"),
    ),
    Key(
        "layout",
        "template_limit",
        "count",
        "Bytes that one template may write, whatever its language; 4,000,000 unless given. A workspace may not set it.",
    ),
    Key(
        "layout",
        "links",
        "choice",
        "Links of the project are followed inside the workspace (`inside`), or wherever they lead (`follow`). A workspace's own layout or"
        " settings may not say `follow`. No link reaches a file whose name says that it holds secrets, `/proc`, `/sys` or `/dev`.",
        ("inside", "follow"),
    ),
    Key(
        "find",
        "files",
        "groups",
        "Groups of patterns `place:path`. Of a group the first that is not blank is taken; all groups are. `*` stands for any characters"
        " of one name, a segment `**` for any number of folders, also none: not hidden ones, not `node_modules`, and for other files than"
        " skills not another git repository.",
    ),
    Key(
        "find",
        "walk",
        "choice",
        "Where the place `walk` begins: the filesystem's root, the git root (without one: the working "
        "directory only), or the git root and without one the filesystem's.",
        ("root", "git", "git-or-root"),
    ),
    Key(
        "find",
        "take",
        "choice",
        "All that is found, or only what is nearest to the working directory.",
        ("all", "nearest"),
    ),
    Key("find", "as", "choice", "What a file is: its text, a skill, or a resident.", ("text", "skill", "resident")),
    Key(
        "find",
        "validation",
        "choice",
        "Skills that break the specification are skipped, or repaired.",
        ("strict", "lenient"),
    ),
    Key(
        "find", "layer", "text", "The layer that `why` names; unless given `user`, `project` or `extra`, by the place."
    ),
    Key("section", "text", "text", "The text itself, or the address of a template (`$pack/path`)."),
    Key("section", "of", "name", "What the section lists: a find, or one of the agent's own lists."),
    Key("section", "sections", "names", "Inner sections, in order."),
    Key("section", "item", "form", "How one item is written; `{text}` unless given."),
    Key("section", "short", "form", "How one item is written when there is room for names only; `item` unless given."),
    Key(
        "section",
        "folder",
        "form",
        "A line that names a folder of skills once, above those in it, as `{folder}`: in full, or `./…` below the last full one.",
    ),
    Key(
        "section",
        "join",
        "text",
        "Between items, or between inner sections: a line end after an `item`, else a blank line.",
    ),
    Key(
        "section", "wrap", "form", "What stands around it, with `{}` for the inside; `@key` takes it from the wording."
    ),
    Key("section", "none", "text", "What stands for an empty list, or where no inner section applies."),
    Key(
        "section",
        "when",
        "conditions",
        "Facts that must all hold: `tool:x`, `tools`, `set:x`, `session`, `main`, `sub`, "
        "`provider:x`, `platform:x`; `!x`, `a|b`, `@setting`.",
    ),
    Key(
        "section",
        "instead",
        "names",
        "What takes the place of the section, wrap and all: `base`, `template`, or a find; the first there is.",
    ),
    Key(
        "section",
        "language",
        "choice",
        "The template language of the text, or of each file.",
        ("brackets", "jinja", "directives"),
    ),
    Key(
        "section",
        "trim",
        "switch",
        "White space at its start and end is taken away. A text is trimmed unless `false`, and one that is then empty leaves no section; a"
        " list, or inner sections with a `wrap`, are trimmed as a whole, wrap and all, only if `true`.",
    ),
    Key("section", "lifetime", "choice", "How long it stays the same bytes; inherited by inner sections.", LIFETIMES),
    Key("section", "budget", "count", "Tokens for the section."),
    Key(
        "section",
        "file_budget",
        "count",
        "Tokens for one file in it, the active skill and the plan among them; over it the file is cut. Inherited by inner sections.",
    ),
    Key(
        "section",
        "over",
        "choice",
        "Over the budget: only say so (`warn`), or let it give way (`cut`, `shorten`). How is by what stands there, not by the word:"
        " menus of skills and residents are shortened, then files are cut, the farthest first. A list of the agent's own (tools, docs, …)"
        " is shortened with `shorten` only.",
        ("warn", "cut", "shorten"),
    ),
    Key("guideline", "when", "conditions", "As in a section."),
    Key("guideline", "say", "names", "The sentences; `{any}` names the alternatives of `when` that hold."),
    Key(
        "guideline",
        "from",
        "choice",
        "Where the guidelines of the tools, or of extensions, stand.",
        ("tools", "extensions"),
    ),
    *(Key("on", event, "choice", f"When {about}.", STEPS) for event, about in EVENTS.items()),
    Key("compaction", "under", "choice", "Under which prompt the summary is asked for.", ("kept", "new")),
    Key("compaction", "say", "choice", "Where the request stands.", ("system", "message")),
)
PLACES = {
    "cwd": "the working directory",
    "root": "the workspace's root: the git root above the working directory, else that directory",
    "walk": "every directory from where `walk` says down to the working directory",
    "home": "the user's home directory",
    "config": "`$XDG_CONFIG_HOME` if absolute, else `~/.config`; `%APPDATA%` on Windows",
    "path": "a path of its own: absolute, `~/…`, or relative to the working directory",
}
LISTS = {
    "tools": ("name", "line", "description"),
    "guidelines": ("text",),
    "active_skill": ("name", "text", "path"),
    "plan": ("text", "path"),
    "docs": ("name", "path"),
    "readable": ("path", "mark"),
    "writable": ("path", "mark"),
    "denied": ("path", "mark"),
}
FOUND = {
    "text": ("text", "path"),
    "skill": ("name", "description", "path", "location"),
    "resident": ("name", "description", "path"),
}
FACTS = (
    "cwd",
    "root",
    "home",
    "platform",
    "session",
    "model",
    "provider",
    "role",
    "language",
    "now.long",
    "now.date",
    "now.iso",
)
FILTERS = ("line", "xml")
INHERITED = ("lifetime", "language", "file_budget", "over")


# The values


@value
class Field:
    """A place in a form where a value goes."""

    name: str
    filters: Sequence[str] = ()


@value
class Pattern:
    """A file to look for. `confined`: a stranger wrote it, so it may not leave the workspace."""

    place: str
    path: str
    confined: bool = False


@value
class Find:
    """What is looked for under one name."""

    name: str
    groups: Sequence[Sequence[Pattern]]
    walk: Literal["root", "git", "git-or-root"] = "git"
    take: Literal["all", "nearest"] = "all"
    kind: Literal["text", "skill", "resident"] = "text"
    validation: Literal["strict", "lenient"] = "lenient"
    layer: str = ""
    links: Literal["inside", "follow"] = "inside"


@value
class Section:
    """One named place in the prompt, with what it inherited."""

    name: str
    lifetime: Lifetime
    text: str | None = None
    of: str | None = None
    sections: Sequence[Section] = ()
    form: Form = ()
    item: Form = (Field("text"),)
    short: Form = ()
    folder: Form = ()
    join: str = "\n\n"
    wrap: Form = ()
    none: str = ""
    when: Sequence[Condition] = ()
    instead: Sequence[str] = ()
    language: Literal["brackets", "jinja", "directives", ""] = ""
    trim: bool = True
    budget: int | None = None
    file_budget: int | None = None
    over: Literal["warn", "cut", "shorten"] = "warn"


@value
class Condition:
    """One term of `when`: any of these facts holds, or with `negated` none does."""

    facts: Sequence[str]
    negated: bool = False
    is_choice: bool = False


@value
class Guideline:
    """One row of guidelines: what to say when all conditions hold, or whose guidelines stand here."""

    when: Sequence[Condition] = ()
    say: Sequence[Form] = ()
    source: Literal["tools", "extensions", ""] = ""


@value
class Layout:
    """An ordered list of sections, what to find for them, and what to do on which event."""

    name: str
    address: str
    about: str
    sections: Sequence[Section]
    finds: Sequence[Find]
    join: str = "\n\n"
    budget: int | None = None
    over: Literal["warn", "cut"] = "cut"
    template_limit: int = TEMPLATE_LIMIT
    settings: Mapping[str, Any] = {}
    guidelines: Sequence[Guideline] = ()
    wording: Mapping[str, str] = {}
    on: Mapping[str, str] = {}
    compaction: Mapping[str, str] = {}

    every: Sequence[Section] = ()
    strange: frozenset[str] = frozenset()
    written: Mapping[str, Origin] = {}

    def each_section(self) -> Sequence[Section]:
        """Every section, outer before inner, in order."""
        return self.every


def with_inner(sections: Iterable[Section]) -> Iterator[Section]:
    """These sections, each before those inside it."""
    for section in sections:
        yield section
        yield from with_inner(section.sections)


# Merging and setting


def merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The layout `over` on top of the one it extends: tables merge key by key, everything else is replaced whole."""
    merged = dict(under)
    if any(key in over for key in _BODIES):
        for key in _BODIES:
            merged.pop(key, None)
    for key, content in over.items():
        both_tables = isinstance(content, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], content) if both_tables else content
    return merged


def assign(mapping: Mapping[str, Any], key: str, content: Any) -> dict[str, Any]:
    """The mapping with one key set. A key may be short where that is clear: `skills.validation`, `names`, `skills.budget`."""
    path = _full_path(mapping, key)
    if isinstance(content, str) and _takes_list(mapping, path):
        content = [word.strip() for word in content.split(",") if word.strip()]
    nested: dict[str, Any] = {path[-1]: content}
    for table in reversed(path[:-1]):
        nested = {table: nested}
    return merge(mapping, nested)


def full_key(mapping: Mapping[str, Any], key: str) -> str:
    """The whole dotted path of a key that may be short."""
    return ".".join(_full_path(mapping, key))


def _full_path(mapping: Mapping[str, Any], key: str) -> tuple[str, ...]:
    for path in _settable(mapping):
        if key in (".".join(path), ".".join(path[1:])):
            return path
    raise LayoutError(
        f"no key {key!r} can be set in this layout"
        + suggestion(key, {".".join(p[1:] or p) for p in _settable(mapping)})
    )


def _settable(mapping: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Every path that a caller may set in this layout; where two shorten to the same word, the first is meant."""
    for name in _dict_at(mapping, "settings"):
        yield "settings", name
    for key in _KNOWN["layout"]:
        if key != "extends":
            yield (key,)
    yield ("guideline",)
    for table in ("find", "section"):
        for name in _dict_at(mapping, table):
            for key in _KNOWN[table]:
                yield table, name, key
    for table in ("on", "compaction"):
        for key in _KNOWN[table]:
            yield table, key
    for name in flat(_dict_at(mapping, "wording")):
        yield "wording", name


def _dict_at(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A table, or an empty one where something else stands: what that is wrong with is told when the layout is parsed."""
    content = mapping.get(key)
    return content if isinstance(content, dict) else {}


def _takes_list(mapping: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    if path[0] == "settings":
        return isinstance(_dict_at(mapping, "settings").get(path[1]), list)
    table, name = (path[0], path[-1]) if len(path) > 1 else ("layout", path[0])
    known = _KNOWN.get(table, {}).get(name)
    return known is not None and known.takes in ("names", "groups", "conditions")


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested table as one with dotted names."""
    pairs: dict[str, Any] = {}
    for name, content in table.items():
        if isinstance(content, dict):
            pairs.update(flat(content, f"{prefix}{name}."))
        else:
            pairs[prefix + name] = content
    return pairs


# Parsing


def parse(mapping: Mapping[str, Any], name: str, address: str = "", strange: frozenset[str] = frozenset()) -> Layout:
    """A mapping as a Layout. `strange` names the dotted keys that a stranger wrote (`find.skills.files`, `settings.dir`)."""
    try:
        return _layout(mapping, name, address or name, strange)
    except LayoutError as error:
        raise LayoutError(f"layout {name}: {error}") from None


_KNOWN: dict[str, dict[str, Key]] = {}
for _key in KEYS:
    _KNOWN.setdefault(_key.table, {})[_key.name] = _key
_DEEPEST = 50
_BODIES = ("text", "of", "sections")
_TOP_TABLES = ("settings", "find", "section", "guideline", "wording", "on", "compaction")


def _layout(mapping: Mapping[str, Any], name: str, address: str, strange: frozenset[str]) -> Layout:
    top = {key: content for key, content in mapping.items() if key not in _TOP_TABLES}
    _check(top, "layout", "", also=_TOP_TABLES)
    tables = {table: _table(mapping, table) for table in _TOP_TABLES if table != "guideline"}
    settings = tables["settings"]
    wording = flat(tables["wording"])
    for key, content in wording.items():
        _expect(isinstance(content, str), f"wording.{key}", "a text", content)
    finds = tuple(
        _find(key, _table(tables["find"], key), settings, strange, top.get("links", "inside")) for key in tables["find"]
    )
    _check(tables["on"], "on", "on.")
    _check(tables["compaction"], "compaction", "compaction.")
    rows = mapping.get("guideline", [])
    _expect(isinstance(rows, list | tuple), "guideline", "a list of tables", rows)
    reader = _Sections(tables["section"], {find.name: find for find in finds}, settings, wording)
    sections = reader.sections(top.get("sections", ()), "sections", {})
    return Layout(
        name=name,
        address=address,
        about=top.get("about", ""),
        sections=sections,
        finds=finds,
        join=top.get("join", "\n\n"),
        budget=top.get("budget"),
        over=top.get("over", "cut"),
        template_limit=top.get("template_limit", TEMPLATE_LIMIT),
        settings=settings,
        guidelines=tuple(_guideline(row, number, settings) for number, row in enumerate(rows, 1)),
        wording=wording,
        on=tables["on"],
        compaction=tables["compaction"],
        every=tuple(with_inner(sections)),
        strange=strange,
    )


def _table(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    content = mapping.get(key, {})
    _expect(isinstance(content, dict), key, "a table", content)
    return dict(content)


def _expect(holds: bool, where: str, wanted: str, given: Any) -> None:
    if not holds:
        raise LayoutError(f"{where} takes {wanted}, not {shown(given)}")


def shown(given: Any) -> str:
    """What was given, in short: a number may have more digits than Python writes."""
    try:
        text = repr(given)
    except ValueError:
        return "a number without end"
    return text if len(text) <= 80 else text[:79] + "…"


def check_shape(mapping: Mapping[str, Any], name: str) -> None:
    """Refuse a layout whose tables are none, before anything is made of them."""
    for table in _TOP_TABLES:
        content = mapping.get(table, {})
        if table != "guideline" and not isinstance(content, dict):
            raise LayoutError(f"layout {name}: {table} takes a table, not {shown(content)}")
        if table in ("find", "section"):
            for key, inner in content.items():
                if not isinstance(inner, dict):
                    raise LayoutError(f"layout {name}: {table}.{key} takes a table, not {shown(inner)}")


def _is_list_of_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)


_TAKES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "text": ("a text", lambda given: isinstance(given, str)),
    "form": ("a text", lambda given: isinstance(given, str)),
    "name": ("a name", lambda given: isinstance(given, str)),
    "switch": ("true or false", lambda given: isinstance(given, bool)),
    "count": ("a whole number above zero", lambda given: type(given) is int and given > 0),
    "names": ("a list of texts", _is_list_of_texts),
    "conditions": ("a list of texts", _is_list_of_texts),
    "groups": (
        "a list of patterns, or of lists of patterns",
        lambda given: (
            isinstance(given, list | tuple) and all(isinstance(each, str) or _is_list_of_texts(each) for each in given)
        ),
    ),
}


def _check(table: Mapping[str, Any], kind: str, where: str, also: Iterable[str] = ()) -> None:
    """Every key is known, and every content is what its key takes."""
    known = _KNOWN[kind]
    for name, content in table.items():
        key = known.get(name)
        if key is None:
            raise LayoutError(f"{where}{name} is no key of a layout" + suggestion(name, (*known, *also)))
        if key.choices:
            if content not in key.choices:
                hint = suggestion(content, key.choices) if isinstance(content, str) else ""
                raise LayoutError(
                    f"{where}{name} takes one of {', '.join(key.choices)}, not {shown(content)}{hint if '?' in hint else ''}"
                )
        else:
            wanted, fits = _TAKES[key.takes]
            _expect(fits(content), where + name, wanted, content)


def _find(
    name: str,
    table: Mapping[str, Any],
    settings: Mapping[str, Any],
    strange: frozenset[str],
    links: Literal["inside", "follow"],
) -> Find:
    where = f"find.{name}."
    _check(table, "find", where)
    walk = table.get("walk", "git")
    groups = tuple(_groups(table.get("files", ()), where, settings, strange))
    for group in groups:
        if len({pattern.place == "walk" for pattern in group}) > 1:
            raise LayoutError(f"{where}files: the place 'walk' and another cannot be alternatives of one group")
    return Find(
        name,
        groups,
        walk,
        table.get("take", "all"),
        table.get("as", "text"),
        table.get("validation", "lenient"),
        table.get("layer", ""),
        links,
    )


def _groups(
    files: Sequence[str | Sequence[str]], where: str, settings: Mapping[str, Any], strange: frozenset[str]
) -> Iterator[tuple[Pattern, ...]]:
    """Groups with their settings filled in. Neighbours that name the same list repeat together, once for each of its values."""
    together: list[str] = []
    shared = ""

    def repeated() -> Iterator[tuple[Pattern, ...]]:
        for each in settings[shared] if together else ():
            for text in together:
                yield (_pattern(text, where, {**settings, shared: each}, strange),)

    for group in files:
        lists = _lists_in(group, settings) if isinstance(group, str) else []
        if lists and lists[0] != shared:
            yield from repeated()
            together, shared = [], lists[0]
        if lists:
            together.append(str(group))
            continue
        yield from repeated()
        together, shared = [], ""
        texts = [group] if isinstance(group, str) else group
        yield tuple(pattern for text in texts for pattern in _alternatives(text, where, settings, strange))
    yield from repeated()


def _alternatives(text: str, where: str, settings: Mapping[str, Any], strange: frozenset[str]) -> Iterator[Pattern]:
    lists = _lists_in(text, settings)
    for each in settings[lists[0]] if lists else ("",):
        yield _pattern(text, where, {**settings, **({lists[0]: each} if lists else {})}, strange)


def _lists_in(text: str, settings: Mapping[str, Any]) -> list[str]:
    return [name for name in re.findall(r"\{(\w+)\}", text) if isinstance(settings.get(name), list | tuple)]


def _pattern(text: str, where: str, settings: Mapping[str, Any], strange: frozenset[str]) -> Pattern:
    place, colon, path = text.partition(":")
    if not colon or place not in PLACES:
        raise LayoutError(f"{where}files: {text!r} is no pattern 'place:path'" + suggestion(place, PLACES))
    confined = where + "files" in strange or where + "walk" in strange
    for name in re.findall(r"\{(\w+)\}", path):
        if name not in settings:
            raise LayoutError(f"{where}files: no setting {name!r} (in {text!r})" + suggestion(name, settings))
        confined = confined or f"settings.{name}" in strange
    filled = re.sub(r"\{(\w+)\}", lambda match: str(settings[match[1]]), path)
    _check_path(place, filled, f"{where}files: {text!r}")
    return Pattern(place, filled, confined)


def _check_path(place: str, path: str, where: str) -> None:
    """Refuse a path that can never match, or that leaves its place."""
    segments = path.split("/")
    if segments[-1] in ("", ".", "..") or not path.strip("/."):
        raise LayoutError(f"{where} names no file")
    if place != "path" and (path.startswith("/") or ".." in segments):
        raise LayoutError(f"{where} leaves its place; only 'path:' may begin with '/' or hold '..'")
    if any("**" in segment and segment != "**" for segment in segments):
        raise LayoutError(f"{where}: '**' is a segment of its own, as in 'rules/**/*.md'")
    if ".." in segments and "*" in path.rpartition("..")[0]:
        raise LayoutError(f"{where}: '..' cannot follow a wildcard")
    if "\0" in path:
        raise LayoutError(f"{where} holds a NUL character, which no path can have")


class _Sections:
    """Reads the tables of sections, each with what it inherits, and refuses one that contains itself."""

    def __init__(
        self,
        tables: Mapping[str, Any],
        finds: Mapping[str, Find],
        settings: Mapping[str, Any],
        wording: Mapping[str, str],
    ) -> None:
        self.tables, self.finds, self.settings, self.wording = tables, finds, settings, wording
        self.above: list[str] = []
        self.seen: set[str] = set()

    def sections(self, names: Sequence[str], where: str, inherited: Mapping[str, Any]) -> tuple[Section, ...]:
        return tuple(self.section(name, where, inherited) for name in names)

    def section(self, name: str, where: str, inherited: Mapping[str, Any]) -> Section:
        if name not in self.tables:
            raise LayoutError(
                f"{where} names {name!r}, but there is no [section.{name}]" + suggestion(name, self.tables)
            )
        if name in self.seen:
            raise LayoutError(
                f"section {name!r} stands in the layout twice"
                + (f" ({' > '.join([*self.above, name])})" if self.above else "")
            )
        if len(self.above) >= _DEEPEST:
            raise LayoutError(f"sections nest deeper than {_DEEPEST} ({' > '.join(self.above[:3])} > …)")
        self.seen.add(name)
        table = _table(self.tables, name)
        where = f"section.{name}."
        _check(table, "section", where)
        bodies = [key for key in _BODIES if key in table]
        if len(bodies) != 1 and not (not bodies and "instead" in table):
            raise LayoutError(
                f"[section.{name}] needs exactly one of text, of, sections; it has {', '.join(bodies) or 'none'}"
            )
        passed = {key: table[key] for key in INHERITED if key in table}
        self.above.append(name)
        inner = self.sections(table.get("sections", ()), where + "sections", {**inherited, **passed})
        self.above.pop()
        return self.assemble(name, where, {**inherited, **table}, inner, has_own_item="item" in table)

    def assemble(
        self, name: str, where: str, table: Mapping[str, Any], inner: tuple[Section, ...], has_own_item: bool
    ) -> Section:
        of = table.get("of")
        language = table.get("language", "")
        text = table.get("text")
        if text is not None and table.get("trim", True):
            text = text.strip()
        is_plain = text is not None and language not in ("brackets", "jinja") and not text.startswith("$")
        return Section(
            name=name,
            lifetime=table.get("lifetime", "conversation"),
            text=text,
            of=of,
            sections=inner,
            form=form(text, FACTS, where + "text") if is_plain and text else (),
            item=form(table.get("item", "{text}"), self.fields(of, where), where + "item") if of is not None else (),
            short=form(table["short"], self.fields(of, where), where + "short")
            if of is not None and "short" in table
            else (),
            folder=self.folder(table.get("folder", ""), of, where + "folder"),
            join=table.get("join", "\n" if has_own_item else "\n\n"),
            wrap=self.wrap(table.get("wrap", ""), where + "wrap"),
            none=table.get("none", ""),
            when=tuple(condition(term, self.settings, where + "when") for term in table.get("when", ())),
            instead=tuple(self.instead(each, where) for each in table.get("instead", ())),
            language=language,
            trim=table.get("trim", of is None and not inner),
            budget=table.get("budget"),
            file_budget=table.get("file_budget"),
            over=table.get("over", self.over(of)),
        )

    def fields(self, of: str, where: str) -> tuple[str, ...]:
        if of in self.finds:
            return FOUND[self.finds[of].kind]
        if of in LISTS:
            return LISTS[of]
        raise LayoutError(f"{where}of: no find or list {of!r}" + suggestion(of, (*self.finds, *LISTS)))

    def folder(self, text: str, of: str | None, where: str) -> Form:
        if text and (of is None or of not in self.finds or self.finds[of].kind != "skill"):
            raise LayoutError(f"{where}: only a section that lists skills names their folders")
        return form(text, ("folder",), where) if text else ()

    def over(self, of: str | None) -> str:
        """What gives way unless the layout says otherwise: files are cut, menus shortened, all else is only said."""
        kind = self.finds[of].kind if of is not None and of in self.finds else ""
        return "cut" if kind == "text" else "shorten" if kind else "warn"

    def instead(self, name: str, where: str) -> str:
        if name not in ("base", "template") and name not in self.finds:
            raise LayoutError(f"{where}instead: no find {name!r}" + suggestion(name, ("base", "template", *self.finds)))
        return name

    def wrap(self, text: str, where: str) -> Form:
        if text.startswith("@"):
            where, key = f"wording.{text[1:]}", text[1:]
            if key not in self.wording:
                raise LayoutError(f"no wording {key!r}" + suggestion(key, self.wording))
            text = self.wording[key]
        if not text:
            return ()
        parsed = form(text, ("",), where)
        if sum(isinstance(part, Field) for part in parsed) != 1:
            raise LayoutError(f"{where} needs '{{}}' exactly once, for what stands inside")
        if left_open := _left_open(text):
            raise LayoutError(f"{where} must close what it opens: {left_open} (in {text!r})")
        return parsed


_TAG = r"<(/?)([A-Za-z][\w.:-]*)([^<>]*)>"
_VOID = ("br", "hr", "img", "input", "link", "meta")


def _left_open(text: str) -> str:
    """What a wrapper opens and does not close, or closes and never opened; empty if all is closed. Tags in code spans are text."""
    open_tags: list[str] = []
    for is_end, name, rest in re.findall(_TAG, re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)):
        if rest.endswith("/") or name.lower() in _VOID:
            continue
        if not is_end:
            open_tags.append(name)
        elif not open_tags or open_tags.pop() != name:
            return f"</{name}> closes nothing that is open there"
    if open_tags:
        return f"</{open_tags[-1]}> is missing"
    if text.count("<!--") != text.count("-->"):
        return "a comment is not closed"
    fences = re.findall(r"^[ ]{0,3}(`{3,}|~{3,})", text, re.MULTILINE)
    return "a code fence is not closed" if len(fences) % 2 else ""


_FIELD = r"\{\{|\}\}|\{([A-Za-z_.]*)((?:\|[a-z]+)*)\}|[{}]"


def form(text: str, fields: Sequence[str], where: str) -> Form:
    """A text with `{name|filter}` fields, taken apart. `{{` and `}}` are braces."""
    if "{" not in text and "}" not in text:
        return (text,)
    parts: list[str | Field] = []
    literal, position = "", 0
    for match in re.finditer(_FIELD, text):
        literal += text[position : match.start()]
        position = match.end()
        if match[1] is None:
            if len(match[0]) == 1:
                raise LayoutError(f"{where}: a lone {match[0]!r}; write {match[0] * 2!r} for a brace")
            literal += match[0][0]
            continue
        if match[1] not in fields:
            known = suggestion(match[1], fields) if any(fields) else "; the only one is '{}'"
            raise LayoutError(f"{where}: no field {match[0]!r}{known}")
        filters = tuple(match[2].split("|")[1:])
        for each in filters:
            if each not in FILTERS:
                raise LayoutError(f"{where}: no filter {each!r}" + suggestion(each, FILTERS))
        if literal:
            parts.append(literal)
        parts.append(Field(match[1], filters))
        literal = ""
    literal += text[position:]
    return (*parts, literal) if literal else tuple(parts)


def condition(term: str, settings: Mapping[str, Any], where: str) -> Condition:
    """One term of `when`: `x`, `!x`, `a|b`, `@setting`."""
    negated = term.startswith("!")
    words = term.removeprefix("!").split("|")
    facts: list[str] = []
    for word in words:
        if word.startswith("@"):
            named = settings.get(word[1:], "")
            if not _is_list_of_texts(named):
                raise LayoutError(f"{where}: {word!r} names no list of the settings" + suggestion(word[1:], settings))
            facts.extend(named)
        else:
            facts.append(word)
    for fact in facts:
        kind, colon, what = fact.partition(":")
        if colon and kind == "set" and what not in settings:
            raise LayoutError(f"{where}: no setting {what!r}" + suggestion(what, settings))
        if fact not in ("tools", "session", "main", "sub") and not (
            kind in ("tool", "set", "provider", "platform") and what
        ):
            raise LayoutError(
                f"{where}: no fact {fact!r}; facts are tool:NAME, tools, set:NAME, session, main, sub, provider:NAME, platform:NAME"
            )
    return Condition(tuple(facts), negated, not negated and len(facts) > 1)


def _guideline(row: Mapping[str, Any], number: int, settings: Mapping[str, Any]) -> Guideline:
    where = f"guideline {number}: "
    _expect(isinstance(row, dict), f"guideline {number}", "a table", row)
    _check(row, "guideline", where)
    if ("say" in row) == ("from" in row):
        raise LayoutError(f"{where}needs either say or from")
    return Guideline(
        tuple(condition(term, settings, where + "when") for term in row.get("when", ())),
        tuple(form(sentence, ("any",), where + "say") for sentence in row.get("say", ())),
        row.get("from", ""),
    )
