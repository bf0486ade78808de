"""A prompt divided into messages: nothing is lost, added or reordered, whatever the layout."""

from hypothesis import given
from hypothesis import strategies as st

from foreword.building.build import build
from foreword.inspection.sending import sent_passages, split_prompt
from foreword.layout.parse import parse
from foreword.providers import request_for
from foreword.vocabulary import LIFETIMES, PROMPT_ROLES, Agent, Inputs, Turn, Workspace

TEXT = st.text(alphabet="ab \n", max_size=6)
SECTION = st.tuples(TEXT, st.sampled_from(PROMPT_ROLES), st.sampled_from(LIFETIMES), st.booleans())


def build_prompt(rows):
    sections = {
        f"s{n}": {"text": text, "role": role, "lifetime": lifetime, "trim": trim}
        for n, (text, role, lifetime, trim) in enumerate(rows)
    }
    layout = parse({"sections": list(sections), "section": sections}, "x")
    return build(layout, Inputs(Workspace("/w"), {}), Agent(), None)


@given(st.lists(SECTION, max_size=6))
def test_a_divided_prompt_is_the_same_text(rows):
    prompt = build_prompt(rows)
    sent = split_prompt(prompt.text, sent_passages(prompt.passages))
    parts = ([sent.system] if any(not passage.message for passage in prompt.passages) else []) + [
        message["content"] for message in sent.messages
    ]
    assert "\n\n".join(parts) == prompt.text
    assert all(message["content"].strip() for message in sent.messages)
    system_count = next((n for n, row in enumerate(rows) if row[1] != "system"), len(rows))
    system_sections = {f"s{n}" for n in range(system_count)}
    assert all((passage.section in system_sections) == (passage.message == 0) for passage in prompt.passages)


@given(st.lists(SECTION, max_size=6), st.lists(SECTION, max_size=4))
def test_the_system_prompt_does_not_depend_on_messages(rows, other_rows):
    system_count = next((n for n, row in enumerate(rows) if row[1] != "system"), len(rows))
    changed = [*rows[:system_count], ("a", "user", "turn", True), *other_rows]
    systems = []
    for version in (rows if system_count < len(rows) else changed, changed):
        prompt = build_prompt(version)
        systems.append(split_prompt(prompt.text, sent_passages(prompt.passages)).system)
    assert systems[0] == systems[1]


@given(st.lists(SECTION, max_size=6))
def test_a_request_has_the_same_text_and_few_breakpoints(rows):
    prompt = build_prompt(rows)
    sent = split_prompt(prompt.text, sent_passages(prompt.passages))
    turn = Turn("", 1, False, sent.system, sent.messages, (), sent.passages, leading=sent.leading)
    request = request_for("anthropic", turn)
    assert [message["content"] for message in sent.messages] == [
        "".join(block["text"] for block in message["content"]) for message in request["messages"]
    ]
    blocks = [*request.get("system", ()), *(block for message in request["messages"] for block in message["content"])]
    assert sum("cache_control" in block for block in blocks) <= 3
    assert all(block["text"].strip() for block in blocks)
