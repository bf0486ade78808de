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
        "Front-matter fields that contain globs, such as `paths`, `globs` and `applyTo`: a file is used only if a touched path matches one."
        " `alwaysApply` is such a field too: `true` matches every path. Only for lookup rules that `[touch]` lists. With `below`, this applies only"
        " to files below that folder.",
    ),
    Key(
        "find",
        "unscoped",
        "choice",
        "What happens to a file that has none of the fields in `match`: it applies to every path, sorted by name (`apply`, the default) or before"
        " the other files in its folder (`first`), or it never applies (`skip`).",
        ("apply", "first", "skip"),
    ),
    Key(
        "find",
        "globs",
        "choice",
        "How globs are interpreted. With `folders`, the default, a glob that matches a folder matches everything below it, and a glob without a"
        " slash matches names in any folder. The others are for mirrors: with `names`, only the second rule applies, and with `paths`, neither.",
        ("folders", "names", "paths"),
    ),
    Key(
        "find",
        "from_root",
        "switch",
        "Whether globs are relative to the workspace's root, even those in rules further down. By default, they are relative to the directory in"
        " which the rules folder was found.",
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
        "The sections that are sent, in order, as one message each. They list lookup rules, and their `role` may also be `tool`: text for the"
        " result of the tool that touched the file. The default role is `user`.",
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
        "The token budget of what one touch sends. Whatever does not fit is sent by a later touch.",
    ),
    Key(
        "touch",
        "changed",
        "text",
        "The value of the field `{changed}` in an `item` if the file was sent before with different text; otherwise, it is empty.",
    ),
)
