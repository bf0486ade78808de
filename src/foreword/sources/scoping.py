"""Rules that apply only to some paths: whether they are in the initial prompt, and which paths they apply to."""

from __future__ import annotations

from ..text import regex
from ..vocabulary import replace, value
from .front_matter import PATH_FIELDS, parse_front_matter, read_fields, split
from .globs import matches_glob
from .path_globs import compile_globs, describe_ignored_globs, split_globs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..layout.model import GlobStyle, Lookup, TextRules
    from ..vocabulary import Fate, Workspace
    from .path_globs import PathGlobs
    from .readings import Reading


def read_rule_fields(text: str) -> tuple[dict[str, str], str, str]:
    """Return the fields of a file's front matter and up to two problems, as `read_fields` does. Globs without quotes are not a problem."""
    fields, problem, ignored = read_fields(text)
    return fields, "" if problem and not ignored and _has_unquoted_globs(text) else problem, ignored


def read_fields_of(reading: Reading, rules: TextRules) -> tuple[dict[str, str], str, str]:
    """Return the fields of a file's front matter, as these rules read it, and up to two problems, as `read_rule_fields` does."""
    fields, problem, ignored = read_rule_fields(reading.text_by(rules))
    if rules.repair != "lines" and not fields:
        _, problem, _ = read_rule_fields(reading.text_by(replace(rules, repair="lines")))
    if rules.fences == "sections":
        from .fences import describe_problem

        problem = describe_problem(reading.text, rules.fences) or problem
    _add_aliases(fields, rules.alias)
    return fields, problem, ignored


def _add_aliases(fields: dict[str, str], alias: Sequence[tuple[str, str]]) -> None:
    """Add the fields that other fields of the file stand in for."""
    for name, other in alias:
        if name in fields:
            fields.setdefault(other, fields[name])


def _written_name(name: str, fields: dict[str, str], alias: Sequence[tuple[str, str]]) -> str:
    """Return the name that a file uses for a field."""
    written = (other for other, field in alias if field == name and fields.get(other) == fields[name])
    return next(written, name)


def check_front_matter(reading: Reading, lookup: Lookup) -> tuple[Fate | None, str, str, str]:
    """Check whether a file's front matter meets a lookup rule's conditions.

    Returns the file's fate (None if it meets them), the reason, the globs for the paths that it waits for, and the problem with its
    front matter, if any.
    """
    fields, problem, ignored = read_fields_of(reading, lookup.rules)
    problem = problem or ignored
    fields.setdefault("name", reading.path.rpartition("/")[2].rpartition(".")[0])
    is_exempt = any(_has_value(fields, name, values) for name, values in lookup.always)
    required = () if is_exempt else lookup.where
    failed_fields = [name for name, accepted in required if not _has_value(fields, name, accepted)]
    refused_fields = [name for name, refused in lookup.unless if _has_value(fields, name, refused)]
    failed_fields += refused_fields
    if not failed_fields:
        return None, "", "", problem
    excluding, awaited = _deciding_fields(fields, failed_fields, refused_fields)
    if awaited and not excluding:
        globs = fields[awaited]
        awaited = _written_name(awaited, fields, lookup.rules.alias)
        reason = f"it waits for a file that matches {globs} ({awaited} in its front matter)"
        return "waiting", reason, globs, problem or describe_ignored_globs(globs)
    field = excluding or failed_fields[0]
    description = f"has {field}: {fields[field]}" if fields.get(field) else f"has no {field}"
    return "unused", f"its front matter {description}", "", problem


# A field of globs, or an item of such a list, without quotes.
_UNQUOTED = rf"(?m)^(?:(?:{'|'.join(PATH_FIELDS)})[ \t]*:[ \t]*|[ \t]*-[ \t]+)(?=[^\s\"'\[|>])[^\n]*[*{{][^\n]*"


def _has_unquoted_globs(text: str) -> bool:
    """Whether front matter is valid YAML apart from globs without quotes. Agents accept these and read them literally."""
    head, _, _ = split(text)
    rest = regex.sub(_UNQUOTED, "", head) if head is not None else head
    return rest != head and (not rest or not rest.strip() or parse_front_matter(f"---\n{rest}\n---\n") is not None)


def _deciding_fields(fields: dict[str, str], failed: Sequence[str], refused: Sequence[str]) -> tuple[str, str]:
    """Return the field that excludes a file for every path, such as `excludeAgent`, and the one with the paths that it waits for, if any."""
    excluding = next((name for name in refused if fields.get(name) and name not in PATH_FIELDS), "")
    awaited = next((name for name in (*failed, *PATH_FIELDS) if name in PATH_FIELDS and fields.get(name)), "")
    return excluding, awaited


def _has_value(fields: dict[str, str], name: str, values: Sequence[str]) -> bool:
    content = fields.get(name, "")
    return any(content == value or (value in ("true", "false") and content.lower() == value) for value in values)


@value
class RuleScope:
    """The paths that a rule applies to: the front-matter field that lists them, the field's text, and the compiled globs.

    A rule without such a field is not scoped. `problem` describes what is wrong with its front matter or its globs, if anything.
    """

    field: str
    text: str
    globs: PathGlobs
    problem: str = ""

    @property
    def is_scoped(self) -> bool:
        return bool(self.field)


def scope_of(
    text: str, match: Sequence[str], style: GlobStyle = "folders", alias: Sequence[tuple[str, str]] = ()
) -> RuleScope:
    """Return the paths that a rule applies to, from the first front-matter field in `match` that has globs.

    `style` specifies how globs are interpreted; see `compile_globs`. `alias` is that of the lookup rule.
    """
    fields, problem, ignored = read_rule_fields(text) if match and text.startswith("---") else ({}, "", "")
    _add_aliases(fields, alias)
    if "alwaysApply" in match and fields.get("alwaysApply", "").lower() == "true":
        return RuleScope("alwaysApply", "**", compile_globs("**"))
    for name in match:
        if name != "alwaysApply" and split_globs(fields.get(name, "")):
            # Globs without quotes, which YAML rejects, are read literally, and not reported.
            return scope_of_globs(_written_name(name, fields, alias), fields[name], style, ignored)
    return RuleScope("", "", compile_globs(""), problem or ignored)


def scope_of_globs(field: str, globs: str, style: GlobStyle = "folders", problem: str = "") -> RuleScope:
    """Return the paths that these globs, which are in this field of the front matter, name. Without globs, it is not scoped."""
    return RuleScope(
        field if globs else "", globs, compile_globs(globs, style), problem or describe_ignored_globs(globs)
    )


def excluding_glob(path: str, lookup: Lookup, workspace: Workspace) -> str:
    """Return the glob that excludes a file, or empty if there is none. A mirrored program compares globs with the whole path as they are written."""
    if lookup.is_mirror:
        return next((glob for glob in lookup.exclude if compile_globs(glob.removeprefix("/"), "paths").match(path)), "")
    for glob in lookup.exclude:
        full_glob = glob
        if glob.startswith("~/"):
            full_glob = f"{workspace.home or '~'}{glob[1:]}"
        elif not glob.startswith(("/", "**")):
            full_glob = f"{workspace.root or workspace.cwd}/{glob}"
        if matches_glob(path, full_glob):
            return glob
    return ""
