"""The JSON form of the `agents` command's answer."""

from __future__ import annotations

from ..encoding.prompt import finding_form, tokens_form
from ..inspection.agent_rules import describe_reads, describe_rule
from ..inspection.agent_texts import compare_texts
from ..inspection.agents import LOADED_VERDICTS
from .counting import own_part_form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..inspection.agents import AgentTable, AgentView, FileRow, Verdict
    from ..vocabulary import Finding
    from .forms import AgentFileForm, AgentForm, AgentsForm, FileDifferenceForm, VerdictForm


def agents_form(
    root: str, cwd: str, table: AgentTable, findings: Sequence[Finding], others: Sequence[str], with_rules: bool
) -> AgentsForm:
    """Return the table of files and agents. With `with_rules`, each verdict includes the layout's rule behind it."""
    return {
        "root": root,
        "cwd": cwd,
        "agents": [_agent_form(agent) for agent in table.agents],
        "files": [_file_form(row, table.agents, with_rules) for row in table.rows],
        "others": list(others),
        "findings": [finding_form(finding) for finding in findings],
    }


def file_differences_form(table: AgentTable) -> list[FileDifferenceForm]:
    """Return each file in a table of two agents, how the second one's text differs, and the lines that only one of them gets."""
    old, new = table.agents
    shared = [row.path for row in table.rows if all(verdict.name in LOADED_VERDICTS for verdict in row.verdicts)]
    lines = {difference.path: difference.lines for difference in compare_texts(old, new, shared)}
    return [
        {
            **_file_form(row, table.agents, False),
            "change": _change(row, row.path in lines),
            "lines": list(lines.get(row.path, ())),
        }
        for row in table.rows
    ]


def _change(row: FileRow, is_different: bool) -> str:
    """Return `added` or `removed` if only the second or only the first agent loads a file, `changed` if its text differs, otherwise an empty string."""
    before, after = (verdict.name in LOADED_VERDICTS for verdict in row.verdicts)
    if before != after:
        return "added" if after else "removed"
    return "changed" if is_different else ""


def _agent_form(view: AgentView) -> AgentForm:
    return {
        "name": view.name,
        "mirrors": view.layout.mirrors,
        "evidence": list(view.evidence),
        "tokens": tokens_form(view.tokens),
        "own": own_part_form(view.own),
    }


def _file_form(row: FileRow, agents: Sequence[AgentView], with_rules: bool) -> AgentFileForm:
    verdicts = [_verdict_form(view, row.path, verdict) for view, verdict in zip(agents, row.verdicts, strict=True)]
    if with_rules:
        for form, verdict in zip(verdicts, row.verdicts, strict=True):
            form["rule"] = describe_rule(verdict)
    return {"path": row.path, "verdicts": verdicts}


def _verdict_form(view: AgentView, path: str, verdict: Verdict) -> VerdictForm:
    others = describe_reads(view.layout, path) if verdict.name == "never" and not verdict.reason else ""
    return {
        "agent": view.name,
        "verdict": verdict.name,
        "reason": f"it reads only {others}" if others else verdict.reason,
        "target": verdict.target,
        "cut": verdict.cut,
    }
