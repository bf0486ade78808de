"""The tables of keys, events, steps and facts that a layout may use."""

from __future__ import annotations

from ..shapes import COUNT, STRING, STRINGS, SWITCH, is_list_of_strings, one_of
from ..template.languages import LANGUAGES
from ..vocabulary import LIFETIMES, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


# The tables of keys


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
        (*LANGUAGES, "directives"),
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
        "Where the guidelines of the tools, or of extensions, snapshot.",
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
_GROUPS = (
    "a list of patterns, or of lists of patterns",
    lambda content: (
        isinstance(content, list | tuple) and all(isinstance(each, str) or is_list_of_strings(each) for each in content)
    ),
)
_TAKES = {
    "text": STRING,
    "form": STRING,
    "name": STRING,
    "switch": SWITCH,
    "count": COUNT,
    "names": STRINGS,
    "conditions": STRINGS,
    "groups": _GROUPS,
}
KNOWN = {table: {key.name: key for key in KEYS if key.table == table} for table in TABLES}
KINDS = {
    table: {name: one_of(*key.choices) if key.choices else _TAKES[key.takes] for name, key in keys.items()}
    for table, keys in KNOWN.items()
}
BODIES = ("text", "of", "sections")
TOP_TABLES = ("settings", "find", "section", "guideline", "wording", "on", "compaction")
