"""The keys about the text of each file: of lookups, of their imports, and of the sections that list them."""

from __future__ import annotations

from .key import Key

TRIMS = ("lines", "ends", "tail", "none")
TEXTS = (
    Key(
        "find",
        "trim",
        "choice",
        "What to remove from the start and end of each file: blank lines (`lines`, the default), all white space (`ends`), white space at"
        " the end only (`tail`), or nothing (`none`).",
        TRIMS,
    ),
    Key(
        "find",
        "blank",
        "choice",
        "Whether a blank file counts as absent, so that its group tries the next pattern (`skip`, the default), hides the others of its"
        " group but adds nothing to the prompt (`hide`, only in mirrors), or counts like any other, with its white space (`keep`, only in"
        " mirrors; a file without any character is still absent).",
        ("skip", "hide", "keep"),
    ),
    Key(
        "find",
        "comments",
        "choice",
        "Whether to drop HTML comments that start a line, outside code, lists and quotes. Comments within a line and comments that are never"
        " closed always stay. `keep` by default.",
        ("keep", "drop"),
    ),
    Key(
        "find",
        "front",
        "choice",
        "Whether to drop the front matter of each file. Its fields are then available in `item` as `{front.NAME}`. `keep` by default.",
        ("keep", "drop"),
    ),
    Key(
        "find",
        "label",
        "labels",
        "A label for each file, available in `item` as `{label}`: one for all, or a table in which a key is a file name with or without `*`,"
        " or a place such as `home:`. The first key that matches applies. An imported file has the label of the file that imports it.",
    ),
    Key("find", "imports", "table", "Whether and how the files may import others; see below."),
    Key(
        "imports",
        "files",
        "names",
        "The names of the files that may import others; by default, all files of the lookup rule.",
    ),
    Key("imports", "depth", "count", "How many imports may follow one another; 5 by default."),
    Key(
        "imports",
        "within",
        "choice",
        "Where imported files must be: in the working directory (`cwd`), in the workspace (`root`), in the folder in which the file was found"
        " (`folder`), or `anywhere`. By default `root` for a project's file and `folder` for a user's own. Whatever the layout says, a project's"
        " file imports nothing outside the workspace, and no file imports one whose name suggests secrets.",
        ("cwd", "root", "folder", "anywhere"),
    ),
    Key(
        "imports",
        "place",
        "choice",
        "Where the imported text goes: into an item of its own after the importing file, each file once (`item`, the default); in place of the"
        " token (`replace`); or after the token (`insert`).",
        ("item", "replace", "insert"),
    ),
    Key(
        "imports",
        "tokens",
        "choice",
        "What counts as an import: `@path` up to white space (`word`, the default); also at the beginning of"
        " emphasis or of a link's text, as in `**@path**`, with `\\ ` for a blank and without a fragment (`markdown`); or also"
        " in brackets and quotation marks, without the punctuation after a relative path (`punctuated`).",
        ("word", "markdown", "punctuated"),
    ),
    Key(
        "imports",
        "once",
        "choice",
        "Where a file may not be imported again: in the whole prompt (`prompt`, the default), in the same file that was found (`file`), or in"
        " the files that import each other (`chain`). The last two only in mirrors, with `place` `replace` or `insert`.",
        ("prompt", "file", "chain"),
    ),
    Key(
        "imports",
        "trim",
        "choice",
        "The same as `trim` of a lookup rule, for the text that `place` puts into another text.",
        TRIMS,
    ),
    Key(
        "imports",
        "form",
        "form",
        "The format of the text that `place` puts into another text; `{text}` by default. `{name}` is the path as written, `{path}` the full one.",
    ),
    Key(
        "imports",
        "missing",
        "form",
        "What replaces the token of a file that does not exist or cannot be read, or follows it if `place` is `insert`; by default, only the"
        " token stays. `{name}`, `{path}` and `{reason}` are available.",
    ),
    Key(
        "imports",
        "outside",
        "form",
        "The same for a file that may not be imported, and for a directory.",
    ),
    Key(
        "imports",
        "again",
        "form",
        "The same for a file that was imported before, or that imports itself.",
    ),
)
RAW = Key(
    "layout",
    "raw",
    "switch",
    "Whether the text of files stays as it is: tags of the layout's own wrappers are not escaped, and code fences and comments that a file"
    " leaves open are not closed. Only in mirrors; each is still a finding.",
)
BYTES = (
    Key(
        "section",
        "bytes",
        "size",
        "The limit of the section in bytes, which its files share. What is around and between the files does not count. `0` leaves all files"
        " out. `{name}` inserts a setting.",
    ),
    Key(
        "section",
        "bytes_cut",
        "choice",
        "Which files give way if they have more than `bytes`: the first ones (`first`, the default) or the last ones. One file is cut, and"
        " those beyond it are left out.",
        ("first", "last"),
    ),
    Key(
        "section",
        "mark",
        "switch",
        "Whether a cut to `bytes` leaves a mark and ends with a whole character, which is the default. Only a mirror can turn it off.",
    ),
)
