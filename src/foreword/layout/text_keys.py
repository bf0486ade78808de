"""The keys that concern the text of files, in lookup rules, in their imports and in the sections that list the files."""

from __future__ import annotations

from .key import Key

TRIM_CHOICES = ("lines", "ends", "tail", "none")
TEXT_KEYS = (
    Key(
        "find",
        "trim",
        "choice",
        "What to remove from the start and end of each file: blank lines (`lines`, the default), all white space (`ends`), white space at"
        " the end only (`tail`), or nothing (`none`). Of skills, sub-agents and commands, it is removed from the description, in which white space is"
        " left only by quotes and by a block (`|` or `>`): all of it (`ends`, the default), nothing (`none`), or the line end before the fence"
        " that ends the front matter (`fence`).",
        (*TRIM_CHOICES, "fence"),
    ),
    Key(
        "find",
        "blank",
        "choice",
        "Whether a blank file is treated as absent, so that its group tries the next pattern (`skip`, the default), hides the other files of its"
        " group but adds nothing to the prompt (`hide`, only in mirrors), or is used like any other file, with its white space (`keep`, only in"
        " mirrors; an empty file then adds nothing, except with `all`, but hides other files; so does a folder with its name, or an"
        " unreadable file, but not with `all`).",
        ("skip", "hide", "keep", "all"),
    ),
    Key(
        "find",
        "comments",
        "choice",
        "Whether to drop HTML comments that start a line, outside code, lists and quotes (`drop`; comments within a line and comments that are"
        " never closed are kept; of a file that contains any,"
        " definitions of links are dropped too, and all line ends become LF), or all comments, also in code, and a `<!--` that is"
        " never closed (`all`). `keep` by default.",
        ("keep", "drop", "all"),
    ),
    Key(
        "find",
        "front",
        "choice",
        "Whether to drop the front matter of each file: only the front matter (`drop`), also the white space after it (`drop-space`), or, of a file"
        " that has front matter, the white space at both ends of the rest too (`drop-ends`). Its fields are then available in `item` as"
        " `{front.NAME}`. `keep` by default.",
        ("keep", "drop", "drop-space", "drop-ends"),
    ),
    Key(
        "find",
        "copies",
        "choice",
        "The same for the files of this lookup rule, which are then compared only with those of lookup rules that have the same `copies`. By"
        " default, the layout's.",
        ("drop", "first", "texts", "keep"),
    ),
    Key(
        "find",
        "alias",
        "fields",
        'Front-matter fields that stand in for another: with `{ paths = "applyTo" }`, a file that has `paths` but not `applyTo` is used as if it had'
        " `applyTo`, in `where`, `unless`, `always`, `match` and `item`.",
    ),
    Key(
        "find",
        "line_ends",
        "choice",
        "Whether the line ends of each file become LF after limits like `max_bytes` have been applied: CRLF (`lf`), or also single carriage returns"
        " (`all`). By default, they are as the layout's `line_ends` leaves them (`keep`).",
        ("keep", "lf", "all"),
    ),
    Key(
        "find",
        "label",
        "labels",
        "A label for each file, available in `item` as `{label}`: one label for all files, or a table whose keys are file names, which may contain"
        " `*`, or places such as `home:`. The first matching key is used. An imported file has the label of the file that imports it.",
    ),
    Key(
        "find",
        "max_lines",
        "count",
        "The maximum number of lines of each file. The rest is left out, with a mark and a finding.",
    ),
    Key(
        "find",
        "max_bytes",
        "count",
        "The maximum size of each file in bytes, as whole lines. The rest is left out, with a mark and a finding.",
    ),
    Key("find", "imports", "table", "Whether and how the files may import others; see below."),
    Key(
        "imports",
        "files",
        "names",
        "The names of the files that may import others; by default, all files that the lookup rule finds.",
    ),
    Key(
        "imports",
        "file_extensions",
        "names",
        'The extensions of files that may be imported, in lower case and without the dot, such as `["md", "txt"]`; `N.MD` matches `md` too. A'
        " file without an extension may always be imported. By default, every file may. `{name}` is replaced by a setting, which may be a list.",
    ),
    Key("imports", "depth", "count", "How deeply imports may be nested; 5 by default."),
    Key(
        "imports",
        "within",
        "choice",
        "Where imported files must be: in the working directory (`cwd`), in the workspace (`root`), in the folder in which the file was found"
        " (`folder`), or `anywhere`. The default is `root` for a project's files and `folder` for the user's own. Whatever the layout says, a"
        " project's file cannot import anything outside the workspace, and no file can import one whose name suggests secrets.",
        ("cwd", "root", "folder", "anywhere"),
    ),
    Key(
        "imports",
        "place",
        "choice",
        "Where the imported text goes: into a separate item after the importing file, each file once (`item`, the default); in place of the"
        " import token (`replace`); or after the token (`insert`).",
        ("item", "replace", "insert"),
    ),
    Key(
        "imports",
        "tokens",
        "choice",
        "What counts as an import: `@path` up to the next white space (`word`, the default); the same, also in indented"
        " code and in fences that are open or made of tildes (`loose`); also at the beginning of"
        " emphasis or of a link's text, as in `**@path**`, with `\\ ` for a space and without a fragment (`markdown`); or also"
        " after punctuation, without any punctuation after a relative path (`punctuated`).",
        ("word", "loose", "markdown", "punctuated"),
    ),
    Key(
        "imports",
        "relative_to",
        "choice",
        "Where relative paths start in a file that was reached through a link: in the link's folder (`link`, the default), or in the folder of the"
        " file that the link leads to (`target`).",
        ("link", "target"),
    ),
    Key(
        "imports",
        "once",
        "choice",
        "Where a file may be imported only once: in the whole prompt (`prompt`, the default), in each file that the lookup rule finds (`file`), or"
        " in a chain of files that import each other (`chain`). The last two are only for mirrors, with `place` set to `replace` or `insert`.",
        ("prompt", "file", "chain"),
    ),
    Key(
        "imports",
        "trim",
        "choice",
        "The same as a lookup rule's `trim`, for imported text that `place` puts into another file's text.",
        TRIM_CHOICES,
    ),
    Key(
        "imports",
        "form",
        "form",
        "The format of imported text that `place` puts into another file's text; `{text}` by default. `{name}` is the path as written, `{path}` the full"
        " path.",
    ),
    Key(
        "imports",
        "missing",
        "form",
        "What replaces the token of a file that does not exist or cannot be read, or follows the token if `place` is `insert`. By default, the"
        " token is left as text. `{name}`, `{path}` and `{reason}` are available.",
    ),
    Key(
        "imports",
        "outside",
        "form",
        "The same for a file that must not be imported, and for a directory.",
    ),
    Key(
        "imports",
        "repeated",
        "form",
        "The same for a file that was imported before, or that imports itself.",
    ),
)
RAW_KEY = Key(
    "layout",
    "raw",
    "switch",
    "Whether the text of files is left as it is: the tags of the layout's own wrappers are not escaped, and code fences and comments that a"
    " file leaves open are not closed. Only for mirrors; each case is still reported as a finding.",
)
MENU_LIMIT_KEYS = (
    Key(
        "section",
        "menu_limit",
        "count",
        "How many characters of a menu of skills the mirrored program lists in full. The prompt contains all of them, except with the `menu_cut`"
        " `line`; `foreword lint` reports skills whose names and descriptions are longer.",
    ),
    Key(
        "section",
        "menu_cut",
        "choice",
        "What the program does with skills beyond `menu_limit`: it lists only their names (`names`, the default), shortens every description"
        " (`shorten`), or lists only the first line of every description (`line`).",
        ("names", "shorten", "line"),
    ),
)
BYTE_LIMIT_KEYS = (
    Key(
        "section",
        "bytes",
        "size",
        "The maximum size in bytes of the section's files together. Text around and between the files does not count. `0` leaves out all files."
        " `{name}` inserts a setting.",
    ),
    Key(
        "section",
        "bytes_cut",
        "choice",
        "Which files are shortened if they exceed `bytes`: the first ones (`first`, the default) or the last ones (`last`). One file is cut, and"
        " those beyond it are left out.",
        ("first", "last"),
    ),
    Key(
        "section",
        "mark",
        "switch",
        "Whether a file that is cut to `bytes` is cut between characters and ends with a mark; `true` by default. Only a mirror can turn it off.",
    ),
)
