"""Front matter: the fields at the start of a SKILL.md or a resident file.

    ---                            a fence: three hyphens on the first line, optionally followed by blanks
    name: testing                  fields, in YAML
    description: Runs the tests.
    ---                            a second fence
    The body, in which `---` has no special meaning.

Nothing here reads the disk, and no text raises an error. Only a line feed ends a line: a form feed or U+2028 in a description is
part of it.

Strict validation skips skills that violate the Agent Skills specification; lenient validation loads everything with a description.
Both report the same violations of these rules:

    name           1 to 64 characters from a-z, 0-9 and single inner hyphens, the same as the folder's name
    description    1 to 1,024 characters, not blank
    compatibility  text of at most 500 characters
    license        text
    allowed-tools  text, or a list of strings
    metadata       fields of any kind
    other fields   ignored, and reported if they resemble a known one; `disable-model-invocation` hides the skill, and `paths` names the files that it is for

An unquoted number, `true` or `null` is treated as text, so `name: 123` is the name "123"; only a description of `null` counts as
missing. If YAML fails or a field occurs twice, the lenient reader reads line by line: each top-level field is parsed separately, invalid
YAML counts as plain text, and the first of two fields with the same name wins. In rules, the last one wins, as in most agents.
"""

from __future__ import annotations

from ..findings import finding
from ..text import regex
from ..text.lines import is_plain, printable
from ..vocabulary import Resident, Skill
from .resident_keys import RESIDENT_KEYS, unlisted_findings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from ..vocabulary import Finding

    Fields = dict[Any, Any]
    Violation = tuple[str, str, int]  # the finding's code, the problem, and its line

MAX_NAME_LENGTH = 64
MAX_DESCRIPTION_LENGTH = 1024
MAX_COMPATIBILITY_LENGTH = 500

# The parser takes time quadratic in the number of nested brackets and repeated aliases: 64 KiB of either took 10 to 90 seconds. So
# both are counted before it runs. Real front matter never comes near these limits.
MAX_HEAD_LENGTH = 32_768
MAX_BRACKETS = 128
MAX_ALIASES = 4
# How many fields of front matter that is too long are read.
_MAX_RECOVERED = 1_000

# The fields that agents use for the paths a file applies to.
PATH_FIELDS = ("paths", "globs", "applyTo")

SPECIFIED_FIELDS = frozenset({"name", "description", "license", "allowed-tools", "metadata", "compatibility"})
# Fields of released agents, which have an effect there.
TOLERATED_FIELDS = frozenset(
    "agent argument-hint arguments context disable-model-invocation effort globs hooks model paths shell user-invocable when_to_use".split()
)
HIDDEN_KEY = "disable-model-invocation"

_KNOWN_FIELDS = SPECIFIED_FIELDS | TOLERATED_FIELDS
_TRUE_WORDS = frozenset({"true", "yes", "on"})
_FALSE_WORDS = frozenset({"false", "no", "off", "none", ""})
_YAML_CONSTANTS = frozenset({"true", "false", "null"})

# Patterns are compiled on first use: most files do not need them, and compiling takes as long as reading a hundred skills.
_FIELD = r"([ \t]*)([A-Za-z_][\w-]*)[ \t]*:(?=[ \t]|\Z)"
_BLOCK_INDICATOR = r"[|>][-+0-9]{0,2}"
_ANCHOR = r"(?:^|[\s\[{,:])&\w"
_ALIAS = r"(?:^|[\s\[{,:])\*\w"
_INVALID_IN_YAML = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]"

# The parser treats these as line breaks; editors do not.
_EXTRA_LINE_BREAKS = "\r\x85\u2028\u2029"


def split(text: str) -> tuple[str | None, str, int]:
    """Return the front matter without its fences, the body, and the line on which the body begins.

    Without a fence on the first line, or without a second fence, the whole text is the body.
    """
    fences = _find_fences(text)
    if fences is None:
        return None, text, 1
    start, end, after = fences
    return text[start:end], text[after:], text.count("\n", start, end) + 3


def body(text: str) -> tuple[str, int]:
    """Return the text after the front matter, without blank lines around it, and the line on which it begins."""
    _, rest, line = split(text)
    end = len(rest.rstrip())
    if not end:
        return "", line
    start = rest.rfind("\n", 0, len(rest) - len(rest.lstrip())) + 1
    after = rest.find("\n", end)
    return rest[start : after if after >= 0 else len(rest)], line + rest.count("\n", 0, start)


def read_fields(text: str) -> tuple[dict[str, str], str, str]:
    """Return the fields of any file's front matter as text (lists joined by commas), and up to two problems.

    The first problem is the reason if the front matter cannot be read as YAML. The second one may change which paths the file applies to:
    the front matter is too long, or some of its globs were ignored.
    """
    fences = _find_fences(text)
    _, _, problem = _find_head(text)
    if fences is None:
        return {}, problem, ""
    head, too_long = text[fences[0] : fences[1]].replace("\r\n", "\n"), ""
    names = tuple(regex.findall(r"(?m)^([A-Za-z_][\w-]*)[ \t]*:", head))
    if problem:
        fields = _recover_fields(head, tuple(dict.fromkeys((*PATH_FIELDS, *names)))[:_MAX_RECOVERED])
        problem = too_long = f"{problem}; it was read line by line"
    else:
        fields, violations = _parse_fields(head, names, "front-matter-invalid")
        fields |= _recover_fields(head, names, last=True) if len(set(names)) < len(names) else {}
        problem = violations[0][1] if violations else ""
    texts = {
        key: _join_list(value) if isinstance(value, list) else _field_text(fields, key, head)
        for key, value in fields.items()
        if type(key) is str and (key not in PATH_FIELDS or isinstance(value, (str, list)))
    }
    texts |= {name: "" for name in PATH_FIELDS if name in fields and fields[name] is None}
    ignored = next(filter(None, (_describe_ignored_globs(fields, name) for name in PATH_FIELDS)), "")
    return texts, problem, ignored or too_long


def _describe_ignored_globs(fields: Fields, name: str) -> str:
    content = fields.get(name)
    if not isinstance(content, (str, list, type(None))):
        return f"its {name} is a {_kind(content)}, not text or a list, and is ignored"
    has_fields = isinstance(content, list) and any(isinstance(item, dict) for item in content)
    return f"its {name} contains a set of fields, which is ignored; put quotes around each glob" if has_fields else ""


def parse_front_matter(text: str, with_last_line_end: bool = True) -> Any:
    """Return the front matter as YAML parses it, or None if there is none or it is invalid."""
    head, _, _ = _find_head(text)
    return None if head is None else load_yaml(head if with_last_line_end else head.removesuffix("\n"))[0]


def _join_list(values: list[Any]) -> str:
    items = [inner for item in values for inner in (item if isinstance(item, list) else [item])]
    return ", ".join(
        item.strip() if isinstance(item, str) else str(item).lower()
        for item in items
        if not isinstance(item, (list, dict))
    )


def read_skill(text: str, path: str, validation: Literal["strict", "lenient"]) -> tuple[Skill | None, list[Finding]]:
    """Parse a SKILL.md. Returns the skill, or None if it is skipped, and a finding for each problem."""
    head, closing_line, problem = _find_head(text)
    if head is None:
        problem = problem or "the front matter is missing: a SKILL.md begins with '---', its fields, and '---'"
        return None, [finding("skill-invalid", f"{problem}; the skill is skipped", path, 1)]
    fields, violations = _parse_fields(head, ("name", "description", HIDDEN_KEY, "paths"), "skill-repaired")
    name, description, folder = _field_text(fields, "name", head), _field_description(fields, head), _folder(path)
    if validation == "strict":
        if violations := violations or _find_violations(name, description, folder, fields, head):
            return None, [
                finding("skill-invalid", f"{problem}; the skill is skipped", path, line)
                for _, problem, line in violations
            ]
    elif not description:
        return None, [_missing_description("skill", fields, violations, head, path)]
    else:
        violations += _find_violations(name, description, folder, fields, head)
    name = " ".join(name.split()) or printable(folder)
    if not name:
        return None, [finding("skill-invalid", "it has neither a name nor a folder; the skill is skipped", path, 1)]
    findings = [_lenient_finding(violation, name, path) for violation in violations]
    if not fields.keys() <= SPECIFIED_FIELDS:
        findings += _ignored_field_findings(fields, head, path)
    hidden, paths = is_true(fields.get(HIDDEN_KEY)), _paths(fields, head) if "paths" in fields else ""
    return Skill(name, description, path, hidden, (1, closing_line), paths=paths), findings


def _paths(fields: Fields, head: str) -> str:
    """Return the globs in a skill's field `paths`, or empty if one of them matches every file."""
    from .path_globs import MATCH_ALL, split_globs

    content = fields["paths"]
    text = _join_list(content) if isinstance(content, list) else _field_text(fields, "paths", head)
    globs = split_globs(text)
    return "" if any(glob in MATCH_ALL for glob in globs) else ", ".join(globs)


def read_resident(text: str, path: str) -> tuple[Resident | None, list[Finding]]:
    """Parse a resident. Returns it and findings, or None instead of it if the file is not a resident or has no description."""
    head, closing_line, problem = _find_head(text)
    if head is None:
        return None, [finding("resident-invalid", f"{problem}; the file is skipped", path, 1)] if problem else []
    fields, violations = _parse_fields(head, ("description", *RESIDENT_KEYS), "resident-repaired")
    if not any(is_true(fields.get(key)) for key in RESIDENT_KEYS):
        return None, list(unlisted_findings(fields, path))
    description = _field_description(fields, head)
    if not description:
        return None, [_missing_description("resident", fields, violations, head, path)]
    slug = printable(path.rpartition("/")[2].removesuffix(".md"))
    return Resident(slug, description, path, (1, closing_line)), [
        _lenient_finding(violation, slug, path) for violation in violations
    ]


# Text to fields


def _find_fences(text: str) -> tuple[int, int, int] | None:
    """Return the offsets of the front matter's start, its end, and the body. Nothing is copied because a body may be long."""
    fence = text.find("\n---") if _begins_with_fence(text) else -1
    while fence >= 0:
        line_end = text.find("\n", fence + 4)
        body = line_end + 1 if line_end >= 0 else len(text)
        if not text[fence + 4 : body].strip(" \t\r\n"):
            return text.index("\n") + 1, fence + 1, body
        fence = text.find("\n---", fence + 4)
    return None


def _begins_with_fence(text: str) -> bool:
    end = text.find("\n")
    return text.startswith("---") and not text[3 : end if end >= 0 else None].strip(" \t\r")


def _find_head(text: str) -> tuple[str | None, int, str]:
    """Return the front matter (None if there is none), the line of its second fence, and the reason if it cannot be used."""
    fences = _find_fences(text)
    if fences is None:
        unclosed = "the front matter is never closed: a second line '---' is missing"
        return None, 1, unclosed if _begins_with_fence(text) else ""
    start, end, _ = fences
    if end - start > MAX_HEAD_LENGTH:
        return None, 1, f"the front matter has {end - start:,} characters, more than {MAX_HEAD_LENGTH:,}"
    return text[start:end].replace("\r\n", "\n"), text.count("\n", start, end) + 2, ""


def _parse_fields(head: str, names: tuple[str, ...], code: str) -> tuple[Fields, list[Violation]]:
    """Parse the fields of the front matter. If it is not valid YAML, returns the fields in `names` that can be recovered, and why."""
    loaded, error = load_yaml(head)
    if error:
        from .yaml_errors import explain_yaml_error

        reason, line = explain_yaml_error(error)
        return _recover_fields(head, names), [(code, f"the front matter cannot be read as YAML ({reason})", line)]
    if loaded is None:
        return {}, []
    if not isinstance(loaded, dict):
        return {}, [(code, f"the front matter is a {_kind(loaded)}, not a set of fields", 2)]
    return loaded, []


def load_yaml(head: str) -> tuple[Any, str]:
    """Return the parsed YAML, and the parser's error message if it failed."""
    if head.count("[") + head.count("{") > MAX_BRACKETS:
        return None, f"more than {MAX_BRACKETS} brackets"
    if head.count("*") > MAX_ALIASES and regex.search(_ANCHOR, head) and len(regex.findall(_ALIAS, head)) > MAX_ALIASES:
        return None, f"more than {MAX_ALIASES} aliases"
    plain = parse_plain_fields(head)
    if plain:
        return plain, ""
    for character in _EXTRA_LINE_BREAKS:
        if character in head:
            head = head.replace(character, " ")
    from .ryaml_adapter import yaml_parser

    try:
        return yaml_parser()(head), ""
    except ValueError as error:
        return None, str(error) or "unreadable"


def parse_plain_fields(head: str) -> dict[str, str]:
    """Return the fields of YAML in which every line is a name and plain text, or empty if there is anything else.

    Most skills are this simple, and loading the YAML parser takes longer than reading fifty of them.
    """
    if not is_plain(head):
        return {}
    fields: dict[str, str] = {}
    for line in head.removesuffix("\n").split("\n"):
        key, _, value = line.partition(": ")
        value = value.strip()
        is_name = key[:1].isalpha() and len(key) <= MAX_NAME_LENGTH and key.replace("-", "_").isidentifier()
        is_text = value[:1].isalpha() and value[-1] != ":" and ": " not in value and " #" not in value
        if not is_name or not is_text or key in fields or not _YAML_CONSTANTS.isdisjoint((key.lower(), value.lower())):
            return {}
        fields[key] = value
    return fields


def _recover_fields(head: str, names: tuple[str, ...], last: bool = False) -> Fields:
    """Return these fields of invalid YAML, each parsed separately. Of fields with the same name, the first one counts, or the `last`."""
    entries: dict[str, list[str]] = {}
    entry: list[str] = []
    indent = None
    for line in regex.sub(_INVALID_IN_YAML, " ", head).split("\n"):
        field = regex.match(_FIELD, line)
        if field and indent in (None, field[1]):
            indent = field[1]
            entry = [line[len(indent) :]]
            entries[field[2]] = entry if last else entries.get(field[2], entry)
        else:
            entry.append(line)
    return {key: _parse_field(key, entries[key]) for key in names if key in entries}


def _parse_field(key: str, lines: list[str]) -> Any:
    """Parse one field's lines as YAML if that works, otherwise as plain text."""
    text = "\n".join(lines)
    loaded, error = load_yaml(text) if len(text) <= MAX_HEAD_LENGTH else (None, "too long")
    if not error and isinstance(loaded, dict) and key in loaded:
        return loaded[key]
    value = lines[0].partition(":")[2].strip()
    if key == "description":
        # Only a description may continue on the next lines; other fields are one line long.
        first_line = "" if regex.fullmatch(_BLOCK_INDICATOR, value) else value
        more_lines = [line.strip() for line in lines[1:] if not line.startswith("#")]
        value = " ".join(filter(None, [first_line, *more_lines]))
    return _unquote(value)


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace('\\"', '"')
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value


# Fields to text


def _field_text(fields: Fields, key: str, head: str) -> str:
    """Return a field as trimmed text, or empty if it is absent, blank, a list, or has fields of its own."""
    value = fields.get(key, "")
    if type(value) is str:
        return value.strip()
    if isinstance(value, (list, dict)):
        return ""
    return _as_written(value, key, head)


def _field_description(fields: Fields, head: str) -> str:
    return "" if fields.get("description") is None else _field_text(fields, "description", head)


def _as_written(value: Any, key: str, head: str) -> str:
    """Return a number, boolean or null as the author wrote it if it is on the same line as its key, otherwise in normal form."""
    offset = _field_offset(head, key)
    if offset >= 0:
        start = offset + len(key) + 1
        token = head[start : head.find("\n", start)].split(None, 1)[:1]
        if token and token[0][0] not in "!&*#" and repr(load_yaml(token[0])[0]) == repr(value):
            return token[0]
    return "" if value is None else str(value).lower()


def _field_offset(head: str, key: str) -> int:
    """Return the offset of the line on which a field begins, or -1 if there is none."""
    return 0 if head.startswith(f"{key}:") else head.find(f"\n{key}:") + 1 or -1


def _field_line(head: str, key: str) -> int:
    """Return the line number of a field in the file, or 1 if it is unknown."""
    offset = _field_offset(head, key)
    return head.count("\n", 0, offset) + 2 if offset >= 0 else 1


def is_true(value: Any) -> bool:
    """Whether a field is switched on: `true`, or text that means it."""
    return value is True or (type(value) is str and value.strip().lower() in _TRUE_WORDS)


def _kind(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return "list" if isinstance(value, list) else "set of fields"
    return "text" if isinstance(value, str) else "single value"


def _folder(path: str) -> str:
    return path.rpartition("/")[0].rpartition("/")[2]


def _quote_short(value: Any) -> str:
    return repr(text if len(text := str(value)) <= 64 else text[:63] + "…")


# Violations of the specification


def _find_violations(name: str, description: str, folder: str, fields: Fields, head: str) -> list[Violation]:
    """Return all violations. There may be thousands of skills, so a valid one takes only a few comparisons."""
    violations = []
    if name != folder or len(name) > MAX_NAME_LENGTH or not _is_name(name):
        violations += [("skill-name", "name", problem) for problem in _name_violations(name, folder, fields)]
    if not description:
        violations.append(("skill-no-description", "description", _missing_message("description", fields)))
    elif len(description) > MAX_DESCRIPTION_LENGTH:
        violations.append(
            ("skill-field", "description", f"its description is longer than {MAX_DESCRIPTION_LENGTH:,} characters")
        )
    if len(fields) > 2:
        violations += [("skill-field", key, problem) for key, problem in _other_violations(fields)]
    return [(code, problem, _field_line(head, key)) for code, key, problem in violations]


def _is_name(name: str) -> bool:
    """Whether a name consists of a-z, 0-9 and single hyphens between them."""
    return name.isascii() and name == name.lower() and all(part.isalnum() for part in name.split("-"))


def _name_violations(name: str, folder: str, fields: Fields) -> list[str]:
    if not name:
        return [_missing_message("name", fields)]
    if len(name) > MAX_NAME_LENGTH:
        return [f"its name is longer than {MAX_NAME_LENGTH:,} characters"]
    if not _is_name(name):
        return [f"its name {_quote_short(name)} must consist of a-z, 0-9 and single hyphens between them"]
    return [] if name == folder else [f"its name {_quote_short(name)} differs from its folder {_quote_short(folder)}"]


def _other_violations(fields: Fields) -> list[tuple[str, str]]:
    violations = []
    for key in ("license", "compatibility"):
        if isinstance(fields.get(key), (list, dict)):
            violations.append((key, f"its {key} is a {_kind(fields[key])}, not text"))
    compatibility = fields.get("compatibility")
    if isinstance(compatibility, str) and len(compatibility) > MAX_COMPATIBILITY_LENGTH:
        problem = f"its compatibility is longer than {MAX_COMPATIBILITY_LENGTH:,} characters"
        violations.append(("compatibility", problem))
    if not isinstance(fields.get("metadata"), (dict, type(None))):
        violations.append(("metadata", f"its metadata is a {_kind(fields['metadata'])}, not a set of fields"))
    tools = fields.get("allowed-tools")
    if any(isinstance(tool, (list, dict)) for tool in (tools if isinstance(tools, list) else [tools])):
        violations.append(("allowed-tools", "its allowed-tools are neither text nor a list of strings"))
    return violations


# Messages


def _missing_message(key: str, fields: Fields) -> str:
    value = fields.get(key)
    if isinstance(value, (list, dict)):
        return f"its {key} is a {_kind(value)}, not text"
    if key not in fields or key == "name":
        return f"it has no {key}"
    return f"its {key} is {'empty' if value is None else 'blank'}"


def _missing_description(kind: str, fields: Fields, violations: list[Violation], head: str, path: str) -> Finding:
    """Return the finding for a file without a description. If its front matter is unreadable, that is the likely reason."""
    _, reason, line = violations[0] if violations else ("", "", _field_line(head, "description"))
    problem = f"no description could be read: {reason}" if reason else _missing_message("description", fields)
    return finding(f"{kind}-no-description", f"{problem}; the {kind} is skipped", path, line)


def _lenient_finding(violation: Violation, name: str, path: str) -> Finding:
    """Return the finding for a violation under lenient validation, with its consequence."""
    code, problem, line = violation
    if code == "skill-name":
        outcome = f"it is listed as {_quote_short(name)}"
    elif code == "skill-field":
        outcome = "it is loaded anyway"
    else:
        outcome = "it was read line by line"
    return finding(code, f"{problem}; {outcome}", path, line)


def _ignored_field_findings(fields: Fields, head: str, path: str) -> list[Finding]:
    """Return findings for fields that are ignored although their author may expect an effect: the value is not the default."""
    findings = []
    unknown = sorted(str(key) for key in fields.keys() - _KNOWN_FIELDS)
    if unknown:
        from .field_names import closest_field
    for key in unknown:
        if (meant := closest_field(key, _KNOWN_FIELDS)) and fields.get(key) not in (
            None,
            "",
            meant == "user-invocable",
        ):
            message = f"its field {_quote_short(key)} is ignored; did you mean {meant!r}?"
            findings.append(finding("skill-field", message, path, _field_line(head, key)))
    if "globs" in fields:
        message = "its globs are ignored: a skill is chosen by its description"
        findings.append(finding("skill-field", message, path, _field_line(head, "globs")))
    if problem := _describe_ignored_globs(fields, "paths"):
        findings.append(finding("skill-field", problem, path, _field_line(head, "paths")))
    if HIDDEN_KEY in fields and str(fields[HIDDEN_KEY]).strip().lower() not in _TRUE_WORDS | _FALSE_WORDS:
        message = f"its {HIDDEN_KEY} is neither true nor false; the skill is not hidden"
        findings.append(finding("skill-field", message, path, _field_line(head, HIDDEN_KEY)))
    return findings
