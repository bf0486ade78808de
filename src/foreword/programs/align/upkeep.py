"""Keep generated files up to date: write those again whose source has changed, and remove those whose source is gone. Pure."""

from __future__ import annotations

from .copies import copy_text, rule_text
from .model import Proposal
from .proposals import copy_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .copies import GeneratedFile
    from .model import AlignedAgent, Instruction

RECORD = ".agents/align.json"


def upkeep(
    generated: Sequence[GeneratedFile], agents: Sequence[AlignedAgent], sources: Sequence[Instruction]
) -> list[Proposal]:
    """Return the changes to generated files that were not edited."""
    known = {source.path: source for source in sources}
    changes = []
    for row in generated:
        source = known.get(row.source)
        if row.is_edited:
            continue
        if source is None:
            reason = f"it was generated from {row.source}, which is gone"
            changes.append(Proposal(row.path, None, "remove", (), (), reason, is_new=False))
            continue
        names = [agent.name for agent in agents if _is_copy_for(agent, source, row.path)]
        text = _current_text(row, source, agents)
        if text is not None and text != row.text.replace("\r\n", "\n"):
            reason = f"{row.source} has changed"
            changes.append(Proposal(row.path, text, "copy", names, (source.path,), reason, is_new=False))
    return changes


def record_settings(
    chosen: Sequence[Proposal], agents: Sequence[AlignedAgent], text_of: Callable[[str], str | None]
) -> list[Proposal]:
    """Return the change that lists the keys of settings that are changed, in RECORD, so that people know where they come from."""
    import json

    keys = {agent.name: agent.means["setting"].partition("#") for agent in agents if agent.means.get("setting")}
    rows = [(row, *keys[row.agents[0]][::2]) for row in chosen if row.means == "setting"]
    text = text_of(RECORD)
    try:
        record = json.loads(text or "{}")
    except ValueError:
        return []
    if not rows or not isinstance(record, dict):
        return []
    new = {**record, **{path: sorted({*record.get(path, ()), key}) for _, path, key in rows}}
    names = tuple(dict.fromkeys(name for row, _, _ in rows for name in row.agents))
    reason = "it lists the keys of settings that align has changed"
    written = json.dumps(new, indent=2, sort_keys=True) + "\n"
    return [Proposal(RECORD, written, "record", names, (), reason, is_new=text is None)] if written != text else []


def _is_copy_for(agent: AlignedAgent, source: Instruction, path: str) -> bool:
    if source.kind == "file":
        return path.removeprefix(f"{source.folder}/") in agent.means.get("files", ())
    return copy_path(agent, source) == path


def _current_text(row: GeneratedFile, source: Instruction, agents: Sequence[AlignedAgent]) -> str | None:
    """Return what a generated file should contain now, or None if no chosen agent has it."""
    if source.kind != "rule":
        return copy_text(source)
    scopes = [agent.means["scope"] for agent in agents if _is_copy_for(agent, source, row.path)]
    return rule_text(source, scopes[0]) if scopes else None
