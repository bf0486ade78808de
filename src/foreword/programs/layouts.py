"""List layouts, for `foreword layouts`."""

from __future__ import annotations

from ..errors import ForewordError
from ..packs.packs import layout_names, mirror_names, own_layouts, shipped_layout
from ..sources.environment import resolve_workspace
from ..sources.files import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..wire.forms import LayoutRowForm
    from .question import Question


def layout_rows(question: Question) -> list[LayoutRowForm]:
    """Return the shipped layouts, those in the user's, the workspace's and the caller's packs, and those that mirror released programs."""
    default = question.assembler.layout()
    addresses = own_layouts(resolve_workspace(question.workspace, Reader()), question.fields.get("packs"))
    rows = [_shipped_row(name) for name in layout_names()]
    rows += [_own_row(address, question) for address in addresses]
    rows += [_shipped_row(name) for name in mirror_names()]
    for row in rows:
        row["default"] = row["name"] in (default.address, default.name)
    return rows


def _shipped_row(name: str) -> LayoutRowForm:
    mapping = shipped_layout(name)
    return {"name": name, "about": str(mapping["about"]), "mirrors": str(mapping.get("mirrors", "")), "default": False}


def _own_row(address: str, question: Question) -> LayoutRowForm:
    try:
        layout = question.with_fields(layout=address).assembler.layout()
    except ForewordError as error:
        return {"name": address, "about": f"cannot be loaded: {error}", "mirrors": "", "default": False}
    return {"name": address, "about": layout.about, "mirrors": layout.mirrors, "default": False}
