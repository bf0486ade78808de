"""The keys of `[align]`: the ways in which a mirrored program can be made to read a file."""

from __future__ import annotations

from .key import Key

ALIGN_TABLE = (
    "How the mirrored program can be made to read a file under another name, for `foreword align`."
    " See [align.md](../align.md)."
)
ALIGN_KEYS = (
    Key(
        "align",
        "files",
        "names",
        "The program's own instruction files, which it reads in every folder, such as `CLAUDE.md`. The first one is preferred.",
    ),
    Key(
        "align",
        "import",
        "text",
        "The line with which such a file imports another one, such as `@{path}`. Without it, the file can only be a copy.",
    ),
    Key(
        "align",
        "setting",
        "text",
        "The key of the program's project settings that lists the names of instruction files, as `path#key`, such as"
        " `.gemini/settings.json#context.fileName`.",
    ),
    Key(
        "align",
        "rules",
        "text",
        "Where the program reads rules for certain paths, such as `.claude/rules/{name}.md`.",
    ),
    Key(
        "align",
        "scope",
        "text",
        "The field of a rule's front matter that lists its globs: `paths`, `globs` or `applyTo`.",
    ),
    Key("align", "skills", "text", "The folder in which the program reads skills, such as `.claude/skills`."),
)
