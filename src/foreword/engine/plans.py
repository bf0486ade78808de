"""Read the plan of an assembler: the layout for a workspace, with all settings applied."""

from __future__ import annotations

from ..layout.model import Pattern
from ..packs.shipped import unchanged_layout
from ..sources.environment import resolve_workspace
from ..vocabulary import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from ..layout.model import Layout
    from ..sources.reader import Reader
    from ..sources.readings import TrustCheck
    from ..vocabulary import Finding, Workspace

    class PlanOptions(Protocol):
        """The options of an assembler that its plan depends on."""

        workspace: Workspace
        layout_name: str
        settings: str
        assignments: tuple[tuple[str, Any], ...]
        packs: dict[str, str]
        skill_folders: tuple[str, ...]
        requested: tuple[tuple[str, Any], ...]
        layout_text: str
        defaults: tuple[tuple[str, Any], ...]
        trust: str | Callable[[str, str], bool]
        untrusted: str
        finds_skills: bool
        reads_user_files: bool


DEFAULT_LAYOUT = "foreword"
_CHANGES = ("settings", "assignments", "packs", "requested", "layout_text", "defaults")  # what may change a layout
_MENU_KINDS = ("skill", "agent", "command")


@value
class Plan:
    """The layout for a workspace, with all settings applied, and the findings and file stamps from reading it."""

    layout: Layout
    workspace: Workspace
    findings: Sequence[Finding]
    stamps: Sequence[tuple[str, Any]]
    trust: Any = None


def read_plan(options: PlanOptions, reader: Reader) -> Plan:
    """Read the settings and the layout that these options name."""
    workspace = resolve_workspace(options.workspace, reader)
    if options.trust and options.trust != "off":
        from .resolving import start_trust

        start_trust(workspace, reader, options.trust, options.untrusted)
    layout, findings = _resolve_layout(options, workspace, reader)
    layout = _adapt_layout(layout, options, reader.trust)
    return Plan(layout, workspace, findings, tuple(reader.stamps.items()), reader.trust)


def _resolve_layout(options: PlanOptions, workspace: Workspace, reader: Reader) -> tuple[Layout, Sequence[Finding]]:
    """Return the layout with all settings and wording applied, and findings about settings that were refused."""
    if not any(getattr(options, name) for name in _CHANGES):
        unchanged = unchanged_layout(options.layout_name or DEFAULT_LAYOUT, workspace, reader)
        if unchanged is not None:
            return unchanged
    from .resolving import resolve_layout

    names, requested = (options.layout_name, DEFAULT_LAYOUT), (options.layout_text, options.requested)
    trust = options.trust, options.untrusted
    return resolve_layout(
        names,
        options.settings,
        options.assignments,
        options.packs,
        requested,
        workspace,
        reader,
        trust,
        options.defaults,
    )


def _adapt_layout(layout: Layout, options: PlanOptions, trust: TrustCheck | None) -> Layout:
    """Return the layout with what the options add to it or leave out."""
    if trust is not None and trust.untrusted != "drop":
        from ..layout.untrusted import with_untrusted_section

        layout = with_untrusted_section(layout)
    if options.skill_folders:
        layout = _with_skill_folders(layout, options.skill_folders)
    if not options.finds_skills:
        layout = _without_menus(layout)
    if not options.reads_user_files:
        from ..layout.patterns import only_project_files

        layout = only_project_files(layout)
    return layout


def _without_menus(layout: Layout) -> Layout:
    """Return the layout without the lookup rules for skills, sub-agents and commands."""
    lookups = [replace(lookup, groups=()) if lookup.kind in _MENU_KINDS else lookup for lookup in layout.lookups]
    return replace(layout, lookups=lookups)


def _with_skill_folders(layout: Layout, folders: Sequence[str]) -> Layout:
    """Return the layout with these folders added to those that it searches for skills."""
    added = tuple((Pattern("path", f"{folder}/**/SKILL.md"),) for folder in folders)
    lookups = [
        replace(lookup, groups=(*lookup.groups, *added)) if lookup.kind == "skill" else lookup
        for lookup in layout.lookups
    ]
    return replace(layout, lookups=lookups)
