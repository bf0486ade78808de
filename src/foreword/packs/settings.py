"""Read and apply `foreword.toml`, which contains any layout key, written as for `--set`, and some of Foreword's own keys.

    layout = "opal"                     # the default layout
    skills.validation = "strict"        # a layout key, for every layout that has it
    [for.opal]                          # keys for one layout only
    names = ["AGENTS.md", "TEAM.md"]
    [lint]                              # options of `foreword lint`
    disable = ["missing-file"]

The file is read from `~/.config/foreword/`, from `<root>/.foreword/` and from a path that the caller passes; later files win. If the
user's or the caller's file is invalid, an error is raised. The workspace's file is untrusted: anything invalid or forbidden in it is
ignored and reported as a finding.
"""

from __future__ import annotations

import os

from ..errors import CallError, ForewordError, LayoutError, MissingError, suggestion
from ..findings import finding, known_ids
from ..layout.forms import describe_hiding
from ..layout.merging import assign, flatten, full_key, has_key, short_keys
from ..layout.parse import parse
from ..shapes import STRING, STRINGS, TABLES, check, check_table
from ..sources.environment import absolute
from ..sources.links import workspace_reach
from ..sources.paths import config_folder
from ..sources.trust import MODES, UNTRUSTED_CHOICES
from ..template import TEMPLATE_LIMIT
from ..template.addresses import has_prefix, is_address, is_file_path
from ..text.lines import printable
from ..vocabulary import Origin, replace, value
from .packs import Source, layout_names, parse_toml, shipped_layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import Section
    from ..sources.links import Reach
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace
    from .config import ReadValue

FOREWORD_KEYS = {
    "layout": "the default layout",
    "store": "the store for templates, prompts and editions",
    "prices": "a file with model prices and minimum cache sizes, used in addition to the shipped one",
    "agents": "layouts that `foreword agents` always shows",
    "trust": "whether a workspace's new and changed files are used: `off` (all are), `record` (and reported) or `ask` (only once accepted)",
    "untrusted": "what happens to files that are not accepted: `drop` (they are left out) or `user` (instruction files are sent as a user message)",
}
LINT_KEYS = {"disable": "lint checks to skip"}
_KEYS_OUTSIDE_LAYOUT = {*FOREWORD_KEYS, "for", "lint"}
_KEYS_FOR_MIRRORS = {"links"}


@value
class Settings:
    """The contents of one settings file."""

    path: str
    mapping: Mapping[str, Any]
    is_untrusted: bool = False


def read_settings(workspace: Workspace, reader: Reader, caller_path: str = "") -> tuple[list[Settings], list[Finding]]:
    """Read the settings files that exist, lowest precedence first. Problems with the workspace's file are returned as findings."""
    config = config_folder(workspace)
    result: list[Settings] = []
    findings: list[Finding] = []
    if config:
        result += _read(os.path.join(config, "foreword", "foreword.toml"), reader)
    workspace_path = os.path.join(workspace.root or workspace.cwd, ".foreword", "foreword.toml")
    try:
        result += _read(workspace_path, reader, workspace_reach(workspace.root or workspace.cwd, workspace))
    except ForewordError as error:
        findings.append(finding("settings-invalid", f"{error}; the file was ignored", printable(workspace_path)))
    if caller_path:
        caller_settings = _read(absolute(caller_path, workspace.environment or {}), reader)
        if not caller_settings:
            raise CallError(f"the settings file {caller_path!r} does not exist")
        result += caller_settings
    return result, findings


def _read(path: str, reader: Reader, reach: Reach | None = None) -> list[Settings]:
    """Return a list with the settings from one file, or an empty list if there is no file.

    `reach` limits which links are followed. It is passed only for a workspace's file, which is untrusted.
    """
    is_untrusted = reach is not None
    trust, reader.trust = reader.trust, reader.trust if is_untrusted else None
    reading = reader.read(path, reach)
    reader.trust = trust
    if reading.fate in ("absent", "blank"):
        return [Settings(path, {}, is_untrusted)] if reading.fate == "blank" else []
    if reading.fate != "used":
        raise CallError(f"the settings file {printable(path)} cannot be read: {reading.reason}")
    mapping = parse_toml(reading.text, printable(path))
    kinds = {**dict.fromkeys(FOREWORD_KEYS, STRING), "agents": STRINGS, "for": TABLES}
    for key in kinds.keys() & mapping.keys():
        check(mapping[key], kinds[key], f"{printable(path)}: {key}")
    if "lint" in mapping:
        check_table(mapping["lint"], {"disable": STRINGS}, f"{printable(path)}: [lint]")
        check_lint_ids(mapping["lint"].get("disable", ()), f"{printable(path)}: lint.disable: ")
    return [Settings(path, mapping, is_untrusted)]


def check_lint_ids(ids: Iterable[str], where: str = "") -> None:
    """Raise a MissingError if a lint check is unknown. `where` says where the ids were specified, if that is not obvious."""
    known = known_ids()
    for check_id in ids:
        if check_id not in known:
            raise MissingError(f"{where}unknown check {check_id!r}{suggestion(check_id, known)}")


def disabled_checks(settings: Sequence[Settings]) -> tuple[frozenset[str], list[Finding]]:
    """Return the lint checks that the user or the caller disabled. A workspace's attempt to disable some is reported."""
    disabled: set[str] = set()
    findings: list[Finding] = []
    for file in settings:
        names = file.mapping.get("lint", {}).get("disable", [])
        if not file.is_untrusted:
            disabled.update(names)
        elif names:
            path = printable(file.path)
            message = f"{path}: a workspace may not disable checks ({', '.join(names)}); they ran anyway"
            findings.append(finding("workspace-refused", message, path))
    return frozenset(disabled), findings


def agent_names(settings: Sequence[Settings]) -> tuple[list[str], list[Finding]]:
    """Return the layouts that `foreword agents` always shows. A workspace's attempt to choose some is reported."""
    names: dict[str, None] = {}
    findings: list[Finding] = []
    for file in settings:
        if not file.is_untrusted:
            names.update(dict.fromkeys(_relative_to(file, name) for name in file.mapping.get("agents", ())))
        elif file.mapping.get("agents"):
            path = printable(file.path)
            message = f"{path}: a workspace may not choose the agents to show; its key `agents` was ignored"
            findings.append(finding("workspace-refused", message, path))
    return list(names), findings


def trust_choices(settings: Sequence[Settings]) -> tuple[str, str, list[Finding]]:
    """Return the keys `trust` and `untrusted` that the user or the caller has set, or empty.

    A workspace's attempt to set one of them, the store or the prices is reported.
    """
    chosen = {"trust": "", "untrusted": ""}
    findings: list[Finding] = []
    for file in settings:
        path = printable(file.path)
        for key in ("store", "prices") if file.is_untrusted else ():
            if key in file.mapping:
                message = f"{path}: a workspace may not set `{key}`; it was ignored"
                findings.append(finding("workspace-refused", message, path))
        for key, choices in (("trust", MODES), ("untrusted", UNTRUSTED_CHOICES)):
            if key not in file.mapping:
                continue
            if file.is_untrusted:
                message = f"{path}: a workspace may not decide whether it is trusted; its key `{key}` was ignored"
                findings.append(finding("workspace-refused", message, path))
                continue
            chosen[key] = file.mapping[key]
            if chosen[key] not in choices:
                raise CallError(f"{path}: {key} must be one of {', '.join(choices)}, not {chosen[key]!r}")
    return chosen["trust"], chosen["untrusted"], findings


def _relative_to(file: Settings, layout: str) -> str:
    """Return the layout that a settings file names. The path of a layout's file is relative to the folder of the settings file."""
    is_relative = is_file_path(layout) and not layout.startswith("~/")
    return os.path.join(os.path.dirname(file.path), layout) if is_relative else layout


def _layout_choices(settings: Sequence[Settings]) -> Iterator[tuple[str, Settings]]:
    """Yield each layout that a settings file names, with that file, highest precedence first."""
    for file in reversed(settings):
        if file.mapping.get("layout"):
            yield file.mapping["layout"], file


def choose_layout(
    caller_choice: str, settings: Sequence[Settings], default: str, find: Callable[[str], Source]
) -> tuple[Source, list[Finding]]:
    """Return the layout that the caller names, otherwise the one in the settings, otherwise the default.

    A workspace may name a shipped layout or one of its own; any other is skipped and reported.
    """
    findings: list[Finding] = []
    if caller_choice:
        return find(caller_choice), findings
    for name, file in _layout_choices(settings):
        if not file.is_untrusted:
            return find(_relative_to(file, name)), findings
        path = printable(file.path)
        is_refused = is_file_path(name) or (is_address(name) and not has_prefix(name, "std", "agents", "workspace"))
        try:
            if is_refused:
                raise CallError("a workspace may name only shipped layouts and its own ($workspace/…)")
            source = find(name)
            if source.mapping.get("mirrors"):
                raise CallError("a workspace may not choose a layout that mirrors a program")
            return source, findings
        except ForewordError as error:
            findings.append(finding("workspace-refused", f"{path} names the layout {name!r}: {error}", path))
    return find(default), findings


# Keys that a workspace may not set, with the values that are used instead.
_PROTECTED_KEYS = {
    "settings.file_paths": [],
    "settings.file_secrets": False,
    "links": "inside",
    "mirrors": "",
    "copies": "drop",
    "raw": False,
    "template_limit": TEMPLATE_LIMIT,
}


def restrict_untrusted(source: Source) -> tuple[Source, list[Finding]]:
    """Return the layout with safe values for untrusted keys that would read more files or relax checks."""
    findings: list[Finding] = []
    values = flatten(source.mapping)
    for key in sorted(source.untrusted):
        is_validation = key.startswith("find.") and key.endswith(".validation")
        safe_value = _PROTECTED_KEYS.get(key, "strict" if is_validation else None)
        if _names_foreign_template(key, values.get(key)):
            safe_value = ""
        elif _widens_imports(key, values.get(key)):
            safe_value = "root"
        if safe_value is None or safe_value == values.get(key):
            continue
        who = "a workspace" if has_prefix(source.address, "workspace") else "an untrusted layout"
        message = f"layout {source.name}: {who} may not set {key}; it stays {safe_value!r}"
        findings.append(finding("workspace-refused", message))
        source = replace(source, mapping=assign(source.mapping, key, safe_value))
    return source, findings


def _is_protected(key: str, content: object) -> bool:
    """Whether setting a key to this value would read more files or relax a check."""
    relaxes_validation = key.endswith(".validation") and content != "strict"
    is_protected = key in _PROTECTED_KEYS or relaxes_validation
    return is_protected or _names_foreign_template(key, content) or _widens_imports(key, content)


def _widens_imports(key: str, content: object) -> bool:
    """Whether a key lets a lookup rule's files import others from anywhere."""
    return key.startswith("find.") and key.endswith(".imports.within") and content == "anywhere"


def _names_foreign_template(key: str, content: object) -> bool:
    """Whether a section's text is the address of a template that is neither shipped nor the workspace's own."""
    is_text = key.startswith("section.") and key.endswith(".text")
    return is_text and is_address(str(content)) and not has_prefix(str(content), "std", "agents", "workspace")


def with_settings(
    source: Source,
    settings: Sequence[Settings],
    assignments: Sequence[tuple[str, Any]],
    defaults: Sequence[tuple[str, Any]] = (),
) -> tuple[Source, list[Finding]]:
    """Return the layout with all settings applied, the caller's last. Keys that the workspace may not set are ignored and reported.

    `defaults` are the caller's assignments for all layouts; those that this layout does not have are ignored. So are the common keys of
    a file that only other layouts have, and a finding says so.
    """
    findings: list[Finding] = []
    for file in settings:
        for key, content, is_common in _layout_keys(file.mapping, source):
            if is_common and _is_for_others(source, key):
                message = (
                    f"{printable(file.path)}: the layout {source.name} does not have the key {key!r}; it was ignored"
                )
                findings.append(finding("setting-unused", message, printable(file.path)))
            elif file.is_untrusted:
                source = _set_untrusted(source, key, content, file.path, findings)
            else:
                try:
                    source = _set(source, key, content, Origin("setting", printable(file.path)))
                except LayoutError as error:
                    raise LayoutError(f"{printable(file.path)}: {error}") from None
    used = [row for row in defaults if not source.mapping.get("mirrors") or row[0] in _KEYS_FOR_MIRRORS]
    used = [row for row in used if has_key(source.mapping, row[0])]
    for key, content in (*used, *assignments):
        source = _set(source, key, content, Origin("caller", full_key(source.mapping, key)))
    return source, findings


def _is_for_others(source: Source, key: str) -> bool:
    """Whether a layout does not have a key that some shipped layout has."""
    return not has_key(source.mapping, key) and any(has_key(shipped_layout(name), key) for name in layout_names())


def check_defaults(defaults: Iterable[tuple[str, Any]], layouts: Sequence[Source]) -> None:
    """Raise a LayoutError if neither a shipped layout nor one of these has a key."""
    mappings = [*(shipped_layout(name) for name in layout_names()), *(source.mapping for source in layouts)]
    for key, _ in defaults:
        if not any(has_key(mapping, key) for mapping in mappings):
            known = {name for mapping in mappings for name in short_keys(mapping)}
            raise LayoutError(f"--set {key}: no layout has this key{suggestion(key, known)}")


def with_requested(source: Source, assignments: Sequence[tuple[str, Any]]) -> Source:
    """Return the layout with a request's keys set. Raises a LayoutError if one would read more files or relax a check."""
    for key, content in assignments:
        path = full_key(source.mapping, key)
        if _is_protected(path, content):
            raise LayoutError(
                f"a request may not set {path} to this value, because that would read more files or relax a check"
            )
        source = _set(source, key, content, Origin("caller", path))
        source = replace(source, untrusted=source.untrusted | {path})
    return source


def _layout_keys(mapping: Mapping[str, Any], source: Source) -> Iterator[tuple[str, Any, bool]]:
    """Yield the keys of a settings file that apply to a layout, and whether they are common: those in its own `[for.NAME]` table are last.

    A mirror accepts few of the common keys, because they would make it differ from the program.
    """
    common = {key: content for key, content in mapping.items() if key not in _KEYS_OUTSIDE_LAYOUT}
    if source.mapping.get("mirrors"):
        common = {key: content for key, content in common.items() if key in _KEYS_FOR_MIRRORS}
    yield from ((key, content, True) for key, content in flatten(common).items())
    yield from ((key, content, False) for key, content in flatten(mapping.get("for", {}).get(source.name, {})).items())


def _set(source: Source, key: str, content: Any, origin: Origin) -> Source:
    path = full_key(source.mapping, key)
    mapping, untrusted = assign(source.mapping, key, content), source.untrusted - {path}
    return Source(source.name, source.address, mapping, untrusted, {**source.origins, path: origin})


def _set_untrusted(source: Source, key: str, content: Any, path: str, findings: list[Finding]) -> Source:
    try:
        return _set_checked(source, key, content, path, is_untrusted=True)
    except LayoutError as error:
        printable_path = printable(path)
        message = f"{printable_path}: {error}; the key was ignored"
        findings.append(finding("workspace-refused", message, printable_path))
        return source


def _set_checked(source: Source, key: str, content: Any, path: str, is_untrusted: bool) -> Source:
    """Set one key from a file. Raises a LayoutError if the layout becomes invalid or an untrusted file may not set the key."""
    changed = _set(source, key, content, Origin("setting", printable(path)))
    if not is_untrusted:
        parse(changed.mapping, changed.name, changed.address, changed.untrusted)
        return changed
    full_name = full_key(source.mapping, key)
    if _is_protected(full_name, content):
        raise LayoutError(f"a workspace may not set {full_name}")
    changed = replace(changed, untrusted=changed.untrusted | {full_name})
    before = parse(source.mapping, source.name, source.address, source.untrusted)
    after = parse(changed.mapping, changed.name, changed.address, changed.untrusted)
    if _boundaries(before.sections) != _boundaries(after.sections):
        raise LayoutError(f"a workspace may not change its own boundaries ({key})")
    return changed


def _boundaries(sections: Sequence[Section]) -> list[object]:
    """Return the sections that state the scope, when they appear and whether they are visible, without the surrounding wording."""
    boundaries: list[object] = []
    for section in sections:
        inner = _boundaries(section.sections)
        if section.list_name in ("readable", "writable", "denied"):
            boundaries.append(section)
        elif inner:
            row = (section.name, section.role, section.language, section.when, section.instead, section.join)
            boundaries.append((*row, describe_hiding(section.wrap), inner))
    return boundaries


def with_config(source: Source, workspace: Workspace, reader: Reader) -> tuple[Source, list[Finding]]:
    """Return the layout with the settings from the configuration files that it names."""
    from .config import applies, read_config

    config_values = parse(source.mapping, source.name, source.address, source.untrusted).config
    values, findings = read_config(config_values, workspace, reader)
    for config_value in values:
        if applies(config_value, source.mapping["settings"]):
            source = _with_value(source, config_value, findings)
    return source, findings


def _with_value(source: Source, config_value: ReadValue, findings: list[Finding]) -> Source:
    """Return the layout with one configuration value applied. Of a list, only the usable entries are applied."""
    from .config import MAX_VALUES, converted

    path, setting = printable(config_value.source), config_value.row.setting
    current = source.mapping["settings"][setting]
    try:
        content = converted(config_value, current)
        changed, problem = _try_value(source, config_value, content)
        if problem and isinstance(content, list):
            usable = [entry for entry in content if not _try_value(source, config_value, [entry])[1]]
            refused = [repr(entry) for entry in content if entry not in usable]
            changed, _ = _try_value(source, config_value, usable)
            more = f" and {len(refused) - 3:,} more" if len(refused) > 3 else ""
            problem = f"{', '.join(refused[:3])}{more} cannot be used ({problem})"
    except LayoutError as error:
        changed, problem = source, str(error)
    if isinstance(config_value.content, list) and len(config_value.content) > MAX_VALUES:
        count = len(config_value.content)
        message = f"{path}: {setting}: only the first {MAX_VALUES} of {count:,} values are used"
        findings.append(finding("config-invalid", message, path))
    if problem:
        findings.append(finding("config-invalid", f"{path}: {setting}: {problem}", path))
    return changed


def _try_value(source: Source, config_value: ReadValue, content: Any) -> tuple[Source, str]:
    """Return the layout with the value and an empty string, or the unchanged layout and why the value cannot be used."""
    try:
        key = f"settings.{config_value.row.setting}"
        return _set_checked(source, key, content, config_value.source, config_value.is_untrusted), ""
    except LayoutError as error:
        return source, str(error)


def key_origins(source: Source) -> dict[str, Origin]:
    """Return the origins of the keys that the layout itself did not set. A wrapper has the origin of its wording."""
    result = dict(source.origins)
    for name, section in source.mapping.get("section", {}).items():
        wrap = section.get("wrap", "") if isinstance(section, dict) else ""
        if isinstance(wrap, str) and wrap.startswith("@") and f"wording.{wrap[1:]}" in result:
            result[f"section.{name}.wrap"] = result[f"wording.{wrap[1:]}"]
    return result


def parse_assignment(text: str) -> tuple[str, Any]:
    """Split `KEY=VALUE` into key and value. The value is parsed as TOML if possible; otherwise it is a string."""
    key, equals, content = text.partition("=")
    if not equals or not key.strip():
        raise CallError(f"--set needs KEY=VALUE, not {text!r}")
    return key.strip(), _parse_value(content.strip())


def _parse_value(content: str) -> Any:
    if content in ("true", "false"):
        return content == "true"
    if content.isascii() and content.replace("_", "").isdecimal() and len(content) < 20:
        try:
            return int(content)
        except ValueError:  # such as 1__0
            return content
    if content[:1] in ('"', "'", "[", "{"):
        import tomllib

        try:
            return tomllib.loads(f"it = {content}")["it"]
        except (ValueError, RecursionError):
            return content
    return content
