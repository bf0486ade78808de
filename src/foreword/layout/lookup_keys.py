"""The places where a pattern can start, and the keys that select and order a lookup rule's files."""

from __future__ import annotations

from .key import Key

PLACES = {
    "cwd": "the working directory",
    "root": "the workspace's root: the git root above the working directory, otherwise the working directory itself",
    "walk": "every directory from the one that the key `walk` selects down to the working directory",
    "between": "the same directories, except the first one and the working directory",
    "down": "every directory below the working directory, or beside it in the workspace, down to a touched file's directory; only for lookup"
    " rules that `[touch]` lists",
    "above": "the directory above the git root; outside a repository, nothing is searched",
    "home": "the user's home directory",
    "config": "`$XDG_CONFIG_HOME` if that is an absolute path, otherwise `~/.config`; `%APPDATA%` on Windows",
    "env": "a folder that an environment variable can override: `env:NAME/path`, with `NAME` from the table `[env]`",
    "system": "the filesystem root, for the machine administrator's files: `system:etc/agent/AGENTS.md`",
    "path": "an absolute path, one that starts with `~/`, or one relative to the working directory",
}
WALKED_PLACES = ("walk", "between", "down")
TEXT_ORDERS = ("farthest", "nearest", "pattern", "path")
MENU_ORDERS = ("name", "layer", "found", "directory")
SELECTION_KEYS = (
    Key(
        "find",
        "like",
        "name",
        "Another lookup rule, which provides the keys that this one does not have, including those in `imports`. A key that is present replaces"
        " the other's: `where = {}` removes its conditions.",
    ),
    Key(
        "find",
        "order",
        "choice",
        "The order of the files: by directory, from the top of `walk` down (`farthest`, the default) or from the working directory up"
        " (`nearest`); like that for each pattern, one after the other (`pattern`);"
        " or by full path, compared by UTF-16 code units (`path`). Menus are sorted by name (`name`, the default), by layer and then by"
        " name (`layer`), folder by folder, as `files` lists them (`found`), or pattern by pattern, with adjacent folders of the same directory sorted together"
        " by name (`directory`).",
        (*TEXT_ORDERS, *MENU_ORDERS),
    ),
    Key(
        "find",
        "markers",
        "names",
        'Names such as `[".git", ".hg"]`: `walk` starts at the nearest directory that contains one of them. If there is none, only the working'
        " directory is searched. By default, `walk` starts at the git root. `down` starts there too, if it is below the working directory. A workspace"
        " cannot set it.",
    ),
    Key(
        "find",
        "any_case",
        "switch",
        "Whether a file name without `*` also finds its other usual spellings, such as `agents.md`, `Agents.md` and `AGENTS.MD` for `AGENTS.md`. The"
        " exact name is preferred. `false` by default.",
    ),
    Key(
        "find",
        "hidden",
        "switch",
        "Whether a leading `*` and `**` also match hidden names. `false` by default.",
    ),
    Key(
        "find",
        "exclude",
        "names",
        "Globs for files to leave out. A glob is compared with the whole path; one that does not start with `/`, `~/` or `**` starts at"
        " the root. `*` and `?` match within a name, `**` matches any number of folders, and `{a,b}` matches either alternative. In a mirror, every"
        ' glob is compared with the whole path as it is written, is read as with `globs = "paths"`, and also leaves out imported files.',
    ),
    Key(
        "find",
        "where",
        "fields",
        "Front-matter fields that a file must have, each with its accepted values, such as `{ alwaysApply = true }` or"
        ' `{ applyTo = ["", "**"] }`. `""` means that the field is absent or empty, and `{setting}` is filled in. Without `name`,'
        " a file has its file name. All fields must match. A file that does not match because"
        " it applies only to some paths is `waiting`, with the patterns as the reason.",
    ),
    Key(
        "find",
        "unless",
        "fields",
        "Front-matter fields that exclude a file: it is left out if any of them has one of these values.",
    ),
    Key(
        "find",
        "always",
        "fields",
        'Front-matter fields with which a file need not match `where`: `where = { globs = "" }` and `always = { alwaysApply = true }` also find a'
        " file that has `globs` and `alwaysApply: true`.",
    ),
    Key(
        "find",
        "below",
        "names",
        'Folders such as `[".claude/rules"]`: `where`, `unless` and `match` apply only to files below a folder with one of these names.'
        " By default, they apply to every file.",
    ),
    Key(
        "find",
        "when",
        "conditions",
        "Conditions under which the files are used: `found:x` for a lookup rule above this one, `set:x` and `platform:x`. A lookup rule that is"
        " only mentioned in such conditions adds nothing to the prompt itself.",
    ),
)
CONFIG_KEYS = (
    Key("from", "at", "text", "Where the value is: `place:path#key` or `env:NAME`."),
    Key(
        "from",
        "trusted_by",
        "text",
        "A `place:path#key=text` of the user's, in whose key `{folder}` is the folder in which the file was found, such as"
        " `home:.agent/config.toml#projects.{folder}.trust=yes`. The file counts only if that is so.",
    ),
    Key("from", "when", "conditions", "Conditions on settings that are read before this one: `set:x` and `!set:x`."),
    Key(
        "from",
        "add",
        "choice",
        "For a list: whether its values are added before or after those of earlier entries and the default. By default, they replace them.",
        ("before", "after"),
    ),
    Key("from", "only", "choice", "For a list: `names` leaves out values that contain a slash.", ("names",)),
    Key(
        "from",
        "beside",
        "text",
        "For a list: the values are files in the folder of the configuration file, whose path may then contain `*`; this name is used if the file"
        " does not have the key.",
    ),
)
# The flaws of a skill or command that a lookup rule may name; `sources/flaws.py` finds them.
FLAWS = (
    *("yaml", "no-text", "bad-field"),
    *("no-name", "long-name", "symbol-name", "ascii-name", "spec-name"),
    "long-description",
)
MENU_KEYS = (
    Key(
        "find",
        "same_name",
        "choice",
        "What to list if several skills, sub-agents or commands have the same name: only the first in the order of `files` and, within `walk`, the"
        " nearest (`first`, the default); only the last, in the place of the first (`last`); or all of them, starting with the farthest within"
        " `walk` (`all`).",
        ("first", "last", "all"),
    ),
    Key(
        "find",
        "named",
        "choice",
        "Where the name of a skill, sub-agent or command comes from: the front matter, with the file's or folder's name as the fallback"
        " (`field`, the default); its path below the folder that is searched, with colons (`path`): `commands/git/fix.md` is `git:fix`; or the path and,"
        " in brackets, a different name in the front matter, if it consists of letters, digits and `_.:-` (`both`).",
        ("field", "path", "both"),
    ),
    Key(
        "find",
        "described",
        "choice",
        "What describes a skill or command whose front matter has no `description`: the first line of its text without the mark of a heading, up to"
        " 100 characters (`line`, the default for commands), or its first three lines without headings, up to 1,024 characters (`text`). By default,"
        " such a skill is skipped, and so is one with a blank description, which `text` and `empty` list.",
        ("line", "text", "empty"),
    ),
    Key(
        "find",
        "skips",
        "names",
        "The flaws for which the program leaves out a skill or command: `yaml` (front matter that is not valid YAML), `no-text` (a name or"
        " description that is a number, a list, nothing or the like),"
        " `bad-field` (an `argument-hint` that is not text, such as `[file]`, `allowed-tools` that are neither text nor a list of it, or a switch that is"
        " neither true nor false), `no-name`, `long-name` (more"
        " than 64 characters), `symbol-name` (other characters than letters and digits of any language and `_.:-`), `ascii-name` (other characters"
        " than those of ASCII and blanks, or another one than a letter or a digit at the start), `spec-name` (other characters than a-z, 0-9 and"
        " single hyphens between them) and `long-description` (more than 1,024 characters).",
    ),
    Key(
        "find",
        "disabled",
        "choice",
        "Whether a skill with `disable-model-invocation: true` is left out of the list (`hide`, the default), or listed (`list`).",
        ("hide", "list"),
    ),
    Key(
        "find",
        "longest",
        "count",
        "How many characters a description may have, of which those outside the basic plane, such as most emoji, count twice. A longer one is cut"
        " and ends with `ellipsis`.",
    ),
    Key(
        "find",
        "ellipsis",
        "choice",
        "How a description of more than `longest` characters ends: `...` (the default) or `…`.",
        ("...", "…"),
    ),
    Key(
        "find",
        "used_when",
        "text",
        "What follows the description of a skill whose front matter has `when_to_use`, such as ` - {}`; `{}` is the field. It counts towards `longest`"
        " unless it begins a new line. By default, it is not shown.",
    ),
    Key(
        "find",
        "hidden_by",
        "names",
        "Lookup rules of other skills, sub-agents or commands: an entry is left out if one of theirs has the same name, even one that is not listed.",
    ),
    Key(
        "find",
        "scoped",
        "choice",
        "Whether a skill whose front matter has `paths` is listed from the start (`list`, the default), or is left out of the list (`wait`)."
        " A lookup rule of `[touch]` with `match` then lists it when a matching file is touched. Either way, it can be used by name.",
        ("list", "wait"),
    ),
)
