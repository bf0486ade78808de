"""Build a prompt from a layout, inputs, an agent and a time. The same arguments always give the same bytes.

collect   select the sections that apply, and escape content that could close the section around it  (collect.py, lists.py)
fit       cut text that exceeds a budget                                                             (budget.py)
write     format items, wrap and join sections; every character keeps its origin                     (drafts.py)
"""

from __future__ import annotations

from ..vocabulary import Passage, Piece, Prompt
from .collect import Collector
from .conditions import skill_findings
from .drafts import DraftWriter
from .fates import unused_findings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from ..layout.model import Layout
    from ..vocabulary import Agent, Candidate, Finding, Inputs, Role
    from .collect import Render
    from .drafts import Draft
    from .lists import Rule

    Pieces = tuple[Piece, ...]


def build(
    layout: Layout,
    inputs: Inputs,
    agent: Agent,
    now: datetime | None,
    rules: Sequence[Rule] = (),
    writer: DraftWriter | None = None,
    render: Render | None = None,
) -> Prompt:
    """Build the prompt for an agent from these inputs.

    `now` may be None if `time_precision` is empty. `render` renders Jinja templates, untrusted ones in a sandbox. A `writer` from an
    earlier build with the same layout makes this one faster; the result is the same.
    """
    writer = writer or DraftWriter(layout)
    collector = Collector(layout, inputs, agent, now, rules, writer, render)
    drafts = collector.drafts(layout.sections)
    cuts: Sequence[Finding] = ()
    cut_files: Mapping[str, str] = {}
    if any(section.bytes is not None for section in layout.all_sections):
        from .byte_limit import ByteLimits

        limits = ByteLimits(writer)
        drafts, cuts, cut_files = limits.apply(drafts), limits.findings, limits.cut_files
    if _may_exceed_budget(layout, drafts, writer):
        from .budget import fit

        drafts, budget_findings, files_cut_to_budget = fit(layout, drafts, writer, collector.distance)
        cuts, cut_files = (*cuts, *budget_findings), {**cut_files, **files_cut_to_budget}
    if layout.tool_budget is not None and agent.tools:
        from .tool_budget import tool_budget_findings

        cuts = (*cuts, *tool_budget_findings(agent.tools, layout.tool_budget))
    omissions = skill_findings(layout, inputs, agent, collector.facts)
    findings = (*inputs.findings, *collector.findings, *omissions, *unused_findings(layout, agent), *cuts)
    present = {path for _, draft in _passages(drafts, layout.join) for path in writer.files(draft)}
    candidates = tuple(collector.fates.candidates(present, cut_files))
    prompt = write(layout, drafts, candidates, findings, writer)
    writer.forget_other_drafts(drafts)
    return prompt


def _may_exceed_budget(layout: Layout, drafts: Sequence[Draft], writer: DraftWriter) -> bool:
    """Whether a draft may exceed a budget. Most prompts are so short that no tokens need to be counted."""
    if layout.budget is not None:
        text = layout.join.join(writer.write(draft)[1] for draft in drafts)
        if max_token_estimate(text) > layout.budget:
            return True
    return any(_section_may_exceed_budget(draft, writer) for draft in drafts)


def _section_may_exceed_budget(draft: Draft, writer: DraftWriter) -> bool:
    section = draft.section
    if section.file_budget or any(_section_may_exceed_budget(inner, writer) for inner in draft.inner):
        return True
    return section.budget is not None and max_token_estimate(writer.write(draft)[1]) > section.budget


def max_token_estimate(text: str) -> int:
    """Return an upper bound on what `estimate` returns, which is at most three tokens per two bytes."""
    return len(text.encode("utf-8", "surrogatepass")) * 3 // 2 + 1


def write(
    layout: Layout,
    drafts: Sequence[Draft],
    candidates: Sequence[Candidate],
    findings: Sequence[Finding],
    writer: DraftWriter,
) -> Prompt:
    """Write the drafts as a prompt. Each section becomes one passage, or one per inner section if it has no wrapper."""
    passages: list[Passage] = []
    texts: list[str] = []
    position = 0
    for role, message, join, draft in _assign_roles(layout, drafts, writer):
        pieces, text = writer.write(draft)
        if passages and (text or any(item.is_kept for item in draft.items)):
            texts.append(join)
            position += len(join)
        if not text:
            continue
        if not text.isascii():
            pieces, text = _escape_surrogates(pieces, text)
        section = draft.section
        passages.append(Passage(section.name, position, text, section.lifetime, pieces, role, message))
        texts.append(text)
        position += len(text)
    return Prompt(layout.name, "".join(texts), passages, candidates, findings)


def _assign_roles(
    layout: Layout, drafts: Sequence[Draft], writer: DraftWriter
) -> Iterator[tuple[Role, int, str, Draft]]:
    """Yield each passage's draft with the role and number of its message and the separator before it.

    The layout alone decides where the system prompt ends. If that depended on which sections are empty, a section that differs
    between projects could become part of a system prompt that they share.
    """
    system_end = next((index for index, section in enumerate(layout.sections) if section.role != "system"), None)
    if system_end is None:
        for join, draft in _passages(drafts, layout.join):
            yield "system", 0, join, draft
        return
    system_sections = {section.name for section in layout.sections[:system_end]}
    message = 0
    for top in drafts:
        inner = list(_passages([top], layout.join))
        if top.section.name not in system_sections:
            if not any(writer.write(draft)[1].strip() for _, draft in inner):
                continue  # providers reject a message without text
            message += 1
        for join, draft in inner:
            yield top.section.role, message, join, draft


def _passages(drafts: Iterable[Draft], join: str) -> Iterator[tuple[str, Draft]]:
    for draft in drafts:
        if draft.inner and not draft.section.wrap and not draft.is_replaced:
            for index, (inner_join, inner) in enumerate(_passages(draft.inner, draft.section.join)):
                yield (inner_join if index else join), inner
        else:
            yield join, draft


def _escape_surrogates(pieces: Pieces, text: str) -> tuple[Pieces, str]:
    """Replace lone surrogates, which cannot be sent or printed, with escape sequences."""
    try:
        text.encode()
    except UnicodeEncodeError:
        texts = [piece.text.encode("utf-8", "backslashreplace").decode() for piece in pieces]
        return tuple(Piece(text, piece.origin) for text, piece in zip(texts, pieces, strict=True)), "".join(texts)
    return pieces, text
