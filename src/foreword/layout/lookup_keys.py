"""The places where a pattern can start, and the keys that decide which files of a lookup rule count and in which order."""

from __future__ import annotations

from .key import Key

PLACES = {
    "cwd": "the working directory",
    "root": "the workspace's root: the git root above the working directory, else the working directory itself",
    "walk": "every directory from the one that the key `walk` selects down to the working directory",
    "between": "the same directories, without the first one and without the working directory",
    "down": "every directory below the working directory, or beside it in the workspace, down to the one of a touched file; only for finds that"
    " `[touch]` lists",
    "above": "the directory above the git root; nothing outside a repository",
    "home": "the user's home directory",
    "config": "`$XDG_CONFIG_HOME` if absolute, else `~/.config`; `%APPDATA%` on Windows",
    "env": "a folder that an environment variable can move: `env:NAME/path`, with `NAME` from the table `[env]`",
    "system": "the filesystem root, for files of the machine's administrator: `system:etc/agent/AGENTS.md`",
    "path": "an absolute path, one that starts with `~/`, or one relative to the working directory",
}
WALKED_PLACES = ("walk", "between", "down")
SELECTION = (
    Key("find", "like", "name", "Another find: keys that this one does not have are taken from it."),
    Key(
        "find",
        "order",
        "choice",
        "The order of the files: the directories of `walk` from the farthest down (`farthest`, the default) or from the working directory up"
        " (`nearest`), or all files by their whole path, compared by UTF-16 code unit (`path`).",
        ("farthest", "nearest", "path"),
    ),
    Key(
        "find",
        "markers",
        "names",
        'Names that mark the root at which `walk` starts, such as `[".git", ".hg"]`: the nearest directory that contains one. Without such'
        " a directory, only the working directory is searched. By default, the git root. A workspace cannot set it.",
    ),
    Key(
        "find",
        "hidden",
        "switch",
        "Whether a leading `*`, and `**`, match hidden names too. `false` by default.",
    ),
    Key(
        "find",
        "exclude",
        "names",
        "Globs for files that are left out. A glob is compared with the whole path; one that does not start with `/`, `~/` or `**` starts at"
        " the root. `*` and `?` match within a name, `**` matches any number of folders, and `{a,b}` means either.",
    ),
    Key(
        "find",
        "where",
        "fields",
        "Fields of the front matter that a file must have, each with the accepted values, such as `{ alwaysApply = true }` or"
        ' `{ applyTo = ["", "**"] }`. `""` means that the field is absent or empty. All fields must fit. A file that does not fit because'
        " it applies only to some paths is `waiting`, with the patterns as the reason.",
    ),
    Key(
        "find",
        "unless",
        "fields",
        "Fields of the front matter that leave a file out: it is enough that one of them has one of these values.",
    ),
    Key(
        "find",
        "below",
        "text",
        "A folder, such as `.claude/rules`: `where` and `unless` apply only to files below a folder of this name. By default, to every file.",
    ),
    Key(
        "find",
        "when",
        "conditions",
        "Conditions under which the files count: `found:x` for a lookup rule above this one, `set:x` and `platform:x`. A lookup rule that only such"
        " conditions name adds nothing to the prompt itself.",
    ),
)
MENUS = (
    Key(
        "find",
        "same_name",
        "choice",
        "Of several skills, sub-agents or commands with the same name, list the first one by `files`, and of those in `walk` the nearest"
        " (`first`, the default), or list all of them, those in `walk` from the farthest down (`all`).",
        ("first", "all"),
    ),
    Key(
        "find",
        "named",
        "choice",
        "Where the name of a skill, sub-agent or command comes from: the front matter, with the file's or folder's name as the fallback"
        " (`field`, the default), or its path below the folder that is searched, with colons (`path`): `commands/git/fix.md` is `git:fix`.",
        ("field", "path"),
    ),
)
