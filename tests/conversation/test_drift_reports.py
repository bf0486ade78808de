"""Drift of files and tools, turn by turn: each has its own step, whatever happens to the other at the same time."""

import pytest

from foreword import Agent, CallError, Tool, assemble
from foreword.conversation.announcing import INTRODUCTION

READ = Tool("read", guidelines=["Mind the encoding."])


@pytest.fixture
def turns(tree, open_conversation, contents):
    """`turns({"on.turn": "warn"}, ("read bash", "One."), …)` returns edition, new messages and drift findings of each turn."""

    def turns(on, *rows, layout="foreword"):
        reports, history = [], ()
        for tools, text in rows:
            tree({"w/.git": None, "w/AGENTS.md": text})
            conversation = open_conversation(layout, tools=tools, set=on)
            turn = conversation.turn("hi", history)
            drift = [finding.message for finding in turn.findings if finding.code == "drift"]
            reports.append((turn.edition, contents(turn.messages)[len(history) : -1], drift))
            history = turn.history
        return reports

    return turns


def beginnings(reports):
    """Return the beginnings of all messages and findings."""
    return [
        (
            edition,
            [line for text in contents for line in text.split("\n\n") if line[:1] != "<"],
            [sentence.partition("; a rebuild")[0] for sentence in found],
        )
        for edition, contents, found in reports
    ]


TOOL_REMOVED = "The section 'guidance' of the system prompt no longer applies."
BASH_REMOVED = "Tools that are not active from now on, so do not call them: `bash`. All others are active."
GUIDANCE = "The section 'guidance' of the system prompt has changed. It now reads:"
INSTRUCTIONS = "The section 'instructions' of the system prompt has changed. It now reads:"


def test_tools_that_return_revert_the_announcement(turns):
    """It is reverted only once; `append` is the default for tools."""
    rows = [(tools, "One.") for tools in ("read bash", "read", "read", "read bash", "read bash")]
    assert beginnings(turns({}, *rows)) == [
        (1, [], []),
        (1, [TOOL_REMOVED, BASH_REMOVED], ["section 'guidance' removed; tool bash removed"]),
        (1, [], []),
        (1, [GUIDANCE, "All tools are active again."], ["an announced change was reverted"]),
        (1, [], []),
    ]


def test_a_definition_that_returns_is_announced_at_once(turns):
    tools = [[Tool("a", "Reads.")], [Tool("a", "Reads it all.")], [Tool("a", "Reads.")]]
    reports = beginnings(turns({}, *[(tool, "One.") for tool in tools]))
    assert reports[1][1][0] == "The tool `a` has changed. Its definition is now:"
    assert reports[2] == (
        1,
        ["The tool `a` is again as it was defined at first."],
        ["an announced change was reverted"],
    )


def test_each_change_to_the_tools_is_announced_once_in_one_process(open_conversation, contents):
    conversation = open_conversation(tools="read bash")
    tools = conversation.agent.tools
    history = conversation.turn("hi").history
    for active, is_announced in ((tools[:1], True), (tools[:1], False), (tools, True), (tools, False)):
        conversation.set_active_tools(active)
        turn = conversation.turn("hi", history)
        assert (len(contents(turn.messages)) == len(history) + 2) == is_announced
        history = turn.history


@pytest.mark.parametrize("on", [{}, {"on.turn": "append"}, {"on.turn": "warn"}])
def test_a_removed_tool_without_guidance_is_drift(turns, on):
    reports = beginnings(turns(on, ("x y", "One."), ("x", "One.")))
    message = ["Tools that are not active from now on, so do not call them: `y`. All others are active."]
    assert reports[1] == (1, message, ["tool y removed"])


def test_changed_files_cause_a_warning_while_tools_differ(turns):
    """Every turn warns while files differ, and only about files: the tools were announced."""
    rows = [("read bash", "One."), ("read", "One."), ("read", "Two."), ("read", "Two."), ("read bash", "Two.")]
    reports = beginnings(turns({"on.turn": "warn"}, *rows))
    assert [found for _, _, found in reports[1:4]] == [
        ["section 'guidance' removed; tool bash removed"],
        [reports[3][2][0]],
        [reports[3][2][0]],
    ]
    assert reports[3][2][0].startswith("section 'instructions' changed")
    assert reports[4][1] == [GUIDANCE, "All tools are active again."]
    assert reports[4][2][-1] == reports[3][2][0]


@pytest.mark.parametrize("tools", ["keep", "warn"])
@pytest.mark.parametrize("turn", ["keep", "warn", "append"])
def test_kept_tools_stay_regardless_of_the_step_for_files(turns, tools, turn):
    rows = [("read", "One."), ("read bash new", "One."), ("read bash new", "Two."), ("", "Two.")]
    reports = beginnings(turns({"on.turn": turn, "on.tools": tools}, *rows))
    assert [edition for edition, _, _ in reports] == [1, 1, 1, 1]
    assert [contents for _, contents, _ in reports] == [
        [],
        [],
        [INSTRUCTIONS] if turn == "append" else [],
        [],
    ]
    summaries = [" / ".join(report) for _, _, report in reports]
    is_warned = tools == "warn"
    assert ["tools bash, new added" in summaries[1], "tool read removed" in summaries[3]] == [is_warned, is_warned]
    assert "instructions" not in summaries[1] and ("instructions" in summaries[2]) == (turn != "keep")
    assert ("instructions" in summaries[3]) == (turn == "warn")


def test_appended_files_are_built_for_the_kept_tools(turns):
    """The changed file is announced, but not the guideline of a kept tool."""
    rows = [([READ], "One."), ([READ, Tool("bash")], "Two.")]
    assert beginnings(turns({"on.turn": "append", "on.tools": "keep"}, *rows))[1][1] == [INSTRUCTIONS]


def test_a_plan_is_appended_while_different_tools_are_kept(open_conversation, contents):
    on = {"on.turn": "announce", "on.tools": "keep"}
    open_conversation(tools="read", plan="One.", set=on).turn("hi")
    turn = open_conversation(tools="bash", plan="Two.", set=on).turn("hi")
    assert [text.splitlines()[0] for text in contents(turn.messages)] == [
        "The section 'plan' of the system prompt has changed. It now reads:",
        "hi",
    ]


def test_appending_files_and_tools_gives_one_edition_and_one_message(turns):
    reports = beginnings(turns({"on.turn": "append"}, ("read", "One."), ("read new", "Two."), ("read new", "Two.")))
    assert (reports[1][0], reports[1][1]) == (2, [INSTRUCTIONS, "New tools are available from now on: `new`."])
    assert [report.partition(" (")[0].partition(";")[0] for report in reports[1][2]] == [
        "section 'instructions' changed",
        "tools added late: new",
    ]
    assert reports[2] == (2, [], [])


def test_kept_files_are_not_announced_with_the_tools(turns):
    reports = beginnings(turns({}, ("read", "One."), ("read new", "Two."), ("", "Two."), ("read new", "Two.")))
    assert not any("instructions'" in str(report[1:]) for report in reports)


@pytest.mark.parametrize("turn", ["warn", "announce"])
def test_a_new_edition_for_the_tools_has_the_stored_files_and_drift_reports_the_change(turns, turn):
    rows = [("read", "One."), ("bash", "Two."), ("bash", "Two.")]
    reports = beginnings(turns({"on.turn": turn}, *rows, layout="pi"))
    assert [edition for edition, _, _ in reports] == [1, 2, 2]
    assert "Two." not in str(reports[0]) and "changed" in reports[1][2][0]
    assert bool(reports[1][1]) == (turn == "announce")


def test_a_layout_without_skills_stores_the_inputs_it_compares(tree, open_conversation, contents):
    layout = 'sections = ["a", "b"]\n[find.notes]\nfiles = ["cwd:NOTES.md"]\n[section.a]\nlist = "notes"\n'
    layout += '[section.b]\ntext = "Zap."\nwhen = ["tool:zap"]\n[on]\ntools = "append"\n'
    tree({"mine.toml": layout, "w/NOTES.md": "One."})
    open_conversation(tree.path("mine.toml"), tools="zap").turn("hi")
    tree({"w/NOTES.md": "Two."})
    turn = open_conversation(tree.path("mine.toml")).turn("hi")
    assert "Two." not in str(contents(turn.messages)) and "section 'b'" in contents(turn.messages)[0]


# Snippets and guidelines


PLAIN, SNIPPET, OTHER = Tool("bash"), Tool("bash", snippet="Old way."), Tool("bash", snippet="New way.")
WITH_GUIDELINE = Tool("bash", guidelines=["New way."])


@pytest.mark.parametrize(
    ("before", "after", "is_new"),
    [
        (PLAIN, OTHER, True),
        (SNIPPET, OTHER, True),
        (SNIPPET, WITH_GUIDELINE, True),
        (OTHER, PLAIN, True),
        (PLAIN, PLAIN, False),
        (OTHER, Tool("bash", snippet="New way."), False),
        (WITH_GUIDELINE, Tool("bash", guidelines=("New way.",)), False),
        (PLAIN, Tool("tools", snippet="New way."), True),
        (OTHER, Tool("bash", snippet="New way.", guidelines=["More."]), True),
    ],
)
def test_a_different_snippet_or_guideline_counts_as_a_changed_tool(open_conversation, before, after, is_new):
    """The result is the same in this process and in the next."""
    conversation = open_conversation("pi", "same", tools=[before])
    conversation.turn("a")
    conversation.set_active_tools([after])
    open_conversation("pi", "next", tools=[before]).turn("a")
    for turn in (conversation.turn("b"), open_conversation("pi", "next", tools=[after]).turn("b")):
        assert (turn.edition, turn.is_reused) == ((2, False) if is_new else (1, True))
        assert ("New way." in turn.system) == (after is not PLAIN)
    assert open_conversation("pi", "next", tools=[after]).turn("c").is_reused


def test_text_that_looks_like_stored_tools_changes_nothing(open_conversation):
    plan = 'Say "tools": {"bash": {"guidelines": [], "snippet": "New way."}} to nobody.'
    open_conversation("pi", tools=[PLAIN], plan=plan).turn("a")
    assert open_conversation("pi", tools=[PLAIN], plan=plan).turn("b").is_reused
    assert not open_conversation("pi", tools=[OTHER], plan=plan).turn("c").is_reused


def test_tools_in_another_order_are_unchanged(open_conversation):
    open_conversation("pi", tools=[SNIPPET, READ]).turn("a")
    assert open_conversation("pi", tools=[READ, SNIPPET]).turn("b").is_reused


def test_a_changed_guideline_is_announced_once_if_tools_are_appended(turns):
    reports = beginnings(turns({}, *[([tool], "One.") for tool in (PLAIN, WITH_GUIDELINE, WITH_GUIDELINE, PLAIN)]))
    assert [contents[:1] for _, contents, _ in reports] == [[], [INTRODUCTION], [], [INTRODUCTION]]


def test_tools_without_snippets_or_guidelines_add_nothing_to_an_edition(open_conversation):
    conversation = open_conversation("pi", tools="read bash")
    conversation.turn("a")
    assert '"agent"' not in conversation.shared.store.current("t").built_for


@pytest.mark.parametrize("layout", ["foreword", "opal", "pi"])
def test_two_tools_with_the_same_name_are_an_error(tree, open_conversation, layout):
    tree({"w": None})
    tools_with_the_same_name = [Tool("read", "One."), Tool("edit"), Tool("read", "Two.")]
    message = "^two tools are named 'read'; a model calls a tool by its name, so names must be unique$"
    with pytest.raises(CallError, match=message):
        assemble(tree.workspace("w"), Agent(tools=tools_with_the_same_name), layout)
    conversation = open_conversation(layout, tools="read")
    conversation.turn("hi")
    with pytest.raises(CallError, match=message):
        conversation.set_active_tools(tools_with_the_same_name)


def test_whether_a_tool_loads_skills_is_stored_and_a_change_of_it_is_noticed(tree, open_conversation, skill):
    tree({"w/.git": None, "w/.agents/skills/a/SKILL.md": skill("a")})
    first = open_conversation("foreword", tools=[Tool("lookup", loads_skills=True)])
    assert "<skills>" in first.turn("a").system
    assert "<skills>" in open_conversation("foreword", tools=None).reload().system  # the conversation keeps its tools
    changed = open_conversation("foreword", tools=[Tool("lookup")]).turn("b")
    assert "The section 'skills' of the system prompt no longer applies." in changed.messages[0]["content"]
