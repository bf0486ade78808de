"""The layout keys for what is sent when the agent touches a file: the table `[touch]`, and the keys of lookup rules that only it may list."""

from __future__ import annotations

from .key import Key

EVENTS = ("read", "edit", "create")
# Front-matter fields that can list the paths that a rule applies to; `alwaysApply: true` means all of them.
MATCH_FIELDS = ("paths", "globs", "applyTo", "alwaysApply")
# Keys of lookup rules that only sections of `[touch]` may list.
ONLY_ON_TOUCH = ("match", "unscoped", "globs", "from_root", "within")
MATCHING_KEYS = (
    Key(
        "find",
        "match",
        "names",
        "Fields of the front matter with globs, such as `paths`, `globs` and `applyTo`: a file counts only if one of the touched paths matches."
        " `alwaysApply` is such a field too: `true` matches every path. Only for finds that `[touch]` lists. With `below`, only for files below"
        " that folder.",
    ),
    Key(
        "find",
        "unscoped",
        "choice",
        "Whether a file that has none of the fields of `match` applies to every path, in its place by name (`apply`, the default) or before the"
        " others of its folder (`first`), or never applies (`skip`).",
        ("apply", "first", "skip"),
    ),
    Key(
        "find",
        "globs",
        "choice",
        "How globs are read. In `folders`, the default, one that matches a folder matches everything below it, and one without a slash matches"
        " names in any folder. The others are for mirrors: in `names`, only the second is so, and in `paths`, neither.",
        ("folders", "names", "paths"),
    ),
    Key(
        "find",
        "from_root",
        "switch",
        "Whether globs are relative to the workspace's root, even those of rules further down. By default, they are relative to the directory in"
        " which the folder of rules was found.",
    ),
    Key(
        "find",
        "within",
        "choice",
        "Which touched files count: all in the workspace (`root`, the default), or those in or below the working directory (`cwd`). The user's"
        " own rules are relative to that directory too.",
        ("root", "cwd"),
    ),
)
TOUCH_KEYS = (
    Key(
        "touch",
        "sections",
        "names",
        "The sections that are sent, in order, as one message each. They list finds, and their `role` may also be `tool`: text for the result"
        " of the tool that touched the file. The default role is `user`.",
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
        "The token budget of what one touch sends. What does not fit is sent by a later one.",
    ),
    Key(
        "touch",
        "changed",
        "text",
        "What the field `{changed}` of an `item` says if the file was sent before with other text; otherwise, it is empty.",
    ),
)
