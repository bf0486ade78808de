"""The keys, events, steps and facts that a layout may use."""

from __future__ import annotations

from ..shapes import COUNT, SIZE, STRING, STRINGS, SWITCH, TABLE, is_list_of_strings, one_of
from ..template.languages import LANGUAGES
from ..vocabulary import LIFETIMES, PROMPT_ROLES
from .align_keys import ALIGN_KEYS, ALIGN_TABLE
from .key import Key
from .lookup_keys import CONFIG_KEYS, MENU_KEYS, SELECTION_KEYS
from .text_keys import BYTE_LIMIT_KEYS, MENU_LIMIT_KEYS, RAW_KEY, TEXT_KEYS
from .touch_keys import MATCHING_KEYS, TOUCH_KEYS

TABLES = {
    "layout": "Keys at the top of the file.",
    "settings": "Named values that a caller can set. Use them as `{name}` in `files`, and as `set:name` or `@name` in `when`.",
    "env": "Folders that an environment variable can override. Each value is the folder to use if the variable is not set to an absolute path,"
    ' as in `CODEX_HOME = "~/.codex"`; if it is empty, there is no folder then. Use such a folder in `files` as `env:CODEX_HOME/AGENTS.md`.',
    "from": "Settings that are read from a program's own configuration files (TOML, or JSON with comments) or from the environment. Each"
    " setting has a list of `place:path#key`, in which a later file overrides an earlier one. `key` may be a path such as `context.fileName`, in"
    " which `{root}` and `{cwd}` are filled in. `place:path#key=text` is `true` if the key has that value. `env:NAME` is the environment"
    " variable itself (a list is separated by commas, and a switch is off if it is `0` or `false`), and `env:NAME#key` reads the file that it"
    " names. A value that cannot be used is ignored and reported. The project's own files are untrusted: the files that they name must be"
    " inside the workspace. Instead of a string, an entry can be a table with these keys.",
    "find": "`[find.NAME]`: which files to look for, and where.",
    "imports": "`[find.NAME.imports]`: lets files import others. An import is `@path`, relative to the importing file, at the start of a line or"
    " after white space and up to the next white space, but not in code. Without this table, such a token is left as text.",
    "section": "`[section.NAME]`: one part of the prompt. It has exactly one of `text`, `list` and `sections`.",
    "guideline": '`[[guideline]]`: the rows of a section with `list = "guidelines"`, in order. Each sentence is printed only once.'
    ' They replace the rows of the layout that this one extends, unless one of them is `from = "inherited"`.',
    "wording": "Named strings that the user, the workspace and packs can override. An override must keep the `{}` of the original.",
    "on": "The step to take after each event of a conversation. Events that are not listed leave the edition unchanged.",
    "compaction": "How to request the summary of a conversation.",
    "packs": "Other names for the packs of templates, so that another program's addresses can be used unchanged.",
    "touch": "What is sent to a conversation when its agent touches a file: the instruction files in the folders above the file, and the rules for"
    " its path. See [touch.md](../touch.md).",
    "program": "What is known about the mirrored program itself.",
    "align": ALIGN_TABLE,
}
STEPS = ("keep", "warn", "announce", "append", "format", "gather")
EVENTS = {
    "turn": "the next message of a conversation arrives",
    "tools": "the agent's active tools differ from the edition's, or from those in the last announcement of tools",
    "registry": "the set of registered tools has changed",
    "resources": "an extension has added skills or prompts",
    "reload": "the user has asked to reload everything",
    "compaction": "the conversation has been summarised",
}
KEYS = (
    Key("layout", "about", "text", "One sentence that describes the layout."),
    Key(
        "layout",
        "extends",
        "text",
        "The layout that this one extends. Tables are merged key by key; any other value replaces the inherited one.",
    ),
    Key("layout", "sections", "names", "The sections of the prompt, in order."),
    Key("layout", "join", "text", "The text between two sections; a blank line by default."),
    Key("layout", "budget", "count", "The token budget of the prompt."),
    Key(
        "layout",
        "over",
        "choice",
        "What happens if the prompt exceeds its budget. `warn` only reports it. `cut` shortens lists of skills, then cuts files, farthest"
        " first, then shortens lists of resident files. As a last resort, it leaves out entries, and the prompt says how many.",
        ("warn", "cut"),
    ),
    Key(
        "layout",
        "tool_budget",
        "count",
        "The token budget of the tools' definitions, which are sent with the prompt. They are never cut: a finding names the MCP servers and"
        " tools that cost the most.",
    ),
    Key(
        "layout",
        "once",
        "switch",
        "Whether a conversation's prompt is built only once. `on` then has no `append`, which may build another one; use `announce`.",
    ),
    Key(
        "layout",
        "template_limit",
        "count",
        "The maximum number of bytes that one template can produce, in any language; 4,000,000 by default. A workspace cannot set it.",
    ),
    Key(
        "layout",
        "links",
        "choice",
        "Where links in the project may lead: only inside the workspace (`inside`), or anywhere (`follow`). A workspace's own layout or"
        " settings cannot choose `follow`. Links to files whose names suggest secrets, and links into `/proc`, `/sys` or `/dev`, are never"
        " followed.",
        ("inside", "follow"),
    ),
    Key(
        "layout",
        "mirrors",
        "text",
        'The released program that the layout mirrors, with its version, such as `"Claude Code 2.1.325"`. A conversation can use such a'
        " layout only if the caller asks for it (`mirror=True`). A workspace cannot set it.",
    ),
    Key("layout", "differs", "names", "Sentences that describe how a mirror is known to differ from the program."),
    Key(
        "layout",
        "detected_by",
        "names",
        "Files and folders (ending in `/`) below the root that indicate that a repository uses the mirrored program, such as `CLAUDE.md`.",
    ),
    Key(
        "layout",
        "copies",
        "choice",
        "What to do with files that have the same text and links to the same file: keep the nearest copy (`drop`), keep the one that comes first"
        " in the prompt (`first`, only in mirrors), keep files with the same text, but of links to a file only the first (`texts`, only in mirrors), or"
        " keep all of them (`keep`, only in mirrors)."
        " A mirror keeps a file that two lookup rules find only in the first of them. Each copy is reported as a finding.",
        ("drop", "first", "texts", "keep"),
    ),
    RAW_KEY,
    Key(
        "layout",
        "encoding",
        "choice",
        "How files are decoded: as UTF-8 without its byte order mark, and files in another encoding are left out (`utf-8`); as UTF-8 in which"
        " other bytes are replaced by U+FFFD (`any`, only in mirrors); or like that, with the byte order mark (`raw`, only in mirrors), or in normal"
        " form C without invisible characters (`visible`, only in mirrors). A file in another encoding is always reported as a finding.",
        ("utf-8", "any", "raw", "visible"),
    ),
    Key(
        "layout",
        "line_ends",
        "choice",
        "Whether the carriage return of line ends like those of Windows (CRLF) is removed from files (`lf`), or is sent and counted (`keep`, only in"
        " mirrors).",
        ("lf", "keep"),
    ),
    Key(
        "layout",
        "fences",
        "choice",
        "What is a fence of front matter: a line `---`, of which the first is the first line of the file (`lines`); the second `---` also where it"
        " is not a line (`inside`, only in mirrors); or every line `---`: what is between the first two is the front matter, and what is before"
        " it is dropped (`sections`, only in mirrors).",
        ("lines", "inside", "sections"),
    ),
    Key(
        "layout",
        "repair",
        "choice",
        "What is read of front matter that is not valid YAML: as much as can be read line by line (`lines`); or only what is valid after the program's"
        " own repair (only in mirrors), otherwise no field. Values with symbols such as `*`, `#` or a colon before a blank are put in quotes, and of"
        " fields with the same name, the last one counts (`symbols`); values that contain a colon become blocks (`colons`); values with a colon"
        " before a blank, and lists and the like that are not closed, are put in quotes (`values`); the name and the description are read from"
        " their lines, also where they are valid but not text (`fields`); or each line with a colon is a field (`rows`).",
        ("lines", "symbols", "colons", "values", "fields", "rows"),
    ),
    *CONFIG_KEYS,
    Key(
        "find",
        "files",
        "groups",
        "Groups of `place:path` patterns. Each group uses its first pattern that finds a file with text. `*` matches any characters within a"
        " name. A segment `**` matches any number of folders, including none, but no hidden folders, no `node_modules` and, except for"
        " skills, no other git repositories. `{md,txt}` is expanded to one pattern for each alternative. There are no other wildcards: `?`,"
        " `(a|b)` and, in a name with `*`, `[ab]` are errors. `root:.rules` and `root:.rules/*.md` together read `.rules` whether it"
        " is a file or a folder."
        " `{name}` inserts a setting; if that is a list, the pattern is repeated for each value."
        " `{root|slug}` is the root's path (in a worktree, the main checkout's) with every character except letters and digits replaced by a hyphen.",
    ),
    Key(
        "find",
        "walk",
        "choice",
        "Where the place `walk` starts: at the filesystem root (`root`), there without the main checkout that contains a worktree"
        " (`checkout`), at the git root (`git`; outside a repository, only the working"
        " directory is searched), or at the git root and, outside a repository, at the filesystem root (`git-or-root`).",
        ("root", "checkout", "git", "git-or-root"),
    ),
    Key(
        "find",
        "take",
        "choice",
        "Whether to use all files that are found, or only the one nearest to the working directory.",
        ("all", "nearest"),
    ),
    Key(
        "find",
        "as",
        "choice",
        "How to use the files: as text, skills, resident files, definitions of sub-agents or slash commands. All but text are lists sorted by"
        " name.",
        ("text", "skill", "resident", "agent", "command"),
    ),
    *MENU_KEYS,
    Key(
        "find",
        "validation",
        "choice",
        "Whether skills that violate the specification are skipped (`strict`) or loaded if possible (`lenient`).",
        ("strict", "lenient"),
    ),
    Key(
        "find",
        "layer",
        "text",
        "The layer that `why` shows for these files. By default `user`, `project` or `extra`, depending on the place.",
    ),
    *SELECTION_KEYS,
    *MATCHING_KEYS,
    *TEXT_KEYS,
    Key("section", "text", "text", "The text itself, or the address of a template (`$pack/path`)."),
    Key("section", "like", "name", "Another section, which provides the keys that this one does not have."),
    Key(
        "section",
        "list",
        "name",
        "What the section lists: the files that a lookup rule finds, or one of the agent's own lists.",
    ),
    Key("section", "sections", "names", "Inner sections, in order."),
    Key("section", "item", "form", "The format of one item; `{text}` by default."),
    Key("section", "short", "form", "The format of one item if there is only room for names; `item` by default."),
    Key(
        "section",
        "folder",
        "form",
        "A line above the skills in one folder, with the folder's path as `{folder}`: in full, or as `./…` below the last full path.",
    ),
    Key(
        "section",
        "roots",
        "names",
        "Folders such as `walk:.agents/skills` that get a short name (`r0`, `r1`, …), in this order, with which the paths of the skills in them"
        " begin. `up` is `walk` from the working directory up. Folders without skills are left out, except those that end in `/`. `folder` is then"
        " the line for each of them, above the list, with the short name as `{root}`.",
    ),
    Key(
        "section",
        "join",
        "text",
        "The text between items or inner sections: by default a newline if the section has an `item`, otherwise a blank line.",
    ),
    Key(
        "section",
        "wrap",
        "form",
        "The text around the section, with `{}` for its content; `@key` refers to a key of `[wording]`.",
    ),
    Key("section", "none", "text", "The text to use if the list is empty or no inner section applies."),
    Key(
        "section",
        "when",
        "conditions",
        "Conditions that must all hold: `tool:x`, `can:x` (a tool with that ability, decided by its name: `read`, `edit`, `write`,"
        " `shell`, `skill` or `load-skills`), `tools`, `set:x`, `found:x` (a lookup rule has found something), `session`, `base` and"
        " `scope` (the caller has passed one), `main`, `sub`, `provider:x`, `platform:x`. `!x` negates,"
        " `a|b` means either, and `@setting` means any of those that a setting lists.",
    ),
    Key(
        "section",
        "instead",
        "names",
        "What replaces the section, including its `wrap`: `base`, `template` or a lookup rule. The first one that exists is used.",
    ),
    Key(
        "section",
        "language",
        "choice",
        "The template language of the text, or of each file. Inner sections inherit it.",
        (*LANGUAGES, "directives"),
    ),
    Key(
        "section",
        "trim",
        "switch",
        "Whether to remove blank lines at the start and white space at the end. `text` is trimmed by default, and if nothing is left, the section is omitted."
        " A list, or inner sections with a `wrap`, are trimmed as a whole, including the wrap, only if this is `true`.",
    ),
    Key(
        "section",
        "lifetime",
        "choice",
        "How long the section's text stays the same. Inner sections inherit it.",
        LIFETIMES,
    ),
    Key(
        "section",
        "role",
        "choice",
        "The role with which the section is sent; only for sections that are not inside another. The `system` sections before the first"
        " `developer` or `user` section form the system prompt. From that section on, each section is a separate message at the start of"
        " the conversation. `tool` is only for the sections of `[touch]`.",
        (*PROMPT_ROLES, "tool"),
    ),
    Key("section", "budget", "count", "The token budget of the section."),
    Key(
        "section",
        "file_budget",
        "count",
        "The token budget of each file in the section, including the active skill and the plan. A file that exceeds it is cut. Inner"
        " sections inherit it.",
    ),
    Key(
        "section",
        "over",
        "choice",
        "What happens if the section exceeds its budget. `warn` only reports it. `cut` and `shorten` both shorten lists of skills and"
        " resident files, then cut files, farthest first; only `shorten` also shortens the agent's own lists (tools, docs, …). Inner sections"
        " inherit it.",
        ("warn", "cut", "shorten"),
    ),
    *MENU_LIMIT_KEYS,
    *BYTE_LIMIT_KEYS,
    Key("guideline", "when", "conditions", "The same as a section's `when`."),
    Key(
        "guideline",
        "say",
        "names",
        "The sentences to print. `{any}` is replaced with the alternatives of `when` that hold, and an ability such as `{read}` with the"
        " names of the tools that have it.",
    ),
    Key(
        "guideline",
        "from",
        "choice",
        "Insert the guidelines of the tools, those of extensions, or the rows of the layout that this one extends, here.",
        ("tools", "extensions", "inherited"),
    ),
    *(Key("on", event, "choice", f"When {about}.", STEPS) for event, about in EVENTS.items()),
    Key(
        "compaction",
        "under",
        "choice",
        "The prompt with which the summary is requested: the one before the compaction (`kept`, the default) or the one after it (`new`).",
        ("kept", "new"),
    ),
    Key(
        "compaction",
        "say",
        "choice",
        "Whether the request is the last message, after the history (`message`, the default, which keeps the provider's cache), or the end of"
        " the system prompt (`system`).",
        ("message", "system"),
    ),
    Key(
        "compaction",
        "skills",
        "choice",
        "Whether the skills that were in use come back by themselves after a compaction (`return`, the default), or only when they are used"
        " again (`drop`).",
        ("return", "drop"),
    ),
    *(
        Key(
            "packs",
            prefix,
            "text",
            f"Another prefix for the templates of `${prefix}`, such as `{example}` for `${example}/…`.",
        )
        for prefix, example in (("std", "insomnia"), ("user", "own"), ("workspace", "project"))
    ),
    *TOUCH_KEYS,
    Key(
        "program",
        "command",
        "text",
        "The name of its command, such as `claude`. If another version is installed, `foreword agents` says so.",
    ),
    Key(
        "program",
        "prompt",
        "count",
        "How many tokens (o200k) its own prompt has in the mirrored version. `tokens`, `cache` and `agents` count them in.",
    ),
    Key("program", "tools", "count", "How many tokens (o200k) the definitions of its own tools have."),
    *ALIGN_KEYS,
)
LISTS = {
    "tools": ("name", "line", "description"),
    "guidelines": ("text",),
    "active_skill": ("name", "text", "path"),
    "plan": ("text", "path"),
    "docs": ("name", "path"),
    "servers": ("name", "text"),
    "readable": ("path", "mark"),
    "writable": ("path", "mark"),
    "denied": ("path", "mark"),
}
LOOKUP_FIELDS = {
    "text": ("text", "path", "label"),
    "skill": ("name", "description", "path", "location", "layer", "folder", "directory"),
    "resident": ("name", "description", "path"),
    "agent": ("name", "description", "tools", "path"),
    "command": ("name", "description", "path"),
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
FILTERS = (
    "line",
    "list",
    "cell",
    "name",
    "xml",
    "xml-quotes",
    "relative",
    "root-relative",
    "tilde",
    "shortest",
    "hyphens",
    "angles",
    "portable",
    "unseen",
)
# Values that only a layout with `mirrors` may have, because they reproduce a program's flaws.
ONLY_IN_MIRRORS = (
    ("layout", "copies", ("first", "texts", "keep")),
    ("find", "copies", ("first", "texts", "keep")),
    ("find", "blank", ("hide", "keep", "all")),
    ("layout", "raw", (True,)),
    ("layout", "encoding", ("any", "raw", "visible")),
    ("layout", "line_ends", ("keep",)),
    ("layout", "fences", ("inside", "sections")),
    ("layout", "repair", ("symbols", "colons", "values", "fields", "rows")),
    ("section", "mark", (False,)),
    ("find", "globs", ("git", "names", "paths")),
)
INHERITED_KEYS = ("lifetime", "language", "file_budget", "over")
_GROUPS = (
    "a list of patterns, or of lists of patterns",
    lambda content: (
        isinstance(content, list | tuple)
        and all(isinstance(group, str) or is_list_of_strings(group) for group in content)
    ),
)
_FIELDS = (
    "a table of strings, switches or lists of strings",
    lambda content: (
        isinstance(content, dict)
        and all(isinstance(field, str | bool) or is_list_of_strings(field) for field in content.values())
    ),
)
_SIZE = (
    "a whole number, or a setting such as '{limit}'",
    lambda content: content[:1] == "{" and content[-1:] == "}" if isinstance(content, str) else SIZE[1](content),
)
_LABELS = (
    "a string or a table of strings",
    lambda content: (
        isinstance(content, str)
        or (isinstance(content, dict) and all(isinstance(label, str) for label in content.values()))
    ),
)
_SHAPES_BY_TYPE = {
    "fields": _FIELDS,
    "text": STRING,
    "form": STRING,
    "name": STRING,
    "switch": SWITCH,
    "count": COUNT,
    "names": STRINGS,
    "conditions": STRINGS,
    "groups": _GROUPS,
    "labels": _LABELS,
    "size": _SIZE,
    "table": TABLE,
}
KEYS_BY_TABLE = {table: {key.name: key for key in KEYS if key.table == table} for table in TABLES}
KEY_SHAPES = {
    table: {name: one_of(*key.choices) if key.choices else _SHAPES_BY_TYPE[key.takes] for name, key in keys.items()}
    for table, keys in KEYS_BY_TABLE.items()
}
CONTENT_KEYS = ("text", "list", "sections")
TOP_TABLES = (
    "settings",
    "env",
    "from",
    "find",
    "section",
    "guideline",
    "wording",
    "on",
    "compaction",
    "packs",
    "touch",
    "program",
    "align",
)
