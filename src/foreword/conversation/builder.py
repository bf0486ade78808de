"""Build editions: gather the inputs or use the stored ones, build the prompt, and record where it came from."""

from __future__ import annotations

import json
from _thread import allocate_lock

from ..building.build import build
from ..building.clock import time_precision
from ..building.drafts import DraftWriter
from ..encoding.agent import agent_form, tool_order
from ..encoding.edition import EditionTarget, inputs_of, target_form
from ..encoding.inputs import inputs_form
from ..encoding.prompt import account_form
from ..engine.assembler import Snapshot, local_time, round_to
from ..engine.checks import check_agent
from ..engine.plans import Plan
from ..engine.skills import with_active_skill
from ..store import waits
from ..store.rows import PRODUCTION
from ..store.spans import span
from ..text.lines import printable
from ..vocabulary import Document, Edition, replace
from ..vocabulary.values import replace_valid
from .recent import RecentEditions, may_contain_session
from .state import state_of, update_state
from .stored_template import TemplateReference, template_version
from .tools import serialize_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from ..layout.model import Layout
    from ..vocabulary import Agent, Inputs, Prompt
    from .agents import ConversationAgent
    from .assembling import ConversationAssembler
    from .hooks import Hooks

_MAX_RECENT = 2


class EditionBuilder:
    """Builds editions and prompts for the agent of one conversation."""

    def __init__(self, assembling: ConversationAssembler, agent: ConversationAgent, hooks: Hooks) -> None:
        self._assembling, self._agent, self._hooks = assembling, agent, hooks
        self._lock = allocate_lock()
        self._draft_writer: DraftWriter | None = None
        self._recent = RecentEditions(_MAX_RECENT)

    @property
    def _layout(self) -> Layout:
        return self._assembling.layout

    # Editions

    def gather(self, now: datetime | None, agent: Agent | None = None, *, skill_may_be_missing: bool = True) -> Edition:
        """Build an edition from the current workspace. With `skill_may_be_missing`, a missing active skill is reported instead of raised."""
        waits.announce("build")
        self._assembling.discover_once()
        snapshot = self._assembling.snapshot()
        inputs = self._assembling.adopt(snapshot)
        source = snapshot if inputs is snapshot.inputs else object()
        agent = agent or self._agent.resolved
        if source is snapshot and not self._has_own_parts(agent):
            return self._shared_edition(snapshot, inputs, now, agent, skill_may_be_missing=skill_may_be_missing)
        return self._edition(source, inputs, now, agent, skill_may_be_missing=skill_may_be_missing)

    def _has_own_parts(self, agent: Agent) -> bool:
        """Whether another conversation with the same agent and workspace might get another edition, even if no text contains its id."""
        rules = self._assembling.assembler.rules
        return bool(self._hooks.extensions or rules or agent.skill or agent.session != self._agent.id)

    def _shared_edition(
        self, snapshot: Snapshot, inputs: Inputs, now: datetime | None, agent: Agent, *, skill_may_be_missing: bool
    ) -> Edition:
        moment = round_to(snapshot.precision, now)
        anonymous = replace_valid(agent, session="")
        recent = self._assembling.recent
        edition = recent.find(snapshot, anonymous, moment)
        if edition is not None:
            return replace(edition, created=_now())
        edition = self._edition(snapshot, inputs, now, agent, skill_may_be_missing=skill_may_be_missing)
        if not may_contain_session(self._layout, inputs):
            recent.add(snapshot, anonymous, moment, edition)
        return edition

    def format(self, current: Edition, now: datetime | None) -> Edition:
        """Build an edition for this turn's agent from the stored inputs, and record when they were gathered."""
        new_edition = self._edition(current.inputs, self.inputs(current), now, self._agent.resolved)
        return update_state(
            replace(new_edition, inputs=current.inputs), gathered=state_of(current).gathered or current.created
        )

    def rebuild(self, current: Edition, subject: str, step: str, now: datetime | None, *, keep_tools: bool) -> Edition:
        """Build the edition that a step needs: from the stored inputs if only the agent matters, otherwise from the workspace.

        With `keep_tools`, it keeps the tools of the edition in use.
        """
        if (subject == "tools" or step == "format") and self.stored_inputs(current):
            return self.format(current, now)
        if keep_tools:
            return replace(self.gather(now, self._agent.with_tools_of(current)), tools=current.tools)
        return self.gather(now)

    def edition_from(self, inputs: Inputs, agent: Agent, now: datetime | None) -> Edition:
        """Build an edition from these inputs."""
        return self._edition(object(), inputs, now, agent)

    def _edition(
        self, source: object, inputs: Inputs, now: datetime | None, agent: Agent, *, skill_may_be_missing: bool = True
    ) -> Edition:
        layout = self._layout
        moment = round_to(time_precision(layout, inputs), now)
        known = self._recent.find(source, agent, moment)
        if known is not None:
            return known
        prompt = self.prompt(inputs, agent, moment, skill_may_be_missing=skill_may_be_missing)
        is_resolved = agent is self._agent.resolved
        edition = Edition(
            number=0,
            system=prompt.text,
            tools=self._agent.stored_tools.definitions if is_resolved else serialize_tools(agent.tools or ()),
            account=_json(account_form(self._hooks.check(prompt))),
            inputs=_json(inputs_form(inputs)) if _stores_inputs(layout) else "",
            layout=layout.address,
            built_for=_json(target_form(self._target(inputs, agent))),
            created=_now(),
        )
        self._recent.add(source, agent, moment, edition)
        return edition

    def _target(self, inputs: Inputs, agent: Agent) -> EditionTarget:
        version = template_version(self._layout, inputs)
        template = self._assembling.template.reference
        is_default = version is None or template == TemplateReference()
        return EditionTarget(
            printable(inputs.workspace.cwd),
            agent.model,
            agent.provider,
            version,
            agent_form(agent, self._agent.id),
            tool_order(agent.tools or ()),
            "" if is_default else template.name,
            "" if is_default or template.label == PRODUCTION else template.label,
        )

    # Prompts

    def prompt(
        self, inputs: Inputs, agent: Agent, now: datetime | None, *, skill_may_be_missing: bool = False
    ) -> Prompt:
        """Build the prompt for these inputs. Raises a MissingError if the active skill does not exist, unless `skill_may_be_missing`."""
        waits.announce("build")
        check_agent(agent)
        assembler, layout = self._assembling.assembler, self._layout
        agent = assembler.with_base(agent)
        snapshot = Snapshot(Plan(layout, inputs.workspace, (), ()), inputs, time_precision(layout, inputs))
        trust = self._assembling.trust if agent.skill else None
        agent, inputs = with_active_skill(agent, layout, inputs, may_be_missing=skill_may_be_missing, trust=trust)
        with self._lock:
            if self._draft_writer is None or self._draft_writer.layout is not layout:
                self._draft_writer = DraftWriter(layout)
            moment = round_to(snapshot.precision, now)
            with span("build", "foreword.layout", layout.address):
                return build(layout, inputs, agent, moment, assembler.rules, self._draft_writer, snapshot.render)

    def preview(self, template: Document | None, now: datetime | None) -> Prompt:
        """Return the prompt that would be built now, with `template` in place of the global template or the base."""
        self._assembling.discover_once()
        agent, assembler = self._agent.resolved, self._assembling.assembler
        if template is None:
            snapshot = self._assembling.snapshot()
        elif self._assembling.uses_global_template:
            snapshot = assembler.snapshot(agent, template)
        else:
            if any("base" in section.instead and section.language for section in self._layout.all_sections):
                agent = replace(agent, base=template)
            snapshot = assembler.snapshot(agent)
        return self._hooks.check(self.prompt(self._assembling.adopt(snapshot), agent, now))

    # Inputs

    def inputs(self, edition: Edition) -> Inputs:
        """Return an edition's stored inputs or, if there are none, those in the workspace now."""
        return self.stored_inputs(edition) or self._assembling.snapshot().inputs

    def stored_inputs(self, edition: Edition) -> Inputs | None:
        """Return an edition's inputs, or None if they are not stored or were gathered for a different layout."""
        if not edition.inputs or self._assembling.layout_changed(edition):
            return None
        inputs = inputs_of(edition)
        if not all(lookup.name in inputs.found for lookup in self._layout.lookups):
            return None
        return self._assembling.confined(inputs)


def _stores_inputs(layout: Layout) -> bool:
    """Whether the inputs may be needed later: to compare or format them, or to use one of their skills."""
    is_compared = not {"warn", "announce", "append", "format"}.isdisjoint(layout.on.values())
    return is_compared or any(lookup.kind == "skill" for lookup in layout.lookups)


def _json(form: Mapping[str, Any]) -> str:
    return json.dumps(form, ensure_ascii=False, sort_keys=True)


def _now() -> str:
    return local_time().isoformat(timespec="milliseconds")
