"""`foreword.toml`: any key of a layout, written as for `--set`, and a few of Foreword's own.

    layout = "opal"                     # the layout where the caller names none
    skills.validation = "strict"        # a key of the layout, for whichever layout is in use
    [for.opal]                          # keys for one layout only
    names = ["AGENTS.md", "TEAM.md"]

Read from `~/.config/foreword/foreword.toml`, `<root>/.foreword/foreword.toml` and a file the caller names; later wins. A wrong
file of the user or caller is an error. The workspace's file is a stranger's: what it may not do or gets wrong is a finding.
"""

from __future__ import annotations

import os

from .errors import CallError, ForewordError, LayoutError
from .findings import finding
from .layout import assign, flat, full_key, parse
from .packs import Source, parse_toml
from .sources.environment import absolute, config_folder
from .vocabulary import printable, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from .sources.files import Reader
    from .vocabulary import Finding, Workspace

OWN = {"layout": "the layout where the caller names none", "store": "where templates, prompts and editions are kept"}


@value
class Settings:
    """One file of settings."""

    path: str
    mapping: Mapping[str, Any]
    is_strange: bool = False


def read_settings(workspace: Workspace, reader: Reader, named: str = "") -> tuple[list[Settings], list[Finding]]:
    """The files of settings that are there, weakest first, and what is wrong with the workspace's."""
    config = config_folder(workspace)
    found: list[Settings] = []
    findings: list[Finding] = []
    if config:
        found += _read(os.path.join(config, "foreword", "foreword.toml"), reader)
    inside = os.path.join(workspace.root or workspace.cwd, ".foreword", "foreword.toml")
    try:
        found += _read(inside, reader, is_strange=True)
    except ForewordError as error:
        findings.append(finding("settings-wrong", f"{error}; the file was ignored", printable(inside)))
    if named:
        path = absolute(named, workspace.environment or {})
        given = _read(path, reader)
        if not given:
            raise CallError(f"the settings file {named!r} does not exist")
        found += given
    return found, findings


def _read(path: str, reader: Reader, is_strange: bool = False) -> list[Settings]:
    reading = reader.read(path)
    if reading.fate in ("absent", "blank"):
        return [Settings(path, {}, is_strange)] if reading.fate == "blank" else []
    if reading.fate != "used":
        raise CallError(f"the settings file {printable(path)} cannot be read: {reading.reason}")
    mapping = parse_toml(reading.text, printable(path))
    for key in OWN:
        if key in mapping and not isinstance(mapping[key], str):
            raise CallError(f"{printable(path)}: {key} takes a text, not {mapping[key]!r}")
    if not isinstance(mapping.get("for", {}), dict) or not all(
        isinstance(each, dict) for each in mapping.get("for", {}).values()
    ):
        raise CallError(f"{printable(path)}: [for.LAYOUT] takes a table of keys")
    return [Settings(path, mapping, is_strange)]


def chosen_layout(settings: Sequence[Settings]) -> tuple[str, list[Finding]]:
    """The layout that the settings name, the strongest first. A workspace may name a shipped one, or one of its own pack."""
    findings: list[Finding] = []
    for each in reversed(settings):
        name = each.mapping.get("layout")
        if not name:
            continue
        if (
            each.is_strange
            and not name.startswith("$workspace/")
            and ("/" in name.removeprefix("$std/") or name.endswith(".toml"))
        ):
            message = f"{printable(each.path)} names the layout {name!r}; a workspace may name a shipped one or one of its own ($workspace/…)"
            findings.append(finding("workspace-refused", message, printable(each.path)))
            continue
        return name, findings
    return "", findings


def with_settings(
    source: Source, settings: Sequence[Settings], given: Sequence[tuple[str, Any]]
) -> tuple[Source, list[Finding]]:
    """The layout with every setting made, the caller's last; and what the workspace's own settings may not do."""
    findings: list[Finding] = []
    for each in settings:
        for key, content in _keys(each.mapping, source.name):
            if each.is_strange:
                source = _set_by_stranger(source, key, content, each.path, findings)
            else:
                try:
                    source = _set(source, key, content)
                except LayoutError as error:
                    raise LayoutError(f"{printable(each.path)}: {error}") from None
    for key, content in given:
        source = _set(source, key, content)
    return source, findings


def _keys(mapping: Mapping[str, Any], layout: str) -> Iterator[tuple[str, Any]]:
    yield from flat({key: content for key, content in mapping.items() if key not in OWN and key != "for"}).items()
    yield from flat(mapping.get("for", {}).get(layout, {})).items()


def _set(source: Source, key: str, content: Any) -> Source:
    return Source(
        source.name,
        source.address,
        assign(source.mapping, key, content),
        source.strange - {full_key(source.mapping, key)},
    )


def _set_by_stranger(source: Source, key: str, content: Any, path: str, findings: list[Finding]) -> Source:
    try:
        changed = _set(source, key, content)
        whole = full_key(source.mapping, key)
        if whole.endswith(".validation") and content != "strict":
            raise LayoutError(f"a workspace may not turn a check off ({key})")
        changed = Source(changed.name, changed.address, changed.mapping, changed.strange | {whole})
        parse(changed.mapping, changed.name, changed.address, changed.strange)
    except LayoutError as error:
        shown = printable(path)
        findings.append(finding("workspace-refused", f"{shown}: {error}; the key was ignored", shown))
        return source
    return changed


def parse_assignment(text: str) -> tuple[str, Any]:
    """`KEY=VALUE` as given on a command line; the value is TOML where it can be, else a text."""
    key, equals, content = text.partition("=")
    if not equals or not key.strip():
        raise CallError(f"--set takes KEY=VALUE, not {text!r}")
    return key.strip(), _value(content.strip())


def _value(content: str) -> Any:
    if content in ("true", "false"):
        return content == "true"
    if content.replace("_", "").isdecimal():
        return int(content)
    if content[:1] in ('"', "'", "[", "{"):
        import tomllib

        try:
            return tomllib.loads(f"it = {content}")["it"]
        except tomllib.TOMLDecodeError:
            return content
    return content
