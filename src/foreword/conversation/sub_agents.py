"""Build sub-agents' prompts: the task replaces the layout's base, and the rest is inherited from the parent."""

from __future__ import annotations

from ..engine.bodies import WITH_REQUEST
from ..errors import CallError, check_time, expect, to_tuple
from ..layout.model import with_inner_sections
from ..sources.environment import resolve_workspace
from ..sources.reader import Reader
from ..template.addresses import is_address, is_only_address
from ..template.languages import LANGUAGES, language_of
from ..vocabulary import Document, Workspace, replace, value
from ..vocabulary.tools import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ..layout.model import Layout, Section
    from ..sources.readings import TrustCheck
    from ..vocabulary import Agent, Inputs, Prompt
    from .agents import ConversationAgent
    from .assembling import ConversationAssembler
    from .builder import EditionBuilder
    from .transitions import Transitions


@value
class SubAgent:
    """A sub-agent, with the task as its base, and what it inherits from its parent. `workspace` is None if it is the parent's."""

    agent: Agent
    inputs: Inputs
    workspace: Workspace | None


UNTRUSTED_TASK = "request"
"""The path of a task that comes from a request."""


class SubAgents:
    """Prepares one conversation's sub-agents."""

    def __init__(
        self,
        transitions: Transitions,
        assembling: ConversationAssembler,
        agent: ConversationAgent,
        builder: EditionBuilder,
    ) -> None:
        self._transitions, self._assembling, self._agent, self._builder = transitions, assembling, agent, builder

    def prepare(
        self,
        task: str | Document = "",
        tools: Sequence[Tool] = (),
        *,
        definition: str = "",
        workspace: Workspace | None = None,
        append: bool = False,
        with_context: bool = True,
        with_skills: bool = True,
        now: datetime | None = None,
    ) -> SubAgent:
        """Return the sub-agent for a task, or the one that a file defines."""
        expect("the task", task, str, Document)
        expect("the definition", definition, str)
        if bool(task) == bool(definition):
            raise CallError("pass either a task or the name of a definition")
        if not definition and not (task if isinstance(task, str) else task.text).strip():
            raise CallError("the task of a sub-agent is blank; say what it should do")
        tools = to_tuple("tools", tools, Tool)
        check_time(now)
        if workspace is not None:
            expect("the workspace", workspace, Workspace)
        inputs, layout = self._builder.inputs(self._transitions.current_or_new()), self._assembling.layout
        document: Document | None = None
        if definition:
            document, tools = _defined_sub_agent(definition, layout, inputs, tools, self._assembling.trust)
        agent = replace(self._agent.resolved, role="sub", tools=tools, session="", plan="", skill="")
        agent, inputs = _with_task(
            document or task,
            agent,
            _inherited_inputs(inputs, layout, with_context, with_skills),
            workspace,
            now,
            append=append,
            assembling=self._assembling,
            builder=self._builder,
        )
        return SubAgent(agent, inputs, workspace)


def _inherited_inputs(inputs: Inputs, layout: Layout, with_context: bool, with_skills: bool) -> Inputs:
    """Return the part of the parent's inputs that a sub-agent inherits."""
    kinds = {lookup.name: lookup.kind for lookup in layout.lookups}
    kept = {name for name in inputs.found if (with_skills if kinds.get(name) == "skill" else with_context)}
    return replace(inputs, found={name: entries if name in kept else () for name, entries in inputs.found.items()})


def _defined_sub_agent(
    name: str, layout: Layout, inputs: Inputs, tools: Sequence[Tool], trust: TrustCheck | None
) -> tuple[Document, tuple[Tool, ...]]:
    """Return the instructions and tools of a sub-agent that is defined in a file. The instructions are never a template."""
    from ..engine.definitions import chosen_tools, definition_named, definition_text

    definition = definition_named(name, layout, inputs)
    if any(section.language in LANGUAGES for section in _base_sections(layout)):
        raise CallError(
            f"the base of the layout {layout.name} is a template, which a definition cannot replace; pass a task instead"
        )
    return definition_text(definition, layout, inputs, trust), chosen_tools(definition, tools)


def _with_task(
    task: str | Document,
    agent: Agent,
    inputs: Inputs,
    workspace: Workspace | None,
    now: datetime | None,
    *,
    append: bool,
    assembling: ConversationAssembler,
    builder: EditionBuilder,
) -> tuple[Agent, Inputs]:
    """Return a sub-agent with its task, which is text, a reference or a document, and its inputs. With `append`, it follows the parent's base."""
    assembler, layout = assembling.assembler, assembling.layout
    if isinstance(task, Document):
        document = task
    else:
        document = assembler.template(task.strip()) if is_only_address(task) else Document("", task)
    if any(section.language in LANGUAGES for section in _base_sections(layout)):
        document = replace(document, path=document.path or "task")
        agent = replace(agent, base=_append_task(layout, inputs, document) if append else document)
        snapshot = assembler.copy_with(workspace=workspace or assembler.workspace).snapshot(agent)
        return agent, replace(snapshot.inputs, found=inputs.found)
    if workspace is not None:
        resolved = resolve_workspace(workspace, Reader())
        own_fields = {"cwd": resolved.cwd, "root": resolved.root, "is_repository": resolved.is_repository}
        inputs = replace(inputs, workspace=replace(inputs.workspace, **own_fields))
    if append:
        base = _base_text(layout, builder.prompt(inputs, agent, now))
        document = Document(document.path, "\n\n".join(filter(None, (base, document.text))))
    return replace(agent, base=document), inputs


def _base_sections(layout: Layout) -> list[Section]:
    """Return the sections that a caller's base replaces."""
    return [section for section in layout.all_sections if "base" in section.instead]


def _append_task(layout: Layout, inputs: Inputs, task: Document) -> Document:
    """Return the template of the parent's base, followed by the task.

    If the task is a template in a pack and the language can include templates, the task is included instead of copied, so that its own
    includes are found and it does not gain the trust of the parent's template.
    """
    section, body = next(
        (section, inputs.bodies[section.name])
        for section in _base_sections(layout)
        if inputs.bodies.get(section.name) is not None
    )
    module = language_of(body, section.language).module()
    text = (module.include_tag(task.path) if is_address(task.path) else None) or task.text
    # A task from a request is untrusted, and must not gain the trust of the parent's template either.
    path = f"{body.path}{WITH_REQUEST}" if task.path == UNTRUSTED_TASK else body.path
    return replace(body, path=path, text=f"{body.text.rstrip()}\n\n{text}".lstrip("\n"), hash="")


def _base_text(layout: Layout, prompt: Prompt) -> str:
    """Return the part of a prompt's text that a caller's base would replace."""
    bases = [section for section in layout.all_sections if "base" in section.instead or _is_part_of_base(section)]
    names = {section.name for section in with_inner_sections(bases)}
    passages = [passage for passage in prompt.passages if passage.section in names]
    return prompt.text[passages[0].start : passages[-1].end] if passages else ""


def _is_part_of_base(section: Section) -> bool:
    """Whether a section belongs to the layout's own base, because it applies only without a caller's."""
    return any(term.negated and "base" in term.facts for term in section.when)
