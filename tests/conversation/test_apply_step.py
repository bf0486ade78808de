"""The pure part of conversations: which step an event takes, what it does to the edition in use, and drift."""

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
from foreword.conversation.notices import with_changes
from foreword.conversation.state import State, after_summary, state_of, update_state, with_state
from foreword.conversation.tools import serialize_tools, tools_by_name, with_new_tools
from foreword.inspection.changes import BETWEEN_SECTIONS, Names, SectionChange
from foreword.inspection.rebuilding import RebuildCost
from foreword.text.tokens import estimate
from foreword.vocabulary import Edition, replace
from foreword.vocabulary.tools import LateToolEffect
from foreword.vocabulary.values import digest

MORNING = datetime(2026, 3, 7, 8, 55, tzinfo=UTC)

SHIPPED = {
    "foreword": {"tools": "append", "reload": "gather", "compaction": "gather"},
    "ion": {"turn": "gather"},
    "opal": {"turn": "format", "reload": "gather"},
    "pi": {"tools": "format", "registry": "format", "resources": "gather", "reload": "gather"},
    "pod": {},
    "builder": {"reload": "gather", "compaction": "gather"},
}


@pytest.mark.parametrize(
    ("on", "events", "tools", "rest"),
    [
        ({}, [], "keep", "keep"),
        ({}, ["turn"], "keep", "keep"),
        ({}, ["turn", "tools", "registry", "resources", "reload", "compaction"], "keep", "keep"),
        (SHIPPED["foreword"], ["turn"], "keep", "keep"),
        (SHIPPED["foreword"], ["turn", "tools"], "append", "keep"),
        (SHIPPED["foreword"], ["turn", "tools", "compaction"], "gather", "gather"),
        (SHIPPED["ion"], ["turn", "tools"], "gather", "gather"),
        (SHIPPED["opal"], ["turn", "tools", "compaction"], "format", "format"),
        (SHIPPED["opal"], ["turn", "reload"], "gather", "gather"),
        (SHIPPED["pi"], ["turn"], "keep", "keep"),
        (SHIPPED["pi"], ["turn", "registry"], "format", "keep"),
        (SHIPPED["pi"], ["turn", "resources", "tools"], "gather", "gather"),
        (SHIPPED["pod"], ["turn", "reload"], "keep", "keep"),
        (SHIPPED["builder"], ["turn", "tools"], "keep", "keep"),
        ({}, ["turn", "rebuild"], "gather", "gather"),
        ({"turn": "warn", "tools": "append"}, ["turn"], "keep", "warn"),
        ({"turn": "warn", "tools": "append"}, ["turn", "tools"], "append", "warn"),  # each acts separately
        ({"turn": "append"}, ["turn", "tools"], "keep", "append"),
        ({"turn": "warn", "tools": "format"}, ["turn", "tools"], "format", "warn"),
        ({"turn": "format", "tools": "append"}, ["turn", "tools"], "format", "format"),
        ({"turn": "append", "tools": "gather"}, ["turn", "tools"], "gather", "gather"),
        ({"tools": "warn", "registry": "append"}, ["tools", "registry"], "append", "keep"),
        ({"turn": "append"}, ["an unknown event"], "keep", "keep"),
    ],
)
def test_decide_chooses_a_step_for_tools_and_for_the_rest(on, events, tools, rest):
    assert decide(on, events) == Steps(tools, rest)


@pytest.mark.parametrize(
    ("step", "next_edition"),
    [("keep", "keep"), ("warn", "warn"), ("append", "gather"), ("format", "gather"), ("gather", "gather")],
)
@pytest.mark.parametrize("event", ["turn", "tools"])
def test_inputs_gathered_for_another_layout_are_neither_formatted_nor_compared(event, step, next_edition):
    assert decide({event: step}, [event], layout_changed=True).strongest == next_edition


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
    definitions = serialize_tools(Tool(name) for name in tools.split())
    account = json.dumps({"passages": passages})
    return Edition(number, system, definitions, account, state=json.dumps(state or {}, sort_keys=True))


# Apply


@pytest.mark.parametrize("step", ["keep", "warn", "append", "format", "gather"])
def test_the_same_text_and_tools_keep_the_edition(step):
    current = edition(4, one="1", state={"skills": ["testing"]})
    new_edition = replace(edition(0, one="1"), created="later", inputs="other", built_for='{"model":"x"}')
    assert apply_step(step, current, new_edition) == Outcome(current)


@pytest.mark.parametrize("step", ["format", "gather"])
@pytest.mark.parametrize("new_edition", [edition(0, one="2"), edition(0, tools="a", one="1"), edition(0)])
def test_different_text_or_tools_make_the_next_edition(step, new_edition):
    assert apply_step(step, edition(4, one="1"), new_edition) == Outcome(replace(new_edition, number=5))


@pytest.mark.parametrize(
    ("before", "is_summarised", "after"),
    [
        ({"skills": ["a"]}, False, {"skills": ["a"]}),  # the body of the skill is still in the messages
        ({"skills": ["a"]}, True, {"skills_again": ["a"]}),
        ({"skills": ["a"], "skills_again": ["b"]}, True, {"skills_again": ["b", "a"]}),
        ({"skills_again": ["b"]}, False, {"skills_again": ["b"]}),
        ({"prompt": {"text": ""}}, False, {"prompt": {"text": ""}}),  # from a hook: until the user's next prompt
        ({"prompt": {"text": "x"}}, True, {"prompt": {"text": "x"}}),
        (
            {"notices": [{"text": "x", "change": {}}, {"text": "y", "at": 2, "skill": "a"}, {"text": "z", "at": 3}]},
            False,
            # The prompt has the change, so that its announcement is no longer sent.
            {"notices": [{"text": "y", "at": 2, "skill": "a"}, {"text": "z", "at": 3}], "retired": [digest("x")]},
        ),
        ({"notices": [{"text": "x", "at": 1}], "unsent": [{"text": "y"}]}, True, {}),
        ({"announced": {"one": "h"}}, False, {}),  # the announced section is in the prompt now
        ({"is_compacted": True, "skills": ["a"]}, False, {"skills": ["a"]}),
        ({}, True, {}),
    ],
)
def test_some_state_is_carried_over_to_the_next_edition(before, is_summarised, after):
    outcome = apply_step(
        "gather", edition(1, one="1", state=before), edition(0, one="2"), after_summary if is_summarised else None
    )
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
        ({"skills": ["a"], "announced": {"one": "h"}}, True, {"skills_again": ["a"]}),
    ],
)
def test_the_same_edition_keeps_its_state(before, is_summarised, after):
    outcome = apply_step(
        "gather", edition(1, one="1", state=before), edition(0, one="1"), after_summary if is_summarised else None
    )
    assert (outcome.edition.number, json.loads(outcome.edition.state)) == (1, after)


def test_keep_ignores_a_change():
    current = edition(1, one="1")
    assert apply_step("keep", current, edition(0, one="2", tools="z")) == Outcome(current)


def test_warn_adds_a_finding_and_no_message():
    current = edition(1, one="1")
    outcome = apply_step("warn", current, edition(0, one="2"))
    assert (outcome.edition, outcome.messages) == (current, ())
    assert [(finding.code, finding.severity) for finding in outcome.findings] == [("drift", "info")]
    assert "section 'one' changed (/one.md)" in outcome.findings[0].message


def test_reported_changes_are_not_repeated_and_cost_as_much_as_a_rebuild():
    current = edition(1, one="1", two="2", tools="a b")
    between, new_edition = edition(0, one="1", two="new", tools="a"), edition(0, one="newer", two="new", tools="a")
    change = drift(current, new_edition, between)
    assert [section.section for section in change.sections] == ["one"]
    assert (change.tools.removed, change.tokens_lost) == ((), estimate(current.system))
    outcome = apply_step("append", current, new_edition, since=between)
    assert [message["content"].splitlines()[0] for message in outcome.messages] == [
        "The section 'one' of the system prompt has changed. It now reads:"
    ]


def test_empty_fields_of_a_state_are_not_stored():
    current = edition(1)
    assert with_state(current, State(skills=[], announced={}, is_compacted=False)) is current
    assert update_state(update_state(current, skills=["a"]), skills=()) == current


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


def test_a_field_from_a_newer_version_is_ignored():
    assert state_of(edition(1, state={"skills": ["a"], "unknown": 1})) == State(skills=["a"])


# Drift


@pytest.mark.parametrize(
    ("current", "new_edition", "sections", "tools"),
    [
        (edition(one="1"), edition(one="1"), [], Names()),
        (edition(one="1"), edition(one="2"), [SectionChange("one", ("changed",), ["/one.md"], 0, 0)], Names()),
        (edition(one="1", two="2"), edition(two="2"), [SectionChange("one", ("removed",), ["/one.md"], 0, None)], Names()),
        (edition(two="2"), edition(one="1", two="2"), [SectionChange("one", ("added",), ["/one.md"], None, 0)], Names()),
        (edition(one="1", two="2"), edition(two="2", one="1"), [SectionChange("two", ("moved",), (), 1, 0)], Names()),
        (edition(one="1", two="2"), edition(join="\n", one="1", two="2"), [SectionChange(BETWEEN_SECTIONS, ("changed",))], Names()),
        (edition(one="1"), replace(edition(one="1"), system=edition(one="1").system + " "), [SectionChange(BETWEEN_SECTIONS, ("changed",))], Names()),
        (edition(tools="a b"), edition(tools="b c"), [], Names(["c"], ["a"])),
        (edition(tools="a b"), edition(tools="b a"), [], Names()),
        (edition(tools="b c"), replace(edition(), tools=with_new_tools(edition(tools="c").tools, edition(tools="b").tools)), [], Names(moved=["c"])),
    ],
)  # fmt: skip
def test_drift_lists_changed_sections_and_tools(current, new_edition, sections, tools):
    result = drift(current, new_edition)
    assert list(result.sections) == sections
    assert result.tools == tools
    assert (
        result.is_changed
        == bool(sections or tools.has_any)
        == ((current.system, current.tools) != (new_edition.system, new_edition.tools))
    )


def test_a_tool_that_changed_under_the_same_name_is_listed():
    current = replace(edition(), tools=serialize_tools([Tool("a", "Reads."), Tool("b")]))
    new_edition = replace(edition(), tools=serialize_tools([Tool("a", "Reads it all."), Tool("b")]))
    assert list(drift(current, new_edition).tools.changed) == ["a"]


def test_a_rebuild_loses_everything_after_the_first_change():
    current = edition(one="same " * 100, two="old " * 50, three="same too " * 50)
    new_edition = edition(one="same " * 100, two="new " * 50, three="same too " * 50)
    result = drift(current, new_edition)
    start = current.system.index("old")
    assert (result.tokens_kept, result.tokens_lost) == (
        estimate(current.system[:start]),
        estimate(current.system[start:]),
    )


def test_different_tools_lose_the_entire_prompt():
    """A provider caches tool definitions before the system prompt."""
    current = edition(one="same " * 100)
    result = drift(current, edition(one="same " * 100, tools="a b c"))
    assert (result.tokens_kept, result.tokens_lost) == (0, estimate(current.system))


def test_the_sentence_names_sections_tools_and_cost():
    result = Drift(
        [SectionChange("one", ["changed"], ["/a", "/b"])], Names(["x", "y"], ["z"]), RebuildCost(10, 1234, 0.5)
    )
    assert result.sentence() == (
        "section 'one' changed (/a, /b); tools x, y added; tool z removed; a rebuild would lose about 1,234 cached tokens"
        " ($0.5000), counted from the prompt, without messages, because no call is recorded (unknown provider; assuming one that keeps the common prefix)"
    )


# Append


def append(current, new_edition):
    outcome = apply_step("append", current, new_edition)
    return outcome.edition, [message["content"] for message in outcome.messages]


def test_only_the_change_is_announced_and_only_once():
    current = edition(1, one="1", two="2", three="3")
    next_edition, messages = append(current, edition(0, one="1", two="new", three="3"))
    assert messages == ["The section 'two' of the system prompt has changed. It now reads:\n\n<two>\nnew\n</two>"]
    assert append(next_edition, edition(0, one="1", two="new", three="3")) == (next_edition, [])
    repeated, messages = append(next_edition, edition(0, one="newer", two="new", three="3"))
    assert messages == ["The section 'one' of the system prompt has changed. It now reads:\n\n<one>\nnewer\n</one>"]
    assert (repeated.number, repeated.system, repeated.tools) == (current.number, current.system, current.tools)


def test_a_section_that_changes_twice_is_announced_twice():
    next_edition, _ = append(edition(1, one="1"), edition(0, one="2"))
    _, messages = append(next_edition, edition(0, one="3"))
    assert messages == ["The section 'one' of the system prompt has changed. It now reads:\n\n<one>\n3\n</one>"]


def test_a_removed_section_is_announced():
    next_edition, messages = append(edition(1, one="1", two="2"), edition(0, one="1"))
    assert messages == ["The section 'two' of the system prompt no longer applies."]
    assert append(next_edition, edition(0, one="1")) == (next_edition, [])


def test_a_reverted_change_is_announced():
    """Otherwise the model would believe the last message."""
    first = edition(1, one="1")
    next_edition, _ = append(first, edition(0, one="2"))
    back, messages = append(next_edition, edition(0, one="1"))
    assert messages == ["The section 'one' of the system prompt has changed. It now reads:\n\n<one>\n1\n</one>"]
    assert back == first
    added, _ = append(first, edition(0, one="1", two="2"))
    removed, messages = append(added, edition(0, one="1"))
    assert messages == ["The section 'two' of the system prompt no longer applies."]
    assert removed == first


def test_append_never_changes_the_prefix():
    current = edition(1, one="1", tools="b c")
    for tools, text in itertools.product(("b c", "a b c", "b", "z", ""), ("1", "2")):
        next_edition, _ = append(current, edition(0, one=text, tools=tools))
        assert next_edition.system == current.system
        assert next_edition.tools.startswith(current.tools[:-1])


def test_a_new_tool_is_appended_announced_and_priced():
    current = edition(2, one="1", tools="b c")
    outcome = apply_step("append", current, edition(0, one="1", tools="a b c d"))
    assert list(tools_by_name(outcome.edition.tools)) == ["b", "c", "a", "d"]
    assert (outcome.edition.number, outcome.edition.system) == (3, current.system)
    assert outcome.messages == ({"role": "user", "content": "New tools are available from now on: `a`, `d`."},)
    assert [finding.code for finding in outcome.findings] == ["drift"]
    assert "tools added late: a, d; their definitions cost about" in outcome.findings[0].message
    assert append(outcome.edition, edition(0, one="1", tools="a b c d")) == (outcome.edition, [])


def test_a_new_tool_keeps_the_prefix_if_the_model_accepts_it_late():
    current = edition(2, one="1", tools="b c")
    step = "append", current, edition(0, one="1", tools="a b c")

    def message(**effect):
        (finding,) = apply_step(*step, late_tool_effect=lambda edition, added: LateToolEffect(**effect)).findings
        return finding.message

    assert " and the prefix after them, about " in message() and message().endswith(" tokens and all messages")
    sentence = message(loses_cache=False, exception="Chat")
    assert "; the prefix is kept, except that Chat loses the prefix after them, about " in sentence
    assert message(loses_cache=False).endswith("; the prefix is kept")
    deferred = message(loses_cache=False, is_in_prompt=False)
    assert deferred == "tools added late: a; they are deferred, so the prefix is kept"


def test_a_late_tool_loses_as_much_as_appending_it():
    def loss(old, new):
        return RebuildCost(0, 7 if new.tools.startswith(old.tools[:-1]) else 900)

    tools = " ".join(f"t{number}" for number in range(25))
    late = apply_step(
        "append", edition(2, one="1", tools="b c"), edition(0, one="1", tools=f"a b c {tools}"), loss=loss
    )
    assert late.findings[0].message.endswith(" and the prefix after them, about 7 tokens and all messages")
    assert ", t24 and 6 more; " not in late.findings[0].message and " and 6 more; " in late.findings[0].message


def test_each_message_has_the_names_of_the_tools_that_it_changes():
    current = edition(2, one="1", tools="a b c")
    result = []
    for tools in ("b", "b c d", "a b c", "a b c d"):
        outcome = apply_step("append", current, edition(0, one="1", tools=tools))
        texts = [message["content"] for message in outcome.messages]
        assert len(texts) == 1
        current = with_state(outcome.edition, with_changes(state_of(outcome.edition), texts, outcome.changes))
        result += outcome.changes
    assert result == [
        {"removed": ["a", "c"]},
        {"added": ["d"], "restored": ["c"]},
        {"removed": ["d"], "restored": ["a"]},
        {"restored": ["d"]},
    ]
    outcome = apply_step("append", current, edition(0, one="2", tools="a b c d"))
    assert list(outcome.changes) == [{}]  # only instructions have changed


def inactive(names):
    return [f"Tools that are not active from now on, so do not call them: {names}. All others are active."]


def test_removed_tools_are_announced_and_their_definitions_stay():
    current = edition(2, one="1", tools="a b c")
    next_edition, messages = append(current, edition(0, one="1", tools="b"))
    assert messages == inactive("`a`, `c`")
    assert (next_edition.number, next_edition.system, next_edition.tools) == (2, current.system, current.tools)
    assert append(next_edition, edition(0, one="1", tools="b")) == (next_edition, [])
    fewer_tools, messages = append(next_edition, edition(0, one="1", tools="b c"))
    assert messages == inactive("`a`")
    assert append(fewer_tools, edition(0, one="1", tools="a b c")) == (current, ["All tools are active again."])


@pytest.mark.parametrize(
    ("new_edition", "beginnings"),
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
def test_every_announcement_has_a_finding(new_edition, beginnings):
    result = apply_step("append", edition(1, one="1", tools="a b"), new_edition).findings
    assert [
        finding.message[: len(beginning)] for finding, beginning in zip(result, beginnings, strict=True)
    ] == beginnings


def test_a_changed_tool_is_announced_once_and_its_old_definition_stays():
    current = replace(edition(1, one="1"), tools=serialize_tools([Tool("a", "Reads.")]))
    new_edition = replace(edition(0, one="1"), tools=serialize_tools([Tool("a", "Reads it all.")]))
    next_edition, messages = append(current, new_edition)
    assert messages == [
        "The tool `a` has changed. Its definition is now:\n\n"
        '{"description": "Reads it all.", "name": "a", "schema": {}}'
    ]
    assert (next_edition.tools, next_edition.number) == (current.tools, 1)
    assert append(next_edition, new_edition) == (next_edition, [])
    back, messages = append(next_edition, current)
    assert (back, messages) == (current, ["The tool `a` is again as it was defined at first."])


# Tool definitions


def test_tools_are_written_in_the_same_order_no_matter_how_they_are_passed():
    tools = [Tool("b", "B"), Tool("a", schema={"y": 1, "x": {"b": 1, "a": 2}}), Tool("z", "ä"), Tool("B")]
    definitions = {serialize_tools(order) for order in itertools.permutations(tools)}
    assert definitions == {
        '[{"description":"","name":"B","schema":{}},{"description":"","name":"a","schema":{"x":{"a":2,"b":1},"y":1}},'
        '{"description":"B","name":"b","schema":{}},{"description":"ä","name":"z","schema":{}}]'
    }


def test_snippets_and_guidelines_are_not_part_of_a_definition():
    assert serialize_tools([Tool("a", snippet="S", guidelines=["G"])]) == serialize_tools([Tool("a")])


@pytest.mark.parametrize(
    ("known", "current", "expected"),
    [
        ("", "", ""),
        ("", "b a", "a b"),
        ("a", "a", "a"),
        ("m", "z a m", "m a z"),  # new tools in alphabetical order
        ("a b", "", "a b"),
        ("a b", "c", "a b c"),
    ],
)
def test_new_tools_follow_the_known_ones(known, current, expected):
    known, current = (serialize_tools(Tool(name) for name in names.split()) for names in (known, current))
    assert list(tools_by_name(with_new_tools(known, current))) == expected.split()
    assert with_new_tools(known, current).startswith(known[:-1])


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
