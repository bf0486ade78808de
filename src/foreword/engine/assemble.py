"""Builds one prompt. Programs that build many use an `Assembler`."""

from __future__ import annotations

from .assembler import Assembler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from ..building.lists import Rule
    from ..vocabulary import Agent, Prompt, Workspace


def assemble(
    workspace: Workspace | None = None,
    agent: Agent | None = None,
    layout: str = "",
    *,
    now: datetime | None = None,
    settings: str = "",
    assignments: Sequence[tuple[str, Any]] = (),
    rules: Sequence[Rule] = (),
    packs: Mapping[str, str] | None = None,
    without: Sequence[str] = (),
) -> Prompt:
    """Build the prompt for an agent in a workspace.

    `layout` is a name, an address or a file. `settings` is the path of a settings file, `assignments` sets single keys of the layout,
    and `packs` adds folders of layouts, templates and wording, by prefix. `without` names instructions to leave out, with their copies
    and imports: `FILE`, `FILE#HEADING`, `FILE:FIRST-LAST` or `HEADING`.

    >>> "Be brief." in assemble(Workspace("."), layout="foreword").text
    True
    """
    assembler = Assembler(workspace, layout, settings=settings, assignments=assignments, rules=rules, packs=packs)
    if without:
        from .without import without_instructions

        assembler = without_instructions(assembler, without, agent, now)
    return assembler.prompt(agent, now)
