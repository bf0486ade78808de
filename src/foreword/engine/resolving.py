"""Resolve a layout that the user, the workspace or the caller may have changed: apply settings, wording and configuration files."""

from __future__ import annotations

from ..findings import finding
from ..layout.parse import parse
from ..layout.patterns import literal_wildcards
from ..packs.packs import WORKSPACE_FOLDER, check_packs, find_layout, layout_from_text, template_packs, with_texts
from ..packs.settings import (
    choose_layout,
    key_origins,
    read_settings,
    restrict_untrusted,
    trust_choices,
    with_config,
    with_requested,
    with_settings,
)
from ..packs.wording import with_wording
from ..sources.trust import Trust
from ..text.lines import printable
from ..vocabulary import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..layout.model import Layout
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace


def resolve_layout(
    names: tuple[str, str],
    settings: str,
    assignments: Sequence[tuple[str, Any]],
    packs: Mapping[str, str],
    requested: tuple[str, Sequence[tuple[str, Any]]],
    workspace: Workspace,
    reader: Reader,
    caller_trust: tuple[Any, str] = ("", ""),
    defaults: Sequence[tuple[str, Any]] = (),
) -> tuple[Layout, Sequence[Finding]]:
    """Return a layout with all settings and wording applied, and findings about settings that were refused.

    `names` are the layout that the caller names, if any, and the default. `requested` are the text of a layout that replaces it, if
    any, and assignments, both from an untrusted request. `caller_trust` is what the caller has decided about trust and untrusted files;
    the settings decide about the rest. `defaults` are assignments for every layout that has their keys.
    """
    check_packs(packs)
    files, settings_findings = read_settings(workspace, reader, settings)
    mode, untrusted, trust_findings = trust_choices(files)
    mode, untrusted = caller_trust[0] or mode, caller_trust[1] or untrusted
    if reader.trust is not None:
        reader.trust.untrusted = untrusted or reader.trust.untrusted
    elif mode and mode != "off":
        start_trust(workspace, reader, mode, untrusted)
        files, settings_findings = read_settings(workspace, reader, settings)
    settings_findings = [*settings_findings, *trust_findings]
    layout_text, untrusted_assignments = requested
    layout_findings: Sequence[Finding] = ()
    if layout_text:
        source = layout_from_text(layout_text, workspace, reader, packs)
    else:
        source, layout_findings = choose_layout(
            names[0], files, names[1], lambda name: find_layout(name, workspace, reader, packs)
        )
    config_findings: Sequence[Finding] = ()
    if source.mapping.get("from"):
        source, config_findings = with_config(source, workspace, reader)
    folder = WORKSPACE_FOLDER
    if "folder" in source.mapping.get("settings", {}):
        changed = with_requested(with_settings(source, files, assignments, defaults)[0], untrusted_assignments)
        folder = template_packs({}, changed.mapping).get("workspace", WORKSPACE_FOLDER)
    source, wording_findings = with_wording(source, workspace, reader, packs, folder)
    source, refusals = with_settings(source, files, assignments, defaults)
    source = with_requested(source, untrusted_assignments)
    source, restrictions = restrict_untrusted(
        with_texts(source, workspace, reader, template_packs(packs, source.mapping))
    )
    layout = parse(source.mapping, source.name, source.address, source.untrusted)
    if source.origins:
        layout = replace(layout, key_origins=key_origins(source))
    findings = (*settings_findings, *layout_findings, *config_findings, *wording_findings)
    return layout, (*findings, *refusals, *restrictions, *_literal_wildcards(layout))


def start_trust(workspace: Workspace, reader: Reader, mode: Any, untrusted: str = "") -> None:
    """Let the reader check the workspace's files. `mode` is a mode of trust, a function that accepts files, or a Trust."""
    if isinstance(mode, Trust):
        trust = mode
    elif callable(mode):
        trust = Trust(workspace, "ask", mode, untrusted=untrusted or "drop")
    else:
        trust = Trust(workspace, mode, untrusted=untrusted or "drop")
    trust.stamp(reader)
    reader.trust = trust
    reader.readings.clear()  # the workspace's settings may have been read before


def _literal_wildcards(layout: Layout) -> Iterator[Finding]:
    """Yield a finding for each pattern in which a setting used a wildcard that patterns do not support. A mirror copies its program instead."""
    for pattern in literal_wildcards(layout.lookups) if not layout.mirrors else ():
        message = f"in {printable(pattern)}, '?' or these braces from a setting are part of the name; only '*', '**' and braces in a list are wildcards"
        yield finding("pattern-literal", message)
