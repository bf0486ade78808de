"""The layout keys for what is sent when the agent touches a file: the table `[touch]`, and the keys of lookup rules that only it may list."""

from __future__ import annotations

from .key import Key

EVENTS = ("read", "edit", "create")
# Front-matter fields that can list the paths that a rule applies to; `alwaysApply: true` means all of them.
MATCH_FIELDS = ("paths", "globs", "applyTo", "alwaysApply")
MATCHING_KEYS = (
    Key(
        "find",
        "match",
        "names",
        "Front-matter fields that contain globs, such as `paths`, `globs` and `applyTo`: a file is used only if one of its globs matches a touched"
        " path. `alwaysApply` can be one of these fields: `true` matches every path. Only for lookup rules that `[touch]` lists. With `below`, this"
        " applies only to files below that folder.",
    ),
    Key(
        "find",
        "unscoped",
        "choice",
        "What to do with a file that has none of the fields in `match`: use it for every path, sorted by name like the others (`apply`, the default)"
        " or before the others in its folder (`first`), or never use it (`skip`).",
        ("apply", "first", "skip"),
    ),
    Key(
        "find",
        "globs",
        "choice",
        "How globs are interpreted. With `folders`, the default, a glob that matches a folder matches everything below it, and a glob without a"
        " slash matches names in any folder. The others are only for mirrors, and compare a glob as it is written, so that `//` matches nothing. `git` is the"
        " same, but upper and lower case do not matter, `src/**` means `src`, `[!a]` is one of these two characters, and globs that start with `!` or"
        " `./` match nothing; with `names`, only the second rule applies, and with `paths`, neither. With `paths`, `(a|b)`, `{1..3}` and names that are"
        " literally like a glob match too.",
        ("folders", "git", "names", "paths"),
    ),
    Key(
        "find",
        "globs_from",
        "choice",
        "What globs are relative to: the directory in which the folder of rules was found (`folder`, the default), the workspace's root,"
        " also for the user's own rules (`root`), or either of the two (`both`). With `folder` and `both`, a rule applies only to files in that"
        " directory.",
        ("folder", "root", "both"),
    ),
    Key(
        "find",
        "within",
        "choice",
        "Which touched files count: those anywhere in the workspace (`root`, the default), or those in or below the working directory (`cwd`). The"
        " globs of the user's own rules are relative to the same directory, unless `globs_from` is `root`.",
        ("root", "cwd"),
    ),
)
TOUCH_KEYS = (
    Key(
        "touch",
        "sections",
        "names",
        "The sections that are sent, in order, each as one message. Each lists a lookup rule. Their `role` is `user` by default; `tool` adds the text"
        " to the result of the tool that touched the file.",
    ),
    Key(
        "touch",
        "on",
        "names",
        "What counts as a touch: `read`, `edit` and `create`. By default, all three.",
    ),
    Key(
        "touch",
        "budget",
        "count",
        "The token budget for what one touch sends. Text that does not fit is sent with a later touch.",
    ),
    Key(
        "touch",
        "changed",
        "text",
        "The value of the field `{changed}` in an `item` if the file was sent before with different text. Otherwise, the field is empty.",
    ),
)
