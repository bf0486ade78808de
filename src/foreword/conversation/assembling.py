"""Choose a conversation's assembler, with the resources that extensions and callers add while it runs."""

from __future__ import annotations

import os

from ..engine.assembler import current_plan
from ..errors import ForewordError, MirrorError
from ..extensions import Resources
from ..inspection.price_list import read_prices
from ..store import waits
from ..store.spans import span
from ..template.addresses import has_prefix
from ..text.lines import printable
from ..vocabulary import replace
from .contributions import with_contributions
from .state import state_of
from .stored_template import StoredTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..engine.assembler import Assembler, Snapshot
    from ..engine.touches import TouchReader
    from ..inspection.prices import Prices
    from ..layout.model import Layout
    from ..vocabulary import Edition, Inputs
    from .agents import ConversationAgent
    from .hooks import Hooks
    from .recent import RecentEditions
    from .shared import Shared


class ConversationAssembler:
    """Provides a conversation's layout, and takes snapshots of its workspace."""

    def __init__(
        self,
        opened_with: Assembler,
        shared: Shared,
        agent: ConversationAgent,
        hooks: Hooks,
        mirror: bool,
        template: StoredTemplate | None,
    ) -> None:
        self.assembler = opened_with
        self._opened_with = opened_with
        self._shared, self._agent, self._hooks, self._mirror = shared, agent, hooks, mirror
        self.template = template or StoredTemplate()
        self._layout: Layout | None = None
        self._added: list[Resources] = []
        self._discovered: list[Resources] | None = None
        self._stored: Mapping[str, Any] = {}
        self._prices: Prices | None = None

    @property
    def cwd(self) -> str:
        """The absolute working directory, safe to print."""
        return printable(os.path.abspath(self.assembler.workspace.cwd))

    @property
    def layout(self) -> Layout:
        """The layout, as it was when this process last read this conversation's workspace."""
        if self._layout is None:
            try:
                self._layout = current_plan(self.assembler).layout
            except ForewordError:
                # An extension may provide the layout, and a process that continues a conversation has not asked its extensions yet.
                if self._discovered is not None:
                    raise
                self.discover("start")
                self._layout = current_plan(self.assembler).layout
            self._check_mirror(self._layout)
        return self._layout

    def prices(self) -> Prices:
        """Return the prices for the conversation's workspace, which are read once."""
        if self._prices is None:
            self._prices = read_prices("", self.assembler.workspace, self.assembler.settings)
        return self._prices

    def _check_mirror(self, layout: Layout) -> None:
        if layout.mirrors and not self._mirror:
            self._layout = None
            raise mirror_refusal(layout.name)

    @property
    def trust(self) -> Any:
        """Checks the workspace's files, if the user or the caller wants that. None otherwise."""
        return self.assembler.plan().trust

    @property
    def recent(self) -> RecentEditions:
        """The editions that this process built most recently, for any conversation."""
        return self._shared.recent

    @property
    def touch_reader(self) -> TouchReader:
        """The reader for the instructions that apply to touched files."""
        return self._shared.touch_reader(self.assembler)

    def layout_changed(self, current: Edition | None) -> bool:
        """Whether the edition was created with another layout."""
        return current is not None and current.layout != self.layout.address

    def continue_with(self, current: Edition) -> None:
        """Continue with an edition's layout, unless the conversation was opened with one.

        A workspace's layout and a file are not used again, because the store cannot vouch for them.
        """
        self.template.continue_with(current)
        packs = ("std", "agents", "user", *self.assembler.packs)
        if not self.assembler.layout_name and has_prefix(current.layout, *packs):
            self._opened_with = self._shared.assembler(self._opened_with.copy_with(layout=current.layout))
            self._apply_resources()
        stored = state_of(current).resources
        if stored != self._stored:
            self._stored = stored
            self._apply_resources()

    # Extension resources

    def discover(self, reason: str) -> None:
        """Ask extensions for resources, before this process first reads the workspace and on every reload."""
        self._discovered = []  # a hook that asks for the layout must not start another discovery
        self._discovered = self._hooks.discover(reason, lambda: self._agent.about(self.cwd))
        self._apply_resources()

    def discover_once(self) -> None:
        if self._discovered is None:
            self.discover("start")

    def add(self, resources: Resources) -> None:
        """Add folders of skills and packs."""
        self._added.append(resources)
        self._apply_resources()

    def _apply_resources(self) -> None:
        """Switch to an assembler that has all discovered and added resources, unless the current one already does."""
        original = self._opened_with
        packs, folders = dict(original.packs), list(original.skill_folders)
        stored = [Resources(**self._stored)] if self._stored else []
        for resources in (*(self._discovered or ()), *self._added, *stored):
            packs.update(resources.packs)
            folders += resources.skills
        unique_folders = tuple(dict.fromkeys(folders))
        current = self.assembler
        if (current.layout_name, current.packs, current.skill_folders) != (original.layout_name, packs, unique_folders):
            self.assembler = self._shared.assembler(original.copy_with(packs=packs, skill_folders=unique_folders))
            self._layout = None

    # Inputs

    def snapshot(self) -> Snapshot:
        """Read the workspace, with the stored template if the layout uses one."""
        waits.announce("build")
        template = self.template.read(self._shared.store) if self.uses_global_template else None
        with span("gather", "foreword.layout", self.layout.address):
            return self.assembler.snapshot(self._agent.resolved, template)

    @property
    def uses_global_template(self) -> bool:
        return any("template" in section.instead for section in self.layout.all_sections)

    def adopt(self, snapshot: Snapshot) -> Inputs:
        """Use a snapshot's layout from now on, and return its inputs with the extensions' documents added."""
        self._check_mirror(snapshot.layout)
        self._layout = snapshot.layout
        return with_contributions(snapshot.inputs, self.layout, self._hooks.extensions)

    def confined(self, inputs: Inputs) -> Inputs:
        """Return stored inputs with the folders that this conversation may read, which the store does not keep."""
        inside = self.assembler.workspace.inside
        return replace(inputs, workspace=replace(inputs.workspace, inside=inside)) if inside else inputs


def mirror_refusal(name: str) -> MirrorError:
    """Return the error for a conversation that cannot use a layout because it mirrors a program."""
    return MirrorError(
        f"the layout {name!r} mirrors a released program, flaws included, and is not meant for a conversation;"
        " pass mirror=True (--mirror, or the field mirror over HTTP) to use it anyway"
    )
