"""Reports menus of skills that are longer than an agent lists in full, so that the model does not see some descriptions."""

from __future__ import annotations

from ...vocabulary import Finding
from .agent_facts import agent_name
from .table import BY_ID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...layout.model import Layout, Section
    from ...vocabulary import Skill

_CHECK = "cut-menu"
_OUTCOMES = {
    "names": "lists only the names of some of them, without descriptions",
    "shorten": "shortens every description",
}


def limited_menu(layout: Layout) -> Section | None:
    """Return the section with a menu of skills that the layout's program limits, or None if there is none."""
    sections = (section for section in layout.all_sections if section.menu_limit is not None)
    return next((section for section in sections if section.menu_cut in _OUTCOMES), None)


def find_cut_menu(layout: Layout, skills: Sequence[Skill]) -> Finding | None:
    """Return a finding if the names and descriptions of these skills alone are longer than the layout's program lists in full.

    What the program writes around them counts too, so a menu that is only a little shorter may be cut as well.
    """
    menu = limited_menu(layout)
    listed = [skill for skill in skills if not skill.hidden and not skill.paths]
    size = sum(len(skill.name) + len(skill.description) for skill in listed)
    if menu is None or menu.menu_limit is None or size <= menu.menu_limit:
        return None
    longest = max(listed, key=lambda skill: len(skill.description))
    message = (
        f"the names and descriptions of {len(listed):,} skills have {size:,} characters; beyond about {menu.menu_limit:,}, {agent_name(layout)}"
        f" {_OUTCOMES[menu.menu_cut]}; remove skills, or shorten the descriptions, of which this is the longest ({len(longest.description):,} characters)"
    )
    return Finding(_CHECK, BY_ID[_CHECK].severity, message, longest.path, 1)
