"""The pure part of conversations: which step to take, its effect on the edition in use, and drift."""

import itertools
import json
from datetime import UTC, datetime

import pytest

from foreword import Document, Tool
from foreword.conversation.decide import (
    Drift,
    Outcome,
    Steps,
    apply_step,
    decide,
    drift,
)
from foreword.conversation.state import State, state_of, update_state, with_state
from foreword.conversation.tools import tools_by_name, with_new_tools, written_tools
from foreword.inspection.changes import BETWEEN, Names, SectionChange
from foreword.text.tokens import estimate
from foreword.vocabulary import Edition, replace

MORNING = datetime(2026, 3, 7, 8, 55, tzinfo=UTC)

USING = Edition(3, "system")
SHIPPED = {
    "foreword": {"tools": "append", "reload": "gather", "compaction": "gather"},
    "ion": {"turn": "gather"},
    "opal": {"turn": "format", "reload": "gather"},
    "pi": {"tools": "format", "registry": "format", "resources": "gather", "reload": "gather"},
    "pod": {},
    "builder": {"reload": "gather", "compaction": "gather"},
}


@pytest.mark.parametrize(
    ("on", "using", "events", "tools", "rest"),
    [
        ({}, None, [], "gather", "gather"),  # without an edition, whatever the layout
        ({"turn": "keep"}, None, ["turn"], "gather", "gather"),
        ({}, USING, [], "keep", "keep"),
        ({}, USING, ["turn"], "keep", "keep"),
        ({}, USING, ["turn", "tools", "registry", "resources", "reload", "compaction"], "keep", "keep"),
        (SHIPPED["foreword"], USING, ["turn"], "keep", "keep"),
        (SHIPPED["foreword"], USING, ["turn", "tools"], "append", "keep"),
        (SHIPPED["foreword"], USING, ["turn", "tools", "compaction"], "gather", "gather"),
        (SHIPPED["ion"], USING, ["turn", "tools"], "gather", "gather"),
        (SHIPPED["opal"], USING, ["turn", "tools", "compaction"], "format", "format"),
        (SHIPPED["opal"], USING, ["turn", "reload"], "gather", "gather"),
        (SHIPPED["pi"], USING, ["turn"], "keep", "keep"),
        (SHIPPED["pi"], USING, ["turn", "registry"], "format", "keep"),
        (SHIPPED["pi"], USING, ["turn", "resources", "tools"], "gather", "gather"),
        (SHIPPED["pod"], USING, ["turn", "reload"], "keep", "keep"),
        (SHIPPED["builder"], USING, ["turn", "tools"], "keep", "keep"),
        ({}, USING, ["turn", "rebuild"], "gather", "gather"),
        ({"turn": "warn", "tools": "append"}, USING, ["turn"], "keep", "warn"),
        ({"turn": "warn", "tools": "append"}, USING, ["turn", "tools"], "append", "warn"),  # each acts separately
        ({"turn": "append"}, USING, ["turn", "tools"], "keep", "append"),
        ({"turn": "warn", "tools": "format"}, USING, ["turn", "tools"], "format", "warn"),
        ({"turn": "format", "tools": "append"}, USING, ["turn", "tools"], "format", "format"),
        ({"turn": "append", "tools": "gather"}, USING, ["turn", "tools"], "gather", "gather"),
        ({"tools": "warn", "registry": "append"}, USING, ["tools", "registry"], "append", "keep"),
        ({"turn": "append"}, USING, ["an event that nobody knows"], "keep", "keep"),
    ],
)
def test_decide_chooses_a_step_for_tools_and_for_the_rest(on, using, events, tools, rest):
    assert decide(on, using, events) == Steps(tools, rest)


@pytest.mark.parametrize(
    ("step", "then"),
    [("keep", "keep"), ("warn", "warn"), ("append", "gather"), ("format", "gather"), ("gather", "gather")],
)
@pytest.mark.parametrize("event", ["turn", "tools"])
def test_inputs_gathered_for_another_layout_are_neither_formatted_nor_compared(event, step, then):
    assert decide({event: step}, USING, [event], is_other_layout=True).strongest == then


@pytest.mark.parametrize(
    ("tools", "rest", "changes"),
    [
        ("keep", "keep", ()),
        ("append", "keep", (("tools", "append"),)),
        ("keep", "append", (("rest", "append"),)),
        ("append", "warn", (("tools", "append"), ("rest", "warn"))),
        ("append", "append", (("all", "append"),)),
        ("gather", "gather", (("all", "gather"),)),
    ],
)
def test_which_steps_can_change_the_edition(tools, rest, changes):
    assert Steps(tools, rest).changes == changes


@pytest.mark.parametrize("layout", SHIPPED)
def test_the_tables_above_are_the_shipped_ones(layout, open_conversation):
    assert {event: step for event, step in open_conversation(layout).layout.on.items() if step != "keep"} == SHIPPED[
        layout
    ]


# Editions to compare


def edition(number=1, tools="a b", state=None, join="\n\n", **sections):
    """Return an edition with each section in tags, from a file with the same name."""
    system, passages = "", []
    for name, text in sections.items():
        system += join if system else ""
        start = len(system)
        system += f"<{name}>\n{text}\n</{name}>"
        origins = [
            {"kind": "builtin", "path": f"$std/x/{name}", "hash": "h", "start": start, "end": start},
            {"kind": "file", "path": f"/{name}.md", "hash": text, "start": start, "end": len(system)},
        ]
        passages.append(
            {"section": name, "start": start, "end": len(system), "lifetime": "project", "origins": origins}
        )
    definitions = written_tools(Tool(name) for name in tools.split())
    account = json.dumps({"passages": passages})
    return Edition(number, system, definitions, account, state=json.dumps(state or {}, sort_keys=True))


# Apply


@pytest.mark.parametrize("step", ["keep", "warn", "append", "format", "gather"])
def test_the_first_edition_has_number_one(step):
    fresh = edition(0, one="1")
    assert apply_step(step, None, fresh) == Outcome(replace(fresh, number=1))


@pytest.mark.parametrize("step", ["keep", "warn", "append", "format", "gather"])
def test_the_same_text_and_tools_keep_the_edition(step):
    using = edition(4, one="1", state={"skills": ["testing"]})
    fresh = replace(edition(0, one="1"), created="later", inputs="other", built_for='{"model":"x"}')
    assert apply_step(step, using, fresh) == Outcome(using)


@pytest.mark.parametrize("step", ["format", "gather"])
@pytest.mark.parametrize("fresh", [edition(0, one="2"), edition(0, tools="a", one="1"), edition(0)])
def test_different_text_or_tools_make_the_next_edition(step, fresh):
    assert apply_step(step, edition(4, one="1"), fresh) == Outcome(replace(fresh, number=5))


@pytest.mark.parametrize(
    ("before", "is_summarised", "after"),
    [
        ({"skills": ["a"]}, False, {"skills": ["a"]}),  # the body of the skill is still in the messages
        ({"skills": ["a"]}, True, {"returning": ["a"]}),
        ({"skills": ["a"], "returning": ["b"]}, True, {"returning": ["b", "a"]}),
        ({"returning": ["b"]}, False, {"returning": ["b"]}),
        ({"prompt": {"text": ""}}, False, {"prompt": {"text": ""}}),  # from a hook: until the user's next prompt
        ({"prompt": {"text": "x"}}, True, {"prompt": {"text": "x"}}),
        (
            {"notices": [{"text": "x", "at": 1}, {"text": "y", "at": 2, "skill": "a"}]},
            False,
            {"notices": [{"text": "y", "at": 2, "skill": "a"}]},
        ),
        ({"notices": [{"text": "x", "at": 1}], "unsent": [{"text": "y"}]}, True, {}),
        ({"announced": {"one": "h"}}, False, {}),  # the announced section is in the prompt now
        ({"is_compacted": True, "skills": ["a"]}, False, {"skills": ["a"]}),
        ({}, True, {}),
    ],
)
def test_some_state_is_carried_over_to_the_next_edition(before, is_summarised, after):
    outcome = apply_step("gather", edition(1, one="1", state=before), edition(0, one="2"), is_summarised)
    assert (outcome.edition.number, json.loads(outcome.edition.state)) == (2, after)


@pytest.mark.parametrize(
    ("before", "is_summarised", "after"),
    [
        ({"is_compacted": True}, False, {}),  # otherwise every later turn would gather again
        (
            {"is_compacted": True, "skills": ["a"], "announced": {"one": "h"}},
            False,
            {"skills": ["a"], "announced": {"one": "h"}},
        ),
        ({"skills": ["a"], "announced": {"one": "h"}}, True, {"returning": ["a"]}),
    ],
)
def test_the_same_edition_keeps_its_state(before, is_summarised, after):
    outcome = apply_step("gather", edition(1, one="1", state=before), edition(0, one="1"), is_summarised)
    assert (outcome.edition.number, json.loads(outcome.edition.state)) == (1, after)


def test_keep_ignores_a_change():
    using = edition(1, one="1")
    assert apply_step("keep", using, edition(0, one="2", tools="z")) == Outcome(using)


def test_warn_adds_a_finding_and_no_message():
    using = edition(1, one="1")
    outcome = apply_step("warn", using, edition(0, one="2"))
    assert (outcome.edition, outcome.messages) == (using, ())
    assert [(finding.code, finding.severity) for finding in outcome.findings] == [("drift", "info")]
    assert "section 'one' changed (/one.md)" in outcome.findings[0].message


def test_reported_changes_are_not_repeated_and_cost_as_much_as_a_rebuild():
    using = edition(1, one="1", two="2", tools="a b")
    between, fresh = edition(0, one="1", two="new", tools="a"), edition(0, one="newer", two="new", tools="a")
    change = drift(using, fresh, between)
    assert [section.section for section in change.sections] == ["one"]
    assert (change.tools.removed, change.tokens_lost) == ((), estimate(using.system))
    outcome = apply_step("append", using, fresh, since=between)
    assert [message["content"].splitlines()[0] for message in outcome.messages] == [
        "The section 'one' of your instructions has changed. It now reads:"
    ]


def test_empty_fields_of_a_state_are_not_stored():
    using = edition(1)
    assert with_state(using, State(skills=[], announced={}, is_compacted=False)) is using
    assert update_state(update_state(using, skills=["a"]), skills=()) == using


def test_a_state_survives_writing_and_reading():
    state = State(
        ["a"],
        ["b"],
        "a",
        {"text": ""},
        {"one": "h"},
        [{"text": "x"}],
        [{"text": "y", "at": 1}],
        {"tools": []},
        True,
        "now",
    )
    assert state_of(with_state(edition(1), state)) == state


def test_a_field_of_a_newer_version_is_ignored():
    assert state_of(edition(1, state={"skills": ["a"], "unknown": 1})) == State(skills=["a"])


# Drift


@pytest.mark.parametrize(
    ("using", "fresh", "sections", "tools"),
    [
        (edition(one="1"), edition(one="1"), [], Names()),
        (edition(one="1"), edition(one="2"), [SectionChange("one", ("changed",), ["/one.md"], 0, 0)], Names()),
        (edition(one="1", two="2"), edition(two="2"), [SectionChange("one", ("removed",), ["/one.md"], 0, None)], Names()),
        (edition(two="2"), edition(one="1", two="2"), [SectionChange("one", ("added",), ["/one.md"], None, 0)], Names()),
        (edition(one="1", two="2"), edition(two="2", one="1"), [SectionChange("two", ("moved",), (), 1, 0)], Names()),
        (edition(one="1", two="2"), edition(join="\n", one="1", two="2"), [SectionChange(BETWEEN, ("changed",))], Names()),
        (edition(one="1"), replace(edition(one="1"), system=edition(one="1").system + " "), [SectionChange(BETWEEN, ("changed",))], Names()),
        (edition(tools="a b"), edition(tools="b c"), [], Names(["c"], ["a"])),
        (edition(tools="a b"), edition(tools="b a"), [], Names()),
        (edition(tools="b c"), replace(edition(), tools=with_new_tools(edition(tools="c").tools, edition(tools="b").tools)), [], Names(moved=["c"])),
    ],
)  # fmt: skip
def test_drift_lists_changed_sections_and_tools(using, fresh, sections, tools):
    found = drift(using, fresh)
    assert list(found.sections) == sections
    assert found.tools == tools
    assert (
        found.is_changed
        == bool(sections or tools.has_any)
        == ((using.system, using.tools) != (fresh.system, fresh.tools))
    )


def test_a_tool_that_changed_under_the_same_name_is_listed():
    using = replace(edition(), tools=written_tools([Tool("a", "Reads."), Tool("b")]))
    fresh = replace(edition(), tools=written_tools([Tool("a", "Reads it all."), Tool("b")]))
    assert list(drift(using, fresh).tools.changed) == ["a"]


def test_a_rebuild_loses_everything_after_the_first_change():
    using = edition(one="same " * 100, two="old " * 50, three="same too " * 50)
    fresh = edition(one="same " * 100, two="new " * 50, three="same too " * 50)
    found = drift(using, fresh)
    start = using.system.index("old")
    assert (found.tokens_kept, found.tokens_lost) == (estimate(using.system[:start]), estimate(using.system[start:]))


def test_different_tools_lose_the_entire_prompt():
    """A provider caches tool definitions before the system prompt."""
    using = edition(one="same " * 100)
    found = drift(using, edition(one="same " * 100, tools="a b c"))
    assert (found.tokens_kept, found.tokens_lost) == (0, estimate(using.system))


def test_the_sentence_names_sections_tools_and_cost():
    found = Drift([SectionChange("one", ["changed"], ["/a", "/b"])], Names(["x", "y"], ["z"]), 10, 1234)
    assert found.sentence() == (
        "section 'one' changed (/a, /b); tools x, y added; tool z removed; a rebuild would lose about 1,234 tokens of prefix"
        " (unknown provider; assuming one that keeps the common prefix)"
    )


# Append


def append(using, fresh):
    outcome = apply_step("append", using, fresh)
    return outcome.edition, [message["content"] for message in outcome.messages]


def test_only_the_change_is_announced_and_only_once():
    using = edition(1, one="1", two="2", three="3")
    then, messages = append(using, edition(0, one="1", two="new", three="3"))
    assert messages == ["The section 'two' of your instructions has changed. It now reads:\n\n<two>\nnew\n</two>"]
    assert append(then, edition(0, one="1", two="new", three="3")) == (then, [])
    again, messages = append(then, edition(0, one="newer", two="new", three="3"))
    assert messages == ["The section 'one' of your instructions has changed. It now reads:\n\n<one>\nnewer\n</one>"]
    assert (again.number, again.system, again.tools) == (using.number, using.system, using.tools)


def test_a_section_that_changes_twice_is_announced_twice():
    then, _ = append(edition(1, one="1"), edition(0, one="2"))
    _, messages = append(then, edition(0, one="3"))
    assert messages == ["The section 'one' of your instructions has changed. It now reads:\n\n<one>\n3\n</one>"]


def test_a_removed_section_is_announced():
    then, messages = append(edition(1, one="1", two="2"), edition(0, one="1"))
    assert messages == ["The section 'two' of your instructions no longer applies."]
    assert append(then, edition(0, one="1")) == (then, [])


def test_a_reverted_change_is_announced():
    """Otherwise the model would believe the last message."""
    first = edition(1, one="1")
    then, _ = append(first, edition(0, one="2"))
    back, messages = append(then, edition(0, one="1"))
    assert messages == ["The section 'one' of your instructions has changed. It now reads:\n\n<one>\n1\n</one>"]
    assert back == first
    added, _ = append(first, edition(0, one="1", two="2"))
    removed, messages = append(added, edition(0, one="1"))
    assert messages == ["The section 'two' of your instructions no longer applies."]
    assert removed == first


def test_append_never_changes_the_prefix():
    using = edition(1, one="1", tools="b c")
    for tools, text in itertools.product(("b c", "a b c", "b", "z", ""), ("1", "2")):
        then, _ = append(using, edition(0, one=text, tools=tools))
        assert then.system == using.system
        assert then.tools.startswith(using.tools[:-1])


def test_a_new_tool_is_appended_announced_and_priced():
    using = edition(2, one="1", tools="b c")
    outcome = apply_step("append", using, edition(0, one="1", tools="a b c d"))
    assert list(tools_by_name(outcome.edition.tools)) == ["b", "c", "a", "d"]
    assert (outcome.edition.number, outcome.edition.system) == (3, using.system)
    assert outcome.messages == ({"role": "user", "content": "New tools are available from now on: `a`, `d`."},)
    assert [finding.code for finding in outcome.findings] == ["drift"]
    assert "tools added late: a, d; their definitions cost about" in outcome.findings[0].message
    assert append(outcome.edition, edition(0, one="1", tools="a b c d")) == (outcome.edition, [])


def inactive(names):
    return [f"Tools that are not active from now on, so do not call them: {names}. All others are active."]


def test_removed_tools_are_announced_and_their_definitions_stay():
    using = edition(2, one="1", tools="a b c")
    then, messages = append(using, edition(0, one="1", tools="b"))
    assert messages == inactive("`a`, `c`")
    assert (then.number, then.system, then.tools) == (2, using.system, using.tools)
    assert append(then, edition(0, one="1", tools="b")) == (then, [])
    less, messages = append(then, edition(0, one="1", tools="b c"))
    assert messages == inactive("`a`")
    assert append(less, edition(0, one="1", tools="a b c")) == (using, ["All tools are active again."])


@pytest.mark.parametrize(
    ("fresh", "beginnings"),
    [
        (edition(0, one="1", tools="a"), ["tool b removed; a rebuild would lose about"]),
        (
            edition(0, one="2", tools="a b c"),
            ["section 'one' changed (/one.md); a rebuild", "tools added late: c; their"],
        ),
        (
            edition(0, one="1", tools="a c"),
            ["tool b removed; a rebuild would lose about", "tools added late: c; their"],
        ),
        (edition(0, one="1", tools="a b c"), ["tools added late: c; their definitions cost about"]),
        (edition(0, one="1", tools="a b"), []),
    ],
)
def test_every_announcement_has_a_finding(fresh, beginnings):
    found = apply_step("append", edition(1, one="1", tools="a b"), fresh).findings
    assert [finding.message[: len(begins)] for finding, begins in zip(found, beginnings, strict=True)] == beginnings


def test_a_changed_tool_is_announced_once_and_its_old_definition_stays():
    using = replace(edition(1, one="1"), tools=written_tools([Tool("a", "Reads.")]))
    fresh = replace(edition(0, one="1"), tools=written_tools([Tool("a", "Reads it all.")]))
    then, messages = append(using, fresh)
    assert messages == [
        "The tool `a` has changed. Its definition is now:\n\n"
        '{"description": "Reads it all.", "name": "a", "schema": {}}'
    ]
    assert (then.tools, then.number) == (using.tools, 1)
    assert append(then, fresh) == (then, [])
    back, messages = append(then, using)
    assert (back, messages) == (using, ["The tool `a` is again as it was defined at first."])


# Tool definitions


def test_tools_are_written_in_the_same_order_however_they_are_passed():
    tools = [Tool("b", "B"), Tool("a", schema={"y": 1, "x": {"b": 1, "a": 2}}), Tool("z", "ä"), Tool("B")]
    definitions = {written_tools(order) for order in itertools.permutations(tools)}
    assert definitions == {
        '[{"description":"","name":"B","schema":{}},{"description":"","name":"a","schema":{"x":{"a":2,"b":1},"y":1}},'
        '{"description":"B","name":"b","schema":{}},{"description":"ä","name":"z","schema":{}}]'
    }


def test_snippets_and_guidelines_are_not_part_of_a_definition():
    assert written_tools([Tool("a", snippet="S", guidelines=["G"])]) == written_tools([Tool("a")])


@pytest.mark.parametrize(
    ("known", "now", "then"),
    [
        ("", "", ""),
        ("", "b a", "a b"),
        ("a", "a", "a"),
        ("m", "z a m", "m a z"),  # new tools in alphabetical order
        ("a b", "", "a b"),
        ("a b", "c", "a b c"),
    ],
)
def test_new_tools_follow_the_known_ones(known, now, then):
    known, now = (written_tools(Tool(name) for name in names.split()) for names in (known, now))
    assert list(tools_by_name(with_new_tools(known, now))) == then.split()
    assert with_new_tools(known, now).startswith(known[:-1])


# Construct


@pytest.mark.parametrize("layout", ["foreword", "ion", "opal", "pi", "pod", "builder"])
def test_construct_always_rebuilds_in_every_layout(tree, open_conversation, layout):
    tree({"w/.git": None, "w/AGENTS.md": "One."})
    first = open_conversation(layout).construct(MORNING)
    assert (first.edition, first.is_reused) == (1, False)
    tree({"w/AGENTS.md": "Two."})
    second = open_conversation(layout).construct(MORNING)
    assert (second.edition, second.is_reused, "Two." in second.system) == (2, False, True)
    assert open_conversation(layout).shared.prompt("t") == second.system
    third = open_conversation(layout).construct(MORNING)
    assert (third.edition, third.is_reused, third.system) == (2, True, second.system)


@pytest.mark.parametrize(
    ("layout", "template", "text"),
    [
        ("builder", "At [prompt:cwd].", "At /w."),
        ("builder", "", ""),
        ("pod", "Tools: {{ tools | length }}.", "Tools: 0."),
    ],
)
def test_a_preview_shows_a_template_and_stores_nothing(tree, open_conversation, layout, template, text):
    conversation = open_conversation(layout)
    assert tree.short(conversation.preview(Document("template", template)).text).startswith(text)
    assert conversation.shared.prompt("t") is None


def test_a_preview_in_a_layout_without_templates_is_its_prompt(tree, open_conversation):
    tree({"w/AGENTS.md": "One."})
    conversation = open_conversation("opal")
    assert conversation.preview(Document("template", "ignored")).text == conversation.turn().system
