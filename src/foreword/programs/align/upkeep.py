"""Keep generated files up to date: write those again whose source has changed, and remove those whose source is gone. Pure."""

from __future__ import annotations

from .copies import copy_text, rule_text
from .edits import remove_json_key, set_json_key
from .model import Proposal
from .proposals import copy_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


def release_settings(
    agents: Sequence[AlignedAgent],
    names: Mapping[str, Sequence[str]],
    defaults: Mapping[str, Sequence[str]],
    text_of: Callable[[str], str | None],
    unneeded: str,
) -> list[Proposal]:
    """Return the changes that would take a name out of settings that align has changed. `names` are those that each agent's list has."""
    record = _read_record(text_of(RECORD)) or {}
    changes = []
    for agent in agents:
        path, _, key = agent.means.get("setting", "").partition("#")
        text = text_of(path) if key and key in record.get(path, ()) else None
        rest = [name for name in names.get(agent.name, ()) if name != unneeded]
        if text is None or len(rest) == len(names.get(agent.name, ())):
            continue
        is_default = not rest or rest == list(defaults.get(agent.name, ()))
        new = remove_json_key(text, key) if is_default else set_json_key(text, key, rest)
        if new is not None:
            is_empty = not new.strip("{} \t\r\n")
            reason = f"{agent.program} does not need {key} any more"
            changes.append(
                Proposal(path, None if is_empty else new, "setting", (agent.name,), (), reason, is_new=False)
            )
    return changes


def record_settings(
    chosen: Sequence[Proposal],
    released: Sequence[Proposal],
    agents: Sequence[AlignedAgent],
    text_of: Callable[[str], str | None],
) -> list[Proposal]:
    """Return the change that lists the keys of settings that are changed, in RECORD, so that people know where they come from."""
    import json

    text = text_of(RECORD)
    record = _read_record(text)
    settings = [row for row in chosen if row.means == "setting"]
    if record is None or not (settings or released):
        return []
    keys = {agent.name: agent.means.get("setting", "").partition("#")[2] for agent in agents}
    for row in settings:
        record[row.path] = sorted({*record.get(row.path, ()), keys[row.agents[0]]})
    for row in released:
        record[row.path].remove(keys[row.agents[0]])
    kept = {path: listed for path, listed in record.items() if listed}
    names = tuple(dict.fromkeys(name for row in (*settings, *released) for name in row.agents))
    written = json.dumps(kept, indent=2, sort_keys=True) + "\n" if kept else None
    reason = "it lists the keys of settings that align has changed"
    return [Proposal(RECORD, written, "record", names, (), reason, is_new=text is None)] if written != text else []


def _read_record(text: str | None) -> dict[str, list[str]] | None:
    """Return the keys of settings that align has changed, by file, or None if the record has another form."""
    import json

    try:
        record = json.loads(text or "{}")
    except ValueError:
        return None
    is_valid = isinstance(record, dict) and all(isinstance(keys, list) for keys in record.values())
    return record if is_valid else None


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
