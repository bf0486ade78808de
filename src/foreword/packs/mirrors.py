"""Find every layout that mirrors a program, for the commands that compare agents. A shipped one is loaded when it is used."""

from __future__ import annotations

from ..errors import ForewordError
from ..findings import finding
from ..sources.instruction_files import instruction_file_patterns
from ..vocabulary import replace
from .agents.outlines import OUTLINES
from .packs import check_packs, custom_layouts, mirror_names
from .shipped import shipped_mirror

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..layout.model import Layout
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace


class Mirror:
    """A layout that mirrors a program: its name, the paths that show that the program is used, and the patterns of its files."""

    def __init__(
        self, name: str, detected_by: Sequence[str], patterns: Sequence[str], layout: Layout | None = None
    ) -> None:
        self.name, self.detected_by, self.patterns, self._layout = name, detected_by, patterns, layout

    @property
    def layout(self) -> Layout:
        return self._layout or shipped_mirror(self.name)


def shipped_mirrors() -> dict[str, Mirror]:
    """Return the shipped mirrors by name, without loading their layouts."""
    return {name: Mirror(name, *OUTLINES[name]) for name in mirror_names()}


def all_mirrors(
    workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None
) -> tuple[dict[str, Layout], list[Finding]]:
    """Return the layouts of all mirrors, which `find_mirrors` finds."""
    mirrors, findings = find_mirrors(workspace, reader, packs)
    return {name: mirror.layout for name, mirror in mirrors.items()}, findings


def find_mirrors(
    workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None
) -> tuple[dict[str, Mirror], list[Finding]]:
    """Return the shipped mirrors by name and those in the user's and the caller's packs by address, without any settings.

    A workspace's mirrors are left out, because it is untrusted. A layout that cannot be loaded is reported as a finding. A layout with
    the name of another mirror is named after its address.
    """
    check_packs(packs or ())
    mirrors = shipped_mirrors()
    findings: list[Finding] = []
    for address in custom_layouts(workspace, packs, skipped_prefixes=("workspace",)):
        try:
            layout = _custom_mirror(address, workspace, reader, packs)
        except ForewordError as error:
            findings.append(finding("agent-left-out", f"the layout '{address}' was left out: {error}"))
            continue
        if layout is not None:
            has_unique_name = all(other.name != layout.name for other in mirrors.values())
            layout = layout if has_unique_name else replace(layout, name=address)
            mirrors[address] = Mirror(layout.name, layout.detected_by, instruction_file_patterns([layout]), layout)
    return mirrors, findings


def _custom_mirror(
    address: str, workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None
) -> Layout | None:
    """Return the layout at an address, or None if it does not mirror a program."""
    from ..layout.parse import parse
    from .packs import find_layout
    from .settings import restrict_untrusted

    source, _ = restrict_untrusted(find_layout(address, workspace, reader, packs))
    if not source.mapping.get("mirrors"):
        return None
    return parse(source.mapping, source.name, source.address, source.untrusted)
