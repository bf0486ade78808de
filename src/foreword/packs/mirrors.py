"""Load every layout that mirrors a program, for the commands that compare agents."""

from __future__ import annotations

from ..errors import ForewordError
from ..findings import finding
from ..layout.parse import parse
from ..vocabulary import replace
from .packs import check_packs, custom_layouts, find_layout, mirror_names
from .settings import restrict_untrusted
from .shipped import shipped_mirror

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..layout.model import Layout
    from ..sources.reader import Reader
    from ..vocabulary import Finding, Workspace


def all_mirrors(
    workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None = None
) -> tuple[dict[str, Layout], list[Finding]]:
    """Return the shipped mirrors by name and those in the user's and the caller's packs by address, without any settings.

    A workspace's mirrors are left out, because it is untrusted. A layout that cannot be loaded is reported as a finding. A layout with
    the name of another mirror is named after its address.
    """
    check_packs(packs or ())
    mirrors = {name: shipped_mirror(name) for name in mirror_names()}
    findings: list[Finding] = []
    for address in custom_layouts(workspace, packs, skipped_prefixes=("workspace",)):
        try:
            layout = _custom_mirror(address, workspace, reader, packs)
        except ForewordError as error:
            findings.append(finding("agent-left-out", f"the layout '{address}' was left out: {error}"))
            continue
        if layout is not None:
            has_unique_name = all(other.name != layout.name for other in mirrors.values())
            mirrors[address] = layout if has_unique_name else replace(layout, name=address)
    return mirrors, findings


def _custom_mirror(
    address: str, workspace: Workspace, reader: Reader, packs: Mapping[str, str] | None
) -> Layout | None:
    """Return the layout at an address, or None if it does not mirror a program."""
    source, _ = restrict_untrusted(find_layout(address, workspace, reader, packs))
    if not source.mapping.get("mirrors"):
        return None
    return parse(source.mapping, source.name, source.address, source.untrusted)
