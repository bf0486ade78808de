"""`foreword.toml`: any key of a layout, written as for `--set`, and some keys of Foreword itself.

    layout = "opal"                     # the default layout
    skills.validation = "strict"        # a key of the layout, for whichever layout is in use
    [for.opal]                          # keys for one layout only
    names = ["AGENTS.md", "TEAM.md"]
    [lint]                              # for `foreword lint`
    disable = ["missing-file"]

Read from `~/.config/foreword/foreword.toml`, `<root>/.foreword/foreword.toml` and a file that the caller names; later ones win. An
invalid file of the user or caller is an error. The workspace's file is untrusted: anything invalid or forbidden in it is a finding.
"""

from __future__ import annotations

import os

from ..errors import CallError, ForewordError, LayoutError, suggestion
from ..findings import finding, known_ids
from ..layout.merging import assign, flat, full_key
from ..layout.parse import parse
from ..shapes import STRING, STRINGS, TABLES, check, check_table, is_list_of_strings
from ..sources.environment import absolute
from ..sources.links import only_inside
from ..sources.paths import config_folder
from ..template import TEMPLATE_LIMIT
from ..template.addresses import has_prefix, is_address, is_file_path
from ..text.lines import printable
from ..vocabulary import Origin, replace, value
from .packs import Source, parse_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import Section
    from ..sources.files import Reader
    from ..sources.links import Reach
    from ..vocabulary import Finding, Workspace
    from .config import ReadValue

OWN = {
    "layout": "the default layout",
    "store": "the store of templates, prompts and editions",
    "prices": "a file of prices and minimums of prompt caches, in addition to the shipped ones",
    "agents": "layouts that `foreword agents` always shows",
}
LINT = {"disable": "lint checks to skip"}
_MAX_CONFIG_VALUES = 200
_TABLES = {*OWN, "for", "lint"}


@value
class Settings:
    """One file of settings."""

    path: str
    mapping: Mapping[str, Any]
    is_untrusted: bool = False


def read_settings(workspace: Workspace, reader: Reader, named: str = "") -> tuple[list[Settings], list[Finding]]:
    """The settings files that exist, weakest first, and findings about the workspace's."""
    config = config_folder(workspace)
    result: list[Settings] = []
    findings: list[Finding] = []
    if config:
        result += _read(os.path.join(config, "foreword", "foreword.toml"), reader)
    inside = os.path.join(workspace.root or workspace.cwd, ".foreword", "foreword.toml")
    try:
        result += _read(inside, reader, only_inside(workspace.root or workspace.cwd, workspace))
    except ForewordError as error:
        findings.append(finding("settings-invalid", f"{error}; the file was ignored", printable(inside)))
    if named:
        path = absolute(named, workspace.environment or {})
        caller_settings = _read(path, reader)
        if not caller_settings:
            raise CallError(f"the settings file {named!r} does not exist")
        result += caller_settings
    return result, findings


def _read(path: str, reader: Reader, reach: Reach | None = None) -> list[Settings]:
    """The settings in a file; `reach` limits the links of a workspace's file."""
    reading = reader.read(path, reach)
    is_untrusted = reach is not None
    if reading.fate in ("absent", "blank"):
        return [Settings(path, {}, is_untrusted)] if reading.fate == "blank" else []
    if reading.fate != "used":
        raise CallError(f"the settings file {printable(path)} cannot be read: {reading.reason}")
    mapping = parse_toml(reading.text, printable(path))
    kinds = {**dict.fromkeys(OWN, STRING), "agents": STRINGS, "for": TABLES}
    for key in kinds.keys() & mapping.keys():
        check(mapping[key], kinds[key], f"{printable(path)}: {key}")
    if "lint" in mapping:
        check_table(mapping["lint"], {"disable": STRINGS}, f"{printable(path)}: [lint]")
        check_ids(mapping["lint"].get("disable", ()), f"{printable(path)}: lint.disable")
    return [Settings(path, mapping, is_untrusted)]


def check_ids(ids: Iterable[str], where: str) -> None:
    """Raise an error for an unknown lint check."""
    for each in ids:
        if each not in known_ids():
            raise CallError(f"{where}: unknown check {each!r}{suggestion(each, known_ids())}")


def disabled_checks(settings: Sequence[Settings]) -> tuple[frozenset[str], list[Finding]]:
    """The lint checks that the user or the caller disabled. A workspace may not disable any; trying to is a finding."""
    disabled: set[str] = set()
    findings: list[Finding] = []
    for each in settings:
        names = each.mapping.get("lint", {}).get("disable", [])
        if not each.is_untrusted:
            disabled.update(names)
        elif names:
            path = printable(each.path)
            message = f"{path}: a workspace may not disable checks ({', '.join(names)}); they ran anyway"
            findings.append(finding("workspace-refused", message, path))
    return frozenset(disabled), findings


def named_agents(settings: Sequence[Settings]) -> tuple[list[str], list[Finding]]:
    """The layouts that the user or the caller wants to see as agents. A workspace may not choose any; trying to is a finding."""
    names: dict[str, None] = {}
    findings: list[Finding] = []
    for each in settings:
        if not each.is_untrusted:
            names.update(dict.fromkeys(each.mapping.get("agents", ())))
        elif each.mapping.get("agents"):
            path = printable(each.path)
            message = f"{path}: a workspace may not choose the agents to show; its key agents was ignored"
            findings.append(finding("workspace-refused", message, path))
    return list(names), findings


def named_layouts(settings: Sequence[Settings]) -> Iterator[tuple[str, Settings]]:
    """The layouts that the settings name, strongest first."""
    for each in reversed(settings):
        if each.mapping.get("layout"):
            yield each.mapping["layout"], each


def layout_of(
    named: str, settings: Sequence[Settings], default: str, find: Callable[[str], Source]
) -> tuple[Source, list[Finding]]:
    """The layout that the caller names, otherwise the one in the settings, otherwise the default.

    A workspace may name a shipped layout or its own; naming any other is a finding.
    """
    findings: list[Finding] = []
    if named:
        return find(named), findings
    for name, each in named_layouts(settings):
        if not each.is_untrusted:
            return find(name), findings
        path = printable(each.path)
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


# Keys that a workspace may not set, and the values that are used instead.
_GUARDED = {
    "settings.file_paths": [],
    "settings.file_secrets": False,
    "links": "inside",
    "mirrors": "",
    "copies": "drop",
    "raw": False,
    "template_limit": TEMPLATE_LIMIT,
}


def confined(source: Source) -> tuple[Source, list[Finding]]:
    """The layout without untrusted keys that would read more files or check less."""
    findings: list[Finding] = []
    values = flat(source.mapping)
    for key in sorted(source.untrusted):
        safe_value = _GUARDED.get(key, "strict" if key.startswith("find.") and key.endswith(".validation") else None)
        if _names_foreign_template(key, values.get(key)):
            safe_value = ""
        elif _widens_imports(key, values.get(key)):
            safe_value = "root"
        if safe_value is None or safe_value == values.get(key):
            continue
        findings.append(
            finding(
                "workspace-refused", f"layout {source.name}: a workspace may not set {key}; it stays {safe_value!r}"
            )
        )
        source = replace(source, mapping=assign(source.mapping, key, safe_value))
    return source, findings


def _widens_imports(key: str, content: object) -> bool:
    """Whether a key lets the files of a lookup import others from anywhere."""
    return key.startswith("find.") and key.endswith(".imports.within") and content == "anywhere"


def _names_foreign_template(key: str, content: object) -> bool:
    """Whether the text of a section is the address of a template that is neither shipped nor the workspace's own."""
    is_text = key.startswith("section.") and key.endswith(".text")
    return is_text and is_address(str(content)) and not has_prefix(str(content), "std", "agents", "workspace")


def with_settings(
    source: Source, settings: Sequence[Settings], assignments: Sequence[tuple[str, Any]]
) -> tuple[Source, list[Finding]]:
    """The layout with all settings applied, the caller's last, and findings for keys that the workspace may not set."""
    findings: list[Finding] = []
    for each in settings:
        for key, content in _keys(each.mapping, source.name):
            if each.is_untrusted:
                source = _set_untrusted(source, key, content, each.path, findings)
            else:
                try:
                    source = _set(source, key, content, Origin("setting", printable(each.path)))
                except LayoutError as error:
                    raise LayoutError(f"{printable(each.path)}: {error}") from None
    for key, content in assignments:
        source = _set(source, key, content, Origin("caller", full_key(source.mapping, key)))
    return source, findings


def _keys(mapping: Mapping[str, Any], layout: str) -> Iterator[tuple[str, Any]]:
    yield from flat({key: content for key, content in mapping.items() if key not in _TABLES}).items()
    yield from flat(mapping.get("for", {}).get(layout, {})).items()


def _set(source: Source, key: str, content: Any, origin: Origin) -> Source:
    full = full_key(source.mapping, key)
    mapping, untrusted = assign(source.mapping, key, content), source.untrusted - {full}
    return Source(source.name, source.address, mapping, untrusted, {**source.written, full: origin})


def _set_untrusted(source: Source, key: str, content: Any, path: str, findings: list[Finding]) -> Source:
    try:
        return _set_checked(source, key, content, path, is_untrusted=True)
    except LayoutError as error:
        place = printable(path)
        findings.append(finding("workspace-refused", f"{place}: {error}; the key was ignored", place))
        return source


def _set_checked(source: Source, key: str, content: Any, path: str, is_untrusted: bool) -> Source:
    """The layout with one key from a file; an error if it is not valid with it, or if an untrusted file may not set the key."""
    changed = _set(source, key, content, Origin("setting", printable(path)))
    if not is_untrusted:
        parse(changed.mapping, changed.name, changed.address, changed.untrusted)
        return changed
    full = full_key(source.mapping, key)
    is_lenient = full.endswith(".validation") and content != "strict"
    if full in _GUARDED or is_lenient or _names_foreign_template(full, content) or _widens_imports(full, content):
        raise LayoutError(f"a workspace may not set {full}")
    changed = replace(changed, untrusted=changed.untrusted | {full})
    before, after = (parse(each.mapping, each.name, each.address, each.untrusted) for each in (source, changed))
    if _boundaries(before.sections) != _boundaries(after.sections):
        raise LayoutError(f"a workspace may not change its own boundaries ({key})")
    return changed


def _boundaries(sections: Sequence[Section]) -> list[object]:
    """The sections that state the scope, with the conditions under which they appear, but without the wording around them."""
    boundaries: list[object] = []
    for section in sections:
        inner = _boundaries(section.sections)
        if section.of in ("readable", "writable", "denied"):
            boundaries.append(section)
        elif inner:
            boundaries.append((section.name, section.language, section.when, section.instead, section.join, inner))
    return boundaries


def with_config(source: Source, workspace: Workspace, reader: Reader) -> tuple[Source, list[Finding]]:
    """The layout with the settings that its configuration files have."""
    from .config import read_config

    wanted = parse(source.mapping, source.name, source.address, source.untrusted).config
    values, findings = read_config(wanted, workspace, reader)
    for each in values:
        source = _with_value(source, each, findings)
    return source, findings


def _with_value(source: Source, each: ReadValue, findings: list[Finding]) -> Source:
    """The layout with one setting; of a list, the values that can be used."""
    path = printable(each.path)
    try:
        content = _in_form_of(each.content, source.mapping["settings"][each.setting])
        changed, problem = _try(source, each, content)
        if problem and isinstance(content, list):
            usable = [one for one in content if not _try(source, each, [one])[1]]
            refused = [repr(one) for one in content if one not in usable]
            changed, _ = _try(source, each, usable)
            more = f" and {len(refused) - 3:,} more" if len(refused) > 3 else ""
            problem = f"{', '.join(refused[:3])}{more} cannot be used ({problem})"
    except LayoutError as error:
        changed, problem = source, str(error)
    if isinstance(each.content, list) and len(each.content) > _MAX_CONFIG_VALUES:
        message = (
            f"{path}: {each.setting}: only the first {_MAX_CONFIG_VALUES} of {len(each.content):,} values are used"
        )
        findings.append(finding("config-invalid", message, path))
    if problem:
        findings.append(finding("config-invalid", f"{path}: {each.setting}: {problem}", path))
    return changed


def _try(source: Source, each: ReadValue, content: Any) -> tuple[Source, str]:
    """The layout with the setting, or the layout as it was and the reason why the value cannot be used."""
    try:
        return _set_checked(source, f"settings.{each.setting}", content, each.path, each.is_untrusted), ""
    except LayoutError as error:
        return source, str(error)


def _in_form_of(content: Any, default: Any) -> Any:
    """The value, in the form of the setting's default."""
    if isinstance(default, list | tuple):
        content = [content] if isinstance(content, str) else content
        if is_list_of_strings(content):
            return list(content[:_MAX_CONFIG_VALUES])
    elif type(content) is type(default):
        return content
    what = "a list of strings" if isinstance(default, list | tuple) else f"of the kind of {default!r}"
    raise LayoutError(f"it must be {what}, not {type(content).__name__}; it was ignored")


def writers(source: Source) -> dict[str, Origin]:
    """The origins of keys that were not written by the layout itself; for a wrapper, also the origin of its wording."""
    result = dict(source.written)
    for name, section in source.mapping.get("section", {}).items():
        wrap = section.get("wrap", "") if isinstance(section, dict) else ""
        if isinstance(wrap, str) and wrap.startswith("@") and f"wording.{wrap[1:]}" in result:
            result[f"section.{name}.wrap"] = result[f"wording.{wrap[1:]}"]
    return result


def parse_assignment(text: str) -> tuple[str, Any]:
    """The key and value of `KEY=VALUE`; the value is TOML if it can be parsed, otherwise a string."""
    key, equals, content = text.partition("=")
    if not equals or not key.strip():
        raise CallError(f"--set takes KEY=VALUE, not {text!r}")
    return key.strip(), _value(content.strip())


def _value(content: str) -> Any:
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
