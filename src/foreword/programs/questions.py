"""One function per inspection command, from a question to its JSON answer.

    answer("tokens", {"cwd": "/w", "layout": "opal", "model": "gpt-5"})

The command line, HTTP and MCP call these functions; `--json` prints exactly what they return. See `question` for the fields that
every question accepts. A question that cannot be answered raises a `ForewordError`.
"""

from __future__ import annotations

from ..errors import CallError, suggestion
from ..findings import SEVERITIES
from ..shapes import STRING, STRINGS, SWITCH, WHOLE_NUMBER
from ..vocabulary import replace, value
from .question import Question, check_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..encoding.forms import ExplainedForm
    from ..inspection.diff import Difference
    from ..inspection.own_part import OwnPart
    from ..inspection.prices import Prices
    from ..inspection.rebuilding import RebuildCost
    from ..inspection.subject import Subject
    from ..shapes import Shape
    from ..text.tokens import Count
    from ..vocabulary import Candidate, Prompt
    from ..wire.forms import (
        AgentsForm,
        CacheForm,
        CacheReusesForm,
        CountedForm,
        DifferenceForm,
        LayoutForm,
        LayoutRowForm,
        LineForm,
        LintForm,
        MessageForm,
        ShowForm,
        TouchedForm,
    )
    from ..wire.git_forms import AuthorshipForm, AuthorSumsForm, LockForm, ReviewForm
    from ..wire.skills import SkillForm
    from .agents import AgentReport
    from .proofread import Report


def answer(command: str, fields: Mapping[str, Any]) -> Any:
    """Return the JSON answer to an inspection command."""
    if not isinstance(command, str) or command not in ANSWERS:
        raise CallError(f"unknown question {command!r}{suggestion(str(command), ANSWERS)}")
    function, extra = ANSWERS[command]
    check_fields(fields, extra)
    return function(Question(fields))


# The prompt


def show(question: Question) -> ShowForm:
    """Return the prompt with its passages, candidates, findings, tokens and tools."""
    return prompt_answer(question, question.checked_prompt())


def prompt_answer(question: Question, prompt: Prompt) -> ShowForm:
    """Return the answer for a prompt that was built for this question."""
    from ..wire.counting import prompt_with_counts
    from .subjects import tool_definitions

    return {**prompt_with_counts(prompt, question.model, question.provider), "tools": tool_definitions(question)}


def why(question: Question) -> list[ExplainedForm]:
    """Return every candidate and its fate.

    If `path` is set, return only candidates at or below that path or with that name, with the other agents that read each and how to
    include it.
    """
    from ..encoding.prompt import candidate_form
    from .explain import readers_in

    advice = advice_of(question)
    return [
        {**candidate_form(candidate), "readers": readers_in(candidate.reason), "advice": advice(candidate)}
        for candidate in candidates_of(question)
    ]


def advice_of(question: Question) -> Callable[[Candidate], str]:
    """Return a function that says how to include a candidate. It returns an empty string unless `path` is set."""
    from .explain import instruction_names
    from .including import how_to_include, main_file

    if not question.fields.get("path"):
        return lambda candidate: ""
    names = instruction_names(question.assembler.layout())
    main = main_file(question.checked_prompt().candidates, names, question.cwd)
    is_released = bool(question.assembler.layout().mirrors)
    return lambda candidate: how_to_include(candidate, main, is_released=is_released)


def candidates_of(question: Question) -> list[Candidate]:
    """Return the candidates that `why` lists. A path that was not considered gets an explanation."""
    from .explain import explain_path, is_match, with_readers

    path, file = question.fields.get("path") or "", question.fields.get("for") or ""
    if file and not path:
        raise CallError("to find out whether a rule applies to a file, name the path of the rule too")
    from .rules import explain_rule

    if file and (explained := explain_rule(question, path, file)):
        return explained
    all_candidates = _with_waiting(question)
    candidates = [candidate for candidate in all_candidates if is_match(candidate.path, path, question)]
    if path and not any(candidate.fate != "absent" for candidate in candidates):
        return explain_path(question, path, candidates)
    return with_readers(question, path, candidates) if path else candidates


def _with_waiting(question: Question) -> list[Candidate]:
    """Return the prompt's candidates, and the rules that are waiting for a touched file."""
    from .touch_candidates import with_touch_candidates

    return with_touch_candidates(question.checked_prompt().candidates, question.assembler)


def blame(question: Question) -> list[LineForm] | AuthorshipForm | AuthorSumsForm:
    """Return the prompt's lines, each with its origin and, if `git` is set, its commit.

    If `by` is set, return the tokens by author, file or age instead.
    """
    if question.fields.get("git") or question.fields.get("by"):
        from .authorship import authorship, authorship_answer

        return authorship_answer(authorship(question), question)
    from ..inspection.origins import lines_of
    from ..wire.answers import line_form

    return [line_form(line) for line in lines_of(question.checked_prompt())]


def tokens(question: Question) -> CountedForm:
    """Return the number of tokens in the prompt, in each section and its sources, and in each tool's definition.

    The prompt is that of the question's directory, or the one that its field `prompt` names.
    """
    return count_prompt(question).form


@value
class CountedPrompt:
    """A prompt, the model that its tokens were counted for, and the counts."""

    prompt: Prompt
    model: str
    form: CountedForm


def count_prompt(question: Question) -> CountedPrompt:
    """Count the tokens of the question's prompt. A stored prompt is by default counted for the model that it was built for."""
    from ..inspection.own_part import own_part
    from .subjects import read_subject, tool_definitions

    source = question.fields.get("prompt")
    if source is None:
        prompt, model, provider = question.checked_prompt(), question.model, question.provider
        own = own_part(question.assembler.layout(), model, provider)
        return CountedPrompt(prompt, model, _counted_form(prompt, tool_definitions(question), model, provider, own))
    subject = read_subject(source, question)
    model, provider = subject.model_for(question.model, question.provider)
    return CountedPrompt(subject.prompt, model, _counted_form(subject.prompt, subject.tools or (), model, provider))


def _counted_form(
    prompt: Prompt, tools: Sequence[Mapping[str, Any]], model: str, provider: str, own: OwnPart | None = None
) -> CountedForm:
    from ..encoding.prompt import message_form
    from ..text.tokens import count
    from ..wire.counting import count_sources, count_tools, own_part_form, prompt_with_counts

    def count_text(text: str) -> int:
        return count(text, model, provider).count

    form = prompt_with_counts(prompt, model, provider)
    total = form["tokens"]
    return {
        "tokens": total,
        "own": own_part_form(own),
        "passages": [
            {
                "section": row["section"],
                "start": row["start"],
                "end": row["end"],
                "lifetime": row["lifetime"],
                **message_form(passage),
                "tokens": row["tokens"],
                "method": total["method"],
                "exact": total["exact"],
                "error": total["error"],
                "sources": count_sources(passage, count_text),
            }
            for row, passage in zip(form["passages"], prompt.passages, strict=True)
        ],
        "tools": count_tools(tools, count_text),
    }


def touch(question: Question) -> TouchedForm:
    """Return the instructions that an agent in `cwd` receives when it touches `paths`."""
    from ..wire.answers import touched_form
    from .touch import touched_by

    return touched_form(touched_by(question))


# Layouts and skills


def layouts(question: Question) -> list[LayoutRowForm] | LayoutForm:
    """Return all layouts that can be used here, shipped or not. If `name` is set, describe that layout."""
    name = question.fields.get("name") or question.fields.get("layout") or ""
    from .layouts import describe_layout, layout_rows

    return describe_layout(question.with_fields(layout=name)) if name else layout_rows(question)


def skills(question: Question) -> list[SkillForm]:
    """Return the skills that were found, and whether the prompt lists each."""
    from ..wire.skills import skill_form
    from .skill_list import find_skills

    found, _ = find_skills(question.assembler, question.agent)
    return [skill_form(row.skill, row.reason) for row in found]


def skill(question: Question) -> MessageForm:
    """Return the message that activates the skill `name`."""
    return {"role": "user", "content": question.assembler.skill_message(question.fields.get("name") or "")}


# Comparisons


@value
class PromptComparison:
    """Two prompts, their sizes, how they differ, and what it costs to replace the old one with the new one.

    For two layouts in one directory, `agents` compares the files they read.
    """

    old: Subject
    new: Subject
    tokens: tuple[Count, Count]
    difference: Difference
    rebuild: RebuildCost
    agents: AgentReport | None = None


def diff(question: Question) -> DifferenceForm:
    """Return how the prompts `old` and `new` differ. With two `layouts`, return how they differ in one directory's prompt."""
    return diff_form(compare_prompts(question))


def diff_form(comparison: PromptComparison) -> DifferenceForm:
    from ..wire.differences import difference_form

    form = difference_form(comparison.old, comparison.new, comparison.tokens, comparison.difference, comparison.rebuild)
    if comparison.agents is not None:
        from ..wire.agents import file_differences_form

        form["files"] = file_differences_form(comparison.agents.table)
    return form


def compare_prompts(question: Question) -> PromptComparison:
    """Return the two prompts to compare, and their difference."""
    from .caching import price_table
    from .subjects import read_subject

    layouts = question.fields.get("layouts") or []
    if len(layouts) > 2:
        raise CallError(f"diff compares two prompts, so pass at most two layouts, not {len(layouts)}")
    if "old" in question.fields and "new" not in question.fields and len(layouts) == 2:
        return _compare_layouts(question, layouts)
    for name in ("old", "new"):
        if name not in question.fields:
            raise CallError(f"diff needs {name}, the name of a prompt")
    if layouts:
        question = question.with_fields(layout=layouts[0])
    other = question.with_fields(layout=layouts[1]) if len(layouts) == 2 else question
    old, new = read_subject(question.fields["old"], question), read_subject(question.fields["new"], other)
    return compare_subjects(old, new, question.model, question.provider, price_table(question))


def compare_subjects(old: Subject, new: Subject, model: str, provider: str, prices: Prices) -> PromptComparison:
    """Return how two prompts differ, and their sizes in the tokens of this model, or of the one that the new prompt was built for."""
    from time import time

    from ..inspection.diff import compare
    from ..inspection.requests import compare_turns
    from ..text.tokens import count, exact_counter

    model, provider = new.model_for(model, provider)
    sizes = [count(subject.prompt.text, model, provider) for subject in (old, new)]
    # Tools that are known for only one of the prompts would look like a change.
    is_known = old.tools is not None and new.tools is not None
    before, after = (replace(side, tools=side.tools if is_known else None).turn for side in (old, new))
    rebuild = compare_turns(before, after, provider, model, prices, exact_counter, last_call=old.last_call, now=time())
    return PromptComparison(old, new, (sizes[0], sizes[1]), compare(old, new), rebuild)


def _compare_layouts(question: Question, layouts: Sequence[str]) -> PromptComparison:
    """Compare one directory's prompts for two layouts, and the files that each layout reads."""
    from .agents import agent_report
    from .subjects import is_folder

    folder = question.fields["old"]
    if not is_folder(folder):
        raise CallError(f"two layouts can be compared for a directory, not for {folder!r}")
    comparison = compare_prompts(question.with_fields(new=folder))
    report = agent_report(question.with_fields(cwd=folder))
    return replace(comparison, agents=report)


def cache(question: Question) -> CacheForm | CacheReusesForm:
    """Return how well a prompt can be cached. With `old` and `new`, return how much of the cache is kept when `new` replaces `old`."""
    from .caching import cache_loss, cache_report

    return cache_loss(question).form if question.fields.get("new") is not None else cache_report(question).form


# Agents


def agents(question: Question) -> AgentsForm:
    """Return what each agent does with each instruction file. If `paths` is set, return only these files, with the layouts' rules.

    With `cost`, also return what each file cost in the sessions of the last 30 days.
    """
    from .agents import agent_report
    from .sessions import file_costs

    report = agent_report(question)
    paths = [row.path for row in report.table.rows]
    return agents_answer(report, file_costs(question, paths) if question.fields.get("cost") else None)


def agents_answer(report: AgentReport, costs: dict[str, float | None] | None = None) -> AgentsForm:
    from ..wire.agents import agents_form

    form = agents_form(report.root, report.cwd, report.table, report.findings, report.others, bool(report.paths))
    return form if costs is None else {**form, "costs": costs}


# Repositories


def review(question: Question) -> ReviewForm:
    """Return what the change in `range` (BASE, BASE..HEAD or BASE...HEAD) does to each agent's prompt, and what it costs."""
    from .review import review_answer, review_change

    return review_answer(review_change(question))


def lock(question: Question) -> LockForm:
    """Return what a repository's prompts consist of, and how its lock file differs. Nothing is written."""
    from .lock import lock_answer, lock_report

    return lock_answer(lock_report(question))


# Lint


def lint(question: Question) -> LintForm:
    """Return the lint findings that are at least as severe as `min_severity`."""
    return lint_answer(question, lint_report(question))


def lint_answer(question: Question, report: Report) -> LintForm:
    from ..wire.differences import lint_form

    shown = filter_findings(question, report).findings
    return lint_form(report.root, report.files, files_not_checked(question), report.findings, shown)


def files_not_checked(question: Question) -> int:
    """Return how many instruction files the folders below have, if lint does not check them too."""
    from .proofread import count_files_below

    return 0 if question.fields.get("recursive") else count_files_below(question.assembler)


def lint_report(question: Question) -> Report:
    """Return the report with all lint findings."""
    from ..extensions import installed
    from .proofread import proofread

    fields = question.fields
    return proofread(
        question.assembler,
        question.agent_with_template(),
        question.now,
        fields.get("disable") or (),
        bool(fields.get("recursive")),
        installed(),
    )


def filter_findings(question: Question, report: Report) -> Report:
    """Return the report without findings that are less severe than `min_severity`, by default warnings."""
    minimum = question.fields.get("min_severity") or "warning"
    if minimum not in SEVERITIES:
        raise CallError(f"min_severity must be one of {', '.join(SEVERITIES)}, not {minimum!r}")
    severities = SEVERITIES[: SEVERITIES.index(minimum) + 1]
    return replace(report, findings=tuple(finding for finding in report.findings if finding.severity in severities))


_PROMPT: Shape = ("a prompt's name or a saved prompt", lambda content: isinstance(content, str | dict))
# Each question, with the fields that it accepts in addition to the common ones, and their kinds.
ANSWERS: dict[str, tuple[Callable[[Question], Any], dict[str, Shape]]] = {
    "show": (show, {"without": STRINGS}),
    "why": (why, {"path": STRING, "for": STRING}),
    "blame": (blame, {"git": SWITCH, "by": STRING}),
    "tokens": (tokens, {"prompt": _PROMPT}),
    "touch": (touch, {"paths": STRINGS, "how": STRING}),
    "layouts": (layouts, {"name": STRING}),
    "skills": (skills, {}),
    "skill": (skill, {"name": STRING}),
    "diff": (diff, {"old": _PROMPT, "new": _PROMPT, "layouts": STRINGS}),
    "cache": (cache, {"prompt": _PROMPT, "old": _PROMPT, "new": _PROMPT, "turns": WHOLE_NUMBER, "prices": STRING}),
    "agents": (agents, {"layouts": STRINGS, "paths": STRINGS, "all": SWITCH, "cost": SWITCH}),
    "review": (review, {"range": STRING, "layouts": STRINGS, "prices": STRING}),
    "lock": (lock, {"layouts": STRINGS}),
    "lint": (lint, {"recursive": SWITCH, "disable": STRINGS, "min_severity": STRING}),
}
